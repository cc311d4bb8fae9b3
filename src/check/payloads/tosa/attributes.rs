//! The attributes of an operator, by the names of their fields.

use alloc::string::{String, ToString};

use super::operand::{Attributes, Numbers};
use pte_flat::bytes::wide;
use pte_flat::cost;
use pte_flat::desc::{FieldDesc, Kind, Number, Prim, TableDesc};
use pte_flat::view::{Raw, Table, Vector};
use pte_schema::tosa::view::TosaOperator;
use pte_schema::tosa::{DType, Op, desc};

/// Returns the table of an operator's attributes; `None` for an unknown operator.
fn table_of(op: Op) -> Option<&'static TableDesc> {
    Some(desc::Attribute.member(u8::try_from(op.0).ok()?)?.table)
}

/// Returns the attributes of an operator that are read.
pub(in crate::payloads) fn fields_of(op: Op) -> &'static [FieldDesc] {
    table_of(op).map_or(&[], |table| table.fields)
}

/// Returns a list of `N` numbers.
pub(super) fn array<const N: usize>(from: &dyn Attributes, name: &str) -> Option<[i64; N]> {
    let list = from.list(name)?;
    let mut out = [0; N];
    out.iter_mut().zip(list.iter()).for_each(|(out, number)| *out = number);
    (list.len() == N).then_some(out)
}

/// Returns what is wrong with the attributes of an operator whose output has this datatype.
pub(super) fn unfit(from: &dyn Attributes, op: Op, datatype: DType) -> Option<String> {
    let (axes, ends) = if op == Op::CONV3D { (3, 6) } else { (2, 4) };
    fields_of(op).iter().find_map(|field| {
        let name = field.name;
        match field.kind {
            Kind::Scalar(scalar) => {
                let names = scalar.names.filter(|names| MODES.contains(&names.name))?;
                let mode = from.number(name)?;
                let is_known = mode != 0 && names.name_of(mode.into()).is_some();
                (!is_known).then(|| format!("unknown {name} {mode}"))
            }
            Kind::Scalars { prim: Prim::I32, .. } if name != "perms" => {
                let need = if name.ends_with("pad") { ends } else { axes };
                let list = from.list(name)?;
                cost::charge(list.len().min(need));
                let least = match name {
                    "pad" => 0,
                    "out_pad" => i64::MIN,
                    _ => 1,
                };
                let is_right = list.len() == need && list.iter().all(|one| one >= least);
                let from = if least == i64::MIN { "" } else { " not below " };
                let least = if from.is_empty() { String::new() } else { least.to_string() };
                (!is_right).then(|| format!("{name} is not {need} numbers{from}{least}"))
            }
            Kind::Scalars { .. } if name.ends_with("_val") => from.unlike_element(name, datatype),
            _ => None,
        }
    })
}

/// The enums of modes: 0 is none of them.
const MODES: [&str; 4] = ["ResizeMode", "NanPropagationMode", "RoundingMode", "BlockSize"];

/// The table of an operator's attributes.
#[derive(Clone, Copy)]
pub(super) struct AttributeTable<'p> {
    desc: &'static TableDesc,
    raw: Raw<'p>,
}

impl<'p> AttributeTable<'p> {
    /// Returns the attributes of an operator, or the tag of another operator's attributes.
    pub(super) fn of(operator: TosaOperator<'p>) -> Result<Self, u8> {
        let member = operator.raw().member(TosaOperator::DESC);
        let (tag, raw) = member.ok_or(0)?;
        let desc = table_of(operator.op()).filter(|_| u32::from(tag) == operator.op().0);
        desc.map_or(Err(tag), |desc| Ok(Self { desc, raw }))
    }

    fn field(self, name: &str) -> Option<&'static FieldDesc> {
        self.desc.fields.iter().find(|field| field.name == name)
    }

    /// Returns a text.
    pub(super) fn text(self, name: &str) -> Option<&'p str> {
        self.raw.str(self.field(name)?.slot)
    }
}

impl Attributes for AttributeTable<'_> {
    fn number(&self, name: &str) -> Option<i64> {
        let field = self.field(name)?;
        let Kind::Scalar(scalar) = field.kind else { return None };
        match self.raw.number(field.slot, scalar.prim).unwrap_or(scalar.default) {
            Number::Int(number) => number.try_into().ok(),
            Number::Bool(is_true) => Some(is_true.into()),
            _ => None,
        }
    }

    fn list(&self, name: &str) -> Option<Numbers<'_>> {
        let list = self.raw.vector(self.field(name)?.slot);
        Some(Numbers::Short(list.unwrap_or_default()))
    }

    fn unlike_element(&self, name: &str, datatype: DType) -> Option<String> {
        let have = self.raw.vector(self.field(name)?.slot);
        let have: Vector<'_, u8> = have.unwrap_or_default();
        let need = super::element_bits(datatype)? / 8;
        let have = wide(have.len());
        (have < need).then(|| format!("{name} has {have} bytes: expected {need}"))
    }
}
