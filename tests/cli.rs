//! The command, run as its users run it: output, standard error and exit status.
//!
//! There is a file for each verb. The files `help`, `inputs`, `output`, `limits`, `untrusted` and
//! `written` test what verbs have in common.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::files;

mod alone;
mod build;
mod bundle;
mod check;
mod choice;
mod convert;
mod diff;
mod documents;
mod dump;
mod edit;
mod embed;
mod extract;
mod foreign;
mod graph;
mod help;
mod info;
mod inputs;
mod install;
mod limits;
mod map;
mod memory;
mod ops;
mod output;
mod payloads;
mod profile;
mod refusal;
mod rules;
#[cfg(feature = "scan")]
mod scan;
mod schema;
mod size;
mod tensors;
mod untrusted;
mod view;
#[cfg(target_os = "linux")]
mod written;

const LINEAR: &str = "tests/data/pte/linear.pte";
const BASIC: &str = "tests/data/ptd/ptd_basic.ptd";

pub(crate) fn pte(args: &[&str]) -> Output {
    run(args, None, b"")
}

/// The command, in the root of the repository.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pte"));
    command.current_dir(files::path(""));
    command
}

fn run(args: &[&str], folder: Option<&Path>, input: &[u8]) -> Output {
    let mut child = command()
        .args(args)
        .current_dir(folder.unwrap_or(&files::path("")))
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes the pipe, and this write fails.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Returns the output of a command that must succeed with an empty standard error.
fn good(args: &[&str]) -> String {
    let done = pte(args);
    assert_eq!(text(&done.stderr), "", "{args:?}");
    assert_eq!(done.status.code(), Some(0), "{args:?}");
    text(&done.stdout)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&good(args)).unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Appends a command, its output and its exit status to a snapshot.
fn append_run(page: &mut String, args: &[&str], done: &Output) {
    let (out, err) = (text(&done.stdout), text(&done.stderr));
    let code = done.status.code().unwrap();
    page.push_str(&format!("$ pte {}\n{out}{err}exit status {code}\n\n", args.join(" ")));
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
