//! The SARIF of `pte check`.

use std::fs;

use serde_json::Value;

use super::super::{pte, run};
use super::{OTHER, PROGRAM, UNSOUND};
use crate::support::{build, files};

/// The output parses as SARIF, and the rule of every result is described.
#[test]
fn sarif_follows_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(files::path(UNSOUND), folder.path().join("unsound model.pte")).unwrap();
    fs::write(folder.path().join("cut.pte"), &files::read(UNSOUND).unwrap()[..500]).unwrap();
    let args = ["check", "--format", "sarif", "."];
    let done = run(&args, Some(folder.path()), b"");
    assert_eq!(done.status.code(), Some(1));
    let plain: Value = serde_json::from_slice(&done.stdout).unwrap();
    let invocation = &plain["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], true, "everything was read and judged");
    assert_eq!(invocation["toolExecutionNotifications"], serde_json::json!([]));
    let args = [&args[..], &["no-such.pte"]].concat();
    let done = run(&args, Some(folder.path()), b"");
    assert_eq!(done.status.code(), Some(3));
    let sarif: serde_sarif::sarif::Sarif = serde_json::from_slice(&done.stdout).unwrap();
    let results = sarif.runs[0].results.as_ref().unwrap();
    let rules = sarif.runs[0].tool.driver.rules.as_ref().unwrap();
    assert!(results.len() > 5);
    for result in results {
        let id = result.rule_id.as_ref().unwrap();
        assert!(rules.iter().any(|rule| rule.id == *id), "{id}");
    }
    let plain: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(plain["version"], "2.1.0");
    let uris: Vec<_> = plain["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone())
        .collect();
    assert!(uris.contains(&"./unsound%20model.pte".into()) && uris.contains(&"./cut.pte".into()));
    let invocation = &plain["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notes = invocation["toolExecutionNotifications"].as_array().unwrap();
    assert_eq!(notes.len(), 1);
    let uri = &notes[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!((uri.as_str(), notes[0]["level"].as_str()), (Some("no-such.pte"), Some("error")));
}

/// In a SARIF message, `[text](target)` would become a link.
#[test]
fn sarif_messages_have_no_links() {
    let name = serde_json::json!({"key": "[a](http://e.org)", "segment_index": 0});
    let root = serde_json::json!({"segments": [{"size": 8}], "named_data": [name, name]});
    let file = serde_json::json!({"kind": "ptd", "root": root, "data": [{"zeros": 8}]});
    let done = run(&["check", "--format", "sarif", "-"], None, &build::file(&file.to_string()));
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let results = shown["runs"][0]["results"].as_array().unwrap();
    let messages: Vec<_> = results.iter().map(|r| r["message"]["text"].as_str().unwrap()).collect();
    assert!(messages.iter().any(|text| text.contains("[a] (http://e.org)")), "{messages:?}");
    assert!(messages.iter().all(|text| !text.contains("](")), "{messages:?}");
}

/// Names that are not UTF-8 stay distinct, and unusual characters are kept.
#[cfg(unix)]
#[test]
fn json_and_sarif_paths_are_the_file_names() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let names: [&[u8]; 5] =
        [b"a\xfe.pte", b"a\xff.pte", b"b\\c.pte", b"d e#f?.pte", "g\u{202e}\n.pte".as_bytes()];
    for name in names {
        fs::copy(files::path(PROGRAM), folder.path().join(OsStr::from_bytes(name))).unwrap();
    }
    let done = run(&["check", "--json", "."], Some(folder.path()), b"");
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let paths: Vec<_> = shown["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    let expected =
        ["./a\\xfe.pte", "./a\\xff.pte", "./b\\c.pte", "./d e#f?.pte", "./g\u{202e}\n.pte"];
    assert_eq!(paths, expected);
    fs::write(folder.path().join("b\\c.pte"), "").unwrap();
    let done = run(&["check", "--format", "sarif", "b\\c.pte"], Some(folder.path()), b"");
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let place = &shown["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "b%5Cc.pte");
}

/// A file name has each printable ASCII character, including `%`. Its URI decodes to the same name.
#[cfg(unix)]
#[test]
fn sarif_uris_decode_to_the_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let characters = (b' '..=b'~').map(char::from).filter(|&c| c != '/');
    let mut names: Vec<_> = characters.map(|c| format!("a{c}25.pte")).collect();
    for name in &names {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let done = run(&["check", "--format", "sarif", "."], Some(folder.path()), b"");
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let results = shown["runs"][0]["results"].as_array().unwrap();
    let decoded = results.iter().map(|result| {
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        let uri = place["uri"].as_str().unwrap();
        assert!(uri.bytes().all(|c| c.is_ascii_alphanumeric() || b"/.-_~%".contains(&c)), "{uri}");
        let mut parts = uri.strip_prefix("./").unwrap().split('%');
        let mut name = parts.next().unwrap().to_string();
        for part in parts {
            let (digits, rest) = part.split_at(2);
            name.push(char::from(u8::from_str_radix(digits, 16).unwrap()));
            name.push_str(rest);
        }
        name
    });
    let mut decoded: Vec<_> = decoded.collect();
    decoded.sort_unstable();
    names.sort_unstable();
    assert_eq!(decoded, names);
}

/// A name that is not UTF-8 keeps its bytes in the URI.
#[cfg(target_os = "linux")]
#[test]
fn sarif_uris_have_the_bytes_of_names_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"\xff.pte")), "").unwrap();
    fs::write(folder.path().join("with\\xff.pte"), "").unwrap();
    let done = run(&["check", "--format", "sarif", "."], Some(folder.path()), b"");
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let results = shown["runs"][0]["results"].as_array().unwrap().iter();
    let uris = results.map(|result| {
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        place["uri"].as_str().unwrap().to_string()
    });
    let mut uris: Vec<_> = uris.collect();
    uris.sort_unstable();
    assert_eq!(uris, ["./%FF.pte", "./with%5Cxff.pte"]);
}

/// Code-scanning sites drop a result without a line, and track a result by its fingerprint.
#[test]
fn sarif_results_have_a_line_and_a_fingerprint() {
    let shown = |path: &str| {
        let done = pte(&["check", "--format", "sarif", path]);
        serde_json::from_slice::<Value>(&done.stdout).unwrap()
    };
    let sarif = shown(UNSOUND);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for result in results {
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startLine"], 1, "{result}");
        let fingerprint = result["partialFingerprints"]["primaryLocationLineHash"].as_str();
        assert!(seen.insert(fingerprint.unwrap()), "{result}");
    }
    assert!(seen.len() > 2, "{seen:?}");
    assert_eq!(shown(UNSOUND), sarif, "a second run gives the same fingerprints");
    for rule in sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap() {
        assert!(rule["help"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{rule}");
        let markdown = rule["help"]["markdown"].as_str().unwrap();
        assert!(markdown.contains(rule["id"].as_str().unwrap()), "{rule}");
    }
}

/// A finding in a data file has the URI of that file, and an offset in that file.
#[test]
fn sarif_places_are_those_of_the_json() {
    let args = ["check", PROGRAM, "--with", OTHER, "--format"];
    let shown = |format| {
        let done = pte(&[&args[..], &[format]].concat());
        serde_json::from_slice::<Value>(&done.stdout).unwrap()
    };
    let (plain, sarif) = (shown("json"), shown("sarif"));
    let mut places = Vec::new();
    for file in plain["files"].as_array().unwrap() {
        for finding in file["findings"].as_array().unwrap() {
            let path = finding["in"].as_str().or(file["path"].as_str()).unwrap();
            places.push((finding["rule"].clone(), path.to_string(), finding["offset"].clone()));
        }
    }
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let results = results.iter().map(|result| {
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap().to_string();
        (result["ruleId"].clone(), uri, place["region"]["byteOffset"].clone())
    });
    assert_eq!(results.collect::<Vec<_>>(), places);
    assert!(places.iter().any(|(_, path, _)| path == OTHER), "{places:?}");
}
