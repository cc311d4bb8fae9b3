//! The page of `pte map --html`, without a browser.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{BASIC, good, pte, text};
use crate::support::files;

/// A program with names that are harmful as markup.
pub(super) fn hostile(folder: &Path, markup: &str) -> PathBuf {
    let (json, made) = (folder.join("a.json"), folder.join("a.pte"));
    let shown = json.to_str().unwrap();
    let blobs = format!("dir={}", folder.to_str().unwrap());
    let source = "tests/data/pte/xnn_delegate_segment.pte";
    good(&["dump", "--container", "--blobs", &blobs, source, "-o", shown]);
    let mut dump: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
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
    let markup = "</script></title></style><img src=x onerror=alert(1)>\"'&\u{202e}\u{1b}[2J";
    let made = hostile(folder.path(), markup);
    let page = good(&["map", "--html", made.to_str().unwrap()]);
    assert!(!page.contains("<img") && !page.contains("\u{202e}"));
    assert_eq!(page.matches("<script").count(), 1, "that of the page");
    assert!(!page.contains('\u{1b}'));
    assert_eq!(page.matches("&lt;img src=x").count(), page.matches("src=x").count());
    assert!(page.matches("&lt;img src=x").count() >= 3, "method, operator and delegate");
    assert_eq!(page.matches("</style>").count(), 1);
    assert_eq!(page.matches("</title>").count(), page.matches("<title>").count());
}

/// Tags are balanced, ids are unique, and no resource is loaded.
#[test]
fn page_is_well_formed_and_self_contained() {
    for path in files::samples() {
        let page = good(&["map", "--html", path.to_str().unwrap()]);
        assert!(
            page.starts_with("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">")
        );
        let (head, script) = page.split_once("<script>").unwrap();
        let (_, tail) = script.split_once("</script>").unwrap();
        let markup = format!("{head}{tail}");
        for word in ["<script", "http:", "https:", "url(", "@import", " src=", "<link", "onclick="]
        {
            assert!(!markup.contains(word), "{word} in the page of {path:?}");
        }
        // Links lead to a row or a section of the page.
        for href in markup.split(" href=\"").skip(1) {
            let to = href.split('"').next().unwrap().strip_prefix('#').unwrap();
            assert_eq!(markup.matches(&format!(" id=\"{to}\"")).count(), 1, "{to} in {path:?}");
        }
        let mut open = Vec::new();
        for tag in markup.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
            let name = tag.split([' ', '\n']).next().unwrap();
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "{path:?}"),
                None if ["!DOCTYPE", "meta", "input"].contains(&name) || tag.ends_with('/') => {}
                None => open.push(name),
            }
        }
        assert!(open.is_empty(), "{open:?}");
        for id in page.split(" aria-labelledby=\"").skip(1) {
            let id = id.split('"').next().unwrap();
            assert_eq!(page.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
        }
    }
}

#[test]
fn page_shows_methods_and_sizes() {
    let page = good(&["map", "--html", "tests/data/pte/xnn_gpt.pte"]);
    for part in ["float32[1, 16, 64]", "aten::embedding.out", "XnnpackBackend", "149,120 bytes"] {
        assert!(page.contains(part), "{part}");
    }
    let data = good(&["map", "--html", BASIC]);
    assert!(data.contains("named data, generation 3") && !data.contains("Methods"));
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
    assert!(page.contains("more ranges than this page shows"));
    assert!(page.contains("more parts than this page shows"));
}

/// The page begins with the verdict, and shows what the file does and how large each piece is.
#[test]
fn page_has_what_a_reader_asks_for() {
    let page = good(&["map", "--html", "tests/data/pte/xnn_gpt.pte"]);
    for part in [
        // The verdict.
        "No rule of severity error is broken",
        // A constant of a delegate, alone, with its layout.
        "node 0 filter",
        "float32[128, 32]",
        "XNNFullyConnected",
        // Memory and the graph of the method.
        "<svg class=\"mem\"",
        "live bytes",
        "Graph: ",
        "href=\"#m0i",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let position = |text: &str| page.find(text).unwrap();
    assert!(position("id=\"verdict\"") < position("id=\"sizes\""));
    assert!(position("id=\"sizes\"") < position("id=\"methods\""));
    let named = good(&["map", "--html", "tests/data/pte/mutable_init.pte"]);
    assert!(named.contains("float32["), "{named}");
    let bad = good(&["map", "--html", "tests/data/pte/synth_all_inline.pte"]);
    assert!(bad.contains("class=\"verdict bad\""), "{bad}");
    let constants = good(&["map", "--html", "tests/data/pte/const_methods_simple.pte"]);
    assert!(constants.contains("int = "), "values of constant methods");
}

/// The policy allows the script of the page, by its digest, and no other.
#[test]
fn page_allows_its_script_alone() {
    let page = good(&["map", "--html", BASIC]);
    let policy = page.split("Content-Security-Policy\" content=\"").nth(1).unwrap();
    let policy = policy.split('"').next().unwrap().replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(policy.contains("script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("script-src 'unsafe"), "{policy}");
}

/// Each jump is a line from its row to the row that it leads to, forwards and backwards.
#[test]
fn jumps_are_lines() {
    for (file, arrows) in [("cf_scan", 1), ("cond_nested", 4), ("linear", 0)] {
        let page = good(&["map", "--html", &format!("tests/data/pte/{file}.pte")]);
        let heads = page.split("<path class=\"a\" d=\"").skip(1);
        let heads = heads.filter(|rest| !rest.starts_with('"')).count();
        assert_eq!(heads, arrows, "{file}");
        assert_eq!(page.contains("A dashed line is a jump"), arrows > 0, "{file}");
    }
}
