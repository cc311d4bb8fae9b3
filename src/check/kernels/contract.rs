//! Contracts: what a kernel asks of its arguments beyond their kinds, as data.
//!
//! A condition is judged where everything that it needs is in the file: a value that is a
//! result by then says nothing, and neither does a size of a tensor that some call resizes.
//! Its rank and its dtype no kernel changes. A number that is an input is the one in the file: the
//! runtime takes no other (`Method::set_input`).

use alloc::format;

use self::numbers::{is_fixed, product, sizes};
use self::vocabulary::{Arg, Condition, Number, Shape};
use super::super::site::Plan;
use super::{Resized, State, Wrong};
use crate::flat::view::Vector;
use crate::schema::program::view::{KernelTypes, Tensor};
use crate::schema::scalar::ScalarType;

mod dtypes;
mod numbers;
mod say;
mod table;
mod vocabulary;

pub(super) use vocabulary::Term;

/// The conditions of the operator of that full name; none for most.
pub(super) fn of(operator: &str) -> &'static [Term] {
    let found = table::CONTRACTS.binary_search_by(|&(name, _)| name.cmp(operator));
    found.ok().and_then(|found| table::CONTRACTS.get(found)).map_or(&[], |&(_, terms)| terms)
}

/// Items of a list of tensors that are looked at: more than any genuine call has, and few enough
/// that calls which share a list cost no more than they are long.
const MOST_ITEMS: usize = 64;

/// A call whose contract is judged.
pub(super) struct Call<'c, 'p, 'a> {
    pub(super) plan: &'c Plan<'p, 'a>,
    pub(super) state: &'c State,
    pub(super) resized: &'c Resized,
    /// The operator's full name.
    pub(super) name: &'static str,
    pub(super) args: Vector<'a, i32>,
}

impl<'a> Call<'_, '_, 'a> {
    /// The first condition that does not hold.
    pub(super) fn judge(&self, terms: &[Term]) -> Option<Wrong> {
        let broken = terms.iter().find(|term| self.test(&term.holds) == Some(false))?;
        let (arg, message) = self.say(&broken.holds);
        Some((broken.about.rule(), arg.map(u32::from), format!("{}: {message}", self.name)))
    }

    /// The value of that index, if it is one that the file has.
    fn at(&self, index: i32) -> Option<KernelTypes<'a>> {
        self.plan.value(self.state.known(index)?.into())
    }

    fn arg(&self, arg: Arg) -> Option<KernelTypes<'a>> {
        self.at(self.args.get(arg.into())?)
    }

    fn tensor(&self, arg: Arg) -> Option<Tensor<'a>> {
        match self.arg(arg)? {
            KernelTypes::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    fn dtype(&self, arg: Arg) -> Option<ScalarType> {
        self.tensor(arg).map(Tensor::scalar_type)
    }

    /// The Int of that index.
    fn int(&self, index: i64) -> Option<i128> {
        match self.at(i32::try_from(index).ok()?)? {
            KernelTypes::Int(int) => Some(int.int_val().into()),
            _ => None,
        }
    }

    /// Whether a condition holds, if the file says so.
    fn test(&self, condition: &Condition) -> Option<bool> {
        let both = |one, other| Some((self.number(one)?, self.number(other)?));
        match condition {
            Condition::Equal(one, other) => both(one, other).map(|(one, other)| one == other),
            Condition::Other(one, other) => both(one, other).map(|(one, other)| one != other),
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
            Condition::In(arg, dtypes) => Some(dtypes.contains(&self.dtype(*arg)?)),
            Condition::NotIn(arg, dtypes) => Some(!dtypes.contains(&self.dtype(*arg)?)),
            Condition::Promote(args) => {
                let mut dtypes = args.iter().filter_map(|&arg| self.dtype(arg));
                let first = dtypes.next()?;
                // Most are alike.
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
            &Condition::Alike(arg, other) => {
                let [one, two] = [arg, other].map(|arg| self.tensor(arg).and_then(sizes));
                let (one, two) = (one?, two?);
                let are_known = !self.is_changed(arg) && !self.is_changed(other);
                let is_other = one.len() != two.len() || are_known && one != two;
                if is_other { Some(false) } else { are_known.then_some(true) }
            }
            &Condition::Takes(arg, shape) => self.takes(arg, shape),
            &Condition::Steps(start, end, step) => {
                let start = start.map_or(Some(0.0), |start| self.double(start))?;
                let step = step.map_or(Some(1.0), |step| self.double(step))?;
                let steps = (self.double(end)? - start) / step;
                // No number is refused by the kernel itself, as is the wrong direction.
                Some(steps.is_nan() || steps <= f64::from(i32::MAX))
            }
            Condition::Strided => self.strided().map(|(_, _, _, within)| within),
            &Condition::Flag(arg, flag) => match self.arg(arg)? {
                KernelTypes::Bool(held) => Some(held.bool_val() == flag),
                _ => None,
            },
            &Condition::Double(arg) => {
                self.arg(arg).map(|value| matches!(value, KernelTypes::Double(_)))
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

    /// The bytes of an element of each tensor of a list, `None` for those that are not known.
    fn widths(&self, arg: Arg) -> Option<impl Iterator<Item = Option<u64>>> {
        let KernelTypes::TensorList(list) = self.arg(arg)? else { return None };
        Some(list.items()?.into_iter().take(MOST_ITEMS).map(|index| match self.at(index)? {
            KernelTypes::Tensor(tensor) => tensor.scalar_type().element_size(),
            _ => None,
        }))
    }

    /// Whether a tensor can be resized to a shape: to its own if it is STATIC, else to one of as
    /// many dimensions for which there is memory (upstream's `TensorImpl::internal_resize`).
    fn takes(&self, arg: Arg, shape: Shape) -> Option<bool> {
        let out = self.tensor(arg)?;
        let (Shape::Like(like) | Shape::Rows(like) | Shape::And(like, _)) = shape;
        let (mut wanted, is_known) = self.sizes(like)?;
        let (rank, given) = (out.sizes()?.len(), wanted.len());
        let fits = match shape {
            Shape::Like(_) | Shape::Rows(_) => rank == given,
            Shape::And(..) => rank > 0 && rank.checked_sub(1)? <= given,
        };
        if !fits {
            return Some(false);
        }
        if !is_known {
            return None;
        }
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

    /// What `as_strided_copy(self, size, stride, storage_offset)` takes of how many elements, from
    /// where to where, and whether it stays within them.
    fn strided(&self) -> Option<(i128, i128, i128, bool)> {
        let (sizes, strides) = (self.ints(1)?, self.ints(2)?);
        let begin = match self.arg(3)? {
            KernelTypes::Null(_) => 0,
            KernelTypes::Int(int) => i128::from(int.int_val()),
            _ => return None,
        };
        let len = self.number(&Number::Room(0))?;
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

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::numbers::float;
    use super::vocabulary::About;
    use super::*;
    use crate::operators::signature;

    /// What a condition looks at: arguments, each with the letters that it may have.
    fn looks(condition: &Condition, seen: &mut Vec<(Arg, &'static str)>) {
        let mut number = |number: &Number| numbers(number, seen);
        match condition {
            Condition::Equal(one, other)
            | Condition::Other(one, other)
            | Condition::AtLeast(one, other)
            | Condition::AtMost(one, other)
            | Condition::Below(one, other)
            | Condition::Divides(one, other) => [one, other].into_iter().for_each(number),
            &Condition::Dimension(arg, tensor) => seen.extend([(arg, "iI"), (tensor, "twTh")]),
            Condition::In(arg, dtypes) | Condition::NotIn(arg, dtypes) => {
                assert!(dtypes.iter().all(|dtype| dtype.runtime_name().is_some()));
                seen.push((*arg, "twTh"));
            }
            Condition::Promote(args) => seen.extend(args.iter().map(|&arg| (arg, "twTh"))),
            &Condition::Widths(arg) => seen.push((arg, "vx")),
            &Condition::Infers(arg) => seen.push((arg, "l")),
            &Condition::Alike(arg, other) => seen.extend([(arg, "tw"), (other, "tw")]),
            &Condition::Takes(arg, shape) => {
                if let Shape::And(_, size) = shape {
                    number(&size);
                }
                let (Shape::Like(like) | Shape::Rows(like) | Shape::And(like, _)) = shape;
                seen.extend([(arg, "tw"), (like, "tw")]);
            }
            &Condition::Steps(start, end, step) => {
                seen.extend([start, Some(end), step].into_iter().flatten().map(|arg| (arg, "s")));
            }
            Condition::Strided => seen.extend([(0, "tw"), (1, "l"), (2, "l"), (3, "I")]),
            &Condition::Flag(arg, _) => seen.push((arg, "b")),
            &Condition::Double(arg) => seen.push((arg, "sn")),
            &Condition::Null(arg) => seen.push((arg, "IZ")),
            Condition::Not(condition) => looks(condition, seen),
            Condition::Any(conditions) => {
                assert!(conditions.len() > 1);
                conditions.iter().for_each(|condition| looks(condition, seen));
            }
        }
    }

    fn numbers(number: &Number, seen: &mut Vec<(Arg, &'static str)>) {
        match *number {
            Number::Const(_) => {}
            Number::Int(arg) | Number::Square(arg) => seen.push((arg, "iInsS")),
            Number::Item(arg, _) => seen.push((arg, "lLm")),
            Number::Indexed(arg) | Number::Place(arg) => seen.push((arg, "o")),
            Number::Last(arg) | Number::Count(arg) => seen.push((arg, "lL")),
            Number::Common(one, other) => seen.extend([(one, "t"), (other, "t")]),
            Number::Size(arg, dim) | Number::Behind(arg, dim) | Number::Span(arg, dim) => {
                seen.push((arg, "twTh"));
                numbers(dim, seen);
            }
            Number::Rank(arg)
            | Number::Numel(arg)
            | Number::Kept(arg)
            | Number::Room(arg)
            | Number::Lead(arg, _)
            | Number::Dtype(arg)
            | Number::Width(arg)
            | Number::Least(arg)
            | Number::Greatest(arg) => seen.push((arg, "twTh")),
            Number::Wrapped(arg, tensor) => seen.extend([(arg, "s"), (tensor, "tw")]),
            Number::Times(one, other) | Number::Plus(one, other) => {
                numbers(one, seen);
                numbers(other, seen);
            }
        }
    }

    #[test]
    fn contracts_are_sorted_and_look_at_arguments_that_are_there() {
        let all = table::CONTRACTS;
        assert!(all.len() > 90);
        assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for &(operator, terms) in all {
            let letters = signature(operator).unwrap();
            assert_eq!(of(operator).len(), terms.len());
            assert!(!terms.is_empty());
            for term in terms {
                let quantized = operator.starts_with("quantized_decomposed::");
                assert_eq!(term.about == About::Quantized, quantized, "{operator}");
                let mut seen = Vec::new();
                looks(&term.holds, &mut seen);
                for (arg, wanted) in seen {
                    let letter = letters.1.chars().nth(arg.into()).unwrap();
                    assert!(wanted.contains(letter), "{operator}: {arg} is {letter}");
                }
            }
        }
        assert!(of("aten::abs.out").is_empty());
        assert!(of("aten::mul").is_empty());
    }

    #[test]
    fn an_int_is_the_nearest_double() {
        let ints = [0, 1, -1, 7, -7, 1 << 31, 1 << 32, -(1 << 32), (1 << 53) + 2, i64::MIN];
        for int in ints {
            assert_eq!(alloc::format!("{:.0}", float(int)), int.to_string());
        }
    }
}
