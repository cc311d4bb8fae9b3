//! The memory plan of a method: its arenas, the tensors in them, and when each tensor is live.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
//! let pte = pte::Pte::read(bytes)?;
//! for plan in pte.program().execution_plan().into_iter().flatten() {
//!     let memory = pte::memory::Memory::of(&pte, plan);
//!     for arena in memory.arenas() {
//!         println!("arena {}: {:?} bytes, at most {} live", arena.id, arena.planned, arena.peak);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A tensor is live from the instruction that defines it to the last one that uses it, both included
//! (format.md §6.2, §6.5). Instructions are numbered over all chains, by pc ([`Instruction::pc`]):
//!
//! - An input is live from the start, an output to the end. State is live throughout: a tensor with
//!   initial data or a name, or one that is read before the first write.
//! - A call uses all of its arguments, and the items of lists among them. [`Effects`] says which of them it
//!   writes.
//! - A tensor is a view if its first use reads bytes that were written as other tensors. Its live
//!   range begins where these were defined.
//! - A move, or an operator that makes views, puts a tensor under another index. The uses of that
//!   index are uses of the tensor. A tensor that is only ever a view has a live range, but takes no
//!   separate memory, even if the file plans a place for it. A free is the last use.
//! - A loop is the range that a backward jump encloses. A tensor that is used inside and outside of it, or
//!   is carried from one iteration to the next, is live in the whole loop.
//!
//! A live range is a single range in the order of the file, even if jumps skip parts of it. So it may be too
//! long and is never too short: a tensor that one branch writes and the join reads is live in the other
//! branch too.
//!
//! [`Pools`] has the rest of what a caller gives the runtime: the *method allocator*, for the runtime's structures, and
//! the *temporary allocator*, for scratch memory. What backends take of the heap is not counted.
//!
//! [`Instruction::pc`]: pte_core::method::Instruction::pc
//! [`Effects`]: pte_core::method::Effects

use core::ops::Range;

use alloc::vec::Vec;

use pte_core::{Arena as Place, Pte, Storage, operator_name, tensor_at};
use pte_flat::bytes::{index as at, narrow};
use pte_flat::cost;
use pte_flat::quoted::UntrustedString;
use pte_schema::program::TensorShapeDynamism;
use pte_schema::program::view::{
    ExecutionPlan, InstructionArguments, KernelTypes, NonConstBufferDevice, Tensor,
};

mod budget;
mod document;
mod liveness;
mod loops;
mod outside;
mod pools;
mod segment_tree;

pub use budget::{Budget, Limited};
#[cfg(all(feature = "json", feature = "serde", feature = "std"))]
pub use document::DocumentWriter;
pub use document::MethodDocument;
use liveness::{END, Liveness, NEVER, ValueUses};
pub use outside::{Outside, named_data_bytes};
pub use pools::{PointerWidth, Pool, PoolPart, Pools, Target};
use segment_tree::{CompressedCoordinates, CoverageSegmentTree, LastWrite};

/// The memory plan of a method.
///
/// Building one takes O(n log n) time in the size of the method's tables.
#[derive(Clone, Debug)]
pub struct Memory<'a> {
    plan: ExecutionPlan<'a>,
    arenas: Vec<PlannedArena<'a>>,
    tensors: Vec<PlannedTensor>,
    unplanned: Vec<Unplanned>,
    outside: Outside,
    /// The pc of the first instruction of each chain.
    chains: Vec<u32>,
    instruction_count: u32,
}

/// An arena: a range of memory that the caller gives the runtime for a method.
#[derive(Clone, Debug)]
pub struct PlannedArena<'a> {
    /// The index in `non_const_buffer_sizes`, from 1 on. The `memory_id` of a tensor is this id.
    pub id: u32,
    /// The size in bytes in `non_const_buffer_sizes`; `None` if it is missing or negative, so that the
    /// runtime refuses the method.
    pub planned: Option<u64>,
    /// The device, if it is not the host. The first of several entries counts, as in runtimes.
    pub device: Option<NonConstBufferDevice<'a>>,
    /// The greatest end of any tensor, in bytes.
    pub reach: u64,
    /// The number of bytes that belong to at least one tensor.
    pub used: u64,
    /// The most bytes that are live at once. Bytes that tensors share are counted once.
    pub peak: u64,
    /// The first pc of the peak; `None` if nothing is live or there are no instructions.
    pub peak_pc: Option<u32>,
    /// The range of the arena's tensors in the list of all planned tensors.
    tensors: Range<usize>,
}

/// A tensor that is planned into an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedTensor {
    /// The index of the value.
    pub value: u32,
    /// The arena.
    pub arena: u32,
    /// The offset in the arena, in bytes.
    pub offset: u64,
    /// The number of bytes that the tensor needs at its largest sizes; `None` if unknown.
    pub bytes: Option<u64>,
    /// The role in the method.
    pub role: TensorRole,
    /// Whether the tensor is only a view. A move, or an operator that makes views, then puts
    /// another tensor under its index, and no other instruction writes it. Its place in the arena
    /// is planned and never used.
    pub is_view: bool,
    /// The live range; `None` for an unused tensor.
    pub live_range: Option<LiveRange>,
}

/// The role of a planned tensor in its method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TensorRole {
    /// An intermediate result.
    Scratch,
    /// The caller writes the tensor.
    Input,
    /// The caller reads the tensor.
    Output,
    /// The tensor keeps its contents from one run to the next.
    State,
}

/// The range of instructions in which a tensor is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveRange {
    /// The pc of the instruction that defines the tensor; `None` if it is defined before the
    /// first instruction.
    pub first_use: Option<u32>,
    /// The pc of the last instruction that uses the tensor; `None` if the tensor is used after
    /// the last instruction.
    pub last_use: Option<u32>,
}

/// A tensor that has no place in an arena and no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unplanned {
    /// The index of the value.
    pub value: u32,
    /// The number of bytes that the tensor needs at its largest sizes; `None` if unknown.
    pub bytes: Option<u64>,
    /// Whether it is an input or an output, whose memory the caller provides. Other tensors use
    /// memory of a backend, or of a tensor that is moved to their index.
    pub is_end: bool,
    /// Whether the tensor's sizes are unbounded.
    pub is_unbounded: bool,
}

impl<'a> Memory<'a> {
    /// Returns the memory plan of `plan`, a method of `pte`.
    pub fn of(pte: &Pte<'a>, plan: ExecutionPlan<'a>) -> Self {
        let liveness = Liveness::of(pte, plan);
        let ends = Ends::of(plan);
        let (mut tensors, mut unplanned) = (Vec::new(), Vec::new());
        for (value, held) in (0u32..).zip(plan.values().into_iter().flatten()) {
            let Some(KernelTypes::Tensor(tensor)) = held.val() else { continue };
            let sizes = tensor.sizes().into_iter().flatten();
            let bytes = tensor.scalar_type().nbytes(sizes);
            let storage = pte.storage(tensor);
            let has_data = match storage {
                Ok(Storage::Unbound) => {
                    let dynamism = tensor.shape_dynamism();
                    let is_unbounded = dynamism == TensorShapeDynamism::DYNAMIC_UNBOUND;
                    let is_end = ends.is_input(value) || ends.is_output(value);
                    unplanned.push(Unplanned { value, bytes, is_end, is_unbounded });
                    continue;
                }
                Ok(Storage::Planned { initial, .. }) => initial.is_some(),
                // A tensor without a place in an arena is skipped below.
                Ok(Storage::External { .. }) => true,
                Ok(Storage::Constant(_)) => continue,
                Err(_) => tensor.data_buffer_idx() != 0,
            };
            let Some(place) = tensor.allocation_info() else { continue };
            let name = tensor.extra_tensor_info().and_then(|extra| extra.fully_qualified_name());
            let is_state = has_data || name.is_some_and(|name| !name.is_empty());
            let role = match () {
                () if is_state => TensorRole::State,
                () if ends.is_input(value) => TensorRole::Input,
                () if ends.is_output(value) => TensorRole::Output,
                () => TensorRole::Scratch,
            };
            let Place { memory_id: arena, offset } = Place::of(place);
            let is_view = role != TensorRole::State
                && role != TensorRole::Input
                && liveness.uses(value).is_some_and(ValueUses::is_view);
            let live_range = None;
            tensors.push(PlannedTensor { value, arena, offset, bytes, role, is_view, live_range });
        }
        cost::sort(tensors.len());
        tensors.sort_by_key(|tensor| (tensor.arena, tensor.offset));
        let arenas = arenas(plan, &tensors);
        let mut memory = Self {
            plan,
            arenas,
            tensors,
            unplanned,
            outside: Outside::of(pte, plan),
            chains: Vec::new(),
            instruction_count: liveness.instruction_count,
        };
        for arena in &mut memory.arenas {
            let tensors = memory.tensors.get_mut(arena.tensors.clone()).unwrap_or_default();
            let coordinates =
                CompressedCoordinates::of(tensors.iter().map(|tensor| tensor.range()));
            set_live_ranges(tensors, &liveness, &coordinates);
            arena.measure(tensors, coordinates, memory.instruction_count, |_, _| {});
        }
        memory.chains = liveness.chains;
        memory
    }

    /// Returns the method.
    pub fn plan(&self) -> ExecutionPlan<'a> {
        self.plan
    }

    /// Returns the arenas by id: the declared ones, and others that tensors refer to.
    pub fn arenas(&self) -> &[PlannedArena<'a>] {
        &self.arenas
    }

    /// Returns the tensors that are planned into an arena, by offset.
    pub fn tensors(&self, arena: &PlannedArena<'_>) -> &[PlannedTensor] {
        self.tensors.get(arena.tensors.clone()).unwrap_or_default()
    }

    /// Returns the number of live bytes of an arena over time: each pc at which it may change, with
    /// the new number. Bytes that tensors share are counted once. Takes O(n log n) time.
    pub fn live_bytes(&self, arena: &PlannedArena<'a>) -> Vec<(u32, u64)> {
        let tensors = self.tensors(arena);
        let coordinates = CompressedCoordinates::of(tensors.iter().map(|tensor| tensor.range()));
        let mut curve: Vec<(u32, u64)> = Vec::new();
        arena.clone().measure(
            tensors,
            coordinates,
            self.instruction_count,
            |pc, bytes| match curve.last_mut().filter(|(last, _)| *last == pc) {
                Some(last) => *last = (pc, bytes),
                None => curve.push((pc, bytes)),
            },
        );
        curve
    }

    /// Returns the tensors that have no place in an arena and no data.
    pub fn unplanned(&self) -> &[Unplanned] {
        &self.unplanned
    }

    /// Returns the memory of the method outside of arenas.
    pub fn outside(&self) -> Outside {
        self.outside
    }

    /// Returns the declared bytes of all arenas, including those on devices. Saturates at 2^64 − 1.
    pub fn planned(&self) -> u64 {
        let planned = self.arenas.iter().filter_map(|arena| arena.planned);
        planned.fold(0, u64::saturating_add)
    }

    /// Returns the sum of [`PlannedArena::needed`] over all arenas, including those on devices. Saturates at 2^64 − 1.
    pub fn needed(&self) -> u64 {
        self.arenas.iter().map(PlannedArena::needed).fold(0, u64::saturating_add)
    }

    /// Returns the number of instructions of all chains.
    pub fn instruction_count(&self) -> u32 {
        self.instruction_count
    }

    /// Returns the chain of an instruction, and its index there.
    pub fn place(&self, pc: u32) -> (u32, u32) {
        // An empty chain has the same first pc as the next chain.
        let chain = self.chains.partition_point(|&begin| begin <= pc).saturating_sub(1);
        let begin = self.chains.get(chain).copied().unwrap_or_default();
        (narrow(chain), pc.saturating_sub(begin))
    }

    /// Returns the operation of an instruction.
    pub fn instruction(&self, pc: u32) -> Option<InstructionArguments<'a>> {
        let (chain, nth) = self.place(pc);
        self.plan.chains()?.get(at(chain))?.instructions()?.get(at(nth))?.instr_args()
    }

    /// Returns the name of an instruction: its operator, its backend, or its kind.
    pub fn operation_name(&self, pc: u32) -> UntrustedString {
        match self.instruction(pc) {
            Some(InstructionArguments::KernelCall(call)) => {
                let index = call.op_index();
                let all = self.plan.operators().zip(usize::try_from(index).ok());
                let operator = all.and_then(|(all, nth)| all.get(nth));
                operator.map_or_else(|| format!("no operator {index}").into(), operator_name)
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                let index = call.delegate_index();
                let all = self.plan.delegates().zip(usize::try_from(index).ok());
                let id = all.and_then(|(all, nth)| all.get(nth)?.id());
                format!("delegate {index} {}", id.unwrap_or_default()).into()
            }
            Some(InstructionArguments::MoveCall(_)) => "move".into(),
            Some(InstructionArguments::FreeCall(_)) => "free".into(),
            Some(InstructionArguments::JumpFalseCall(_)) => "jump".into(),
            _ => "unknown".into(),
        }
    }

    /// Returns the tensor of a value.
    pub fn tensor(&self, value: u32) -> Option<Tensor<'a>> {
        tensor_at(self.plan, value)
    }

    /// Returns the fully qualified name of a value, if it has one.
    pub fn tensor_name(&self, value: u32) -> Option<&'a str> {
        let name = self.tensor(value)?.extra_tensor_info()?.fully_qualified_name();
        name.filter(|name| !name.is_empty())
    }
}

impl TensorRole {
    /// Returns the name of the role in the document `pte.memory/1`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scratch => "scratch",
            Self::Input => "input",
            Self::Output => "output",
            Self::State => "state",
        }
    }
}

impl PlannedArena<'_> {
    /// Returns the bytes that the arena takes: the declared size, or the reach of its tensors if
    /// that is greater. In a file without an Error this is the declared size.
    pub fn needed(&self) -> u64 {
        self.planned.unwrap_or_default().max(self.reach)
    }

    /// Returns the declared bytes after the last tensor. Exporters round up, and delegates may need memory
    /// without a tensor. `None` if tensors reach past the declared bytes, or none are declared.
    pub fn slack(&self) -> Option<u64> {
        self.planned?.checked_sub(self.reach)
    }

    /// Returns the difference between the reach and the peak.
    pub fn fragmentation(&self) -> u64 {
        self.reach.saturating_sub(self.peak)
    }

    /// Returns the bytes of the reach that belong to no tensor. With the slack, these are the declared bytes
    /// that no tensor needs.
    pub fn gaps(&self) -> u64 {
        self.reach.saturating_sub(self.used)
    }

    fn measure(
        &mut self,
        tensors: &[PlannedTensor],
        coordinates: CompressedCoordinates,
        instruction_count: u32,
        mut live: impl FnMut(u32, u64),
    ) {
        let ends = tensors.iter().map(|tensor| tensor.range().1);
        self.reach = ends.max().unwrap_or_default();
        let mut behind = 0u64;
        for (begin, end) in tensors.iter().map(|tensor| tensor.range()) {
            self.used = self.used.saturating_add(end.saturating_sub(begin.max(behind)));
            behind = behind.max(end);
        }
        let mut cover = CoverageSegmentTree::new(coordinates);
        let owners = tensors.iter().filter(|of| !of.is_view);
        let spans =
            owners.filter_map(|of| Some((of.live_range?.span(instruction_count), of.range())));
        let mut starts = Vec::with_capacity(tensors.len());
        starts.extend(spans.clone().map(|((first, _), range)| (first, range)));
        let mut ends = Vec::with_capacity(starts.len());
        ends.extend(spans.map(|((_, last), range)| (last, range)));
        cost::sort(starts.len().saturating_mul(2));
        starts.sort_unstable();
        ends.sort_unstable();
        let (mut starts, mut ends) = (starts.into_iter().peekable(), ends.into_iter().peekable());
        while let Some((pc, range)) = starts.next() {
            while let Some((last, range)) = ends.next_if(|&(last, _)| last < pc) {
                cover.remove(range);
                live(last.saturating_add(1), cover.bytes());
            }
            cover.add(range);
            while let Some((_, range)) = starts.next_if(|&(first, _)| first == pc) {
                cover.add(range);
            }
            live(pc, cover.bytes());
            if cover.bytes() > self.peak {
                self.peak = cover.bytes();
                self.peak_pc = Some(pc).filter(|&pc| pc < instruction_count);
            }
        }
        for (last, range) in ends {
            cover.remove(range);
            live(last.saturating_add(1), cover.bytes());
        }
    }
}

impl PlannedTensor {
    /// Returns the tensor's begin and end in the arena. A tensor of unknown size is empty.
    /// Saturates at 2^64 − 1.
    pub fn range(&self) -> (u64, u64) {
        (self.offset, self.offset.saturating_add(self.bytes.unwrap_or_default()))
    }

    /// Returns whether the tensor's place has the tensor's contents at `pc`. The method has
    /// `instruction_count` instructions.
    pub fn is_live_at(&self, pc: u32, instruction_count: u32) -> bool {
        !self.is_view
            && self.live_range.is_some_and(|live_range| {
                let (first, last) = live_range.span(instruction_count);
                first <= pc && pc <= last
            })
    }
}

impl LiveRange {
    /// Returns the first and the last pc of the range in a method of `instruction_count`
    /// instructions. A method without instructions counts as a method of one.
    pub fn span(&self, instruction_count: u32) -> (u32, u32) {
        let end = instruction_count.saturating_sub(1);
        (self.first_use.unwrap_or(0).min(end), self.last_use.unwrap_or(end).min(end))
    }
}

/// The sorted inputs and outputs of a method.
struct Ends {
    inputs: Vec<i32>,
    outputs: Vec<i32>,
}

impl Ends {
    fn of(plan: ExecutionPlan<'_>) -> Self {
        let sorted = |all: Option<pte_flat::view::Vector<'_, i32>>| {
            let mut all: Vec<_> = all.into_iter().flatten().collect();
            all.sort_unstable();
            all
        };
        Self { inputs: sorted(plan.inputs()), outputs: sorted(plan.outputs()) }
    }

    fn is_input(&self, value: u32) -> bool {
        i32::try_from(value).is_ok_and(|value| self.inputs.binary_search(&value).is_ok())
    }

    fn is_output(&self, value: u32) -> bool {
        i32::try_from(value).is_ok_and(|value| self.outputs.binary_search(&value).is_ok())
    }
}

/// Returns the arenas of a plan, and others that `tensors`, sorted by arena, refer to.
fn arenas<'a>(plan: ExecutionPlan<'a>, tensors: &[PlannedTensor]) -> Vec<PlannedArena<'a>> {
    let new = |id, planned| PlannedArena {
        id,
        planned,
        device: None,
        reach: 0,
        used: 0,
        peak: 0,
        peak_pc: None,
        tensors: 0..0,
    };
    let sizes = (0u32..).zip(plan.non_const_buffer_sizes().into_iter().flatten());
    // The first entry is reserved.
    let mut arenas: Vec<_> =
        sizes.skip(1).map(|(id, size)| new(id, u64::try_from(size).ok())).collect();
    let mut from = 0usize;
    while let Some(first) = tensors.get(from) {
        let rest = tensors.get(from..).unwrap_or_default();
        let count = rest.partition_point(|tensor| tensor.arena == first.arena);
        let to = from.saturating_add(count);
        let known = first.arena.checked_sub(1).and_then(|nth| arenas.get_mut(at(nth)));
        match known.filter(|arena| arena.id == first.arena) {
            Some(arena) => arena.tensors = from..to,
            None => arenas.push(PlannedArena { tensors: from..to, ..new(first.arena, None) }),
        }
        from = to;
    }
    for device in plan.non_const_buffer_device().into_iter().flatten() {
        let nth = usize::try_from(device.buffer_idx()).ok().and_then(|id| id.checked_sub(1));
        let arena = nth.and_then(|nth| arenas.get_mut(nth)).filter(|arena| arena.planned.is_some());
        if let Some(arena) = arena {
            arena.device = arena.device.or(Some(device));
        }
    }
    arenas.sort_unstable_by_key(|arena| arena.id);
    arenas
}

/// Sets the live range of each tensor of an arena.
fn set_live_ranges(
    tensors: &mut [PlannedTensor],
    liveness: &Liveness<'_>,
    coordinates: &CompressedCoordinates,
) {
    let mut reads = false;
    for tensor in &mut *tensors {
        if tensor.is_view {
            let uses = liveness.view(tensor.value);
            tensor.live_range = uses.and_then(|uses| live_range(tensor.role, uses, liveness));
            continue;
        }
        let Some(uses) = liveness.uses(tensor.value) else { continue };
        // Tensors whose first use is a read are handled below.
        let waits = uses.is_read && tensor.role == TensorRole::Scratch || uses.first_use == END;
        let waits = waits && !matches!(tensor.role, TensorRole::State | TensorRole::Input);
        reads |= waits;
        tensor.live_range = live_range(tensor.role, uses, liveness);
    }
    if !reads {
        return;
    }
    // The order of first uses. At each instruction, reads come before writes.
    let mut order: Vec<_> = (0..tensors.len()).collect();
    let time = |tensor: &PlannedTensor| {
        if tensor.is_view {
            return None;
        }
        let uses = liveness.uses(tensor.value).filter(|uses| uses.first_use != NEVER);
        match tensor.role {
            TensorRole::State | TensorRole::Input => Some((0, false)),
            _ => uses.map(|uses| (uses.first_use.saturating_add(1), !uses.is_read)),
        }
    };
    cost::sort(order.len());
    order.sort_unstable_by_key(|&nth| (tensors.get(nth).and_then(&time), nth));
    let mut last_write = LastWrite::new(coordinates.clone());
    for nth in order {
        let Some(tensor) = tensors.get_mut(nth) else { continue };
        let Some((first, is_written)) = time(tensor) else { continue };
        if first == 0 || is_written {
            last_write.write(tensor.range(), first);
            continue;
        }
        let since = last_write.since(tensor.range());
        if since.is_none() && tensor.role == TensorRole::Scratch {
            // No write precedes the read: the contents come from the previous run.
            tensor.role = TensorRole::State;
            tensor.live_range = Some(LiveRange { first_use: None, last_use: None });
            last_write.write(tensor.range(), 0);
        } else if let Some(live_range) = &mut tensor.live_range {
            let since = since.unwrap_or(0);
            let last = live_range.last_use.unwrap_or(liveness.instruction_count);
            let begin = since.saturating_sub(1).min(last);
            let (first, last) = liveness.loops.around((begin, last), true);
            live_range.first_use = Some(first).filter(|_| since > 0);
            live_range.last_use = live_range.last_use.map(|_| last);
        }
    }
}

/// Returns the live range of a tensor, without the uses of its views.
fn live_range(role: TensorRole, uses: ValueUses, liveness: &Liveness<'_>) -> Option<LiveRange> {
    if role == TensorRole::State {
        return Some(LiveRange { first_use: None, last_use: None });
    }
    if uses.first_use == NEVER {
        // The caller writes an input even if no instruction uses it.
        return (role == TensorRole::Input)
            .then_some(LiveRange { first_use: None, last_use: Some(0) });
    }
    let is_from_start = role == TensorRole::Input;
    let first = if is_from_start { 0 } else { uses.first_use };
    let is_to_end = uses.last_use == END;
    // The end is after every loop, and the start is before every loop.
    let last = if is_to_end { liveness.instruction_count } else { uses.last_use };
    let is_carried = uses.is_carried || is_from_start;
    let (first, last) = liveness.loops.around((first.min(last), last), is_carried);
    Some(LiveRange {
        first_use: Some(first).filter(|_| !is_from_start && uses.first_use != END),
        last_use: Some(last).filter(|_| !is_to_end),
    })
}
