//! TOSA's payloads: the whole payload is the graph.

use alloc::vec::Vec;

use super::Unreadable;
use super::format::{Format, Parts, Region};
use super::graph::{Builder, Datatype, Detail, Ends, Graph};
use crate::backend::{Backend, magic};
use pte_schema::tosa::desc;
use pte_schema::tosa::view::TosaGraph;

pub(super) static FORMAT: Format = Format {
    backend: Backend::Tosa,
    schema: &desc::SCHEMA,
    identifiers: &[magic::TOSA],
    header: &[],
    detail: Detail::Operators,
    parts: Parts::whole,
    graph,
};

/// Values of TOSA have names. Those of all blocks are in one graph.
fn graph<'p>(region: &Region<'_, 'p>) -> Result<Graph<'p>, Unreadable> {
    let root: TosaGraph<'p> = region.root()?;
    let mut out = Builder::default();
    let blocks = root.regions().into_iter().flatten();
    let blocks: Vec<_> = blocks.flat_map(|region| region.blocks().into_iter().flatten()).collect();
    let first = blocks.first();
    let inputs = out.ids(first.and_then(|block| block.inputs()));
    let ends = Ends::new(inputs, out.ids(first.and_then(|block| block.outputs())));
    for block in &blocks {
        for tensor in block.tensors().into_iter().flatten() {
            let id = out.id(tensor.name().unwrap_or_default());
            let datatype = Datatype::new(tensor.r#type().name(), tensor.r#type().0);
            let sizes = tensor.shape().unwrap_or_default();
            let count = sizes.len();
            let sizes = sizes.iter().map(|size| u32::try_from(size).unwrap_or_default());
            out.value(id, datatype, (count, sizes), ends.role(id, false));
        }
        for operator in block.operators().into_iter().flatten() {
            let (reads, writes) = (out.ids(operator.inputs()), out.ids(operator.outputs()));
            let name = out.named(operator.op().name());
            out.node(name, &reads, &writes);
        }
    }
    Ok(out.finish())
}
