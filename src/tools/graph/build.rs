//! Builds a graph: what each instruction reads and writes, and which values are nodes.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{InstructionFacts, MethodGraph, ValueFacts, Visibility, Writer};
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::method::{self, Access, Definitions, Effects, Instruction};
use pte_core::{Arena as Place, Pte, Storage, operator_name};
use pte_flat::bytes::{index as at, narrow};
use pte_flat::view::Vector;
use pte_schema::program::view::{ExecutionPlan, KernelTypes, Tensor};

/// A place in an arena: the id of the arena, the offset, and the number of bytes.
type StoragePlace = (u32, u64, u64);

impl<'a> MethodGraph<'a> {
    /// Returns the graph of `plan`, the method of `pte` at `index`.
    pub fn of(pte: &Pte<'a>, index: u32, plan: ExecutionPlan<'a>) -> Self {
        let values = plan.values().map_or(0, |values| values.len());
        let mut graph = Self {
            pte: pte.clone(),
            plan,
            index,
            operators: plan.operators().into_iter().flatten().map(operator_name).collect(),
            instructions: Vec::new(),
            values: vec![ValueFacts::default(); values],
            operands: Vec::new(),
            outputs: Vec::new(),
            texts: texts(plan),
            is_order_whole: true,
            hidden_outputs: Vec::new(),
            payloads: Vec::new(),
        };
        graph.outputs = graph.indices(plan.outputs());
        for input in graph.indices(plan.inputs()) {
            graph.change(input, |value| (value.is_input, value.is_node) = (true, true));
        }
        let (effects, mut definitions) = (Effects::of(plan), Definitions::of(pte, plan));
        let mut accesses = Vec::new();
        for instruction in method::instructions(plan) {
            effects.accesses_into(&instruction, &definitions, &mut accesses);
            graph.add(&instruction, &accesses);
            definitions.record(&instruction, &accesses);
        }
        graph.find_sources();
        graph.choose_nodes();
        graph.mark_blocks();
        graph
    }

    /// Finds the sources of tensors without a writer. Exporters leave out the call of a view if the
    /// result and the argument have the same place in an arena. The source of such a tensor is the
    /// tensor that was last written to this place.
    fn find_sources(&mut self) {
        let mut written: BTreeMap<StoragePlace, u32> = BTreeMap::new();
        for value in 0..narrow(self.values.len()) {
            let facts = self.values.get(at(value));
            if facts.is_some_and(|facts| facts.is_input || self.has_initial_data(value))
                && let Some(place) = self.place(value)
            {
                written.insert(place, value);
            }
        }
        let mut sources: BTreeMap<u32, Option<u32>> = BTreeMap::new();
        let mut read = |graph: &Self, value: u32, written: &BTreeMap<StoragePlace, u32>| {
            let is_free = |facts: &ValueFacts| facts.writers == 0 && !facts.is_input;
            if !graph.values.get(at(value)).is_some_and(is_free) || graph.has_initial_data(value) {
                return;
            }
            let Some(place) = graph.place(value) else { return };
            let source = written.get(&place).copied().filter(|&source| source != value);
            // All uses must have the same source.
            let known = sources.entry(value).or_insert(source);
            *known = known.filter(|&known| Some(known) == source);
        };
        let (mut lists_read, mut lists_written) = (BTreeSet::new(), BTreeSet::new());
        for pc in 0..narrow(self.instructions.len()) {
            for &value in self.reads(pc) {
                read(self, value, &written);
                // Many calls may share a long list, so only its first use is followed.
                if self.is_list(at(value)) && lists_read.insert(value) {
                    self.items(at(value)).into_iter().for_each(|item| read(self, item, &written));
                }
            }
            for &value in self.writes(pc) {
                let items = self.written_items(value).filter(|_| lists_written.insert(value));
                let items = items.map(|items| self.indices(Some(items)));
                for value in items.into_iter().flatten().chain([value]) {
                    if let Some(place) = self.place(value) {
                        written.insert(place, value);
                    }
                }
            }
        }
        for &output in &self.outputs {
            read(self, output, &written);
        }
        for (value, source) in sources {
            self.change(value, |facts| facts.source = source);
        }
    }

    /// Returns the place of a tensor in an arena.
    fn place(&self, value: u32) -> Option<StoragePlace> {
        let Some(KernelTypes::Tensor(tensor)) = self.value(at(value)) else { return None };
        let Place { memory_id, offset } = Place::of(tensor.allocation_info()?);
        // The runtime has no tensor of more dimensions, and any number of calls may name one.
        let sizes = tensor.sizes().unwrap_or_default();
        let sizes = Some(sizes).filter(|sizes| sizes.len() <= MOST_DIMENSIONS)?;
        Some((memory_id, offset, tensor.scalar_type().nbytes(sizes)?))
    }

    /// Returns whether a value is a tensor with contents before any instruction writes it.
    fn has_initial_data(&self, value: u32) -> bool {
        matches!(self.value(at(value)), Some(KernelTypes::Tensor(tensor)) if self.has_data(tensor))
    }

    /// Marks the instructions that begin a block.
    fn mark_blocks(&mut self) {
        for pc in 0..self.instructions.len() {
            let Some(target) = self.instructions.get(pc).and_then(|facts| facts.jump) else {
                continue;
            };
            for start in [at(target), pc.saturating_add(1)] {
                if let Some(facts) = self.instructions.get_mut(start) {
                    facts.is_block_start = true;
                }
            }
        }
    }

    /// Adds the next instruction.
    fn add(&mut self, instruction: &Instruction<'a>, accesses: &[(i32, Access)]) {
        let (reads, writes) = self.reads_and_writes(accesses);
        let jump = instruction.jump();
        // The condition of a jump is a node, even if it is a number.
        if let Some(condition) = jump.and_then(|jump| self.valid(jump.condition)) {
            self.change(condition, |value| (value.is_node, value.is_kept) = (true, true));
        }
        for &value in &reads {
            self.change(value, |value| value.is_read_first |= value.writers == 0);
        }
        for &value in &writes {
            self.add_writer(value, Writer::Instruction(instruction.pc()));
        }
        let reads_begin = narrow(self.operands.len());
        self.operands.extend(reads);
        let writes_begin = narrow(self.operands.len());
        self.operands.extend(writes);
        self.instructions.push(InstructionFacts {
            chain: instruction.chain(),
            index: instruction.index(),
            reads_begin,
            writes_begin,
            end: narrow(self.operands.len()),
            jump: jump.filter(|jump| jump.is_valid).map(|jump| jump.target),
            is_block_start: false,
            is_view: false,
            visibility: Visibility::Inside,
        });
    }

    /// Returns the values that an instruction reads, and, each once, the values that it writes. A
    /// free counts as a read.
    fn reads_and_writes(&self, accesses: &[(i32, Access)]) -> (Vec<u32>, Vec<u32>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let mut written = BTreeSet::new();
        for &(value, access) in accesses {
            match (self.valid(value), access.defines()) {
                (Some(value), false) => reads.push(value),
                (Some(value), true) if written.insert(value) => writes.push(value),
                _ => {}
            }
        }
        // A call may name its results a second time, as a list. That list is left out.
        let list = |value: u32| self.written_items(value).filter(|items| !items.is_empty());
        if let Some(last) = writes.iter().rposition(|&value| list(value).is_some())
            && let (before, [repeated, ..]) = writes.split_at(last)
            && let Some(items) = list(*repeated)
        {
            let is_same =
                |other: Vector<'_, i32>| other.len() == items.len() && other.get(0) == items.get(0);
            let is_written =
                |item: i32| self.valid(item).is_some_and(|item| written.contains(&item));
            let mut lists = before.iter().filter_map(|&value| list(value));
            if lists.any(is_same) || items.len() < writes.len() && items.iter().all(is_written) {
                writes.remove(last);
            }
        }
        (reads, writes)
    }

    /// Adds a writer of a value. When an instruction first writes a list, the list becomes a writer
    /// of its items.
    fn add_writer(&mut self, value: u32, writer: Writer) {
        let Some(facts) = self.values.get_mut(at(value)) else { return };
        let is_first = facts.writers == 0;
        facts.writers = facts.writers.saturating_add(1);
        facts.first_writer = facts.first_writer.or(Some(writer));
        if is_first
            && matches!(writer, Writer::Instruction(_))
            && let Some(items) = self.written_items(value)
        {
            for item in self.indices(Some(items)) {
                self.add_writer(item, Writer::List(value));
            }
        }
    }

    /// Decides which values are nodes. A value without uses is no node.
    fn choose_nodes(&mut self) {
        let count = narrow(self.instructions.len());
        let outputs = self.outputs.clone();
        for pc in 0..count {
            for nth in 0..self.reads(pc).len() {
                self.choose_read(pc, nth);
            }
        }
        for output in outputs {
            self.choose(output, true);
            self.change(output, |value| value.is_kept = true);
        }
        for pc in 0..count {
            for nth in 0..self.writes(pc).len() {
                self.choose_written(pc, nth);
            }
        }
    }

    fn choose_read(&mut self, pc: u32, nth: usize) {
        if let Some(&value) = self.reads(pc).get(nth) {
            self.choose(value, false);
        }
    }

    fn choose_written(&mut self, pc: u32, nth: usize) {
        if let Some(&value) = self.writes(pc).get(nth) {
            self.choose(value, false);
        }
    }

    /// Decides whether a used value is a node. For a list, decides this for each item too. A
    /// number without a writer is a node only if it is an output.
    fn choose(&mut self, value: u32, is_output: bool) {
        let Some(facts) = self.values.get(at(value)).filter(|facts| !facts.is_node) else { return };
        if let Some(source) = facts.source {
            self.choose(source, false);
        }
        let Some(facts) = self.values.get(at(value)) else { return };
        let is_node = match self.value(at(value)) {
            _ if facts.writers > 1 => true,
            // The value is read before it is written: the contents come from the previous run.
            _ if facts.writers > 0 && facts.is_read_first => true,
            _ if self.is_list(at(value)) => true,
            _ if facts.source.is_some() => false,
            Some(KernelTypes::Tensor(tensor)) => facts.writers == 0 || self.has_data(tensor),
            _ => is_output && facts.writers == 0,
        };
        self.change(value, |facts| facts.is_node = is_node);
        if is_node {
            for item in self.items(at(value)) {
                // Lists of lists are invalid.
                if !self.is_list(at(item)) {
                    self.choose(item, false);
                    self.change(item, |item| item.is_kept = true);
                }
            }
        }
    }

    /// Returns whether a tensor has contents before any instruction writes it.
    fn has_data(&self, tensor: Tensor<'a>) -> bool {
        // As in `kind`, the size is not asked for.
        let storage = self.pte.storage_of(tensor, || Ok(0));
        !matches!(storage, Ok(Storage::Unbound | Storage::Planned { initial: None, .. }) | Err(_))
    }

    /// Returns the values that an instruction reads.
    pub(super) fn reads(&self, pc: u32) -> &[u32] {
        self.operands_of(pc, |facts| (facts.reads_begin, facts.writes_begin))
    }

    /// Returns the values that an instruction writes, each once.
    pub(super) fn writes(&self, pc: u32) -> &[u32] {
        self.operands_of(pc, |facts| (facts.writes_begin, facts.end))
    }

    fn operands_of(&self, pc: u32, range: fn(&InstructionFacts) -> (u32, u32)) -> &[u32] {
        let range = self.instructions.get(at(pc)).map(range);
        let operands = range.and_then(|(begin, end)| self.operands.get(at(begin)..at(end)));
        operands.unwrap_or_default()
    }

    /// Returns the tensors of a list.
    pub(super) fn items(&self, list: usize) -> Vec<u32> {
        self.indices(i32::try_from(list).ok().and_then(|list| method::items(self.plan, list)))
    }

    fn written_items(&self, list: u32) -> Option<Vector<'a, i32>> {
        method::written_items(self.plan, i32::try_from(list).ok()?)
    }

    fn change(&mut self, value: u32, change: impl FnOnce(&mut ValueFacts)) {
        if let Some(facts) = self.values.get_mut(at(value)) {
            change(facts);
        }
    }

    /// Returns `value` as an index, if there is a value at it.
    fn valid(&self, value: i32) -> Option<u32> {
        u32::try_from(value).ok().filter(|&value| at(value) < self.values.len())
    }

    fn indices(&self, all: Option<Vector<'_, i32>>) -> Vec<u32> {
        all.into_iter().flatten().filter_map(|value| self.valid(value)).collect()
    }
}

/// Returns the names of tensors and the contents of strings, by value. Each is read once, since reading a
/// text costs its length.
fn texts(plan: ExecutionPlan<'_>) -> Vec<(u32, &str)> {
    let values = (0..).zip(plan.values().into_iter().flatten());
    let texts = values.filter_map(|(nth, value)| {
        let text = match value.val()? {
            KernelTypes::Tensor(tensor) => tensor.extra_tensor_info()?.fully_qualified_name()?,
            KernelTypes::String(string) => string.string_val()?,
            _ => return None,
        };
        (!text.is_empty()).then_some((nth, text))
    });
    texts.collect()
}
