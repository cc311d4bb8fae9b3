//! Rules on MLX graphs: the checks of the loader, constants, and the operands of instructions.
//!
//! The checks of the loader are in docs/format.md §11.9.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{
    BackendRules, Bytes, DELEGATE_KEY_SHORT, DELEGATE_KEY_UNRESOLVED, Judge, NamedSize, NamedSizes,
    Subject,
};
use crate::report::Findings;
use crate::rule::{Rule, rules};
use crate::site::Plan;
use pte_core::backend::Backend;
use pte_core::error::PathComponent;
use pte_core::payload::{Tables, TablesPlace, Unreadable};
use pte_flat::bytes::{narrow, wide};
use pte_flat::cost;
use pte_flat::desc::{FieldDesc, Kind, Number, TableDesc};
use pte_flat::quoted::Quoted;
use pte_flat::view::{List, Raw, Table};
use pte_schema::mlx::view::{MLXGraph, ShapeDim, SlotVariant, TensorMeta};
use pte_schema::mlx::{SlotType, Tid, Vid, desc};
use pte_schema::scalar::ScalarType;

rules! {
    "mlx";

    MLX_SIZE = Error "mlx-size"
        "An MLX graph has at most 1,000,000 tensors and values, and no longer list."
        "The loader refuses it."
        LOWER_AGAIN
        Refuses ["11.9"];
    MLX_CHAIN = Error "mlx-chain"
        "The main chain and the init chain of an MLX graph are in it, and all instructions are known."
        "The loader refuses it."
        LOWER_AGAIN
        Refuses ["11.9"];
    MLX_SLOT = Error "mlx-slot"
        "The inputs, outputs and mutable buffers of an MLX graph are tensors that it has."
        "The loader refuses it."
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
    MLX_OPERAND = Warning "mlx-operand"
        "The instructions of an MLX graph name tensors, values and chains that it has."
        "The run ends with an error when it comes to the instruction."
        LOWER_AGAIN
        Refuses ["11.9"];
}

/// A graph that is being judged, and the place of its findings.
struct Site<'s, 'p> {
    /// The method and the index of the delegate; `None` for a payload without a program.
    pub(super) delegate: Option<(&'s Plan<'s, 's>, u32)>,
    /// The start of the graph in the file.
    pub(super) start: u64,
    pub(super) graph: MLXGraph<'p>,
}

/// The numbers of tensors, values and chains of a graph. Indices must be less than these.
struct Counts {
    tensors: u64,
    values: u64,
    chains: u64,
}

pub(super) const JUDGED: BackendRules =
    BackendRules { backend: Backend::Mlx, has_keys: false, judge: judge_payload };

/// Judges a payload: its header and its graph.
fn judge_payload(
    judge: &mut Judge<'_, '_, '_, '_>,
    payload: &Subject<'_>,
    bytes: &mut Bytes<'_>,
) -> Result<(), Unreadable> {
    let place = TablesPlace::of_payload(Backend::Mlx, payload.head, payload.len);
    let Some(place) = place.transpose()? else { return Ok(()) };
    let region = payload.part(place.range.clone());
    let start = region.start;
    let Some(region) = bytes.read(region) else { return Ok(()) };
    if let Some(graph) = Tables::read(&place, &region, judge.limits)?.root_as() {
        let site = Site { delegate: judge.delegate(payload.users.first()), start, graph };
        self::judge(&site, judge.named, judge.out);
    }
    Ok(())
}

/// Judges a graph by itself.
fn judge(site: &Site<'_, '_>, named: &NamedSizes<'_>, out: &mut Findings) {
    let graph = site.graph;
    let chains = graph.instruction_chains().unwrap_or_default();
    let counts = Counts {
        tensors: [
            graph.num_constant_tensors(),
            graph.num_input_tensors(),
            graph.num_output_tensors(),
            graph.num_mutable_buffer_tensors(),
            graph.num_temp_tensors(),
        ]
        .into_iter()
        .fold(0, |sum, count| u64::from(count).saturating_add(sum)),
        values: graph.num_values().into(),
        chains: wide(chains.len()),
    };
    let mut found = out.another();
    site.sizes(&counts, &mut found);
    site.slots(&counts, &mut found);
    for (nth, meta) in (0..).zip(graph.tensor_meta().into_iter().flatten()) {
        site.shape(nth, meta, &mut found);
    }
    site.chains(&counts, &mut found);
    if found.is_empty() {
        site.constants(named, &mut found);
        site.operands(&counts, &mut found);
    }
    out.extend(found);
}

impl<'p> Site<'_, 'p> {
    /// Reports a finding at a table of the graph; `relative` is the path from its root.
    fn find(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        at: Raw<'p>,
        relative: &[PathComponent],
        message: impl FnOnce() -> String,
    ) {
        let offset = self.start.saturating_add(at.pos().into());
        let path = || super::path_in_graph(self.delegate, MLXGraph::DESC.name, relative);
        out.find(rule, offset, path, message);
    }

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
            self.find(out, &MLX_SIZE, graph.raw(), &[], || {
                format!("{name}: there are {size}, and the limit is {MOST}")
            });
        }
    }

    /// Judges the tensor indices of inputs, outputs and mutable buffers.
    fn slots(&self, counts: &Counts, out: &mut Findings) {
        let graph = self.graph;
        for (name, slots) in [
            ("input_map", graph.input_map()),
            ("output_map", graph.output_map()),
            ("mutable_buffer_map", graph.mutable_buffer_map()),
        ] {
            for (nth, slot) in (0..).zip(slots.into_iter().flatten()) {
                let (index, tensors) = (slot.idx(), counts.tensors);
                if slot.slot_type() == SlotType::TensorSlot && u64::from(index) >= tensors {
                    let path = [PathComponent::Field(name), PathComponent::Index(nth)];
                    self.find(out, &MLX_SLOT, slot.raw(), &path, || {
                        format!("tensor {index} is out of range: the graph has {tensors} tensors")
                    });
                }
            }
        }
    }

    /// Judges the shape and the datatype of a tensor.
    fn shape(&self, nth: u32, meta: TensorMeta<'p>, out: &mut Findings) {
        let path = [PathComponent::Field("tensor_meta"), PathComponent::Index(nth)];
        let (shape, code) = (meta.shape().unwrap_or_default(), meta.scalar_type());
        if !(0..=LAST_CODE).contains(&code) {
            self.find(out, &MLX_SHAPE, meta.raw(), &path, || {
                format!("the datatype {code} is out of range: the last is {LAST_CODE}")
            });
        }
        let rank = shape.len();
        if rank > MOST_DIMENSIONS {
            self.find(out, &MLX_SHAPE, meta.raw(), &path, || {
                format!("the tensor has {rank} dimensions, and the limit is {MOST_DIMENSIONS}")
            });
            return;
        }
        for size in shape.iter().filter(|size| !is_size(*size)) {
            self.find(out, &MLX_SHAPE, size.raw(), &path, || {
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
                self.find(out, &MLX_CHAIN, graph.raw(), &[PathComponent::Field(name)], || {
                    format!("chain {index} is out of range: the graph has {chains}")
                });
            }
        }
        for (chain, nth, instruction) in self.instructions() {
            if wide(nth) >= MOST {
                let path =
                    [PathComponent::Field("instruction_chains"), PathComponent::Index(chain)];
                self.find(out, &MLX_SIZE, instruction, &path, || {
                    format!("the chain has more than {MOST} instructions")
                });
                break;
            }
            let Some((tag, _)) = instruction.member(&desc::Instruction) else { continue };
            if desc::OpNode.member(tag).is_none() {
                self.find(out, &MLX_CHAIN, instruction, &instruction_path(chain, nth), || {
                    format!("the operator {tag} is unknown")
                });
            }
        }
    }

    /// Judges the shapes and the data of constants.
    fn constants(&self, named: &NamedSizes<'_>, out: &mut Findings) {
        let (graph, count) = (self.graph, self.graph.num_constant_tensors());
        if count == 0 {
            return;
        }
        // If a tensor has several names, the backend uses the last one.
        let mut names = BTreeMap::new();
        for slot in graph.named_slots().into_iter().flatten() {
            let Some(tensor) = slot.slot() else { continue };
            if tensor.slot_type() == SlotType::TensorSlot && tensor.idx() < count {
                cost::look_up("", names.len());
                names.insert(tensor.idx(), slot);
            }
        }
        let metas = graph.tensor_meta().unwrap_or_default();
        for (nth, meta) in (0..count).zip(metas.iter()) {
            let path = [PathComponent::Field("tensor_meta"), PathComponent::Index(nth)];
            let Some(size) = size_of(meta) else {
                self.find(out, &MLX_CONSTANT, meta.raw(), &path, || {
                    format!("constant {nth} has no sizes, or a datatype that MLX does not have")
                });
                continue;
            };
            cost::look_up("", names.len());
            let Some(slot) = names.get(&nth) else {
                self.find(out, &MLX_CONSTANT, graph.raw(), &path, || {
                    format!("constant {nth} has no name")
                });
                continue;
            };
            let key = slot.name().unwrap_or_default();
            match named.get(key, true) {
                NamedSize::Elsewhere => {}
                NamedSize::Bytes(bytes) if size <= bytes => {}
                NamedSize::Bytes(bytes) => {
                    self.find(out, &DELEGATE_KEY_SHORT, slot.raw(), &path, || {
                        let key = Quoted(key);
                        format!("constant {nth} takes {size} bytes, and {key} has {bytes}")
                    });
                }
                NamedSize::Missing => {
                    self.find(out, &DELEGATE_KEY_UNRESOLVED, slot.raw(), &path, || {
                        format!("no data has the key {}", Quoted(key))
                    });
                }
            }
        }
        let metas = narrow(metas.len());
        if metas < count {
            let path = [PathComponent::Field("tensor_meta")];
            self.find(out, &MLX_CONSTANT, graph.raw(), &path, || {
                format!("constant {metas} has no tensor_meta")
            });
        }
    }

    /// Judges the operands of instructions: indices of tensors, values and chains.
    fn operands(&self, counts: &Counts, out: &mut Findings) {
        for (chain, nth, instruction) in self.instructions() {
            let Some((tag, node)) = instruction.member(&desc::Instruction) else { continue };
            let Some(member) = desc::OpNode.member(tag) else { continue };
            let wrong = member.table.fields.iter().find_map(|field| {
                let wrong = operand(node, field, counts)?;
                Some((field.name, wrong))
            });
            if let Some((name, Wrong { what, index, count })) = wrong {
                self.find(out, &MLX_OPERAND, node, &instruction_path(chain, nth), || {
                    format!("{name}: {what} {index} is out of range: the graph has {count}")
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

/// An index that is out of range.
struct Wrong {
    what: &'static str,
    index: i64,
    count: u64,
}

/// Returns the first out-of-range index in a field.
fn operand(node: Raw<'_>, field: &FieldDesc, counts: &Counts) -> Option<Wrong> {
    let compare = |of: &'static str, index: u32| {
        let (what, count) = match of {
            TENSOR => ("tensor", counts.tensors),
            _ => ("value", counts.values),
        };
        (u64::from(index) >= count).then_some(Wrong { what, index: index.into(), count })
    };
    match field.kind {
        Kind::Scalar(scalar) => match (scalar.of, node.number(field.slot, scalar.prim)?) {
            (Some(of), Number::Int(index)) => compare(of.name, u32::try_from(index).ok()?),
            (None, Number::Int(index)) if CHAINS.contains(&field.name) => {
                let (index, count) = (i64::try_from(index).ok()?, counts.chains);
                let is_there = u64::try_from(index).is_ok_and(|index| index < count);
                (!is_there).then_some(Wrong { what: "chain", index, count })
            }
            _ => None,
        },
        Kind::Scalars { of: Some(of), .. } => {
            let numbers = node.vector::<u32>(field.slot)?;
            numbers.iter().find_map(|index| compare(of.name, index))
        }
        Kind::Table(table) => one_of(node.target(field.slot)?, table, compare),
        Kind::Tables(table) => {
            let list = node.list::<Raw<'_>>(field.slot)?;
            list.raws().find_map(|raw| one_of(raw, table, compare))
        }
        _ => None,
    }
}

/// Judges a table that holds either a number or the index of a value or tensor. Returns the
/// index if it is out of range.
fn one_of(
    raw: Raw<'_>,
    table: &'static TableDesc,
    compare: impl Fn(&'static str, u32) -> Option<Wrong>,
) -> Option<Wrong> {
    let number = |name: &str| {
        let field = table.field(name)?;
        Some(raw.scalar::<u8>(field.slot).unwrap_or_default())
    };
    // The field `is_vid` or `kind` says whether the backend uses `vid` or `tid`.
    let is_value = number("is_vid").map(|is_value| is_value != 0);
    let (is_value, is_tensor) = match (is_value, number("kind")) {
        (Some(is_value), _) => (is_value, !is_value),
        (None, Some(kind)) => (kind == 1, kind == 2),
        (None, None) => (false, false),
    };
    let value = table.field("vid").filter(|_| is_value);
    let value = value.and_then(|field| raw.scalar::<Vid>(field.slot));
    let tensor = table.field("tid").filter(|_| is_tensor);
    let tensor = tensor.and_then(|field| raw.scalar::<Tid>(field.slot));
    let value = value.and_then(|value| compare("Vid", value.idx));
    value.or_else(|| tensor.and_then(|tensor| compare(TENSOR, tensor.idx)))
}

/// Returns whether the loader accepts a size.
fn is_size(size: ShapeDim<'_>) -> bool {
    let (value, min, max) = (size.value(), size.min_value(), size.max_value());
    match value {
        -1 => min >= 0 && (max == -1 || max >= min),
        _ => value >= 0,
    }
}

/// Returns the size of a constant in bytes, at most `u64::MAX`. `None` if a size is a range, or if
/// MLX does not have the datatype.
fn size_of(meta: TensorMeta<'_>) -> Option<u64> {
    let dtype = ScalarType(meta.scalar_type());
    let size = dtype.element_size().filter(|_| MLX_CODES.contains(&dtype.0))?;
    let mut bytes = size;
    for size in meta.shape().into_iter().flatten() {
        bytes = bytes.saturating_mul(u64::try_from(size.value()).ok()?);
    }
    Some(bytes)
}

fn instruction_path(chain: u32, nth: usize) -> Vec<PathComponent> {
    vec![
        PathComponent::Field("instruction_chains"),
        PathComponent::Index(chain),
        PathComponent::Field("instructions"),
        PathComponent::Index(narrow(nth)),
    ]
}

/// The name of the struct that holds the index of a tensor.
const TENSOR: &str = "Tid";

/// The fields that are indices of chains.
const CHAINS: [&str; 3] = ["body_chain_idx", "then_chain_idx", "else_chain_idx"];

/// The longest list that the loader accepts.
const MOST: u64 = 1_000_000;

/// The most dimensions of a tensor.
const MOST_DIMENSIONS: usize = 16;

/// The greatest code of a datatype.
const LAST_CODE: i8 = 30;

/// The codes of the datatypes of MLX.
const MLX_CODES: [i8; 10] = [0, 1, 2, 3, 4, 5, 6, 11, 15, 28];
