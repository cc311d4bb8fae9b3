//! `pte scan`: rows, parts, resumption and hostile names.

use std::collections::BTreeMap;
use std::fs;
#[cfg(unix)]
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{LINEAR, pte};

/// Runs a scan of `roots` into `folder`, as NDJSON.
fn scan(roots: &[&str], folder: &Path, options: &[&str]) -> std::process::Output {
    let folder = folder.to_str().unwrap();
    pte(&[&["scan", "--format", "ndjson", "-o", folder], options, roots].concat())
}

/// Returns the rows that a manifest names, without the fields that differ between runs.
fn rows(folder: &Path) -> Vec<Value> {
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let mut rows = Vec::new();
    for part in manifest["parts"].as_array().unwrap() {
        let name = format!("{}.ndjson", part["name"].as_str().unwrap());
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(u64::try_from(text.lines().count()).unwrap(), part["rows"]);
        for line in text.lines() {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row["time_us"] = Value::Null;
            rows.push(row);
        }
    }
    rows.sort_by_key(|row| row["uri"].as_str().unwrap().to_owned());
    rows
}

fn by_uri(rows: &[Value], end: &str) -> Value {
    rows.iter().find(|row| row["uri"].as_str().unwrap().ends_with(end)).unwrap().clone()
}

#[test]
fn every_file_is_a_row() {
    let out = tempfile::tempdir().unwrap();
    let models = tempfile::tempdir().unwrap();
    let at = |name: &str| models.path().join(name);
    fs::copy(crate::support::files::path(LINEAR), at("a.pte")).unwrap();
    fs::copy(crate::support::files::path("tests/data/pte/synth_all_seg.pte"), at("b.pte")).unwrap();
    fs::copy(crate::support::files::path("tests/data/pte/external_all.pte"), at("c.pte")).unwrap();
    fs::copy(crate::support::files::path("tests/data/ptd/ptd_basic.ptd"), at("d.ptd")).unwrap();
    fs::copy(crate::support::files::path("tests/data/pte/xnn_gpt.pte"), at("g.pte")).unwrap();
    fs::write(at("e.pte"), b"not a program").unwrap();
    fs::write(at("f.txt"), b"not named as a model").unwrap();
    let missing = at("missing.pte");
    let roots = [models.path().to_str().unwrap(), missing.to_str().unwrap()];
    let done = scan(&roots, out.path(), &["--depth", "hash"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let summary = String::from_utf8(done.stdout).unwrap();
    assert!(
        summary
            .starts_with("7 files: 3 ok, 1 incomplete, 1 with an Error, 1 refused, 1 unreadable; ")
    );
    let rows = rows(out.path());
    assert_eq!(rows.len(), 7);
    let a = by_uri(&rows, "a.pte");
    assert_eq!(
        (&a["status"], &a["kind"], &a["schema"]),
        (&"ok".into(), &"pte".into(), &"pte.scan/1".into())
    );
    assert_eq!(a["size"], crate::support::files::metadata(LINEAR).unwrap().len());
    assert_eq!(a["methods"], serde_json::json!(["forward"]));
    assert_eq!(a["sha256"].as_str().unwrap().len(), 64);
    assert!(a["operators"][0]["count"].as_u64().unwrap() > 0);
    assert!(a["bytes_read"].as_u64().unwrap() >= a["size"].as_u64().unwrap());
    let b = by_uri(&rows, "b.pte");
    assert_eq!(b["status"], "error");
    assert!(b["errors"].as_u64().unwrap() > 0 && b["code"].is_string() && b["offset"].is_u64());
    let c = by_uri(&rows, "c.pte");
    assert!(
        c["external_tensors"].as_u64().unwrap() > 0 && c["external_bytes"].as_u64().unwrap() > 0
    );
    assert!(!c["external_keys"].as_array().unwrap().is_empty());
    assert_eq!(c["status"], "incomplete");
    assert!(!c["missing_keys"].as_array().unwrap().is_empty());
    assert_eq!(by_uri(&rows, "d.ptd")["kind"], "ptd");
    let refused = by_uri(&rows, "e.pte");
    assert_eq!((&refused["status"], &refused["kind"]), (&"refused".into(), &Value::Null));
    assert!(refused["code"].is_string() && refused["message"].is_string());
    let g = by_uri(&rows, "g.pte");
    assert_eq!(g["payloads"][0]["name"], "XNNPACK");
    assert!(g["backends"][0]["nodes"].as_u64().unwrap() > 0);
    assert_eq!(by_uri(&rows, "missing.pte")["status"], "unreadable");
}

/// The numbers and texts of a row are those of `info` and of `check`.
#[test]
fn a_row_has_the_numbers_of_info_and_check() {
    let models = tempfile::tempdir().unwrap();
    for path in crate::support::files::samples() {
        fs::copy(&path, models.path().join(path.file_name().unwrap())).unwrap();
    }
    let out = tempfile::tempdir().unwrap();
    scan(&[models.path().to_str().unwrap()], out.path(), &[]);
    let rows = rows(out.path());
    assert!(rows.len() > 50, "{}", rows.len());
    let paths: Vec<_> = rows.iter().map(|row| row["uri"].as_str().unwrap()).collect();
    let document = |verb: &str| -> Value {
        let done = pte(&[&[verb, "--json"], &paths[..]].concat());
        serde_json::from_slice(&done.stdout).unwrap()
    };
    let (info, checked) = (document("info"), document("check"));
    let of = |document: &Value, path: &str| {
        let files = document["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == path).cloned().unwrap_or_default()
    };
    let sum = |list: &Value, field: &str| -> u64 {
        list.as_array().unwrap().iter().map(|of| of[field].as_u64().unwrap()).sum()
    };
    for row in &rows {
        let path = row["uri"].as_str().unwrap();
        let (file, judged) = (of(&info, path), of(&checked, path));
        for (cell, part) in [
            ("flatbuffer_bytes", "flatbuffer"),
            ("padding_bytes", "padding"),
            ("segment_bytes", "segments"),
            ("trailing_bytes", "trailing"),
        ] {
            assert_eq!(row[cell], file["parts"][part], "{path}: {cell}");
        }
        if row["kind"] == "pte" {
            let delegates = sum(&file["backends"], "delegates");
            assert_eq!(sum(&row["payloads"], "count"), delegates, "{path}");
            assert_eq!(sum(&row["backends"], "delegates"), delegates, "{path}");
        }
        assert_eq!(row["status"], judged["verdict"], "{path}");
        let findings = judged["findings"].as_array().unwrap();
        let count = |severity: &str| -> usize {
            findings.iter().filter(|finding| finding["severity"] == severity).count()
        };
        let kept = ["error", "warning", "note"].map(count);
        let counted = ["errors", "warnings", "notes"].map(|cell| row[cell].as_u64().unwrap());
        if judged["omitted"].as_u64() == Some(0) {
            assert_eq!(counted, kept.map(|count| count as u64), "{path}");
        }
        let first = findings.iter().find(|finding| finding["severity"] == "error");
        for (cell, field) in [("code", "rule"), ("offset", "offset"), ("message", "message")] {
            let wanted = first.map_or(&Value::Null, |finding| &finding[field]);
            assert_eq!(row[cell], *wanted, "{path}: {cell}");
        }
    }
}

/// Times are in milliseconds from 1970 on, and may be before it.
#[test]
fn a_row_has_the_time_of_its_file() {
    let models = tempfile::tempdir().unwrap();
    let (path, out) = (models.path().join("a.PTD"), tempfile::tempdir().unwrap());
    fs::copy(crate::support::files::path("tests/data/ptd/ptd_basic.ptd"), &path).unwrap();
    let epoch = std::time::SystemTime::UNIX_EPOCH;
    for (nth, (time, wanted)) in [
        (epoch + Duration::from_micros(1_700_000_000_123_999), 1_700_000_000_123i64),
        (epoch - Duration::from_millis(1_500), -1_500),
    ]
    .into_iter()
    .enumerate()
    {
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let out = out.path().join(nth.to_string());
        scan(&[models.path().to_str().unwrap()], &out, &[]);
        let rows = rows(&out);
        assert_eq!((rows.len(), &rows[0]["mtime_ms"]), (1, &wanted.into()));
    }
}

#[test]
fn the_depth_decides_what_is_read() {
    let read = |depth: &str| {
        let out = tempfile::tempdir().unwrap();
        scan(&["tests/data/pte/xnn_gpt.pte"], out.path(), &["--depth", depth]);
        let row = rows(out.path()).remove(0);
        assert_eq!(row["depth"], depth);
        (
            row["bytes_read"].as_u64().unwrap(),
            row["backends"][0]["nodes"].clone(),
            row["sha256"].is_null(),
        )
    };
    let (header, check, hash) = (read("header"), read("check"), read("hash"));
    assert!(header.0 < check.0 && check.0 < hash.0, "{header:?} {check:?} {hash:?}");
    assert_eq!((header.1, header.2, check.2, hash.2), (0.into(), true, true, false));
}

#[test]
fn roots_are_folders_patterns_and_a_list() {
    let found = |roots: &[&str]| {
        let out = tempfile::tempdir().unwrap();
        scan(roots, out.path(), &[]);
        rows(out.path())
            .iter()
            .map(|row| row["uri"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let folder = found(&["tests/data/ptd"]);
    assert!(folder.len() > 3 && folder.iter().all(|uri| uri.ends_with(".ptd")), "{folder:?}");
    assert_eq!(found(&["tests/data/*/lin?ar.pte"]), ["tests/data/pte/linear.pte"]);
    assert_eq!(found(&["tests/**/linear.pte"]), ["tests/data/pte/linear.pte"]);
    let out = tempfile::tempdir().unwrap();
    let mut child = super::command()
        .args(["scan", "-", "--format", "ndjson", "-o", out.path().to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // A line may have 65,536 bytes, with its end.
    let long = "x".repeat((1 << 16) - 1);
    let list = format!("{long}\n{LINEAR}\n\nno/such.pte\r\n{LINEAR}x");
    child.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let rows = rows(out.path());
    let statuses: Vec<_> = rows.iter().map(|row| row["status"].clone()).collect();
    assert_eq!(statuses, ["unreadable", "ok", "unreadable", "unreadable"]);
    let names: Vec<_> = rows.iter().map(|row| row["uri"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["no/such.pte", LINEAR, &format!("{LINEAR}x")]);
}

/// Scans files with hostile names, and returns the cells of all rows.
#[cfg(target_os = "linux")]
fn hostile_cells() -> Vec<String> {
    use std::os::unix::ffi::OsStrExt;
    fn add(value: &Value, cells: &mut Vec<String>) {
        match value {
            Value::String(text) => cells.push(text.clone()),
            Value::Array(values) => values.iter().for_each(|value| add(value, cells)),
            Value::Object(fields) => fields.values().for_each(|value| add(value, cells)),
            _ => {}
        }
    }
    let models = tempfile::tempdir().unwrap();
    let names = [
        &b"=HYPERLINK(\"x\").pte"[..],
        b"+1.pte",
        b"@SUM(1).pte",
        b"-1.pte",
        b"\t=1.pte",
        b"a\",=1,\"b\r\n=2.pte",
        b"<script>alert(1)<!--\xe2\x80\xae.pte",
        b"\xff\x1b]8;;x\x07.pte",
    ];
    for name in names {
        fs::write(models.path().join(std::ffi::OsStr::from_bytes(name)), b"x").unwrap();
    }
    let out = tempfile::tempdir().unwrap();
    let mut child = super::command()
        .args(["scan", "--quiet", "--format", "ndjson", "-", ".", "-o"])
        .arg(out.path())
        .current_dir(models.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let list = names.iter().filter(|name| !name.contains(&b'\n')).copied().collect::<Vec<_>>();
    child.stdin.take().unwrap().write_all(&list.join(&b'\n')).unwrap();
    assert!(child.wait().unwrap().success());
    let mut cells = Vec::new();
    rows(out.path()).iter().for_each(|row| add(row, &mut cells));
    assert!(cells.iter().filter(|cell| cell.contains(".pte")).count() >= 15);
    cells
}

/// A CSV of rows: no cell begins a formula or a line.
#[cfg(target_os = "linux")]
#[test]
fn hostile_names_run_nothing_in_csv() {
    for cell in hostile_cells() {
        assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{cell:?}");
        assert!(!cell.contains(char::is_control), "{cell:?}");
        // Quoted as every writer of CSV does.
        let line = format!("\"{}\"", cell.replace('"', "\"\""));
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}

/// A page that shows rows escapes markup, as for any text. Nothing in a cell moves or hides the
/// text after it.
#[cfg(target_os = "linux")]
#[test]
fn hostile_names_hide_nothing_in_pages() {
    let escaped = |cell: &str| cell.replace('&', "&amp;").replace('<', "&lt;");
    let cells: Vec<_> = hostile_cells().iter().map(|cell| escaped(cell)).collect();
    assert!(cells.iter().any(|cell| cell.contains("&lt;script>alert(1)&lt;!--\\u{202e}.pte")));
    for cell in cells {
        assert!(!cell.contains('<') && cell.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    }
}

/// A spreadsheet, a terminal and a page are readers of rows.
#[cfg(target_os = "linux")]
#[test]
fn hostile_names_are_escaped_in_rows() {
    use std::os::unix::ffi::OsStrExt;
    let models = tempfile::tempdir().unwrap();
    for name in [
        &b"=cmd|calc.pte"[..],
        b"a\x1b[2J\xe2\x80\xaeb.pte",
        b"bad\xff\xfe.pte",
        b"line\nbreak.pte",
    ] {
        fs::write(models.path().join(std::ffi::OsStr::from_bytes(name)), b"x").unwrap();
    }
    let out = tempfile::tempdir().unwrap();
    let run = super::command()
        .args(["scan", "--format", "both", "-o", out.path().to_str().unwrap()])
        .args(["*.pte", "a\u{1b}[2J\u{202e}b.pte", "line\nbreak.pte"])
        .arg(models.path())
        .current_dir(models.path())
        .output()
        .unwrap();
    assert!(run.status.success());
    let text = fs::read_to_string(out.path().join("part-000000.ndjson")).unwrap();
    assert!(text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)), "{text:?}");
    let rows = rows(out.path());
    let uris: Vec<_> = rows.iter().map(|row| row["uri"].as_str().unwrap()).collect();
    for end in [r"a\u{1b}[2J\u{202e}b.pte", r"bad\xff\xfe.pte", r"line\nbreak.pte", "=cmd|calc.pte"]
    {
        assert!(uris.iter().any(|uri| uri.ends_with(end)), "{end}: {uris:?}");
    }
    for uri in uris {
        assert!(
            !uri.starts_with(['=', '+', '-', '@']) && !uri.contains(char::is_control),
            "{uri:?}"
        );
    }
    let parquet = fs::read(out.path().join("part-000000.parquet")).unwrap();
    assert_eq!((&parquet[..4], &parquet[parquet.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
}

#[test]
fn a_finished_scan_is_not_overwritten_and_can_be_resumed() {
    let (models, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = models.path().to_str().unwrap();
    fs::copy(crate::support::files::path(LINEAR), models.path().join("a.pte")).unwrap();
    assert_eq!(scan(&[root], out.path(), &[]).status.code(), Some(0));
    let again = scan(&[root], out.path(), &[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8(again.stderr).unwrap().contains("--resume"));
    fs::copy(crate::support::files::path(LINEAR), models.path().join("b.pte")).unwrap();
    let resumed = scan(&[root], out.path(), &["--resume"]);
    let summary = String::from_utf8(resumed.stdout).unwrap();
    assert!(summary.starts_with("1 file: 1 ok, 1 skipped"), "{summary}");
    assert_eq!(rows(out.path()).len(), 2);
    // A changed file and another depth are judged again.
    fs::write(models.path().join("b.pte"), b"other").unwrap();
    scan(&[root], out.path(), &["--resume"]);
    assert_eq!(rows(out.path()).len(), 3);
    scan(&[root], out.path(), &["--resume", "--depth", "header"]);
    assert_eq!(rows(out.path()).len(), 5);
    let missing = pte(&["scan", root]);
    assert_eq!(missing.status.code(), Some(2), "-o is required");
}

#[cfg(unix)]
const FILES: usize = 1000;

/// A scan that is killed at random moments and resumed has each row of an undisturbed scan once.
#[cfg(unix)]
#[test]
fn a_killed_scan_is_resumed_without_loss() {
    let models = tempfile::tempdir().unwrap();
    for nth in 0..FILES {
        fs::copy(crate::support::files::path(LINEAR), models.path().join(format!("m{nth}.pte")))
            .unwrap();
    }
    let root = models.path().to_str().unwrap();
    let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(scan(&[root], whole.path(), &[]).status.success());
    let (mut kills, mut tries, mut unfinished) = (0, 0, 0);
    while kills < 20 {
        tries += 1;
        assert!(tries < 200, "{kills} of {tries} were killed while they ran");
        let mut child = super::command()
            .args(["scan", "--resume", "--quiet", "--format", "both", "--jobs", "2"])
            .args(["--part-rows", "7", root, "-o", killed.path().to_str().unwrap()])
            .spawn()
            .unwrap();
        let random = RandomState::new().build_hasher().finish();
        std::thread::sleep(Duration::from_micros(3_000 + random % 40_000));
        kills += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let manifest = fs::read_to_string(killed.path().join("manifest.json"));
        unfinished += u32::from(!manifest.is_ok_and(|text| text.contains("complete\": true")));
    }
    eprintln!("{kills} kills, {unfinished} before the last row");
    assert!(unfinished > 0);
    assert!(scan(&[root], killed.path(), &["--resume"]).status.success());
    let count = |rows: Vec<Value>| {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        rows.iter().for_each(|row| *counts.entry(row.to_string()).or_default() += 1);
        counts
    };
    let (whole_rows, killed_rows) = (count(rows(whole.path())), count(rows(killed.path())));
    assert_eq!(killed_rows.len(), FILES);
    assert!(whole_rows == killed_rows, "the rows differ");
    let left = fs::read_dir(killed.path()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".unfinished")
    });
    assert_eq!(left.count(), 0);
}

/// Each query of docs/reach.md, over rows of the test data.
#[test]
fn the_queries_of_the_page_run() {
    let python = std::env::var("PTE_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_duckdb = Command::new(&python).args(["-c", "import duckdb"]).output();
    if !has_duckdb.is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: {python} has no package duckdb (set PTE_PYTHON)");
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let rows = out.path().join("rows");
    let rows = rows.to_str().unwrap();
    assert!(pte(&["scan", "tests/data", "--depth", "hash", "-o", rows]).status.success());
    let page = fs::read_to_string("docs/reach.md").unwrap();
    let queries: Vec<_> =
        page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(queries.len(), 10);
    for query in queries {
        let script = "import duckdb, sys; print(len(duckdb.sql(sys.argv[1]).fetchall()))";
        let done = Command::new(&python)
            .args(["-c", script, query])
            .current_dir(out.path())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{query}\n{error}");
        let found: u32 = String::from_utf8(done.stdout).unwrap().trim().parse().unwrap();
        // No file of the test data carries an executable.
        assert_eq!(found > 0, !query.contains("content-executable"), "{query}: {found} rows");
    }
    // A CSV of the rows has no cell that a spreadsheet would run.
    let script =
        "import duckdb; duckdb.sql(\"copy (select * from 'rows/*.parquet') to 'rows.csv'\")";
    assert!(
        Command::new(&python)
            .args(["-c", script])
            .current_dir(out.path())
            .status()
            .unwrap()
            .success()
    );
    let csv = fs::read_to_string(out.path().join("rows.csv")).unwrap();
    assert!(csv.lines().all(|line| !line.starts_with(['=', '+', '-', '@'])));
}

/// A misspelled root is a row, and a failure if nothing else was read.
#[test]
fn scan_fails_if_no_file_could_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, both) = (folder.path().join("alone"), folder.path().join("both"));
    assert_eq!(scan(&["missing"], &alone, &[]).status.code(), Some(3));
    assert_eq!(scan(&["missing", LINEAR], &both, &[]).status.code(), Some(0));
}

/// Links in folders and in the folders of patterns are followed on request, and a cycle of them ends.
#[cfg(unix)]
#[test]
fn scan_follows_links_only_on_request() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["in", "out"] {
        fs::create_dir(at(name)).unwrap();
    }
    for name in ["in/a.pte", "out/b.pte"] {
        fs::copy(crate::support::files::path(LINEAR), at(name)).unwrap();
    }
    symlink("../out", at("in/out")).unwrap();
    symlink("../in", at("out/back")).unwrap();
    symlink("../out/b.pte", at("in/c.pte")).unwrap();
    symlink("in", at("link")).unwrap();
    for (nth, (root, options, expected, skipped)) in [
        ("in", &[][..], &["in/a.pte"][..], "2 links"),
        ("in", &["--follow"], &["in/a.pte", "in/c.pte", "in/out/b.pte"], ""),
        ("link", &[], &["link/a.pte"], "2 links"),
        ("in/**/*.pte", &[], &["in/a.pte"], "2 links"),
        ("in/c.pte", &[], &["in/c.pte"], ""),
    ]
    .into_iter()
    .enumerate()
    {
        let rows_of = at(&format!("rows{nth}"));
        let done = scan(&[at(root).to_str().unwrap()], &rows_of, options);
        assert_eq!(done.status.code(), Some(0));
        let found: Vec<_> = rows(&rows_of).iter().map(|row| row["uri"].clone()).collect();
        let expected: Vec<_> = expected.iter().map(|name| at(name)).collect();
        assert_eq!(found, expected.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>());
        let stderr = String::from_utf8(done.stderr).unwrap();
        let note = format!("note: {skipped} in folders are not followed: use --follow");
        assert_eq!(stderr.contains(&note), !skipped.is_empty(), "{root}: {stderr}");
    }
}
