//! The memory that a method plans: its arenas, what lies in them, and when.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../tests/data/pte/linear.pte");
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
//! A step is an instruction; those of all chains are counted as they run, one chain after the other.
//! A tensor lives from the step that defines it to the last one that uses it, both included
//! (format.md §6.2, §6.5):
//!
//! - An input lives from the start, an output to the end. State lives throughout: what has initial
//!   data or a name, as only buffers and parameters have one, and what is read before anything has
//!   written it.
//! - A call uses all of its arguments, and the tensors of lists among them; so does a delegate's.
//!   What it writes is known of the official operators; of others it is what their arguments name
//!   twice, or last.
//! - What is read first, where others have lain before, is a view of them: it lives since they were
//!   defined.
//! - Where a move, or an operator that makes views, puts a tensor under another index, that index's
//!   uses are its own. A free is a use, and the last one.
//! - Of a loop, that is of what a jump back encloses: what is used in it and outside of it, or is
//!   handed from one turn to the next, lives in all of it.
//!
//! Jumps are not run: steps are in the order in which the file lists them, and a life is one range of
//! them. So with jumps a life may be too long and is never too short: what one branch makes, and is used
//! behind both, counts at the steps of the other branch too.
//!
//! Not counted is what no file plans: the runtime's own structures (its *method allocator*), what
//! backends allocate for themselves, and scratch memory of kernels (the *temporary allocator*).

use core::ops::Range;

use alloc::vec::Vec;

use crate::Pte;
use crate::bytes::{index as at, narrow};
use crate::cost;
use crate::pte::{Arena as Place, Storage};
use crate::schema::program::TensorShapeDynamism;
use crate::schema::program::view::{
    ExecutionPlan, InstructionArguments, KernelTypes, NonConstBufferDevice,
};

mod cover;
#[cfg(test)]
mod growth;
mod loops;
mod outside;
mod replay;

use cover::{Cells, Cover, Given};
pub use outside::Outside;
use replay::{END, NEVER, Replay, Seen};

/// What a method plans for its tensors, and what it needs.
///
/// Making one takes n log n steps in the method's tables.
#[derive(Clone, Debug)]
pub struct Memory<'a> {
    plan: ExecutionPlan<'a>,
    arenas: Vec<Arena<'a>>,
    tensors: Vec<Tensor>,
    unplanned: Vec<Unplanned>,
    outside: Outside,
    /// The first step of each chain.
    chains: Vec<u32>,
    steps: u32,
}

/// A range of memory that the runtime is given for a method.
#[derive(Clone, Debug)]
pub struct Arena<'a> {
    /// Its index in `non_const_buffer_sizes`, from 1 on: what a tensor's `memory_id` says.
    pub id: u32,
    /// Its bytes, as `non_const_buffer_sizes` has them; `None` where there are none or less: such a
    /// method is refused.
    pub planned: Option<u64>,
    /// Where it is, if not on the host: of several entries the first, as runtimes read them.
    pub device: Option<NonConstBufferDevice<'a>>,
    /// Bytes up to the end of the tensor that reaches furthest.
    pub reach: u64,
    /// Bytes that any tensor has at any time.
    pub used: u64,
    /// Most bytes that are live at once; those that several tensors share are counted once.
    pub peak: u64,
    /// The first step at which that is so; `None` where nothing lives, or nothing is run.
    pub peak_step: Option<u32>,
    /// Its tensors in [`Memory::tensors`].
    tensors: Range<usize>,
}

/// A tensor that is planned into an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The index of the value.
    pub value: u32,
    /// The arena.
    pub arena: u32,
    /// Where it begins there, in bytes.
    pub offset: u64,
    /// Its bytes, of the largest sizes that it may have; `None` where they are unknown.
    pub bytes: Option<u64>,
    /// What it is to the method.
    pub role: Role,
    /// When it lives; `None` where nothing uses it.
    pub life: Option<Life>,
}

/// What a planned tensor is to its method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Role {
    /// It is computed on the way.
    Scratch,
    /// The caller of the method brings it.
    Input,
    /// The caller of the method reads it.
    Output,
    /// It keeps what it holds from one run to the next.
    State,
}

/// From when to when a tensor lives, in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// The step that defines it; `None` for before the first one.
    pub first: Option<u32>,
    /// The last step that uses it; `None` for after the last one.
    pub last: Option<u32>,
}

/// A tensor without a place in an arena and without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unplanned {
    /// The index of the value.
    pub value: u32,
    /// Its bytes, of the largest sizes that it may have; `None` where they are unknown.
    pub bytes: Option<u64>,
    /// Whether it is an input or an output: the caller of the method brings its memory. Of others
    /// it is a backend's, or that of the tensor that is moved there.
    pub is_end: bool,
    /// Whether its sizes have no bound.
    pub is_unbounded: bool,
}

impl<'a> Memory<'a> {
    /// What `plan`, a method of `pte`, plans and needs.
    pub fn of(pte: &Pte<'a>, plan: ExecutionPlan<'a>) -> Self {
        let replay = Replay::of(pte, plan);
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
                // Without a place it is data, and not memory.
                Ok(Storage::External { .. }) => true,
                Ok(Storage::Constant(_)) => continue,
                Err(_) => tensor.data_buffer_idx() != 0,
            };
            let Some(place) = tensor.allocation_info() else { continue };
            let name = tensor.extra_tensor_info().and_then(|extra| extra.fully_qualified_name());
            let is_state = has_data || name.is_some_and(|name| !name.is_empty());
            let role = match () {
                () if is_state => Role::State,
                () if ends.is_input(value) => Role::Input,
                () if ends.is_output(value) => Role::Output,
                () => Role::Scratch,
            };
            let Place { memory_id: arena, offset } = Place::of(place);
            tensors.push(Tensor { value, arena, offset, bytes, role, life: None });
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
            steps: replay.steps,
        };
        for arena in &mut memory.arenas {
            let tensors = memory.tensors.get_mut(arena.tensors.clone()).unwrap_or_default();
            let cells = Cells::of(tensors.iter().map(|tensor| tensor.range()));
            lives(tensors, &replay, &cells);
            arena.measure(tensors, cells, memory.steps);
        }
        memory.chains = replay.chains;
        memory
    }

    /// The method.
    pub fn plan(&self) -> ExecutionPlan<'a> {
        self.plan
    }

    /// Its arenas by id: those that it declares, and those that tensors name besides.
    pub fn arenas(&self) -> &[Arena<'a>] {
        &self.arenas
    }

    /// The tensors that are planned into an arena, by offset.
    pub fn tensors(&self, arena: &Arena<'_>) -> &[Tensor] {
        self.tensors.get(arena.tensors.clone()).unwrap_or_default()
    }

    /// The tensors without a place and without data.
    pub fn unplanned(&self) -> &[Unplanned] {
        &self.unplanned
    }

    /// What the method uses that lies in no arena.
    pub fn outside(&self) -> Outside {
        self.outside
    }

    /// The bytes of all arenas, those of devices included; of a sum past 2^64 − 1, that.
    pub fn planned(&self) -> u64 {
        let planned = self.arenas.iter().filter_map(|arena| arena.planned);
        planned.fold(0, u64::saturating_add)
    }

    /// The bytes that all arenas need, those of devices included: see [`Arena::needed`]; of a sum past
    /// 2^64 − 1, that.
    pub fn needed(&self) -> u64 {
        self.arenas.iter().map(Arena::needed).fold(0, u64::saturating_add)
    }

    /// Instructions of all chains.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The chain of a step, and the instruction's number there.
    pub fn place(&self, step: u32) -> (u32, u32) {
        // Of chains without instructions, the first one begins where the next one does.
        let chain = self.chains.partition_point(|&begin| begin <= step).saturating_sub(1);
        let begin = self.chains.get(chain).copied().unwrap_or_default();
        (narrow(chain), step.saturating_sub(begin))
    }

    /// What the instruction of a step does.
    pub fn instruction(&self, step: u32) -> Option<InstructionArguments<'a>> {
        let (chain, nth) = self.place(step);
        self.plan.chains()?.get(at(chain))?.instructions()?.get(at(nth))?.instr_args()
    }
}

impl Arena<'_> {
    /// The bytes that it takes: those that are planned, or how far tensors reach, if that is further or
    /// nothing is planned. In a file without an Error it is what is planned.
    pub fn needed(&self) -> u64 {
        self.planned.unwrap_or_default().max(self.reach)
    }

    /// Planned bytes behind the last tensor: exporters round up, and delegates may need room that
    /// no tensor shows. `None` where tensors reach past what is planned, or nothing is.
    pub fn slack(&self) -> Option<u64> {
        self.planned?.checked_sub(self.reach)
    }

    /// Bytes that the tensors reach over and that are never live at once.
    pub fn fragmentation(&self) -> u64 {
        self.reach.saturating_sub(self.peak)
    }

    /// Bytes that the tensors reach over and that none of them ever has. With the slack, they are what
    /// is planned and no tensor needs.
    pub fn gaps(&self) -> u64 {
        self.reach.saturating_sub(self.used)
    }

    fn measure(&mut self, tensors: &[Tensor], cells: Cells, steps: u32) {
        let ends = tensors.iter().map(|tensor| tensor.range().1);
        self.reach = ends.max().unwrap_or_default();
        let mut behind = 0u64;
        for (begin, end) in tensors.iter().map(|tensor| tensor.range()) {
            self.used = self.used.saturating_add(end.saturating_sub(begin.max(behind)));
            behind = behind.max(end);
        }
        let mut cover = Cover::new(cells);
        let mut starts: Vec<_> = Vec::with_capacity(tensors.len());
        starts.extend(tensors.iter().filter_map(|of| Some((of.life?.span(steps).0, of.range()))));
        let mut ends: Vec<_> = Vec::with_capacity(starts.len());
        ends.extend(tensors.iter().filter_map(|of| Some((of.life?.span(steps).1, of.range()))));
        cost::sort(starts.len().saturating_mul(2));
        starts.sort_unstable();
        ends.sort_unstable();
        let (mut starts, mut ends) = (starts.into_iter().peekable(), ends.into_iter().peekable());
        while let Some((step, range)) = starts.next() {
            while let Some((_, range)) = ends.next_if(|&(last, _)| last < step) {
                cover.remove(range);
            }
            cover.add(range);
            while let Some((_, range)) = starts.next_if(|&(first, _)| first == step) {
                cover.add(range);
            }
            if cover.bytes() > self.peak {
                self.peak = cover.bytes();
                self.peak_step = Some(step).filter(|&step| step < steps);
            }
        }
    }
}

impl Tensor {
    /// Where it begins and ends in its arena. What has no size is empty, and no end is past 2^64.
    pub fn range(&self) -> (u64, u64) {
        (self.offset, self.offset.saturating_add(self.bytes.unwrap_or_default()))
    }

    /// Whether it lives at a step of a method that has so many.
    pub fn lives_at(&self, step: u32, steps: u32) -> bool {
        self.life.is_some_and(|life| {
            let (first, last) = life.span(steps);
            first <= step && step <= last
        })
    }
}

impl Life {
    /// The first and the last of so many steps at which it holds. A method without any has one
    /// moment all the same.
    pub fn span(&self, steps: u32) -> (u32, u32) {
        let end = steps.saturating_sub(1);
        (self.first.unwrap_or(0).min(end), self.last.unwrap_or(end).min(end))
    }
}

/// Which values are inputs and outputs of a method.
struct Ends {
    inputs: Vec<i32>,
    outputs: Vec<i32>,
}

impl Ends {
    fn of(plan: ExecutionPlan<'_>) -> Self {
        let sorted = |all: Option<crate::flat::view::Vector<'_, i32>>| {
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

/// The arenas of a plan, and those that tensors, sorted by arena, name besides.
fn arenas<'a>(plan: ExecutionPlan<'a>, tensors: &[Tensor]) -> Vec<Arena<'a>> {
    let new = |id, planned| Arena {
        id,
        planned,
        device: None,
        reach: 0,
        used: 0,
        peak: 0,
        peak_step: None,
        tensors: 0..0,
    };
    let sizes = (0u32..).zip(plan.non_const_buffer_sizes().into_iter().flatten());
    // Nobody looks at the first, whatever it is.
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
            None => arenas.push(Arena { tensors: from..to, ..new(first.arena, None) }),
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
    arenas.sort_by_key(|arena| arena.id);
    arenas
}

/// When each tensor of an arena lives.
fn lives(tensors: &mut [Tensor], replay: &Replay<'_>, cells: &Cells) {
    let mut reads = false;
    for tensor in &mut *tensors {
        let Some(seen) = replay.seen(tensor.value) else { continue };
        // What is read before anything has written it there, is asked for below.
        let waits = seen.is_read && tensor.role == Role::Scratch || seen.first == END;
        let waits = waits && !matches!(tensor.role, Role::State | Role::Input);
        reads |= waits;
        tensor.life = life(tensor.role, seen, replay);
    }
    if !reads {
        return;
    }
    // In the order of their first uses: at each step, what is read before what is written.
    let mut order: Vec<_> = (0..tensors.len()).collect();
    let time = |tensor: &Tensor| {
        let seen = replay.seen(tensor.value).filter(|seen| seen.first != NEVER);
        match tensor.role {
            Role::State | Role::Input => Some((0, false)),
            _ => seen.map(|seen| (seen.first.saturating_add(1), !seen.is_read)),
        }
    };
    cost::sort(order.len());
    order.sort_by_key(|&nth| tensors.get(nth).and_then(&time));
    let mut given = Given::new(cells.clone());
    for nth in order {
        let Some(tensor) = tensors.get_mut(nth) else { continue };
        let Some((first, is_written)) = time(tensor) else { continue };
        if first == 0 || is_written {
            given.give(tensor.range(), first);
            continue;
        }
        let since = given.since(tensor.range());
        if since.is_none() && tensor.role == Role::Scratch {
            // Nothing was ever put there: it was, in the run before.
            tensor.role = Role::State;
            tensor.life = Some(Life { first: None, last: None });
            given.give(tensor.range(), 0);
        } else if let Some(life) = &mut tensor.life {
            let since = since.unwrap_or(0);
            let last = life.last.unwrap_or(replay.steps);
            let begin = since.saturating_sub(1).min(last);
            let (first, last) = replay.loops.around((begin, last), true);
            life.first = Some(first).filter(|_| since > 0);
            life.last = life.last.map(|_| last);
        }
    }
}

/// When a tensor lives, by itself.
fn life(role: Role, seen: Seen, replay: &Replay<'_>) -> Option<Life> {
    if role == Role::State {
        return Some(Life { first: None, last: None });
    }
    if seen.first == NEVER {
        // An input is put there, for any use.
        return (role == Role::Input).then_some(Life { first: None, last: Some(0) });
    }
    let is_from_start = role == Role::Input;
    let first = if is_from_start { 0 } else { seen.first };
    let is_to_end = seen.last == END;
    // What is read at the end is read behind every loop, and what is there from the start was put
    // there before.
    let last = if is_to_end { replay.steps } else { seen.last };
    let is_carried = seen.is_carried || is_from_start;
    let (first, last) = replay.loops.around((first.min(last), last), is_carried);
    Some(Life {
        first: Some(first).filter(|_| !is_from_start && seen.first != END),
        last: Some(last).filter(|_| !is_to_end),
    })
}
