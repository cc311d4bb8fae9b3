//! Methods that no planner makes: offsets that overflow, jumps in circles, a million calls.

use std::time::Instant;

use pte::Pte;
use pte::memory::{Memory, TensorRole};
use serde_json::json;

use super::cases::{call, jump, moved, planned, program};
use super::plans;
use crate::support::thinned;

fn tensor(sizes: &[i32], memory_id: u32, high: u32, low: u32) -> serde_json::Value {
    json!({"val_type": "Tensor", "val": {"scalar_type": "DOUBLE", "sizes": sizes,
        "allocation_info": {"memory_id": memory_id, "memory_offset_high": high,
            "memory_offset_low": low}}})
}

#[test]
fn numbers_past_all_others_are_reported_and_nothing_wraps() {
    let values = [
        tensor(&[4], 1, u32::MAX, u32::MAX - 7),
        tensor(&[i32::MAX, 1 << 20], 1, 1, 0),
        tensor(&[i32::MAX, i32::MAX, i32::MAX], 1, 0, 0),
        tensor(&[-1], 0, 0, 0),
        tensor(&[1], u32::MAX, 0, 8),
    ];
    let file = program(&values, (&[0, 1, 2, 3, 4], &[]), 64, &[vec![call(1, &[0, 1, 9, -1])]]);
    let pte = Pte::read(&file).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    let rows = memory.arenas().iter().map(|of| (of.id, of.planned, of.reach, of.peak));
    let expected = [
        (0, None, 0, 0),
        (1, Some(64), u64::MAX, ((i32::MAX as u64) << 23) + 7),
        (u32::MAX, None, 16, 8),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    let first = &memory.arenas()[1];
    let used = ((i32::MAX as u64) << 23) + 7;
    assert_eq!((first.slack(), first.gaps()), (None, u64::MAX - used));
    let sizes: Vec<_> = memory.tensors(first).iter().map(|of| of.bytes).collect();
    assert_eq!(sizes, [None, Some((i32::MAX as u64) << 23), Some(32)]);
}

#[test]
fn what_is_not_there_is_no_method_at_all() {
    for root in ["{}", r#"{"execution_plan": [{}]}"#, r#"{"execution_plan": [{"chains": [{}]}]}"#] {
        let file = crate::support::build::file(&format!(r#"{{"root": {root}}}"#));
        let pte = Pte::read(&file).unwrap();
        for plan in plans(&pte) {
            let memory = Memory::of(&pte, plan);
            assert_eq!(
                (memory.arenas().len(), memory.instruction_count(), memory.planned()),
                (0, 0, 0)
            );
            assert_eq!((memory.place(7), memory.instruction(7).is_none()), ((0, 7), true));
        }
    }
    // A getter may have an output in an arena, and no instruction.
    let file = program(&[planned(0)], (&[], &[0]), 16, &[vec![]]);
    let pte = Pte::read(&file).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    let arena = &memory.arenas()[0];
    assert_eq!((arena.peak, arena.peak_pc), (16, None));
    assert_eq!(memory.tensors(arena)[0].role, TensorRole::Output);
}

/// Crossing jumps, moves in circles, and a long list in every call. Ten times as many take about ten times as
/// long, and not a hundred times.
#[test]
fn much_of_everything_takes_no_long_time() {
    let truth = json!({"val_type": "Bool", "val": {"bool_val": true}});
    let list = |n: i32| {
        let items: Vec<_> = (0..n).collect();
        json!({"val_type": "TensorList", "val": {"items": items}})
    };
    let make = |n: usize| {
        let mut values: Vec<_> =
            (0..n as u64).map(|nth| planned(8 * (nth * 7919 % 1000))).collect();
        let (last, condition) = (n as i32, n as i32 + 1);
        values.extend([list(n as i32), truth.clone()]);
        let chain = (0..n).flat_map(|nth| {
            let value = (nth * 31 % n) as i32;
            [
                call(1, &[last, value, value]),
                moved(value, (value + 1) % last),
                jump(condition, nth * 7919 % (4 * n)),
                call(0, &[value, last - value - 1, 0, value / 2, value / 2]),
            ]
        });
        program(&values, (&[0], &[1]), 8008, &[chain.collect()])
    };
    let times = [2_000 / thinned(4), 20_000 / thinned(4)].map(|n| {
        let file = make(n);
        let pte = Pte::read(&file).unwrap();
        let begun = Instant::now();
        let memory = Memory::of(&pte, plans(&pte).next().unwrap());
        assert!(memory.arenas()[0].peak > 0);
        begun.elapsed().as_secs_f64()
    });
    println!("{times:?} seconds");
    assert!(times[1] < 40.0 * times[0].max(0.01), "{times:?}");
}
