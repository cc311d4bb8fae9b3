//! Findings, and the report of a check.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::policy::Policy;
use super::rule::{Rule, Severity};
use super::verdict::{MissingKeys, NOT_JUDGED, Verdict};
use pte_core::{Limits, PathComponent, Place};
use pte_flat::bytes::wide;
use pte_flat::cost;
use pte_flat::inserted;

/// The rules on missing data, which may be in another file: that of an edit, for example.
pub const DATA_ELSEWHERE: [&str; 2] = ["external-unresolved", "delegate-key-unresolved"];

/// A place in a file that breaks a rule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The severity under the policy of the check.
    pub severity: Severity,
    /// What is wrong, with the values and limits.
    pub message: String,
    /// The offset in the file.
    pub offset: u64,
    /// The index of the `.ptd` file that the finding is in; `None` for the judged file itself.
    pub data: Option<usize>,
    /// The path, innermost component first.
    path: Vec<PathComponent>,
}

/// The findings in a file.
#[derive(Clone, Debug, Default)]
pub struct Report {
    findings: Vec<Finding>,
    counts: BTreeMap<&'static str, Count>,
    missing: MissingKeys,
}

/// The number of findings of a rule, and their severity.
#[derive(Clone, Copy, Debug)]
struct Count {
    rule: &'static Rule,
    severity: Severity,
    count: u64,
}

impl Report {
    /// Returns the findings that were kept: at most [`Limits::findings_per_rule`] for each rule.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns how often each rule was broken, including findings that were not kept.
    pub fn counts(&self) -> impl Iterator<Item = (&'static Rule, u64)> {
        self.counts.values().map(|count| (count.rule, count.count))
    }

    /// Returns the verdict on the file, by the policy of the check.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.counts.values().map(|count| (count.rule.id, count.severity)))
    }

    /// Returns the keys of data that the file needs and that was not given. There are none if the policy allows
    /// that data is missing.
    pub fn missing(&self) -> &MissingKeys {
        &self.missing
    }

    /// Sorts the findings by severity, the worst first. Findings of one severity keep their order.
    pub(super) fn sort(&mut self) {
        self.findings.sort_by_key(|finding| core::cmp::Reverse(finding.severity));
    }

    /// Returns the number of findings that were not kept.
    pub fn omitted(&self) -> u64 {
        let all = self.counts().fold(0u64, |sum, (_, count)| sum.saturating_add(count));
        all.saturating_sub(wide(self.findings.len()))
    }

    /// Returns the number of findings of a severity, including those that were not kept.
    pub fn count(&self, severity: Severity) -> u64 {
        let counts = self.counts.values().filter(|count| count.severity == severity);
        counts.fold(0, |sum, count| sum.saturating_add(count.count))
    }

    /// Returns the rules of severity Error, by the policy of the check.
    pub fn errors(&self) -> impl Iterator<Item = &'static Rule> {
        let errors = self.counts.values().filter(|count| count.severity == Severity::Error);
        errors.map(|count| count.rule)
    }

    /// Returns the rules of severity Error that are not Errors in `before`, but for [`DATA_ELSEWHERE`]. For an edit,
    /// `before` is the report of the original file.
    ///
    /// ```
    /// # fn main() -> pte::Result<()> {
    /// # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
    /// let file = pte::Pte::read(bytes)?;
    /// let report = pte::Check::check(&file);
    /// assert_eq!(report.new_errors(&report).count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new_errors(&self, before: &Self) -> impl Iterator<Item = &'static Rule> {
        self.errors().filter(|rule| {
            let known = before.counts.get(rule.id);
            known.is_none_or(|count| count.severity != Severity::Error)
                && !DATA_ELSEWHERE.contains(&rule.id)
        })
    }

    /// Returns the worst severity of all findings, including those that were not kept.
    pub fn worst(&self) -> Option<Severity> {
        self.counts.values().map(|count| count.severity).max()
    }
}

/// Shows the number of findings of the worst severity, and the first of them.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(worst) = self.worst() else { return f.write_str("nothing was found") };
        let count = self.counts.values().filter(|count| count.severity == worst);
        let count = count.fold(0u64, |sum, count| sum.saturating_add(count.count));
        write!(f, "{count} × {worst}")?;
        let mut worst = self.findings.iter().filter(|finding| finding.severity == worst);
        worst.next().map_or(Ok(()), |first| {
            write!(f, ", the first: {}, {}, at {}", first.rule.id, first.message, first.place())
        })
    }
}

/// The error for a file that is not [`sound`](crate::sound).
impl core::error::Error for Report {}

impl Finding {
    /// Returns the offset and the path, for display.
    pub fn place(&self) -> Place<'_> {
        Place::new(Some(self.offset), &self.path)
    }
}

/// The findings so far. Rules add to them.
pub(crate) struct Findings {
    found: Vec<Finding>,
    /// The number of findings of each rule. The most frequent rule is first, which makes counting cheap:
    /// an untrusted file may break a rule millions of times.
    counts: Vec<(&'static Rule, u64)>,
    most: u64,
    missing: MissingKeys,
    /// The index of the `.ptd` file that is being judged, if any.
    pub(super) data: Option<usize>,
}

impl Findings {
    pub(super) fn new(limits: &Limits) -> Self {
        let most = limits.findings_per_rule.into();
        let missing = MissingKeys::default();
        Self { found: Vec::new(), counts: Vec::new(), most, missing, data: None }
    }

    /// Returns an empty list for the same file, to be merged by [`extend`](Self::extend).
    pub(super) fn another(&self) -> Self {
        let missing = MissingKeys::default();
        Self { found: Vec::new(), counts: Vec::new(), most: self.most, missing, data: self.data }
    }

    /// Returns whether there are no findings.
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns whether there is a finding of a rule.
    pub(super) fn has(&self, rule: &'static Rule) -> bool {
        self.counts.iter().any(|(known, _)| core::ptr::eq(*known, rule))
    }

    /// Adds a key of data that was not given.
    pub(super) fn add_missing(&mut self, key: &str) {
        self.missing.add(key, self.most);
    }

    /// Returns the report, with the severities under `policy`.
    pub(super) fn report(self, policy: &Policy) -> Report {
        let counts = self.counts.into_iter().filter_map(|(rule, count)| {
            Some((rule.id, Count { rule, severity: policy.severity(rule)?, count }))
        });
        let findings = self.found.into_iter().filter_map(|finding| {
            Some(Finding { severity: policy.severity(finding.rule)?, ..finding })
        });
        let counts: BTreeMap<_, _> = inserted(counts);
        let is_reported = counts.contains_key(NOT_JUDGED);
        let missing = if is_reported { self.missing } else { MissingKeys::default() };
        Report { findings: findings.collect(), counts, missing }
    }

    /// Returns the counter of a rule. The counter moves ahead of a smaller one.
    fn count(&mut self, rule: &'static Rule) -> Option<&mut u64> {
        let is_it = |(known, _): &(&Rule, u64)| core::ptr::eq(*known, rule);
        let at = match self.counts.iter().position(is_it) {
            Some(at) => at,
            None => {
                self.counts.push((rule, 0));
                self.counts.len().saturating_sub(1)
            }
        };
        let ahead = at.saturating_sub(1);
        let is_rarer = |pair: &[(&Rule, u64)]| matches!(pair, [(_, a), (_, b)] if a < b);
        if self.counts.get(ahead..=at).is_some_and(is_rarer) {
            self.counts.swap(at, ahead);
            return self.counts.get_mut(ahead).map(|(_, count)| count);
        }
        self.counts.get_mut(at).map(|(_, count)| count)
    }

    /// Appends the findings of a later part.
    pub(super) fn extend(&mut self, later: Self) {
        let mut kept: BTreeMap<&str, u64> = BTreeMap::new();
        for finding in later.found {
            let before = self.count(finding.rule).map_or(0, |count| *count);
            let kept = kept.entry(finding.rule.id).or_insert(before);
            if *kept < self.most {
                *kept = kept.saturating_add(1);
                self.found.push(finding);
            }
        }
        for (rule, more) in later.counts {
            if let Some(count) = self.count(rule) {
                *count = count.saturating_add(more);
            }
        }
    }

    /// Counts a finding, and keeps it if the limit allows.
    ///
    /// `path`, outermost component first, and `message` are called only for a kept finding.
    #[cold]
    #[inline(never)]
    pub(super) fn find(
        &mut self,
        rule: &'static Rule,
        offset: u64,
        path: impl FnOnce() -> Vec<PathComponent>,
        message: impl FnOnce() -> String,
    ) {
        if self.is_kept(rule) {
            self.keep(rule, offset, path(), message());
        }
    }

    /// Counts a finding, and returns whether the limit allows to keep it. This function and the next one are not
    /// inlined: `find` is compiled for hundreds of messages.
    #[cold]
    #[inline(never)]
    fn is_kept(&mut self, rule: &'static Rule) -> bool {
        cost::charge(1);
        let most = self.most;
        self.count(rule).is_some_and(|count| {
            *count = count.saturating_add(1);
            *count <= most
        })
    }

    #[cold]
    #[inline(never)]
    fn keep(
        &mut self,
        rule: &'static Rule,
        offset: u64,
        mut path: Vec<PathComponent>,
        message: String,
    ) {
        path.reverse();
        cost::charge(path.len().saturating_add(message.len()));
        let severity = rule.severity;
        self.found.push(Finding { rule, severity, message, offset, data: self.data, path });
    }
}
