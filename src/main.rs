//! The command `pte`.

pub(crate) mod cli;

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    run(std::env::args_os().collect()).into()
}

/// Runs a command line, whose first argument is the name of the program, and returns the exit status.
///
/// The Python package compiles this file too, and calls this function.
pub(crate) fn run(command_line: Vec<OsString>) -> u8 {
    cli::run(command_line)
}
