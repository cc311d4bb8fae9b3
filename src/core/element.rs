//! The elements of a tensor: its bytes as numbers, for every dtype that the runtime accepts
//! (format.md §5).
//!
//! ```
//! use pte::element::{Element, values};
//! use pte::schema::scalar::ScalarType;
//!
//! let packed = values(ScalarType::QUINT4X2, &[0x2f]).unwrap();
//! assert_eq!(packed.collect::<Vec<_>>(), [Element::Int(15), Element::Int(2)]);
//! ```

use alloc::boxed::Box;

use pte_schema::scalar::ScalarType;

pub mod npy;
pub mod packed;
mod stats;
mod sum;

pub use stats::{Stats, Tally};

use packed::{
    BFloat16, Bits, Crumbs, Float8e4m3fn, Float8e4m3fnuz, Float8e5m2, Float8e5m2fnuz, Half, Nibbles,
};

/// A number of a tensor, converted exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element {
    /// An integer. A boolean is 0 or 1, a quantized value is its raw integer, and bits are
    /// unsigned.
    Int(i128),
    /// A float of any width.
    Float(f64),
    /// A complex number: its real and its imaginary part.
    Complex(f64, f64),
}

/// Returns the values in `bytes`, which are little-endian. An incomplete value at the end is left
/// out.
///
/// A byte of a packed dtype holds several values, the least significant first. A boolean byte other
/// than 0 is 1. `None` for a dtype that the runtime refuses.
pub fn values(
    scalar_type: ScalarType,
    bytes: &[u8],
) -> Option<impl Iterator<Item = Element> + use<'_>> {
    visit(scalar_type, bytes, Boxed)
}

/// Processes the values of a tensor, which are integers, floats or complex numbers.
trait Visitor<'a>: Sized {
    type Out;

    fn ints(self, values: impl Iterator<Item = i128> + 'a) -> Self::Out;
    fn floats(self, values: impl Iterator<Item = f64> + 'a) -> Self::Out;
    fn complexes(self, values: impl Iterator<Item = (f64, f64)> + 'a) -> Self::Out;
}

/// Passes the values in `bytes` to a visitor. Only this function depends on how a dtype is stored.
///
/// The dtype is matched once, before the loop, so each dtype has its own compiled loop.
fn visit<'a, V: Visitor<'a>>(scalar_type: ScalarType, bytes: &'a [u8], to: V) -> Option<V::Out> {
    let half = |bytes| Half::from_bytes(bytes).to_f64();
    let float = |bytes| f64::from(f32::from_le_bytes(bytes));
    Some(match scalar_type {
        ScalarType::BOOL => to.ints(ints(bytes, |[byte]| u8::from(byte != 0))),
        ScalarType::BYTE | ScalarType::QUINT8 | ScalarType::BITS8 => {
            to.ints(ints(bytes, u8::from_le_bytes))
        }
        ScalarType::CHAR | ScalarType::QINT8 => to.ints(ints(bytes, i8::from_le_bytes)),
        ScalarType::SHORT => to.ints(ints(bytes, i16::from_le_bytes)),
        ScalarType::INT | ScalarType::QINT32 => to.ints(ints(bytes, i32::from_le_bytes)),
        ScalarType::LONG => to.ints(ints(bytes, i64::from_le_bytes)),
        ScalarType::UINT16 | ScalarType::BITS16 => to.ints(ints(bytes, u16::from_le_bytes)),
        ScalarType::UINT32 => to.ints(ints(bytes, u32::from_le_bytes)),
        ScalarType::UINT64 => to.ints(ints(bytes, u64::from_le_bytes)),

        ScalarType::QUINT4X2 | ScalarType::BITS4X2 => {
            to.ints(packed(bytes, |byte| Nibbles::from_bytes(byte).values()))
        }
        ScalarType::QUINT2X4 | ScalarType::BITS2X4 => {
            to.ints(packed(bytes, |byte| Crumbs::from_bytes(byte).values()))
        }
        ScalarType::BITS1X8 => to.ints(packed(bytes, |byte| Bits::from_bytes(byte).values())),

        ScalarType::FLOAT8E5M2 => {
            to.floats(floats(bytes, |byte| Float8e5m2::from_bytes(byte).to_f64()))
        }
        ScalarType::FLOAT8E4M3FN => {
            to.floats(floats(bytes, |byte| Float8e4m3fn::from_bytes(byte).to_f64()))
        }
        ScalarType::FLOAT8E5M2FNUZ => {
            to.floats(floats(bytes, |byte| Float8e5m2fnuz::from_bytes(byte).to_f64()))
        }
        ScalarType::FLOAT8E4M3FNUZ => {
            to.floats(floats(bytes, |byte| Float8e4m3fnuz::from_bytes(byte).to_f64()))
        }
        ScalarType::BFLOAT16 => {
            to.floats(floats(bytes, |bytes| BFloat16::from_bytes(bytes).to_f64()))
        }
        ScalarType::HALF => to.floats(floats(bytes, half)),
        ScalarType::FLOAT => to.floats(floats(bytes, float)),
        ScalarType::DOUBLE => to.floats(floats(bytes, f64::from_le_bytes)),

        ScalarType::COMPLEX_HALF => to.complexes(complexes(bytes, half)),
        ScalarType::COMPLEX_FLOAT => to.complexes(complexes(bytes, float)),
        ScalarType::COMPLEX_DOUBLE => to.complexes(complexes(bytes, f64::from_le_bytes)),
        _ => return None,
    })
}

fn ints<'a, const N: usize, T: Into<i128>>(
    bytes: &'a [u8],
    read: impl Fn([u8; N]) -> T + 'a,
) -> impl Iterator<Item = i128> + 'a {
    bytes.as_chunks().0.iter().map(move |&unit| read(unit).into())
}

fn packed<'a, const LANES: usize>(
    bytes: &'a [u8],
    read: impl Fn([u8; 1]) -> [u8; LANES] + 'a,
) -> impl Iterator<Item = i128> + 'a {
    bytes.iter().flat_map(move |&byte| read([byte])).map(i128::from)
}

fn floats<'a, const N: usize>(
    bytes: &'a [u8],
    read: impl Fn([u8; N]) -> f64 + 'a,
) -> impl Iterator<Item = f64> + 'a {
    bytes.as_chunks().0.iter().map(move |&unit| read(unit))
}

fn complexes<'a, const N: usize>(
    bytes: &'a [u8],
    part: impl Fn([u8; N]) -> f64 + 'a,
) -> impl Iterator<Item = (f64, f64)> + 'a {
    let pairs = bytes.as_chunks().0.as_chunks().0;
    pairs.iter().map(move |&[re, im]| (part(re), part(im)))
}

/// The visitor that returns the values as an iterator.
struct Boxed;

impl<'a> Visitor<'a> for Boxed {
    type Out = Box<dyn Iterator<Item = Element> + 'a>;

    fn ints(self, values: impl Iterator<Item = i128> + 'a) -> Self::Out {
        Box::new(values.map(Element::Int))
    }

    fn floats(self, values: impl Iterator<Item = f64> + 'a) -> Self::Out {
        Box::new(values.map(Element::Float))
    }

    fn complexes(self, values: impl Iterator<Item = (f64, f64)> + 'a) -> Self::Out {
        Box::new(values.map(|(re, im)| Element::Complex(re, im)))
    }
}
