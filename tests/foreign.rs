//! Files of other formats, which are recognized by their first bytes.

use core::fmt::Write;
use std::collections::BTreeSet;

use pte::{Backend, ErrorKind, ForeignFormat, Handle, Limits, OpenError, Ptd, Pte};

use crate::support::snapshot::assert_snapshot;

/// The fewest bytes that distinguish each format from every other.
const HEADS: &[(&[u8], ForeignFormat)] = &[
    (b"", ForeignFormat::Empty),
    (b"\0", ForeignFormat::Zeros),
    (&[0; 64], ForeignFormat::Zeros),
    (b"\x14\0\0\0BP06", ForeignFormat::BundledProgram(*b"BP06")),
    (b"\x14\0\0\0BP08", ForeignFormat::BundledProgram(*b"BP08")),
    (b"\x14\0\0\0ED00", ForeignFormat::EtDump),
    (b"\x90\x01\0\0\x14\0\0\0ED00", ForeignFormat::EtDump),
    (b"PK\x03\x04\x14\0ETRECORD_V0", ForeignFormat::EtRecord),
    (b"PK\x03\x04\x14\0program.ptg", ForeignFormat::Ptn),
    (b"\x14\0\0\0NPTG", ForeignFormat::Payload(Backend::Native)),
    (b"CMJR", ForeignFormat::Payload(Backend::CoreMl)),
    (b"vela_bin_stream\0", ForeignFormat::Payload(Backend::EthosU)),
    (b"\xcd\xab\x78\x56", ForeignFormat::Payload(Backend::Qnn)),
    (b"\0\0\0\0XH00", ForeignFormat::Payload(Backend::Xnnpack)),
    (b"\x14\0\0\0XN00", ForeignFormat::Payload(Backend::Xnnpack)),
    (b"\x14\0\0\0XN01", ForeignFormat::Payload(Backend::Xnnpack)),
    (b"\0\0\0\0VH00", ForeignFormat::Payload(Backend::Vulkan)),
    (b"\x14\0\0\0VK00", ForeignFormat::Payload(Backend::Vulkan)),
    (b"\x14\0\0\0MP00", ForeignFormat::Payload(Backend::Mps)),
    (b"\x14\0\0\0MLX0", ForeignFormat::Payload(Backend::Mlx)),
    (b"\x14\0\0\0TOSA", ForeignFormat::Payload(Backend::Tosa)),
    (b"VGF1", ForeignFormat::Payload(Backend::Vgf)),
    (b"RR_UPCVO", ForeignFormat::Payload(Backend::OpenVino)),
    (b"\x14\0\0\0TFL3", ForeignFormat::FlatBuffer(*b"TFL3")),
    (b"\x40\0\0\0\0\0\0\0{\"", ForeignFormat::Safetensors),
    (b"\x02\0\0\0\0\0\0\0{}", ForeignFormat::Safetensors),
    (b"GGUF", ForeignFormat::Gguf),
    (b"\x08\x0a\x12", ForeignFormat::Onnx),
    (b"PK\x03\x04", ForeignFormat::Zip),
    (b"\x1f\x8b", ForeignFormat::Gzip),
    (b"\x80\x02", ForeignFormat::Pickle),
    (b"\x80\x05", ForeignFormat::Pickle),
    (b"\x7fELF", ForeignFormat::Executable),
    (b"\xcf\xfa\xed\xfe", ForeignFormat::Executable),
    (b"\xca\xfe\xba\xbe", ForeignFormat::Executable),
    (b"MZ", ForeignFormat::Executable),
    (b"version https://git-lfs", ForeignFormat::GitLfs),
    (b"<!DOCTYPE", ForeignFormat::Html),
    (b"<html", ForeignFormat::Html),
    (b"a text", ForeignFormat::Text),
    (b"1\t2\r\n", ForeignFormat::Text),
    (b"\xc3\xa9t\xc3", ForeignFormat::Text),
    (b"\x80\x06", ForeignFormat::Unknown),
    (b"a text\0", ForeignFormat::Unknown),
    (b"\xc3\xa9t\xc3\x28", ForeignFormat::Unknown),
    (b"\x14\0\0\0ab\0d", ForeignFormat::Unknown),
    (b"\xc3", ForeignFormat::Unknown),
    (b"\0\0\0\0\0\0\0\x01", ForeignFormat::Unknown),
];

#[test]
fn every_kind_is_known_from_its_head() {
    let mut text = String::new();
    for (head, format) in HEADS {
        assert_eq!(ForeignFormat::of(head), *format, "{}", head.escape_ascii());
        let shown = match head {
            [0, .., 0] => format!("{} zeros", head.len()),
            head => head.escape_ascii().to_string(),
        };
        writeln!(text, "{shown:38}{format}").unwrap();
    }
    assert_snapshot("foreign-heads", &text);
}

/// Some kinds begin in several ways.
#[test]
fn every_way_to_begin_is_known() {
    for (head, format) in [
        (&b"\xcd\xab\x34\x12"[..], ForeignFormat::Payload(Backend::Qnn)),
        (b"PK\x03\x04\x14\0etrecord_version", ForeignFormat::EtRecord),
        (b"PK\x03\x04\x14\0aliases.json", ForeignFormat::Ptn),
        (b"<!doctype", ForeignFormat::Html),
        (b"\x02\0\0\0\0\0\0\0{ ", ForeignFormat::Safetensors),
        (b"\x02\0\0\0\0\0\0\0{\n", ForeignFormat::Safetensors),
        (b"\x08\x01\x1a", ForeignFormat::Onnx),
        (b"\x08\x1e\x3a", ForeignFormat::Onnx),
        (b"\x08\x1f\x3a", ForeignFormat::Unknown),
        (b"\x08\0\x3a", ForeignFormat::Unknown),
        (b"\x80\x01", ForeignFormat::Unknown),
    ] {
        assert_eq!(ForeignFormat::of(head), format, "{}", head.escape_ascii());
    }
}

#[test]
fn every_kind_is_reported_in_a_refusal() {
    for (head, format) in HEADS {
        let kind = Pte::read(head).unwrap_err().kind();
        assert_eq!(Ptd::read(head).unwrap_err().kind(), kind);
        match format {
            ForeignFormat::Unknown | ForeignFormat::Zeros if head.len() < 8 => {
                assert_eq!(kind, ErrorKind::FileTooShort { len: head.len() as u64, needed: 8 });
            }
            _ => assert_eq!(kind, ErrorKind::OtherFormat { format: *format }),
        }
    }
}

#[test]
fn every_kind_is_tested() {
    let tested: BTreeSet<String> = HEADS.iter().map(|(_, format)| variant(format)).collect();
    let source = include_str!("../src/core/foreign.rs");
    let (_, declared) = source.split_once("pub enum ForeignFormat {\n").unwrap();
    let (declared, _) = declared.split_once("\n    }\n").unwrap();
    let declared = declared.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let declared: BTreeSet<String> = declared
        .map(|line| line.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned())
        .collect();
    assert_eq!(tested, declared);
}

/// Returns the name of a variant without its fields.
fn variant(format: &ForeignFormat) -> String {
    let shown = format!("{format:?}");
    shown.split('(').next().unwrap().to_owned()
}

/// Files of 0 to 8 bytes, such as broken downloads, have a clear error. Eight bytes name a format.
#[test]
fn the_first_bytes_of_a_program() {
    let file = include_bytes!("data/pte/linear.pte");
    let mut text = String::new();
    for len in 0..=8 {
        let error = Pte::read(&file[..len]).unwrap_err();
        let head = file[..len].escape_ascii();
        writeln!(text, "{len} bytes, \"{head}\"").unwrap();
        writeln!(text, "  error[{}]: {error}\n    at {}", error.code(), error.place()).unwrap();
    }
    assert_snapshot("foreign-prefixes", &text);
}

/// Only the first 64 bytes decide.
#[test]
fn what_follows_a_head_changes_nothing() {
    for (head, format) in HEADS.iter().filter(|(head, _)| head.len() == 64) {
        assert_eq!(ForeignFormat::of(&[*head, b"GGUF \xff"].concat()), *format);
    }
    let far = [&b"PK\x03\x04"[..], &[b' '; 49], b"ETRECORD_V0"].concat();
    assert_eq!(far.len(), 64);
    assert_eq!(ForeignFormat::of(&far), ForeignFormat::EtRecord);
    let further = [&b"PK\x03\x04"[..], &[b' '; 53], b"ETRECORD_V0"].concat();
    assert_eq!(ForeignFormat::of(&further), ForeignFormat::Zip);
}

/// Payloads of Core ML are recognized by their end, unless their head is that of another format.
#[test]
fn payloads_of_coreml_are_known_by_their_end() {
    let core_ml = ForeignFormat::Payload(Backend::CoreMl);
    let tail = b"}{:\"nerdlihc\"{[:\"sedon\"{";
    let padded = [&tail[..], &[0; 15]].concat();
    for head in [&b"{\"inputNames\": ["[..], b"\0\0\0\0", b"\x08\x0a\x12", b"\xff\xfe\xfd"] {
        for tail in [&tail[..], &padded] {
            assert_eq!(ForeignFormat::of_ends(head, tail), core_ml, "{}", head.escape_ascii());
        }
        for tail in [&b""[..], b"\"sedon\"{", &[0; 64], &tail[..tail.len() - 1]] {
            assert_eq!(ForeignFormat::of_ends(head, tail), ForeignFormat::of(head));
        }
    }
    // A program and a `.ptd` may end with the payload of a delegate.
    for head in [&b"\x20\0\0\0ET12eh00"[..], b"\x20\0\0\0FT01FH01", b"FH01", b"PK\x03\x04", b"GGUF"]
    {
        assert_eq!(ForeignFormat::of_ends(head, tail), ForeignFormat::of(head));
    }
}

/// A slice is refused as the same bytes of a source: by both ends, and by no more than their first and last bytes.
#[test]
fn slices_and_sources_are_refused_as_the_same_format() {
    let tail = b"[:\"sedon\"{";
    for zeros in [0, 15, 64, 100] {
        let bytes = [&b"\0\0"[..], tail, &vec![0; zeros]].concat();
        let slice = pte::File::read_with(&bytes, &Limits::UNTRUSTED).unwrap_err();
        let OpenError::Refused(source) = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap_err()
        else {
            panic!("{zeros}");
        };
        assert_eq!(slice, source, "{zeros}");
    }
}

/// Text is recognized even if the examined bytes end inside a character.
#[test]
fn text_is_text_wherever_the_window_ends() {
    let text = "é".repeat(40);
    for start in 0..2 {
        let shifted = [&b"x"[..start], text.as_bytes()].concat();
        assert_eq!(ForeignFormat::of(&shifted), ForeignFormat::Text, "{start}");
    }
}
