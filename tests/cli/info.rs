//! `pte info`: screens, JSON and sums.

use serde_json::{Value, json as value};

use super::{BASIC, LINEAR, good, json, run, text};
use crate::support::build;
use crate::support::files::{self, name};
use crate::support::snapshot::assert_snapshot;

/// Screens of files of different kinds.
#[test]
fn info_shows_a_file_on_one_screen() {
    for (page, file) in [
        ("program", LINEAR),
        ("delegates", "tests/data/pte/xnn_gpt.pte"),
        ("control-flow", "tests/data/pte/cond.pte"),
        ("methods", "tests/data/pte/multi_method.pte"),
        ("external", "tests/data/pte/external_all.pte"),
        ("dynamic", "tests/data/pte/dyn_two.pte"),
        ("oldest", "tests/data/pte/v0.2.0_inline_const.pte"),
        ("data", BASIC),
        ("data-generation-0", "tests/data/ptd/vgen1a_ptd_direct_16.ptd"),
        ("data-generation-2", "tests/data/ptd/v0.6.0_ptd_direct_16.ptd"),
        ("data-odd-keys", "tests/data/ptd/ptd_keys.ptd"),
    ] {
        assert_snapshot(&format!("info-{page}"), &good(&["info", file]));
    }
}

#[test]
fn info_json_has_stable_field_names() {
    assert_snapshot(
        "info-json-program",
        &good(&["info", "--json", "tests/data/pte/xnn_external.pte"]),
    );
    assert_snapshot("info-json-data", &good(&["info", "--json", BASIC]));
}

/// The parts of every file sum to its size.
#[test]
fn info_parts_sum_to_the_file_size() {
    for path in files::everything() {
        let shown = json(&["info", "--json", path.to_str().unwrap()]);
        let file = &shown["files"][0];
        let parts = file["parts"].as_object().unwrap();
        let sum: u64 = parts.values().map(|part| part.as_u64().unwrap()).sum();
        assert_eq!(sum, path.metadata().unwrap().len(), "{}", name(&path));
        assert_eq!(file["bytes"], sum);
    }
}

/// Runtimes of language models ask for these before anything else.
#[test]
fn info_shows_what_constant_methods_return() {
    let path = "tests/data/pte/const_methods_simple.pte";
    assert_snapshot("info-constant-methods", &good(&["info", path]));
    let methods = json(&["info", "--json", path])["files"][0]["methods"].clone();
    let values: Vec<_> = methods.as_array().unwrap()[1..]
        .iter()
        .map(|method| method["outputs"][0]["value"].clone())
        .collect();
    assert_eq!(
        values,
        [value!(2048), value!("fp32"), value!(false), value!(core::f64::consts::PI)]
    );
    assert_eq!(methods[0]["outputs"][0].get("value"), None, "forward computes its output");
}

/// Numbers that JSON lacks, a long text, and an input that is returned.
#[test]
fn info_shows_odd_values_of_constant_methods() {
    let member =
        |kind: &str, field: &str, held: Value| value!({"val_type": kind, "val": {field: held}});
    let method = |name: &str, inputs: &[i32], value: Value| {
        value!({"name": name, "values": [value], "inputs": inputs, "outputs": [0], "chains": [],
            "operators": [], "delegates": []})
    };
    let plans = [
        method("infinite", &[], member("Double", "double_val", value!("-inf"))),
        method("none", &[], member("Double", "double_val", value!("nan"))),
        method("long", &[], member("String", "string_val", value!("é".repeat(1000)))),
        method("passed", &[0], member("Int", "int_val", value!(7))),
    ];
    let bytes = build::file(&value!({"root": {"execution_plan": plans}}).to_string());
    let done = run(&["info", "--json", "-"], None, &bytes);
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let of = |nth: usize| &shown["files"][0]["methods"][nth]["outputs"][0]["value"];
    assert_eq!([of(0), of(1)], [&value!("-inf"), &value!("nan")]);
    assert_eq!(of(2).as_str().unwrap(), "é".repeat(256));
    assert!(of(3).is_null(), "the call gives it");
}

/// Operators, backends and the nodes of their graphs are those of the method, not of the file.
#[test]
fn info_of_a_method_counts_only_what_the_method_has() {
    let sum = |of: &Value, list: &str, count: &str| -> u64 {
        let counts = of[list].as_array().unwrap().iter().map(|one| one.pointer(count).unwrap());
        counts.map(|count| count.as_u64().unwrap()).sum()
    };
    let facts = |of: &Value| {
        [
            sum(of, "operators", "/calls"),
            sum(of, "backends", "/delegates"),
            sum(of, "backends", "/graphs/nodes"),
        ]
    };
    for path in ["tests/data/pte/multi_method.pte", "tests/data/pte/v0.7.0_xnn_conv.pte"] {
        let whole = &json(&["info", "--json", path])["files"][0];
        let methods = whole["methods"].as_array().unwrap();
        let mut sums = [0; 3];
        for method in methods {
            let name = method["name"].as_str().unwrap();
            let of = &json(&["info", "--json", "--method", name, path])["files"][0];
            assert_eq!((&of["method_count"], &of["methods"][0]), (&1.into(), method));
            sums = core::array::from_fn(|nth| sums[nth] + facts(of)[nth]);
        }
        assert!(methods.len() > 1);
        assert_eq!(sums, facts(whole), "{path}");
    }
}

/// The runtime takes the first method with a name.
#[test]
fn info_says_which_of_two_methods_with_a_name_runs() {
    let plan = |name: &str| value!({"name": name, "values": [], "inputs": [], "outputs": []});
    let plans = [plan("forward"), plan("other"), plan("forward")];
    let bytes = build::file(&value!({"root": {"execution_plan": plans}}).to_string());
    let done = run(&["info", "--json", "-"], None, &bytes);
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let methods = shown["files"][0]["methods"].as_array().unwrap();
    let shadowed: Vec<_> = methods.iter().map(|method| method.get("shadowed").is_some()).collect();
    assert_eq!(shadowed, [false, false, true]);
    let text = text(&run(&["info", "-"], None, &bytes).stdout);
    assert_eq!(text.matches("never runs: an earlier method has its name").count(), 1, "{text}");
}
