//! Which findings count for more, or for nothing: `--allow`, `--deny`, `--runtime`.

use clap::Args;
use pte::check::{NEWEST, Policy, Release, Rule, rule};

use crate::cli::problem::Problem;
use crate::cli::rules::{Told, unknown};

/// How bad findings are taken to be.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct Levels {
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
    runtime: Option<Release>,
}

impl Levels {
    /// What is to be said of the release before it is judged for.
    pub(super) fn note(&self) -> Option<String> {
        let (major, minor) = self.runtime.filter(|release| *release > NEWEST)?;
        Some(format!(
            "release {major}.{minor} is not known here, and is taken for {}.{}, the newest that is",
            NEWEST.0, NEWEST.1
        ))
    }

    /// The policy that the arguments ask for.
    ///
    /// # Errors
    ///
    /// Names that are no rule's.
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
                // What ends the reading of a file is an Error already.
                (_, None) if is_refusal(name) => policy,
                _ => return Err(unknown(name, &["warnings"])),
            };
        }
        Ok(policy)
    }
}

/// The rule that is allowed by this name.
fn allowed(name: &str) -> Result<&'static Rule, Problem> {
    match rule(name) {
        Some(rule) => Ok(rule),
        None if name == "warnings" => Err(Problem::Usage("--allow takes rules, one each".into())),
        None if is_refusal(name) => {
            let message = format!(
                "{name} cannot be allowed: a file with it cannot be read any further, so that \
                 nothing of the rest would be judged; leave the file out instead"
            );
            Err(Problem::Usage(message.into()))
        }
        None => Err(unknown(name, &[])),
    }
}

/// Whether findings of this name end the reading of a file.
fn is_refusal(name: &str) -> bool {
    Told::all().iter().any(|told| told.id == name)
}

fn release(text: &str) -> Result<Release, String> {
    let number = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    };
    let parts: Option<Vec<u32>> = text.split('.').map(number).collect();
    let release = match parts.as_deref() {
        Some(&[major, minor] | &[major, minor, _]) => (major, minor),
        _ => return Err("a release such as 0.7 or 1.5.1".into()),
    };
    match release {
        (0, 0) => Err("the first release is 0.1".into()),
        (0, 8..) => Err("there is no such release: 0.7 was followed by 1.0".into()),
        _ => Ok(release),
    }
}
