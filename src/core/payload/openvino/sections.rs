//! OpenVINO's payloads: a compiled model as the CPU plugin exports it.
//!
//! ExecuTorch passes the payload to OpenVINO. The layout was taken from genuine files of OpenVINO
//! 2026. Payloads of other plugins and releases have another layout, and are opaque.

use alloc::string::String;

use crate::backend::magic;
use crate::payload::Unreadable;
use crate::payload::sections::{Head, Section, Sections};
use pte_flat::bytes::array_at;

/// Finds the parts of a model.
pub(in crate::payload) fn sections(head: &mut Head<'_>) -> Result<Sections, Unreadable> {
    let mut found = Sections::default();
    let start = head.read(0, MAGIC.min(head.len))?;
    if **start != magic::OPEN_VINO {
        found.add(Section::new("model", 0..head.len), head.len)?;
        return Ok(found);
    }
    let bytes = head.read(0, TEXT)?;
    let number = |bytes: &[u8], at| array_at(bytes, at).map(u64::from_le_bytes).unwrap_or_default();
    let size = number(&bytes, 12);
    if size > MOST_TEXT {
        let range = TEXT..TEXT.saturating_add(size);
        return Err(Unreadable::Part { name: "properties", range, len: head.len });
    }
    let text = head.read(TEXT, size)?;
    let text = String::from_utf8_lossy(&text);
    let property = |name| {
        let mut all = text.split(';').filter_map(|property| property.split_once('='));
        all.find(|(key, _)| *key == name).map(|(_, value)| String::from(value))
    };
    (found.version, found.target) = (property("ov"), property("isa"));
    // Offsets of parts are relative to the header of the parts.
    let base = TEXT.saturating_add(size);
    let parts = head.read(base, PARTS)?;
    for (name, at) in [("custom data", 0), ("constants", 16), ("model", 32)] {
        let start = base.saturating_add(number(&parts, at));
        let end = start.saturating_add(number(&parts, at.saturating_add(8)));
        found.add(Section::new(name, start..end), head.len)?;
    }
    Ok(found)
}

/// The length of the magic in bytes.
const MAGIC: u64 = 8;

/// The start of the properties. Before them are the magic, a version and their size.
const TEXT: u64 = 20;

/// The maximum length of the properties in bytes. Genuine properties have 79.
const MOST_TEXT: u64 = 4096;

/// The length of the header of the parts: an offset and a size for each part.
const PARTS: u64 = 48;
