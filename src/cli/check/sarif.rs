//! Judged files as SARIF 2.1.0, which code-scanning sites show.

use serde_json::{Value, json};

use super::judged::{Finding, Judged};
use crate::cli::rules::{Told, UNREADABLE};

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
            "invocations": [invocation(files)],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// What became of the run: what could not be read was not judged, and a site that shows no results
/// for it must not take that for good news.
fn invocation(files: &[Judged]) -> Value {
    let unread = files.iter().flat_map(|file| {
        let findings = file.findings.iter().filter(|finding| finding.rule == UNREADABLE);
        findings.map(move |finding| {
            json!({
                "level": "error",
                "message": { "text": message(finding) },
                "associatedRule": { "id": UNREADABLE },
                "locations": [location(file, finding)],
            })
        })
    });
    let notifications: Vec<_> = unread.collect();
    json!({
        "executionSuccessful": notifications.is_empty(),
        "toolExecutionNotifications": notifications,
    })
}

/// Every name that a result may have.
fn descriptors() -> Vec<Value> {
    let describe = |rule: Told| {
        let mut described = json!({
            "id": rule.id,
            "shortDescription": { "text": rule.what },
            "fullDescription": { "text": rule.why },
            "defaultConfiguration": { "level": rule.severity },
        });
        if let (Some(help), Some(described)) = (rule.help, described.as_object_mut()) {
            described.insert("help".into(), json!({ "text": help }));
        }
        described
    };
    Told::all().into_iter().map(describe).collect()
}

fn result(file: &Judged, finding: &Finding) -> Value {
    json!({
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": { "text": message(finding) },
        "locations": [location(file, finding)],
    })
}

/// The text of a message. SARIF makes a link of `[text](target)`, and a file may have such a name.
fn message(finding: &Finding) -> String {
    finding.message.raw().replace("](", "] (")
}

/// Where it is: in the file, and on the way from the root.
fn location(file: &Judged, finding: &Finding) -> Value {
    let mut physical = json!({
        "artifactLocation": { "uri": uri(finding.inside.as_ref().unwrap_or(&file.path).raw()) },
    });
    if let (Some(offset), Some(physical)) = (finding.offset, physical.as_object_mut()) {
        // A binary file has no lines; sites that insist on one show the first.
        physical.insert("region".into(), json!({ "byteOffset": offset, "byteLength": 1 }));
    }
    let mut location = json!({ "physicalLocation": physical });
    if let (false, Some(location)) = (finding.path.raw().is_empty(), location.as_object_mut()) {
        let logical = json!([{ "fullyQualifiedName": finding.path }]);
        location.insert("logicalLocations".into(), logical);
    }
    location
}

/// A path as a relative or absolute URI reference.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            // What parts a path there may be a letter of a name elsewhere.
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
