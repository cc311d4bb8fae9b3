//! Layers that share weights in the backend's weights cache.
//!
//! Builds with the cache keep the packed filter and bias of a layer under the keys of their named data, for all
//! graphs of a process. Another layer with the same keys takes them, if a seed is the same: an exclusive or of
//! numbers of channels, which is 0 for every square filter. The sizes are never compared (format.md §11.3).

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::attributes::TRANSPOSE_WEIGHTS;
use super::shape::Shape;
use super::value::Values;
use super::{Site, XNNPACK_WEIGHTS_SHARED};
use crate::rule::Broken;
use pte_core::payload::xnnpack::{NodeIds, PayloadConstant};
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_schema::xnnpack::XNNDatatype;
use pte_schema::xnnpack::view::XNodeUnion;

/// The layers of all graphs of a program, by the keys of their weights.
#[derive(Default)]
pub(in crate::payloads) struct Packed(BTreeMap<Name, Layer>);

/// What the packed weights of a layer depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Layer {
    operator: &'static str,
    datatypes: [XNNDatatype; 2],
    filter: Shape,
    groups: u32,
    is_transposed: bool,
    /// The strides of a transposed convolution, which packs a filter for each offset.
    strides: [u32; 2],
}

/// The layers of a graph.
pub(super) struct GraphLayers<'k> {
    packed: &'k mut Packed,
    /// The name of each value's data, once it was asked for; `None` for data without a key. Not by constant: a graph
    /// may list one constant more often than it has bytes for this.
    names: Vec<Option<Option<Name>>>,
}

impl<'k> GraphLayers<'k> {
    pub(super) fn new(packed: &'k mut Packed) -> Self {
        Self { packed, names: Vec::new() }
    }

    /// Adds a node. Returns what is wrong with a layer that takes the packed weights of one unlike it.
    pub(super) fn add(
        &mut self,
        site: &Site<'_, '_>,
        operator: XNodeUnion<'_>,
        ids: &NodeIds,
        values: &Values<'_>,
    ) -> Result<(), Broken> {
        let (flags, groups, strides) = match operator {
            XNodeUnion::XNNFullyConnected(node) => (node.flags(), 1, [1; 2]),
            XNodeUnion::XNNConv2d(node) | XNodeUnion::XNNDepthwiseConv2d(node) => {
                (0, node.groups(), [1; 2])
            }
            XNodeUnion::XNNConvTranspose2d(node) => {
                (0, node.groups(), [node.subsampling_height(), node.subsampling_width()])
            }
            XNodeUnion::XNNBatchMatrixMultiply(node) => (node.flags(), 1, [1; 2]),
            _ => return Ok(()),
        };
        let (Some(operator), [input, filter, bias @ ..]) = (operator.name(), ids.inputs()) else {
            return Ok(());
        };
        let Some(name) = self.name(site, *filter, values) else { return Ok(()) };
        let bias = bias.first().and_then(|bias| self.name(site, *bias, values));
        let (Some(input), Some(filter)) = (values.get(*input), values.get(*filter)) else {
            return Ok(());
        };
        let layer = Layer {
            operator,
            datatypes: [input.datatype, filter.datatype],
            filter: filter.shape(),
            groups,
            is_transposed: flags & TRANSPOSE_WEIGHTS != 0,
            strides,
        };
        cost::look_up("", self.packed.0.len());
        let first = *self.packed.0.entry(name.then(bias)).or_insert(layer);
        match first == layer {
            true => Ok(()),
            false => Err((
                &XNNPACK_WEIGHTS_SHARED,
                format!(
                    "{operator} with a filter of {} has the weights of {} with a filter of {}",
                    layer.filter, first.operator, first.filter
                ),
            )),
        }
    }

    /// Returns the name of the data of the value `id`, if the data is named.
    fn name(&mut self, site: &Site<'_, '_>, id: u32, values: &Values<'_>) -> Option<Name> {
        values.get(id)?.constant?;
        let nth = values.index_of(id)?;
        if self.names.is_empty() {
            self.names = vec![None; values.all().len()];
            cost::charge(self.names.len());
        }
        *self.names.get_mut(index(nth))?.get_or_insert_with(|| {
            match site.graph.constant(site.tensor(nth)?.constant_buffer_idx()) {
                Ok(PayloadConstant::Named { key, .. }) => Some(Name::of(key)),
                _ => None,
            }
        })
    }
}

/// A hash of a key, or of two keys in a row: the cache puts no separator between them.
///
/// It is the polynomial of the bytes at [`BASE`], modulo a prime: that of two texts in a row follows from theirs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    hash: u64,
    /// The power of the base that the length of the text is the exponent of.
    power: u64,
}

impl Name {
    fn of(key: &str) -> Self {
        cost::charge(key.len());
        let (fours, rest) = key.as_bytes().as_chunks::<4>();
        let hash = fours.iter().fold(0, |hash, four| {
            // Four digits are less than 2^60.
            let digits = four.iter().fold(0, |digits: u64, byte| next_digit(digits, *byte));
            sum_of(hash, BASE4, digits)
        });
        let hash = rest.iter().fold(hash, |hash, byte| sum_of(hash, BASE, next_digit(0, *byte)));
        Self { hash, power: power(key.len()) }
    }

    fn then(self, next: Option<Self>) -> Self {
        let Some(next) = next else { return self };
        Self {
            hash: sum_of(self.hash, next.power, next.hash),
            power: sum_of(self.power, next.power, 0),
        }
    }
}

/// The prime is 2^61 − 1, so that a remainder needs no division.
const PRIME: u64 = u64::MAX >> 3;
const BASE: u64 = 0x1_001d;
/// The fourth power of the base.
const BASE4: u64 = sum_of(sum_of(BASE, BASE, 0), sum_of(BASE, BASE, 0), 0);

/// Returns the digits with one more, which is never 0: the lengths of texts count.
const fn next_digit(digits: u64, byte: u8) -> u64 {
    #[expect(clippy::as_conversions, reason = "`From` is not const")]
    let digit = byte as u64 | 0x100;
    digits.wrapping_mul(BASE).wrapping_add(digit)
}

/// Returns `one` × `other` + `more` modulo the prime. All three are at most 2^61, so that nothing wraps.
const fn sum_of(one: u64, other: u64, more: u64) -> u64 {
    #[expect(clippy::as_conversions, reason = "`From` is not const")]
    let sum = (one as u128).wrapping_mul(other as u128).wrapping_add(more as u128);
    #[expect(clippy::as_conversions, reason = "the parts of 2^122 in numbers of 61 bits")]
    let (low, high) = (sum as u64 & PRIME, (sum >> 61) as u64);
    let sum = low.wrapping_add(high);
    if sum >= PRIME { sum.wrapping_sub(PRIME) } else { sum }
}

/// Returns the power of the base with the exponent `len`.
fn power(mut len: usize) -> u64 {
    let (mut power, mut square) = (1, BASE);
    while len > 0 {
        if len & 1 == 1 {
            power = sum_of(power, square, 0);
        }
        (square, len) = (sum_of(square, square, 0), len >> 1);
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_row_are_one_name() {
        let (whole, one, other) = (Name::of("abcdef"), Name::of("abcd"), Name::of("ef"));
        assert!(one.then(Some(other)) == whole && one.then(None) == one);
        assert!(other.then(Some(one)) != whole && Name::of("") != Name::of("\0"));
        let long = "0123456789".repeat(9);
        for at in 0..long.len() {
            let (one, other) = long.split_at(at);
            assert!(Name::of(one).then(Some(Name::of(other))) == Name::of(&long), "{at}");
        }
    }
}
