//! What the values of a method are at one moment of its run.

use alloc::vec::Vec;

use crate::check::spot::Plan;
use crate::check::values::Values;
use crate::flat::view::Vector;
use crate::method;
use crate::operators::Kinds;
use crate::schema::program::tag;

/// What each value of a plan is, as far as it is known.
pub(in crate::check) struct State {
    /// By value; none at all where every value is what the file has, whenever it is looked at.
    cells: Vec<Cell>,
    /// Whether the data of some tensor has changed, and nobody knows of which.
    blurred: bool,
}

/// What is in one place of the list of values, and where the data of one tensor is.
///
/// A tensor is known by the index that it has in the file: a move puts it under a second index, and
/// its data stays one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) is: Is,
    pub(super) by: By,
    /// Where the data is of the tensor that the file has at this index.
    pub(super) place: Place,
}

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    /// The one that the file has at that index.
    Held(u32),
    /// One of these kinds.
    Some(Kinds),
}

/// What has made a value what it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    File,
    Result,
    Move,
}

/// Where the data of a tensor is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Where the file, or whoever runs the method, puts that of the tensor of this index.
    Of(u32),
    /// Nowhere: no place was ever given.
    Missing,
    /// Nowhere any more.
    Freed,
    Unknown,
}

impl Cell {
    pub(super) const UNKNOWN: Is = Is::Some(Kinds::ANY);
}

impl State {
    /// Of a method in which no value changes.
    pub(in crate::check) fn still() -> Self {
        Self { cells: Vec::new(), blurred: false }
    }

    /// As the file has them.
    pub(super) fn first(plan: &Plan<'_, '_>, values: &Values) -> Self {
        let new = Cell { is: Cell::UNKNOWN, by: By::File, place: Place::Unknown };
        let mut state = Self { cells: plan.each(new), blurred: false };
        for (index, cell) in (0..).zip(&mut state.cells) {
            (cell.is, cell.place) = (Is::Held(index), Place::Of(index));
        }
        for &index in values.unstored() {
            state.place_at(index, Place::Missing);
        }
        state
    }

    pub(super) fn is_still(&self) -> bool {
        self.cells.is_empty()
    }

    /// Which of the file's values that value is.
    #[inline]
    pub(in crate::check) fn held(&self, index: i32) -> Option<u32> {
        if self.is_still() {
            return u32::try_from(index).ok();
        }
        match self.get(index)?.is {
            Is::Held(held) => Some(held),
            Is::Some(_) => None,
        }
    }

    /// The tensor of the file that the value is.
    pub(super) fn tensor(&self, values: &Values, index: i32) -> Option<u32> {
        self.held(index).filter(|&held| values.tag(held.into()) == Some(tag::Tensor))
    }

    /// What the value may be.
    pub(super) fn kinds(&self, values: &Values, index: i32) -> Kinds {
        match self.get(index).map(|cell| cell.is) {
            Some(Is::Some(kinds)) => kinds,
            Some(Is::Held(held)) => values.tag(held.into()).map_or(Kinds::ANY, Kinds::of),
            None => values.tag(index.into()).map_or(Kinds::ANY, Kinds::of),
        }
    }

    pub(super) fn by(&self, index: i32) -> By {
        self.get(index).map_or(By::File, |cell| cell.by)
    }

    /// Where the data is of a tensor of the file.
    pub(super) fn place(&self, tensor: u32) -> Place {
        if self.is_still() {
            return Place::Of(tensor);
        }
        let cell = i32::try_from(tensor).ok().and_then(|tensor| self.get(tensor));
        cell.filter(|_| !self.blurred).map_or(Place::Unknown, |cell| cell.place)
    }

    pub(super) fn get(&self, index: i32) -> Option<&Cell> {
        self.cells.get(usize::try_from(index).ok()?)
    }

    /// Changes a value, and tells what it was.
    pub(super) fn set(&mut self, index: i32, cell: Cell) -> Option<Cell> {
        let old = self.cells.get_mut(usize::try_from(index).ok()?)?;
        Some(core::mem::replace(old, cell))
    }

    fn place_at(&mut self, tensor: u32, place: Place) {
        let cell = usize::try_from(tensor).ok().and_then(|tensor| self.cells.get_mut(tensor));
        cell.into_iter().for_each(|cell| cell.place = place);
    }

    /// From now on nobody knows where any data is.
    pub(super) fn blur(&mut self) {
        self.blurred = true;
    }

    /// A value is either what it is, or what it was on another way.
    pub(super) fn join(&mut self, values: &Values, index: i32, other: Cell) {
        let kinds = |is| match is {
            Is::Some(kinds) => kinds,
            Is::Held(held) => values.tag(held.into()).map_or(Kinds::ANY, Kinds::of),
        };
        let Some(cell) = usize::try_from(index).ok().and_then(|nth| self.cells.get_mut(nth)) else {
            return;
        };
        if cell.is != other.is {
            cell.is = Is::Some(kinds(cell.is).or(kinds(other.is)));
        }
        if cell.place != other.place {
            cell.place = Place::Unknown;
        }
        cell.by = cell.by.max(other.by);
    }
}

/// The items of a value that is a list of tensors.
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
