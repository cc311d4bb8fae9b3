//! What a module's code says, for the rules: the interface of its graph, and the operators with their operands.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::{Code, Definition, End, operand_name};
use crate::payload::graph::Literal;
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_flat::view::Vector;
use pte_schema::tosa::{DType, Op};

/// What the graph in a module's code expects of the resources of its segment.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GraphInterface {
    /// The tensor of each binding.
    pub bindings: BTreeMap<u32, GraphTensor>,
    /// The tensor of each of the segment's constants, by its index there.
    pub constants: BTreeMap<u32, GraphTensor>,
}

/// A type of tensors in code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphTensor {
    /// The datatype of TOSA with such elements; `None` if there is none. Code has neither INT4 nor INT48.
    pub datatype: Option<DType>,
    /// The size of each dimension, at most 17, and 0 for one that is not a constant; `None` without a shape.
    pub sizes: Option<Vec<u32>>,
    /// The number of bits of an element.
    pub(super) bits: u32,
    pub(super) rank: usize,
}

impl GraphTensor {
    /// Returns the name of the `VkFormat` of a resource with such elements; `None` if there is none.
    #[must_use]
    pub fn format(&self) -> Option<&'static str> {
        Some(match self.datatype? {
            DType::BOOL => "R8_BOOL_ARM",
            DType::INT8 => "R8_SINT",
            DType::INT16 => "R16_SINT",
            DType::INT32 => "R32_SINT",
            DType::INT64 => "R64_SINT",
            DType::FP16 => "R16_SFLOAT",
            DType::FP32 => "R32_SFLOAT",
            DType::BF16 => "R16_SFLOAT_FPENCODING_BFLOAT16_ARM",
            _ => return None,
        })
    }
}

/// A module's code, and the graph of its entry point.
#[derive(Debug)]
pub struct ModuleGraph<'p> {
    code: Code<'p>,
    has_entry_point: bool,
}

/// An operator of a graph in code.
#[derive(Debug)]
#[non_exhaustive]
pub struct CodeOperator {
    /// The operator; `None` for an unknown one.
    pub op: Option<Op>,
    /// The number in the set of instructions.
    pub number: u32,
    /// The attributes, and then the inputs.
    pub operands: Vec<CodeOperand>,
    /// The first tensors that it makes, at most 3; `None` for one of another type.
    pub results: Vec<Option<GraphTensor>>,
}

/// An operand of an operator in code.
#[derive(Debug)]
#[non_exhaustive]
pub struct CodeOperand {
    /// The name; empty past the operands of the operator.
    pub name: &'static str,
    /// What the operand is.
    pub kind: OperandKind,
}

/// What an operand of an operator in code is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OperandKind {
    /// Nothing that is defined before.
    Undefined,
    /// A value that is not known before the code is specialized, and its type if it is a tensor.
    Unknown(Option<GraphTensor>),
    /// Neither a number nor a tensor, such as a type.
    Other,
    /// A constant number or bool, and its datatype.
    Number(Literal<'static>, Option<DType>),
    /// A tensor.
    Tensor(GraphTensor),
    /// A constant tensor with its first numbers, at most 17; `None` if they are a resource.
    Constant(GraphTensor, Option<Vec<Literal<'static>>>),
}

/// A tensor that a graph reads or sets, and the one that its interface has.
#[derive(Debug)]
#[non_exhaustive]
pub struct GraphEnd {
    /// Whether this is an output.
    pub is_output: bool,
    /// The index among the inputs or the outputs; `None` if it is no constant.
    pub index: Option<u32>,
    /// What the graph reads or sets.
    pub value: OperandKind,
    /// The tensor of the variable; `None` if the interface has none.
    pub variable: Option<GraphTensor>,
}

impl<'p> ModuleGraph<'p> {
    /// Reads a module's code. The error describes what is wrong with it.
    ///
    /// # Errors
    ///
    /// The code has no header, or an instruction that is not whole.
    pub fn read(code: Vector<'p, u32>, entry: &str) -> Result<Self, &'static str> {
        let (code, has_entry_point) = Code::read(code, entry)?;
        Ok(Self { code, has_entry_point })
    }

    /// Returns whether the code has the entry point, of a shader or a graph.
    #[must_use]
    pub fn has_entry_point(&self) -> bool {
        self.has_entry_point
    }

    /// Reads the interface of the graph. It is empty if there is no graph.
    #[must_use]
    pub fn interface(&self) -> GraphInterface {
        let code = &self.code;
        let mut found = GraphInterface::default();
        if !code.has_graph {
            return found;
        }
        for &variable in &code.interface {
            cost::look_up("", code.bindings.len());
            if let Some(&binding) = code.bindings.get(&variable)
                && let Some(tensor) = code.variable(variable)
            {
                found.bindings.insert(binding, tensor);
            }
        }
        for &(number, of) in &code.constants {
            code.tensor(of).into_iter().for_each(|tensor| {
                cost::look_up("", found.constants.len());
                found.constants.insert(number, tensor);
            });
        }
        found
    }

    /// Returns the operators of the graph, in their order.
    pub fn operators(&self) -> impl Iterator<Item = CodeOperator> {
        let code = &self.code;
        code.body.iter().map(|operator| {
            let instruction = operator.instruction;
            let operand = |nth| instruction.operand(nth).unwrap_or_default();
            let known = code.operator(instruction);
            let names = known.map_or(&[][..], |known| known.1);
            let operands = instruction.operands(4).enumerate().map(|(nth, id)| CodeOperand {
                name: operand_name(names, nth),
                kind: match operator.undefined {
                    Some(undefined) if undefined <= nth => OperandKind::Undefined,
                    _ => code.kind(id),
                },
            });
            let results = match code.definitions.get(operand(0)) {
                Some(Definition::Several(members)) => {
                    members.operands(1).take(MOST_RESULTS).map(|of| code.tensor(of)).collect()
                }
                _ => vec![code.tensor(operand(0))],
            };
            let operands = operands.collect();
            CodeOperator { op: known.map(|known| known.0), number: operand(3), operands, results }
        })
    }

    /// Returns what the graph reads and sets.
    pub fn ends(&self) -> impl Iterator<Item = GraphEnd> {
        let code = &self.code;
        code.ends.iter().map(|&End { is_output, value, index: at }| {
            let at = code.number(at).and_then(|at| u32::try_from(at).ok());
            let first = if is_output { code.inputs } else { 0 };
            let variable = at.and_then(|at| code.interface.get(index(first.checked_add(at)?)));
            let variable = variable.and_then(|variable| code.variable(*variable));
            GraphEnd { is_output, index: at, value: code.kind(value), variable }
        })
    }
}

impl Code<'_> {
    /// Returns what an id is.
    fn kind(&self, id: u32) -> OperandKind {
        let Some(definition) = self.definitions.get(id) else { return OperandKind::Undefined };
        let of = match definition {
            Definition::Specialized { of } => return OperandKind::Unknown(self.tensor(of)),
            Definition::Input { of, .. } | Definition::Result { of } => {
                return self.tensor(of).map_or(OperandKind::Other, OperandKind::Tensor);
            }
            Definition::Bool(is_true) => {
                return OperandKind::Number(Literal::Bool(is_true), Some(DType::BOOL));
            }
            Definition::Scalar(instruction) => {
                let datatype = self.datatype(instruction.operand(0).unwrap_or_default());
                let literal = self.scalar(id);
                let number = literal.map(|literal| OperandKind::Number(literal, datatype));
                return number.unwrap_or(OperandKind::Unknown(None));
            }
            Definition::List(instruction) => instruction.operand(0).unwrap_or_default(),
            Definition::Constant { of, .. }
            | Definition::Repeated { of, .. }
            | Definition::Zeros { of } => of,
            _ => return OperandKind::Other,
        };
        let is_resource = matches!(definition, Definition::Constant { .. });
        match self.tensor(of) {
            Some(tensor) if is_resource => OperandKind::Constant(tensor, None),
            Some(tensor) => OperandKind::Constant(tensor, Some(self.numbers(id))),
            None => OperandKind::Other,
        }
    }
}

/// The most results that are read of an operator: one more than an operator has. Any number of operators may share a
/// type of several tensors.
const MOST_RESULTS: usize = 3;
