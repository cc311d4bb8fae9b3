//! Evaluates the conditions of a contract for a call.

use super::call::{Call, ElementBounds, KnownValues, MOST_ITEMS};
use super::dtypes;
use super::numbers::{is_fixed, product, sizes};
use super::vocabulary::{Arg, Condition, Number, Shape};
use crate::limits::MOST_DIMENSIONS;
use crate::operators::kind::Kinds;
use crate::operators::scalar::Scalar;
use pte_schema::program::tag;
use pte_schema::program::view::KernelTypes;

impl<'a, V: KnownValues<'a>> Call<'_, 'a, V> {
    /// Returns whether a condition holds; `None` if that is unknown.
    pub(super) fn test(&self, condition: &Condition) -> Option<bool> {
        let both = |one, other| Some((self.number(one)?, self.number(other)?));
        match condition {
            Condition::Equal(one, other) => both(one, other).map(|(one, other)| one == other),
            Condition::NotEqual(one, other) => both(one, other).map(|(one, other)| one != other),
            Condition::AtLeast(one, other) => both(one, other).map(|(one, other)| one >= other),
            Condition::AtMost(one, other) => both(one, other).map(|(one, other)| one <= other),
            Condition::Below(one, other) => both(one, other).map(|(one, other)| one < other),
            Condition::Divides(one, other) => {
                both(one, other).map(|(one, other)| other.checked_rem(one) == Some(0))
            }
            &Condition::Dimension(arg, tensor) => {
                let (dim, rank) = both(&Number::Int(arg), &Number::Rank(tensor))?;
                Some(dim < rank && dim.checked_add(rank)? >= 0)
            }
            &Condition::Dimensions(arg, tensor) => {
                let KernelTypes::IntList(list) = self.arg(arg)? else { return None };
                let rank = self.number(&Number::Rank(tensor)).filter(|&rank| rank > 0)?;
                let mut dims = list.items()?.into_iter().take(MOST_DIMENSIONS);
                let is_wrong = |dim: i128| dim >= rank || dim.saturating_add(rank) < 0;
                dims.any(|dim| self.int(dim).is_some_and(is_wrong)).then_some(false)
            }
            Condition::In(arg, dtypes) => Some(dtypes.contains(&self.dtype(*arg)?)),
            Condition::NotIn(arg, dtypes) => Some(!dtypes.contains(&self.dtype(*arg)?)),
            Condition::Promote(args) => {
                let mut dtypes = args.iter().filter_map(|&arg| self.dtype(arg));
                let first = dtypes.next()?;
                // A shortcut: most calls have only one dtype.
                let Some(other) = dtypes.clone().find(|&dtype| dtype != first) else {
                    return Some(true);
                };
                let alone = [dtypes::OPAQUE, dtypes::ALONE];
                let is_alone = |dtype| alone.iter().any(|dtypes| dtypes.contains(&dtype));
                Some(!is_alone(first) && !is_alone(other) && !dtypes.any(is_alone))
            }
            &Condition::Infers(arg) => {
                let sizes = self.ints(arg)?;
                let mut rest = sizes.iter().filter(|&&size| size != -1);
                let product = rest.try_fold(1i128, |product, size| {
                    product.checked_mul(*size)?.checked_rem_euclid(1i128.checked_shl(64)?)
                })?;
                Some(product != 0 || !sizes.contains(&-1))
            }
            &Condition::Widths(arg) => {
                let mut widths = self.widths(arg)?;
                let first = widths.next()??;
                Some(widths.flatten().all(|width| width >= first))
            }
            &Condition::SameShape(arg, other) => {
                if self.number(&Number::Rank(arg))? != self.number(&Number::Rank(other))? {
                    return Some(false);
                }
                Some(self.sizes_before(arg)? == self.sizes_before(other)?)
            }
            &Condition::CanResizeTo(arg, shape) => self.takes(arg, shape),
            &Condition::Finite(arg) => match self.elements(arg)? {
                ElementBounds::Floats { are_finite } => Some(are_finite),
                ElementBounds::Integers { .. } => None,
            },
            &Condition::Steps(start, end, step) => {
                let start = start.map_or(Some(0.0), |start| self.double(start))?;
                let step = step.map_or(Some(1.0), |step| self.double(step))?;
                let steps = (self.double(end)? - start) / step;
                // The kernel itself refuses NaN and a step in the wrong direction.
                Some(steps.is_nan() || steps <= f64::from(i32::MAX))
            }
            Condition::Strided => self.strided().map(|(_, _, _, within)| within),
            &Condition::Flag(arg, flag) => match self.scalar(arg)? {
                Scalar::Bool(known) => Some(known == flag),
                _ => None,
            },
            &Condition::Double(arg) => {
                let (kinds, double) = (self.kinds(arg)?, Kinds::of(tag::Double));
                match kinds.and(double) == Kinds::NONE {
                    true => Some(false),
                    false => (kinds == double).then_some(true),
                }
            }
            &Condition::Null(arg) => {
                self.arg(arg).map(|value| matches!(value, KernelTypes::Null(_)))
            }
            Condition::Not(condition) => self.test(condition).map(|holds| !holds),
            Condition::Any(conditions) => {
                let mut unknown = false;
                for condition in *conditions {
                    match self.test(condition) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => unknown = true,
                    }
                }
                (!unknown).then_some(false)
            }
        }
    }

    /// Returns the element size of each tensor of a list in bytes; `None` for a tensor that is
    /// unknown.
    fn widths(&self, arg: Arg) -> Option<impl Iterator<Item = Option<u64>>> {
        let KernelTypes::TensorList(list) = self.arg(arg)? else { return None };
        Some(list.items()?.into_iter().take(MOST_ITEMS).map(|index| {
            match self.values.value(index)? {
                KernelTypes::Tensor(tensor) => tensor.scalar_type().element_size(),
                _ => None,
            }
        }))
    }

    /// Returns whether a tensor can be resized to a shape. A STATIC tensor can only keep its shape.
    /// Any other tensor needs the same number of dimensions, and memory for the elements
    /// (upstream's `TensorImpl::internal_resize`).
    fn takes(&self, arg: Arg, shape: Shape) -> Option<bool> {
        let out = self.tensor(arg)?;
        let (Shape::Like(like) | Shape::Rows(like) | Shape::And(like, _)) = shape;
        let (rank, given) = (out.sizes()?.len(), self.tensor(like)?.sizes()?.len());
        let fits = match shape {
            Shape::Like(_) | Shape::Rows(_) => rank == given,
            Shape::And(..) => rank > 0 && rank.checked_sub(1)? <= given,
        };
        if !fits {
            return Some(false);
        }
        let mut wanted = self.sizes_before(like)?;
        match shape {
            Shape::Like(_) => {}
            Shape::Rows(_) => *wanted.last_mut()? = 1,
            Shape::And(_, ref size) => {
                wanted.truncate(rank.checked_sub(1)?);
                wanted.push(self.number(size)?);
            }
        }
        let room = sizes(out)?;
        Some(if is_fixed(out) { room == wanted } else { product(&wanted)? <= product(&room)? })
    }

    /// Returns what `as_strided_copy(self, size, stride, storage_offset)` reads: the first and the
    /// last element, the capacity of `self`, and whether all elements lie in `self`.
    pub(super) fn strided(&self) -> Option<(i128, i128, i128, bool)> {
        let (sizes, strides) = (self.ints(1)?, self.ints(2)?);
        let begin = match self.arg(3)? {
            KernelTypes::Null(_) => 0,
            KernelTypes::Int(int) => i128::from(int.int_val()),
            _ => return None,
        };
        let len = self.number(&Number::CapacityNumel(0))?;
        let reach = sizes
            .iter()
            .zip(&strides)
            .map(|(size, stride)| size.saturating_sub(1).saturating_mul(*stride));
        let last = reach.fold(begin, i128::saturating_add);
        let backwards = begin < 0 || strides.iter().any(|&stride| stride < 0);
        let within = sizes.contains(&0) || !backwards && last < len;
        Some((begin, last, len, within))
    }
}
