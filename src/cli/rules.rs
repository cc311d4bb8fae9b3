//! `pte rules` and `pte explain`: what a finding means.

use core::fmt::{self, Write};

use clap::Args;
use pte::ErrorKind;
use pte::check::{Rule, Severity, coverage, rules};
use pte::quoted::Untrusted;
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

/// A name that a finding may have, as JSON.
#[derive(Serialize)]
pub(super) struct Told {
    pub(super) id: &'static str,
    pub(super) subject: &'static str,
    pub(super) severity: &'static str,
    pub(super) what: &'static str,
    pub(super) why: &'static str,
    pub(super) runtime: &'static str,
    /// What to do, where that follows from the name alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help: Option<&'static str>,
    pub(super) sections: Vec<&'static str>,
}

/// What is found where there is no file to judge.
pub(super) const UNREADABLE: &str = "unreadable";

impl Told {
    /// Every rule of meaning, every refusal that is none of them, and what the command adds.
    pub(super) fn all() -> Vec<Self> {
        let structure = ErrorKind::CODES.iter().filter(|code| !rules().any(|r| r.id == code.id));
        let structure = structure.map(|code| Self {
            id: code.id,
            subject: "structure",
            severity: Severity::Error.name(),
            what: code.what,
            why: code.why,
            runtime: code.runtime,
            help: Some(code.help),
            sections: core::iter::once("0.2").chain(coverage::rows_of(code.id)).collect(),
        });
        let unreadable = Self {
            id: UNREADABLE,
            subject: "command",
            severity: Severity::Error.name(),
            what: "What is named, or found in a folder by its name, is a file that can be read.",
            why: "It was not judged: to pass it over would call it good.",
            runtime: "is not asked",
            help: Some(
                "See what is there: whether it may be read, is a regular file, and is what it was \
                 given for.",
            ),
            sections: Vec::new(),
        };
        rules().map(Self::of).chain(structure).chain([unreadable]).collect()
    }

    fn of(rule: &'static Rule) -> Self {
        Self {
            id: rule.id,
            subject: rule.subject,
            severity: rule.severity.name(),
            what: rule.what,
            why: rule.why,
            runtime: rule.runtime.name(),
            help: None,
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
        writeln!(
            out,
            "  {style}{:<7}{style:#} {:<27} {DIM}{}{DIM:#}",
            rule.severity, rule.id, rule.what
        )?;
    }
    Ok(())
}

impl Explain {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let Some(rule) = Told::all().into_iter().find(|rule| rule.id == self.rule) else {
            return Err(unknown(&self.rule, &[]));
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
    if let Some(help) = rule.help {
        writeln!(out, "  {DIM}what to do{DIM:#} {help}")?;
    }
    match rule.sections.as_slice() {
        [] => Ok(()),
        some => writeln!(out, "  {DIM}see{DIM:#}        docs/format.md, {}", some.join(", ")),
    }
}

/// For a name that is neither a rule's nor one of `others`: those that are nearest to it.
pub(super) fn unknown(name: &str, others: &[&'static str]) -> Problem {
    let meant = name.to_lowercase().replace(['_', ' '], "-");
    let rules = Told::all();
    let mut near: Vec<_> = rules
        .iter()
        .map(|rule| rule.id)
        .chain(others.iter().copied())
        .map(|id| match meant.len() >= SHORTEST && id.contains(&meant) {
            true => (1.0, id),
            false => (strsim::jaro_winkler(id, &meant), id),
        })
        .filter(|(score, _)| *score > NEAR)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<_> = near.iter().take(MOST_NEAR).map(|(_, id)| *id).collect();
    let near = match near.as_slice() {
        [] => String::new(),
        some => format!(" (did you mean {}?)", some.join(" or ")),
    };
    let name = Untrusted::from(name);
    Problem::Usage(format!("there is no rule {name:?}{near}; `pte rules` lists them").into())
}

/// A typing error or a missing ending scores more, two different words less.
const NEAR: f64 = 0.8;
/// Letters of a part of a name that says something.
const SHORTEST: usize = 3;
const MOST_NEAR: usize = 3;

fn style(severity: &str) -> anstyle::Style {
    match severity {
        "error" => ERROR,
        "warning" => WARNING,
        _ => NOTE,
    }
}
