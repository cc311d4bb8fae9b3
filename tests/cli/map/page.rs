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

/// Splits the part before the documents at the text that is shown without JavaScript.
fn summary(head: &str) -> (&str, &str, &str) {
    let begin = head.find("<pre class=\"card\">").unwrap() + "<pre class=\"card\">".len();
    let (before, rest) = head.split_at(begin);
    let (summary, after) = rest.split_at(rest.find("</pre>").unwrap());
    (before, summary, after)
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

/// Without JavaScript a page has what `info` and `check` print.
#[test]
fn page_is_readable_without_javascript() {
    let path = "tests/data/pte/cond.pte";
    let page = good(&["map", "--html", path]);
    let text = summary(split(&page).0).1.replace("&lt;", "<").replace("&amp;", "&");
    let named = |text: String| text.replace(path, "cond.pte");
    assert_eq!(text, named(good(&["info", path])) + &named(text_of_check(path)));
    // A name that would be markup is text there too.
    let folder = tempfile::tempdir().unwrap();
    let made = hostile(folder.path(), "</pre></noscript><img src=x onerror=alert(1)>&amp;");
    let page = good(&["map", "--html", made.to_str().unwrap()]);
    let shown = summary(split(&page).0).1;
    assert!(shown.contains("&lt;/pre>&lt;/noscript>&lt;img") && !shown.contains('<'), "{shown}");
    assert!(shown.contains("&amp;amp;"), "{shown}");
}

fn text_of_check(path: &str) -> String {
    let shown = text(&pte(&["check", path]).stdout);
    let end = shown.find("\n\n").map_or(shown.len(), |at| at + 1);
    shown[..end].into()
}

/// All pages are one text, but for the documents: tags are balanced, ids are unique, no resource is loaded.
#[test]
fn page_is_well_formed_and_self_contained() {
    let mut pages = BTreeSet::new();
    for path in files::some_samples() {
        let page = good(&["map", "--html", path.to_str().unwrap()]);
        let (head, contents, tail) = split(&page);
        let (before, summary, after) = summary(head);
        assert!(summary.contains("bytes"), "{path:?}");
        pages.insert(format!("{before}{after}{CONTENTS}</script>{tail}"));
        let contents: Value = serde_json::from_str(contents).unwrap();
        let documents = contents["documents"].as_object().unwrap();
        assert_eq!(documents.len(), 8, "{path:?}");
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
            // A page to send has the name of the file, and not its folder.
            let name = path.rsplit('/').next().unwrap();
            let said = text(&done.stdout).replace(path, name);
            let mut document: Value = serde_json::from_str(&said).unwrap();
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

/// Returns the documents of a page of `ptd`, a data file that is built in `folder`.
fn contents_of_data(folder: &Path, ptd: ::pte::build::PtdBuilder) -> Value {
    let path = folder.join("data.ptd");
    fs::write(&path, ptd.finish().unwrap().image().unwrap().to_bytes().unwrap()).unwrap();
    contents(path.to_str().unwrap())
}

/// The largest part may be the last one of the file: it is shown, and the smallest are one row with their bytes.
#[test]
fn page_shows_the_largest_parts_of_a_long_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut ptd = ::pte::build::PtdBuilder::new();
    for nth in 0..2499 {
        ptd.blob(format!("module.{nth}.weight"), vec![1; 8]).unwrap();
    }
    ptd.blob("z.the.largest", vec![1; 1 << 20]).unwrap();
    let page = contents_of_data(folder.path(), ptd);
    let sizes = &page["documents"]["sizes"];
    let file = &sizes["document"]["files"][0];
    fn sums(part: &Value) -> u64 {
        let parts = part["parts"].as_array().map_or(&[][..], |parts| parts);
        let bytes = part["bytes"].as_u64().unwrap();
        assert!(parts.is_empty() || parts.iter().map(sums).sum::<u64>() == bytes, "{part}");
        bytes
    }
    sums(file);
    let data = &file["parts"][0];
    assert_eq!(data["parts"][0]["name"], "z.the.largest", "{data}");
    let rest = data["parts"].as_array().unwrap().last().unwrap();
    let number = rest["name"].as_str().unwrap().strip_suffix(" smaller parts").unwrap();
    let number: u64 = number.replace(',', "").parse().unwrap();
    assert!((1000..2499).contains(&number), "{number}");
    assert!(sizes["omitted"].as_u64().unwrap() >= number);
}

/// One long name in many records neither prevents a page, nor makes a long one of a short file.
#[test]
fn page_of_a_long_name_is_written_and_short() {
    let folder = tempfile::tempdir().unwrap();
    for length in [3000, 100_000] {
        let made = hostile(folder.path(), &"n".repeat(length));
        let page = contents(made.to_str().unwrap());
        assert!(!page["fields"].as_array().unwrap().is_empty());
        let length = page.to_string().len();
        assert!(length < 300_000, "{length}");
    }
}

/// A page is sent to others, who need not know the folders of a disk.
#[test]
fn page_has_no_path_of_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret/model.pte");
    fs::create_dir(path.parent().unwrap()).unwrap();
    for (sample, name) in [
        ("tests/data/pte/synth_all_inline.pte", "model.pte"),
        ("tests/data/other/linear_bundled.bpte", "model.bpte"),
        (BASIC, "model.ptd"),
    ] {
        let path = path.with_file_name(name);
        fs::copy(sample, &path).unwrap();
        let page = good(&["map", "--html", path.to_str().unwrap()]);
        assert!(!page.contains("secret"), "{sample}");
    }
}

/// A program of 1,000 additions, each of which adds to what the one before it wrote. The last tensor is the largest.
fn long_chain(folder: &Path) -> PathBuf {
    let dump = good(&["dump", "--container", "tests/data/pte/add.pte"]);
    let mut dump: Value = serde_json::from_str(&dump).unwrap();
    let plan = &mut dump["execution_plan"][0];
    plan["non_const_buffer_sizes"] = serde_json::json!([0, 4096]);
    let values = plan["values"].as_array_mut().unwrap();
    values.extend(vec![values[2].clone(); 1000]);
    values.last_mut().unwrap()["val"]["sizes"] = serde_json::json!([32, 32]);
    let call = plan["chains"][0]["instructions"][0].clone();
    let calls = (0..1000).map(|nth| {
        let (mut call, to) = (call.clone(), 4 + nth);
        let from = if nth == 0 { 0 } else { to - 1 };
        call["instr_args"]["args"] = serde_json::json!([from, 1, 3, to, to]);
        call
    });
    plan["chains"][0]["instructions"] = calls.collect();
    let [json, made] = ["chain.json", "chain.pte"].map(|name| folder.join(name));
    fs::write(&json, dump.to_string()).unwrap();
    pte(&["build", json.to_str().unwrap(), "-o", made.to_str().unwrap()]);
    made
}

/// Of a graph that is too large there is no part: it would be another graph.
#[test]
fn page_has_a_whole_graph_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = long_chain(folder.path());
    let page = contents(path.to_str().unwrap());
    let graph = &page["documents"]["explorer"];
    assert!(graph.get("document").is_none());
    assert_eq!(graph["error"]["rule"], "absent");
    assert!(graph["error"]["message"].as_str().unwrap().contains("`pte view` shows it"), "{graph}");
    let memory = &page["documents"]["memory"];
    let arena = &memory["document"]["methods"][0]["arenas"][0];
    let shown = arena["tensors"].as_array().unwrap();
    assert_eq!(shown[0]["bytes"], 4096, "the largest is first, and it is the last of the file");
    let count = arena["tensor_count"].as_u64().unwrap();
    assert_eq!(count - shown.len() as u64, memory["omitted"].as_u64().unwrap());
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
