//! Memory: arenas, and the tensors that are planned into them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::loading::{self, LoadMemory};
use super::report::Findings;
use super::rule::rules;
use super::site::Plan;
use pte_core::{Arena, PathComponent, Pte, method};
use pte_flat::bytes::{index, narrow};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::program::view::{AllocationDetails, ExecutionPlan, KernelTypes, Tensor};

rules! {
    "memory";

    ARENA_NEGATIVE = Error "arena-negative"
        "An arena's size is not negative."
        "Asking for the size is refused, and the method cannot be given its memory."
        MADE_BY_HAND
        Refuses ["6.2", "7.3.13", "7.7.18", "8.2 5e8a0df301"];
    ARENA_RESERVED = Note "arena-reserved"
        "The first entry of the arena sizes is reserved, and 0."
        "Runtimes do not look at it."
        HARMLESS
        Ignores ["6.2"];
    ARENA_HUGE = Error "arena-huge"
        "The arenas of a method can be mapped: together they have less than 2^47 bytes."
        "Allocating them fails, or aborts the process."
        "Export the program again with less planned memory."
        Crashes ["7.7.18", "8.1 CVE-2025-30404"];
    ARENA_UNUSED = Warning "arena-unused"
        "The arenas of a program have at most 4 times the bytes that its tensors reach, or at most 16 MiB more."
        "The loader allocates whole arenas, and most of this memory is not used."
        "Export the program again, or limit the memory of its loader."
        Ignores ["6.2", "7.3.13", "7.7.18", "8.1 CVE-2025-30404"]
        untrusted_upload "A small file takes memory that it has no use for.";
    MEMORY_LIMIT = Error "memory-limit"
        "Loading a program allocates no more bytes than the caller allows."
        "A small file can ask for more memory than the machine has: the process is killed, or others are."
        "Export the program again with less planned memory, or allow more."
        Ignores ["6.2", "7.3.13", "8.1 CVE-2025-30404"];
    ARENA_DEVICE = Warning "arena-device"
        "An entry of a device is for one of the arenas, the only one for it, and names a known device."
        "Runtimes take the first entry for an arena, and ignore those for no arena."
        UNUSUAL
        Ignores ["6.2", "7.7.18"];
    PLANNED_ARENA = Error "planned-arena"
        "A planned tensor is in one of the arenas, counted from 1."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["6.2", "7.5.9", "7.5.11", "7.7.18", "8.2 7ceccdfdae"];
    PLANNED_OUT_OF_BOUNDS = Error "planned-out-of-bounds"
        "A planned tensor ends within its arena."
        "Loading the method is refused; runtimes before 1.1 could be led past the arena."
        MADE_BY_HAND
        Refuses ["6.2", "7.5.10", "7.5.12", "7.7.18", "8.1 CVE-2025-30405"];
}

/// The size of the user half of a 48-bit address space. By default, a process cannot map more.
const MOST_MEMORY: u64 = 1 << 47;

pub(super) fn check(plan: &Plan<'_, '_>, out: &mut Findings) {
    let view = plan.view;
    let mut total = 0u64;
    for (nth, size) in (0..).zip(view.non_const_buffer_sizes().into_iter().flatten()) {
        let path = path!["non_const_buffer_sizes", nth];
        match u64::try_from(size) {
            // Runtimes ignore the first arena.
            _ if nth == 0 => {
                if size != 0 {
                    plan.find(out, &ARENA_RESERVED, view.raw(), &path, || {
                        format!("a size of {size}")
                    });
                }
            }
            Err(_) => {
                plan.find(out, &ARENA_NEGATIVE, view.raw(), &path, || format!("a size of {size}"))
            }
            Ok(size) => total = total.saturating_add(size),
        }
    }
    if total >= MOST_MEMORY {
        let path = [PathComponent::Field("non_const_buffer_sizes")];
        plan.find(out, &ARENA_HUGE, view.raw(), &path, || format!("{total} bytes in all"));
    }
    let arenas = view.non_const_buffer_sizes().map_or(0, |sizes| sizes.len());
    let mut seen: BTreeMap<i32, u32> = BTreeMap::new();
    for (nth, device) in (0..).zip(view.non_const_buffer_device().into_iter().flatten()) {
        let arena = device.buffer_idx();
        let in_range = usize::try_from(arena).is_ok_and(|arena| arena > 0 && arena < arenas);
        cost::look_up("", seen.len());
        let earlier = *seen.entry(arena).or_insert(nth);
        if in_range && earlier == nth && device.device_type().name().is_some() {
            continue;
        }
        let path = path!["non_const_buffer_device", nth];
        plan.find(out, &ARENA_DEVICE, device.raw(), &path, || match (in_range, earlier == nth) {
            (false, _) => format!("arena {arena}, and there are 1 to {}", arenas.saturating_sub(1)),
            (_, false) => format!("arena {arena} is also that of entry {earlier}"),
            _ => format!("device {}", device.device_type()),
        });
    }
}

/// Judges the arenas of all methods together: many small ones cost as much as a large one.
pub(super) fn check_reach(pte: &Pte<'_>, out: &mut Findings) {
    let sum = |sizes: &mut dyn Iterator<Item = u64>| sizes.fold(0, u64::saturating_add);
    let all = sum(&mut method::distinct(pte).flat_map(|(_, plan)| loading::arenas(plan)));
    // Nearly every program ends here. `arena-huge` reports larger arenas.
    if all <= MOST_UNUSED || out.has(&ARENA_HUGE) {
        return;
    }
    let Some(reach) = reach(pte, all) else { return };
    let mut unused = 0u64;
    let mut worst: Option<(u64, u32, ExecutionPlan<'_>, usize, u64, u64)> = None;
    for (nth, view) in method::distinct(pte) {
        for (id, arena) in (1..).zip(loading::arenas(view)) {
            let end = reach.get(id).copied().unwrap_or_default();
            let rest = arena.saturating_sub(end);
            unused = unused.saturating_add(rest);
            if worst.is_none_or(|(most, ..)| rest > most) {
                worst = Some((rest, nth, view, id, arena, end));
            }
        }
    }
    let used = all.saturating_sub(unused);
    let Some((_, nth, view, id, arena, end)) = worst else { return };
    if unused <= MOST_UNUSED.max(used.saturating_mul(3)) {
        return;
    }
    let path = path!["non_const_buffer_sizes", narrow(id)];
    Plan::new(pte, nth, view).find(out, &ARENA_UNUSED, view.raw(), &path, || {
        let one = format!("arena {id} has {arena} bytes, and tensors reach {end}");
        match all == arena {
            true => one,
            false => format!("{one}; all arenas have {all} bytes, and tensors reach {used}"),
        }
    });
}

/// Reports a program that makes a loader allocate more than `most` bytes.
pub(super) fn check_limit(pte: &Pte<'_>, most: u64, out: &mut Findings) {
    let memory = LoadMemory::of(pte);
    if memory.total <= most {
        return;
    }
    out.find(
        &MEMORY_LIMIT,
        0,
        || vec![PathComponent::Field("program")],
        || {
            let LoadMemory { total, arenas, unplanned, .. } = memory;
            let data = total.saturating_sub(arenas).saturating_sub(unplanned);
            format!(
                "loading allocates {total} bytes, and the limit is {most}: {arenas} for arenas, {unplanned} for \
                 inputs and outputs, {data} for tables and data"
            )
        },
    );
}

/// Returns the end of the last tensor in each arena, over all methods: several methods may share an arena. Returns
/// `None` as soon as tensors use a quarter of `all`, the bytes of all arenas. In most programs the first few do, and
/// the rest need not be read.
fn reach(pte: &Pte<'_>, all: u64) -> Option<Vec<u64>> {
    let arenas = |plan: ExecutionPlan<'_>| plan.non_const_buffer_sizes().map_or(0, |of| of.len());
    let most = method::distinct(pte).map(|(_, plan)| arenas(plan)).max().unwrap_or_default();
    cost::charge(most);
    let mut reach = vec![0u64; most];
    let mut values = 0u32;
    for (_, plan) in method::distinct(pte) {
        for value in plan.values().into_iter().flatten() {
            cost::charge(1);
            values = values.saturating_add(1);
            if values.is_power_of_two() && used(pte, &reach) >= all.div_ceil(4) {
                return None;
            }
            let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
            let Some(place) = tensor.allocation_info().map(Arena::of) else { continue };
            if let Some(end) = reach.get_mut(index(place.memory_id)) {
                *end = place.offset.saturating_add(loading::size(tensor)).max(*end);
            }
        }
    }
    Some(reach)
}

/// Returns the bytes of all arenas up to the ends in `reach`.
fn used(pte: &Pte<'_>, reach: &[u64]) -> u64 {
    let of_plan = |(_, plan)| {
        let ends = reach.iter().skip(1).inspect(|_| cost::charge(1));
        loading::arenas(plan).zip(ends).map(|(arena, &end)| arena.min(end))
    };
    method::distinct(pte).flat_map(of_plan).fold(0, u64::saturating_add)
}

/// The bytes of all arenas that tensors need not reach. Of genuine exports none leaves more than 1 MiB unused, where a
/// tensor at the end is aligned to as much (docs/divergences.md).
const MOST_UNUSED: u64 = 16 << 20;

/// Returns whether a planned tensor of `size` bytes fits its arena.
#[inline]
pub(super) fn fits(plan: &Plan<'_, '_>, place: AllocationDetails<'_>, size: u64) -> bool {
    arena(plan, place).is_some_and(|arena| ends_in(arena, place, size))
}

/// Returns whether a planned tensor of `size` bytes ends in an arena of this size.
#[inline]
fn ends_in(arena: i64, place: AllocationDetails<'_>, size: u64) -> bool {
    // Another rule reports an arena of a negative size.
    let end = Arena::of(place).offset.checked_add(size);
    end.is_some_and(|end| u64::try_from(arena).ok().is_none_or(|arena| end <= arena))
}

/// Judges where a tensor of `size` bytes is planned. Returns whether it is planned.
pub(super) fn planned(
    plan: &Plan<'_, '_>,
    index: u32,
    tensor: Tensor<'_>,
    size: Option<u64>,
    out: &mut Findings,
) -> bool {
    let Some(place) = tensor.allocation_info() else { return false };
    let id = place.memory_id();
    let Some(arena) = arena(plan, place) else {
        let path = path!["allocation_info", "memory_id"];
        plan.find_value(out, &PLANNED_ARENA, place.raw(), index, &path, || {
            let last = plan.arenas.map_or(0, |sizes| sizes.len()).saturating_sub(1);
            format!("arena {id}, and the method has {last}, counted from 1")
        });
        return true;
    };
    // Another rule reports a shape without a size.
    let Some(size) = size else { return true };
    if !ends_in(arena, place, size) {
        let (offset, path) = (Arena::of(place).offset, [PathComponent::Field("allocation_info")]);
        plan.find_value(out, &PLANNED_OUT_OF_BOUNDS, place.raw(), index, &path, || {
            format!("{size} bytes at {offset} do not fit arena {id} of {arena} bytes")
        });
    }
    true
}

/// Returns the size of the arena that a tensor is planned into, if there is one.
#[inline]
fn arena(plan: &Plan<'_, '_>, place: AllocationDetails<'_>) -> Option<i64> {
    let id = usize::try_from(place.memory_id()).ok().filter(|&id| id > 0)?;
    plan.arenas?.get(id)
}
