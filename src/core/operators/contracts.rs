//! Contracts: the conditions of kernels on their arguments, beyond their kinds, as data.
//!
//! A condition is judged if the file determines everything that it needs. The sizes of a tensor
//! that a call resizes are unknown; no kernel changes a rank or a dtype. A number that is an input
//! has the value in the file, since the runtime accepts no other (`Method::set_input`).

use alloc::string::String;

pub(super) mod by_kernel;
mod call;
mod conditions;
mod dtypes;
mod numbers;
mod results;
mod say;
mod vocabulary;

pub use call::{Call, ElementBounds, KnownValues};
pub use results::{result, result_kind};
pub use vocabulary::{ElementKind, SizesAfter, Subject, Term};

/// A condition that a call breaks.
#[derive(Debug)]
pub struct Violation {
    /// What the condition is about.
    pub about: Subject,
    /// The argument that breaks the condition, if it is a single one.
    pub arg: Option<u32>,
    /// What is wrong, with the values.
    pub message: String,
}

/// Returns the arguments whose elements the conditions are about.
pub fn element_args(terms: &[Term]) -> impl Iterator<Item = (u8, ElementKind)> {
    terms.iter().filter_map(|term| term.holds.element_arg())
}

/// Returns the dimensions and other bounded Ints that an exporter writes as constants, each with the subject of its
/// condition.
pub fn constant_args(terms: &[Term]) -> impl Iterator<Item = (u8, Subject)> {
    terms.iter().filter_map(|term| Some((term.holds.constant_arg()?, term.about)))
}

/// Returns the sizes that a call gives to the output at `out`, if the conditions determine them.
pub fn sizes_after(terms: &[Term], out: u8) -> Option<SizesAfter> {
    terms.iter().find_map(|term| term.holds.sizes_after(out))
}

/// Returns the first condition that a call breaks.
pub fn judge<'a, V: KnownValues<'a>>(call: &Call<'_, 'a, V>, terms: &[Term]) -> Option<Violation> {
    let broken = terms.iter().find(|term| call.test(&term.holds) == Some(false))?;
    let (arg, message) = call.say(&broken.holds);
    let message = format!("{}: {message}", call.name);
    Some(Violation { about: broken.about, arg: arg.map(u32::from), message })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::vocabulary::{Arg, Condition, Number, Shape};
    use super::*;
    use crate::operators::KERNELS;

    /// Collects the arguments of a condition, each with the kind letters that it may have.
    fn looks(condition: &Condition, seen: &mut Vec<(Arg, &'static str)>) {
        let mut number = |number: &Number| numbers(number, seen);
        match condition {
            Condition::Equal(one, other)
            | Condition::NotEqual(one, other)
            | Condition::AtLeast(one, other)
            | Condition::AtMost(one, other)
            | Condition::Below(one, other)
            | Condition::Divides(one, other) => [one, other].into_iter().for_each(number),
            &Condition::Dimension(arg, tensor) => seen.extend([(arg, "iI"), (tensor, "twTh")]),
            &Condition::Dimensions(arg, tensor) => seen.extend([(arg, "l"), (tensor, "t")]),
            Condition::In(arg, dtypes) | Condition::NotIn(arg, dtypes) => {
                assert!(dtypes.iter().all(|dtype| dtype.runtime_name().is_some()));
                seen.push((*arg, "twTh"));
            }
            Condition::Promote(args) => seen.extend(args.iter().map(|&arg| (arg, "twTh"))),
            &Condition::Widths(arg) => seen.push((arg, "vx")),
            &Condition::Infers(arg) => seen.push((arg, "l")),
            &Condition::SameShape(arg, other) => seen.extend([(arg, "tw"), (other, "tw")]),
            &Condition::CanResizeTo(arg, shape) => {
                if let Shape::And(_, size) = shape {
                    number(&size);
                }
                let (Shape::Like(like) | Shape::Rows(like) | Shape::And(like, _)) = shape;
                seen.extend([(arg, "tw"), (like, "tw")]);
            }
            &Condition::Finite(arg) => seen.push((arg, "t")),
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
            Number::IndexedDims(arg) | Number::TensorPosition(arg) => seen.push((arg, "o")),
            Number::Last(arg) | Number::Count(arg) => seen.push((arg, "lL")),
            Number::PromotedElementSize(one, other) => seen.extend([(one, "t"), (other, "t")]),
            Number::Size(arg, dim) | Number::TrailingNumel(arg, dim) | Number::Span(arg, dim) => {
                seen.push((arg, "twTh"));
                numbers(dim, seen);
            }
            Number::Rank(arg)
            | Number::Numel(arg)
            | Number::UnresizedNumel(arg)
            | Number::LeastElement(arg)
            | Number::GreatestElement(arg)
            | Number::CapacityNumel(arg)
            | Number::LeadingNumel(arg, _)
            | Number::Dtype(arg)
            | Number::ElementSize(arg)
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
    fn contracts_look_at_arguments_that_are_there() {
        let contracts = KERNELS.iter().map(|kernel| (kernel.name, kernel.letters, kernel.contract));
        assert!(contracts.clone().filter(|(.., terms)| !terms.is_empty()).count() > 90);
        for (operator, letters, terms) in contracts {
            for term in terms {
                let quantized = operator.starts_with("quantized_decomposed::");
                let is_other = matches!(
                    term.about,
                    Subject::Dtype | Subject::Shape | Subject::Number | Subject::Strided
                );
                assert!(!(quantized && is_other), "{operator}");
                assert!(quantized || term.about != Subject::Quantized, "{operator}");
                let mut seen = Vec::new();
                looks(&term.holds, &mut seen);
                for (arg, wanted) in seen {
                    let letter = letters.chars().nth(arg.into()).unwrap();
                    assert!(wanted.contains(letter), "{operator}: {arg} is {letter}");
                }
            }
        }
    }
}
