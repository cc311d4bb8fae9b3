//! `pte completions`, and the values that shells offer while a command line is typed.

use std::ffi::OsString;
use std::path::Path;
use std::{env, io};

use clap::{Args, Command};
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, CompletionCandidate, Shell};
use pte::check::{Preset, RuleRecord};
use pte::{File, Handle, Limits};

use super::output::{Content, Output};
use super::problem::{Problem, Status};
use super::{Common, input};

/// Print completions for a shell
///
/// The shell asks the command for verbs, options, names of rules, and methods of the named file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte completions bash > ~/.local/share/bash-completion/completions/pte
  pte completions zsh > ~/.zfunc/_pte
  pte completions fish > ~/.config/fish/completions/pte.fish

Exit status: 0 printed, 2 usage, 3 not writable")]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let mut text = Vec::new();
        let shell = self.shell.to_string();
        let written = match Shells::builtins().completer(&shell) {
            Some(shell) => shell.write_registration(VARIABLE, "pte", "pte", "pte", &mut text),
            None => Err(io::Error::other("no completions for this shell")),
        };
        written.map_err(|error| Problem::io("completions", error))?;
        let out = Output::open(common.output.as_deref(), Content::Plain)?;
        out.finish_with(|out| out.bytes(&text))?;
        Ok(Status::Good)
    }
}

/// Answers a request of a shell to complete a command line of `command`. Returns whether there was
/// a request.
pub(super) fn answer(command_line: &[OsString], command: fn() -> Command) -> bool {
    if env::var_os(VARIABLE).is_none() {
        return false;
    }
    let completer = CompleteEnv::with_factory(command).var(VARIABLE).bin("pte");
    let here = env::current_dir().ok();
    // A shell shows no errors while a line is typed, so an error counts as an answer.
    completer.try_complete(command_line.iter().cloned(), here.as_deref()).unwrap_or(true)
}

/// Returns the names of rules, each with its description.
pub(super) fn rules() -> Vec<CompletionCandidate> {
    let rules = RuleRecord::all().into_iter();
    rules.map(|rule| CompletionCandidate::new(rule.id).help(Some(rule.what.into()))).collect()
}

/// Returns the names of presets.
pub(super) fn presets() -> Vec<CompletionCandidate> {
    let presets = Preset::ALL.iter();
    presets.map(|of| CompletionCandidate::new(of.id).help(Some(of.what.into()))).collect()
}

/// Returns the methods of the first program on the command line. Names that a shell would not read
/// as one plain word are left out.
pub(super) fn methods() -> Vec<CompletionCandidate> {
    let named = env::args_os().skip(1).filter(|word| Path::new(word).is_file());
    let names = named.filter_map(|word| methods_of(Path::new(&word))).next().unwrap_or_default();
    names.into_iter().map(CompletionCandidate::new).collect()
}

fn methods_of(path: &Path) -> Option<Vec<String>> {
    let is_plain = |name: &&str| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        !name.is_empty() && name.chars().all(is_word)
    };
    let (file, _) = input::open_regular(path).ok()?;
    let handle = Handle::open(file, &Limits::UNTRUSTED).ok()?;
    let File::Pte(pte) = handle.file() else { return None };
    let names = pte.program().execution_plan().into_iter().flatten().filter_map(|plan| plan.name());
    Some(names.filter(is_plain).take(MOST_METHODS).map(Into::into).collect())
}

/// The environment variable by which a shell requests completions.
const VARIABLE: &str = "PTE_COMPLETE";

/// The maximum number of methods that are offered.
const MOST_METHODS: usize = 256;
