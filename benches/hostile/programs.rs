//! Hostile programs.

use crate::families::Kind::Program;
use crate::families::*;
use crate::flat::Field::{To, U8, U32};
use crate::flat::{Flat, Id};

pub(crate) fn families() -> Vec<Family> {
    let mut all = vec![
        family("tensors of one table", |flat| {
            let tensor = small_tensor(flat, 0);
            let count = listed(flat, 16);
            let values = flat.shared(tensor, count);
            Plan { values: Some(values), ..Plan::default() }.program(flat)
        }),
        family("tensors, each a table", |flat| {
            let sizes = flat.i32s([2, 4]);
            let order = flat.bytes(vec![0, 1]);
            let values = (0..own(flat, 44) as u32).map(|nth| tensor(flat, sizes, order, nth * 32));
            let values = values.collect();
            let values = flat.offsets(values);
            Plan { values: Some(values), ..Plan::default() }.program(flat)
        }),
        family("a method without fields, shared", |flat| {
            let plan = flat.table(&[]);
            let count = listed(flat, 0);
            program(flat, vec![plan; count], &[], 0)
        }),
        family("a method, shared", |flat| {
            let plan = method(flat, 1, 1);
            let count = listed(flat, 150);
            program(flat, vec![plan; count], &[], 0)
        }),
        family("a method of many calls, shared", |flat| {
            let each = square(visits(flat, 30) / 2);
            let plan = method(flat, each, each);
            let count = visits(flat, 16) / each / 4;
            program(flat, vec![plan; count.max(1)], &[], 0)
        }),
        family("methods that share their lists", |flat| {
            let (values, chains, operators) = body(flat, 3, 3);
            let count = own(flat, 60).min(visits(flat, 250)).max(1);
            let plans = (0..count).map(|nth| {
                let name = Some(flat.string(format!("m{nth}")));
                let of =
                    Plan { name, values: Some(values), chains: Some(chains), ..Plan::default() };
                Plan { operators: Some(operators), ..of }.table(flat)
            });
            let plans = plans.collect();
            program(flat, plans, &[], 0)
        }),
        family("a long method name", |flat| {
            let len = flat.size / 4;
            let name = Some(flat.string("\u{1b}".repeat(len)));
            let tensor = small_tensor(flat, 0);
            let count = listed(flat, 80) / 4;
            let values = Some(flat.shared(tensor, count));
            Plan { name, values, ..Plan::default() }.program(flat)
        }),
        family("a chain, shared", |flat| {
            let (values, _, operators) = body(flat, 3, 1);
            let each = square(visits(flat, 20));
            let args = flat.i32s([0, 1]);
            let call = call(flat, 0, args);
            let instructions = flat.shared(call, each);
            let chain = flat.table(&[(2, To(instructions))]);
            let count = visits(flat, 20) / (each + 1);
            let chains = Some(flat.shared(chain, count.max(1)));
            let of = Plan { values: Some(values), chains, ..Plan::default() };
            Plan { operators: Some(operators), ..of }.program(flat)
        }),
        family("empty chains", |flat| {
            let chain = flat.table(&[]);
            let count = listed(flat, 0);
            let chains = Some(flat.shared(chain, count));
            Plan { chains, ..Plan::default() }.program(flat)
        }),
        family("a long name of an operator that all call", |flat| {
            let (values, _, _) = body(flat, 3, 1);
            let name = "\u{1b}".repeat(flat.size / 4);
            let operators = vec![operator(flat, name)];
            let operators = Some(flat.offsets(operators));
            let args = flat.i32s([0, 1]);
            let call = call(flat, 0, args);
            let count = listed(flat, 8) / 2;
            let instructions = flat.shared(call, count);
            let chains = Some(chain(flat, instructions));
            Plan { values: Some(values), chains, operators, ..Plan::default() }.program(flat)
        }),
        family("operators of one table, each called", |flat| {
            let operator = operator(flat, "aten::add");
            let args = flat.i32s([0, 1, 2]);
            let count = own(flat, 36).min(visits(flat, 50));
            let operators = Some(flat.shared(operator, count));
            let (values, _, _) = body(flat, 3, 1);
            let instructions = (0..count as u32).map(|nth| call(flat, nth, args)).collect();
            let instructions = flat.offsets(instructions);
            let chains = Some(chain(flat, instructions));
            Plan { values: Some(values), chains, operators, ..Plan::default() }.program(flat)
        }),
        family("arguments of one list", |flat| {
            let (values, _, operators) = body(flat, 64, 1);
            let each = flat.size / 8000 + 4;
            let args = flat.i32s((0..each as i32).map(|nth| nth % 64));
            let count = own(flat, 32).min(visits(flat, 4 * each));
            let instructions = (0..count).map(|_| call(flat, 0, args)).collect();
            let instructions = flat.offsets(instructions);
            let chains = Some(chain(flat, instructions));
            let of = Plan { values: Some(values), chains, ..Plan::default() };
            Plan { operators: Some(operators), ..of }.program(flat)
        }),
        family("a call of a million arguments", |flat| {
            let (values, _, operators) = body(flat, 64, 1);
            let args = flat.i32s((0..flat.size as i32 / 6).map(|nth| nth % 64));
            let call = call(flat, 0, args);
            let instructions = flat.shared(call, 3);
            let chains = Some(chain(flat, instructions));
            let of = Plan { values: Some(values), chains, ..Plan::default() };
            Plan { operators: Some(operators), ..of }.program(flat)
        }),
        family("stack traces, shared", |flat| {
            let (values, _, operators) = body(flat, 3, 1);
            let text = flat.string("x".repeat(64));
            let frame = flat.table(&[(0, To(text)), (1, U32(7)), (2, To(text)), (3, To(text))]);
            let frames = flat.shared(frame, 10);
            let trace = flat.table(&[(0, To(frames))]);
            let count = visits(flat, 10 * (16 + 3 * 69) + 40);
            let args = flat.i32s([0, 1]);
            let call = call(flat, 0, args);
            let instructions = flat.shared(call, count);
            let traces = flat.shared(trace, count);
            let chain = flat.table(&[(2, To(instructions)), (3, To(traces))]);
            let chains = Some(flat.offsets(vec![chain]));
            let of = Plan { values: Some(values), chains, ..Plan::default() };
            Plan { operators: Some(operators), ..of }.program(flat)
        }),
        family("inputs and outputs that are one tensor", |flat| {
            let sizes = flat.i32s(vec![1000; 16]);
            let order = flat.bytes((0..16).collect());
            let tensor = tensor(flat, sizes, order, 0);
            let values = Some(flat.offsets(vec![tensor]));
            let ends = flat.i32s(vec![0; flat.size / 5]);
            let (inputs, outputs) = (Some(ends), Some(ends));
            Plan { values, inputs, outputs, ..Plan::default() }.program(flat)
        }),
        family("strings of a terminal's codes, shared", |flat| {
            let text = flat.string("\u{1b}[2J".repeat(16));
            let string = list(flat, 6, text);
            let count = listed(flat, 72);
            let values = Some(flat.shared(string, count));
            Plan { values, ..Plan::default() }.program(flat)
        }),
        family("a string as long as the file", |flat| {
            let text = "\u{1b}".repeat(flat.size * 3 / 4);
            let text = flat.string(text);
            let string = list(flat, 6, text);
            let values = Some(flat.shared(string, 4));
            Plan { values, ..Plan::default() }.program(flat)
        }),
        family("named data that share a segment and a name", |flat| {
            let name = flat.string("k");
            let named = flat.table(&[(0, To(name)), (1, U32(0))]);
            let count = listed(flat, 6);
            let named = flat.shared(named, count);
            with_segments(flat, 1, &[(7, To(named))])
        }),
        family("named data of own names in one segment", |flat| {
            let named = (0..own(flat, 40)).map(|nth| {
                let name = flat.string(format!("key {nth}"));
                flat.table(&[(0, To(name)), (1, U32(0))])
            });
            let named = named.collect();
            let named = flat.offsets(named);
            with_segments(flat, 1, &[(7, To(named))])
        }),
        family("segments over each other", |flat| {
            let count = own(flat, 24).min(visits(flat, 0)) / 2;
            with_segments(flat, count, &[])
        }),
        family("segments over each other, each with a name", |flat| {
            let count = own(flat, 60) / 2;
            let named = (0..count as u32).map(|nth| {
                let name = flat.string(format!("k{nth}"));
                flat.table(&[(0, To(name)), (1, U32(nth))])
            });
            let named = named.collect();
            let named = flat.offsets(named);
            with_segments(flat, count, &[(7, To(named))])
        }),
        family("constants over each other", |flat| {
            let count = own(flat, 100) / 2;
            let order = flat.bytes(vec![0]);
            let values = (0..count as u32).map(|nth| {
                let len = (flat.size / 8) as i32 - nth as i32;
                let sizes = flat.i32s([len]);
                constant(flat, sizes, order, nth + 1)
            });
            let values = values.collect();
            let values = Some(flat.offsets(values));
            let plan = Plan { values, ..Plan::default() }.table(flat);
            let offsets = flat.i64s(0..=count as i64);
            let offsets = flat.table(&[(0, U32(0)), (1, To(offsets))]);
            let half = flat.size / 2;
            let segment = segment(flat, 0, half as u64);
            let segments = flat.offsets(vec![segment]);
            program(flat, vec![plan], &[(4, To(segments)), (5, To(offsets))], half)
        }),
        family("constants inside the tables, shared", |flat| {
            let data = flat.bytes(vec![1; 64]);
            let buffer = flat.table(&[(0, To(data))]);
            let count = visits(flat, 16 + 64 + 40) / 2;
            let buffers = flat.shared(buffer, count);
            let sizes = flat.i32s([16]);
            let order = flat.bytes(vec![0]);
            let values = (0..(own(flat, 48) / 2).min(count) as u32)
                .map(|nth| constant(flat, sizes, order, nth))
                .collect();
            let values = Some(flat.offsets(values));
            let plan = Plan { values, ..Plan::default() }.table(flat);
            program(flat, vec![plan], &[(2, To(buffers))], 0)
        }),
        family("delegates that share a payload in a segment", |flat| {
            let plan = delegates(flat, 1);
            with_segments_of(flat, vec![plan], 1, &[])
        }),
        family("delegates that share a payload in the tables", |flat| {
            let plan = delegates(flat, 0);
            let data = flat.bytes(vec![1; flat.size / 4]);
            let data = flat.table(&[(0, To(data))]);
            let data = flat.shared(data, 3);
            program(flat, vec![plan], &[(3, To(data))], 0)
        }),
        family("delegates of one table, each called", |flat| {
            let id = flat.string("XnnpackBackend");
            let reference = flat.table(&[(0, U8(1)), (1, U32(0))]);
            let none = flat.offsets(Vec::new());
            let delegate = flat.table(&[(0, To(id)), (1, To(reference)), (2, To(none))]);
            let count = own(flat, 36).min(visits(flat, 60));
            let delegates = Some(flat.shared(delegate, count));
            let args = flat.i32s([0, 1]);
            let calls = (0..count as u32).map(|nth| {
                let call = flat.table(&[(0, U32(nth)), (1, To(args))]);
                instruction(flat, 2, call)
            });
            let calls = calls.collect();
            let calls = flat.offsets(calls);
            let (values, _, _) = body(flat, 3, 1);
            let chains = Some(chain(flat, calls));
            let plan = Plan { values: Some(values), chains, delegates, ..Plan::default() };
            let plan = plan.table(flat);
            with_segments_of(flat, vec![plan], 1, &[])
        }),
        family("arenas", |flat| {
            let sizes = Some(flat.i64s(vec![64; flat.size / 10]));
            Plan { sizes, ..Plan::default() }.program(flat)
        }),
        family("arenas of methods that share them", |flat| {
            let each = square(flat.size / 8);
            let sizes = Some(flat.i64s(vec![64; each]));
            let plan = Plan { sizes, ..Plan::default() }.table(flat);
            let count = visits(flat, 8 * each + 60);
            program(flat, vec![plan; count], &[], 0)
        }),
        family("tensors that each name an arena", |flat| {
            let sizes = flat.i32s([2, 4]);
            let order = flat.bytes(vec![0, 1]);
            let values = (0..own(flat, 44) as u32).map(|nth| {
                let place = flat.table(&[(0, U32(nth + 1)), (1, U32(0))]);
                let fields = [(0, U8(6)), (2, To(sizes)), (3, To(order)), (6, To(place))];
                let tensor = flat.table(&fields);
                value(flat, 5, tensor)
            });
            let values = values.collect();
            let values = Some(flat.offsets(values));
            Plan { values, ..Plan::default() }.program(flat)
        }),
        family("devices of arenas, shared", |flat| {
            let device = flat.table(&[(0, U32(1)), (1, U8(1))]);
            let count = listed(flat, 0) / 2;
            let devices = Some(flat.shared(device, count));
            let sizes = Some(flat.i64s(vec![64; flat.size / 20]));
            Plan { devices, sizes, ..Plan::default() }.program(flat)
        }),
    ];
    all.extend(tensors());
    all.extend(names());
    all.extend(lists());
    all.extend(calls());
    all.push(Family::new(Program, "calls and values of an honest exporter", honest));
    all
}

fn family(name: &str, make: impl Fn(&mut Flat) -> Made + 'static) -> Family {
    Family::new(Program, name, make)
}

/// Tensors of many dimensions that values, calls and lists share.
fn tensors() -> Vec<Family> {
    let rank = |name: &str, rank: fn(&Flat) -> usize, is_called: bool| {
        family(name, move |flat| {
            let rank = rank(flat);
            let sizes = flat.i32s((0..rank).map(|nth| 1 + i32::from(nth == 7)));
            let order = flat.bytes((0..rank).map(|nth| nth as u8).collect());
            let tensor = tensor(flat, sizes, order, 0);
            let most = visits(flat, 5 * rank);
            let count = if is_called { most / 2 } else { most.min(listed(flat, 0)) };
            let values = Some(
                flat.shared(tensor, count.clamp(1, if is_called { 64 } else { count.max(1) })),
            );
            let operators = Some(body(flat, 3, 1).2);
            let args = flat.i32s([0, 0, 0, 0, 0, 0, 0, 0]);
            let call = call(flat, 0, args);
            let calls = if is_called { listed(flat, 40) / 3 } else { 0 };
            let instructions = flat.shared(call, calls);
            let chains = Some(chain(flat, instructions));
            Plan { values, operators, chains, ..Plan::default() }.program(flat)
        })
    };
    vec![
        rank("tensors of 16 dimensions, shared", |_| 16, false),
        rank("tensors of 1,000 dimensions, shared", |_| 1000, false),
        rank("a tensor of 16 dimensions that all calls name", |_| 16, true),
        rank(
            "a tensor of a hundred thousand dimensions that all calls name",
            |flat| flat.size / 100,
            true,
        ),
    ]
}

/// Names that many share.
fn names() -> Vec<Family> {
    let long = |name: &str, len: fn(&Flat) -> usize, text: &'static str| {
        family(name, move |flat| {
            let len = len(flat);
            let name = flat.string(text.repeat(len));
            let extra = flat.table(&[(1, To(name))]);
            let sizes = flat.i32s([2]);
            let order = flat.bytes(vec![0]);
            let place = flat.table(&[(0, U32(1))]);
            let fields =
                [(0, U8(6)), (2, To(sizes)), (3, To(order)), (6, To(place)), (9, To(extra))];
            let tensor = flat.table(&fields);
            let value = value(flat, 5, tensor);
            let count = listed(flat, 13 + len * text.len());
            let values = Some(flat.shared(value, count));
            Plan { values, ..Plan::default() }.program(flat)
        })
    };
    let keys = |name: &str, len: fn(&Flat) -> usize| {
        family(name, move |flat| {
            let len = len(flat);
            let name = flat.string("\u{1b}".repeat(len));
            let named = flat.table(&[(0, To(name)), (1, U32(0))]);
            let count = listed(flat, 5 + len);
            let named = flat.shared(named, count);
            with_segments(flat, 1, &[(7, To(named))])
        })
    };
    vec![
        long("a name of 64 characters that tensors share", |_| 64, "x"),
        long("a name of 64 codes that tensors share", |_| 64, "\u{1b}"),
        long("a name of 4,000 invisible characters that tensors share", |_| 4000, "\u{200b}"),
        long("a name of a quarter of the file that tensors share", |flat| flat.size / 4, "\u{1b}"),
        keys("a key of 4,000 codes that named data share", |_| 4000),
        keys("a key of a quarter of the file that named data share", |flat| flat.size / 4),
    ]
}

/// Lists that calls and values share.
fn lists() -> Vec<Family> {
    let one = |name: &str, tag: u8, wide: bool| {
        family(name, move |flat| {
            let items = flat.size / if wide { 24 } else { 12 };
            let items = match wide {
                true => flat.i64s((0..items as i64).map(|nth| nth % 3)),
                false => flat.i32s((0..items as i32).map(|nth| nth % 3)),
            };
            let mut values: Vec<Id> = (0..3).map(|nth| small_tensor(flat, nth * 32)).collect();
            if tag == 7 {
                values = (0..3).map(|nth| int(flat, nth)).collect();
            }
            values.push(list(flat, tag, items));
            let values = Some(flat.offsets(values));
            let operators = Some(body(flat, 3, 1).2);
            let args = flat.i32s([3, 0, 3, 3]);
            let count = own(flat, 32) / 2;
            let calls = (0..count).map(|_| call(flat, 0, args)).collect();
            let calls = flat.offsets(calls);
            let chains = Some(chain(flat, calls));
            Plan { values, operators, chains, ..Plan::default() }.program(flat)
        })
    };
    let shared = |name: &str, tag: u8, each: usize, wide: bool| {
        family(name, move |flat| {
            let items = match wide {
                true => flat.i64s((0..each as i64).map(|nth| nth % 3)),
                false => flat.i32s((0..each as i32).map(|nth| nth % 3)),
            };
            let mut values: Vec<Id> = (0..3).map(|nth| small_tensor(flat, nth * 32)).collect();
            let list = list(flat, tag, items);
            let count = listed(flat, each * if wide { 8 } else { 4 } + 4);
            values.extend(vec![list; count]);
            let values = Some(flat.offsets(values));
            let outputs = Some(flat.i32s(0..count as i32 / 30));
            Plan { values, outputs, ..Plan::default() }.program(flat)
        })
    };
    vec![
        one("a list of tensors that all calls name", 10, false),
        one("a list of optional tensors that all calls name", 11, false),
        one("a list of ints that all calls name", 7, true),
        one("a list of numbers that all calls name", 8, true),
        shared("lists of 8 tensors that share their items", 10, 8, false),
        shared("lists of 1,000 tensors that share their items", 10, 1000, false),
        shared("lists of 8 ints that share their items", 7, 8, true),
        shared("lists of 1,000 numbers that share their items", 8, 1000, true),
    ]
}

/// Instructions in every order.
fn calls() -> Vec<Family> {
    let calls = |name: &str, operators: usize, order: fn(usize, bool) -> usize| {
        family(name, move |flat| {
            let count = own(flat, 48).min(visits(flat, 30)) / 2;
            let operators = if operators == 0 { count } else { operators };
            let (values, _, _) = body(flat, 64, 1);
            let named =
                (0..operators).map(|nth| operator(flat, format!("x::{nth}"))).collect::<Vec<_>>();
            let named = Some(flat.offsets(named));
            let is_other = flat.is_other;
            let calls = (0..count).map(|nth| {
                let args = flat.i32s([(nth % 61) as i32, (nth % 7) as i32]);
                call(flat, (order(nth, is_other) % operators) as u32, args)
            });
            let calls = calls.collect();
            let calls = flat.offsets(calls);
            let chains = Some(chain(flat, calls));
            Plan { values: Some(values), operators: named, chains, ..Plan::default() }.program(flat)
        })
    };
    let jumps = |name: &str, to: fn(u32, u32) -> u32| {
        family(name, move |flat| {
            let count = own(flat, 24) as u32;
            let (values, _, _) = body(flat, 3, 1);
            let jumps = (0..count).map(|nth| {
                let jump = flat.table(&[(0, U32(0)), (1, U32(to(nth, count)))]);
                instruction(flat, 4, jump)
            });
            let jumps = jumps.collect();
            let jumps = flat.offsets(jumps);
            let chains = Some(chain(flat, jumps));
            Plan { values: Some(values), chains, ..Plan::default() }.program(flat)
        })
    };
    let moves = |name: &str, tensors: usize, to: fn(usize, usize) -> (usize, usize)| {
        family(name, move |flat| {
            let count = own(flat, 24) / 2;
            let tensors = if tensors == 0 { count / 3 } else { tensors };
            let sizes = flat.i32s([2, 4]);
            let order = flat.bytes(vec![0, 1]);
            let values = (0..tensors).map(|nth| tensor(flat, sizes, order, nth as u32)).collect();
            let values = Some(flat.offsets(values));
            let moves = (0..count).map(|nth| {
                let (from, to) = to(nth, tensors);
                let of = flat.table(&[(0, U32(from as u32)), (1, U32(to as u32))]);
                instruction(flat, 3, of)
            });
            let moves = moves.collect();
            let moves = flat.offsets(moves);
            let chains = Some(chain(flat, moves));
            Plan { values, chains, ..Plan::default() }.program(flat)
        })
    };
    let lives = |name: &str, range: fn(u32, u32) -> (u32, u32)| {
        family(name, move |flat| {
            let count = own(flat, 100);
            let order = flat.bytes(vec![0]);
            let values = (0..count as u32).map(|nth| {
                let (offset, len) = range(nth, count as u32);
                let sizes = flat.i32s([len as i32]);
                tensor(flat, sizes, order, offset)
            });
            let values = values.collect();
            let values = Some(flat.offsets(values));
            let operators = vec![operator(flat, "aten::view_copy")];
            let operators = Some(flat.offsets(operators));
            let calls = (0..count as i32).map(|nth| {
                let args = flat.i32s([nth, nth * 7 % count as i32, nth * 31 % count as i32]);
                call(flat, 0, args)
            });
            let calls = calls.collect();
            let calls = flat.offsets(calls);
            let chains = Some(chain(flat, calls));
            Plan { values, operators, chains, ..Plan::default() }.program(flat)
        })
    };
    vec![
        calls("calls that are all alike, or all of another operator", 2, |_, is_other| {
            usize::from(is_other)
        }),
        calls("calls of two kinds", 2, |nth, is_other| {
            random(nth as u64 * 2 + u64::from(is_other)) & 1
        }),
        calls("calls of thirteen kinds", 13, |nth, is_other| {
            nth * nth / if is_other { 3 } else { 5 }
        }),
        calls("calls that are all different, in another order", 0, |nth, is_other| {
            if is_other { nth * 7919 } else { nth }
        }),
        jumps("jumps to the other end", |nth, count| count - 1 - nth),
        jumps("jumps over each other", |nth, count| (random(nth.into()) as u32) % count),
        jumps("jumps back to the start", |_, _| 0),
        jumps("jumps ahead", |nth, count| nth + (count - nth) / 2),
        moves("moves along a row", 0, |nth, count| (nth % count, (nth + 1) % count)),
        moves("moves onto one value", 0, |nth, count| (nth % count, 0)),
        moves("moves between two values", 2, |nth, _| (nth % 2, (nth + 1) % 2)),
        lives("tensors inside each other", |nth, count| (nth, 2 * (count - nth))),
        lives("tensors that overlap", |nth, count| (nth * 3, count / 2)),
        lives("tensors at one place", |_, _| (0, 64)),
    ]
}

/// Values and calls as exporters write them: three tensors for each call, one operator of nine.
fn honest(flat: &mut Flat) -> Made {
    let count = own(flat, 150);
    let operators = (0..9).map(|nth| operator(flat, format!("own::op{nth}"))).collect();
    let operators = Some(flat.offsets(operators));
    let order = flat.bytes(vec![0, 1]);
    let values = (0..count as u32).map(|nth| {
        let sizes = flat.i32s([nth as i32 % 4 + 1, 8]);
        tensor(flat, sizes, order, nth % 4096 * 256)
    });
    let values = values.collect();
    let values = Some(flat.offsets(values));
    let calls = (0..count as i32).map(|nth| {
        let last = (nth + 1).min(count as i32 - 1);
        let args = flat.i32s([(nth - 5).max(0), nth, last, last]);
        call(flat, nth as u32 % 9, args)
    });
    let calls = calls.collect();
    let calls = flat.offsets(calls);
    let chains = Some(chain(flat, calls));
    Plan { values, operators, chains, ..Plan::default() }.program(flat)
}

/// The values, chains and operators of a method of `tensors` and `calls`, all shared.
fn body(flat: &mut Flat, tensors: usize, calls: usize) -> (Id, Id, Id) {
    let operators = vec![operator(flat, "aten::add")];
    let operators = flat.offsets(operators);
    let values = (0..tensors.min(64)).map(|nth| small_tensor(flat, nth as u32 * 32));
    let values: Vec<_> = values.collect();
    let values = values.iter().copied().cycle().take(tensors).collect();
    let values = flat.offsets(values);
    let args = flat.i32s([0, 1, 2, 2]);
    let call = call(flat, 0, args);
    let calls = flat.shared(call, calls);
    (values, chain(flat, calls), operators)
}

fn method(flat: &mut Flat, tensors: usize, calls: usize) -> Id {
    let (values, chains, operators) = body(flat, tensors, calls);
    let of = Plan { values: Some(values), chains: Some(chains), ..Plan::default() };
    Plan { operators: Some(operators), ..of }.table(flat)
}

/// A tensor whose data is in the file.
fn constant(flat: &mut Flat, sizes: Id, order: Id, index: u32) -> Id {
    let tensor = flat.table(&[(0, U8(0)), (2, To(sizes)), (3, To(order)), (5, U32(index))]);
    value(flat, 5, tensor)
}

/// A method of delegates that all have payload 0, in a segment or in the tables.
fn delegates(flat: &mut Flat, location: u8) -> Id {
    let id = flat.string("XnnpackBackend");
    let key = flat.string("key");
    let bytes = flat.bytes(vec![1; 16]);
    let spec = flat.table(&[(0, To(key)), (1, To(bytes))]);
    let specs = flat.shared(spec, 2);
    let count = own(flat, 30) / 2;
    let delegates = (0..count).map(|_| {
        let reference = flat.table(&[(0, U8(location)), (1, U32(0))]);
        flat.table(&[(0, To(id)), (1, To(reference)), (2, To(specs))])
    });
    let delegates = delegates.collect();
    let delegates = Some(flat.offsets(delegates));
    Plan { delegates, ..Plan::default() }.table(flat)
}

/// A program of a small method, and of segments that lie in one another, half of the file in all.
fn with_segments(flat: &mut Flat, count: usize, more: &[(u16, crate::flat::Field)]) -> Made {
    let plan = method(flat, 3, 1);
    with_segments_of(flat, vec![plan], count, more)
}

fn with_segments_of(
    flat: &mut Flat,
    plans: Vec<Id>,
    count: usize,
    more: &[(u16, crate::flat::Field)],
) -> Made {
    let half = flat.size / 8;
    let segments =
        (0..count as u64).map(|nth| segment(flat, nth, half as u64 - nth.min(half as u64 / 2)));
    let segments = segments.collect();
    let segments = flat.offsets(segments);
    let mut fields = vec![(4, To(segments))];
    fields.extend(more);
    program(flat, plans, &fields, half)
}

/// A number that has nothing to do with the next one's.
fn random(seed: u64) -> usize {
    let mixed = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed ^ mixed >> 32) & 0xffff_ffff) as usize
}
