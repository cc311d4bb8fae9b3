//! Qualcomm's payloads: a binary for its driver, either bare or in one of two containers.
//!
//! Upstream is `backends/qualcomm/runtime`. It passes a payload without a magic to the driver
//! unchanged.

use crate::backend::magic::{QNN_CONTEXT, QNN_GRAPH};
use crate::payload::Unreadable;
use crate::payload::sections::{Head, Section, Sections};
use pte_flat::bytes::{array_at, u32_at};

/// Finds the binary.
pub(in crate::payload) fn sections(head: &mut Head<'_>) -> Result<Sections, Unreadable> {
    let mut found = Sections::default();
    let start = head.read(0, 4.min(head.len))?;
    match array_at(&start, 0) {
        Some(QNN_CONTEXT) => {
            let bytes = head.read(0, HEADER)?;
            let size = array_at(&bytes, 12).map(u64::from_le_bytes).unwrap_or_default();
            // Before release 1.2, the binary follows the header without padding.
            let is_old = HEADER.saturating_add(size) == head.len;
            let start = if is_old { HEADER } else { PADDED };
            let range = start..start.saturating_add(size);
            found.add(Section::new("context binary", range), head.len)?;
        }
        Some(QNN_GRAPH) => {
            let bytes = head.read(0, QCIR_HEADER)?;
            let graph = u64::from(u32_at(&bytes, 4).unwrap_or_default());
            let tensors = array_at(&bytes, 8).map(u64::from_le_bytes).unwrap_or_default();
            let end = QCIR_HEADER.saturating_add(graph);
            found.add(Section::new("graph", QCIR_HEADER..end), head.len)?;
            let range = end..end.saturating_add(tensors);
            found.add(Section::new("tensors", range), head.len)?;
        }
        _ => found.add(Section::new("binary", 0..head.len), head.len)?,
    }
    Ok(found)
}

/// The length of a context binary's header in bytes, without padding and with it.
const HEADER: u64 = 20;
const PADDED: u64 = 256;

/// The length of the header of a graph in bytes.
const QCIR_HEADER: u64 = 16;
