//! `pte man`: manual pages.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command};

use super::output::{Content, Output};
use super::problem::{Problem, Status};
use super::{Common, grammar};

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

impl Man {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let mut command = grammar::command().disable_help_subcommand(true);
        command.build();
        if let Some(folder) = &self.all {
            if common.output.is_some() {
                return Err(Problem::Usage("--all and -o cannot be combined".into()));
            }
            for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
                write_page(verb.clone(), folder)?;
            }
            write_page(command, folder)?;
            return Ok(Status::Good);
        }
        let page = match &self.verb {
            None => command,
            Some(verb) => match command.find_subcommand(verb) {
                Some(found) => found.clone(),
                None => {
                    let message = format!("no verb is called {verb}");
                    return Err(Problem::Usage(message.into()));
                }
            },
        };
        let text = page_of(page).map_err(|error| Problem::io("pte.1", error))?;
        let out = Output::open(common.output.as_deref(), Content::Plain)?;
        out.finish_with(|out| out.bytes(&text))?;
        Ok(Status::Good)
    }
}

/// Writes the page of a command into a folder, under the file name that `man` expects.
fn write_page(command: Command, folder: &Path) -> Result<(), Problem> {
    let name = clap_mangen::Man::new(command.clone()).get_filename();
    let text = page_of(command).map_err(|error| Problem::io(name.clone(), error))?;
    let out = Output::open(Some(&folder.join(name)), Content::Plain)?;
    out.finish_with(|out| out.bytes(&text))
}

/// Returns the page of a command, as roff.
fn page_of(command: Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let has_verbs = command.has_subcommands();
    let page = clap_mangen::Man::new(command);
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if has_verbs {
        page.render_subcommands_section(&mut text)?;
    }
    write_sections(&after, &mut text)?;
    // Each section begins with the same definitions, but they are needed only once.
    let (first, rest) = text.split_at(text.len().min(PREAMBLE.len()));
    let rest = String::from_utf8_lossy(rest).replace(PREAMBLE, "");
    Ok([first, rest.as_bytes()].concat())
}

/// Writes the text after the options of a help page. A heading begins a line and ends with a colon;
/// `Exit status` may have its text on the same line. Lines are not filled, since filling would
/// break commands.
fn write_sections(text: &str, out: &mut impl Write) -> io::Result<()> {
    let mut is_open = false;
    for line in text.lines() {
        let heading = match line.split_once(':') {
            Some(("Exit status", rest)) => Some(("EXIT STATUS".into(), rest.trim())),
            Some((title, "")) if !title.starts_with(' ') => Some((title.to_uppercase(), "")),
            _ => None,
        };
        let line = match heading {
            Some((title, rest)) => {
                let end = if is_open { ".fi\n" } else { "" };
                write!(out, "{end}.SH {}\n.nf\n", roff(&title))?;
                is_open = true;
                rest
            }
            None => line,
        };
        match line {
            "" => {}
            line if is_open => writeln!(out, "{}", roff(line.strip_prefix("  ").unwrap_or(line)))?,
            line => writeln!(out, ".PP\n{}", roff(line))?,
        }
    }
    if is_open { writeln!(out, ".fi") } else { Ok(()) }
}

/// Escapes a line of text.
fn roff(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}

/// The definitions that clap_mangen writes in front of each section.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";
