//! Documents that are made from the code, held current.
//!
//! `PTE_BLESS=1 cargo test --test main docs` writes them anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use pte::ErrorKind;
use pte::check::{Severity, rules};

#[test]
fn rules_are_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rules.md");
    let text = page();
    if std::env::var_os("PTE_BLESS").is_some() {
        fs::write(path, &text).unwrap();
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(written == text, "docs/rules.md is stale: PTE_BLESS=1 cargo test --test main docs");
}

#[test]
fn every_rule_has_a_name_of_its_own() {
    let mut names: Vec<_> = rules().map(|rule| rule.id).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(all > 80, "{all}");
    for rule in rules() {
        let kebab = rule.id.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        assert!(kebab && !rule.what.is_empty() && !rule.why.is_empty(), "{}", rule.id);
        assert!(!rule.rows.is_empty(), "{} says where it comes from", rule.id);
    }
}

/// A section that a rule cites is one of the page that it cites.
#[test]
fn rules_cite_sections_that_exist() {
    let format =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/format.md")).unwrap();
    let headings: Vec<_> = format.lines().filter(|line| line.starts_with('#')).collect();
    for rule in rules() {
        for row in rule.rows {
            let section: String =
                row.split(' ').next().unwrap().splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
            let found = headings.iter().any(|line| {
                line.trim_start_matches('#').trim_start().starts_with(&format!("{section} "))
                    || line.trim_start_matches('#').trim_start().starts_with(&format!("{section}."))
            });
            assert!(found, "{} cites {row}", rule.id);
        }
    }
}

fn page() -> String {
    let mut page = String::from(
        "# Rules\n\n\
         Made from the code by `PTE_BLESS=1 cargo test --test main docs`; do not edit.\n\n\
         `pte explain RULE` shows one. An Error means that the official runtime (1.5.1), given the\n\
         backends and operators that the file asks for, refuses the file, crashes on it, or reads\n\
         wrong memory, at some setting. Sections are those of [format.md](format.md).\n",
    );
    let mut subject = "";
    for rule in rules() {
        if rule.subject != subject {
            subject = rule.subject;
            write!(
                page,
                "\n## {subject}\n\n| rule | severity | asks | otherwise | runtime | sections |\n"
            )
            .unwrap();
            page.push_str("| --- | --- | --- | --- | --- | --- |\n");
        }
        writeln!(
            page,
            "| `{}` | {} | {} | {} | {} | {} |",
            rule.id,
            rule.severity,
            rule.what,
            rule.why,
            rule.runtime,
            rule.rows.join(", ")
        )
        .unwrap();
    }
    page.push_str("\n## structure\n\nA file that breaks one of these cannot be read at all.\n\n| code | advice |\n| --- | --- |\n");
    for (code, help) in ErrorKind::CODES {
        writeln!(page, "| `{code}` | {help} |").unwrap();
    }
    page.push_str("\n## By section\n\n| section | rules |\n| --- | --- |\n");
    let mut sections: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for rule in rules() {
        for row in rule.rows {
            sections.entry(row).or_default().push(rule.id);
        }
    }
    for (section, ids) in sections {
        writeln!(page, "| {section} | {} |", ids.join(", ")).unwrap();
    }
    let count = |severity| rules().filter(|rule| rule.severity == severity).count();
    write!(
        page,
        "\n{} rules are Errors, {} Warnings, {} Notes.\n",
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Note)
    )
    .unwrap();
    page
}
