//! The abstract state of a method: the known facts about each value at a point of its run.

use alloc::vec::Vec;

use crate::kernels::Kernels;
use crate::site::Plan;
use crate::values::Values;
use pte_core::method;
use pte_core::operators::{Kinds, Scalar};
use pte_flat::view::Vector;
use pte_schema::program::tag;

/// The known facts about each value of a method.
pub(crate) struct State {
    /// The value at each index; empty if every value always equals the one in the file.
    values: Vec<AbstractValue>,
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
    pub(super) sized: Option<u32>,
    /// A constant whose elements are also in the memory of this tensor, if known.
    pub(super) elements: Option<u32>,
}

/// The known contents of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    /// The value that has this index in the file.
    Known(u32),
    /// A number that the method has computed.
    Computed(Scalar),
    /// A value of one of these kinds.
    OneOf(Kinds),
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
    pub(super) const UNKNOWN: Self = Self::OneOf(Kinds::ANY);

    /// Returns the kinds that the value may be of.
    fn kinds(self, values: &Values) -> Kinds {
        match self {
            Self::OneOf(kinds) => kinds,
            Self::Computed(scalar) => scalar.kind(),
            Self::Known(index) => values.tag(index.into()).map_or(Kinds::ANY, Kinds::of),
        }
    }
}

impl State {
    /// Returns the state of a method in which no value ever changes.
    pub(crate) fn still() -> Self {
        Self { values: Vec::new(), is_memory_unknown: false, are_tensors_unknown: false }
    }

    /// Returns the state before the first run: the values of the file.
    pub(super) fn initial(plan: &Plan<'_, '_>, values: &Values, kernels: &Kernels) -> Self {
        let new = AbstractValue {
            is: Is::UNKNOWN,
            by: By::File,
            memory: Memory::Unknown,
            sized: None,
            elements: None,
        };
        let mut state = Self { values: plan.each(new), ..Self::still() };
        for (index, value) in (0..).zip(&mut state.values) {
            (value.is, value.memory) = (Is::Known(index), Memory::Of(index));
            // Sizes of items are not tracked, since many calls may write a long list.
            value.sized = (!kernels.is_in_written_list(index)).then_some(index);
            value.elements = Some(index);
        }
        for &index in values.unstored() {
            let value = usize::try_from(index).ok().and_then(|nth| state.values.get_mut(nth));
            value.into_iter().for_each(|value| value.memory = Memory::Missing);
        }
        state
    }

    pub(super) fn is_still(&self) -> bool {
        self.values.is_empty()
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
            Is::Computed(_) | Is::OneOf(_) => None,
        }
    }

    /// Returns the number at `index`, if the method has computed it.
    pub(super) fn computed(&self, index: i32) -> Option<Scalar> {
        match self.get(index)?.is {
            Is::Computed(scalar) => Some(scalar),
            Is::Known(_) | Is::OneOf(_) => None,
        }
    }

    /// Returns which tensor of the file is now at `index`, if known. The result is its index in the
    /// file.
    pub(super) fn tensor(&self, values: &Values, index: i32) -> Option<u32> {
        self.known(index).filter(|&known| values.tag(known.into()) == Some(tag::Tensor))
    }

    /// Returns the kinds that the value at `index` may be of.
    pub(super) fn kinds(&self, values: &Values, index: i32) -> Kinds {
        match self.get(index) {
            Some(value) => value.is.kinds(values),
            None => values.tag(index.into()).map_or(Kinds::ANY, Kinds::of),
        }
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
            return (!kernels.may_resize(tensor)).then_some(tensor);
        }
        let value = self.get(i32::try_from(tensor).ok()?)?;
        value.sized.filter(|_| !self.are_tensors_unknown)
    }

    /// Returns a constant whose elements `tensor` has now, if known.
    pub(super) fn elements(&self, tensor: u32) -> Option<u32> {
        if self.is_still() {
            return Some(tensor);
        }
        let Memory::Of(owner) = self.memory(tensor) else { return None };
        let value = self.get(i32::try_from(owner).ok()?)?;
        value.elements.filter(|_| !self.are_tensors_unknown)
    }

    pub(super) fn get(&self, index: i32) -> Option<&AbstractValue> {
        self.values.get(usize::try_from(index).ok()?)
    }

    /// Replaces a value, and returns the previous one.
    pub(super) fn set(&mut self, index: i32, value: AbstractValue) -> Option<AbstractValue> {
        let old = self.values.get_mut(usize::try_from(index).ok()?)?;
        Some(core::mem::replace(old, value))
    }

    /// Sets the memory of all tensors to unknown, for the rest of the runs.
    pub(super) fn set_memory_unknown(&mut self) {
        self.is_memory_unknown = true;
    }

    /// Sets the sizes and elements of all tensors to unknown, for the rest of the runs.
    pub(super) fn set_tensors_unknown(&mut self) {
        self.are_tensors_unknown = true;
    }

    /// Joins a value with its state on another path. Facts that differ become less precise.
    pub(super) fn join(&mut self, values: &Values, index: i32, other: AbstractValue) {
        let slot = usize::try_from(index).ok().and_then(|nth| self.values.get_mut(nth));
        let Some(value) = slot else { return };
        if value.is != other.is {
            value.is = Is::OneOf(value.is.kinds(values).or(other.is.kinds(values)));
        }
        if value.memory != other.memory {
            value.memory = Memory::Unknown;
        }
        value.by = value.by.max(other.by);
        value.sized = value.sized.filter(|_| value.sized == other.sized);
        value.elements = value.elements.filter(|_| value.elements == other.elements);
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
