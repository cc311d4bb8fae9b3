//! Core ML's payloads: a file system in memory, or a reference to named data that has one. The
//! table of contents is JSON with its bytes reversed, at the end of the payload.
//!
//! Upstream is `backends/apple/coreml/runtime/inmemoryfs`. It does not check the indices of
//! children, nor compare the ranges of files with the payload.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use serde_json::Value;

use crate::backend::magic::CORE_ML_REFERENCE as REFERENCE;
use crate::payload::Unreadable;
use crate::payload::sections::{Head, Section, Sections};
use pte_flat::bytes::{index, narrow};

/// Finds the files. The contents of files are not read.
pub(in crate::payload) fn sections(head: &mut Head<'_>) -> Result<Sections, Unreadable> {
    let size = head.len.min(LARGEST);
    if head.read(0, 4.min(head.len))?.starts_with(&REFERENCE) {
        let bytes = head.read(0, size)?;
        let text = bytes.get(REFERENCE.len()..).unwrap_or_default();
        let reference = value(text).ok_or(Unreadable::Block { at: 4 })?;
        let mut section = Section::new("reference", 0..head.len);
        section.key = reference.get("key").and_then(Value::as_str).map(Into::into);
        section.file = reference.get("functionName").and_then(Value::as_str).map(Into::into);
        let version = reference.get("version").map(ToString::to_string);
        let mut found = Sections { version, ..Sections::default() };
        found.add(section, head.len)?;
        return Ok(found);
    }
    let start = head.len.saturating_sub(size);
    let mut reversed: Vec<u8> = head.read(start, size)?.to_vec();
    while reversed.pop_if(|last| *last == 0).is_some() {}
    let at = start.saturating_add(reversed.len().try_into().unwrap_or(u64::MAX));
    reversed.reverse();
    let contents = value(&reversed).ok_or(Unreadable::Block { at })?;
    let mut found = Sections::default();
    if has_odd_name(&contents) {
        let why = "a name that is not one component of a path";
        return Err(Unreadable::Package { at, why });
    }
    for (path, range) in files(&contents).ok_or(Unreadable::Block { at })? {
        let mut section = Section::new(NAME, range);
        section.file = Some(path);
        found.add(section, head.len)?;
    }
    let is_model = |section: &&Section| section.file.as_deref() == Some(MODEL);
    if let Some(Section { range: Range { start, end }, .. }) = found.sections.iter().find(is_model)
    {
        let bytes = head.read(*start, end.saturating_sub(*start).min(SPECIFICATION))?;
        found.version = specification(&bytes);
    }
    Ok(found)
}

/// Returns the version of a model's specification, and the oldest systems that have it. It is the first field.
fn specification(model: &[u8]) -> Option<String> {
    let version = model.strip_prefix(&[0x08])?.first().filter(|byte| **byte < 0x80)?;
    let system = usize::from(*version).checked_sub(1).and_then(|nth| SYSTEMS.get(nth));
    let since = system.map(|system| format!(" ({system})")).unwrap_or_default();
    Some(format!("specification {version}{since}"))
}

/// The oldest systems that read each version of the specification, from 1 on.
static SYSTEMS: [&str; 10] = [
    "iOS 11, macOS 10.13",
    "iOS 11.2, macOS 10.13.2",
    "iOS 12, macOS 10.14",
    "iOS 13, macOS 10.15",
    "iOS 14, macOS 11",
    "iOS 15, macOS 12",
    "iOS 16, macOS 13",
    "iOS 17, macOS 14",
    "iOS 18, macOS 15",
    "iOS 26, macOS 26",
];

/// The path of the model.
pub(in crate::payload) const MODEL: &str = "model.mlpackage/Data/com.apple.CoreML/model.mlmodel";

/// The number of bytes at the start of a model that have the version.
const SPECIFICATION: u64 = 2;

/// Returns the JSON value at the start of a text, which may continue after it.
fn value(text: &[u8]) -> Option<Value> {
    serde_json::Deserializer::from_slice(text).into_iter().next()?.ok()
}

/// Returns whether a node has a name that may lead out of its folder. The runtime writes each node below the name that
/// the node itself has, and finds it by the name that its folder has.
fn has_odd_name(contents: &Value) -> bool {
    let is_odd = |name: &str| matches!(name, "" | "." | "..") || name.contains(['/', '\\', '\0']);
    let nodes = contents.get("nodes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    nodes.iter().enumerate().any(|(nth, node)| {
        let children = node.get("children").and_then(Value::as_object).into_iter().flatten();
        // The root is the last node. It is not written.
        let is_root = nth.saturating_add(1) == nodes.len();
        let own = node.get("name").and_then(Value::as_str).filter(|_| !is_root);
        own.is_some_and(is_odd) || children.into_iter().any(|(name, _)| is_odd(name))
    })
}

/// Returns the paths and the ranges of files; `None` if the nodes are not a tree. In a tree, each
/// node comes before the only folder that contains it, and the last node is the root.
fn files(contents: &Value) -> Option<Vec<(String, Range<u64>)>> {
    let nodes = contents.get("nodes")?.as_array().filter(|nodes| nodes.len() <= MOST_NODES)?;
    let mut folders: Vec<Option<(u32, &str)>> = vec![None; nodes.len()];
    let mut used = BTreeSet::new();
    for (folder, node) in (0u32..).zip(nodes) {
        for (name, child) in node.get("children")?.as_object()? {
            let child = u32::try_from(child.as_u64()?).ok().filter(|&child| child < folder)?;
            *folders.get_mut(index(child))? =
                used.insert(child).then_some(Some((folder, name.as_str())))?;
        }
    }
    let mut files = Vec::new();
    for (nth, node) in (0u32..).zip(nodes) {
        if node.get("kind")?.as_u64()? != FILE {
            continue;
        }
        let region = node.get("dataRegion")?;
        let (start, size) = (region.get("offset")?.as_u64()?, region.get("size")?.as_u64()?);
        let (mut path, mut at) = (String::new(), nth);
        while let Some((folder, name)) = folders.get(index(at)).copied().flatten() {
            path = if path.is_empty() { name.into() } else { format!("{name}/{path}") };
            at = folder;
        }
        // Every file must be below the root.
        if at != narrow(nodes.len().checked_sub(1)?) {
            return None;
        }
        files.push((path, start..start.checked_add(size)?));
    }
    Some(files)
}

/// The name of a section that is a file.
pub(in crate::payload) const NAME: &str = "file";

/// The kind of a node that is a file.
const FILE: u64 = 0;

/// The longest table of contents that is read, in bytes. Genuine tables have a few thousand.
const LARGEST: u64 = 1 << 16;

/// The maximum number of nodes in a table of contents. It bounds the length of paths.
const MOST_NODES: usize = 256;
