//! The nodes and values of graphs of Vulkan, TOSA, MLX and the native backend.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::facts::{Datatype, Facts, MOST_DIMS, NodeFacts, OperatorName, Role, ValueFacts};
use pte_core::payload::Graph;
use pte_core::payload::xnnpack::NO_ID;
use pte_flat::bytes::narrow;
use pte_flat::cost;
use pte_flat::desc::{Kind, Number};
use pte_flat::view::{List, Strings, Table};
use pte_schema::mlx::view::{MLXGraph, SlotVariant};
use pte_schema::mlx::{SlotType, desc};
use pte_schema::native::OpKind;
use pte_schema::native::view::{Argument, ArgumentValue, Node, Program};
use pte_schema::scalar::ScalarType;
use pte_schema::tosa::view::TosaGraph;
use pte_schema::vulkan::view::{GraphTypes, VkGraph};

/// Returns the facts of a graph; `None` for one of XNNPACK, whose facts
/// [`PayloadGraph::of`](super::PayloadGraph::of) collects.
pub(super) fn facts(graph: &Graph<'_>) -> Option<Facts> {
    Some(match graph {
        Graph::Xnnpack(_) => return None,
        Graph::Vulkan(graph) => vulkan(*graph),
        Graph::Tosa(graph) => tosa(*graph),
        Graph::Native(program) => native(*program),
        Graph::Mlx(graph) => mlx(*graph),
    })
}

/// Collects the facts of a graph.
#[derive(Default)]
struct Builder<'p> {
    facts: Facts,
    /// The names of operators, by their position and length in memory: calls may share a long name.
    names: BTreeMap<(usize, usize), u32>,
    /// The ids of values, by their names in the current part of the graph.
    ids: BTreeMap<&'p str, u32>,
    next_id: u32,
    written: BTreeSet<u32>,
}

impl<'p> Builder<'p> {
    fn value(
        &mut self,
        id: u32,
        datatype: &'static str,
        (rank, sizes): (usize, impl Iterator<Item = u32>),
        (role, argument): (Role, u32),
    ) {
        let rank = narrow(rank);
        let mut dims = [0; MOST_DIMS];
        dims.iter_mut().zip(sizes).for_each(|(to, size)| *to = size);
        let datatype = Datatype::Named(datatype);
        let is_written = false;
        self.facts.values.push(ValueFacts { id, datatype, rank, dims, argument, role, is_written });
    }

    /// Returns the id of a value with a name.
    fn id(&mut self, name: &'p str) -> u32 {
        cost::look_up(name, self.ids.len());
        *self.ids.entry(name).or_insert_with(|| {
            let id = self.next_id;
            self.next_id = id.saturating_add(1);
            id
        })
    }

    /// Returns the ids of the values with these names.
    fn ids(&mut self, names: Option<Strings<'p>>) -> Vec<u32> {
        names.into_iter().flatten().map(|name| self.id(name)).collect()
    }

    /// Returns the name of an operator that the payload spells.
    fn name(&mut self, name: &str) -> OperatorName {
        cost::look_up("", self.names.len());
        let nth = *self.names.entry((name.as_ptr().addr(), name.len())).or_insert_with(|| {
            let short: String = name.chars().take(MOST_CHARACTERS).collect();
            self.facts.names.push(Box::from(short));
            narrow(self.facts.names.len()).saturating_sub(1)
        });
        OperatorName::Listed(nth)
    }

    fn node(&mut self, name: OperatorName, reads: &[u32], writes: &[u32]) {
        // A node has a small number of outputs, if it is genuine.
        let writes = writes.get(..writes.len().min(u8::MAX.into())).unwrap_or_default();
        let outputs = u8::try_from(writes.len()).unwrap_or_default();
        let begin = narrow(self.facts.operands.len());
        self.facts.operands.extend(reads.iter().chain(writes));
        for &id in writes {
            cost::look_up("", self.written.len());
            self.written.insert(id);
        }
        self.facts.nodes.push(NodeFacts { name, outputs, begin });
    }

    fn finish(mut self) -> Facts {
        let values = &mut self.facts.values;
        cost::sort(values.len());
        values.sort_by_key(|value| value.id);
        values.dedup_by_key(|value| value.id);
        for value in values {
            cost::look_up("", self.written.len());
            value.is_written = self.written.contains(&value.id);
        }
        self.facts
    }
}

/// The arguments of a call: the inputs of a graph, and then its outputs.
struct Ends {
    inputs: BTreeMap<u32, u32>,
    outputs: BTreeMap<u32, u32>,
}

impl Ends {
    fn new(inputs: impl Iterator<Item = u32>, outputs: impl Iterator<Item = u32>) -> Self {
        let mut next = 0u32;
        let mut argument = |id: u32| {
            let argument = next;
            next = next.saturating_add(1);
            (id, argument)
        };
        let inputs = inputs.map(&mut argument).collect();
        let outputs = outputs.map(argument).collect();
        Self { inputs, outputs }
    }

    /// Returns the role of a value, and the index of its argument.
    fn role(&self, id: u32, is_constant: bool) -> (Role, u32) {
        cost::look_up("", self.inputs.len().saturating_add(self.outputs.len()));
        match (self.inputs.get(&id), self.outputs.get(&id)) {
            (Some(&argument), _) => (Role::Input, argument),
            (None, Some(&argument)) => (Role::Output, argument),
            (None, None) if is_constant => (Role::Constant, NO_ID),
            (None, None) => (Role::Inner, NO_ID),
        }
    }
}

/// Vulkan's calls do not say what they write: the tensors that no earlier call wrote, except for
/// inputs and constants. The tensors of a list are those of the first call that has the list, so
/// that many calls with one long list cost no more than one.
fn vulkan(graph: VkGraph<'_>) -> Facts {
    let mut facts = Builder::default();
    let ends = Ends::new(
        graph.input_ids().into_iter().flatten(),
        graph.output_ids().into_iter().flatten(),
    );
    // Whether a call may write each value; `None` for a value that is not a tensor.
    let mut tensors = Vec::new();
    let mut lists = BTreeMap::new();
    for (id, value) in (0u32..).zip(graph.values().into_iter().flatten()) {
        let tensor = match value.value() {
            Some(GraphTypes::VkTensor(tensor)) => tensor,
            other => {
                if let Some(GraphTypes::ValueList(list)) = other {
                    lists.insert(id, list.items().unwrap_or_default());
                }
                tensors.push(None);
                continue;
            }
        };
        let role = ends.role(id, tensor.constant_id() >= 0);
        tensors.push(Some(matches!(role.0, Role::Inner | Role::Output)));
        let datatype = tensor.datatype().name().unwrap_or("unknown datatype");
        let dims = tensor.dims().unwrap_or_default();
        facts.value(id, datatype, (dims.len(), dims.iter()), role);
    }
    let (mut ids, mut reads, mut writes) = (Vec::new(), Vec::new(), Vec::new());
    for call in graph.chain().into_iter().flatten() {
        reads.clear();
        writes.clear();
        ids.clear();
        for id in call.args().into_iter().flatten().filter_map(|arg| u32::try_from(arg).ok()) {
            cost::look_up("", lists.len());
            match lists.remove(&id) {
                Some(list) => ids.extend(list.iter().filter_map(|id| u32::try_from(id).ok())),
                None => ids.push(id),
            }
        }
        cost::charge(ids.len());
        for &id in &ids {
            let tensor = usize::try_from(id).ok().and_then(|nth| tensors.get(nth)).copied();
            let Some(may_write) = tensor.flatten() else { continue };
            cost::look_up("", facts.written.len());
            match may_write && !facts.written.contains(&id) {
                true => writes.push(id),
                false => reads.push(id),
            }
        }
        let name = call.name().map_or(OperatorName::Unknown, |name| facts.name(name));
        facts.node(name, &reads, &writes);
    }
    facts.finish()
}

/// Values of TOSA have names. Those of all blocks are in one picture.
fn tosa(graph: TosaGraph<'_>) -> Facts {
    let mut facts = Builder::default();
    let blocks = graph.regions().into_iter().flatten();
    let blocks: Vec<_> = blocks.flat_map(|region| region.blocks().into_iter().flatten()).collect();
    let first = blocks.first();
    let inputs = facts.ids(first.and_then(|block| block.inputs()));
    let outputs = facts.ids(first.and_then(|block| block.outputs()));
    let ends = Ends::new(inputs.into_iter(), outputs.into_iter());
    for block in &blocks {
        for tensor in block.tensors().into_iter().flatten() {
            let id = facts.id(tensor.name().unwrap_or_default());
            let datatype = tensor.r#type().name().unwrap_or("unknown datatype");
            let sizes = tensor.shape().unwrap_or_default();
            let count = sizes.len();
            let sizes = sizes.iter().map(|size| u32::try_from(size).unwrap_or_default());
            facts.value(id, datatype, (count, sizes), ends.role(id, false));
        }
        for operator in block.operators().into_iter().flatten() {
            let (reads, writes) = (facts.ids(operator.inputs()), facts.ids(operator.outputs()));
            let name = operator.op().name().map_or(OperatorName::Unknown, OperatorName::Fixed);
            facts.node(name, &reads, &writes);
        }
    }
    facts.finish()
}

/// Values of the native backend have names, which are local to a method. A graph that is an argument
/// of a node is not drawn.
fn native(program: Program<'_>) -> Facts {
    let mut facts = Builder::default();
    for method in program.methods().into_iter().flatten() {
        facts.ids.clear();
        let Some(graph) = method.graph() else { continue };
        let (inputs, outputs) = (facts.ids(graph.inputs()), facts.ids(graph.outputs()));
        let ends = Ends::new(inputs.into_iter(), outputs.into_iter());
        let constants = method.constants().into_iter().flatten();
        let constants =
            constants.filter_map(|constant| Some((constant.name()?, constant.meta()?, true)));
        let others = graph.tensor_values().into_iter().flatten();
        let others = others.filter_map(|value| Some((value.name()?, value.meta()?, false)));
        for (name, meta, is_constant) in constants.chain(others) {
            let id = facts.id(name);
            let datatype = meta.dtype().name().unwrap_or("unknown datatype");
            let sizes = meta.sizes().unwrap_or_default();
            let count = sizes.len();
            // As in a program, a dimension that varies has its largest size; without a bound its least.
            let sizes =
                sizes.iter().map(|dim| u32::try_from(dim.max()).or(u32::try_from(dim.min())));
            let sizes = sizes.map(Result::unwrap_or_default);
            facts.value(id, datatype, (count, sizes), ends.role(id, is_constant));
        }
        for node in graph.nodes().into_iter().flatten() {
            if node.op_kind() == OpKind::CALL_FUNCTION {
                native_call(&mut facts, node);
            }
        }
    }
    facts.finish()
}

/// A call reads the values that its arguments name. It writes its outputs, and the arguments that
/// it mutates.
fn native_call<'p>(facts: &mut Builder<'p>, node: Node<'p>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for input in node.inputs().into_iter().flatten() {
        let Some(argument) = input.arg() else { continue };
        let before = reads.len();
        each_name(argument, |name| reads.push(facts.id(name)));
        if input.mutated() {
            writes.extend_from_slice(reads.get(before..).unwrap_or_default());
        }
    }
    for output in node.outputs().into_iter().flatten() {
        writes.extend(output.name().map(|name| facts.id(name)));
        writes.extend(facts.ids(output.names()));
    }
    let name = node.target().map_or(OperatorName::Unknown, |name| facts.name(name));
    facts.node(name, &reads, &writes);
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

/// Instructions of MLX name tensors in their fields: those that begin with `out` are written.
fn mlx(graph: MLXGraph<'_>) -> Facts {
    let mut facts = Builder::default();
    let ids = |map: Option<List<'_, SlotVariant<'_>>>| {
        let slots = map.into_iter().flatten();
        let slots = slots.filter(|slot| slot.slot_type() == SlotType::TensorSlot);
        slots.map(|slot| slot.idx()).collect::<Vec<_>>()
    };
    let ends = Ends::new(ids(graph.input_map()).into_iter(), ids(graph.output_map()).into_iter());
    let constants = graph.num_constant_tensors();
    for (id, meta) in (0u32..).zip(graph.tensor_meta().into_iter().flatten()) {
        let datatype = ScalarType(meta.scalar_type()).name().unwrap_or("unknown datatype");
        let shape = meta.shape().unwrap_or_default();
        let sizes = shape.iter().map(|size| u32::try_from(size.value()).unwrap_or_default());
        let sizes = (shape.len(), sizes);
        facts.value(id, datatype, sizes, ends.role(id, id < constants));
    }
    let chains = graph.instruction_chains().into_iter().flatten();
    let all = chains.flat_map(|chain| chain.instructions().into_iter().flatten());
    for instruction in all {
        cost::charge(1);
        let member = instruction.raw().member(&desc::Instruction);
        let member = member.and_then(|(tag, node)| Some((desc::OpNode.member(tag)?, node)));
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let mut name = OperatorName::Unknown;
        if let Some((member, node)) = member {
            name = OperatorName::Fixed(member.name);
            for field in member.table.fields {
                let Kind::Scalar(scalar) = field.kind else { continue };
                let is_tensor = scalar.of.is_some_and(|of| of.name == "Tid");
                if let Some(Number::Int(id)) = node.number(field.slot, scalar.prim)
                    && let Some(id) = u32::try_from(id).ok().filter(|_| is_tensor)
                {
                    match field.name.starts_with("out") {
                        true => writes.push(id),
                        false => reads.push(id),
                    }
                }
            }
        }
        facts.node(name, &reads, &writes);
    }
    facts.finish()
}

/// The largest number of characters kept of a name.
const MOST_CHARACTERS: usize = 60;
