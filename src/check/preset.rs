//! Presets: named sets of rules that a policy denies.

use super::rule as by_id;
use super::rule::Rule;

/// A named set of rules whose findings are Errors for one use.
///
/// ```
/// use pte::check::{Policy, Preset, Severity, rule};
///
/// let policy = Policy::new().preset(Preset::UNTRUSTED_UPLOAD);
/// let paths = rule("paths-leaked").unwrap();
/// assert_eq!(policy.severity(paths), Some(Severity::Error));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Preset {
    /// The stable name.
    pub id: &'static str,
    /// The use that the preset is made for.
    pub what: &'static str,
    /// Whether all bytes are searched for executable content ([`Checker::scan`](super::Checker::scan)).
    pub scans: bool,
    /// The ids of the rules that are denied, and why.
    denied: &'static [(&'static str, &'static str)],
}

impl Preset {
    /// The preset for sites that publish or run files from unknown people.
    pub const UNTRUSTED_UPLOAD: Self = Self {
        id: "untrusted-upload",
        what: "Files from people whom the reader does not know.",
        scans: true,
        denied: &[
            ("content-executable", "A model file is data: code in it may be run by a backend."),
            ("content-embedded", "The same, anywhere in a segment, a blob or a gap."),
            ("mlx-kernel", "The processor may run code of the file."),
            ("record-pickle", "An old inspector would run code of the file."),
            ("qnn-library", "The runtime would run code that is not in the file."),
            ("qnn-old", "A current runtime reads the options as others, a library among them."),
            ("old-generation", "A current runtime reads the data file as another layout."),
            ("file-kind", "Only a part of such a file is judged: the rest may be anything."),
            ("payload-magic", "The payload is not what its backend reads."),
            ("backend-unknown", "What the payload does is not known."),
            ("external-not-judged", "The data decides what the program does, and is not judged."),
            ("arena-unused", "A small file takes memory that it has no use for."),
            ("loop-endless", "The loop never ends by itself: it takes a thread of its runner."),
            ("jump-to-itself", "The same, in one instruction."),
            ("paths-leaked", "The uploader publishes names of users and folders."),
            ("gap-not-zero", "Bytes that no runtime reads may hide something."),
            (
                "named-key-digest",
                "The data may replace the weights of another model in one process.",
            ),
            ("padding-not-zero", "The same, behind the header."),
            ("trailing-bytes", "The same, behind the last segment: a second file may be there."),
            ("segment-unreferenced", "The same, in a separate segment."),
            (
                "header-referenced",
                "Readers that know the header and readers that do not see different files.",
            ),
        ],
    };

    /// All presets.
    pub const ALL: &[Self] = &[Self::UNTRUSTED_UPLOAD];

    /// Returns the preset of this name.
    #[must_use]
    pub fn of_id(id: &str) -> Option<Self> {
        Self::ALL.iter().find(|preset| preset.id == id).copied()
    }

    /// Returns the rules that are denied, each with the reason.
    pub fn rules(self) -> impl Iterator<Item = (&'static Rule, &'static str)> {
        self.denied.iter().filter_map(|(id, why)| Some((by_id(id)?, *why)))
    }
}

#[cfg(test)]
mod tests {
    use super::Preset;

    #[test]
    fn every_rule_of_a_preset_exists() {
        for preset in Preset::ALL {
            assert_eq!(preset.rules().count(), preset.denied.len(), "{}", preset.id);
        }
    }
}
