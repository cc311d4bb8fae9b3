//! The keys that delegates ask for: what is known of their payloads.
//!
//! Only XNNPACK's payloads are looked into. Others may ask for any key.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use core::ops::Range;

use super::Findings;
use super::rule::rules;
use super::spot::Plan;
use crate::Pte;
use crate::bytes::index;
use crate::error::Step;
use crate::file::payload::{self, Graph};
use crate::flat::view::Table;
use crate::flat::walk;
use crate::limits::Limits;
use crate::quoted::Quoted;
use crate::schema::program::view::BackendDelegate;
use crate::schema::xnnpack::view::{XNNGraph, XNNQuantParams, XValue, XValueUnion};

rules! {
    "keys";

    DELEGATE_KEY_UNRESOLVED = Error "delegate-key-unresolved"
        "The data that an XNNPACK payload uses by a key is in the program or in one of the .ptd files."
        "The backend refuses its payload, and loading the method fails."
        Refuses ["6.7", "7.4.21", "7.6.19", "7.7.23"];
    DELEGATE_KEY_SHORT = Warning "delegate-key-short"
        "The data that an XNNPACK payload uses by a key has the bytes that the payload says."
        "The backend never compares the two, and reads past the data."
        Misreads ["6.7", "7.7.23"];
    PAYLOAD_UNREADABLE = Warning "payload-unreadable"
        "An XNNPACK payload whose keys are looked for (with --with) can be read."
        "The backend refuses it."
        Refuses ["6.6", "7.4.21", "7.7.23"];
}

/// What the delegates of a program ask for.
pub(super) struct Asked<'l> {
    limits: &'l Limits,
    /// Every key that a payload names.
    pub(super) keys: BTreeSet<String>,
    /// Whether there may be others: a payload was not looked into.
    pub(super) others: bool,
    /// Payloads that were looked into: delegates may share them.
    seen: BTreeSet<(u64, u64)>,
    /// Bytes of payloads that may still be read: segments may overlap.
    left: u64,
}

impl<'l> Asked<'l> {
    pub(super) fn new(pte: &Pte<'_>, limits: &'l Limits) -> Self {
        let left = pte.file_len().saturating_mul(limits.amplification.into());
        Self { limits, keys: BTreeSet::new(), others: false, seen: BTreeSet::new(), left }
    }

    /// Looks into the payload of delegate `nth`, of which `read` gives ranges of the file; `size`
    /// is how many bytes a key has, `None` where there is no such key.
    pub(super) fn look<'b, E>(
        &mut self,
        plan: &Plan<'_, '_>,
        (nth, delegate): (u32, BackendDelegate<'_>),
        mut read: impl FnMut(Range<u64>) -> Result<Option<Cow<'b, [u8]>>, E>,
        size: impl Fn(&str) -> Option<u64>,
        out: &mut Findings,
    ) -> Result<(), E> {
        // Delegates without a payload, or with one that is nowhere, have findings of their own.
        let Some(whole) = range_of(plan.pte, delegate) else { return Ok(()) };
        if delegate.id() != Some("XnnpackBackend") {
            self.others = true;
            return Ok(());
        }
        if !self.seen.insert((whole.start, whole.end)) {
            return Ok(());
        }
        let at = delegate.processed().map_or(delegate.raw(), |processed| processed.raw());
        let steps = [Step::Field("delegates"), Step::Index(nth), Step::Field("processed")];
        let len = whole.end.saturating_sub(whole.start);
        let head = whole.start..whole.start.saturating_add(len.min(payload::HEADER));
        let Some(head) = self.pay(head).map(&mut read).transpose()?.flatten() else {
            self.others = true;
            return Ok(());
        };
        let graph = match payload::xnnpack(&head, len) {
            Some(Graph::At(graph)) => graph,
            Some(Graph::Whole) => return Ok(()),
            None => {
                self.others = true;
                plan.find(out, &PAYLOAD_UNREADABLE, at, &steps, || {
                    format!("the header of the payload of {len} bytes leads nowhere")
                });
                return Ok(());
            }
        };
        let begin = whole.start.saturating_add(graph.start);
        let range = begin..whole.start.saturating_add(graph.end);
        let Some(bytes) = self.pay(range).map(&mut read).transpose()?.flatten() else {
            self.others = true;
            return Ok(());
        };
        let graph = match payload::is_graph(&bytes) {
            true => walk::read::<XNNGraph<'_>>(&bytes, self.limits).map_err(|error| {
                let offset = error.offset();
                format!("at byte {offset} of its graph: {error}")
            }),
            false => Err("its graph has an identifier that is not known".into()),
        };
        match graph {
            Ok((graph, _)) => self.graph(graph, size, |rule, message| {
                plan.find(out, rule, at, &steps, message);
            }),
            Err(message) => {
                self.others = true;
                plan.find(out, &PAYLOAD_UNREADABLE, at, &steps, || message);
            }
        }
        Ok(())
    }

    /// The keys of a graph.
    fn graph(
        &mut self,
        graph: XNNGraph<'_>,
        size: impl Fn(&str) -> Option<u64>,
        mut find: impl FnMut(&'static super::Rule, &dyn Fn() -> String),
    ) {
        let Some(constants) = graph.constant_data() else { return };
        // Only what a value uses is looked up; constant 0 stands for none.
        let mut used = vec![false; constants.len()];
        for value in graph.xvalues().into_iter().flatten() {
            for constant in constants_of(value).into_iter().flatten() {
                if let Some(used) = used.get_mut(index(constant)).filter(|_| constant != 0) {
                    *used = true;
                }
            }
        }
        for (constant, used) in constants.iter().zip(used) {
            let Some(key) = constant.named_key() else { continue };
            match size(key) {
                None if used => find(&DELEGATE_KEY_UNRESOLVED, &|| {
                    format!("the payload uses {}, which is in none of the files", Quoted(key))
                }),
                Some(size) if used && size < constant.size() => {
                    find(&DELEGATE_KEY_SHORT, &|| {
                        let wanted = constant.size();
                        format!("{} has {size} bytes, and the payload says {wanted}", Quoted(key))
                    });
                }
                _ => {}
            }
            if !self.keys.contains(key) {
                self.keys.insert(key.into());
            }
        }
    }

    /// The range, if its bytes may still be read.
    fn pay(&mut self, range: Range<u64>) -> Option<Range<u64>> {
        self.left = self.left.checked_sub(range.end.saturating_sub(range.start))?;
        Some(range)
    }
}

fn range_of(pte: &Pte<'_>, delegate: BackendDelegate<'_>) -> Option<Range<u64>> {
    pte.delegate_range(delegate).ok().flatten()
}

/// The constants that a value uses, by index: its data, and its scales.
fn constants_of(value: XValue<'_>) -> [Option<u32>; 2] {
    match value.xvalue_union() {
        Some(XValueUnion::XNNTensorValue(tensor)) => [Some(tensor.constant_buffer_idx()), None],
        Some(XValueUnion::XNNQuantizedTensorValue(value)) => {
            let scales = match value.quant_params() {
                Some(XNNQuantParams::PerChannelQuant(quant)) => Some(quant.scale_buffer_idx()),
                Some(XNNQuantParams::PerChannelGroupQuant(quant)) => Some(quant.scale_buffer_idx()),
                _ => None,
            };
            [value.tensor_value().map(|tensor| tensor.constant_buffer_idx()), scales]
        }
        _ => [None, None],
    }
}
