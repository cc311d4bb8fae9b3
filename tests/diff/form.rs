//! Payloads of backends other than XNNPACK are compared by their bytes, and by what their graphs show.

use pte::graph::PayloadGraph;
use pte::payload::PayloadContents;
use pte::{Limits, Pte};

use super::{diff, lines, opened, sample};

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

/// A weight is named with the node and the input that read it.
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
            for at in range.step_by(3) {
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
        assert!(compared > 20, "{name}: {compared}");
        assert!(silent.is_empty(), "{name}: {} of {compared}: {:?}", silent.len(), silent.first());
    }
}
