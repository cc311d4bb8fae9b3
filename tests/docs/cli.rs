//! Runs the examples of docs/cli.md in a shell.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Each command in a block is followed by its output, and by `? N` for a nonzero exit status N.
#[test]
#[cfg_attr(not(unix), ignore = "the examples are for a shell")]
fn examples_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = root.join("docs/cli.md");
    let folder = tempfile::tempdir().unwrap();
    // The files that examples read, and a folder for those that they write.
    for name in ["tests/data/pte", "tests/data/ptd"] {
        copy(&root.join(name), &folder.path().join(name));
    }
    fs::copy(root.join("README.md"), folder.path().join("README.md")).unwrap();
    fs::create_dir(folder.path().join("parts")).unwrap();
    let (text, mut shown, mut commands) = (fs::read_to_string(&page).unwrap(), String::new(), 0);
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        }
        let command = line.strip_prefix("$ ").filter(|_| inside);
        if !inside || line.starts_with("```") || command.is_some() {
            shown.push_str(&format!("{line}\n"));
        }
        if let Some(command) = command {
            shown.push_str(&run(command, folder.path()));
            commands += 1;
        }
    }
    assert!(commands > 25, "{commands}");
    if env::var_os("PTE_BLESS").is_some() {
        fs::write(&page, &shown).unwrap();
        return;
    }
    for (nth, (written, now)) in text.lines().zip(shown.lines()).enumerate() {
        assert_eq!(written, now, "docs/cli.md:{}: {STALE}", nth + 1);
    }
    assert_eq!(text.len(), shown.len(), "docs/cli.md: {STALE}");
}

/// Every verb has a section, and every section is of a verb.
#[test]
fn every_verb_has_a_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/cli.md")).unwrap();
    let help = Command::new(env!("CARGO_BIN_EXE_pte")).arg("--help").output().unwrap();
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

const STALE: &str = "PTE_BLESS=1 cargo test --test main docs updates it";
