//! The literals and lists of instructions that the backend refuses, or reads past.

use alloc::string::String;

use super::{MLX_ATTRIBUTE, Site, instruction_path, is_datatype};
use crate::report::Findings;
use pte_flat::desc::{FieldDesc, Kind, Number, Prim, TableDesc};
use pte_flat::quoted::Quoted;
use pte_flat::view::{List, Raw};
use pte_schema::mlx::desc;

/// What the backend needs of a field.
enum Need {
    /// Each literal is one of these, which are sorted ranges.
    In(&'static [(i64, i64)]),
    /// The number is a datatype of MLX.
    Datatype,
    /// The field is present.
    Present,
    /// The text is one of these.
    Text(&'static [&'static str]),
    /// The table holds a number, the index of a value or the index of a tensor.
    Kind,
    /// The list has an even number of elements.
    Even,
    /// The list has one element or more.
    Filled,
    /// The list has as many elements as another field.
    AsLongAs(&'static str),
    /// The list has one element, or as many elements as another list.
    OneOrAsLongAs(&'static str),
    /// The list has at least as many elements as another field.
    CoveredBy(&'static str),
}

/// What the backend needs of the fields of each instruction.
static NEEDS: &[(&str, &str, Need)] = &[
    ("ARangeNode", "scalar_type", Need::Datatype),
    ("ARangeNode", "step", NOT_ZERO),
    ("AsTypeNode", "scalar_type", Need::Datatype),
    ("DequantizeNode", "dtype", Need::Datatype),
    ("FloorDivideIntNode", "b", NOT_ZERO),
    ("FullLikeNode", "scalar_type", Need::Datatype),
    ("FullNode", "scalar_type", Need::Datatype),
    ("FullNode", "shape", POSITIVE),
    ("GatherNode", "axes", NOT_NEGATIVE),
    ("GatherNode", "indices", Need::AsLongAs("axes")),
    ("GatherNode", "slice_sizes", POSITIVE),
    ("ModIntNode", "b", NOT_ZERO),
    ("PadNode", "mode", Need::Text(&["constant", "edge"])),
    ("PadNode", "pad_width", Need::Even),
    ("RandomBitsNode", "shape", POSITIVE),
    ("RandomBitsNode", "width", Need::In(&[(1, 2), (4, 4)])),
    ("RepeatNode", "repeats", POSITIVE),
    // The backend compares neither list.
    ("ScanNode", "originals", Need::Filled),
    ("ScanNode", "originals", Need::CoveredBy("sliced")),
    ("SliceNode", "step", NOT_ZERO),
    ("SliceUpdateNode", "step", POSITIVE),
    ("SplitNode", "sizes", Need::Filled),
    ("SplitNode", "sizes", Need::OneOrAsLongAs("outs")),
    ("TakeNode", "index", Need::Kind),
    ("TriNode", "scalar_type", Need::Datatype),
    ("UpdateAndAttendNode", "layer_id", Need::Present),
    ("UpdateAndAttendNode", "out_dtype", Need::Datatype),
    ("UpdateAndAttendNode", "scale", Need::Present),
];

const NOT_ZERO: Need = Need::In(&[(i64::MIN, -1), (1, i64::MAX)]);
const POSITIVE: Need = Need::In(&[(1, i64::MAX)]);
const NOT_NEGATIVE: Need = Need::In(&[(0, i64::MAX)]);

/// Judges the fields of each instruction.
pub(super) fn judge(site: &Site<'_, '_>, out: &mut Findings) {
    for (chain, nth, instruction) in site.instructions() {
        let Some((tag, node)) = instruction.member(&desc::Instruction) else { continue };
        let Some(member) = desc::OpNode.member(tag) else { continue };
        let first = NEEDS.partition_point(|(name, ..)| *name < member.table.name);
        let needs = NEEDS.iter().skip(first).take_while(|(name, ..)| *name == member.table.name);
        let wrong = needs.into_iter().find_map(|(_, name, need)| {
            let message = need.wrong(node, member.table, member.table.field(name)?)?;
            Some((name, message))
        });
        if let Some((name, message)) = wrong {
            site.place.find(out, &MLX_ATTRIBUTE, node, &instruction_path(chain, nth), || {
                format!("{name}: {message}")
            });
        }
    }
}

impl Need {
    /// Returns what is wrong with a field; `None` if the backend takes it.
    fn wrong(&self, node: Raw<'_>, table: &TableDesc, field: &FieldDesc) -> Option<String> {
        let lens = |name| Some((len(node, field), len(node, table.field(name)?)));
        match *self {
            Self::In(ranges) => {
                let is_in = |number: &i64| ranges.iter().any(|(a, b)| (a..=b).contains(&number));
                let number = literals(node, field).find(|number| !is_in(number))?;
                Some(format!("{number} is not allowed"))
            }
            Self::Datatype => {
                let code = literals(node, field).find(|code| !is_code(*code))?;
                Some(format!("{code} is no datatype of MLX"))
            }
            Self::Present => node.field_pos(field.slot).is_none().then(|| "it is missing".into()),
            Self::Text(all) => {
                let text = node.str(field.slot).unwrap_or_default();
                let is_known = all.contains(&text);
                (!is_known).then(|| format!("the backend does not have {}", Quoted(text)))
            }
            Self::Kind => {
                let Kind::Table(of) = field.kind else { return None };
                let kind = node.target(field.slot)?.scalar::<u8>(of.field("kind")?.slot)?;
                (kind > LAST_KIND).then(|| format!("{kind} is no kind: the last is {LAST_KIND}"))
            }
            Self::Even => {
                let len = len(node, field);
                (!len.is_multiple_of(2)).then(|| format!("expected pairs, found {len} numbers"))
            }
            Self::Filled => (len(node, field) == 0).then(|| "the list is empty".into()),
            Self::AsLongAs(name) => differs(lens(name)?, name, |len, other| len == other),
            Self::OneOrAsLongAs(name) => {
                differs(lens(name)?, name, |len, other| len == 1 || len == other)
            }
            Self::CoveredBy(name) => differs(lens(name)?, name, |len, other| len <= other),
        }
    }
}

/// Returns what is wrong with the lengths of two lists; `None` if `fits` says that they fit.
fn differs(
    (len, other): (usize, usize),
    name: &str,
    fits: impl FnOnce(usize, usize) -> bool,
) -> Option<String> {
    (!fits(len, other)).then(|| format!("there are {len}, and {other} {name}"))
}

/// Returns the literals in a field; a number that a value has is none.
fn literals<'p>(node: Raw<'p>, field: &FieldDesc) -> impl Iterator<Item = i64> + use<'p> {
    let (mut one, mut numbers, mut tables) = (None, None, None);
    match field.kind {
        Kind::Scalar(scalar) => {
            one = match node.number(field.slot, scalar.prim) {
                Some(Number::Int(number)) => i64::try_from(number).ok(),
                _ => None,
            }
        }
        Kind::Scalars { prim: Prim::I32, .. } => numbers = node.vector::<i32>(field.slot),
        Kind::Table(_) => one = node.target(field.slot).and_then(literal),
        Kind::Tables(_) => tables = node.list::<Raw<'p>>(field.slot),
        _ => {}
    }
    let tables = tables.into_iter().flat_map(List::raws).filter_map(literal);
    one.into_iter().chain(numbers.into_iter().flatten().map(i64::from)).chain(tables)
}

/// Returns the number in an `IntOrVid`; `None` if it names a value.
fn literal(raw: Raw<'_>) -> Option<i64> {
    let slot = |name| Some(desc::IntOrVid.field(name)?.slot);
    match raw.scalar::<bool>(slot("is_vid")?) {
        Some(true) => None,
        _ => Some(raw.scalar::<i64>(slot("literal")?).unwrap_or_default()),
    }
}

/// Returns the number of elements of a list; 0 if it is absent.
fn len(node: Raw<'_>, field: &FieldDesc) -> usize {
    node.list::<Raw<'_>>(field.slot).map_or(0, |list| list.len())
}

fn is_code(code: i64) -> bool {
    i8::try_from(code).is_ok_and(is_datatype)
}

/// The last kind of an `IntOrVidOrTid`.
const LAST_KIND: u8 = 2;
