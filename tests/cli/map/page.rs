//! The page of `pte map --html`, without a browser.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::{BASIC, good, pte, text};
use crate::support::files;

/// The element with the documents, which runs nothing.
const CONTENTS: &str = "<script type=\"application/json\" id=\"contents\">";

/// Splits a page at the documents inside.
fn split(page: &str) -> (&str, &str, &str) {
    let (head, rest) = page.split_once(CONTENTS).unwrap();
    let (contents, tail) = rest.split_once("</script>").unwrap();
    (head, contents, tail)
}

/// Returns what the page of a file shows.
fn contents(path: &str) -> Value {
    let page = good(&["map", "--html", path]);
    serde_json::from_str(split(&page).1).unwrap()
}

/// A program with names that are harmful as markup.
pub(super) fn hostile(folder: &Path, markup: &str) -> PathBuf {
    let (json, made) = (folder.join("a.json"), folder.join("a.pte"));
    let shown = json.to_str().unwrap();
    let blobs = format!("dir={}", folder.to_str().unwrap());
    let source = "tests/data/pte/xnn_delegate_segment.pte";
    good(&["dump", "--container", "--blobs", &blobs, source, "-o", shown]);
    let mut dump: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    let plan = &mut dump["execution_plan"][0];
    plan["name"] = markup.into();
    assert!(plan["delegates"][0]["id"].is_string());
    plan["delegates"][0]["id"] = markup.into();
    let operator = serde_json::json!({"name": markup, "overload": markup});
    plan["operators"].as_array_mut().unwrap().push(operator);
    fs::write(&json, dump.to_string()).unwrap();
    let args = ["build", shown, "--blobs", &blobs, "--lay-out", "-o", made.to_str().unwrap()];
    let done = pte(&args);
    assert!(made.exists(), "{}", text(&done.stderr));
    made
}

#[test]
fn page_escapes_text_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let markup = "</script></title></style><img src=x onerror=alert(1)><!--\"'&\u{202e}\u{1b}[2J";
    let made = hostile(folder.path(), markup);
    let page = good(&["map", "--html", made.to_str().unwrap()]);
    let (_, inside, _) = split(&page);
    assert!(!inside.contains(['<', '\u{202e}', '\u{1b}']), "no element can begin or end in it");
    let usual = good(&["map", "--html", BASIC]);
    for tag in ["<script", "</script>", "</style>", "</title>", "<img", "<!--"] {
        assert_eq!(page.matches(tag).count(), usual.matches(tag).count(), "{tag}");
    }
    let of = |document: &str| contents(made.to_str().unwrap())["documents"][document].to_string();
    for document in ["info", "sizes", "map", "explorer"] {
        assert!(of(document).contains("<img src=x onerror=alert(1)>"), "{document}");
    }
}

/// All pages are one text, but for the documents: tags are balanced, ids are unique, no resource is loaded.
#[test]
fn page_is_well_formed_and_self_contained() {
    let mut pages = BTreeSet::new();
    for path in files::samples() {
        let page = good(&["map", "--html", path.to_str().unwrap()]);
        let (head, contents, tail) = split(&page);
        pages.insert(format!("{head}{CONTENTS}</script>{tail}"));
        let contents: Value = serde_json::from_str(contents).unwrap();
        let documents = contents["documents"].as_object().unwrap();
        assert_eq!(documents.len(), 7, "{path:?}");
    }
    let page = pages.pop_first().unwrap();
    assert_eq!(pages.len(), 0);
    assert!(
        page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"utf-8\">")
    );
    let (head, script) = page.split_once("<script type=\"module\">").unwrap();
    let (_, tail) = script.split_once("</script>").unwrap();
    let markup = format!("{}{tail}", head.replace(CONTENTS, "").replace("</script>", ""));
    for word in
        ["<script", "http:", "https:", "url(", "@import", " src=", "<link", "onclick=", "href="]
    {
        assert!(!markup.contains(word), "{word}");
    }
    let mut open = Vec::new();
    for tag in markup.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let name = tag.split([' ', '\n']).next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if ["!DOCTYPE", "!--", "meta"].contains(&name) => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// What the page shows is what the verbs say.
#[test]
fn page_has_the_documents_of_the_verbs() {
    for path in files::samples().iter().step_by(5) {
        let path = path.to_str().unwrap();
        let page = contents(path);
        for (call, verb) in [
            ("info", &["info"][..]),
            ("check", &["check", "--no-config"]),
            ("sizes", &["size"]),
            ("memory", &["memory"]),
            ("ops", &["ops"]),
            ("map", &["map"]),
            ("explorer", &["graph", "--format", "model-explorer"]),
        ] {
            let json = if call == "explorer" { &[][..] } else { &["--json"] };
            let done = pte(&[verb, json, &[path]].concat());
            let inside = &page["documents"][call];
            if inside.get("error").is_some() || inside["omitted"] != 0 {
                let is_known = call == "ops" || inside["omitted"] != 0;
                assert!(is_known, "{call} of {path}: {inside}");
                continue;
            }
            let mut document: Value = serde_json::from_slice(&done.stdout).unwrap();
            // It would read the whole file.
            document.as_object_mut().unwrap().remove("duplicates");
            let expected = if call == "check" { &document["files"][0] } else { &document };
            assert_eq!(inside["document"], *expected, "{call} of {path}");
        }
    }
}

/// A hex view has the bytes at the beginning and at each finding, and the fields around them.
#[test]
fn page_has_the_bytes_and_the_fields_near_findings() {
    let path = "tests/data/pte/synth_all_inline.pte";
    let (page, bytes) = (contents(path), fs::read(path).unwrap());
    let whole = decoded(page["bytes"][0][1].as_str().unwrap());
    assert_eq!((&page["bytes"][0][0], whole), (&0.into(), bytes), "of a small file, all");
    let findings = page["documents"]["check"]["document"]["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    let fields = page["fields"].as_array().unwrap();
    let covers = |field: &Value, at: u64| {
        (field["role_begin"].as_u64().unwrap()..field["role_end"].as_u64().unwrap()).contains(&at)
    };
    for at in findings.iter().filter_map(|finding| finding["offset"].as_u64()).chain([0]) {
        let field = fields.iter().find(|field| covers(field, at)).unwrap();
        let said = good(&["map", "--json", "--at", &field["offset"].to_string(), path]);
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(*field, said["byte"]);
    }
}

/// Returns the bytes of a text in base64.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = four.iter().fold(0u32, |bits, &c| bits << 6 | u32::from(digit(c)));
        let bits = bits << (6 * (4 - four.len()));
        bytes.extend(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}

/// The page of a large file has a bounded length, and lists the number of omitted rows.
#[test]
fn page_length_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.ptd");
    let mut ptd = ::pte::build::PtdBuilder::new();
    for nth in 0..5000 {
        ptd.blob(format!("{}{nth}", "a name that is long ".repeat(10)), vec![1; 8]).unwrap();
    }
    fs::write(&path, ptd.finish().unwrap().image().unwrap().to_bytes().unwrap()).unwrap();
    let page = good(&["map", "--html", "--depth", "9", path.to_str().unwrap()]);
    assert!(page.len() < 700_000, "{}", page.len());
    let inside: Value = serde_json::from_str(split(&page).1).unwrap();
    for document in ["map", "sizes"] {
        let omitted = inside["documents"][document]["omitted"].as_u64().unwrap();
        assert!(omitted > 1000, "{document}: {omitted}");
    }
}

/// The policy allows the script and the style of the page, by their digests, and no other.
#[test]
fn page_allows_its_script_alone() {
    let page = good(&["map", "--html", BASIC]);
    let policy = page.split("Content-Security-Policy\" content=\"").nth(1).unwrap();
    let policy = policy.split('"').next().unwrap();
    let digest = |of: &str, end: &str| {
        let inside = page.split_once(of).unwrap().1.split_once(end).unwrap().0;
        Sha256::digest(inside.as_bytes()).to_vec()
    };
    let digests: Vec<_> = policy.split("'sha256-").skip(1).collect();
    let digests = digests.iter().map(|rest| decoded(rest.split('\'').next().unwrap()));
    let expected = [digest("<script type=\"module\">", "</script>"), digest("<style>", "</style>")];
    assert_eq!(digests.collect::<Vec<_>>(), expected);
    let plain: Vec<_> = policy.split("; ").filter(|part| !part.contains("sha256-")).collect();
    let rest =
        ["default-src 'none'", "connect-src 'none'", "base-uri 'none'", "form-action 'none'"];
    assert_eq!(plain, rest);
}
