//! The command: parses arguments, runs a verb and returns an exit status.
//!
//! As WebAssembly (`web/`) it has no disk to write to and no terminal. So it is built without the verbs that write
//! models, the page of `map --html`, completions and manual pages.

#![cfg_attr(
    target_family = "wasm",
    allow(dead_code, unused_imports, reason = "some of it is for the verbs that write only")
)]

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, FromArgMatches, Parser, ValueEnum};

use pte::Limits;
use pte::quoted::{Untrusted, UntrustedString};

mod atomic;
#[cfg(not(target_family = "wasm"))]
mod build;
mod byte_size;
mod check;
mod columns;
#[cfg(not(target_family = "wasm"))]
mod complete;
mod config;
#[cfg(not(target_family = "wasm"))]
mod convert;
mod diff;
mod dump;
#[cfg(not(target_family = "wasm"))]
mod edit;
#[cfg(not(target_family = "wasm"))]
mod embed;
mod extract;
mod format;
mod grammar;
mod graph;
mod identity;
mod info;
mod input;
mod json;
mod kernels;
#[cfg(not(target_family = "wasm"))]
mod man;
mod map;
mod memory;
mod ops;
mod other;
mod output;
mod problem;
mod profile;
mod progress;
mod refusal;
#[cfg(feature = "remote")]
mod remote;
mod reserve;
mod rules;
mod save;
#[cfg(feature = "scan")]
mod scan;
mod schema;
mod size;
mod temporary;
mod tensors;
mod text;
mod verbs;
#[cfg(not(target_family = "wasm"))]
mod view;

use problem::{Problem, Status};
use verbs::Verb;

/// Runs a command line, whose first argument is the name of the program, and returns the exit
/// status.
pub fn run(command_line: Vec<OsString>) -> u8 {
    #[cfg(not(target_family = "wasm"))]
    if complete::answer(&command_line, grammar::command) {
        return Status::Good.into();
    }
    let arguments = match parse(&command_line) {
        Ok(arguments) => arguments,
        Err(error) => {
            let status = if error.use_stderr() { Status::Usage } else { Status::Good };
            return print(&error, &command_line)
                .map_or_else(|failed| failed.report(), |()| status)
                .into();
        }
    };
    temporary::report_large_files();
    arguments.common.color.apply();
    arguments.run().into()
}

/// Returns the maximum number of bytes of memory that a command line may need for each byte of the
/// FlatBuffer that it reads; `None` if the command line is wrong.
pub fn memory_factor(command_line: &[&str]) -> Option<u64> {
    Some(parse(command_line).ok()?.verb.memory_factor())
}

/// Parses a command line.
fn parse<T: Into<OsString> + Clone>(
    command_line: impl IntoIterator<Item = T>,
) -> Result<Arguments, clap::Error> {
    let mut command = grammar::command();
    let mut found = command.try_get_matches_from_mut(command_line)?;
    Arguments::from_arg_matches_mut(&mut found).map_err(|error| error.format(&mut command))
}

/// Prints the help or a usage error. The parser quotes arguments unescaped. If an argument needs
/// escapes, the command line is parsed again with all arguments escaped.
///
/// # Errors
///
/// Standard output cannot be written.
fn print(error: &clap::Error, command_line: &[OsString]) -> Result<(), Problem> {
    let given: Vec<_> =
        command_line.iter().map(|argument| UntrustedString::from(argument.as_os_str())).collect();
    let escaped: Vec<_> = given.iter().map(ToString::to_string).collect();
    let is_harmless = given.iter().zip(&escaped).all(|(given, escaped)| given.raw() == escaped);
    let again = match is_harmless {
        true => None,
        false => parse(escaped).err(),
    };
    match again {
        Some(again) if again.kind() == error.kind() => write_out(&again),
        None if is_harmless => write_out(error),
        // Escaping changed the error, so the original error is printed with its text escaped.
        _ => {
            let plain = error.render().to_string();
            let lines = plain.lines().map(|line| format!("{}\n", Untrusted::from(line)));
            problem::lines(&lines.collect::<String>());
            Ok(())
        }
    }
}

fn write_out(message: &clap::Error) -> Result<(), Problem> {
    let written = message.print().and_then(|()| io::stdout().flush());
    match message.use_stderr() {
        // The exit status says that the command line is wrong.
        true => Ok(()),
        false => written.map_err(|error| Problem::io("<standard output>", error)),
    }
}

/// Inspect, validate and edit ExecuTorch .pte and .ptd files, trusted or not.
///
/// Reads .pte programs and .ptd data files of every release, recognized by content. No input makes it
/// crash, hang or use more memory than a small multiple of the file.
#[derive(Debug, Parser)]
#[command(
    name = "pte",
    version,
    after_help = AFTER_HELP,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    verb: Verb,
}

impl Arguments {
    fn run(&self) -> Status {
        let Self { common, verb } = self;
        reserve::set_factor(verb.memory_factor());
        input::set_max_stream(common.max_stream());
        #[cfg(feature = "remote")]
        common.remote.set();
        let done = verb.run(common);
        #[cfg(feature = "remote")]
        common.remote.report();
        done.unwrap_or_else(|problem| {
            if verb.is_json() && common.output.is_none() {
                refusal::write_document(&problem);
            }
            problem.report()
        })
    }
}

const AFTER_HELP: &str = "\
Examples:
  pte info model.pte                     a summary on one screen
  pte check models/                      validate every file in a folder
  pte scan models/ -o rows               a row for each file, to query
  pte tensors --largest 10 model.pte     the largest tensors, with shapes and places
  pte tensors --hash weights.ptd         every tensor with its shape and sha256
  pte size model.pte                     its size by part
  pte size new.pte --against old.pte     why one is larger than the other
  pte size model.pte --budget 8MB        a size gate for CI: exit status 1 if it is larger
  pte check model.pte --kernels portable,prim
                                         do these libraries have all of its operators?
  pte memory model.pte                   arenas, pools of the runtime, and the tensors at the peak
  pte embed model.pte -o model.c         a C array, aligned; --board board.toml: does it fit?
  pte diff old.pte new.pte               differences in meaning, not in numbering or layout
  pte ops model.pte --format yaml        its operators, for a selective build
  pte extract model.pte --delegate forward:0 -o blob.bin
                                         a delegate's blob: the first one of method forward
  pte map model.pte --at 0x1a40          the meaning of one byte; without --at, of all
  pte map model.pte --html -o model.html
  pte view model.pte                     the page in the browser
  pte graph model.pte | dot -Tsvg -o model.svg
  pte dump model.pte | less              all of its tables as JSON
  pte build model.json -o model.pte      a file from such JSON
  pte convert model.safetensors -o model.ptd

Exit status:
  0  success
  1  a problem in a file: it is broken, an Error was found, or files differ
  2  the command line is wrong
  3  a file could not be read or written

A path of - is standard input. Most verbs take an https:// or hf:// URL too. `pte VERB --help` has the details of a verb.";

/// Arguments of every verb.
#[derive(Clone, Debug, Args)]
struct Common {
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Print no progress and no notes on standard error.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Write to this file instead of standard output, completely or not at all.
    #[arg(short, long, global = true, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArguments,
    #[cfg(feature = "remote")]
    #[command(flatten)]
    remote: remote::RemoteArguments,
}

/// Limits on the work that a file may cause.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitArguments {
    /// Limits for untrusted files, or for trusted ones.
    #[arg(long, global = true, value_name = "TRUST", default_value = "untrusted")]
    limits: Trust,
    /// Bytes visited per byte of the FlatBuffer, and bytes written per byte of input.
    #[arg(long, global = true, value_name = "N")]
    max_amplification: Option<u32>,
    /// The largest FlatBuffer, in bytes.
    #[arg(long, global = true, value_name = "BYTES")]
    max_program: Option<u64>,
    /// The largest number of findings shown for each rule.
    #[arg(long, global = true, value_name = "N")]
    max_findings: Option<u32>,
    /// The largest number of bytes read from standard input, a pipe or a device.
    #[arg(long, global = true, value_name = "BYTES")]
    max_stream: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Trust {
    Untrusted,
    Trusted,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Common {
    fn limits(&self) -> Limits {
        let given = &self.limits;
        let base = match given.limits {
            Trust::Untrusted => Limits::UNTRUSTED,
            Trust::Trusted => Limits::TRUSTED,
        };
        Limits {
            amplification: given.max_amplification.unwrap_or(base.amplification),
            program: given.max_program.unwrap_or(base.program),
            findings_per_rule: given.max_findings.unwrap_or(base.findings_per_rule),
        }
    }
}

impl Common {
    /// Returns the maximum number of bytes that are read from a stream.
    fn max_stream(&self) -> u64 {
        self.limits.max_stream.unwrap_or(match self.limits.limits {
            Trust::Untrusted => 1 << 30,
            Trust::Trusted => 1 << 36,
        })
    }
}

impl Color {
    fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}
