//! Statistics of a tensor's values, computed in one pass.

use alloc::boxed::Box;

use super::sum::ExactSum;
use super::{Element, Visitor, values, visit};
use pte_schema::scalar::ScalarType;

/// The statistics of a tensor's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// The number of values. A byte of a packed dtype has several.
    pub count: u64,
    /// The least value that is not NaN; `None` if there is no such value, or if the values are
    /// complex.
    pub min: Option<Element>,
    /// The greatest value that is not NaN; `None` in the same cases as `min`.
    pub max: Option<Element>,
    /// The mean of the finite values: their exact sum, divided by their number and rounded once.
    ///
    /// `None` if there is no finite value or values are complex.
    pub mean: Option<f64>,
    /// The number of values equal to 0, including negative zero. A complex value counts if both
    /// parts are 0.
    pub zeros: u64,
    /// The number of NaNs. A complex value counts if either part is NaN.
    pub nans: u64,
    /// The number of infinities of either sign. A complex value counts if either part is infinite,
    /// even if the other is NaN.
    pub infs: u64,
}

/// Statistics that are computed from chunks of a tensor.
///
/// ```
/// use pte::element::{Stats, Tally};
/// use pte::schema::scalar::ScalarType;
///
/// let bytes = [1.5_f32, -2.0, 0.0].map(f32::to_le_bytes).concat();
/// let mut tally = Tally::new(ScalarType::FLOAT).unwrap();
/// bytes.chunks(8).for_each(|chunk| tally.add(chunk));
/// assert_eq!(Some(tally.finish()), Stats::of(ScalarType::FLOAT, &bytes));
/// ```
#[derive(Clone, Debug)]
pub struct Tally {
    scalar_type: ScalarType,
    /// For a dtype of one byte, the number of occurrences of each byte value. This is cheaper than
    /// reading the values.
    ///
    /// There are several tables, so that a run of equal bytes does not increment one counter over
    /// and over.
    bytes: Option<Box<[[u64; 256]; TABLES]>>,
    seen: Counters,
    sum: ExactSum,
}

/// All statistics except the sum. They fit in the processor's registers.
#[derive(Clone, Copy, Debug)]
struct Counters {
    count: u64,
    zeros: u64,
    nans: u64,
    infs: u64,
    /// The least and the greatest integer. Without an integer, the first exceeds the second.
    ints: (i128, i128),
    /// The least and the greatest float. Without a float, the first exceeds the second.
    floats: (f64, f64),
}

impl Stats {
    /// Returns the statistics of the values in `bytes`, as [`values`] returns them. `None` for a
    /// dtype that the runtime refuses.
    pub fn of(scalar_type: ScalarType, bytes: &[u8]) -> Option<Self> {
        let mut tally = Tally::new(scalar_type)?;
        tally.add(bytes);
        Some(tally.finish())
    }
}

impl Tally {
    /// Creates a tally without values. `None` for a dtype that the runtime refuses.
    pub fn new(scalar_type: ScalarType) -> Option<Self> {
        let one_byte = scalar_type.element_size()? == 1;
        Some(Self {
            scalar_type,
            bytes: one_byte.then(|| Box::new([[0; 256]; TABLES])),
            seen: Counters::NOTHING,
            sum: ExactSum::new(),
        })
    }

    /// Adds a chunk of whole elements. An incomplete element at its end is ignored.
    pub fn add(&mut self, chunk: &[u8]) {
        let Some(tables) = &mut self.bytes else {
            // The dtype is known, since [`Tally::new`] has checked it.
            let _known = visit(self.scalar_type, chunk, self);
            return;
        };
        let (rows, rest) = chunk.as_chunks::<TABLES>();
        for row in rows.iter().map(<[u8; TABLES]>::as_slice).chain([rest]) {
            for (table, &byte) in tables.iter_mut().zip(row) {
                if let Some(times) = table.get_mut(usize::from(byte)) {
                    *times = times.saturating_add(1);
                }
            }
        }
    }

    /// Returns the statistics of all added values.
    pub fn finish(mut self) -> Stats {
        if let Some(tables) = self.bytes.take() {
            for byte in 0..=u8::MAX {
                let times = tables.iter().filter_map(|table| table.get(usize::from(byte)));
                let times = times.fold(0_u64, |sum, &times| sum.saturating_add(times));
                if times != 0 {
                    self.add_byte(byte, times);
                }
            }
        }
        let Counters { count, zeros, nans, infs, ints, floats } = self.seen;
        let (min, max) = if ints.0 <= ints.1 {
            (Some(Element::Int(ints.0)), Some(Element::Int(ints.1)))
        } else if floats.0 <= floats.1 {
            (Some(Element::Float(floats.0)), Some(Element::Float(floats.1)))
        } else {
            (None, None)
        };
        let finite = count.saturating_sub(nans).saturating_sub(infs);
        let mean = min.and_then(|_| self.sum.mean(finite));
        Stats { count, min, max, mean, zeros, nans, infs }
    }

    /// Adds the values in a byte that occurs `times` times.
    fn add_byte(&mut self, byte: u8, times: u64) {
        for value in values(self.scalar_type, &[byte]).into_iter().flatten() {
            match value {
                Element::Int(value) => {
                    self.seen.int(value, times);
                    self.sum.add_int(value.saturating_mul(i128::from(times)));
                }
                Element::Float(value) => {
                    if self.seen.float(value, times) {
                        self.sum.add(value, times);
                    }
                }
                Element::Complex(re, im) => self.seen.complex(re, im, times),
            }
        }
    }
}

impl<'a> Visitor<'a> for &mut Tally {
    type Out = ();

    fn ints(self, values: impl Iterator<Item = i128> + 'a) {
        let mut seen = self.seen;
        let mut sum = 0_i128;
        for value in values {
            seen.int(value, 1);
            sum = sum.wrapping_add(value);
        }
        self.sum.add_int(sum);
        self.seen = seen;
    }

    fn floats(self, values: impl Iterator<Item = f64> + 'a) {
        let mut seen = self.seen;
        for value in values {
            if seen.float(value, 1) {
                self.sum.add(value, 1);
            }
        }
        self.seen = seen;
    }

    fn complexes(self, values: impl Iterator<Item = (f64, f64)> + 'a) {
        let mut seen = self.seen;
        for (re, im) in values {
            seen.complex(re, im, 1);
        }
        self.seen = seen;
    }
}

impl Counters {
    const NOTHING: Self = Self {
        count: 0,
        zeros: 0,
        nans: 0,
        infs: 0,
        ints: (i128::MAX, i128::MIN),
        floats: (f64::INFINITY, f64::NEG_INFINITY),
    };

    #[inline]
    fn int(&mut self, value: i128, times: u64) {
        self.ints = (self.ints.0.min(value), self.ints.1.max(value));
        self.count(times, value == 0, false, false);
    }

    /// Adds a float to all statistics except the sum. Returns whether the float is finite.
    #[inline]
    fn float(&mut self, value: f64, times: u64) -> bool {
        // A NaN is neither less than nor greater than any value.
        if value < self.floats.0 {
            self.floats.0 = value;
        }
        if value > self.floats.1 {
            self.floats.1 = value;
        }
        self.count(times, value == 0.0, value.is_nan(), value.is_infinite());
        value.is_finite()
    }

    #[inline]
    fn complex(&mut self, re: f64, im: f64, times: u64) {
        self.count(
            times,
            re == 0.0 && im == 0.0,
            re.is_nan() || im.is_nan(),
            re.is_infinite() || im.is_infinite(),
        );
    }

    #[inline]
    fn count(&mut self, times: u64, zero: bool, nan: bool, inf: bool) {
        self.count = self.count.saturating_add(times);
        self.zeros = self.zeros.saturating_add(if zero { times } else { 0 });
        self.nans = self.nans.saturating_add(if nan { times } else { 0 });
        self.infs = self.infs.saturating_add(if inf { times } else { 0 });
    }
}

/// The number of counters for each byte value.
const TABLES: usize = 4;
