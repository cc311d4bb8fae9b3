//! Reads the modules from the JSON in an ETRecord.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::RecordedModules;
use pte_core::handle::ReadVec;
use pte_core::payload::{Section, Sections, Unreadable};
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
        let Some(map) = sections.sections.iter().find(|of| of.name == "debug_handle_map") else {
            return Ok(Ok(Self::default()));
        };
        let handles: BTreeMap<String, BTreeMap<u32, Handles>> = match parse(source, map)? {
            Err(why) => return Ok(Err(why)),
            Ok(handles) => handles,
        };
        let mut methods = BTreeMap::new();
        for (method, graph) in sections.recorded_graphs() {
            cost::look_up(method, handles.len());
            let Some(handles) = handles.get(method) else { continue };
            match parse::<Program, S>(source, graph)? {
                Err(why) => return Ok(Err(why)),
                Ok(program) => methods.insert(method.into(), program.modules(handles)),
            };
        }
        Ok(Ok(Self(methods)))
    }
}

/// Reads a member as JSON.
fn parse<T: DeserializeOwned, S: Source>(
    source: &S,
    member: &Section,
) -> Result<Result<T, Unreadable>, OpenError<S::Error>> {
    let bytes = source.read_vec(member.range.clone())?;
    let why = "a member does not have the JSON of its writer";
    let invalid = |_| Unreadable::Package { at: member.range.start, why };
    Ok(serde_json::from_slice(&bytes).map_err(invalid))
}

/// The debug handles of an instruction.
#[derive(Deserialize)]
#[serde(untagged)]
enum Handles {
    One(u64),
    Several(Vec<u64>),
}

impl Handles {
    fn all(&self) -> &[u64] {
        match self {
            Self::One(one) => core::slice::from_ref(one),
            Self::Several(all) => all,
        }
    }
}

/// What is read of an exported program. All other fields are skipped.
#[derive(Deserialize)]
struct Program {
    graph_module: GraphModule,
}

#[derive(Deserialize)]
struct GraphModule {
    graph: Graph,
}

#[derive(Deserialize)]
struct Graph {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    /// A number as text.
    #[serde(default)]
    debug_handle: Option<String>,
    /// From the outermost module inwards, separated by semicolons: key, dotted name and class.
    #[serde(default)]
    nn_module_stack: Option<String>,
}

impl Metadata {
    fn handle(&self) -> Option<u64> {
        self.debug_handle.as_deref()?.parse().ok()
    }

    /// Returns the dotted name of the innermost module.
    fn module(&self) -> Option<&str> {
        self.nn_module_stack.as_deref()?.rsplit(';').next()?.split(',').nth(1)
    }
}

impl Program {
    /// Returns the module of each instruction: what the modules of its handles have in common.
    fn modules(&self, instructions: &BTreeMap<u32, Handles>) -> BTreeMap<u32, String> {
        let mut by_handle: BTreeMap<u64, &str> = BTreeMap::new();
        for Node { metadata } in &self.graph_module.graph.nodes {
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
}

/// Returns what the dotted names of two modules have in common, as a part of `one`.
fn common_module<'a>(one: &'a str, other: &str) -> &'a str {
    let parts = one.split('.').zip(other.split('.')).take_while(|(one, other)| one == other);
    let end =
        parts.fold(0_usize, |end, (part, _)| end.saturating_add(part.len()).saturating_add(1));
    one.get(..end.saturating_sub(1)).unwrap_or_default()
}
