//! Where a rule looks: a plan of a program, and paths into it that are only built for findings.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Findings, Rule};
use crate::Pte;
use crate::bytes::{index as at_index, narrow};
use crate::cost;
use crate::error::PathComponent;
use crate::flat::view::{Raw, Table, Vector};
use crate::schema::program::view::{EValue, ExecutionPlan, KernelTypes};

/// A plan with what every rule asks of it.
pub(super) struct Plan<'p, 'a> {
    pub(super) pte: &'p Pte<'a>,
    pub(super) nth: u32,
    pub(super) view: ExecutionPlan<'a>,
    /// Values of the plan.
    pub(super) len: usize,
    /// The sizes of its arenas.
    pub(super) arenas: Option<Vector<'a, i64>>,
}

impl<'p, 'a> Plan<'p, 'a> {
    pub(super) fn new(pte: &'p Pte<'a>, nth: u32, view: ExecutionPlan<'a>) -> Self {
        let len = view.values().map_or(0, |values| values.len());
        Self { pte, nth, view, len, arenas: view.non_const_buffer_sizes() }
    }

    /// The value of that index; `None` where there is none, or nothing in it.
    pub(super) fn value(&self, index: i64) -> Option<KernelTypes<'a>> {
        let index = usize::try_from(index).ok()?;
        self.view.values()?.get(index)?.val()
    }

    /// The table of the value of that index, which is one of the plan's.
    pub(super) fn raw(&self, index: u32) -> Raw<'a> {
        let values = self.view.values();
        let value = values.and_then(|values| values.get(at_index(index)));
        value.map_or_else(|| self.view.raw(), EValue::raw)
    }

    /// Whether there is a value of that index.
    #[inline]
    pub(super) fn has(&self, index: i32) -> bool {
        // A negative one is past every list, which has less than 2^29 elements.
        index.cast_unsigned() < narrow(self.len)
    }

    /// `of` for each value.
    pub(super) fn each<T: Clone>(&self, of: T) -> Vec<T> {
        cost::charge(self.len);
        vec![of; self.len]
    }

    /// Every value with its index.
    pub(super) fn values(&self) -> impl Iterator<Item = (u32, EValue<'a>)> {
        (0..).zip(self.view.values().into_iter().flatten())
    }

    /// The path to a place in this plan.
    pub(super) fn path(&self, steps: &[PathComponent]) -> Vec<PathComponent> {
        let mut path = vec![
            PathComponent::Field("program"),
            PathComponent::Field("execution_plan"),
            PathComponent::Index(self.nth),
        ];
        path.extend_from_slice(steps);
        path
    }

    /// Reports a finding at `table`, `steps` into this plan.
    pub(super) fn find(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        table: Raw<'_>,
        steps: &[PathComponent],
        message: impl FnOnce() -> String,
    ) {
        out.find(rule, table.pos().into(), || self.path(steps), message);
    }

    /// Reports a finding in the value of that index.
    pub(super) fn find_value(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        table: Raw<'_>,
        index: u32,
        steps: &[PathComponent],
        message: impl FnOnce() -> String,
    ) {
        let member = self.value(index.into()).and_then(KernelTypes::name);
        let path = || {
            let mut path = self.path(&[
                PathComponent::Field("values"),
                PathComponent::Index(index),
                PathComponent::Field("val"),
            ]);
            path.extend(member.map(PathComponent::Variant));
            path.extend_from_slice(steps);
            path
        };
        out.find(rule, table.pos().into(), path, message);
    }
}
