//! Payloads of the native backend: the whole payload is the graphs of methods.

use alloc::vec::Vec;

use super::Unreadable;
use super::flatbuffer::{FlatBufferFormat, Parts, Region};
use super::graph::{Builder, DataPlace, Datatype, Detail, Ends, Graph, Literal};
use crate::backend::magic;
use pte_flat::bytes::until_nul;
use pte_flat::view::{List, Table, TableIter};
use pte_schema::native::OpKind;
use pte_schema::native::desc;
use pte_schema::native::view::{self, Argument, ArgumentValue, NamedArgument, Node, Program};

pub(super) static FORMAT: FlatBufferFormat = FlatBufferFormat {
    schema: &desc::SCHEMA,
    identifiers: &[magic::NATIVE],
    header: &[],
    detail: Detail::Operators,
    parts: Parts::whole,
    graph,
};

/// Values of the native backend have names, which are local to a method. Of a graph that is an argument of
/// a node, only the operators are in the form: they follow those of the node.
fn graph<'p>(region: &Region<'_, 'p>) -> Result<Graph<'p>, Unreadable> {
    let program: Program<'p> = region.root()?;
    let mut out = Builder::default();
    for method in program.methods().into_iter().flatten() {
        out.begin_part();
        let constants = method.constants().into_iter().flatten();
        let Some(graph) = method.graph() else {
            constants.for_each(|constant| {
                data(&mut out, constant.data_key());
            });
            continue;
        };
        let (inputs, outputs) = (out.ids(graph.inputs()), out.ids(graph.outputs()));
        let ends = Ends::new(inputs, outputs);
        for constant in constants {
            let data = data(&mut out, constant.data_key());
            let (Some(name), Some(meta)) = (constant.name(), constant.meta()) else { continue };
            value(&mut out, name, meta, (&ends, true));
            data.into_iter().for_each(|nth| out.set_data(nth));
        }
        for tensor in graph.tensor_values().into_iter().flatten() {
            let (Some(name), Some(meta)) = (tensor.name(), tensor.meta()) else { continue };
            value(&mut out, name, meta, (&ends, false));
        }
        nodes(&mut out, graph);
    }
    Ok(out.finish())
}

/// Adds the data of a constant, unless its key is empty.
fn data<'p>(out: &mut Builder<'p>, key: Option<&'p str>) -> Option<u32> {
    let key = key.map(until_nul).filter(|key| !key.is_empty())?;
    Some(out.data(DataPlace::Named { key, size: 0 }, None))
}

fn value<'p>(
    out: &mut Builder<'p>,
    name: &'p str,
    meta: view::TensorMeta<'p>,
    (ends, is_constant): (&Ends, bool),
) {
    let id = out.id(name);
    let datatype = Datatype::new(meta.dtype().name(), meta.dtype().0);
    let sizes = meta.sizes().unwrap_or_default();
    let count = sizes.len();
    // As in a program, a dimension that varies has its largest size; without a bound its least.
    let sizes = sizes.iter().map(|dim| u32::try_from(dim.max()).or(u32::try_from(dim.min())));
    let sizes = sizes.map(Result::unwrap_or_default);
    out.value(id, datatype, (count, sizes), ends.role(id, is_constant));
}

/// A graph that is partly read: its next nodes, and the next arguments of the last node.
struct OpenGraph<'p> {
    nodes: TableIter<'p, Node<'p>>,
    inputs: TableIter<'p, NamedArgument<'p>>,
}

impl<'p> OpenGraph<'p> {
    fn of(graph: view::Graph<'p>) -> Self {
        let nodes = graph.nodes().unwrap_or_default();
        Self { nodes: nodes.iter(), inputs: List::default().iter() }
    }

    /// Returns the graph of the next argument that has a graph.
    fn inner(&mut self) -> Option<view::Graph<'p>> {
        self.inputs.find_map(|input| match input.arg()?.value()? {
            ArgumentValue::GraphArg(graph) => graph.graph(),
            _ => None,
        })
    }
}

/// Adds the calls of a graph.
fn nodes<'p>(out: &mut Builder<'p>, graph: view::Graph<'p>) {
    // The graphs that contain the next node, the innermost last.
    let mut graphs = Vec::from([OpenGraph::of(graph)]);
    while let Some(last) = graphs.last_mut() {
        if let Some(inner) = last.inner() {
            graphs.push(OpenGraph::of(inner));
            continue;
        }
        let Some(node) = last.nodes.next() else {
            graphs.pop();
            continue;
        };
        out.begin_node(node.raw());
        last.inputs = node.inputs().unwrap_or_default().iter();
        let depth = graphs.len().saturating_sub(1);
        if node.op_kind() == OpKind::CALL_FUNCTION && depth == 0 {
            call(out, node);
        } else if node.op_kind() == OpKind::CALL_FUNCTION {
            let operator = out.named(node.target());
            out.node(operator, &[], &[]);
            out.set_depth(depth);
        }
    }
}

/// A call reads the values that its arguments name. It writes its outputs, and the arguments that
/// it mutates.
fn call<'p>(out: &mut Builder<'p>, node: Node<'p>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let attributes = out.next_attribute();
    for input in node.inputs().into_iter().flatten() {
        let Some(argument) = input.arg() else { continue };
        if let Some(literal) = literal(argument) {
            out.attribute(input.name().unwrap_or_default(), literal);
        }
        let before = reads.len();
        each_name(argument, |name| reads.push(out.id(name)));
        if input.mutated() {
            writes.extend_from_slice(reads.get(before..).unwrap_or_default());
        }
    }
    for output in node.outputs().into_iter().flatten() {
        writes.extend(output.name().map(|name| out.id(name)));
        writes.extend(out.ids(output.names()));
    }
    let operator = out.named(node.target());
    out.node_with(operator, (&reads, &writes), attributes);
}

/// Calls `each` with the name of each value that an argument reads.
fn each_name<'p>(argument: Argument<'p>, mut each: impl FnMut(&'p str)) {
    let (one, list) = match argument.value() {
        Some(ArgumentValue::TensorArg(tensor)) => (tensor.name(), None),
        Some(ArgumentValue::IntArg(number)) => (number.r#ref(), None),
        Some(ArgumentValue::FloatArg(number)) => (number.r#ref(), None),
        Some(ArgumentValue::BoolArg(number)) => (number.r#ref(), None),
        Some(ArgumentValue::IntListArg(numbers)) => (None, numbers.refs()),
        Some(ArgumentValue::TensorListArg(tensors)) => (None, tensors.names()),
        Some(ArgumentValue::OptionalTensorListArg(tensors)) => (None, tensors.names()),
        _ => (None, None),
    };
    let names = one.into_iter().chain(list.into_iter().flatten());
    names.filter(|name| !name.is_empty()).for_each(&mut each);
}

/// Returns an argument that is no value of the graph. A number that the name of a value replaces is none.
fn literal(argument: Argument<'_>) -> Option<Literal<'_>> {
    let is_none = |name: Option<&str>| name.is_none_or(str::is_empty);
    Some(match argument.value()? {
        ArgumentValue::NoneArg(_) => Literal::None,
        ArgumentValue::IntArg(of) if is_none(of.r#ref()) => Literal::Int(of.value()),
        ArgumentValue::FloatArg(of) if is_none(of.r#ref()) => Literal::Float(of.value()),
        ArgumentValue::BoolArg(of) if is_none(of.r#ref()) => Literal::Bool(of.value()),
        ArgumentValue::StringArg(of) => Literal::Text(of.value()?),
        ArgumentValue::ScalarTypeArg(of) => Literal::Name(of.value().name()?),
        ArgumentValue::IntListArg(of) => Literal::Ints(of.values()?),
        ArgumentValue::FloatListArg(of) => Literal::Floats(of.values()?),
        ArgumentValue::BoolListArg(of) => Literal::Bools(of.values()?),
        _ => return None,
    })
}
