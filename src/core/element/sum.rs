//! An exact sum, and the mean that follows from it.

use alloc::vec::Vec;

use pte_flat::bytes::wide;

/// An exact sum of finite `f64`s and of integers. For each exponent of an `f64`, it holds the sum
/// of the mantissas with that exponent.
///
/// Nothing is rounded before the mean. So the order of the values does not matter, nor their
/// division into chunks. Large values do not overflow, and small ones are not lost.
///
/// A bin never overflows, and the wrapping operations do not wrap: 2^64 bytes hold at most 2^64
/// mantissas of 53 bits or 2^61 integers of 64 bits.
#[derive(Clone, Debug)]
pub(super) struct ExactSum {
    /// Bin `e` counts units of 2^(e − 1075), the value of bit `e` of the whole sum.
    bins: Vec<i128>,
}

impl ExactSum {
    pub(super) fn new() -> Self {
        Self { bins: vec![0; BINS] }
    }

    /// Adds a finite value that occurs `times` times.
    #[inline]
    pub(super) fn add(&mut self, value: f64, times: u64) {
        let bits = value.to_bits();
        let exponent = bits >> 52 & 0x7ff;
        let fraction = bits & FRACTION;
        // Subnormal numbers have no implicit bit, and the same unit as the smallest normal numbers.
        let (place, mantissa) =
            if exponent == 0 { (1, fraction) } else { (exponent, fraction | IMPLICIT) };
        let mantissa = i128::from(mantissa).wrapping_mul(i128::from(times));
        let signed = if value < 0.0 { mantissa.wrapping_neg() } else { mantissa };
        self.add_at(place, signed);
    }

    /// Adds an integer.
    pub(super) fn add_int(&mut self, value: i128) {
        self.add_at(ONE, value);
    }

    /// Returns the sum divided by `count`, rounded once to the nearest `f64`, ties to even. `None`
    /// if `count` is 0.
    pub(super) fn mean(&self, count: u64) -> Option<f64> {
        if count == 0 {
            return None;
        }
        let (digits, negative) = match self.digits(false) {
            Some(digits) => (digits, false),
            None => (self.digits(true)?, true),
        };
        let magnitude = divide(&digits, u128::from(count));
        Some(if negative { -magnitude } else { magnitude })
    }

    #[inline]
    fn add_at(&mut self, place: u64, value: i128) {
        let bin = usize::try_from(place).ok().and_then(|place| self.bins.get_mut(place));
        if let Some(bin) = bin {
            *bin = bin.wrapping_add(value);
        }
    }

    /// Returns the bits of the sum or of its negation, the lowest first; `None` if that number is
    /// negative.
    fn digits(&self, negate: bool) -> Option<Vec<bool>> {
        let mut digits = Vec::with_capacity(BINS.saturating_add(128));
        let mut carry = 0_i128;
        for &bin in &self.bins {
            let bin = if negate { bin.wrapping_neg() } else { bin };
            let here = bin.wrapping_add(carry);
            digits.push(here & 1 == 1);
            carry = here >> 1;
        }
        while carry > 0 {
            digits.push(carry & 1 == 1);
            carry >>= 1;
        }
        (carry == 0).then_some(digits)
    }
}

/// Divides a natural number of units of 2^−1075, given by its bits (the lowest first), by `count`,
/// and rounds. The number is at most `count` times the largest `f64`.
///
/// This is long division in base 2. The unit is half of the smallest `f64`, so the bit that decides
/// about rounding is among the digits even if the quotient is subnormal.
fn divide(digits: &[bool], count: u128) -> f64 {
    let mut remainder = 0_u128;
    // The first 54 bits of the quotient: the mantissa and one bit more.
    let mut leading = 0_u64;
    let mut place = 0_u64;
    let mut inexact = false;
    for (at, &digit) in digits.iter().enumerate().rev() {
        remainder = remainder << 1 | u128::from(digit);
        let bit = remainder >= count;
        if bit {
            remainder = remainder.wrapping_sub(count);
        }
        if leading >> 53 == 0 {
            leading = leading << 1 | u64::from(bit);
            place = wide(at);
        } else {
            inexact |= bit;
        }
    }
    inexact |= remainder != 0;
    let mantissa = leading >> 1;
    let up = leading & 1 == 1 && (inexact || mantissa & 1 == 1);
    // The biased exponent is one more than `place` if the implicit bit is set: adding that bit
    // carries into the exponent. A carry of the rounding does the same.
    f64::from_bits((place << 52).wrapping_add(mantissa).wrapping_add(u64::from(up)))
}

/// The mask of the fraction bits of an `f64`.
const FRACTION: u64 = IMPLICIT - 1;

/// The implicit bit of a normal `f64`: the lowest bit above its fraction.
const IMPLICIT: u64 = 1 << 52;

/// The bin that counts units of 1.
const ONE: u64 = 1075;

/// The number of bins: one for each exponent. The exponent of a finite value is below 2047.
const BINS: usize = 2047;
