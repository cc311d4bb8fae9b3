//! Operator usage: the operators and backends that programs call, how often, and with which
//! tensors.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../../../tests/data/pte/linear.pte");
//! let mut report = pte::operators::usage::UsageReport::default();
//! report.add("linear.pte", &pte::Pte::read(bytes)?);
//! for (name, operator) in &report.total.operators {
//!     println!("{name}: {} calls", operator.calls);
//! }
//! assert!(report.to_yaml().contains("aten::addmm.out"));
//! # Ok(())
//! # }
//! ```

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::selected::SelectedOperators;
use crate::operators::operator_name;
use crate::pte::Pte;
use pte_flat::quoted::UntrustedString;
use pte_schema::program::view::{ExecutionPlan, InstructionArguments};
use pte_schema::scalar::ScalarType;

mod document;
mod metadata;
mod nodes;

pub use document::{
    BackendEntry, MethodUsageEntry, NodeEntry, OperatorEntry, ProgramUsageEntry, UsageDocument,
};
pub use nodes::{NodeUsage, NodeUsages};

use metadata::CallMetadata;

/// The operators and backends of several programs.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct UsageReport {
    /// The programs, in the order in which they were added.
    pub programs: Vec<ProgramUsage>,
    /// All programs together.
    pub total: Usage,
    /// The nodes in the payloads of all programs. [`add_nodes`](Self::add_nodes) reads them.
    pub nodes: NodeUsages,
    /// The name of the methods that are counted; `None` for all. Programs that are already added
    /// are not counted again.
    pub method: Option<String>,
}

/// The operators and backends of one program, by method.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProgramUsage {
    /// The path or the name of the program.
    pub path: UntrustedString,
    /// The first 1,024 methods.
    pub methods: Vec<MethodUsage>,
    /// The number of methods that are counted.
    pub method_count: u64,
}

/// The operators and backends of one method.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MethodUsage {
    /// The name of the method.
    pub name: Option<UntrustedString>,
    /// The operators and backends of the method.
    pub usage: Usage,
}

/// The operators and backends of a method, of a program, or of several programs.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Usage {
    /// Operators by name with overload. Operators that are listed and never called are included.
    pub operators: BTreeMap<UntrustedString, OperatorUsage>,
    /// Backends by id.
    pub backends: BTreeMap<UntrustedString, BackendUsage>,
}

/// How an operator is used.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OperatorUsage {
    /// The number of instructions that call the operator.
    pub calls: u64,
    /// The dtypes of the tensors in its calls. A tensor list has the dtype of its first tensor.
    pub dtypes: BTreeSet<ScalarType>,
    /// The kernel key of each different call, such as `v1/6;0,1|6;0`. A key has the dtype and the
    /// dim order of each tensor; kernels are registered under such keys.
    pub kernels: BTreeSet<String>,
    /// The programs that list the operator, by their index in [`UsageReport::programs`].
    pub programs: BTreeSet<usize>,
}

/// How a backend is used.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct BackendUsage {
    /// The number of delegates.
    pub delegates: u64,
    /// The number of instructions that call one of the delegates.
    pub calls: u64,
}

impl UsageReport {
    /// Returns an empty report that counts only methods with this name.
    #[must_use]
    pub fn of_method(name: impl Into<String>) -> Self {
        Self { method: Some(name.into()), ..Self::default() }
    }

    /// Adds the program `pte`, named `path`.
    pub fn add(&mut self, path: impl Into<UntrustedString>, pte: &Pte<'_>) {
        let index = self.programs.len();
        let (mut methods, mut method_count) = (Vec::new(), 0u64);
        for plan in pte.program().execution_plan().into_iter().flatten() {
            if !self.counts(plan.name()) {
                continue;
            }
            method_count = method_count.saturating_add(1);
            let usage = Usage::of_plan(plan, index);
            self.total.add(&usage);
            if methods.len() < MAX_METHODS {
                methods.push(MethodUsage { name: plan.name().map(Into::into), usage });
            }
        }
        self.programs.push(ProgramUsage { path: path.into(), methods, method_count });
    }

    /// Returns whether a method with this name is counted. A missing name counts as an empty one.
    fn counts(&self, name: Option<&str>) -> bool {
        self.method.as_deref().is_none_or(|method| method == name.unwrap_or_default())
    }

    /// Returns the operators of `selected` that have no kernel for a used dtype, and these dtypes,
    /// in the order of names.
    pub fn missing_dtypes<'r>(
        &'r self,
        selected: &SelectedOperators,
    ) -> Vec<(&'r UntrustedString, Vec<ScalarType>)> {
        let used = self.total.operators.iter().filter(|(name, _)| selected.contains(name.raw()));
        let missing = used.map(|(name, of)| {
            let is_missing = |dtype: &&ScalarType| !selected.contains_dtype(name.raw(), **dtype);
            (name, of.dtypes.iter().filter(is_missing).copied().collect::<Vec<_>>())
        });
        missing.filter(|(_, dtypes)| !dtypes.is_empty()).collect()
    }

    /// Returns the names of the operators that `selected` lacks, in the order of names.
    pub fn missing_from<'r>(&'r self, selected: &SelectedOperators) -> Vec<&'r UntrustedString> {
        self.total.operators.keys().filter(|name| !selected.contains(name.raw())).collect()
    }
}

/// Returns the operators of a program by name, each with the number of its calls: the most called
/// first, then in the order of names.
#[must_use]
pub fn calls_by_name(pte: &Pte<'_>) -> Vec<(UntrustedString, u64)> {
    let mut calls = BTreeMap::new();
    for plan in pte.program().execution_plan().into_iter().flatten() {
        add_calls(plan, &mut calls);
    }
    most_called(calls)
}

/// Adds the numbers of calls in a method, by the name of the operator. Calls are counted by index
/// first: a name may be long, and many calls may have it.
pub fn add_calls(plan: ExecutionPlan<'_>, calls: &mut BTreeMap<UntrustedString, u64>) {
    // A list, since a lookup in a tree takes longer than to decode a call.
    let mut counts = vec![0u64; plan.operators().map_or(0, |operators| operators.len())];
    let chains = plan.chains().into_iter().flatten();
    for instruction in chains.flat_map(|chain| chain.instructions().into_iter().flatten()) {
        if let Some(InstructionArguments::KernelCall(call)) = instruction.instr_args() {
            let nth = usize::try_from(call.op_index()).ok();
            let count = nth.and_then(|nth| counts.get_mut(nth));
            count.into_iter().for_each(|count| *count = count.saturating_add(1));
        }
    }
    for (operator, count) in plan.operators().into_iter().flatten().zip(counts) {
        let total = calls.entry(operator_name(operator)).or_default();
        *total = total.saturating_add(count);
    }
}

/// Returns the numbers of calls, the most called operator first, then in the order of names.
pub fn most_called(calls: BTreeMap<UntrustedString, u64>) -> Vec<(UntrustedString, u64)> {
    let mut calls: Vec<_> = calls.into_iter().collect();
    calls
        .sort_unstable_by(|(a, a_calls), (b, b_calls)| b_calls.cmp(a_calls).then_with(|| a.cmp(b)));
    calls
}

impl Usage {
    /// Returns the usage of a method. Calls are counted by index first, and names are resolved
    /// later: a name may be long, and many calls may have it.
    fn of_plan(plan: ExecutionPlan<'_>, program: usize) -> Self {
        let metadata = CallMetadata::of(plan);
        let mut calls: BTreeMap<i32, Calls> = BTreeMap::new();
        let mut delegate_calls: BTreeMap<i32, u64> = BTreeMap::new();
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
                        let count = delegate_calls.entry(call.delegate_index()).or_default();
                        *count = count.saturating_add(1);
                    }
                    _ => {}
                }
            }
        }
        let mut usage = Self::default();
        for (index, operator) in (0i32..).zip(plan.operators().into_iter().flatten()) {
            let entry = usage.operators.entry(operator_name(operator)).or_default();
            entry.programs.insert(program);
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
            let entry = usage.backends.entry(id).or_default();
            entry.delegates = entry.delegates.saturating_add(1);
            let calls = delegate_calls.get(&index).copied().unwrap_or_default();
            entry.calls = entry.calls.saturating_add(calls);
        }
        usage
    }

    fn add(&mut self, other: &Self) {
        for (name, operator) in &other.operators {
            let entry = self.operators.entry(name.clone()).or_default();
            entry.calls = entry.calls.saturating_add(operator.calls);
            entry.dtypes.extend(&operator.dtypes);
            entry.kernels.extend(operator.kernels.iter().cloned());
            entry.programs.extend(&operator.programs);
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
    /// The metadata of the tensors of each different call.
    different: BTreeSet<Vec<usize>>,
}

/// The largest number of methods of a program that are listed separately.
const MAX_METHODS: usize = 1024;
