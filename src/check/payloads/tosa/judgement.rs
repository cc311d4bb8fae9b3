//! The judgement of an operator, of a TOSA graph or of code, by the row of the specification.

use alloc::string::String;

use super::operand::Operator;
use super::operators::Form;
use super::{TOSA_CONSTANT, TOSA_OPERATOR, TOSA_SHAPE, attributes, datatypes, shapes};
use crate::rule::Broken;

impl Form {
    /// Judges the numbers of inputs and outputs.
    pub(in crate::payloads) fn judge_counts(&self, counts: [usize; 2]) -> Result<(), Broken> {
        let ranges = [("inputs", self.inputs), ("outputs", self.outputs)];
        for ((what, (least, most)), count) in ranges.into_iter().zip(counts) {
            if count < least.into() || count > most.into() {
                let message = format!("{} does not have {count} {what}", self.op);
                return Err((&TOSA_OPERATOR, message));
            }
        }
        Ok(())
    }
}

impl Operator<'_> {
    /// Judges attributes, datatypes, shapes and zero points. An operator without an operand has nothing to judge.
    pub(in crate::payloads) fn judge(&self) -> Result<(), Broken> {
        let Form { op, outputs, types, .. } = self.form;
        // The operands of an operator without an output have one datatype.
        let only = if *outputs == (0, 0) { self.inputs.first() } else { None };
        let Some(output) = self.outputs.first().or(only) else { return Ok(()) };
        let broken = |rule, message: String| Err((rule, format!("{op}: {message}")));
        if let Some(message) =
            self.attributes.and_then(|from| attributes::unfit(from, *op, output.dtype))
        {
            return broken(&TOSA_OPERATOR, message);
        }
        let is_nonzero =
            |nth: &&u8| self.inputs.get(usize::from(**nth)).is_some_and(|input| input.is_nonzero);
        if let Some(nth) = types.zeros.iter().find(is_nonzero) {
            let message = format!("the zero point of input {nth} is for INT8 alone");
            return broken(&TOSA_CONSTANT, message);
        }
        let wrong = datatypes::unfit(self, output.dtype).or_else(|| shapes::unfit(self));
        wrong.map_or(Ok(()), |message| broken(&TOSA_SHAPE, message))
    }
}
