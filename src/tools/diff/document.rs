//! The document `pte.diff/1`. With the feature `serde` it can be serialized.

use alloc::collections::BTreeMap;

#[cfg(feature = "serde")]
use serde::ser::SerializeStruct as _;

use super::{Class, Comparison, Difference, Verdict, Written};
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
    pub differences: &'d [Difference],
    /// The differences in the encoding, which have no meaning.
    pub written: &'d [Written],
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
            differences: &report.differences,
            written: &report.written,
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Difference {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Difference", 7)?;
        fields.serialize_field("class", &self.class)?;
        fields.serialize_field("change", &self.change())?;
        fields.serialize_field("method", &self.method)?;
        fields.serialize_field("place", &self.place)?;
        fields.serialize_field("what", self.what)?;
        fields.serialize_field("before", &self.before)?;
        fields.serialize_field("after", &self.after)?;
        fields.end()
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
