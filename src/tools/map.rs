//! Attributes every byte of a file to one part.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
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
//! Ranges are claimed in a fixed order: headers, data by its user, tables, whole segments, and
//! padding for the rest. Claims may overlap, for shared data and in hostile files; then the first
//! claim gets the bytes. So the sum of all parts is always the length of the file.

use core::fmt;
use core::ops::Range;

use alloc::vec::Vec;

use pte_core::payload::{PayloadContents, Reader};
use pte_core::{Backend, File};
use pte_flat::bytes::{index, narrow};

mod byte_info;
mod claims;
mod data;
mod document;
#[cfg(feature = "sha2")]
mod duplicates;
mod growth;
mod nest;
mod other;
mod paths;
mod payload;
mod role;
mod rows;
mod size;
mod tables;

use claims::Claims;
use paths::Precision;

pub use byte_info::ByteInfo;
pub use document::{MapDocument, RangeEntry, SizeBase, SizeDocument, SizeEntry};
#[cfg(feature = "sha2")]
pub use duplicates::{DuplicateGroup, DuplicatePlace, Duplicates, StoredFile};
pub use growth::Growth;
pub use nest::{KindTotal, Nesting, RangeRow, Ranges, RowContents, Rows, Title};
pub use other::OtherFile;
pub use paths::{ObjectKind, TablePath};
pub use role::ByteRole;
pub use size::{NamesTooLong, SizeTree};

/// The parts of a file, as a tree. Each byte belongs to exactly one leaf of the tree.
///
/// Creating it takes n log n time for n tables, each of which is visited once. No segment is read.
#[derive(Clone, Debug)]
pub struct Map<'a> {
    /// The parts, each parent before its children. The first is the whole file.
    nodes: Vec<Node<'a>>,
    pieces: Vec<Piece>,
    users: Vec<User<'a>>,
    paths: Vec<paths::Last>,
    /// The segments by offset. A byte that several segments share belongs to the first of them.
    segments: Vec<(Range<u64>, u32)>,
    region: Range<u64>,
}

/// A range of a file that belongs to one leaf part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// The range in the file: never empty, and adjacent to the next.
    pub range: Range<u64>,
    /// The part that the range belongs to, for [`Map::part`]. It is always a leaf.
    pub part: u32,
}

/// A part of a file. If it has parts, these together have all of its bytes.
#[derive(Clone, Copy)]
pub struct Part<'m, 'a> {
    map: &'m Map<'a>,
    node: u32,
}

/// The name of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Name<'m, 'a> {
    /// A fixed name. For tables, this is upstream's name of their type.
    Fixed(&'static str),
    /// A method. The name is `None` if the method has none.
    Method(Option<&'a str>),
    /// Data, named by its users. There is at least one user.
    Users(&'m [User<'a>]),
    /// A segment, with its index.
    Segment(u32),
    /// A table, vtable, vector or string, with its path. It occurs in [`Map::in_detail`] only.
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
        /// The index of the tensor's value in the method.
        index: u32,
        /// The tensor's fully qualified name, if it has one.
        name: Option<&'a str>,
    },
    /// A delegate, which uses its payload.
    Delegate {
        /// The method's name.
        method: Option<&'a str>,
        /// The index of the delegate in the method.
        index: u32,
        /// The id of the backend.
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
        /// Whether the data is the scales of the value.
        scales: bool,
        /// The first node that reads the value.
        reader: Option<Reader>,
    },
    /// The graph of a delegate whose constants are not shown one by one, and which uses data.
    Graph {
        /// The method's name.
        method: Option<&'a str>,
        /// The index of the delegate in the method.
        delegate: u32,
        /// The backend.
        backend: Backend,
        /// The key, if the data is named.
        key: Option<&'a str>,
        /// The place in the graph.
        place: GraphPlace,
    },
    /// The key of a blob, or of a tensor in a `.ptd`.
    Key(Option<&'a str>),
}

/// The place in a graph that uses data. It is small, since a file may have a user for each of its
/// entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphPlace {
    value: u32,
    node: u32,
}

impl GraphPlace {
    /// The index of no value and of no node.
    const NONE: u32 = u32::MAX;

    fn new(value: Option<u32>, node: Option<u32>) -> Self {
        Self { value: value.unwrap_or(Self::NONE), node: node.unwrap_or(Self::NONE) }
    }

    /// Returns the index of the value in the graph; `None` if the data belongs to no value.
    pub fn value(self) -> Option<u32> {
        Some(self.value).filter(|&value| value != Self::NONE)
    }

    /// Returns the index of the first node that uses the value; `None` if it is not known.
    pub fn node(self) -> Option<u32> {
        Some(self.node).filter(|&node| node != Self::NONE)
    }
}

#[derive(Clone, Debug)]
struct Node<'a> {
    label: Label<'a>,
    parent: u32,
    bytes: u64,
    /// The index of the part's first child; 0 for none.
    first: u32,
    /// The index of the next child of the part's parent; 0 for none.
    next: u32,
}

#[derive(Clone, Debug)]
enum Label<'a> {
    Fixed(&'static str),
    Method(Option<&'a str>),
    /// Data, with the range of its users in the map.
    Users(u32, u32),
    Segment(u32),
    /// A table, vtable, vector or string, with the index of the last component of its path.
    Object(u32, ObjectKind),
}

/// The index of the part that is the whole file.
const ROOT: u32 = 0;

impl<'a> Map<'a> {
    /// Attributes every byte of `file`.
    pub fn of(file: &File<'a>) -> Self {
        Claims::of(file, &[], Precision::Parts).finish()
    }

    /// Attributes every byte of `file` as [`of`](Self::of) does. The graphs and constants in
    /// `payloads` become parts, and named data belongs to the graph that requests it. Payloads
    /// [with parts](PayloadContents::all_with_parts) are broken down like standalone files.
    pub fn with_payloads(file: &File<'a>, payloads: &[PayloadContents]) -> Self {
        Claims::of(file, payloads, Precision::Parts).finish()
    }

    /// Attributes every byte of `file` as [`of`](Self::of) does. In addition, the first million
    /// tables, vtables, vectors and strings of the file become parts, named by their paths.
    pub fn in_detail(file: &File<'a>) -> Self {
        Self::in_detail_with_payloads(file, &[])
    }

    /// Attributes every byte of `file` as [`in_detail`](Self::in_detail) and
    /// [`with_payloads`](Self::with_payloads) do.
    pub fn in_detail_with_payloads(file: &File<'a>, payloads: &[PayloadContents]) -> Self {
        Claims::of(file, payloads, Precision::Objects).finish()
    }

    /// Returns the part that is the whole file.
    pub fn root(&self) -> Part<'_, 'a> {
        self.part(ROOT)
    }

    /// Returns the part with an index from [`Piece::part`]. For an invalid index it is the whole
    /// file.
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

    /// Returns the segment with the byte at `offset`; the first one if several have it.
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
    /// Returns the name of the part. The whole file is called `file`.
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

    /// Returns the part's length in bytes. It is 0 only for an empty file.
    pub fn bytes(self) -> u64 {
        self.map.node(self.node).map_or(0, |node| node.bytes)
    }

    /// Returns the parts of this part, if any. Together they have all of its bytes.
    pub fn parts(self) -> impl Iterator<Item = Part<'m, 'a>> {
        let map = self.map;
        let first = map.node(self.node).map_or(0, |node| node.first);
        let following = |&node: &u32| map.node(node).map(|node| node.next).filter(|&at| at != 0);
        let all = core::iter::successors(Some(first).filter(|&at| at != 0), following);
        all.map(|node| Part { map, node }).filter(|part| part.bytes() > 0)
    }

    /// Returns the parent of this part; `None` for the whole file.
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

/// Displays names from the file unescaped, and lists at most three users.
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
                // A constant in a payload that is a standalone file has no method.
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
            &Self::Graph { method, delegate, backend, key, place } => {
                let (value, node) = (place.value(), place.node());
                // A payload that is a standalone file has no method.
                if let Some(method) = method {
                    write!(f, "{method}:{delegate} {} ", backend.id())?;
                }
                match (value, node) {
                    (Some(value), Some(node)) => write!(f, "node {node} value {value}")?,
                    (Some(value), None) => write!(f, "value {value}")?,
                    (None, _) => f.write_str("data")?,
                }
                return match key.filter(|key| !is_hash(key)) {
                    Some(key) => write!(f, " {key}"),
                    None => Ok(()),
                };
            }
        };
        write!(f, "{}:{index}", method.unwrap_or_default())?;
        match name.filter(|name| !name.is_empty()) {
            Some(name) => write!(f, " {name}"),
            None => Ok(()),
        }
    }
}

/// Returns whether a key is a digest of its data, as most writers make it.
pub(crate) fn is_hash(key: &str) -> bool {
    key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The maximum number of users in a displayed name.
const MOST_USERS: usize = 3;
