//! `pte size`: sums, screens, growth and budgets.

use serde_json::{Value, json};

use super::{BASIC, LINEAR, append_run, good, json, pte, run, text};
use crate::support::build;
use crate::support::files::{self, name};
use crate::support::snapshot::assert_snapshot;

#[test]
fn size_shows_the_largest_parts_first() {
    for (page, args) in [
        ("program", &["tests/data/pte/xnn_gpt.pte"][..]),
        ("data", &["--depth", "1", BASIC]),
        ("inline", &["--depth", "9", "tests/data/pte/v0.2.0_inline_const.pte"]),
    ] {
        assert_snapshot(&format!("size-{page}"), &good(&[&["size"], args].concat()));
    }
}

/// The parts of every level sum to their parent, and the outermost parts to the file's size.
#[test]
fn size_parts_sum_to_the_file_size() {
    fn sum(part: &Value) {
        let Some(parts) = part["parts"].as_array() else { return };
        let of_parts: u64 = parts.iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
        assert_eq!(of_parts, part["bytes"].as_u64().unwrap(), "{part}");
        parts.iter().for_each(sum);
    }
    let paths = files::everything();
    let mut args = vec!["size", "--json"];
    args.extend(paths.iter().map(|path| path.to_str().unwrap()));
    let document = json(&args);
    assert_eq!(document["schema"], "pte.size/1");
    let shown = document["files"].as_array().unwrap();
    assert_eq!(shown.len(), paths.len());
    for (file, path) in shown.iter().zip(&paths) {
        assert_eq!(file["bytes"], path.metadata().unwrap().len(), "{}", name(path));
        assert!(!file["parts"].as_array().unwrap().is_empty());
        sum(file);
    }
}

#[test]
fn size_reads_standard_input() {
    let bytes = files::read(LINEAR).unwrap();
    let done = run(&["size", "-"], None, &bytes);
    let shown = text(&done.stdout).replace("<standard input>", LINEAR);
    assert_eq!(shown, good(&["size", LINEAR]));
}

/// A row that folds parts stands for at least two of them.
#[test]
fn single_part_is_not_folded() {
    let shown = |parts: u64| {
        let segments: Vec<_> =
            (0..parts).map(|nth| serde_json::json!({"offset": 16 * nth, "size": 16})).collect();
        let named: Vec<_> = (0..parts)
            .map(|nth| serde_json::json!({"key": format!("key{nth}"), "segment_index": nth}))
            .collect();
        let file = serde_json::json!({
            "kind": "ptd", "root": {"segments": segments, "named_data": named},
            "data": [{"zeros": 16 * parts}]
        });
        let done = run(&["size", "-"], None, &build::file(&file.to_string()));
        let shown = text(&done.stdout);
        (shown.matches("key").count(), shown.contains("more"))
    };
    assert_eq!(shown(10), (10, false));
    assert_eq!(shown(11), (11, false));
    assert_eq!(shown(12), (10, true));
}

/// A `.ptd` of three tensors of which two are equal, and a blob that is a part of one.
fn twice() -> Vec<u8> {
    let layout = json!({"scalar_type": "BYTE", "sizes": [256], "dim_order": [0]});
    let named: Vec<_> = ["a", "b", "c", "d"]
        .iter()
        .enumerate()
        .map(|(nth, key)| match nth {
            3 => json!({"key": key, "segment_index": nth}),
            _ => json!({"key": key, "segment_index": nth, "tensor_layout": layout}),
        })
        .collect();
    let segments: Vec<_> = [(0, 256), (256, 256), (512, 256), (768, 64)]
        .map(|(offset, size)| json!({"offset": offset, "size": size}))
        .to_vec();
    let file = json!({
        "kind": "ptd", "root": {"segments": segments, "named_data": named},
        "data": [{"zeros": 512}, {"hex": "11".repeat(256)}, {"zeros": 64}]
    });
    build::file(&file.to_string())
}

/// Equal data is named, in one file and in several, with what sharing would save.
#[test]
fn size_names_data_that_is_stored_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twice.ptd");
    std::fs::write(&path, twice()).unwrap();
    let run_in = |args: &[&str]| text(&run(args, Some(folder.path()), b"").stdout);
    let shown = run_in(&["size", "twice.ptd"]);
    assert!(
        shown.ends_with("\nstored more than once  256 B less if stored once\n  256 × 2  a, b\n"),
        "{shown}"
    );
    let document: Value = serde_json::from_str(&run_in(&["size", "--json", "twice.ptd"])).unwrap();
    let found = &document["duplicates"];
    assert_eq!((&found["saved"], &found["saved_within_files"]), (&256.into(), &256.into()));
    let group = &found["groups"][0];
    assert_eq!(group["places"][1]["part"], json!(["tensors", "b"]));
    assert_eq!(group["places"].as_array().unwrap().len(), 2, "d is shorter: {found}");
    let tensors: Value =
        serde_json::from_str(&run_in(&["tensors", "--hash", "--json", "twice.ptd"])).unwrap();
    let rows = &tensors["tensors"];
    assert_eq!((&group["sha256"], &group["bytes"]), (&rows[0]["sha256"], &rows[0]["bytes"]));
    assert_eq!(group["places"][0]["offset"], rows[0]["offset"]);
    // A second file has all of it; the first one given again has none.
    std::fs::copy(&path, folder.path().join("again.ptd")).unwrap();
    let shown = run_in(&["size", "--depth", "1", "twice.ptd", "again.ptd", "./twice.ptd"]);
    let found = shown.split_once("stored more than once").unwrap().1;
    assert_eq!(
        found,
        "  1.1 kB less if stored once, 512 B of it within files\n  \
         256 × 4  a, b  in 2 files\n  256 × 2  c  in 2 files\n   64 × 2  d  in 2 files\n"
    );
    for args in [&["--by-module"][..], &["--against", "again.ptd"]] {
        assert!(!run_in(&[&["size", "twice.ptd"], args].concat()).contains("stored more"));
    }
    let streamed = run(&["size", "-"], None, &twice());
    assert!(text(&streamed.stdout).contains("256 × 2  a, b"));
}

/// A payload that is equal as a whole is one piece of data. Otherwise its constants are compared.
#[test]
fn size_compares_payloads_and_their_constants() {
    let sample = "tests/data/pte/v0.5.0_xnn_qs8.pte";
    let folder = tempfile::tempdir().unwrap();
    let [same, inlined] = ["a.pte", "b.pte"].map(|name| folder.path().join(name));
    std::fs::copy(files::path(sample), &same).unwrap();
    let groups = |other: &str| {
        let document = json(&["size", "--json", sample, other]);
        let groups = document["duplicates"]["groups"].as_array().unwrap().clone();
        groups.into_iter().map(|group| group["places"][0]["part"].clone()).collect::<Vec<_>>()
    };
    let whole = groups(same.to_str().unwrap());
    assert_eq!(whole, [json!(["delegates", "forward:0 XnnpackBackend"])]);
    let other = inlined.to_str().unwrap();
    good(&["-q", "edit", sample, "--payload-constants", "named", "-o", other]);
    let parts = groups(other);
    assert_eq!(parts.len(), 3, "the constants of 64 bytes or more: {parts:?}");
    assert!(parts.iter().all(|part| part[3].as_str().unwrap().contains("XNNFullyConnected")));
}

#[test]
fn growth_is_listed_by_part() {
    let (old, new) = ("tests/data/pte/v0.3.0_multi.pte", "tests/data/pte/v0.6.0_multi.pte");
    assert_snapshot("size-against", &good(&["size", new, "--against", old]));
    let document = json(&["size", "--json", new, old, "--against", old]);
    assert_eq!(document["against"]["path"], old);
    let files = document["files"].as_array().unwrap();
    let (before, after) = (&document["against"]["bytes"], &files[0]["bytes"]);
    let grown = files[0]["growth"].as_array().unwrap();
    let changes: Vec<_> = grown.iter().map(|row| row["change"].as_i64().unwrap()).collect();
    let total = after.as_i64().unwrap() - before.as_i64().unwrap();
    assert_eq!(changes.iter().sum::<i64>(), total, "all that changed is listed");
    assert!(changes.is_sorted_by_key(|change| -change.abs()), "{changes:?}");
    assert!(grown.iter().all(|row| row["before"] != row["bytes"]), "and nothing else");
    assert_eq!(files[1]["growth"].as_array().unwrap().len(), 0, "a file against itself");
    // --depth limits the levels.
    let top = json(&["size", "--json", "--depth", "1", new, "--against", old]);
    let top = top["files"][0]["growth"].as_array().unwrap();
    assert!(top.iter().all(|row| row["path"].as_array().unwrap().len() == 1), "{top:?}");
    assert_eq!(top.iter().map(|row| row["change"].as_i64().unwrap()).sum::<i64>(), total);
}

/// What is new in one direction is gone in the other, and a file has no growth against itself.
#[test]
fn growth_and_its_reverse_mirror_each_other() {
    let (one, two) = ("tests/data/pte/v0.3.0_multi.pte", "tests/data/pte/v0.6.0_multi.pte");
    let rows = |new: &str, old: &str| {
        let shown = good(&["size", new, "--against", old]);
        let rows = shown.lines().skip(1).filter(|line| !line.contains('…'));
        let mut rows: Vec<String> = rows.map(|row| row.trim().to_owned()).collect();
        rows.sort();
        rows
    };
    let mirrored = |row: &String| {
        let (row, size) = row.rsplit_once("  ").unwrap();
        let size = match (size, size.split_once(" → ")) {
            ("new", _) => "gone".into(),
            ("gone", _) => "new".into(),
            (_, sizes) => sizes.map(|(before, after)| format!("{after} → {before}")).unwrap(),
        };
        let sign = if row.starts_with('+') { '−' } else { '+' };
        format!("{}  {size}", row.replacen(['+', '−'], &sign.to_string(), 1))
    };
    let mut reverse: Vec<_> = rows(one, two).iter().map(mirrored).collect();
    reverse.sort();
    assert_eq!(rows(two, one), reverse);
    assert!(reverse.iter().any(|row| row.ends_with(" gone") || row.ends_with(" new")));
    let same = good(&["size", one, "--against", one]);
    assert!(same.contains(" · ±0 (+0.0%) against ") && same.lines().count() == 1, "{same}");
}

/// A part that is the only one shares the row of its parent as far as `--depth` goes.
#[test]
fn depth_limits_rows_with_several_names() {
    let row = |depth: &str| {
        let shown = good(&["size", "--depth", depth, LINEAR]);
        let row = shown.lines().find_map(|line| Some(line.split_once("methods")?.1.to_owned()));
        row.unwrap_or_default()
    };
    assert_eq!(["1", "2", "3"].map(row), ["", "", " / forward"]);
}

#[test]
fn size_over_budget_exits_with_1() {
    let size = files::metadata(LINEAR).unwrap().len();
    for (budget, status) in [(size, 0), (size - 1, 1)] {
        let done = pte(&["size", LINEAR, "--budget", &budget.to_string()]);
        assert_eq!(done.status.code(), Some(status));
        assert_eq!(text(&done.stdout), good(&["size", LINEAR]), "it is shown all the same");
        assert_eq!(text(&done.stderr).lines().count(), status as usize);
    }
    let done = pte(&["size", LINEAR, "tests/data/pte/xnn_gpt.pte", "--budget", "100kB", "--json"]);
    assert_eq!(done.status.code(), Some(1));
    assert_snapshot("size-budget", &text(&done.stderr));
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(document["budget"], 100_000);
    assert_eq!(document["files"][0]["over"], Value::Null);
    assert_eq!(document["files"][1]["over"], 49_120);
    assert_eq!(pte(&["size", LINEAR, "--budget", "8 potatoes"]).status.code(), Some(2));
    for (digits, status) in [(18, 0), (19, 2)] {
        let budget = "1".repeat(digits);
        assert_eq!(pte(&["size", LINEAR, "--budget", &budget]).status.code(), Some(status));
    }
}

#[test]
fn refused_file_does_not_hide_other_files() {
    let done = pte(&["size", "README.md", LINEAR, "--json"]);
    assert_eq!(done.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(document["files"].as_array().unwrap().len(), 1);
    assert_eq!(document["files"][0]["path"], LINEAR);
    assert_eq!(pte(&["size", LINEAR, "--against", "absent.pte"]).status.code(), Some(3));
    assert_eq!(pte(&["size", "-", "--against", "-"]).status.code(), Some(2));
}

/// `size`, `map` and `check` agree on the end of a file: an empty segment may be the last one, with padding
/// before it.
#[test]
fn trailing_bytes_agree_with_check() {
    for path in files::some_samples() {
        let file = path.to_str().unwrap();
        let done = pte(&["check", "--json", file]);
        let document: Value = serde_json::from_slice(&done.stdout).unwrap();
        let found = document["files"][0]["findings"].as_array().unwrap().iter();
        let found = found.filter(|finding| finding["rule"] == "trailing-bytes").count();
        let parts = &json(&["info", "--json", file])["files"][0]["parts"];
        assert_eq!(parts["trailing"] != 0, found > 0, "{file}: {parts}");
        let map = good(&["map", "--depth", "1", file]);
        assert_eq!(map.contains("trailing bytes"), found > 0, "{file}: {map}");
    }
}

/// The rows of a screen sum to the change of the file, with the row of those that are not shown.
#[test]
fn shown_growth_sums_to_the_change_of_the_file() {
    let number = |text: &str| -> i64 {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let sign = if text.starts_with('−') { -1 } else { 1 };
        sign * digits.parse::<i64>().unwrap()
    };
    let names = ["linear", "cond", "v0.3.0_multi", "xnn_mixed", "llm_sdpa", "kv_cache_init"];
    let paths = names.map(|name| format!("tests/data/pte/{name}.pte"));
    let mut mixed = 0;
    for new in &paths {
        for old in &paths {
            let size = |path: &str| files::metadata(path).unwrap().len() as i64;
            let shown = good(&["size", new, "--against", old]);
            let rows = shown.lines().skip(1);
            let sum: i64 = rows.map(|row| number(row.split_whitespace().next().unwrap())).sum();
            assert_eq!(sum, size(new) - size(old), "{new} against {old}: {shown}");
            let document = json(&["size", "--json", new, "--against", old]);
            let rows = document["files"][0]["growth"].as_array().unwrap();
            let folded: Vec<_> =
                rows.iter().skip(20).map(|row| row["change"].as_i64().unwrap() > 0).collect();
            mixed += usize::from(folded.contains(&true) && folded.contains(&false));
        }
    }
    assert!(mixed > 0, "changes of both signs are folded");
}

/// The dotted names of tensors make a tree; bytes that tensors share count once, so the rows have all bytes.
#[test]
fn modules_are_the_dotted_names_of_tensors() {
    let mut page = String::new();
    let data = "tests/data/ptd/external_all.default_external_constant.ptd";
    for args in [&["size", "--by-module", data][..], &["size", "--by-module", LINEAR]] {
        append_run(&mut page, args, &pte(args));
    }
    assert_snapshot("size-by-module", &page);
    let named: Vec<_> = ["m", "m.a.b", "m.a.c", "x.y.z", "...."].into();
    let entries = (0..named.len()).map(|nth| json!({"key": named[nth], "segment_index": nth}));
    let entries: Vec<_> = entries.collect();
    let segments: Vec<_> =
        (0..named.len()).map(|nth| json!({"offset": 16 * nth, "size": 16})).collect();
    let root = json!({"named_data": entries, "segments": segments});
    let file =
        json!({"kind": "ptd", "root": root, "data": vec![json!({"zeros": 16}); named.len()]});
    let shown = run(&["size", "--by-module", "--json", "-"], None, &build::file(&file.to_string()));
    let document: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let sum = |tree: &Value| -> u64 {
        tree["parts"].as_array().unwrap().iter().map(|part| part["bytes"].as_u64().unwrap()).sum()
    };
    let whole = &document["files"][0];
    assert_eq!(sum(whole), whole["bytes"].as_u64().unwrap());
    let is_module = |part: &&Value| part["name"] == "m" && part["parts"].is_array();
    let module = whole["parts"].as_array().unwrap().iter().find(is_module).unwrap();
    assert_eq!((sum(module), &module["bytes"]), (32, &json!(32)), "{module}");
}
