//! The language rules of CONTRIBUTING.md, held for the whole package.

use std::fs;
use std::path::{Path, PathBuf};

/// The files and folders of the package. Snapshots may also quote the words of other programs.
const PACKAGE: &[&str] = &[
    "CONTRIBUTING.md",
    "README.md",
    "benches",
    "docs",
    "examples",
    "fuzz",
    "python",
    "src",
    "tests",
];

/// The extensions of text files.
const TEXT: &[&str] = &["md", "py", "pyi", "rs"];

/// Idioms that a reader has to read twice.
const WORDS: &[&str] =
    &["whoever", "nobody", "somebody", "whatever", "stranger", "strangers", "told", "tells"];

/// Identifiers that do not say what they name.
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
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let files: Vec<_> = PACKAGE.iter().flat_map(|name| files(&root.join(name))).collect();
    assert!(files.len() > 100, "files were found: {}", files.len());
    let mut found = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
                let lower = word.to_lowercase();
                let is_out = WORDS.contains(&lower.as_str()) || IDENTIFIERS.contains(&word);
                // A rule may quote a word that it forbids.
                if is_out && !line.contains(&format!("\"{word}\"")) {
                    found.push(format!("{}:{number}: {word}", path.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A line of prose has at most 120 columns. Tables and examples are as wide as they need.
#[test]
fn prose_is_no_wider_than_120_columns() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut found = Vec::new();
    for path in PACKAGE.iter().flat_map(|name| files(&root.join(name))) {
        let is_page = path.extension() == Some("md".as_ref());
        let mut is_example = false;
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let comment = line.trim_start();
            let prose = match is_page {
                true => Some(line),
                false => {
                    ["///", "//!", "//", "# "].iter().find_map(|mark| comment.strip_prefix(mark))
                }
            };
            let Some(prose) = prose.map(str::trim_start) else {
                is_example = false;
                continue;
            };
            is_example ^= prose.starts_with("```");
            let is_wide = line.chars().count() > 120 && !is_example && !prose.starts_with('|');
            if is_wide {
                found.push(format!("{}:{number}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The text files of a folder, or the file itself.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        let is_text = path.extension().is_some_and(|e| TEXT.iter().any(|text| e == *text));
        return if is_text { vec![path.to_owned()] } else { Vec::new() };
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.flat_map(|entry| files(&entry)).collect();
    found.sort();
    found
}
