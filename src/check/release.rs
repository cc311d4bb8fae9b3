//! Rules on what a release of the runtime does not know yet: fields and named values here, operators and dtypes in
//! `operators`.

use alloc::vec::Vec;

use super::report::Findings;
use super::rule::{Rule, rules};
use pte_core::ptd::Root;
use pte_core::release::Release;
use pte_core::{File, PathComponent};
use pte_flat::desc::{EnumDesc, FieldDesc, Kind, Number, ScalarDesc, TableDesc};
use pte_flat::view::{List, Raw, Table};

mod operators;

pub(super) use operators::is_newer;

rules! {
    "release";

    NEEDS_NEWER_RUNTIME = Error "needs-newer-runtime"
        "The release that the file is judged for knows every field that the file's data needs."
        "An older runtime ignores the field, and finds no data or uses the wrong data."
        "Use a newer runtime, or export the program with the release that you ship."
        Misreads ["3.3", "4.1", "4.3"];
    NEWER_THAN_RUNTIME = Warning "newer-than-runtime"
        "The release that the file is judged for knows every field and every named value."
        "An older runtime ignores the field, or may not know the value."
        "Use a newer runtime, or export the program with the release that you ship."
        Ignores ["3.3", "5"];
    OPERATOR_DTYPE = Error "operator-dtype"
        "The release that the file is judged for has kernels for the dtypes of the calls of its operators."
        "Running the method is refused, or the kernel aborts."
        "Use a runtime whose kernel takes the dtype, or cast the tensor in the model."
        Refuses ["6.12"];
    OPERATOR_NEWER = Error "operator-newer"
        "The release that the file is judged for has every operator that a method or a Vulkan graph calls."
        "An older runtime does not find the operator and refuses the method; the Vulkan backend aborts."
        "Use a runtime that has the operator, or lower the call to a backend that has one."
        Refuses ["6.11", "11.11"];
}

/// The fields that a runtime must know to find the data of a file, as pairs of table and field.
///
/// Device fields are not in the list: older runtimes use the host for everything, and backends know
/// their own memory.
const NEEDED: &[(&str, &str)] = &[
    ("AllocationDetails", "memory_offset_high"),
    ("ExtraTensorInfo", "location"),
    ("FlatTensor", "named_data"),
    ("FlatTensor", "segments"),
    ("FlatTensor", "tensors"),
    ("Program", "constant_segment"),
    ("Program", "mutable_data_segments"),
    ("Program", "named_data"),
];

/// Reports the fields, values and operators that a release after `release` added.
///
/// [`is_refused_by`](super::Rule::is_refused_by) covers old files that a release no longer reads.
pub(crate) fn judge(file: &File<'_>, release: Release, out: &mut Findings) {
    match file {
        File::Pte(pte) => {
            Pass::new(release, "program", 0, out).root(pte.program());
            operators::judge(pte, release, out);
        }
        File::Ptd(ptd) => {
            let mut pass = Pass::new(release, "flat_tensor", ptd.region_start(), out);
            match ptd.root() {
                Root::Current(root) => pass.root(root),
                Root::Legacy(root) => pass.root(root),
            }
        }
    }
}

/// Parses the release in a schema declaration, such as `1.2`. `None` stands for the first release.
fn since(text: Option<&str>) -> Option<Release> {
    let (major, minor) = text?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

struct Pass<'o> {
    out: &'o mut Findings,
    release: Release,
    path: Vec<PathComponent>,
    /// The offset of the FlatBuffer in the file.
    begin: u64,
}

impl<'o> Pass<'o> {
    fn new(release: Release, root: &'static str, begin: u64, out: &'o mut Findings) -> Self {
        Self { out, release, path: vec![PathComponent::Field(root)], begin }
    }

    fn root<'a, T: Table<'a>>(&mut self, root: T) {
        self.table(root.raw(), T::DESC);
    }

    fn table(&mut self, raw: Raw<'_>, desc: &'static TableDesc) {
        for field in desc.fields {
            if raw.offset_of(field.slot) == 0 {
                continue;
            }
            self.path.push(PathComponent::Field(field.name));
            match since(field.since).filter(|since| *since > self.release) {
                // The contents of the field are not judged: the runtime does not read this field.
                Some(_) if says_something(raw, field) => {
                    let rule = match is_needed(raw, desc, field) {
                        true => &NEEDS_NEWER_RUNTIME,
                        false => &NEWER_THAN_RUNTIME,
                    };
                    self.find(rule, raw, field, field.name, field.since);
                }
                Some(_) => {}
                None => self.field(raw, field),
            }
            self.path.pop();
        }
    }

    fn field(&mut self, raw: Raw<'_>, field: &'static FieldDesc) {
        match field.kind {
            Kind::Scalar(ScalarDesc { prim, names: Some(names), .. }) => {
                let number = raw.number(field.slot, prim);
                if let Some((name, brought)) = number.and_then(|number| named(names, number))
                    && since(brought).is_some_and(|since| since > self.release)
                {
                    self.find(&NEWER_THAN_RUNTIME, raw, field, name, brought);
                }
            }
            Kind::Scalar(_) | Kind::Str | Kind::Strs | Kind::Scalars { .. } => {}
            Kind::Table(desc) => {
                if let Some(table) = raw.target(field.slot) {
                    self.table(table, desc);
                }
            }
            Kind::Tables(desc) => {
                let list: Option<List<'_, Raw<'_>>> = raw.list(field.slot);
                for (nth, table) in (0..).zip(list.into_iter().flat_map(|list| list.raws())) {
                    self.path.push(PathComponent::Index(nth));
                    self.table(table, desc);
                    self.path.pop();
                }
            }
            Kind::Union(desc) => {
                let Some((tag, value)) = raw.union(field.slot) else { return };
                if let Some(member) = desc.member(tag) {
                    self.path.push(PathComponent::Variant(member.name));
                    self.table(value.resolved(), member.table);
                    self.path.pop();
                }
            }
        }
    }

    fn find(
        &mut self,
        rule: &'static Rule,
        raw: Raw<'_>,
        field: &FieldDesc,
        name: &str,
        brought: Option<&str>,
    ) {
        let at = raw.field_pos(field.slot).unwrap_or(raw.pos());
        let offset = self.begin.saturating_add(at.into());
        let (path, (major, minor)) = (&self.path, self.release);
        self.out.find(
            rule,
            offset,
            || path.clone(),
            || {
                let brought = brought.unwrap_or_default();
                format!("{name} came with release {brought}, and the file is for {major}.{minor}")
            },
        );
    }
}

/// Returns whether a runtime must know a field to read the file. If the field is a table, a needed
/// field of that table counts too.
fn is_needed(raw: Raw<'_>, desc: &TableDesc, field: &FieldDesc) -> bool {
    NEEDED.contains(&(desc.name, field.name))
        || matches!(field.kind, Kind::Table(desc) if raw.target(field.slot).is_some_and(|table| {
            let mut fields = desc.fields.iter().filter(|field| table.offset_of(field.slot) != 0);
            fields.any(|field| {
                NEEDED.contains(&(desc.name, field.name)) && says_something(table, field)
            })
        }))
}

/// Returns the name of an enum's value, and the release that added the value.
fn named(names: &'static EnumDesc, number: Number) -> Option<(&'static str, Option<&'static str>)> {
    let Number::Int(number) = number else { return None };
    let value = names.values.iter().find(|value| i128::from(value.number) == number)?;
    Some((value.name, value.since))
}

/// Returns whether a field differs from its default. Some writers store defaults and empty lists.
fn says_something(raw: Raw<'_>, field: &FieldDesc) -> bool {
    match field.kind {
        Kind::Scalar(scalar) => {
            raw.number(field.slot, scalar.prim).is_some_and(|number| number != scalar.default)
        }
        Kind::Str => raw.str(field.slot).is_some_and(|text| !text.is_empty()),
        Kind::Strs => raw.strings(field.slot).is_some_and(|strings| !strings.is_empty()),
        Kind::Scalars { prim, .. } => {
            let bytes = raw.vector_bytes(field.slot, prim).map_or(0, |(bytes, _)| bytes.len());
            // The first offset of a list of offsets is reserved and has no meaning.
            let reserved = if field.name == "offsets" { prim.size().into() } else { 0 };
            bytes > reserved
        }
        Kind::Table(desc) => raw.target(field.slot).is_some_and(|table| table_says(table, desc)),
        Kind::Tables(desc) => {
            let list: Option<List<'_, Raw<'_>>> = raw.list(field.slot);
            list.into_iter().flat_map(|list| list.raws()).any(|table| table_says(table, desc))
        }
        Kind::Union(_) => raw.union(field.slot).is_some(),
    }
}

fn table_says(raw: Raw<'_>, desc: &TableDesc) -> bool {
    desc.fields.iter().any(|field| raw.offset_of(field.slot) != 0 && says_something(raw, field))
}
