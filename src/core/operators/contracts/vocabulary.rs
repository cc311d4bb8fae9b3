//! The vocabulary of contracts: numbers that a call determines, and conditions on them.

use pte_schema::scalar::ScalarType;

/// A condition of a contract, and its subject.
#[derive(Debug)]
pub struct Term {
    pub(super) about: Subject,
    pub(super) holds: Condition,
}

/// The subject of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A dtype.
    Dtype,
    /// A rank or a size.
    Shape,
    /// A number argument.
    Number,
    /// A quantization parameter.
    Quantized,
    /// A dim order.
    Strided,
    /// Elements that are indices.
    Indices,
    /// Elements that are zero points.
    ZeroPoints,
    /// Elements whose range is measured.
    Range,
}

/// The position of an argument of a call.
pub(super) type Arg = u8;

pte_flat::messages! {
    /// A number that a call determines.
    #[derive(Clone, Copy, Debug)]
    pub(super) enum Number {
        Const(number: i64) => "{number}";
        /// The value of an Int.
        Int(arg: Arg) => "argument {arg}";
        /// An item of an IntList or BoolList. An IntList with one item has that item at every index.
        Item(arg: Arg, nth: u8) => "item {nth} of argument {arg}";
        /// The last item of an IntList.
        Last(arg: Arg) => "the last item of argument {arg}";
        /// The number of items of an IntList.
        Count(arg: Arg) => "the number of items of argument {arg}";
        Rank(arg: Arg) => "the rank of argument {arg}";
        /// The size of a dimension. A negative dimension counts from the end.
        Size(arg: Arg, dim: &'static Number) => "{}", match dim {
            Self::Const(dim) => format!("size {dim} of argument {arg}"),
            dim => format!("the size of argument {arg} at {dim}"),
        };
        /// The number of elements.
        Numel(arg: Arg) => "the number of elements of argument {arg}";
        /// The number of elements before the call, of an output that the call does not resize.
        UnresizedNumel(arg: Arg) => "the number of elements of argument {arg}";
        /// The least element of a tensor of integers whose elements are in the file.
        LeastElement(arg: Arg) => "the least element of argument {arg}";
        GreatestElement(arg: Arg) => "the greatest element of argument {arg}";
        /// The number of elements that the tensor has memory for.
        CapacityNumel(arg: Arg) => "the capacity of argument {arg}";
        /// The product of all sizes except the last N.
        LeadingNumel(arg: Arg, aside: u8) =>
            "the number of elements of argument {arg} without its last {aside} dimensions";
        /// The product of the sizes after a dimension.
        TrailingNumel(arg: Arg, dim: &'static Number) =>
            "the number of elements of argument {arg} after dimension {dim}";
        /// The product of the sizes up to a dimension, times its stride.
        Span(arg: Arg, dim: &'static Number) => "the elements of argument {arg} that its stride at {dim} leads over";
        /// The number of dimensions that an OptionalTensorList indexes: the rank of each mask, and 1 for each
        /// other item.
        IndexedDims(arg: Arg) => "the number of dimensions that argument {arg} indexes";
        /// The index of the only tensor in an OptionalTensorList.
        TensorPosition(arg: Arg) => "the index of the tensor in argument {arg}";
        /// The code of the dtype.
        Dtype(arg: Arg) => "the dtype of argument {arg}";
        /// The size of an element in bytes.
        ElementSize(arg: Arg) => "the element size of argument {arg}";
        /// The element size of the common dtype of two tensors, at least one of which is complex.
        PromotedElementSize(one: Arg, other: Arg) =>
            "the element size of the common dtype of arguments {one} and {other}";
        /// The least integer of the dtype.
        Least(arg: Arg) => "the least value of the dtype of argument {arg}";
        Greatest(arg: Arg) => "the greatest value of the dtype of argument {arg}";
        /// An Int, converted to the integer dtype of a tensor.
        Wrapped(arg: Arg, of: Arg) => "argument {arg} in the dtype of argument {of}";
        /// The low 64 bits of the square of an Int.
        Square(arg: Arg) => "the square of argument {arg} in 64 bits";
        Times(one: &'static Number, other: &'static Number) => "{one} times {other}";
        Plus(one: &'static Number, other: &'static Number) => "{one} and {other}";
    }
}

/// A condition on a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition {
    Equal(Number, Number),
    NotEqual(Number, Number),
    AtLeast(Number, Number),
    AtMost(Number, Number),
    Below(Number, Number),
    /// The second number is a multiple of the first, which is not 0.
    Divides(Number, Number),
    /// The Int is a dimension of the tensor. A negative dimension counts from the end.
    Dimension(Arg, Arg),
    /// Every item of the IntList is a dimension of the tensor, or the tensor has no dimensions.
    Dimensions(Arg, Arg),
    /// The dtype is in the set.
    In(Arg, &'static [ScalarType]),
    NotIn(Arg, &'static [ScalarType]),
    /// The arguments have a common dtype (`promoteTypes`).
    Promote(&'static [Arg]),
    /// If the IntList leaves a size open (−1), the product of its other sizes is not 0 in 64 bits.
    Infers(Arg),
    /// No tensor of the list has a smaller element size than the first tensor.
    Widths(Arg),
    /// Two tensors have the same sizes before the call, which does not change them.
    SameShape(Arg, Arg),
    /// The tensor can be resized to a shape.
    CanResizeTo(Arg, Shape),
    /// A tensor of floats, whose elements are in the file, has no infinity and no NaN.
    Finite(Arg),
    /// The number of steps from a start to an end fits 32 bits. The default start is 0, the default
    /// step 1.
    Steps(Option<Arg>, Arg, Option<Arg>),
    /// The elements that `as_strided_copy(self, size, stride, storage_offset)` reads lie in `self`.
    Strided,
    /// The argument is a Bool with this value.
    Flag(Arg, bool),
    /// The argument is a Double.
    Double(Arg),
    /// The argument is Null.
    Null(Arg),
    Not(&'static Condition),
    /// At least one of the conditions holds.
    Any(&'static [Condition]),
}

/// The shape that an output is resized to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// The shape of another tensor.
    Like(Arg),
    /// The shape of another tensor, with a last size of 1.
    Rows(Arg),
    /// The first sizes of another tensor, then this last size. The shape has as many dimensions as
    /// the output.
    And(Arg, Number),
}

impl Number {
    /// Returns the first argument that the number depends on.
    pub(super) fn arg(&self) -> Option<Arg> {
        match *self {
            Self::Const(_) => None,
            Self::Int(arg)
            | Self::Item(arg, _)
            | Self::Last(arg)
            | Self::Count(arg)
            | Self::Rank(arg)
            | Self::IndexedDims(arg)
            | Self::TensorPosition(arg)
            | Self::Size(arg, _)
            | Self::Numel(arg)
            | Self::UnresizedNumel(arg)
            | Self::LeastElement(arg)
            | Self::GreatestElement(arg)
            | Self::CapacityNumel(arg)
            | Self::LeadingNumel(arg, _)
            | Self::TrailingNumel(arg, _)
            | Self::Span(arg, _)
            | Self::PromotedElementSize(arg, _)
            | Self::Dtype(arg)
            | Self::ElementSize(arg)
            | Self::Least(arg)
            | Self::Greatest(arg)
            | Self::Wrapped(arg, _)
            | Self::Square(arg) => Some(arg),
            Self::Times(one, other) | Self::Plus(one, other) => one.arg().or_else(|| other.arg()),
        }
    }
}

impl Condition {
    /// Returns the argument whose elements the condition is about.
    pub(super) fn element_arg(&self) -> Option<(Arg, ElementKind)> {
        match *self {
            Self::Finite(arg) => Some((arg, ElementKind::Floats)),
            Self::AtLeast(Number::LeastElement(arg), _)
            | Self::Below(Number::GreatestElement(arg), _)
            | Self::AtMost(Number::GreatestElement(arg), _) => Some((arg, ElementKind::Integers)),
            Self::Any(conditions) => conditions.iter().find_map(Self::element_arg),
            _ => None,
        }
    }

    /// Returns the Int that the condition bounds, if it is one that upstream's signatures declare as `int`: an exporter
    /// writes it as a constant. What they declare as `SymInt` has no such bounds.
    pub(super) fn constant_arg(&self) -> Option<Arg> {
        match *self {
            Self::Dimension(arg, _)
            | Self::Below(Number::Int(arg), Number::Rank(_))
            | Self::AtLeast(Number::Int(arg), _)
            | Self::AtMost(Number::Int(arg), _) => Some(arg),
            Self::Any(conditions) => conditions.iter().find_map(Self::constant_arg),
            _ => None,
        }
    }

    /// Returns the sizes that a call gives to an output, if the condition determines them.
    pub(super) fn sizes_after(&self, out: Arg) -> Option<SizesAfter> {
        match *self {
            Self::CanResizeTo(arg, Shape::Like(like)) | Self::SameShape(arg, like)
                if arg == out =>
            {
                Some(SizesAfter::Like(like))
            }
            Self::Equal(Number::UnresizedNumel(arg), _) if arg == out => Some(SizesAfter::Same),
            _ => None,
        }
    }
}

/// The elements that a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// Integers.
    Integers,
    /// Floats.
    Floats,
}

/// The sizes of an output after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizesAfter {
    /// The sizes that the output had before.
    Same,
    /// The sizes of another argument.
    Like(Arg),
}
