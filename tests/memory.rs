//! Memory plans and live ranges, compared with direct computations of one instruction at a time.

use std::collections::BTreeMap;
use std::fs;

use pte::Check;
use pte::check::Severity;
use pte::memory::{LiveRange, Memory, PlannedArena, PlannedTensor, TensorRole};
use pte::schema::program::view::{ExecutionPlan, InstructionArguments, KernelTypes};
use pte::{File, Pte};
use serde_json::json;

use crate::support::build;
use crate::support::files::{self, name};

mod cases;
mod hostile;
mod pools;
mod random;

/// Returns whether a file is without an Error.
fn is_sound(pte: &Pte<'_>) -> bool {
    pte.check().worst() < Some(Severity::Error)
}

fn plans<'a>(pte: &Pte<'a>) -> impl Iterator<Item = ExecutionPlan<'a>> {
    pte.program().execution_plan().into_iter().flatten()
}

#[test]
fn no_arena_of_a_sound_file_needs_more_than_is_planned() {
    let (mut arenas, mut tensors) = (0, 0);
    for path in files::everything() {
        let bytes = fs::read(&path).unwrap();
        let Ok(pte) = Pte::read(&bytes) else { continue };
        if !is_sound(&pte) {
            continue;
        }
        for plan in plans(&pte) {
            let memory = Memory::of(&pte, plan);
            let sizes: Vec<_> = plan.non_const_buffer_sizes().into_iter().flatten().collect();
            assert_eq!(memory.arenas().len(), sizes.len() - 1, "{}", name(&path));
            for arena in memory.arenas() {
                let at = format!("{}, arena {}", name(&path), arena.id);
                let planned = arena.planned.unwrap();
                assert_eq!(planned as i64, sizes[arena.id as usize], "{at}");
                assert!(arena.peak <= arena.used && arena.used <= arena.reach, "{at}");
                assert_eq!(arena.reach + arena.slack().unwrap(), planned, "{at}");
                assert_eq!(arena.peak + arena.fragmentation(), arena.reach, "{at}");
                assert_eq!(arena.used + arena.gaps() + arena.slack().unwrap(), planned, "{at}");
                arenas += 1;
                tensors += memory.tensors(arena).len();
            }
        }
    }
    println!("{arenas} arenas, {tensors} planned tensors");
    assert!(arenas > 100 && tensors > 500);
}

/// The peak, computed for every instruction from all tensors.
#[test]
fn the_peak_is_the_largest_of_all_steps() {
    let mut seen = 0;
    for path in files::everything() {
        let bytes = fs::read(&path).unwrap();
        let Ok(pte) = Pte::read(&bytes) else { continue };
        for plan in plans(&pte) {
            let memory = Memory::of(&pte, plan);
            for arena in memory.arenas() {
                let (peak, step) = peak(&memory, arena);
                assert_eq!((arena.peak, arena.peak_pc), (peak, step), "{}", name(&path));
                let used = union(memory.tensors(arena).iter());
                assert_eq!(arena.used, used, "{}", name(&path));
                seen += 1;
            }
        }
    }
    assert!(seen > 100);
}

fn peak(memory: &Memory<'_>, arena: &PlannedArena<'_>) -> (u64, Option<u32>) {
    let steps = memory.instruction_count();
    let mut most = (0, None);
    for step in 0..steps.max(1) {
        let live = memory.tensors(arena).iter().filter(|of| of.is_live_at(step, steps));
        let bytes = union(live);
        if bytes > most.0 {
            most = (bytes, Some(step).filter(|_| steps > 0));
        }
    }
    most
}

fn union<'t>(tensors: impl Iterator<Item = &'t PlannedTensor>) -> u64 {
    let mut ranges: Vec<_> = tensors.map(|tensor| tensor.range()).collect();
    ranges.sort_unstable();
    let (mut sum, mut behind) = (0u64, 0);
    for (begin, end) in ranges {
        sum = sum.saturating_add(end.saturating_sub(begin.max(behind)));
        behind = behind.max(end);
    }
    sum
}

/// Compares the live ranges of genuine methods without jumps with a direct search. The search finds
/// all instructions that name a tensor, and for a tensor that is read first also all tensors at its
/// place. The order of arguments determines what a call writes (format.md §6.5).
#[test]
fn lives_are_those_of_a_replay_of_every_instruction() {
    let (mut files, mut tensors, mut views, mut states) = (0, 0, 0, 0);
    for path in files::everything() {
        let bytes = fs::read(&path).unwrap();
        let Ok(pte) = Pte::read(&bytes) else { continue };
        if !is_sound(&pte) || plans(&pte).any(moves) {
            continue;
        }
        files += 1;
        for plan in plans(&pte) {
            let memory = Memory::of(&pte, plan);
            let uses = uses(plan);
            for arena in memory.arenas() {
                let all = memory.tensors(arena);
                // The direct search does not know aliases.
                for of in all.iter().filter(|of| !of.is_view) {
                    let at = format!("{}, value {}", name(&path), of.value);
                    let expected = life(of, all, &uses, memory.instruction_count());
                    assert_eq!((of.role, of.live_range), expected.0, "{at}");
                    tensors += 1;
                    views += usize::from(expected.1);
                    states += usize::from(of.role == TensorRole::State);
                }
            }
        }
    }
    println!("{files} files, {tensors} tensors, {views} views, {states} states");
    assert!(files > 50 && tensors > 400 && views > 0 && states > 3);
}

fn moves(plan: ExecutionPlan<'_>) -> bool {
    plan.chains().unwrap().into_iter().any(|chain| {
        chain.instructions().into_iter().flatten().any(|instruction| {
            !matches!(
                instruction.instr_args(),
                Some(InstructionArguments::KernelCall(_) | InstructionArguments::DelegateCall(_))
            )
        })
    })
}

/// The uses of values: for each instruction the values that it names, and whether it only writes each.
struct Uses {
    by_step: Vec<Vec<(i32, bool)>>,
    inputs: Vec<i32>,
    outputs: Vec<i32>,
    /// The outputs. An output that is a view is replaced by the tensor that it views.
    kept: Vec<i32>,
}

fn uses(plan: ExecutionPlan<'_>) -> Uses {
    let value = |index: i32| plan.values().unwrap().get(index as usize).unwrap().val();
    let items = |index: i32| match value(index) {
        Some(KernelTypes::TensorList(list)) => Some(list.items().unwrap()),
        Some(KernelTypes::OptionalTensorList(list)) => Some(list.items().unwrap()),
        _ => None,
    };
    let is_tensor = |index: i32| matches!(value(index), Some(KernelTypes::Tensor(_)));
    // The tensor that each view views. A use of a view is a use of that tensor.
    let mut bases: BTreeMap<i32, i32> = BTreeMap::new();
    let mut known: Vec<i32> = plan.inputs().unwrap().into_iter().collect();
    let mut by_step = Vec::new();
    for chain in plan.chains().unwrap() {
        for instruction in chain.instructions().into_iter().flatten() {
            let mut names = Vec::new();
            let base = |index: i32| bases.get(&index).copied().unwrap_or(index);
            let mut name = |index: i32, is_written| match items(index) {
                None => names.push((base(index), is_written)),
                Some(items) => names.extend(items.into_iter().map(|item| (base(item), is_written))),
            };
            match instruction.instr_args().unwrap() {
                InstructionArguments::KernelCall(call) => {
                    let args: Vec<_> = call.args().unwrap().into_iter().collect();
                    let listed: Vec<_> =
                        args.last().and_then(|&last| items(last)).into_iter().flatten().collect();
                    // Two lists of the same tensors are the results, and the results again.
                    let lists = args.iter().rev().take(2).filter(|&&arg| items(arg).is_some());
                    let pair: Vec<Vec<_>> =
                        lists.map(|&arg| items(arg).unwrap().into_iter().collect()).collect();
                    let is_pair = pair.len() == 2 && pair[0] == pair[1];
                    let repeated = (1..=args.len() / 2)
                        .rev()
                        .find(|k| args[args.len() - k..] == args[args.len() - 2 * k..][..*k]);
                    let from = args.len() - repeated.map_or(1 + usize::from(is_pair), |k| 2 * k);
                    let operator = plan.operators().unwrap().get(call.op_index() as usize);
                    let operator = operator.unwrap().name().unwrap();
                    // An in-place operator returns its first argument.
                    let is_in_place = operator.ends_with('_');
                    if operator == "executorch_prim::et_view" {
                        let view = (args[2], base(args[0]));
                        name(args[0], false);
                        by_step.push(names);
                        bases.insert(view.0, view.1);
                        continue;
                    }
                    for (nth, &arg) in args.iter().enumerate() {
                        match is_in_place {
                            true if nth == args.len() - 1 => name(args[0], false),
                            true => name(arg, false),
                            false => name(arg, nth >= from || listed.contains(&arg)),
                        }
                    }
                }
                InstructionArguments::DelegateCall(call) => {
                    let args: Vec<_> = call.args().unwrap().into_iter().collect();
                    let is_known = |arg: &i32| known.contains(arg) || !is_tensor(*arg);
                    let inputs = args.iter().rposition(is_known).map_or(0, |last| last + 1);
                    for (nth, &arg) in args.iter().enumerate() {
                        name(arg, nth >= inputs);
                    }
                }
                other => panic!("{other:?}"),
            }
            known.extend(names.iter().map(|(index, _)| *index));
            by_step.push(names);
        }
    }
    let all = |ends: Option<pte::flat::view::Vector<'_, i32>>| ends.unwrap().into_iter().collect();
    let outputs: Vec<i32> = all(plan.outputs());
    let kept = outputs.iter().map(|output| bases.get(output).copied().unwrap_or(*output)).collect();
    Uses { by_step, inputs: all(plan.inputs()), outputs, kept }
}

/// The instructions that name a value, and whether the first of them reads it.
fn named(value: u32, uses: &Uses) -> Option<(u32, u32, bool)> {
    let of = |names: &Vec<(i32, bool)>| {
        let mut of = names.iter().filter(|(index, _)| *index == value as i32).peekable();
        of.peek().is_some().then(|| of.any(|(_, is_written)| !is_written))
    };
    let steps: Vec<_> = uses.by_step.iter().map(of).collect();
    let first = steps.iter().position(Option::is_some)?;
    let last = steps.iter().rposition(Option::is_some)?;
    Some((first as u32, last as u32, steps[first].unwrap()))
}

/// The time at which a tensor first has contents: 0 before all instructions, and one more after each.
fn begins(of: &PlannedTensor, uses: &Uses) -> Option<u32> {
    if uses.inputs.contains(&(of.value as i32)) || of.role == TensorRole::State {
        return Some(0);
    }
    named(of.value, uses).filter(|(.., is_read)| !is_read).map(|(first, ..)| first + 1)
}

/// Returns the expected role and live range of a tensor, and whether it is a view of others.
fn life(
    of: &PlannedTensor,
    all: &[PlannedTensor],
    uses: &Uses,
    steps: u32,
) -> ((TensorRole, Option<LiveRange>), bool) {
    let throughout = Some(LiveRange { first_use: None, last_use: None });
    if of.role == TensorRole::State {
        // The tensor has a name or initial data, or the code below finds that it is state.
        return ((TensorRole::State, throughout), false);
    }
    let index = of.value as i32;
    let (is_output, is_kept) = (uses.outputs.contains(&index), uses.kept.contains(&index));
    let end = |last: u32| Some(last).filter(|_| !is_kept);
    if uses.inputs.contains(&index) {
        let last = named(of.value, uses).map_or(0, |(_, last, _)| last);
        return (
            (TensorRole::Input, Some(LiveRange { first_use: None, last_use: end(last) })),
            false,
        );
    }
    let role = if is_output { TensorRole::Output } else { TensorRole::Scratch };
    let Some((first, last, is_read)) = named(of.value, uses) else {
        return ((role, is_kept.then_some(LiveRange { first_use: None, last_use: None })), false);
    };
    if !is_read {
        return ((role, Some(LiveRange { first_use: Some(first), last_use: end(last) })), false);
    }
    // Byte by byte, with all earlier writes.
    let (begin, stop) = of.range();
    let mut points: Vec<_> =
        all.iter().flat_map(|other| [other.range().0, other.range().1]).collect();
    points.retain(|point| (begin..stop).contains(point));
    let since = |byte: u64| {
        let there = all.iter().filter(|other| (other.range().0..other.range().1).contains(&byte));
        there.filter_map(|other| begins(other, uses)).filter(|&since| since <= first).max()
    };
    match points.into_iter().filter_map(since).min() {
        None => ((TensorRole::State, throughout), false),
        Some(since) => {
            let first = since.checked_sub(1);
            assert!(first < Some(steps));
            ((role, Some(LiveRange { first_use: first, last_use: end(last) })), true)
        }
    }
}

#[test]
fn what_lies_outside_is_summed_once() {
    let bytes = files::read("tests/data/pte/linear.pte").unwrap();
    let pte = Pte::read(&bytes).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    // A weight of 4 × 8 and a bias of 4 floats.
    assert_eq!(memory.outside().constants, 144);
    let file = File::Pte(pte);
    assert!(matches!(file, File::Pte(_)));
    // A payload that is named twice counts once.
    let bytes = build::file(
        r#"{"root": {"execution_plan": [{"values": [], "inputs": [], "outputs": [], "chains": [],
            "operators": [], "non_const_buffer_sizes": [0], "delegates": [
                {"id": "A", "processed": {"location": "SEGMENT", "index": 0}},
                {"id": "A", "processed": {"location": "SEGMENT", "index": 0}},
                {"id": "B", "processed": {"location": "SEGMENT", "index": 1}}]}],
            "segments": [{"size": 16}, {"offset": 16, "size": 5}]},
          "data": [{"zeros": 21}]}"#,
    );
    let pte = Pte::read(&bytes).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    assert_eq!(memory.outside().payloads, 21);
}

/// A payload contains another one and overlaps a third. Each byte counts once.
#[test]
fn what_lies_in_something_outside_is_no_more() {
    let bytes = build::file(
        r#"{"root": {"execution_plan": [{"values": [], "inputs": [], "outputs": [], "chains": [],
            "operators": [], "non_const_buffer_sizes": [0], "delegates": [
                {"id": "A", "processed": {"location": "SEGMENT", "index": 0}},
                {"id": "A", "processed": {"location": "SEGMENT", "index": 1}},
                {"id": "A", "processed": {"location": "SEGMENT", "index": 2}}]}],
            "segments": [{"size": 64}, {"offset": 16, "size": 8}, {"offset": 32, "size": 48}]},
          "data": [{"zeros": 80}]}"#,
    );
    let pte = Pte::read(&bytes).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    assert_eq!(memory.outside().payloads, 80);
}

/// Data outside of arenas counts once if two tensors use it.
#[test]
fn data_of_two_tensors_is_loaded_once() {
    let external = |name: &str| {
        json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [4],
            "dim_order": [0], "extra_tensor_info": {"fully_qualified_name": name,
            "location": "EXTERNAL"}}})
    };
    let values = ["k", "l", "k"].map(external);
    let plan = json!({"values": values, "non_const_buffer_sizes": [0]});
    let bytes = build::file(&json!({"root": {"execution_plan": [plan]}}).to_string());
    let pte = Pte::read(&bytes).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    assert_eq!(memory.outside().external, 32);
}

/// Runtimes take the first entry for an arena.
#[test]
fn an_arena_is_of_the_first_device_that_is_given() {
    let device = |arena: i32, index: i8| json!({"buffer_idx": arena, "device_type": "CUDA", "device_index": index});
    let plan = json!({"values": [], "non_const_buffer_sizes": [0, 16, 32, 48],
        "non_const_buffer_device": [device(2, 1), device(1, 2), device(2, 3), device(0, 4),
            device(4, 5), device(-1, 6)]});
    let bytes = build::file(&json!({"root": {"execution_plan": [plan]}}).to_string());
    let pte = Pte::read(&bytes).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    let of =
        |arena: &PlannedArena<'_>| (arena.id, arena.device.map(|device| device.device_index()));
    let devices: Vec<_> = memory.arenas().iter().map(of).collect();
    assert_eq!(devices, [(1, Some(2)), (2, Some(1)), (3, None)]);
}

/// A tensor without memory is an end of the method if it is an input or an output.
#[test]
fn unplanned_tensors_are_ends_if_they_are_inputs_or_outputs() {
    let unplanned = json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [4],
        "dim_order": [0]}});
    let plan = json!({"values": vec![unplanned; 4], "inputs": [1, 3], "outputs": [2, 3],
        "non_const_buffer_sizes": [0]});
    let built = build::file(&json!({"root": {"execution_plan": [plan]}}).to_string());
    let all = files::everything().into_iter().map(|path| fs::read(path).unwrap());
    let (mut ends, mut others) = (0, 0);
    for bytes in all.chain([built]) {
        let Ok(pte) = Pte::read(&bytes) else { continue };
        for plan in plans(&pte) {
            let [inputs, outputs] = [plan.inputs(), plan.outputs()]
                .map(|all| all.into_iter().flatten().collect::<Vec<i32>>());
            for of in Memory::of(&pte, plan).unplanned() {
                let value = of.value as i32;
                assert_eq!(of.is_end, inputs.contains(&value) || outputs.contains(&value));
                ends += usize::from(outputs.contains(&value) && !inputs.contains(&value));
                others += usize::from(!of.is_end);
            }
        }
    }
    assert!(ends > 0 && others > 0, "{ends} outputs, {others} others");
}
