//! The operands of instructions: the indices of tensors, values and chains in their fields.

use super::{Counts, MLX_OPERAND, Site, instruction_path};
use crate::report::Findings;
use pte_flat::desc::{FieldDesc, Kind, Number, TableDesc};
use pte_flat::view::Raw;
use pte_schema::mlx::desc;

/// An index in an instruction.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    /// The name of the field.
    pub(super) name: &'static str,
    pub(super) of: Of,
    pub(super) index: i64,
    /// Whether the instruction writes what the index names.
    pub(super) is_written: bool,
}

/// What an index names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    Tensor,
    Value,
    Chain,
}

impl Of {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Value => "value",
            Self::Chain => "chain",
        }
    }
}

/// Judges whether the graph has what each instruction names.
pub(super) fn judge(site: &Site<'_, '_>, counts: &Counts, out: &mut Findings) {
    for (chain, nth, instruction) in site.instructions() {
        let mut wrong = None;
        let Some(node) = each(instruction, |operand| {
            let count = counts.of(operand.of);
            let is_there = u64::try_from(operand.index).is_ok_and(|index| index < count);
            wrong = wrong.or((!is_there).then_some((operand, count)));
        }) else {
            continue;
        };
        if let Some((Operand { name, of, index, .. }, count)) = wrong {
            site.find(out, &MLX_OPERAND, node, &instruction_path(chain, nth), || {
                let of = of.name();
                match index {
                    MISSING => format!("{name}: the index of a {of} is missing"),
                    _ => format!("{name}: {of} {index} is out of range: the graph has {count}"),
                }
            });
        }
    }
}

/// Calls `f` with each operand of an instruction. Returns the table of the instruction; `None` if it is unknown.
pub(super) fn each<'p>(instruction: Raw<'p>, mut f: impl FnMut(Operand)) -> Option<Raw<'p>> {
    let (tag, node) = instruction.member(&desc::Instruction)?;
    let table = desc::OpNode.member(tag)?.table;
    table.fields.iter().for_each(|field| operands(node, field, &mut f));
    Some(node)
}

/// Calls `f` with each operand in a field.
fn operands(node: Raw<'_>, field: &FieldDesc, f: &mut impl FnMut(Operand)) {
    let name = field.name;
    let is_written = name.starts_with("out") || name == SLICED;
    let mut call = |of, index| f(Operand { name, of, index, is_written });
    match field.kind {
        Kind::Scalar(scalar) => {
            // An index of a chain has a default, an index of a tensor or a value has none.
            let is_chain = CHAINS.contains(&name);
            let number = node.number(field.slot, scalar.prim);
            let number = number.or(Some(scalar.default).filter(|_| is_chain));
            let of = match scalar.of {
                Some(of) => of_struct(of.name),
                None if is_chain => Of::Chain,
                None => return,
            };
            if let Some(Number::Int(index)) = number {
                call(of, i64::try_from(index).unwrap_or(i64::MAX));
            }
        }
        Kind::Scalars { of: Some(of), .. } => {
            let indices = node.vector::<u32>(field.slot).into_iter().flatten();
            indices.for_each(|index| call(of_struct(of.name), index.into()));
        }
        Kind::Table(table) => {
            let target = node.target(field.slot).and_then(|raw| one_of(raw, table));
            target.into_iter().for_each(|(of, index)| call(of, index));
        }
        Kind::Tables(table) => {
            let list = node.list::<Raw<'_>>(field.slot);
            let targets = list.iter().flat_map(|list| list.raws());
            targets.filter_map(|raw| one_of(raw, table)).for_each(|(of, index)| call(of, index));
        }
        _ => {}
    }
}

/// Returns the value or the tensor that a table names; `None` if it holds a number.
fn one_of(raw: Raw<'_>, table: &'static TableDesc) -> Option<(Of, i64)> {
    let number = |name: &str| {
        let field = table.field(name)?;
        Some(raw.scalar::<u8>(field.slot).unwrap_or_default())
    };
    // The field `is_vid` or `kind` says whether the backend uses `vid` or `tid`.
    let (of, name) = match (number("is_vid"), number("kind")) {
        (Some(0), _) | (None, Some(2)) => (Of::Tensor, "tid"),
        (Some(_), _) | (None, Some(1)) => (Of::Value, "vid"),
        _ => return None,
    };
    let index = raw.scalar::<u32>(table.field(name)?.slot);
    Some((of, index.map_or(MISSING, i64::from)))
}

fn of_struct(name: &str) -> Of {
    match name {
        "Tid" => Of::Tensor,
        _ => Of::Value,
    }
}

/// The index of an operand whose index is missing.
const MISSING: i64 = i64::MIN;

/// The fields that are indices of chains.
const CHAINS: [&str; 3] = ["body_chain_idx", "then_chain_idx", "else_chain_idx"];

/// The field of a loop with the tensors that it writes before each run of its chain.
const SLICED: &str = "sliced";
