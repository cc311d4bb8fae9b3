//! The abstract state of a method: the known facts about each value at a point of its run.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::kernels::Kernels;
use crate::site::Plan;
use crate::values::Values;
use pte_core::method;
use pte_core::operators::{Kinds, Scalar};
use pte_flat::bytes::{index as at, narrow};
use pte_flat::view::Vector;
use pte_schema::program::tag;

/// The known facts about each value of a method.
#[derive(Clone)]
pub(crate) struct State {
    /// For each value, its index in `changed`, or what is known of a value that was never changed. The list is empty
    /// if every value always equals the one in the file.
    slots: Vec<u32>,
    /// The values that were changed. A file may have a value every four bytes, and most are never changed.
    changed: Vec<AbstractValue>,
    /// Whether the memory of an unknown tensor has changed, so that no tensor's memory is known.
    is_memory_unknown: bool,
    /// Whether an unknown tensor was written, so that no tensor's sizes and elements are known.
    are_tensors_unknown: bool,
}

/// The known facts about the value that is now at an index, and about the tensor that the file has
/// at this index.
///
/// A tensor is identified by its index in the file. A move puts it at a second index, and does not
/// copy its data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct AbstractValue {
    pub(super) is: Is,
    pub(super) by: By,
    /// The memory of the tensor that the file has at this index.
    pub(super) memory: Memory,
    /// A tensor whose sizes in the file equal the current sizes of this tensor, if known.
    pub(super) sized: Option<Tensor>,
    /// A constant whose elements are also in the memory of this tensor, if known.
    pub(super) elements: Option<Tensor>,
}

/// The index of a tensor in the file, plus one: an optional one takes four bytes in place of eight. A state has two for
/// each value that was changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Tensor(NonZeroU32);

impl Tensor {
    pub(super) fn of(index: u32) -> Option<Self> {
        index.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    fn index(self) -> u32 {
        self.0.get().saturating_sub(1)
    }
}

/// The known contents of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    /// The value that has this index in the file.
    Known(u32),
    /// A number that the method has computed.
    Computed(Scalar),
    /// A value of one of the kinds `may`. It is of each of the kinds `some` on at least one path.
    OneOf { may: Kinds, some: Kinds },
}

/// What set a value: the file, the result of a call, or a move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    File,
    Result,
    Move,
}

/// The place of a tensor's data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// In the memory that the file or the caller gives to the tensor with this index in the file.
    Of(u32),
    /// Nowhere: the tensor has never had memory.
    Missing,
    /// Nowhere: the memory was freed.
    Freed,
    Unknown,
}

impl Is {
    pub(super) const UNKNOWN: Self = Self::OneOf { may: Kinds::ANY, some: Kinds::NONE };

    /// Returns a value of one of these kinds. A single kind is certain.
    pub(super) fn one_of(may: Kinds) -> Self {
        Self::OneOf { may, some: if may.is_one() { may } else { Kinds::NONE } }
    }

    /// Returns the kinds that the value may be of, and those that it is of on some path.
    fn kinds(self, values: &Values) -> (Kinds, Kinds) {
        let one = match self {
            Self::OneOf { may, some } => return (may, some),
            Self::Computed(scalar) => Some(scalar.kind()),
            Self::Known(index) => values.tag(index.into()).map(Kinds::of),
        };
        one.map_or((Kinds::ANY, Kinds::NONE), |kind| (kind, kind))
    }
}

impl State {
    /// Returns the state of a method in which no value ever changes.
    pub(crate) fn still() -> Self {
        let (slots, changed) = Default::default();
        Self { slots, changed, is_memory_unknown: false, are_tensors_unknown: false }
    }

    /// Returns a state in which nothing is known.
    pub(super) fn unknown(plan: &Plan<'_, '_>) -> Self {
        Self { slots: plan.each(UNKNOWN), ..Self::still() }
    }

    /// Returns the state before the first run: the values of the file.
    pub(super) fn initial(plan: &Plan<'_, '_>, values: &Values, kernels: &Kernels) -> Self {
        let mut slots: Vec<u32> = plan.each(AS_FILE);
        for (index, slot) in (0..).zip(&mut slots) {
            // Sizes of items are not tracked, since many calls may write a long list.
            if kernels.resized.is_in_list(index) {
                *slot |= UNSIZED;
            }
        }
        for &index in values.unstored() {
            slots.get_mut(at(index)).into_iter().for_each(|slot| *slot |= UNSTORED);
        }
        Self { slots, ..Self::still() }
    }

    pub(super) fn is_still(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns which value of the file is now at `index`, if known. The result is its index in the
    /// file.
    #[inline]
    pub(crate) fn known(&self, index: i32) -> Option<u32> {
        if self.is_still() {
            return u32::try_from(index).ok();
        }
        match self.get(index)?.is {
            Is::Known(known) => Some(known),
            Is::Computed(_) | Is::OneOf { .. } => None,
        }
    }

    /// Returns the number at `index`, if the method has computed it.
    pub(super) fn computed(&self, index: i32) -> Option<Scalar> {
        match self.get(index)?.is {
            Is::Computed(scalar) => Some(scalar),
            Is::Known(_) | Is::OneOf { .. } => None,
        }
    }

    /// Returns which tensor of the file is now at `index`, if known. The result is its index in the
    /// file.
    pub(super) fn tensor(&self, values: &Values, index: i32) -> Option<u32> {
        self.known(index).filter(|&known| values.tag(known.into()) == Some(tag::Tensor))
    }

    /// Returns the kinds that the value at `index` may be of.
    pub(super) fn kinds(&self, values: &Values, index: i32) -> Kinds {
        self.all_kinds(values, index).0
    }

    /// Returns the kinds of the value at `index` that are none of `accepted`: those that it is of on some path, or
    /// all that it may be of if none of these is accepted. `None` if the value fits.
    pub(super) fn wrong_kinds(
        &self,
        values: &Values,
        index: i32,
        accepted: Kinds,
    ) -> Option<Kinds> {
        let (may, some) = self.all_kinds(values, index);
        let wrong = some.without(accepted);
        match may.and(accepted) == Kinds::NONE {
            true => Some(may),
            false => (wrong != Kinds::NONE).then_some(wrong),
        }
    }

    fn all_kinds(&self, values: &Values, index: i32) -> (Kinds, Kinds) {
        let own = || u32::try_from(index).map_or(Is::UNKNOWN, Is::Known);
        self.get(index).map_or_else(own, |value| value.is).kinds(values)
    }

    /// Returns what set the value at `index`.
    pub(super) fn by(&self, index: i32) -> By {
        self.get(index).map_or(By::File, |value| value.by)
    }

    /// Returns where the data of a tensor of the file is.
    pub(super) fn memory(&self, tensor: u32) -> Memory {
        if self.is_still() {
            return Memory::Of(tensor);
        }
        let value = i32::try_from(tensor).ok().and_then(|tensor| self.get(tensor));
        value.filter(|_| !self.is_memory_unknown).map_or(Memory::Unknown, |value| value.memory)
    }

    /// Returns a tensor whose sizes in the file equal the current sizes of `tensor`, if known.
    pub(super) fn sized(&self, kernels: &Kernels, tensor: u32) -> Option<u32> {
        if self.is_still() {
            return (!kernels.resized.is_written(tensor)).then_some(tensor);
        }
        let value = self.get(i32::try_from(tensor).ok()?)?;
        value.sized.filter(|_| !self.are_tensors_unknown).map(Tensor::index)
    }

    /// Returns a constant whose elements `tensor` has now, if known.
    pub(super) fn elements(&self, tensor: u32) -> Option<u32> {
        if self.is_still() {
            return Some(tensor);
        }
        let Memory::Of(owner) = self.memory(tensor) else { return None };
        let value = self.get(i32::try_from(owner).ok()?)?;
        value.elements.filter(|_| !self.are_tensors_unknown).map(Tensor::index)
    }

    #[inline]
    pub(super) fn get(&self, index: i32) -> Option<AbstractValue> {
        let index = u32::try_from(index).ok()?;
        let slot = *self.slots.get(at(index))?;
        Some(self.changed.get(at(slot)).copied().unwrap_or_else(|| never_changed(index, slot)))
    }

    /// Replaces a value, and returns the previous one.
    pub(super) fn set(&mut self, index: i32, value: AbstractValue) -> Option<AbstractValue> {
        let index = u32::try_from(index).ok()?;
        let slot = self.slots.get_mut(at(index))?;
        if let Some(old) = self.changed.get_mut(at(*slot)) {
            return Some(core::mem::replace(old, value));
        }
        let old = never_changed(index, *slot);
        if old != value {
            *slot = narrow(self.changed.len());
            self.changed.push(value);
        }
        Some(old)
    }

    /// Changes the value at `index`.
    pub(super) fn change(&mut self, index: u32, change: impl FnOnce(&mut AbstractValue)) {
        let Ok(index) = i32::try_from(index) else { return };
        if let Some(mut value) = self.get(index) {
            change(&mut value);
            self.set(index, value);
        }
    }

    /// Returns whether a tensor that may be one of several was written or freed.
    pub(super) fn is_tensor_unknown(&self) -> bool {
        self.is_memory_unknown || self.are_tensors_unknown
    }

    /// Returns whether any value may be one of several tensors.
    pub(super) fn has_several_tensors(&self) -> bool {
        let tensor = Kinds::of(tag::Tensor);
        self.changed.iter().any(|value| match value.is {
            Is::OneOf { may, some } => may.and(tensor).and(some) != Kinds::NONE,
            Is::Known(_) | Is::Computed(_) => false,
        })
    }

    /// Sets the memory of all tensors to unknown, for the rest of the runs.
    pub(super) fn set_memory_unknown(&mut self) {
        self.is_memory_unknown = true;
    }

    /// Sets the sizes and elements of all tensors to unknown, for the rest of the runs.
    pub(super) fn set_tensors_unknown(&mut self) {
        self.are_tensors_unknown = true;
    }

    /// Joins a value with its state on another path. Facts that differ become less precise; memory that is missing
    /// on one path is missing, since a use on that path would crash.
    pub(super) fn join(&mut self, values: &Values, index: i32, other: AbstractValue) {
        let Some(mut value) = self.get(index) else { return };
        if value.is != other.is {
            let (one, two) = (value.is.kinds(values), other.is.kinds(values));
            value.is = Is::OneOf { may: one.0.or(two.0), some: one.1.or(two.1) };
        }
        value.memory = match (value.memory, other.memory) {
            (one, two) if one == two => one,
            (Memory::Freed, _) | (_, Memory::Freed) => Memory::Freed,
            (Memory::Missing, _) | (_, Memory::Missing) => Memory::Missing,
            _ => Memory::Unknown,
        };
        value.by = value.by.max(other.by);
        value.sized = value.sized.filter(|_| value.sized == other.sized);
        value.elements = value.elements.filter(|_| value.elements == other.elements);
        self.set(index, value);
    }
}

/// A value that was changed back equals one that was never changed.
impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        let flags = |state: &Self| (state.is_memory_unknown, state.are_tensors_unknown);
        self.slots.len() == other.slots.len()
            && flags(self) == flags(other)
            && (0..).zip(&self.slots).all(|(index, _)| self.get(index) == other.get(index))
    }
}

/// The slot of a value that was never changed and equals the one in the file. Smaller slots are indices: a file has
/// fewer than 2^31 values.
const AS_FILE: u32 = 1 << 31;
/// Of such a slot: the sizes of the tensor are not tracked.
const UNSIZED: u32 = 1;
/// Of such a slot: the tensor has no memory.
const UNSTORED: u32 = 2;
/// The slot of a value of which nothing is known.
const UNKNOWN: u32 = u32::MAX;

/// Returns what is known of the value at `index` with this slot, which was never changed.
fn never_changed(index: u32, slot: u32) -> AbstractValue {
    let by = By::File;
    if slot == UNKNOWN {
        let (is, memory) = (Is::UNKNOWN, Memory::Unknown);
        return AbstractValue { is, by, memory, sized: None, elements: None };
    }
    AbstractValue {
        is: Is::Known(index),
        by,
        memory: if slot & UNSTORED == 0 { Memory::Of(index) } else { Memory::Missing },
        sized: Tensor::of(index).filter(|_| slot & UNSIZED == 0),
        elements: Tensor::of(index),
    }
}

/// Returns the items of a value that is a list of tensors.
pub(super) fn list<'a>(
    plan: &Plan<'_, 'a>,
    values: &Values,
    index: i32,
) -> Option<Vector<'a, i32>> {
    if !matches!(values.tag(index.into())?, tag::TensorList | tag::OptionalTensorList) {
        return None;
    }
    method::items(plan.view, index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_changed_back_leaves_the_state_equal() {
        let still = State { slots: vec![AS_FILE, AS_FILE | UNSTORED, UNKNOWN], ..State::still() };
        for index in 0..3 {
            let mut state = still.clone();
            let old = state.get(index).unwrap();
            assert!(state.set(index, AbstractValue { by: By::Move, ..old }) == Some(old));
            assert!(state != still, "{index}");
            state.set(index, old);
            assert!(state == still, "{index}");
            assert_eq!(state.changed.len(), 1, "a changed value keeps its place");
        }
        let mut state = still.clone();
        state.set(0, still.get(0).unwrap());
        assert!(state.changed.is_empty(), "the same value takes no memory");
        state.set_memory_unknown();
        assert!(state != still);
    }
}
