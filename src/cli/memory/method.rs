//! Facts about a method that all formats show.

use core::cmp::Reverse;

use pte::memory::{
    Budget, Limited, LiveRange, Memory, MethodDocument, PlannedArena, PlannedTensor, Pools,
};
use pte::quoted::{Untrusted, UntrustedString};

use crate::input::{Input, Readable};
use crate::problem::Problem;
use crate::text;

/// A method to show.
pub(super) struct Method<'m, 'a> {
    pub(super) input: &'m Input,
    pub(super) memory: &'m Memory<'a>,
    pub(super) pools: &'m [Pools],
    pub(super) budgets: &'m [Budget],
    /// The most bytes that a delegate of the method needs at each run; 0 if no payload states it.
    pub(super) scratch: u64,
}

impl<'a> Method<'_, 'a> {
    /// Returns by how many bytes `needed` exceeds the smallest budget of `limited`.
    pub(super) fn over(&self, limited: Limited, needed: u64) -> Option<u64> {
        Budget::over(self.budgets, limited, needed)
    }

    /// Returns the method as a part of a document.
    pub(super) fn document(&self) -> MethodDocument<'_, 'a> {
        let document = MethodDocument::new(self.memory, self.scratch);
        document.with_pools(self.pools).with_budgets(self.budgets)
    }

    /// Returns the fully qualified name of a value, and charges it to the limits.
    pub(super) fn name(&self, value: u32) -> Result<Option<Untrusted<'a>>, Problem> {
        let name = self.memory.tensor_name(value);
        self.input.name_again(name)?;
        Ok(name.map(Untrusted::from))
    }

    /// Returns a value in words, such as `value 7 cache float32[2, 8]`.
    pub(super) fn title(&self, value: u32) -> Result<String, Problem> {
        let mut title = format!("value {value}");
        if let Some(name) = self.name(value)? {
            title.push_str(&format!(" {}", text::name(name)));
        }
        if let Some(tensor) = self.memory.tensor(value) {
            let sizes = tensor.sizes().into_iter().flatten();
            title.push_str(&format!(" {}", text::shape(tensor.scalar_type(), sizes)));
        }
        Ok(title)
    }

    /// Returns the name of an instruction: its operator, its backend, or its kind.
    pub(super) fn does(&self, pc: u32) -> Result<UntrustedString, Problem> {
        let name = self.memory.operation_name(pc);
        self.input.name_again(Some(name.raw()))?;
        Ok(name)
    }

    /// Returns the place of an instruction: its index, preceded by its chain if there are several.
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

    /// Returns the non-empty tensors that are live at the peak of an arena, the largest first, and
    /// equal ones by offset.
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

/// Returns the device of an arena; `None` for the host.
pub(super) fn device(arena: &PlannedArena<'_>) -> Option<(String, i8)> {
    let device = arena.device?;
    Some((device.device_type().to_string(), device.device_index()))
}
