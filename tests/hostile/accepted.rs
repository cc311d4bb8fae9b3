//! Unusual files that must be accepted: genuine files are like this, a newer writer may be, or the bytes are
//! unambiguous.

use core::fmt::Write;

use super::finding::layout_findings;
use super::read;
use super::structure::value;
use crate::support::asm::{Asm, ptd, pte, pte_with_header, pte_without_header};
use crate::support::snapshot::assert_snapshot;

/// The most unusual sound files.
fn oddities() -> Vec<(&'static str, Asm)> {
    let start = || Asm::new().link("program").bytes(b"ET12");
    vec![
        ("A program of 16 bytes: a table without fields", start().table("program", 4, &[])),
        (
            "A vtable inside its own table",
            start()
                .align(4)
                .label("program*")
                .back_to("program^")
                .u32(0)
                .label("program^")
                .u16(6)
                .u16(16)
                .u16(4)
                .zeros(2),
        ),
        (
            "A vtable whose only entry is the table's first word",
            start().label("program^").u16(6).u16(8).label("program*").back_to("program^").u32(0),
        ),
        (
            "A vtable behind every table",
            start()
                .label("program*")
                .back_to("program^")
                .u32(0)
                .label("program^")
                .u16(6)
                .u16(8)
                .u16(4),
        ),
        (
            "A vector that three fields share",
            pte().point("inputs", "operators*").point("chains", "operators*"),
        ),
        (
            "A union that stores a tag of 0 and no value",
            pte().patch("values[1].tag", [0]).patch("values[1]^+6", [0; 2]),
        ),
        (
            "A union of a member that is not known, its value never read",
            pte().patch("values[1].tag", [200]).patch("tensor", u32::MAX.to_le_bytes()),
        ),
        (
            "A field of a slot that is not known",
            value("Null", |asm| asm.table("value", 8, &[4]).u32(7)),
        ),
        (
            "An empty vector of 8-byte numbers between two of their places",
            pte().point("offsets", "offsets*+4"),
        ),
        ("A table that declares fewer bytes than its fields take", pte().patch("plan^+2", [8, 0])),
        ("Two fields on the same bytes", pte_without_header().patch("segment^+4", [16, 0])),
        ("A tensor of 10,000 dimensions", dimensions(10_000)),
        (
            "An enum without that value",
            pte().patch("scalar_type", [0xff]).patch("data_buffer_idx", [0; 4]),
        ),
        ("A header of 24 bytes", pte_with_header(24)),
        ("A header of a length between the two known ones", pte().patch("header.length", [31])),
        (
            "A header of 64 bytes, of which 32 are not known",
            pte_with_header(64).patch("header.rest", [1; 32]),
        ),
        ("No header where there might be one, but other bytes", other_bytes()),
        ("An empty segment without a base", pte_without_header()),
        ("Bytes behind the last segment", pte().bytes([1; 100])),
        ("A .ptd with bytes behind the last segment", ptd().bytes([1; 100])),
    ]
}

fn other_bytes() -> Asm {
    let asm = Asm::new().link("program").bytes(b"ET12").bytes(b"ab00\0\0\0\0");
    asm.table("program", 4, &[])
}

/// A program with a tensor of `rank` sizes, all of them 1.
fn dimensions(rank: u32) -> Asm {
    let asm = value("Tensor", |asm| asm.table("value", 8, &[0, 0, 4]).link("sizes"));
    (0..rank).fold(asm.vector("sizes", 4, rank), |asm, _| asm.u32(1))
}

#[test]
fn oddities_are_read() {
    let mut text = String::new();
    for (what, asm) in oddities() {
        let bytes = asm.finish();
        crate::support::exercise::exercise(&bytes)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        writeln!(text, "{what}").unwrap();
        for finding in layout_findings(&read(&bytes).unwrap()) {
            writeln!(text, "  {finding}").unwrap();
        }
    }
    assert_snapshot("hostile-accepted", &text);
}
