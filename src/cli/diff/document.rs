//! The report of `pte diff` as JSON.

use std::collections::BTreeMap;

use pte::diff::{Class, Difference, Shown, Verdict};
use pte::quoted::UntrustedString;
use serde::Serialize;

use super::Found;
use crate::cli::hex;

#[derive(Serialize)]
pub(super) struct Document<'d> {
    schema: &'static str,
    before: &'d UntrustedString,
    after: &'d UntrustedString,
    verdict: &'static str,
    count: u64,
    counts: BTreeMap<&'static str, u64>,
    differences: Vec<Row<'d>>,
    written: Vec<Written<'d>>,
}

#[derive(Serialize)]
struct Row<'d> {
    class: &'static str,
    change: &'static str,
    method: Option<&'d str>,
    place: &'d str,
    what: &'static str,
    before: Option<Side<'d>>,
    after: Option<Side<'d>>,
}

#[derive(Serialize)]
struct Side<'d> {
    text: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

#[derive(Serialize)]
struct Written<'d> {
    what: &'static str,
    before: &'d str,
    after: &'d str,
}

impl<'d> Document<'d> {
    pub(super) fn of(found: &Found<'d>) -> Self {
        let report = found.report;
        let counts = Class::ALL.iter().map(|&class| (class.id(), report.count(class)));
        let written = report.written.iter().map(|written| Written {
            what: written.what,
            before: &written.before,
            after: &written.after,
        });
        Self {
            schema: "pte.diff/1",
            before: found.before,
            after: found.after,
            verdict: match report.verdict {
                Verdict::Identical => "identical",
                Verdict::Same => "same",
                Verdict::Different => "different",
            },
            count: report.total(),
            counts: counts.filter(|&(_, count)| count > 0).collect(),
            differences: report.differences.iter().map(Row::of).collect(),
            written: written.collect(),
        }
    }
}

impl<'d> Row<'d> {
    fn of(difference: &'d Difference) -> Self {
        let side = |shown: &'d Option<Shown>| {
            let shown = shown.as_ref()?;
            Some(Side { text: &shown.text, sha256: shown.sha256.map(|sha| hex(&sha)) })
        };
        Self {
            class: difference.class.id(),
            change: match (&difference.before, &difference.after) {
                (None, _) => "added",
                (_, None) => "removed",
                _ => "changed",
            },
            method: difference.method.as_deref(),
            place: &difference.place,
            what: difference.what,
            before: side(&difference.before),
            after: side(&difference.after),
        }
    }
}
