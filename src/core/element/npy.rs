//! NumPy's `.npy` format, version 1.0 (NumPy's `numpy/lib/format.py`). A file has a magic number,
//! the length of the header, the header as the text of a Python dictionary, and the elements.

use alloc::string::String;
use alloc::vec::Vec;

use pte_flat::bytes::wide;
use pte_schema::scalar::ScalarType;

/// Returns NumPy's name of a dtype, which gives the byte order, the kind, and the bytes of an
/// element.
///
/// Quantized integers are stored as raw integers. `None` for a dtype that NumPy lacks: bfloat16,
/// 8-bit floats, complex numbers of 16-bit floats, packed values and plain bits.
pub fn descr(scalar_type: ScalarType) -> Option<&'static str> {
    Some(match scalar_type {
        ScalarType::BOOL => "|b1",
        ScalarType::BYTE | ScalarType::QUINT8 => "|u1",
        ScalarType::CHAR | ScalarType::QINT8 => "|i1",
        ScalarType::SHORT => "<i2",
        ScalarType::INT | ScalarType::QINT32 => "<i4",
        ScalarType::LONG => "<i8",
        ScalarType::UINT16 => "<u2",
        ScalarType::UINT32 => "<u4",
        ScalarType::UINT64 => "<u8",
        ScalarType::HALF => "<f2",
        ScalarType::FLOAT => "<f4",
        ScalarType::DOUBLE => "<f8",
        ScalarType::COMPLEX_FLOAT => "<c8",
        ScalarType::COMPLEX_DOUBLE => "<c16",
        _ => return None,
    })
}

/// Returns NumPy's name of the unsigned integers that hold the bits of a bfloat16 or an 8-bit
/// float. NumPy lacks these dtypes; the package `ml_dtypes` reads them:
/// `numpy.load(file).view(ml_dtypes.bfloat16)`.
///
/// `None` for other dtypes.
pub fn bits(scalar_type: ScalarType) -> Option<&'static str> {
    Some(match scalar_type {
        ScalarType::BFLOAT16 => "<u2",
        ScalarType::FLOAT8E5M2
        | ScalarType::FLOAT8E4M3FN
        | ScalarType::FLOAT8E5M2FNUZ
        | ScalarType::FLOAT8E4M3FNUZ => "|u1",
        _ => return None,
    })
}

/// Returns the bytes before the elements; their length is a multiple of 64. The elements follow in
/// C order.
///
/// `None` if the shape is too long for the 16-bit length of the header (over 3,000 dimensions).
pub fn header(descr: &str, sizes: &[u64]) -> Option<Vec<u8>> {
    let mut shape = String::new();
    for size in sizes {
        // A Python tuple of one item needs a comma after it.
        shape.push_str(&format!("{}{size},", if shape.is_empty() { "" } else { " " }));
    }
    if sizes.len() > 1 {
        shape.pop();
    }
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");

    let used = PREFIX.checked_add(text.len())?.checked_add(1)?;
    let total = used.checked_next_multiple_of(ALIGNMENT)?;
    let length = u16::try_from(total.checked_sub(PREFIX)?).ok()?;

    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out.resize(total.checked_sub(1)?, b' ');
    out.push(b'\n');
    Some(out)
}

/// Reorders the elements of a dense tensor to the C order of its sizes.
///
/// In `bytes`, the dimension `dim_order[0]` is outermost and the last one innermost (format.md
/// §6.3; `channels_last` of NCHW is 0, 2, 3, 1).
///
/// `None` if `dim_order` is not a permutation of the dimensions, or if the length of `bytes` is not
/// the product of `element_size` and the sizes. A product that overflows is refused even if a size
/// is 0, as in [`ScalarType::nbytes`].
pub fn to_logical_order(
    bytes: &[u8],
    element_size: usize,
    sizes: &[u64],
    dim_order: &[u8],
) -> Option<Vec<u8>> {
    let mut dims = dims(bytes.len(), element_size, sizes, dim_order)?;
    // Elements that are adjacent in both orders are copied as one block.
    let mut block = element_size;
    while let Some(dim) = dims.pop_if(|dim| dim.stride == block) {
        block = block.checked_mul(dim.size)?;
    }
    let Some(row) = dims.pop().filter(|_| !bytes.is_empty()) else {
        return Some(bytes.to_vec());
    };

    let mut out = Vec::with_capacity(bytes.len());
    let mut from = 0_usize;
    loop {
        let mut rest = bytes.get(from..)?;
        for _ in 0..row.size {
            out.extend_from_slice(rest.get(..block)?);
            rest = rest.get(row.stride..).unwrap_or_default();
        }
        // Moves to the next row: increments the last index that is not at its end, and resets the
        // indices after it to 0. Every `from` is within `bytes`.
        let turned = dims.iter_mut().rev().find_map(|dim| {
            dim.at = dim.at.wrapping_add(1);
            if dim.at < dim.size {
                from = from.wrapping_add(dim.stride);
                return Some(());
            }
            dim.at = 0;
            from = from.wrapping_sub(dim.stride.wrapping_mul(dim.size.wrapping_sub(1)));
            None
        });
        if turned.is_none() {
            return Some(out);
        }
    }
}

/// A dimension of the source, with the current index in that dimension.
#[derive(Clone, Copy)]
struct Dim {
    size: usize,
    /// The distance in bytes from one index to the next.
    stride: usize,
    /// The current index.
    at: usize,
}

/// Returns the logical dimensions with more than one index; `None` if the arguments contradict each
/// other.
fn dims(len: usize, element_size: usize, sizes: &[u64], dim_order: &[u8]) -> Option<Vec<Dim>> {
    if sizes.len() != dim_order.len() {
        return None;
    }
    let mut dims = vec![None; sizes.len()];
    let mut stride = element_size;
    let mut empty = false;
    for &dim in dim_order.iter().rev() {
        let dim = usize::from(dim);
        let size = usize::try_from(*sizes.get(dim)?).ok()?;
        let place = dims.get_mut(dim).filter(|place| place.is_none())?;
        *place = Some(Dim { size, stride, at: 0 });
        empty |= size == 0;
        stride = stride.checked_mul(size.max(1))?;
    }
    let nbytes = if empty { 0 } else { stride };
    if wide(nbytes) != wide(len) {
        return None;
    }
    Some(dims.into_iter().flatten().filter(|dim| dim.size != 1).collect())
}

const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";

/// The number of bytes before the text: the magic number, the version and the length.
const PREFIX: usize = MAGIC.len() + size_of::<u16>();

/// The alignment of the elements in the file.
const ALIGNMENT: usize = 64;
