//! Describes one byte: its part, its path and its role.

use core::fmt;
use core::ops::Range;

use alloc::vec::Vec;

use super::claims::{Claims, FILE, HEADER, HEADER_PADDING, PADDING, TRAILING, UNREFERENCED};
use super::other::MEMBERS;
use super::paths::{Found, Precision, TablePath};
use super::role::{self, STANDARD};
use super::{ByteRole, Map, Name, OtherFile, Part, payload};
use pte_core::file::HeaderField;
use pte_core::file::header::{ExtendedHeader, FlatTensorHeader};
use pte_core::payload::PayloadContents;
use pte_core::{File, PathComponent, Place};

/// The part, path and role of a byte of a file.
///
/// ```
/// # fn main() -> pte::Result<()> {
/// # let bytes = include_bytes!("../../../tests/data/pte/linear.pte");
/// use pte::map::ByteInfo;
///
/// let file = pte::File::Pte(pte::Pte::read(bytes)?);
/// let info = ByteInfo::of(&file, 8).unwrap();
/// assert_eq!(info.part().name().to_string(), "header");
/// assert_eq!((info.role().to_string().as_str(), info.range()), ("header field magic", 8..12));
/// // A byte in the tables has a path.
/// let root = u32::from_le_bytes(*bytes.first_chunk().unwrap());
/// let info = ByteInfo::of(&file, root.into()).unwrap();
/// assert_eq!(info.place().to_string(), format!("{root:#x}, program"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ByteInfo<'a> {
    map: Map<'a>,
    offset: u64,
    part: u32,
    piece: Range<u64>,
    role: ByteRole,
    range: Range<u64>,
    /// The path to the byte, the innermost component first.
    path: Vec<PathComponent>,
}

impl<'a> ByteInfo<'a> {
    /// Describes the byte at `offset`; `None` past the end of the file.
    ///
    /// This takes as long as [`Map::of`].
    pub fn of(file: &File<'a>, offset: u64) -> Option<Self> {
        Self::with_payloads(file, &[], offset)
    }

    /// Describes the byte at `offset` as [`of`](Self::of) does, with the parts of
    /// [`Map::with_payloads`].
    pub fn with_payloads(
        file: &File<'a>,
        payloads: &[PayloadContents],
        offset: u64,
    ) -> Option<Self> {
        let claims = |precision| Claims::of(file, payloads, precision);
        let at = (offset, file.region_range().start);
        let mut info = Self::find(at, claims, |info| info.in_header(file, payloads))?;
        info.set_segment_path(file);
        Some(info)
    }

    /// Describes the byte of another file at `offset`; `None` past the end of the file.
    pub fn of_other(file: &'a OtherFile, offset: u64) -> Option<Self> {
        let at = (offset, file.region_range().start);
        let fields = |info: &mut Self| info.in_fields(file.header_fields(offset, &info.piece));
        Self::find(at, |precision| file.claims(precision), fields)
    }

    /// Describes a byte of a file whose own tables begin at `tables`.
    fn find<'p>(
        (offset, tables): (u64, u64),
        claims: impl FnOnce(Precision) -> Claims<'a, 'p>,
        in_header: impl FnOnce(&mut Self),
    ) -> Option<Self> {
        let claims = claims(Precision::Byte(offset));
        let found = claims.paths.found().cloned();
        let map = claims.finish();
        let piece = map.at(offset)?.clone();
        let mut info = Self {
            offset,
            part: piece.part,
            role: ByteRole::Data,
            range: piece.range.clone(),
            piece: piece.range,
            path: Vec::new(),
            map,
        };
        let name = match info.part().name() {
            Name::Fixed(name) => name,
            _ => "",
        };
        match found {
            _ if [HEADER, MEMBERS].contains(&name) => in_header(&mut info),
            Some(Found { last, role: found, begin }) => {
                info.path.extend(found.step);
                info.path.extend(TablePath::new(&info.map.paths, last).back());
                // Data belongs to its users, and not to the object that contains it.
                if begin == tables && info.is_data() {
                    info.apart(name);
                } else {
                    let at = |pos: u32| begin.saturating_add(pos.into());
                    info.role = found.role.shifted(begin);
                    info.range = at(found.range.start)..at(found.range.end);
                }
            }
            None => info.apart(name),
        }
        Some(info)
    }

    /// Sets the role of a byte in a header with these fields, which begin at an offset.
    fn in_fields(&mut self, (fields, start): (Vec<&'static [HeaderField]>, u64)) {
        let end = self.piece.end;
        (self.role, self.range) = match fields.is_empty() {
            true => (ByteRole::Header("of the payload"), self.piece.clone()),
            false => role::in_header(&fields, start, self.offset, end),
        };
        if self.role == ByteRole::Header(role::BEHIND) && self.is_named(MEMBERS) {
            self.role = ByteRole::Header("name of the member");
        }
    }

    fn in_header(&mut self, file: &File<'_>, payloads: &[PayloadContents]) {
        // The header of a payload is a part of the payload, and not of the file.
        if self.part().parent().is_some_and(|parent| parent.parent().is_some()) {
            let offset = self.offset;
            let fields = payloads.iter().find_map(|contents| {
                let at = offset.checked_sub(contents.range.start)?;
                let layout = contents.layout.as_ref().filter(|layout| layout.is_header(at))?;
                let (fields, start) = payload::header_fields(layout, at);
                Some((fields, start.saturating_add(contents.range.start)))
            });
            return self.in_fields(fields.unwrap_or_default());
        }
        let (tables, end) = (file.region_range().start, self.piece.end);
        let known = |fields: &[&[_]], start| role::in_header(fields, start, self.offset, end);
        (self.role, self.range) = match file {
            File::Pte(_) => known(&[STANDARD, ExtendedHeader::FIELDS], 0),
            File::Ptd(_) if tables == 0 => known(&[STANDARD, FlatTensorHeader::FIELDS], 0),
            File::Ptd(_) if self.offset >= tables => known(&[STANDARD], tables),
            File::Ptd(_) => known(&[FlatTensorHeader::FIELDS], 0),
        };
    }

    /// Returns whether the byte's part has this name.
    fn is_named(&self, name: &'static str) -> bool {
        self.part().name() == Name::Fixed(name)
    }

    /// Returns whether the byte's part is data, or a part of data such as a payload.
    fn is_data(&self) -> bool {
        let parts = core::iter::successors(Some(self.part()), |part| part.parent());
        parts.into_iter().any(|part| matches!(part.name(), Name::Users(_)))
    }

    /// Sets the role of a byte that is in no object, or in data.
    fn apart(&mut self, name: &str) {
        self.role = match self.part().name() {
            Name::Fixed(_) if [PADDING, HEADER_PADDING].contains(&name) => ByteRole::Padding,
            Name::Fixed(_) if name == TRAILING => ByteRole::Trailing,
            Name::Fixed(_) if [UNREFERENCED, FILE].contains(&name) => ByteRole::Unreferenced,
            Name::Segment(_) => ByteRole::Unreferenced,
            // Sections, and other data of a single user.
            _ => ByteRole::Data,
        };
    }

    /// Sets the path of a byte that is in a segment, but in no object.
    fn set_segment_path(&mut self, file: &File<'_>) {
        let is_apart = self.path.is_empty() && !matches!(self.role, ByteRole::Header(_));
        if let Some(segment) = self.segment().filter(|_| is_apart) {
            let root = match file {
                File::Pte(_) => "program",
                File::Ptd(_) => "flat_tensor",
            };
            let segment = PathComponent::Index(segment);
            self.path = vec![segment, PathComponent::Field("segments"), PathComponent::Field(root)];
        }
    }

    /// Returns the part that the byte belongs to.
    pub fn part(&self) -> Part<'_, 'a> {
        self.map.part(self.part)
    }

    /// Returns the range around the byte that belongs to the same part.
    pub fn piece(&self) -> Range<u64> {
        self.piece.clone()
    }

    /// Returns the role of the byte.
    pub fn role(&self) -> ByteRole {
        self.role
    }

    /// Returns the range around the byte with the same role, such as one number or one text.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the segment that contains the byte, if any.
    pub fn segment(&self) -> Option<u32> {
        self.map.segment_at(self.offset)
    }

    /// Returns the path to the byte, the outermost component first; empty for unreferenced bytes.
    pub fn path(&self) -> impl Iterator<Item = PathComponent> {
        self.path.iter().rev().copied()
    }

    /// Returns the offset and the path of the byte, for display.
    pub fn place(&self) -> Place<'_> {
        Place::new(Some(self.offset), &self.path)
    }
}

impl fmt::Display for ByteInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.role)
    }
}
