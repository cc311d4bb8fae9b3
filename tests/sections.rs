//! Payloads without a known FlatBuffer: their sections, and the results of damaged headers.

use core::convert::Infallible;
use core::ops::Range;

use pte::Backend;
use pte::payload::{Sections, Unreadable};

use crate::support::build::vela_block;
use crate::support::files;

/// Finds the sections of a payload, and counts the bytes that were read.
fn sections(backend: Backend, bytes: &[u8]) -> (Result<Sections, Unreadable>, u64) {
    let mut read = 0;
    let found = Sections::of(backend, bytes.len() as u64, |range: Range<u64>| {
        read += range.end - range.start;
        Ok::<_, Infallible>(&bytes[range.start as usize..range.end as usize])
    });
    let Ok(found) = found;
    (found.unwrap(), read)
}

fn ethosu(blocks: &[Vec<u8>]) -> Vec<u8> {
    let (start, end) =
        (vela_block("vela_bin_stream", 0, b""), vela_block("vela_end_stream", 0, b""));
    [start, blocks.concat(), end].concat()
}

fn commands() -> Vec<u8> {
    vela_block("cmd_data", 0, b"COP1 and more bytes")
}

fn vgf() -> Vec<u8> {
    let mut bytes = b"VGF1\0\0\0\0\0\x05\0\0\0\0\0\0".to_vec();
    for (start, size) in [(128u64, 4u64), (132, 8), (140, 0), (140, 20)] {
        bytes.extend(start.to_le_bytes());
        bytes.extend(size.to_le_bytes());
    }
    bytes.resize(160, 0);
    bytes
}

fn openvino() -> Vec<u8> {
    let text = b"meta=1.0;ov=2026.4.1;isa=AVX";
    let mut bytes = b"RR_UPCVO\x01\0\0\0".to_vec();
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text);
    for number in [48u64, 2, 50, 3, 53, 5] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([7; 10]);
    bytes
}

fn qnn(start: usize) -> Vec<u8> {
    let mut bytes = 0x5678_abcd_u32.to_le_bytes().to_vec();
    bytes.extend([1; 8]);
    bytes.extend(9u64.to_le_bytes());
    bytes.resize(start, 0);
    bytes.extend([7; 9]);
    bytes
}

fn qcir() -> Vec<u8> {
    let mut bytes = 0x1234_abcd_u32.to_le_bytes().to_vec();
    bytes.extend(5u32.to_le_bytes());
    bytes.extend(6u64.to_le_bytes());
    bytes.extend([7; 11]);
    bytes
}

fn neuropilot() -> Vec<u8> {
    let mut bytes = vec![1];
    for number in [2u32, 1, 6] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([7; 6]);
    bytes
}

/// One payload of each form.
fn samples() -> Vec<(Backend, Vec<u8>)> {
    let blocks = [
        commands(),
        vela_block("weight_data", 1, &[b'a'; 64]),
        vela_block("scratch_size", 0, &640u32.to_le_bytes()),
        vela_block("inputs", 0, &[0; 4]),
    ];
    vec![
        (Backend::EthosU, ethosu(&blocks)),
        (Backend::Vgf, vgf()),
        (Backend::OpenVino, openvino()),
        (Backend::Qnn, qnn(20)),
        (Backend::Qnn, qnn(256)),
        (Backend::Qnn, qcir()),
        (Backend::Neuropilot, neuropilot()),
    ]
}

#[test]
fn sections_are_where_the_header_says() {
    let found: Vec<_> = samples()
        .into_iter()
        .map(|(backend, bytes)| sections(backend, &bytes).0.unwrap())
        .map(|found| {
            let ranges = found.sections.iter();
            let ranges: Vec<_> = ranges.map(|of| (of.name, of.range.clone())).collect();
            (found.version, found.target, found.scratch, ranges)
        })
        .collect();
    let text = |text: &str| Some(text.to_string());
    let blocks = vec![
        ("cmd_data", 64..83),
        ("weight_data", 128..192),
        ("scratch_size", 224..228),
        ("inputs", 272..276),
    ];
    let tables = vec![
        ("modules", 128..132),
        ("sequence", 132..140),
        ("resources", 140..140),
        ("constants", 140..160),
    ];
    let parts = vec![("custom data", 96..98), ("constants", 98..101), ("model", 101..106)];
    assert_eq!(
        found,
        [
            (text("COP1"), None, Some(640), blocks),
            (text("0.5.0"), None, None, tables),
            (text("2026.4.1"), text("AVX"), None, parts),
            (None, None, None, vec![("context binary", 20..29)]),
            (None, None, None, vec![("context binary", 256..265)]),
            (None, None, None, vec![("graph", 16..21), ("tensors", 21..27)]),
            (text("1"), None, None, vec![("model", 13..19)]),
        ]
    );
}

#[test]
fn a_block_may_have_its_contents_in_named_data() {
    let (found, _) = sections(Backend::EthosU, &samples()[0].1);
    assert_eq!(found.unwrap().sections[1].key, Some("a".repeat(64)));
    let short = ethosu(&[vela_block("weight_data", 1, &[b'a'; 63])]);
    assert_eq!(sections(Backend::EthosU, &short).0, Err(Unreadable::Block { at: 32 }));
}

#[test]
fn streams_that_the_backend_refuses_are_invalid() {
    let refused = |bytes: &[u8]| sections(Backend::EthosU, bytes).0.unwrap_err();
    let unknown = ethosu(&[commands(), vela_block("weights", 0, b"")]);
    assert_eq!(refused(&unknown), Unreadable::Block { at: 96 });
    let twice = ethosu(&[vela_block("vela_bin_stream", 0, b"")]);
    assert_eq!(refused(&twice), Unreadable::Block { at: 32 });
    assert_eq!(refused(&commands()), Unreadable::Block { at: 0 });
    let magic = ethosu(&[vela_block("cmd_data", 0, b"COP3")]);
    assert_eq!(refused(&magic), Unreadable::Magic { magic: *b"COP3" });
    let more = [ethosu(&[]), commands()].concat();
    assert!(matches!(refused(&more), Unreadable::Part { name: "vela_end_stream", .. }));
}

/// A payload without a container is opaque; every other form is refused when its end is missing.
#[test]
fn a_truncated_payload_is_refused_at_every_byte() {
    for (backend, bytes) in samples() {
        for len in 0..bytes.len() {
            let (found, _) = sections(backend, &bytes[..len]);
            let is_complete = match backend {
                // Cut there, it has the size of the form without padding.
                Backend::Qnn => len < 4 || (len == 29 && bytes.len() == 265),
                Backend::OpenVino => len < 8,
                _ => false,
            };
            assert_eq!(found.is_ok(), is_complete, "{backend:?} of {len} bytes: {found:?}");
        }
    }
}

/// For any number in a header, sections lie in the payload, and only few bytes are read.
#[test]
fn sizes_at_their_extremes_are_bounded() {
    let extremes = [0u64, 1, 0x7fff_ffff, 0xffff_fff1, u64::MAX >> 1, u64::MAX - 15, u64::MAX];
    let mut refused = 0;
    for (backend, bytes) in samples() {
        for at in 0..bytes.len() {
            for (extreme, width) in extremes.into_iter().flat_map(|of| [(of, 4), (of, 8)]) {
                let mut damaged = bytes.clone();
                let end = (at + width).min(bytes.len());
                damaged[at..end].copy_from_slice(&extreme.to_le_bytes()[..end - at]);
                let (found, read) = sections(backend, &damaged);
                assert!(read < 1000, "{backend:?} at {at}: {read} bytes");
                let Ok(found) = found else {
                    refused += 1;
                    continue;
                };
                for section in found.sections {
                    assert!(section.range.start <= section.range.end, "{backend:?} at {at}");
                    assert!(section.range.end <= bytes.len() as u64, "{backend:?} at {at}");
                }
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_stream_of_many_blocks_is_read_to_a_bound() {
    let most = ethosu(&vec![vela_block("inputs", 0, b""); Sections::MOST]);
    assert_eq!(sections(Backend::EthosU, &most).0.unwrap().sections.len(), Sections::MOST);
    let more = ethosu(&vec![vela_block("inputs", 0, b""); 100_000]);
    let (found, read) = sections(Backend::EthosU, &more);
    assert_eq!(found, Err(Unreadable::Sections { most: Sections::MOST }));
    assert!(read < 3000, "{read}");
}

#[test]
fn genuine_payloads_have_sections() {
    let Some(corpus) = files::corpus() else { return };
    let Ok(entries) = std::fs::read_dir(corpus.join("../payloads/genuine")) else { return };
    let mut read = 0;
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = files::name(&path);
        let (backend, most) = match name.split_once("__") {
            Some(("ethosu", _)) => (Backend::EthosU, 5),
            Some(("vgf", _)) => (Backend::Vgf, 4),
            Some(("openvino", _)) => (Backend::OpenVino, 3),
            _ => continue,
        };
        let (found, _) = sections(backend, &std::fs::read(&path).unwrap());
        let found = found.unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(found.sections.len(), most, "{name}");
        assert!(found.version.is_some(), "{name}");
        assert_eq!(found.scratch.is_some(), backend == Backend::EthosU, "{name}");
        read += 1;
    }
    assert!(read > 5, "{read} payloads");
}
