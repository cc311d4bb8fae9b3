//! The document `pte.diff/1`. With the feature `serde` it can be serialized.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Class, Comparison, Difference, Shown, Verdict};
use pte_flat::quoted::{UntrustedString, hex};

/// The document `pte.diff/1`: the differences of two files.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DiffDocument<'d> {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The path or the name of the first file.
    pub before: &'d UntrustedString,
    /// The path or the name of the second file.
    pub after: &'d UntrustedString,
    /// `identical`, `same` or `different`.
    pub verdict: &'static str,
    /// The number of differences.
    pub count: u64,
    /// The number of differences of each class that has any.
    pub counts: BTreeMap<&'static str, u64>,
    /// The differences, the first [`Comparison::MOST`] of each class.
    pub differences: Vec<DifferenceEntry<'d>>,
    /// The differences in the encoding, which have no meaning.
    pub written: Vec<WrittenEntry<'d>>,
}

/// A difference.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DifferenceEntry<'d> {
    /// The id of its class.
    pub class: &'static str,
    /// `added`, `removed` or `changed`.
    pub change: &'static str,
    /// The name of the method that the difference is in, if it is in one.
    pub method: Option<&'d str>,
    /// The place in the method or the file.
    pub place: &'d str,
    /// The property that differs.
    pub what: &'static str,
    /// The first file's side of the difference; `None` for an addition.
    pub before: Option<SideEntry<'d>>,
    /// The second file's side of the difference; `None` for a removal.
    pub after: Option<SideEntry<'d>>,
}

/// One side of a difference.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SideEntry<'d> {
    /// A short description.
    pub text: &'d str,
    /// The digest of data, in hexadecimal digits.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sha256: Option<String>,
}

/// A difference in the encoding.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WrittenEntry<'d> {
    /// The property that differs.
    pub what: &'static str,
    /// The text of the property for the first file.
    pub before: &'d str,
    /// The text of the property for the second file.
    pub after: &'d str,
}

impl<'d> DiffDocument<'d> {
    /// Returns the document of a comparison of two files with these names.
    #[must_use]
    pub fn new(
        before: &'d UntrustedString,
        after: &'d UntrustedString,
        report: &'d Comparison,
    ) -> Self {
        let counts = Class::ALL.iter().map(|&class| (class.id(), report.count(class)));
        let written = report.written.iter().map(|written| WrittenEntry {
            what: written.what,
            before: &written.before,
            after: &written.after,
        });
        Self {
            schema: "pte.diff/1",
            before,
            after,
            verdict: match report.verdict {
                Verdict::Identical => "identical",
                Verdict::Same => "same",
                Verdict::Different => "different",
            },
            count: report.total(),
            counts: counts.filter(|&(_, count)| count > 0).collect(),
            differences: report.differences.iter().map(DifferenceEntry::of).collect(),
            written: written.collect(),
        }
    }
}

impl<'d> DifferenceEntry<'d> {
    fn of(difference: &'d Difference) -> Self {
        let side = |shown: &'d Option<Shown>| {
            let shown = shown.as_ref()?;
            Some(SideEntry { text: &shown.text, sha256: shown.sha256.map(|sha| hex(&sha)) })
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
