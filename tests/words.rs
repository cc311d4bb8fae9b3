//! The language rules of CONTRIBUTING.md, held for the whole package.

use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders whose comments, messages and text are in plain words. The list grows until it is
/// the whole package.
const PLAIN: &[&str] = &[
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "docs/DESIGN.md",
    "docs/cli.md",
    "docs/divergences.md",
    "docs/format.md",
    "docs/fuzzing.md",
    "docs/notes",
    "docs/performance.md",
    "docs/release-checklist.md",
    "docs/writers.md",
    "examples",
    "src/backend.rs",
    "src/check/checker.rs",
    "src/check/document",
    "src/check/document.rs",
    "src/check/policy.rs",
    "src/check/report.rs",
    "src/cli.rs",
    "src/check",
    "src/check.rs",
    "src/cli/atomic.rs",
    "src/cli/build",
    "src/cli/build.rs",
    "src/cli/check",
    "src/cli/check.rs",
    "src/cli/complete.rs",
    "src/cli/convert.rs",
    "src/cli/dump",
    "src/cli/dump.rs",
    "src/cli/edit.rs",
    "src/cli/extract.rs",
    "src/cli/factors.rs",
    "src/cli/info.rs",
    "src/cli/input.rs",
    "src/cli/json.rs",
    "src/cli/map",
    "src/cli/map.rs",
    "src/cli/ops.rs",
    "src/cli/output.rs",
    "src/cli/problem.rs",
    "src/cli/reserve.rs",
    "src/cli/rules.rs",
    "src/cli/save.rs",
    "src/cli/schema.rs",
    "src/cli/size.rs",
    "src/cli/temporary.rs",
    "src/cli/tensors.rs",
    "src/cli/text.rs",
    "src/diff/fields.rs",
    "src/document.rs",
    "src/element",
    "src/element.rs",
    "src/flat/ledger.rs",
    "src/flat/node.rs",
    "src/flat/write",
    "src/foreign.rs",
    "src/handle.rs",
    "src/main.rs",
    "src/map/growth.rs",
    "src/map/size.rs",
    "src/method",
    "src/method.rs",
    "src/model/budget.rs",
    "src/model/like.rs",
    "src/operators",
    "src/operators.rs",
    "src/payload.rs",
    "src/payload",
    "src/payload.rs",
    "src/quoted.rs",
    "src/sound",
    "src/sound.rs",
    "src/summary",
    "src/summary.rs",
    "src/tensors.rs",
    "tests/cli.rs",
    "tests/cli/build.rs",
    "tests/cli/check.rs",
    "tests/cli/convert.rs",
    "tests/cli/dump.rs",
    "tests/cli/edit.rs",
    "tests/cli/extract.rs",
    "tests/cli/help.rs",
    "tests/cli/info.rs",
    "tests/cli/inputs.rs",
    "tests/cli/limits.rs",
    "tests/cli/map",
    "tests/cli/map.rs",
    "tests/cli/ops.rs",
    "tests/cli/output.rs",
    "tests/cli/rules.rs",
    "tests/cli/schema.rs",
    "tests/cli/size.rs",
    "tests/cli/tensors.rs",
    "tests/cli/untrusted.rs",
    "tests/cli/written.rs",
    "tests/docs",
    "tests/docs.rs",
    "tests/support",
    "tests/rules",
    "tests/rules.rs",
];

/// Idioms that a reader has to read twice.
const WORDS: &[&str] =
    &["whoever", "nobody", "somebody", "whatever", "stranger", "strangers", "told", "tells"];

/// Names that do not say what they name.
const IDENTIFIERS: &[&str] = &[
    "WAYS",
    "TELL",
    "blur",
    "stranger",
    "passing",
    "astray",
    "is_vague",
    "vague_until",
    "loose",
    "Neighbour",
    "Told",
];

#[test]
fn comments_and_messages_are_in_plain_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let held = |path: &PathBuf| {
        let name = path.strip_prefix(root).unwrap();
        !NOT_HELD_YET.iter().any(|place| name.starts_with(place))
    };
    let files: Vec<_> =
        PACKAGE.iter().flat_map(|name| files(&root.join(name))).filter(held).collect();
    assert!(files.len() > 100, "files were found: {}", files.len());
    let mut found = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
                let lower = word.to_lowercase();
                let is_out = WORDS.contains(&lower.as_str()) || IDENTIFIERS.contains(&word);
                // A rule may quote what it forbids.
                if is_out && !line.contains(&format!("\"{word}\"")) {
                    found.push(format!("{}:{number}: {word}", path.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The text files of a folder, or the file itself.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        let is_text = path.extension().is_some_and(|e| e == "rs" || e == "md");
        return if is_text { vec![path.to_owned()] } else { Vec::new() };
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.flat_map(|entry| files(&entry)).collect();
    found.sort();
    found
}
