//! The check-list for a new release, docs/new-release.md, holds for the newest one, and docs/releases.md has what each
//! release brought.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use pte::check::{NEWEST, NEWEST_VERSION, Severity, rule};
use pte::flat::desc::{Kind, ScalarDesc};
use pte::operators::{KERNELS, OLDEST};
use pte::release::{EXCEPTIONS, Exception, Facts, RELEASES, was_run};
use pte::schema::scalar::ScalarType;

use crate::schema::schemas;
use crate::support::files;

#[test]
fn every_place_of_a_release_has_the_newest_one() {
    let list = files::read_to_string("docs/new-release.md").unwrap();
    let (major, minor) = NEWEST;
    let mut places = BTreeSet::new();
    let mut forgotten = Vec::new();
    for row in list.lines().filter(|row| row.starts_with("| ") && row.contains('`')) {
        let row = row.replace("\\|", "\0");
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, file, text, what, _] = cells[..] else { panic!("{row}") };
        let text = text.trim_matches('`').replace('\0', "|");
        let text = text.replace("VERSION", NEWEST_VERSION);
        let text = text.replace("RELEASE", &format!("{major}.{minor}"));
        let text = text.replace("ROW", &format!("({major}, {minor})"));
        if !files::read_to_string(file).unwrap().contains(&text) {
            forgotten.push(format!("{file} does not have {text}: {what}"));
        }
        places.insert(file.to_owned());
    }
    assert!(places.len() > 10, "{places:?}");
    assert!(forgotten.is_empty(), "{}", forgotten.join("\n"));

    // The last paragraph has the files whose mention of a release is a fact about it alone.
    let history = list.rsplit("\n\n").next().unwrap();
    let is_known = |file: &str| places.contains(file) || history.contains(file);
    let unknown: Vec<_> = with_newest().into_iter().filter(|file| !is_known(file)).collect();
    assert!(unknown.is_empty(), "not in docs/new-release.md: {unknown:?}");
}

/// Returns the files of the library, its tools and its documents that name the newest version.
fn with_newest() -> Vec<String> {
    let root = files::path("");
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> =
        ["src", "docs", "fuzz", "tests/tools"].iter().map(|folder| root.join(folder)).collect();
    let mut all = vec![root.join("README.md"), root.join("SECURITY.md")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                false => all.push(entry),
            }
        }
    }
    let is_text = |path: &Path| {
        path.extension().is_some_and(|kind| ["rs", "md", "py"].iter().any(|text| kind == *text))
    };
    for path in all.into_iter().filter(|path| is_text(path)) {
        if fs::read_to_string(&path).unwrap().contains(NEWEST_VERSION) {
            found.push(path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"));
        }
    }
    found
}

#[test]
fn an_exception_is_about_a_rule_whose_severity_it_changes() {
    for exception in EXCEPTIONS {
        let rule = rule(exception.rule).unwrap_or_else(|| panic!("{exception:?}"));
        let is_error = rule.severity == Severity::Error;
        assert_ne!(is_error, exception.is_refused, "{exception:?}");
        assert!(exception.last.is_none_or(|last| exception.since <= last), "{exception:?}");
        let is_known = |release| RELEASES.iter().any(|facts| facts.release == release);
        assert!(is_known(exception.since) && exception.last.is_none_or(is_known), "{exception:?}");
    }
}

#[test]
fn what_each_release_brought_is_documented() {
    let mut page = String::from(
        "# Releases of the runtime\n\n\
         What each release brought, as `pte check --runtime` knows it. Made from the code by\n\
         `PTE_BLESS=1 cargo test --test main docs`; do not edit. [new-release.md](new-release.md) is the\n\
         check-list for the next one.\n",
    );
    for facts in RELEASES.iter().rev() {
        let (major, minor) = facts.release;
        write!(
            page,
            "\n## {major}.{minor}\n\n| | |\n| --- | --- |\n| examined | {} |\n",
            facts.version
        )
        .unwrap();
        for (what, names) in rows(facts) {
            if !names.is_empty() {
                writeln!(page, "| {what} | `{}` |", names.join("`, `")).unwrap();
            }
        }
    }
    let path = files::path("docs/releases.md");
    if std::env::var_os("PTE_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/releases.md is stale: PTE_BLESS=1 cargo test --test main docs");
}

/// Returns what a release brought, by subject.
fn rows(facts: &Facts) -> [(&'static str, Vec<String>); 7] {
    let release = facts.release;
    let is_new = |since: Option<&str>| since == Some(&format!("{}.{}", release.0, release.1));
    let (mut fields, mut values) = (Vec::new(), BTreeSet::new());
    for (name, schema) in schemas() {
        for table in schema.tables {
            let new = table.fields.iter().filter(|field| is_new(field.since));
            fields.extend(new.map(|field| format!("{name}: {}.{}", table.name, field.name)));
            for field in table.fields {
                let Kind::Scalar(ScalarDesc { names: Some(names), .. }) = field.kind else {
                    continue;
                };
                let new = names.values.iter().filter(|value| is_new(value.since));
                values.extend(new.map(|value| format!("{name}: {}.{}", names.name, value.name)));
            }
        }
    }
    let new = KERNELS.iter().filter(|kernel| kernel.since == release && release > OLDEST);
    let operators = new.map(|kernel| kernel.name.to_owned()).collect();
    let before =
        RELEASES.iter().rev().map(|facts| facts.release).find(|&run| run < release && was_run(run));
    let dtypes = KERNELS.iter().filter_map(|kernel| {
        let takes = |release, dtype| kernel.takes(release, ScalarType(dtype)) == Some(true);
        let is_gained = |&dtype: &i8| {
            before.is_some_and(|before| {
                let was = kernel.takes(before, ScalarType(dtype)) == Some(false);
                was && takes(release, dtype)
            })
        };
        let gained: Vec<_> = (0..i8::MAX).filter(is_gained).collect();
        let names = gained.iter().filter_map(|&dtype| ScalarType(dtype).name());
        let names: Vec<_> = names.collect();
        (!names.is_empty()).then(|| format!("{}: {}", kernel.name, names.join(", ")))
    });
    let exceptions = |is_refused| {
        let all = Exception::of(release).filter(|one| one.is_refused == is_refused);
        all.map(|one| one.rule.to_owned()).collect()
    };
    let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    [
        ("operators", operators),
        ("fields", fields),
        ("named values", values.into_iter().collect()),
        ("dtypes of kernels", dtypes.collect()),
        ("backends of the wheel", texts(facts.backends)),
        ("Errors besides", exceptions(true)),
        ("Notes in place of Errors", exceptions(false)),
    ]
}
