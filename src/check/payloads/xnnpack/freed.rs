//! Constants that the backend reads after they are freed.
//!
//! `XnnpackBackend::init` compiles the payload, then frees it. It also frees the named data that it
//! assumes to be copied. Compiling copies the filters and biases of most layers, with their scales.
//! All other constants are used in place. An inline payload stays in memory with the program.

use super::value::{Value, Values};
use super::{Site, XNNPACK_CONSTANT_FREED, XNNPACK_NAMED_FREED, XNNPACK_NAMED_REFERENCED};
use crate::report::Findings;
use crate::rule::Rule;
use pte_core::payload::ConstantUses;
use pte_core::payload::xnnpack::{NodeIds, PayloadConstant, is_layer};
use pte_flat::bytes::index;
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::xnnpack::view::XNodeUnion;

/// Returns whether a node may use a constant in place. A layer whose filter and bias are constants does not: it copies
/// them when it is created.
pub(super) fn is_concerned(operator: XNodeUnion<'_>, ids: &NodeIds, values: &Values<'_>) -> bool {
    let (in_place, weights) = match ids.inputs() {
        [input, weights @ ..] if is_layer(operator) => (core::slice::from_ref(input), weights),
        all => (all, &[][..]),
    };
    let value = |id: &u32| values.get(*id);
    let are_packed = weights.iter().all(|id| value(id).is_some_and(|it| it.constant.is_some()));
    let of = |ids: &[u32]| ids.iter().filter_map(value).any(Value::may_have_constants);
    of(in_place) || !are_packed && of(weights)
}

/// Reports constants that are used in place and are freed. Constants that only older releases free
/// are reported in `notes`. Call this only if some node [is concerned](is_concerned).
pub(super) fn judge(site: &Site<'_, '_>, out: &mut Findings, notes: &mut Findings) {
    let uses = ConstantUses::of(site.graph);
    for (nth, node) in uses.referenced() {
        match site.graph.constant(nth) {
            Ok(PayloadConstant::Named { .. }) => match uses.mistaken(nth) {
                Some(node) => {
                    find(site, &XNNPACK_NAMED_FREED, (nth, node), "the backend frees", out)
                }
                None => {
                    let who = "releases before 1.4.1 free";
                    find(site, &XNNPACK_NAMED_REFERENCED, (nth, node), who, notes);
                }
            },
            Ok(_) if site.is_freed => {
                let who = "the runtime frees with the payload";
                find(site, &XNNPACK_CONSTANT_FREED, (nth, node), who, out);
            }
            Ok(_) | Err(_) => {}
        }
    }
}

/// Returns whether every constant is copied. Debug builds check it where no node is concerned.
pub(super) fn finds_nothing(site: &Site<'_, '_>) -> bool {
    ConstantUses::of(site.graph).referenced().next().is_none()
}

/// Reports a constant that a node reads after it is freed. `who` says in words what frees it.
fn find(
    site: &Site<'_, '_>,
    rule: &'static Rule,
    (nth, node): (u32, u32),
    who: &str,
    out: &mut Findings,
) {
    let nodes = site.root().xnodes();
    let Some(table) = nodes.and_then(|nodes| nodes.get(index(node))) else { return };
    let path = path!["xnodes", node];
    site.place.find(out, rule, table.raw(), &path, || {
        format!("each run of the node reads constant {nth}, which {who}")
    });
}
