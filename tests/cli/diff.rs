//! `pte diff`: screens, JSON documents, comments and exit statuses.

use std::fs;
use std::path::PathBuf;

use pte::Pte;
use pte::model;
use pte::schema::program::model::{Instruction, InstructionArguments, KernelCall, Operator};
use serde_json::{Value, json};

use super::{BASIC, LINEAR, append_run, pte, run, text};
use crate::support::build;
use crate::support::files;
use crate::support::snapshot::assert_snapshot;

const OLD: &str = "tests/data/pte/v0.5.0_cond.pte";
const NEW: &str = "tests/data/pte/cond.pte";

/// A program with one thing changed, in a temporary folder.
fn changed(
    path: &str,
    change: impl FnOnce(&mut model::PteModel<'_>),
) -> (tempfile::TempDir, PathBuf) {
    let bytes = files::read(path).unwrap();
    let mut model = Pte::read(&bytes).unwrap().to_model().unwrap();
    change(&mut model);
    model.lay_out();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.pte");
    fs::write(&path, model.image().unwrap().to_bytes().unwrap()).unwrap();
    (folder, path)
}

#[test]
fn differences_are_shown() {
    let mut page = String::new();
    for args in [
        &["diff", OLD, NEW][..],
        &["diff", "-n", "1", "tests/data/pte/v0.3.0_linear.pte", "tests/data/pte/add.pte"],
        &["diff", "--ignore", "instructions", "--ignore", "memory-plan", OLD, NEW],
        &["diff", "tests/data/pte/v1.0.0_linear.pte", LINEAR],
        &["diff", LINEAR, LINEAR],
        &["diff", BASIC, "tests/data/ptd/ptd_blobs.ptd"],
        &["diff", LINEAR, BASIC],
        &["diff", LINEAR],
        &["diff", LINEAR, "none.pte"],
    ] {
        append_run(&mut page, args, &pte(args));
    }
    assert_snapshot("diff", &page);
}

#[test]
fn a_comment_is_shown() {
    let mut page = String::new();
    for args in [
        &["diff", "--format", "markdown", OLD, NEW][..],
        &["diff", "--format", "markdown", "tests/data/pte/v1.0.0_linear.pte", LINEAR],
        &["diff", "--format", "markdown", LINEAR, LINEAR],
    ] {
        append_run(&mut page, args, &pte(args));
    }
    assert_snapshot("diff-markdown", &page);
}

#[test]
fn a_document_has_all_of_it() {
    let done = pte(&["diff", "--json", OLD, NEW]);
    assert_eq!(done.status.code(), Some(1));
    assert_snapshot("diff-json", &text(&done.stdout));
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    let counts = document["counts"].as_object().unwrap();
    let sum: u64 = counts.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(document["count"].as_u64(), Some(sum));
    assert_eq!(document["differences"].as_array().unwrap().len() as u64, sum);
    // Changed data is reported with its whole digest.
    let bytes = files::read(BASIC).unwrap();
    let done = run(&["diff", "--json", "-", "tests/data/ptd/ptd_blobs.ptd"], None, &bytes);
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(document["before"], "<standard input>");
    let before = &document["differences"][0]["before"];
    assert_eq!(before["sha256"].as_str().unwrap().len(), 64, "{document}");
}

#[test]
fn data_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (split, data) = (at("split.pte"), at("data.ptd"));
    let args = ["edit", LINEAR, "-o", &split, "--externalize", "all", "--ptd", &data];
    let done = pte(&args);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    for (args, status) in [
        (&["diff", LINEAR, &split][..], 1),
        (&["diff", LINEAR, &split, "--with-after", &data], 0),
        (&["diff", &split, LINEAR, "--with-before", &data], 0),
        (&["diff", LINEAR, &split, "--with", &data], 0),
        (&["diff", LINEAR, &split, "--with-before", &data], 1),
        (&["diff", LINEAR, LINEAR, "--with", LINEAR], 2),
        (&["diff", BASIC, BASIC, "--with", BASIC], 2),
        (&["diff", LINEAR, BASIC], 2),
        (&["diff", BASIC, LINEAR], 2),
        (&["diff", "-", "-"], 2),
    ] {
        assert_eq!(pte(args).status.code(), Some(status), "{args:?}");
    }
}

/// Named data in a `.ptd` is the same as named data in the other program, in either order.
#[test]
fn named_data_is_the_same_inside_and_beside() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (split, data) = (at("split.pte"), at("data.ptd"));
    let whole = "tests/data/pte/demo_named_data.pte";
    let done = pte(&["edit", whole, "-o", &split, "--externalize", "data", "--ptd", &data]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    for (args, status) in [
        (&["diff", whole, &split][..], 1),
        (&["diff", &split, whole], 1),
        (&["diff", whole, &split, "--with-after", &data], 0),
        (&["diff", &split, whole, "--with-before", &data], 0),
    ] {
        let done = pte(args);
        assert_eq!(done.status.code(), Some(status), "{args:?}: {}", text(&done.stdout));
    }
}

/// Names in files cannot put control characters on a terminal, nor Markdown or HTML on a page.
#[test]
fn names_are_no_marks() {
    let name = "a`|b\\|\u{1b}[2J<img src=x>@user #1 **b** \u{202e}";
    let (_folder, path) = changed(LINEAR, |program| {
        let plan = &mut program.root.execution_plan.as_mut().unwrap()[0];
        let operator = &mut plan.operators.as_mut().unwrap()[0];
        *operator = Operator { name: Some(name.into()), overload: None };
    });
    let path = path.to_str().unwrap();
    for format in ["text", "json", "markdown"] {
        let done = pte(&["diff", "--format", format, LINEAR, path]);
        let shown = text(&done.stdout);
        assert_eq!(done.status.code(), Some(1), "{format}");
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{format}: {shown}");
        if format == "markdown" {
            assert!(
                !shown.contains("<img") && !shown.contains('@') && !shown.contains("**"),
                "{shown}"
            );
            let rows = shown.lines().filter(|line| line.starts_with("| ~"));
            for row in rows {
                assert_eq!(row.matches('|').count(), 6, "{row}");
            }
        }
    }
    let coloured = pte(&["--color", "always", "diff", LINEAR, path]);
    assert!(text(&coloured.stdout).contains("\u{1b}["));
    assert!(!text(&coloured.stdout).contains("\u{1b}[2J"), "only our own colours");
}

/// GitHub limits comments to 65,536 characters.
#[test]
fn a_comment_is_never_too_long() {
    let (_folder, path) = changed(LINEAR, |program| {
        let plan = &mut program.root.execution_plan.as_mut().unwrap()[0];
        let chain = &mut plan.chains.as_mut().unwrap()[0];
        chain.stacktrace = None;
        let long = Operator { name: Some("é|".repeat(200)), overload: None };
        plan.operators.as_mut().unwrap().push(long);
        let op_index = plan.operators.as_ref().unwrap().len() as i32 - 1;
        let call = KernelCall { op_index, args: Some(vec![0; 30]) };
        let step = Instruction { instr_args: Some(InstructionArguments::KernelCall(call)) };
        let steps = chain.instructions.as_mut().unwrap();
        steps.extend(vec![step; 2000]);
    });
    let path = path.to_str().unwrap();
    let done = pte(&["diff", "--format", "markdown", "-n", "5000", LINEAR, path]);
    let shown = text(&done.stdout);
    assert_eq!(done.status.code(), Some(1));
    assert!((50_000..65_536).contains(&shown.len()), "{}", shown.len());
    assert!(shown.trim_end().ends_with("</details>") && shown.contains(" more\n"), "{shown}");
    assert_eq!(shown.matches("<details").count(), shown.matches("</details>").count());
    let few = text(&pte(&["diff", "--format", "markdown", LINEAR, path]).stdout);
    assert!(few.contains("… 1,980 more"), "{few}");
}

/// If all differences are of one class that can be ignored, a hint names the option. With this
/// option, the files are the same.
#[test]
fn a_hint_is_given() {
    let (old, new) = (
        "tests/data/ptd/v0.6.0_external.default_external_constant.ptd",
        "tests/data/ptd/v1.0.0_external.default_external_constant.ptd",
    );
    for (before, after, hint) in [
        (old, new, "--ignore header"),
        (LINEAR, "tests/data/pte/v0.3.0_linear.pte", "--ignore memory-plan"),
    ] {
        let done = pte(&["diff", before, after]);
        let line = format!("hint: {hint}: then they are the same");
        assert_eq!(done.status.code(), Some(1));
        assert_eq!(text(&done.stdout).lines().last(), Some(&line[..]));
        let page = text(&pte(&["diff", "--format", "markdown", before, after]).stdout);
        assert!(page.trim_end().ends_with(&line.replace("hint", "Hint")), "{page}");
        let mut args = vec!["diff", before, after];
        args.extend(hint.split(' '));
        let done = pte(&args);
        assert_eq!(done.status.code(), Some(0), "{args:?}");
        assert!(!text(&done.stdout).contains("hint"), "{args:?}");
    }
    // No option ignores differences in what a program computes, so there is no hint.
    let shown = text(&pte(&["diff", LINEAR, "tests/data/pte/add.pte"]).stdout);
    assert!(!shown.contains("hint"), "{shown}");
}

/// Names in a comment on a pull request make no mention and no link, and break no cell.
#[test]
fn markdown_shows_a_name_as_it_is() {
    let names = [
        "a|b",
        "`x`",
        "``",
        "[l](http://e.org)",
        "![i](http://e.org/i)",
        "http://e.org",
        "@user",
        "#12",
        "<img src=x>",
        "</details>",
        "<!--",
        "&lt;",
        " lead",
        "trail ",
        "\\",
        "\\|",
        "a\nb",
        "~~s~~",
        "**b**",
    ];
    let named: Vec<_> = names.iter().map(|key| json!({"key": key, "segment_index": 0})).collect();
    let data = |named: Value| {
        let root = json!({"segments": [{"size": 8}], "named_data": named});
        build::file(&json!({"kind": "ptd", "root": root, "data": [{"zeros": 8}]}).to_string())
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old`|@.ptd");
    fs::write(&path, data(json!([]))).unwrap();
    let args = ["diff", "--format", "markdown", path.to_str().unwrap(), "-"];
    let done = run(&args, None, &data(json!(named)));
    let page = text(&done.stdout);
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| + ")).collect();
    assert_eq!(rows.len(), names.len(), "{page}");
    let mut outside = String::new();
    for row in rows {
        assert_eq!(row.matches('|').count(), 6, "{row}");
    }
    for line in page.lines().filter(|line| !line.starts_with('<')) {
        let mut rest = line;
        while let Some((before, code)) = rest.split_once("<code>") {
            let (code, after) = code.split_once("</code>").unwrap();
            assert!(!code.contains(['`', '|', '<', '@', '[', '\\']), "{line}");
            outside.push_str(before);
            rest = after;
        }
        let spans: Vec<_> = rest.split('`').collect();
        assert_eq!(spans.len() % 2, 1, "{line}");
        spans.iter().step_by(2).for_each(|part| outside.push_str(part));
    }
    for mark in ["@", "http", "[", "<", "*", "#1", "\\"] {
        assert!(!outside.contains(mark), "{mark}: {outside}");
    }
}
