//! The graphs of ETRecords as nodes of Model Explorer, and the modules that they have for instructions.

use pte::explorer::{ExplorerDocument, RecordedModules};
use pte::{Limits, Pte};
use serde_json::{Value, json};

use crate::support::archive::{Member, archive};
use crate::support::files;

const EDGE: &str = "edge_dialect_exported_program";

/// Returns a record with a map of handles and graphs, by the names of their members.
fn record(handles: &Value, graphs: &[(&str, Value)]) -> Vec<u8> {
    let all = graphs.iter().map(|(name, graph)| (*name, graph.to_string()));
    let all: Vec<_> = all.chain([("debug_handle_map", handles.to_string())]).collect();
    let members = all.iter().map(|(name, text)| -> Member<'_> { (name, text.as_bytes(), 0) });
    archive(&[("ETRECORD_V0", &b""[..], 0)].into_iter().chain(members).collect::<Vec<_>>())
}

/// Returns the node with an id.
#[track_caller]
fn node(record: &[u8], id: &str) -> Value {
    let document = ExplorerDocument::of_other("record", &record, &Limits::UNTRUSTED);
    let (document, mut found) = (document.unwrap().unwrap().unwrap(), None);
    let each = document.each_node(&mut |node| {
        found = found.take().or((node.id == id).then(|| serde_json::to_value(node).unwrap()));
        Ok::<_, ()>(())
    });
    each.map(|()| found.expect(id)).unwrap()
}

/// Returns the attribute of a node.
fn attribute<'n>(node: &'n Value, key: &str) -> Option<&'n str> {
    let all = node["attrs"].as_array().unwrap();
    all.iter().find(|of| of["key"] == key)?["value"].as_str()
}

fn tensor(name: &str) -> Value {
    json!({"as_tensor": {"name": name}})
}

/// Returns a call of `aten::add` with the handle 7 in the module `layers.0`.
fn call(inputs: &[Value], outputs: &[Value]) -> Value {
    let inputs: Vec<_> = inputs.iter().map(|arg| json!({"arg": arg})).collect();
    let stack = "a,,Model;b,layers.0,Linear";
    let metadata = json!({"debug_handle": "7", "nn_module_stack": stack});
    json!({"target": "torch.ops.aten.add", "inputs": inputs, "outputs": outputs, "metadata": metadata})
}

fn graph(inputs: &[Value], nodes: &[Value], outputs: &[Value]) -> Value {
    json!({"inputs": inputs, "nodes": nodes, "outputs": outputs})
}

fn program(graph: Value) -> Value {
    json!({"graph_module": {"graph": graph}})
}

/// An edge has the output of its source and the input of its target. An input that nothing makes has a number too.
#[test]
fn edges_of_a_recorded_graph_have_the_outputs_and_inputs_of_their_values() {
    let split = call(&[tensor("x")], &[json!({"as_tensors": [{"name": "a"}, {"name": "b"}]})]);
    let add = call(&[tensor("b"), tensor("nowhere"), tensor("x")], &[tensor("c")]);
    let pair = json!({"as_tensors": [{"name": "c"}, {"name": "a"}]});
    let mut all = graph(&[tensor("x")], &[split, add], &[pair]);
    let sizes = |size: u32| json!({"dtype": 7, "sizes": [{"as_int": size}]});
    all["tensor_values"] = json!({"a": sizes(1), "b": sizes(2), "c": sizes(3)});
    let bytes = record(&json!({}), &[(EDGE, program(all))]);
    let edges = |id: &str| {
        let node = node(&bytes, id);
        let text = |edge: &Value, key: &str| edge[key].as_str().unwrap().to_string();
        let edges = node["incomingEdges"].as_array().cloned().unwrap_or_default();
        let row = |edge: &Value| {
            ["sourceNodeId", "sourceNodeOutputId", "targetNodeInputId"]
                .map(|key| text(edge, key))
                .join(" ")
        };
        edges.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(edges("r0n0"), ["r0i0 0 0"]);
    assert_eq!(edges("r0n1"), ["r0n0 1 0", "r0i0 0 2"]);
    assert_eq!(edges("r0o0"), ["r0n1 0 0", "r0n0 0 1"]);
    let add = node(&bytes, "r0n1");
    assert_eq!(attribute(&add, "argument 2"), Some("x"));
    assert_eq!(attribute(&add, "module class"), Some("Linear"));
    let output = node(&bytes, "r0o0");
    assert_eq!(attribute(&output, "value"), Some("[c, a]"));
    assert_eq!(attribute(&output, "type"), Some("float32[3]"));
    let shapes = node(&bytes, "r0n0")["outputsMetadata"].clone();
    assert_eq!(shapes[1]["attrs"][1]["value"], "float32[2]");
}

#[test]
fn inputs_of_a_recorded_graph_have_the_kinds_and_names_of_the_signature() {
    let kinds = ["parameter", "buffer", "tensor_constant", "custom_obj"];
    let key = |kind: &str| format!("{kind}_name");
    let mut specs: Vec<_> =
        kinds.iter().map(|kind| json!({*kind: {key(kind): format!("of {kind}")}})).collect();
    specs.push(json!({"user_input": {"arg": tensor("x4")}}));
    let inputs: Vec<_> = (0..6).map(|nth| tensor(&format!("x{nth}"))).collect();
    let mut program = program(graph(&inputs, &[], &[]));
    program["graph_module"]["signature"] = json!({"input_specs": specs});
    let bytes = record(&json!({}), &[(EDGE, program)]);
    for (nth, kind) in kinds.iter().enumerate() {
        let input = node(&bytes, &format!("r0i{nth}"));
        assert_eq!(
            (attribute(&input, "kind"), &input["label"]),
            (Some(*kind), &json!(format!("of {kind}")))
        );
    }
    for nth in [4, 5] {
        let input = node(&bytes, &format!("r0i{nth}"));
        assert_eq!(attribute(&input, "kind"), Some("user_input"));
        assert_eq!(input["label"], format!("x{nth}"));
    }
}

/// The graph of a branch is a layer in the layer of its call, up to four. Its inputs are not those of the program.
#[test]
fn graphs_in_calls_are_nested_layers() {
    let inner = (0..6).rev().fold(graph(&[tensor("y")], &[], &[]), |inner, depth| {
        let branch = json!({"as_graph": {"name": format!("g{depth}"), "graph": inner}});
        graph(&[tensor("y")], &[call(&[branch], &[])], &[])
    });
    let mut program = program(inner);
    let spec = json!({"parameter": {"parameter_name": "weight"}});
    program["graph_module"]["signature"] = json!({"input_specs": [spec]});
    // Only the first slash is a layer.
    let bytes = record(&json!({}), &[(&format!("{EDGE}/a/b"), program)]);
    let outer = format!("{EDGE}/a∕b");
    let mut id = String::from("r0");
    let mut layers = Vec::new();
    for depth in 0..=6 {
        let input = node(&bytes, &format!("{id}i0"));
        let (label, kind) = if depth == 0 { ("weight", "parameter") } else { ("y", "user_input") };
        assert_eq!((&input["label"], attribute(&input, "kind")), (&json!(label), Some(kind)));
        let layer = input["namespace"].as_str().unwrap();
        layers.push(layer.strip_prefix(&outer).unwrap().to_string());
        id.push_str("n0g0");
    }
    let module = "/layers/0";
    let nested: Vec<_> = (0..=6usize)
        .map(|depth| {
            let inner = (0..depth).map(|nth| match nth < 4 {
                true => format!("{module}/g{nth}"),
                false => module.into(),
            });
            inner.collect::<String>()
        })
        .collect();
    assert_eq!(layers, nested);
}

/// Values, lines of a stack and instructions of a node are shown up to a number.
#[test]
fn long_lists_of_a_recorded_node_are_cut() {
    let all = |count: usize| (0..count).map(|nth| tensor(&format!("x{nth}"))).collect::<Vec<_>>();
    for (count, lines, instructions) in [(1000, 64, 32), (1001, 65, 33)] {
        let mut call = call(&all(count), &all(count));
        call["metadata"]["stack_trace"] = json!("line\n".repeat(lines));
        let program = program(graph(&all(count), &[call], &[]));
        // The same handle several times is one.
        let handles = (0..instructions).map(|nth| (nth.to_string(), json!([7, 7, 8])));
        let handles = json!({"forward": handles.collect::<serde_json::Map<_, _>>()});
        let node = node(&record(&handles, &[(EDGE, program)]), "r0n0");
        for list in ["incomingEdges", "inputsMetadata", "outputsMetadata"] {
            assert_eq!(node[list].as_array().unwrap().len(), 1000, "{list} of {count}");
        }
        let attrs = node["attrs"].as_array().unwrap();
        let stack = attrs.iter().filter(|of| of["key"].as_str().unwrap().starts_with("stack "));
        assert_eq!(stack.count(), 64);
        let first: Vec<_> = (0..32).map(|nth| nth.to_string()).collect();
        assert_eq!(attribute(&node, "instructions").unwrap(), first.join(", "));
    }
}

/// A node that a pass of PyTorch adds has no module.
#[test]
fn a_recorded_node_without_modules_has_no_class() {
    let mut call = call(&[], &[]);
    let name = "_empty_nn_module_stack_from_metadata_hook";
    call["metadata"]["nn_module_stack"] = json!([name; 3].join(","));
    let bytes = record(&json!({}), &[(EDGE, program(graph(&[], &[call], &[])))]);
    let node = node(&bytes, "r0n0");
    assert_eq!((attribute(&node, "module class"), &node["namespace"]), (None, &json!(EDGE)));
}

/// The module of an instruction is what the modules of its handles have in common, and of the nodes of each.
#[test]
fn the_module_of_an_instruction_is_common_to_its_nodes() {
    let modules = ["layers.1.q", "layers.1.k", "layers.10.q", "head", "head", "layers.1.q"];
    let handles = [1, 1, 2, 3, 4, 5];
    let nodes = modules.iter().zip(handles).map(|(module, handle)| {
        let mut call = call(&[], &[]);
        call["metadata"]["nn_module_stack"] = json!(format!("a,,Model;b,{module},Linear"));
        call["metadata"]["debug_handle"] = json!(handle.to_string());
        call
    });
    let program = program(graph(&[], &nodes.collect::<Vec<_>>(), &[]));
    let instructions = [json!(1), json!([2, 5]), json!([4, 3, 99]), json!([2, 4]), json!(99)];
    let map = (0..).zip(instructions).map(|(nth, of): (u32, _)| (nth.to_string(), of));
    let map = json!({"forward": map.collect::<serde_json::Map<_, _>>()});
    let bytes = record(&map, &[(&format!("{EDGE}/forward"), program)]);
    let read = RecordedModules::read(&&bytes[..]).unwrap().unwrap();
    let found = [0, 1, 2, 3, 4].map(|nth| read.module("forward", nth));
    assert_eq!(found, [Some("layers.1"), Some("layers"), Some("head"), Some(""), None]);
    assert_eq!(read.module("other", 0), None);
    let program = files::read("tests/data/pte/linear.pte").unwrap();
    let why = RecordedModules::read(&&program[..]).unwrap().unwrap_err().to_string();
    assert!(why.contains("the file is not an ETRecord"), "{why}");
}

/// A record is of a program that has all instructions of the methods that both have, and one such method.
#[test]
fn a_record_can_be_of_a_program_with_its_instructions() {
    let file = files::read("tests/data/pte/v0.7.0_xnn_conv.pte").unwrap();
    let pte = Pte::read(&file).unwrap();
    let plans = pte.program().execution_plan().unwrap().iter().map(|plan| {
        let chain = plan.chains().unwrap().get(0).unwrap();
        (plan.name().unwrap(), chain.instructions().unwrap().len())
    });
    let plans: Vec<_> = plans.collect();
    let [(one, count), (two, more)] = plans[..] else { panic!("{plans:?}") };
    for (methods, expected) in [
        (vec![], true),
        (vec![(one, count - 1)], true),
        (vec![(one, count)], false),
        (vec![("other", 0)], false),
        (vec![("other", count), (one, count - 1)], true),
        (vec![(one, count - 1), (two, more - 1)], true),
        (vec![(one, count), (two, more - 1)], false),
        (vec![(one, count - 1), (two, more)], false),
    ] {
        let map = methods.iter().map(|(name, last)| ((*name).into(), json!({last.to_string(): 7})));
        let map = Value::Object(map.collect());
        let graphs = methods.iter().map(|(name, _)| {
            (format!("{EDGE}/{name}"), program(graph(&[], &[call(&[], &[])], &[])))
        });
        let graphs: Vec<_> = graphs.collect();
        let graphs: Vec<_> = graphs.iter().map(|(name, of)| (name.as_str(), of.clone())).collect();
        let bytes = record(&map, &graphs);
        let modules = RecordedModules::read(&&bytes[..]).unwrap().unwrap();
        assert_eq!(modules.can_be_of(&pte), expected, "{methods:?}");
    }
}
