//! The document `pte.diff/1`. With the feature `serde` it can be serialized.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Class, Comparison, Difference, Shown, Verdict, Written};
use pte_flat::quoted::UntrustedString;

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
    /// The result.
    pub verdict: Verdict,
    /// The number of differences.
    pub count: u64,
    /// The number of differences of each class that has any.
    pub counts: BTreeMap<&'static str, u64>,
    /// The differences, the first [`Comparison::MOST`] of each class.
    pub differences: Vec<DifferenceEntry<'d>>,
    /// The differences in the encoding, which have no meaning.
    pub written: &'d [Written],
}

/// A difference.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DifferenceEntry<'d> {
    /// The subject.
    pub class: Class,
    /// `added`, `removed` or `changed`.
    pub change: &'static str,
    /// The name of the method that the difference is in, if it is in one.
    pub method: Option<&'d str>,
    /// The place in the method or the file.
    pub place: &'d str,
    /// The property that differs.
    pub what: &'static str,
    /// The first file's side of the difference; `None` for an addition.
    pub before: Option<&'d Shown>,
    /// The second file's side of the difference; `None` for a removal.
    pub after: Option<&'d Shown>,
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
        Self {
            schema: "pte.diff/1",
            before,
            after,
            verdict: report.verdict,
            count: report.total(),
            counts: counts.filter(|&(_, count)| count > 0).collect(),
            differences: report.differences.iter().map(DifferenceEntry::of).collect(),
            written: &report.written,
        }
    }
}

impl<'d> DifferenceEntry<'d> {
    fn of(difference: &'d Difference) -> Self {
        Self {
            class: difference.class,
            change: match (&difference.before, &difference.after) {
                (None, _) => "added",
                (_, None) => "removed",
                _ => "changed",
            },
            method: difference.method.as_deref(),
            place: &difference.place,
            what: difference.what,
            before: difference.before.as_ref(),
            after: difference.after.as_ref(),
        }
    }
}

/// Serializes a digest as hexadecimal digits.
#[cfg(feature = "serde")]
pub(super) fn hexadecimal<S: serde::Serializer>(
    sha256: &Option<[u8; 32]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&sha256.map(|sha256| pte_flat::quoted::hex(&sha256)), serializer)
}
