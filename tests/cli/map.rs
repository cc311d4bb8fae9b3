//! `pte map`: every byte once, one byte with its path, and the page.

use serde_json::Value;

use super::{BASIC, LINEAR, append_run, good, json, pte, run, text};
use crate::support::files::{self, name};
use crate::support::snapshot::assert_snapshot;
use crate::support::thinned;

mod browser;
mod page;

#[test]
fn map_lists_ranges_in_file_order() {
    for (page, args) in [
        ("program", &["tests/data/pte/xnn_gpt.pte"][..]),
        ("data", &[BASIC]),
        ("in-full", &["--depth", "9", "tests/data/pte/add.pte"]),
    ] {
        assert_snapshot(&format!("map-{page}"), &good(&[&["map"], args].concat()));
    }
}

#[test]
fn map_at_describes_one_byte() {
    let mut page = String::new();
    for at in ["0x9", "42", "0x40", "0x60", "0x129", "0x650", "0x705", "0x710", "1a40"] {
        let args = ["map", LINEAR, "--at", at];
        append_run(&mut page, &args, &pte(&args));
    }
    assert_snapshot("map-at", &page);
    assert_snapshot("map-at-json", &good(&["map", LINEAR, "--at", "0x60", "--json"]));
    assert_eq!(pte(&["map", LINEAR, "--at", "0", "--html"]).status.code(), Some(2));
}

/// The ranges of every level have exactly the bytes of their parent, folded or not.
#[test]
fn map_ranges_cover_every_byte() {
    fn ask(parts: &[Value], begin: u64, end: u64) -> usize {
        let (mut at, mut count) = (begin, 0);
        for part in parts {
            let number = |name: &str| part[name].as_u64().unwrap();
            assert_eq!(number("begin"), at, "{part}");
            at = number("end");
            assert_eq!(number("bytes"), at - number("begin"), "{part}");
            assert!(number("bytes") > 0, "{part}");
            count += 1;
            if let Some(parts) = part["parts"].as_array() {
                count += ask(parts, number("begin"), at);
            }
            if let Some(kinds) = part["kinds"].as_array() {
                let sum: u64 = kinds.iter().map(|kind| kind["bytes"].as_u64().unwrap()).sum();
                assert_eq!(sum, number("bytes"), "{part}");
            }
        }
        assert_eq!(at, end);
        count
    }
    for path in files::everything().into_iter().step_by(thinned(3)) {
        let (shown, bytes) = (path.to_str().unwrap(), path.metadata().unwrap().len());
        let sparse = json(&["map", "--json", shown]);
        assert_eq!((&sparse["schema"], &sparse["bytes"]), (&"pte.map/1".into(), &bytes.into()));
        let rows = ask(sparse["parts"].as_array().unwrap(), 0, bytes);
        assert!(rows < 2000, "{}: {rows} rows", name(&path));
        let full = json(&["map", "--json", "--depth", "9", shown]);
        ask(full["parts"].as_array().unwrap(), 0, bytes);
    }
}

#[test]
fn map_reads_standard_input() {
    let bytes = files::read(LINEAR).unwrap();
    for more in [&[][..], &["--at", "100"], &["--json"], &["--html"]] {
        let done = run(&[&["map", "-"], more].concat(), None, &bytes);
        let shown = text(&done.stdout).replace("&lt;standard input&gt;", "<standard input>");
        let file = good(&[&["map", LINEAR], more].concat());
        match more {
            ["--html"] => assert!(shown.contains("\"name\":\"\\u003cstandard input>\"")),
            _ => assert_eq!(shown.replace("<standard input>", LINEAR), file),
        }
    }
}
