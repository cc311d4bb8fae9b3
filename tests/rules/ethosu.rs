//! Command streams of Ethos-U: the memory that operations and tensors have, and the places of findings.

use pte::{Check, Pte};
use serde_json::json;

use super::fixtures::{is_broken, judge, place, with_payload};
use crate::support::fixture::Fixture;

/// The scratch memory that an average of 48 bytes needs: 48 bytes for its input, and 48 for its output.
const NEEDED: u32 = 96;

/// Returns the good program of `ethosu-memory` with another scratch memory, after a change of its payload.
fn program(scratch: u32, change: impl FnOnce(&mut Vec<u8>)) -> Fixture {
    with_payload("ethosu-memory.good", |payload| {
        let at = place(payload, &NEEDED.to_le_bytes()[..]);
        payload[at..at + 4].copy_from_slice(&scratch.to_le_bytes());
        change(payload);
    })
}

/// The command of the operation, in front of the command that ends the stream.
const OPERATION: [u8; 8] = [5, 0, 1, 0, 0, 0, 0xff, 0xff];

#[test]
fn each_byte_of_the_scratch_memory_is_needed() {
    for scratch in [NEEDED, NEEDED + 1, 4096] {
        assert_eq!(judge(&program(scratch, |_| {})), [], "{scratch}");
    }
    for scratch in [0, 1, 47, 48, 80, 94, 95] {
        let found = judge(&program(scratch, |_| {}));
        let has = |rule: &str, part: &str| {
            let count = found.iter().filter(|(id, text)| id == rule && text.contains(part)).count();
            assert_eq!(count, 1, "{scratch}, {part}: {found:?}");
        };
        has("ethosu-memory", &format!("the ofm of pool: bytes 0x30 to 0x60 of {scratch:#x} bytes"));
        has("ethosu-call", &format!("a tensor at bytes 0x30 to 0x60 of {scratch:#x} bytes"));
        // The input needs the first half alone.
        let is_input_in = scratch >= 48;
        let of_input = found.iter().filter(|(_, text)| text.contains("bytes 0x0 to 0x30 of"));
        assert_eq!(of_input.count(), if is_input_in { 0 } else { 3 }, "{scratch}: {found:?}");
    }
}

/// A call copies its tensor, whose size is that of the program, to the place of the input.
#[test]
fn an_argument_fits_behind_the_place_of_its_input() {
    let found = |rows: u32| {
        let Fixture(mut program) = program(NEEDED, |_| {});
        let plan = &mut program["root"]["execution_plan"][0];
        plan["values"][0]["val"]["sizes"] = json!([rows, 16]);
        plan["values"][1]["val"]["allocation_info"]["memory_offset_low"] = json!(256);
        plan["non_const_buffer_sizes"] = json!([0, 512]);
        judge(&Fixture(program))
    };
    for rows in [1, 3, 6] {
        assert_eq!(found(rows), [], "{rows}");
    }
    is_broken(&found(7), "ethosu-call", "argument 0 would be at bytes 0x0 to 0x70 of 0x60 bytes");
}

#[test]
fn findings_are_at_the_command() {
    let at = |fixture: &Fixture, rule: &str, part: &[u8]| {
        let bytes = fixture.parts().bytes;
        let report = Pte::read(&bytes).unwrap().check();
        let found = report.findings().iter().find(|finding| finding.rule.id == rule).unwrap();
        assert_eq!(found.offset as usize, place(&bytes, part), "{}", found.message);
    };
    at(&program(NEEDED - 1, |_| {}), "ethosu-memory", &OPERATION);
    // An operation that does not exist, a command of an unknown kind, and one that is cut.
    let changed = |command: [u8; 8]| {
        program(NEEDED, |payload| {
            let at = place(payload, &OPERATION);
            payload[at..at + 8].copy_from_slice(&command);
        })
    };
    let unknown = [9, 0, 1, 0, 0, 0, 0xff, 0xff];
    at(&changed(unknown), "ethosu-stream", &unknown);
    let kind = [5, 0, 1, 0, 0, 0x80, 0xff, 0xff];
    at(&changed(kind), "ethosu-stream", &kind[4..]);
    let cut = [5, 0, 1, 0, 0, 0x40, 0xff, 0xff];
    at(&changed(cut), "ethosu-stream", &cut[4..]);
}
