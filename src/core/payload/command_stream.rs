//! Command streams of Ethos-U: their operations, and the memory that these use.

use commands::{Actions, Command, Malformed, Processor};
use pte_flat::cost;
use registers::{Operation, Registers};

pub mod commands;
pub mod registers;

/// A step of a command stream.
#[derive(Clone, Debug)]
pub enum Step {
    /// An operation.
    Operation(Operation),
    /// A command that no processor has.
    Unknown(Command),
}

/// The work of a command stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// The estimated number of multiplications of a run.
    pub macs: u64,
    /// The end of the scratch memory that operations use.
    pub peak: u64,
}

/// Calls `each` with the steps of the driver's actions.
///
/// # Errors
///
/// An action or a command is malformed. The steps in front of it were passed.
pub fn decode(bytes: &[u8], mut each: impl FnMut(Step)) -> Result<(), Malformed> {
    let actions = Actions::read(bytes)?;
    let processor = actions.processor.unwrap_or(Processor { product: 0, macs_per_cycle: 0 });
    let mut registers = Registers::new(processor);
    for command in actions.commands(bytes) {
        let command = command?;
        cost::charge(1);
        if !registers.is_known(&command) {
            each(Step::Unknown(command));
        } else if command.is_operation() {
            registers
                .operation(&command)
                .into_iter()
                .for_each(|found| each(Step::Operation(found)));
        } else {
            registers.set(&command);
        }
    }
    Ok(())
}

impl Work {
    /// Returns the work of the driver's actions; `None` if they are malformed.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut work = Self::default();
        decode(bytes, |step| {
            let Step::Operation(operation) = step else { return };
            work.macs = work.macs.saturating_add(operation.macs);
            let scratch = operation.accesses.iter().filter(|access| access.region == SCRATCH);
            work.peak = scratch.map(|access| access.range.end).fold(work.peak, u64::max);
        })
        .ok()?;
        Some(work)
    }
}

/// The region of the weights.
pub const WEIGHTS: u32 = 0;

/// The region of the scratch memory, which has the inputs and outputs too.
pub const SCRATCH: u32 = 1;
