//! What is legal and still worth saying: findings over proven views, never bytes.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Place, Step};
use crate::limits::Limits;
use crate::{File, Ptd, Pte};

mod layout;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Old or unusual.
    Note,
    /// Legal, and suspicious.
    Warning,
    /// The official runtime refuses the file, crashes on it, or reads wrong memory.
    Error,
}

/// Something that can be found, by name.
#[derive(Debug)]
pub struct Rule {
    /// A stable name in kebab case, never reused.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What the rule asks.
    pub what: &'static str,
    /// Why it is asked.
    pub why: &'static str,
}

/// One place that breaks a rule.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// What is there, with the numbers that show it.
    pub message: String,
    /// Where, counted from the start of the file.
    pub offset: u64,
    /// The way there, innermost step first.
    path: Vec<Step>,
}

/// Everything that was found in a file.
#[derive(Clone, Debug, Default)]
pub struct Report {
    findings: Vec<Finding>,
    counts: BTreeMap<&'static str, u64>,
}

/// Every rule there is, by subject.
pub static RULES: &[&[&Rule]] = &[layout::RULES];

impl File<'_> {
    /// Judges the file by every rule, with the limits for files of strangers.
    pub fn check(&self) -> Report {
        self.check_with(&Limits::UNTRUSTED)
    }

    /// Judges the file by every rule.
    pub fn check_with(&self, limits: &Limits) -> Report {
        match self {
            Self::Pte(pte) => pte.check_with(limits),
            Self::Ptd(ptd) => ptd.check_with(limits),
        }
    }
}

impl Pte<'_> {
    /// Judges the file by every rule, with the limits for files of strangers.
    ///
    /// So far the rules look at the layout alone; the meaning of values is not judged yet.
    ///
    /// ```
    /// # fn main() -> Result<(), pte::Error> {
    /// # let bytes = include_bytes!("../tests/data/pte/linear.pte");
    /// let pte = pte::Pte::read(bytes)?;
    /// assert!(pte.check().findings().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn check(&self) -> Report {
        self.check_with(&Limits::UNTRUSTED)
    }

    /// Judges the file by every rule.
    pub fn check_with(&self, limits: &Limits) -> Report {
        let mut findings = Findings::new(limits);
        layout::pte(self, &mut findings);
        findings.report
    }
}

impl Ptd<'_> {
    /// Judges the file by every rule, with the limits for files of strangers.
    pub fn check(&self) -> Report {
        self.check_with(&Limits::UNTRUSTED)
    }

    /// Judges the file by every rule.
    pub fn check_with(&self, limits: &Limits) -> Report {
        let mut findings = Findings::new(limits);
        layout::ptd(self, &mut findings);
        findings.report
    }
}

impl Report {
    /// The findings that were kept: at most [`Limits::findings_per_rule`] for each rule.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How often each rule was broken, whether kept or not.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts.iter().map(|(&id, &count)| (id, count))
    }

    /// The worst severity that was found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.rule.severity).max()
    }
}

impl Finding {
    /// Offset and path, for showing.
    pub fn place(&self) -> Place<'_> {
        Place::new(Some(self.offset), &self.path)
    }
}

/// What rules write to.
pub(crate) struct Findings {
    report: Report,
    most: u64,
}

impl Findings {
    fn new(limits: &Limits) -> Self {
        Self { report: Report::default(), most: limits.findings_per_rule.into() }
    }

    /// Counts a finding, and keeps it while there are few. `path` has its outermost step first;
    /// `message` is only asked for if it is kept.
    pub(crate) fn find(
        &mut self,
        rule: &'static Rule,
        offset: u64,
        path: &[Step],
        message: impl FnOnce() -> String,
    ) {
        let count = self.report.counts.entry(rule.id).or_default();
        *count = count.saturating_add(1);
        if *count > self.most {
            return;
        }
        let path = path.iter().rev().copied().collect();
        self.report.findings.push(Finding { rule, message: message(), offset, path });
    }
}
