//! The parts of a payload whose layout is known: its header, tables, constants and sections.

use alloc::vec::Vec;
use core::ops::Range;

use super::Unreadable;
use super::flatbuffer::FlatBufferFormat;
use super::sections::Section;
use super::tables::{Tables, TablesPlace};
use crate::backend::Backend;
use crate::file::HeaderField;
use crate::limits::Limits;

/// The parts of a payload, or of another file with tables. All ranges are relative to its start.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The length in bytes.
    pub len: u64,
    /// The backend; `None` if this is not a payload.
    pub backend: Option<Backend>,
    /// The place of the tables, whose structure is proven; `None` if there are none.
    pub place: Option<TablesPlace>,
    /// The bytes of the tables.
    pub region: Vec<u8>,
    /// The fields of the header in front of the tables, from its magic on.
    pub header: &'static [HeaderField],
    /// The end of the header.
    pub header_end: u64,
    /// The length of the root offset and the identifier, if the tables begin after the header.
    pub header_apart: Option<u64>,
    /// The range that holds all constants of the payload.
    pub constants: Range<u64>,
    /// The sections, in the order of the header or of the archive.
    pub sections: Vec<Section>,
    /// The start of the central directory of an archive.
    pub directory: Option<u64>,
    /// The starts of the headers of an archive's members, in order.
    pub headers: Vec<u64>,
    limits: Limits,
}

impl Layout {
    /// Returns the layout of a file of `len` bytes of which no part is known yet.
    pub fn new(len: u64, backend: Option<Backend>, limits: &Limits) -> Self {
        Self {
            len,
            backend,
            place: None,
            region: Vec::new(),
            header: &[],
            header_end: 0,
            header_apart: None,
            constants: 0..0,
            sections: Vec::new(),
            directory: None,
            headers: Vec::new(),
            limits: *limits,
        }
    }

    /// Adds the tables at `place` with the bytes `region`, whose structure is proven. `head` begins
    /// the file. In an archive, the headers of members are not a part of the tables.
    pub fn add_tables(
        &mut self,
        head: &[u8],
        (place, region): (TablesPlace, Vec<u8>),
        is_archive: bool,
    ) -> Result<(), Unreadable> {
        let (start, root) = (place.range.start, place.root_position());
        // The root offset and the identifier are in front of the tables.
        self.header_end = u64::from(root).saturating_add(place.root_length());
        let format = self.backend.filter(|_| !is_archive).and_then(FlatBufferFormat::of);
        if start > 0 {
            let length = format.map_or(0, FlatBufferFormat::header_length);
            self.header_end = start.min(length);
            self.header_apart = Some(place.root_length());
        }
        if let Some(format) = format {
            let parts = (format.parts)(head, self.len)?;
            self.header = format.header;
            self.constants = parts.constants;
            self.add_sections(parts.section);
        }
        (self.place, self.region) = (Some(place), region);
        Ok(())
    }

    /// Adds sections.
    pub fn add_sections(&mut self, sections: impl IntoIterator<Item = Section>) {
        self.sections.extend(sections);
    }

    /// Returns the sections that have bytes.
    pub fn filled_sections(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| !section.range.is_empty())
    }

    /// Returns the range of the table of contents, which a payload of Core ML has behind its files.
    pub fn table_of_contents(&self) -> Option<Range<u64>> {
        self.backend.filter(|backend| *backend == Backend::CoreMl)?;
        let end = self.sections.iter().map(|section| section.range.end).max();
        Some(end.unwrap_or_default()..self.len)
    }

    /// Sets the end of the header of a payload without tables: the start of its first section.
    pub fn end_header_at_sections(&mut self) {
        let first = self.filled_sections().map(|section| section.range.start).min();
        self.header_end = first.unwrap_or_default();
    }

    /// Returns the range of the tables. It is empty if there are none.
    pub fn region_range(&self) -> Range<u64> {
        self.place.as_ref().map_or(0..0, |place| place.range.clone())
    }

    /// Returns whether a position is in the header, or in the part of it in front of the tables.
    pub fn is_header(&self, at: u64) -> bool {
        let start = self.region_range().start;
        let apart = self.header_apart.unwrap_or_default();
        at < self.header_end || (start..start.saturating_add(apart)).contains(&at)
    }

    /// Returns the tables. Their structure was already proven when they were added.
    pub fn tables(&self) -> Option<Tables<'_>> {
        Tables::read(self.place.as_ref()?, &self.region, &self.limits).ok()
    }
}
