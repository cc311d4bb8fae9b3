//! The contents behind the FlatBuffer: gaps, the first bytes of segments, and the longer search.

use pte::check::{Checker, Policy, Preset, Severity};
use pte::flat::view::Table;
use pte::{Handle, Limits};
use serde_json::{Value, json};

use crate::support::{aoti, build, files, thinned};

fn findings(bytes: &[u8]) -> Vec<(String, u64, String)> {
    let report = Checker::new().check_bytes(bytes).unwrap();
    let rows = report.findings().iter().filter(|found| found.rule.subject == "contents");
    rows.map(|f| (f.rule.id.to_string(), f.offset, f.message.clone())).collect()
}

/// Returns the offset, the path and the message of each finding of the longer search.
fn scanned(bytes: &[u8]) -> Vec<(u64, String, String)> {
    let handle = Handle::open(bytes, &Limits::UNTRUSTED).unwrap();
    let mut read = 0;
    let checker = Checker::new().scan(true);
    let report = checker.check_with_progress(&handle, |more| read += more).unwrap();
    let file = handle.file();
    assert_eq!(read, file.file_len() - file.region_range().end, "each byte is read, and once");
    let rows = report.findings().iter().filter(|f| f.rule.id == "content-embedded");
    rows.map(|f| (f.offset, f.place().path().to_string(), f.message.clone())).collect()
}

fn with(file: &str, at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut whole = files::read(file).unwrap();
    whole[at..at + bytes.len()].copy_from_slice(bytes);
    whole
}

#[test]
fn genuine_files_have_zeros_in_their_gaps_and_no_programs() {
    for path in files::everything() {
        let bytes = files::read(&path).unwrap();
        let found = findings(&bytes);
        assert!(found.is_empty(), "{path:?}: {found:?}");
        let found = scanned(&bytes);
        assert!(found.is_empty(), "{path:?}: {found:?}");
    }
}

/// linear.pte: the FlatBuffer ends at 0x650, and its segment begins at 0x680.
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

/// Bytes that belong to another segment are not in a gap.
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
fn what_runs_is_reported_by_its_first_bytes() {
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

/// One kind of file may begin in several ways.
#[test]
fn every_way_to_begin_is_known() {
    let (mach, pickle) = ("a Mach-O program or library", "a Python pickle");
    for (head, what) in [
        (&b"\xfe\xed\xfa\xce"[..], mach),
        (b"\xfe\xed\xfa\xcf", mach),
        (b"\xce\xfa\xed\xfe", mach),
        (b"\xca\xfe\xba\xbe", "a Mach-O or Java program"),
        (b"\x80\x02]q\0", pickle),
        (b"\x80\x03)q\0", pickle),
        (b"\x80\x03}q\0", pickle),
        (b"\x80\x02\x8a\x0al\xfc", pickle),
        (b"\x80\x05\x95\x10\0\0\0\0\0\0\0", pickle),
    ] {
        let found = findings(&with("tests/data/pte/linear.pte", 0x680, head));
        let expected =
            ("content-executable".into(), 0x680, format!("segment 0 begins like {what}"));
        assert_eq!(found, [expected], "{}", head.escape_ascii());
    }
}

#[test]
fn payloads_inside_the_flatbuffers_part_are_looked_at_too() {
    let file = "tests/data/pte/xnn_delegate_inline.pte";
    let whole = files::read(file).unwrap();
    let at = whole.windows(4).position(|window| window == b"XH00").unwrap() - 4;
    let found = findings(&with(file, at, b"\x7fELF"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].2, "inline payload 0 begins like an ELF program or library");
    assert_eq!(found[0].1, at as u64);
}

/// AOTInductor's backends load the named data under the first key of a payload as a library. The library is named as
/// code, and refused by the preset for uploads.
#[test]
fn the_shared_object_of_a_payload_is_code() {
    let elf = [&b"\x7fELF\x02\x01\x01"[..], &[0; 57]].concat();
    let mach_o = [&b"\xcf\xfa\xed\xfe"[..], &[0; 60]].concat();
    for (backend, object, what) in [
        ("CudaBackend", &elf, "segment 1 begins like an ELF program or library"),
        ("MetalBackend", &mach_o, "segment 1 begins like a Mach-O program or library"),
    ] {
        let bytes = build::file(&aoti::program(backend, object).to_string());
        let named = findings(&bytes).into_iter().map(|(rule, _, message)| (rule, message));
        assert_eq!(named.collect::<Vec<_>>(), [("content-executable".into(), what.into())]);
        let policy = Policy::new().preset(Preset::UNTRUSTED_UPLOAD);
        let report = Checker::new().policy(policy).check_bytes(&bytes).unwrap();
        let refused: Vec<_> = report.errors().map(|rule| rule.id).collect();
        assert_eq!(refused, ["content-executable"], "{backend}");
    }
}

/// The magics of format.md §10, for the backends whose payloads have one.
#[test]
fn a_payload_begins_as_those_of_its_backend_do() {
    let found = |backend: &str, payload: &[u8]| {
        let call = files::read_to_string("tests/rules/base/call.json").unwrap();
        let mut file: Value = serde_json::from_str(&call).unwrap();
        file["root"]["execution_plan"][0]["delegates"] = json!([{
            "id": backend, "processed": {"location": "INLINE", "index": 0}, "compile_specs": []
        }]);
        file["root"]["backend_delegate_data"] = json!([{"data": payload}]);
        let found = findings(&build::file(&file.to_string()));
        // Nothing follows these magics.
        let rules = found.into_iter().map(|(rule, ..)| rule);
        rules.filter(|rule| rule != "payload-structure").collect::<Vec<_>>()
    };
    let known: [(&str, &[&[u8]]); 2] =
        [("MPSBackend", &[b"\0\0\0\0MP00"]), ("TOSABackend", &[b"\0\0\0\0TOSA"])];
    for (backend, own) in known {
        for payload in known.iter().flat_map(|(_, magics)| *magics) {
            let expected: &[&str] = if own.contains(payload) { &[] } else { &["payload-magic"] };
            assert_eq!(found(backend, payload), expected, "{backend}: {}", payload.escape_ascii());
        }
    }
    assert!(found("OtherBackend", b"\0\0\0\0XH00").is_empty());
    // Other rules judge these payloads: one fault has one finding.
    let judged =
        ["XnnpackBackend", "VulkanBackend", "MLXBackend", "NativeBackend", "EthosUBackend"];
    for backend in judged {
        assert!(found(backend, b"\0\0\0\0MP00").is_empty(), "{backend}");
    }
}

/// Returns `len` bytes of `fill`, with other bytes at the given places.
fn patched(len: usize, fill: u8, places: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![fill; len];
    for (at, patch) in places {
        bytes[*at..at + patch.len()].copy_from_slice(patch);
    }
    bytes
}

/// Returns a sample of each kind, and the name under which it must be found, if it must be.
fn things() -> Vec<(Vec<u8>, Option<&'static str>)> {
    let elf = |class, order, version, kind: [u8; 2], again: [u8; 4]| {
        let head = [0x7f, b'E', b'L', b'F', class, order, version];
        patched(64, 0, &[(0, &head), (16, &kind), (20, &again)])
    };
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    let reversed = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
    let pe = |at: u16, magic: &[u8], machine: u16| {
        let (at, machine) = (at.to_le_bytes(), machine.to_le_bytes());
        let to = usize::from(u16::from_le_bytes(at));
        let places = [(0, &b"MZ"[..]), (60, &at), (to, magic), (to + 4, &machine)];
        patched(to.max(64) + 8, 0, &places)
    };
    let zip = |version, method, name: &[u8]| {
        let len = u16::try_from(name.len()).unwrap().to_le_bytes();
        let places = [(0, &b"PK\x03\x04"[..]), (4, &[version]), (8, &[method]), (26, &len)];
        [patched(30, 0, &places), name.to_vec()].concat()
    };
    let gzip = |rest: &[u8]| [b"\x1f\x8b\x08", rest].concat();
    let (elfs, machs) = ("an ELF program or library", "a Mach-O program or library");
    let (windows, zips) = ("a Windows program or library", "a ZIP archive");
    let (gzips, pickle, script) = ("a gzip stream", "a Python pickle", "a script");
    let mut things = vec![
        (elf(2, 1, 1, [3, 0], [1, 0, 0, 0]), Some(elfs)),
        (elf(1, 2, 1, [0, 2], [0, 0, 0, 1]), Some(elfs)),
        (elf(3, 1, 1, [3, 0], [1, 0, 0, 0]), None),
        (elf(2, 3, 1, [3, 0], [1, 0, 0, 0]), None),
        (elf(2, 1, 2, [3, 0], [1, 0, 0, 0]), None),
        (elf(2, 1, 1, [5, 0], [1, 0, 0, 0]), None),
        (elf(2, 2, 1, [3, 0], [1, 0, 0, 0]), None),
        (words(&[0xfeed_facf, 12, 0, 2]), Some(machs)),
        (reversed(&[0xfeed_facf, 0x0100_000c, 0, 6]), Some(machs)),
        (reversed(&[0xfeed_face, 7, 0, 12]), Some(machs)),
        (reversed(&[0xfeed_face, 8, 0, 12]), None),
        (reversed(&[0xfeed_face, 7, 0, 13]), None),
        (reversed(&[0xfeed_fac0, 7, 0, 2]), None),
        (words(&[0xcafe_babe, 2, 0x0100_0007]), Some(machs)),
        (words(&[0xcafe_babe, 31, 0x0100_0007]), None),
        (words(&[0xcafe_babe, 2, 1]), None),
        (b"\xca\xfe\xba\xbe\0\0\0\x34\0\x10\x0a".to_vec(), Some("a Java class")),
        (b"\xca\xfe\xba\xbe\0\0\0\x34\0\x10\x02".to_vec(), None),
        (pe(0x80, b"PE\0\0", 0x8664), Some(windows)),
        (pe(0xff8, b"PE\0\0", 0x14c), Some(windows)),
        (pe(0x1000, b"PE\0\0", 0x14c), None),
        (pe(0x81, b"PE\0\0", 0x14c), None),
        (pe(0x80, b"PE\0\x01", 0x14c), None),
        (pe(0x80, b"PE\0\0", 0x14d), None),
        (zip(20, 8, b"data.pkl"), Some(zips)),
        (zip(64, 8, b"data.pkl"), None),
        (zip(20, 7, b"data.pkl"), None),
        (zip(20, 8, b""), None),
        (zip(20, 8, b"data\x01pkl"), None),
        (gzip(b"\x08\0\0\0\0\0\x03x.txt\0"), Some(gzips)),
        (gzip(b"\x08\0\0\0\0\0\x03\0\0"), None),
        (gzip(b"\x28\0\0\0\0\0\x03x.txt\0"), None),
        (gzip(b"\0\0\0\0\0\x02\xff\xcb\xc8\x04\0"), Some(gzips)),
        (gzip(b"\0\0\0\0\0\x02\xff\x01\x02\0\xfd\xff\0\0"), Some(gzips)),
        (gzip(b"\0\0\0\0\0\x02\xff\x01\x02\0\xfd\xfe\0\0"), None),
        (gzip(b"\0\0\0\0\0\x02\xff\x06\0\0\0\0\0\0"), None),
        (gzip(b"\0\0\0\0\0\x01\xff\xcb\xc8\x04\0"), None),
        (gzip(b"\0\0\0\0\0\x02\x01\xcb\xc8\x04\0"), None),
        (b"\x80\x04\x95\x10\0\0\0\0\0\0\0]".to_vec(), Some(pickle)),
        (b"\x80\x05\x95\x10\0\0\0\0\0\0\0\x8c".to_vec(), Some(pickle)),
        (b"\x80\x05\x95\x10\0\0\0\0\0\0\0\x00".to_vec(), None),
        (b"\x80\x06\x95\x10\0\0\0\0\0\0\0]".to_vec(), None),
        (b"\x80\x04\x95\x10\0\0\0\x01\0\0\0]".to_vec(), None),
        (b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93".to_vec(), Some(pickle)),
        (b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x92".to_vec(), None),
        (b"\x80\x04\x8c\x01a\x94\x8c\x06system\x94\x93".to_vec(), None),
        (b"\x80\x04\x8c\x05pos x\x94\x8c\x06system\x94\x93".to_vec(), None),
        (b"\x80\x02cposix\nsystem\n".to_vec(), Some(pickle)),
        (b"\x80\x02c__main__\nM\n".to_vec(), None),
        (b"\x80\x02c__main__\nMy_Model\n".to_vec(), Some(pickle)),
        (b"\x80\x02ctorch._utils\n_rebuild\n".to_vec(), Some(pickle)),
        (b"\x80\x02]q\0cposix\nsystem\n".to_vec(), Some(pickle)),
        (b"\x80\x02]q\0cposix\n\nsystem\n".to_vec(), None),
        (b"\x80\x02cposix\nsystem(".to_vec(), None),
        (b"\x80\x02}q\0X\x03\0\0\0abc".to_vec(), Some(pickle)),
        (b"\x80\x02]q\0(K\x01K\x02e".to_vec(), Some(pickle)),
        (b"\x80\x02]q\0(K\x01L\x02e".to_vec(), None),
        (b"\x80\x02}q\x01X\x03\0\0\0abc".to_vec(), None),
        (b"\x80\x02\x8a\x0al\xfc\x9c\x46\xf9".to_vec(), Some(pickle)),
        (b"#!/bin/sh\n".to_vec(), Some(script)),
        (b"#!/usr/bin/env python3\r\n".to_vec(), Some(script)),
        (b"#!/bin/sh -\x01\n".to_vec(), None),
        (b"#!/bin/s\n".to_vec(), None),
        (b"#!/binish\n".to_vec(), None),
        (b"#!/bin/sh".to_vec(), None),
    ];
    // Codes of one kind of symbol, each with a length: 16 lengths of 4 bits are a complete code.
    let mut dynamic = vec![0u8; 16];
    let mut bits = vec![(4 | 1, 3), (0, 5), (0, 5), (15, 4)];
    bits.extend([(0, 3), (0, 3), (0, 3)].iter().chain(&[(4, 3); 16]));
    let mut at = 0;
    for (value, len) in bits {
        for bit in 0..len {
            dynamic[at / 8] |= u8::from(value >> bit & 1 == 1) << (at % 8);
            at += 1;
        }
    }
    let head = b"\0\0\0\0\0\0\x03";
    things.push((gzip(&[&head[..], &dynamic].concat()), Some(gzips)));
    dynamic[4] ^= 0x40;
    things.push((gzip(&[&head[..], &dynamic].concat()), None));
    things
}

/// linear.pte with more bytes behind its last segment.
fn longer(rest: &[u8]) -> (Vec<u8>, u64) {
    let mut bytes = files::read("tests/data/pte/linear.pte").unwrap();
    let end = bytes.len() as u64;
    bytes.extend_from_slice(rest);
    (bytes, end)
}

#[test]
fn what_runs_is_found_wherever_it_lies() {
    for (thing, what) in things() {
        for before in [1, 63, 64, 65, 1000] {
            let (bytes, end) =
                longer(&[vec![0xaa; before], thing.clone(), vec![0xaa; 100]].concat());
            let message = what.map(|what| format!("{what} behind the last segment"));
            let expected = message.map(|message| (end + before as u64, "header".into(), message));
            assert_eq!(scanned(&bytes), Vec::from_iter(expected), "{}", thing.escape_ascii());
        }
    }
}

/// The search reads a megabyte at a time, from the end of the FlatBuffer on. Content that lies
/// across two pieces is found like content in one piece.
#[test]
fn what_lies_across_two_pieces_is_found() {
    let region = 0x650u64;
    for (thing, what) in things() {
        let Some(what) = what else { continue };
        let end = files::metadata("tests/data/pte/linear.pte").unwrap().len();
        let border = (region + (1 << 20) - end) as usize;
        let reach = 4096;
        for at in [
            border - reach - 1,
            border - reach,
            border - reach + 1,
            border - 66,
            border - thing.len() / 2,
            border - 1,
            border,
        ]
        .into_iter()
        .step_by(thinned(3))
        {
            let (bytes, end) = longer(&patched((1 << 20) + 50_000, 0x55, &[(at, &thing)]));
            let message = format!("{what} behind the last segment");
            let expected = (end + at as u64, "header".to_string(), message);
            assert_eq!(scanned(&bytes), [expected], "{at}");
        }
    }
}

/// A header with a number that no writer uses is not a match. Each number is tested twice: with the
/// last value in use, and with the first value that is not.
#[test]
fn what_is_found_has_numbers_that_are_in_use() {
    let zip = |name: u16, extra: u16| {
        let (len, extra) = (name.to_le_bytes(), extra.to_le_bytes());
        let places = [(0, &b"PK\x03\x04\x14"[..]), (8, &[8]), (26, &len), (28, &extra)];
        [patched(30, 0, &places), vec![b'n'; name.into()]].concat()
    };
    let class = |version: u8, constants: u8| {
        let places = [(0, &b"\xca\xfe\xba\xbe"[..]), (7, &[version]), (9, &[constants, 10])];
        patched(11, 0, &places)
    };
    for (thing, is_found) in [
        (zip(8, 4096), true),
        (zip(8, 4097), false),
        (zip(1024, 0), true),
        (zip(1025, 0), false),
        (class(45, 2), true),
        (class(80, 2), true),
        (class(44, 2), false),
        (class(81, 2), false),
        (class(52, 1), false),
        (class(52, 0), false),
    ] {
        let (bytes, _) = longer(&[&[0xaa][..], &thing, &[0xaa; 8]].concat());
        assert_eq!(scanned(&bytes).len(), usize::from(is_found), "{}", thing.escape_ascii());
    }
}

/// A finding names the segment around it, or else the segment behind it, or the end of the last segment.
#[test]
fn what_is_found_is_reported_by_its_part() {
    let script = b"#!/bin/sh\n";
    let places: Vec<_> = [1, 70, 90, 120, 200, 256].map(|at| (at, &script[..])).into();
    let hex: String = patched(266, 0, &places).iter().map(|b| format!("{b:02x}")).collect();
    let root = r#"{"segments": [
        {"offset": 0, "size": 128}, {"offset": 64, "size": 16}, {"offset": 64, "size": 40},
        {"offset": 240, "size": 16}
    ]}"#;
    let bytes = build::file(&format!(r#"{{"root": {root}, "data": [{{"hex": "{hex}"}}]}}"#));
    let base = bytes.len() as u64 - 266;
    let reported = |at: u64, path: &str, message: &str| (base + at, path.into(), message.into());
    let expected: [(u64, String, String); 6] = [
        reported(1, "program.segments[0]", "a script at byte 1 of segment 0"),
        reported(70, "program.segments[2]", "a script at byte 6 of segment 2"),
        reported(90, "program.segments[2]", "a script at byte 26 of segment 2"),
        reported(120, "program.segments[0]", "a script at byte 120 of segment 0"),
        reported(200, "program.segments[3]", "a script in front of segment 3"),
        reported(256, "header", "a script behind the last segment"),
    ];
    assert_eq!(scanned(&bytes), expected);
}

#[test]
fn of_two_segments_that_reach_as_far_the_first_has_what_lies_there() {
    let hex: String =
        patched(266, 0, &[(64, b"#!/bin/sh\n")]).iter().map(|byte| format!("{byte:02x}")).collect();
    let root = r#"{"segments": [
        {"offset": 0, "size": 16}, {"offset": 16, "size": 112}, {"offset": 32, "size": 96},
        {"offset": 40, "size": 8}
    ]}"#;
    let bytes = build::file(&format!(r#"{{"root": {root}, "data": [{{"hex": "{hex}"}}]}}"#));
    let reported = "a script at byte 48 of segment 1".to_string();
    let at = bytes.len() as u64 - 266 + 64;
    assert_eq!(scanned(&bytes), [(at, "program.segments[1]".into(), reported)]);
}

/// The scan of a segment does not repeat a finding on its first bytes, unless they were too few to
/// judge.
#[test]
fn what_is_reported_already_is_not_reported_again() {
    let head = patched(136, 0, &[(0, b"MZ"), (60, &[128]), (128, b"PE\0\0\x64\x86")]);
    let hex: String = head.iter().map(|byte| format!("{byte:02x}")).collect();
    for (size, found) in [(136, false), (64, false), (63, true)] {
        let segments = format!(r#"[{{"offset": 0, "size": {size}}}]"#);
        let json =
            format!(r#"{{"root": {{"segments": {segments}}}, "data": [{{"hex": "{hex}"}}]}}"#);
        let bytes = build::file(&json);
        assert_eq!(scanned(&bytes).len(), usize::from(found), "{size}");
        let reported = findings(&bytes).iter().any(|(rule, ..)| rule == "content-executable");
        assert_eq!(reported, !found, "{size}");
    }
}

/// The same holds for a segment that is longer than one read.
#[test]
fn what_a_long_segment_begins_with_is_not_reported_again() {
    let (head, rest) = ("7f454c46020101".to_string() + &"00".repeat(9), 2 << 20);
    let json = json!({
        "root": {"segments": [{"offset": 0, "size": 24 + rest}]},
        "data": [{"hex": head + "0300000001000000"}, {"zeros": rest}]
    });
    let bytes = build::file(&json.to_string());
    assert!(scanned(&bytes).is_empty());
    let found: Vec<_> = findings(&bytes).into_iter().map(|(rule, ..)| rule).collect();
    assert_eq!(found, ["content-executable"]);
}

/// Inline blobs may share their bytes: thousands of them cost as much as one.
#[test]
fn constants_inside_the_flatbuffers_part_are_searched() {
    let json = r#"{"root": {"constant_buffer": [
        {}, {"storage": [35, 33, 47, 98, 105, 110, 47, 115, 104, 10]},
        {"storage": [0, 35, 33, 47, 98, 105, 110, 47, 115, 104, 10]}
    ]}}"#;
    let found = scanned(&build::file(json));
    let found: Vec<_> =
        found.iter().map(|(_, path, what)| (path.as_str(), what.as_str())).collect();
    let expected = [
        ("program.constant_buffer[1].storage", "a script at byte 0 of inline constant 1"),
        ("program.constant_buffer[2].storage", "a script at byte 1 of inline constant 2"),
    ];
    assert_eq!(found.len(), 2);
    assert!(expected.iter().all(|row| found.contains(row)), "{found:?}");
}

/// An inline payload that is shorter than the bytes that are normally examined.
#[test]
fn a_short_payload_is_looked_at_too() {
    let root = json!({"execution_plan": [], "backend_delegate_data": [
        {"data": b"#!/bin/sh\n".to_vec()}, {"data": b"!#/bin/sh\n".to_vec()}, {"data": []}]});
    let found = findings(&build::file(&json!({ "root": root }).to_string()));
    let reported: Vec<_> =
        found.iter().map(|(id, _, message)| (id.as_str(), &message[..16])).collect();
    assert_eq!(reported, [("content-executable", "inline payload 0")]);
}

/// Inline payloads may contain each other. Each byte is searched only once.
#[test]
fn what_lies_in_several_payloads_is_reported_once() {
    let thing = things()[0].0.clone();
    let data = patched(200, 0, &[(16, &[8, 0, 0, 0]), (32, &[160, 0, 0, 0]), (100, &thing)]);
    let root = json!({"execution_plan": [],
        "backend_delegate_data": [{"data": data}, {"data": [1]}, {"data": [2]}]});
    let mut bytes = build::file(&json!({ "root": root }).to_string());
    let pte = pte::Pte::read(&bytes).unwrap();
    let all = pte.program().backend_delegate_data().unwrap();
    let begin = all.get(0).unwrap().data().unwrap().pos();
    // The positions of the offsets to the other two, which are the only fields of their tables.
    let fields = [1, 2].map(|nth| all.get(nth).unwrap().raw().pos() + 4);
    for (field, inside) in fields.into_iter().zip([16, 32]) {
        let offset = begin + inside - field;
        bytes[field as usize..][..4].copy_from_slice(&offset.to_le_bytes());
    }
    let pte = pte::Pte::read(&bytes).unwrap();
    let all = pte.program().backend_delegate_data().unwrap();
    let lens: Vec<_> = all.iter().map(|blob| blob.data().unwrap().len()).collect();
    assert_eq!(lens, [200, 8, 160]);
    let found = scanned(&bytes);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, u64::from(begin) + 100);
}

/// `_local_scalar_dense` reads a number from a tensor. That of a constant, or of a copy of one, is in the file.
#[test]
fn a_divisor_that_is_read_from_a_constant_is_judged_by_its_contents() {
    let file = |hex: &str, is_copied: bool| {
        let mut calls = vec![
            json!({"instr_args_type": "KernelCall", "instr_args": {"op_index": 2, "args": [0, 5, 4, 4]}}),
            json!({"instr_args_type": "KernelCall", "instr_args": {"op_index": 0, "args": [4, 2]}}),
            json!({"instr_args_type": "KernelCall", "instr_args": {"op_index": 1, "args": [1, 2, 3]}}),
        ];
        if !is_copied {
            calls.remove(0);
            calls[0]["instr_args"]["args"][0] = 0.into();
        }
        build::file(
            &json!({
                "root": {
                    "execution_plan": [{
                        "name": "forward",
                        "container_meta_type": {"encoded_inp_str": "", "encoded_out_str": ""},
                        "values": [
                            {"val_type": "Tensor", "val": {
                                "scalar_type": "LONG", "sizes": [], "dim_order": [], "data_buffer_idx": 1
                            }},
                            {"val_type": "Int", "val": {"int_val": 7}},
                            {"val_type": "Int", "val": {"int_val": 1}},
                            {"val_type": "Int", "val": {"int_val": 1}},
                            {"val_type": "Tensor", "val": {
                                "scalar_type": "LONG", "sizes": [], "dim_order": [],
                                "allocation_info": {"memory_id": 1}
                            }},
                            {"val_type": "Null", "val": {}}
                        ],
                        "inputs": [],
                        "outputs": [3],
                        "chains": [{"inputs": [], "outputs": [], "instructions": calls}],
                        "operators": [
                            {"name": "aten::_local_scalar_dense", "overload": ""},
                            {"name": "executorch_prim::mod", "overload": "int"},
                            {"name": "aten::clone", "overload": "out"}
                        ],
                        "delegates": [],
                        "non_const_buffer_sizes": [0, 16]
                    }],
                    "constant_buffer": [],
                    "constant_segment": {"segment_index": 0, "offsets": [0, 16]},
                    "backend_delegate_data": [],
                    "segments": [{"offset": 0, "size": 32}]
                },
                "data": [{"zeros": 16}, {"hex": hex}, {"zeros": 8}]
            })
            .to_string(),
        )
    };
    let rules = |bytes: &[u8], checker: Checker<'_>| {
        let report = checker.check_bytes(bytes).unwrap();
        let errors = report.findings().iter().filter(|found| found.severity == Severity::Error);
        errors.map(|found| found.rule.id).collect::<Vec<_>>()
    };
    for is_copied in [false, true] {
        let zero = file("0000000000000000", is_copied);
        assert_eq!(rules(&zero, Checker::new()), ["kernel-number"], "copied: {is_copied}");
        assert!(rules(&zero, Checker::new().constants(false)).is_empty());
        assert!(rules(&file("0300000000000000", is_copied), Checker::new()).is_empty());
    }
}

/// Sections that are read again and again use up what may be read of a file. What was not read is not called sound.
#[test]
fn a_payload_whose_sections_overlap_is_refused() {
    let mut payload = build::vgf(Default::default(), 5);
    let len = 4096u64;
    payload.resize(len as usize, 0xff);
    for section in payload[16..80].chunks_exact_mut(16) {
        section.copy_from_slice(&[0, len].map(u64::to_le_bytes).concat());
    }
    let refused = Checker::new().check_payload(&payload).unwrap_err().to_string();
    assert!(refused.contains("overlap, and would be read more often"), "{refused}");
}
