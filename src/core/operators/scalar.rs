//! Numbers that primitive operators compute from other numbers.

use core::cmp::Ordering;

use super::kind::Kinds;
use crate::element::{Element, values};
use pte_schema::program::tag;
use pte_schema::program::view::KernelTypes;
use pte_schema::scalar::ScalarType;

/// The operator that returns the first element of a tensor as a number. The tensor's dtype
/// determines the kind of the number.
pub const LOCAL_SCALAR_DENSE: &str = "aten::_local_scalar_dense";

/// An Int, a Double or a Bool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// An integer.
    Int(i64),
    /// The bits of a Double. Unlike its value, the bits of NaN are equal to themselves.
    Double(u64),
    /// A boolean.
    Bool(bool),
}

impl Scalar {
    /// Returns `value` as a scalar; `None` for a value of another kind.
    pub fn of(value: KernelTypes<'_>) -> Option<Self> {
        Some(match value {
            KernelTypes::Int(int) => Self::Int(int.int_val()),
            KernelTypes::Double(double) => Self::Double(double.double_val().to_bits()),
            KernelTypes::Bool(flag) => Self::Bool(flag.bool_val()),
            _ => return None,
        })
    }

    /// Returns the number that [`LOCAL_SCALAR_DENSE`] gives for the bytes of an element. `None` if
    /// the operator gives no number.
    pub fn read(dtype: ScalarType, element: &[u8]) -> Option<Self> {
        match values(dtype, element)?.next()? {
            Element::Int(bool) if dtype == ScalarType::BOOL => Some(Self::Bool(bool != 0)),
            Element::Int(int) => i64::try_from(int).ok().map(Self::Int),
            Element::Float(float) => Some(Self::Double(float.to_bits())),
            Element::Complex(..) => None,
        }
    }

    /// Returns the kind of the number.
    pub fn kind(self) -> Kinds {
        Kinds::of(match self {
            Self::Int(_) => tag::Int,
            Self::Double(_) => tag::Double,
            Self::Bool(_) => tag::Bool,
        })
    }

    /// Returns the number as the nearest Double.
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Int(int) => float(int),
            Self::Double(bits) => f64::from_bits(bits),
            Self::Bool(flag) => u8::from(flag).into(),
        }
    }
}

/// Returns the result of a primitive operator. `None` for other operators, and if the result is
/// undefined.
pub(super) fn compute(operator: &str, args: impl Fn(u8) -> Option<Scalar>) -> Option<Scalar> {
    use Scalar::{Bool, Double, Int};
    let name = operator.strip_prefix("executorch_prim::")?;
    let (name, overload) = name.split_once('.')?;
    let double = |value: f64| Some(Double(value.to_bits()));
    let one = args(0)?;
    match name {
        "neg" => {
            return match one {
                Int(int) => Some(Int(int.wrapping_neg())),
                Double(bits) => double(-f64::from_bits(bits)),
                Bool(_) => None,
            };
        }
        "sym_not" => {
            return match one {
                Bool(flag) => Some(Bool(!flag)),
                _ => None,
            };
        }
        "sym_float" => return double(one.as_f64()),
        "sym_int" | "trunc" | "ceil" | "round" => {
            return match one {
                Int(int) if name == "sym_int" => Some(Int(int)),
                Bool(flag) if name == "sym_int" => Some(Int(flag.into())),
                Double(bits) => {
                    Some(Int(rounded(name, f64::from_bits(bits)).unwrap_or(OUT_OF_RANGE)))
                }
                _ => None,
            };
        }
        _ => {}
    }
    if name == "sym_ite" {
        return match one {
            Bool(true) => args(1),
            Bool(false) => args(2),
            _ => None,
        };
    }
    let other = args(1)?;
    match (name, one, other) {
        // Upstream's compiled kernels wrap, although C++ does not define it.
        ("add", Int(one), Int(other)) => Some(Int(one.wrapping_add(other))),
        ("sub", Int(one), Int(other)) => Some(Int(one.wrapping_sub(other))),
        ("mul", Int(one), Int(other)) => Some(Int(one.wrapping_mul(other))),
        ("floordiv", Int(one), Int(other)) => {
            let (quotient, rest) = (one.checked_div(other)?, one.checked_rem(other)?);
            // The overload `int` rounds towards 0.
            let is_below = overload == "Scalar" && rest != 0 && (rest < 0) != (other < 0);
            quotient.checked_sub(i64::from(is_below)).map(Int)
        }
        ("mod", Int(one), Int(other)) => one.checked_rem(other).map(Int),
        ("sym_max", Int(one), Int(other)) => Some(Int(one.max(other))),
        ("sym_min", Int(one), Int(other)) => Some(Int(one.min(other))),
        ("eq" | "ge" | "gt" | "le" | "lt", ..) => {
            let order = order(one, other)?;
            Some(Bool(match name {
                "eq" => order.is_some_and(Ordering::is_eq),
                "ge" => order.is_some_and(Ordering::is_ge),
                "gt" => order.is_some_and(Ordering::is_gt),
                "le" => order.is_some_and(Ordering::is_le),
                _ => order.is_some_and(Ordering::is_lt),
            }))
        }
        ("truediv", Int(_) | Double(_), Int(_) | Double(_)) => {
            double(one.as_f64() / other.as_f64())
        }
        ("add", Int(_) | Double(_), Int(_) | Double(_)) => double(one.as_f64() + other.as_f64()),
        ("sub", Int(_) | Double(_), Int(_) | Double(_)) => double(one.as_f64() - other.as_f64()),
        ("mul", Int(_) | Double(_), Int(_) | Double(_)) => double(one.as_f64() * other.as_f64()),
        _ => None,
    }
}

/// Returns the order of two numbers or of two Bools. The result is `None` if they cannot be
/// compared, and `Some(None)` if one of them is NaN.
fn order(one: Scalar, other: Scalar) -> Option<Option<Ordering>> {
    use Scalar::{Bool, Double, Int};
    Some(match (one, other) {
        (Int(one), Int(other)) => Some(one.cmp(&other)),
        (Bool(one), Bool(other)) => Some(one.cmp(&other)),
        (Int(_) | Double(_), Int(_) | Double(_)) => one.as_f64().partial_cmp(&other.as_f64()),
        _ => return None,
    })
}

/// The result of upstream's cast of a NaN or an out-of-range Double to an Int, on x86. C++ does not
/// define it, and other machines give another number.
const OUT_OF_RANGE: i64 = i64::MIN;

/// Returns a Double rounded to an Int. `ceil` rounds up, `round` rounds to the nearest (halves to
/// even), and any other name rounds towards 0. Returns `None` if the Int is out of range.
fn rounded(how: &str, value: f64) -> Option<i64> {
    let bits = value.to_bits();
    let exponent = i32::try_from(bits >> 52 & 0x7ff).ok()?.checked_sub(1075)?;
    let mantissa = bits & 0xf_ffff_ffff_ffff | 0x10_0000_0000_0000;
    let is_negative = value.is_sign_negative();
    let (whole, is_up) = match u32::try_from(exponent) {
        Ok(up) if up <= 10 => (mantissa.checked_shl(up)?, false),
        Ok(_) => return None,
        // Smaller than a half, subnormal numbers included.
        Err(_) if exponent < -53 => (0, how == "ceil" && value > 0.0),
        Err(_) => {
            let down = exponent.unsigned_abs();
            let whole = mantissa.checked_shr(down)?;
            let rest = mantissa.checked_sub(whole.checked_shl(down)?)?;
            let half = 1u64.checked_shl(down.checked_sub(1)?)?;
            let is_up = match how {
                "ceil" => rest > 0 && !is_negative,
                "round" => rest > half || rest == half && whole & 1 == 1,
                _ => false,
            };
            (whole, is_up)
        }
    };
    let int = i64::try_from(whole).ok()?.checked_add(i64::from(is_up))?;
    Some(if is_negative { int.checked_neg()? } else { int })
}

/// Returns an Int as the nearest Double.
pub(crate) fn float(int: i64) -> f64 {
    let bytes = int.to_le_bytes();
    let [a, b, c, d, e, f, g, h] = bytes;
    let low = f64::from(u32::from_le_bytes([a, b, c, d]));
    f64::from(i32::from_le_bytes([e, f, g, h])) * 4_294_967_296.0 + low
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::rounded;
    use super::{Scalar, compute, float};

    #[test]
    fn doubles_are_rounded_as_f64_rounds_them() {
        let mut values = vec![0.0, 0.5, 1.5, 2.5, 0.49999999999999994, 1e15 + 0.5, 9.2e18, 1e300];
        values.extend([f64::MIN_POSITIVE, 5e-324, 4503599627370495.5, 9007199254740993.0]);
        let negative: Vec<f64> = values.iter().map(|value| -value).collect();
        for value in values.into_iter().chain(negative) {
            let all = [
                ("trunc", value.trunc()),
                ("ceil", value.ceil()),
                ("round", value.round_ties_even()),
            ];
            for (how, expected) in all {
                assert_eq!(rounded(how, value), expected.to_string().parse().ok(), "{how} {value}");
            }
        }
        assert_eq!([f64::NAN, f64::INFINITY].map(|value| rounded("trunc", value)), [None; 2]);
    }

    #[test]
    fn an_int_is_the_nearest_double() {
        let ints = [0, 1, -1, 7, -7, 1 << 31, 1 << 32, -(1 << 32), (1 << 53) + 2, i64::MIN];
        for int in ints {
            assert_eq!(format!("{:.0}", float(int)), int.to_string());
        }
    }

    #[test]
    fn primitive_operators_compute_as_the_runtime_does() {
        let ints = |name, one, other| {
            compute(name, |arg| Some(Scalar::Int(if arg == 0 { one } else { other })))
        };
        let int = |value| Some(Scalar::Int(value));
        assert_eq!(ints("executorch_prim::floordiv.Scalar", -7, 2), int(-4));
        assert_eq!(ints("executorch_prim::floordiv.Scalar", 7, -2), int(-4));
        assert_eq!(ints("executorch_prim::floordiv.Scalar", -6, -2), int(3));
        assert_eq!(ints("executorch_prim::floordiv.Scalar", 1, 0), None);
        assert_eq!(ints("executorch_prim::floordiv.int", -7, 2), int(-3));
        assert_eq!(ints("executorch_prim::floordiv.int", 2, -5), int(0));
        assert_eq!(ints("executorch_prim::mul.Scalar", i64::MAX, 2), int(-2));
        assert_eq!(ints("executorch_prim::ge.Scalar", 2, 2), Some(Scalar::Bool(true)));
        assert_eq!(ints("aten::add.out", 2, 2), None);
        let chosen = |condition| {
            let args = [condition, Scalar::Int(3), Scalar::Int(5)];
            compute("executorch_prim::sym_ite.Scalar", |arg| args.get(usize::from(arg)).copied())
        };
        assert_eq!(chosen(Scalar::Bool(true)), int(3));
        assert_eq!(chosen(Scalar::Bool(false)), int(5));
        assert_eq!(chosen(Scalar::Int(1)), None);
    }

    /// Compares results with those that release 1.5.1 computed, one call on each line. There, `d`
    /// precedes the bits of a Double, and `-` stands for a refusal.
    #[test]
    fn primitive_operators_compute_what_the_runtime_computed() {
        let number = |text: &str| match (text, text.strip_prefix('d')) {
            ("true", _) => Scalar::Bool(true),
            ("false", _) => Scalar::Bool(false),
            (_, Some(bits)) => Scalar::Double(u64::from_str_radix(bits, 16).unwrap()),
            (_, None) => Scalar::Int(text.parse().unwrap()),
        };
        for row in include_str!("../../../tests/data/primitive-operators.txt").lines() {
            let (call, result) = row.split_once(" = ").unwrap();
            let (name, args) = call.split_once(' ').unwrap();
            let args: Vec<Scalar> = args.split(' ').map(number).collect();
            let name = format!("executorch_prim::{name}");
            let found = compute(&name, |arg| args.get(usize::from(arg)).copied());
            let expected = (result != "-").then(|| number(result));
            // `compute` leaves out the floor division of Doubles.
            let is_quotient = name.ends_with("floordiv.Scalar") && found.is_none();
            assert!(found == expected || is_quotient, "{row}: {found:?}");
        }
    }
}
