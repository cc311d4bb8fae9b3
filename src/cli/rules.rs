//! `pte rules` and `pte explain`: what each rule requires, and why.

use core::fmt::{self, Write};

use clap::Args;
use pte::check::{NEWEST_VERSION, Preset, RuleDocument, RuleRecord, RulesDocument};
use pte::quoted::Untrusted;

use super::Common;
use super::columns::paragraph;
use super::format::Format;
use super::output::Output;
use super::problem::{BOLD, DIM, ERROR, NOTE, Problem, Status, WARNING};

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

/// Explain a rule or a preset: what it requires, why, and what to do
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte explain planned-arena
  pte explain vector-out-of-bounds
  pte explain untrusted-upload      the rules of a preset

Exit status: 0 shown, 2 no such rule, 3 not writable")]
pub(super) struct Explain {
    /// The name of a rule, as a finding shows it, or of a preset of `pte check`.
    rule: String,
    #[command(flatten)]
    format: Format,
}

impl Rules {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let out = Output::open(common.output.as_deref(), self.format.content())?;
        out.finish_with(|out| match self.format.is_json() {
            true => out.json(&RulesDocument::all()),
            false => Ok(list(out)?),
        })?;
        Ok(Status::Good)
    }
}

fn list(out: &mut Output) -> fmt::Result {
    let mut subject = "";
    for rule in RuleRecord::all() {
        if rule.subject != subject {
            subject = rule.subject;
            writeln!(out, "{BOLD}{subject}{BOLD:#}")?;
        }
        let style = style(rule.severity);
        writeln!(
            out,
            "  {style}{:<7}{style:#} {:<27} {DIM}{}{DIM:#}",
            rule.severity,
            rule.id,
            paragraph(rule.what, 38)
        )?;
    }
    Ok(())
}

impl Explain {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let record = RuleRecord::all().into_iter().find(|rule| rule.id == self.rule);
        let Some(rule) = record else {
            return match Preset::of_id(&self.rule) {
                Some(preset) => self.show_preset(preset, common),
                None => Err(unknown_rule(&self.rule, &presets())),
            };
        };
        let out = Output::open(common.output.as_deref(), self.format.content())?;
        out.finish_with(|out| match self.format.is_json() {
            true => out.json(&RuleDocument::new(rule)),
            false => Ok(explain(&rule, out)?),
        })?;
        Ok(Status::Good)
    }

    fn show_preset(&self, preset: Preset, common: &Common) -> Result<Status, Problem> {
        if self.format.is_json() {
            return Err(Problem::Usage("presets are explained as text only".into()));
        }
        let out = Output::open(common.output.as_deref(), self.format.content())?;
        out.finish_with(|out| Ok(explain_preset(preset, out)?))?;
        Ok(Status::Good)
    }
}

fn presets() -> Vec<&'static str> {
    Preset::ALL.iter().map(|preset| preset.id).collect()
}

fn explain(rule: &RuleRecord, out: &mut Output) -> fmt::Result {
    let style = style(rule.severity);
    writeln!(out, "{style}{}[{}]{style:#}", rule.severity, rule.id)?;
    writeln!(out, "  {}", paragraph(rule.what, 2))?;
    writeln!(out, "  {DIM}otherwise{DIM:#}  {}", paragraph(rule.why, 13))?;
    writeln!(out, "  {DIM}what to do{DIM:#} {}", paragraph(rule.help, 13))?;
    writeln!(out, "  {DIM}runtime{DIM:#}    {} (release {NEWEST_VERSION})", rule.runtime)?;
    if let [_, ..] = rule.sections.as_slice() {
        writeln!(out, "  {DIM}evidence{DIM:#}   docs/format.md, {}", rule.sections.join(", "))?;
    }
    writeln!(out, "  {DIM}see{DIM:#}        {}", rule.url().as_ref().unwrap_or(&rule.page))
}

/// Shows the rules of a preset, each with the reason why the preset denies it.
fn explain_preset(preset: Preset, out: &mut Output) -> fmt::Result {
    writeln!(out, "{BOLD}{}{BOLD:#}  {}", preset.id, preset.what)?;
    if preset.scans {
        writeln!(out, "  All bytes are searched for executable content, as with --scan-blobs.")?;
    }
    writeln!(out, "  These rules are Errors, besides those that are anyway:")?;
    for (rule, why) in preset.rules() {
        writeln!(out, "    {ERROR}{:<20}{ERROR:#} {}", rule.id, paragraph(rule.what, 25))?;
        writeln!(out, "    {:<20} {DIM}{}{DIM:#}", "", paragraph(why, 25))?;
    }
    Ok(())
}

/// Returns the problem of an unknown rule, with the most similar names of rules and of `others`.
pub(super) fn unknown_rule(name: &str, others: &[&'static str]) -> Problem {
    let normalized = name.to_lowercase().replace(['_', ' '], "-");
    let rules = RuleRecord::all();
    let mut similar: Vec<_> = rules
        .iter()
        .map(|rule| rule.id)
        .chain(others.iter().copied())
        .map(|id| match normalized.len() >= MIN_PART && id.contains(&normalized) {
            true => (1.0, id),
            false => (strsim::jaro_winkler(id, &normalized), id),
        })
        .filter(|(score, _)| *score > MIN_SIMILARITY)
        .collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0));
    let similar: Vec<_> = similar.iter().take(MAX_SUGGESTIONS).map(|(_, id)| *id).collect();
    let similar = match similar.as_slice() {
        [] => String::new(),
        some => format!(" (did you mean {}?)", some.join(" or ")),
    };
    let name = Untrusted::from(name);
    Problem::Usage(format!("no rule is called {name:?}{similar}; `pte rules` lists them").into())
}

/// The minimum similarity of a suggestion. Typing errors score higher, and unrelated words lower.
const MIN_SIMILARITY: f64 = 0.8;
/// The minimum length in bytes of a part of a name that is searched for.
const MIN_PART: usize = 3;
/// The maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

fn style(severity: &str) -> anstyle::Style {
    match severity {
        "error" => ERROR,
        "warning" => WARNING,
        _ => NOTE,
    }
}
