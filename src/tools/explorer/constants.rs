//! The values or the statistics of constants, as texts.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use core::ops::Range;

use super::node::Attributes;
use pte_core::element::{Element, Stats, Tally, values};
use pte_core::{Handle, OpenError, Source};
use pte_flat::bytes::len_of;
use pte_schema::scalar::ScalarType;

/// The texts about the data of constants, each range once.
#[derive(Debug, Default)]
pub(super) struct ConstantTexts(BTreeMap<(u64, u64, i8), Text>);

#[derive(Debug, Default)]
struct Text {
    values: String,
    statistics: String,
}

impl ConstantTexts {
    /// Reads constants. `wanted` are their ranges and dtypes. Those that do not fit in what is left of
    /// [`MOST_READ`] are left out.
    pub(super) fn read<S: Source>(
        handle: &Handle<S>,
        wanted: impl Iterator<Item = (Range<u64>, ScalarType)>,
    ) -> Result<Self, OpenError<S::Error>> {
        let (mut texts, mut left) = (Self::default(), MOST_READ);
        for (range, dtype) in wanted {
            let key = (range.start, range.end, dtype.0);
            if texts.0.contains_key(&key) {
                continue;
            }
            let len = len_of(&range);
            let Some(rest) = left.checked_sub(len.max(CHUNK_COST)) else { continue };
            let Some(mut tally) = Tally::new(dtype) else { continue };
            left = rest;
            let mut text = Text::default();
            let mut begin = range.start;
            while begin < range.end {
                let end = begin.saturating_add(CHUNK).min(range.end);
                let bytes = handle.read(begin..end)?;
                if begin == range.start {
                    text.values = first_values(dtype, &bytes);
                }
                tally.add(&bytes);
                begin = end;
            }
            text.statistics = statistics(&tally.finish());
            texts.0.insert(key, text);
        }
        Ok(texts)
    }

    /// Adds what is known of the data to the attributes of a constant. Model Explorer shows `__value` as values.
    pub(super) fn describe(&self, range: &Range<u64>, dtype: ScalarType, attrs: &mut Attributes) {
        let Some(text) = self.0.get(&(range.start, range.end, dtype.0)) else { return };
        attrs.add("statistics", &text.statistics);
        attrs.add("__value", &text.values);
    }
}

/// Returns the first values, such as `[1, 2, …]`.
fn first_values(dtype: ScalarType, bytes: &[u8]) -> String {
    let Some(values) = values(dtype, bytes) else { return String::new() };
    let mut shown: Vec<String> = values.take(MOST_VALUES.saturating_add(1)).map(number).collect();
    if shown.len() > MOST_VALUES {
        shown.truncate(MOST_VALUES);
        shown.push("…".into());
    }
    format!("[{}]", shown.join(", "))
}

/// Returns statistics in words.
fn statistics(stats: &Stats) -> String {
    let mut out = String::new();
    let numbers =
        [("min", stats.min), ("max", stats.max), ("mean", stats.mean.map(Element::Float))];
    for (name, value) in numbers {
        if let Some(value) = value {
            let _ = write!(out, "{name} {}, ", number(value));
        }
    }
    for (count, what) in [(stats.zeros, "zeros"), (stats.nans, "NaN"), (stats.infs, "infinite")] {
        if count > 0 {
            let _ = write!(out, "{count} {what}, ");
        }
    }
    let _ = write!(out, "{} values", stats.count);
    out
}

fn number(element: Element) -> String {
    match element {
        Element::Int(value) => value.to_string(),
        Element::Float(value) => short(value),
        Element::Complex(real, imaginary) => format!("{} + {}i", short(real), short(imaginary)),
    }
}

/// Returns a float with about six digits.
fn short(value: f64) -> String {
    let plain = format!("{value:?}");
    match value.abs() {
        _ if plain.len() <= LONGEST_NUMBER => plain,
        1e-4..1e6 => format!("{value:.6}"),
        _ => format!("{value:.5e}"),
    }
}

/// The most bytes of constants that are read for a document.
const MOST_READ: u64 = 256 << 20;

/// The bytes that are read at once.
const CHUNK: u64 = 1 << 20;

/// The bytes that reading a small constant costs at least, so that many empty ones are bounded too.
const CHUNK_COST: u64 = 64;

/// The number of values that are shown of a constant.
const MOST_VALUES: usize = 32;

/// The longest number that is shown in full.
const LONGEST_NUMBER: usize = 9;
