//! Graphs of `torch.export` in JSON, as an ETRecord has them.
//!
//! The names are those of PyTorch's `torch/_export/serde/schema.py`, of which versions 7 and 8 differ in no field that
//! is read here. All other fields are skipped.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

mod argument;

pub(crate) use argument::Argument;

/// What a member of an ETRecord has.
#[derive(Debug, Deserialize)]
pub(crate) struct ExportedProgram {
    pub(crate) graph_module: GraphModule,
}

#[derive(Debug, Deserialize)]
pub(crate) struct GraphModule {
    pub(crate) graph: Graph,
    #[serde(default)]
    pub(crate) signature: Signature,
}

/// The graph of a method, or of a branch or a loop in it.
#[derive(Debug, Deserialize)]
pub(crate) struct Graph {
    #[serde(default)]
    pub(crate) inputs: Vec<Argument>,
    #[serde(default)]
    pub(crate) outputs: Vec<Argument>,
    pub(crate) nodes: Vec<Node>,
    /// The tensors by name.
    #[serde(default)]
    pub(crate) tensor_values: BTreeMap<String, TensorType>,
}

/// A call of an operator.
#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    /// The operator, with the module of Python that has it.
    #[serde(default)]
    pub(crate) target: String,
    #[serde(default)]
    pub(crate) inputs: Vec<NamedArgument>,
    #[serde(default)]
    pub(crate) outputs: Vec<Argument>,
    pub(crate) metadata: Metadata,
}

/// An argument by the name in the operator's schema.
#[derive(Debug, Deserialize)]
pub(crate) struct NamedArgument {
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) arg: Argument,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    /// A number as text.
    #[serde(default)]
    debug_handle: Option<String>,
    /// From the outermost module inwards, separated by semicolons: key, dotted name and class.
    #[serde(default)]
    nn_module_stack: Option<String>,
    #[serde(default)]
    pub(crate) stack_trace: Option<String>,
}

impl Metadata {
    /// Returns the number by which a record names the node.
    pub(crate) fn handle(&self) -> Option<u64> {
        self.debug_handle.as_deref()?.parse().ok()
    }

    /// Returns the dotted name of the innermost module. Nodes that a pass of PyTorch adds have none.
    pub(crate) fn module(&self) -> Option<&str> {
        self.innermost()?.nth(1).filter(|name| *name != NO_MODULE)
    }

    /// Returns the class of the innermost module.
    pub(crate) fn class(&self) -> Option<&str> {
        self.innermost()?.nth(2).filter(|name| *name != NO_MODULE)
    }

    fn innermost(&self) -> Option<impl Iterator<Item = &str>> {
        Some(self.nn_module_stack.as_deref()?.rsplit(';').next()?.split(','))
    }
}

/// What PyTorch writes for a node without modules.
const NO_MODULE: &str = "_empty_nn_module_stack_from_metadata_hook";

/// The type of a tensor as other graphs show it: `float32[1, 3]`.
#[derive(Debug, Deserialize)]
#[serde(from = "TensorMeta")]
pub(crate) struct TensorType(Box<str>);

impl TensorType {
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl From<TensorMeta> for TensorType {
    fn from(meta: TensorMeta) -> Self {
        Self([argument::dtype(meta.dtype), meta.sizes.text()].concat().into())
    }
}

/// The dtype and the sizes of a tensor.
#[derive(Deserialize)]
struct TensorMeta {
    #[serde(default)]
    dtype: u64,
    /// Numbers, or expressions of symbols.
    #[serde(default, deserialize_with = "argument::list")]
    sizes: Argument,
}

/// What the inputs of a program are.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Signature {
    #[serde(default)]
    input_specs: Vec<InputSpec>,
}

/// What an input is: a map with the kind as its only key.
#[derive(Debug)]
struct InputSpec {
    kind: String,
    name: Option<String>,
}

impl<'de> Deserialize<'de> for InputSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InputKind)
    }
}

/// Reads the one member of an input's specification.
struct InputKind;

impl<'de> Visitor<'de> for InputKind {
    type Value = InputSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the specification of an input")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<InputSpec, A::Error> {
        match members.next_entry::<String, InputName>()? {
            Some((kind, InputName { name })) => Ok(InputSpec { kind, name }),
            None => Err(serde::de::Error::invalid_length(0, &self)),
        }
    }
}

/// The name of an input in the model.
#[derive(Deserialize)]
struct InputName {
    #[serde(
        default,
        alias = "parameter_name",
        alias = "buffer_name",
        alias = "tensor_constant_name",
        alias = "custom_obj_name"
    )]
    name: Option<String>,
}

impl Signature {
    /// Returns the kind of an input, and its name in the model: that of a parameter, a buffer or a constant.
    pub(crate) fn input(&self, nth: usize) -> Option<(&str, Option<&str>)> {
        let InputSpec { kind, name } = self.input_specs.get(nth)?;
        Some((kind, name.as_deref()))
    }
}
