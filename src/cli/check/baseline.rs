//! Baselines of `pte check`: findings that a team has accepted, so that only new findings are
//! shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pte::check::{CheckedFile, FindingRecord, rule};
use pte::quoted::UntrustedString;
use serde::{Deserialize, Serialize};

use crate::input;
use crate::output::{Content, Output};
use crate::problem::{Problem, Status};
use crate::text::{name_of, wide};

/// An accepted finding. Offsets and values are left out, so that a new export of the same program
/// has the same findings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Accepted {
    file: String,
    /// The data file with the finding, if that is not `file`.
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    data_file: Option<String>,
    rule: String,
    path: String,
}

#[derive(Deserialize, Serialize)]
struct AcceptedRow {
    #[serde(flatten)]
    accepted: Accepted,
    count: u64,
}

#[derive(Deserialize, Serialize)]
struct Document {
    schema: String,
    findings: Vec<AcceptedRow>,
}

/// The accepted findings, each with its number of occurrences.
#[derive(Default)]
pub(super) struct Baseline(BTreeMap<Accepted, u64>);

impl Accepted {
    fn of(file: &UntrustedString, finding: &FindingRecord) -> Self {
        Self {
            file: plain(file.raw()).into(),
            data_file: finding.data_file.as_ref().map(|name| plain(name.raw()).into()),
            rule: finding.rule.into(),
            path: finding.path.raw().into(),
        }
    }
}

impl Baseline {
    pub(super) fn read(path: &Path) -> Result<Self, Problem> {
        let invalid = |error: String, place: String| Problem::Text {
            file: name_of(path),
            error: error.into(),
            place: place.into(),
            help: Some("`pte check --write-baseline FILE` writes a baseline."),
            status: Status::Usage,
        };
        let no_text = |no_text| Problem::no_text(path, no_text, Status::Usage);
        let text = input::read_text(path)?.map_err(no_text)?;
        let document: Document = serde_json::from_str(&text).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let message = error.to_string();
            // The parser puts the place behind the message.
            let end = message.rfind(" at line ").unwrap_or(message.len());
            invalid(message.get(..end).unwrap_or_default().into(), place)
        })?;
        if document.schema != SCHEMA {
            let why = format!("expected the schema {SCHEMA:?}, as --write-baseline writes it");
            return Err(invalid(why, "schema".into()));
        }
        Ok(Self(document.findings.into_iter().map(|row| (row.accepted, row.count)).collect()))
    }

    /// Returns the findings of all files. Files that were refused or could not be read are not
    /// checked, so they have none.
    pub(super) fn of<'f>(files: impl Iterator<Item = &'f CheckedFile>) -> Self {
        let mut all = BTreeMap::new();
        for file in files {
            for finding in file.findings.iter().filter(|finding| rule(finding.rule).is_some()) {
                let count = all.entry(Accepted::of(&file.path, finding)).or_insert(0u64);
                *count = count.saturating_add(1);
            }
        }
        Self(all)
    }

    /// Writes the baseline to `path`. Refuses to overwrite one of `inputs`.
    pub(super) fn write(self, path: &Path, inputs: &[PathBuf]) -> Result<u64, Problem> {
        let mut out = Output::beside(Some(path), Content::Plain, inputs)?;
        let rows = self.0.into_iter().map(|(accepted, count)| AcceptedRow { accepted, count });
        let findings: Vec<_> = rows.collect();
        let count = wide(findings.len());
        out.json(&Document { schema: SCHEMA.into(), findings })?;
        out.finish()?;
        Ok(count)
    }

    /// Takes the accepted findings out of a file, and returns how many there were.
    pub(super) fn take_out(&mut self, file: &mut CheckedFile) -> u64 {
        let name = file.path.clone();
        file.accept(|finding| {
            let left = self.0.get_mut(&Accepted::of(&name, finding)).filter(|left| **left > 0);
            left.is_some_and(|left| {
                *left = left.saturating_sub(1);
                true
            })
        })
    }
}

/// Returns the name of a file without the `./` that a search of the current folder puts in front.
fn plain(name: &str) -> &str {
    name.trim_start_matches("./")
}

const SCHEMA: &str = "pte.baseline/1";
