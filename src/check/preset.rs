//! Presets: named sets of rules that a policy denies.

use super::rule::Rule;
use super::rules;

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
    /// Returns why the preset denies what a rule finds; `None` if it does not.
    why: fn(&Rule) -> Option<&'static str>,
}

impl Preset {
    /// The preset for sites that publish or run files from unknown people.
    pub const UNTRUSTED_UPLOAD: Self = Self {
        id: "untrusted-upload",
        what: "Files from people whom the reader does not know.",
        scans: true,
        why: |rule| rule.untrusted_upload,
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
        rules().filter_map(move |rule| Some((rule, (self.why)(rule)?)))
    }
}
