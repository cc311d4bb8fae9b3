//! Claims on ranges of the file, and their resolution to pieces. If claims overlap, the first gets
//! the bytes.

use core::cmp::Reverse;
use core::ops::Range;

use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec::Vec;

use super::paths::{Paths, Precision};
use super::{Label, Map, Node, Piece, ROOT, User, index, narrow};
use pte_core::File;
use pte_flat::bytes::{len_of, wide};
use pte_flat::cost;

/// The claimed ranges and their parts, in the order of precedence.
pub(super) struct Claims<'a, 'p> {
    pub(super) len: u64,
    /// The range of the FlatBuffer in the file.
    pub(super) region_range: Range<u64>,
    pub(super) region: &'a [u8],
    header_end: u64,
    /// The length of the root offset and the identifier, if the FlatBuffer begins after the header.
    /// This is so in a `.ptd` of generation 0, and in payloads.
    header_apart: Option<u64>,
    /// The end of the last segment.
    pub(super) segments_end: u64,
    nodes: Vec<Node<'a>>,
    pub(super) users: Vec<User<'a>>,
    pub(super) paths: Paths,
    pub(super) segments: Vec<(Range<u64>, u32)>,
    claims: Vec<Claim>,
    /// The parts with fixed names, by their parent and name.
    known: BTreeMap<(u32, &'static str), u32>,
    scope: Scope,
    /// The tables of payloads.
    payloads: Vec<PayloadTables<'p>>,
}

/// The part of the map that new parts are added under: a file, or a payload in it.
#[derive(Clone, Copy)]
struct Scope {
    /// The part that is the file or the payload.
    base: u32,
    /// The name of the part with the tables.
    tables: &'static str,
}

/// The tables of a payload, whose padding is classified at the end.
struct PayloadTables<'p> {
    /// The part with the padding.
    padding: u32,
    /// The part with the unreferenced bytes.
    unreferenced: u32,
    /// The start of the tables in the file.
    begin: u64,
    region: &'p [u8],
}

struct Claim {
    start: u64,
    end: u64,
    order: u32,
    node: u32,
}

impl<'a, 'p> Claims<'a, 'p> {
    /// Creates an empty set of claims.
    pub(super) fn new(file: &File<'a>, precision: Precision) -> Self {
        let (region, header_apart, header) = match file {
            File::Pte(pte) => (pte.region(), false, pte.header().map(|header| header.length)),
            File::Ptd(ptd) => (ptd.region(), ptd.region_start() > 0, Some(ptd.header().length)),
        };
        // Except in generation 0, the root offset and the identifier are in front of the header.
        let before = if header_apart { 0 } else { 8 };
        let header_end = u64::from(header.unwrap_or_default()).saturating_add(before);
        let region = (file.region_range(), region);
        Self::bare(file.file_len(), region, (header_end, header_apart.then_some(8)), precision)
    }

    /// Creates an empty set of claims on a file of `len` bytes. The other arguments are the range
    /// and bytes of the tables, the end of the header, and the field `header_apart`.
    pub(super) fn bare(
        len: u64,
        (region_range, region): (Range<u64>, &'a [u8]),
        (header_end, header_apart): (u64, Option<u64>),
        precision: Precision,
    ) -> Self {
        let root = Node { label: Label::Fixed(FILE), parent: ROOT, bytes: 0, first: 0, next: 0 };
        Self {
            len,
            region_range,
            region,
            header_end,
            header_apart,
            segments_end: 0,
            nodes: vec![root],
            users: Vec::new(),
            paths: Paths::new(precision),
            segments: Vec::new(),
            claims: Vec::new(),
            known: BTreeMap::new(),
            scope: Scope { base: ROOT, tables: TABLES },
            payloads: Vec::new(),
        }
    }

    /// Claims the headers and the offset of the root table.
    pub(super) fn headers(&mut self) {
        // The parts are created in display order.
        let header = self.child(ROOT, HEADER);
        self.child(ROOT, HEADER_PADDING);
        self.child(ROOT, TABLES);
        self.claim(0..self.header_end, header);
        if let Some(len) = self.header_apart {
            let begin = self.region_range.start;
            self.claim(begin..begin.saturating_add(len), header);
        }
    }

    /// Returns the child of `parent` with a name, and creates it if necessary.
    pub(super) fn child(&mut self, parent: u32, name: &'static str) -> u32 {
        if let Some(&known) = self.known.get(&(parent, name)) {
            return known;
        }
        let node = self.node(parent, Label::Fixed(name));
        self.known.insert((parent, name), node);
        node
    }

    /// Returns the part of the current FlatBuffer with a name, and creates it if necessary.
    pub(super) fn section(&mut self, name: &'static str) -> u32 {
        let Scope { base, tables } = self.scope;
        let tables = self.child(base, tables);
        self.child(tables, name)
    }

    /// Returns the part that is the file, or the payload that is being claimed.
    pub(super) fn base(&self) -> u32 {
        self.scope.base
    }

    /// Claims a payload, which is the part `payload`, by `claim`: sections then go into its graph.
    pub(super) fn within_payload(&mut self, payload: u32, claim: impl FnOnce(&mut Self)) {
        let scope = Scope { base: payload, tables: GRAPH };
        let outer = core::mem::replace(&mut self.scope, scope);
        claim(self);
        self.scope = outer;
    }

    /// Claims the padding of a payload: that behind its header, and that in its tables, which begin
    /// at `begin` of the file.
    pub(super) fn payload_padding(&mut self, payload: Range<u64>, begin: u64, region: &'p [u8]) {
        if !region.is_empty() {
            let (padding, unreferenced) = (self.section(PADDING), self.section(UNREFERENCED));
            self.claim(begin..begin.saturating_add(wide(region.len())), padding);
            self.payloads.push(PayloadTables { padding, unreferenced, begin, region });
        }
        let node = self.child(self.scope.base, PADDING);
        self.claim(payload, node);
    }

    /// Creates a child of `parent`.
    pub(super) fn node(&mut self, parent: u32, label: Label<'a>) -> u32 {
        let node = narrow(self.nodes.len());
        self.nodes.push(Node { label, parent, bytes: 0, first: 0, next: 0 });
        node
    }

    /// Claims a range of the file for the part `node`.
    pub(super) fn claim(&mut self, range: Range<u64>, node: u32) {
        let (start, end) = (range.start, range.end.min(self.len));
        if start < end {
            let order = narrow(self.claims.len());
            self.claims.push(Claim { start, end, order, node });
        }
    }

    /// Claims the unclaimed bytes: padding, and bytes after the last segment.
    fn rest(&mut self) {
        let (begin, end) = (self.region_range.start, self.region_range.end);
        let segments_end = self.segments_end.max(end);
        let node = self.child(ROOT, HEADER_PADDING);
        self.claim(0..begin, node);
        let node = self.section(PADDING);
        self.claim(begin..end, node);
        let node = self.child(ROOT, PADDING);
        self.claim(end..segments_end, node);
        let node = self.child(ROOT, TRAILING);
        self.claim(segments_end..self.len, node);
    }

    pub(super) fn finish(mut self) -> Map<'a> {
        self.rest();
        let pieces = self.pieces();
        let pieces = self.classify_padding(pieces);
        for piece in &pieces {
            if let Some(node) = self.nodes.get_mut(index(piece.part)) {
                let bytes = len_of(&piece.range);
                node.bytes = node.bytes.saturating_add(bytes);
            }
        }
        // In reverse order, each part is visited before its parent, and the lists of children end
        // up in order.
        for nth in (1..narrow(self.nodes.len())).rev() {
            let Some(node) = self.nodes.get(index(nth)) else { continue };
            let (parent, bytes) = (node.parent, node.bytes);
            let Some(parent) = self.nodes.get_mut(index(parent)) else { continue };
            parent.bytes = parent.bytes.saturating_add(bytes);
            let next = core::mem::replace(&mut parent.first, nth);
            if let Some(node) = self.nodes.get_mut(index(nth)) {
                node.next = next;
            }
        }
        Map {
            nodes: self.nodes,
            pieces,
            users: self.users,
            paths: self.paths.finish(),
            segments: in_order(self.segments),
            region: self.region_range,
        }
    }

    /// Resolves overlapping claims to pieces.
    fn pieces(&mut self) -> Vec<Piece> {
        let mut claims = core::mem::take(&mut self.claims);
        cost::sort(claims.len());
        claims.sort_unstable_by_key(|claim| (claim.start, claim.order));
        let mut pieces: Vec<Piece> = Vec::new();
        // The claims that have begun, with the one that takes precedence on top. A claim that has
        // ended is removed when it reaches the top.
        let mut open: BinaryHeap<Reverse<(u32, u64, u32)>> = BinaryHeap::new();
        let (mut at, mut claims) = (0u64, claims.into_iter().peekable());
        while at < self.len {
            while let Some(claim) = claims.next_if(|claim| claim.start <= at) {
                open.push(Reverse((claim.order, claim.end, claim.node)));
            }
            while open.peek().is_some_and(|Reverse((_, end, _))| *end <= at) {
                open.pop();
            }
            let next = claims.peek().map_or(self.len, |claim| claim.start);
            let (end, node) = match open.peek() {
                Some(Reverse((_, end, node))) => (next.min(*end), *node),
                None => (next, ROOT),
            };
            match pieces.last_mut() {
                Some(last) if last.part == node => last.range.end = end,
                _ => pieces.push(Piece { range: at..end, part: node }),
            }
            at = end;
        }
        pieces
    }

    /// Splits padding into zero padding after the header, other zero padding, and unreferenced
    /// bytes.
    fn classify_padding(&mut self, mut pieces: Vec<Piece>) -> Vec<Piece> {
        let (header, behind) = (self.child(ROOT, HEADER), self.child(ROOT, HEADER_PADDING));
        let padding = self.section(PADDING);
        let unreferenced = self.section(UNREFERENCED);
        let tables = |part: u32| {
            cost::look_up("", self.payloads.len());
            // The tables of payloads are in the order of their parts.
            let nth = self.payloads.binary_search_by_key(&part, |tables| tables.padding);
            self.payloads.get(nth.ok()?)
        };
        let mut before = ROOT;
        for piece in &mut pieces {
            if piece.part == padding {
                let bytes = bytes_at(self.region, self.region_range.start, &piece.range);
                piece.part = match is_zero(bytes) {
                    true if before == header => behind,
                    true => padding,
                    false => unreferenced,
                };
            } else if let Some(tables) = tables(piece.part)
                && !is_zero(bytes_at(tables.region, tables.begin, &piece.range))
            {
                piece.part = tables.unreferenced;
            }
            before = piece.part;
        }
        pieces
    }
}

/// Returns whether all bytes are zero.
fn is_zero(bytes: &[u8]) -> bool {
    cost::charge(bytes.len());
    bytes.iter().all(|&byte| byte == 0)
}

/// Returns the bytes of a range of the file, which lies in the FlatBuffer that begins at `begin`.
fn bytes_at<'r>(region: &'r [u8], begin: u64, range: &Range<u64>) -> &'r [u8] {
    let at = |pos: u64| usize::try_from(pos.saturating_sub(begin)).unwrap_or(usize::MAX);
    region.get(at(range.start)..at(range.end)).unwrap_or_default()
}

/// Sorts segments by offset, and cuts off the bytes that belong to an earlier segment.
fn in_order(mut segments: Vec<(Range<u64>, u32)>) -> Vec<(Range<u64>, u32)> {
    cost::sort(segments.len());
    segments.sort_unstable_by_key(|(range, nth)| (range.start, *nth));
    let mut end = 0;
    for (range, _) in &mut segments {
        range.start = range.start.max(end);
        end = end.max(range.end);
    }
    segments.retain(|(range, _)| !range.is_empty());
    segments
}

pub(super) const FILE: &str = "file";
pub(super) const HEADER: &str = "header";
pub(super) const HEADER_PADDING: &str = "header padding";
pub(super) const TABLES: &str = "FlatBuffers part";
/// The name of the tables of a payload in a program.
const GRAPH: &str = "graph";
pub(super) const PADDING: &str = "padding";
pub(super) const UNREFERENCED: &str = "unreferenced bytes";
pub(super) const TRAILING: &str = "trailing bytes";
