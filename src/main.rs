//! The command `pte`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
