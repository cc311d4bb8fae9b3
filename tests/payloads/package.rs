//! `.ptn` packages: archives that are not as their writer makes them are refused.

use std::convert::Infallible;
use std::ops::Range;

use pte::check::Checker;
use pte::map::OtherFile;
use pte::payload::{Sections, Tables, TablesPlace};
use pte::{ForeignFormat, Limits};

use crate::support::archive::archive;

const SAMPLE: &[u8] = include_bytes!("../data/other/n_alias.ptn");
const GRAPH: Range<usize> = 41..1585;

fn members(bytes: &[u8]) -> Result<Vec<(&'static str, Range<u64>)>, String> {
    let read =
        |range: Range<u64>| Ok::<_, Infallible>(&bytes[range.start as usize..range.end as usize]);
    let Ok(found) = Sections::of_file(ForeignFormat::Ptn, bytes.len() as u64, read);
    let found = found.unwrap().map_err(|why| why.to_string())?;
    Ok(found.sections.into_iter().map(|section| (section.name, section.range)).collect())
}

fn graph(bytes: &[u8]) -> Option<TablesPlace> {
    TablesPlace::of(&bytes[..bytes.len().min(64)], bytes.len() as u64)?.ok()
}

#[test]
fn the_members_of_a_package_are_found() {
    let wanted = [("program.ptg", 41..1585), ("program.safetensors", 1634..1714)];
    let last = ("aliases.json", 1756..1770);
    assert_eq!(members(SAMPLE), Ok([&wanted[..], &[last]].concat()));
    let place = graph(SAMPLE).unwrap();
    assert_eq!(place.range, 41..1585);
    assert!(Tables::read(&place, &SAMPLE[GRAPH], &Limits::UNTRUSTED).is_ok());
    assert!(Checker::new().check_payload(SAMPLE).is_ok());
}

/// The graph begins at byte 41: its alignment is relative to itself.
#[test]
fn an_archive_of_the_same_members_is_a_package() {
    let bytes = archive(&[("program.ptg", &SAMPLE[GRAPH], 0), ("else", b"x", 0)]);
    let found = members(&bytes).unwrap();
    assert_eq!(found, [("program.ptg", 41..1585), ("other member", 1619..1620)]);
    let file = OtherFile::read(&bytes.as_slice(), &Limits::UNTRUSTED).unwrap().unwrap().unwrap();
    assert_eq!(file.map().root().bytes(), bytes.len() as u64);
    assert_eq!(file.sections().len(), 2);
}

#[test]
fn other_archives_are_refused() {
    let graph = ("program.ptg", &SAMPLE[GRAPH], 0);
    for (what, bytes) in [
        ("no graph", archive(&[("aliases.json", b"{}", 0)])),
        ("not the first", archive(&[("aliases.json", b"{}", 0), graph])),
        ("the same name", archive(&[graph, graph])),
        ("compressed", archive(&[graph, ("aliases.json", b"{}", 8)])),
        ("no members", archive(&[])),
        ("nothing", Vec::new()),
    ] {
        assert!(members(&bytes).is_err(), "{what}");
    }
    let compressed = archive(&[("program.ptg", &SAMPLE[GRAPH], 8)]);
    assert!(self::graph(&compressed).is_none());
    let last = archive(&[("aliases.json", b"{}", 0), graph]);
    assert_eq!(ForeignFormat::of(&last), ForeignFormat::Ptn);
    assert!(self::graph(&last).is_none());
    assert!(Checker::new().check_payload(&last).is_err());
}

/// Every byte that a reader of archives could take for another size or place.
#[test]
fn a_directory_that_differs_from_the_headers_is_refused() {
    let bytes = archive(&[("program.ptg", &SAMPLE[GRAPH], 0), ("aliases.json", b"{}", 0)]);
    assert!(members(&bytes).is_ok());
    let (first, second, end) = (1629, 1629 + 57, bytes.len() - 22);
    assert_eq!(bytes[first..first + 4], *b"PK\x01\x02");
    assert_eq!(bytes[second..second + 4], *b"PK\x01\x02");
    for at in [
        // Flags, method, sizes, the length of the name, the offset, and the name.
        first + 8,
        first + 10,
        first + 20,
        first + 24,
        first + 28,
        first + 30,
        first + 32,
        first + 42,
        first + 46,
        second + 8,
        second + 24,
        second + 42,
        second + 50,
        // The end: disks, counts, size, offset, and the length of the comment.
        end,
        end + 4,
        end + 8,
        end + 10,
        end + 12,
        end + 16,
        end + 20,
        // Local headers.
        6,
        8,
        18,
        22,
        26,
        30,
        1585 + 6,
        1585 + 22,
        1585 + 26,
    ] {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(members(&changed).is_err(), "byte {at}");
    }
    let mut trailing = bytes.clone();
    trailing.push(0);
    assert!(members(&trailing).is_err());
    for len in 0..SAMPLE.len() {
        assert!(members(&SAMPLE[..len]).is_err(), "cut to {len}");
    }
}
