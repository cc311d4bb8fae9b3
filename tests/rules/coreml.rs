//! Payloads of Core ML: weights in a file, and the names of a method's outputs.

use super::fixtures::{is_broken, judge, place, with_payload};

/// Asserts that a part of the good payload, replaced by another of its length, breaks a rule.
#[track_caller]
fn breaks(rule: &str, [part, other]: [&[u8]; 2], message: &str) {
    let found = judge(&with_payload("coreml-weights.good", |payload| {
        let at = place(payload, part);
        payload[at..][..other.len()].copy_from_slice(other);
    }));
    is_broken(&found, rule, message);
}

/// The header of a file of weights (count, version), and the metadata of four floats: sentinel, datatype, bytes.
const HEADER: &[u8] = &[1, 0, 0, 0, 2, 0, 0, 0];
const METADATA: &[u8] = &[0xef, 0xbe, 0xad, 0xde, 2, 0, 0, 0, 16, 0, 0, 0];

#[test]
fn weights_in_a_file_have_the_type_of_their_constant() {
    let rule = "coreml-weights";
    breaks(rule, [HEADER, &[1, 0, 0, 0, 1]], "is not of version 2");
    breaks(rule, [METADATA, &[0xee]], "no metadata of weights at 0x40");
    breaks(
        rule,
        [METADATA, &[0xef, 0xbe, 0xad, 0xde, 1]],
        "weights of the datatype 1, and their type is",
    );
    let shorter = [&METADATA[..8], &[12]].concat();
    breaks(rule, [METADATA, &shorter], "weights of 12 bytes, and their type needs 16");
    // The type of the value, in front of the name of its file.
    let of_three: [&[u8]; 2] = [&[0x0a, 2, 8, 4, 0x2a, 0x22], &[0x0a, 2, 8, 3]];
    breaks(rule, of_three, "weights of 16 bytes, and their type needs 12");
}

/// The runtime looks an output up by its name.
#[test]
fn metadata_names_the_outputs_of_a_method() {
    let none: [&[u8]; 2] = [br#"outputNames":["y"]"#, br#"outputNames":[   ]"#];
    breaks("coreml-archive", none, "does not name the inputs and outputs");
}
