//! The modules of instructions, from the graphs of an ETRecord.

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::RecordedModules;
use super::handles::Handles;
use super::read::{handle_map, parse};
use crate::exported::{ExportedProgram, Node};
use pte_core::handle::ReadVec;
use pte_core::payload::{Sections, Unreadable};
use pte_core::{ForeignFormat, OpenError, Source};
use pte_flat::cost;

impl RecordedModules {
    /// Reads the modules from an ETRecord. One without a map of handles has none.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short. The inner error describes an
    /// invalid record, or another file.
    pub fn read<S: Source>(source: &S) -> Result<Result<Self, Unreadable>, OpenError<S::Error>> {
        let len = source.size().map_err(OpenError::Source)?;
        let head = source.read_vec(0..len.min(ForeignFormat::HEAD))?;
        let format = source.format(&head, len)?;
        if format != ForeignFormat::EtRecord {
            return Ok(Err(Unreadable::Package { at: 0, why: "the file is not an ETRecord" }));
        }
        let sections = match Sections::of_file(format, len, |range| source.read_vec(range))? {
            Some(Err(why)) => return Ok(Err(why)),
            Some(Ok(sections)) => sections,
            None => Sections::default(),
        };
        let handles = match handle_map(source, &sections)? {
            None => return Ok(Ok(Self::default())),
            Some(Err(why)) => return Ok(Err(why)),
            Some(Ok(handles)) => handles,
        };
        let mut methods = BTreeMap::new();
        for (method, graph) in sections.recorded_graphs() {
            cost::look_up(method, handles.len());
            let Some(handles) = handles.get(method) else { continue };
            match parse::<ExportedProgram, S>(source, graph)? {
                Err(why) => return Ok(Err(why)),
                Ok(program) => methods.insert(method.into(), modules(&program, handles)),
            };
        }
        Ok(Ok(Self(methods)))
    }
}

/// Returns the module of each instruction: what the modules of its handles have in common.
fn modules(
    program: &ExportedProgram,
    instructions: &BTreeMap<u32, Handles>,
) -> BTreeMap<u32, String> {
    let mut by_handle: BTreeMap<u64, &str> = BTreeMap::new();
    for Node { metadata, .. } in &program.graph_module.graph.nodes {
        if let (Some(handle), Some(module)) = (metadata.handle(), metadata.module()) {
            cost::look_up("", by_handle.len());
            let known = by_handle.entry(handle).or_insert(module);
            *known = common_module(known, module);
        }
    }
    let module = |handle: &u64| {
        cost::look_up("", by_handle.len());
        by_handle.get(handle).copied()
    };
    let modules = instructions.iter().filter_map(|(instruction, handles)| {
        let common = handles.all().iter().filter_map(module).reduce(common_module)?;
        Some((*instruction, common.into()))
    });
    modules.collect()
}

/// Returns what the dotted names of two modules have in common, as a part of `one`.
fn common_module<'a>(one: &'a str, other: &str) -> &'a str {
    let parts = one.split('.').zip(other.split('.')).take_while(|(one, other)| one == other);
    let end =
        parts.fold(0_usize, |end, (part, _)| end.saturating_add(part.len()).saturating_add(1));
    one.get(..end.saturating_sub(1)).unwrap_or_default()
}
