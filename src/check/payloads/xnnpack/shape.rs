//! The shape of a value.

use core::fmt;

use pte_flat::view::Vector;
use pte_schema::xnnpack::XNNDatatype;

/// The most dimensions of a value (`XNN_MAX_TENSOR_DIMS`).
pub(super) const MOST_DIMENSIONS: usize = 6;

/// The sizes of at most 6 dimensions, outermost first.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shape {
    sizes: [u64; MOST_DIMENSIONS],
    rank: usize,
}

impl Shape {
    /// Creates a shape; `None` if there are too many dimensions.
    pub(super) fn new(sizes: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut shape = Self { sizes: [0; MOST_DIMENSIONS], rank: 0 };
        for size in sizes {
            *shape.sizes.get_mut(shape.rank)? = size;
            shape.rank = shape.rank.saturating_add(1);
        }
        Some(shape)
    }

    /// Creates the shape with these sizes; `None` if there are too many.
    pub(super) fn of(sizes: Vector<'_, u32>) -> Option<Self> {
        match sizes.len() {
            0..=MOST_DIMENSIONS => Self::new(sizes.iter().map(u64::from)),
            _ => None,
        }
    }

    /// Creates the shape of a batch of images: their number, height, width and channels.
    pub(super) fn image(sizes: [u64; 4]) -> Self {
        let [batch, height, width, channels] = sizes;
        Self { sizes: [batch, height, width, channels, 0, 0], rank: 4 }
    }

    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    pub(super) fn sizes(&self) -> &[u64] {
        self.sizes.get(..self.rank).unwrap_or_default()
    }

    /// Returns the sizes, to be changed.
    pub(super) fn sizes_mut(&mut self) -> &mut [u64] {
        self.sizes.get_mut(..self.rank).unwrap_or_default()
    }

    /// Returns the size of a dimension; 0 if there is no such dimension.
    pub(super) fn size(&self, dimension: usize) -> u64 {
        self.sizes().get(dimension).copied().unwrap_or_default()
    }

    /// Returns the size of the innermost dimension; 0 without dimensions.
    pub(super) fn last(&self) -> u64 {
        self.sizes().last().copied().unwrap_or_default()
    }

    /// Returns the number of elements; `None` if it does not fit 63 bits.
    pub(super) fn elements(&self) -> Option<u64> {
        product(self.sizes().iter().copied())
    }
}

/// Returns the product of numbers; `None` if it does not fit 63 bits.
#[inline]
pub(super) fn product(numbers: impl IntoIterator<Item = u64>) -> Option<u64> {
    let (mut product, mut has_zero) = (Some(1u64), false);
    for number in numbers {
        has_zero |= number == 0;
        product = product.and_then(|product| product.checked_mul(number));
    }
    // With a factor 0 the product is 0, even if the others overflow. The backend does the same.
    match has_zero {
        true => Some(0),
        false => product.filter(|&product| product <= i64::MAX.cast_unsigned()),
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.sizes())
    }
}

/// Returns the bits of an element; `None` for an unknown datatype.
#[inline]
pub(super) fn bits(datatype: XNNDatatype) -> Option<u64> {
    Some(match datatype {
        XNNDatatype::xnn_datatype_qcint4 | XNNDatatype::xnn_datatype_qbint4 => 4,
        XNNDatatype::xnn_datatype_qint8
        | XNNDatatype::xnn_datatype_quint8
        | XNNDatatype::xnn_datatype_qcint8
        | XNNDatatype::xnn_datatype_qdint8
        | XNNDatatype::xnn_datatype_qpint8 => 8,
        XNNDatatype::xnn_datatype_fp16 | XNNDatatype::xnn_datatype_bf16 => 16,
        XNNDatatype::xnn_datatype_fp32
        | XNNDatatype::xnn_datatype_pfp32
        | XNNDatatype::xnn_datatype_int32
        | XNNDatatype::xnn_datatype_qint32
        | XNNDatatype::xnn_datatype_qcint32 => 32,
        _ => return None,
    })
}

/// Returns whether a value that is no constant takes less than 4 GiB. Its memory is allocated when the
/// method is loaded or run, and no genuine value takes nearly as much. `elements` is the number of
/// elements of `bits` bits each.
pub(super) fn is_small(elements: Option<u64>, bits: u64) -> bool {
    let all = elements.and_then(|count| count.checked_mul(bits));
    all.is_some_and(|bits| bits.div_euclid(8) < 1 << 32)
}

/// Returns the size of a constant in bytes. Rows of 4-bit elements are padded to whole bytes.
/// `None` if the size overflows or the datatype is unknown.
pub(super) fn bytes(shape: &Shape, datatype: XNNDatatype) -> Option<u64> {
    let bits = bits(datatype)?;
    if bits >= 8 {
        return shape.elements()?.checked_mul(bits.div_euclid(8));
    }
    match shape.sizes().split_last() {
        None => Some(1),
        Some((&row, rows)) => product(rows.iter().copied())?.checked_mul(row.div_ceil(2)),
    }
}
