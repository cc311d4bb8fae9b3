//! Rules on payloads of Ethos-U: the command stream, the memory of its operations, and the inputs and outputs.
//!
//! The runtime and the driver compare no address with the memory that they give (docs/format.md §11.13).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::{BackendRules, Bytes, Judge, Outcome, PayloadSite, Subject};
use crate::rule::rules;
use crate::site::{Plan, nbytes};
use pte_core::Backend;
use pte_core::payload::command_stream::registers::Access;
use pte_core::payload::command_stream::{SCRATCH, Step, WEIGHTS, decode};
use pte_core::payload::ethosu::{Blocks, Port};
use pte_flat::bytes::len_of;

rules! {
    "ethosu";

    ETHOSU_STREAM = Error "ethosu-stream"
        "A payload of Ethos-U has blocks with known names inside it, and its command stream has whole commands that the processor knows."
        "The runtime reads past the payload, or refuses it; the processor stops with an error."
        LOWER_AGAIN
        Misreads ["11.13", "8.2 #22579"];
    ETHOSU_MEMORY = Error "ethosu-memory"
        "The operations of a command stream of Ethos-U read and write inside the weights and the scratch memory."
        "The processor reads and writes other memory: neither the runtime nor the driver compares addresses."
        LOWER_AGAIN
        Misreads ["11.13"];
    ETHOSU_CALL = Error "ethosu-call"
        "The inputs and outputs of a payload of Ethos-U lie in its scratch memory, and a call has a tensor for each."
        "The runtime copies tensors to other memory, or reads past the arguments."
        LOWER_AGAIN
        Misreads ["11.13"];
}

pub(super) const JUDGED: BackendRules =
    BackendRules { unreadable: &ETHOSU_STREAM, ..BackendRules::of(Backend::EthosU, RULES, judge) };

/// Judges a payload.
fn judge(judge: &mut Judge<'_>, payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Outcome {
    let Some(sections) = payload.sections(Backend::EthosU, bytes) else { return Ok(()) };
    let blocks = Blocks::new(&sections?);
    let mut site =
        PayloadSite { place: judge.place(payload, payload.start, "commands"), judge, payload };
    let ports = [site.ports(&blocks, 0, bytes), site.ports(&blocks, 1, bytes)];
    if let [Some(inputs), Some(outputs)] = ports {
        let count = inputs.len().saturating_add(outputs.len());
        site.judge.arguments(
            payload.users,
            &ETHOSU_CALL,
            |_| Some(count),
            |plan, nth, arg| unfit(&inputs, blocks.scratch, plan, nth, arg),
        );
    }
    let Some(range) = blocks.commands.clone() else { return Ok(()) };
    let at = range.start;
    let Some(commands) = site.read(range, bytes) else { return Ok(()) };
    let decoded = decode(&commands, |step| match step {
        // The processor ignores a register that it does not have.
        Step::Unknown(command) if !command.is_operation() => {}
        Step::Unknown(command) => site.find(&ETHOSU_STREAM, at.saturating_add(command.at), || {
            format!("unknown operation {:#x}", command.code)
        }),
        Step::Operation(operation) => {
            for access in &operation.accesses {
                if let Some(message) = outside(access, &blocks) {
                    site.find(&ETHOSU_MEMORY, at.saturating_add(operation.at), || {
                        format!("the {} of {}: {message}", access.name, operation.name)
                    });
                }
            }
        }
    });
    if let Err(wrong) = decoded {
        site.find(&ETHOSU_STREAM, at.saturating_add(wrong.at), || wrong.why.into());
    }
    Ok(())
}

/// Returns what is wrong with the place of an access; `None` if it is inside its region, or if the size of the region
/// is not known.
fn outside(access: &Access, blocks: &Blocks) -> Option<String> {
    let (name, size) = match access.region {
        WEIGHTS => {
            let range = blocks.weights.clone().or(Some(0..0).filter(|_| !blocks.is_external))?;
            ("weights", len_of(&range))
        }
        SCRATCH => ("scratch memory", blocks.scratch),
        // The firmware gives the fast scratch memory.
        FAST_SCRATCH => return None,
        region => return Some(format!("region {region} has no memory")),
    };
    let Range { start, end } = access.range;
    (end > size).then(|| format!("bytes {start:#x} to {end:#x} of {size:#x} bytes of {name}"))
}

impl PayloadSite<'_, '_, '_> {
    fn read<'b>(&self, part: Range<u64>, bytes: &mut Bytes<'b>) -> Option<Cow<'b, [u8]>> {
        bytes.read(self.payload.part(part))
    }

    /// Reads the inputs (0) or outputs (1), and judges their places.
    fn ports(&mut self, blocks: &Blocks, which: usize, bytes: &mut Bytes<'_>) -> Option<Vec<Port>> {
        let Some(range) = blocks.ports.get(which).cloned().flatten() else {
            // Without a block there are none, unless they are named data.
            return (!blocks.is_external).then(Vec::new);
        };
        let at = range.start;
        let block = self.read(range, bytes)?;
        let ports = match Port::all(&block) {
            Ok(ports) => ports,
            Err(wrong) => {
                self.find(&ETHOSU_CALL, at.saturating_add(wrong.at), || wrong.why.into());
                return None;
            }
        };
        for port in &ports {
            let (size, start) = (blocks.scratch, u64::from(port.offset));
            let last = start.saturating_add(port.bytes());
            if last > size {
                self.find(&ETHOSU_CALL, at, || {
                    format!("a tensor at bytes {start:#x} to {last:#x} of {size:#x} bytes of scratch memory")
                });
            }
        }
        Some(ports)
    }
}

/// Returns what is wrong with argument `nth` of a call. The runtime copies an input to the scratch memory before it
/// compares its size.
fn unfit(
    inputs: &[Port],
    scratch: u64,
    plan: &Plan<'_, '_>,
    nth: usize,
    arg: i32,
) -> Option<String> {
    let Some(tensor) = plan.tensor(arg.into()) else {
        let kind = plan.kind_name(arg).unwrap_or("nothing");
        return Some(format!("argument {nth} is {kind}: the runtime takes a Tensor"));
    };
    let start = u64::from(inputs.get(nth)?.offset);
    let end = start.saturating_add(nbytes(tensor)?);
    (end > scratch).then(|| {
        format!("argument {nth} would be at bytes {start:#x} to {end:#x} of {scratch:#x} bytes of scratch memory")
    })
}

/// The region of the fast scratch memory.
const FAST_SCRATCH: u32 = 2;
