//! Judged files as SARIF 2.1.0, which code-scanning sites show.

use pte::ErrorKind;
use pte::check::rules;
use serde_json::{Value, json};

use super::judged::{Finding, Judged};

pub(super) fn document(files: &[Judged]) -> Value {
    let results: Vec<_> = files
        .iter()
        .flat_map(|file| file.findings.iter().map(|finding| result(file, finding)))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "pte",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": descriptors(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// Every rule, of structure and of meaning.
fn descriptors() -> Vec<Value> {
    let meaning = rules().map(|rule| {
        json!({
            "id": rule.id,
            "shortDescription": { "text": rule.what },
            "fullDescription": { "text": rule.why },
            "defaultConfiguration": { "level": rule.severity.name() },
        })
    });
    let structure = ErrorKind::CODES
        .iter()
        .filter(|(code, _)| !rules().any(|rule| rule.id == *code))
        .map(|(code, help)| {
            json!({
                "id": code,
                "shortDescription": { "text": code.replace('-', " ") },
                "help": { "text": help },
                "defaultConfiguration": { "level": "error" },
            })
        });
    meaning.chain(structure).collect()
}

fn result(file: &Judged, finding: &Finding) -> Value {
    let mut physical = json!({
        "artifactLocation": { "uri": uri(finding.inside.as_ref().unwrap_or(&file.path)) },
    });
    if let (Some(offset), Some(physical)) = (finding.offset, physical.as_object_mut()) {
        // A binary file has no lines; sites that insist on one show the first.
        physical.insert("region".into(), json!({ "byteOffset": offset, "byteLength": 1 }));
    }
    let mut location = json!({ "physicalLocation": physical });
    if let (false, Some(location)) = (finding.path.is_empty(), location.as_object_mut()) {
        let logical = json!([{ "fullyQualifiedName": finding.path }]);
        location.insert("logicalLocations".into(), logical);
    }
    json!({
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": { "text": finding.message },
        "locations": [location],
    })
}

/// A path as a relative or absolute URI reference.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            b'\\' => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
