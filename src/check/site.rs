//! The places that rules judge: a method of a program, and paths into it. A path is built only for
//! a finding.

use alloc::string::String;
use alloc::vec::Vec;

use super::constants::Constants;
use super::report::Findings;
use super::rule::Rule;
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::method::Instruction;
use pte_core::operators::Scalar;
use pte_core::operators::contracts::ElementBounds;
use pte_core::{PathComponent, Pte, tensor_at, value_at};
use pte_flat::bytes::{index as at_index, narrow};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::view::{Raw, Table, Vector};
use pte_schema::program::TensorDataLocation;
use pte_schema::program::view::{EValue, ExecutionPlan, KernelTypes, Tensor};

/// A method of a program, with the facts that most rules use.
pub(super) struct Plan<'p, 'a> {
    pub(super) pte: &'p Pte<'a>,
    /// The index of the method.
    pub(super) nth: u32,
    /// The constants that were read; `None` for rules that do not use them.
    constants: Option<&'p Constants>,
    pub(super) view: ExecutionPlan<'a>,
    /// The number of values of the method.
    pub(super) len: usize,
    /// The sizes of the method's arenas.
    pub(super) arenas: Option<Vector<'a, i64>>,
}

impl<'p, 'a> Plan<'p, 'a> {
    pub(super) fn new(pte: &'p Pte<'a>, nth: u32, view: ExecutionPlan<'a>) -> Self {
        let len = view.values().map_or(0, |values| values.len());
        Self { pte, nth, constants: None, view, len, arenas: view.non_const_buffer_sizes() }
    }

    /// Sets the constants that were read.
    pub(super) fn with_constants(self, constants: &'p Constants) -> Self {
        Self { constants: Some(constants), ..self }
    }

    /// Returns the first element of the constant at `value`, if a call of `_local_scalar_dense` reads it.
    pub(super) fn constant_scalar(&self, value: u32) -> Option<Scalar> {
        self.constants?.scalar(self.nth, value)
    }

    /// Returns the range of the elements of the constant at `value`, if the elements were read.
    pub(super) fn constant_elements(&self, value: u32) -> Option<ElementBounds> {
        self.constants?.elements(self.nth, value)
    }

    /// Returns the value at `index`; `None` if it does not exist or is empty.
    pub(super) fn value(&self, index: i64) -> Option<KernelTypes<'a>> {
        value_at(self.view, index)
    }

    /// Returns the tensor at `index`; `None` if the value is another or does not exist.
    pub(super) fn tensor(&self, index: i64) -> Option<Tensor<'a>> {
        tensor_at(self.view, index)
    }

    /// Returns the upstream name of the kind of the value at `index`.
    pub(super) fn kind_name(&self, index: i32) -> Option<&'static str> {
        self.value(index.into()).and_then(KernelTypes::name)
    }

    /// Returns the table of the value at `index`, or the table of the method if there is no such
    /// value.
    pub(crate) fn raw(&self, index: u32) -> Raw<'a> {
        let values = self.view.values();
        let value = values.and_then(|values| values.get(at_index(index)));
        value.map_or_else(|| self.view.raw(), EValue::raw)
    }

    /// Returns whether `index` is the index of a value.
    #[inline]
    pub(super) fn has(&self, index: i32) -> bool {
        // As an unsigned number, a negative index is past the end: a list has less than 2^29
        // elements.
        index.cast_unsigned() < narrow(self.len)
    }

    /// Returns a list with `initial` for each value.
    pub(super) fn each<T: Clone>(&self, initial: T) -> Vec<T> {
        cost::charge(self.len);
        vec![initial; self.len]
    }

    /// Returns every value with its index.
    pub(super) fn values(&self) -> impl Iterator<Item = (u32, EValue<'a>)> {
        (0..).zip(self.view.values().into_iter().flatten())
    }

    /// Returns the path to a place in this method. It is compiled once, as are the next ones: hundreds of findings
    /// have one.
    #[cold]
    #[inline(never)]
    pub(super) fn path(&self, relative: &[PathComponent]) -> Vec<PathComponent> {
        let mut path = path!["program", "execution_plan", self.nth].to_vec();
        path.extend_from_slice(relative);
        path
    }

    /// Reports a finding at `table`; `relative` is the path from this method.
    pub(super) fn find(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        table: Raw<'_>,
        relative: &[PathComponent],
        message: impl FnOnce() -> String,
    ) {
        out.find(rule, table.pos().into(), || self.path(relative), message);
    }

    /// Reports a finding in the value at `index`; `relative` is the path from the value.
    pub(super) fn find_value(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        table: Raw<'_>,
        index: u32,
        relative: &[PathComponent],
        message: impl FnOnce() -> String,
    ) {
        out.find(rule, table.pos().into(), || self.value_path(index, relative), message);
    }

    #[cold]
    #[inline(never)]
    fn value_path(&self, index: u32, relative: &[PathComponent]) -> Vec<PathComponent> {
        let mut path = self.path(&path!["values", index, "val"]);
        path.extend(
            self.value(index.into()).and_then(KernelTypes::name).map(PathComponent::Variant),
        );
        path.extend_from_slice(relative);
        path
    }

    /// Reports a finding in the operation of an instruction. If the instruction is empty or of an
    /// unknown kind, the finding is in the instruction itself. `relative` is the path from there.
    pub(super) fn find_instruction(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        instruction: &Instruction<'_>,
        relative: &[PathComponent],
        message: impl FnOnce() -> String,
    ) {
        let path = || self.operation_path(instruction, relative);
        out.find(rule, instruction.operation_pos().into(), path, message);
    }

    #[cold]
    #[inline(never)]
    fn operation_path(
        &self,
        instruction: &Instruction<'_>,
        relative: &[PathComponent],
    ) -> Vec<PathComponent> {
        let mut path = self.instruction_path(instruction);
        if let Some(name) = instruction.name() {
            path.extend([PathComponent::Field("instr_args"), PathComponent::Variant(name)]);
        }
        path.extend_from_slice(relative);
        path
    }

    /// Reports a finding in an instruction as a whole.
    pub(super) fn find_bare_instruction(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        instruction: &Instruction<'_>,
        message: impl FnOnce() -> String,
    ) {
        let path = || self.instruction_path(instruction);
        out.find(rule, instruction.pos().into(), path, message);
    }

    #[cold]
    #[inline(never)]
    fn instruction_path(&self, instruction: &Instruction<'_>) -> Vec<PathComponent> {
        self.path(&path!["chains", instruction.chain(), "instructions", instruction.index()])
    }
}

/// Returns the key of a tensor, if its data is external and it has a name.
pub(super) fn external_key(tensor: Tensor<'_>) -> Option<&str> {
    let extra = tensor.extra_tensor_info()?;
    match extra.location() {
        TensorDataLocation::EXTERNAL => extra.fully_qualified_name(),
        _ => None,
    }
}

/// Returns the size of a tensor in bytes. `None` if its shape is wrong, which other rules report.
pub(super) fn nbytes(tensor: Tensor<'_>) -> Option<u64> {
    let sizes = tensor.sizes().filter(|sizes| sizes.len() <= MOST_DIMENSIONS)?;
    tensor.scalar_type().nbytes(sizes)
}
