//! Documents that are generated from the code, or cite it, are current.
//!
//! `PTE_BLESS=1 cargo test --test main docs` updates them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

mod release;

use pte::check::{NEWEST_VERSION, Preset, Severity, coverage, rules};
use pte::{Code, ErrorKind};

#[test]
fn rules_are_documented() {
    let path = concat!(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), "/docs/rules.md");
    let text = page();
    if std::env::var_os("PTE_BLESS").is_some() {
        fs::write(path, &text).unwrap();
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(written == text, "docs/rules.md is stale: PTE_BLESS=1 cargo test --test main docs");
}

/// What `pte explain` and SARIF link to.
#[test]
fn every_finding_has_its_place_on_the_page() {
    let page = page();
    for rule in pte::check::RuleRecord::all() {
        let (file, anchor) = rule.page.split_once('#').unwrap();
        assert_eq!((file, anchor), ("docs/rules.md", rule.id));
        assert_eq!(page.matches(&format!("<a id=\"{anchor}\"></a>")).count(), 1, "{anchor}");
    }
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
        assert!(rule.help.ends_with('.'), "{} says what to do", rule.id);
        assert!(!rule.rows.is_empty(), "{} says where it comes from", rule.id);
    }
}

/// A repeated heading shows that a section was pasted twice.
#[test]
fn no_page_says_anything_twice() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    for path in
        docs.chain([root.join("README.md")]).filter(|path| path.extension() == Some("md".as_ref()))
    {
        let text = fs::read_to_string(&path).unwrap();
        let mut seen = BTreeSet::new();
        for heading in text.lines().filter(|line| line.starts_with("## ")) {
            assert!(seen.insert(heading), "{}: {heading}", path.display());
        }
    }
}

/// Every refusal has its own explanation.
#[test]
fn every_code_has_an_explanation_of_its_own() {
    let texts: [fn(&Code) -> &'static str; 2] = [|code| code.what, |code| code.help];
    for text in texts {
        let all: BTreeSet<_> = ErrorKind::CODES.iter().map(text).collect();
        assert_eq!(all.len(), ErrorKind::CODES.len(), "two codes have one text");
    }
    for Code { id, what, why, runtime, help, .. } in ErrorKind::CODES {
        for text in [what, why, help] {
            assert!(text.len() > 20 && text.ends_with('.'), "{id}: {text}");
        }
        let words = ["refuses", "crashes", "reads wrong memory", "ignores"];
        assert!(words.iter().any(|word| runtime.contains(word)), "{id}: {runtime}");
    }
}

/// Cited rows and sections of format.md exist: a row id in sections with ids, else a section.
#[test]
fn what_is_cited_is_there() {
    let format = format();
    let headings: Vec<_> = format.lines().filter(|line| line.starts_with('#')).collect();
    let rows: BTreeSet<_> = rows(&format).into_iter().map(|row| row.id).collect();
    let reasons = coverage::UNJUDGED.iter().chain(coverage::PARTLY);
    let structure = coverage::STRUCTURE.iter().flat_map(|(row, codes)| {
        assert!(!codes.is_empty(), "{row}");
        codes.iter().map(move |code| (*code, *row))
    });
    let cited = rules().flat_map(|rule| rule.rows.iter().map(|row| (rule.id, *row)));
    for (who, row) in cited.chain(structure).chain(reasons.map(|(row, why)| (*why, *row))) {
        let section = row.split([' ', '.']).take(2).collect::<Vec<_>>().join(".");
        if NUMBERED.contains(&section.as_str()) {
            assert!(rows.contains(row), "{who} cites {row}");
        } else {
            let title = format!("{row} ");
            let mut titles = headings.iter().map(|line| line.trim_start_matches('#').trim_start());
            assert!(titles.any(|line| line.starts_with(&title)), "{who} cites {row}");
        }
    }
}

/// Every row of format.md has rules, refusals, or a reason why there are none.
#[test]
fn every_row_is_answered() {
    let format = format();
    let rows = rows(&format);
    let unjudged: BTreeSet<_> = coverage::UNJUDGED.iter().map(|(row, _)| *row).collect();
    let partly: BTreeSet<_> = coverage::PARTLY.iter().map(|(row, _)| *row).collect();
    assert_eq!(unjudged.len() + partly.len(), coverage::UNJUDGED.len() + coverage::PARTLY.len());
    for Row { id, .. } in &rows {
        let answer = coverage::answer(id);
        let judged = !answer.rules.is_empty() || !answer.codes.is_empty();
        assert_eq!(judged, !unjudged.contains(id), "{id}: judged, or the reason why not");
        assert_eq!(answer.reason.is_some(), !judged || partly.contains(id), "{id}");
        assert!(answer.reason.is_none_or(|reason| reason.ends_with('.')), "{id}");
        let codes: BTreeSet<_> = answer.codes.iter().collect();
        assert_eq!(codes.len(), answer.codes.len(), "{id} has a code twice");
        for code in answer.codes {
            assert!(ErrorKind::CODES.iter().any(|known| known.id == code), "{id}: {code}");
            assert!(rules().all(|rule| rule.id != code), "{id}: {code} is a rule, which cites");
        }
    }
    let count = |section: &str| rows.iter().filter(|row| row.section == section).count();
    assert_eq!(count("7.7"), 24, "what runtimes do not check");
    assert!(NUMBERED.iter().all(|section| count(section) > 6), "every section has rows");
}

/// The tests, rules and refusals in docs/attacks.md exist. Every row of format.md §8 has a row
/// there, which names one of its rules or refusals.
#[test]
fn every_attack_is_held_by_a_test() {
    let page = concat!(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), "/docs/attacks.md");
    let page = fs::read_to_string(page).unwrap();
    let format = format();
    let mut open: BTreeSet<_> =
        rows(&format).iter().filter(|row| row.section.starts_with('8')).map(|row| row.id).collect();
    let (mut attacks, mut tests) = (0, BTreeSet::new());
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let (of, defence, held) = match cells[..] {
            ["", of, _, defence, held, ""] => (Some(of), defence, held),
            ["", _, defence, held, ""] => (None, defence, held),
            _ => panic!("{line}"),
        };
        if held == "held by" || held.starts_with("---") {
            continue;
        }
        attacks += 1;
        let test = held.strip_prefix('`').and_then(|held| held.strip_suffix('`'));
        let test = test.unwrap_or_else(|| panic!("{held} is one name"));
        assert!(is_test(test), "there is no test {test}");
        tests.insert(test);
        let named: Vec<_> = quoted(defence, '`').chain(quoted(defence, '*')).collect();
        for name in quoted(defence, '*') {
            assert!(ErrorKind::CODES.iter().any(|code| code.id == name), "no refusal: {name}");
        }
        for name in quoted(defence, '`').filter(|name| is_kebab(name)) {
            assert!(rules().any(|rule| rule.id == name), "no rule: {name}");
        }
        for row in of.into_iter().flat_map(|of| of.split(", ")) {
            assert!(open.remove(row), "{row} has one line");
            let answer = coverage::answer(row);
            let answers = answer.rules.iter().map(|rule| rule.id).chain(answer.codes);
            let answers: Vec<_> = answers.collect();
            let is_answered = answers.is_empty() || answers.iter().any(|id| named.contains(id));
            assert!(is_answered, "{row} is answered by {answers:?}");
        }
    }
    assert!(open.is_empty(), "without a line: {open:?}");
    assert!(attacks > 80 && tests.len() > 50, "{attacks} attacks, {} tests", tests.len());
}

/// Returns the texts between pairs of `mark`.
fn quoted(text: &str, mark: char) -> impl Iterator<Item = &str> {
    text.split(mark).skip(1).step_by(2)
}

/// Whether `name` is in kebab case, as the names of rules.
fn is_kebab(name: &str) -> bool {
    name.contains('-')
        && !name.starts_with('-')
        && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// Whether the test `path` exists, in the library or in `tests/`. Its last module may be inside a file.
fn is_test(path: &str) -> bool {
    let (module, name) = path.rsplit_once("::").unwrap_or_else(|| panic!("{path} has no module"));
    let modules = [Some(module), module.strip_suffix("::tests")];
    let files = modules.into_iter().flatten().map(|module| module.replace("::", "/"));
    let places = ["tests", "src", "src/cli", "src/check", "src/core", "src/flat", "src/tools"];
    files.flat_map(|file| places.map(|place| format!("{place}/{file}.rs"))).any(|file| {
        let text =
            fs::read_to_string(format!("{}/{file}", concat!(env!("CARGO_MANIFEST_DIR"), "/..")));
        let text = text.unwrap_or_default();
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        let head = format!("fn {name}() {{");
        // Other attributes may precede `#[test]`.
        lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1] == head)
    })
}

/// The sections of format.md whose rows have ids.
const NUMBERED: [&str; 11] =
    ["1.3", "2.4", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "8.1", "8.2", "8.3"];

/// A row of a table of format.md.
struct Row<'f> {
    section: &'f str,
    id: &'f str,
    /// The text of the row.
    says: &'f str,
}

fn format() -> String {
    fs::read_to_string(concat!(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), "/docs/format.md"))
        .unwrap()
}

/// Returns every row of the [`NUMBERED`] sections. Ids are consecutive, or have upstream's number.
fn rows(format: &str) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut section = "";
    for line in format.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            section = heading.trim_start_matches('#').trim_start().split(' ').next().unwrap();
        }
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let ["", id, says, ..] = cells[..] else { continue };
        if !NUMBERED.contains(&section) || id == "row" || id.starts_with("---") {
            continue;
        }
        let before = rows.iter().filter(|row| row.section == section).count();
        let numbered = id == format!("{section}.{}", before + 1);
        let named = ["8.1", "8.2"].contains(&section) && id.starts_with(&format!("{section} "));
        assert!(numbered || named, "{id} is row {} of {section}", before + 1);
        assert!(rows.iter().all(|row| row.id != id), "{id} is there twice");
        assert!(!says.is_empty(), "{id} says something");
        rows.push(Row { section, id, says });
    }
    rows
}

/// Returns the table of rows with their rules, refusals and reasons.
fn coverage_table() -> String {
    let format = format();
    let rows = rows(&format);
    let mut page = String::from(
        "\n## Rows of format.md\n\n\
         What the runtime checks and does not check, and what was attacked: each row of the sections\n\
         1.3, 2.4, 7.2 to 7.7 and 8 of [format.md](format.md), with the rules that look at it. A code in\n\
         *slanted* letters is that of a refusal: such a file cannot be read at all. Where a row, or a part\n\
         of it, cannot be judged from the file alone, the reason follows.\n\n\
         | row | says | rules, *refusals* | not from the file |\n| --- | --- | --- | --- |\n",
    );
    let (mut ruled, mut refused, mut unjudged, mut partly) = (0, 0, 0, 0);
    for Row { id, says, .. } in &rows {
        let answer = coverage::answer(id);
        let rules = answer.rules.iter().map(|rule| format!("`{}`", rule.id));
        let codes = answer.codes.iter().map(|code| format!("*{code}*"));
        let by = rules.chain(codes).collect::<Vec<_>>().join(", ");
        let judged = !by.is_empty();
        ruled += u32::from(!answer.rules.is_empty());
        refused += u32::from(answer.rules.is_empty() && judged);
        let reason = match answer.reason {
            None => String::new(),
            Some(reason) if judged => {
                partly += 1;
                format!("Partly: {reason}")
            }
            Some(reason) => {
                unjudged += 1;
                reason.into()
            }
        };
        writeln!(page, "| {id} | {says} | {by} | {reason} |").unwrap();
    }
    write!(
        page,
        "\n{} rows: rules look at {ruled}, and reading alone answers {refused}, {partly} of both in \
         part;\n{unjudged} cannot be judged from the file.\n",
        rows.len()
    )
    .unwrap();
    page
}

fn page() -> String {
    let mut page = format!(
        "# Rules\n\n\
         Made from the code by `PTE_BLESS=1 cargo test --test main docs`; do not edit.\n\n\
         `pte explain RULE` shows one. An Error means that the official runtime ({NEWEST_VERSION}), given the\n\
         backends and operators that the file asks for, refuses the file, crashes on it, or reads\n\
         wrong memory, at some setting. Sections are those of [format.md](format.md).\n",
    );
    page.push_str("\n## Presets\n");
    for preset in Preset::ALL {
        let id = preset.id;
        writeln!(page, "\n<a id=\"{id}\"></a>`pte check --preset {id}`. {}", preset.what).unwrap();
        if preset.scans {
            page.push_str(
                "All bytes are searched for executable content, as with `--scan-blobs`.\n",
            );
        }
        page.push_str("These rules are Errors, besides those that are anyway:\n\n");
        page.push_str("| rule | why |\n| --- | --- |\n");
        for (rule, why) in preset.rules() {
            writeln!(page, "| [`{0}`](#{0}) | {why} |", rule.id).unwrap();
        }
    }
    let mut subject = "";
    for rule in rules() {
        if rule.subject != subject {
            subject = rule.subject;
            write!(
                page,
                "\n## {subject}\n\n| rule | severity | asks | otherwise | what to do | runtime | sections |\n"
            )
            .unwrap();
            page.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
        }
        writeln!(
            page,
            "| <a id=\"{0}\"></a>`{0}` | {1} | {2} | {3} | {4} | {5} | {6} |",
            rule.id,
            rule.severity,
            rule.what,
            rule.why,
            rule.help,
            rule.runtime,
            rule.rows.join(", ")
        )
        .unwrap();
    }
    page.push_str("\n## structure\n\nA file that breaks one of these cannot be read at all.\n\n| code | asks | otherwise | runtime | what to do |\n| --- | --- | --- | --- | --- |\n");
    for Code { id, what, why, runtime, help, .. } in ErrorKind::CODES {
        // An anchor has one place: a code that is also a rule has that of the rule.
        let anchor = match rules().any(|rule| rule.id == *id) {
            true => String::new(),
            false => format!("<a id=\"{id}\"></a>"),
        };
        writeln!(page, "| {anchor}`{id}` | {what} | {why} | {runtime} | {help} |").unwrap();
    }
    page.push_str(
        "\nThe command has two more names. <a id=\"unreadable\"></a>`unreadable` is for a path that cannot be read as a\n\
         file: it is not there, not a regular file, or of another kind. <a id=\"absent\"></a>`absent` is for a request\n\
         that a file cannot meet: it has no such method, key or index. `check` never reports it.\n",
    );
    page.push_str(&coverage_table());
    page.push_str("\n## Other sections\n\n| section | rules |\n| --- | --- |\n");
    let mut sections: BTreeMap<(u32, u32), (&str, Vec<&str>)> = BTreeMap::new();
    for rule in rules() {
        for row in rule.rows {
            let mut numbers = row.split([' ', '.']).map(|number| number.parse().unwrap_or(0));
            let section = (numbers.next().unwrap(), numbers.next().unwrap_or(0));
            if !NUMBERED.contains(&format!("{}.{}", section.0, section.1).as_str()) {
                sections.entry(section).or_insert((row, Vec::new())).1.push(rule.id);
            }
        }
    }
    for (section, ids) in sections.values() {
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
