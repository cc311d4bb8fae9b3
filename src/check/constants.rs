//! Constants whose elements affect how a kernel runs, such as indices. Their elements are in the
//! file, so they are read and judged.

use core::ops::Range;

use self::elements::{ConstantElements, ConstantsByValue};
use self::scalars::ConstantScalars;
use super::report::Findings;
use super::rule::rules;
use pte_core::operators::contracts::ElementBounds;
use pte_core::operators::{Scalar, Signatures};
use pte_core::{File, OpenError, Pte, Source, Storage, method, tensor_at};
use pte_schema::program::view::{ExecutionPlan, Tensor};

mod elements;
mod scalars;

rules! {
    "constants";

    INDEX_CONTENTS = Error "index-contents"
        "Every index in a constant lies in the tensor that a kernel looks it up in."
        "The kernel aborts, or reads or writes past the tensor."
        "Correct the index in the model: it is outside of the tensor."
        Misreads ["6.10"];
    INFINITE_CONTENTS = Error "infinite-contents"
        "A constant whose range is measured to quantize it holds finite numbers."
        "The scale is infinite or no number: the kernel aborts."
        "Remove infinities and NaN from the constant."
        Crashes ["6.10"];
    ZERO_POINT_CONTENTS = Error "zero-point-contents"
        "Every zero point in a constant lies between the least and the greatest quantized value."
        "The kernel aborts."
        "Quantize the model again: dtype, range and zero points must agree."
        Crashes ["6.10"];
}

/// A method whose constants are read.
struct Method<'p, 'a> {
    pte: &'p Pte<'a>,
    nth: u32,
    view: ExecutionPlan<'a>,
    signatures: Signatures,
}

impl<'a> Method<'_, 'a> {
    /// Returns the tensor at `value` and the range of its data, if it is a constant.
    fn constant(&self, value: u32) -> Option<(Tensor<'a>, Range<u64>)> {
        let tensor = tensor_at(self.view, value)?;
        match self.pte.storage(tensor) {
            Ok(Storage::Constant(bytes)) => Some((tensor, bytes)),
            _ => None,
        }
    }
}

/// The constants that were read.
#[derive(Default)]
pub(super) struct Constants {
    scalars: ConstantScalars,
    elements: ConstantElements,
}

impl Constants {
    /// Reads the constants of `file` from `source`.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] where reading fails, [`OpenError::Memory`] where memory is short.
    pub(crate) fn read<S: Source>(
        file: &File<'_>,
        source: &S,
        out: &mut Findings,
    ) -> Result<Self, OpenError<S::Error>> {
        let mut constants = Self::default();
        let File::Pte(pte) = file else { return Ok(constants) };
        let mut places = ConstantsByValue::default();
        for (nth, view) in method::distinct(pte) {
            let method = Method { pte, nth, view, signatures: Signatures::of(view) };
            constants.scalars.read(&method, source)?;
            places.add(&method);
        }
        constants.elements = places.read(file, source, out)?;
        Ok(constants)
    }

    /// Returns the first element of the constant at `value` of a method, if a call reads it as a
    /// number.
    pub(super) fn scalar(&self, plan: u32, value: u32) -> Option<Scalar> {
        self.scalars.get(plan, value)
    }

    /// Returns the range of the elements of the constant at `value` of a method, if the elements
    /// were read.
    pub(super) fn elements(&self, plan: u32, value: u32) -> Option<ElementBounds> {
        self.elements.get(plan, value)
    }
}
