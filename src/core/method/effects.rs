//! The effects of an instruction on each value that it names.

use core::fmt;

use alloc::vec::Vec;

use super::access::{Access, written_items};
use super::defs::Definitions;
use super::instruction::Instruction;
use crate::operators::{Kind, Signatures};
use pte_flat::view::Vector;
use pte_schema::program::view::{DelegateCall, ExecutionPlan, InstructionArguments, KernelCall};

/// The effects of a method's instructions on their operands.
///
/// The file does not say what a call writes. For the official runtime's operators, signatures say
/// it. For other operators and for delegates, the order of arguments is used (format.md §6.5).
pub struct Effects<'a> {
    plan: ExecutionPlan<'a>,
    signatures: Signatures,
}

impl<'a> Effects<'a> {
    /// Looks up the operators of `plan`.
    pub fn of(plan: ExecutionPlan<'a>) -> Self {
        Self { plan, signatures: Signatures::of(plan) }
    }

    /// Returns each operand of an instruction with its access. For a kernel call, reads come first.
    /// `definitions` must have recorded all earlier instructions.
    pub fn accesses(
        &self,
        instruction: &Instruction<'a>,
        definitions: &Definitions<'_>,
    ) -> Vec<(i32, Access)> {
        let mut accesses = Vec::new();
        self.accesses_into(instruction, definitions, &mut accesses);
        accesses
    }

    /// Replaces the contents of `accesses` by what [`accesses`](Self::accesses) returns.
    pub fn accesses_into(
        &self,
        instruction: &Instruction<'a>,
        definitions: &Definitions<'_>,
        accesses: &mut Vec<(i32, Access)>,
    ) {
        accesses.clear();
        match instruction.operation() {
            Some(InstructionArguments::KernelCall(call)) => self.kernel_into(call, accesses),
            Some(InstructionArguments::DelegateCall(call)) => {
                accesses.extend(self.delegate(call, |value| definitions.is_initialized(value)));
            }
            Some(InstructionArguments::MoveCall(call)) => {
                accesses.push((call.move_from(), Access::Read));
                accesses.push((call.move_to(), Access::Alias));
            }
            Some(InstructionArguments::FreeCall(call)) => {
                accesses.push((call.value_index(), Access::Free));
            }
            Some(InstructionArguments::JumpFalseCall(call)) => {
                accesses.push((call.cond_value_index(), Access::Read));
            }
            Some(InstructionArguments::Unknown(_)) | None => {}
        }
    }

    /// Returns the arguments of a kernel call with their accesses, reads first. Results that the
    /// call names a second time, one by one or as a list, are returned a second time.
    pub fn kernel(&self, call: KernelCall<'a>) -> Vec<(i32, Access)> {
        let mut accesses = Vec::new();
        self.kernel_into(call, &mut accesses);
        accesses
    }

    fn kernel_into(&self, call: KernelCall<'a>, accesses: &mut Vec<(i32, Access)>) {
        if self.by_signature(call, accesses).is_none() {
            accesses.extend(self.by_order(call));
        }
        accesses.sort_by_key(|&(_, access)| access);
    }

    /// Returns the arguments of a delegate call with their accesses, in the order of the file:
    /// inputs, then outputs.
    ///
    /// The file does not have the number of inputs. The last argument that is initialized before
    /// the call counts as an input, and so do all arguments before it.
    pub fn delegate(
        &self,
        call: DelegateCall<'a>,
        is_initialized: impl Fn(i32) -> bool,
    ) -> Vec<(i32, Access)> {
        let args: Vec<_> = call.args().into_iter().flatten().collect();
        let inputs = args.iter().rposition(|&value| is_initialized(value));
        reads_then_writes(&args, inputs.map_or(0, |last| last.saturating_add(1)))
    }

    /// Adds the accesses of a known operator. For an unknown operator, returns `None` and adds
    /// nothing.
    fn by_signature(&self, call: KernelCall<'a>, accesses: &mut Vec<(i32, Access)>) -> Option<()> {
        let letters = self.signatures.kernel(call)?.letters;
        // An operator that works in place returns its first argument, and may change only a part of
        // it.
        let first = letters.chars().next().and_then(Kind::of);
        let has_result = letters.chars().filter_map(Kind::of).any(|kind| kind.gives().is_some());
        let is_in_place = has_result && first.is_some_and(Kind::is_written);
        let mut has_written = false;
        accesses.extend(self.signatures.args(call)?.map(|(nth, value, kind)| {
            let access = match kind.gives() {
                _ if kind.is_view() => Access::Alias,
                Some(_) if is_in_place => Access::Alias,
                Some(_) => Access::Write,
                None if is_in_place && nth == 0 => Access::Read,
                None if kind.is_written() => {
                    has_written = true;
                    Access::Write
                }
                // The call names its results a second time, one by one or as a list, and does not
                // read them there.
                None if kind.is_anything() && has_written => Access::Write,
                None => Access::Read,
            };
            (value, access)
        }));
        Some(())
    }

    /// Finds the results of an unknown operator by the order of its arguments. Every exporter puts
    /// results last, and names them a second time at the end, one by one or as a list.
    fn by_order(&self, call: KernelCall<'a>) -> Vec<(i32, Access)> {
        let args: Vec<_> = call.args().into_iter().flatten().collect();
        let Some((&last, before)) = args.split_last() else { return Vec::new() };
        let list = written_items(self.plan, last);
        let items: Vec<_> =
            list.filter(|list| list.len() <= before.len()).into_iter().flatten().collect();
        let is_list_again = |&other: &i32| {
            list.is_some() && written_items(self.plan, other).is_some_and(|of| is_same(of, list))
        };
        // The number of arguments in front of the results.
        let reads = match () {
            () if !items.is_empty() && before.ends_with(&items) => {
                before.len().saturating_sub(items.len())
            }
            () if before.last().is_some_and(is_list_again) => before.len().saturating_sub(1),
            () => {
                let repeats = |&count: &usize| {
                    let (front, back) = args.split_at(args.len().saturating_sub(count));
                    front.ends_with(back)
                };
                let count = (1..=MOST_RESULTS.min(before.len())).rev().find(repeats);
                let twice = count.map(|count| count.saturating_mul(2));
                args.len().saturating_sub(twice.unwrap_or(1))
            }
        };
        reads_then_writes(&args, reads)
    }
}

impl fmt::Debug for Effects<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effects").finish_non_exhaustive()
    }
}

fn reads_then_writes(args: &[i32], reads: usize) -> Vec<(i32, Access)> {
    let access = |nth: usize| if nth < reads { Access::Read } else { Access::Write };
    args.iter().enumerate().map(|(nth, &value)| (value, access(nth))).collect()
}

/// Returns whether two lists have the same tensors. Only their first [`MOST_RESULTS`] items are
/// compared.
fn is_same(list: Vector<'_, i32>, other: Option<Vector<'_, i32>>) -> bool {
    other.is_some_and(|other| {
        list.len() == other.len()
            && !list.is_empty()
            && list.iter().zip(other).take(MOST_RESULTS).all(|(one, other)| one == other)
    })
}

/// The largest number of results that are looked for. No operator has more.
const MOST_RESULTS: usize = 16;
