//! `pte info`: screens, JSON and sums.

use serde_json::{Value, json as value};

use super::{BASIC, LINEAR, good, json, run, text};
use crate::support::build;
use crate::support::files::{self, name};
use crate::support::fixture::Fixture;
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

/// Returns what `info` has of a description of a program.
fn described(program: &Value, more: &[&str]) -> Value {
    let bytes = build::file(&program.to_string());
    let done = run(&[&["info", "--json", "-"], more].concat(), None, &bytes);
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    shown["files"][0].clone()
}

/// Data that two delegates share is there once, an operator that nothing calls needs no library, and of two methods
/// with a name the first is meant.
#[test]
fn info_counts_what_a_program_needs_once() {
    let Fixture(mut program) = Fixture::read("base/xnnpack").unwrap();
    let plan = &mut program["root"]["execution_plan"][0];
    let delegate = plan["delegates"][0].clone();
    plan["delegates"].as_array_mut().unwrap().push(delegate);
    let shown = described(&program, &[]);
    let backend = &shown["backends"][0];
    assert_eq!((&backend["delegates"], &backend["bytes"]), (&2.into(), &1536.into()));

    let plan = &mut program["root"]["execution_plan"][0];
    plan["operators"] = value!([{"name": "aten::add", "overload": "out"}]);
    let shown = described(&program, &[]);
    assert_eq!((&shown["operators"][0]["calls"], &shown["libraries"]), (&0.into(), &value!([])));

    let plan = program["root"]["execution_plan"][0].clone();
    program["root"]["execution_plan"].as_array_mut().unwrap().push(plan);
    assert_eq!(described(&program, &[])["method_count"], 2);
    let shown = described(&program, &["--method", "forward"]);
    assert_eq!(
        (&shown["method_count"], &shown["backends"][0]["delegates"]),
        (&1.into(), &2.into())
    );
}

/// Of several payloads, the scratch memory is that of the largest.
#[test]
fn info_has_the_largest_scratch_memory() {
    let Fixture(good) = Fixture::read("ethosu-memory.good").unwrap();
    let payload = good["data"][0]["hex"].as_str().unwrap();
    let larger =
        payload.replacen("60000000000000000000000000000000", "80000000000000000000000000000000", 1);
    assert_ne!(larger, payload);
    for payloads in [[payload, &larger], [&larger, payload]] {
        let mut program = good.clone();
        program["data"] = value!(payloads.map(|hex| value!({ "hex": hex })));
        let plan = &mut program["root"]["execution_plan"][0];
        let mut second = plan["delegates"][0].clone();
        second["processed"]["index"] = value!(1);
        plan["delegates"].as_array_mut().unwrap().push(second);
        program["root"]["segments"] = value!([{"size": 544}, {"offset": 544, "size": 544}]);
        let shown = described(&program, &[]);
        let sections = &shown["backends"][0]["sections"];
        assert_eq!((&sections["read"], &sections["scratch"]), (&2.into(), &128.into()));
        assert_eq!(sections["scratch_peak"], 96);
    }
}

/// Returns the graphs of the first backend of a program.
fn graphs(path: &str) -> Value {
    json(&["info", "--json", path])["files"][0]["backends"][0]["graphs"].clone()
}

/// Three methods share two layers: a weight and a bias each.
#[test]
fn info_counts_shared_constants_of_payloads_once() {
    let path = "tests/data/pte/xnn_multi.pte";
    let shown = graphs(path);
    assert_eq!(shown["constants"], value!({"count": 4, "bytes": 448}));
    let named = &json(&["info", "--json", path])["files"][0]["named_data"];
    assert_eq!(named, &value!({"count": 4, "bytes": 448}));
    let weights = shown["weights"].as_array().unwrap().iter();
    let counted: u64 = weights.map(|weight| weight["count"].as_u64().unwrap()).sum();
    assert_eq!(counted, 2);
    assert!(good(&["info", path]).contains("; 4 constants, 448 B"));
}

/// A payload whose constants are named data has none of them in itself.
#[test]
fn info_of_a_payload_says_that_its_constants_are_outside() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("payload");
    let out = out.to_str().unwrap();
    good(&["extract", "tests/data/pte/xnn_multi.pte", "--delegate", "encode:0", "-o", out]);
    let shown = &json(&["info", "--json", out])["files"][0]["graphs"];
    assert_eq!(shown["external"], shown["constants"]);
    assert!(shown["external"]["count"].as_u64().unwrap() > 0);
    let screen = good(&["info", out]);
    assert!(screen.contains("all constants: named data outside of this file"), "{screen}");
    let inside = "tests/data/pte/v0.5.0_xnn_qs8.pte";
    good(&["extract", inside, "--delegate", "forward:0", "-o", out, "--quiet"]);
    let shown = &json(&["info", "--json", out])["files"][0]["graphs"];
    assert_eq!(shown["external"], value!({"count": 0, "bytes": 0}));
    assert!(!good(&["info", out]).contains("outside of this file"));
}

/// What is not computed is null, not 0.
#[test]
fn info_has_the_constants_of_vulkan_and_mlx() {
    let none = value!({"count": 0, "bytes": 0});
    let vulkan = graphs("tests/data/pte/vulkan_conv.pte");
    assert_eq!(vulkan["constants"], value!({"count": 2, "bytes": 896}));
    assert_eq!(vulkan["external"], none);
    assert_eq!(vulkan["datatypes"][0]["datatype"], "FLOAT32");
    assert_eq!(vulkan["weights"], Value::Null);
    let mlx = graphs("tests/data/pte/mlx_mlp.pte");
    assert_eq!(mlx["constants"], value!({"count": 4, "bytes": 2048 + 128 + 1024 + 32}));
    assert_eq!(mlx["external"], none);
    assert_eq!(mlx["datatypes"][0]["datatype"], "FLOAT");
    let native = graphs("tests/data/pte/native_mlp.pte");
    for field in ["constants", "external", "datatypes", "weights"] {
        assert_eq!(native[field], Value::Null, "{field}");
    }
    assert!(native["nodes"].as_u64().unwrap() > 0);
    let screen = good(&["info", "tests/data/pte/mlx_mlp.pte"]);
    assert!(screen.contains("× float32; 4 constants, 3.2 kB"), "{screen}");
}

/// Returns a program with one delegate, and the named data `7e98/weight` of 2,048 bytes.
fn delegated(backend: &str, payload: &[u8], specs: Value) -> Vec<u8> {
    let call = files::read_to_string("tests/rules/base/call.json").unwrap();
    let mut file: Value = serde_json::from_str(&call).unwrap();
    let root = &mut file["root"];
    root["execution_plan"][0]["delegates"] = value!([{
        "id": backend, "processed": {"location": "INLINE", "index": 0}, "compile_specs": specs
    }]);
    root["backend_delegate_data"] = value!([{"data": payload}]);
    root["segments"] = value!([{"offset": 0, "size": 0}, {"offset": 0, "size": 2048}]);
    root["named_data"] = value!([{"key": "7e98/weight", "segment_index": 1}]);
    file["data"] = value!([{"zeros": 2048}]);
    build::file(&file.to_string())
}

/// The payload of AOTInductor has the keys of its data.
#[test]
fn info_shows_the_named_data_of_aot_inductor() {
    let bytes = delegated("CudaBackend", b"7e98/object\n7e98/weight", value!([]));
    let screen = text(&run(&["info", "-"], None, &bytes).stdout);
    let weights = "weights 2.0 kB (named data 7e98/weight)";
    assert!(screen.contains(weights), "{screen}");
    let object = "shared object (named data 7e98/object, not in this file)";
    assert!(screen.contains(object), "{screen}");
    let done = run(&["info", "--json", "-"], None, &bytes);
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let sections = &shown["files"][0]["backends"][0]["sections"]["sections"];
    let object = value!({
        "name": "shared object", "count": 1, "bytes": 0, "keys": ["7e98/object"], "external": 1
    });
    let weights = value!({"name": "weights", "count": 1, "bytes": 2048, "keys": ["7e98/weight"]});
    assert_eq!(sections, &value!([object, weights]));
}

/// The accelerator is in a compile spec.
#[test]
fn info_shows_the_accelerator_of_ethos_u() {
    let blocks = [("vela_bin_stream", &b""[..]), ("cmd_data", b"COP1"), ("vela_end_stream", b"")];
    let blocks = blocks.map(|(name, data)| build::vela_block(name, 0, data));
    let spec = |key: &str, text: &str| value!({"key": key, "value": text.as_bytes()});
    let specs = value!([spec("output_format", "vela"), spec("target", "ethos-u55-128")]);
    let bytes = delegated("EthosUBackend", &blocks.concat(), specs);
    let screen = text(&run(&["info", "-"], None, &bytes).stdout);
    assert!(screen.contains("version COP1 · for ethos-u55-128"), "{screen}");
}
