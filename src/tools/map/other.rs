//! Maps of other standalone files: payloads, bundled programs, profiles and ETRecords.

use core::ops::Range;

use alloc::vec::Vec;

use super::claims::Claims;
use super::paths::Precision;
use super::payload::{GRAPH, SECTIONS, TABLE_OF_CONTENTS};
use super::tables::Pass;
use super::{Map, ROOT, SizeTree, User, payload};
use pte_core::file::HeaderField;
use pte_core::handle::ReadVec;
use pte_core::payload::{
    Bundle, Graph, Layout, PayloadContents, Section, Sections, Tables, TablesPlace, Unreadable,
};
use pte_core::{Backend, ForeignFormat, Limits, OpenError, Source};
use pte_flat::bytes::wide;
use pte_flat::quoted::UntrustedString;
use pte_schema::bundled_program::view::{Value, ValueUnion};

/// A file that is neither a program nor named data: a delegate's payload, a `.ptn` package, a bundled program,
/// a profile, or an ETRecord.
///
/// Its header and its tables are read; constants and sections are not.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use pte::Limits;
/// use pte::map::OtherFile;
///
/// # let profile: &[u8] = include_bytes!("../../../tests/data/other/mlp.etdp");
/// let file = OtherFile::read(&profile, &Limits::UNTRUSTED)?.ok_or("a .pte or .ptd")??;
/// assert_eq!(file.map().root().bytes(), profile.len() as u64);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OtherFile {
    layout: Layout,
    format: ForeignFormat,
    /// The data that a payload's graph uses.
    contents: Option<PayloadContents>,
    /// The range of the program in a bundled program.
    program: Option<Range<u64>>,
}

impl OtherFile {
    /// Reads the header and the tables of a file. Returns `None` for a program, for named data, and
    /// for a file of an unknown kind.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short. The inner
    /// error describes an invalid file.
    pub fn read<S: Source>(
        source: &S,
        limits: &Limits,
    ) -> Result<Option<Result<Self, Unreadable>>, OpenError<S::Error>> {
        let len = source.size().map_err(OpenError::Source)?;
        let head = source.read_vec(0..len.min(ForeignFormat::HEAD))?;
        let format = source.format(&head, len)?;
        let backend = match format {
            ForeignFormat::Payload(backend) => Some(backend),
            ForeignFormat::Ptn => Some(Backend::Native),
            ForeignFormat::BundledProgram(_) | ForeignFormat::EtDump | ForeignFormat::EtRecord => {
                None
            }
            _ => return Ok(None),
        };
        let layout = Layout::new(len, backend, limits);
        let mut file = Self { layout, format, contents: None, program: None };
        let place = match TablesPlace::of(&head, len).transpose() {
            Ok(place) => place,
            Err(why) => return Ok(Some(Err(why))),
        };
        let has_tables = place.is_some();
        if let Some(place) = place {
            let region = source.read_vec(place.range.clone())?;
            if let Err(why) = file.read_tables(&head, (place, region), limits) {
                return Ok(Some(Err(why)));
            }
        }
        match Sections::of_file(format, len, |range| source.read_vec(range))? {
            Some(Ok(found)) => {
                (file.layout.directory, file.layout.headers) = (found.directory, found.headers);
                file.layout.add_sections(found.sections);
            }
            Some(Err(why)) => return Ok(Some(Err(why))),
            None => {}
        }
        if let Some(backend) = backend.filter(|_| !has_tables) {
            file.contents =
                PayloadContents::of_model(backend, len, |range| source.read_vec(range), limits)?;
        }
        if !has_tables && !file.is_archive() {
            file.layout.end_header_at_sections();
        }
        Ok(Some(Ok(file)))
    }

    /// Proves the tables, and finds the data that they refer to.
    fn read_tables(
        &mut self,
        head: &[u8],
        (place, region): (TablesPlace, Vec<u8>),
        limits: &Limits,
    ) -> Result<(), Unreadable> {
        let tables = Tables::read(&place, &region, limits)?;
        if tables.as_bundled_program().is_some() {
            self.program = Bundle::read(&region, limits)?.program();
        }
        let len = self.layout.len;
        // The data of a package is not in it, but in its archive.
        if let Some(backend) = self.layout.backend.filter(|_| !self.is_archive())
            && let Some(graph) = Graph::at(backend, &place, (head, len), &region, limits)?
        {
            let contents = PayloadContents::of_file(backend, len, &place, &graph);
            self.contents = Some(contents);
        }
        self.layout.add_tables(head, (place, region), self.is_archive())
    }

    /// Returns the length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.layout.len
    }

    /// Returns the range of the tables in the file. It is empty for a payload without known tables.
    pub fn region_range(&self) -> Range<u64> {
        self.layout.region_range()
    }

    /// Returns whether the file is a bundled program.
    pub fn is_bundle(&self) -> bool {
        self.program.is_some()
    }

    /// Returns the range of the program, if the file is a bundled program.
    pub fn program(&self) -> Option<Range<u64>> {
        self.program.clone()
    }

    /// Returns the data that the graph uses, if the file is a payload with known tables.
    pub fn contents(&self) -> Option<&PayloadContents> {
        self.contents.as_ref()
    }

    /// Returns the sections that a payload's header lists, or the members of an archive.
    pub fn sections(&self) -> &[Section] {
        &self.layout.sections
    }

    /// Returns whether the file is a ZIP archive.
    fn is_archive(&self) -> bool {
        matches!(self.format, ForeignFormat::Ptn | ForeignFormat::EtRecord)
    }

    /// Returns whether the file is a payload of Core ML, whose table of contents is behind its files.
    fn is_core_ml(&self) -> bool {
        self.layout.backend == Some(Backend::CoreMl)
    }

    /// Attributes every byte of the file, as [`Map::of`] does.
    pub fn map(&self) -> Map<'_> {
        self.claims(Precision::Parts).finish()
    }

    /// Attributes every byte of the file, with the first million tables, vtables, vectors and strings, as
    /// [`Map::in_detail`] does.
    pub fn map_in_detail(&self) -> Map<'_> {
        self.claims(Precision::Objects).finish()
    }

    /// Returns the size tree of the file, as [`SizeTree::try_of`] does.
    ///
    /// # Errors
    ///
    /// The first error of `charge`.
    pub fn sizes<E>(
        &self,
        path: impl Into<UntrustedString>,
        charge: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<SizeTree, E> {
        SizeTree::of_map(path, &self.map(), charge)
    }

    pub(super) fn claims(&self, precision: Precision) -> Claims<'_, '_> {
        let layout = &self.layout;
        let mut claims = Claims::bare(
            layout.len,
            (self.region_range(), &layout.region),
            (layout.header_end, layout.header_apart),
            precision,
        );
        claims.headers();
        if let Some(contents) = &self.contents {
            // A payload that is a standalone file has no method.
            claims.constants(contents, (None, 0));
        }
        if let Some(program) = &self.program {
            let node = claims.child(ROOT, "program");
            claims.claim(program.clone(), node);
        }
        if let Some(tables) = layout.tables() {
            if let Some(bundle) = tables.as_bundled_program() {
                for suite in bundle.method_test_suites().into_iter().flatten() {
                    let cases = || suite.test_cases().into_iter().flatten();
                    let (inputs, outputs) = ("test inputs", "expected outputs");
                    let method = suite.method_name();
                    let values = cases().filter_map(|case| case.inputs());
                    claims.test_data(inputs, method, values.flatten());
                    let values = cases().filter_map(|case| case.expected_outputs());
                    claims.test_data(outputs, method, values.flatten());
                }
            }
            let schema = tables.schema();
            Pass::of_file(&mut claims).raw_root(tables.root(), schema.root, self.root_name());
        }
        // The graph of a package is not a section: it is shown as tables.
        let is_apart = |section: &&Section| section.range != self.region_range();
        for section in layout.filled_sections().filter(is_apart) {
            let parent = claims.child(ROOT, SECTIONS);
            let mut node = claims.child(parent, section.name);
            let file = section.file.as_deref().filter(|file| *file != section.name);
            if file.is_some() && (self.format == ForeignFormat::EtRecord || self.is_core_ml()) {
                node = claims.user_node(node, User::Key(file));
            }
            claims.claim(section.range.clone(), node);
            claims.segments_end = claims.segments_end.max(section.range.end);
        }
        if let Some(range) = layout.table_of_contents() {
            let node = claims.child(ROOT, TABLE_OF_CONTENTS);
            claims.segments_end = range.end;
            claims.claim(range, node);
        }
        claims.rest_of_constants(layout.constants.clone());
        claims.segments_end = claims.segments_end.max(layout.constants.end);
        if let Some(directory) = layout.directory {
            let (headers, rest) =
                (claims.child(ROOT, MEMBERS), claims.child(ROOT, "zip directory"));
            claims.claim(0..directory, headers);
            claims.claim(directory..layout.len, rest);
        }
        if layout.place.is_none() && layout.filled_sections().next().is_none() {
            let node = claims.child(ROOT, "contents");
            claims.claim(0..layout.len, node);
        }
        claims
    }

    /// Returns the first component of paths into the tables.
    fn root_name(&self) -> &'static str {
        match self.layout.backend {
            Some(_) => GRAPH,
            None if self.program.is_some() => "bundled_program",
            None => "etdump",
        }
    }

    /// Returns the fields of the header at `offset`, and the offset of the first one. The tables of a
    /// package, in its first member, begin with a header of their own: `piece` is the range around
    /// the byte.
    pub(super) fn header_fields(
        &self,
        offset: u64,
        piece: &Range<u64>,
    ) -> (Vec<&'static [HeaderField]>, u64) {
        let is_of_tables = self.layout.place.is_some() && piece.start == self.region_range().start;
        if !self.is_archive() || is_of_tables {
            return payload::header_fields(&self.layout, offset);
        }
        let headers = &self.layout.headers;
        let nth = headers.partition_point(|&start| start <= offset).checked_sub(1);
        let start = nth.and_then(|nth| headers.get(nth)).copied();
        (Vec::from([ZIP]), start.unwrap_or(piece.start))
    }
}

impl<'a> Claims<'a, '_> {
    /// Claims the data of the tensors in a method's test cases.
    fn test_data(
        &mut self,
        part: &'static str,
        method: Option<&'a str>,
        values: impl Iterator<Item = Value<'a>>,
    ) {
        let parent = self.child(ROOT, part);
        let node = self.user_node(parent, User::Key(method));
        for value in values {
            let Some(ValueUnion::Tensor(tensor)) = value.val() else { continue };
            let Some(data) = tensor.data() else { continue };
            let start = self.region_range.start.saturating_add(data.pos().into());
            self.claim(start..start.saturating_add(wide(data.len())), node);
        }
    }
}

/// The part with the headers of an archive's members.
pub(super) const MEMBERS: &str = "member headers";

/// The header of a member of an archive.
const ZIP: &[HeaderField] = &[
    ("signature", 4),
    ("version", 2),
    ("flags", 2),
    ("method", 2),
    ("time", 2),
    ("date", 2),
    ("CRC-32", 4),
    ("packed size", 4),
    ("size", 4),
    ("length of the name", 2),
    ("length of extra fields", 2),
];
