//! NumPy's `.npy` format, version 1.0 (NumPy's `numpy/lib/format.py`): a magic number, the length
//! of a header, the header as the text of a Python dictionary, then the elements.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{COMPLEX_DOUBLE, COMPLEX_FLOAT};
use crate::bytes::wide;
use crate::schema::scalar::ScalarType;

/// NumPy's name of a dtype: byte order, kind, and bytes of an element.
///
/// Quantized integers are their raw integers. `None` for a dtype that NumPy lacks: bfloat16, the
/// 8-bit floats, halves as parts of a complex number, packed values and plain bits.
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
        COMPLEX_FLOAT => "<c8",
        COMPLEX_DOUBLE => "<c16",
        _ => return None,
    })
}

/// What stands before the elements, which follow in C order: a multiple of 64 bytes.
///
/// `None` if the shape is too long for the 16 bits that count the header (over 3,000 dimensions).
pub fn header(descr: &str, sizes: &[u64]) -> Option<Vec<u8>> {
    let mut shape = String::new();
    for size in sizes {
        // A tuple of one needs the comma after it.
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

/// The elements of a dense tensor in C order of its sizes, from bytes in which the dimension
/// `dim_order[0]` is outermost and the last one innermost (format.md §6.3; `channels_last` of NCHW
/// is 0, 2, 3, 1).
///
/// `None` if `dim_order` is no permutation of the dimensions, or if `bytes` is not the product of
/// `element_size` and the sizes long; a product that overflows is refused even where a size is 0,
/// as [`ScalarType::nbytes`] does.
pub fn to_logical_order(
    bytes: &[u8],
    element_size: usize,
    sizes: &[u64],
    dim_order: &[u8],
) -> Option<Vec<u8>> {
    let mut dims = dims(bytes.len(), element_size, sizes, dim_order)?;
    // What lies side by side in both orders moves as one.
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
        // The next row, counting like an odometer; every `from` is within `bytes`.
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

/// A dimension, on the way through it.
#[derive(Clone, Copy)]
struct Dim {
    size: usize,
    /// Bytes from one index to the next.
    stride: usize,
    /// The index.
    at: usize,
}

/// The logical dimensions of more than one index, if everything fits together.
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

/// Bytes before the text: the magic number, the version and the length.
const PREFIX: usize = MAGIC.len() + size_of::<u16>();

/// What the elements are aligned to in the file.
const ALIGNMENT: usize = 64;
