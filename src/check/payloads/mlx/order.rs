//! The order of instructions: what each reads, and what was written before.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Counts, MLX_CHAIN, MLX_ORDER, Site, instruction_path};
use crate::report::Findings;
use crate::rule::Rule;
use pte_core::payload::mlx::{Operand, OperandKind, for_each_operand};
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_flat::inserted;
use pte_flat::path;
use pte_flat::view::{List, Raw, Table};
use pte_schema::mlx::SlotType;
use pte_schema::mlx::desc;
use pte_schema::mlx::view::{Instruction, InstructionChain, SlotVariant};

/// What the instructions before the next one have done.
struct Order<'o, 's, 'p> {
    site: &'o Site<'s, 'p>,
    /// The tensors and values that have data. Constants are not in the set.
    written: BTreeSet<(OperandKind, u32)>,
    /// Whether constants may be written.
    is_init: bool,
}

/// A chain that is partly judged.
struct OpenChain<'p> {
    chain: u32,
    instructions: List<'p, Instruction<'p>>,
    /// The index of the instruction after the one that is judged.
    next: u32,
    /// The chains that the last instruction calls and that are not judged yet.
    called: [Option<u32>; 2],
}

/// How far a chain is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    None,
    Open,
    Done,
}

/// Judges the chain that runs once, then the one of each call, and the outputs.
pub(super) fn judge(site: &Site<'_, '_>, counts: &Counts, out: &mut Findings) {
    let graph = site.graph;
    // The backend finds a mutable buffer by its index, which must be in their range.
    let buffers = named(graph.mutable_buffer_map());
    let buffers = buffers.filter(|(_, tensor)| counts.buffers.contains(&u64::from(*tensor)));
    let buffers: BTreeSet<_> = inserted(buffers);
    cost::sort(buffers.len());
    let mut order = Order { site, written: buffers.clone(), is_init: true };
    if let Ok(init) = u32::try_from(graph.init_chain_idx()) {
        order.chains(init, out);
    }
    (order.written, order.is_init) = (buffers, false);
    for (nth, (kind, index)) in (0..).zip(named(graph.input_map())) {
        if let Err(message) = order.write(kind, index) {
            let path = path!["input_map", nth];
            site.place.find(out, &MLX_ORDER, graph.raw(), &path, || message.into());
        }
    }
    order.chains(graph.main_chain_idx(), out);
    for (nth, (kind, index)) in (0..).zip(named(graph.output_map())) {
        if !order.has(kind, index) {
            let path = path!["output_map", nth];
            site.place.find(out, &MLX_ORDER, graph.raw(), &path, || {
                format!("no instruction writes {} {index}, an output of the graph", kind.name())
            });
        }
    }
}

/// Returns what each slot names.
fn named<'p>(
    map: Option<List<'p, SlotVariant<'p>>>,
) -> impl Iterator<Item = (OperandKind, u32)> + use<'p> {
    map.into_iter().flatten().map(|slot| match slot.slot_type() {
        SlotType::TensorSlot => (OperandKind::Tensor, slot.idx()),
        _ => (OperandKind::Value, slot.idx()),
    })
}

impl<'p> Order<'_, '_, 'p> {
    /// Judges a chain, and the chains that it calls. Each is judged once, when it is called first: later there is
    /// more that was written. Of the chains of a condition, both count as run.
    fn chains(&mut self, first: u32, out: &mut Findings) {
        let chains = self.site.graph.instruction_chains().unwrap_or_default();
        cost::charge(chains.len());
        let mut progress = vec![Progress::None; chains.len()];
        let mut open: Vec<OpenChain<'p>> = Vec::new();
        let mut called = Some(first);
        loop {
            if let Some(chain) = called.take()
                && let Some(progress) = progress.get_mut(index(chain))
            {
                let is_open = *progress == Progress::Open;
                if let Some(last) = open.last().filter(|_| is_open) {
                    last.report(self.site, out, &MLX_CHAIN, || {
                        format!("chain {chain} calls itself, which has no end")
                    });
                }
                if *progress == Progress::None {
                    *progress = Progress::Open;
                    open.push(OpenChain::new(chain, chains.get(index(chain))));
                }
            }
            let Some(last) = open.last_mut() else { return };
            called = last.called.iter_mut().find_map(Option::take);
            if called.is_some() {
                continue;
            }
            match last.instructions.get(index(last.next)) {
                Some(instruction) => {
                    cost::charge(1);
                    last.next = last.next.saturating_add(1);
                    last.called = self.instruction(last, instruction.raw(), out);
                }
                None => {
                    let done = progress.get_mut(index(last.chain));
                    done.into_iter().for_each(|progress| *progress = Progress::Done);
                    open.pop();
                }
            }
        }
    }

    /// Judges an instruction: first what it reads. Returns the chains that it calls.
    fn instruction(
        &mut self,
        chain: &OpenChain<'p>,
        instruction: Raw<'p>,
        out: &mut Findings,
    ) -> [Option<u32>; 2] {
        let mut called = [None; 2];
        let mut wrong = None;
        for_each_operand(instruction, |Operand { name, kind, index, is_written }| {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            match kind {
                OperandKind::Chain => {
                    let next = called.iter_mut().find(|called| called.is_none());
                    next.into_iter().for_each(|next| *next = Some(index));
                }
                // The backend does not read where a scan begins.
                _ if is_written || name == "carry" => {}
                _ if !self.has(kind, index) => {
                    wrong.get_or_insert((name, kind, index, "is read before it is written"));
                }
                _ if MUTATED.contains(&name) && self.is_constant(kind, index) => {
                    wrong.get_or_insert((
                        name,
                        kind,
                        index,
                        "is a constant, which is never changed",
                    ));
                }
                _ => {}
            }
        });
        for_each_operand(instruction, |Operand { name, kind, index, is_written }| {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            if is_written && let Err(why) = self.write(kind, index) {
                wrong.get_or_insert((name, kind, index, why));
            }
        });
        if let Some((name, kind, index, why)) = wrong {
            chain.report(self.site, out, &MLX_ORDER, || {
                format!("{name}: {} {index} {why}", kind.name())
            });
        }
        called
    }

    /// Returns whether a tensor or a value has data.
    fn has(&self, kind: OperandKind, index: u32) -> bool {
        cost::look_up("", self.written.len());
        self.is_constant(kind, index) || self.written.contains(&(kind, index))
    }

    /// Records that a tensor or a value is written.
    fn write(&mut self, kind: OperandKind, index: u32) -> Result<(), &'static str> {
        if self.is_read_only(kind, index) {
            return Err(READ_ONLY);
        }
        cost::look_up("", self.written.len());
        self.written.insert((kind, index));
        Ok(())
    }

    fn is_read_only(&self, kind: OperandKind, index: u32) -> bool {
        !self.is_init && self.is_constant(kind, index)
    }

    fn is_constant(&self, kind: OperandKind, index: u32) -> bool {
        kind == OperandKind::Tensor && index < self.site.graph.num_constant_tensors()
    }
}

impl<'p> OpenChain<'p> {
    fn new(chain: u32, of: Option<InstructionChain<'p>>) -> Self {
        let instructions = of.and_then(InstructionChain::instructions).unwrap_or_default();
        Self { chain, instructions, next: 0, called: [None; 2] }
    }

    /// Reports a finding at the instruction that is judged.
    fn report(
        &self,
        site: &Site<'_, 'p>,
        out: &mut Findings,
        rule: &'static Rule,
        message: impl FnOnce() -> String,
    ) {
        let nth = index(self.next).saturating_sub(1);
        let found =
            self.instructions.get(nth).and_then(|found| found.raw().member(&desc::Instruction));
        let at = found.map_or(site.graph.raw(), |(_, node)| node);
        site.place.find(out, rule, at, &instruction_path(self.chain, nth), message);
    }
}

/// The fields with tensors that an instruction changes.
const MUTATED: [&str; 1] = ["dst"];

/// The reason why a constant cannot be written.
const READ_ONLY: &str = "is a constant, which only the init chain may write";
