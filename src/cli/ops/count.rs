//! Which operators and backends a program calls, and with which tensors.

use std::collections::{BTreeMap, BTreeSet};

use pte::Pte;
use pte::pte::operator_name;
use pte::quoted::UntrustedString;
use pte::schema::program::view::{ExecutionPlan, InstructionArguments, KernelTypes, Tensor};

/// The operators and backends of a method, of a program, or of several programs.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub(super) operators: BTreeMap<UntrustedString, Operator>,
    pub(super) backends: BTreeMap<UntrustedString, Backend>,
}

/// What is known of an operator.
#[derive(Debug, Default)]
pub(super) struct Operator {
    pub(super) calls: u64,
    /// Of the tensors that it is called with; of a list of them, that of the first.
    pub(super) dtypes: BTreeSet<i8>,
    /// The dtypes and dim orders of each different call, as kernels are registered for them.
    pub(super) kernels: BTreeSet<String>,
    /// The programs that list it, by their number on the command line.
    pub(super) files: BTreeSet<usize>,
}

/// What is known of a backend.
#[derive(Debug, Default)]
pub(super) struct Backend {
    pub(super) delegates: u64,
    pub(super) calls: u64,
}

/// A method by itself.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: Option<UntrustedString>,
    pub(super) sum: Sum,
}

/// The methods of a program, the first of them, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Methods {
    pub(super) first: Vec<Method>,
    pub(super) count: u64,
}

impl Methods {
    /// Those of a program, the `nth` on the command line, which is added to `total`.
    pub(super) fn of(pte: &Pte<'_>, nth: usize, total: &mut Sum) -> Self {
        let mut methods = Self::default();
        for plan in pte.program().execution_plan().into_iter().flatten() {
            methods.count = methods.count.saturating_add(1);
            let sum = Sum::of(plan, nth);
            total.add(&sum);
            if methods.first.len() < MOST_METHODS {
                methods.first.push(Method { name: plan.name().map(Into::into), sum });
            }
        }
        methods
    }
}

impl Sum {
    /// Counts by index first and asks for names after: a name is as long as the file allows, and
    /// there may be as many calls of it.
    fn of(plan: ExecutionPlan<'_>, nth: usize) -> Self {
        let metadata = Metadata::of(plan);
        let mut calls: BTreeMap<i32, Calls> = BTreeMap::new();
        let mut runs: BTreeMap<i32, u64> = BTreeMap::new();
        for chain in plan.chains().into_iter().flatten() {
            for instruction in chain.instructions().into_iter().flatten() {
                match instruction.instr_args() {
                    Some(InstructionArguments::KernelCall(call)) => {
                        let of = calls.entry(call.op_index()).or_default();
                        of.count = of.count.saturating_add(1);
                        let args = call.args().into_iter().flatten();
                        of.different.insert(args.filter_map(|arg| metadata.get(arg)).collect());
                    }
                    Some(InstructionArguments::DelegateCall(call)) => {
                        let count = runs.entry(call.delegate_index()).or_default();
                        *count = count.saturating_add(1);
                    }
                    _ => {}
                }
            }
        }
        let mut sum = Self::default();
        for (index, operator) in (0i32..).zip(plan.operators().into_iter().flatten()) {
            let entry = sum.operators.entry(operator_name(operator)).or_default();
            entry.files.insert(nth);
            if let Some(calls) = calls.get(&index) {
                entry.calls = entry.calls.saturating_add(calls.count);
                for call in &calls.different {
                    entry.dtypes.extend(call.iter().filter_map(|&id| metadata.dtype(id)));
                    entry.kernels.insert(metadata.key(call));
                }
            }
        }
        for (index, delegate) in (0i32..).zip(plan.delegates().into_iter().flatten()) {
            let id = delegate.id().unwrap_or_default().into();
            let entry = sum.backends.entry(id).or_default();
            entry.delegates = entry.delegates.saturating_add(1);
            let calls = runs.get(&index).copied().unwrap_or_default();
            entry.calls = entry.calls.saturating_add(calls);
        }
        sum
    }

    fn add(&mut self, other: &Self) {
        for (name, operator) in &other.operators {
            let entry = self.operators.entry(name.clone()).or_default();
            entry.calls = entry.calls.saturating_add(operator.calls);
            entry.dtypes.extend(&operator.dtypes);
            entry.kernels.extend(operator.kernels.iter().cloned());
            entry.files.extend(&operator.files);
        }
        for (id, backend) in &other.backends {
            let entry = self.backends.entry(id.clone()).or_default();
            entry.delegates = entry.delegates.saturating_add(backend.delegates);
            entry.calls = entry.calls.saturating_add(backend.calls);
        }
    }
}

/// The calls of one operator of a plan.
#[derive(Default)]
struct Calls {
    count: u64,
    /// What the tensors of each different call are, by number.
    different: BTreeSet<Vec<usize>>,
}

/// What kernels are chosen by, of every value of a plan.
struct Metadata {
    /// By value, its number; none for what is no tensor.
    values: Vec<Option<usize>>,
    /// By number: the dtype, and the text of dtype and dim order.
    different: Vec<(i8, String)>,
}

impl Metadata {
    fn of(plan: ExecutionPlan<'_>) -> Self {
        let mut metadata = Self { values: Vec::new(), different: Vec::new() };
        let mut known: BTreeMap<(i8, Vec<u8>), usize> = BTreeMap::new();
        for value in plan.values().into_iter().flatten() {
            let number = tensor(plan, value.val()).map(|tensor| {
                let dtype = tensor.scalar_type().0;
                let order = tensor.dim_order().into_iter().flatten().take(MOST_DIMENSIONS);
                let order: Vec<u8> = order.collect();
                let text: Vec<_> = order.iter().map(u8::to_string).collect();
                let next = metadata.different.len();
                *known.entry((dtype, order)).or_insert_with(|| {
                    metadata.different.push((dtype, format!("{dtype};{}", text.join(","))));
                    next
                })
            });
            metadata.values.push(number);
        }
        metadata
    }

    fn get(&self, arg: i32) -> Option<usize> {
        *self.values.get(usize::try_from(arg).ok()?)?
    }

    fn dtype(&self, number: usize) -> Option<i8> {
        self.different.get(number).map(|(dtype, _)| *dtype)
    }

    /// The key of a kernel for a call: `v1/6;0,1|6;0`, and `v1` for one without tensors.
    fn key(&self, call: &[usize]) -> String {
        let mut key = String::from("v1");
        for (nth, number) in call.iter().enumerate() {
            key.push(if nth == 0 { '/' } else { '|' });
            key.push_str(self.different.get(*number).map_or("", |(_, text)| text.as_str()));
        }
        key
    }
}

/// The tensor that an argument is judged by: itself, or the first tensor of a list, since a list's
/// tensors are taken to be alike.
fn tensor<'a>(plan: ExecutionPlan<'a>, value: Option<KernelTypes<'a>>) -> Option<Tensor<'a>> {
    let at = |index: i32| match plan.values()?.get(usize::try_from(index).ok()?)?.val() {
        Some(KernelTypes::Tensor(tensor)) => Some(tensor),
        _ => None,
    };
    match value? {
        KernelTypes::Tensor(tensor) => Some(tensor),
        KernelTypes::TensorList(list) => at(list.items()?.get(0)?),
        KernelTypes::OptionalTensorList(list) => list.items()?.into_iter().find_map(at),
        _ => None,
    }
}

/// Methods that are kept by themselves.
const MOST_METHODS: usize = 1024;
/// Dimensions that a tensor of the runtime can have.
const MOST_DIMENSIONS: usize = 16;
