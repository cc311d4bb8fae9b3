//! The calls of a delegate: the arguments, against the inputs and outputs of the graph.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use super::{Judge, TOSA_CALL, element_bits};
use crate::payloads::User;
use crate::payloads::sizes::Sizes;
use crate::site::nbytes;
use pte_flat::cost;
use pte_schema::program::TensorShapeDynamism;
use pte_schema::tosa::view::{TosaBasicBlock, TosaGraph, TosaTensor};

/// Judges all calls of a graph.
pub(super) fn judge(judge: &mut Judge<'_>, users: &[User], graph: TosaGraph<'_>) {
    let first = graph.regions().and_then(|regions| regions.get(0)?.blocks()?.get(0));
    let Some(block) = first.filter(|_| !users.is_empty()) else { return };
    let ends = ends(block);
    judge.arguments(
        users,
        &TOSA_CALL,
        |_| Some(ends.len()),
        |plan, nth, arg| {
            let Some(tensor) = plan.tensor(arg.into()) else {
                let kind = plan.kind_name(arg).unwrap_or("nothing");
                return Some(format!("argument {nth} is {kind}: expected a Tensor"));
            };
            // The sizes of a tensor that is not static are known when it runs.
            let is_static = tensor.shape_dynamism() == TensorShapeDynamism::STATIC;
            let need = ends.get(nth).copied().flatten().filter(|_| is_static)?;
            let bytes = nbytes(tensor).filter(|bytes| *bytes != need)?;
            Some(format!("argument {nth} has {bytes} bytes, and the graph's tensor {need}"))
        },
    );
}

/// Returns the number of bytes of each input and then of each output; `None` where it is not known.
fn ends(block: TosaBasicBlock<'_>) -> Vec<Option<u64>> {
    let mut tensors = BTreeMap::new();
    for tensor in block.tensors().into_iter().flatten() {
        let Some(name) = tensor.name() else { continue };
        cost::look_up(name, tensors.len());
        tensors.entry(name).or_insert(tensor);
    }
    let names = [block.inputs(), block.outputs()].into_iter().flatten().flatten();
    let bytes = names.map(|name| {
        cost::look_up(name, tensors.len());
        tensors.get(name).copied().and_then(bytes_of)
    });
    bytes.collect()
}

fn bytes_of(tensor: TosaTensor<'_>) -> Option<u64> {
    let sizes =
        Sizes::of(tensor.shape().unwrap_or_default().iter()).filter(|_| !tensor.is_unranked())?;
    Some(sizes.elements().saturating_mul(element_bits(tensor.r#type())?) / 8)
}
