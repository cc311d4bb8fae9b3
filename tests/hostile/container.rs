//! Headers and segments: errors in front of the tables, and behind them.

use super::{Case, case, case_of};
use crate::support::asm::{Asm, ptd, pte, pte_without_header};
use pte::{Limits, Ptd, Pte};

pub(super) fn cases() -> Vec<Case> {
    [formats(), lengths(), extended_header(), flat_tensor_header(), segments(), limits()]
        .into_iter()
        .flatten()
        .collect()
}

fn formats() -> Vec<Case> {
    let ptd_for_pte = Pte::read(&ptd().finish()).map(drop).unwrap_err();
    let pte_for_ptd = Ptd::read(&pte().finish()).map(drop).unwrap_err();
    vec![
        case_of("wrong-kind", "A .ptd where a .pte is expected", ptd_for_pte, 0),
        case_of("wrong-kind", "A .pte where a .ptd is expected", pte_for_ptd, 0),
        case("other-format", "Nothing at all", &Asm::new(), "start"),
        case(
            "other-format",
            "The tensors of another tool",
            &Asm::new().bytes(b"GGUF\x03\0\0\0"),
            "start",
        ),
        case(
            "unknown-identifier",
            "A program of the identifier after this one",
            &pte().patch("program+4", b"ET13"),
            "program+4",
        ),
        case(
            "unknown-identifier",
            "A data file of the identifier after this one",
            &ptd().patch("flat_tensor+4", b"FT02"),
            "flat_tensor+4",
        ),
        case(
            "unknown-header",
            "An extended header of the version after this one",
            &pte().patch("header", b"eh01"),
            "header",
        ),
        case(
            "unknown-header",
            "A .ptd header of the version after this one",
            &ptd().patch("header", b"FH02"),
            "header",
        ),
        case(
            "unknown-header",
            "A .ptd header of the version after this one, at the start of the file",
            &Asm::new().bytes(b"FH02").zeros(60),
            "start",
        ),
        case(
            "header-missing",
            "A .ptd whose header was overwritten",
            &ptd().patch("header", [0; 4]),
            "header",
        ),
        case(
            "header-missing",
            "A data file with just the room for a header, and none",
            &ptd().patch("header", [0; 4]).cut("header+40"),
            "header",
        ),
    ]
}

fn lengths() -> Vec<Case> {
    let short = "file-too-short";
    vec![
        case(short, "A program cut inside its identifier", &pte().cut("start+7"), "start+7"),
        case(short, "A program cut inside its header", &pte().cut("header+23"), "header+23"),
        case(
            short,
            "A program cut inside the last field of its header",
            &pte().cut("header+31"),
            "header+31",
        ),
        case(short, "A data file cut before its header", &ptd().cut("header"), "header"),
        case(
            short,
            "A data file cut inside its header's length",
            &ptd().cut("header+6"),
            "header+6",
        ),
        case(short, "A data file cut inside its header", &ptd().cut("header+39"), "header+39"),
    ]
}

fn extended_header() -> Vec<Case> {
    let field = |name: &str, value: u64| pte().patch(name, value.to_le_bytes());
    let (program_size, base) = ("header.program_size", "header.segment_base_offset");
    let (end, len) = (pte().at("end"), pte().at("segments end"));
    vec![
        case(
            "header-length",
            "A header shorter than any",
            &pte().patch("header.length", 23u32.to_le_bytes()),
            "header.length",
        ),
        case(
            "program-size",
            "A program that ends inside its own header",
            &field(program_size, 39),
            program_size,
        ),
        case(
            "program-size",
            "A header that says it is longer than the program around it",
            &pte().patch("header.length", u32::MAX.to_le_bytes()),
            program_size,
        ),
        case(
            "flatbuffer-truncated",
            "A program one byte longer than the file",
            &field(program_size, len + 1),
            program_size,
        ),
        case(
            "flatbuffer-truncated",
            "A program of 2^64 - 1 bytes",
            &field(program_size, u64::MAX),
            program_size,
        ),
        case(
            "segment-base",
            "Segments that begin in the program's last byte",
            &field(base, end - 1),
            base,
        ),
        case(
            "segment-base",
            "Segments that begin at the file's first byte but one",
            &field(base, 1),
            base,
        ),
        case(
            "segments-truncated",
            "Segments that end one byte past the file",
            &field("header.segment_data_size", 9),
            base,
        ),
        case(
            "segments-truncated",
            "Segments whose base and size add up to 2^64, which is 0",
            &field(base, u64::MAX - 7),
            base,
        ),
        case(
            "segments-truncated",
            "Segments without a base, and more of them than the file has bytes",
            &field(base, 0).patch("header.segment_data_size", (len + 1).to_le_bytes()),
            base,
        ),
    ]
}

fn flat_tensor_header() -> Vec<Case> {
    let field = |name: &str, value: u64| ptd().patch(name, value.to_le_bytes());
    let (offset, size) = ("header.flatbuffer_offset", "header.flatbuffer_size");
    let base = "header.segment_base_offset";
    let len = ptd().at("segments end");
    vec![
        case(
            "header-length",
            "A .ptd header shorter than any",
            &ptd().patch("header.length", 39u32.to_le_bytes()),
            "header.length",
        ),
        case(
            "header-out-of-bounds",
            "A .ptd header that ends behind its own chunk",
            &ptd().patch("header.length", 49u32.to_le_bytes()),
            "header.length",
        ),
        case("flatbuffer-range", "A chunk too small for its header", &field(offset, 32), offset),
        case(
            "flatbuffer-range",
            "A chunk that shifts tables off their alignment",
            &field(offset, 44),
            offset,
        ),
        case(
            "flatbuffer-range",
            "A chunk too small for its header, before a FlatBuffer of just the least size",
            &field(offset, 32).patch(size, 8u64.to_le_bytes()),
            offset,
        ),
        case("flatbuffer-range", "A FlatBuffer without room for a root", &field(size, 7), size),
        case(
            "flatbuffer-truncated",
            "A FlatBuffers part one byte longer than the file",
            &field(size, len - 48 + 1),
            size,
        ),
        case(
            "flatbuffer-truncated",
            "flatbuffer_offset and flatbuffer_size that add up to 2^64, which is 0",
            &field(size, u64::MAX - 47),
            size,
        ),
        case(
            "segment-base",
            "A .ptd's segments inside its FlatBuffers part",
            &field(base, 56),
            base,
        ),
        case(
            "segments-truncated",
            "A .ptd's segments whose base and size add up to 2^64, which is 0",
            &field(base, u64::MAX - 7),
            base,
        ),
    ]
}

fn segments() -> Vec<Case> {
    let out = "segment-out-of-bounds";
    let size = |file: Asm, size: u64| file.patch("segment.size", size.to_le_bytes());
    let offset = |file: Asm, offset: u64| file.patch("segment.offset", offset.to_le_bytes());
    vec![
        case(out, "A segment one byte longer than the file", &size(pte(), 9), "segment*"),
        case(
            out,
            "A segment whose offset and size add up to 2^64, which is 0",
            &offset(pte(), u64::MAX - 7),
            "segment*",
        ),
        case(
            out,
            "A segment whose size and place in the file add up to 2^64, which is 0",
            &size(pte(), pte().at("segments begin").wrapping_neg()),
            "segment*",
        ),
        case(
            out,
            "An empty segment past the end of the file",
            &offset(size(pte(), 0), 9),
            "segment*",
        ),
        case(
            out,
            "A .ptd's segment that ends past segment_data_size",
            &offset(ptd(), 1),
            "segment*",
        ),
        case(
            "segment-without-base",
            "A segment with contents in a program without a header",
            &size(pte_without_header(), 1),
            "segment*",
        ),
        case(
            "segment-without-base",
            "A segment with contents in a program whose header has base 0",
            &pte().patch("header.segment_base_offset", [0; 8]),
            "segment*",
        ),
    ]
}

fn limits() -> Vec<Case> {
    let limits = |program| Limits { program, ..Limits::UNTRUSTED };
    let size = pte().at("end");
    let file = pte().finish();
    let error = Pte::read_with(&file, &limits(size - 1)).expect_err("a limit one too low");
    assert!(Pte::read_with(&file, &limits(size)).is_ok());
    vec![case_of("program-limit", "A program one byte longer than its reader allows", error, 0)]
}
