//! Severity policy: rules that are allowed or denied, and the release to judge for.

use alloc::vec::Vec;

use super::preset::Preset;
use super::rule::{Rule, Severity};
use pte_core::release::Release;

/// The severities of findings as the caller wants them: rules that are allowed or denied, and the
/// release of the runtime to judge for.
///
/// ```
/// use pte::check::{Checker, Policy, Severity, rule};
///
/// let duplicate = rule("key-duplicate").unwrap();
/// let policy = Policy::new().deny_warnings().allow(duplicate);
/// assert_eq!(policy.severity(duplicate), None);
/// assert_eq!(policy.severity(rule("payload-magic").unwrap()), Some(Severity::Error));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Policy {
    allowed: Vec<&'static Rule>,
    denied: Vec<&'static Rule>,
    denies_warnings: bool,
    release: Option<Release>,
    max_memory: Option<u64>,
}

impl Policy {
    /// Returns a policy that keeps the rules' own severities.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves out findings of `rule`, even if it is also denied.
    #[must_use]
    pub fn allow(mut self, rule: &'static Rule) -> Self {
        self.allowed.push(rule);
        self
    }

    /// Turns findings of `rule` into Errors.
    #[must_use]
    pub fn deny(mut self, rule: &'static Rule) -> Self {
        self.denied.push(rule);
        self
    }

    /// Turns findings of the rules of `preset` into Errors.
    #[must_use]
    pub fn preset(mut self, preset: Preset) -> Self {
        self.denied.extend(preset.rules().map(|(rule, _)| rule));
        self
    }

    /// Turns all Warnings into Errors.
    #[must_use]
    pub fn deny_warnings(mut self) -> Self {
        self.denies_warnings = true;
        self
    }

    /// Judges for a release of the runtime. A file that the release no longer reads is an Error. A
    /// field that the file's data needs and the release does not know yet is an Error too.
    ///
    /// A release after [`NEWEST`](super::NEWEST) is treated as [`NEWEST`](super::NEWEST).
    #[must_use]
    pub fn runtime(mut self, release: Release) -> Self {
        self.release = Some(release);
        self
    }

    /// Makes it an Error if loading a program allocates more than `bytes`, by the figures in the file
    /// ([`LoadMemory::total`](super::LoadMemory::total)). By default there is no limit.
    ///
    /// ```
    /// use pte::check::{Checker, Policy};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let program: &[u8] = include_bytes!("../../tests/data/pte/linear.pte");
    /// let report = Checker::new().policy(Policy::new().max_memory(1024)).check_bytes(program)?;
    /// assert_eq!(report.findings()[0].rule.id, "memory-limit");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.max_memory = Some(bytes);
        self
    }

    /// Returns the number of bytes that loading a program may allocate, if there is a limit.
    pub(super) fn most_memory(&self) -> Option<u64> {
        self.max_memory
    }

    /// Returns the release that files are judged for, if one was chosen.
    pub fn release(&self) -> Option<Release> {
        self.release
    }

    /// Returns the severity of a finding of `rule`; `None` if it is left out.
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        let is_in = |rules: &[&Rule]| rules.iter().any(|other| other.id == rule.id);
        if is_in(&self.allowed) {
            return None;
        }
        let is_denied =
            is_in(&self.denied) || self.denies_warnings && rule.severity == Severity::Warning;
        let is_refused = self.release.is_some_and(|release| rule.is_refused_by(release));
        let is_accepted = self.release.is_some_and(|release| rule.is_taken_by(release));
        Some(match () {
            () if is_denied || is_refused => Severity::Error,
            () if is_accepted => Severity::Note,
            () => rule.severity,
        })
    }
}
