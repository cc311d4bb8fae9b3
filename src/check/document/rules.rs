//! The documents `pte.rules/1` and `pte.explain/1`: every id that a finding may have.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{Policy, Rule, Severity, coverage, rule, rules};
use pte_core::ErrorKind;

/// The name of the finding on a file that could not be read.
pub const UNREADABLE: &str = "unreadable";

/// What to do about a file that could not be read, if the reason says no more.
pub(super) const UNREADABLE_HELP: &str = "Check that the path is a file of the expected kind, or a folder that has one, and that you may read it.";

/// The name of the finding on a requested method, key or index that the file does not have.
pub const ABSENT: &str = "absent";

/// The address of the folder `docs`, from the variable `PTE_DOCS_URL` when the crate was built.
/// Without it, links to the documentation are left out.
pub const DOCS_URL: Option<&str> = option_env!("PTE_DOCS_URL");

/// The folder of the documentation in the repository.
const DOCS: &str = "docs/";

fn page(id: &str) -> String {
    format!("{DOCS}rules.md#{id}")
}

/// The document `pte.rules/1`: every rule.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RulesDocument {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The rules, by subject.
    pub rules: Vec<RuleRecord>,
}

/// The document `pte.explain/1`: one rule.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RuleDocument {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The rule.
    pub rule: RuleRecord,
}

/// A name that a finding may have: a rule, the code of a refusal, [`UNREADABLE`] or [`ABSENT`].
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RuleRecord {
    /// The stable name.
    pub id: &'static str,
    /// The subject of the rule.
    pub subject: &'static str,
    /// The name of its severity.
    pub severity: &'static str,
    /// The requirement.
    pub what: &'static str,
    /// The consequence if the requirement is not met.
    pub why: &'static str,
    /// What the official runtime does if the rule is broken.
    pub runtime: &'static str,
    /// What to do about a finding.
    pub help: &'static str,
    /// The sections of `docs/format.md` with the evidence.
    pub sections: Vec<&'static str>,
    /// The place of the rule in the documentation: a page of the repository, and the anchor there.
    pub page: String,
}

impl RulesDocument {
    /// Returns the document of every rule.
    #[must_use]
    pub fn all() -> Self {
        Self { schema: "pte.rules/1", rules: RuleRecord::all() }
    }
}

impl RuleDocument {
    /// Returns the document of `rule`.
    #[must_use]
    pub fn new(rule: RuleRecord) -> Self {
        Self { schema: "pte.explain/1", rule }
    }
}

impl Policy {
    /// Turns findings of the rule called `name` into Errors, or all Warnings for `warnings`. A refusal
    /// is an Error already, so its code changes nothing. Returns `None` for another name.
    #[must_use]
    pub fn deny_named(self, name: &str) -> Option<Self> {
        match rule(name) {
            _ if name == "warnings" => Some(self.deny_warnings()),
            Some(rule) => Some(self.deny(rule)),
            None => RuleRecord::all().iter().any(|record| record.id == name).then_some(self),
        }
    }
}

impl RuleRecord {
    /// Returns every name that a finding may have: rules, then codes of refusals that are not
    /// rules, then [`UNREADABLE`] and [`ABSENT`].
    #[must_use]
    pub fn all() -> Vec<Self> {
        let refusals = ErrorKind::CODES.iter().filter(|code| !rules().any(|r| r.id == code.id));
        let refusals = refusals.map(|code| Self {
            id: code.id,
            subject: "structure",
            severity: Severity::Error.name(),
            what: code.what,
            why: code.why,
            runtime: code.runtime,
            help: code.help,
            sections: core::iter::once("0.2").chain(coverage::rows_of(code.id)).collect(),
            page: page(code.id),
        });
        let unreadable = Self {
            id: UNREADABLE,
            subject: "command",
            severity: Severity::Error.name(),
            what: "A path that is given, or has the name of a model, is a file that can be read.",
            why: "The file was not checked. To skip it would pass it as good.",
            runtime: "is not asked",
            help: UNREADABLE_HELP,
            sections: Vec::new(),
            page: page(UNREADABLE),
        };
        let absent = Self {
            id: ABSENT,
            subject: "command",
            severity: Severity::Error.name(),
            what: "A file has the method, the key or the index that was asked for.",
            why: "Nothing is shown. `check` never reports it.",
            runtime: "is not asked",
            help: "List what the file has: `pte info` shows methods, `pte tensors` keys.",
            sections: Vec::new(),
            page: page(ABSENT),
        };
        rules().map(Self::of).chain(refusals).chain([unreadable, absent]).collect()
    }

    /// Returns the address of the rule's description; `None` if [`DOCS_URL`] is not set.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        let base = DOCS_URL.filter(|base| !base.is_empty())?;
        let page = self.page.strip_prefix(DOCS)?;
        Some(format!("{}/{page}", base.trim_end_matches('/')))
    }

    fn of(rule: &'static Rule) -> Self {
        Self {
            id: rule.id,
            subject: rule.subject,
            severity: rule.severity.name(),
            what: rule.what,
            why: rule.why,
            runtime: rule.runtime.name(),
            help: rule.help,
            sections: rule.rows.to_vec(),
            page: page(rule.id),
        }
    }
}
