//! Random methods, run along all paths that their jumps allow.

use std::collections::BTreeSet;

use pte::Pte;
use pte::memory::{LiveRange, Memory, PlannedTensor, TensorRole};
use pte::schema::program::view::InstructionArguments;
use serde_json::{Value, json};

use super::cases::{call, jump, moved, planned, program};
use super::plans;
use crate::support::thinned;

/// A generator of pseudorandom numbers, the same in each run (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

const TENSORS: usize = 5;
const ONE: i32 = TENSORS as i32;
const TRUTH: i32 = ONE + 1;

#[derive(Clone, Copy, Debug)]
enum Does {
    Add([usize; 3]),
    Move(usize, usize),
    Jump(usize),
}

fn method(chance: &mut Chance, kinds: usize) -> Vec<Does> {
    let len = 1 + chance.below(9);
    (0..len)
        .map(|_| match chance.below(kinds) {
            0..=5 => Does::Add([(); 3].map(|()| chance.below(TENSORS))),
            6 | 7 => Does::Move(chance.below(TENSORS), chance.below(TENSORS)),
            _ => Does::Jump(chance.below(len + 1)),
        })
        .collect()
}

fn file(method: &[Does], outputs: &[i32]) -> Vec<u8> {
    let mut values: Vec<Value> = (0..TENSORS as u64).map(|nth| planned(16 * nth)).collect();
    values.push(json!({"val_type": "Int", "val": {"int_val": 1}}));
    values.push(json!({"val_type": "Bool", "val": {"bool_val": true}}));
    let chain = method.iter().map(|does| match *does {
        Does::Add([a, b, out]) => call(0, &[a as i32, b as i32, ONE, out as i32, out as i32]),
        Does::Move(from, to) => moved(from as i32, to as i32),
        Does::Jump(to) => jump(TRUTH, to),
    });
    program(&values, (&[0], outputs), 16 * TENSORS as u64, &[chain.collect()])
}

/// Adds all paths through a method from the instruction `at` on to `all`. `path` is the path up to it.
fn add_paths(method: &[Does], path: &mut Vec<usize>, at: usize, all: &mut Vec<Vec<usize>>) {
    // Three iterations show which values one passes to the next.
    let is_long = path.iter().filter(|&&step| step == at).count() >= 3;
    if is_long || all.len() > 3000 {
        return;
    }
    let Some(&does) = method.get(at) else {
        all.push(path.clone());
        return;
    };
    path.push(at);
    add_paths(method, path, at + 1, all);
    if let Does::Jump(to) = does {
        add_paths(method, path, to, all);
    }
    path.pop();
}

/// Returns, for each tensor, the instructions at which its data is needed on a path: those between a
/// write and a later read. Also returns whether it is read before anything on the path writes it.
fn needed(method: &[Does], path: &[usize], outputs: &[i32]) -> Vec<(BTreeSet<usize>, bool)> {
    let mut needed = vec![(BTreeSet::new(), false); TENSORS];
    let mut held: Vec<_> = (0..TENSORS).collect();
    let mut written: Vec<Option<usize>> = vec![None; TENSORS];
    written[0] = Some(0);
    let read = |tensor: usize, now: usize, written: &[Option<usize>], needed: &mut Vec<_>| {
        let (steps, reads_unwritten): &mut (BTreeSet<usize>, bool) = &mut needed[tensor];
        match written[tensor] {
            Some(since) => steps.extend(path.iter().take(now + 1).skip(since)),
            None => *reads_unwritten = true,
        }
    };
    for (now, &step) in path.iter().enumerate() {
        match method[step] {
            Does::Add([a, b, out]) => {
                read(held[a], now, &written, &mut needed);
                read(held[b], now, &written, &mut needed);
                written[held[out]] = Some(now);
                needed[held[out]].0.insert(step);
            }
            Does::Move(from, to) => {
                read(held[from], now, &written, &mut needed);
                held[to] = held[from];
            }
            Does::Jump(_) => {}
        }
    }
    for &output in outputs {
        read(held[output as usize], path.len().saturating_sub(1), &written, &mut needed);
    }
    needed
}

fn lives(file: &[u8]) -> Vec<(TensorRole, Option<(usize, usize)>)> {
    let pte = Pte::read(file).unwrap();
    let plan = plans(&pte).next().unwrap();
    let memory = Memory::of(&pte, plan);
    let steps = memory.instruction_count();
    for step in 0..steps {
        let does = memory.instruction(step);
        assert!(!matches!(does, None | Some(InstructionArguments::Unknown(_))));
    }
    let mut all = memory.tensors(&memory.arenas()[0]).to_vec();
    all.sort_by_key(|tensor| tensor.value);
    let span = |life: LiveRange| {
        let (first, last) = life.span(steps);
        (first as usize, last as usize)
    };
    // Paths follow the tensors behind indices, so views are left out.
    let own = |of: &PlannedTensor| of.live_range.filter(|_| !of.is_view);
    all.iter().map(|of| (of.role, own(of).map(span))).collect()
}

/// A method with forward jumps only, many of which lie inside longer ones.
fn method_of_forward_jumps(chance: &mut Chance) -> Vec<Does> {
    let len = 4 + chance.below(7);
    (0..len)
        .map(|at| match chance.below(10) {
            0..=3 => Does::Add([(); 3].map(|()| chance.below(TENSORS))),
            4 | 5 => Does::Move(chance.below(TENSORS), chance.below(TENSORS)),
            _ => Does::Jump(at + 1 + chance.below(len - at)),
        })
        .collect()
}

/// On every path, a tensor that is needed is live.
#[test]
fn live_ranges_cover_all_paths() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let with_loops = needed_tensors_live(&mut chance, |chance| method(chance, 10));
    assert!(with_loops > 500 / thinned(5));
}

#[test]
fn needed_tensors_live_across_nested_forward_jumps() {
    let mut chance = Chance(0xd1b5_4a32_d192_ed03);
    assert_eq!(needed_tensors_live(&mut chance, method_of_forward_jumps), 0);
}

/// Compares live ranges with all paths of up to 3,000 methods. Returns the number of methods with loops.
fn needed_tensors_live(chance: &mut Chance, make: impl Fn(&mut Chance) -> Vec<Does>) -> usize {
    let (mut exact, mut all_tensors, mut with_loops) = (0, 0, 0);
    for _ in 0..3000 / thinned(5) {
        let (method, outputs) = (make(chance), [chance.below(TENSORS) as i32]);
        let lives = lives(&file(&method, &outputs));
        let mut all = Vec::new();
        add_paths(&method, &mut Vec::new(), 0, &mut all);
        let is_loop = |(nth, does): (usize, &Does)| matches!(does, Does::Jump(to) if *to <= nth);
        with_loops += usize::from(method.iter().enumerate().any(is_loop));
        let mut union = vec![BTreeSet::new(); TENSORS];
        for path in &all {
            for (tensor, (steps, _)) in needed(&method, path, &outputs).into_iter().enumerate() {
                union[tensor].extend(steps);
            }
        }
        for (tensor, steps) in union.into_iter().enumerate() {
            let (Some(&first), Some(&last)) = (steps.first(), steps.last()) else { continue };
            let (_, life) = lives[tensor];
            let life = life.unwrap_or_else(|| panic!("{tensor} lives: {method:?}"));
            assert!(
                life.0 <= first && last <= life.1,
                "value {tensor} is needed from {first} to {last}, and live in {life:?}: \
                 {method:?}, outputs {outputs:?}"
            );
            all_tensors += 1;
            exact += usize::from(life == (first, last));
        }
    }
    println!("{exact} of {all_tensors} are exact, {with_loops} methods have loops");
    assert!(exact * 3 > all_tensors);
    with_loops
}

/// Without jumps there is only one path, and a tensor is live exactly where its data is needed.
#[test]
fn without_jumps_lives_are_exact() {
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let mut seen = 0;
    for _ in 0..3000 / thinned(5) {
        let (method, outputs) = (method(&mut chance, 8), [chance.below(TENSORS) as i32]);
        let lives = lives(&file(&method, &outputs));
        let path: Vec<_> = (0..method.len()).collect();
        let needed = needed(&method, &path, &outputs);
        for (tensor, (steps, reads_unwritten)) in needed.into_iter().enumerate() {
            let (role, life) = lives[tensor];
            // The tensor is read before it is written: its contents come from the previous run, or
            // it is an output.
            if reads_unwritten {
                let whole = Some((0, method.len() - 1));
                assert!(role != TensorRole::Scratch || life.is_none(), "{tensor}: {method:?}");
                assert!(life == whole || role == TensorRole::Output, "{tensor}: {method:?}");
                continue;
            }
            let mut expected = steps.first().copied().zip(steps.last().copied());
            if tensor == 0 {
                // An input is live from the start.
                expected = Some((0, steps.last().copied().unwrap_or(0)));
            }
            assert_eq!(life, expected, "value {tensor}: {method:?}, outputs {outputs:?}");
            seen += 1;
        }
    }
    assert!(seen > 5000 / thinned(5));
}
