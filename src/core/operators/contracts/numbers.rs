//! Evaluates the numbers of a contract for a call.

use alloc::vec::Vec;

use super::call::{Call, ElementBounds, KnownValues, MOST_ITEMS};
use super::dtypes;
use super::vocabulary::{Arg, Number};
use crate::limits::MOST_DIMENSIONS;
use crate::operators::kind::Kind;
use crate::operators::scalar::Scalar;
use pte_schema::program::TensorShapeDynamism;
use pte_schema::program::view::{KernelTypes, Tensor};
use pte_schema::scalar::ScalarType;

impl<'a, V: KnownValues<'a>> Call<'_, 'a, V> {
    /// Returns an Int, Double or Bool as a Double.
    pub(super) fn double(&self, arg: Arg) -> Option<f64> {
        self.scalar(arg).map(Scalar::as_f64)
    }

    /// Returns the items of an IntList. Returns `None` also if the list is longer than the largest
    /// rank of a tensor.
    pub fn ints(&self, arg: Arg) -> Option<Vec<i128>> {
        let KernelTypes::IntList(list) = self.arg(arg)? else { return None };
        let items = list.items().filter(|items| items.len() <= MOST_DIMENSIONS)?;
        items.into_iter().map(|index| self.int(index)).collect()
    }

    fn item(&self, arg: Arg, nth: usize) -> Option<i128> {
        match self.arg(arg)? {
            KernelTypes::IntList(list) => {
                let items = list.items()?;
                self.int(items.get(if items.len() == 1 { 0 } else { nth })?)
            }
            KernelTypes::BoolList(list) => Some(i128::from(list.items()?.get(nth)?)),
            _ => None,
        }
    }

    pub(super) fn number(&self, number: &Number) -> Option<i128> {
        match *number {
            Number::Const(number) => Some(number.into()),
            Number::Int(arg) => self.int(self.args.get(arg.into())?.into()),
            Number::Item(arg, nth) => self.item(arg, nth.into()),
            Number::Last(arg) => self.ints(arg)?.last().copied(),
            Number::Count(arg) => match self.arg(arg)? {
                KernelTypes::IntList(list) => i128::try_from(list.items()?.len()).ok(),
                _ => None,
            },
            Number::Rank(arg) => rank(self.tensor(arg)?),
            Number::Size(arg, dim) => {
                let tensor = self.tensor(arg)?;
                let dim = self.dimension(tensor, dim)?;
                self.known(arg, |sizes| sizes.get(dim..)?.get(..1))
            }
            Number::Numel(arg) => self.known(arg, |sizes| Some(sizes)),
            Number::UnresizedNumel(arg) => product(&self.sizes_before(arg)?),
            Number::CapacityNumel(arg) => product(&sizes(self.tensor(arg)?)?),
            Number::LeastElement(arg) => match self.elements(arg)? {
                ElementBounds::Integers { least, .. } => Some(least.into()),
                ElementBounds::Floats { .. } => None,
            },
            Number::GreatestElement(arg) => match self.elements(arg)? {
                ElementBounds::Integers { greatest, .. } => Some(greatest.into()),
                ElementBounds::Floats { .. } => None,
            },
            Number::LeadingNumel(arg, aside) => {
                self.known(arg, |sizes| sizes.get(..sizes.len().checked_sub(aside.into())?))
            }
            Number::TrailingNumel(arg, dim) => {
                let tensor = self.tensor(arg)?;
                let dim = self.dimension(tensor, dim)?;
                self.known(arg, |sizes| sizes.get(dim.checked_add(1)?..))
            }
            Number::Span(arg, dim) => {
                let tensor = self.tensor(arg)?;
                let dim = self.dimension(tensor, dim)?;
                // The tensor may have as many dimensions as the file has bytes: `sizes` refuses it. Other rules
                // report it, and a dim order of another length.
                let sizes = self.sizes(arg)?;
                let order = tensor.dim_order().filter(|order| order.len() == sizes.len())?;
                // The dimensions that are inner to this one in memory.
                let place = order.iter().position(|at| usize::from(at) == dim)?;
                let behind = order.iter().skip(place.checked_add(1)?);
                let inner = behind.map(|at| sizes.get(usize::from(at)).copied());
                let stride = product(&inner.collect::<Option<Vec<_>>>()?)?;
                product(sizes.get(..dim.checked_add(1)?)?)?.checked_mul(stride)
            }
            Number::PromotedElementSize(one, other) => {
                let dtypes = [self.dtype(one)?, self.dtype(other)?];
                dtypes.iter().any(|dtype| dtypes::COMPLEX.contains(dtype)).then_some(())?;
                dtypes.into_iter().filter_map(complex_width).max()
            }
            Number::IndexedDims(arg) => self.indexed(arg),
            Number::TensorPosition(arg) => self.place(arg),
            Number::Dtype(arg) => self.dtype(arg).map(|dtype| dtype.0.into()),
            Number::ElementSize(arg) => self.dtype(arg)?.element_size().map(i128::from),
            Number::Least(arg) => bounds(self.dtype(arg)?).map(|(least, _)| least.into()),
            Number::Greatest(arg) => bounds(self.dtype(arg)?).map(|(_, most)| most.into()),
            Number::Wrapped(arg, tensor) => {
                let bits = match self.dtype(tensor)? {
                    ScalarType::BYTE | ScalarType::CHAR => 8,
                    ScalarType::SHORT => 16,
                    ScalarType::INT => 32,
                    ScalarType::LONG => 64,
                    _ => return None,
                };
                let int = self.number(&Number::Int(arg))?;
                int.checked_rem_euclid(1i128.checked_shl(bits)?)
            }
            Number::Square(arg) => {
                let int = self.number(&Number::Int(arg))?;
                int.checked_mul(int)?.checked_rem_euclid(1i128.checked_shl(64)?)
            }
            Number::Times(one, other) => self.number(one)?.checked_mul(self.number(other)?),
            Number::Plus(one, other) => self.number(one)?.checked_add(self.number(other)?),
        }
    }

    /// Returns the product of some sizes of a tensor, if they are known. The product is 0 for a
    /// tensor without capacity, even if the tensor may be resized.
    fn known(&self, arg: Arg, part: impl Fn(&[i128]) -> Option<&[i128]>) -> Option<i128> {
        match self.sizes(arg) {
            Some(sizes) => product(part(&sizes)?),
            None => product(part(&sizes(self.tensor(arg)?)?)?).filter(|&room| room == 0),
        }
    }

    /// Returns the sizes that a tensor has when the kernel computes, if they are known. The call may
    /// resize its output.
    pub(super) fn sizes(&self, arg: Arg) -> Option<Vec<i128>> {
        let tensor = self.tensor(arg)?;
        if is_fixed(tensor) {
            return sizes(tensor);
        }
        let kind = self.letters.chars().nth(arg.into()).and_then(Kind::of);
        match kind.is_some_and(Kind::is_written) {
            true => None,
            false => self.sizes_before(arg),
        }
    }

    /// Returns the sizes that a tensor has before the call, if they are known.
    pub(super) fn sizes_before(&self, arg: Arg) -> Option<Vec<i128>> {
        let tensor = self.tensor(arg)?;
        match is_fixed(tensor) {
            true => sizes(tensor),
            false => sizes(self.values.sized(self.args.get(arg.into())?)?),
        }
    }

    /// Returns the index of a dimension of the tensor. A negative number counts from the end.
    fn dimension(&self, tensor: Tensor<'_>, dim: &Number) -> Option<usize> {
        let dim = self.number(dim)?;
        let dim = if dim < 0 { dim.checked_add(rank(tensor)?)? } else { dim };
        usize::try_from(dim).ok()
    }

    /// Returns the number of dimensions that are indexed by the items of a list.
    fn indexed(&self, arg: Arg) -> Option<i128> {
        let KernelTypes::OptionalTensorList(list) = self.arg(arg)? else { return None };
        let masks = [ScalarType::BOOL, ScalarType::BYTE];
        list.items()?.into_iter().take(MOST_ITEMS).try_fold(0i128, |sum, index| {
            let dimensions = match index {
                -1 => 1,
                _ => match self.values.value(index)? {
                    KernelTypes::Tensor(mask) if masks.contains(&mask.scalar_type()) => rank(mask)?,
                    _ => 1,
                },
            };
            sum.checked_add(dimensions)
        })
    }

    /// Returns the position of the only tensor in a list; `None` if there is not exactly one.
    fn place(&self, arg: Arg) -> Option<i128> {
        let KernelTypes::OptionalTensorList(list) = self.arg(arg)? else { return None };
        let items = list.items().filter(|items| items.len() <= MOST_DIMENSIONS)?;
        let is_tensor = |index| matches!(self.values.value(index), Some(KernelTypes::Tensor(_)));
        let mut places = (0..).zip(items).filter(|&(_, index)| is_tensor(index));
        let place = places.next().filter(|_| places.next().is_none());
        place.map(|(place, _)| place)
    }
}

/// Returns a tensor's sizes in the file, or its capacity if it may be resized. Returns `None` if
/// they are invalid, which another rule reports.
pub(super) fn sizes(tensor: Tensor<'_>) -> Option<Vec<i128>> {
    let sizes = tensor.sizes().filter(|sizes| sizes.len() <= MOST_DIMENSIONS)?;
    sizes.into_iter().map(|size| (size >= 0).then_some(size.into())).collect()
}

/// Returns whether a tensor keeps its sizes: it is STATIC or has no sizes.
pub(super) fn is_fixed(tensor: Tensor<'_>) -> bool {
    tensor.shape_dynamism() == TensorShapeDynamism::STATIC
        || tensor.sizes().is_some_and(|sizes| sizes.is_empty())
}

fn rank(tensor: Tensor<'_>) -> Option<i128> {
    i128::try_from(tensor.sizes()?.len()).ok()
}

pub(super) fn product(sizes: &[i128]) -> Option<i128> {
    sizes.iter().try_fold(1i128, |product, &size| product.checked_mul(size))
}

/// Returns the element size of the common dtype of `dtype` and the complex dtype with parts of 16
/// bits. Returns `None` if they have no common dtype.
fn complex_width(dtype: ScalarType) -> Option<i128> {
    match dtype {
        // Half fits a part of 16 bits; BFloat16 does not.
        ScalarType::HALF => Some(4),
        ScalarType::FLOAT | ScalarType::BFLOAT16 => Some(8),
        ScalarType::DOUBLE => Some(16),
        _ if dtypes::COMPLEX.contains(&dtype) => dtype.element_size().map(i128::from),
        _ => None,
    }
}

/// Returns the least and the greatest value of a dtype, as the quantizing kernels define them.
fn bounds(dtype: ScalarType) -> Option<(i32, i32)> {
    Some(match dtype {
        ScalarType::BYTE => (0, 255),
        ScalarType::CHAR => (-128, 127),
        ScalarType::BITS16 | ScalarType::UINT16 => (0, 65535),
        ScalarType::SHORT => (-32768, 32767),
        ScalarType::INT => (i32::MIN, i32::MAX),
        _ => return None,
    })
}
