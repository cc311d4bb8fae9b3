//! Sound calls, one of each operator, and calls that are one change away from them. Kernels refuse most other
//! calls at once.

use arbitrary::{Result, Unstructured};

use pte::schema::program::TensorShapeDynamism;
use pte::schema::program::model::{self, InstructionArguments, KernelTypes};
use pte::schema::scalar::ScalarType;

use super::calls::{Common, operators};
use super::{DTYPES, Place, Smith};

/// `fuzz/calls.txt`: a line for each operator, in the order of the rules' table. An argument is
/// `FLOAT[2,3]`, a tensor, or `FLOAT[2,3]~`, one that may be resized; `-`, Null; `(1,2)`, an IntList;
/// `b(1,0)`, a BoolList; `f(1.5)`, a DoubleList; `{…;…}`, a TensorList, and `<…;…>` an
/// OptionalTensorList, where `_` is no tensor; `'…'`, a String; a number with or without a point;
/// `true`; or `.`, the argument before once more.
const CALLS: &str = include_str!("../../calls.txt");

/// An argument of a call.
#[derive(Clone)]
enum Arg {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
    Ints(Vec<i64>),
    Bools(Vec<bool>),
    Doubles(Vec<f64>),
    Tensor(Shape),
    Tensors(Vec<Shape>),
    Optionals(Vec<Option<Shape>>),
    Again,
    /// Any value.
    Any,
}

#[derive(Clone)]
struct Shape {
    dtype: ScalarType,
    sizes: Vec<i32>,
    is_dynamic: bool,
}

/// The sound call of the operator of that number, by its full name.
fn recipe(nth: usize) -> (&'static str, Vec<Arg>) {
    let line = CALLS.lines().nth(nth).unwrap_or_else(|| panic!("no call {nth}"));
    let mut words = line.split(' ');
    let operator = words.next().unwrap_or_default();
    (operator, words.map(Arg::parse).collect())
}

impl Arg {
    fn parse(text: &str) -> Self {
        let inside =
            |open: &str| text.strip_prefix(open).and_then(|text| text.get(..text.len() - 1));
        fn items<T>(text: &str, by: char, item: impl Fn(&str) -> T) -> Vec<T> {
            text.split(by).filter(|item| !item.is_empty()).map(item).collect()
        }
        match text {
            "-" => Self::Null,
            "." => Self::Again,
            "true" | "false" => Self::Bool(text == "true"),
            _ if let Some(ints) = inside("(") => Self::Ints(items(ints, ',', number)),
            _ if let Some(flags) = inside("b(") => {
                Self::Bools(items(flags, ',', |flag| flag == "1"))
            }
            _ if let Some(doubles) = inside("f(") => Self::Doubles(items(doubles, ',', number)),
            _ if let Some(all) = inside("{") => Self::Tensors(items(all, ';', Shape::parse)),
            _ if let Some(all) = inside("<") => {
                let item = |item: &str| (item != "_").then(|| Shape::parse(item));
                Self::Optionals(items(all, ';', item))
            }
            _ if let Some(text) = inside("'") => Self::Text(text.to_owned()),
            _ if text.contains('[') => Self::Tensor(Shape::parse(text)),
            _ => text.parse().map_or_else(|_| Self::Double(number(text)), Self::Int),
        }
    }

    /// Makes something else of it.
    fn change(&mut self, random: &mut Unstructured<'_>) -> Result<()> {
        match self {
            _ if random.ratio(1, 8)? => *self = Self::Any,
            Self::Bool(flag) => *flag = !*flag,
            Self::Int(int) => *int = other_int(*int, random)?,
            Self::Double(double) => {
                *double = *random.choose(&[0.0, -1.0, 0.5, 2.0, 1e-5, 1e300, f64::NAN])?;
            }
            Self::Ints(ints) => {
                let other = |ints: &mut i64, random: &mut Unstructured<'_>| {
                    *ints = other_int(*ints, random)?;
                    Ok(())
                };
                change_list(ints, random, other)?;
            }
            Self::Bools(flags) => change_list(flags, random, |flag, _| {
                *flag = !*flag;
                Ok(())
            })?,
            Self::Doubles(doubles) => change_list(doubles, random, |double, random| {
                *double = *random.choose(&[0.0, -1.0, 0.5, 1.0, 3.0])?;
                Ok(())
            })?,
            Self::Tensor(shape) => shape.change(random)?,
            Self::Tensors(shapes) => change_list(shapes, random, Shape::change)?,
            Self::Optionals(shapes) => change_list(shapes, random, |shape, random| match shape {
                Some(given) if random.ratio(3, 4)? => given.change(random),
                _ => {
                    *shape = None;
                    Ok(())
                }
            })?,
            Self::Null | Self::Text(_) | Self::Again | Self::Any => *self = Self::Any,
        }
        Ok(())
    }
}

fn number<T: core::str::FromStr<Err: core::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn other_int(int: i64, random: &mut Unstructured<'_>) -> Result<i64> {
    let [more, less] = [int.wrapping_add(1), int.wrapping_sub(1)];
    let few = [more, less, int.wrapping_neg(), -1, 0, 1, 2, 3, 4, 7];
    // A kernel that keeps 32 bits of a number takes these for the number itself.
    let same_low_bits = [int.wrapping_add(1 << 32), int.wrapping_sub(1 << 32), int ^ (1 << 50)];
    match random.int_in_range(0..=15)? {
        0 => random.choose(&[i64::MIN, i64::MAX, 1 << 31, 1 << 32, -129, 255]).copied(),
        1 => random.choose(&same_low_bits).copied(),
        _ => random.choose(&few).copied(),
    }
}

/// One item more, or one less, or another one in place of one.
fn change_list<T: Clone>(
    items: &mut Vec<T>,
    random: &mut Unstructured<'_>,
    change: impl Fn(&mut T, &mut Unstructured<'_>) -> Result<()>,
) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let nth = random.choose_index(items.len())?;
    match random.int_in_range(0..=7)? {
        0 => drop(items.remove(nth)),
        1 => items.push(items[nth].clone()),
        _ => change(&mut items[nth], random)?,
    }
    Ok(())
}

impl Shape {
    fn parse(text: &str) -> Self {
        let (dtype, rest) = text.split_once('[').unwrap_or_else(|| panic!("{text}: no tensor"));
        let (sizes, rest) = rest.split_once(']').unwrap_or_else(|| panic!("{text}: no tensor"));
        let sizes = sizes.split(',').filter(|size| !size.is_empty()).map(number).collect();
        let named = (0..=i8::MAX).map(ScalarType).find(|code| code.name() == Some(dtype));
        let dtype = named.unwrap_or_else(|| ScalarType(number(dtype)));
        Self { dtype, sizes, is_dynamic: rest == "~" }
    }

    fn change(&mut self, random: &mut Unstructured<'_>) -> Result<()> {
        let kind = random.int_in_range(0..=10)?;
        if kind < 2 || self.sizes.is_empty() {
            self.dtype = match random.ratio(1, 6)? {
                // Complex numbers, of 16 and 32 bits each half.
                true => *random.choose(&[ScalarType::COMPLEX_HALF, ScalarType::COMPLEX_FLOAT])?,
                false => *random.choose(&DTYPES)?,
            };
            return Ok(());
        }
        let at = random.choose_index(self.sizes.len())?;
        let size = &mut self.sizes[at];
        match kind {
            2 | 3 => *size = 0,
            4 => *size = 1,
            5 => *size += 1,
            6 => *size = (*size - 1).max(0),
            7 => drop(self.sizes.remove(at)),
            8 => self.sizes.reverse(),
            9 => self.is_dynamic = !self.is_dynamic,
            _ => self.sizes.insert(at, 1),
        }
        Ok(())
    }
}

impl Smith<'_, '_> {
    /// The sound call of an operator, so many changes away.
    pub(super) fn near_sound(
        &mut self,
        nth: usize,
        changes: usize,
    ) -> Result<InstructionArguments> {
        let (operator, mut args) = recipe(nth);
        for _ in 0..changes {
            let nth = self.random.choose_index(args.len())?;
            args[nth].change(self.random)?;
        }
        let letters = operators()[nth].letters;
        let common = Common { dtype: ScalarType::FLOAT, sizes: vec![2, 3] };
        let mut indices: Vec<i32> = Vec::new();
        for (arg, letter) in args.iter().zip(letters.chars()) {
            let index = match (arg, indices.last()) {
                (Arg::Again, Some(&before)) => before,
                (Arg::Again, None) => self.value(KernelTypes::Null(model::Null {})),
                (Arg::Any, _) => self.arg(letter, &common)?,
                _ => self.given_arg(arg, letter)?,
            };
            indices.push(index);
        }
        let (name, overload) = operator.rsplit_once('.').unwrap_or((operator, ""));
        Ok(self.call(name, overload, indices))
    }

    fn given_arg(&mut self, arg: &Arg, letter: char) -> Result<i32> {
        let value = match arg.clone() {
            Arg::Tensor(shape) => return self.shaped(&shape, letter),
            Arg::Tensors(shapes) => {
                let items = shapes.iter().map(|shape| self.shaped(shape, letter));
                let items = Some(items.collect::<Result<_>>()?);
                KernelTypes::TensorList(model::TensorList { items })
            }
            Arg::Optionals(shapes) => {
                let item = |shape: &Option<Shape>| match shape {
                    Some(shape) => self.shaped(shape, letter),
                    None => Ok(-1),
                };
                let items = Some(shapes.iter().map(item).collect::<Result<_>>()?);
                KernelTypes::OptionalTensorList(model::OptionalTensorList { items })
            }
            Arg::Ints(ints) => {
                let items = Some(ints.iter().map(|&int| self.number(int).into()).collect());
                KernelTypes::IntList(model::IntList { items })
            }
            Arg::Bool(bool_val) => KernelTypes::Bool(model::Bool { bool_val }),
            Arg::Int(int_val) => KernelTypes::Int(model::Int { int_val }),
            Arg::Double(double_val) => KernelTypes::Double(model::Double { double_val }),
            Arg::Text(text) => KernelTypes::String(model::String { string_val: Some(text) }),
            Arg::Bools(items) => KernelTypes::BoolList(model::BoolList { items: Some(items) }),
            Arg::Doubles(items) => {
                KernelTypes::DoubleList(model::DoubleList { items: Some(items) })
            }
            Arg::Null | Arg::Again | Arg::Any => KernelTypes::Null(model::Null {}),
        };
        Ok(self.value(value))
    }

    fn shaped(&mut self, shape: &Shape, letter: char) -> Result<i32> {
        let index = match letter {
            'w' | 'x' | '@' => self.out(shape.dtype, &shape.sizes)?,
            'y' => self.tensor(Place::Input, shape.dtype, shape.sizes.clone())?,
            _ => self.source(shape.dtype, &shape.sizes)?,
        };
        let value = usize::try_from(index)
            .ok()
            .and_then(|index| self.plan.values.as_mut().and_then(|values| values.get_mut(index)));
        if let Some(KernelTypes::Tensor(tensor)) = value.and_then(|value| value.val.as_mut())
            && shape.is_dynamic
        {
            tensor.shape_dynamism = TensorShapeDynamism::DYNAMIC_BOUND;
        }
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sound_call;
    use super::*;
    use pte::Check;
    use pte::operators::Kernel;

    #[test]
    fn there_is_a_call_of_every_operator() {
        let lines: Vec<_> = CALLS.lines().collect();
        assert_eq!(lines.len(), operators().len());
        for (nth, Kernel { name, letters, .. }) in operators().iter().enumerate() {
            let (operator, args) = recipe(nth);
            assert_eq!(operator, *name);
            assert_eq!(args.len(), letters.len(), "{operator}");
        }
    }

    /// Rules report no Error in these calls. The runtime executed them when they were written.
    #[test]
    fn none_of_them_has_an_error() {
        for nth in 0..operators().len() {
            let bytes = vec![0xff; 4096];
            let file = sound_call(&mut Unstructured::new(&bytes), nth).unwrap();
            let bytes = file.image().unwrap().to_bytes().unwrap();
            let pte = pte::Pte::read(&bytes).unwrap();
            let report = pte.check();
            let worst = report.worst();
            assert!(worst != Some(pte::check::Severity::Error), "{}: {report:?}", recipe(nth).0);
        }
    }
}
