//! What lies behind the FlatBuffers part: gaps, and how segments begin.

use std::fs;

use pte::{Limits, Opened};

use crate::support::{build, files};

fn findings(bytes: &[u8]) -> Vec<(String, u64, String)> {
    let opened = Opened::open(bytes, &Limits::UNTRUSTED).unwrap();
    let file = opened.file().unwrap();
    let report = opened.check_contents(&file, &Limits::UNTRUSTED).unwrap();
    let rows = report.findings().iter();
    rows.map(|f| (f.rule.id.to_string(), f.offset, f.message.clone())).collect()
}

fn with(file: &str, at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut whole = fs::read(file).unwrap();
    whole[at..at + bytes.len()].copy_from_slice(bytes);
    whole
}

#[test]
fn genuine_files_have_zeros_in_their_gaps_and_no_programs() {
    for path in files::everything() {
        let found = findings(&fs::read(&path).unwrap());
        assert!(found.is_empty(), "{path:?}: {found:?}");
    }
}

/// linear.pte: the FlatBuffers part ends at 0x650, its segment begins at 0x680.
#[test]
fn a_byte_in_a_gap_is_seen() {
    let linear = "tests/data/pte/linear.pte";
    for at in [0x650, 0x67f] {
        let found = findings(&with(linear, at, b"!"));
        let expected =
            ("gap-not-zero".into(), at as u64, "a byte of 0x21 in front of segment 0".into());
        assert_eq!(found, [expected]);
    }
    assert!(findings(&with(linear, 0x680, b"!")).is_empty(), "a segment's own byte");
}

/// ptd_basic.ptd: a gap between its two segments, of 48 bytes at 0x180 and 40 at 0x200.
#[test]
fn a_gap_between_segments_is_one_too() {
    let found = findings(&with("tests/data/ptd/ptd_basic.ptd", 0x1ff, &[7]));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0.as_str(), found[0].1), ("gap-not-zero", 0x1ff));
}

/// What lies in another segment is no gap.
#[test]
fn segments_may_lie_in_one_another() {
    let judged = |data: &str| {
        let root = r#"{"segments": [
            {"offset": 0, "size": 16}, {"offset": 4, "size": 4}, {"offset": 24, "size": 8}
        ]}"#;
        findings(&build::file(&format!(r#"{{"root": {root}, "data": [{{"hex": "{data}"}}]}}"#)))
    };
    let (one, other) = ("01".repeat(16), "01".repeat(8));
    assert!(judged(&format!("{one}{}{other}", "00".repeat(8))).is_empty());
    let found = judged(&format!("{one}{}{other}", "0000000000000002"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].2, "a byte of 0x02 in front of segment 2");
}

#[test]
fn what_runs_is_told_by_its_first_bytes() {
    let windows = {
        let mut head = [0; 64];
        head[..2].copy_from_slice(b"MZ");
        head[60] = 0x80;
        head
    };
    for (head, what) in [
        (&b"\x7fELF"[..], "an ELF program or library"),
        (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
        (&windows, "a Windows program or library"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x80\x04\x95\x10\0\0\0\0\0\0\0", "a Python pickle"),
        (b"\x80\x02}q\0", "a Python pickle"),
        (b"#!/bin/sh", "a script"),
        (b"\x1f\x8b\x08", "a gzip stream"),
    ] {
        let found = findings(&with("tests/data/pte/linear.pte", 0x680, head));
        let expected =
            ("content-executable".into(), 0x680, format!("segment 0 begins like {what}"));
        assert_eq!(found, [expected]);
    }
    for head in [&b"MZ\xff\xff"[..], b"\x80\x04\x95", b"PK\x00\x00", b"ELF"] {
        let mut filled = [0xff; 64];
        filled[..head.len()].copy_from_slice(head);
        assert!(
            findings(&with("tests/data/pte/linear.pte", 0x680, &filled)).is_empty(),
            "{head:?}"
        );
    }
}

#[test]
fn payloads_inside_the_flatbuffers_part_are_looked_at_too() {
    let file = "tests/data/pte/xnn_delegate_inline.pte";
    let whole = fs::read(file).unwrap();
    let at = whole.windows(4).position(|window| window == b"XH00").unwrap() - 4;
    let found = findings(&with(file, at, b"\x7fELF"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].2, "inline payload 0 begins like an ELF program or library");
    assert_eq!(found[0].1, at as u64);
}
