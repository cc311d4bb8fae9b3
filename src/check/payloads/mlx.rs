//! Rules on MLX graphs: the checks of the loader here, and then what the backend needs of tensors and instructions
//! (format.md §11.9).
//!
//! A stage with findings ends the judgement of the graph, since the later ones rely on it.

use alloc::vec::Vec;
use core::ops::Range;

use super::{BackendRules, Bytes, Judge, NamedSizes, Outcome, PartPlace, Subject};
use crate::report::Findings;
use crate::rule::rules;
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::payload::mlx::OperandKind;
use pte_core::{Backend, PathComponent};
use pte_flat::bytes::{narrow, wide};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::{List, Raw, Table};
use pte_schema::mlx::view::{MLXGraph, ShapeDim, SlotVariant, TensorMeta};
use pte_schema::mlx::{SlotType, desc};

mod attributes;
mod calls;
mod operands;
mod order;
mod tensors;

rules! {
    "mlx";

    MLX_SIZE = Error "mlx-size"
        "An MLX graph has at most 1,000,000 tensors, values, chains, slots and instructions of a chain."
        "The loader refuses it."
        LOWER_AGAIN
        Refuses ["11.9"];
    MLX_VERSION = Error "mlx-version"
        "The version of an MLX graph is missing, empty or 1."
        "The backend refuses the graph."
        "Use a newer runtime, or lower the model again."
        Refuses ["11.9"];
    MLX_CHAIN = Error "mlx-chain"
        "The main chain and the init chain of an MLX graph are in it, all instructions are known, and no chain calls itself."
        "The loader refuses it, or the calls of chains use up the stack."
        LOWER_AGAIN
        Crashes ["11.9"];
    MLX_SLOT = Error "mlx-slot"
        "Each input and output of an MLX graph is one of its tensors or integers, and each mutable buffer is one of its tensors."
        "The loader refuses the graph, or each run ends with an error."
        LOWER_AGAIN
        Refuses ["11.9"];
    MLX_SHAPE = Error "mlx-shape"
        "The tensors of an MLX graph have at most 16 dimensions with sizes or ranges, and a known datatype."
        "The loader refuses it."
        LOWER_AGAIN
        Refuses ["11.9"];
    MLX_CONSTANT = Error "mlx-constant"
        "A constant of an MLX graph has sizes, a datatype that MLX has, and a name."
        "The backend refuses the graph."
        LOWER_AGAIN
        Refuses ["11.9"];
    MLX_BUFFER = Error "mlx-buffer"
        "A mutable buffer of an MLX graph is a tensor with sizes above 0, a datatype that MLX has, and at most 4 GiB."
        "The backend refuses the graph."
        LOWER_AGAIN
        Refuses ["11.9"];
    MLX_OPERAND = Error "mlx-operand"
        "The instructions of an MLX graph name tensors, values and chains that it has."
        "The loader refuses the graph, or the run ends with an error at the instruction."
        LOWER_AGAIN
        Refuses ["11.9"];
    MLX_ATTRIBUTE = Error "mlx-attribute"
        "The numbers, lists and texts of an MLX instruction are valid for the backend."
        "The run ends with an error when it comes to the instruction. A loop reads past a list."
        LOWER_AGAIN
        Misreads ["11.9"];
    MLX_ORDER = Error "mlx-order"
        "The instructions of an MLX graph read what an input or an instruction before has written, and write no constants."
        "The run ends with an error when it comes to the instruction."
        LOWER_AGAIN
        Refuses ["11.9"];
    MLX_KERNEL = Note "mlx-kernel"
        "An MLX graph has no node with the source code of a Metal kernel."
        "The processor runs the source code of the kernel, if the runtime was built for that: most refuse the run."
        "Run only kernels of people whom you trust."
        Refuses ["11.9"]
        untrusted_upload "The processor may run code of the file.";
    MLX_ARGS = Error "mlx-args"
        "The arguments of a call of an MLX graph are its inputs and then its outputs, with datatypes that agree."
        "The run ends with an error. If an argument is no tensor, the runtime aborts."
        LOWER_AGAIN
        Crashes ["11.9"];
    MLX_UNREAD = Warning "mlx-unread"
        "The arguments of a call of an MLX graph have the shapes of its tensors."
        "The backend does not read the shapes in the graph; other readers may."
        UNUSUAL
        Ignores ["11.9"];
}

/// A graph that is being judged, and the place of its findings.
struct Site<'s, 'p> {
    place: PartPlace<'s>,
    graph: MLXGraph<'p>,
}

/// The numbers of tensors, values and chains of a graph. Indices must be less than these.
struct Counts {
    tensors: u64,
    values: u64,
    chains: u64,
    /// The indices of the tensors that are mutable buffers.
    buffers: Range<u64>,
}

impl Counts {
    fn new(graph: MLXGraph<'_>) -> Self {
        let constants = u64::from(graph.num_constant_tensors());
        let mut end = constants;
        let mut add = |count: u32| {
            let start = end;
            end = end.saturating_add(count.into());
            start..end
        };
        add(graph.num_input_tensors());
        add(graph.num_output_tensors());
        let buffers = add(graph.num_mutable_buffer_tensors());
        add(graph.num_temp_tensors());
        let chains = wide(graph.instruction_chains().unwrap_or_default().len());
        Self { tensors: end, values: graph.num_values().into(), chains, buffers }
    }

    /// Returns the number of tensors, values or chains.
    fn of(&self, kind: OperandKind) -> u64 {
        match kind {
            OperandKind::Tensor => self.tensors,
            OperandKind::Value => self.values,
            OperandKind::Chain => self.chains,
        }
    }
}

pub(super) const JUDGED: BackendRules =
    BackendRules::of(Backend::Mlx, RULES, judge).with_requested_keys();

/// Judges a payload: its header and its graph, and then the calls of its delegates.
fn judge(judge: &mut Judge<'_>, payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Outcome {
    let flatbuffer = judge.with_keys(payload.flatbuffer(Backend::Mlx, bytes))?;
    let Some(flatbuffer) = flatbuffer else { return Ok(()) };
    let Some(graph) = judge.with_keys(flatbuffer.root(judge.limits))? else { return Ok(()) };
    judge.requested.add(tensors::named(graph).filter_map(|(_, slot)| slot.name()));
    let place = judge.place(payload, flatbuffer.start, MLXGraph::DESC.name);
    let site = Site { place, graph };
    if !judge_graph(&site, judge.named, judge.out) {
        return Ok(());
    }
    for ((plan, _), instruction, call) in judge.calls(payload.users) {
        calls::judge(&site, (plan, &instruction, call), judge.out);
    }
    Ok(())
}

/// Judges a graph by itself. Returns whether it has no finding.
fn judge_graph(site: &Site<'_, '_>, named: &NamedSizes<'_>, out: &mut Findings) -> bool {
    let (graph, counts) = (site.graph, &Counts::new(site.graph));
    let mut found = out.another();
    site.sizes(counts, &mut found);
    site.version(&mut found);
    site.slots(counts, &mut found);
    for (nth, meta) in (0..).zip(graph.tensor_meta().into_iter().flatten()) {
        site.shape(nth, meta, &mut found);
    }
    site.chains(counts, &mut found);
    site.kernels(out);
    if found.is_empty() {
        tensors::constants(site, named, &mut found);
        tensors::buffers(site, &mut found);
        operands::judge(site, counts, &mut found);
        attributes::judge(site, &mut found);
    }
    if found.is_empty() {
        order::judge(site, counts, &mut found);
    }
    let is_sound = found.is_empty();
    out.extend(found);
    is_sound
}

impl<'p> Site<'_, 'p> {
    /// Judges the lengths of the lists that the loader allocates.
    fn sizes(&self, counts: &Counts, out: &mut Findings) {
        let graph = self.graph;
        let slots =
            |list: Option<List<'_, SlotVariant<'_>>>| list.map_or(0, |list| wide(list.len()));
        let sizes = [
            ("tensors", counts.tensors),
            ("num_values", counts.values),
            ("instruction_chains", counts.chains),
            ("input_map", slots(graph.input_map())),
            ("output_map", slots(graph.output_map())),
            ("mutable_buffer_map", slots(graph.mutable_buffer_map())),
            ("named_slots", graph.named_slots().map_or(0, |list| wide(list.len()))),
            ("tensor_meta", graph.tensor_meta().map_or(0, |list| wide(list.len()))),
        ];
        for (name, size) in sizes.into_iter().filter(|(_, size)| *size > MOST) {
            self.place.find(out, &MLX_SIZE, graph.raw(), &[], || {
                format!("{name}: there are {size}, and the limit is {MOST}")
            });
        }
    }

    /// Judges the version, which the backend reads as a number.
    fn version(&self, out: &mut Findings) {
        // As `std::stoi` reads it: spaces, a sign and digits, and then anything.
        let version = self.graph.version().unwrap_or_default();
        let number = version.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
        let digits = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let is_known = match digits.parse::<u32>() {
            Ok(digits) => digits <= LAST_VERSION || number.starts_with('-'),
            Err(_) => version.is_empty(),
        };
        if !is_known {
            self.place.find(
                out,
                &MLX_VERSION,
                self.graph.raw(),
                &[PathComponent::Field("version")],
                || format!("unknown version {}: the last is {LAST_VERSION}", Quoted(version)),
            );
        }
    }

    /// Judges the indices of inputs, outputs and mutable buffers. [`tensors::buffers`] judges the kinds of buffers.
    fn slots(&self, counts: &Counts, out: &mut Findings) {
        let graph = self.graph;
        for (name, slots) in [
            ("input_map", graph.input_map()),
            ("output_map", graph.output_map()),
            ("mutable_buffer_map", graph.mutable_buffer_map()),
        ] {
            for (nth, slot) in (0..).zip(slots.into_iter().flatten()) {
                let (index, slot_type) = (slot.idx(), slot.slot_type());
                let message = match slot_type {
                    SlotType::TensorSlot if u64::from(index) >= counts.tensors => {
                        let tensors = counts.tensors;
                        format!("tensor {index} is out of range: the graph has {tensors} tensors")
                    }
                    SlotType::IntValueSlot if u64::from(index) >= counts.values => {
                        let values = counts.values;
                        format!("value {index} is out of range: the graph has {values} values")
                    }
                    SlotType::TensorSlot | SlotType::IntValueSlot => continue,
                    _ => format!("the backend does not have slots of type {slot_type}"),
                };
                let path = path![name, nth];
                self.place.find(out, &MLX_SLOT, slot.raw(), &path, || message);
            }
        }
    }

    /// Judges the shape and the datatype of a tensor.
    fn shape(&self, nth: u32, meta: TensorMeta<'p>, out: &mut Findings) {
        let path = path!["tensor_meta", nth];
        let (shape, code) = (meta.shape().unwrap_or_default(), meta.scalar_type());
        if !(0..=LAST_CODE).contains(&code) {
            self.place.find(out, &MLX_SHAPE, meta.raw(), &path, || {
                format!("the datatype {code} is out of range: the last is {LAST_CODE}")
            });
        }
        let rank = shape.len();
        if rank > MOST_DIMENSIONS {
            self.place.find(out, &MLX_SHAPE, meta.raw(), &path, || {
                format!("the tensor has {rank} dimensions, and the limit is {MOST_DIMENSIONS}")
            });
            return;
        }
        for size in shape.iter().filter(|size| !is_size(*size)) {
            self.place.find(out, &MLX_SHAPE, size.raw(), &path, || {
                let (value, min, max) = (size.value(), size.min_value(), size.max_value());
                format!("invalid size {value} with the range {min} to {max}")
            });
        }
    }

    /// Judges the indices of chains, and whether their instructions are known.
    fn chains(&self, counts: &Counts, out: &mut Findings) {
        let (graph, chains) = (self.graph, counts.chains);
        let (main, init) = (graph.main_chain_idx(), graph.init_chain_idx());
        for (name, index) in [("main_chain_idx", i64::from(main)), ("init_chain_idx", init.into())]
        {
            let is_there = u64::try_from(index).map_or(init < 0, |index| index < chains);
            if !is_there {
                self.place.find(
                    out,
                    &MLX_CHAIN,
                    graph.raw(),
                    &[PathComponent::Field(name)],
                    || format!("chain {index} is out of range: the graph has {chains}"),
                );
            }
        }
        for (chain, nth, instruction) in self.instructions() {
            if wide(nth) >= MOST {
                let path = path!["instruction_chains", chain];
                self.place.find(out, &MLX_SIZE, instruction, &path, || {
                    format!("the chain has more than {MOST} instructions")
                });
                break;
            }
            let Some((tag, _)) = instruction.member(&desc::Instruction) else { continue };
            if desc::OpNode.member(tag).is_none() {
                self.place.find(
                    out,
                    &MLX_CHAIN,
                    instruction,
                    &instruction_path(chain, nth),
                    || format!("the operator {tag} is unknown"),
                );
            }
        }
    }

    /// Reports the instructions that have source code.
    fn kernels(&self, out: &mut Findings) {
        for (chain, nth, instruction) in self.instructions() {
            let Some((tag, node)) = instruction.member(&desc::Instruction) else { continue };
            let member = desc::OpNode.member(tag);
            if member.is_some_and(|member| member.name == desc::MetalKernelNode.name) {
                self.place.find(out, &MLX_KERNEL, node, &instruction_path(chain, nth), || {
                    "the instruction has the source code of a Metal kernel".into()
                });
            }
        }
    }

    /// Returns each instruction, with the index of its chain and its index in the chain.
    fn instructions(&self) -> impl Iterator<Item = (u32, usize, Raw<'p>)> + use<'p> {
        let chains = self.graph.instruction_chains().into_iter().flatten();
        (0..).zip(chains).flat_map(|(chain, of)| {
            let instructions = of.instructions().into_iter().flatten();
            instructions.enumerate().map(move |(nth, instruction)| {
                cost::charge(1);
                (chain, nth, instruction.raw())
            })
        })
    }
}

/// Returns whether the loader accepts a size.
fn is_size(size: ShapeDim<'_>) -> bool {
    let (value, min, max) = (size.value(), size.min_value(), size.max_value());
    match value {
        -1 => min >= 0 && (max == -1 || max >= min),
        _ => value >= 0,
    }
}

fn instruction_path(chain: u32, nth: usize) -> Vec<PathComponent> {
    path!["instruction_chains", chain, "instructions", narrow(nth)].to_vec()
}

/// The longest list that the loader accepts.
const MOST: u64 = 1_000_000;

/// The greatest code of a datatype.
const LAST_CODE: i8 = 30;

/// The version of graphs that the backend reads.
const LAST_VERSION: u32 = 1;

/// Returns whether MLX has the datatype with a code.
fn is_datatype(code: i8) -> bool {
    DATATYPES.contains(&code)
}

/// The codes of the datatypes of MLX.
const DATATYPES: [i8; 10] = [0, 1, 2, 3, 4, 5, 6, 11, 15, 28];
