//! The layout of tables in the FlatBuffer: fields of a newer writer, and layouts that no writer
//! makes.
//!
//! The declarations that drive the verifier also drive this pass over its verified bytes. The pass
//! visits the tables only if the verifier has recorded anything unusual. All findings are about legal
//! files, some of them genuine (format.md §7.8).

use alloc::string::String;
use alloc::vec::Vec;

use super::report::Findings;
use super::rule::{Rule, rules};
use pte_core::ptd::Root;
use pte_core::verify::Verified;
use pte_core::{PathComponent, Ptd, Pte};
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_flat::desc::{FieldDesc, Kind, Prim, SLOTS_LOOKED_AT, TableDesc};
use pte_flat::view::{Raw, Table};

/// The most tables that FlatBuffers' C++ verifier visits (`max_tables`).
const MOST_TABLES: u64 = 1_000_000;

rules! {
    "layout";

    BOOL_BYTE = Warning "bool-byte"
        "A bool is stored as 0 or 1."
        "The runtime reads the byte as a C++ bool, for which another value is undefined."
        UNUSUAL
        Ignores ["7.7.17", "7.7.22"];
    EMPTY_VECTOR_MISALIGNED = Note "empty-vector-misaligned"
        "An empty vector is aligned like any other."
        "flatc does not align them, and some verifiers refuse such files."
        HARMLESS
        Ignores ["7.8"];
    FIELDS_OVERLAP = Warning "fields-overlap"
        "The fields of a table do not share bytes."
        "No writer does this: the same bytes would have two meanings."
        UNUSUAL
        Ignores ["7.7.8"];
    HEADER_REFERENCED = Warning "header-referenced"
        "No table, vtable, string or vector lies inside the extended header."
        "No writer does this: the same bytes would have two meanings."
        "Do not trust the file before you know what reads these bytes."
        Ignores ["1.5", "7.7.9"]
        untrusted_upload "Readers that know the header and readers that do not see different files.";
    OBJECT_SIZE_TOO_SMALL = Note "object-size-too-small"
        "A table's declared size covers its fields."
        "A Python builder of 2025 got it wrong; readers that trust it refuse such files."
        "Export the program again with a current release."
        Ignores ["7.7.8", "7.8"];
    PADDING_NOT_ZERO = Warning "padding-not-zero"
        "The bytes after the extended header are zero."
        "Every writer writes zeros: other bytes may have been hidden there."
        "Ask the writer of the file what these bytes are: no runtime reads them."
        Ignores ["7.7.3"]
        untrusted_upload "Bytes that no runtime reads may hide something.";
    TABLES_MANY = Warning "tables-many"
        "There are at most 1,000,000 tables, each counted as often as something refers to it."
        "The runtime's strict setting, InternalConsistency, gives up there and refuses the file."
        UNUSUAL
        Refuses ["0.2", "1.3.9", "7.2.1", "7.7.10"];
    UNKNOWN_FIELD = Note "unknown-field"
        "Every field of a table is one that this version knows."
        "A newer writer made the file: the content of the field is unknown."
        "Read the file with a newer release of this tool."
        Ignores ["3.3"];
}

pub(super) fn pte(pte: &Pte<'_>, out: &mut Findings) {
    let header = pte.header().map_or(8, |header| u64::from(header.length).saturating_add(8));
    let mut pass = Pass::new(out, "program", 0, pte.region(), header);
    pass.run(pte.verified(), |pass| pass.table(pte.program().raw(), described(&pte.program())));
}

pub(super) fn ptd(ptd: &Ptd<'_>, out: &mut Findings) {
    let begin = ptd.region_start();
    // A `.ptd` of generation 0 has its header in front of the FlatBuffer, not inside.
    let header = if begin == 0 { u64::from(ptd.header().length).saturating_add(8) } else { 8 };
    let mut pass = Pass::new(out, "flat_tensor", begin, ptd.region(), header);
    pass.run(ptd.verified(), |pass| match ptd.root() {
        Root::Current(root) => pass.table(root.raw(), described(&root)),
        Root::Legacy(root) => pass.table(root.raw(), described(&root)),
    });
}

fn described<'a, T: Table<'a>>(_: &T) -> &'static TableDesc {
    T::DESC
}

struct Pass<'p> {
    out: &'p mut Findings,
    path: Vec<PathComponent>,
    /// The offset of the FlatBuffer in the file.
    begin: u64,
    region: &'p [u8],
    /// The end of the headers, as a position in the FlatBuffer.
    header: u64,
    /// The lowest referenced position after the headers.
    lowest: u64,
    /// The number of findings so far.
    found: u64,
    /// A cache of vtables without findings, each with the table type that it was judged as.
    clean: [Option<(u32, &'static TableDesc)>; CLEAN],
}

impl<'p> Pass<'p> {
    fn new(
        out: &'p mut Findings,
        root: &'static str,
        begin: u64,
        region: &'p [u8],
        header: u64,
    ) -> Self {
        Self {
            out,
            path: vec![PathComponent::Field(root)],
            begin,
            region,
            header,
            lowest: u64::MAX,
            found: 0,
            clean: [None; CLEAN],
        }
    }

    /// Judges the tables if the verifier has recorded anything unusual or a reference into the header.
    /// Always judges the padding in front of the tables.
    ///
    /// A debug build always judges the tables, to check the verifier.
    fn run(&mut self, verified: Verified, tables: impl FnOnce(&mut Self)) {
        let lowest = verified.lowest().into();
        let needed = verified.is_unusual() || lowest < self.header;
        if needed || cfg!(debug_assertions) {
            tables(self);
            debug_assert!(
                needed || (self.found, self.lowest) == (0, lowest),
                "what the walk noted"
            );
        }
        if !needed {
            self.lowest = lowest;
        }
        if verified.tables() > MOST_TABLES {
            self.find(&TABLES_MANY, verified.position(), || {
                format!("{} tables", verified.tables())
            });
        }
        self.padding();
    }

    fn find(&mut self, rule: &'static Rule, pos: u32, message: impl FnOnce() -> String) {
        let offset = self.begin.saturating_add(pos.into());
        self.found = self.found.saturating_add(1);
        let path = &self.path;
        self.out.find(rule, offset, || path.clone(), message);
    }

    /// Records a reference to `pos`.
    fn refer(&mut self, pos: u32, what: &str) {
        let at = u64::from(pos);
        if at >= self.header {
            self.lowest = self.lowest.min(at);
        } else {
            let end = self.header;
            self.find(&HEADER_REFERENCED, pos, || {
                format!("a {what} begins at {at:#x}, inside the header, which ends at {end:#x}")
            });
        }
    }

    fn table(&mut self, raw: Raw<'_>, desc: &'static TableDesc) {
        self.refer(raw.pos(), "table");
        self.refer(raw.vtable_pos(), "vtable");
        self.shape(raw, desc);
        for field in desc.fields {
            self.path.push(PathComponent::Field(field.name));
            self.field(raw, field);
            self.path.pop();
        }
    }

    fn field(&mut self, raw: Raw<'_>, field: &'static FieldDesc) {
        match field.kind {
            Kind::Scalar(scalar) => {
                if scalar.prim == Prim::Bool
                    && let Some(pos) = raw.field_pos(field.slot)
                {
                    let byte = raw.scalar::<u8>(field.slot).into_iter();
                    self.bools(byte, pos);
                }
            }
            Kind::Str => {
                if let Some(pos) = raw.target_pos(field.slot) {
                    self.refer(pos, "string");
                }
            }
            Kind::Table(desc) => {
                if let Some(table) = raw.target(field.slot) {
                    self.table(table, desc);
                }
            }
            Kind::Scalars { prim, .. } => {
                let Some((bytes, first)) = raw.vector_bytes(field.slot, prim) else { return };
                self.refer(first.saturating_sub(4), "vector");
                let apart = first & u32::from(prim.size()).saturating_sub(1);
                if bytes.is_empty() && apart != 0 {
                    self.find(&EMPTY_VECTOR_MISALIGNED, first, || {
                        let (name, size) = (prim.name(), prim.size());
                        format!("an empty vector of {name}, not at a multiple of {size}")
                    });
                }
                if prim == Prim::Bool {
                    self.bools(bytes.iter().copied(), first);
                }
            }
            Kind::Strs => {
                let Some(strings) = raw.strings(field.slot) else { return };
                self.refer(strings.pos().saturating_sub(4), "vector");
                let places = (0..).map_while(|nth| strings.place(nth));
                places.for_each(|pos| self.refer(pos, "string"));
            }
            Kind::Tables(desc) => {
                let Some(list) = raw.list::<Raw<'_>>(field.slot) else { return };
                self.refer(list.pos().saturating_sub(4), "vector");
                for (nth, table) in (0..).zip(list.raws()) {
                    self.path.push(PathComponent::Index(nth));
                    self.table(table, desc);
                    self.path.pop();
                }
            }
            Kind::Union(desc) => {
                // An unknown member is reported by another rule: value-unknown, instruction-unknown.
                let Some((tag, value)) = raw.union(field.slot) else { return };
                if let Some(member) = desc.member(tag) {
                    self.path.push(PathComponent::Variant(member.name));
                    self.table(value.resolved(), member.table);
                    self.path.pop();
                }
            }
        }
    }

    fn bools(&mut self, bytes: impl Iterator<Item = u8>, pos: u32) {
        let counted = bytes.inspect(|_| cost::charge(1));
        if let Some((nth, byte)) = (0..).zip(counted).find(|(_, byte)| *byte > 1) {
            self.find(&BOOL_BYTE, pos.saturating_add(nth), || format!("a bool of {byte}"));
        }
    }

    /// Judges a vtable. Vtables without findings are cached, because many tables may share one.
    fn shape(&mut self, raw: Raw<'_>, desc: &'static TableDesc) {
        let slot = index(raw.vtable_pos() >> 1) & (CLEAN - 1);
        let known = self.clean.get(slot).copied().flatten();
        if known.is_some_and(|(pos, of)| pos == raw.vtable_pos() && core::ptr::eq(of, desc)) {
            return;
        }
        let before = self.found;
        self.unknown_fields(raw, desc);
        self.extents(raw, desc);
        if self.found == before
            && let Some(clean) = self.clean.get_mut(slot)
        {
            *clean = Some((raw.vtable_pos(), desc));
        }
    }

    fn unknown_fields(&mut self, raw: Raw<'_>, desc: &'static TableDesc) {
        let known = desc.slots();
        let slots = raw.vtable_len().saturating_sub(4) >> 1;
        // Only the first unknown slots are checked: a vtable may have 32,000, and many tables may
        // share it.
        for slot in known..slots.min(known.saturating_add(SLOTS_LOOKED_AT)) {
            if raw.offset_of(slot) != 0 {
                // The verifier has proven that the vtable's entry is in the file, not that the
                // unknown field is.
                let entry = u32::from(slot).saturating_mul(2).saturating_add(4);
                self.find(&UNKNOWN_FIELD, raw.vtable_pos().saturating_add(entry), || {
                    format!("slot {slot} of {} is not known; {known} are", desc.name)
                });
                return;
            }
        }
    }

    /// Judges the positions of the fields of a table. A table has at most eleven fields.
    fn extents(&mut self, raw: Raw<'_>, desc: &'static TableDesc) {
        let declared = raw.declared_size();
        let mut fields: Vec<(u16, u16, &'static str)> = Vec::new();
        for field in desc.fields {
            let size = field.kind.inline_size();
            match field.slots() {
                1 => fields.push((raw.offset_of(field.slot), size, field.name)),
                _ => {
                    fields.push((raw.offset_of(field.slot), 1, field.name));
                    let value = field.slot.saturating_add(1);
                    fields.push((raw.offset_of(value), size, field.name));
                }
            }
        }
        fields.retain(|&(offset, ..)| offset != 0);
        cost::sort(fields.len());
        fields.sort_unstable();
        let end = fields.iter().map(|&(offset, size, _)| offset.saturating_add(size)).max();
        if let Some(end) = end.filter(|&end| end > declared) {
            self.find(&OBJECT_SIZE_TOO_SMALL, raw.vtable_pos(), || {
                format!("{} declares {declared} bytes, and its fields take {end}", desc.name)
            });
        }
        for pair in fields.windows(2) {
            if let [(offset, size, one), (next, _, other)] = *pair
                && offset.saturating_add(size) > next
            {
                self.find(&FIELDS_OVERLAP, raw.pos().saturating_add(next.into()), || {
                    format!("{one} and {other} of {} share bytes", desc.name)
                });
            }
        }
    }

    /// Judges the padding between the headers and the first referenced byte. A `.pte` header does
    /// not state the length of the padding. So all unreferenced bytes count as padding, up to
    /// [`PADDING`] bytes.
    fn padding(&mut self) {
        let end = self.lowest.min(self.header.saturating_add(PADDING));
        let (Ok(from), Ok(to)) = (u32::try_from(self.header), u32::try_from(end)) else { return };
        let bytes = self.region.get(index(from)..index(to)).unwrap_or_default();
        cost::charge(bytes.len());
        if let Some((pos, byte)) = (from..).zip(bytes).find(|(_, byte)| **byte != 0) {
            self.path.truncate(0);
            self.path.push(PathComponent::Field("header"));
            self.find(&PADDING_NOT_ZERO, pos, || format!("a byte of {byte:#04x} in the padding"));
        }
    }
}

/// The number of cached vtables: a power of two.
const CLEAN: usize = 64;

/// The longest padding after a header: the greatest alignment of any writer.
const PADDING: u64 = 4096;
