//! `pte ops`: operators and backends, the YAML list, and comparison with a list.

use std::fs;

use super::{LINEAR, append_run, good, json, pte, run, text};
use crate::support::build;
use crate::support::files;
use crate::support::fixture::Fixture;
use crate::support::snapshot::assert_snapshot;
use crate::support::thinned;

/// Text, JSON and YAML for simple calls, unknown operators, lists, strings and delegates. The YAML has the
/// same bytes as that of upstream's gen_oplist.
#[test]
fn ops_lists_operators_and_backends() {
    for (page, file) in [
        ("linear", LINEAR),
        ("custom", "tests/data/pte/args_custom_op_all_kinds.pte"),
        ("delegates", "tests/data/pte/xnn_mixed.pte"),
        ("oldest", "tests/data/pte/v0.2.0_cond.pte"),
    ] {
        let mut shown = good(&["ops", file]);
        for format in ["yaml", "json"] {
            shown.push_str(&format!("\n--format {format}\n"));
            shown.push_str(&good(&["ops", "--format", format, file]));
        }
        assert_snapshot(&format!("ops-{page}"), &shown);
    }
    let several = [LINEAR, "tests/data/pte/multi_method.pte", "tests/data/pte/xnn_multi.pte"];
    let mut shown = good(&[&["ops"][..], &several].concat());
    shown.push_str(&good(&[&["ops", "--format", "yaml"][..], &several].concat()));
    assert_snapshot("ops-several", &shown);
}

/// The totals are the sums of the methods, and the counts of `info`.
#[test]
fn ops_and_info_count_the_same_calls() {
    let mut operators = 0;
    for path in files::some_samples() {
        let path = path.to_str().unwrap();
        if path.ends_with(".ptd") {
            continue;
        }
        let (listed, info) = (json(&["ops", "--json", path]), json(&["info", "--json", path]));
        let calls = |list: &serde_json::Value| -> Vec<_> {
            let list = list.as_array().unwrap().iter();
            list.map(|of| (of["name"].clone(), of["calls"].as_u64().unwrap())).collect()
        };
        let sum = calls(&listed["operators"]);
        assert_eq!(sum, calls(&info["files"][0]["operators"]), "{path}");
        let methods = listed["files"][0]["methods"].as_array().unwrap();
        let all: u64 = methods.iter().flat_map(|of| calls(&of["operators"])).map(|of| of.1).sum();
        assert_eq!(all, sum.iter().map(|of| of.1).sum::<u64>(), "{path}");
        // A list that was made from the file lacks none of its operators.
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("selected_operators.yaml");
        let list = list.to_str().unwrap();
        good(&["ops", "--format", "yaml", path, "-o", list]);
        assert_eq!(good(&["ops", path, "--against", list]), "", "{path}");
        operators += sum.len();
    }
    assert!(operators * thinned(3) > 100, "{operators}");
}

/// Operators that no call uses have no kernels, long names are marked as keys, and names that a reader of YAML would
/// take for something else have quotes.
#[test]
fn yaml_keeps_each_name() {
    let Fixture(mut program) = Fixture::read("base/xnnpack").unwrap();
    let names = [120, 121].map(|len| format!("a::{}", "x".repeat(len - 3)));
    let all = [&names[0], &names[1], "a::b:", "null", "a b", "\u{e9}::a", "aten::add"];
    let operators = all.map(|name| serde_json::json!({"name": name, "overload": ""}));
    program["root"]["execution_plan"][0]["operators"] = operators.to_vec().into();
    let done = run(&["ops", "--format", "yaml", "-"], None, &build::file(&program.to_string()));
    let yaml = text(&done.stdout);
    assert!(yaml.contains("\net_kernel_metadata: {}\n"), "{yaml}");
    let keys = [
        format!("  {}:\n", names[0]),
        format!("  ? {}\n  :\n", names[1]),
        "  \"a::b:\":\n".into(),
        "  \"null\":\n".into(),
        "  \"a b\":\n".into(),
        "  \"\\U000000e9::a\":\n".into(),
        "  aten::add:\n".into(),
    ];
    for key in keys {
        assert_eq!(yaml.matches(&key).count(), 1, "{key}: {yaml}");
    }
}

#[test]
fn against_lists_missing_operators() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = good(&["ops", "--format", "yaml", LINEAR]);
    for (name, text) in [
        (
            "names.txt",
            "# what we build\naten::addmm.out\n\n  aten::relu.out  # activation\n".into(),
        ),
        ("none.txt", String::new()),
        ("cut.yaml", yaml.replace("  aten::relu.out:\n", "  aten::relu_.out:\n")),
        ("everything.yaml", "include_all_operators: true\noperators: {}\n".into()),
        (
            "overloads.yaml",
            "operators:\n    aten::addmm:\n        include_all_overloads: Yes\n    \
             'aten::relu':\n        include_all_overloads: No\n    \
             ? \"aten::permute_copy\\x2eout\"\n    : is_root_operator: true\n"
                .into(),
        ),
        ("prose.txt", "all of the operators\n".into()),
        ("flow.yaml", "operators: {aten::relu.out: {}}\n".into()),
        ("quotes.yaml", "operators:\n  \"aten::relu.out:\n".into()),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let model = folder.path().join("linear.pte");
    fs::copy(files::path(LINEAR), model).unwrap();
    let mut page = String::new();
    for list in [
        "names.txt",
        "none.txt",
        "cut.yaml",
        "everything.yaml",
        "overloads.yaml",
        "prose.txt",
        "flow.yaml",
        "quotes.yaml",
        "absent.yaml",
    ] {
        let args = ["ops", "linear.pte", "--against", list];
        append_run(&mut page, &args, &run(&args, Some(folder.path()), b""));
    }
    // A list over the limit is an error: its operators are not reported as missing.
    let args = ["ops", "linear.pte", "--max-stream", "8", "--against", "-"];
    append_run(&mut page, &args, &run(&args, Some(folder.path()), b"aten::add.out\n"));
    let args = ["ops", "linear.pte", "--format", "yaml", "--against", "names.txt"];
    append_run(&mut page, &args, &run(&args, Some(folder.path()), b""));
    let args = ["ops", "--json", "linear.pte", "--against", "names.txt"];
    let shown = run(&args, Some(folder.path()), b"");
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["missing"], serde_json::json!(["aten::permute_copy.out"]));
    assert_snapshot("ops-against", &page);
}

/// Untrusted names are unchanged after writing and reading YAML.
#[test]
fn yaml_quotes_unusual_names() {
    let whole = files::read(LINEAR).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let name = b"aten::permute_copy";
    let at = whole.windows(name.len()).position(|window| window == name).unwrap();
    for odd in ["'\": {a}\n# - b\\\t", "\u{85}\u{2028}\u{1b}[2J", "\0", "? - x", "no"] {
        let mut bytes = whole.clone();
        // The same length as the name, so that no offset changes.
        let odd = format!("{odd:_<18}");
        bytes[at..at + name.len()].copy_from_slice(&odd.as_bytes()[..name.len()]);
        let model = folder.path().join("odd.pte");
        fs::write(&model, bytes).unwrap();
        let model = model.to_str().unwrap();
        let list = folder.path().join("list.yaml");
        good(&["ops", "--format", "yaml", model, "-o", list.to_str().unwrap()]);
        let yaml = fs::read_to_string(&list).unwrap();
        assert!(yaml.bytes().all(|byte| (b' '..0x7f).contains(&byte) || byte == b'\n'), "{yaml}");
        assert_eq!(good(&["ops", model, "--against", list.to_str().unwrap()]), "", "{yaml}");
        assert_eq!(
            pte(&["ops", LINEAR, "--against", list.to_str().unwrap()]).status.code(),
            Some(1),
            "{yaml}"
        );
    }
}

#[test]
fn files_without_operators_are_reported() {
    let mut page = String::new();
    for args in [
        &["ops", "tests/data/ptd/ptd_basic.ptd"][..],
        &["ops", "--format", "yaml", LINEAR, "tests/data/ptd/ptd_basic.ptd"],
        &["ops", "tests/data/pte/passthrough.pte"],
        &["ops", "--format", "yaml", "tests/data/pte/passthrough.pte"],
        &["ops", "-", "--against", "-"],
    ] {
        append_run(&mut page, args, &pte(args));
    }
    assert_snapshot("ops-none", &page);
}

/// Some editors write a byte order mark.
#[test]
fn operator_list_may_begin_with_a_byte_order_mark() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.txt");
    for (text, status) in [("aten::add.out\n", 0), ("aten::mul.out\n", 1)] {
        for mark in ["", "\u{feff}"] {
            fs::write(&list, format!("{mark}{text}")).unwrap();
            let args = ["ops", "tests/data/pte/add.pte", "--against", list.to_str().unwrap()];
            assert_eq!(pte(&args).status.code(), Some(status), "{mark:?}{text}");
        }
    }
}

/// A build that was made for another dtype lacks the kernels, although it has the operator.
#[test]
fn against_compares_the_dtypes_of_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("ops.yaml");
    let yaml = good(&["ops", "--format", "yaml", LINEAR]);
    let path = list.to_str().unwrap();
    let mut page = String::new();
    for (from, to) in [("6;", "6;"), ("v1/6;0|6;", "v1/5;0|5;"), ("- v1/", "- default/")] {
        fs::write(&list, yaml.replace(from, to)).unwrap();
        let done = pte(&["ops", LINEAR, "--against", path]);
        page += &format!("{from} → {to}: status {:?}\n{}", done.status.code(), text(&done.stdout));
    }
    assert_snapshot("ops-against-dtypes", &page);
    fs::write(&list, yaml.replace("6;", "5;")).unwrap();
    let done = pte(&["ops", LINEAR, "--against", path, "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(document["missing"], serde_json::json!([]));
    assert_eq!(document["missing_dtypes"][0]["dtypes"], serde_json::json!(["FLOAT"]));
}

/// The operators of ExecuTorch's own `extension/llm` are known, and `info` says what to link for a file.
#[test]
fn info_says_which_libraries_to_link_and_names_unknown_operators() {
    let link = |file| {
        let shown = good(&["info", file]);
        let lines = shown.lines().map(str::trim);
        lines
            .filter(|line| line.starts_with("link ") || line.starts_with("unknown "))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(link("tests/data/pte/llm_sdpa.pte"), ["link        prim, llm"]);
    let unknown = "unknown     corpus::masksum.out · no library of ExecuTorch has it";
    assert_eq!(link("tests/data/pte/args_custom_op_all_kinds.pte"), [unknown]);
    let found = good(&["check", "tests/data/pte/llm_sdpa.pte"]);
    assert!(!found.contains("operator-unknown"), "{found}");
}
