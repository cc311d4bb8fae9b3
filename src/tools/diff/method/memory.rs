//! Compares memory plans: arenas, and the places of tensors in them.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Method, Moved};
use crate::diff::{Class, text};
use pte_flat::view::Vector;
use pte_schema::program::DeviceType;
use pte_schema::program::view::ExecutionPlan;

impl Method<'_, '_, '_, '_> {
    pub(super) fn memory(&mut self) {
        let (old, new) = (arenas(self.a.view), arenas(self.b.view));
        // The first entry is reserved.
        if !old.iter().skip(1).eq(new.iter().skip(1)) {
            self.add(Class::MemoryPlan, |_| {
                let text =
                    |sizes: Vector<'_, i64>| Some(text::shown(text::list(sizes.iter().skip(1))));
                (String::new(), "arena sizes", text(old), text(new))
            });
        }
        let devices = |plan: ExecutionPlan<'_>| -> Vec<_> {
            let all = plan.non_const_buffer_device().into_iter().flatten();
            all.map(|on| (on.buffer_idx(), on.device_type(), on.device_index())).collect()
        };
        let (old, new) = (devices(self.a.view), devices(self.b.view));
        if old != new {
            self.add(Class::MemoryPlan, |_| {
                let text = |all: &[(i32, DeviceType, i8)]| {
                    let items =
                        all.iter().map(|(arena, on, nth)| format!("arena {arena} on {on} {nth}"));
                    Some(text::shown(text::list(items)))
                };
                (String::new(), "arena devices", text(&old), text(&new))
            });
        }
        let Moved { count, first } = core::mem::take(&mut self.moved);
        if let Some((place, before, after)) = first {
            self.add(Class::MemoryPlan, |_| match count.saturating_sub(1) {
                0 => (place, "place", Some(before), Some(after)),
                more => (format!("{place} and {more} more"), "places", Some(before), Some(after)),
            });
        }
    }
}

fn arenas<'a>(plan: ExecutionPlan<'a>) -> Vector<'a, i64> {
    plan.non_const_buffer_sizes().unwrap_or_default()
}
