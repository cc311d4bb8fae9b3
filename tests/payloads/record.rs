//! ETRecords: the members are found, with the kind of each, and odd archives are refused.

use std::convert::Infallible;
use std::ops::Range;

use pte::map::OtherFile;
use pte::payload::Sections;
use pte::summary::{ContentSummary, Summary};
use pte::{ForeignFormat, Limits};

use crate::support::archive::{Member, archive};

/// A record that ExecuTorch 1.5.1 wrote, of two methods.
const SAMPLE: &[u8] = include_bytes!("../data/other/linear.etrecord");

/// Returns the kind and the name of each member.
fn members(bytes: &[u8]) -> Result<Vec<(&'static str, String)>, String> {
    let read =
        |range: Range<u64>| Ok::<_, Infallible>(&bytes[range.start as usize..range.end as usize]);
    let Ok(found) = Sections::of_file(ForeignFormat::EtRecord, bytes.len() as u64, read);
    let found = found.unwrap().map_err(|why| why.to_string())?;
    Ok(found.sections.into_iter().map(|of| (of.name, of.file.unwrap())).collect())
}

/// Returns the kinds of members, each with one byte, of a record.
fn kinds(names: &[&str]) -> Vec<&'static str> {
    let mut all: Vec<Member<'_>> = vec![("ETRECORD_V0", b"", 0)];
    all.extend(names.iter().map(|name| -> Member<'_> { (name, b"x", 0) }));
    let found = members(&archive(&all)).unwrap().into_iter().map(|(kind, _)| kind);
    found.filter(|kind| *kind != "ETRECORD_V0").collect()
}

fn methods(bytes: &[u8]) -> Vec<String> {
    let summary = Summary::read_other(&bytes, &Limits::UNTRUSTED).unwrap().unwrap().unwrap();
    let ContentSummary::Record(record) = summary.contents else { panic!("{summary:?}") };
    record.methods.iter().map(|method| method.raw().into()).collect()
}

#[test]
fn the_members_of_a_record_are_found() {
    let found = members(SAMPLE).unwrap();
    let edge = found.iter().filter(|(kind, _)| *kind == "edge_dialect_exported_program");
    let names: Vec<_> = edge.map(|(_, name)| name.as_str()).collect();
    let prefix = "edge_dialect_exported_program/";
    assert_eq!(names, [format!("{prefix}plus"), format!("{prefix}forward")]);
    assert_eq!(methods(SAMPLE), ["plus", "forward"]);
    assert_eq!(found.iter().filter(|(kind, _)| *kind == "state_dict").count(), 3);
    assert!(found.iter().all(|(kind, _)| *kind != "other member"), "{found:?}");
    // The empty member that names the format is listed too.
    assert_eq!(found.iter().filter(|(kind, _)| *kind == "ETRECORD_V0").count(), 1);
    let file = OtherFile::read(&SAMPLE, &Limits::UNTRUSTED).unwrap().unwrap().unwrap();
    assert_eq!(file.map().root().bytes(), SAMPLE.len() as u64);
}

/// The end of a name decides its kind only if the rest is the name of a graph.
#[test]
fn kinds_of_members_follow_from_the_other_names() {
    let edge = "edge_dialect_exported_program";
    assert_eq!(kinds(&[edge, "edge_dialect_exported_program_constants"]), [edge, "constants"]);
    let named = "edge_dialect_exported_program/my_constants";
    assert_eq!(kinds(&[named]), [edge]);
    assert_eq!(
        kinds(&["x_state_dict", "x", "edge"]),
        ["state_dict", "other member", "other member"]
    );
    assert_eq!(kinds(&["reference_outputs"]), ["reference_outputs"]);
}

/// Releases with one method wrote no name of it.
#[test]
fn a_graph_without_a_method_is_that_of_forward() {
    let bytes = archive(&[("ETRECORD_V0", b"", 0), ("edge_dialect_exported_program", b"x", 0)]);
    assert_eq!(methods(&bytes), ["forward"]);
}

#[test]
fn other_archives_are_refused() {
    let identifier: Member<'_> = ("ETRECORD_V0", b"", 0);
    for (what, bytes) in [
        ("no identifier", archive(&[("debug_handle_map", b"{}", 0)])),
        ("the same name", archive(&[identifier, identifier])),
        ("compressed", archive(&[identifier, ("debug_handle_map", b"{}", 8)])),
        ("nothing", Vec::new()),
    ] {
        assert!(members(&bytes).is_err(), "{what}");
    }
    for len in 0..SAMPLE.len() {
        assert!(members(&SAMPLE[..len]).is_err(), "cut to {len}");
    }
}

/// A directory of 4 MiB is refused before it is read. The file may be sound.
#[test]
fn a_long_directory_is_refused() {
    let names: Vec<_> = (0..50_000).map(|nth| format!("{nth:060}")).collect();
    let record = |count: usize| {
        let mut all: Vec<Member<'_>> = vec![("ETRECORD_V0", b"", 0)];
        all.extend(names[..count].iter().map(|name| -> Member<'_> { (name, b"x", 0) }));
        archive(&all)
    };
    assert_eq!(members(&record(30_000)).unwrap().len(), 30_001);
    let why = members(&record(50_000)).unwrap_err();
    let expected =
        "too many members: their directory has 5300057 bytes, and at most 4194304 are read";
    assert!(why.contains(expected), "{why}");
}

/// The reason is in the words of the tool that made the archive, and has the place in it.
#[test]
fn a_refused_record_says_what_is_wrong_with_it() {
    let identifier: Member<'_> = ("ETRECORD_V0", b"", 0);
    let map: Member<'_> = ("debug_handle_map", b"{}", 0);
    let names: Vec<_> = (0..60_000).map(|nth| format!("{nth:060}")).collect();
    let mut many = vec![identifier];
    many.extend(names.iter().map(|name| -> Member<'_> { (name, b"", 0) }));
    // 300 MB of zeros, of which the archive has two bytes: nothing is unpacked.
    let mut compressed = archive(&[identifier, ("debug_handle_map", b"\x03\0", 8)]);
    let directory = compressed.windows(4).rposition(|word| word == b"PK\x01\x02").unwrap();
    let local = compressed.windows(4).rposition(|word| word == b"PK\x03\x04").unwrap();
    for size in [local + 22, directory + 24] {
        compressed[size..size + 4].copy_from_slice(&300_000_000u32.to_le_bytes());
    }
    for (bytes, why) in [
        (archive(&[identifier, map, map]), "two members have the same name"),
        (compressed, "a member is compressed, and must be stored as it is"),
        (archive(&many), "too many members"),
    ] {
        let found = members(&bytes).unwrap_err();
        assert!(found.contains(why), "{found}");
    }
}

/// A header or a member that would be outside of the archive has the place of what says so.
#[test]
fn a_damaged_record_has_the_place_of_the_damage() {
    let whole = archive(&[("ETRECORD_V0", b"", 0), ("debug_handle_map", b"{}", 0)]);
    let directory = whole.windows(4).position(|word| word == b"PK\x01\x02").unwrap();
    let end = whole.len() - 22;
    for (at, value, place, why) in [
        (
            directory + 44,
            0xffff,
            directory,
            "members overlap, are out of order or behind the directory",
        ),
        (28, 0xffff, 0, "a member would not end in front of the directory"),
        (end, 0, end, "the end of the directory"),
    ] {
        let mut bytes = whole.clone();
        bytes[at..at + 2].copy_from_slice(&u16::to_le_bytes(value));
        let read = |range: Range<u64>| {
            Ok::<_, Infallible>(&bytes[range.start as usize..range.end as usize])
        };
        let Ok(found) = Sections::of_file(ForeignFormat::EtRecord, bytes.len() as u64, read);
        let found = found.unwrap().unwrap_err();
        assert!(found.to_string().contains(why), "{found}");
        assert_eq!(found.place(), Some((place as u64, "archive")), "{found}");
    }
}
