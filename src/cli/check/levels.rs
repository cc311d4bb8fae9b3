//! Which findings count for more, or for nothing: `--allow`, `--deny`, `--runtime`.

use clap::Args;
use pte::check::{Rule, Severity, rules};

use crate::cli::problem::Problem;

/// How bad findings are taken to be.
#[derive(Debug, Args)]
pub(super) struct Levels {
    /// Leave findings of this rule out.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Take findings of this rule, or all warnings, for Errors.
    #[arg(long, value_name = "RULE|warnings")]
    deny: Vec<String>,
    /// Judge for this release of the runtime, such as 0.7: what it no longer reads, or does not know
    /// yet and cannot do without, is an Error.
    #[arg(long, value_name = "VERSION", value_parser = release)]
    #[arg(conflicts_with = "structure_only")]
    runtime: Option<(u32, u32)>,
}

impl Levels {
    /// The release that is judged for, if one is named.
    pub(super) fn release(&self) -> Option<(u32, u32)> {
        self.runtime
    }

    /// Refuses names that are no rule's.
    pub(super) fn known(&self) -> Result<(), Problem> {
        let names = self.allow.iter().chain(&self.deny);
        for name in names.filter(|name| *name != "warnings") {
            if !rules().any(|rule| rule.id == *name) {
                let message = format!("there is no rule {name:?}; `pte rules` lists them");
                return Err(Problem::Usage(message));
            }
        }
        if self.allow.iter().any(|name| name == "warnings") {
            return Err(Problem::Usage("--allow takes rules, one each".into()));
        }
        Ok(())
    }

    /// How bad a finding of `rule` is; `None` if it is left out.
    pub(super) fn of(&self, rule: &Rule) -> Option<Severity> {
        if self.allow.iter().any(|name| name == rule.id) {
            return None;
        }
        let refused = self.runtime.is_some_and(|release| rule.is_refused_by(release));
        let denied = self.deny.iter().any(|name| {
            name == rule.id || (name == "warnings" && rule.severity == Severity::Warning)
        });
        let taken = self.runtime.is_some_and(|release| rule.is_taken_by(release));
        Some(match () {
            () if denied || refused => Severity::Error,
            () if taken => Severity::Note,
            () => rule.severity,
        })
    }
}

fn release(text: &str) -> Result<(u32, u32), String> {
    let mut parts = text.split('.').map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor)),
        _ => Err("a release such as 0.7 or 1.5.1".into()),
    }
}
