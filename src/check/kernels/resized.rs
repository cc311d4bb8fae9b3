//! Finds the tensors whose sizes may differ from those in the file while their method runs.
//!
//! A DYNAMIC_BOUND tensor may be resized, but only by an instruction that writes it. A tensor that
//! no instruction writes keeps the sizes in the file. An input is assumed to have these sizes too,
//! since the caller may use them: they are its greatest sizes.

use alloc::vec::Vec;

use crate::site::Plan;
use pte_core::method;
use pte_core::operators::Signatures;
use pte_flat::cost;
use pte_schema::program::TensorShapeDynamism;
use pte_schema::program::view::KernelTypes;

/// The tensors that the instructions of a method may resize.
#[derive(Default)]
pub(crate) struct Resized {
    /// For each value, how instructions may resize it; empty before [`Resized::of`] has run.
    marks: Vec<Mark>,
    any: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Never,
    /// An instruction that names the tensor may resize it.
    Alone,
    /// An instruction that names a list may resize it.
    InList,
}

impl Resized {
    /// Finds the tensors that instructions of a method write.
    pub(super) fn of(plan: &Plan<'_, '_>, signatures: &Signatures) -> Self {
        let mut resized = Self { marks: plan.each(Mark::Never), any: false };
        for instruction in method::instructions(plan.view) {
            // A moved tensor may be written through its other index.
            match instruction.moved() {
                Some((source, target)) => {
                    resized.mark(plan, source);
                    resized.mark(plan, target);
                }
                None => method::for_each_changed(signatures, &instruction, |index| {
                    resized.mark(plan, index);
                }),
            }
        }
        let is_resizable = |index: i64| match plan.value(index) {
            Some(KernelTypes::Tensor(tensor)) => {
                tensor.shape_dynamism() != TensorShapeDynamism::STATIC
            }
            _ => false,
        };
        let mut marks = (0..).zip(&resized.marks);
        resized.any = marks.any(|(index, mark)| *mark != Mark::Never && is_resizable(index));
        resized
    }

    /// Returns whether the tensors have been found.
    pub(super) fn is_found(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Returns whether any resizable tensor is written.
    pub(super) fn any(&self) -> bool {
        self.any
    }

    /// Returns whether an instruction may write a value.
    pub(crate) fn is_written(&self, value: u32) -> bool {
        self.of_value(value) != Mark::Never
    }

    /// Returns whether a call may write a list with a value.
    pub(crate) fn is_in_list(&self, value: u32) -> bool {
        self.of_value(value) == Mark::InList
    }

    fn of_value(&self, value: u32) -> Mark {
        let mark = usize::try_from(value).ok().and_then(|value| self.marks.get(value));
        mark.copied().unwrap_or(Mark::Never)
    }

    /// Marks a value and, if it is a list, its items. The items of each list are visited once.
    fn mark(&mut self, plan: &Plan<'_, '_>, index: i32) {
        cost::charge(1);
        if self.raise(index, Mark::Alone) != Mark::Never {
            return;
        }
        for item in method::items(plan.view, index).into_iter().flatten() {
            cost::charge(1);
            self.raise(item, Mark::InList);
        }
    }

    /// Raises the mark of a value, and returns the previous one.
    fn raise(&mut self, index: i32, mark: Mark) -> Mark {
        let slot = usize::try_from(index).ok().and_then(|index| self.marks.get_mut(index));
        slot.map_or(mark, |slot| {
            let old = *slot;
            *slot = old.max(mark);
            old
        })
    }
}
