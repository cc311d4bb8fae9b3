//! The oracle `views`: what `map`, `size`, `graph` and `memory` derive from a file.

use core::fmt::Debug;
use std::collections::{BTreeMap, BTreeSet};

use pte::graph::{MethodGraph, PayloadGraph, PayloadNodeId};
use pte::map::{ByteInfo, Map, Nesting, OtherFile, SizeTree};
use pte::memory::Memory;
use pte::payload::PayloadContents;
use pte::{File, Handle, Limits};

use crate::read::wide;
use pte_tests::mapped::{ask_map, ask_pieces, ask_rows};

/// A map has each byte of the file once, at each of its levels. Each edge of a graph joins two nodes, and each
/// node is there once. In an arena no tensor ends behind the reach, and no more is live than is used.
/// Payloads are open.
pub fn views(bytes: &[u8]) {
    let limits = Limits::UNTRUSTED;
    let Ok(opened) = Handle::open(bytes, &limits) else { return other(bytes, &limits) };
    let file = opened.file();
    let len = wide(bytes.len());
    ask_map(&file);
    let payloads = PayloadContents::all_with_parts(&opened, &limits).expect("a slice can be read");
    let map = Map::in_detail_with_payloads(&file, &payloads);
    ask_pieces(&map, len);
    ask_rows(map.ranges(Nesting { depth: 9, most: 4 }).rows(), 0..len);
    if let Ok(sizes) = SizeTree::of("file", &file, &payloads, &limits) {
        assert_sizes(&sizes, len);
    }
    for offset in offsets(len) {
        assert_byte(ByteInfo::with_payloads(&file, &payloads, offset).as_ref(), offset, len);
    }
    if let File::Pte(pte) = &file {
        let graphs = PayloadGraph::all(&opened, &limits).expect("a slice can be read");
        graphs.iter().for_each(assert_graph);
        for graph in MethodGraph::all(pte) {
            let graph = graph.with_payloads(&graphs);
            let nodes = graph.nodes().map(|node| {
                let payload = node.payload.map(|payload| payload < narrow(graphs.len()));
                assert!(
                    payload != Some(false),
                    "{}: {:?} of {}",
                    node.id,
                    node.payload,
                    graphs.len()
                );
                node.id
            });
            assert_joined(nodes, graph.edges().map(|edge| (edge.from, edge.to)));
        }
        for plan in pte.program().execution_plan().into_iter().flatten() {
            assert_memory(&Memory::of(pte, plan));
        }
    }
}

/// Holds for a file that is neither a `.pte` nor a `.ptd`.
fn other(bytes: &[u8], limits: &Limits) {
    let Ok(Some(Ok(file))) = OtherFile::read(&bytes, limits) else { return };
    let len = wide(bytes.len());
    ask_pieces(&file.map(), len);
    let map = file.map_in_detail();
    ask_pieces(&map, len);
    ask_rows(map.ranges(Nesting { depth: 9, most: 4 }).rows(), 0..len);
    for offset in offsets(len) {
        assert_byte(ByteInfo::of_other(&file, offset).as_ref(), offset, len);
    }
}

/// A few offsets of a file, and its length.
fn offsets(len: u64) -> impl Iterator<Item = u64> {
    (0..8).map(move |eighth| len * eighth / 8).chain([len.saturating_sub(1), len])
}

/// The ranges around a byte lie in the file.
fn assert_byte(info: Option<&ByteInfo<'_>>, offset: u64, len: u64) {
    assert_eq!(info.is_some(), offset < len, "byte {offset} of {len}");
    for range in info.into_iter().flat_map(|info| [info.piece(), info.range()]) {
        assert!(range.contains(&offset) && range.end <= len, "{range:?} for byte {offset}");
    }
}

/// Parts have all bytes of the whole.
fn assert_sizes(tree: &SizeTree, bytes: u64) {
    assert_eq!(tree.bytes, bytes, "{}", tree.name);
    if !tree.parts.is_empty() {
        let sum: u64 = tree.parts.iter().map(|part| part.bytes).sum();
        assert_eq!(sum, bytes, "the parts of {}", tree.name);
        tree.parts.iter().for_each(|part| assert_sizes(part, part.bytes));
    }
}

fn assert_graph(graph: &PayloadGraph) {
    for folds_constants in [false, true] {
        let nodes: Vec<_> = graph.nodes(folds_constants).map(|node| node.id).collect();
        assert_eq!(nodes.len(), graph.node_count(folds_constants));
        let edges = graph.edges(folds_constants).map(|edge| (edge.from, edge.to));
        assert_joined(nodes.iter().copied(), edges);
        let nodes = BTreeSet::from_iter(nodes);
        for argument in graph.arguments() {
            let id = PayloadNodeId::Value(argument.value);
            assert!(nodes.contains(&id), "{argument:?} is no node");
        }
    }
}

/// Nodes have different ids, and edges join them.
fn assert_joined<N: Copy + Ord + Debug>(
    nodes: impl Iterator<Item = N>,
    edges: impl Iterator<Item = (N, N)>,
) {
    let mut known = BTreeSet::new();
    for node in nodes {
        assert!(known.insert(node), "{node:?} is there twice");
    }
    for (from, to) in edges {
        let is_known = known.contains(&from) && known.contains(&to);
        assert!(is_known, "an edge from {from:?} to {to:?}");
    }
}

fn assert_memory(memory: &Memory<'_>) {
    let mut seen = BTreeMap::new();
    for arena in memory.arenas() {
        assert!(arena.used <= arena.reach && arena.peak <= arena.used, "{arena:?}");
        for tensor in memory.tensors(arena) {
            assert!(tensor.range().1 <= arena.reach, "{tensor:?} in {arena:?}");
            assert_eq!(tensor.arena, arena.id);
            assert_eq!(seen.insert(tensor.value, arena.id), None, "{tensor:?}");
        }
        let peak = memory.live_bytes(arena).into_iter().map(|(_, bytes)| bytes).max();
        assert_eq!(peak.unwrap_or_default(), arena.peak, "{arena:?}");
    }
    for unplanned in memory.unplanned() {
        assert!(!seen.contains_key(&unplanned.value), "{unplanned:?} has a place");
    }
}

fn narrow(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
