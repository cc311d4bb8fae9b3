//! Claims the parts of payloads, in programs and in standalone files.

use core::ops::Range;

use alloc::vec::Vec;

use super::claims::{Claims, HEADER, HEADER_PADDING, PADDING};
use super::role::STANDARD;
use super::tables::Pass;
use super::{GraphPlace, Label, User, narrow};
use pte_core::file::HeaderField;
use pte_core::payload::{ConstantPlace, Layout, PayloadContents};

/// A delegate: its method, and its index in the method.
pub(super) type Delegate<'a> = (Option<&'a str>, u32);

impl<'a, 'p> Claims<'a, 'p> {
    /// Claims the parts of a payload in a program.
    pub(super) fn payload(&mut self, contents: &'p PayloadContents, delegate: Delegate<'a>) {
        let (base, start) = (self.base(), contents.range.start);
        let at =
            |range: Range<u64>| start.saturating_add(range.start)..start.saturating_add(range.end);
        let Some(layout) = &contents.layout else {
            let graph = self.child(base, "graph");
            self.claim(contents.graph.clone(), graph);
            self.constants(contents, delegate);
            let rest = self.child(base, "header and padding");
            self.claim(contents.range.clone(), rest);
            return;
        };
        // The parts are created in display order.
        let (header, padding) = (self.child(base, HEADER), self.child(base, HEADER_PADDING));
        let tables = layout.region_range();
        self.claim(at(0..layout.header_end), header);
        if let Some(len) = layout.header_apart {
            self.claim(at(tables.start..tables.start.saturating_add(len)), header);
        }
        self.constants(contents, delegate);
        if let Some(of) = layout.tables() {
            let pass = Pass::new(self, at(tables.clone()).start, &layout.region);
            pass.raw_root(of.root(), of.schema().root, GRAPH);
        }
        for section in layout.filled_sections() {
            let parent = self.child(base, SECTIONS);
            let node = self.child(parent, section.name);
            self.claim(at(section.range.clone()), node);
        }
        if let Some(range) = layout.table_of_contents() {
            let node = self.child(base, TABLE_OF_CONTENTS);
            self.claim(at(range), node);
        }
        self.rest_of_constants(at(layout.constants.clone()));
        self.claim(at(0..tables.start), padding);
        self.payload_padding(contents.range.clone(), at(tables).start, &layout.region);
    }

    /// Claims the constants of a payload.
    pub(super) fn constants(&mut self, contents: &PayloadContents, delegate: Delegate<'a>) {
        let parent = self.child(self.base(), CONSTANTS);
        for (place, user) in constants_of(contents, delegate) {
            let ConstantPlace::Payload(range) = place else { continue };
            let node = self.user_node(parent, user);
            self.claim(range.clone(), node);
        }
    }

    /// Claims the bytes between the constants of a payload, which together have this range.
    pub(super) fn rest_of_constants(&mut self, range: Range<u64>) {
        if !range.is_empty() {
            let parent = self.child(self.base(), CONSTANTS);
            let node = self.child(parent, PADDING);
            self.claim(range, node);
        }
    }

    /// Adds a part that is named by one user.
    pub(super) fn user_node(&mut self, parent: u32, user: User<'a>) -> u32 {
        let from = narrow(self.users.len());
        self.users.push(user);
        self.node(parent, Label::Users(from, narrow(self.users.len())))
    }
}

/// Returns the places of the data that a payload uses, each with its user.
pub(super) fn constants_of<'c, 'a>(
    contents: &'c PayloadContents,
    (method, delegate): Delegate<'a>,
) -> impl Iterator<Item = (&'c ConstantPlace, User<'a>)> {
    let constants = contents.constants.iter().flat_map(move |constant| {
        let user = |scales| User::Constant {
            method,
            delegate,
            value: constant.value,
            scales,
            reader: constant.reader,
        };
        let scales = constant.quantization.as_ref().and_then(|quantization| quantization.scales());
        let data = core::iter::once((&constant.data, user(false)));
        data.chain(scales.map(|scales| (scales, user(true))))
    });
    let uses = contents.uses.iter().map(move |one| {
        let (backend, place) = (contents.backend, GraphPlace::new(one.value, one.node));
        (&one.place, User::Graph { method, delegate, backend, key: None, place })
    });
    constants.chain(uses)
}

/// Returns the fields of the header of a payload, and the offset of the first one.
pub(super) fn header_fields(layout: &Layout, offset: u64) -> (Vec<&'static [HeaderField]>, u64) {
    let start = layout.region_range().start;
    let is_apart = layout.header_apart.is_some();
    let Some(place) = &layout.place else { return (Vec::new(), 0) };
    match layout.backend {
        _ if is_apart && offset >= start && place.root_length() == 4 => {
            (Vec::from([ROOT_OFFSET]), start)
        }
        _ if is_apart && offset >= start => (Vec::from([STANDARD]), start),
        _ if is_apart && !layout.header.is_empty() => (Vec::from([UNUSED, layout.header]), 0),
        None if layout.header_end > 8 => (Vec::from([SIZE, STANDARD]), 0),
        _ => (Vec::from([STANDARD]), 0),
    }
}

pub(super) const CONSTANTS: &str = "constants";
pub(super) const SECTIONS: &str = "sections";
pub(super) const TABLE_OF_CONTENTS: &str = "table of contents";

/// The first component of paths into the tables of a payload.
pub(super) const GRAPH: &str = "graph";

/// The first bytes of a payload with a header, in front of the magic.
const UNUSED: &[HeaderField] = &[("without a meaning", 4)];

/// The offset to the root of tables without an identifier.
const ROOT_OFFSET: &[HeaderField] = &[("root offset", 4)];

/// The size in front of a profile.
const SIZE: &[HeaderField] = &[("size", 4)];
