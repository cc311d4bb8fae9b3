//! What a file means, judged: findings over proven views, never bytes.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::error::{Place, Step};
use crate::flat::view::Table;
use crate::limits::Limits;
use crate::steps;
use crate::{File, Ptd, Pte};

mod calls;
mod container;
mod contents;
#[cfg(test)]
pub(crate) mod cost;
pub mod coverage;
mod data;
mod delegates;
mod external;
mod flow;
mod kernels;
mod keys;
mod layout;
mod memory;
mod names;
mod parts;
mod plans;
mod release;
mod resolve;
pub(crate) mod roles;
mod rule;
mod spot;
mod tensors;
mod values;

pub use rule::{NEWEST, Rule, Runtime, Severity};

/// Every rule there is, by subject.
pub static RULES: &[&[&Rule]] = &[
    container::RULES,
    plans::RULES,
    values::RULES,
    tensors::RULES,
    memory::RULES,
    resolve::RULES,
    calls::RULES,
    kernels::RULES,
    flow::RULES,
    delegates::RULES,
    names::RULES,
    data::RULES,
    external::RULES,
    keys::RULES,
    contents::RULES,
    layout::RULES,
    release::RULES,
];

/// Every rule there is.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().flat_map(|rules| rules.iter().copied())
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
    /// Which of the `.ptd`s that a program is judged with the place is in; `None` for the file
    /// itself.
    pub data: Option<usize>,
    /// The way there, innermost step first.
    path: Vec<Step>,
}

/// Everything that was found in a file.
#[derive(Clone, Debug, Default)]
pub struct Report {
    findings: Vec<Finding>,
    counts: BTreeMap<&'static str, (&'static Rule, u64)>,
}

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
        let mut out = Findings::new(limits);
        container::check(self, &mut out);
        names::check(self, &mut out);
        let mut wanted = external::Wanted::default();
        let mut judged = BTreeSet::new();
        for (nth, plan) in (0..).zip(self.program().execution_plan().into_iter().flatten()) {
            // The same table again is the same again: a hostile file may list one millions of times.
            steps::look_up("", judged.len());
            if !judged.insert(plan.raw().pos()) {
                continue;
            }
            let plan = spot::Plan::new(self, nth, plan);
            let values = values::check(&plan, &mut out);
            wanted.judge(&plan, &values, &mut out);
            plans::check(&plan, &values, &mut out);
            memory::check(&plan, &mut out);
            calls::check(&plan, &values, &mut out);
            delegates::check(&plan, &mut out);
        }
        plans::check_names(self, &mut out);
        layout::pte(self, &mut out);
        out.report()
    }
}

impl Ptd<'_> {
    /// Judges the file by every rule, with the limits for files of strangers.
    pub fn check(&self) -> Report {
        self.check_with(&Limits::UNTRUSTED)
    }

    /// Judges the file by every rule.
    pub fn check_with(&self, limits: &Limits) -> Report {
        let mut out = Findings::new(limits);
        data::check(self, &mut out);
        layout::ptd(self, &mut out);
        out.report()
    }
}

impl Report {
    /// The findings that were kept: at most [`Limits::findings_per_rule`] for each rule.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How often each rule was broken, whether kept or not.
    pub fn counts(&self) -> impl Iterator<Item = (&'static Rule, u64)> {
        self.counts.values().copied()
    }

    /// The worst severity that was found, whether kept or not.
    pub fn worst(&self) -> Option<Severity> {
        self.counts.values().map(|(rule, _)| rule.severity).max()
    }
}

/// How often each severity was met, and the first of the worst findings that were kept.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(worst) = self.worst() else { return f.write_str("nothing was found") };
        let count = self.counts().filter(|(rule, _)| rule.severity == worst);
        let count = count.fold(0u64, |sum, (_, count)| sum.saturating_add(count));
        write!(f, "{count} × {worst}")?;
        let mut worst = self.findings.iter().filter(|finding| finding.rule.severity == worst);
        worst.next().map_or(Ok(()), |first| {
            write!(f, ", the first: {}, {}, at {}", first.rule.id, first.message, first.place())
        })
    }
}

/// Of a file that is not [`sound`](crate::sound).
impl core::error::Error for Report {}

impl Finding {
    /// Offset and path, for showing.
    pub fn place(&self) -> Place<'_> {
        Place::new(Some(self.offset), &self.path)
    }
}

/// What rules write to.
pub(crate) struct Findings {
    found: Vec<Finding>,
    /// How often each rule was broken, the frequent ones first: a hostile file breaks millions of times
    /// what costs no more than to be counted.
    counts: Vec<(&'static Rule, u64)>,
    most: u64,
    /// The `.ptd` that is being looked at, where a program is judged with some.
    data: Option<usize>,
}

impl Findings {
    fn new(limits: &Limits) -> Self {
        let most = limits.findings_per_rule.into();
        Self { found: Vec::new(), counts: Vec::new(), most, data: None }
    }

    /// Another one for the same file, to be merged by [`extend`](Self::extend).
    fn another(&self) -> Self {
        Self { found: Vec::new(), counts: Vec::new(), most: self.most, data: self.data }
    }

    /// Whether nothing was found.
    fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// What was found, by rule.
    fn report(self) -> Report {
        let counts = self.counts.into_iter().map(|(rule, count)| (rule.id, (rule, count)));
        Report { findings: self.found, counts: counts.collect() }
    }

    /// How often a rule was broken.
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

    /// Adds what was found after what is here, as if it had been found here.
    fn extend(&mut self, later: Self) {
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

    /// Counts a finding, and keeps it while there are few. The path, outermost step first, and the
    /// message are only asked for if it is kept.
    #[cold]
    #[inline(never)]
    fn find(
        &mut self,
        rule: &'static Rule,
        offset: u64,
        path: impl FnOnce() -> Vec<Step>,
        message: impl FnOnce() -> String,
    ) {
        steps::take(1);
        let most = self.most;
        let Some(count) = self.count(rule) else { return };
        *count = count.saturating_add(1);
        if *count > most {
            return;
        }
        let mut path = path();
        path.reverse();
        let message = message();
        steps::take(path.len().saturating_add(message.len()));
        self.found.push(Finding { rule, message, offset, data: self.data, path });
    }
}
