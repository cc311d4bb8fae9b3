//! Bit-packed elements: small floats, and several values in one byte (format.md §5).
//!
//! Bit fields are declared from the least significant bit up.

#![allow(clippy::expect_used, reason = "what #[bitfield] generates, for values that always fit")]

use modular_bitfield::prelude::*;

/// An 8-bit float with 5 exponent bits (bias 15) and 2 mantissa bits: the upper half of a binary16.
#[bitfield]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float8e5m2 {
    mantissa: B2,
    exponent: B5,
    negative: bool,
}

/// An 8-bit float with 4 exponent bits (bias 7) and 3 mantissa bits. It has no infinities, and the
/// largest magnitude is NaN.
#[bitfield]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float8e4m3fn {
    mantissa: B3,
    exponent: B4,
    negative: bool,
}

/// An 8-bit float like [`Float8e5m2`] with bias 16. It has no infinities, and the code of negative
/// zero is NaN.
#[bitfield]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float8e5m2fnuz {
    mantissa: B2,
    exponent: B5,
    negative: bool,
}

/// An 8-bit float like [`Float8e4m3fn`] with bias 8. Its only NaN is the code of negative zero.
#[bitfield]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float8e4m3fnuz {
    mantissa: B3,
    exponent: B4,
    negative: bool,
}

/// IEEE 754's binary16: 5 exponent bits (bias 15) and 10 mantissa bits.
#[bitfield]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half {
    mantissa: B10,
    exponent: B5,
    negative: bool,
}

/// The upper half of a binary32: 8 exponent bits (bias 127) and 7 mantissa bits.
#[bitfield]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BFloat16 {
    mantissa: B7,
    exponent: B8,
    negative: bool,
}

/// Two unsigned values of 4 bits (`QUInt4x2`, `Bits4x2`).
#[bitfield]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nibbles {
    first: B4,
    second: B4,
}

/// Four unsigned values of 2 bits (`QUInt2x4`, `Bits2x4`).
#[bitfield]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crumbs {
    first: B2,
    second: B2,
    third: B2,
    fourth: B2,
}

/// Eight values of one bit (`Bits1x8`).
#[bitfield]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    first: B1,
    second: B1,
    third: B1,
    fourth: B1,
    fifth: B1,
    sixth: B1,
    seventh: B1,
    eighth: B1,
}

impl Nibbles {
    /// Returns the values, the least significant first.
    #[inline]
    pub fn values(self) -> [u8; 2] {
        [self.first(), self.second()]
    }
}

impl Crumbs {
    /// Returns the values, the least significant first.
    #[inline]
    pub fn values(self) -> [u8; 4] {
        [self.first(), self.second(), self.third(), self.fourth()]
    }
}

impl Bits {
    /// Returns the values, the least significant first.
    #[inline]
    pub fn values(self) -> [u8; 8] {
        [
            self.first(),
            self.second(),
            self.third(),
            self.fourth(),
            self.fifth(),
            self.sixth(),
            self.seventh(),
            self.eighth(),
        ]
    }
}

/// Implements the conversions of each small float. The arguments are its exponent bias, its number
/// of mantissa bits, and the magnitudes that are not finite.
macro_rules! floats {
    ($($name:ident: $bias:literal, $mantissa_bits:literal, $special:expr;)*) => { $(
        impl $name {
            /// Converts to the same `f64` exactly. A NaN becomes any NaN.
            #[inline]
            pub fn to_f64(self) -> f64 {
                let special: fn(Self) -> Option<f64> = $special;
                let magnitude = special(self).unwrap_or_else(|| {
                    let (exponent, mantissa) = (self.exponent().into(), self.mantissa().into());
                    finite(exponent, mantissa, $bias, $mantissa_bits)
                });
                magnitude.copysign(if self.negative() { -1.0 } else { 1.0 })
            }

            /// Converts to the same `f32` exactly. A NaN becomes any NaN.
            #[inline]
            #[expect(clippy::as_conversions, reason = "f32 has each of these values")]
            pub fn to_f32(self) -> f32 {
                self.to_f64() as f32
            }
        }
    )* };
}

floats! {
    Float8e5m2: 15, 2, |it| (it.exponent() == 31).then(|| infinity_or_nan(it.mantissa() == 0));
    Float8e4m3fn: 7, 3, |it| (it.exponent() == 15 && it.mantissa() == 7).then_some(f64::NAN);
    Float8e5m2fnuz: 16, 2, |it| (it.into_bytes() == NEGATIVE_ZERO).then_some(f64::NAN);
    Float8e4m3fnuz: 8, 3, |it| (it.into_bytes() == NEGATIVE_ZERO).then_some(f64::NAN);
    Half: 15, 10, |it| (it.exponent() == 31).then(|| infinity_or_nan(it.mantissa() == 0));
    BFloat16: 127, 7, |it| (it.exponent() == 255).then(|| infinity_or_nan(it.mantissa() == 0));
}

/// Returns a finite magnitude. Both factors and their product are exact.
#[inline]
fn finite(exponent: u16, mantissa: u16, bias: u16, mantissa_bits: u16) -> f64 {
    // Subnormal numbers have no implicit bit, and the same unit as the smallest normal numbers.
    let implicit = if exponent == 0 { 0 } else { 1_u16.wrapping_shl(mantissa_bits.into()) };
    // The unit, a power of 2, as an `f64`: only its biased exponent has bits.
    let unit = exponent.max(1).wrapping_add(1023).wrapping_sub(bias).wrapping_sub(mantissa_bits);
    f64::from(mantissa | implicit) * f64::from_bits(u64::from(unit) << 52)
}

fn infinity_or_nan(infinity: bool) -> f64 {
    if infinity { f64::INFINITY } else { f64::NAN }
}

/// The code of negative zero, which `fnuz` floats use as their only NaN.
const NEGATIVE_ZERO: [u8; 1] = [0x80];
