//! Checked files as SARIF 2.1.0, the format of code-scanning sites.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::{CheckedFile, FindingRecord, RuleRecord, UNREADABLE};

/// Returns checked files as a SARIF 2.1.0 document, as `pte check --format sarif` prints it.
#[must_use]
pub fn sarif(files: &[CheckedFile]) -> Value {
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

/// Returns the outcome of the run. Files that could not be read were not checked: without a
/// notification a site would show them as files without findings.
fn invocation(files: &[CheckedFile]) -> Value {
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

/// Returns the descriptor of every rule that a result may have.
fn descriptors() -> Vec<Value> {
    let describe = |rule: RuleRecord| {
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
    RuleRecord::all().into_iter().map(describe).collect()
}

fn result(file: &CheckedFile, finding: &FindingRecord) -> Value {
    json!({
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": { "text": message(finding) },
        "locations": [location(file, finding)],
    })
}

/// Returns the text of a message. SARIF turns `[text](target)` into a link, and text from a file must
/// not become one.
fn message(finding: &FindingRecord) -> String {
    finding.message.raw().replace("](", "] (")
}

/// Returns the place of a finding: its offset in the file, and its path from the root table.
fn location(file: &CheckedFile, finding: &FindingRecord) -> Value {
    let mut physical = json!({
        "artifactLocation": { "uri": uri(finding.data_file.as_ref().unwrap_or(&file.path).raw()) },
    });
    if let (Some(offset), Some(physical)) = (finding.offset, physical.as_object_mut()) {
        // A binary file has no lines. Sites that require one show the first.
        physical.insert("region".into(), json!({ "byteOffset": offset, "byteLength": 1 }));
    }
    let mut location = json!({ "physicalLocation": physical });
    if let (false, Some(location)) = (finding.path.raw().is_empty(), location.as_object_mut()) {
        let logical = json!([{ "fullyQualifiedName": finding.path }]);
        location.insert("logicalLocations".into(), logical);
    }
    location
}

/// Converts a path to a relative or absolute URI reference.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            // A backslash separates folders on Windows; elsewhere it may be a part of a name.
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
