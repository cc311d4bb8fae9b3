//! Messages for conditions that do not hold.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::call::{Call, KnownValues};
use super::numbers::sizes;
use super::vocabulary::{Arg, Condition, Number, Shape};
use pte_schema::scalar::ScalarType;

impl<'a, V: KnownValues<'a>> Call<'_, 'a, V> {
    /// Returns the argument that breaks the condition, and the message.
    pub(super) fn say(&self, condition: &Condition) -> (Option<Arg>, String) {
        let compared = |one: &Number, how: &str, other: &Number| {
            let (is, want) = (self.shown(one), self.shown(other));
            let wanted = match other {
                Number::Const(_) => want,
                _ => format!("{other}, {want},"),
            };
            (one.arg(), format!("{one} is {is}, and {how}{wanted} is wanted"))
        };
        match condition {
            Condition::Equal(one, other) => compared(one, "", other),
            Condition::NotEqual(one, other) => compared(one, "anything but ", other),
            Condition::AtLeast(one, other) => compared(one, "at least ", other),
            Condition::AtMost(one, other) => compared(one, "at most ", other),
            Condition::Below(one, other) => compared(one, "less than ", other),
            Condition::Divides(one, other) => compared(one, "what divides ", other),
            &Condition::Dimension(arg, tensor) => {
                let (dim, rank) =
                    (self.shown(&Number::Int(arg)), self.shown(&Number::Rank(tensor)));
                let message = format!("dimension {dim} of argument {tensor}, which has {rank}");
                (Some(arg), message)
            }
            &Condition::Dimensions(arg, tensor) => {
                let rank = self.shown(&Number::Rank(tensor));
                let message = format!(
                    "a dimension of argument {arg} is out of range: argument {tensor} has {rank}"
                );
                (Some(arg), message)
            }
            Condition::In(arg, dtypes) => {
                let dtype = self.named(*arg);
                let dtypes = dtypes.iter().map(ScalarType::to_string).collect::<Vec<_>>();
                let message =
                    format!("argument {arg} is {dtype}, and {} is wanted", dtypes.join(" or "));
                (Some(*arg), message)
            }
            Condition::NotIn(arg, _) => {
                let dtype = self.named(*arg);
                (Some(*arg), format!("argument {arg} is {dtype}, which the kernel does not take"))
            }
            Condition::Promote(args) => {
                let dtypes = args.iter().filter_map(|&arg| self.dtype(arg));
                let dtypes = dtypes.map(|dtype| dtype.to_string()).collect::<Vec<_>>();
                let message = format!("{} have no common dtype", dtypes.join(" and "));
                (args.first().copied(), message)
            }
            &Condition::Infers(arg) => {
                let message = format!(
                    "argument {arg} leaves a size open, and the product of the others is 0"
                );
                (Some(arg), message)
            }
            &Condition::Widths(arg) => {
                let message = format!("a tensor of argument {arg} is narrower than the first");
                (Some(arg), message)
            }
            &Condition::SameShape(arg, other) => {
                let (is, want) = (self.sizes_of(arg), self.sizes_of(other));
                (Some(arg), format!("{is} must have the same sizes as {want}"))
            }
            &Condition::CanResizeTo(arg, shape) => {
                let is = self.sizes_of(arg);
                let message = match shape {
                    Shape::Like(like) => format!("{is} cannot take {}", self.sizes_of(like)),
                    Shape::Rows(like) => {
                        format!("{is} cannot take the rows of {}", self.sizes_of(like))
                    }
                    Shape::And(like, ref size) => {
                        let size = self.shown(size);
                        format!("{is} cannot take {} and {size}", self.sizes_of(like))
                    }
                };
                (Some(arg), message)
            }
            &Condition::Finite(arg) => (
                Some(arg),
                format!("argument {arg} has an element that is infinite or not a number"),
            ),
            &Condition::Steps(_, end, _) => {
                (Some(end), format!("more steps to argument {end} than 32 bits count"))
            }
            Condition::Strided => {
                let (begin, last, len, _) = self.strided().unwrap_or_default();
                (Some(2), format!("elements {begin} to {last} of a tensor of {len}"))
            }
            &Condition::Flag(arg, flag) => (Some(arg), format!("argument {arg} is not {flag}")),
            &Condition::Double(arg) => (Some(arg), format!("argument {arg} is no Double")),
            &Condition::Null(arg) => (Some(arg), format!("argument {arg} is not Null")),
            Condition::Not(condition) => {
                let (arg, message) = self.say(condition);
                (arg, format!("not {message}"))
            }
            // The last condition gives the message. The others are exceptions to it.
            Condition::Any(conditions) => {
                conditions.last().map_or((None, String::new()), |last| self.say(last))
            }
        }
    }

    fn shown(&self, number: &Number) -> String {
        match number {
            Number::Dtype(arg) => self.named(*arg),
            _ => self.number(number).map_or_else(String::new, |number| number.to_string()),
        }
    }

    fn named(&self, arg: Arg) -> String {
        self.dtype(arg).map_or_else(String::new, |dtype| format!("{dtype} ({})", dtype.0))
    }

    fn sizes_of(&self, arg: Arg) -> String {
        let sizes = self.tensor(arg).and_then(sizes).unwrap_or_default();
        format!("argument {arg} of {sizes:?}")
    }
}
