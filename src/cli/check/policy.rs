//! The policy of `pte check`: `--allow`, `--deny` and `--runtime`.

use clap::Args;
use pte::check::{NEWEST, Policy, Release, Rule, RuleRecord, parse_release, rule};

use crate::cli::problem::Problem;
use crate::cli::rules::unknown_rule;

/// Arguments that change severities.
#[derive(Debug, Default, Args)]
pub(in super::super) struct PolicyArguments {
    /// Ignore findings of this rule.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Report findings of this rule, or all warnings, as Errors.
    #[arg(long, value_name = "RULE|warnings")]
    deny: Vec<String>,
    /// Check for this release of the runtime, such as 0.7. What that release cannot read is an Error.
    #[arg(long, value_name = "VERSION", value_parser = parse_release)]
    #[arg(conflicts_with = "structure_only")]
    runtime: Option<Release>,
}

impl PolicyArguments {
    /// Returns a note if the release is newer than the newest known one.
    pub(super) fn note(&self) -> Option<String> {
        let (major, minor) = self.runtime.filter(|release| *release > NEWEST)?;
        Some(format!(
            "release {major}.{minor} is not known: files are checked for {}.{}, the newest known release",
            NEWEST.0, NEWEST.1
        ))
    }

    /// Returns the policy of the arguments, or a usage error for an unknown rule.
    pub(super) fn policy(&self) -> Result<Policy, Problem> {
        let mut policy = Policy::new();
        if let Some(release) = self.runtime {
            policy = policy.runtime(release);
        }
        for name in &self.allow {
            policy = policy.allow(allowed(name)?);
        }
        for name in &self.deny {
            policy = match (name.as_str(), rule(name)) {
                ("warnings", _) => policy.deny_warnings(),
                (_, Some(rule)) => policy.deny(rule),
                // A refusal is an Error already.
                (_, None) if is_refusal(name) => policy,
                _ => return Err(unknown_rule(name, &["warnings"])),
            };
        }
        Ok(policy)
    }
}

/// Returns the rule called `name`, if it can be ignored.
fn allowed(name: &str) -> Result<&'static Rule, Problem> {
    match rule(name) {
        Some(rule) => Ok(rule),
        None if name == "warnings" => {
            Err(Problem::Usage("--allow takes the name of a rule".into()))
        }
        None if is_refusal(name) => {
            let message = format!(
                "{name} cannot be allowed: reading ends there, so that the rest of the file cannot \
                 be checked; leave the file out instead"
            );
            Err(Problem::Usage(message.into()))
        }
        None => Err(unknown_rule(name, &[])),
    }
}

/// Whether `name` is the name of a finding that is not of a [`Rule`]: reading the file ends there.
fn is_refusal(name: &str) -> bool {
    RuleRecord::all().iter().any(|record| record.id == name)
}
