//! Attributes the bytes of the FlatBuffer in one pass over its tables.

use alloc::vec::Vec;

use super::claims::Claims;
use super::paths::ObjectKind;
use super::role::{self, RoleRange};
use super::{Label, ROOT, index, narrow};
use pte_core::PathComponent;
use pte_flat::bytes::{u32_at, wide};
use pte_flat::desc::{FieldDesc, Kind, TableDesc};
use pte_flat::view::{List, Raw, Table};
use pte_schema::program::view::ExecutionPlan;

/// Visits each object once, and claims it for the first reference that reaches it.
pub(super) struct Pass<'c, 'a, 'p, 'r> {
    claims: &'c mut Claims<'a, 'p>,
    /// The start of the FlatBuffer in the file.
    begin: u64,
    region: &'r [u8],
    /// The methods of a program, for their names.
    plans: List<'a, ExecutionPlan<'a>>,
    tables: Bits,
    vectors: Bits,
    vtables: Bits,
    /// The declared ranges of tables that are longer than their fields. They are claimed last.
    declared: Vec<(u32, u32, u32)>,
    /// The index of the map's part that holds the current method; `ROOT` before the first method.
    method: u32,
    /// The number of methods so far.
    methods: u32,
}

impl<'c, 'a, 'p> Pass<'c, 'a, 'p, 'a> {
    /// Begins a visit of the file's FlatBuffer.
    pub(super) fn of_file(claims: &'c mut Claims<'a, 'p>) -> Self {
        let (begin, region) = (claims.region_range.start, claims.region);
        Self::new(claims, begin, region)
    }

    /// Sets the methods of the program that is visited.
    pub(super) fn with_plans(self, plans: Option<List<'a, ExecutionPlan<'a>>>) -> Self {
        Self { plans: plans.unwrap_or_default(), ..self }
    }
}

impl<'c, 'a, 'p, 'r> Pass<'c, 'a, 'p, 'r> {
    /// Begins a visit of a FlatBuffer with the bytes `region`, which begins at `begin` of the file.
    pub(super) fn new(claims: &'c mut Claims<'a, 'p>, begin: u64, region: &'r [u8]) -> Self {
        let len = region.len();
        claims.paths.begin(begin..begin.saturating_add(wide(len)));
        Self {
            begin,
            region,
            plans: List::default(),
            tables: Bits::new(len / 4),
            vectors: Bits::new(len / 4),
            vtables: Bits::new(len / 2),
            declared: Vec::new(),
            method: ROOT,
            methods: 0,
            claims,
        }
    }

    /// Visits everything that the root refers to.
    pub(super) fn root<T: Table<'r>>(self, root: T, name: &'static str) {
        self.raw_root(root.raw(), T::DESC, name);
    }

    /// Visits everything that a root of type `desc` refers to.
    pub(super) fn raw_root(mut self, root: Raw<'r>, desc: &'static TableDesc, name: &'static str) {
        let section = self.claims.section("root");
        let back = self.claims.paths.enter(PathComponent::Field(name));
        self.table(root, desc, section);
        self.claims.paths.leave(back);
        for (pos, bytes, node) in core::mem::take(&mut self.declared) {
            // The declared size of a table is not proven, so it may exceed the region.
            let room = narrow(self.region.len()).saturating_sub(pos);
            self.claim(pos, bytes.min(room), node);
        }
    }

    fn claim(&mut self, pos: u32, bytes: u32, node: u32) {
        let start = self.begin.saturating_add(pos.into());
        self.claims.claim(start..start.saturating_add(bytes.into()), node);
    }

    /// Claims an object of `bytes` bytes at `pos`. `of` is called if the object contains the wanted
    /// byte.
    fn thing(
        &mut self,
        pos: u32,
        bytes: u32,
        node: u32,
        what: ObjectKind,
        of: impl FnOnce(u32) -> RoleRange,
    ) -> u32 {
        let node = match self.claims.paths.keep(pos, bytes, of) {
            Some(last) => self.claims.node(node, Label::Object(last, what)),
            None => node,
        };
        self.claim(pos, bytes, node);
        node
    }

    fn table(&mut self, raw: Raw<'r>, desc: &'static TableDesc, section: u32) {
        if !self.tables.insert(raw.pos() >> 2) {
            return;
        }
        let node = self.claims.child(section, desc.name);
        if self.vtables.insert(raw.vtable_pos() >> 1) {
            let vtables = self.claims.section(VTABLES);
            let (pos, bytes) = (raw.vtable_pos(), raw.vtable_len().into());
            self.thing(pos, bytes, vtables, ObjectKind::Vtable, |at| {
                role::in_vtable(raw, desc, at)
            });
        }
        let end = extent(raw, desc);
        let (pos, declared) = (raw.pos(), raw.declared_size());
        let tail = self.claims.paths.keep_tail(pos, end, declared);
        let node = match tail {
            Some(last) => self.claims.node(node, Label::Object(last, ObjectKind::Table)),
            None => node,
        };
        let in_table = |at| role::in_table(raw, desc, end, at);
        let node = self.thing(pos, end.into(), node, ObjectKind::Table, in_table);
        if declared > end {
            self.declared.push((pos, declared.into(), node));
        }
        for field in desc.fields {
            self.field(raw, desc, field, section);
        }
    }

    fn field(
        &mut self,
        raw: Raw<'r>,
        desc: &'static TableDesc,
        field: &'static FieldDesc,
        section: u32,
    ) {
        match field.kind {
            Kind::Scalar(_) => {}
            Kind::Str => {
                let Some(pos) = raw.target_pos(field.slot) else { return };
                if self.vectors.insert(pos >> 2) {
                    let section = self.owner(desc, field, section);
                    let node = self.claims.child(section, STRINGS);
                    let back = self.claims.paths.enter(PathComponent::Field(field.name));
                    self.text(pos, node);
                    self.claims.paths.leave(back);
                }
            }
            Kind::Strs => {
                let Some(strings) = raw.strings(field.slot) else { return };
                let pos = strings.pos().saturating_sub(4);
                if !self.vectors.insert(pos >> 2) {
                    return;
                }
                let section = self.owner(desc, field, section);
                let node = self.claims.child(section, STRINGS);
                let back = self.claims.paths.enter(PathComponent::Field(field.name));
                let bytes = narrow(strings.len()).saturating_mul(4).saturating_add(4);
                let region = self.region;
                let in_list = |at| role::in_tables(region, pos, at);
                self.thing(pos, bytes, node, ObjectKind::Vector, in_list);
                let places = (0..).map_while(|nth| Some((nth, strings.place(nth)?)));
                for (nth, pos) in places {
                    if self.vectors.insert(pos >> 2) {
                        let element = self.claims.paths.enter(PathComponent::Index(nth));
                        self.text(pos, node);
                        self.claims.paths.leave(element);
                    }
                }
                self.claims.paths.leave(back);
            }
            Kind::Scalars { prim, .. } => {
                let Some((bytes, first)) = raw.vector_bytes(field.slot, prim) else { return };
                let pos = first.saturating_sub(4);
                if self.vectors.insert(pos >> 2) {
                    let section = self.owner(desc, field, section);
                    let node = self.claims.child(section, desc.name);
                    let back = self.claims.paths.enter(PathComponent::Field(field.name));
                    let in_vector = |at| role::in_numbers(pos, bytes, prim, at);
                    let bytes = narrow(bytes.len()).saturating_add(4);
                    self.thing(pos, bytes, node, ObjectKind::Vector, in_vector);
                    self.claims.paths.leave(back);
                }
            }
            Kind::Table(of) => {
                if let Some(table) = raw.target(field.slot) {
                    let section = self.owner(desc, field, section);
                    let back = self.claims.paths.enter(PathComponent::Field(field.name));
                    self.table(table, of, section);
                    self.claims.paths.leave(back);
                }
            }
            Kind::Tables(of) => self.list(raw, desc, field, of, section),
            Kind::Union(union) => {
                let Some((tag, value)) = raw.union(field.slot) else { return };
                if let Some(member) = union.member(tag) {
                    let back = self.claims.paths.enter(PathComponent::Field(field.name));
                    self.claims.paths.enter(PathComponent::Variant(member.name));
                    self.table(value.resolved(), member.table, section);
                    self.claims.paths.leave(back);
                }
            }
        }
    }

    /// Claims the string at `pos`.
    fn text(&mut self, pos: u32, node: u32) {
        let len = u32_at(self.region, index(pos)).unwrap_or_default();
        // The bytes include the length before the text, and the zero after it.
        let bytes = len.saturating_add(5);
        let in_text = |at| role::in_text(pos, len, at);
        self.thing(pos, bytes, node, ObjectKind::Text, in_text);
    }

    fn list(
        &mut self,
        raw: Raw<'r>,
        desc: &'static TableDesc,
        field: &'static FieldDesc,
        of: &'static TableDesc,
        section: u32,
    ) {
        let Some(list) = raw.list::<Raw<'r>>(field.slot) else { return };
        let section = self.owner(desc, field, section);
        let pos = list.pos().saturating_sub(4);
        if !self.vectors.insert(pos >> 2) {
            return;
        }
        let node = self.claims.child(section, of.name);
        let bytes = narrow(list.len()).saturating_mul(4);
        let back = self.claims.paths.enter(PathComponent::Field(field.name));
        let region = self.region;
        let in_list = |at| role::in_tables(region, pos, at);
        self.thing(pos, bytes.saturating_add(4), node, ObjectKind::Vector, in_list);
        let methods = core::ptr::eq(of, ExecutionPlan::DESC);
        for (nth, table) in (0..).zip(list.raws()) {
            let mut section = section;
            if methods {
                if self.tables.contains(table.pos() >> 2) {
                    continue;
                }
                section = self.method(nth);
            }
            let element = self.claims.paths.enter(PathComponent::Index(nth));
            self.table(table, of, section);
            self.claims.paths.leave(element);
        }
        self.claims.paths.leave(back);
    }

    /// Creates the part of a method, which becomes the current one.
    fn method(&mut self, nth: u32) -> u32 {
        let parent = self.claims.section("methods");
        self.methods = self.methods.saturating_add(1);
        self.method = match self.methods {
            // Each read of a name checks it to be UTF-8. The verifier charged this once for each
            // plan.
            0..=MOST_METHODS => {
                let name = self.plans.get(index(nth)).and_then(|plan| plan.name());
                self.claims.node(parent, Label::Method(name))
            }
            _ => self.claims.child(parent, "other methods"),
        };
        self.claims.child(self.method, "signature")
    }

    /// Returns the part for the targets of `field`: a separate part, or else the part of the
    /// field's table.
    fn owner(&mut self, desc: &'static TableDesc, field: &'static FieldDesc, section: u32) -> u32 {
        let section_of_method = match (desc.name, field.name) {
            ("ExecutionPlan", "values") => "values",
            ("ExecutionPlan", "chains") => "instructions",
            ("ExecutionPlan", "operators") => "operators",
            ("ExecutionPlan", "delegates") => "delegates",
            ("ExecutionPlan", "non_const_buffer_sizes" | "non_const_buffer_device") => "arenas",
            ("Chain", "stacktrace") => "stack traces",
            ("Program", "execution_plan") => return self.claims.section("root"),
            ("Program", "constant_buffer") => return self.claims.section(INLINE_CONSTANTS),
            ("Program", "backend_delegate_data") => return self.claims.section(INLINE_PAYLOADS),
            ("Program", "constant_segment" | "mutable_data_segments") => {
                return self.claims.section("offsets of constants");
            }
            ("XNNGraph", "xnodes") => return self.claims.section("nodes"),
            ("XNNGraph", "xvalues") => return self.claims.section("values"),
            ("XNNGraph", "constant_data") => return self.claims.section("offsets of constants"),
            ("XNNGraph", "constant_buffer") => return self.claims.section(INLINE_CONSTANTS),
            ("VkGraph", "chain") => return self.claims.section("nodes"),
            ("VkGraph", "values") => return self.claims.section("values"),
            ("VkGraph", "constants") => return self.claims.section("offsets of constants"),
            ("VkGraph", "shaders") => return self.claims.section("shaders"),
            ("Graph", "nodes") => return self.claims.section("nodes"),
            ("Graph", "tensor_values") => return self.claims.section("values"),
            ("Method", "constants") => return self.claims.section("keys of constants"),
            ("MLXGraph", "instruction_chains") => return self.claims.section("nodes"),
            ("MLXGraph", "tensor_meta") => return self.claims.section("values"),
            ("MLXGraph", "named_slots") => return self.claims.section("named slots"),
            ("BundledProgram", "method_test_suites") => return self.claims.section("test suites"),
            (_, "segments") => return self.claims.section("table of segments"),
            ("Program", "named_data") => return self.claims.section("table of named data"),
            ("FlatTensor", "named_data" | "tensors") => return self.claims.section("entries"),
            _ => return section,
        };
        match self.method {
            // No method was visited yet.
            ROOT => section,
            method => self.claims.child(method, section_of_method),
        }
    }
}

/// Returns the number of bytes of a table up to the end of its last field.
fn extent(raw: Raw<'_>, desc: &'static TableDesc) -> u16 {
    let mut end = 4u16;
    let mut field_ends = |offset: u16, size: u16| {
        if offset != 0 {
            end = end.max(offset.saturating_add(size));
        }
    };
    for field in desc.fields {
        let size = field.kind.inline_size();
        match field.slots() {
            1 => field_ends(raw.offset_of(field.slot), size),
            _ => {
                field_ends(raw.offset_of(field.slot), 1);
                field_ends(raw.offset_of(field.slot.saturating_add(1)), size);
            }
        }
    }
    end
}

/// A set of visited positions in the FlatBuffer.
struct Bits(Vec<u64>);

impl Bits {
    fn new(places: usize) -> Self {
        Self(vec![0; (places / 64).saturating_add(1)])
    }

    fn contains(&self, place: u32) -> bool {
        self.0.get(index(place >> 6)).is_some_and(|word| word & bit(place) != 0)
    }

    /// Adds a position, and returns whether it is new.
    fn insert(&mut self, place: u32) -> bool {
        let Some(word) = self.0.get_mut(index(place >> 6)) else { return false };
        let new = *word & bit(place) == 0;
        *word |= bit(place);
        new
    }
}

fn bit(place: u32) -> u64 {
    1u64.wrapping_shl(place & 63)
}

/// The maximum number of methods that get a part each. Genuine files have fewer.
const MOST_METHODS: u32 = 1024;

pub(super) const INLINE_CONSTANTS: &str = "inline constants";
pub(super) const INLINE_PAYLOADS: &str = "inline payloads";
const STRINGS: &str = "strings";
pub(super) const VTABLES: &str = "vtables";
