//! Payloads with a header of a few numbers, followed by a vendor's binary.

use alloc::string::{String, ToString};

use super::Unreadable;
use super::sections::{Head, Section, Sections, magic};
use crate::backend;
use pte_flat::bytes::{array_at, u32_at};

/// Finds the sections of a payload of MediaTek's Neuropilot. The layout: a byte 1, the numbers of
/// inputs and outputs, the size of the model, and the model.
pub(super) fn neuropilot(head: &mut Head<'_>) -> Result<Sections, Unreadable> {
    let bytes = head.read(0, NEUROPILOT)?;
    let version = bytes.first().copied().unwrap_or_default();
    if version != 1 {
        return Err(magic(&bytes));
    }
    let size = u64::from(u32_at(&bytes, 9).unwrap_or_default());
    let mut found = Sections { version: Some("1".into()), ..Sections::default() };
    found.add(Section::new("model", NEUROPILOT..NEUROPILOT.saturating_add(size)), head.len)?;
    Ok(found)
}

/// Finds the sections of a payload of NXP's Neutron. The layout: the numbers of inputs, outputs and
/// arguments, a format and an index for each input and output, and the version. The microcode, the
/// weights and the kernels follow, each at a multiple of 16.
pub(super) fn neutron(head: &mut Head<'_>) -> Result<Sections, Unreadable> {
    let counts = head.read(0, 3)?;
    let count = |nth: usize| u64::from(counts.get(nth).copied().unwrap_or_default());
    let at = count(0).saturating_add(count(1)).saturating_mul(2).saturating_add(3);
    let version = head.read(at, 1)?.first().map(ToString::to_string);
    let start = at.saturating_add(1).next_multiple_of(ALIGNMENT);
    let code = head.read(start, MICROCODE)?;
    if u32_at(&code, 0) != Some(NEUTRON) {
        return Err(magic(&code));
    }
    let size = |at| u64::from(u32_at(&code, at).unwrap_or_default());
    let mut found = Sections { version, ..Sections::default() };
    let microcode = start..start.saturating_add(size(24));
    let weights = microcode.end.next_multiple_of(ALIGNMENT);
    let weights = weights..weights.saturating_add(size(28));
    let kernels = weights.end.next_multiple_of(ALIGNMENT);
    found.add(Section::new("microcode", microcode), head.len)?;
    found.add(Section::new("weights", weights), head.len)?;
    if kernels < head.len {
        found.add(Section::new("kernels", kernels..head.len), head.len)?;
    }
    Ok(found)
}

/// Finds the sections of a payload of Metal Performance Shaders. The layout: four zeros, the magic,
/// the offset and size of the constants, the graph, and the constants. Without this header, the
/// whole payload is the graph.
pub(super) fn mps(head: &mut Head<'_>) -> Result<Sections, Unreadable> {
    let bytes = head.read(0, MPS.min(head.len))?;
    if array_at(&bytes, 4) != Some(backend::magic::MPS) {
        let magic = array_at(&bytes, 4).unwrap_or_default();
        return Err(Unreadable::Magic { magic });
    }
    let mut found = Sections::default();
    // In a graph without a header, these bytes are the offset of its root.
    if u32_at(&bytes, 0) != Some(0) {
        found.add(Section::new("graph", 0..head.len), head.len)?;
        return Ok(found);
    }
    let bytes = head.read(0, MPS)?;
    let number = |at| array_at(&bytes, at).map(u64::from_le_bytes).unwrap_or_default();
    let (start, size) = (number(8), number(16));
    found.add(Section::new("graph", MPS..start), head.len)?;
    found.add(Section::new("constants", start..start.saturating_add(size)), head.len)?;
    Ok(found)
}

/// Finds the sections of a payload of AOTInductor: two keys of named data, one in each line, for
/// the shared object and for the weights. An empty payload has no sections: releases before 1.4
/// derive the keys from the method's name.
pub(super) fn aot_inductor(head: &mut Head<'_>) -> Result<Sections, Unreadable> {
    let mut found = Sections::default();
    if head.len == 0 {
        return Ok(found);
    }
    let bytes = head.read(0, head.len.min(LONGEST_KEYS))?;
    let text = core::str::from_utf8(&bytes).ok().filter(|_| head.len <= LONGEST_KEYS);
    let Some((object, weights)) = text.and_then(|text| text.split_once('\n')) else {
        return Err(magic(&bytes));
    };
    let mut start = 0u64;
    for (name, key) in [("shared object", object), ("weights", weights)] {
        let end = start.saturating_add(u64::try_from(key.len()).unwrap_or(u64::MAX));
        let mut section = Section::new(name, start..end);
        section.key = Some(String::from(key));
        found.add(section, head.len)?;
        start = end.saturating_add(1);
    }
    Ok(found)
}

/// The length of Neuropilot's header in bytes.
const NEUROPILOT: u64 = 13;

/// The magic of Neutron's microcode, and the number of bytes that hold the magic and the sizes.
const NEUTRON: u32 = 0x6443_4d6e;
const MICROCODE: u64 = 32;
const ALIGNMENT: u64 = 16;

/// The length of the header of Metal Performance Shaders in bytes.
const MPS: u64 = 24;

/// The maximum length of AOTInductor's two keys in bytes. Genuine keys have about 150.
const LONGEST_KEYS: u64 = 4096;
