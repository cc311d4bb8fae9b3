//! Runs the examples of docs/cli.md and README.md in a shell.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Each command in a block is followed by its output, and by `? N` for a nonzero exit status N.
#[test]
#[cfg_attr(not(unix), ignore = "the examples are for a shell")]
#[cfg_attr(
    not(all(feature = "remote", feature = "scan")),
    ignore = "pages have what all features add"
)]
fn examples_are_current() {
    let commands = update("docs/cli.md", |command| Some(command.into()));
    assert!(commands > 25, "{commands}");
}

/// The examples of README.md that read files of this repository.
#[test]
#[cfg_attr(not(unix), ignore = "the examples are for a shell")]
fn examples_of_the_readme_are_current() {
    let commands = update("README.md", |command| {
        let command = command.replace("cargo run -- ", "pte ");
        command.contains("tests/data/").then_some(command)
    });
    assert!(commands > 4, "{commands}");
}

/// Compares the examples of a page with their output, or updates them with `PTE_BLESS`. Runs the commands that
/// `runnable` returns, and keeps the other ones. Returns the number of commands that were run.
fn update(page: &str, runnable: impl Fn(&str) -> Option<String>) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(page);
    let folder = tempfile::tempdir().unwrap();
    // The files that examples read, and a folder for those that they write.
    for name in ["tests/data/pte", "tests/data/ptd", "tests/data/other", "examples/boards"] {
        copy(&root.join(name), &folder.path().join(name));
    }
    fs::copy(root.join("README.md"), folder.path().join("README.md")).unwrap();
    fs::create_dir(folder.path().join("parts")).unwrap();
    let (text, mut shown, mut commands) = (fs::read_to_string(&path).unwrap(), String::new(), 0);
    let (mut is_inside, mut was_run) = (false, false);
    for line in text.lines() {
        if line.starts_with("```") {
            (is_inside, was_run) = (line == "```console", false);
        }
        let command = line.strip_prefix("$ ").filter(|_| is_inside);
        if command.is_some() || !was_run {
            shown.push_str(&format!("{line}\n"));
        }
        if let Some(command) = command {
            let command = runnable(command);
            was_run = command.is_some();
            if let Some(command) = command {
                shown.push_str(&run(&command, folder.path()));
                commands += 1;
            }
        }
    }
    if env::var_os("PTE_BLESS").is_some() {
        fs::write(&path, &shown).unwrap();
        return commands;
    }
    for (nth, (written, now)) in text.lines().zip(shown.lines()).enumerate() {
        assert_eq!(written, now, "{page}:{}: {STALE}", nth + 1);
    }
    assert_eq!(text.len(), shown.len(), "{page}: {STALE}");
    commands
}

/// Every verb has a section, and every section is of a verb.
#[test]
#[cfg_attr(
    not(all(feature = "remote", feature = "scan")),
    ignore = "pages have what all features add"
)]
fn every_verb_has_a_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/cli.md")).unwrap();
    let help = crate::cli::command().arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let verbs = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let mut verbs: Vec<_> = verbs
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    verbs.sort_unstable();
    let titles = page.lines().filter_map(|line| line.strip_prefix("## "));
    let mut titles: Vec<_> = titles.flat_map(|title| title.split(", ")).collect();
    titles.sort_unstable();
    assert_eq!(titles, verbs);
}

/// Returns the output of `command` on both streams, and its nonzero exit status.
fn run(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_pte"));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [program.parent().unwrap().to_owned()].into_iter().chain(env::split_paths(&path));
    let done = Command::new("sh")
        .args(["-c", &format!("{{ {command}; }} 2>&1")])
        .current_dir(folder)
        .env("PATH", env::join_paths(folders).unwrap())
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let mut text = String::from_utf8(done.stdout).unwrap();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match done.status.code() {
        Some(0) => text,
        status => text + &format!("? {}\n", status.unwrap()),
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

const STALE: &str =
    "PTE_BLESS=1 cargo test --features remote,scan --test command examples updates it";
