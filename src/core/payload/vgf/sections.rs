//! VGF, the container of Arm's ML extensions for Vulkan.
//!
//! ExecuTorch passes the payload to Arm's library. The layout was taken from genuine files of
//! version 0.5.

use crate::backend::magic::VGF;
use crate::payload::Unreadable;
use crate::payload::sections::{Head, Section, Sections, magic};
use pte_flat::bytes::{array_at, u32_at};

/// Finds the tables and the constants.
pub(in crate::payload) fn sections(head: &mut Head<'_>) -> Result<Sections, Unreadable> {
    let bytes = head.read(0, HEADER)?;
    if !bytes.starts_with(&VGF) {
        return Err(magic(&bytes));
    }
    let [major, minor, patch, _] = u32_at(&bytes, 8).unwrap_or_default().to_le_bytes();
    let version = Some(format!("{major}.{minor}.{patch}"));
    let mut found = Sections { version, ..Sections::default() };
    for (name, at) in NAMES {
        let number = |at| array_at(&bytes, at).map(u64::from_le_bytes).unwrap_or_default();
        let start = number(at);
        let end = start.saturating_add(number(at.saturating_add(8)));
        found.add(Section::new(name, start..end), head.len)?;
    }
    Ok(found)
}

/// The length of the header in bytes.
const HEADER: u64 = 128;

/// The names of the sections, each with the position of its offset and size in the header.
const NAMES: [(&str, usize); 4] =
    [("modules", 16), ("sequence", 32), ("resources", 48), ("constants", 64)];
