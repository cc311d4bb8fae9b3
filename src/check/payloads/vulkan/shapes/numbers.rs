//! Lists of numbers.

use crate::payloads::sizes::MOST;
use pte_schema::vulkan::view::GraphTypes;

/// The numbers of a list, or a number as a list of one. Of none, and of Null, there are no numbers.
#[derive(Clone, Copy, Default)]
pub(super) struct Numbers {
    numbers: [i64; MOST_NUMBERS],
    pub(super) len: usize,
}

impl Numbers {
    /// Collects numbers; `None` if there are too many.
    pub(super) fn of(numbers: impl Iterator<Item = i64>) -> Option<Self> {
        let mut all = Self::default();
        for number in numbers {
            all.push(number)?;
        }
        Some(all)
    }

    pub(super) fn push(&mut self, number: i64) -> Option<()> {
        *self.numbers.get_mut(self.len)? = number;
        self.len = self.len.saturating_add(1);
        Some(())
    }

    pub(super) fn all(&self) -> &[i64] {
        self.numbers.get(..self.len).unwrap_or_default()
    }

    pub(super) fn first(&self) -> Option<i64> {
        self.all().first().copied()
    }

    /// Returns the number of an axis: a list of one number has it for all axes.
    pub(super) fn each(&self, nth: usize) -> Option<i64> {
        self.all().get(if self.len == 1 { 0 } else { nth }).copied()
    }
}

/// Returns an integer; `None` for other values. The exporter may store an integer as a Double.
#[expect(clippy::as_conversions, reason = "the result is compared with the number")]
pub(super) fn number(value: GraphTypes<'_>) -> Option<i64> {
    match value {
        GraphTypes::Int(number) => Some(number.int_val()),
        GraphTypes::Double(number) => {
            let number = number.double_val();
            let whole = number as i64;
            (whole as f64 == number).then_some(whole)
        }
        _ => None,
    }
}

/// The most numbers of a list that are compared: two for each dimension.
pub(super) const MOST_NUMBERS: usize = 2 * MOST;
