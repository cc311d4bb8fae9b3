//! Constants whose elements decide what a kernel does: they are in the file, so they are read.

use super::report::Findings;
use super::rule::rules;
use crate::file::source::Source;
use crate::handle::{File, OpenError};
use crate::operators::Scalar;
use crate::operators::contracts::ElementBounds;

use self::elements::ConstantElements;
use self::scalars::ConstantScalars;

mod elements;
mod scalars;

rules! {
    "constants";

    INDEX_CONTENTS = Error "index-contents"
        "Every index in a constant lies in the tensor that a kernel looks it up in."
        "The kernel aborts, or reads or writes past the tensor."
        Misreads ["6.10"];
    INFINITE_CONTENTS = Error "infinite-contents"
        "A constant whose range is measured to quantize it holds finite numbers."
        "The scale is infinite or no number: the kernel aborts."
        Crashes ["6.10"];
    ZERO_POINT_CONTENTS = Error "zero-point-contents"
        "Every zero point in a constant lies between the least and the greatest quantized value."
        "The kernel aborts."
        Crashes ["6.10"];
}

/// The constants that were read.
#[derive(Default)]
pub(super) struct Constants {
    scalars: ConstantScalars,
    elements: ConstantElements,
}

impl Constants {
    /// Reads them from `source`.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] where reading fails, [`OpenError::Memory`] where memory is short.
    pub(super) fn read<S: Source>(
        file: &File<'_>,
        source: &S,
        out: &mut Findings,
    ) -> Result<Self, OpenError<S::Error>> {
        Ok(Self {
            scalars: ConstantScalars::read(file, source)?,
            elements: ConstantElements::read(file, source, out)?,
        })
    }

    /// Returns the first element of the constant at `value` of a method, if a call reads it as a
    /// number.
    pub(super) fn scalar(&self, plan: u32, value: u32) -> Option<Scalar> {
        self.scalars.get(plan, value)
    }

    /// Returns the bounds of the elements of the constant at `value` of a method, if a kernel may use
    /// them.
    pub(super) fn elements(&self, plan: u32, value: u32) -> Option<ElementBounds> {
        self.elements.get(plan, value)
    }
}
