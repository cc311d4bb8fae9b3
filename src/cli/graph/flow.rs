//! The instructions of a method: what each reads and writes, and where it goes on.

use std::collections::BTreeSet;

use pte::Pte;
use pte::flat::view::Vector;
use pte::method::{self, Access, Definitions, Effects, Instruction};
use pte::pte::{Storage, operator_name};
use pte::quoted::UntrustedString;
use pte::schema::program::view::{ExecutionPlan, InstructionArguments, KernelTypes, Tensor};

use crate::cli::text;

/// A method, as it is drawn.
pub(super) struct Flow<'a> {
    pub(super) plan: ExecutionPlan<'a>,
    /// Names of the operators: each is read once, and may be called often.
    pub(super) operators: Vec<UntrustedString>,
    /// Those of all chains, which run one after the other.
    pub(super) steps: Vec<Step>,
    pub(super) values: Vec<Value>,
    /// The values that each step reads and writes, one after the other.
    refs: Vec<u32>,
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
}

/// An instruction. A file may list one again and again, so its contents are looked up where they are needed.
pub(super) struct Step {
    pub(super) chain: u32,
    pub(super) index: u32,
    /// What it reads, then what it writes, in `Flow::refs`.
    begin: u32,
    middle: u32,
    end: u32,
    /// Where a jump goes, as a number of `steps`; their count is the end.
    jump: Option<u32>,
}

/// What is known of a value of the plan besides its contents.
#[derive(Clone, Copy, Default)]
pub(super) struct Value {
    /// What writes it: nothing, one thing, or more.
    pub(super) writers: u32,
    pub(super) writer: Option<Writer>,
    pub(super) is_input: bool,
    /// Whether it is a node of its own.
    pub(super) is_node: bool,
}

/// What writes a value.
#[derive(Clone, Copy)]
pub(super) enum Writer {
    /// The step of this number.
    Step(u32),
    /// A list that a step writes, by its value.
    List(u32),
}

impl<'a> Flow<'a> {
    pub(super) fn of(pte: &Pte<'a>, plan: ExecutionPlan<'a>) -> Self {
        let chains = plan.chains().into_iter().flatten();
        let count = chains.map(|chain| chain.instructions().map_or(0, |all| all.len()));
        let count = count.fold(0, usize::saturating_add);
        let mut flow = Self {
            plan,
            operators: plan.operators().into_iter().flatten().map(operator_name).collect(),
            steps: Vec::with_capacity(count),
            values: vec![Value::default(); plan.values().map_or(0, |values| values.len())],
            refs: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        flow.inputs = flow.indices(plan.inputs());
        flow.outputs = flow.indices(plan.outputs());
        for at in flow.inputs.clone() {
            flow.value(at, |value| (value.is_input, value.is_node) = (true, true));
        }
        let (effects, mut definitions) = (Effects::of(plan), Definitions::of(pte, plan));
        for instruction in method::instructions(plan) {
            let accesses = effects.accesses(&instruction, &definitions);
            flow.step(&instruction, &accesses);
            definitions.record(&instruction, &accesses);
        }
        flow.choose_nodes(pte);
        flow
    }

    /// Adds the next instruction.
    fn step(&mut self, instruction: &Instruction<'a>, accesses: &[(i32, Access)]) {
        let number = narrow(self.steps.len());
        let (reads, writes) = self.reads_and_writes(accesses);
        let jump = instruction.jump();
        // A number is drawn where it decides.
        if let Some(condition) = jump.and_then(|jump| self.index(jump.condition)) {
            self.value(condition, |value| value.is_node = true);
        }
        for &at in &writes {
            self.written(at, Writer::Step(number));
        }
        let begin = narrow(self.refs.len());
        self.refs.extend(reads.into_iter().map(narrow));
        let middle = narrow(self.refs.len());
        self.refs.extend(writes.into_iter().map(narrow));
        let end = narrow(self.refs.len());
        let (chain, index) = (instruction.chain(), instruction.index());
        let jump = jump.filter(|jump| jump.is_valid).map(|jump| jump.target);
        self.steps.push(Step { chain, index, begin, middle, end, jump });
    }

    /// Returns what an instruction reads, and what it writes, each result once. What is freed counts
    /// as read.
    fn reads_and_writes(&self, accesses: &[(i32, Access)]) -> (Vec<usize>, Vec<usize>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for &(at, access) in accesses {
            match (self.index(at), access.defines()) {
                (Some(at), false) => reads.push(at),
                (Some(at), true) if seen.insert(at) => writes.push(at),
                _ => {}
            }
        }
        // Results may be named once more, as a list.
        let is_list = |at: usize| self.tensor_list(at).filter(|items| !items.is_empty());
        if let Some(last) = writes.iter().rposition(|&at| is_list(at).is_some())
            && let (before, [list, ..]) = writes.split_at(last)
            && let Some(items) = is_list(*list)
        {
            let is_same =
                |of: Vector<'_, i32>| of.len() == items.len() && of.get(0) == items.get(0);
            let is_written = |at: i32| self.index(at).is_some_and(|at| seen.contains(&at));
            let mut lists = before.iter().filter_map(|&at| is_list(at));
            if lists.any(is_same) || items.len() < writes.len() && items.iter().all(is_written) {
                writes.remove(last);
            }
        }
        (reads, writes)
    }

    fn written(&mut self, at: usize, by: Writer) {
        let Some(value) = self.values.get_mut(at) else { return };
        let first = value.writers == 0;
        value.writers = value.writers.saturating_add(1);
        value.writer = value.writer.or(Some(by));
        // Who writes a list writes its tensors.
        if first
            && matches!(by, Writer::Step(_))
            && let Some(items) = self.tensor_list(at)
        {
            for item in self.indices(Some(items)) {
                self.written(item, Writer::List(narrow(at)));
            }
        }
    }

    /// A value is a node of its own where more than one thing writes it, so that there is an edge
    /// for each writer and each reader and not for each pair of them; or where nothing does.
    fn choose_nodes(&mut self, pte: &Pte<'a>) {
        for number in 0..self.steps.len() {
            for nth in 0..self.reads(number).len() {
                let at = self.reads(number).get(nth).copied().map_or(usize::MAX, wide);
                self.used(pte, at, false);
            }
        }
        for nth in 0..self.outputs.len() {
            let at = self.outputs.get(nth).copied().unwrap_or(usize::MAX);
            self.used(pte, at, true);
        }
        for number in 0..self.steps.len() {
            for nth in 0..self.writes(number).len() {
                let at = self.writes(number).get(nth).copied().map_or(usize::MAX, wide);
                self.used(pte, at, false);
            }
        }
    }

    /// Returns the values that a step reads.
    pub(super) fn reads(&self, number: usize) -> &[u32] {
        let of = |step: &Step| self.refs.get(wide(step.begin)..wide(step.middle));
        self.steps.get(number).and_then(of).unwrap_or_default()
    }

    /// Returns the values that a step writes, each once.
    pub(super) fn writes(&self, number: usize) -> &[u32] {
        let of = |step: &Step| self.refs.get(wide(step.middle)..wide(step.end));
        self.steps.get(number).and_then(of).unwrap_or_default()
    }

    /// Returns what a step does.
    pub(super) fn does(&self, step: &Step) -> Option<InstructionArguments<'a>> {
        let chain = self.plan.chains()?.get(wide(step.chain))?;
        chain.instructions()?.get(wide(step.index))?.instr_args()
    }

    /// Returns the contents of a value.
    pub(super) fn val(&self, at: usize) -> Option<KernelTypes<'a>> {
        self.plan.values()?.get(at)?.val()
    }

    fn used(&mut self, pte: &Pte<'a>, at: usize, anyhow: bool) {
        let Some(value) = self.values.get(at).filter(|value| !value.is_node) else { return };
        let is_node = match self.val(at) {
            _ if value.writers > 1 => true,
            _ if self.is_list(at) => true,
            Some(KernelTypes::Tensor(tensor)) => value.writers == 0 || !is_empty(pte, tensor),
            _ => anyhow && value.writers == 0,
        };
        self.value(at, |value| value.is_node = is_node);
        if is_node {
            for item in self.items(at) {
                // Lists do not hold lists.
                if !self.is_list(item) {
                    self.used(pte, item, false);
                }
            }
        }
    }

    /// Returns the tensors of a list.
    pub(super) fn items(&self, at: usize) -> Vec<usize> {
        self.indices(i32::try_from(at).ok().and_then(|at| method::items(self.plan, at)))
    }

    pub(super) fn is_list(&self, at: usize) -> bool {
        matches!(
            self.val(at),
            Some(KernelTypes::TensorList(_) | KernelTypes::OptionalTensorList(_))
        )
    }

    fn tensor_list(&self, at: usize) -> Option<Vector<'a, i32>> {
        method::written_items(self.plan, i32::try_from(at).ok()?)
    }

    fn value(&mut self, at: usize, change: impl FnOnce(&mut Value)) {
        if let Some(value) = self.values.get_mut(at) {
            change(value);
        }
    }

    fn index(&self, at: i32) -> Option<usize> {
        usize::try_from(at).ok().filter(|&at| at < self.values.len())
    }

    fn indices(&self, all: Option<Vector<'_, i32>>) -> Vec<usize> {
        all.into_iter().flatten().filter_map(|at| self.index(at)).collect()
    }

    /// A value as people read it.
    pub(super) fn text(&self, at: usize) -> String {
        match self.val(at) {
            Some(KernelTypes::Tensor(tensor)) => {
                let sizes = tensor.sizes().into_iter().flatten();
                text::shape(tensor.scalar_type(), sizes)
            }
            Some(KernelTypes::Int(int)) => format!("int {}", int.int_val()),
            Some(KernelTypes::Double(double)) => format!("float {}", double.double_val()),
            Some(KernelTypes::Bool(bool)) => format!("bool {}", bool.bool_val()),
            Some(KernelTypes::Null(_)) => "None".into(),
            Some(other) => other.name().unwrap_or("an unknown value").into(),
            None => "an unknown value".into(),
        }
    }

    /// Where a value's contents come from.
    pub(super) fn role(&self, pte: &Pte<'a>, at: usize) -> &'static str {
        let Some(value) = self.values.get(at) else { return "value" };
        match self.val(at) {
            _ if value.is_input => "input",
            _ if self.is_list(at) => "list",
            Some(KernelTypes::Tensor(tensor)) => match pte.storage(tensor) {
                Ok(Storage::Constant(_)) => "constant",
                Ok(Storage::Planned { initial: Some(_), .. }) => "mutable",
                Ok(Storage::External { .. }) => "external",
                _ => "value",
            },
            _ if value.writers == 0 => "constant",
            _ => "value",
        }
    }
}

impl Step {
    /// Where a jump goes, as a number of the method's steps.
    pub(super) fn jump(&self) -> Option<usize> {
        self.jump.map(wide)
    }
}

/// A number of values or steps, of which a file has no more than 2^31.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn wide(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Whether nothing is in a tensor before something writes it.
fn is_empty<'a>(pte: &Pte<'a>, tensor: Tensor<'a>) -> bool {
    let storage = pte.storage(tensor);
    matches!(storage, Ok(Storage::Unbound | Storage::Planned { initial: None, .. }) | Err(_))
}
