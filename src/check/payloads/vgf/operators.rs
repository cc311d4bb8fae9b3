//! The operators of the graph in a module's code, by TOSA's tables.

use alloc::string::String;
use alloc::vec::Vec;

use crate::payloads::sizes::Sizes;
use crate::payloads::tosa::attributes;
use crate::payloads::tosa::operand::{Attributes, Naming, Numbers, Operand, Operator};
use crate::payloads::tosa::operators::Form;
use pte_core::payload::graph::Literal;
use pte_core::payload::vgf::{
    CodeOperand, CodeOperator, GraphEnd, GraphTensor, ModuleGraph, OperandKind,
};
use pte_flat::desc::{Kind, Prim};
use pte_schema::tosa::DType;

/// Judges the operators of a graph, and what it sets as its outputs.
pub(super) fn judge(graph: &ModuleGraph<'_>, find: &mut dyn FnMut(String)) {
    for (nth, operator) in graph.operators().enumerate() {
        if let Some(message) = unfit(&operator) {
            find(format!("operator {nth}: {message}"));
        }
    }
    graph.ends().filter_map(|end| unlike(&end)).for_each(find);
}

/// Returns how an input or an output of a graph differs from the tensor of its interface.
fn unlike(end: &GraphEnd) -> Option<String> {
    let name = if end.is_output { "output" } else { "input" };
    let Some(nth) = end.index else {
        return Some(format!("the index of an {name} is no constant"));
    };
    let value = match &end.value {
        OperandKind::Tensor(of) | OperandKind::Constant(of, _) | OperandKind::Unknown(Some(of)) => {
            of
        }
        OperandKind::Undefined => return Some(format!("{name} {nth} is not defined")),
        _ => return Some(format!("{name} {nth} is no tensor")),
    };
    let Some(variable) = &end.variable else {
        return Some(format!("the graph has no {name} {nth}"));
    };
    let differs = value != variable;
    differs.then(|| format!("{name} {nth} has another datatype or shape than its variable"))
}

/// Returns what is wrong with an operator.
fn unfit(operator: &CodeOperator) -> Option<String> {
    let Some(op) = operator.op else {
        return Some(format!("unknown operator {}", operator.number));
    };
    let undefined = operator.operands.iter().find(|of| matches!(of.kind, OperandKind::Undefined));
    if let Some(operand) = undefined {
        return Some(format!("{op}: {} is not defined before", operand.name));
    }
    let form = Form::of(op)?;
    let fields = attributes::fields_of(op);
    let (given, inputs) = operator.operands.split_at(operator.operands.len().min(fields.len()));
    let counts = [inputs.len(), operator.results.len()];
    if let Err((_, message)) = form.judge_counts(counts) {
        return Some(message);
    }
    // Attributes come first, in another order than in a table.
    for operand in given {
        let field = fields.iter().find(|field| field.name == operand.name)?;
        let is_element = field.name.ends_with("_val");
        let is_right = match (&operand.kind, field.kind) {
            (OperandKind::Unknown(_), _) => true,
            (OperandKind::Number(Literal::Bool(_), _), Kind::Scalar(of)) => of.prim == Prim::Bool,
            (OperandKind::Number(Literal::Int(_), _), Kind::Scalar(of)) => of.prim != Prim::Bool,
            (OperandKind::Number(..), _) => is_element,
            (kind, Kind::Scalars { .. }) => !is_element && integers(kind).is_some(),
            _ => false,
        };
        if !is_right {
            return Some(format!("{op}: {} is no constant of the right type", operand.name));
        }
    }
    for (nth, operand) in (0..=u8::MAX).zip(inputs) {
        let what = match &operand.kind {
            OperandKind::Unknown(Some(_)) | OperandKind::Constant(..) => continue,
            OperandKind::Tensor(_) if !form.has_constant(nth) => continue,
            OperandKind::Tensor(_) => "constant",
            _ => "tensor",
        };
        return Some(format!("{op}: {} is no {what}", operand.name));
    }
    if operator.results.iter().any(Option::is_none) {
        return Some(format!("{op}: an output is no tensor"));
    }
    let lists: Vec<_> = operator.operands.iter().map(|operand| integers(&operand.kind)).collect();
    let (given_lists, input_lists) = lists.split_at(given.len());
    let attributes = Given { operands: given, lists: given_lists };
    let inputs: Vec<_> = inputs.iter().zip(input_lists).map(|(of, list)| input(of, list)).collect();
    let outputs: Vec<_> = operator.results.iter().flatten().map(tensor).collect();
    let operator = Operator {
        form,
        naming: Naming::Code,
        is_first: true,
        attributes: Some(&attributes),
        inputs: &inputs,
        outputs: &outputs,
    };
    operator.judge().err().map(|(_, message)| message)
}

/// Returns the numbers of a constant tensor of integers; `None` for another operand.
fn integers(kind: &OperandKind) -> Option<Vec<i64>> {
    let OperandKind::Constant(_, Some(numbers)) = kind else { return None };
    let integers = numbers.iter().map(|number| match number {
        Literal::Int(number) => Some(*number),
        _ => None,
    });
    integers.collect()
}

/// Returns an input, whose numbers are `list`.
fn input<'o>(operand: &'o CodeOperand, list: &'o Option<Vec<i64>>) -> Operand<'o> {
    let (of, first) = match &operand.kind {
        OperandKind::Tensor(of) | OperandKind::Unknown(Some(of)) => (of, None),
        OperandKind::Constant(of, numbers) => (of, numbers.as_ref().and_then(|all| all.first())),
        _ => return UNKNOWN,
    };
    let numbers = list.as_deref().map(Numbers::Listed);
    let is_nonzero = first.is_some_and(is_nonzero) && of.datatype != Some(DType::INT8);
    Operand { numbers, is_nonzero, ..tensor(of) }
}

/// Returns a tensor without its numbers.
fn tensor(of: &GraphTensor) -> Operand<'static> {
    let sizes = of.sizes.as_ref().filter(|sizes| !sizes.contains(&0));
    let sizes = sizes.and_then(|sizes| Sizes::of(sizes.iter().copied()));
    Operand { dtype: of.datatype.unwrap_or(DType::UNKNOWN), sizes, ..UNKNOWN }
}

const UNKNOWN: Operand<'static> =
    Operand { dtype: DType::UNKNOWN, sizes: None, numbers: None, is_nonzero: false };

fn is_nonzero(number: &Literal<'_>) -> bool {
    match number {
        Literal::Int(number) => *number != 0,
        Literal::Single(number) => *number != 0.0,
        Literal::Float(number) => *number != 0.0,
        _ => false,
    }
}

/// The attributes of an operator, and those that are lists.
struct Given<'o> {
    operands: &'o [CodeOperand],
    lists: &'o [Option<Vec<i64>>],
}

impl Given<'_> {
    fn constant(&self, name: &str) -> Option<&OperandKind> {
        self.operands.iter().find(|operand| operand.name == name).map(|operand| &operand.kind)
    }
}

impl Attributes for Given<'_> {
    fn number(&self, name: &str) -> Option<i64> {
        let number = match self.constant(name)? {
            OperandKind::Number(Literal::Int(number), _) => *number,
            OperandKind::Number(Literal::Bool(is_true), _) => (*is_true).into(),
            _ => return None,
        };
        if name != "acc_type" {
            return Some(number);
        }
        let datatype = usize::try_from(number).ok().and_then(|nth| ACCUMULATORS.get(nth));
        Some(datatype.copied().unwrap_or(DType::UNKNOWN).0.into())
    }

    fn list(&self, name: &str) -> Option<Numbers<'_>> {
        let nth = self.operands.iter().position(|operand| operand.name == name)?;
        self.lists.get(nth)?.as_deref().map(Numbers::Listed)
    }

    fn unlike_element(&self, name: &str, datatype: DType) -> Option<String> {
        let OperandKind::Number(_, found) = self.constant(name)? else { return None };
        let found = found.unwrap_or(DType::UNKNOWN);
        (found != datatype).then(|| format!("unexpected datatype {found} of {name}"))
    }
}

/// The datatypes of sums, by their numbers in code.
const ACCUMULATORS: [DType; 5] =
    [DType::UNKNOWN, DType::INT32, DType::FP16, DType::FP32, DType::INT48];
