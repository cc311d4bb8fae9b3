//! The file as nested ranges, in the order of offsets.

use core::ops::Range;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::claims::{HEADER_PADDING, PADDING};
use super::paths::ObjectKind;
use super::tables::VTABLES;
use super::{Label, Map, Part, ROOT};
use pte_flat::bytes::{len_of, wide};
use pte_flat::cost;

/// Options for nested ranges.
///
/// On the outermost level, the ranges in front of the segments are always listed and never summed
/// up.
#[derive(Clone, Copy, Debug)]
pub struct Nesting {
    /// The number of levels.
    pub depth: u32,
    /// The maximum number of ranges directly inside a range. If there are more, adjacent ranges of
    /// one kind are merged, together with the padding and vtables between them.
    pub most: usize,
}

/// The default is four levels, with at most 16 ranges directly inside a range.
impl Default for Nesting {
    fn default() -> Self {
        Self { depth: 4, most: 16 }
    }
}

/// The title of a range.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Title<'m, 'a> {
    /// A single part. A merged range has the title of its largest part.
    Part(Part<'m, 'a>),
    /// A part that belongs elsewhere in the tree, such as a vtable shared by tables of other parts.
    Other(Part<'m, 'a>),
    /// A segment, with its index.
    Segment(u32),
    /// Several merged ranges of one kind.
    Alike {
        /// The kind of the merged ranges.
        name: &'static str,
        /// The number of merged ranges.
        count: u64,
    },
}

/// The totals of one kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct KindTotal {
    /// The name of the part. For an object in the FlatBuffer, it is the type of its table.
    pub name: &'static str,
    /// The kind of the object, if the part is an object in the FlatBuffer.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub what: Option<ObjectKind>,
    /// The number of parts.
    pub count: u64,
    /// The number of bytes of these parts.
    pub bytes: u64,
}

/// The ranges of a file. They are made one at a time, since a file may have millions: only one row of each level is in
/// memory.
#[derive(Clone, Debug)]
pub struct Ranges<'m, 'a> {
    nest: Nest<'m, 'a>,
    cells: Vec<Cell>,
}

/// A range of a file, as a row. The rows of one level are adjacent.
#[derive(Clone, Debug)]
pub struct RangeRow<'r, 'm, 'a> {
    range: Range<u64>,
    title: Title<'m, 'a>,
    nest: &'r Nest<'m, 'a>,
    inner: Inner<'r>,
}

/// The contents of a row.
#[non_exhaustive]
pub enum RowContents<'r, 'm, 'a> {
    /// No further ranges.
    Nothing,
    /// Rows, in the order of the file.
    Rows(Rows<'r, 'm, 'a>),
    /// Totals by kind, the largest first. Their sum is the length of the range.
    Kinds(Vec<KindTotal>),
}

/// Rows, in the order of the file.
pub type Rows<'r, 'm, 'a> = Box<dyn Iterator<Item = RangeRow<'r, 'm, 'a>> + 'r>;

/// The cells that the contents of a range are made of.
#[derive(Clone, Copy, Debug)]
enum Inner<'r> {
    Nothing,
    /// The contents are summed up by kind.
    Summed(&'r [Cell]),
    /// The contents of a group, with their level.
    Nested(&'r [Cell], Option<Key>, u32),
}

impl<'m, 'a> Ranges<'m, 'a> {
    /// Replaces the contents of the range `place` by the ranges of the program that is there.
    #[must_use]
    pub fn with_program(mut self, place: Range<u64>, mut program: Self) -> Self {
        program.nest.by = place.start;
        self.nest.program = Some((place, Box::new(program)));
        self
    }

    /// Returns the outermost rows.
    pub fn rows<'r>(&'r self) -> Rows<'r, 'm, 'a> {
        match self.nest.within(&self.cells, None, 0) {
            RowContents::Rows(rows) => rows,
            _ => Box::new(core::iter::empty()),
        }
    }
}

impl<'r, 'm, 'a> RangeRow<'r, 'm, 'a> {
    /// Returns the range in the file: never empty.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        let by = self.nest.by;
        self.range.start.saturating_add(by)..self.range.end.saturating_add(by)
    }

    /// Returns the title of the range.
    #[must_use]
    pub fn title(&self) -> Title<'m, 'a> {
        self.title
    }

    /// Returns the contents of the range.
    #[must_use]
    pub fn contents(&self) -> RowContents<'r, 'm, 'a> {
        if let Some((range, program)) = &self.nest.program
            && *range == self.range
        {
            return RowContents::Rows(program.rows());
        }
        match self.inner {
            Inner::Nothing => RowContents::Nothing,
            Inner::Summed(cells) => RowContents::Kinds(self.nest.kinds(cells)),
            Inner::Nested(cells, of, level) => self.nest.within(cells, of, level),
        }
    }
}

impl<'a> Map<'a> {
    /// Returns the file as nested ranges. A map [in detail](Self::in_detail) gives the best result.
    pub fn ranges(&self, nesting: Nesting) -> Ranges<'_, 'a> {
        let mut cells = Vec::new();
        for piece in &self.pieces {
            let mut start = piece.range.start;
            // A piece may span several segments, so it is split.
            while start < piece.range.end {
                let (segment, end) = self.segment_from(start);
                let range = start..end.min(piece.range.end);
                let segment = segment.filter(|_| start >= self.region.end);
                start = range.end;
                cells.push(Cell { range, node: piece.part, segment });
            }
        }
        Ranges { nest: Nest { map: self, nesting, by: 0, program: None }, cells }
    }

    /// Returns the segment at `offset` and its end. Outside segments, returns `None` and the start
    /// of the next segment.
    fn segment_from(&self, offset: u64) -> (Option<u32>, u64) {
        let nth = self.segments.partition_point(|(range, _)| range.end <= offset);
        match self.segments.get(nth) {
            None => (None, u64::MAX),
            Some((range, segment)) if range.contains(&offset) => (Some(*segment), range.end),
            Some((range, _)) => (None, range.start),
        }
    }
}

/// A piece, or a part of one, that lies in one segment or in none.
#[derive(Clone, Debug)]
struct Cell {
    range: Range<u64>,
    node: u32,
    segment: Option<u32>,
}

/// The group of a cell on one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Segment(u32),
    Node(u32),
    /// A part that belongs elsewhere in the tree.
    Foreign(u32),
    /// The cell ends at this level.
    End,
}

/// The kind of a cell. Adjacent cells of the same kind can be merged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Like {
    /// A part below this node, such as one of its tables.
    Of(u32),
    /// This node itself.
    Same(u32),
    /// Padding or a vtable, which is merged with the cells around it.
    Between,
}

#[derive(Clone, Debug)]
struct Nest<'m, 'a> {
    map: &'m Map<'a>,
    nesting: Nesting,
    /// The offset of the mapped file in a larger one.
    by: u64,
    /// The range whose contents are these other ranges.
    program: Option<(Range<u64>, Box<Ranges<'m, 'a>>)>,
}

impl<'m, 'a> Nest<'m, 'a> {
    /// Returns the contents of a range, whose `cells` are the group `of`; `None` is the whole file.
    fn within<'r>(
        &'r self,
        cells: &'r [Cell],
        of: Option<Key>,
        level: u32,
    ) -> RowContents<'r, 'm, 'a> {
        let key = move |cell: &Cell| self.key(cell, of);
        cost::charge(cells.len());
        if cells.iter().all(|cell| key(cell) == Key::End) {
            return RowContents::Nothing;
        }
        if level >= self.nesting.depth {
            return RowContents::Kinds(self.kinds(cells));
        }
        let is_same = move |a: &Cell, b: &Cell| key(a) == key(b);
        let span = move |chunk: &'r [Cell]| self.span(chunk, key(chunk.first()?), level);
        let most = self.nesting.most;
        // Without a limit, the chunks are not counted: there may be millions.
        if most == usize::MAX || cells.chunk_by(is_same).nth(most).is_none() {
            return RowContents::Rows(Box::new(cells.chunk_by(is_same).filter_map(span)));
        }
        let chunks: Vec<_> = cells.chunk_by(is_same).collect();
        let runs = self.runs(cells, &chunks, of);
        let many = runs.len() > most;
        if many && of.is_some() {
            return RowContents::Kinds(self.kinds(cells));
        }
        // On the outermost level, only segments may be summed up by kind.
        let shown = match many {
            true => runs.partition_point(|run| self.starts(run) < self.map.region.end),
            false => runs.len(),
        };
        let (runs, rest) = runs.split_at_checked(shown).unwrap_or_default();
        let mut spans: Vec<_> = runs.iter().filter_map(|run| self.run(run, of, level)).collect();
        if let (Some(first), Some(last)) = (rest.first(), cells.last()) {
            let from = cells.partition_point(|cell| cell.range.start < self.starts(first));
            let rest = cells.get(from..).unwrap_or_default();
            let count = rest.chunk_by(is_same);
            let count =
                count.filter(|chunk| chunk.iter().any(|cell| cell.segment.is_some())).count();
            let title = Title::Alike { name: "segments", count: wide(count) };
            let range = self.starts(first)..last.range.end;
            spans.push(self.row(range, title, Inner::Summed(rest)));
        }
        RowContents::Rows(Box::new(spans.into_iter()))
    }

    fn row<'r>(
        &'r self,
        range: Range<u64>,
        title: Title<'m, 'a>,
        inner: Inner<'r>,
    ) -> RangeRow<'r, 'm, 'a> {
        RangeRow { range, title, nest: self, inner }
    }

    /// Returns the start of the first cell of a group.
    fn starts(&self, cells: &[Cell]) -> u64 {
        cells.first().map_or(u64::MAX, |cell| cell.range.start)
    }

    fn span<'r>(&'r self, cells: &'r [Cell], key: Key, level: u32) -> Option<RangeRow<'r, 'm, 'a>> {
        let range = cells.first()?.range.start..cells.last()?.range.end;
        let title = match key {
            Key::Segment(nth) => Title::Segment(nth),
            Key::Node(node) => Title::Part(self.map.part(node)),
            Key::Foreign(node) => Title::Other(self.map.part(node)),
            Key::End => Title::Part(self.map.part(cells.first()?.node)),
        };
        let inner = match key {
            Key::Segment(_) | Key::Node(_) => {
                Inner::Nested(cells, Some(key), level.saturating_add(1))
            }
            Key::Foreign(_) | Key::End => Inner::Nothing,
        };
        Some(self.row(range, title, inner))
    }

    /// Merges adjacent chunks of the same kind, together with the padding and vtables between them.
    fn runs<'c>(
        &self,
        cells: &'c [Cell],
        chunks: &[&'c [Cell]],
        of: Option<Key>,
    ) -> Vec<&'c [Cell]> {
        let (mut runs, mut start, mut at, mut now) = (Vec::new(), 0usize, 0usize, Like::Between);
        // The end of the last chunk that is not padding. Padding after that chunk is not merged.
        let mut end = 0usize;
        let mut cut = |start: usize, end: usize, next: usize| {
            let end = if of.is_none() { end } else { next };
            runs.extend(cells.get(start..end).filter(|run| !run.is_empty()));
            runs.extend(cells.get(end..next).filter(|run| !run.is_empty()));
        };
        for chunk in chunks {
            let like = chunk.first().map_or(Like::Between, |cell| self.like(cell, of));
            if like != Like::Between && now != Like::Between && like != now {
                cut(start, end, at);
                start = at;
            }
            at = at.saturating_add(chunk.len());
            if like != Like::Between {
                (now, end) = (like, at);
            }
        }
        cut(start, end, at);
        runs
    }

    /// Returns the range that consists of merged chunks.
    fn run<'r>(
        &'r self,
        cells: &'r [Cell],
        of: Option<Key>,
        level: u32,
    ) -> Option<RangeRow<'r, 'm, 'a>> {
        let range = cells.first()?.range.start..cells.last()?.range.end;
        let key = |cell: &Cell| self.key(cell, of);
        let mut major = cells.iter().filter(|cell| self.like(cell, of) != Like::Between);
        let Some(first) = major.next() else {
            let first = cells.first()?;
            let part = self.map.part(first.node);
            let title = match key(first) {
                Key::Foreign(_) => Title::Other(part),
                _ => Title::Part(part),
            };
            let inner = match cells {
                [_] => Inner::Nothing,
                _ => Inner::Summed(cells),
            };
            return Some(self.row(range, title, inner));
        };
        match self.like(first, of) {
            Like::Same(node) => {
                let inner = Inner::Nested(cells, Some(Key::Node(node)), level.saturating_add(1));
                let title = Title::Part(self.map.part(node));
                Some(self.row(range, title, inner))
            }
            Like::Of(parent) => {
                let mut count = 1u64;
                let mut last = key(first);
                for cell in major {
                    let key = key(cell);
                    count = count.saturating_add(u64::from(key != last));
                    last = key;
                }
                if count == 1 {
                    return self.span(cells, last, level);
                }
                let title = Title::Alike { name: self.fixed(parent), count };
                Some(self.row(range, title, Inner::Summed(cells)))
            }
            Like::Between => None,
        }
    }

    /// Returns the group of a cell one level below its group `of`; `None` is the whole file.
    fn key(&self, cell: &Cell, of: Option<Key>) -> Key {
        let (chain, len) = self.chain(cell.node);
        let chain = chain.get(..len).unwrap_or_default();
        let Some(of) = of else {
            return match (cell.segment, chain.first()) {
                (Some(nth), _) => Key::Segment(nth),
                (None, Some(&node)) => Key::Node(node),
                (None, None) => Key::End,
            };
        };
        match of {
            Key::Segment(_) => chain.first().map_or(Key::End, |&node| Key::Node(node)),
            Key::Node(parent) => match chain.iter().position(|&node| node == parent) {
                Some(nth) => {
                    let below = chain.get(nth.saturating_add(1));
                    below.map_or(Key::End, |&node| Key::Node(node))
                }
                None => Key::Foreign(cell.node),
            },
            Key::Foreign(_) | Key::End => Key::End,
        }
    }

    fn like(&self, cell: &Cell, of: Option<Key>) -> Like {
        let node = match self.key(cell, of) {
            // Segments are of the same kind if their contents are.
            Key::Segment(_) => {
                let (chain, _) = self.chain(cell.node);
                return Like::Of(chain.first().copied().unwrap_or(ROOT));
            }
            Key::Foreign(_) => return Like::Between,
            Key::Node(node) => node,
            Key::End => cell.node,
        };
        match self.map.node(node).map(|node| (&node.label, node.parent)) {
            Some((Label::Fixed(PADDING | HEADER_PADDING | VTABLES), _)) => Like::Between,
            // Methods are never merged.
            Some((Label::Fixed(_) | Label::Method(_), _)) | None => Like::Same(node),
            Some((_, parent)) => Like::Of(parent),
        }
    }

    fn kinds(&self, cells: &[Cell]) -> Vec<KindTotal> {
        // For each kind: the number of nodes, their bytes, and the node that was counted last. A node may
        // lie in several cells, and counts once.
        let mut kinds: BTreeMap<_, (u64, u64, u32)> = BTreeMap::new();
        cost::charge(cells.len());
        for cell in cells {
            let (of, what) = match self.map.node(cell.node).map(|node| (&node.label, node.parent)) {
                Some((Label::Fixed(_), _)) | None => (cell.node, None),
                Some((&Label::Object(_, what), parent)) => (parent, Some(what)),
                Some((_, parent)) => (parent, None),
            };
            let bytes = len_of(&cell.range);
            let seen = kinds.entry((self.fixed(of), what)).or_insert((0, 0, ROOT));
            if of == cell.node || seen.2 != cell.node {
                seen.0 = seen.0.saturating_add(1);
            }
            seen.1 = seen.1.saturating_add(bytes);
            seen.2 = cell.node;
        }
        let kinds = kinds.into_iter();
        let mut kinds: Vec<_> = kinds
            .map(|((name, what), (count, bytes, _))| KindTotal { name, what, count, bytes })
            .collect();
        kinds.sort_by_key(|kind| core::cmp::Reverse(kind.bytes));
        kinds
    }

    /// Returns the fixed name of a node.
    fn fixed(&self, node: u32) -> &'static str {
        match self.map.node(node).map(|node| &node.label) {
            Some(Label::Fixed(name)) => name,
            _ => "",
        }
    }

    /// Returns the path of nodes from the outermost part to `node`.
    fn chain(&self, node: u32) -> ([u32; LEVELS], usize) {
        let (mut chain, mut len, mut at) = ([ROOT; LEVELS], 0usize, node);
        while at != ROOT
            && let (Some(slot), Some(node)) = (chain.get_mut(len), self.map.node(at))
        {
            *slot = at;
            len = len.saturating_add(1);
            at = node.parent;
        }
        chain.get_mut(..len).unwrap_or_default().reverse();
        (chain, len)
    }
}

/// The maximum number of levels of parts.
const LEVELS: usize = 8;
