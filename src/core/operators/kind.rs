//! Kinds of arguments: the values that the runtime converts for a kernel.

use core::fmt;

use pte_schema::program::tag;

/// The kind of an argument.
///
/// Each kind has a letter: `t` Tensor; `s` Int, Double or Bool; `n` Int or Double; `i` Int; `d`
/// Double; `b` Bool; `z` String; `l` IntList; `f` DoubleList; `m` BoolList; `v` TensorList; `o`
/// OptionalTensorList. A capital letter also accepts Null. `w` is a Tensor that the call writes, `x` a
/// TensorList whose tensors it writes. `y` is a Tensor that becomes a view of the first argument. `h` is
/// a Tensor of which only dtype and shape are read. `.` is any value, which is not always read.
///
/// The other letters are values that the call replaces by its result: `?` a Bool, `#` an Int, `%` a
/// Double, `@` a Tensor, `$` an Int, a Double or a Bool, `~` an Int if all arguments are, else a
/// Double, `=` anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    value: Value,
    or_null: bool,
    role: Role,
}

impl Kind {
    /// Returns the kind that a letter of a signature stands for.
    pub fn of(letter: char) -> Option<Self> {
        let value = match letter.to_ascii_lowercase() {
            't' | 'w' | 'y' | 'h' => Value::Tensor,
            's' => Value::Scalar,
            'n' => Value::Number,
            'i' => Value::Int,
            'd' => Value::Double,
            'b' => Value::Bool,
            'z' => Value::String,
            'l' => Value::IntList,
            'f' => Value::DoubleList,
            'm' => Value::BoolList,
            'v' | 'x' => Value::TensorList,
            'o' => Value::OptionalTensorList,
            '.' => Value::Any,
            '?' => Value::Result(Gives::A(Kinds::of(tag::Bool))),
            '#' => Value::Result(Gives::A(Kinds::of(tag::Int))),
            '%' => Value::Result(Gives::A(Kinds::of(tag::Double))),
            '@' => Value::Result(Gives::A(Kinds::of(tag::Tensor))),
            '$' => Value::Result(Gives::A(Kinds::SCALAR)),
            '=' => Value::Result(Gives::A(Kinds::ANY)),
            '~' => Value::Result(Gives::AsGiven),
            _ => return None,
        };
        let role = match letter {
            'w' | 'x' => Role::Written,
            'y' => Role::View,
            'h' => Role::Shape,
            _ => Role::Read,
        };
        Some(Self { value, or_null: letter.is_ascii_uppercase(), role })
    }

    /// Returns whether the runtime's conversion accepts a value with this tag.
    ///
    /// An Int is not accepted as a Double, or the reverse (ExecuTorch's runtime/core/evalue.h): the
    /// runtime aborts, or a primitive operator fails. A value of an unknown kind is accepted, since
    /// its method cannot be loaded anyway.
    pub fn accepts(self, tag: u8) -> bool {
        match (self.value, tag) {
            (Value::Any | Value::Result(_), _)
            | (Value::Tensor, tag::Tensor)
            | (Value::Scalar | Value::Number | Value::Int, tag::Int)
            | (Value::Scalar | Value::Number | Value::Double, tag::Double)
            | (Value::Scalar | Value::Bool, tag::Bool)
            | (Value::String, tag::String)
            | (Value::IntList, tag::IntList)
            | (Value::DoubleList, tag::DoubleList)
            | (Value::BoolList, tag::BoolList)
            | (Value::TensorList, tag::TensorList)
            | (Value::OptionalTensorList, tag::OptionalTensorList) => true,
            (_, tag::Null) => self.or_null,
            (_, tag) => !(tag::Null..=tag::OptionalTensorList).contains(&tag),
        }
    }

    /// Returns the kinds of values that the runtime's conversion accepts.
    pub fn accepted(self) -> Kinds {
        (tag::Null..=tag::OptionalTensorList)
            .filter(|&tag| self.accepts(tag))
            .fold(Kinds::NONE, |kinds, tag| kinds.or(Kinds::of(tag)))
    }

    /// Returns the kind of the result that replaces the value; `None` if the call does not replace
    /// it.
    pub fn gives(self) -> Option<Gives> {
        match self.value {
            Value::Result(gives) => Some(gives),
            _ => None,
        }
    }

    /// Returns whether the call writes to the tensor, or to the tensors of the list.
    pub fn is_written(self) -> bool {
        self.role == Role::Written
    }

    /// Returns whether the call needs the data of the tensor at this argument.
    pub fn needs_data(self) -> bool {
        matches!(self.role, Role::Read | Role::Written) && !self.is_anything()
    }

    /// Returns whether any value is accepted, since the call does not read it or replaces it.
    pub fn is_anything(self) -> bool {
        matches!(self.value, Value::Any | Value::Result(_))
    }

    /// Returns whether the call makes the tensor a view of its first argument.
    pub fn is_view(self) -> bool {
        self.role == Role::View
    }
}

/// The use of an argument by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Read,
    Written,
    View,
    Shape,
}

/// The kinds of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// A value of these kinds.
    A(Kinds),
    /// An Int if all arguments are Ints, else a Double.
    AsGiven,
}

/// A set of kinds of values, as bits by tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// No kind.
    pub const NONE: Self = Self(0);
    /// Every kind.
    pub const ANY: Self = Self(u16::MAX);
    /// The kinds of a Scalar.
    const SCALAR: Self = Self::of(tag::Int).or(Self::of(tag::Double)).or(Self::of(tag::Bool));

    /// Returns the kind of a tag. Unknown tags share bit 0: a method with a value of an unknown
    /// tag cannot be loaded.
    pub const fn of(tag: u8) -> Self {
        Self(match tag {
            tag::Null..=tag::OptionalTensorList => 1 << tag,
            _ => 1,
        })
    }

    /// Returns the kinds of either.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the kinds of both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the kinds that are none of `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns whether there is exactly one kind.
    pub const fn is_one(self) -> bool {
        self.0.is_power_of_two()
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [
            (tag::Null, "Null"),
            (tag::Int, "Int"),
            (tag::Double, "Double"),
            (tag::Bool, "Bool"),
            (tag::String, "String"),
            (tag::Tensor, "Tensor"),
            (tag::IntList, "IntList"),
            (tag::DoubleList, "DoubleList"),
            (tag::BoolList, "BoolList"),
            (tag::TensorList, "TensorList"),
            (tag::OptionalTensorList, "OptionalTensorList"),
        ];
        if *self == Self::ANY {
            return f.write_str("anything");
        }
        let mut or = "";
        for (tag, name) in named {
            if self.and(Self::of(tag)) != Self::NONE {
                write!(f, "{or}{name}")?;
                or = " or ";
            }
        }
        Ok(())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::Scalar if self.or_null => f.write_str("Int, Double, Bool")?,
            Value::Scalar => f.write_str("Int, Double or Bool")?,
            Value::Number => f.write_str("Int or Double")?,
            Value::Any | Value::Result(_) => f.write_str("anything")?,
            value => fmt::Debug::fmt(&value, f)?,
        }
        f.write_str(if self.or_null { " or Null" } else { "" })
    }
}

/// The kind of an argument, without whether Null is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Tensor,
    Scalar,
    Number,
    Int,
    Double,
    Bool,
    String,
    IntList,
    DoubleList,
    BoolList,
    TensorList,
    OptionalTensorList,
    Any,
    Result(Gives),
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    use super::*;
    use crate::Pte;

    #[test]
    fn a_kind_takes_the_values_that_it_names() {
        let files: [&[u8]; 2] = [
            include_bytes!("../../../tests/data/pte/args_custom_op_all_kinds.pte"),
            include_bytes!("../../../tests/data/pte/args_boollist.pte"),
        ];
        let mut seen = BTreeSet::new();
        for bytes in files {
            let pte = Pte::read(bytes).unwrap();
            let plan = pte.program().execution_plan().unwrap().into_iter().next().unwrap();
            for value in plan.values().unwrap().into_iter().filter_map(|value| value.val()) {
                let name = value.name().unwrap();
                seen.insert(name);
                for letter in "tsnidbzlfmvoTSIDBZLFMVOwx.=?#%@$~".chars() {
                    let kind = Kind::of(letter).unwrap();
                    let shown = kind.to_string();
                    let named =
                        shown.split([' ', ',']).any(|word| [name, "anything"].contains(&word));
                    assert_eq!(kind.accepts(value.tag()), named, "{letter} of {name}: {kind}");
                }
            }
        }
        assert_eq!(seen.len(), 11, "every type was seen: {seen:?}");
    }

    #[test]
    fn a_kind_is_said_in_words() {
        let shown = |letter| Kind::of(letter).unwrap().to_string();
        let words =
            ["Int, Double or Bool", "Int, Double, Bool or Null", "Tensor", "Tensor or Null"];
        assert_eq!(['s', 'S', 't', 'T'].map(shown), words);
    }
}
