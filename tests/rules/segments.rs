//! The places of data, and what declares them: headers, segments, the list of constants.

use serde_json::{Value, json};

use pte::Check;
use pte::Ptd;

use super::{findings, ids};
use crate::support::build;

#[test]
fn segments_out_of_order_may_overlap_too() {
    let found = findings(&json!({
        "root": {"execution_plan": [], "constant_segment": {"offsets": [0]}, "segments": [
            {"offset": 16, "size": 16}, {"offset": 0, "size": 17}, {"offset": 8, "size": 0}
        ], "named_data": [{"key": "a"}, {"key": "b", "segment_index": 1}]},
        "data": [{"zeros": 32}], "align": 64
    }));
    assert_eq!(
        found,
        [
            "segments-unsorted: segment 1 begins at byte 320, before an earlier one",
            "segments-overlap: segment 0 shares bytes with segment 1",
            "plans-empty: the program has no method",
        ]
    );
}

/// Only a payload that says so is in a segment: the index of another one is of the list of inline payloads.
#[test]
fn a_segment_is_referred_to_by_those_that_have_data_in_it() {
    let found = |location: &str| {
        let delegate = json!({"id": "Stub", "compile_specs": [],
            "processed": {"location": location, "index": 0}});
        let plan = json!({"name": "forward", "values": [], "inputs": [], "outputs": [],
            "chains": [], "operators": [], "delegates": [delegate], "non_const_buffer_sizes": [0]});
        let mut found = findings(&json!({
            "root": {"execution_plan": [plan], "constant_segment": {"offsets": [0], "segment_index": 1},
                "segments": [{"size": 64}, {}], "backend_delegate_data": [{"data": [1, 2, 3]}]},
            "data": [{"zeros": 64}]
        }));
        found.retain(|line| line.starts_with("segment-unreferenced"));
        found
    };
    assert!(found("SEGMENT").is_empty());
    assert_eq!(found("INLINE"), ["segment-unreferenced: nothing refers to segment 0"]);
}

#[test]
fn a_segment_begins_at_a_multiple_of_16() {
    let found = |offset: u64| {
        let mut found = findings(&json!({
            "root": {"execution_plan": [], "constant_segment": {"offsets": [0]},
                "segments": [{"offset": offset, "size": 16}], "named_data": [{"key": "a"}]},
            "data": [{"zeros": 64}], "align": 64
        }));
        found.retain(|line| line.starts_with("segment-misaligned"));
        found.len()
    };
    for offset in 0..=48 {
        assert_eq!(found(offset), usize::from(offset % 16 != 0), "{offset}");
    }
}

/// The first offset is reserved.
#[test]
fn an_offset_alone_is_no_constant() {
    let found = |offsets: Value| {
        let mut found = findings(&json!({
            "root": {
                "execution_plan": [], "segments": [{"size": 64}],
                "constant_segment": {"segment_index": 0, "offsets": offsets}
            },
            "data": [{"zeros": 64}]
        }));
        found.retain(|line| line.starts_with("constant-misaligned"));
        found
    };
    assert!(found(json!([8])).is_empty());
    let message = "offsets that are no multiples of 16: 1, the least is 8";
    assert_eq!(found(json!([0, 8])), [format!("constant-misaligned: {message}")]);
}

/// The rules are those of a program. An empty segment has no place.
#[test]
fn segments_of_a_ptd_are_in_order_and_apart() {
    let found = |segments: Value| {
        let file = json!({
            "kind": "ptd", "root": {
                "segments": segments, "named_data": [{"key": "a"}, {"key": "b", "segment_index": 1}]
            },
            "data": [{"zeros": 32}]
        });
        ids(&build::file(&file.to_string()))
    };
    let (unsorted, overlap) =
        ("segments-unsorted: flat_tensor.segments[1]", "segments-overlap: flat_tensor.segments[1]");
    assert!(found(json!([{"size": 16}, {"offset": 16, "size": 16}])).is_empty());
    assert_eq!(found(json!([{"offset": 16, "size": 16}, {"size": 16}])), [unsorted]);
    assert_eq!(found(json!([{"size": 16}, {"size": 16}])), [overlap]);
    assert!(found(json!([{"offset": 16, "size": 16}, {"size": 0}])).is_empty());
}

/// Each segment that begins before any earlier one is reported, not only before the last one.
#[test]
fn every_segment_of_a_ptd_out_of_order_is_reported() {
    let file = json!({
        "kind": "ptd", "root": {
            "segments": [{"offset": 32, "size": 16}, {"size": 16}, {"offset": 16, "size": 16}],
            "named_data": [
                {"key": "a"}, {"key": "b", "segment_index": 1}, {"key": "c", "segment_index": 2}
            ]
        },
        "data": [{"zeros": 48}]
    });
    assert_eq!(
        ids(&build::file(&file.to_string())),
        [
            "segments-unsorted: flat_tensor.segments[1]",
            "segments-unsorted: flat_tensor.segments[2]"
        ]
    );
}

/// The finding is at the segment's table, as in a program: its first word leads to a vtable.
#[test]
fn findings_in_a_segment_of_a_ptd_have_its_path() {
    let bytes = build::file(
        r#"{"kind": "ptd", "data": [{"zeros": 32}], "root": {
            "segments": [{"offset": 16, "size": 16}, {"size": 16}],
            "named_data": [{"key": "a"}, {"key": "b", "segment_index": 1}]
        }}"#,
    );
    let report = Ptd::read(&bytes).unwrap().check();
    let at = usize::try_from(report.findings()[0].offset).unwrap();
    let word = |at: usize| i32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let vtable = at.checked_add_signed(-isize::try_from(word(at)).unwrap()).unwrap();
    assert_eq!(bytes[vtable..vtable + 2], [8, 0], "{at:#x} has a vtable of two fields");
}

#[test]
fn bytes_after_the_segments_of_a_ptd_are_reported() {
    let found = |zeros: u64| {
        let file = json!({
            "kind": "ptd", "root": {"segments": [{"size": 16}], "named_data": [{"key": "a"}]},
            "data": [{"zeros": 16}], "trailing": {"zeros": zeros}
        });
        ids(&build::file(&file.to_string()))
    };
    assert!(found(0).is_empty());
    assert_eq!(found(1), ["trailing-bytes: header"]);
}

/// Up to release 0.7, the header does not declare the length of the segments.
#[test]
fn a_header_of_24_bytes_declares_nothing() {
    let of = |length: u32| {
        json!({
            "root": {
                "execution_plan": [], "segments": [{"size": 4}], "named_data": [{"key": "a"}],
                "constant_segment": {"offsets": [0]}
            },
            "header": {"length": length, "segment_data_size": 3},
            "data": [{"zeros": 4}]
        })
    };
    assert_eq!(findings(&of(24)), ["plans-empty: the program has no method"]);
    for longer in [32, 40] {
        assert!(findings(&of(longer))[0].starts_with("segment-past-declared"), "{longer}");
    }
}

/// A program without a list of constants in a segment has them in the old place, if it has any.
#[test]
fn constants_are_in_the_old_place_unless_a_list_says_otherwise() {
    let of = |rest: Value| {
        let mut root = json!({"execution_plan": [], "segments": []});
        root.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let mut found = findings(&json!({"root": root, "trailing": {"zeros": 64}}));
        found.retain(|line| !line.starts_with("trailing-bytes"));
        assert_eq!(found.pop().unwrap(), "plans-empty: the program has no method");
        found
    };
    let none = ["constants-inline: no constants, and no segment that says so"];
    assert_eq!(of(json!({})), none);
    assert_eq!(of(json!({"constant_buffer": [{}]})), none);
    assert_eq!(of(json!({"constant_segment": {}})), none);
    assert_eq!(of(json!({"constant_segment": {"offsets": []}})), none);
    assert!(of(json!({"constant_segment": {"offsets": [0]}})).is_empty());
    let some = json!({"constant_buffer": [{}, {"storage": [0]}]});
    assert_eq!(of(some), ["constants-inline: 2 constants in the FlatBuffers part"]);
}

/// Without segments, the FlatBuffer is the last part of a file.
#[test]
fn nothing_may_follow_a_program_without_segments() {
    let of = |zeros: u64| {
        json!({
            "root": {"execution_plan": [], "segments": [], "constant_segment": {"offsets": [0]}},
            "header": {}, "align": 1, "trailing": {"zeros": zeros}
        })
    };
    assert_eq!(findings(&of(0)), ["plans-empty: the program has no method"]);
    assert!(findings(&of(1))[0].starts_with("trailing-bytes"));
}
