//! The contents of payloads: their parts, the data that their graphs use, and constants with their
//! quantization and the nodes that read them. All are made from the graph's form.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::{Deref, Range};

use super::graph::{Data, DataPlace, Datatype, Detail, Graph, Quantization, Reader};
use super::layout::Layout;
use super::model::Model;
use super::place::{ConstantPlace, Key, NamedRanges};
use super::sections::Sections;
use super::tables::TablesPlace;
use crate::backend::Backend;
use crate::file::source::Source;
use crate::foreign::ForeignFormat;
use crate::handle::{File, Handle, OpenError, ReadVec};
use crate::limits::Limits;
use pte_flat::bytes::{index, len_of, wide};
use pte_flat::cost;

/// The contents of a payload whose layout is known.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PayloadContents {
    /// The backend.
    pub backend: Backend,
    /// The range of the payload in the file.
    pub range: Range<u64>,
    /// The range of the graph in the file. It is empty if the payload has no known tables.
    pub graph: Range<u64>,
    /// The constants of a graph, if they are known (docs/limits.md), in the order of the graph's values.
    pub constants: Vec<GraphConstant>,
    /// The data that a graph of another backend uses.
    pub uses: Vec<DataUse>,
    /// The parts of the payload, with the bytes of its tables, if they were requested.
    pub layout: Option<Layout>,
}

/// A value of a graph whose bytes are in a file: a constant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GraphConstant {
    /// The id of the value.
    pub value: u32,
    /// The name, if the graph has names.
    pub name: Option<Key>,
    /// The datatype.
    pub datatype: Datatype,
    /// The size of each dimension, outermost first: at most six, the maximum of the backend.
    pub dims: Vec<u32>,
    /// The place of the bytes.
    pub data: ConstantPlace,
    /// The quantization; `None` if the value has none.
    pub quantization: Option<Quantization>,
    /// The first node that reads the value; `None` if no node reads it.
    pub reader: Option<Reader>,
}

/// The use of data by a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataUse {
    /// The place of the data.
    pub place: ConstantPlace,
    /// The index of the graph's value with the data; `None` if values have no indices, or if the
    /// data belongs to no value, such as a shader.
    pub value: Option<u32>,
    /// The index of the first node that uses the value, in the order of
    /// [`Graph::operators`](super::Graph::operators); `None` if it is not known.
    pub node: Option<u32>,
}

impl PayloadContents {
    /// Returns the contents of a program's payloads with known tables. A payload that several
    /// delegates of a backend share appears once. Payloads of other backends are left out, and so are payloads
    /// that cannot be read. If graphs overlap, the last payloads are left out when all graphs
    /// together would exceed the file's length.
    ///
    /// Only headers and graphs are read, no constants.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
    pub fn all<S: Source>(
        handle: &Handle<S>,
        limits: &Limits,
    ) -> Result<Vec<Self>, OpenError<S::Error>> {
        Self::read_all(handle, limits, false)
    }

    /// Returns the contents as [`all`](Self::all) does, with the parts of each payload: its tables,
    /// or the sections that its header lists. A `Map` breaks such payloads down.
    ///
    /// The bytes of all graphs are kept in memory.
    pub fn all_with_parts<S: Source>(
        handle: &Handle<S>,
        limits: &Limits,
    ) -> Result<Vec<Self>, OpenError<S::Error>> {
        Self::read_all(handle, limits, true)
    }

    fn read_all<S: Source>(
        handle: &Handle<S>,
        limits: &Limits,
        has_parts: bool,
    ) -> Result<Vec<Self>, OpenError<S::Error>> {
        let File::Pte(pte) = handle.file() else { return Ok(Vec::new()) };
        let mut named = NamedRanges::new();
        for (key, range) in pte.named_data() {
            if let (Some(key), Ok(range)) = (key, range) {
                cost::look_up(key, named.len());
                // If keys are equal, runtimes use the first entry.
                named.entry(key).or_insert(range);
            }
        }
        let mut all = Vec::new();
        let mut budget = limits.bytes_visited(pte.file_len());
        // Payloads may overlap, and data of each one is kept.
        let mut left = pte.file_len();
        let mut sections_left = pte.file_len() / BYTES_PER_SECTION;
        for payload in pte.distinct_payloads() {
            let (range, len) = (payload.range(), payload.len());
            let Some(backend) = payload.backend() else { continue };
            let mut read = |part: Range<u64>| {
                let size = len_of(&part);
                let Some(rest) = budget.checked_sub(size) else { return Ok(None) };
                budget = rest;
                let start = range.start.saturating_add(part.start);
                handle.source().read_vec(start..start.saturating_add(size)).map(Some)
            };
            let mut layout = Layout::new(len, Some(backend), limits);
            if !TablesPlace::is_known(backend) {
                let graph = range.start..range.start;
                let mut contents = Self::empty(backend, range.clone());
                if let Some(model) = Model::of(backend) {
                    model.with(len, &mut read, limits, |found| {
                        let Ok(Some(found)) = found else { return };
                        let Some(rest) = left.checked_sub(len) else { return };
                        left = rest;
                        contents = Self::of(backend, range.clone(), graph, &found, &named);
                    })?;
                }
                if has_parts {
                    let read = |part| read(part).map(Option::unwrap_or_default);
                    let found = Sections::of(backend, len, read)?;
                    let Some(Ok(found)) = found else { continue };
                    let count = wide(found.sections.len()).saturating_add(1);
                    let Some(rest) = sections_left.checked_sub(count) else { continue };
                    sections_left = rest;
                    layout.add_sections(found.sections);
                    layout.end_header_at_sections();
                    contents.layout = Some(layout);
                } else if contents.constants.is_empty() && contents.uses.is_empty() {
                    continue;
                }
                all.push(contents);
                continue;
            }
            let Some(head) = read(0..len.min(ForeignFormat::HEAD))? else { continue };
            let Some(Ok(place)) = TablesPlace::of_payload(backend, &head, len) else { continue };
            let Some(bytes) = read(place.range.clone())? else { continue };
            let mut contents = match Graph::at(backend, &place, (&head, len), &bytes, limits) {
                Ok(Some(graph)) => {
                    let size = len_of(&place.range);
                    let Some(rest) = left.checked_sub(size) else { continue };
                    left = rest;
                    let at = |pos: u64| range.start.saturating_add(pos);
                    let tables = at(place.range.start)..at(place.range.end);
                    Self::of(backend, range.clone(), tables, &graph, &named)
                }
                _ => continue,
            };
            if has_parts && layout.add_tables(&head, (place, bytes), false).is_ok() {
                contents.layout = Some(layout);
            }
            all.push(contents);
        }
        Ok(all)
    }

    /// Returns the contents of a payload that is a standalone file of `len` bytes, with its tables at `place`.
    pub fn of_file(backend: Backend, len: u64, place: &TablesPlace, graph: &Graph<'_>) -> Self {
        Self::of(backend, 0..len, place.range.clone(), graph, &NamedRanges::new())
    }

    /// Returns the contents of a payload without known tables that is a standalone file of `len` bytes; `None` if it
    /// has no known graph.
    ///
    /// # Errors
    ///
    /// The errors of `read`.
    pub fn of_model<B: Deref<Target = [u8]>, E>(
        backend: Backend,
        len: u64,
        mut read: impl FnMut(Range<u64>) -> Result<B, E>,
        limits: &Limits,
    ) -> Result<Option<Self>, E> {
        let Some(model) = Model::of(backend) else { return Ok(None) };
        let mut contents = None;
        model.with(
            len,
            |range| read(range).map(Some),
            limits,
            |found| {
                let graph = found.ok().flatten();
                contents =
                    graph.map(|graph| Self::of(backend, 0..len, 0..0, &graph, &NamedRanges::new()));
            },
        )?;
        Ok(contents)
    }

    /// Returns the contents of a payload without known tables.
    fn empty(backend: Backend, range: Range<u64>) -> Self {
        let graph = range.start..range.start;
        Self { backend, range, graph, constants: Vec::new(), uses: Vec::new(), layout: None }
    }

    /// Returns the contents of a payload. `tables` is the range of its tables in the file.
    fn of(
        backend: Backend,
        range: Range<u64>,
        tables: Range<u64>,
        graph: &Graph<'_>,
        named: &NamedRanges<'_>,
    ) -> Self {
        let mut places =
            Places { data: &graph.data, named, start: range.start, keys: BTreeMap::new() };
        let readers = graph.readers();
        let (mut constants, mut uses) = (Vec::new(), Vec::new());
        if graph.detail >= Detail::Constants {
            let values =
                graph.used_values().filter_map(|value| Some((value, graph.data_of(value)?)));
            constants.extend(values.map(|(value, data)| {
                GraphConstant {
                    value: value.id,
                    name: graph.name_of(value).map(Key::from),
                    datatype: value.datatype,
                    dims: value.dims().to_vec(),
                    data: places.of(data),
                    quantization: graph
                        .quantization_of(value)
                        .map(|quantization| quantization.of.with_places(|&nth| places.nth(nth))),
                    reader: readers.get(value.id),
                }
            }));
        } else {
            uses.extend(graph.data.iter().map(|data| {
                let value = data.value.filter(|_| graph.detail == Detail::Values);
                let node = value.and_then(|value| readers.get(value)).map(|reader| reader.node);
                DataUse { place: places.of(data), value, node }
            }));
        }
        Self { backend, range, graph: tables, constants, uses, layout: None }
    }
}

impl GraphConstant {
    /// Returns the number of the constant's bytes; `None` if the payload has no such constant.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.data.bytes()
    }
}

/// Finds data in the file. It keeps each key once, since small files may have many constants with one long
/// key.
struct Places<'g, 'p> {
    data: &'g [Data<'p>],
    named: &'g NamedRanges<'g>,
    /// The start of the payload in the file.
    start: u64,
    /// Each key and its data, by the position and length of the key in memory.
    keys: BTreeMap<(usize, usize), NamedPlace>,
}

/// A key, and the range of its data; `None` if the file does not have the data.
type NamedPlace = (Key, Option<Range<u64>>);

/// The number of bytes of a file for each section that is kept. Headers may overlap, and a section
/// needs memory.
const BYTES_PER_SECTION: u64 = 64;

impl Places<'_, '_> {
    fn nth(&mut self, nth: u32) -> ConstantPlace {
        self.data.get(index(nth)).map_or(ConstantPlace::Nowhere, |data| self.of(data))
    }

    fn of(&mut self, data: &Data<'_>) -> ConstantPlace {
        let at = |pos: u64| self.start.saturating_add(pos);
        match data.place {
            DataPlace::Payload(Range { start, end }) => ConstantPlace::Payload(at(start)..at(end)),
            DataPlace::Named { key, size } => {
                cost::look_up("", self.keys.len());
                let known =
                    self.keys.entry((key.as_ptr().addr(), key.len())).or_insert_with(|| {
                        cost::look_up(key, self.named.len());
                        (Key::from(key), self.named.get(key).cloned())
                    });
                let (key, range) = known.clone();
                let in_file = range.as_ref().map(len_of);
                let size = if size == 0 { in_file.unwrap_or_default() } else { size };
                ConstantPlace::Named { key, size, range }
            }
            DataPlace::Nowhere => ConstantPlace::Nowhere,
        }
    }
}
