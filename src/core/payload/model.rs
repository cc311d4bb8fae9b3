//! Payloads with graphs that are not FlatBuffers. The backends that have one are in `payload.rs`.

use core::ops::{Deref, Range};

use super::{MODELS, Unreadable};

use super::graph::{Detail, Graph};
use super::sections::Head;
use crate::backend::Backend;
use crate::limits::Limits;

/// The model in a backend's payloads, of which a function makes the graph.
pub(super) struct Model {
    /// What documents show of the graphs.
    pub(super) detail: Detail,
    /// Reads the payload, and passes the graph to a function.
    pub(super) graph: GraphReader,
}

type GraphReader =
    fn(&mut Head<'_>, &Limits, &mut dyn FnMut(Graph<'_>)) -> Result<Found, Unreadable>;

/// Whether a payload has a graph.
pub(super) enum Found {
    /// The graph was passed on.
    Graph,
    /// The payload has a valid form without a known graph.
    Nothing,
}

impl Model {
    /// Returns the model of a backend's payloads; `None` for another backend.
    pub(super) fn of(backend: Backend) -> Option<&'static Self> {
        MODELS.iter().find(|(of, _)| *of == backend).map(|(_, model)| *model)
    }

    /// Passes the graph of a payload to `each`, as [`Graph::with`] does.
    pub(super) fn with<B: Deref<Target = [u8]>, E>(
        &self,
        len: u64,
        mut read: impl FnMut(Range<u64>) -> Result<Option<B>, E>,
        limits: &Limits,
        each: impl FnOnce(Result<Option<Graph<'_>>, Unreadable>),
    ) -> Result<(), E> {
        let (mut each, mut is_refused) = (Some(each), false);
        let mut pass = |found: Result<Option<Graph<'_>>, Unreadable>| {
            if let Some(each) = each.take() {
                each(found);
            }
        };
        let read = |range| {
            let bytes = read(range)?;
            is_refused |= bytes.is_none();
            Ok(bytes)
        };
        let found = Head::with(len, read, |head| {
            (self.graph)(head, limits, &mut |mut graph| {
                graph.detail = self.detail;
                pass(Ok(Some(graph)));
            })
        })?;
        match found {
            Ok(Found::Graph) => {}
            Ok(Found::Nothing) => pass(Ok(None)),
            Err(why) if !is_refused => pass(Err(why)),
            Err(_) => {}
        }
        Ok(())
    }
}
