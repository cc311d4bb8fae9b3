//! Other kinds of files: each is known from its first bytes, and named.

use core::fmt::Write;
use std::collections::BTreeSet;

use pte::{ErrorKind, Neighbour, Ptd, Pte};

use crate::support::snapshot::assert_snapshot;

/// The fewest bytes that tell a kind of file from every other.
const HEADS: &[(&[u8], Neighbour)] = &[
    (b"", Neighbour::Empty),
    (b"\0", Neighbour::Zeros),
    (&[0; 64], Neighbour::Zeros),
    (b"\x14\0\0\0BP06", Neighbour::BundledProgram(*b"BP06")),
    (b"\x14\0\0\0BP08", Neighbour::BundledProgram(*b"BP08")),
    (b"\x14\0\0\0ED00", Neighbour::EtDump),
    (b"\x90\x01\0\0\x14\0\0\0ED00", Neighbour::EtDump),
    (b"PK\x03\x04\x14\0ETRECORD_V0", Neighbour::EtRecord),
    (b"PK\x03\x04\x14\0program.ptg", Neighbour::Ptn),
    (b"\x14\0\0\0NPTG", Neighbour::NativeGraph),
    (b"CMJR", Neighbour::Delegate("CoreML")),
    (b"vela_bin_stream\0", Neighbour::Delegate("Ethos-U")),
    (b"\xcd\xab\x78\x56", Neighbour::Delegate("QNN")),
    (b"\0\0\0\0XH00", Neighbour::Delegate("XNNPACK")),
    (b"\x14\0\0\0XN00", Neighbour::Delegate("XNNPACK")),
    (b"\x14\0\0\0XN01", Neighbour::Delegate("XNNPACK")),
    (b"\0\0\0\0VH00", Neighbour::Delegate("Vulkan")),
    (b"\x14\0\0\0VK00", Neighbour::Delegate("Vulkan")),
    (b"\x14\0\0\0MP00", Neighbour::Delegate("MPS")),
    (b"\x14\0\0\0MLX0", Neighbour::Delegate("MLX")),
    (b"\x14\0\0\0TOSA", Neighbour::Delegate("TOSA")),
    (b"\x14\0\0\0TFL3", Neighbour::FlatBuffer(*b"TFL3")),
    (b"\x40\0\0\0\0\0\0\0{\"", Neighbour::Safetensors),
    (b"\x02\0\0\0\0\0\0\0{}", Neighbour::Safetensors),
    (b"GGUF", Neighbour::Gguf),
    (b"\x08\x0a\x12", Neighbour::Onnx),
    (b"PK\x03\x04", Neighbour::Zip),
    (b"\x1f\x8b", Neighbour::Gzip),
    (b"\x80\x02", Neighbour::Pickle),
    (b"\x80\x05", Neighbour::Pickle),
    (b"\x7fELF", Neighbour::Executable),
    (b"\xcf\xfa\xed\xfe", Neighbour::Executable),
    (b"\xca\xfe\xba\xbe", Neighbour::Executable),
    (b"MZ", Neighbour::Executable),
    (b"version https://git-lfs", Neighbour::GitLfs),
    (b"<!DOCTYPE", Neighbour::Html),
    (b"<html", Neighbour::Html),
    (b"a text", Neighbour::Text),
    (b"1\t2\r\n", Neighbour::Text),
    (b"\xc3\xa9t\xc3", Neighbour::Text),
    (b"\x80\x06", Neighbour::Unknown),
    (b"a text\0", Neighbour::Unknown),
    (b"\xc3\xa9t\xc3\x28", Neighbour::Unknown),
    (b"\x14\0\0\0ab\0d", Neighbour::Unknown),
    (b"\xc3", Neighbour::Unknown),
    (b"\0\0\0\0\0\0\0\x01", Neighbour::Unknown),
];

#[test]
fn every_kind_is_known_from_its_head() {
    let mut text = String::new();
    for (head, neighbour) in HEADS {
        assert_eq!(Neighbour::of(head), *neighbour, "{}", head.escape_ascii());
        let shown = match head {
            [0, .., 0] => format!("{} zeros", head.len()),
            head => head.escape_ascii().to_string(),
        };
        writeln!(text, "{shown:38}{neighbour}").unwrap();
    }
    assert_snapshot("neighbour-heads", &text);
}

/// Some kinds begin in several ways.
#[test]
fn every_way_to_begin_is_known() {
    for (head, neighbour) in [
        (&b"\xcd\xab\x34\x12"[..], Neighbour::Delegate("QNN")),
        (b"PK\x03\x04\x14\0etrecord_version", Neighbour::EtRecord),
        (b"PK\x03\x04\x14\0aliases.json", Neighbour::Ptn),
        (b"<!doctype", Neighbour::Html),
        (b"\x02\0\0\0\0\0\0\0{ ", Neighbour::Safetensors),
        (b"\x02\0\0\0\0\0\0\0{\n", Neighbour::Safetensors),
        (b"\x08\x01\x1a", Neighbour::Onnx),
        (b"\x08\x1e\x3a", Neighbour::Onnx),
        (b"\x08\x1f\x3a", Neighbour::Unknown),
        (b"\x08\0\x3a", Neighbour::Unknown),
        (b"\x80\x01", Neighbour::Unknown),
    ] {
        assert_eq!(Neighbour::of(head), neighbour, "{}", head.escape_ascii());
    }
}

#[test]
fn every_kind_is_told_in_a_refusal() {
    for (head, neighbour) in HEADS {
        let kind = Pte::read(head).unwrap_err().kind();
        assert_eq!(Ptd::read(head).unwrap_err().kind(), kind);
        match neighbour {
            Neighbour::Unknown | Neighbour::Zeros if head.len() < 8 => {
                assert_eq!(kind, ErrorKind::FileTooShort { len: head.len() as u64, needed: 8 });
            }
            _ => assert_eq!(kind, ErrorKind::OtherFormat { neighbour: *neighbour }),
        }
    }
}

#[test]
fn every_kind_is_tested() {
    let tested: BTreeSet<String> = HEADS.iter().map(|(_, neighbour)| variant(neighbour)).collect();
    let source = include_str!("../src/neighbour.rs");
    let (_, declared) = source.split_once("pub enum Neighbour {\n").unwrap();
    let (declared, _) = declared.split_once("\n}").unwrap();
    let declared = declared.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let declared: BTreeSet<String> = declared
        .map(|line| line.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned())
        .collect();
    assert_eq!(tested, declared);
}

/// The name of a variant without what it carries.
fn variant(neighbour: &Neighbour) -> String {
    let shown = format!("{neighbour:?}");
    shown.split('(').next().unwrap().to_owned()
}

/// What a download that broke off at once is told: up to 8 bytes, as many as name a format.
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
    assert_snapshot("neighbour-prefixes", &text);
}

/// Only the first 64 bytes are looked at.
#[test]
fn what_follows_a_head_changes_nothing() {
    for (head, neighbour) in HEADS.iter().filter(|(head, _)| head.len() == 64) {
        assert_eq!(Neighbour::of(&[*head, b"GGUF \xff"].concat()), *neighbour);
    }
    let far = [&b"PK\x03\x04"[..], &[b' '; 49], b"ETRECORD_V0"].concat();
    assert_eq!(far.len(), 64);
    assert_eq!(Neighbour::of(&far), Neighbour::EtRecord);
    let further = [&b"PK\x03\x04"[..], &[b' '; 53], b"ETRECORD_V0"].concat();
    assert_eq!(Neighbour::of(&further), Neighbour::Zip);
}

/// A window that ends inside a character is text all the same.
#[test]
fn text_is_text_wherever_the_window_ends() {
    let text = "é".repeat(40);
    for start in 0..2 {
        let shifted = [&b"x"[..start], text.as_bytes()].concat();
        assert_eq!(Neighbour::of(&shifted), Neighbour::Text, "{start}");
    }
}
