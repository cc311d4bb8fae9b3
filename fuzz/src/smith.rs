//! Programs and data files that are valid by construction: for any random bytes, no rule of
//! severity Error is broken.

use arbitrary::{Result, Unstructured};
use modular_bitfield::prelude::*;
use pte::flat::tree::Unknown;
use pte::flat::write::WriterLayout;
use pte::model::{Blob, Container, FileModel, HeaderForm, PtdModel, PteModel};
use pte::schema::flat_tensor::model::{NamedData, TensorLayout};
use pte::schema::program::model::{self, EValue, KernelTypes, Tensor};
use pte::schema::program::{DataLocation, DeviceType, TensorDataLocation, TensorShapeDynamism};
use pte::schema::scalar::ScalarType;

mod calls;
mod graphs;
mod recipes;
mod tangle;

/// Dtypes that kernels know.
pub(crate) const DTYPES: [ScalarType; 11] = [
    ScalarType::BYTE,
    ScalarType::CHAR,
    ScalarType::SHORT,
    ScalarType::INT,
    ScalarType::LONG,
    ScalarType::HALF,
    ScalarType::FLOAT,
    ScalarType::DOUBLE,
    ScalarType::BOOL,
    ScalarType::BFLOAT16,
    ScalarType::UINT16,
];

/// The features that a program may have. A program without some of them covers the others more deeply.
#[bitfield(bytes = 4)]
#[derive(Clone, Copy, Debug)]
pub struct Swarm {
    layout: B2,
    force_align: B2,
    alignment: B2,
    header: B2,
    methods: B2,
    constants: bool,
    constants_inline: bool,
    states: bool,
    external: bool,
    inputs: bool,
    scalars: bool,
    texts: bool,
    lists: bool,
    unknown_members: bool,
    delegates: bool,
    payloads_inline: bool,
    named_data: bool,
    moves: bool,
    frees: bool,
    jumps: bool,
    traces: bool,
    devices: bool,
    nesting: bool,
    dynamic: bool,
    second_arena: bool,
    trailing: bool,
    extra: bool,
}

/// The head of a structured input, and the rest of it.
pub(crate) fn swarm(random: &mut Unstructured<'_>) -> Result<Swarm> {
    Ok(Swarm::from_bytes(random.arbitrary()?))
}

/// A program that `check` passes.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn program(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = swarm(random)?;
    make(random, swarm, Calls::Valid)
}

/// A program that `check` passes, and that asks for nothing that the official runtime does not bring:
/// no backend, no operator of others, no data from elsewhere.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn runnable(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?);
    make(random, swarm, Calls::Known)
}

/// Makes a program with calls of any operator and jumps to anywhere: most such programs have an Error.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn guess(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?).with_methods(0);
    make(random, swarm, Calls::Any)
}

/// A program that calls one operator, any of those there are, and does nothing else: what it does is
/// done although other calls would have been refused.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn call(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?).with_methods(0);
    make(random, swarm, Calls::One)
}

/// A program that calls one operator, the one at `only` or any, with arguments that alias each other.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn tangled(random: &mut Unstructured<'_>, only: Option<usize>) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?).with_methods(0).with_constants(true);
    make(random, swarm, Calls::Tangled(only))
}

/// A program that calls one graph of XNNPACK's backend. A broken one has one to three changes.
fn graph_of(random: &mut Unstructured<'_>, is_broken: bool) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?).with_methods(0);
    make(random, swarm, Calls::Graph { is_broken })
}

/// A program that calls a graph of XNNPACK's backend.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn graph(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    graph_of(random, false)
}

/// Makes such a program with one to three changes of the graph: most have an Error.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn broken_graph(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    graph_of(random, true)
}

/// A program whose methods use nothing of the file besides themselves: they can become methods of another.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub(crate) fn apart(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?).with_constants(false).with_states(false);
    make(random, swarm.with_named_data(false), Calls::Valid)
}

/// A program that has constants, none of which is in another file yet.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub(crate) fn movable(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = swarm(random)?.with_constants(true).with_external(false);
    make(random, swarm, Calls::Valid)
}

#[cfg(test)]
fn sound_call(random: &mut Unstructured<'_>, nth: usize) -> Result<PteModel<'static>> {
    let swarm = at_home(Swarm::new());
    make(random, swarm, Calls::Sound(nth))
}

/// Without what has to come from outside of the file, and without what runtimes are built without.
fn at_home(swarm: Swarm) -> Swarm {
    let swarm =
        swarm.with_unknown_members(false).with_delegates(false).with_constants_inline(false);
    swarm.with_external(false).with_devices(false)
}

/// The operators that are called, and their arguments.
#[derive(Clone, Copy, PartialEq)]
enum Calls {
    /// Calls that break no rule.
    Valid,
    /// Calls that break no rule, in a program that is executed afterwards.
    Known,
    /// Any operator, and arguments that may be wrong.
    Any,
    /// One such call.
    One,
    /// One call with arguments that alias each other, of the operator of that number if it is given.
    Tangled(Option<usize>),
    /// One call of a graph of XNNPACK's backend.
    Graph { is_broken: bool },
    /// One call as it should be, of the operator of that number.
    #[cfg(test)]
    Sound(usize),
}

fn make(random: &mut Unstructured<'_>, swarm: Swarm, calls: Calls) -> Result<PteModel<'static>> {
    let file = FileModel {
        root: model::Program { segments: Some(Vec::new()), ..model::Program::default() },
        segments: Vec::new(),
        container: Container::CURRENT,
        unknown: Unknown::default(),
    };
    let is_turned = calls == Calls::One && random.ratio(1, 6)?;
    let mut smith = Smith {
        random,
        is_turned,
        swarm,
        calls,
        file,
        constants: vec![Blob::EMPTY],
        states: vec![Vec::new()],
        plan: model::ExecutionPlan::default(),
        arenas: Vec::new(),
    };
    let mut plans = Vec::new();
    for nth in 0..=swarm.methods() {
        plans.push(smith.method(nth)?);
    }
    smith.file.root.execution_plan = Some(plans);
    smith.finish()
}

struct Smith<'r, 'u> {
    random: &'r mut Unstructured<'u>,
    swarm: Swarm,
    calls: Calls,
    file: PteModel<'static>,
    constants: Vec<Blob<'static>>,
    states: Vec<Vec<u8>>,
    /// Whether most tensors are stored otherwise than in the order of their dimensions.
    is_turned: bool,
    /// The method at work.
    plan: model::ExecutionPlan,
    /// The bytes of each arena that are planned so far, from the first arena on.
    arenas: Vec<u64>,
}

/// The place of a tensor's data.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Planned,
    Constant,
    State,
    External,
    /// Given when the program runs.
    Input,
}

impl Smith<'_, '_> {
    fn method(&mut self, nth: u8) -> Result<model::ExecutionPlan> {
        self.plan = model::ExecutionPlan {
            name: Some(if nth == 0 { "forward".into() } else { format!("method_{nth}") }),
            values: Some(Vec::new()),
            inputs: Some(Vec::new()),
            outputs: Some(Vec::new()),
            operators: Some(Vec::new()),
            delegates: Some(Vec::new()),
            ..model::ExecutionPlan::default()
        };
        self.arenas = vec![0; 1 + usize::from(self.swarm.second_arena())];
        if self.swarm.nesting() {
            self.plan.container_meta_type = Some(model::ContainerMetadata {
                encoded_inp_str: Some("[1, *]".into()),
                encoded_out_str: Some(self.text()?),
            });
        }
        let mut instructions = Vec::new();
        let steps = match self.calls {
            Calls::Valid | Calls::Known => self.random.int_in_range(0..=10)?,
            Calls::Any => self.random.int_in_range(1..=4)?,
            _ => 0,
        };
        for _ in 0..steps {
            self.step(&mut instructions)?;
        }
        let only = match self.calls {
            Calls::One => Some(self.any_call()?),
            Calls::Graph { is_broken } => Some(self.graph(is_broken)?),
            #[cfg(test)]
            Calls::Sound(nth) => Some(self.near_sound(nth, 0)?),
            _ => None,
        };
        instructions.extend(only.map(|call| model::Instruction { instr_args: Some(call) }));
        if let Calls::Tangled(only) = self.calls {
            let all = self.tangled(only)?.into_iter();
            instructions.extend(all.map(|args| model::Instruction { instr_args: Some(args) }));
        }
        let end = i32::try_from(instructions.len()).unwrap_or(i32::MAX);
        for (next, instruction) in (1..).zip(&mut instructions) {
            if let Some(model::InstructionArguments::JumpFalseCall(jump)) =
                &mut instruction.instr_args
            {
                // Ahead, or just past the last: what is jumped over is not missed.
                let is_anywhere = matches!(self.calls, Calls::Any | Calls::Tangled(_));
                let from = if is_anywhere { 0 } else { next };
                jump.destination_instruction = self.random.int_in_range(from..=end)?;
            }
        }
        let sizes = self.arenas.iter().map(|&size| i64::try_from(size).unwrap_or(i64::MAX));
        self.plan.non_const_buffer_sizes = Some([0].into_iter().chain(sizes).collect());
        if self.swarm.devices() {
            self.plan.non_const_buffer_device = Some(vec![model::NonConstBufferDevice {
                buffer_idx: 1,
                device_type: *self.random.choose(&[DeviceType::CPU, DeviceType::CUDA])?,
                device_index: self.random.int_in_range(0..=3)?,
            }]);
        }
        let stacktrace = match self.swarm.traces() {
            true => Some(self.traces(instructions.len())?),
            false => None,
        };
        let empty = Some(Vec::new());
        self.plan.chains = Some(vec![model::Chain {
            inputs: empty.clone(),
            outputs: empty,
            instructions: Some(instructions),
            stacktrace,
        }]);
        Ok(core::mem::take(&mut self.plan))
    }

    /// A call, or something else that a chain may have, with the values that it needs.
    fn step(&mut self, out: &mut Vec<model::Instruction>) -> Result<()> {
        let swarm = self.swarm;
        let args = match self.random.int_in_range(0..=13)? {
            0 if swarm.delegates() => self.delegate()?,
            1 if swarm.moves() => {
                let [move_from, move_to] = [self.int()?, self.int()?];
                model::InstructionArguments::MoveCall(model::MoveCall { move_from, move_to })
            }
            2 if swarm.frees() => {
                // Nothing else has it.
                let value_index = self.tensor(Place::Planned, ScalarType::FLOAT, vec![2, 2])?;
                model::InstructionArguments::FreeCall(model::FreeCall { value_index })
            }
            3 if swarm.jumps() => {
                let bool_val = self.random.arbitrary()?;
                let condition = KernelTypes::Bool(model::Bool { bool_val });
                let cond_value_index = self.value(condition);
                let jump = model::JumpFalseCall { cond_value_index, destination_instruction: 0 };
                model::InstructionArguments::JumpFalseCall(jump)
            }
            4 if swarm.scalars() => {
                self.scalar()?;
                return Ok(());
            }
            5 if swarm.texts() => {
                let string_val = Some(self.text()?);
                self.value(KernelTypes::String(model::String { string_val }));
                return Ok(());
            }
            6 if swarm.unknown_members() => {
                let shape = self.shape()?;
                let dtype = self.dtype()?;
                let (given, out) = (self.source(dtype, &shape)?, self.out(dtype, &shape)?);
                self.call("custom::op", "out", vec![given, out, out])
            }
            _ if self.calls == Calls::Any => self.any_call()?,
            _ => self.kernel()?,
        };
        out.push(model::Instruction { instr_args: Some(args) });
        Ok(())
    }

    /// A call of an operator that the official runtime has, as its kernel takes it.
    fn kernel(&mut self) -> Result<model::InstructionArguments> {
        let float = ScalarType::FLOAT;
        let shape = self.shape()?;
        let lists = self.swarm.lists();
        Ok(match self.random.int_in_range(0..=9)? {
            0 if lists => {
                let items = [self.source(float, &shape)?, self.source(float, &shape)?];
                let items = items.into_iter().collect();
                let list =
                    self.value(KernelTypes::TensorList(model::TensorList { items: Some(items) }));
                let dim = self.number(0);
                let out = self.out(float, &shape)?;
                self.call("aten::cat", "out", vec![list, dim, out, out])
            }
            1 if lists => {
                let given = self.source(float, &shape)?;
                let ranks = (0i64..).zip(&shape).map(|(nth, _)| nth).collect::<Vec<_>>();
                let items = ranks.into_iter().map(|nth| self.number(nth).into()).collect();
                let order = self.value(KernelTypes::IntList(model::IntList { items: Some(items) }));
                let out = self.out(float, &shape)?;
                self.call("aten::permute_copy", "out", vec![given, order, out, out])
            }
            2 if lists => {
                let index = self.source(ScalarType::LONG, &[2])?;
                let (sizes, items, results): (&[i32], _, &[i32]) = match self.random.arbitrary()? {
                    true => (&[3], vec![index], &[2]),
                    false => (&[2, 3], vec![-1, index], &[2, 2]),
                };
                let given = self.source(float, sizes)?;
                let list = KernelTypes::OptionalTensorList(model::OptionalTensorList {
                    items: Some(items),
                });
                let list = self.value(list);
                let out = self.out(float, results)?;
                self.call("aten::index", "Tensor_out", vec![given, list, out, out])
            }
            3 => {
                let given = self.source(float, &shape)?;
                let none = self.value(KernelTypes::Null(model::Null {}));
                let out = self.out(float, &shape)?;
                self.call("aten::clone", "out", vec![given, none, out, out])
            }
            4 | 5 => {
                let [a, b] = [self.source(float, &shape)?, self.source(float, &shape)?];
                let alpha = self.number(1);
                let out = self.out(float, &shape)?;
                self.call("aten::add", "out", vec![a, b, alpha, out, out])
            }
            6 => {
                let [a, b] = [self.source(float, &shape)?, self.source(float, &shape)?];
                let out = self.out(float, &shape)?;
                self.call("aten::mul", "out", vec![a, b, out, out])
            }
            _ => {
                let given = self.source(float, &shape)?;
                let out = self.out(float, &shape)?;
                let name = *self.random.choose(&["abs", "neg", "relu", "sigmoid", "sin"])?;
                self.call(&format!("aten::{name}"), "out", vec![given, out, out])
            }
        })
    }

    fn call(&mut self, name: &str, overload: &str, args: Vec<i32>) -> model::InstructionArguments {
        let operators = self.plan.operators.get_or_insert_default();
        let wanted = model::Operator { name: Some(name.into()), overload: Some(overload.into()) };
        let known = operators.iter().position(|operator| *operator == wanted);
        let op_index = known.unwrap_or_else(|| {
            operators.push(wanted);
            operators.len() - 1
        });
        let op_index = i32::try_from(op_index).unwrap_or(i32::MAX);
        model::InstructionArguments::KernelCall(model::KernelCall { op_index, args: Some(args) })
    }

    fn delegate(&mut self) -> Result<model::InstructionArguments> {
        let shape = self.shape()?;
        let dtype = self.dtype()?;
        let args = vec![self.source(dtype, &shape)?, self.out(dtype, &shape)?];
        let payload = self.bytes()?;
        let processed = if self.swarm.payloads_inline() {
            let list = self.file.root.backend_delegate_data.get_or_insert_default();
            let index = u32::try_from(list.len()).unwrap_or(u32::MAX);
            list.push(model::BackendDelegateInlineData { data: Some(payload) });
            model::BackendDelegateDataReference { location: DataLocation::INLINE, index }
        } else {
            let index = self.file.add_segment(payload.into());
            model::BackendDelegateDataReference { location: DataLocation::SEGMENT, index }
        };
        let value = Some(self.bytes()?);
        let specs = vec![model::CompileSpec { key: Some(self.text()?), value }];
        let id = *self.random.choose(&["DemoBackend", "CoreMLBackend", "Other"])?;
        let delegates = self.plan.delegates.get_or_insert_default();
        let delegate_index = i32::try_from(delegates.len()).unwrap_or(i32::MAX);
        delegates.push(model::BackendDelegate {
            id: Some(id.into()),
            processed: Some(processed),
            compile_specs: Some(specs),
        });
        let call = model::DelegateCall { delegate_index, args: Some(args) };
        Ok(model::InstructionArguments::DelegateCall(call))
    }

    fn value(&mut self, value: KernelTypes) -> i32 {
        let values = self.plan.values.get_or_insert_default();
        values.push(EValue { val: Some(value) });
        i32::try_from(values.len() - 1).unwrap_or(i32::MAX)
    }

    fn number(&mut self, int_val: i64) -> i32 {
        self.value(KernelTypes::Int(model::Int { int_val }))
    }

    fn int(&mut self) -> Result<i32> {
        let number = self.random.arbitrary()?;
        Ok(self.number(number))
    }

    fn scalar(&mut self) -> Result<i32> {
        let value = match self.random.int_in_range(0..=4)? {
            0 => KernelTypes::Double(model::Double { double_val: self.random.arbitrary()? }),
            1 => KernelTypes::Bool(model::Bool { bool_val: self.random.arbitrary()? }),
            2 => KernelTypes::DoubleList(model::DoubleList { items: self.some()? }),
            3 => KernelTypes::BoolList(model::BoolList { items: self.some()? }),
            _ => KernelTypes::Int(model::Int { int_val: self.random.arbitrary()? }),
        };
        Ok(self.value(value))
    }

    fn some<T: for<'a> arbitrary::Arbitrary<'a>>(&mut self) -> Result<Option<Vec<T>>> {
        let count = self.random.int_in_range(0..=4)?;
        (0..count).map(|_| self.random.arbitrary()).collect::<Result<_>>().map(Some)
    }

    /// A tensor that has data before it is used.
    fn source(&mut self, dtype: ScalarType, sizes: &[i32]) -> Result<i32> {
        let swarm = self.swarm;
        let place = match self.random.int_in_range(0..=4)? {
            0 if swarm.constants() => Place::Constant,
            1 if swarm.states() => Place::State,
            2 if swarm.external() => Place::External,
            3 if swarm.inputs() => Place::Input,
            _ => Place::Planned,
        };
        self.tensor(place, dtype, sizes.to_vec())
    }

    /// A tensor that may be written to.
    fn out(&mut self, dtype: ScalarType, sizes: &[i32]) -> Result<i32> {
        let index = self.tensor(Place::Planned, dtype, sizes.to_vec())?;
        if self.random.arbitrary()? {
            self.plan.outputs.get_or_insert_default().push(index);
        }
        Ok(index)
    }

    fn tensor(&mut self, place: Place, dtype: ScalarType, sizes: Vec<i32>) -> Result<i32> {
        let bytes = dtype.nbytes(sizes.iter().copied()).unwrap_or_default();
        let rank = u8::try_from(sizes.len()).unwrap_or(u8::MAX);
        let mut dim_order: Vec<u8> = (0..rank).collect();
        // Most kernels want the same order of all their tensors.
        let odd = if self.calls == Calls::Valid { 8 } else { 64 };
        let is_odd = self.is_turned != self.random.ratio(1, odd)?;
        // A graph computes the sizes of its output in the order of dimensions.
        if is_odd && self.calls != (Calls::Graph { is_broken: false }) {
            match self.swarm.trailing() && rank > 2 {
                // Channels last.
                true => dim_order[1..].rotate_left(1),
                false => dim_order.reverse(),
            }
        }
        let mut tensor = Tensor {
            scalar_type: dtype,
            sizes: Some(sizes),
            dim_order: Some(dim_order),
            requires_grad: self.random.ratio(1, 8)?,
            shape_dynamism: match self.swarm.dynamic() && self.random.arbitrary()? {
                true => TensorShapeDynamism::DYNAMIC_BOUND,
                false => TensorShapeDynamism::STATIC,
            },
            ..Tensor::default()
        };
        if matches!(place, Place::Planned | Place::State) {
            let arena = self.random.choose_index(self.arenas.len())?;
            let begin = self.arenas[arena].next_multiple_of(16);
            self.arenas[arena] = begin + bytes;
            tensor.allocation_info = Some(model::AllocationDetails {
                memory_id: u32::try_from(arena).unwrap_or(u32::MAX) + 1,
                memory_offset_low: u32::try_from(begin).unwrap_or(u32::MAX),
                memory_offset_high: 0,
            });
        }
        let unique = self.plan.values.as_ref().map_or(0, Vec::len);
        let len = usize::try_from(bytes).unwrap_or_default();
        let [fill, ..] = match self.calls {
            Calls::Valid => unique.to_le_bytes(),
            // Some kernels crash on certain elements, which rules do not judge.
            _ => [0; 8],
        };
        let data = match self.calls {
            Calls::Tangled(_) if place == Place::Constant => self.contents(dtype, len)?,
            _ => vec![fill; len],
        };
        let name = format!("{}.{unique}", self.plan.name.as_deref().unwrap_or_default());
        match place {
            Place::Constant => {
                tensor.data_buffer_idx = u32::try_from(self.constants.len()).unwrap_or(u32::MAX);
                self.constants.push(data.into());
            }
            Place::State => {
                tensor.data_buffer_idx = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
                self.states.push(data);
            }
            Place::External | Place::Input | Place::Planned => {}
        }
        if place == Place::External || self.swarm.extra() && self.random.arbitrary()? {
            tensor.extra_tensor_info = Some(model::ExtraTensorInfo {
                fully_qualified_name: Some(name),
                location: match place {
                    Place::External => TensorDataLocation::EXTERNAL,
                    _ => TensorDataLocation::SEGMENT,
                },
                ..model::ExtraTensorInfo::default()
            });
        }
        let index = self.value(KernelTypes::Tensor(tensor));
        if place == Place::Input {
            self.plan.inputs.get_or_insert_default().push(index);
        }
        Ok(index)
    }

    fn shape(&mut self) -> Result<Vec<i32>> {
        let most = if self.calls == Calls::One && self.random.ratio(1, 16)? { 9 } else { 4 };
        let rank = self.random.int_in_range(0..=most)?;
        (0..rank).map(|_| self.random.int_in_range(0..=3)).collect()
    }

    fn dtype(&mut self) -> Result<ScalarType> {
        self.random.choose(&DTYPES).copied()
    }

    /// A text without NUL.
    fn text(&mut self) -> Result<String> {
        let len = self.random.int_in_range(0..=12)?;
        let letters = ['a', 'z', '.', ' ', '"', '\\', '\n', 'ä', '→', '\u{1f600}'];
        (0..len).map(|_| self.random.choose(&letters).copied()).collect()
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let len = self.random.int_in_range(1..=40)?;
        (0..len).map(|_| self.random.arbitrary()).collect()
    }

    fn traces(&mut self, count: usize) -> Result<Vec<model::FrameList>> {
        let list = |smith: &mut Self| {
            let frame = model::Frame {
                filename: Some(smith.text()?),
                lineno: smith.random.arbitrary()?,
                name: Some("forward".into()),
                context: None,
            };
            Ok(model::FrameList { items: Some(vec![frame]) })
        };
        (0..count).map(|_| list(self)).collect()
    }

    /// Adds the parts that all methods share, and returns the program.
    fn finish(mut self) -> Result<PteModel<'static>> {
        let swarm = self.swarm;
        if swarm.constants_inline() {
            self.file.root.constant_buffer = Some(vec![model::Buffer::default()]);
        }
        // Without a list of them, today's runtimes look for constants in the old place, and refuse it.
        if self.constants.len() > 1 || self.calls != Calls::Valid {
            let set = self.file.set_constants(self.constants);
            set.unwrap_or_else(|error| panic!("constants in memory: {error}"));
        }
        if self.states.len() > 1 {
            let mut offsets = Vec::new();
            let mut data = Vec::new();
            for state in &self.states {
                offsets.push(data.len() as u64);
                data.extend_from_slice(state);
            }
            let segment_index = self.file.add_segment(data.into());
            let states = model::SubsegmentOffsets { segment_index, offsets: Some(offsets) };
            self.file.root.mutable_data_segments = Some(vec![states]);
        }
        if swarm.named_data() {
            for nth in 0..self.random.int_in_range(0..=3)? {
                let len: u8 = self.random.int_in_range(0..=40)?;
                let data = vec![nth; len.into()];
                self.file.set_data(&format!("key {nth}"), data.into());
            }
        }
        let alignment = [128, 1, 16, 4096][usize::from(swarm.alignment())];
        let force_align = [None, None, Some(32), Some(64)][usize::from(swarm.force_align())];
        let layout = WriterLayout::ALL[usize::from(swarm.layout())];
        self.file.container.layout = WriterLayout { force_align, ..layout };
        self.file.align(alignment);
        if let Some(header) = &mut self.file.container.header {
            let (length, chunk) =
                [(32, 32), (24, 32), (40, 48), (32, 64)][usize::from(swarm.header())];
            *header = HeaderForm::Inserted { length, chunk };
        }
        // The runtime asks for 64 bytes before anything else; a writer adds what is missing.
        if swarm.trailing() {
            self.file.container.trailing = Blob::from(vec![7; 5]);
        }
        Ok(self.file)
    }
}

/// A `.ptd` that `check` passes.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn data(random: &mut Unstructured<'_>) -> Result<PtdModel<'static>> {
    let mut file: PtdModel<'static> = PtdModel::empty();
    for nth in 0..random.int_in_range(0..=4)? {
        let key = format!("key {nth}");
        let rank = random.int_in_range(0..=3)?;
        let sizes = (0..rank).map(|_| random.int_in_range(0..=3)).collect::<Result<Vec<i32>>>()?;
        let dim_order = (0..u8::try_from(sizes.len()).unwrap_or(u8::MAX)).collect();
        let scalar_type = ScalarType::FLOAT;
        let bytes = scalar_type.nbytes(sizes.iter().copied()).unwrap_or_default();
        let tensor_layout = match random.arbitrary()? {
            true => {
                Some(TensorLayout { scalar_type, sizes: Some(sizes), dim_order: Some(dim_order) })
            }
            false => None,
        };
        let bytes = vec![nth; usize::try_from(bytes).unwrap_or_default()];
        let segment_index = file.add_segment(bytes.into());
        let named = NamedData { key: Some(key), segment_index, tensor_layout };
        file.root.named_data.get_or_insert_default().push(named);
    }
    Ok(file)
}
