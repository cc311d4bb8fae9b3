//! Maps of other standalone files: payloads, bundled programs, profiles and ETRecords.

use core::ops::Range;

use alloc::vec::Vec;

use super::claims::{Claims, PADDING};
use super::paths::Detail;
use super::role::STANDARD;
use super::tables::Pass;
use super::{Label, Map, ROOT, SizeTree, User, narrow};
use crate::backend::Backend;
use crate::bytes::wide;
use crate::file::HeaderField;
use crate::file::source::Source;
use crate::foreign::ForeignFormat;
use crate::handle::{OpenError, ReadVec};
use crate::limits::Limits;
use crate::payload::mlx::{MlxHeader, MlxParts};
use crate::payload::vulkan::VulkanHeader;
use crate::payload::xnnpack::{XnnpackHeader, XnnpackParts};
use crate::payload::{
    Bundle, ConstantPlace, Graph, PayloadContents, Section, Sections, Tables, TablesPlace,
    Unreadable,
};
use crate::quoted::UntrustedString;
use crate::schema::bundled_program::view::{Value, ValueUnion};

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
/// # let profile: &[u8] = include_bytes!("../../tests/data/other/mlp.etdp");
/// let file = OtherFile::read(&profile, &Limits::UNTRUSTED)?.ok_or("a .pte or .ptd")??;
/// assert_eq!(file.map().root().bytes(), profile.len() as u64);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OtherFile {
    len: u64,
    format: ForeignFormat,
    backend: Option<Backend>,
    /// The place of the tables, whose structure is proven.
    place: Option<TablesPlace>,
    /// The bytes of the tables.
    region: Vec<u8>,
    limits: Limits,
    /// The end of the header.
    header_end: u64,
    /// The length of the root offset and the identifier, if the tables begin after the header.
    header_apart: Option<u64>,
    /// The constants of a payload of XNNPACK.
    contents: Option<PayloadContents>,
    /// The range that holds all constants of the payload.
    constants: Range<u64>,
    /// The sections, in the order of the header or of the archive.
    sections: Vec<Section>,
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
        let mut file = Self {
            len,
            format,
            backend,
            place: None,
            region: Vec::new(),
            limits: *limits,
            header_end: 0,
            header_apart: None,
            contents: None,
            constants: 0..0,
            sections: Vec::new(),
            program: None,
        };
        let place = match TablesPlace::of(&head, len).transpose() {
            Ok(place) => place,
            Err(why) => return Ok(Some(Err(why))),
        };
        if let Some(place) = &place {
            file.region = source.read_vec(place.range.clone())?;
            if let Err(why) = file.read_tables(&head, place) {
                return Ok(Some(Err(why)));
            }
        }
        match Sections::of_file(format, len, |range| source.read_vec(range))? {
            Some(Ok(found)) => file.sections.extend(found.sections),
            Some(Err(why)) => return Ok(Some(Err(why))),
            None => {}
        }
        if place.is_none() && !file.is_archive() {
            let with_bytes = file.sections.iter().filter(|section| !section.range.is_empty());
            let first = with_bytes.map(|section| section.range.start).min();
            file.header_end = first.unwrap_or_default();
        }
        file.place = place;
        Ok(Some(Ok(file)))
    }

    /// Proves the tables, and finds the data that they refer to.
    fn read_tables(&mut self, head: &[u8], place: &TablesPlace) -> Result<(), Unreadable> {
        let tables = Tables::read(place, &self.region, &self.limits)?;
        let (start, root) = (place.range.start, place.root_position());
        // The root offset and the identifier are in front of the tables.
        (self.header_end, self.header_apart) =
            (u64::from(root).saturating_add(place.root_length()), None);
        if start > 0 {
            let end = if self.is_archive() { start } else { start.min(PAYLOAD_HEADER) };
            (self.header_end, self.header_apart) = (end, Some(place.root_length()));
        }
        if tables.as_bundled_program().is_some() {
            self.program = Bundle::read(&self.region, &self.limits)?.program();
        }
        if self.backend == Some(Backend::Mlx) {
            let data = MlxParts::of(head, self.len)?.data;
            self.sections
                .extend(Some(Section::new("data", data)).filter(|of| !of.range.is_empty()));
        }
        if self.backend != Some(Backend::Xnnpack) {
            return Ok(());
        }
        self.constants = XnnpackParts::of(head, self.len)?.constants;
        let (region, constants) = (&self.region, &self.constants);
        let read = |range: Range<u64>| -> Result<_, core::convert::Infallible> {
            let at = |pos: u64| usize::try_from(pos.saturating_sub(start)).unwrap_or(usize::MAX);
            // The bytes of the header are in front of the region, in `head`.
            let is_head = range.start == 0 && (start > 0 || range.end <= wide(head.len()));
            let bytes =
                if is_head { Some(head) } else { region.get(at(range.start)..at(range.end)) };
            Ok(bytes)
        };
        let (mut contents, len) = (Ok(None), self.len);
        let each = |graph: Result<Option<Graph<'_>>, Unreadable>| {
            contents = graph.map(|graph| match graph {
                Some(Graph::Xnnpack(graph)) => Some(PayloadContents::of_file(len, &graph)),
                _ => None,
            });
        };
        debug_assert!(constants.end <= len, "constants are in the payload");
        match Graph::with(self.backend, len, read, &self.limits, each) {
            Ok(()) => {}
            Err(never) => match never {},
        }
        self.contents = contents?;
        Ok(())
    }

    /// Returns the length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.len
    }

    /// Returns the range of the tables in the file. It is empty for a payload without known tables.
    pub fn region_range(&self) -> Range<u64> {
        self.place.as_ref().map_or(0..0, |place| place.range.clone())
    }

    /// Returns whether the file is a bundled program.
    pub fn is_bundle(&self) -> bool {
        self.program.is_some()
    }

    /// Returns the range of the program, if the file is a bundled program.
    pub fn program(&self) -> Option<Range<u64>> {
        self.program.clone()
    }

    /// Returns the constants, if the file is a payload of XNNPACK.
    pub fn contents(&self) -> Option<&PayloadContents> {
        self.contents.as_ref()
    }

    /// Returns the sections that a payload's header lists, or the members of an archive.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Returns whether the file is a ZIP archive.
    fn is_archive(&self) -> bool {
        matches!(self.format, ForeignFormat::Ptn | ForeignFormat::EtRecord)
    }

    /// Returns whether the file is a payload of Core ML, whose table of contents is behind its files.
    fn is_core_ml(&self) -> bool {
        self.backend == Some(Backend::CoreMl)
    }

    /// Attributes every byte of the file, as [`Map::of`] does.
    pub fn map(&self) -> Map<'_> {
        self.claims(Detail::Parts).finish()
    }

    /// Attributes every byte of the file, with the first million tables, vtables, vectors and strings, as
    /// [`Map::in_detail`] does.
    pub fn map_in_detail(&self) -> Map<'_> {
        self.claims(Detail::Things).finish()
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

    pub(super) fn claims(&self, detail: Detail) -> Claims<'_> {
        let mut claims = Claims::bare(
            self.len,
            (self.region_range(), &self.region),
            (self.header_end, self.header_apart),
            detail,
        );
        claims.headers();
        if let Some(contents) = &self.contents {
            claims.contents(contents);
        }
        if let Some(program) = &self.program {
            let node = claims.child(ROOT, "program");
            claims.claim(program.clone(), node);
        }
        let tables = self.place.as_ref().and_then(|place| {
            // The structure was already proven when the file was read.
            Tables::read(place, &self.region, &self.limits).ok()
        });
        if let Some(tables) = tables {
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
            Pass::new(&mut claims).raw_root(tables.root(), schema.root, self.root_name());
        }
        // The graph of a package is not a section: it is shown as tables.
        let is_apart =
            |section: &&Section| section.range != self.region_range() && !section.range.is_empty();
        for section in self.sections.iter().filter(is_apart) {
            let parent = claims.child(ROOT, "sections");
            let mut node = claims.child(parent, section.name);
            let file = section.file.as_deref().filter(|file| *file != section.name);
            if file.is_some() && (self.format == ForeignFormat::EtRecord || self.is_core_ml()) {
                node = claims.user_node(node, User::Key(file));
            }
            claims.claim(section.range.clone(), node);
            claims.segments_end = claims.segments_end.max(section.range.end);
        }
        if self.is_core_ml() {
            let node = claims.child(ROOT, "table of contents");
            let end = self.sections.iter().map(|section| section.range.end).max();
            claims.claim(end.unwrap_or_default()..self.len, node);
            claims.segments_end = self.len;
        }
        if !self.constants.is_empty() {
            let parent = claims.child(ROOT, CONSTANTS);
            let node = claims.child(parent, PADDING);
            claims.claim(self.constants.clone(), node);
            claims.segments_end = claims.segments_end.max(self.constants.end);
        }
        if self.is_archive() {
            let node = claims.child(ROOT, "zip directory");
            claims.claim(self.region_range().end..self.len, node);
        }
        if self.place.is_none() && self.sections.iter().all(|section| section.range.is_empty()) {
            let node = claims.child(ROOT, "contents");
            claims.claim(0..self.len, node);
        }
        claims
    }

    /// Returns the first component of paths into the tables.
    fn root_name(&self) -> &'static str {
        match self.backend {
            Some(_) => "graph",
            None if self.program.is_some() => "bundled_program",
            None => "etdump",
        }
    }

    /// Returns the fields of the header, and the offset of the first one.
    pub(super) fn header_fields(&self, offset: u64) -> (Vec<&'static [HeaderField]>, u64) {
        let start = self.region_range().start;
        match self.backend {
            _ if self.place.is_none() => (Vec::new(), 0),
            Some(Backend::Mlx) if offset >= start => (Vec::from([ROOT_OFFSET]), start),
            _ if self.header_apart.is_some() && offset >= start => (Vec::from([STANDARD]), start),
            _ if self.is_archive() => (Vec::from([ZIP]), 0),
            Some(Backend::Mlx) => (Vec::from([UNUSED, MlxHeader::FIELDS]), 0),
            Some(Backend::Xnnpack) if self.header_apart.is_some() => (Vec::from([XNNPACK]), 0),
            Some(_) if self.header_apart.is_some() => {
                (Vec::from([UNUSED, VulkanHeader::FIELDS]), 0)
            }
            None if self.header_end > 8 => (Vec::from([SIZE, STANDARD]), 0),
            _ => (Vec::from([STANDARD]), 0),
        }
    }
}

impl<'a> Claims<'a> {
    /// Adds a part that is named by one user.
    fn user_node(&mut self, parent: u32, user: User<'a>) -> u32 {
        let from = narrow(self.users.len());
        self.users.push(user);
        self.node(parent, Label::Users(from, narrow(self.users.len())))
    }

    /// Claims the constants of a payload that is a standalone file.
    fn contents(&mut self, contents: &PayloadContents) {
        let parent = self.child(ROOT, CONSTANTS);
        for (place, user) in super::data::constants_of(contents, None, 0) {
            let ConstantPlace::Payload(range) = place else { continue };
            let node = self.user_node(parent, user);
            self.claim(range.clone(), node);
        }
    }

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

const CONSTANTS: &str = "constants";

/// The length of the header of XNNPACK and of Vulkan payloads.
const PAYLOAD_HEADER: u64 = 30;

const _: () = assert!(XnnpackHeader::LENGTH == 30 && VulkanHeader::LENGTH == 30);

/// The header of a payload of XNNPACK.
const XNNPACK: &[HeaderField] = &[
    ("without a meaning", 4),
    ("magic", 4),
    ("length", 2),
    ("flatbuffer_offset", 4),
    ("flatbuffer_size", 4),
    ("constant_data_offset", 4),
    ("constant_data_size", 8),
];

/// The first bytes of a payload of Vulkan or MLX, in front of the magic.
const UNUSED: &[HeaderField] = &[("without a meaning", 4)];

/// The offset to the root behind the header of a payload of MLX.
const ROOT_OFFSET: &[HeaderField] = &[("root offset", 4)];

/// The header of the first member of a package.
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
    ("name", 11),
];

/// The size in front of a profile.
const SIZE: &[HeaderField] = &[("size", 4)];
