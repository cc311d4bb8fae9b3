//! The headers of both formats: known answers, every length, and each rule from both sides.

use core::fmt::Write;
use std::fs;

use binrw::io::Cursor;
use binrw::{BinRead, BinWrite};
use pte::file::header::{Chunk, ExtendedHeader, FlatTensorHeader, StandardHeader};
use pte::file::{FileKind, sniff};
use pte::{Error, ErrorKind, File, Limits, Ptd, Pte};

use crate::support::asm::{Asm, ptd, pte, pte_with_header, pte_without_header};
use crate::support::files;
use crate::support::snapshot::assert_snapshot;

/// Upstream's own example of a `.pte` (format.md §1.1), its digits filled in.
const PTE_EXAMPLE: [u8; 32] = *b"\x38\0\0\0ET12eh00\x18\0\0\0\
    \xf0\x02\0\0\0\0\0\0\0\x10\0\0\0\0\0\0";

/// Upstream's own example of a `.ptd` (format.md §2.2).
const PTD_EXAMPLE: [u8; 48] = *b"\x44\0\0\0FT01FH01\x28\0\0\0\
    \x30\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\x30\x01\0\0\0\0\0\0\x20\0\0\0\0\0\0\0";

#[test]
fn the_examples_of_the_format_documents() {
    let standard = StandardHeader { root: 0x38, identifier: *b"ET12" };
    assert_eq!(decoded::<StandardHeader>(&PTE_EXAMPLE), standard);
    let header = ExtendedHeader {
        length: 0x18,
        program_size: 0x2f0,
        segment_base_offset: 0x1000,
        segment_data_size: 0,
    };
    assert_eq!(decoded::<ExtendedHeader>(&PTE_EXAMPLE[8..]), header);
    assert_eq!(header.to_bytes(), PTE_EXAMPLE[8..]);

    let standard = StandardHeader { root: 0x44, identifier: *b"FT01" };
    assert_eq!(decoded::<StandardHeader>(&PTD_EXAMPLE), standard);
    let header = FlatTensorHeader {
        length: 0x28,
        flatbuffer_offset: 0x30,
        flatbuffer_size: 0x100,
        segment_base_offset: 0x130,
        segment_data_size: 0x20,
    };
    assert_eq!(decoded::<FlatTensorHeader>(&PTD_EXAMPLE[8..]), header);
    assert_eq!(header.to_bytes(), PTD_EXAMPLE[8..]);
}

/// The vectors of upstream's `extended_header_test.cpp` and `flat_tensor_header_test.cpp`: fields
/// that no real file could have, among bytes of 0x55.
#[test]
fn the_vectors_of_upstreams_tests() {
    let fields = [0x0111_2131_4151_6171u64, 0x0212_2232_4252_6272, 0x0313_2333_4353_6373];
    for (length, data_size) in [(24, 0), (31, 0), (32, fields[2]), (33, fields[2])] {
        let bytes = among_0x55(b"eh00", length, &fields);
        let header = ExtendedHeader {
            length,
            program_size: fields[0],
            segment_base_offset: fields[1],
            segment_data_size: data_size,
        };
        assert_eq!(decoded::<ExtendedHeader>(&bytes[8..]), header);
        let known = if length < 32 { 24 } else { 32 };
        assert_eq!(header.to_bytes(), bytes[8..8 + known]);
    }
    let bytes = among_0x55(b"eh00", 23, &fields);
    assert!(ExtendedHeader::read(&mut Cursor::new(&bytes[8..])).is_err());
    let bytes = among_0x55(b"eh01", 32, &fields);
    assert!(ExtendedHeader::read(&mut Cursor::new(&bytes[8..])).is_err());

    let fields = [fields[0], fields[1], fields[2], 0x0414_2434_4454_6474];
    let bytes = among_0x55(b"FH01", 40, &fields);
    let header = FlatTensorHeader {
        length: 40,
        flatbuffer_offset: fields[0],
        flatbuffer_size: fields[1],
        segment_base_offset: fields[2],
        segment_data_size: fields[3],
    };
    assert_eq!(decoded::<FlatTensorHeader>(&bytes[8..]), header);
    assert_eq!(header.to_bytes(), bytes[8..48]);
}

fn among_0x55(magic: &[u8; 4], length: u32, fields: &[u64]) -> [u8; 64] {
    let mut bytes = [0x55; 64];
    bytes[8..12].copy_from_slice(magic);
    bytes[12..16].copy_from_slice(&length.to_le_bytes());
    for (field, bytes) in fields.iter().zip(bytes[16..].chunks_exact_mut(8)) {
        bytes.copy_from_slice(&field.to_le_bytes());
    }
    bytes
}

#[test]
fn a_chunk_is_its_header_and_zeros() {
    let header = decoded::<ExtendedHeader>(&PTE_EXAMPLE[8..]);
    let data = decoded::<FlatTensorHeader>(&PTD_EXAMPLE[8..]);
    for size in [24, 32, 48, 1024] {
        assert_eq!(padded(&Chunk { size, header }), padded_by_hand(&PTE_EXAMPLE[8..], size));
    }
    for size in [40, 48, 128] {
        assert_eq!(padded(&Chunk { size, header: data }), padded_by_hand(&PTD_EXAMPLE[8..], size));
    }
}

fn padded(chunk: &impl for<'a> BinWrite<Args<'a> = ()>) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    chunk.write_le(&mut out).unwrap();
    out.into_inner()
}

fn padded_by_hand(header: &[u8], size: u64) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(size.try_into().unwrap(), 0);
    bytes
}

#[test]
fn every_length_of_an_extended_header() {
    for length in 0..=64u32 {
        let bytes = pte().patch("header.length", length.to_le_bytes()).finish();
        match Pte::read(&bytes) {
            Err(error) => {
                assert!(length < 24, "{length}: {error}");
                assert_eq!((error.code(), error.offset()), ("header-length", 12), "{length}");
            }
            Ok(file) => {
                assert!(length >= 24, "{length}");
                let header = file.header().unwrap();
                assert_eq!(header.length, length);
                assert_eq!(header.segment_data_size, if length < 32 { 0 } else { 8 });
                let known = if length < 32 { 24 } else { 32 };
                assert_eq!(header.to_bytes(), bytes[8..8 + known]);
            }
        }
    }
}

#[test]
fn every_length_of_a_flat_tensor_header() {
    for length in 0..=64u32 {
        let bytes = ptd().patch("header.length", length.to_le_bytes()).finish();
        let code = match length {
            ..40 => "header-length",
            40..=48 => "read",
            49.. => "header-out-of-bounds",
        };
        let file = Ptd::read(&bytes);
        assert_eq!(verdict(&file), code, "{length}");
        if let Ok(file) = file {
            assert_eq!(file.header().length, length);
            assert_eq!(file.header().to_bytes(), bytes[8..48]);
        }
    }
}

/// A program without a header, with each of the two known forms, and with a future form.
#[test]
fn every_form_places_the_segment() {
    assert!(Pte::read(&pte_without_header().finish()).unwrap().header().is_none());
    for length in [24, 32, 40, 56] {
        let asm = pte_with_header(length);
        let bytes = asm.finish();
        let file = Pte::read(&bytes).unwrap();
        assert_eq!(file.header().map(|header| header.length), Some(length));
        assert_eq!(file.region().len() as u64, asm.at("end"));
        let range = file.segment_range(0).unwrap();
        assert_eq!(range, asm.at("segments begin")..asm.at("segments end"));
        assert_eq!(file.bytes(range), Some(&[0x55; 8][..]));
    }
}

/// Every magic ends with two digits. Known digits are read, others are reported. A magic without
/// digits is that of another format, or no header.
#[test]
fn every_pair_of_digits() {
    for (asm, at, known, code) in [
        (pte(), 4, "12", "unknown-identifier"),
        (pte(), 8, "00", "unknown-header"),
        (ptd(), 4, "01", "unknown-identifier"),
        (ptd(), 8, "01", "unknown-header"),
    ] {
        for number in 0..100 {
            let digits = format!("{number:02}");
            let bytes = asm.clone().patch(&format!("start+{}", at + 2), &digits).finish();
            let expected = if digits == known { "read" } else { code };
            assert_eq!(verdict(&read(&bytes)), expected, "{digits} at {at}");
        }
    }
    let letters = |asm: Asm, at: &str| verdict(&read(&asm.patch(at, b"0x").finish()));
    assert_eq!(letters(pte(), "start+6"), "other-format");
    assert_eq!(letters(ptd(), "start+6"), "other-format");
    assert_eq!(letters(ptd(), "start+10"), "header-missing");
    // The program itself is sound. The lost header leads to an error on its segment.
    assert_eq!(letters(pte(), "start+10"), "segment-without-base");
}

/// Each rule of format.md §1.5 and §2.6, with the last value that it accepts and the first that it
/// refuses. An accepted value may still break another rule.
#[test]
fn every_rule_from_both_sides() {
    let (length, base) = ("header.length", "header.segment_base_offset");
    let data_size = "header.segment_data_size";

    let size = "header.program_size";
    let (end, len) = (pte().at("end"), pte().at("segments end"));
    let mut text = format!(".pte: {len} bytes, of which the program is {end}\n");
    let mut rule = |field, inside, outside, code| {
        both_sides(&mut text, &pte(), field, [inside, outside], code);
    };
    rule(length, 24, 23, "header-length");
    rule(size, 40, 39, "program-size");
    rule(size, len, len + 1, "flatbuffer-truncated");
    rule(base, end, end - 1, "segment-base");
    rule(base, 0, 1, "segment-base");
    rule(base, len - 8, len - 7, "segments-truncated");
    rule(data_size, 8, 9, "segments-truncated");
    rule("segment.offset", 0, 1, "segment-out-of-bounds");
    rule("segment.size", 8, 9, "segment-out-of-bounds");
    text.push_str("with 4 bytes behind the segment, and a header of 24 bytes that does not tell\n");
    let tail = pte_with_header(24).bytes(b"tail");
    both_sides(&mut text, &tail, "segment.size", [12, 13], "segment-out-of-bounds");

    let (offset, size) = ("header.flatbuffer_offset", "header.flatbuffer_size");
    let (end, len) = (ptd().at("end"), ptd().at("segments end"));
    text.push_str(&format!(".ptd: {len} bytes, of which the FlatBuffers part is {end}\n"));
    let mut rule = |field, inside, outside, code| {
        both_sides(&mut text, &ptd(), field, [inside, outside], code);
    };
    rule(length, 40, 39, "header-length");
    rule(length, 48, 49, "header-out-of-bounds");
    rule(offset, 40, 32, "flatbuffer-range");
    rule(offset, 40, 41, "flatbuffer-range");
    rule(offset, 56, 64, "flatbuffer-truncated");
    rule(size, 8, 7, "flatbuffer-range");
    rule(size, end - 48, end - 47, "segment-base");
    rule(base, end, end - 1, "segment-base");
    rule(base, 0, 1, "segment-base");
    rule(data_size, 8, 9, "segments-truncated");
    rule("segment.size", 8, 9, "segment-out-of-bounds");
    text.push_str("with 4 bytes behind the segment, that the header does not count\n");
    let tail = ptd().bytes(b"tail");
    both_sides(&mut text, &tail, "segment.size", [8, 9], "segment-out-of-bounds");
    assert_snapshot("header-rules", &text);
}

/// Without a segment base, the declared size of segments may not exceed the file's length.
#[test]
fn a_size_without_a_base_is_held_to_the_file() {
    for asm in [pte(), ptd()] {
        let (base, size) = ("header.segment_base_offset", "header.segment_data_size");
        let len = asm.at("segments end");
        let with = |size_given: u64| {
            let asm = asm.clone().patch(base, 0u64.to_le_bytes());
            let bytes = asm.patch(size, size_given.to_le_bytes()).finish();
            assert_eq!(bytes.len() as u64, len);
            verdict(&read(&bytes))
        };
        for more in [len + 1, u64::MAX] {
            assert_eq!(with(more), "segments-truncated", "{more} of {len}");
        }
        assert_eq!(with(len), "segment-without-base");
    }
}

/// Writes the verdicts on a file with each of two values in `field`: the second one is `code`.
fn both_sides(text: &mut String, asm: &Asm, field: &str, [inside, outside]: [u64; 2], code: &str) {
    let size = if field == "header.length" { 4 } else { 8 };
    let with = |value: u64| {
        verdict(&read(&asm.clone().patch(field, &value.to_le_bytes()[..size]).finish()))
    };
    let verdicts = (with(inside), with(outside));
    assert_eq!(verdicts.1, code, "{field}: {outside}");
    assert_ne!(verdicts.0, code, "{field}: {inside}");
    writeln!(text, "  {field}: {inside} {}, {outside} {}", verdicts.0, verdicts.1).unwrap();
}

#[test]
fn the_kind_is_reported_from_64_bytes_and_from_all_of_less() {
    for (asm, kind) in
        [(pte(), FileKind::Pte), (pte_without_header(), FileKind::Pte), (ptd(), FileKind::Ptd)]
    {
        let bytes = asm.finish();
        assert_eq!(sniff(&bytes), Ok(kind));
        assert_eq!(sniff(&bytes[..64]), Ok(kind));
    }
    let (short, read) = ("file-too-short", "read");
    for (lengths, expected) in [(8..12, read), (12..40, short), (40..64, read)] {
        for len in lengths {
            assert_eq!(verdict(&sniff(&pte().finish()[..len])), expected, "{len} bytes of a .pte");
        }
    }
    for (lengths, expected) in [(8..48, short), (48..64, read)] {
        for len in lengths {
            assert_eq!(verdict(&sniff(&ptd().finish()[..len])), expected, "{len} bytes of a .ptd");
        }
    }
}

/// A line for each file, with the contents of its headers.
#[test]
fn headers_of_genuine_files() {
    let mut text = String::new();
    for path in files::samples() {
        let bytes = fs::read(&path).unwrap();
        write!(text, "{}: ", files::name(&path)).unwrap();
        let begin = match sniff(&bytes).unwrap() {
            FileKind::Pte => {
                let header = Pte::read(&bytes).unwrap().header();
                match header {
                    Some(header) => {
                        assert_eq!(header.to_bytes(), bytes[8..8 + header.length as usize]);
                        pte_header(&mut text, &header);
                    }
                    None => text.push_str("no header"),
                }
                0
            }
            FileKind::Ptd => {
                let file = Ptd::read(&bytes).unwrap();
                let begin = usize::try_from(file.region_start()).unwrap();
                let at = if begin == 0 { 8 } else { 0 };
                assert_eq!(file.header().to_bytes(), bytes[at..at + 40]);
                ptd_header(&mut text, at, &file.header());
                begin
            }
        };
        let StandardHeader { root, identifier } = decoded(&bytes[begin..]);
        writeln!(text, "; {} root {root:#x}", identifier.escape_ascii()).unwrap();
    }
    assert_snapshot("header-files", &text);
}

fn pte_header(text: &mut String, header: &ExtendedHeader) {
    let ExtendedHeader { length, program_size, segment_base_offset, segment_data_size } = header;
    write!(text, "header of {length}, program {program_size}, ").unwrap();
    write!(text, "segments {segment_base_offset} + {segment_data_size}").unwrap();
}

fn ptd_header(text: &mut String, at: usize, header: &FlatTensorHeader) {
    let FlatTensorHeader { length, flatbuffer_offset, flatbuffer_size, .. } = header;
    let FlatTensorHeader { segment_base_offset, segment_data_size, .. } = header;
    write!(text, "header of {length} at {at}, ").unwrap();
    write!(text, "FlatBuffer {flatbuffer_offset} + {flatbuffer_size}, ").unwrap();
    write!(text, "segments {segment_base_offset} + {segment_data_size}").unwrap();
}

/// Without `alloc` there is no binrw. Each declaration has a second reader for that build.
#[test]
fn headers_are_read_without_binrw_as_with_it() {
    let mut outcomes = [0; 3];
    for path in files::samples() {
        let bytes = fs::read(&path).unwrap();
        for begin in [0, 8] {
            let head = &bytes[begin..][..48];
            for cut in 0..=head.len() {
                compare_readers(&head[..cut], &mut outcomes);
            }
            for bit in 0..head.len() * 8 {
                let mut flipped = head.to_vec();
                flipped[bit / 8] ^= 1 << (bit % 8);
                compare_readers(&flipped, &mut outcomes);
            }
        }
    }
    let mut random = 1u64;
    for nth in 0..100_000 {
        let mut bytes = [0; 48];
        for word in bytes.as_chunks_mut().0 {
            // Marsaglia's xorshift64.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            *word = random.to_le_bytes();
        }
        bytes[..4].copy_from_slice([b"eh00", b"FH01", b"eh01"][nth % 3]);
        if nth % 16 != 0 {
            // A small length.
            bytes[5..8].fill(0);
        }
        compare_readers(&bytes[..nth % 49], &mut outcomes);
    }
    assert!(outcomes.iter().all(|&times| times > 1000), "{outcomes:?}");
}

/// Compares both readers of both headers, and counts what they have done: read, refused, or found no whole header.
fn compare_readers(bytes: &[u8], outcomes: &mut [usize; 3]) {
    let (pte, ptd) = (ExtendedHeader::read_plain(bytes), FlatTensorHeader::read_plain(bytes));
    assert_eq!(pte, read_by_binrw(bytes), "{bytes:x?}");
    assert_eq!(ptd, read_by_binrw(bytes), "{bytes:x?}");
    for outcome in [pte.map(drop), ptd.map(drop)] {
        outcomes[match outcome {
            Ok(()) => 0,
            Err(Some(_)) => 1,
            Err(None) => 2,
        }] += 1;
    }
}

fn read_by_binrw<H>(bytes: &[u8]) -> Result<H, Option<ErrorKind>>
where
    H: for<'a> BinRead<Args<'a> = ()> + binrw::meta::ReadEndian,
{
    H::read(&mut Cursor::new(bytes)).map_err(|error| error.custom_err().copied())
}

fn decoded<H>(bytes: &[u8]) -> H
where
    H: for<'a> BinRead<Args<'a> = ()> + binrw::meta::ReadEndian,
{
    H::read(&mut Cursor::new(bytes)).unwrap()
}

/// Reads a file as either kind.
fn read(bytes: &[u8]) -> Result<(), Error> {
    match bytes.get(4..6) {
        Some(b"FT") => Ptd::read(bytes).map(drop),
        _ => Pte::read(bytes).map(drop),
    }
}

fn verdict<T>(result: &Result<T, Error>) -> &'static str {
    match result {
        Ok(_) => "read",
        Err(error) => error.code(),
    }
}

/// A header that is cut short: the error has the length of the whole header, at least the smallest one.
#[test]
fn cut_header_names_the_smallest_length_that_is_needed() {
    let formats: [(&[u8; 4], &[u8; 4], u64); 2] = [(b"ET12", b"eh00", 24), (b"FT01", b"FH01", 40)];
    for (identifier, magic, smallest) in formats {
        for claimed in 0..=64u32 {
            let mut bytes = [&[8, 0, 0, 0], &identifier[..], magic].concat();
            bytes.extend(claimed.to_le_bytes());
            bytes.resize(64, 0);
            // A data file needs the magic of its header too, or its length is not known to be wrong.
            for len in 16..8 + smallest as usize {
                let error = File::read_with(&bytes[..len], &Limits::UNTRUSTED).unwrap_err();
                if error.code() != "file-too-short" {
                    // A length below the smallest is an error by itself.
                    assert_eq!((error.code(), error.offset()), ("header-length", 12), "{claimed}");
                    assert!(u64::from(claimed) < smallest, "{claimed}");
                    let text = error.to_string();
                    assert!(text.contains(&format!("the minimum is {smallest}")), "{text}");
                    continue;
                }
                let needed = 8 + smallest.max(claimed.into());
                let text = format!("{len} bytes, and at least {needed} are needed");
                assert!(error.to_string().contains(&text), "{claimed}, {len}: {error}");
            }
            for len in 12..16 {
                let error = File::read_with(&bytes[..len], &Limits::UNTRUSTED).unwrap_err();
                let text = format!("{len} bytes, and at least {} are needed", 8 + smallest);
                assert!(error.to_string().contains(&text), "{claimed}, {len}: {error}");
            }
        }
    }
}
