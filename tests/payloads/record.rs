//! ETRecords: the members are found, with the kind of each, and odd archives are refused.

use std::convert::Infallible;
use std::ops::Range;

use pte::check::{Checker, Policy, Preset};
use pte::map::OtherFile;
use pte::payload::Sections;
use pte::payload::archive::Archive;
use pte::summary::{ContentSummary, Summary};
use pte::{ForeignFormat, Limits};

use crate::support::archive::{self, Member, archive};

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
        "too many members: the central directory has 5300057 bytes, and at most 4194304 are read";
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

/// Releases write numbers of more than 31 bits as ZIP64, since Python's `zipfile` does.
#[test]
fn a_record_of_many_gigabytes_is_read() {
    let sizes = [("ETRECORD_V0", 0), ("exported_program", 5 << 30), ("debug_handle_map", 2)];
    let file = archive::long(&sizes);
    let read = |range| Ok::<_, Infallible>(file.read(range));
    let Ok(found) = Sections::of_file(ForeignFormat::EtRecord, file.len, read);
    let found = found.unwrap().unwrap();
    let sizes: Vec<_> = found.sections.iter().map(|of| of.range.end - of.range.start).collect();
    assert_eq!(sizes, [5 << 30, 2, 0]);
    assert!(found.directory.unwrap() > 5 << 30);
}

/// Both records at the end have the place of the central directory: readers differ in which they use.
#[test]
fn the_two_ends_of_an_archive_agree() {
    let good = archive::torch(&[("a/data.pkl", b"x"), ("a/version", b"3")]);
    assert_eq!(Archive::of_bytes(&good).unwrap().members.len(), 2);
    let (end, locator, end64) = (good.len() - 22, good.len() - 42, good.len() - 98);
    let zip64 = "the ZIP64 end of central directory record";
    for (at, what) in [
        (end + 8, "the end of central directory record"),
        (end + 12, "the end of central directory record"),
        (end + 16, "the end of central directory record"),
        (end + 20, "the end of central directory record"),
        (locator + 4, zip64),
        (locator + 8, zip64),
        (locator + 16, zip64),
        (end64, zip64),
        (end64 + 4, zip64),
        (end64 + 16, zip64),
        (end64 + 24, zip64),
        (end64 + 40, "the end of central directory record"),
        (end64 + 48, "the end of central directory record"),
    ] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        let why = Archive::of_bytes(&bytes).unwrap_err().to_string();
        assert!(why.contains(what), "byte {at}: {why}");
    }
    for cut in 0..good.len() {
        assert!(Archive::of_bytes(&good[..cut]).is_err(), "cut to {cut}");
    }
}

/// Returns the members of the sample, by name.
fn sample() -> Vec<(String, Vec<u8>)> {
    let archive = Archive::of_bytes(SAMPLE).unwrap();
    let range = |range: Range<u64>| SAMPLE[range.start as usize..range.end as usize].to_vec();
    archive.members.into_iter().map(|of| (of.name, range(of.range))).collect()
}

/// Returns the sample after a change of its members.
fn changed(change: impl FnOnce(&mut Vec<(String, Vec<u8>)>)) -> Vec<u8> {
    let mut members = sample();
    change(&mut members);
    let members: Vec<Member<'_>> =
        members.iter().map(|(name, bytes)| (name.as_str(), &bytes[..], 0)).collect();
    archive(&members)
}

/// Returns the sample with other contents of a member, which is added if there is none.
fn with(name: &str, contents: &[u8]) -> Vec<u8> {
    changed(|members| match members.iter_mut().find(|(of, _)| of == name) {
        Some((_, bytes)) => *bytes = contents.to_vec(),
        None => members.push((name.into(), contents.to_vec())),
    })
}

/// Returns the findings, each with its rule.
fn findings(bytes: &[u8]) -> Vec<(&'static str, String)> {
    let report = Checker::new().check_payload(bytes).unwrap();
    let found = report.findings().iter().map(|of| (of.rule.id, of.message.to_string()));
    found.filter(|(rule, _)| *rule != "file-kind").collect()
}

#[track_caller]
fn is_broken(bytes: &[u8], rule: &str, part: &str) {
    let found = findings(bytes);
    let is_it = |(id, message): &(&str, String)| *id == rule && message.contains(part);
    assert!(found.iter().any(is_it), "{part}: {found:?}");
}

const STATE: &str = "exported_program_state_dict";

#[test]
fn genuine_members_have_no_finding() {
    assert_eq!(findings(SAMPLE), []);
    assert_eq!(findings(&changed(|_| {})), []);
    // The inspector takes an empty member for no tensors, and ignores members without a graph.
    assert_eq!(findings(&with(STATE, b"")), []);
    assert_eq!(findings(&with("x_state_dict", b"x")), []);
    assert_eq!(findings(&with("delegate_map", b" [NaN] ")), []);
}

#[test]
fn a_bit_that_is_changed_inside_a_member_is_seen() {
    for (name, bytes) in sample() {
        let at = SAMPLE.windows(bytes.len().max(1)).position(|part| part == bytes).unwrap_or(0);
        for nth in (0..bytes.len()).step_by(97) {
            let mut flipped = SAMPLE.to_vec();
            flipped[at + nth] ^= 4;
            is_broken(&flipped, "record-checksum", "the checksum is");
        }
        assert!(!name.is_empty());
    }
}

#[test]
fn graphs_and_maps_are_json() {
    is_broken(&with("exported_program", b"{\"a\": 1"), "record-json", "not valid JSON at byte 7");
    is_broken(&with("exported_program", b"[]"), "record-json", "a graph that is no object");
    is_broken(&with("debug_handle_map", b"{1: 2}"), "record-json", "not valid JSON at byte 1");
    is_broken(&with("delegate_map", &[b'['; 100_000]), "record-json", "not valid JSON");
    is_broken(&with("export_graph_id", b"\xff"), "record-json", "not valid JSON at byte 0");
}

#[test]
fn each_graph_has_its_tensors() {
    let without = |name: &'static str| changed(|all| all.retain(|(of, _)| of != name));
    is_broken(&without(STATE), "record-graph", "no member has this name and _state_dict");
    is_broken(&without("exported_program_constants"), "record-old", "and _constants");
    is_broken(&without("exported_program_example_inputs"), "record-old", "and _example_inputs");
    // Any other member is a graph for the inspector.
    is_broken(&with("note", b"{}"), "record-graph", "\"note\": no member has this name");
}

/// A pickle alone is what releases before 1.3 unpickled.
#[test]
fn pickles_are_named_and_refused_by_the_preset() {
    for name in [STATE, "reference_outputs", "representative_inputs"] {
        let bytes = with(name, b"\x80\x04N.");
        is_broken(&bytes, "record-pickle", "a bare pickle");
        let policy = Policy::new().preset(Preset::UNTRUSTED_UPLOAD);
        let report = Checker::new().policy(policy).check_payload(&bytes).unwrap();
        assert!(report.errors().any(|rule| rule.id == "record-pickle"));
    }
}

/// The members of an archive of `torch.save`.
type Members = Vec<(&'static str, &'static [u8])>;

#[test]
fn tensors_are_an_archive_that_pytorch_reads() {
    let plain: [(&str, &[u8]); 4] = [
        ("a/data.pkl", b"\x80\x02}q\0."),
        ("a/byteorder", b"little"),
        ("a/version", b"3\n"),
        ("a/data/0", b"abc"),
    ];
    let made = |change: &dyn Fn(&mut Members)| {
        let mut members: Members = plain.to_vec();
        change(&mut members);
        with(STATE, &archive::torch(&members))
    };
    assert_eq!(findings(&made(&|_| {})), []);
    assert_eq!(findings(&made(&|all| all[2].0 = "a/.data/version")), []);
    type Change = fn(&mut Members);
    let changes: [(&str, Change); 7] = [
        ("no data.pkl", |all| {
            all.remove(0);
        }),
        ("no version", |all| {
            all.remove(2);
        }),
        ("no version", |all| all[2].1 = b"11"),
        ("no version", |all| all[2].1 = b"x"),
        ("unknown byte order", |all| all[1].1 = b"middle"),
        ("not in one folder", |all| all[3].0 = "b/data/0"),
        ("TorchScript", |all| all.push(("a/constants.pkl", b""))),
    ];
    for (part, change) in changes {
        is_broken(&made(&change), "record-tensors", part);
    }
    for (part, bytes) in [
        ("invalid archive", archive::torch(&plain)[..400].to_vec()),
        ("a member is compressed", archive(&[("a/data.pkl", b"x", 8)])),
        ("not in one folder", archive(&[("data.pkl", b"x", 0)])),
        ("there are 5 bytes", b"hello".to_vec()),
    ] {
        is_broken(&with(STATE, &bytes), "record-tensors", part);
    }
    is_broken(&with("reference_outputs", b""), "record-tensors", "there are 0 bytes");
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
            "members overlap, are out of order or behind the central directory",
        ),
        (28, 0xffff, 0, "a member would not end in front of the central directory"),
        (end, 0, end, "the end of central directory record"),
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
