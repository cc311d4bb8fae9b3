//! The scales of channels and groups, which are read from the graph or from constants.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use core::ops::Range;

use super::value::{Scales, Values, is_scale};
use super::{Site, XNNPACK_QUANTIZATION};
use crate::report::Findings;
use pte_core::error::PathComponent;
use pte_core::payload::xnnpack::PayloadConstant;
use pte_flat::cost;

/// The place of scales.
pub(super) enum Place<'k> {
    /// A range of the payload.
    Payload(Range<u64>),
    /// The first bytes of named data: its key, and the number of bytes.
    Named(&'k str, u64),
}

/// Judges the scales of all values. `read` returns the bytes of a place, or `None` if they are not
/// available.
pub(super) fn judge<'p, 'b>(
    site: &Site<'_, 'p>,
    values: &Values<'p>,
    read: &mut dyn FnMut(Place<'_>) -> Option<Cow<'b, [u8]>>,
    out: &mut Findings,
) {
    let mut seen = BTreeSet::new();
    for &(nth, ref scales) in values.scales() {
        // Values may share scales, which are judged once.
        let list = scales.list.map_or(0, |list| list.pos());
        cost::look_up("", seen.len());
        if !seen.insert((scales.constant, list, scales.count, scales.size)) {
            continue;
        }
        if let Some((at, scale)) = wrong(site, scales, read) {
            let path = [PathComponent::Field("xvalues"), PathComponent::Index(nth)];
            if let Some(tensor) = site.tensor(nth) {
                site.find(out, &XNNPACK_QUANTIZATION, tensor, &path, || {
                    format!("scale {at} is {scale:?}")
                });
            }
        }
    }
}

/// Returns the first scale that the backend refuses.
fn wrong<'b>(
    site: &Site<'_, '_>,
    scales: &Scales<'_>,
    read: &mut dyn FnMut(Place<'_>) -> Option<Cow<'b, [u8]>>,
) -> Option<(usize, f32)> {
    let count = usize::try_from(scales.count).unwrap_or(usize::MAX);
    if scales.constant == 0 {
        let list = scales.list.unwrap_or_default();
        cost::charge(list.len().min(count));
        return list.iter().take(count).enumerate().find(|(_, scale)| !is_scale(*scale));
    }
    let len = scales.count.saturating_mul(scales.size);
    let bytes = match site.graph.constant(scales.constant).ok()? {
        PayloadConstant::Within { bytes, .. } => {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            return first_wrong(bytes.get(..len).unwrap_or_default(), scales.size);
        }
        PayloadConstant::Behind(range) => {
            read(Place::Payload(range.start..range.start.saturating_add(len)))
        }
        PayloadConstant::Named { key, .. } => read(Place::Named(key, len)),
    };
    first_wrong(&bytes?, scales.size)
}

/// Returns the first scale that the backend refuses, of f32 (4 bytes) or bf16 (2 bytes).
fn first_wrong(bytes: &[u8], size: u64) -> Option<(usize, f32)> {
    cost::charge(bytes.len());
    let single = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    // bf16 is the upper half of an f32.
    let half = |bytes: &[u8; 2]| f32::from_le_bytes([0, 0, bytes[0], bytes[1]]);
    let is_wrong = |(_, scale): &(usize, f32)| !is_scale(*scale);
    match size {
        4 => bytes.as_chunks().0.iter().map(single).enumerate().find(is_wrong),
        _ => bytes.as_chunks().0.iter().map(half).enumerate().find(is_wrong),
    }
}
