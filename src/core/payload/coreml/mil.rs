//! ML Programs: functions of operations in Core ML's Model Intermediate Language (MIL).
//!
//! The messages are those of `MIL.proto` and `Model.proto` of coremltools (docs/format.md §11.12).

use super::shapes::MODEL;
use crate::element::packed::Half;
use crate::payload::Unreadable;
use crate::payload::graph::{Datatype, Literal};
use crate::payload::wire::{Field, Message, Varints};
use pte_flat::bytes::{array_at, wide};

/// A model of Core ML, with proven structure.
#[derive(Clone, Copy, Debug)]
pub struct Model<'p>(Message<'p>);

/// A function of an ML Program.
#[derive(Clone, Copy, Debug)]
pub struct Function<'p> {
    /// The name.
    pub name: &'p str,
    message: Message<'p>,
}

/// A block: a list of operations, with inputs and outputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block<'p>(Message<'p>);

/// An operation of a block.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'p>(Message<'p>);

/// A value's name and type.
#[derive(Clone, Copy, Debug)]
pub struct NamedType<'p> {
    /// The name.
    pub name: &'p str,
    /// The type.
    pub of: ValueType<'p>,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueType<'p>(Message<'p>);

/// An argument of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Binding<'p> {
    /// The name of a value.
    Name(&'p str),
    /// A constant.
    Constant(Constant<'p>),
}

/// A constant: its type, with its elements or their place.
#[derive(Clone, Copy, Debug)]
pub struct Constant<'p>(Message<'p>);

/// The place of a constant's elements: a file, and the position of the blob's metadata in it.
#[derive(Clone, Copy, Debug)]
pub struct BlobPlace<'p> {
    /// The file, as the model names it.
    pub file: &'p str,
    /// The position of the metadata.
    pub offset: u64,
}

impl<'p> Model<'p> {
    /// Proves the structure of a model.
    ///
    /// # Errors
    ///
    /// The bytes are not a message of the specification.
    pub fn read(bytes: &'p [u8]) -> Result<Self, Unreadable> {
        let message = Message::prove(bytes, &MODEL);
        message.map(Self).map_err(|at| Unreadable::Message { at })
    }

    /// Returns whether the model is an ML Program. Only such models have functions.
    pub fn is_program(&self) -> bool {
        self.0.message(502).is_some()
    }

    /// Returns the functions.
    pub fn functions(&self) -> impl Iterator<Item = Function<'p>> + use<'p> {
        let functions = self.0.message(502).unwrap_or_default().entries(2);
        functions.map(|(name, message)| Function { name, message })
    }

    /// Returns the position of a text of this model.
    pub fn position(&self, of: impl AsRef<[u8]>) -> u64 {
        let start = self.0.bytes().as_ptr().addr();
        let at = of.as_ref().as_ptr().addr().saturating_sub(start);
        // An absent text is elsewhere in memory.
        if at < self.0.bytes().len() { wide(at) } else { 0 }
    }
}

impl<'p> Function<'p> {
    /// Returns the inputs, which include states.
    pub fn inputs(&self) -> impl Iterator<Item = NamedType<'p>> + use<'p> {
        self.message.messages(1).map(NamedType::new)
    }

    /// Returns the name of the set of operations, such as `CoreML7`.
    pub fn opset(&self) -> &'p str {
        self.message.text(2)
    }

    /// Returns the block of the function's own opset, if the function has it.
    pub fn block(&self) -> Option<Block<'p>> {
        let opset = self.opset();
        let mut blocks = self.message.entries(3);
        blocks.find(|(name, _)| *name == opset).map(|(_, message)| Block(message))
    }
}

impl<'p> Block<'p> {
    /// Returns the inputs.
    pub fn inputs(&self) -> impl Iterator<Item = NamedType<'p>> + use<'p> {
        self.0.messages(1).map(NamedType::new)
    }

    /// Returns the names of the outputs.
    pub fn outputs(&self) -> impl Iterator<Item = &'p str> + use<'p> {
        self.0.texts(2)
    }

    /// Returns the operations, in execution order.
    pub fn operations(&self) -> impl Iterator<Item = Operation<'p>> + use<'p> {
        self.0.messages(3).map(Operation)
    }
}

impl<'p> Operation<'p> {
    /// Returns the operator, such as `conv`.
    pub fn operator(&self) -> &'p str {
        self.0.text(1)
    }

    /// Returns the arguments with the names of their parameters.
    pub fn inputs(&self) -> impl Iterator<Item = (&'p str, Binding<'p>)> + use<'p> {
        self.0.entries(2).flat_map(|(key, argument)| {
            argument.messages(1).map(move |binding| {
                let constant = binding.message(2).map(Constant);
                (key, constant.map_or(Binding::Name(binding.text(1)), Binding::Constant))
            })
        })
    }

    /// Returns the outputs.
    pub fn outputs(&self) -> impl Iterator<Item = NamedType<'p>> + use<'p> {
        self.0.messages(3).map(NamedType::new)
    }

    /// Returns the blocks inside the operation, such as those of a loop.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'p>> + use<'p> {
        self.0.messages(4).map(Block)
    }

    /// Returns the attributes.
    pub fn attributes(&self) -> impl Iterator<Item = (&'p str, Constant<'p>)> + use<'p> {
        self.0.entries(5).map(|(key, value)| (key, Constant(value)))
    }

    /// Returns the constant that an operation `const` defines; `None` for other operations.
    pub fn constant(&self) -> Option<(NamedType<'p>, Constant<'p>)> {
        if self.operator() != "const" {
            return None;
        }
        let (_, value) = self.attributes().find(|(key, _)| *key == "val")?;
        Some((self.outputs().next()?, value))
    }
}

impl<'p> NamedType<'p> {
    fn new(message: Message<'p>) -> Self {
        Self { name: message.text(1), of: ValueType(message.message(2).unwrap_or_default()) }
    }
}

impl<'p> ValueType<'p> {
    /// Returns whether the value is a state, which keeps its contents between runs.
    pub fn is_state(&self) -> bool {
        self.0.message(5).is_some()
    }

    /// Returns the type of a tensor, or of the tensor that a state keeps.
    fn tensor(&self) -> Option<Message<'p>> {
        let wrapped = self.0.message(5).and_then(|state| state.message(1));
        wrapped.unwrap_or(self.0).message(1)
    }

    /// Returns the datatype of a tensor; `None` for another type.
    pub fn datatype(&self) -> Option<Datatype> {
        let number = self.tensor()?.number(1);
        let known = DATATYPES.iter().find(|(of, ..)| *of == number);
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        Some(Datatype::new(known.map(|(_, name, _)| *name), number))
    }

    /// Returns the number of bits of an element; `None` for text and unknown datatypes.
    pub fn bits(&self) -> Option<u64> {
        let number = self.tensor()?.number(1);
        DATATYPES.iter().find(|(of, ..)| *of == number)?.2
    }

    /// Returns the size of each dimension of a tensor. A size that varies is `None`.
    pub fn sizes(&self) -> impl Iterator<Item = Option<u64>> + use<'p> {
        let dimensions = self.tensor().unwrap_or_default().messages(3);
        dimensions.map(|dimension| dimension.message(1).map(|constant| constant.number(1)))
    }

    /// Returns the number of bytes of the elements; `None` if it is not known.
    pub fn bytes(&self) -> Option<u64> {
        let mut bits = self.bits()?;
        for size in self.sizes() {
            bits = bits.checked_mul(size?)?;
        }
        Some(bits.div_ceil(8))
    }
}

impl<'p> Constant<'p> {
    /// Returns the type.
    pub fn of(&self) -> ValueType<'p> {
        ValueType(self.0.message(2).unwrap_or_default())
    }

    /// Returns the place of the elements, if they are in a file.
    pub fn blob(&self) -> Option<BlobPlace<'p>> {
        let blob = self.0.message(5)?;
        Some(BlobPlace { file: blob.text(1), offset: blob.number(2) })
    }

    /// Returns the bytes of a list of floating-point numbers or of small integers in the model itself. Its elements are
    /// stored as in a file.
    pub fn stored(&self) -> Option<&'p [u8]> {
        self.of().sizes().next()?;
        let tensor = self.0.message(3)?.message(1)?;
        let list = tensor.message(1).or(tensor.message(6)).or(tensor.message(7))?;
        list.all(1).find_map(Field::bytes)
    }

    /// Returns the elements that are in the model itself, if they can be shown.
    pub fn literal(&self) -> Option<Literal<'p>> {
        let tensor = self.0.message(3)?.message(1)?;
        let is_scalar = self.of().sizes().next().is_none();
        let list = |number| tensor.message(number);
        if let Some(floats) = list(1) {
            let bytes = floats.all(1).find_map(Field::bytes).unwrap_or_default();
            let first = array_at(bytes, 0).map(f32::from_le_bytes);
            return if is_scalar {
                Some(Literal::Float(first?.into()))
            } else {
                Some(Literal::Singles(bytes))
            };
        }
        if let Some(numbers) = list(2).or(list(5)) {
            let bytes = numbers.all(1).find_map(Field::bytes).unwrap_or_default();
            let first = Varints(bytes).next().unwrap_or_default();
            return Some(if is_scalar {
                Literal::Int(first.cast_signed())
            } else {
                Literal::Varints(Varints(bytes))
            });
        }
        if let Some(bools) = list(3) {
            let bytes = bools.all(1).find_map(Field::bytes).unwrap_or_default();
            return Some(match is_scalar {
                true => Literal::Bool(Varints(bytes).next().is_some_and(|bit| bit != 0)),
                false => Literal::Varints(Varints(bytes)),
            });
        }
        if let Some(texts) = list(4) {
            return texts.texts(1).next().map(Literal::Text).filter(|_| is_scalar);
        }
        let bytes = list(7)?.all(1).find_map(Field::bytes)?;
        match (self.of().datatype()?.name()?, bytes) {
            ("FLOAT16", &[low, high]) => {
                Some(Literal::Float(Half::from_bytes([low, high]).to_f64()))
            }
            ("INT8", &[byte]) => Some(Literal::Int(byte.cast_signed().into())),
            ("UINT8", &[byte]) => Some(Literal::Int(byte.into())),
            _ => None,
        }
    }
}

/// The datatypes: number, name, and the bits of an element.
static DATATYPES: &[(u64, &str, Option<u64>)] = &[
    (1, "BOOL", Some(8)),
    (2, "STRING", None),
    (10, "FLOAT16", Some(16)),
    (11, "FLOAT32", Some(32)),
    (12, "FLOAT64", Some(64)),
    (13, "BFLOAT16", Some(16)),
    (21, "INT8", Some(8)),
    (22, "INT16", Some(16)),
    (23, "INT32", Some(32)),
    (24, "INT64", Some(64)),
    (25, "INT4", Some(4)),
    (31, "UINT8", Some(8)),
    (32, "UINT16", Some(16)),
    (33, "UINT32", Some(32)),
    (34, "UINT64", Some(64)),
    (35, "UINT4", Some(4)),
    (36, "UINT2", Some(2)),
    (37, "UINT1", Some(1)),
    (38, "UINT6", Some(6)),
    (39, "UINT3", Some(3)),
    (40, "FLOAT8E4M3FN", Some(8)),
    (41, "FLOAT8E5M2", Some(8)),
];
