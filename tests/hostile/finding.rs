//! Legal files with findings: for each rule of the layout the files that break it, and the place.

use core::fmt::Write;
use std::collections::BTreeMap;

use pte::Check;
use pte::check::{Checker, Finding, RULES, Rule};
use pte::{File, Limits};

use super::read;
use super::structure::value;
use crate::support::asm::{Asm, ptd, pte, pte_with_header, pte_without_header};
use crate::support::snapshot::assert_snapshot;

/// A file that breaks one rule of the layout: the rule, the file in words, and the place.
type Broken = (&'static str, &'static str, Asm, &'static str);

fn broken() -> Vec<Broken> {
    [numbers(), tables(), header(), newer()].into_iter().flatten().collect()
}

fn numbers() -> Vec<Broken> {
    let bools = |asm: Asm| asm.link("items").vector("items", 1, 4).bytes([0, 1, 2, 3]);
    vec![
        (
            "bool-byte",
            "A bool of 255",
            value("Bool", |asm| asm.table("value", 5, &[4]).label("bool_val").u8(255)),
            "bool_val",
        ),
        (
            "bool-byte",
            "A list of bools, the third of which is 2",
            value("BoolList", |asm| bools(asm.table("value", 8, &[4]))),
            "items*+6",
        ),
        (
            "empty-vector-misaligned",
            "An empty vector of 8-byte numbers, as flatc writes it",
            value("IntList", |asm| {
                asm.table("value", 8, &[4]).link("items").label("items*").u32(0)
            }),
            "items*+4",
        ),
    ]
}

fn tables() -> Vec<Broken> {
    let overlap = "fields-overlap";
    let small = "object-size-too-small";
    vec![
        (
            overlap,
            "A segment whose offset and size are the same bytes",
            pte_without_header().patch("segment^+4", [16, 0]),
            "segment*+16",
        ),
        (
            overlap,
            "A dtype on the last byte of the offset to its sizes",
            pte().patch("tensor^+4", [11, 0]),
            "tensor*+11",
        ),
        (
            small,
            "A plan that declares all but its last byte",
            pte().patch("plan^+2", [35, 0]),
            "plan^",
        ),
        (
            small,
            "A segment that declares nothing but its first word",
            pte().patch("segment^+2", [4, 0]),
            "segment^",
        ),
        (
            small,
            "A .ptd whose tensor declares too little",
            ptd().patch("named^+2", [15, 0]),
            "named^",
        ),
        ("tables-many", "A million segments that are one", segments(1_000_000), "program*"),
    ]
}

/// A program with the same empty segment, `n` times: as many are read only of trusted files.
fn segments(n: u32) -> Asm {
    let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &[0, 0, 0, 0, 4]);
    let asm = asm.link("segments").vector("segments", 4, n);
    // After the list come a vtable of 4 bytes and, at a multiple of 8, the table.
    let first = asm.position() as u32;
    let table = (first + 4 * n + 4).next_multiple_of(8);
    let offsets: Vec<_> = (0..n).flat_map(|nth| (table - first - 4 * nth).to_le_bytes()).collect();
    asm.bytes(offsets).table("segment", 4, &[])
}

#[test]
fn a_million_tables_is_not_too_many() {
    let finds = |n: u32| {
        let bytes = segments(n).finish();
        layout_findings(&File::read_with(&bytes, &Limits::TRUSTED).unwrap())
            .any(|found| found.contains("tables-many"))
    };
    assert!(!finds(999_999), "and the root");
    assert!(finds(1_000_000));
}

fn header() -> Vec<Broken> {
    let vtable = [8, 0, 12, 0, 4, 0, 8, 0];
    let referenced = "header-referenced";
    let padding = "padding-not-zero";
    vec![
        (
            referenced,
            "A vtable in the bytes of a header longer than the known ones",
            pte_with_header(40)
                .patch("header.rest", vtable)
                .point_back("values[0]*", "header.rest"),
            "header.rest",
        ),
        (padding, "A letter behind the header", padded(b"\0\0\0\0\0\0\0x"), "padding+7"),
        (
            padding,
            "A letter in the padding of a .ptd",
            ptd().patch("header.padding", b"x"),
            "header.padding",
        ),
        (
            padding,
            "A letter where a header might be, before the first vtable",
            Asm::new().link("program").bytes(b"ET12").label("padding").bytes(b"ab\0\0").table(
                "program",
                4,
                &[],
            ),
            "padding",
        ),
    ]
}

/// A program with a header and these bytes behind it.
fn padded(padding: &[u8]) -> Asm {
    Asm::new()
        .link("program")
        .bytes(b"ET12")
        .extended_header(32)
        .label("padding")
        .bytes(padding)
        .table("program", 4, &[])
        .segments(&[])
}

/// Padding is read as far as the largest alignment of segments.
#[test]
fn each_byte_of_the_padding_is_zero() {
    for at in [0, 1, 63, 64, 100, 1023, 1024, 4088] {
        let mut padding = vec![0; 4096];
        padding[at] = b'x';
        let asm = padded(&padding);
        let place = asm.at("padding") + at as u64;
        let bytes = asm.finish();
        let report = read(&bytes).unwrap().check();
        let found = report.findings().iter().find(|found| found.rule.id == "padding-not-zero");
        assert_eq!(found.map(|found| found.offset), Some(place), "{at}");
    }
}

fn newer() -> Vec<Broken> {
    let field = "unknown-field";
    let program = |slots: &[u16], fields: usize| {
        let asm = Asm::new().link("program").bytes(b"ET12");
        asm.table("program", 28, slots).zeros(fields)
    };
    vec![
        (
            field,
            "A field behind the last of the root",
            program(&[0, 0, 0, 0, 0, 0, 0, 0, 8], 8),
            "program^+20",
        ),
        (
            field,
            "Two fields a few slots further on",
            program(&[[0; 10], [0, 4, 0, 0, 0, 0, 0, 12, 0, 0]].concat(), 12),
            "program^+26",
        ),
        (
            field,
            "A field of a table that has none",
            value("Null", |asm| asm.table("value", 8, &[4]).u32(7)),
            "value^+4",
        ),
        (
            field,
            "A field that would lie past the file",
            value("Null", |asm| asm.table("value", 8, &[0xffff])),
            "value^+4",
        ),
    ]
}

#[test]
fn every_rule_of_the_layout_is_broken_somewhere() {
    let mut by_rule: BTreeMap<&str, Vec<Broken>> = BTreeMap::new();
    for broken in broken() {
        by_rule.entry(broken.0).or_default().push(broken);
    }
    let broken: Vec<&str> = by_rule.keys().copied().collect();
    let known: Vec<&str> = rules_of_the_layout().map(|rule| rule.id).collect();
    assert_eq!(broken, known, "a rule without a case, or a case without a rule");
    for rule in rules_of_the_layout() {
        let id = rule.id;
        let mut text = format!("{}\n{}\n", rule.what, rule.why);
        for (_, what, asm, place) in &by_rule[id] {
            let bytes = asm.finish();
            let file = File::read_with(&bytes, &Limits::TRUSTED);
            let file = file.unwrap_or_else(|error| panic!("{what}: {error}"));
            let report = file.check();
            let findings: Vec<_> =
                report.findings().iter().filter(|finding| finding.rule.id == id).collect();
            let [finding] = findings[..] else { panic!("{what}: {findings:?}") };
            assert_eq!(finding.offset, asm.at(place), "{what}");
            writeln!(text, "\n{what}\n  {}", reported(finding)).unwrap();
        }
        assert_snapshot(&format!("finding-{id}"), &text);
    }
}

/// Each of the 256 dtype codes is tried in a tensor of two elements with 8 bytes of data. A known
/// code has the right element size, and any other code is reported (format.md §5).
#[test]
fn every_dtype_is_known_or_reported() {
    let known = |code: u8| match code {
        0 | 1 | 11..=13 | 16..=21 | 23..=26 => Some(1),
        2 | 5 | 15 | 22 | 27 => Some(2),
        3 | 6 | 8 | 14 | 28 => Some(4),
        4 | 7 | 9 | 29 => Some(8),
        10 => Some(16),
        _ => None,
    };
    let found = |asm: Asm, code: u8| {
        let bytes = asm.patch("scalar_type", [code]).finish();
        let report = read(&bytes).unwrap().check();
        let ids = report.findings().iter().map(|finding| finding.rule.id);
        let of_dtypes = ["tensor-dtype", "layout-dtype", "data-out-of-bounds"];
        let all = [&of_dtypes[..], &["data-too-short", "data-too-long"]].concat();
        ids.filter(|id| all.contains(id)).collect::<Vec<_>>()
    };
    for code in 0..=255 {
        let (program, data): (&[&str], &[&str]) = match known(code) {
            None => (&["tensor-dtype"], &["layout-dtype"]),
            Some(1 | 2) => (&[], &["data-too-long"]),
            Some(4) => (&[], &[]),
            Some(_) => (&["data-out-of-bounds"], &["data-too-short"]),
        };
        assert_eq!(found(pte(), code), program, "{code}");
        assert_eq!(found(ptd(), code), data, "{code}");
    }
}

#[test]
fn one_finding_does_not_hide_another() {
    let asm = pte_with_header(36).patch("header.rest", [8, 0, 12, 0, 4, 0, 8, 0]);
    let asm = asm.point_back("values[0]*", "header.rest");
    let report = read(&asm.finish()).unwrap().check();
    let ids: Vec<&str> = report.findings().iter().map(|finding| finding.rule.id).collect();
    assert!(ids.contains(&"header-referenced") && ids.contains(&"padding-not-zero"), "{ids:?}");
}

#[test]
fn a_sound_file_has_no_findings_of_the_layout() {
    for asm in [pte(), pte_without_header(), ptd()] {
        let findings: Vec<String> = layout_findings(&read(&asm.finish()).unwrap()).collect();
        assert!(findings.is_empty(), "{findings:?}");
    }
}

#[test]
fn findings_are_kept_up_to_the_limit_and_counted_beyond() {
    let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &[0, 0, 0, 0, 4]);
    let asm = asm.link("segments").vector("segments", 4, 10);
    let asm = (0..10).fold(asm, |asm, _| asm.u32_to("segment*"));
    let bytes = asm.table("segment", 4, &[8, 16]).zeros(20).finish();
    let file = read(&bytes).unwrap();
    for (limit, kept) in [(0, 0), (1, 1), (9, 9), (10, 10), (11, 10)] {
        let report = Checker::new()
            .limits(Limits { findings_per_rule: limit, ..Limits::UNTRUSTED })
            .check_tables(&file);
        let small = |id: &str| id == "object-size-too-small";
        let found = report.findings().iter().filter(|finding| small(finding.rule.id)).count();
        assert_eq!(found, kept, "{limit}");
        let counted = report.counts().find(|(rule, _)| small(rule.id)).map(|(_, count)| count);
        assert_eq!(counted, Some(10), "{limit}");
    }
}

/// A method that is listed twice is judged once.
#[test]
fn the_same_table_listed_again_is_no_other_method() {
    let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &[0, 4]).link("plans");
    let asm = asm.vector("plans", 4, 3).u32_to("plan*").u32_to("other*").u32_to("plan*");
    let asm = asm.table("plan", 8, &[4]).link("name").string("name", b"forward");
    let bytes = asm.table("other", 4, &[]).finish();
    let report = read(&bytes).unwrap().check();
    let count = |id: &str| report.counts().find(|(rule, _)| rule.id == id).map(|(_, count)| count);
    assert_eq!(count("plan-chains-missing"), Some(2));
    assert_eq!(count("plan-name-duplicate"), Some(1));
}

/// Returns the findings of these rules, a line each.
pub(super) fn layout_findings(file: &File<'_>) -> impl Iterator<Item = String> {
    let found = file.check().findings().to_vec();
    let found = found.into_iter().filter(|finding| finding.rule.subject == "layout");
    found.map(|finding| reported(&finding).replace("\n    ", " "))
}

fn reported(finding: &Finding) -> String {
    let Finding { rule, message, .. } = finding;
    format!("{}[{}]: {message}\n    at {}", rule.severity, rule.id, finding.place())
}

/// The rules about the layout. They do not depend on the meaning of a file.
fn rules_of_the_layout() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().copied().flatten().copied().filter(|rule| rule.subject == "layout")
}
