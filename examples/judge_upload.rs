//! Judges an untrusted file as a server would: warnings are errors, and executable content is refused
//! wherever it lies. The exit status is 1 for a file that is not accepted.
//!
//! `cargo run --example judge_upload --no-default-features --features std -- upload.pte`

use core::error::Error;
use std::process::ExitCode;
use std::{env, fs};

use pte::check::{Checker, Policy, Severity, rule};
use pte::{Handle, Limits, OpenError};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: judge_upload FILE")?;
    let mut policy = Policy::new().deny_warnings();
    for name in ["content-executable", "content-embedded"] {
        policy = policy.deny(rule(name).ok_or("no such rule")?);
    }
    // Segments stay on disk: a file of gigabytes costs what its tables cost, and one pass over it.
    let handle = match Handle::open(fs::File::open(path)?, &Limits::UNTRUSTED) {
        Ok(handle) => handle,
        Err(OpenError::Refused(error)) => {
            println!("refused: {error}, at {}", error.place());
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(error.into()),
    };
    let report = Checker::new().policy(policy).scan(true).check(&handle)?;
    for finding in report.findings() {
        println!("{}[{}]: {}", finding.severity, finding.rule.id, finding.message);
    }
    let is_accepted = report.worst() != Some(Severity::Error);
    println!("{}", if is_accepted { "accepted" } else { "not accepted" });
    Ok(if is_accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
