//! Sound programs.

use core::ops::Range;

use super::method::Method;
use super::proof::proven;
use crate::Report;
use pte_core::Pte;
use pte_flat::view::List;

/// A program that breaks no rule of severity Error.
///
/// Only [`Sound::sound`](super::Sound::sound) creates one.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    pub(super) pte: Pte<'a>,
    pub(super) report: Report,
}

impl<'a> Program<'a> {
    /// Returns the file: its header, its bytes, and the views of all tables.
    pub fn pte(&self) -> &Pte<'a> {
        &self.pte
    }

    /// Returns the report, which has only Notes and Warnings.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Returns every method.
    pub fn methods(&self) -> impl ExactSizeIterator<Item = Method<'_>> {
        let plans = self.pte.program().execution_plan();
        let plans = proven(plans, "plans-missing", List::default());
        plans.into_iter().map(|plan| Method { pte: &self.pte, plan })
    }

    /// Returns the method with a name. If two methods have the name (a Warning), returns the first,
    /// as the runtime does.
    pub fn method(&self, name: &str) -> Option<Method<'_>> {
        self.methods().find(|method| method.name() == name)
    }

    /// Returns the key of every named blob, and its range in the file.
    pub fn named_data(&self) -> impl ExactSizeIterator<Item = (&'a str, Range<u64>)> {
        self.pte.named_data().map(|(key, range)| {
            (proven(key, "key-missing", ""), proven(range.ok(), "segment-index", 0..0))
        })
    }

    /// Returns the range of each segment in the file.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = Range<u64>> {
        // Every range was verified when the file was read.
        let ranges = (0..self.pte.segment_count()).map(|nth| self.pte.segment_range(nth).ok());
        ranges.map(|range| proven(range, "segment-index", 0..0))
    }
}
