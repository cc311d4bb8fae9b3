//! Facts about a method that all formats show.

use core::cmp::Reverse;

use pte::memory::{LiveRange, Memory, PlannedArena, PlannedTensor, TensorRole};
use pte::operator_name;
use pte::quoted::{Untrusted, UntrustedString};
use pte::schema::program::view::{self, InstructionArguments, KernelTypes};

use super::Budget;
use crate::cli::input::Input;
use crate::cli::problem::Problem;
use crate::cli::text;

/// A method to show.
pub(in super::super) struct Method<'m, 'a> {
    pub(in super::super) input: &'m Input,
    pub(in super::super) memory: &'m Memory<'a>,
    pub(in super::super) budgets: &'m [Budget],
    /// The most bytes that a delegate of the method asks for at each run; 0 where no payload says it.
    pub(in super::super) scratch: u64,
}

impl<'a> Method<'_, 'a> {
    /// Returns by how many bytes `needed` exceeds the smallest budget of an arena, or of all arenas
    /// together.
    pub(super) fn over(&self, arena: Option<u32>, needed: u64) -> Option<u64> {
        let of = self.budgets.iter().filter(|budget| budget.arena == arena);
        let least = of.map(|budget| budget.bytes).min()?;
        needed.checked_sub(least).filter(|&over| over > 0)
    }

    /// Returns the tensor of a value.
    pub(super) fn view(&self, value: u32) -> Option<view::Tensor<'a>> {
        let nth = usize::try_from(value).ok()?;
        match self.memory.plan().values()?.get(nth)?.val()? {
            KernelTypes::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Returns the fully qualified name of a value, and counts it against the limits.
    pub(super) fn name(&self, value: u32) -> Result<Option<Untrusted<'a>>, Problem> {
        let name = self.name_unpaid(value);
        self.input.name_again(name.map(Untrusted::raw))?;
        Ok(name)
    }

    /// Returns the fully qualified name of a value whose name was counted before.
    pub(super) fn name_unpaid(&self, value: u32) -> Option<Untrusted<'a>> {
        let extra = self.view(value)?.extra_tensor_info()?;
        extra.fully_qualified_name().filter(|name| !name.is_empty()).map(Into::into)
    }

    /// Returns a value in words, such as `value 7 cache float32[2, 8]`.
    pub(super) fn title(&self, value: u32) -> Result<String, Problem> {
        let mut title = format!("value {value}");
        if let Some(name) = self.name(value)? {
            title.push_str(&format!(" {}", text::name(name)));
        }
        if let Some(tensor) = self.view(value) {
            let sizes = tensor.sizes().into_iter().flatten();
            title.push_str(&format!(" {}", text::shape(tensor.scalar_type(), sizes)));
        }
        Ok(title)
    }

    /// Returns the name of an instruction: its operator, its backend, or its kind.
    pub(super) fn does(&self, pc: u32) -> Result<UntrustedString, Problem> {
        let plan = self.memory.plan();
        let name = match self.memory.instruction(pc) {
            Some(InstructionArguments::KernelCall(call)) => {
                let index = call.op_index();
                let all = plan.operators().zip(usize::try_from(index).ok());
                let operator = all.and_then(|(all, nth)| all.get(nth));
                operator.map_or_else(|| format!("no operator {index}").into(), operator_name)
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                let index = call.delegate_index();
                let all = plan.delegates().zip(usize::try_from(index).ok());
                let id = all.and_then(|(all, nth)| all.get(nth)?.id());
                format!("delegate {index} {}", id.unwrap_or_default()).into()
            }
            Some(InstructionArguments::MoveCall(_)) => "move".into(),
            Some(InstructionArguments::FreeCall(_)) => "free".into(),
            Some(InstructionArguments::JumpFalseCall(_)) => "jump".into(),
            _ => "unknown".into(),
        };
        self.input.name_again(Some(name.raw()))?;
        Ok(name)
    }

    /// Returns the place of an instruction: its index, with its chain if there are several.
    pub(super) fn place(&self, pc: u32) -> String {
        let (chain, nth) = self.memory.place(pc);
        match self.memory.plan().chains().map_or(0, |chains| chains.len()) {
            0 | 1 => nth.to_string(),
            _ => format!("{chain}:{nth}"),
        }
    }

    /// Returns a live range in words.
    pub(super) fn live_range(&self, range: Option<LiveRange>) -> String {
        let Some(LiveRange { first_use: first, last_use: last }) = range else {
            return "never used".into();
        };
        let (first, last) = (first.map(|at| self.place(at)), last.map(|at| self.place(at)));
        match (first, last) {
            (None, None) => "throughout".into(),
            (first, last) => format!(
                "{}–{}",
                first.as_deref().unwrap_or("start"),
                last.as_deref().unwrap_or("end")
            ),
        }
    }

    /// Returns the tensors that are live at the peak of an arena and not empty, the largest first, then by
    /// offset.
    pub(super) fn at_peak(&self, arena: &PlannedArena<'_>) -> Vec<&PlannedTensor> {
        if arena.peak == 0 {
            return Vec::new();
        }
        let (pc, instructions) = (arena.peak_pc.unwrap_or(0), self.memory.instruction_count());
        let tensors = self.memory.tensors(arena).iter();
        let mut live: Vec<_> =
            tensors.filter(|of| of.is_live_at(pc, instructions) && of.bytes > Some(0)).collect();
        live.sort_by_key(|tensor| Reverse(tensor.bytes));
        live
    }
}

/// Returns the role of a tensor, as the JSON names it.
pub(super) fn role(tensor: &PlannedTensor) -> &'static str {
    match tensor.role {
        TensorRole::Input => "input",
        TensorRole::Output => "output",
        TensorRole::State => "state",
        _ => "scratch",
    }
}

/// Returns the device of an arena that is not on the host.
pub(super) fn device(arena: &PlannedArena<'_>) -> Option<(String, i8)> {
    let device = arena.device?;
    Some((device.device_type().to_string(), device.device_index()))
}
