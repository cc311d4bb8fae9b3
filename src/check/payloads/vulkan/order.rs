//! The order of calls: which tensors have data when they are read, and which share memory.

use alloc::vec::Vec;

use super::values::{Kind, Values};
use super::{Site, VULKAN_MEMORY, VULKAN_ORDER};
use crate::report::Findings;
use pte_core::payload::vulkan::VulkanOperator;
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_flat::path;
use pte_flat::view::{Table, Vector};
use pte_schema::vulkan::view::{GraphTypes, OperatorCall};

/// When a tensor is used. Inputs are written at 0, call `n` runs at `n + 1`, and outputs are read after all calls.
#[derive(Clone, Copy, Default)]
struct LiveRange {
    first_write: Option<u32>,
    last_use: u32,
}

/// What the calls before the next one have done.
struct Order<'o, 's, 'p> {
    site: &'o Site<'s, 'p>,
    values: &'o Values,
    /// The range of each tensor, by id. Of a list, only the last use counts.
    ranges: Vec<LiveRange>,
    /// Whether the tensors of each list were already read or written. Many calls may name one long list.
    lists: Vec<[bool; 2]>,
}

/// Judges the order of the calls, and the memory objects of the tensors.
pub(super) fn judge(site: &Site<'_, '_>, values: &Values, out: &mut Findings) {
    let len = values.len();
    cost::charge(len);
    let (ranges, lists) = (vec![LiveRange::default(); len], vec![[false; 2]; len]);
    let mut order = Order { site, values, ranges, lists };
    for id in site.graph.input_ids().into_iter().flatten() {
        order.write(id, 0);
    }
    let mut end = 1u32;
    for call in site.graph.chain().into_iter().flatten() {
        order.call(end, call, out);
        end = end.saturating_add(1);
    }
    for (nth, id) in (0u32..).zip(site.graph.output_ids().into_iter().flatten()) {
        if !order.read(id, end) {
            let path = path!["output_ids", nth];
            site.place.find(out, &VULKAN_ORDER, site.graph.raw(), &path, || {
                format!("no call writes value {id}, an output of the graph")
            });
        }
    }
    order.finish_lists();
    if out.is_empty() {
        order.memory(out);
    }
}

impl<'p> Order<'_, '_, 'p> {
    /// Judges a call that runs at `now`.
    fn call(&mut self, now: u32, call: OperatorCall<'p>, out: &mut Findings) {
        let args = call.args().unwrap_or_default();
        let operator = call.name().and_then(VulkanOperator::of);
        let Some(arguments) = operator.and_then(VulkanOperator::arguments) else {
            // What the call reads and writes is unknown: it may write each of its tensors.
            for id in args.iter().filter_map(|id| u32::try_from(id).ok()) {
                self.each(id, now, 0, |order, id| {
                    order.write(id, now);
                    true
                });
            }
            return;
        };
        let uses = || args.iter().filter_map(|id| u32::try_from(id).ok()).zip(arguments.clone());
        for (id, _) in uses().filter(|(_, argument)| argument.is_read()) {
            if let Some(id) = self.each(id, now, 0, |order, id| order.read(id, now)) {
                let path = path!["chain", now.saturating_sub(1)];
                self.site.place.find(out, &VULKAN_ORDER, call.raw(), &path, || {
                    format!("the call reads value {id}, which no call before it writes")
                });
            }
        }
        // The backend makes tensors of constants when it loads the graph, and keeps them.
        let is_prepacked = operator.is_some_and(|operator| operator.name == PREPACK);
        let now = if is_prepacked { 0 } else { now };
        for (id, _) in uses().filter(|(_, argument)| argument.is_written()) {
            self.each(id, now, 1, |order, id| {
                order.write(id, now);
                if is_prepacked {
                    order.read(id, u32::MAX);
                }
                true
            });
        }
    }

    /// Uses a value, or each value of a list that was not used in this way before. Returns the first value for which
    /// `f` returns `false`.
    fn each(
        &mut self,
        id: u32,
        now: u32,
        way: usize,
        mut f: impl FnMut(&mut Self, u32) -> bool,
    ) -> Option<u32> {
        if !matches!(self.values.kind(id.cast_signed()), Some(Kind::List(_))) {
            return (!f(self, id)).then_some(id);
        }
        if let Some(range) = self.ranges.get_mut(index(id)) {
            range.last_use = range.last_use.max(now);
        }
        let was_used = self.lists.get_mut(index(id)).and_then(|ways| ways.get_mut(way))?;
        if core::mem::replace(was_used, true) {
            return None;
        }
        let mut wrong = None;
        for id in self.items(id).into_iter().filter_map(|id| u32::try_from(id).ok()) {
            let is_right = f(self, id);
            wrong = wrong.or((!is_right).then_some(id));
        }
        wrong
    }

    /// Returns the ids in a list of values.
    fn items(&self, id: u32) -> Vector<'p, i32> {
        match self.site.values.get(index(id)).and_then(|value| value.value()) {
            Some(GraphTypes::ValueList(list)) => list.items().unwrap_or_default(),
            _ => Vector::default(),
        }
    }

    /// Records that a value is read. Returns `false` for a tensor that has no data.
    fn read(&mut self, id: u32, now: u32) -> bool {
        if self.values.kind(id.cast_signed()) != Some(Kind::Tensor) {
            return true;
        }
        let Some(range) = self.ranges.get_mut(index(id)) else { return true };
        range.last_use = range.last_use.max(now);
        range.first_write.is_some()
    }

    /// Records that a value is written.
    fn write(&mut self, id: u32, now: u32) {
        if let Some(range) = self.ranges.get_mut(index(id)) {
            range.first_write.get_or_insert(now);
            range.last_use = range.last_use.max(now);
        }
    }

    /// Extends the ranges of tensors to the last use of the lists that name them.
    fn finish_lists(&mut self) {
        for id in (0u32..).take(self.lists.len()) {
            let was_used = self.lists.get(index(id)).is_some_and(|ways| ways.contains(&true));
            let last_use = self.ranges.get(index(id)).map_or(0, |range| range.last_use);
            for item in self.items(id).into_iter().filter(|_| was_used) {
                let item = usize::try_from(item).ok().and_then(|item| self.ranges.get_mut(item));
                if let Some(range) = item {
                    range.last_use = range.last_use.max(last_use);
                }
            }
        }
    }

    /// Judges the tensors that share a memory object.
    fn memory(&self, out: &mut Findings) {
        let mut users = Vec::new();
        for (id, range) in (0u32..).zip(&self.ranges) {
            let (Some(tensor), Some(first)) = (self.site.tensor(id), range.first_write) else {
                continue;
            };
            if tensor.mem_obj_id() >= 0 && tensor.constant_id() < 0 {
                users.push((tensor.mem_obj_id(), first, range.last_use, id));
            }
        }
        cost::sort(users.len());
        users.sort_unstable();
        // Of the tensors before, the one that is used longest.
        let mut longest: Option<(i32, u32, u32)> = None;
        for (object, first, last, id) in users {
            let before = longest.filter(|(of, ..)| *of == object);
            if let Some((_, used, other)) = before.filter(|(_, used, _)| first <= *used) {
                self.site.find_value(out, &VULKAN_MEMORY, id, || {
                    let writer = match first.checked_sub(1) {
                        Some(call) => format!("call {call} writes it"),
                        None => "it is written before all calls".into(),
                    };
                    let call = used.saturating_sub(1);
                    format!(
                        "memory object {object} has value {other} until call {call}, and {writer}"
                    )
                });
            }
            if before.is_none_or(|(_, used, _)| used < last) {
                longest = Some((object, last, id));
            }
        }
    }
}

/// The operator that makes a tensor of a constant.
const PREPACK: &str = "et_vk.prepack.default";
