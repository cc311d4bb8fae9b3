//! Methods: instructions, calls of operators and of delegates, and stack traces.

use arbitrary::Result;
use pte::schema::program::model::{self, KernelTypes};
use pte::schema::program::{DataLocation, DeviceType};
use pte::schema::scalar::ScalarType;

use super::{Calls, Place, Smith};

impl Smith<'_, '_> {
    pub(super) fn method(&mut self, nth: u8) -> Result<model::ExecutionPlan> {
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

    pub(super) fn call(
        &mut self,
        name: &str,
        overload: &str,
        args: Vec<i32>,
    ) -> model::InstructionArguments {
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
        let id = *self.random.choose(&["DemoBackend", "NeuropilotBackend", "Other"])?;
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
}
