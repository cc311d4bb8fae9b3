//! The operands of an instruction: the indices of tensors, values and chains in its fields.

use pte_flat::desc::{FieldDesc, Kind, Number, TableDesc};
use pte_flat::view::Raw;
use pte_schema::mlx::desc;

/// An index in an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The name of the field.
    pub name: &'static str,
    /// What the index names.
    pub kind: OperandKind,
    /// The index, or [`MISSING`].
    pub index: i64,
    /// Whether the instruction writes what the index names.
    pub is_written: bool,
}

/// What an index names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperandKind {
    /// A tensor.
    Tensor,
    /// A value: an integer, a number or a bool.
    Value,
    /// A chain of instructions.
    Chain,
}

impl OperandKind {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Value => "value",
            Self::Chain => "chain",
        }
    }
}

/// Calls `f` with each operand of an instruction. Returns the table of the instruction; `None` if it is unknown.
pub fn for_each_operand<'p>(instruction: Raw<'p>, mut f: impl FnMut(Operand)) -> Option<Raw<'p>> {
    let (tag, node) = instruction.member(&desc::Instruction)?;
    let table = desc::OpNode.member(tag)?.table;
    table.fields.iter().for_each(|field| operands(node, field, &mut f));
    Some(node)
}

/// Calls `f` with each operand in a field.
fn operands(node: Raw<'_>, field: &FieldDesc, f: &mut impl FnMut(Operand)) {
    let name = field.name;
    let is_written = name.starts_with("out") || name == SLICED;
    let mut call = |kind, index| f(Operand { name, kind, index, is_written });
    match field.kind {
        Kind::Scalar(scalar) => {
            // An index of a chain has a default, an index of a tensor or a value has none.
            let is_chain = CHAINS.contains(&name);
            let number = node.number(field.slot, scalar.prim);
            let number = number.or(Some(scalar.default).filter(|_| is_chain));
            let kind = match scalar.of {
                Some(of) => of_struct(of.name),
                None if is_chain => OperandKind::Chain,
                None => return,
            };
            if let Some(Number::Int(index)) = number {
                call(kind, i64::try_from(index).unwrap_or(i64::MAX));
            }
        }
        Kind::Scalars { of: Some(of), .. } => {
            let indices = node.vector::<u32>(field.slot).into_iter().flatten();
            indices.for_each(|index| call(of_struct(of.name), index.into()));
        }
        Kind::Table(table) => {
            let target = node.target(field.slot).and_then(|raw| one_of(raw, table));
            target.into_iter().for_each(|(kind, index)| call(kind, index));
        }
        Kind::Tables(table) => {
            let list = node.list::<Raw<'_>>(field.slot);
            let targets = list.iter().flat_map(|list| list.raws());
            targets
                .filter_map(|raw| one_of(raw, table))
                .for_each(|(kind, index)| call(kind, index));
        }
        _ => {}
    }
}

/// Returns the value or the tensor that a table names; `None` if it holds a number.
pub(super) fn one_of(raw: Raw<'_>, table: &'static TableDesc) -> Option<(OperandKind, i64)> {
    let number = |name: &str| {
        let field = table.field(name)?;
        Some(raw.scalar::<u8>(field.slot).unwrap_or_default())
    };
    // The field `is_vid` or `kind` says whether the backend uses `vid` or `tid`.
    let (kind, name) = match (number("is_vid"), number("kind")) {
        (Some(0), _) | (None, Some(2)) => (OperandKind::Tensor, "tid"),
        (Some(_), _) | (None, Some(1)) => (OperandKind::Value, "vid"),
        _ => return None,
    };
    let index = raw.scalar::<u32>(table.field(name)?.slot);
    Some((kind, index.map_or(MISSING, i64::from)))
}

fn of_struct(name: &str) -> OperandKind {
    match name {
        "Tid" => OperandKind::Tensor,
        _ => OperandKind::Value,
    }
}

/// The index of an operand whose index is missing.
pub const MISSING: i64 = i64::MIN;

/// The fields that are indices of chains.
const CHAINS: [&str; 3] = ["body_chain_idx", "then_chain_idx", "else_chain_idx"];

/// The field of a loop with the tensors that it writes before each run of its chain.
const SLICED: &str = "sliced";
