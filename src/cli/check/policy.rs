//! The policy of `pte check`: `--allow`, `--deny`, `--preset` and `--runtime`, and their
//! counterparts in `pte.toml`.

use clap::Args;
use pte::check::{
    NEWEST, Policy, Preset, Release, Rule, RuleRecord, data_rule, parse_release, rule,
};
use pte::quoted::Untrusted;

use crate::byte_size::ByteSize;
use crate::config::CheckConfig;
use crate::problem::Problem;
use crate::rules::unknown_rule;

/// Arguments that change severities.
#[derive(Debug, Default, Args)]
pub(in super::super) struct PolicyArguments {
    /// Ignore findings of this rule.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Report findings of this rule, or all warnings, as Errors.
    #[arg(long, value_name = "RULE|warnings")]
    deny: Vec<String>,
    /// Report findings of a set of rules as Errors: untrusted-upload (`pte explain untrusted-upload`).
    #[arg(long, value_name = "PRESET", conflicts_with = "structure_only")]
    preset: Option<String>,
    /// Exit with status 1 if a file needs data of a .ptd that is not given.
    #[arg(long, conflicts_with = "structure_only")]
    require_data: bool,
    /// Report a program if loading all of its methods allocates more than SIZE, such as 64MiB, by the figures
    /// in the file.
    #[arg(long, value_name = "SIZE", conflicts_with = "structure_only")]
    max_memory: Option<ByteSize>,
    /// Check for this release of the runtime, such as 0.7. What that release cannot read is an Error.
    #[arg(long, value_name = "VERSION", value_parser = parse_release)]
    #[arg(conflicts_with = "structure_only")]
    runtime: Option<Release>,
}

impl PolicyArguments {
    /// Returns the preset that the arguments or else the settings choose, if any.
    pub(super) fn preset(&self, config: &CheckConfig) -> Result<Option<Preset>, Problem> {
        let Some(id) = self.preset.as_ref().or(config.preset.as_ref()) else { return Ok(None) };
        let known = || Preset::ALL.iter().map(|preset| preset.id).collect::<Vec<_>>().join(", ");
        let unknown = || {
            let id = Untrusted::from(id.as_str());
            Problem::Usage(format!("no preset is called {id:?}: there is {}", known()).into())
        };
        Preset::of_id(id).map(Some).ok_or_else(unknown)
    }

    /// Returns the release that the arguments or else the settings choose, if any.
    fn release(&self, config: &CheckConfig) -> Result<Option<Release>, Problem> {
        let Some(text) = config.runtime.as_ref().filter(|_| self.runtime.is_none()) else {
            return Ok(self.runtime);
        };
        let invalid = |error| Problem::Usage(format!("runtime in pte.toml: {error}").into());
        parse_release(text).map(Some).map_err(invalid)
    }

    /// Returns the limit of memory that the arguments or else the settings choose, if any.
    fn max_memory(&self, config: &CheckConfig) -> Result<Option<ByteSize>, Problem> {
        let Some(text) = config.max_memory.as_ref().filter(|_| self.max_memory.is_none()) else {
            return Ok(self.max_memory);
        };
        let invalid =
            |error| Problem::Usage(format!("check.max-memory in pte.toml: {error}").into());
        text.parse().map(Some).map_err(invalid)
    }

    /// Returns the policy of the arguments and the settings, or a usage error for an unknown rule.
    /// `note` is called if the release is newer than all known ones.
    pub(super) fn policy(
        &self,
        config: &CheckConfig,
        note: impl FnOnce(&str),
    ) -> Result<Policy, Problem> {
        let mut policy = Policy::new();
        if let Some(release) = self.release(config)? {
            if release > NEWEST {
                let ((major, minor), newest) = (release, format!("{}.{}", NEWEST.0, NEWEST.1));
                note(&format!(
                    "release {major}.{minor} is not known: files are checked for {newest}, the \
                     newest known release"
                ));
            }
            policy = policy.runtime(release);
        }
        if let Some(preset) = self.preset(config)? {
            policy = policy.preset(preset);
        }
        if self.require_data || config.require_data {
            policy = policy.deny(data_rule());
        }
        if let Some(ByteSize(most)) = self.max_memory(config)? {
            policy = policy.max_memory(most);
        }
        for name in self.allow.iter().chain(&config.allow) {
            policy = policy.allow(allowed(name)?);
        }
        for name in self.deny.iter().chain(&config.deny) {
            let unknown = || unknown_rule(name, &["warnings"]);
            policy = policy.deny_named(name).ok_or_else(unknown)?;
        }
        Ok(policy)
    }
}

/// Returns the rule called `name`, if findings of that rule can be ignored.
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

/// Returns whether `name` is the code of a refusal. A refusal ends reading, and is not a [`Rule`].
fn is_refusal(name: &str) -> bool {
    RuleRecord::all().iter().any(|record| record.id == name)
}
