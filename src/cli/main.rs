//! The command `pte`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pte_cli::run(std::env::args_os().collect()).into()
}
