//! Payloads of backends other than XNNPACK are compared by their bytes, and by what their graphs show.

use pte::graph::PayloadGraph;
use pte::payload::PayloadContents;
use pte::{Limits, Pte};
use serde_json::json;

use super::{diff, lines, opened, sample};
use crate::support::build;
use crate::support::coreml::{attribute, field, function, named, operation, package};
use crate::support::fixture::Fixture;
use crate::support::thinned;

/// The programs of the backends whose graphs are known.
const PROGRAMS: [&str; 8] = [
    "vulkan_conv.pte",
    "vulkan_quantized.pte",
    "tosa_linear.pte",
    "coreml_mlp.pte",
    "native_mlp.pte",
    "mlx_mlp.pte",
    "ethosu_add.pte",
    "vgf_linear.pte",
];

/// Returns a copy with the first occurrence of some bytes in the payload replaced.
#[track_caller]
fn replaced(before: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let range = Pte::read(before).unwrap().payloads().next().unwrap().unwrap().range();
    let start = range.start as usize;
    let at = before[start..].windows(old.len()).position(|part| part == old).unwrap();
    let mut after = before.to_vec();
    after[start + at..][..new.len()].copy_from_slice(new);
    after
}

#[test]
fn differences_name_the_node_of_another_backend() {
    for (name, old, new, expected) in [
        (
            "native_mlp.pte",
            &b"tanh"[..],
            &b"none"[..],
            "node 1 torch.ops.aten.gelu.default: attribute: approximate = \"tanh\" → approximate = \"none\"",
        ),
        (
            "native_mlp.pte",
            b"aten.gelu",
            b"aten.relu",
            "node 1: nodes: torch.ops.aten.gelu.default → torch.ops.aten.relu.default",
        ),
        (
            "mlx_mlp.pte",
            b"ls.0.weight",
            b"ls.0.height",
            "node 0 TransposeNode input 0: data: \"7e98/ls.0.weight\" → \"7e98/ls.0.height\"",
        ),
        (
            "vulkan_conv.pte",
            b"et_vk.conv_with_clamp",
            b"et_vk.conv_with_cramp",
            "node 0: nodes: et_vk.conv_with_clamp.default → et_vk.conv_with_cramp.default",
        ),
    ] {
        let before = sample(name);
        let found = lines(&diff(&before, &replaced(&before, old, new)));
        assert_eq!(found.len(), 2, "{name}: {found:?}");
        assert!(found[0].contains(expected), "{name}: {found:?}");
        assert!(found[1].contains("Backend: payload: "), "{name}: {found:?}");
    }
}

/// A weight is named with the first node that names it: of TOSA, the operator `CONST`.
#[test]
fn a_changed_weight_of_another_backend_is_named() {
    for (name, expected) in [
        ("tosa_linear.pte", "node 0 CONST output 0: data: 12 bytes"),
        ("coreml_mlp.pte", "node 0 linear input 1: data: 1024 bytes"),
        ("vgf_linear.pte", "node 1 CONV2D input 1: data: 216 bytes"),
    ] {
        let before = sample(name);
        let contents = PayloadContents::all(&opened(&before), &Limits::UNTRUSTED).unwrap();
        let mut constants = contents.iter().flat_map(|payload| &payload.constants);
        let weight = constants.find(|constant| constant.dims.len() > 1).unwrap();
        let mut after = before.clone();
        after[weight.data.range().unwrap().start as usize] ^= 1;
        let found = lines(&diff(&before, &after));
        assert_eq!(found.len(), 2, "{name}: {found:?}");
        assert!(found.iter().any(|line| line.contains(expected)), "{name}: {found:?}");
    }
}

/// What `graph` shows of a node is compared, whichever byte of a payload changes.
#[test]
fn what_a_graph_shows_is_compared() {
    for name in PROGRAMS {
        let before = sample(name);
        let graphs = |bytes: &[u8]| {
            PayloadGraph::all(&opened(bytes), &Limits::UNTRUSTED)
                .unwrap()
                .iter()
                .map(|graph| {
                    let nodes = graph.nodes(false);
                    nodes.map(|node| format!("{node:?}")).collect::<Vec<_>>()
                })
                .collect::<Vec<_>>()
        };
        let shown = graphs(&before);
        let (mut compared, mut silent) = (0, Vec::new());
        for payload in Pte::read(&before).unwrap().payloads() {
            let range = payload.unwrap().range();
            for at in range.step_by(3 * thinned(5)) {
                let mut after = before.clone();
                after[at as usize] ^= 4;
                let changed = graphs(&after);
                if changed == shown || changed.len() != shown.len() {
                    continue;
                }
                compared += 1;
                let found = lines(&diff(&before, &after));
                if !found.iter().any(|line| line.contains("node")) {
                    silent.push((at, found));
                }
            }
        }
        assert!(compared * thinned(5) > 20, "{name}: {compared}");
        assert!(silent.is_empty(), "{name}: {} of {compared}: {:?}", silent.len(), silent.first());
    }
}

/// Returns a program of Core ML with an operation of these parts behind another, and this metadata.
fn program(second: &[Vec<u8>], outputs: &[&str], metadata: &str) -> Vec<u8> {
    let first = field(3, &operation("relu", &["a"], &[("t", 2)]));
    let outputs: Vec<u8> = outputs.iter().flat_map(|name| field(2, name.as_bytes())).collect();
    let block = [outputs, first, field(3, &second.concat())].concat();
    let function = function("main", &[named("a", 2), named("b", 2)], &block);
    let payload = package(&function, metadata);
    let Fixture(mut program) = Fixture::read("base/native").unwrap();
    program["root"]["execution_plan"][0]["delegates"][0]["id"] = json!("CoreMLBackend");
    program["root"]["segments"][0]["size"] = json!(payload.len());
    program["data"] = json!([{"bytes": payload}]);
    build::file(&program.to_string())
}

/// Returns a constant that is in a file of weights, which the payload does not have.
fn nowhere(key: &str) -> Vec<u8> {
    let value = [field(2, &field(1, &[8, 11])), field(5, &field(1, b"@model_path/w"))].concat();
    field(5, &[field(1, key.as_bytes()), field(2, &value)].concat())
}

/// The properties of nodes and values: each change has the node, the property, and both sides in order.
#[test]
fn properties_of_nodes_and_values_are_compared() {
    let names = r#"{"inputNames":["a","b"],"outputNames":[]}"#;
    let add = |reads: &[&str], size: u8, rest: &[Vec<u8>]| {
        [&[operation("add", reads, &[("y", size)])], rest].concat()
    };
    let (one, two) = (attribute("x", 1.5), attribute("x", 2.5));
    let plain = add(&["t"], 2, &[]);
    let both = add(&["t", "b"], 2, &[]);
    let once = add(&["t"], 2, core::slice::from_ref(&one));
    let twice = add(&["t"], 2, &[one.clone(), one.clone()]);
    for (before, after, expected) in [
        (&plain, once.clone(), "node 1 add: attribute: none → x = 1.5"),
        (&once, plain.clone(), "node 1 add: attribute: x = 1.5 → none"),
        (&twice, add(&["t"], 2, &[two.clone(), one.clone()]), "attribute: x = 1.5 → x = 2.5"),
        (&twice, add(&["t"], 2, &[one, two]), "attribute: x = 1.5 → x = 2.5"),
        (&plain, both.clone(), "node 1 add: inputs: 1 → 2"),
        (&both, plain.clone(), "node 1 add: inputs: 2 → 1"),
        (&plain, add(&["t"], 3, &[]), "node 1 add output 0: type: float32[2] → float32[3]"),
        (&plain, add(&["b"], 2, &[]), "node 1 add: input: value 2 → value 1 of the second file"),
        (&both, add(&["t"], 2, &[nowhere("w")]), "input 1: role: input → constant"),
        (&both, add(&["t"], 2, &[nowhere("w")]), "input 1: data: none → data that no file has"),
    ] {
        let found = lines(&diff(&program(before, &["y"], names), &program(&after, &["y"], names)));
        assert!(found.iter().any(|line| line.contains(expected)), "{expected}: {found:?}");
    }
    let before = program(&plain, &["y"], names);
    let swapped = r#"{"inputNames":["b","a"],"outputNames":[]}"#;
    for (outputs, metadata, expected) in [
        (&["y"][..], swapped, "node 0 relu input 0: argument: 0 → 1"),
        (&["t", "y"], names, "node 0 relu output 0: role: inner value → output"),
        (&["t", "y"], names, "node 0 relu output 0: argument: none → 2"),
        (&["t", "y"], names, "node 1 add output 0: argument: 2 → 3"),
    ] {
        let found = lines(&diff(&before, &program(&plain, outputs, metadata)));
        assert!(found.iter().any(|line| line.contains(expected)), "{expected}: {found:?}");
    }
}
