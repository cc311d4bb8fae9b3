//! Calls whose arguments share memory, values or sizes: what a kernel has checked may change under it.
//!
//! A sound call of any operator (`recipes.rs`) is changed in a few places: outputs are planned over inputs,
//! are inputs, are smaller than their bound by then; indices hold anything; numbers come from other calls.

use arbitrary::Result;
use pte::schema::program::TensorShapeDynamism;
use pte::schema::program::model::{
    self, AllocationDetails, InstructionArguments, KernelTypes, Tensor,
};
use pte::schema::scalar::ScalarType;

use super::calls::operators;
use super::{Place, Smith};

/// Changes of one call.
const MOST_CHANGES: usize = 3;

impl Smith<'_, '_> {
    /// Returns a call of operator `only`, or of a random one, with arguments that alias each other, and the
    /// instructions that prepare them.
    pub(super) fn tangled(&mut self, only: Option<usize>) -> Result<Vec<InstructionArguments>> {
        let nth = match only {
            Some(nth) => nth,
            None => self.random.choose_index(operators().len())?,
        };
        let wrong = *self.random.choose(&[0, 0, 0, 1, 2])?;
        let InstructionArguments::KernelCall(mut call) = self.near_sound(nth, wrong)? else {
            return Ok(Vec::new());
        };
        let letters = operators()[nth].letters.as_bytes();
        let mut args = call.args.take().unwrap_or_default();
        let mut before = Vec::new();
        for _ in 0..self.random.int_in_range(1..=MOST_CHANGES)? {
            self.tangle(letters, &mut args, &mut before)?;
        }
        call.args = Some(args);
        before.push(InstructionArguments::KernelCall(call));
        if self.random.ratio(1, 6)? {
            let cond_value_index = self.condition(&mut before)?;
            let jump = model::JumpFalseCall { cond_value_index, destination_instruction: 0 };
            before.push(InstructionArguments::JumpFalseCall(jump));
        }
        Ok(before)
    }

    fn tangle(
        &mut self,
        letters: &[u8],
        args: &mut [i32],
        before: &mut Vec<InstructionArguments>,
    ) -> Result<()> {
        let tensors = self.tensors(args);
        match self.random.int_in_range(0..=11)? {
            // One tensor is planned over another one.
            0..=2 if tensors.len() > 1 => {
                let (one, other) = (*self.random.choose(&tensors)?, *self.random.choose(&tensors)?);
                self.plan_over(one, other)?;
            }
            // One argument is another one.
            3 if tensors.len() > 1 => {
                let (one, other) = (*self.random.choose(&tensors)?, *self.random.choose(&tensors)?);
                replace(args, one, other);
                self.replace_item(one, other);
            }
            // An output is smaller than its bound by then.
            4 | 5 => {
                let written = letters.iter().position(|&letter| letter == b'w');
                if let Some(&out) = written.and_then(|at| args.get(at)) {
                    let call = self.shrink(out)?;
                    before.extend(call);
                }
            }
            // An input has contents by then.
            6 if !tensors.is_empty() => {
                let to = *self.random.choose(&tensors)?;
                let call = self.fill(to)?;
                before.extend(call);
            }
            // An argument is a view of memory that is planned.
            7 if !tensors.is_empty() => {
                let base = *self.random.choose(&tensors)?;
                if let Some((call, view)) = self.view(base)? {
                    before.push(call);
                    replace(args, base, view);
                }
            }
            // A number is the result of another call.
            8 | 9 => {
                let numbers: Vec<i32> =
                    args.iter().copied().filter(|&arg| self.is_number(arg)).collect();
                if !numbers.is_empty() {
                    let number = *self.random.choose(&numbers)?;
                    let call = self.compute(number)?;
                    before.push(call);
                }
            }
            // Something is moved.
            10 if !args.is_empty() => {
                let (move_from, move_to) = (*self.random.choose(args)?, *self.random.choose(args)?);
                let call = model::MoveCall { move_from, move_to };
                before.push(InstructionArguments::MoveCall(call));
            }
            // A number is another one.
            _ => {
                let numbers: Vec<usize> =
                    (0..args.len()).filter(|&nth| self.is_number(args[nth])).collect();
                if !numbers.is_empty() {
                    let at = *self.random.choose(&numbers)?;
                    args[at] = self.little_number()?;
                }
            }
        }
        Ok(())
    }

    fn value_at(&self, index: i32) -> Option<&KernelTypes> {
        self.plan.values.as_ref()?.get(usize::try_from(index).ok()?)?.val.as_ref()
    }

    fn tensor_at(&mut self, index: i32) -> Option<&mut Tensor> {
        let value = self.plan.values.as_mut()?.get_mut(usize::try_from(index).ok()?)?;
        match value.val.as_mut()? {
            KernelTypes::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    fn is_number(&self, index: i32) -> bool {
        matches!(
            self.value_at(index),
            Some(KernelTypes::Int(_) | KernelTypes::Double(_) | KernelTypes::Bool(_))
        )
    }

    /// The tensors among arguments, those of lists included.
    fn tensors(&self, args: &[i32]) -> Vec<i32> {
        let mut found = Vec::new();
        for &arg in args {
            let items = match self.value_at(arg) {
                Some(KernelTypes::Tensor(_)) => vec![arg],
                Some(KernelTypes::TensorList(list)) => list.items.clone().unwrap_or_default(),
                Some(KernelTypes::OptionalTensorList(list)) => {
                    list.items.clone().unwrap_or_default()
                }
                _ => Vec::new(),
            };
            found.extend(items.into_iter().filter(|&item| item >= 0));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Puts one tensor in the place of another one in all lists.
    fn replace_item(&mut self, one: i32, other: i32) {
        for value in self.plan.values.iter_mut().flatten() {
            match &mut value.val {
                Some(KernelTypes::TensorList(list)) => {
                    replace(list.items.get_or_insert_default(), one, other);
                }
                Some(KernelTypes::OptionalTensorList(list)) => {
                    replace(list.items.get_or_insert_default(), one, other);
                }
                _ => {}
            }
        }
    }

    /// Plans `one` to share bytes with `other`, from a random byte on.
    fn plan_over(&mut self, one: i32, other: i32) -> Result<()> {
        let steps = [0, 0, 8, 16, 1, 4, 24, 64];
        let step = *self.random.choose(&steps)?;
        let Some(place) = self.tensor_at(other).and_then(|other| other.allocation_info.clone())
        else {
            return Ok(());
        };
        let Some(tensor) = self.tensor_at(one) else { return Ok(()) };
        if tensor.allocation_info.is_none() {
            return Ok(());
        }
        let bytes = nbytes(tensor);
        let begin = place.memory_offset_low.saturating_add(step);
        tensor.allocation_info =
            Some(AllocationDetails { memory_offset_low: begin, ..place.clone() });
        self.reserve(&place, u64::from(begin) + bytes);
        Ok(())
    }

    /// Makes the arena of `place` at least that large.
    fn reserve(&mut self, place: &AllocationDetails, end: u64) {
        let arena = usize::try_from(place.memory_id).ok().and_then(|id| id.checked_sub(1));
        if let Some(size) = arena.and_then(|arena| self.arenas.get_mut(arena)) {
            *size = end.max(*size);
        }
    }

    /// Gives an output a larger bound than it needs, and writes something small to it first.
    fn shrink(&mut self, out: i32) -> Result<Option<InstructionArguments>> {
        let factor = *self.random.choose(&[2, 4, 16, 100])?;
        let Some(tensor) = self.tensor_at(out) else { return Ok(None) };
        let (dtype, sizes) = (tensor.scalar_type, tensor.sizes.clone().unwrap_or_default());
        tensor.shape_dynamism = TensorShapeDynamism::DYNAMIC_BOUND;
        for size in tensor.sizes.iter_mut().flatten() {
            *size = size.saturating_mul(factor).min(1 << 12);
        }
        let bytes = nbytes(tensor);
        if bytes > 1 << 22 {
            tensor.sizes = Some(sizes.clone());
        }
        let bytes = nbytes(tensor);
        if let Some(place) = tensor.allocation_info.clone() {
            // At the end of its arena: what is written past it is seen.
            let arena = usize::try_from(place.memory_id).ok().and_then(|id| id.checked_sub(1));
            let end = arena.and_then(|arena| self.arenas.get(arena).copied()).unwrap_or_default();
            let begin = end.next_multiple_of(16);
            let low = u32::try_from(begin).unwrap_or(u32::MAX);
            if let Some(tensor) = self.tensor_at(out) {
                tensor.allocation_info =
                    Some(AllocationDetails { memory_offset_low: low, ..place.clone() });
            }
            self.reserve(&place, begin + bytes);
        }
        if self.random.ratio(1, 4)? {
            return Ok(None);
        }
        let from = self.tensor(Place::Constant, dtype, sizes)?;
        Ok(Some(self.clone_to(from, out)))
    }

    /// Writes a constant with any contents to a tensor.
    fn fill(&mut self, to: i32) -> Result<Option<InstructionArguments>> {
        let Some(tensor) = self.tensor_at(to) else { return Ok(None) };
        let (dtype, sizes) = (tensor.scalar_type, tensor.sizes.clone().unwrap_or_default());
        let from = self.tensor(Place::Constant, dtype, sizes)?;
        Ok(Some(self.clone_to(from, to)))
    }

    fn clone_to(&mut self, from: i32, to: i32) -> InstructionArguments {
        let none = self.value(KernelTypes::Null(model::Null {}));
        self.call("aten::clone", "out", vec![from, none, to, to])
    }

    /// Makes a view of a tensor, with other sizes.
    fn view(&mut self, base: i32) -> Result<Option<(InstructionArguments, i32)>> {
        let Some(tensor) = self.tensor_at(base) else { return Ok(None) };
        let mut view = tensor.clone();
        view.allocation_info = None;
        view.data_buffer_idx = 0;
        view.extra_tensor_info = None;
        let sizes = view.sizes.clone().unwrap_or_default();
        let items = sizes.into_iter().map(|size| i64::from(self.number(size.into()))).collect();
        let list = self.value(KernelTypes::IntList(model::IntList { items: Some(items) }));
        let view = self.value(KernelTypes::Tensor(view));
        let call = self.call("executorch_prim::et_view", "default", vec![base, list, view]);
        Ok(Some((call, view)))
    }

    /// A call that puts its result in the place of a number.
    fn compute(&mut self, number: i32) -> Result<InstructionArguments> {
        let int = |smith: &mut Self| smith.little_number();
        Ok(match self.random.int_in_range(0..=5)? {
            0 | 1 => {
                let dtype = *self.random.choose(&[
                    ScalarType::LONG,
                    ScalarType::INT,
                    ScalarType::FLOAT,
                    ScalarType::DOUBLE,
                    ScalarType::BOOL,
                ])?;
                let given = self.tensor(Place::Constant, dtype, Vec::new())?;
                self.call("aten::_local_scalar_dense", "", vec![given, number])
            }
            2 => {
                let given = self.source(ScalarType::FLOAT, &[4, 3])?;
                let dim = match self.random.arbitrary()? {
                    true => number,
                    false => int(self)?,
                };
                self.call("aten::sym_size", "int", vec![given, dim, number])
            }
            3 => {
                let (one, other) = (int(self)?, int(self)?);
                let name = *self.random.choose(&["eq", "ge", "gt", "le", "lt"])?;
                let full = format!("executorch_prim::{name}");
                self.call(&full, "Scalar", vec![one, other, number])
            }
            kind => {
                let one = match self.random.arbitrary()? {
                    true => number,
                    false => int(self)?,
                };
                let other = int(self)?;
                let name = match kind {
                    4 => *self.random.choose(&["add", "sub", "mul"])?,
                    _ => *self.random.choose(&["floordiv", "truediv"])?,
                };
                let full = format!("executorch_prim::{name}");
                self.call(&full, "Scalar", vec![one, other, number])
            }
        })
    }

    fn little_number(&mut self) -> Result<i32> {
        let value = self.random.int_in_range(-9..=9)?;
        Ok(self.number(value))
    }

    /// A condition that the program computes, or one in the file.
    fn condition(&mut self, before: &mut Vec<InstructionArguments>) -> Result<i32> {
        let bool_val = self.random.ratio(3, 4)?;
        let flag = self.value(KernelTypes::Bool(model::Bool { bool_val }));
        if self.random.arbitrary()? {
            let count = self.number(0);
            let (one, most) = (self.number(1), self.number(3));
            let call = self.call("executorch_prim::add", "Scalar", vec![count, one, count]);
            before.push(call);
            let call = self.call("executorch_prim::ge", "Scalar", vec![count, most, flag]);
            before.push(call);
        }
        Ok(flag)
    }

    /// Returns the elements of a constant: indices in range and out of range, and extreme numbers.
    pub(super) fn contents(&mut self, dtype: ScalarType, bytes: usize) -> Result<Vec<u8>> {
        let width = usize::try_from(dtype.element_size().unwrap_or(1)).unwrap_or(1).max(1);
        let extremes: [i64; 9] = [0, 0, 1, 1, 2, -1, 1 << 20, i64::MIN, i64::MAX];
        let floats = [0.0, 1.0, 0.5, -1.0, f64::NAN, f64::INFINITY, 1e30];
        let is_even = self.random.ratio(1, 2)?;
        let first = *self.random.choose(&extremes)?;
        let mut data = Vec::with_capacity(bytes);
        while data.len() < bytes {
            let element: [u8; 8] = match dtype {
                ScalarType::FLOAT => {
                    let mut element = [0; 8];
                    let value = *self.random.choose(&floats)? as f32;
                    element[..4].copy_from_slice(&value.to_le_bytes());
                    element
                }
                ScalarType::DOUBLE => self.random.choose(&floats)?.to_le_bytes(),
                ScalarType::BOOL => self.random.int_in_range(0..=1u64)?.to_le_bytes(),
                _ if is_even => first.to_le_bytes(),
                _ if data.len() > 256 => 0u64.to_le_bytes(),
                _ => self.random.choose(&extremes)?.to_le_bytes(),
            };
            data.extend_from_slice(&element[..width.min(8)]);
        }
        data.truncate(bytes);
        Ok(data)
    }
}

fn nbytes(tensor: &Tensor) -> u64 {
    let sizes = tensor.sizes.iter().flatten().copied();
    tensor.scalar_type.nbytes(sizes).unwrap_or_default()
}

fn replace(args: &mut [i32], one: i32, other: i32) {
    args.iter_mut().filter(|arg| **arg == one).for_each(|arg| *arg = other);
}
