//! The ways to run the command elsewhere: the GitHub Action, the pre-commit hook and the release archives.

use std::fs;
use std::process::Command;

use super::{LINEAR, pte, text};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the value of a key that is on one line of a YAML file, in any level.
fn value_of(file: &str, key: &str) -> String {
    let yaml = fs::read_to_string(format!("{ROOT}/{file}")).unwrap();
    let start = format!("{key}: ");
    let lines = yaml.lines().map(|line| line.trim_start().trim_start_matches("- "));
    let mut values = lines.filter_map(|line| line.strip_prefix(&start));
    values.next().unwrap_or_else(|| panic!("{file} has no {key}")).trim_matches('\'').into()
}

/// Runs the step of the action as GitHub does, with a command that is built already.
#[cfg(unix)]
#[test]
fn github_action_checks_files_and_writes_sarif() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in
        [("good.pte", crate::support::files::read(LINEAR).unwrap()), ("bad.pte", b"bad".to_vec())]
    {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let outputs = folder.path().join("outputs");
    let run = |paths: &str, arguments: &str| {
        let mut step = Command::new("bash");
        step.args(["-c", &value_of("action.yml", "run")]).current_dir(folder.path());
        step.env("GITHUB_ACTION_PATH", ROOT).env("GITHUB_OUTPUT", &outputs);
        step.env("PTE", env!("CARGO_BIN_EXE_pte")).env("PTE_PATHS", paths);
        step.env("PTE_ARGUMENTS", arguments).env("PTE_SARIF", "found.sarif").output().unwrap()
    };
    let good = run("good.pte", "--preset untrusted-upload");
    assert_eq!(good.status.code(), Some(0), "{}", text(&good.stderr));
    assert_eq!(fs::read_to_string(&outputs).unwrap(), "sarif=found.sarif\n");
    let bad = run("good.pte bad.pte", "");
    assert_eq!(bad.status.code(), Some(1), "{}", text(&bad.stderr));
    assert!(text(&bad.stdout).contains("ok  good.pte"), "{}", text(&bad.stdout));
    let sarif = fs::read_to_string(folder.path().join("found.sarif")).unwrap();
    assert!(sarif.contains("\"bad.pte\""), "{sarif}");
    // An argument is a word and never a command.
    let word = run("good.pte", "$(touch${IFS}injected)");
    assert_ne!(word.status.code(), Some(0));
    assert!(!folder.path().join("injected").exists());
}

/// A hook is run with the names of changed files behind its entry.
#[test]
fn pre_commit_hook_checks_the_files_it_is_given() {
    let entry = value_of(".pre-commit-hooks.yaml", "entry");
    let args: Vec<_> = entry.split(' ').skip(1).chain([LINEAR]).collect();
    assert_eq!(pte(&args).status.code(), Some(0), "{entry}");
    let files = value_of(".pre-commit-hooks.yaml", "files");
    assert_eq!(files, r"\.(pte|ptd)$");
}
