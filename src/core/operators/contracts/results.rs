//! Computes the results of calls that return a number, if the file determines them.

use super::call::{Call, KnownValues};
use super::vocabulary::Number;
use crate::operators::kind::Kinds;
use crate::operators::scalar::{LOCAL_SCALAR_DENSE, Scalar, compute};
use pte_schema::program::tag;
use pte_schema::scalar::ScalarType;

/// Returns the number that a call computes, if the file determines it.
pub fn result<'a, V: KnownValues<'a>>(call: &Call<'_, 'a, V>) -> Option<Scalar> {
    let number = match call.name {
        "aten::sym_size.int" => call.number(&Number::Size(0, &Number::Int(1)))?,
        "aten::sym_numel" => call.number(&Number::Numel(0))?,
        name => return compute(name, |arg| call.scalar(arg)),
    };
    i64::try_from(number).ok().map(Scalar::Int)
}

/// Returns the kind of the number that a call reads from a tensor. It depends on the dtype.
pub fn result_kind<'a, V: KnownValues<'a>>(call: &Call<'_, 'a, V>) -> Option<Kinds> {
    if call.name != LOCAL_SCALAR_DENSE {
        return None;
    }
    Some(Kinds::of(match call.dtype(0)? {
        ScalarType::BYTE
        | ScalarType::CHAR
        | ScalarType::SHORT
        | ScalarType::INT
        | ScalarType::LONG => tag::Int,
        ScalarType::HALF | ScalarType::FLOAT | ScalarType::DOUBLE | ScalarType::BFLOAT16 => {
            tag::Double
        }
        ScalarType::BOOL => tag::Bool,
        _ => return None,
    }))
}
