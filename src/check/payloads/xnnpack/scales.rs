//! The scales of channels and groups, which are read from the graph or from constants.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use core::ops::Range;

use super::value::{Scales, Values, is_scale};
use super::{Site, XNNPACK_QUANTIZATION};
use crate::report::Findings;
use pte_core::payload::xnnpack::PayloadConstant;
use pte_flat::cost;
use pte_flat::path;
use pte_flat::view::Table;

/// The place of scales.
pub(super) enum Place<'k> {
    /// A range of the payload.
    Payload(Range<u64>),
    /// The first bytes of named data: its key, and the number of bytes.
    Named(&'k str, u64),
}

/// Judges the scales of all values, and records the largest of each. `read` returns the bytes of a
/// place, or `None` if they are not available.
pub(super) fn judge<'p, 'b>(
    site: &Site<'_, 'p>,
    values: &mut Values<'p>,
    read: &mut dyn FnMut(Place<'_>) -> Option<Cow<'b, [u8]>>,
    out: &mut Findings,
) {
    let mut seen = BTreeMap::new();
    for (nth, scales) in core::mem::take(&mut values.scales) {
        // Values may share scales, which are judged once.
        let list = scales.list.map_or(0, |list| list.pos());
        let key = (scales.constant, list, scales.count, scales.size);
        cost::look_up("", seen.len());
        let known = seen.get(&key).copied();
        let judged = match known {
            Some(largest) => Ok(largest),
            None => largest(site, &scales, read),
        };
        match judged {
            Ok(largest) => {
                seen.insert(key, largest);
                if let Some(largest) = largest {
                    values.set_largest_scale(nth, largest);
                }
            }
            Err((at, scale)) => {
                seen.insert(key, None);
                let path = path!["xvalues", nth];
                if let Some(tensor) = site.tensor(nth) {
                    site.place.find(out, &XNNPACK_QUANTIZATION, tensor.raw(), &path, || {
                        format!("scale {at} is {scale:?}")
                    });
                }
            }
        }
    }
}

/// Returns the largest scale, or `None` if the scales are not available. The error is the first scale
/// that the backend refuses, with its index.
fn largest<'b>(
    site: &Site<'_, '_>,
    scales: &Scales<'_>,
    read: &mut dyn FnMut(Place<'_>) -> Option<Cow<'b, [u8]>>,
) -> Result<Option<f32>, (usize, f32)> {
    let count = usize::try_from(scales.count).unwrap_or(usize::MAX);
    if scales.constant == 0 {
        let list = scales.list.unwrap_or_default();
        cost::charge(list.len().min(count));
        return largest_of(list.iter().take(count)).map(Some);
    }
    let len = scales.count.saturating_mul(scales.size);
    let Ok(constant) = site.graph.constant(scales.constant) else { return Ok(None) };
    let bytes = match constant {
        PayloadConstant::Within { bytes, .. } => {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            return largest_in(bytes.get(..len).unwrap_or_default(), scales.size).map(Some);
        }
        PayloadConstant::Behind(range) => {
            read(Place::Payload(range.start..range.start.saturating_add(len)))
        }
        PayloadConstant::Named { key, .. } => read(Place::Named(key, len)),
    };
    bytes.map(|bytes| largest_in(&bytes, scales.size)).transpose()
}

/// Returns the largest of scales of f32 (4 bytes) or bf16 (2 bytes).
fn largest_in(bytes: &[u8], size: u64) -> Result<f32, (usize, f32)> {
    cost::charge(bytes.len());
    let single = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    // bf16 is the upper half of an f32.
    let half = |bytes: &[u8; 2]| f32::from_le_bytes([0, 0, bytes[0], bytes[1]]);
    match size {
        4 => largest_of(bytes.as_chunks().0.iter().map(single)),
        _ => largest_of(bytes.as_chunks().0.iter().map(half)),
    }
}

fn largest_of(scales: impl Iterator<Item = f32>) -> Result<f32, (usize, f32)> {
    let mut largest: f32 = 0.0;
    for (at, scale) in scales.enumerate() {
        if !is_scale(scale) {
            return Err((at, scale));
        }
        largest = largest.max(scale);
    }
    Ok(largest)
}
