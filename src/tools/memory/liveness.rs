//! Liveness analysis: the first and the last use of each value, in one pass over the instructions.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::loops::Loops;
use pte_core::Pte;
use pte_core::method::{self, Access, Definitions, Effects, MethodControlFlow};
use pte_flat::bytes::{index as at, narrow};
use pte_flat::cost;
use pte_flat::view::Vector;
use pte_schema::program::view::ExecutionPlan;

/// The uses of one tensor.
///
/// A move puts another tensor under a value index, so an index may stand for several tensors in
/// turn. In the list of all tensors, those of the file come first, by index.
#[derive(Clone, Copy, Default)]
pub(super) struct ValueUses {
    /// The pc of the first use, or [`NEVER`].
    pub(super) first_use: u32,
    /// The pc of the last use, or [`END`].
    pub(super) last_use: u32,
    /// Whether the first use reads the tensor.
    pub(super) is_read: bool,
    /// Whether an iteration of a loop may pass the tensor's contents to the next iteration.
    pub(super) is_carried: bool,
    /// Whether the tensor has its own contents: an instruction writes it, or reads it before it is
    /// an alias.
    pub(super) has_contents: bool,
    /// Whether an instruction makes the tensor an alias of another tensor.
    pub(super) is_alias: bool,
}

impl ValueUses {
    /// Returns whether the tensor is never more than an alias of other tensors.
    pub(super) fn is_view(self) -> bool {
        self.is_alias && !self.has_contents
    }
}

/// The `first_use` of a tensor without uses.
pub(super) const NEVER: u32 = u32::MAX;

/// The pc past all instructions, where the caller reads the outputs.
pub(super) const END: u32 = u32::MAX - 1;

/// The uses of all tensors of a method.
pub(super) struct Liveness<'a> {
    plan: ExecutionPlan<'a>,
    uses: Vec<ValueUses>,
    /// The current tensor of each index whose tensor was replaced.
    current: BTreeMap<u32, u32>,
    /// For each index in `current`, a node in `edges`. Every tensor that was ever at the index
    /// leads to this node.
    ever: BTreeMap<u32, u32>,
    /// Edges from a tensor to its aliases: a use of the alias is a use of the tensor.
    edges: Vec<(u32, u32)>,
    /// Each replacement of the tensor of an index: the index, and the new tensor.
    replaced: Vec<(u32, u32)>,
    /// The merged uses of all tensors of an index, by the index. Only indices that have no memory of
    /// their own (views) and whose tensor was replaced are in it.
    views: BTreeMap<u32, ValueUses>,
    pub(super) loops: Loops,
    /// The pc of the first instruction of each chain.
    pub(super) chains: Vec<u32>,
    pub(super) instruction_count: u32,
}

impl<'a> Liveness<'a> {
    pub(super) fn of(pte: &Pte<'a>, plan: ExecutionPlan<'a>) -> Self {
        let flow = MethodControlFlow::of(plan);
        let unused = ValueUses { first_use: NEVER, last_use: 0, ..ValueUses::default() };
        let mut liveness = Self {
            plan,
            uses: vec![unused; plan.values().map_or(0, |values| values.len())],
            current: BTreeMap::new(),
            ever: BTreeMap::new(),
            edges: Vec::new(),
            replaced: Vec::new(),
            views: BTreeMap::new(),
            instruction_count: flow.len,
            loops: Loops::of(flow.loops, flow.outer, &flow.forward, flow.len),
            chains: flow.chains,
        };
        liveness.run(&Effects::of(plan), Definitions::of(pte, plan));
        liveness.finish();
        liveness
    }

    /// Returns the uses of the tensor that the file has at an index.
    pub(super) fn uses(&self, index: u32) -> Option<ValueUses> {
        self.uses.get(at(index)).copied()
    }

    /// Returns the uses of an index that is only a view.
    pub(super) fn view(&self, index: u32) -> Option<ValueUses> {
        cost::look_up("", self.views.len());
        self.views.get(&index).copied().or_else(|| self.uses(index))
    }

    fn run(&mut self, effects: &Effects<'a>, mut definitions: Definitions<'a>) {
        // A forward jump may skip the instructions before this pc.
        let mut imprecise_until = 0;
        let mut accesses = Vec::new();
        for instruction in method::instructions(self.plan) {
            let pc = instruction.pc();
            let is_imprecise = pc < imprecise_until;
            let first = instruction.operands().get(0);
            effects.accesses_into(&instruction, &definitions, &mut accesses);
            for &(index, access) in &accesses {
                match (access, first) {
                    (Access::Alias, Some(first)) => {
                        self.record_alias(index, first, pc, is_imprecise)
                    }
                    _ => {
                        self.record_contents(index, access);
                        self.record_use(index, access == Access::Read, pc);
                    }
                }
            }
            definitions.record(&instruction, &accesses);
            if let Some(jump) = instruction.jump() {
                imprecise_until = imprecise_until.max(jump.target);
            }
        }
    }

    /// Returns the current tensor of an index.
    fn now(&self, index: i32) -> Option<u32> {
        cost::look_up("", self.current.len());
        let index = u32::try_from(index).ok()?;
        let count = self.plan.values().map_or(0, |values| values.len());
        let current = self.current.get(&index).copied().unwrap_or(index);
        (at(index) < count).then_some(current)
    }

    fn record_use(&mut self, index: i32, is_read: bool, pc: u32) {
        let now = self.now(index);
        let Some(uses) = now.and_then(|now| self.uses.get_mut(at(now))) else { return };
        if uses.first_use == NEVER {
            (uses.first_use, uses.is_read) = (pc, is_read);
        }
        uses.last_use = pc;
    }

    /// Records whether an access gives the current tensor of an index separate contents, so that the
    /// tensor is no mere view.
    fn record_contents(&mut self, index: i32, access: Access) {
        let now = self.now(index);
        let Some(uses) = now.and_then(|now| self.uses.get_mut(at(now))) else { return };
        uses.has_contents |= match access {
            Access::Write => true,
            Access::Read => !uses.is_alias,
            Access::Alias | Access::Free => false,
        };
    }

    /// Records that from this instruction on, `index` is or may be an alias of `base`.
    fn record_alias(&mut self, index: i32, base: i32, pc: u32, is_imprecise: bool) {
        let (Some(from), Some(to)) = (self.now(base), self.now(index)) else { return };
        if from == to {
            return self.record_use(index, false, pc);
        }
        let named = u32::try_from(index).ok().and_then(|index| self.uses.get_mut(at(index)));
        named.into_iter().for_each(|uses| {
            uses.is_alias = true;
            // If a jump skips this instruction, the index keeps its tensor.
            uses.has_contents |= is_imprecise;
        });
        if !self.loops.are_none() {
            // In a loop, an index may hold any of its tensors, so all of them share its uses.
            self.edges.push((from, to));
            if self.loops.has(pc) {
                self.uses.get_mut(at(from)).into_iter().for_each(|uses| uses.is_carried = true);
            }
            return self.record_use(index, false, pc);
        }
        if is_imprecise {
            // If a jump skips the move, the index keeps its tensor.
            self.record_use(index, false, pc);
        }
        let Ok(index) = u32::try_from(index) else { return };
        let new = self.new_tensor(pc);
        self.edges.push((from, new));
        if is_imprecise {
            self.edges.push((to, new));
        }
        self.current.insert(index, new);
        self.replaced.push((index, new));
        let ever = match self.ever.get(&index) {
            Some(&ever) => ever,
            None => {
                let ever = self.new_tensor(pc);
                self.ever.insert(index, ever);
                ever
            }
        };
        self.edges.push((new, ever));
    }

    fn new_tensor(&mut self, pc: u32) -> u32 {
        let new = narrow(self.uses.len());
        let (first_use, last_use) = (pc, pc);
        self.uses.push(ValueUses { first_use, last_use, ..ValueUses::default() });
        new
    }

    /// Records the uses of outputs, and extends the uses of lists to their items.
    fn finish(&mut self) {
        for index in self.plan.outputs().into_iter().flatten() {
            self.record_use(index, true, END);
        }
        for (list, value) in (0..narrow(self.plan.values().map_or(0, |all| all.len()))).zip(0..) {
            if let Some(used) = self.uses(list).filter(|used| used.first_use != NEVER)
                && let Some(items) = method::items(self.plan, value)
            {
                self.extend_to_items(list, used, items);
            }
        }
        self.propagate_last_uses();
        self.record_views();
    }

    /// Extends the uses of each index that is only a view by the uses of its replacing tensors.
    fn record_views(&mut self) {
        for &(index, new) in &self.replaced {
            let own = self.uses.get(at(index)).filter(|uses| uses.is_view());
            let (Some(own), Some(new)) = (own, self.uses.get(at(new))) else { continue };
            cost::look_up("", self.views.len());
            let view = self.views.entry(index).or_insert(*own);
            view.first_use = view.first_use.min(new.first_use);
            view.last_use = view.last_use.max(new.last_use);
        }
    }

    fn extend_to_items(&mut self, list: u32, used: ValueUses, items: Vector<'a, i32>) {
        let has_edges = !self.edges.is_empty();
        for item in items.iter().filter_map(|item| u32::try_from(item).ok()) {
            if let Some(&ever) = self.ever.get(&item) {
                self.edges.push((ever, list));
            }
            let Some(uses) = self.uses.get_mut(at(item)) else { continue };
            match uses.first_use.cmp(&used.first_use) {
                core::cmp::Ordering::Less => {}
                core::cmp::Ordering::Equal => uses.is_read |= used.is_read,
                core::cmp::Ordering::Greater => {
                    (uses.first_use, uses.is_read) = (used.first_use, used.is_read);
                }
            }
            uses.last_use = uses.last_use.max(used.last_use);
            if has_edges {
                self.edges.push((item, list));
            }
        }
    }

    /// Propagates last uses along the edges, from aliases to their tensors.
    fn propagate_last_uses(&mut self) {
        if self.edges.is_empty() {
            return;
        }
        cost::sort(self.edges.len().saturating_mul(2));
        self.edges.sort_unstable_by_key(|&(_, to)| to);
        self.edges.dedup();
        // In descending order of last uses, so the first visit of a tensor has its latest use.
        let mut latest: Vec<u32> = self.edges.iter().map(|&(_, to)| to).collect();
        latest.dedup();
        let last_of =
            |uses: &[ValueUses], nth: u32| uses.get(at(nth)).map_or(0, |uses| uses.last_use);
        latest.sort_unstable_by_key(|&nth| (core::cmp::Reverse(last_of(&self.uses, nth)), nth));
        let mut is_done = vec![false; self.uses.len()];
        let mut open = Vec::new();
        for target in latest {
            let last = last_of(&self.uses, target);
            open.push(target);
            while let Some(nth) = open.pop() {
                cost::look_up("", self.edges.len());
                match is_done.get_mut(at(nth)) {
                    Some(done) if !*done => *done = true,
                    _ => continue,
                }
                if let Some(uses) = self.uses.get_mut(at(nth)) {
                    uses.last_use = uses.last_use.max(last);
                }
                let from = self.edges.partition_point(|&(_, to)| to < nth);
                let ends_here = self.edges.get(from..).unwrap_or_default();
                let of_it = ends_here.iter().take_while(|&&(_, to)| to == nth);
                open.extend(of_it.map(|&(from, _)| from));
            }
        }
    }
}
