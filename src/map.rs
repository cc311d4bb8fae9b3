//! Attributes every byte of a file to one part.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../tests/data/pte/linear.pte");
//! let pte = pte::Pte::read(bytes)?;
//! let map = pte::map::Map::of(&pte::File::Pte(pte));
//! assert_eq!(map.root().bytes(), bytes.len() as u64);
//! for part in map.root().parts() {
//!     println!("{}: {} bytes", part.name(), part.bytes());
//! }
//! for piece in map.pieces() {
//!     println!("{:?} is of {}", piece.range, map.part(piece.part).name());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Ranges are claimed in a fixed order: headers, data by its user, tables, whole segments, and padding
//! for the rest. Claims may overlap, in hostile files and for shared data: the first claim gets the
//! bytes. So the sum of all parts is always the length of the file.

use core::fmt;
use core::ops::Range;

use alloc::vec::Vec;

use crate::bytes::{index, narrow};
use crate::handle::File;
use crate::payload::{PayloadContents, Reader};

mod byte_info;
mod claims;
mod data;
mod document;
mod growth;
mod nest;
mod other;
mod paths;
mod role;
mod size;
mod tables;

use claims::Claims;
use paths::Detail;

pub use byte_info::ByteInfo;
pub use document::{KindEntry, MapDocument, RangeEntry, SizeBase, SizeDocument, SizeEntry};
pub use growth::Growth;
pub use nest::{KindTotal, Nesting, Span, Title, Within};
pub use other::OtherFile;
pub use paths::{ObjectKind, TablePath};
pub use role::ByteRole;
pub use size::{NamesTooLong, SizeTree};

/// The parts of a file. Each byte belongs to exactly one part without parts.
///
/// Making it takes n log n time for n tables, each of which is visited once. No segment is read.
#[derive(Clone, Debug)]
pub struct Map<'a> {
    /// The nodes, each parent before its parts. The first is the file.
    nodes: Vec<Node<'a>>,
    pieces: Vec<Piece>,
    users: Vec<User<'a>>,
    paths: Vec<paths::Last>,
    /// The segments by offset. Bytes of several segments belong to the first of them.
    segments: Vec<(Range<u64>, u32)>,
    region: Range<u64>,
}

/// A range of a file that belongs to one part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// The range in the file: never empty, and adjacent to the next.
    pub range: Range<u64>,
    /// The part that it belongs to, for [`Map::part`]. That part has no parts.
    pub part: u32,
}

/// A part of a file. Its parts, if any, together have all of its bytes.
#[derive(Clone, Copy)]
pub struct Part<'m, 'a> {
    map: &'m Map<'a>,
    node: u32,
}

/// The name of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Name<'m, 'a> {
    /// A fixed name; for tables upstream's name of their type.
    Fixed(&'static str),
    /// A method, by its name.
    Method(Option<&'a str>),
    /// Data, by its users, of which there is at least one.
    Users(&'m [User<'a>]),
    /// A segment, by its number.
    Segment(u32),
    /// A table, vtable, vector or string, by its path: in [`Map::in_detail`] only.
    Object(TablePath<'m>, ObjectKind),
}

/// A user of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum User<'a> {
    /// A tensor of a program.
    Tensor {
        /// The method's name.
        method: Option<&'a str>,
        /// The index of its value.
        index: u32,
        /// Its fully qualified name, if it has one.
        name: Option<&'a str>,
    },
    /// A delegate, for its payload.
    Delegate {
        /// The method's name.
        method: Option<&'a str>,
        /// Its index in the method.
        index: u32,
        /// The backend.
        id: Option<&'a str>,
    },
    /// A constant of a delegate's graph.
    Constant {
        /// The method's name.
        method: Option<&'a str>,
        /// The index of the delegate in the method.
        delegate: u32,
        /// The id of the value in the graph.
        value: u32,
        /// Whether these are the scales of the value.
        scales: bool,
        /// The node that reads it.
        reader: Option<Reader>,
    },
    /// A key: of a blob, or of a tensor in a `.ptd`.
    Key(Option<&'a str>),
}

#[derive(Clone, Debug)]
struct Node<'a> {
    label: Label<'a>,
    parent: u32,
    bytes: u64,
    /// The index of its first part, and of the next part of its parent; 0 for none.
    first: u32,
    next: u32,
}

#[derive(Clone, Debug)]
enum Label<'a> {
    Fixed(&'static str),
    Method(Option<&'a str>),
    /// A range of the users.
    Users(u32, u32),
    Segment(u32),
    /// The last component of its path.
    Object(u32, ObjectKind),
}

/// The file itself.
const ROOT: u32 = 0;

impl<'a> Map<'a> {
    /// Attributes every byte of `file`.
    pub fn of(file: &File<'a>) -> Self {
        Claims::of(file, &[], Detail::Parts).finish()
    }

    /// Attributes every byte of `file` as [`of`](Self::of) does. The graphs and constants in `payloads`
    /// become parts, and named data belongs to the constant that asks for it.
    pub fn with_payloads(file: &File<'a>, payloads: &[PayloadContents]) -> Self {
        Claims::of(file, payloads, Detail::Parts).finish()
    }

    /// Attributes every byte of `file` as [`of`](Self::of) does. In addition, the first million
    /// tables, vtables, vectors and strings of the file become parts, named by their paths.
    pub fn in_detail(file: &File<'a>) -> Self {
        Self::in_detail_with_payloads(file, &[])
    }

    /// Attributes every byte of `file` as [`in_detail`](Self::in_detail) and
    /// [`with_payloads`](Self::with_payloads) do.
    pub fn in_detail_with_payloads(file: &File<'a>, payloads: &[PayloadContents]) -> Self {
        Claims::of(file, payloads, Detail::Things).finish()
    }

    /// Returns the part that is the whole file.
    pub fn root(&self) -> Part<'_, 'a> {
        self.part(ROOT)
    }

    /// Returns the part with the index in [`Piece::part`]; the file for an invalid index.
    pub fn part(&self, part: u32) -> Part<'_, 'a> {
        let node = if index(part) < self.nodes.len() { part } else { ROOT };
        Part { map: self, node }
    }

    /// Returns the pieces of the file in order. There are no gaps and no overlaps.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the piece with the byte at `offset`; `None` past the end of the file.
    pub fn at(&self, offset: u64) -> Option<&Piece> {
        let nth = self.pieces.partition_point(|piece| piece.range.end <= offset);
        self.pieces.get(nth)
    }

    /// Returns the segment with the byte at `offset`; the first if there are several.
    pub fn segment_at(&self, offset: u64) -> Option<u32> {
        let nth = self.segments.partition_point(|(range, _)| range.end <= offset);
        let (range, segment) = self.segments.get(nth)?;
        range.contains(&offset).then_some(*segment)
    }

    fn node(&self, node: u32) -> Option<&Node<'a>> {
        self.nodes.get(index(node))
    }
}

impl<'m, 'a> Part<'m, 'a> {
    /// Returns its name. That of the whole file is `file`.
    pub fn name(self) -> Name<'m, 'a> {
        match self.map.node(self.node).map(|node| &node.label) {
            None => Name::Fixed(""),
            Some(Label::Fixed(name)) => Name::Fixed(name),
            Some(Label::Method(name)) => Name::Method(*name),
            Some(&Label::Users(from, to)) => {
                Name::Users(self.map.users.get(index(from)..index(to)).unwrap_or_default())
            }
            Some(Label::Segment(nth)) => Name::Segment(*nth),
            Some(&Label::Object(last, what)) => {
                Name::Object(TablePath::new(&self.map.paths, last), what)
            }
        }
    }

    /// Returns its length in bytes: 0 only for an empty file.
    pub fn bytes(self) -> u64 {
        self.map.node(self.node).map_or(0, |node| node.bytes)
    }

    /// Returns its parts, if any. Together they have all of its bytes.
    pub fn parts(self) -> impl Iterator<Item = Part<'m, 'a>> {
        let map = self.map;
        let first = map.node(self.node).map_or(0, |node| node.first);
        let following = |&node: &u32| map.node(node).map(|node| node.next).filter(|&at| at != 0);
        let all = core::iter::successors(Some(first).filter(|&at| at != 0), following);
        all.map(|node| Part { map, node }).filter(|part| part.bytes() > 0)
    }

    /// Returns the part that it belongs to; `None` for the file.
    pub fn parent(self) -> Option<Self> {
        let parent = self.map.node(self.node).filter(|_| self.node != ROOT)?.parent;
        Some(Self { node: parent, ..self })
    }
}

impl fmt::Debug for Part<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} bytes", self.name(), self.bytes())
    }
}

/// Displays names from the file unescaped, and at most three users.
impl fmt::Display for Name<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(name) => f.write_str(name),
            Self::Method(name) => f.write_str(name.unwrap_or("(no name)")),
            Self::Segment(nth) => write!(f, "segment {nth}"),
            Self::Object(path, _) => path.fmt(f),
            Self::Users(users) => {
                for (nth, user) in users.iter().take(MOST_USERS).enumerate() {
                    write!(f, "{}{user}", if nth == 0 { "" } else { ", " })?;
                }
                match users.len().saturating_sub(MOST_USERS) {
                    0 => Ok(()),
                    more => write!(f, ", {more} more"),
                }
            }
        }
    }
}

impl fmt::Display for User<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, index, name) = match self {
            Self::Tensor { method, index, name } => (method, index, name),
            Self::Delegate { method, index, id } => (method, index, id),
            Self::Key(None) => return f.write_str("(no key)"),
            Self::Key(Some("")) => return f.write_str("\"\""),
            Self::Key(Some(key)) => return f.write_str(key),
            &Self::Constant { method, delegate, value, scales, reader } => {
                // A payload as a standalone file has no method.
                if let Some(method) = method {
                    write!(f, "{method}:{delegate} ")?;
                }
                match reader {
                    Some(reader) => {
                        let (operator, input) = (reader.operator(), reader.input());
                        write!(f, "node {} {operator} {input}", reader.node)?;
                    }
                    None => write!(f, "value {value}")?,
                }
                return f.write_str(if scales { " scales" } else { "" });
            }
        };
        write!(f, "{}:{index}", method.unwrap_or_default())?;
        match name.filter(|name| !name.is_empty()) {
            Some(name) => write!(f, " {name}"),
            None => Ok(()),
        }
    }
}

/// The most users in a displayed name.
const MOST_USERS: usize = 3;
