//! The attributes of an operator, by the names of their fields.

use alloc::string::{String, ToString};

use pte_flat::bytes::wide;
use pte_flat::cost;
use pte_flat::desc::{Kind, Number, Prim, TableDesc};
use pte_flat::view::{Raw, Table, Vector};
use pte_schema::tosa::view::TosaOperator;
use pte_schema::tosa::{DType, Op, desc};

/// The attributes of an operator.
#[derive(Clone, Copy)]
pub(super) struct Attributes<'p> {
    desc: &'static TableDesc,
    raw: Raw<'p>,
}

/// Returns the table of an operator's attributes; `None` for an unknown operator.
fn table_of(op: Op) -> Option<&'static TableDesc> {
    Some(desc::Attribute.member(u8::try_from(op.0).ok()?)?.table)
}

/// Returns whether an operator has attributes that are read.
pub(super) fn has_fields(op: Op) -> bool {
    table_of(op).is_some_and(|table| !table.fields.is_empty())
}

impl<'p> Attributes<'p> {
    /// Returns the attributes of an operator, or the tag of another operator's attributes.
    pub(super) fn of(operator: TosaOperator<'p>) -> Result<Self, u8> {
        let member = operator.raw().member(TosaOperator::DESC);
        let (tag, raw) = member.ok_or(0)?;
        let desc = table_of(operator.op()).filter(|_| u32::from(tag) == operator.op().0);
        desc.map_or(Err(tag), |desc| Ok(Self { desc, raw }))
    }

    fn slot(self, name: &str) -> Option<u16> {
        self.desc.fields.iter().find(|field| field.name == name).map(|field| field.slot)
    }

    /// Returns a list of `N` numbers.
    pub(super) fn list<const N: usize>(self, name: &str) -> Option<[i64; N]> {
        let list: Vector<'_, i32> = self.raw.vector(self.slot(name)?)?;
        let mut out = [0; N];
        out.iter_mut().zip(list.iter()).for_each(|(out, number)| *out = number.into());
        (list.len() == N).then_some(out)
    }

    /// Returns the permutation of a transpose.
    pub(super) fn perms(self) -> Option<Vector<'p, i32>> {
        self.raw.vector(self.slot("perms")?)
    }

    /// Returns a text.
    pub(super) fn text(self, name: &str) -> Option<&'p str> {
        self.raw.str(self.slot(name)?)
    }

    /// Returns a number; `None` unless the operator has it.
    pub(super) fn number(self, name: &str) -> Option<i64> {
        let field = self.desc.fields.iter().find(|field| field.name == name)?;
        let Kind::Scalar(scalar) = field.kind else { return None };
        match self.raw.number(field.slot, scalar.prim).unwrap_or(scalar.default) {
            Number::Int(number) => number.try_into().ok(),
            Number::Bool(is_true) => Some(is_true.into()),
            _ => None,
        }
    }

    /// Returns what is wrong with the attributes of an operator whose output has this datatype.
    pub(super) fn unfit(self, op: Op, datatype: DType) -> Option<String> {
        let (axes, ends) = if op == Op::CONV3D { (3, 6) } else { (2, 4) };
        self.desc.fields.iter().find_map(|field| {
            let name = field.name;
            match field.kind {
                Kind::Scalar(scalar) => {
                    let names = scalar.names.filter(|names| MODES.contains(&names.name))?;
                    let mode = self.number(name)?;
                    let is_known = mode != 0 && names.name_of(mode.into()).is_some();
                    (!is_known).then(|| format!("unknown {name} {mode}"))
                }
                Kind::Scalars { prim: Prim::I32, .. } if name != "perms" => {
                    let need = if name.ends_with("pad") { ends } else { axes };
                    let list: Vector<'_, i32> = self.raw.vector(field.slot).unwrap_or_default();
                    cost::charge(list.len().min(need));
                    let least = match name {
                        "pad" => 0,
                        "out_pad" => i32::MIN,
                        _ => 1,
                    };
                    let is_right = list.len() == need && list.iter().all(|one| one >= least);
                    let from = if least == i32::MIN { "" } else { " not below " };
                    let least = if from.is_empty() { String::new() } else { least.to_string() };
                    (!is_right).then(|| format!("{name} is not {need} numbers{from}{least}"))
                }
                Kind::Scalars { .. } if name.ends_with("_val") => {
                    let have: Vector<'_, u8> = self.raw.vector(field.slot).unwrap_or_default();
                    let need = super::element_bits(datatype)? / 8;
                    let have = wide(have.len());
                    (have < need).then(|| format!("{name} has {have} bytes: expected {need}"))
                }
                _ => None,
            }
        })
    }
}

/// The enums of modes: 0 is none of them.
const MODES: [&str; 4] = ["ResizeMode", "NanPropagationMode", "RoundingMode", "BlockSize"];
