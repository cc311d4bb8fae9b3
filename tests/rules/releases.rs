//! Rules whose severity depends on the release.

use std::fs;

use pte::check::{Checker, Finding, Policy, Release, Report};
use pte::{File, Handle, Limits};
use serde_json::json;

use crate::support::fixture::Fixture;
use crate::support::snapshot::assert_snapshot;
use crate::support::{build, files};

fn judged_for(release: Release, file: &File<'_>) -> Report {
    Checker::new().policy(Policy::new().runtime(release)).check_tables(file)
}

/// Returns the findings that only the release causes.
fn release_findings(report: &Report) -> impl Iterator<Item = &Finding> {
    report.findings().iter().filter(|finding| finding.rule.subject == "release")
}

/// Each field that data needs, in a file that has it, for the last release without it and for the
/// first one with it.
#[test]
fn what_a_release_lacks_is_an_error_where_data_needs_it() {
    let judged = |json: &str, release| -> Vec<_> {
        let bytes = build::file(json);
        let opened = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
        let report = judged_for(release, &opened.file());
        let found = release_findings(&report);
        found.map(|f| (f.rule.id, f.place().path().to_string())).collect()
    };
    let tensor = |rest: &str| {
        let tensor = format!(r#"{{"val_type": "Tensor", "val": {{{rest}}}}}"#);
        format!(r#"{{"root": {{"execution_plan": [{{"values": [{tensor}]}}]}}}}"#)
    };
    let offsets = |offsets: &str| format!(r#"{{"segment_index": 0, "offsets": {offsets}}}"#);
    let program = |field: &str, value: &str| format!(r#"{{"root": {{"{field}": {value}}}}}"#);
    let value = "program.execution_plan[0].values[0].val<Tensor>";
    let (needs, newer) = ("needs-newer-runtime", "newer-than-runtime");
    let external = tensor(r#""extra_tensor_info": {"location": "EXTERNAL"}"#);
    let high = tensor(r#""allocation_info": {"memory_offset_high": 1}"#);
    let ptd = |kind: &str, root: &str| format!(r#"{{"kind": "{kind}", "root": {root}}}"#);
    let (info, allocation) =
        (format!("{value}.extra_tensor_info"), format!("{value}.allocation_info"));
    for (json, last, first, rule, path) in [
        (
            program("constant_segment", &offsets("[0, 0]")),
            (0, 1),
            (0, 2),
            needs,
            "program.constant_segment".into(),
        ),
        (high, (0, 1), (0, 2), needs, format!("{allocation}.memory_offset_high")),
        (
            program("mutable_data_segments", &format!("[{}]", offsets("[0, 16]"))),
            (0, 3),
            (0, 4),
            needs,
            "program.mutable_data_segments".into(),
        ),
        (external.clone(), (0, 4), (0, 5), needs, format!("{info}.location")),
        (
            program("named_data", r#"[{"key": "k"}]"#),
            (0, 5),
            (0, 6),
            needs,
            "program.named_data".into(),
        ),
        (
            ptd("ptd", r#"{"segments": [], "named_data": [{"key": "k"}]}"#),
            (0, 6),
            (0, 7),
            needs,
            "flat_tensor.named_data".into(),
        ),
        (
            ptd(
                "ptd-legacy",
                r#"{"tensors": [{"fully_qualified_name": "k"}], "segments": [], "named_data": []}"#,
            ),
            (0, 4),
            (0, 5),
            needs,
            "flat_tensor.tensors".into(),
        ),
        (
            tensor(r#""extra_tensor_info": {"fully_qualified_name": "w"}"#),
            (0, 3),
            (0, 4),
            newer,
            info.clone(),
        ),
        (
            tensor(r#""scalar_type": "UINT16""#),
            (0, 4),
            (0, 5),
            newer,
            format!("{value}.scalar_type"),
        ),
        (
            tensor(r#""extra_tensor_info": {"device_type": "CUDA"}"#),
            (1, 2),
            (1, 3),
            newer,
            format!("{info}.device_type"),
        ),
    ] {
        assert_eq!(judged(&json, last), [(rule, path)], "{json}");
        assert!(judged(&json, first).is_empty(), "{json}");
    }
    // The release ignores the whole table, since the table is as new as its fields.
    assert_eq!(judged(&external, (0, 3)), [(needs, info)]);
    // Ignoring a table without contents loses nothing.
    for json in [
        program("constant_segment", &offsets("[0]")),
        program("constant_segment", r#"{"offsets": []}"#),
        program("mutable_data_segments", &format!("[{}]", offsets("[]"))),
        program("named_data", "[]"),
        tensor(r#""extra_tensor_info": {"fully_qualified_name": ""}"#),
    ] {
        assert!(judged(&json, (0, 1)).is_empty(), "{json}");
    }
}

/// Three Notes that are Errors for some releases, and an Error that is none (format.md §1.3, §4.3, §11.3).
#[test]
fn some_rules_are_other_ones_for_some_releases() {
    let all = || pte::check::RULES.iter().flat_map(|rules| rules.iter());
    let of = |release| {
        let refused = all().filter(|rule| rule.is_refused_by(release)).map(|rule| rule.id);
        let taken = all().filter(|rule| rule.is_taken_by(release)).map(|rule| rule.id);
        (refused.collect::<Vec<_>>(), taken.collect::<Vec<_>>())
    };
    let (old, taken) = ("old-generation", "external-generation");
    assert_eq!(of((0, 4)), (vec![], vec![]));
    assert_eq!(of((0, 5)), (vec![], vec![taken]));
    let referenced = "xnnpack-named-referenced";
    assert_eq!(of((0, 6)), (vec![referenced], vec![taken]));
    assert_eq!(of((0, 7)), (vec![old, referenced], vec![]));
    assert_eq!(of((1, 4)), (vec![old, referenced], vec![]));
    assert_eq!(of((1, 5)), (vec!["constants-inline", old], vec![]));
}

/// The kernels of a release after the newest known one are taken to be those of the newest.
#[test]
fn dtypes_of_kernels_are_judged_for_the_releases_that_were_run() {
    let count = |dtype: &str, release| {
        let Fixture(mut file) = Fixture::read("operator-dtype.bad").unwrap();
        file.as_object_mut().unwrap().remove("runtime");
        file["root"]["execution_plan"][0]["values"][0]["val"]["scalar_type"] = json!(dtype);
        let bytes = build::file(&file.to_string());
        let opened = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
        let report = judged_for(release, &opened.file());
        release_findings(&report).filter(|found| found.rule.id == "operator-dtype").count()
    };
    let releases = [(1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (9, 0)];
    assert_eq!(releases.map(|release| count("HALF", release)), [0, 1, 1, 0, 0, 0]);
    assert_eq!(releases.map(|release| count("DOUBLE", release)), [0, 1, 1, 1, 1, 1]);
    assert_eq!(releases.map(|release| count("FLOAT", release)), [0; 6]);
}

/// The names of these files state the release that wrote them.
#[test]
fn genuine_files_are_known_to_the_release_that_wrote_them() {
    let mut seen = 0;
    for path in files::everything() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(version) = name.strip_prefix('v').and_then(|rest| rest.split_once('_')) else {
            continue;
        };
        let mut numbers = version.0.split('.').map(str::parse::<u32>);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { continue };
        let bytes = fs::read(&path).unwrap();
        let opened = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
        let report = judged_for((major, minor), &opened.file());
        assert!(release_findings(&report).next().is_none(), "{path:?}");
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}

/// In generation 0 the FlatBuffer begins behind the header, and findings in it have larger offsets.
#[test]
fn what_generation_0_has_too_early_is_reported_where_it_stands() {
    let bytes = files::read("tests/data/ptd/vgen1a_ptd_direct_16.ptd").unwrap();
    let opened = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
    let file = opened.file();
    let report = judged_for((0, 1), &file);
    assert!(release_findings(&report).next().is_some());
    for finding in release_findings(&report) {
        let spot = pte::map::ByteInfo::of(&file, finding.offset).unwrap();
        let (shown, found) = (spot.place().path().to_string(), finding.place().path().to_string());
        assert_eq!(shown, found, "{:#x}", finding.offset);
    }
}

/// The recorded verdicts of seven releases on the samples. A sample that a release runs must have no
/// Error for that release, and a sample that crashes it must have one. The snapshot lists samples
/// that do not run and have no Error.
#[test]
fn recorded_verdicts_of_releases_agree() {
    let recorded = files::read_to_string("tests/data/releases.jsonl").unwrap();
    let mut unjudged = String::new();
    let mut ran = 0;
    for line in recorded.lines() {
        let row: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        let name = row["file"].as_str().unwrap();
        let bytes = files::read(format!("tests/data/pte/{name}")).unwrap();
        let handle = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
        let mut silent = Vec::new();
        for (release, verdict) in row.iter().filter(|(key, _)| *key != "file") {
            let (major, minor) = release.split_once('.').unwrap();
            let version = (major.parse().unwrap(), minor.parse().unwrap());
            let checker = Checker::new().policy(Policy::new().runtime(version));
            let report = checker.check(&handle).unwrap();
            let errors: Vec<_> = report.errors().map(|rule| rule.id).collect();
            let verdict = verdict.as_str().unwrap();
            if verdict == "ok" {
                ran += 1;
                assert!(errors.is_empty(), "{name} runs in {release}: {errors:?}");
            } else if errors.is_empty() {
                silent.push(format!("{release} {verdict}"));
            }
        }
        if !silent.is_empty() {
            unjudged += &format!("{name}: {}\n", silent.join(", "));
        }
    }
    assert!(ran > 500, "{ran} verdicts");
    assert_snapshot("release_verdicts_without_errors", &unjudged);
}
