//! The graphs of payloads: those of backends whose tables are known.

use alloc::collections::BTreeSet;
use core::ops::{Deref, Range};

use super::vulkan::VulkanParts;
use super::xnnpack::{XnnpackGraph, XnnpackParts};
use super::{Payload, Unreadable};
use crate::backend::Backend;
use crate::bytes::array_at;
use crate::cost;
use crate::file::source::Source;
use crate::flat::verify;
use crate::handle::{File, Handle, OpenError, ReadVec};
use crate::limits::Limits;
use crate::schema::vulkan::view::VkGraph;
use crate::schema::xnnpack::view::XNode;

/// The graph of a payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Graph<'p> {
    /// A graph of XNNPACK.
    Xnnpack(XnnpackGraph<'p>),
    /// A graph of Vulkan.
    Vulkan(VkGraph<'p>),
}

impl<'p> Graph<'p> {
    /// Returns the operator of each node, in the order in which they run; `None` for an unknown one.
    pub fn operators(&self) -> impl Iterator<Item = Option<&'p str>> {
        let (nodes, calls) = match self {
            Self::Xnnpack(graph) => (graph.root().xnodes(), None),
            Self::Vulkan(graph) => (None, graph.chain()),
        };
        let operator = |node: XNode<'p>| node.xnode_union().and_then(|operator| operator.name());
        let nodes = nodes.into_iter().flatten().map(operator);
        nodes.chain(calls.into_iter().flatten().map(|call| call.name()))
    }

    /// Calls `each` with the graph of a payload of `len` bytes: `None` if its tables are not known. `read`
    /// returns a range of the payload; if it returns `None`, `each` is not called.
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
        if !matches!(backend, Some(Backend::Xnnpack | Backend::Vulkan)) {
            each(Ok(None));
            return Ok(());
        }
        let Some(head) = read(0..len.min(HEAD))? else { return Ok(()) };
        let parts = match backend {
            Some(Backend::Vulkan) => VulkanParts::of(&head, len).map(Parts::Vulkan),
            _ => XnnpackParts::of(&head, len).map(Parts::Xnnpack),
        };
        let parts = match parts {
            Ok(parts) => parts,
            Err(why) => {
                each(Err(why));
                return Ok(());
            }
        };
        if let Some(bytes) = read(parts.graph())? {
            each(parts.read(&bytes, limits).map(Some));
        }
        Ok(())
    }
}

/// Calls `each` with every payload of a program, and with its graph: `None` if its tables are not
/// known. A payload that several delegates share is read once.
///
/// Only headers and graphs are read, no constants. `limits` bounds the bytes that are read: payloads may
/// overlap. Those past the bound are left out.
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
    let mut seen = BTreeSet::new();
    let mut left = limits.bytes_visited(pte.file_len());
    // A payload that is nowhere has no graph.
    for payload in pte.payloads().filter_map(Result::ok) {
        let (range, len) = (payload.range(), payload.len());
        cost::look_up("", seen.len());
        if !seen.insert((range.start, range.end)) {
            continue;
        }
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

enum Parts {
    Xnnpack(XnnpackParts),
    Vulkan(VulkanParts),
}

impl Parts {
    fn graph(&self) -> Range<u64> {
        match self {
            Self::Xnnpack(parts) => parts.graph.clone(),
            Self::Vulkan(parts) => parts.graph.clone(),
        }
    }

    fn read<'p>(self, bytes: &'p [u8], limits: &Limits) -> Result<Graph<'p>, Unreadable> {
        match self {
            Self::Xnnpack(parts) => XnnpackGraph::read(parts, bytes, limits).map(Graph::Xnnpack),
            Self::Vulkan(parts) => {
                let magic = array_at(bytes, 4).unwrap_or_default();
                if magic != *b"VK00" {
                    return Err(Unreadable::Magic { magic });
                }
                match verify::read(bytes, limits) {
                    Ok((graph, _)) => Ok(Graph::Vulkan(graph)),
                    Err(error) => Err(Unreadable::Graph(error.shifted(parts.graph.start))),
                }
            }
        }
    }
}

/// The number of bytes that every header of a payload has at most.
const HEAD: u64 = 64;
