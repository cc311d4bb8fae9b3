//! `pte graph --format model-explorer`: the graph collection, and the numbers to lay over it.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::cli::{LINEAR, good, json as document, pte, run, text};
use crate::support::files;

fn explored(file: &str) -> Value {
    document(&["graph", "--format", "model-explorer", "--stats", file])
}

fn nodes(document: &Value) -> &Vec<Value> {
    document["graphs"][0]["nodes"].as_array().unwrap()
}

fn node<'d>(document: &'d Value, id: &str) -> &'d Value {
    nodes(document).iter().find(|node| node["id"] == id).unwrap()
}

/// Returns the attribute of a node.
fn attribute<'d>(node: &'d Value, key: &str) -> &'d Value {
    let attrs = node["attrs"].as_array().unwrap();
    attrs.iter().find(|of| of["key"] == key).map_or(&Value::Null, |of| &of["value"])
}

/// Every edge leads from an output of a node of the document, every node has its own id, and the verdict is the first
/// node. What flows between the instructions of a profile is not known.
#[test]
fn every_file_is_a_graph_of_model_explorer() {
    let mut count = 0;
    let others = fs::read_dir(files::path("tests/data/other")).unwrap();
    let others = others.map(|entry| entry.unwrap().path());
    let others =
        others.filter(|path| path.extension().is_some_and(|e| e != "json" && e != "tflite"));
    for path in files::samples().into_iter().chain(others) {
        let path = path.to_str().unwrap();
        let document = explored(path);
        let ids: BTreeSet<_> =
            nodes(&document).iter().map(|node| &node["id"]).map(Value::to_string).collect();
        let mut outputs = BTreeSet::new();
        for node in nodes(&document) {
            let own = node["outputsMetadata"].as_array().into_iter().flatten();
            outputs.extend(own.map(|output| format!("{} {}", node["id"], output["id"])));
        }
        assert_eq!(ids.len(), nodes(&document).len(), "{path}");
        assert_eq!(nodes(&document)[0]["id"], "findings", "{path}");
        for node in nodes(&document) {
            for edge in node["incomingEdges"].as_array().into_iter().flatten() {
                let output = format!("{} {}", edge["sourceNodeId"], edge["sourceNodeOutputId"]);
                assert!(ids.contains(&edge["sourceNodeId"].to_string()), "{path}: {node}");
                let is_known = outputs.is_empty() || outputs.contains(&output);
                assert!(is_known, "{path}: {output} of {node}");
            }
        }
        count += ids.len();
    }
    assert!(count > 2000, "{count}");
}

/// The node of an operator in a payload shows the findings about the operator, whether the payload is in a program or a
/// file.
#[test]
fn findings_are_on_the_operators_of_payloads() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged");
    let damaged = damaged.to_str().unwrap();
    let mut counts = [0; 3];
    for (nth, (file, magic)) in [
        ("tests/data/pte/vulkan_cat.pte", b"VK00"),
        ("tests/data/pte/v0.6.0_xnn_segment.pte", b"XN01"),
        ("tests/data/other/mlx_mlp.payload", b"MLX0"),
    ]
    .into_iter()
    .enumerate()
    {
        let bytes = files::read(file).unwrap();
        let start = bytes.windows(4).position(|bytes| bytes == magic).unwrap();
        for at in (start..bytes.len().min(start + 1500)).step_by(11) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            fs::write(damaged, bytes).unwrap();
            let checked = pte(&["check", "--json", damaged]);
            let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
            let findings = checked["files"][0]["findings"].as_array().into_iter().flatten();
            let operator = |finding: &Value| {
                // Damage of the structure leaves no graph.
                let rule = finding["rule"].as_str()?;
                ["vulkan-", "xnnpack-", "mlx-"].iter().find(|of| rule.starts_with(**of))?;
                let path = finding["path"].as_str()?.strip_suffix(']')?;
                let (list, index) = path.rsplit_once('[')?;
                let lists = ["chain", "xnodes", "instructions"];
                let is_one = list.contains('<') || !list.contains("execution_plan");
                (is_one && lists.iter().any(|name| list.ends_with(name))).then(|| index.to_owned())
            };
            for finding in findings {
                let Some(index) = operator(finding) else { continue };
                let key = format!(
                    "{}[{}]",
                    finding["severity"].as_str().unwrap(),
                    finding["rule"].as_str().unwrap()
                );
                let document = explored(damaged);
                let named = nodes(&document).iter().find(|node| {
                    node["id"].as_str().unwrap().ends_with(&format!("n{index}"))
                        && attribute(node, &key) == &finding["message"]
                });
                let Some(node) = named else { panic!("{file}, byte {at}: {finding}") };
                let links = nodes(&document)[0].to_string();
                assert!(links.contains(&format!("[{}]", node["id"])), "{links}");
                counts[nth] += 1;
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 1), "{counts:?}");
}

/// The verdict on a payload, a package, a profile or an ETRecord is that of `check`, with the same findings.
#[test]
fn files_that_are_no_models_have_the_verdict_of_check() {
    let folder = tempfile::tempdir().unwrap();
    let mut payload = files::read("tests/data/other/mlx_mlp.payload").unwrap();
    let version = b"\x01\0\0\x001\0";
    let at = payload.windows(version.len()).position(|bytes| bytes == version).unwrap();
    payload[at + 4] = b'2';
    let newer = folder.path().join("newer.payload");
    fs::write(&newer, payload).unwrap();
    let others = ["mlx_mlp.payload", "n_alias.ptn", "mlp.etdp", "linear.etrecord"];
    let others = others.map(|name| format!("tests/data/other/{name}"));
    for path in others.iter().map(String::as_str).chain(newer.to_str()) {
        let checked = pte(&["check", "--json", path]);
        let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
        let (file, document) = (&checked["files"][0], explored(path));
        let first = &nodes(&document)[0];
        let label = first["label"].as_str().unwrap();
        assert!(label.starts_with(file["verdict"].as_str().unwrap()), "{path}: {label}");
        for (nth, finding) in (1..).zip(file["findings"].as_array().unwrap()) {
            let text = attribute(first, &nth.to_string()).as_str().unwrap();
            assert!(text.contains(finding["rule"].as_str().unwrap()), "{path}: {text}");
        }
        assert_eq!(label.starts_with("error"), path == newer.to_str().unwrap(), "{path}: {label}");
    }
}

/// Arguments have the names of the operator's schema, constants their values, and edges the types that flow.
#[test]
fn a_call_has_named_arguments_and_a_constant_has_values() {
    let document = explored(LINEAR);
    let mut calls = nodes(&document).iter().filter(|node| node["label"] == "aten::addmm.out");
    let call = calls.next_back().unwrap();
    assert_eq!(attribute(call, "beta"), "1");
    assert_eq!(call["namespace"], "forward");
    let inputs = call["inputsMetadata"].as_array().unwrap();
    assert_eq!(inputs[0]["attrs"][0], json!({ "key": "__tensor_tag", "value": "self" }));
    let constants = nodes(&document).iter().filter(|node| *attribute(node, "kind") == "constant");
    for constant in constants {
        assert!(
            attribute(constant, "statistics").as_str().unwrap().starts_with("min "),
            "{constant}"
        );
        assert!(attribute(constant, "__value").as_str().unwrap().starts_with('['), "{constant}");
    }
}

/// The edges of a call lead to the inputs and from the outputs of its payload, which is a layer.
#[test]
fn delegates_are_open_layers() {
    let document = explored("tests/data/pte/v0.3.0_xnn_qs8.pte");
    let layer = "forward/XnnpackBackend 0";
    assert_eq!(node(&document, "m0i0n1")["label"], "XNNFullyConnected");
    assert_eq!(node(&document, "m0i0n1")["namespace"], layer);
    assert_eq!(node(&document, "m0i0v0")["incomingEdges"][0]["sourceNodeId"], "m0v0");
    let sources = |id: &str| -> Vec<_> {
        let edges = node(&document, id)["incomingEdges"].as_array().unwrap().iter();
        edges.map(|edge| edge["sourceNodeId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(sources("m0i0n1"), ["m0i0n0", "m0i0v2", "m0i0v3"]);
    assert_eq!(sources("m0i0v8"), ["m0i0n3"]);
    assert_eq!(node(&document, "m0r0")["incomingEdges"][0]["sourceNodeId"], "m0i0v8");
}

#[test]
fn branches_are_layers() {
    let document = explored("tests/data/pte/cond.pte");
    let layers: BTreeSet<_> =
        nodes(&document).iter().filter_map(|node| node["namespace"].as_str()).collect();
    assert!(layers.iter().any(|layer| layer.starts_with("forward/branch ")), "{layers:?}");
}

/// The first node of a damaged file links to the nodes with findings; of a refused one it is the only node.
#[test]
fn damaged_files_open_with_their_findings() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(files::path(LINEAR)).unwrap();
    for (name, bytes) in [("cut", &whole[..whole.len() / 2]), ("empty", &[][..])] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let done = pte(&["graph", "--format", "model-explorer", path.to_str().unwrap()]);
        assert_eq!(done.status.code(), Some(1), "{name}");
        let document: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(nodes(&document).len(), 1, "{name}");
        assert_eq!(nodes(&document)[0]["label"], "error: 1 finding");
    }
    let done = run(&["graph", "--format", "model-explorer", "-"], None, &whole);
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(nodes(&document).len() > 5);
}

/// The program of `linear.etrecord` is `linear.pte`: its names have no dots, so without the record it has no modules.
#[test]
fn an_etrecord_puts_instructions_into_modules() {
    let record = "tests/data/other/linear.etrecord";
    let args = ["graph", "--format", "model-explorer", LINEAR];
    let layer = |document: &Value, id| node(document, id)["namespace"].clone();
    let without = document(&args);
    assert_eq!(["m0i0", "m0i1", "m0i2"].map(|id| layer(&without, id)), ["forward"; 3]);
    let with = document(&[&args[..], &["--etrecord", record]].concat());
    let layers = ["m0i0", "m0i1", "m0i2"].map(|id| layer(&with, id));
    assert_eq!(layers, ["forward/a", "forward/a", "forward"]);
    let wrong = pte(&[&args[..], &["--etrecord", LINEAR]].concat());
    assert_eq!((wrong.status.code(), text(&wrong.stdout).as_str()), (Some(1), ""));
    let said = text(&wrong.stderr);
    assert!(said.contains("this is no ETRecord: it is a .pte program"), "{said}");
    // Its method `forward` has one instruction.
    let other = "tests/data/pte/v0.3.0_xnn_qs8.pte";
    let wrong = pte(&["graph", "--format", "model-explorer", other, "--etrecord", record]);
    let said = text(&wrong.stderr);
    assert!(said.contains("the ETRecord is of another program"), "{said}");
    assert_eq!((wrong.status.code(), text(&wrong.stdout).as_str()), (Some(1), ""));
}

/// A layer for each graph, with modules in it. Handles lead to the instructions of the program.
#[test]
fn an_etrecord_is_its_graphs() {
    let document = explored("tests/data/other/linear.etrecord");
    let graphs = ["exported_program", "plus", "forward"];
    let call = node(&document, "r0n0");
    assert_eq!(call["label"], "aten.linear.default");
    assert_eq!(call["namespace"], "exported_program/a");
    assert_eq!(attribute(call, "weight"), "p_a_weight");
    assert_eq!(attribute(call, "module class"), "torch.nn.modules.linear.Linear");
    let from = call["incomingEdges"].as_array().unwrap();
    let from: Vec<_> = from.iter().map(|edge| edge["sourceNodeId"].as_str().unwrap()).collect();
    assert_eq!(from, ["r0i2", "r0i0", "r0i1"]);
    assert_eq!(call["inputsMetadata"][1]["attrs"][0]["value"], "weight");
    assert_eq!(call["outputsMetadata"][0]["attrs"][1]["value"], "float32[1, 3]");
    let weight = node(&document, "r0i0");
    assert_eq!(
        (&weight["label"], attribute(weight, "kind")),
        (&json!("a.weight"), &json!("parameter"))
    );
    let outputs = nodes(&document).iter().filter(|node| *attribute(node, "kind") == "output");
    assert_eq!(outputs.count(), graphs.len());
    let instructions =
        nodes(&document).iter().filter(|node| !attribute(node, "instructions").is_null());
    assert!(instructions.count() >= 3);
    assert_eq!(
        node(&document, "r2n1")["namespace"]
            .as_str()
            .map(|name| name.starts_with("edge_dialect_exported_program/forward")),
        Some(true)
    );
}

#[test]
fn numbers_are_laid_over_the_nodes() {
    let numbers = |overlay: &str, more: &[&str], file: &str| {
        let args: Vec<&str> =
            ["graph", "--overlay", overlay, file].iter().chain(more).copied().collect();
        document(&args)["file"]["results"].clone()
    };
    let linear = numbers("bytes", &[], LINEAR);
    let sum: u64 =
        linear.as_object().unwrap().values().map(|of| of["value"].as_u64().unwrap()).sum();
    assert_eq!(sum, 4 * (8 * 4 + 4));
    let live = numbers("memory", &[], LINEAR);
    assert!(live["m0i0"]["value"].as_u64().unwrap() > 0);
    let times = numbers("time", &[], "tests/data/other/mlp.etdp");
    assert_eq!(times["c0i1"]["value"], 337_965);
    let laid =
        numbers("time", &["--etdump", "tests/data/other/mlp.etdp"], "tests/data/pte/dyn_batch.pte");
    assert_eq!(laid["m0i1"]["value"], 337_965);
    assert!(good(&["graph", "--overlay", "findings", LINEAR]).contains("\"thresholds\""));
}

/// Times come from an ETDump, which `--etdump` gives or which is the file itself, and from one of the same program.
#[test]
fn times_without_a_profile_of_the_program_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let out = out.to_str().unwrap();
    let overlay = ["graph", "--overlay", "time", "tests/data/pte/xnn_mixed.pte", "-o", out];
    let cases: [(&[&str], i32, &str); 5] = [
        (&[], 2, "--overlay time needs the profile of a run: give --etdump"),
        (&["--etdump", LINEAR], 1, "this is no ETDump: it is a .pte program"),
        (&["--etdump", "README.md"], 1, "this is no ETDump: it is a text file"),
        (&["--etdump", "/nowhere"], 3, "No such file"),
        (&["--etdump", "tests/data/other/branch.etdp"], 1, "in the profile"),
    ];
    for (rest, status, expected) in cases {
        let done = pte(&[&overlay[..], rest].concat());
        let said = text(&done.stderr);
        assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(status), ""), "{said}");
        assert!(said.contains(expected), "{rest:?}: {said}");
        assert!(!std::path::Path::new(out).exists(), "{rest:?}");
    }
}

/// Returns a node for each entry of a `.ptd` of floats and of other bytes.
fn entries(floats: &[&[f32]], blob: &[u8]) -> Vec<Value> {
    let bytes = |floats: &[f32]| floats.iter().flat_map(|of| of.to_le_bytes()).collect::<Vec<u8>>();
    let pieces = floats.iter().map(|floats| bytes(floats)).chain([blob.to_vec()]);
    let (mut data, mut segments, mut named) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, mut piece) in pieces.enumerate() {
        let layout = floats.get(nth).map(
            |floats| json!({"scalar_type": "FLOAT", "sizes": [floats.len()], "dim_order": [0]}),
        );
        let mut entry = json!({"key": format!("key {nth}"), "segment_index": nth});
        layout.into_iter().for_each(|layout| entry["tensor_layout"] = layout);
        named.push(entry);
        segments.push(json!({"offset": data.len(), "size": piece.len()}));
        piece.resize(piece.len().next_multiple_of(16), 0);
        data.extend(piece);
    }
    let root = json!({"version": 0, "segments": segments, "named_data": named});
    let file = json!({"kind": "ptd", "root": root, "data": [{"bytes": data}]});
    let file = crate::support::build::file(&file.to_string());
    let done = run(&["graph", "--format", "model-explorer", "--stats", "-"], None, &file);
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    nodes(&document)[1..].to_vec()
}

#[test]
fn an_entry_shows_its_first_values_and_statistics_of_all() {
    let mixed = [f32::INFINITY, f32::NAN, f32::NAN, 0.0, 1.5, -0.000_123_456_78, 2.5e9];
    let short: Vec<_> = (0u8..32).map(f32::from).collect();
    let long: Vec<_> = (0u8..33).map(f32::from).collect();
    let nodes = entries(&[&mixed, &short, &long], b"blob");
    let shown = |nth: usize, key: &str| attribute(&nodes[nth], key).as_str().map(str::to_owned);
    assert_eq!(shown(0, "__value").unwrap(), "[inf, NaN, NaN, 0.0, 1.5, -0.000123, 2.50000e9]");
    assert_eq!(
        shown(0, "statistics").unwrap(),
        "min -0.000123, max inf, mean 6.25000e8, 1 zeros, 2 NaN, 1 infinite, 7 values"
    );
    let values = |nth: usize| shown(nth, "__value").unwrap();
    assert!(values(1).ends_with(", 30.0, 31.0]"), "{}", values(1));
    assert!(values(2).ends_with(", 30.0, 31.0, …]"), "{}", values(2));
    let kinds = [0, 1, 2, 3].map(|nth| shown(nth, "kind").unwrap());
    assert_eq!(kinds, ["tensor", "tensor", "tensor", "blob"]);
    assert_eq!(shown(3, "__value"), None);
    let bytes = [0, 1, 2, 3].map(|nth| shown(nth, "bytes").unwrap());
    assert_eq!(bytes, ["28", "128", "132", "4"]);
}
