//! Tests that drawing the graphs of payloads costs O(n log n) for every hostile file.

use super::{GrowthLimits, MOST_GROWTH, SIZES};
use crate::support::hostile;
use pte::Handle;
use pte::Limits;
use pte::flat::cost;
use pte::graph::PayloadGraph;

#[test]
fn no_graph_of_a_payload_takes_more_than_n_log_n_steps() {
    let (mut wrong, mut drawn) = (Vec::new(), 0usize);
    for family in hostile::families() {
        let costs = SIZES.map(|n| {
            let file = family.make(n).0;
            let opened = Handle::open(&file[..], &Limits::UNTRUSTED).ok()?;
            cost::taken();
            let graphs = PayloadGraph::all(&opened, &Limits::UNTRUSTED).ok()?;
            for graph in &graphs {
                let parts = graph.nodes(true).count().saturating_add(graph.edges(true).count());
                drawn = drawn.saturating_add(parts);
                cost::charge(parts);
            }
            let bytes = opened.file_len() as f64;
            (!graphs.is_empty()).then(|| (cost::taken() as f64, bytes))
        });
        LIMITS.compare(&family.name, &costs, &mut wrong);
    }
    assert!(drawn > 10_000, "nodes and edges were drawn: {drawn}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const LIMITS: GrowthLimits =
    GrowthLimits { most_steps: 5.0, most_growth: MOST_GROWTH, few_steps: 0.75 };
