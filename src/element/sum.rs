//! A sum without rounding, and the mean that follows from it.

use alloc::vec;
use alloc::vec::Vec;

use crate::bytes::wide;

/// An exact sum of finite `f64`s and of integers: for each exponent that an `f64` can have, the
/// sum of the mantissas that came with it.
///
/// Nothing is rounded before the mean, so neither the order of the values nor how they were cut
/// into chunks matters, large values do not overflow and small ones are not lost. 2^64 bytes hold
/// at most 2^64 mantissas of 53 bits or 2^61 integers of 64: a bin never overflows, and the
/// wrapping operations do not wrap.
#[derive(Clone, Debug)]
pub(super) struct ExactSum {
    /// Bin `e` counts units of 2^(e − 1075): the place of bit `e` in the whole sum.
    bins: Vec<i128>,
}

impl ExactSum {
    pub(super) fn new() -> Self {
        Self { bins: vec![0; BINS] }
    }

    /// Adds a finite value that occurs `times`.
    #[inline]
    pub(super) fn add(&mut self, value: f64, times: u64) {
        let bits = value.to_bits();
        let exponent = bits >> 52 & 0x7ff;
        let fraction = bits & FRACTION;
        // Subnormals have no implicit bit, and the unit of the lowest normals.
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

    /// The sum divided by `count` and rounded once, to the nearest `f64` and to the even one of
    /// two. `None` if `count` is 0.
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

    /// The bits of the sum, or of its negation, the lowest first; `None` if that is below 0.
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

/// A natural number of units of 2^−1075, given by its bits, the lowest first, divided by `count`
/// and rounded. The number is at most `count` times the largest `f64`.
///
/// Long division in base 2. The unit is half of the smallest `f64`, so the bit that decides about
/// rounding is among the digits even where the quotient is subnormal.
fn divide(digits: &[bool], count: u128) -> f64 {
    let mut remainder = 0_u128;
    // The first 54 bits of the quotient: the mantissa and the bit after it.
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
    // The implicit bit, if there is one, adds the 1 that the exponent lacks; so does a carry.
    f64::from_bits((place << 52).wrapping_add(mantissa).wrapping_add(u64::from(up)))
}

/// The fraction of an `f64`.
const FRACTION: u64 = IMPLICIT - 1;

/// The bit that an `f64` does not store.
const IMPLICIT: u64 = 1 << 52;

/// The place of 1.
const ONE: u64 = 1075;

/// One bin for each exponent that `f64` can write; of a finite value it is below 2047.
const BINS: usize = 2047;
