//! Which findings count for more, or for nothing: `--allow`, `--deny`, `--runtime`.

use clap::Args;
use pte::check::{NEWEST, Rule, Severity, rules};

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
    runtime: Option<(u32, u32)>,
}

impl Levels {
    /// The release that is judged for, if one is named.
    pub(super) fn release(&self) -> Option<(u32, u32)> {
        self.runtime
    }

    /// What is to be said of the release before it is judged for.
    pub(super) fn note(&self) -> Option<String> {
        let (major, minor) = self.runtime.filter(|release| *release > NEWEST)?;
        Some(format!(
            "release {major}.{minor} is not known here, and is taken for {}.{}, the newest that is",
            NEWEST.0, NEWEST.1
        ))
    }

    /// Refuses names that are no rule's.
    pub(super) fn known(&self) -> Result<(), Problem> {
        if self.allow.iter().any(|name| name == "warnings") {
            return Err(Problem::Usage("--allow takes rules, one each".into()));
        }
        let told = Told::all();
        let is_unknown = |name: &&String| told.iter().all(|rule| rule.id != **name);
        if let Some(name) = self.allow.iter().find(is_unknown) {
            return Err(unknown(name, &[]));
        }
        let denied = self.deny.iter().filter(|name| *name != "warnings");
        if let Some(name) = denied.into_iter().find(is_unknown) {
            return Err(unknown(name, &["warnings"]));
        }
        // Those that are no rule's end the reading of a file; to deny one changes nothing.
        let refusal = self.allow.iter().find(|name| !rules().any(|rule| rule.id == *name));
        refusal.map_or(Ok(()), |name| {
            Err(Problem::Usage(format!(
                "{name} cannot be allowed: a file with it cannot be read any further, so that \
                 nothing of the rest would be judged; leave the file out instead"
            )))
        })
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
