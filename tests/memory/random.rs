//! Methods made by chance, run in all ways that their jumps allow.

use std::collections::BTreeSet;

use pte::Pte;
use pte::memory::{LiveRange, Memory, TensorRole};
use pte::schema::program::view::InstructionArguments;
use serde_json::{Value, json};

use super::cases::{call, jump, moved, planned, program};
use super::plans;

/// Numbers that are the same each time (xorshift).
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

/// One way through a method: the steps that it takes.
fn ways(method: &[Does], way: &mut Vec<usize>, at: usize, all: &mut Vec<Vec<usize>>) {
    // Three turns show what goes from one to the next.
    let is_long = way.iter().filter(|&&step| step == at).count() >= 3;
    if is_long || all.len() > 3000 {
        return;
    }
    let Some(&does) = method.get(at) else {
        all.push(way.clone());
        return;
    };
    way.push(at);
    ways(method, way, at + 1, all);
    if let Does::Jump(to) = does {
        ways(method, way, to, all);
    }
    way.pop();
}

/// For each tensor the steps at which its data is needed: of each read, all that are taken since it
/// was written; and whether any is read that nothing on the way has written.
fn needed(method: &[Does], way: &[usize], outputs: &[i32]) -> Vec<(BTreeSet<usize>, bool)> {
    let mut needed = vec![(BTreeSet::new(), false); TENSORS];
    let mut held: Vec<_> = (0..TENSORS).collect();
    let mut written: Vec<Option<usize>> = vec![None; TENSORS];
    written[0] = Some(0);
    let read = |tensor: usize, now: usize, written: &[Option<usize>], needed: &mut Vec<_>| {
        let (steps, is_strange): &mut (BTreeSet<usize>, bool) = &mut needed[tensor];
        match written[tensor] {
            Some(since) => steps.extend(way.iter().take(now + 1).skip(since)),
            None => *is_strange = true,
        }
    };
    for (now, &step) in way.iter().enumerate() {
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
        read(held[output as usize], way.len().saturating_sub(1), &written, &mut needed);
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
    all.iter().map(|of| (of.role, of.live_range.map(span))).collect()
}

/// On every path, a tensor that is needed is live.
#[test]
fn what_any_way_needs_lives() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let (mut exact, mut all_tensors, mut with_loops) = (0, 0, 0);
    for _ in 0..3000 {
        let (method, outputs) = (method(&mut chance, 10), [chance.below(TENSORS) as i32]);
        let lives = lives(&file(&method, &outputs));
        let mut all = Vec::new();
        ways(&method, &mut Vec::new(), 0, &mut all);
        let is_loop = |(nth, does): (usize, &Does)| matches!(does, Does::Jump(to) if *to <= nth);
        with_loops += usize::from(method.iter().enumerate().any(is_loop));
        let mut union = vec![BTreeSet::new(); TENSORS];
        for way in &all {
            for (tensor, (steps, _)) in needed(&method, way, &outputs).into_iter().enumerate() {
                union[tensor].extend(steps);
            }
        }
        for (tensor, steps) in union.into_iter().enumerate() {
            let (Some(&first), Some(&last)) = (steps.first(), steps.last()) else { continue };
            let (_, life) = lives[tensor];
            let life = life.unwrap_or_else(|| panic!("{tensor} lives: {method:?}"));
            assert!(
                life.0 <= first && last <= life.1,
                "value {tensor} is needed from {first} to {last}, and {life:?} is said: \
                 {method:?}, outputs {outputs:?}"
            );
            all_tensors += 1;
            exact += usize::from(life == (first, last));
        }
    }
    println!("{exact} of {all_tensors} are exact, {with_loops} methods have loops");
    assert!(with_loops > 500 && exact * 3 > all_tensors);
}

/// Without jumps there is one way, and what lives is what it needs.
#[test]
fn without_jumps_lives_are_exact() {
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let mut seen = 0;
    for _ in 0..3000 {
        let (method, outputs) = (method(&mut chance, 8), [chance.below(TENSORS) as i32]);
        let lives = lives(&file(&method, &outputs));
        let way: Vec<_> = (0..method.len()).collect();
        let needed = needed(&method, &way, &outputs);
        for (tensor, (steps, is_strange)) in needed.into_iter().enumerate() {
            let (role, life) = lives[tensor];
            // Read before it was written: it is from the run before, or an output of nothing.
            if is_strange {
                let whole = Some((0, method.len() - 1));
                assert!(role != TensorRole::Scratch || life.is_none(), "{tensor}: {method:?}");
                assert!(life == whole || role == TensorRole::Output, "{tensor}: {method:?}");
                continue;
            }
            let mut wanted = steps.first().copied().zip(steps.last().copied());
            if tensor == 0 {
                // An input is live from the start.
                wanted = Some((0, steps.last().copied().unwrap_or(0)));
            }
            assert_eq!(life, wanted, "value {tensor}: {method:?}, outputs {outputs:?}");
            seen += 1;
        }
    }
    assert!(seen > 5000);
}
