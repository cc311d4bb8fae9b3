//! `pte completions` and `pte man`.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::output::{Content, Output};
use super::problem::{Problem, Status};
use super::{Arguments, Common};

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte completions bash > ~/.local/share/bash-completion/completions/pte
  pte completions zsh > ~/.zfunc/_pte

Exit status: 0 printed, 2 usage, 3 not writable")]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte man | man -l -
  pte man --all /usr/local/share/man/man1

Exit status: 0 printed, 2 usage, 3 not writable")]
pub(super) struct Man {
    /// Write a page for the command and for each verb into this folder.
    #[arg(long, value_name = "FOLDER")]
    all: Option<PathBuf>,
    /// The page of this verb.
    verb: Option<String>,
}

impl Completions {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "pte", &mut text);
        let mut out = Output::open(common.output.as_deref(), Content::Plain)?;
        out.bytes(&text)?;
        out.finish()?;
        Ok(Status::Good)
    }
}

impl Man {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let command = Arguments::command();
        if let Some(folder) = &self.all {
            if common.output.is_some() {
                return Err(Problem::Usage("--all and -o cannot be combined".into()));
            }
            let mut command = command.disable_help_subcommand(true);
            command.build();
            for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
                write_page(verb.clone(), folder)?;
            }
            write_page(command, folder)?;
            return Ok(Status::Good);
        }
        let page = match &self.verb {
            None => command,
            Some(verb) => match command.find_subcommand(verb) {
                Some(found) => found.clone().display_name(format!("pte-{verb}")),
                None => {
                    let message = format!("no verb is called {verb}");
                    return Err(Problem::Usage(message.into()));
                }
            },
        };
        let mut text = Vec::new();
        let rendered = clap_mangen::Man::new(page).render(&mut text);
        rendered.map_err(|error| Problem::io("pte.1", error))?;
        let mut out = Output::open(common.output.as_deref(), Content::Plain)?;
        out.bytes(&text)?;
        out.finish()?;
        Ok(Status::Good)
    }
}

/// Writes the page of a command into a folder, under the file name that `man` expects.
fn write_page(command: clap::Command, folder: &Path) -> Result<(), Problem> {
    let page = clap_mangen::Man::new(command);
    let name = page.get_filename();
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| Problem::io(name.clone(), error))?;
    let mut out = Output::open(Some(&folder.join(name)), Content::Plain)?;
    out.bytes(&text)?;
    out.finish()
}
