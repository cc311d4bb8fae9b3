//! The graphs in payloads of backends whose tables are known.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Deref, Range};

use super::tables::{Tables, TablesPlace};
use super::xnnpack::{XnnpackGraph, XnnpackParts};
use super::{Payload, Unreadable};
use crate::backend::Backend;
use crate::file::source::Source;
use crate::foreign::ForeignFormat;
use crate::handle::{File, Handle, OpenError, ReadVec};
use crate::limits::Limits;
use pte_flat::bytes::until_nul;
use pte_flat::view::{List, TableIter};
use pte_schema::mlx::SlotType;
use pte_schema::mlx::view::{MLXGraph, SlotVariant};
use pte_schema::native;
use pte_schema::tosa::view::TosaGraph;
use pte_schema::vulkan::view::VkGraph;
use pte_schema::xnnpack::view::XNode;

/// The graph of a payload.
#[derive(Clone, Debug)]
pub enum Graph<'p> {
    /// A graph of XNNPACK.
    Xnnpack(XnnpackGraph<'p>),
    /// A graph of Vulkan.
    Vulkan(VkGraph<'p>),
    /// A graph of TOSA.
    Tosa(TosaGraph<'p>),
    /// The graphs of methods of the native backend.
    Native(native::view::Program<'p>),
    /// A graph of MLX.
    Mlx(MLXGraph<'p>),
}

impl<'p> Graph<'p> {
    /// Returns the operator of each node, in execution order; `None` for an unknown operator.
    pub fn operators(&self) -> impl Iterator<Item = Option<&'p str>> {
        let operators: Box<dyn Iterator<Item = Option<&'p str>> + 'p> = match self {
            Self::Xnnpack(graph) => {
                let nodes = graph.root().xnodes().into_iter().flatten();
                let operator = |node: XNode<'p>| node.xnode_union().and_then(|node| node.name());
                Box::new(nodes.map(operator))
            }
            Self::Vulkan(graph) => {
                Box::new(graph.chain().into_iter().flatten().map(|call| call.name()))
            }
            Self::Tosa(graph) => {
                let blocks = graph.regions().into_iter().flatten();
                let blocks = blocks.flat_map(|region| region.blocks().into_iter().flatten());
                let nodes = blocks.flat_map(|block| block.operators().into_iter().flatten());
                Box::new(nodes.map(|node| node.op().name()))
            }
            Self::Native(program) => {
                let methods = program.methods().into_iter().flatten();
                Box::new(methods.filter_map(|method| method.graph()).flat_map(Calls::of))
            }
            Self::Mlx(graph) => {
                let chains = graph.instruction_chains().into_iter().flatten();
                let calls = chains.flat_map(|chain| chain.instructions().into_iter().flatten());
                Box::new(calls.map(|call| call.op().and_then(|op| op.name())))
            }
        };
        operators
    }

    /// Returns the keys of the named data that the graph requests: one for each constant with a
    /// key.
    pub fn keys(&self) -> impl Iterator<Item = &'p str> {
        let keys: Box<dyn Iterator<Item = Option<&'p str>> + 'p> = match self {
            Self::Xnnpack(graph) => Box::new(graph.keys().map(Some)),
            Self::Vulkan(graph) => {
                let constants = graph.constants().into_iter().flatten();
                Box::new(constants.map(|constant| constant.named_key()))
            }
            Self::Mlx(graph) => {
                let count = graph.num_constant_tensors();
                let is_constant = move |slot: SlotVariant<'_>| {
                    slot.slot_type() == SlotType::TensorSlot && slot.idx() < count
                };
                let slots = graph.named_slots().into_iter().flatten();
                let constants = slots.filter(move |slot| slot.slot().is_some_and(is_constant));
                Box::new(constants.map(|slot| slot.name()))
            }
            Self::Native(program) => {
                let methods = program.methods().into_iter().flatten();
                let constants = methods.flat_map(|method| method.constants().into_iter().flatten());
                Box::new(constants.map(|constant| constant.data_key()))
            }
            Self::Tosa(_) => Box::new(core::iter::empty()),
        };
        keys.flatten().map(until_nul).filter(|key| !key.is_empty())
    }

    /// Calls `each` with the graph of a payload of `len` bytes, or with `None` if its tables are
    /// not known. `read` returns a range of the payload; if it returns `None`, `each` is not
    /// called.
    ///
    /// # Errors
    ///
    /// The errors of `read`.
    pub fn with<B: Deref<Target = [u8]>, E>(
        backend: Option<Backend>,
        len: u64,
        mut read: impl FnMut(Range<u64>) -> Result<Option<B>, E>,
        limits: &Limits,
        each: impl FnOnce(Result<Option<Graph<'_>>, Unreadable>),
    ) -> Result<(), E> {
        let Some(backend) = backend.filter(|backend| TablesPlace::is_known(*backend)) else {
            each(Ok(None));
            return Ok(());
        };
        let Some(head) = read(0..len.min(ForeignFormat::HEAD))? else { return Ok(()) };
        let place = match TablesPlace::of_payload(backend, &head, len) {
            None => {
                each(Ok(None));
                return Ok(());
            }
            Some(Err(why)) => {
                each(Err(why));
                return Ok(());
            }
            Some(Ok(place)) => place,
        };
        if let Some(bytes) = read(place.range.clone())? {
            each(Graph::at(backend, &place, (&head, len), &bytes, limits));
        }
        Ok(())
    }

    /// Proves the graph at `place` with these `bytes`, in a payload of `len` bytes that begins with
    /// `head`.
    pub fn at(
        backend: Backend,
        place: &TablesPlace,
        (head, len): (&[u8], u64),
        bytes: &'p [u8],
        limits: &Limits,
    ) -> Result<Option<Self>, Unreadable> {
        match backend {
            Backend::Xnnpack => XnnpackParts::of(head, len)
                .and_then(|parts| XnnpackGraph::read(parts, bytes, limits))
                .map(|graph| Some(Graph::Xnnpack(graph))),
            _ => Tables::read(place, bytes, limits).map(Graph::of),
        }
    }

    /// Returns the graph, if the root table is that of Vulkan, TOSA, the native backend or MLX.
    fn of(tables: Tables<'p>) -> Option<Self> {
        let graph = tables.root_as().map(Self::Vulkan);
        let graph = graph.or_else(|| tables.root_as().map(Self::Tosa));
        let graph = graph.or_else(|| tables.root_as().map(Self::Native));
        graph.or_else(|| tables.root_as().map(Self::Mlx))
    }
}

impl<'p> XnnpackGraph<'p> {
    /// Returns the keys of the named data that the constants are in, up to the first NUL.
    pub fn keys(&self) -> impl Iterator<Item = &'p str> + use<'p> {
        let constants = self.root().constant_data().into_iter().flatten();
        constants.filter_map(|constant| constant.named_key()).map(until_nul)
    }
}

/// Iterates over the operators that a graph of the native backend calls. A node's argument may have
/// a graph, whose operators follow those of the node.
struct Calls<'p> {
    /// The graphs that contain the next node, the innermost last.
    graphs: Vec<OpenGraph<'p>>,
}

/// A graph that is partly read: its next nodes, and the next arguments of the last node.
struct OpenGraph<'p> {
    nodes: TableIter<'p, native::view::Node<'p>>,
    inputs: TableIter<'p, native::view::NamedArgument<'p>>,
}

impl<'p> Calls<'p> {
    fn of(graph: native::view::Graph<'p>) -> Self {
        Self { graphs: Vec::from([OpenGraph::of(graph)]) }
    }
}

impl<'p> OpenGraph<'p> {
    fn of(graph: native::view::Graph<'p>) -> Self {
        let nodes = graph.nodes().unwrap_or_default();
        Self { nodes: nodes.iter(), inputs: List::default().iter() }
    }

    /// Returns the graph of the next argument that has a graph.
    fn inner(&mut self) -> Option<native::view::Graph<'p>> {
        self.inputs.find_map(|input| match input.arg()?.value()? {
            native::view::ArgumentValue::GraphArg(graph) => graph.graph(),
            _ => None,
        })
    }
}

impl<'p> Iterator for Calls<'p> {
    type Item = Option<&'p str>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let last = self.graphs.last_mut()?;
            if let Some(inner) = last.inner() {
                self.graphs.push(OpenGraph::of(inner));
                continue;
            }
            let Some(node) = last.nodes.next() else {
                self.graphs.pop();
                continue;
            };
            last.inputs = node.inputs().unwrap_or_default().iter();
            if node.op_kind() == native::OpKind::CALL_FUNCTION {
                return Some(node.target());
            }
        }
    }
}

/// Calls `each` with every payload of a program and its graph, which is `None` if its tables are
/// not known. A payload that several delegates share is read once.
///
/// Only headers and graphs are read, no constants. `limits` bounds the bytes that are read, since
/// payloads may overlap. Payloads beyond that bound are left out.
///
/// # Errors
///
/// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
pub fn for_each_graph<S: Source>(
    handle: &Handle<S>,
    limits: &Limits,
    mut each: impl FnMut(&Payload<'_>, Result<Option<Graph<'_>>, Unreadable>),
) -> Result<(), OpenError<S::Error>> {
    let File::Pte(pte) = handle.file() else { return Ok(()) };
    let mut left = limits.bytes_visited(pte.file_len());
    // A payload that the file does not contain has no graph.
    for payload in pte.distinct_payloads() {
        let (range, len) = (payload.range(), payload.len());
        let read = |part: Range<u64>| {
            let size = part.end.saturating_sub(part.start);
            let Some(rest) = left.checked_sub(size) else { return Ok(None) };
            left = rest;
            let start = range.start.saturating_add(part.start);
            handle.source().read_vec(start..start.saturating_add(size)).map(Some)
        };
        Graph::with(payload.backend(), len, read, limits, |graph| each(&payload, graph))?;
    }
    Ok(())
}
