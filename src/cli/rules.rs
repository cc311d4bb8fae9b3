//! `pte rules` and `pte explain`: what a finding means.

use core::fmt::{self, Write};

use clap::Args;
use pte::ErrorKind;
use pte::check::{Rule, coverage, rules};
use serde::Serialize;

use super::output::{Output, formatted};
use super::problem::{BOLD, DIM, ERROR, NOTE, Problem, Status, WARNING};
use super::{Common, Format};

/// List every rule
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte rules
  pte rules --json | jq -r '.rules[] | select(.severity == \"error\").id'

Exit status: 0 listed, 2 usage, 3 not writable")]
pub(super) struct Rules {
    #[command(flatten)]
    format: Format,
}

/// Tell what a rule asks, why, and what the official runtime does
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte explain planned-arena
  pte explain vector-out-of-bounds

Exit status: 0 told, 2 there is no such rule, 3 not writable")]
pub(super) struct Explain {
    /// The name of a rule, as a finding shows it.
    rule: String,
    #[command(flatten)]
    format: Format,
}

/// A rule of structure or of meaning, as JSON.
#[derive(Serialize)]
struct Told {
    id: &'static str,
    subject: &'static str,
    severity: &'static str,
    what: &'static str,
    why: &'static str,
    runtime: &'static str,
    sections: Vec<&'static str>,
}

impl Told {
    fn all() -> Vec<Self> {
        let structure = ErrorKind::CODES.iter().filter(|(code, _)| !rules().any(|r| r.id == *code));
        let structure = structure.map(|&(id, why)| Self {
            id,
            subject: "structure",
            severity: "error",
            what: "The file can be read at all.",
            why,
            runtime: "refuses, crashes or reads wrong memory",
            sections: core::iter::once("0.2").chain(coverage::rows_of(id)).collect(),
        });
        rules().map(Self::of).chain(structure).collect()
    }

    fn of(rule: &'static Rule) -> Self {
        Self {
            id: rule.id,
            subject: rule.subject,
            severity: rule.severity.name(),
            what: rule.what,
            why: rule.why,
            runtime: rule.runtime.name(),
            sections: rule.rows.to_vec(),
        }
    }
}

impl Rules {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let mut out = Output::open(common.output.as_deref(), self.format.content())?;
        if self.format.is_json() {
            out.json(&serde_json::json!({ "schema": "pte.rules/1", "rules": Told::all() }))?;
            out.finish()?;
        } else {
            let written = list(&mut out);
            formatted(out, written)?;
        }
        Ok(Status::Good)
    }
}

fn list(out: &mut Output) -> fmt::Result {
    let mut subject = "";
    for rule in Told::all() {
        if rule.subject != subject {
            subject = rule.subject;
            writeln!(out, "{BOLD}{subject}{BOLD:#}")?;
        }
        let style = style(rule.severity);
        match rule.subject {
            "structure" => writeln!(out, "  {style}{:<7}{style:#} {}", rule.severity, rule.id)?,
            _ => writeln!(
                out,
                "  {style}{:<7}{style:#} {:<27} {DIM}{}{DIM:#}",
                rule.severity, rule.id, rule.what
            )?,
        }
    }
    Ok(())
}

impl Explain {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let Some(rule) = Told::all().into_iter().find(|rule| rule.id == self.rule) else {
            let message = format!("there is no rule {:?}; `pte rules` lists them", self.rule);
            return Err(Problem::Usage(message));
        };
        let mut out = Output::open(common.output.as_deref(), self.format.content())?;
        if self.format.is_json() {
            out.json(&serde_json::json!({ "schema": "pte.explain/1", "rule": rule }))?;
            out.finish()?;
        } else {
            let written = explain(&rule, &mut out);
            formatted(out, written)?;
        }
        Ok(Status::Good)
    }
}

fn explain(rule: &Told, out: &mut Output) -> fmt::Result {
    let style = style(rule.severity);
    writeln!(out, "{style}{}[{}]{style:#}", rule.severity, rule.id)?;
    writeln!(out, "  {}", rule.what)?;
    writeln!(out, "  {DIM}otherwise{DIM:#}  {}", rule.why)?;
    writeln!(out, "  {DIM}runtime{DIM:#}    {} (release 1.5.1)", rule.runtime)?;
    writeln!(out, "  {DIM}see{DIM:#}        docs/format.md, {}", rule.sections.join(", "))
}

fn style(severity: &str) -> anstyle::Style {
    match severity {
        "error" => ERROR,
        "warning" => WARNING,
        _ => NOTE,
    }
}
