//! Checked files as SARIF 2.1.0, the format of code-scanning sites.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{CheckedFile, DOCS_URL, FindingRecord, RuleRecord, UNREADABLE, data_rule};

/// Returns checked files as a SARIF 2.1.0 document, as `pte check --format sarif` prints it.
///
/// `paths` are the paths of the files in the same order, as bytes: a path need not be UTF-8. A file
/// without a path is addressed by its name.
#[must_use]
pub fn sarif(files: &[CheckedFile], paths: &[&[u8]]) -> Value {
    let addresses = Addresses::new(files, paths);
    let mut repeats = BTreeMap::new();
    let findings = files.iter().flat_map(|file| file.findings.iter().map(move |of| (file, of)));
    let results: Vec<_> =
        findings.map(|(file, finding)| result(file, finding, &addresses, &mut repeats)).collect();
    let mut driver = json!({
        "name": "pte",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": descriptors(),
    });
    if let (Some(driver), Some(url)) = (driver.as_object_mut(), DOCS_URL) {
        driver.insert("informationUri".into(), url.into());
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "invocations": [invocation(files, &addresses)],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// Returns the outcome of the run. Files that could not be read were not checked: without a
/// notification a site would show them as files without findings.
fn invocation(files: &[CheckedFile], addresses: &Addresses<'_>) -> Value {
    let unread = files.iter().flat_map(|file| {
        let findings = file.findings.iter().filter(|finding| finding.rule == UNREADABLE);
        findings.map(move |finding| {
            json!({
                "level": "error",
                "message": { "text": message(finding) },
                "associatedRule": { "id": UNREADABLE },
                "locations": [location(file, finding, addresses)],
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
        if let Some(described) = described.as_object_mut() {
            described.insert("help".into(), help(&rule));
            if let Some(url) = rule.url() {
                described.insert("helpUri".into(), url.into());
            }
        }
        described
    };
    RuleRecord::all().into_iter().map(describe).collect()
}

/// Returns the help of a rule. A site shows the Markdown where it can, else the text.
fn help(rule: &RuleRecord) -> Value {
    let RuleRecord { id, what, why, help, runtime, page, .. } = rule;
    let markdown = format!(
        "**{what}**\n\n{why}\n\n{help}\n\nThe official runtime: {runtime}. `pte explain {id}` and `{page}` show \
         the evidence."
    );
    json!({ "text": format!("{why} {help}"), "markdown": markdown })
}

fn result<'f>(
    file: &'f CheckedFile,
    finding: &'f FindingRecord,
    addresses: &Addresses<'f>,
    repeats: &mut BTreeMap<String, u64>,
) -> Value {
    let fingerprint = fingerprint(file, finding, addresses);
    let nth = repeats.entry(fingerprint.clone()).or_insert(0);
    *nth = nth.saturating_add(1);
    let mut result = json!({
        // GitHub reads only this fingerprint. `nth` distinguishes findings with equal digests.
        "partialFingerprints": { "primaryLocationLineHash": format!("{fingerprint}:{nth}") },
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": { "text": message(finding) },
        "locations": [location(file, finding, addresses)],
    });
    if finding.rule == data_rule().id
        && let Some(result) = result.as_object_mut()
    {
        result.insert(
            "properties".into(),
            json!({ "verdict": file.verdict, "missing": file.missing }),
        );
    }
    result
}

/// Returns a digest of the rule, the file and the path in its tables. Offsets and values are left out,
/// so that a finding keeps its identity when a new export moves it.
fn fingerprint<'f>(
    file: &'f CheckedFile,
    finding: &'f FindingRecord,
    addresses: &Addresses<'f>,
) -> String {
    let mut digest = Sha256::new();
    for part in [finding.rule, &addresses.of(file, finding), finding.path.raw()] {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the text of a message. SARIF turns `[text](target)` into a link, and text from a file must
/// not become one.
fn message(finding: &FindingRecord) -> String {
    finding.message.raw().replace("](", "] (")
}

/// Returns the place of a finding: its offset in the file, and its path from the root table.
fn location<'f>(
    file: &'f CheckedFile,
    finding: &'f FindingRecord,
    addresses: &Addresses<'f>,
) -> Value {
    // A binary file has no lines. For sites that require a line, this is line 1.
    let region = match finding.offset {
        Some(offset) => json!({ "startLine": 1, "byteOffset": offset, "byteLength": 1 }),
        None => json!({ "startLine": 1 }),
    };
    let physical = json!({
        "artifactLocation": { "uri": addresses.of(file, finding) },
        "region": region,
    });
    let mut location = json!({ "physicalLocation": physical });
    if let (false, Some(location)) = (finding.path.raw().is_empty(), location.as_object_mut()) {
        let logical = json!([{ "fullyQualifiedName": finding.path }]);
        location.insert("logicalLocations".into(), logical);
    }
    location
}

/// The URI of each file, by its name in messages.
struct Addresses<'f>(BTreeMap<&'f str, String>);

impl<'f> Addresses<'f> {
    fn new(files: &'f [CheckedFile], paths: &[&[u8]]) -> Self {
        let pairs = files.iter().zip(paths);
        // Standard input (`-`) has a name in messages, but no URI.
        let pairs = pairs.filter(|(_, path)| **path != b"-");
        Self(pairs.map(|(file, path)| (file.path.raw(), uri(path))).collect())
    }

    /// Returns the URI of the file that a finding is in.
    fn of(&self, file: &'f CheckedFile, finding: &'f FindingRecord) -> String {
        let name = finding.data_file.as_ref().unwrap_or(&file.path).raw();
        self.0.get(name).cloned().unwrap_or_else(|| uri(name.as_bytes()))
    }
}

/// Converts the bytes of a path to a relative or absolute URI reference.
fn uri(path: &[u8]) -> String {
    let mut uri = String::new();
    for &byte in path {
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
