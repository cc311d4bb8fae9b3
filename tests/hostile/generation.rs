//! The layout of a `.ptd` whose bytes are ambiguous (format.md §4.3).

use core::fmt::Write;

use pte::Check;
use pte::ptd::Generation;
use pte::{Limits, Ptd};

use super::{Case, case, reported};
use crate::support::asm::{Asm, ptd};
use crate::support::snapshot::assert_snapshot;

pub(super) fn cases() -> Vec<Case> {
    let without = |asm: Asm, slots: &[u16]| {
        slots
            .iter()
            .fold(asm, |asm, slot| asm.patch(&format!("flat_tensor^+{}", 4 + 2 * slot), [0; 2]))
    };
    let layout = "flat-tensor-layout";
    let root = "flat_tensor*";
    let version = 1u32.to_le_bytes();
    vec![
        case(layout, "A root without any field", &without(ptd(), &[0, 1, 2]), root),
        case(layout, "A root with nothing but a version", &without(ptd(), &[1, 2]), root),
        case(layout, "Segments, and no names for them", &without(ptd(), &[2]), root),
        case(layout, "Names, and no segments", &without(ptd(), &[1]), root),
        case(layout, "An old file's segments without its tensors", &without(two(1), &[2]), root),
        case(
            layout,
            "An old header in front of a current FlatBuffer",
            &without(zero(1), &[3]),
            root,
        ),
        case(
            "unknown-identifier",
            "An old header in front of a FlatBuffer of the identifier after this one",
            &zero(1).patch("flat_tensor+4", b"FT02"),
            "flat_tensor+4",
        ),
        case(
            "flat-tensor-version",
            "A data file of version 1",
            &ptd().patch("version", version),
            "version",
        ),
        case(
            "flat-tensor-version",
            "A data file of version 1 whose other fields mean something else",
            &ptd().patch("version", version).patch("segments", u32::MAX.to_le_bytes()),
            "version",
        ),
        case(
            "flat-tensor-version",
            "An old data file of version 1",
            &two(1).patch("version", version),
            "version",
        ),
        case(
            "flat-tensor-polyglot",
            "A tensor `old` for runtimes up to 0.6, and a tensor `new` for later ones",
            &polyglot(),
            root,
        ),
    ]
}

/// The tables of a `.ptd` before release 0.7, with `tensors` tensors in one segment, and with an
/// empty `named_data` if `named`.
fn legacy(asm: Asm, tensors: u32, named: bool) -> Asm {
    let slots: &[u16] = if named { &[4, 8, 12, 16, 20] } else { &[4, 8, 12, 16] };
    let asm = asm.table("flat_tensor", 24, slots).label("version").u32(0);
    let asm = asm.label("tensor_alignment").u32(16).link("tensors").link("segments");
    let asm = if named { asm.link("named_data").vector("named_data", 4, 0) } else { asm };
    let asm = asm.vector("segments", 4, 1).link("segment").vector("tensors", 4, tensors);
    (0..tensors)
        .fold(asm, |asm, _| asm.u32_to("tensor*"))
        .table("segment", 24, &[8, 16])
        .zeros(12)
        .u64(8)
        .table("tensor", 24, &[4, 8, 12, 16])
        .link("name")
        .u32(6)
        .link("sizes")
        .link("dim_order")
        .string("name", "w")
        .vector("sizes", 4, 1)
        .u32(2)
        .vector("dim_order", 1, 1)
        .u8(0)
        .segments(&[0x55; 8])
}

/// Generation 2 as release 0.6 writes it.
fn two(tensors: u32) -> Asm {
    let asm = Asm::new().link("flat_tensor").bytes(b"FT01").flat_tensor_header();
    legacy(asm, tensors, true)
}

fn one(tensors: u32) -> Asm {
    let asm = Asm::new().link("flat_tensor").bytes(b"FT01").flat_tensor_header();
    legacy(asm, tensors, false)
}

/// Generation 0: the header in front of a whole FlatBuffer.
fn zero(tensors: u32) -> Asm {
    let asm = Asm::new().label("header").bytes(b"FH01").u32(40);
    let asm = asm.u64_from("start", "flatbuffer").u64_from("flatbuffer", "end");
    let asm = asm.u64_from("start", "segments begin").u64_from("segments begin", "segments end");
    let asm = asm.zeros(8).label("flatbuffer").link("flat_tensor").bytes(b"FT01");
    legacy(asm, tensors, false)
}

/// A root that is valid in both layouts. Slot 1 is an alignment of 24 or an offset to segments, and
/// slot 2 has old tensors or current names. Slot 3 makes it old.
fn polyglot() -> Asm {
    polyglot_of(1)
}

/// The same, with `segments` current segments, which share one table.
fn polyglot_of(segments: u32) -> Asm {
    let asm = Asm::new()
        .link("flat_tensor")
        .bytes(b"FT01")
        .flat_tensor_header()
        .table("flat_tensor", 16, &[0, 4, 8, 12])
        .link("new segments")
        .link("both")
        .link("segments")
        .vector("new segments", 4, segments);
    (0..segments)
        .fold(asm, |asm, _| asm.u32_to("segment*"))
        .vector("both", 4, 1)
        .link("entry")
        .vector("segments", 4, 1)
        .u32_to("segment*")
        .table("segment", 24, &[8, 16])
        .zeros(12)
        .u64(8)
        .table("entry", 12, &[4, 8])
        .link("key")
        .u32(0)
        .string("key", "w")
        .segments(&[0x55; 8])
}

/// A root that may be of a future generation. The current fields moved up by one slot, so slot 3 is
/// present, and slot 2 leads to entries with a layout.
fn coming() -> Asm {
    Asm::new()
        .link("flat_tensor")
        .bytes(b"FT01")
        .flat_tensor_header()
        .table("flat_tensor", 16, &[0, 4, 8, 12])
        .link("segments")
        .link("named_data")
        .link("more")
        .vector("segments", 4, 1)
        .link("segment")
        .vector("named_data", 4, 1)
        .link("entry")
        .vector("more", 4, 0)
        .table("segment", 24, &[8, 16])
        .zeros(12)
        .u64(8)
        .table("entry", 16, &[4, 8, 12])
        .link("key")
        .u32(0)
        .link("layout")
        .string("key", "w")
        .table("layout", 8, &[4])
        .u32(6)
        .segments(&[0x55; 8])
}

#[test]
fn the_generation_follows_from_the_slots() {
    let empty = |slot: &str, file: Asm| file.patch(slot, [0; 4]);
    let files = [
        ("the header in front of a whole FlatBuffer", Generation::Zero, zero(1)),
        ("slot 3, and no slot 4", Generation::One, one(1)),
        ("slots 3 and 4", Generation::Two, two(1)),
        ("slots 3 and 4, no tensors", Generation::Two, two(0)),
        ("slot 3, no tensors", Generation::One, one(0)),
        ("slots 3 and 4, no tensors and no segments", Generation::Two, empty("segments*", two(0))),
        ("no slot 3", Generation::Three, ptd()),
        ("no slot 3, no entries", Generation::Three, empty("named_data*", ptd())),
        (
            "no slot 3, nothing at all",
            Generation::Three,
            empty("segments*", empty("named_data*", ptd())),
        ),
    ];
    for (what, generation, asm) in files {
        let bytes = asm.finish();
        let file = Ptd::read(&bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(file.generation(), generation, "{what}");
        for entry in file.entries() {
            assert_eq!(entry.key(), Some("w"), "{what}");
            let bytes = file.bytes(entry.range().unwrap());
            assert_eq!(bytes, Some(&[0x55; 8][..]), "{what}");
        }
    }
}

/// A refusal of generation 0 points to the place that its message names, in the file and not in the
/// FlatBuffer.
#[test]
fn places_are_those_of_the_file_where_the_flatbuffer_is_not_at_its_start() {
    let mut text = String::new();
    for (attack, asm, at) in [
        ("A wild offset", zero(1).patch("tensors", u32::MAX.to_le_bytes()), "tensors"),
        ("A forged count", zero(1).patch("sizes*", u32::MAX.to_le_bytes()), "sizes*"),
        ("A vtable that ends past the FlatBuffer", zero(1).patch("tensor^", [0, 8]), "tensor^"),
        ("A field past the FlatBuffer", zero(1).patch("tensor^+8", [0xfc, 0xff]), "tensor*"),
        ("A segment past the file", zero(1).patch("segment*+16", [9]), "segment*"),
    ] {
        let error = Ptd::read(&asm.finish()).map(drop).expect_err(attack);
        assert_eq!(error.offset(), asm.at(at), "{attack}");
        writeln!(text, "{attack}\n  {}\n", reported(&error)).unwrap();
    }
    assert_snapshot("hostile-generation-0", text.trim_end());
}

/// Errors of segments, of entries and of the layout of tables point into the file too.
#[test]
fn findings_in_generation_0_have_their_places_in_the_file() {
    for (rule, asm, at) in [
        ("segment-unreferenced", zero(0), "segment*"),
        ("layout-dim-order", zero(1).patch("dim_order*+4", [1]), "tensor*"),
        ("object-size-too-small", zero(1).patch("tensor^+2", [4, 0]), "tensor^"),
    ] {
        assert_eq!(places(&asm, rule), [asm.at(at)], "{rule}");
    }
}

/// If nothing follows the FlatBuffer of generation 0, only its header has the end.
#[test]
fn a_flatbuffer_of_generation_0_without_data_ends_with_the_file() {
    // No base, and no bytes behind it.
    let bare = zero(0).patch("segments*", [0; 4]).patch("header+24", [0; 16]);
    assert!(places(&bare.clone().cut("end"), "trailing-bytes").is_empty());
    assert_eq!(places(&bare.clone().cut("end+1"), "trailing-bytes"), [bare.at("end")]);
}

/// The places of findings in a `.ptd`.
fn places(asm: &Asm, rule: &str) -> Vec<u64> {
    let report = Ptd::read(&asm.finish()).unwrap().check();
    let found = report.findings().iter().filter(|finding| finding.rule.id == rule);
    found.map(|finding| finding.offset).collect()
}

#[test]
fn a_layout_that_is_neither_old_nor_current_is_refused() {
    let error = Ptd::read(&coming().finish()).unwrap_err();
    assert_snapshot("hostile-generation-coming", &reported(&error));
}

/// A file over the work budget of the current layout is refused for that, and not read as an old file.
#[test]
fn a_budget_hides_no_other_layout() {
    let bytes = polyglot_of(100).finish();
    let code = |amplification| {
        let limits = Limits { amplification, ..Limits::UNTRUSTED };
        Ptd::read_with(&bytes, &limits).unwrap_err().code()
    };
    assert_eq!(code(Limits::UNTRUSTED.amplification), "flat-tensor-polyglot");
    assert_eq!(code(1), "work-limit");
}
