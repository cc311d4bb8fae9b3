//! Reads the graphs of payloads.

use core::ops::{Deref, Range};

use super::flatbuffer::{FlatBufferFormat, Region};
use super::graph::Graph;
use super::model::Model;
use super::tables::TablesPlace;
use super::{Payload, Unreadable};
use crate::backend::Backend;
use crate::file::source::Source;
use crate::foreign::ForeignFormat;
use crate::handle::{File, Handle, OpenError, ReadVec};
use crate::limits::Limits;
use pte_flat::bytes::len_of;

impl<'p> Graph<'p> {
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
        if let Some(model) = backend.and_then(Model::of) {
            return model.with(len, read, limits, each);
        }
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
    /// `head`. Returns `None` for a backend whose tables are not known.
    ///
    /// # Errors
    ///
    /// The backend refuses the payload.
    pub fn at(
        backend: Backend,
        place: &TablesPlace,
        (head, len): (&[u8], u64),
        bytes: &'p [u8],
        limits: &Limits,
    ) -> Result<Option<Self>, Unreadable> {
        let Some(format) = FlatBufferFormat::of(backend) else { return Ok(None) };
        let mut graph = format.read(&Region { head, len, place, bytes, limits })?;
        graph.flatbuffer = place.range.start;
        Ok(Some(graph))
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
            let size = len_of(&part);
            let Some(rest) = left.checked_sub(size) else { return Ok(None) };
            left = rest;
            let start = range.start.saturating_add(part.start);
            handle.source().read_vec(start..start.saturating_add(size)).map(Some)
        };
        Graph::with(payload.backend(), len, read, limits, |graph| each(&payload, graph))?;
    }
    Ok(())
}
