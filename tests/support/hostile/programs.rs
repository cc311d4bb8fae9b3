//! Programs that are costly to show: tables, lists and names that many share, and instructions in every
//! order.

use super::{Family, Made, call, method, one_plan, operator, program, root};
use crate::tables::{At, Builder, Field, Version, number};
use Field::{Number, To};

pub(super) fn families() -> Vec<Family> {
    let alone = FAMILIES.iter().map(|&(name, make)| Family::program(name, make));
    let parts = [tensors(), names(), lists(), calls(), jumps_and_moves(), lives()];
    alone.chain(parts.into_iter().flatten()).collect()
}

/// The families without parameters.
const FAMILIES: &[(&str, fn(Builder, usize) -> Made)] = &[
    ("tensors of one table", |mut b, n| {
        let tensors = vec![small_tensor(&mut b, 0); n];
        one_plan(b, &[], tensors, vec![])
    }),
    ("tensors, each a table", |mut b, n| {
        let shape = shape(&mut b, [2, 4]);
        let values = b.each(0..n, |b, nth| tensor(b, shape, nth * 32));
        one_plan(b, &[], values, vec![])
    }),
    ("a method, shared", |mut b, n| {
        let plans = vec![simple_method(&mut b, 1, 1); n];
        program(b, plans)
    }),
    ("a method of many calls, shared", |mut b, n| {
        let each = n.isqrt();
        let plans = vec![simple_method(&mut b, each, each); n / each];
        program(b, plans)
    }),
    ("methods that share their lists", |mut b, n| {
        let (operators, tensor) = (operator(&mut b, "aten::add", 1), small_tensor(&mut b, 0));
        let call = call(&mut b, 0, [0, 1, 2, 2]);
        let instructions = b.tables([call; 3]);
        let chain = b.lists("Chain", &[("instructions", instructions)]);
        let (values, chains) = (b.tables([tensor; 3]), b.tables([chain]));
        let lists = [("values", values), ("chains", chains), ("operators", operators)];
        let plans = b.each(0..n, |b, nth| {
            let name = b.text(&format!("m{nth}"));
            b.lists("ExecutionPlan", &[&[("name", name)], &lists[..]].concat())
        });
        program(b, plans)
    }),
    ("a chain, shared", |mut b, n| {
        let each = n.isqrt();
        let (operators, tensor) = (operator(&mut b, "aten::add", 1), small_tensor(&mut b, 0));
        let call = call(&mut b, 0, [0, 1]);
        let instructions = b.tables(vec![call; each]);
        let chain = b.lists("Chain", &[("instructions", instructions)]);
        let (values, chains) = (b.tables([tensor; 3]), b.tables(vec![chain; n / each]));
        let lists = [("values", values), ("chains", chains), ("operators", operators)];
        let plan = b.lists("ExecutionPlan", &lists);
        program(b, vec![plan])
    }),
    ("empty chains", |mut b, n| {
        let chain = b.table("Chain", &[]);
        let chains = b.tables(vec![chain; n]);
        let plan = b.lists("ExecutionPlan", &[("chains", chains)]);
        program(b, vec![plan])
    }),
    ("operators of one table, each called", |mut b, n| {
        let operators = operator(&mut b, "aten::add", n);
        let args = b.numbers([0, 1, 2]);
        let calls = b.each(0..n, |b, nth| call_of(b, nth, args));
        let values = vec![small_tensor(&mut b, 0); 3];
        one_plan(b, &[("operators", operators)], values, calls)
    }),
    ("arguments of one list", |mut b, n| {
        let operators = operator(&mut b, "aten::add", 1);
        let args = b.numbers((0..128).map(|nth| nth % 64));
        let calls = b.each(0..n, |b, _| call_of(b, 0, args));
        let values = vec![small_tensor(&mut b, 0); 64];
        one_plan(b, &[("operators", operators)], values, calls)
    }),
    ("calls of n arguments", |mut b, n| {
        let operators = operator(&mut b, "aten::add", 1);
        let calls = vec![call(&mut b, 0, (0..n).map(|nth| nth % 64)); 3];
        let values = vec![small_tensor(&mut b, 0); 64];
        one_plan(b, &[("operators", operators)], values, calls)
    }),
    ("stack traces, shared", |mut b, n| {
        let operators = operator(&mut b, "aten::add", 1);
        let text = b.text(&"x".repeat(64));
        let texts = ["filename", "name", "context"].map(|name| (name, To(text)));
        let frame = b.table("Frame", &[&texts[..], &[("lineno", Number(7))]].concat());
        let frames = b.tables([frame; 10]);
        let trace = b.lists("FrameList", &[("items", frames)]);
        let call = call(&mut b, 0, [0, 1]);
        let (calls, traces) = (b.tables(vec![call; n]), b.tables(vec![trace; n]));
        let chain = b.lists("Chain", &[("instructions", calls), ("stacktrace", traces)]);
        let tensor = small_tensor(&mut b, 0);
        let (values, chains) = (b.tables([tensor; 2]), b.tables([chain]));
        let lists = [("values", values), ("chains", chains), ("operators", operators)];
        let plan = b.lists("ExecutionPlan", &lists);
        program(b, vec![plan])
    }),
    ("inputs and outputs that are one tensor", |mut b, n| {
        let shape = shape(&mut b, [1000; 16]);
        let tensor = tensor(&mut b, shape, 0);
        let ends = b.numbers(vec![0; n]);
        one_plan(b, &[("inputs", ends), ("outputs", ends)], vec![tensor], vec![])
    }),
    ("strings of a terminal's codes, shared", |mut b, n| {
        let text = b.text(&"\u{1b}[2J".repeat(16));
        let string = b.held("EValue", "String", &[("string_val", To(text))]);
        one_plan(b, &[], vec![string; n], vec![])
    }),
    ("named data that share a segment and a name", |mut b, n| {
        let named = named(&mut b, "k", 0);
        with_segments(b, None, 1, vec![named; n], 4 * n)
    }),
    ("named data of own names in one segment", |mut b, n| {
        let named = b.each(0..n, |b, nth| named(b, &format!("key {nth}"), 0));
        with_segments(b, None, 1, named, 4 * n)
    }),
    ("segments over each other, each with a name", |mut b, n| {
        let named = b.each(0..n, |b, nth| named(b, &format!("k{nth}"), nth));
        with_segments(b, None, n, named, 16 * n)
    }),
    ("constants inside the tables, shared", |mut b, n| {
        let data = b.bytes(&[1; 64]);
        let buffer = b.lists("Buffer", &[("storage", data)]);
        let buffers = b.tables(vec![buffer; n]);
        let (sizes, order) = shape(&mut b, [16]);
        let values = b.each(0..n, |b, nth| {
            let fields =
                [("sizes", To(sizes)), ("dim_order", To(order)), ("data_buffer_idx", number(nth))];
            b.held("EValue", "Tensor", &fields)
        });
        let plan = method(&mut b, &[], values, vec![]);
        let plans = b.tables([plan]);
        root(b, &[("execution_plan", plans), ("constant_buffer", buffers)], &[])
    }),
    ("delegates that share a payload in a segment", |mut b, n| {
        let plan = delegates(&mut b, n, 1);
        with_segments(b, Some(plan), 1, vec![], 4 * n)
    }),
    ("delegates that share a payload in the tables", |mut b, n| {
        let plan = delegates(&mut b, n, 0);
        let data = b.bytes(&vec![1; 16 * n]);
        let data = b.lists("BackendDelegateInlineData", &[("data", data)]);
        let (plans, data) = (b.tables([plan]), b.tables([data; 3]));
        root(b, &[("execution_plan", plans), ("backend_delegate_data", data)], &[])
    }),
    ("delegates of one table, each called", |mut b, n| {
        let id = b.text("XnnpackBackend");
        let reference = b.table("BackendDelegateDataReference", &[("location", Number(1))]);
        let delegate = b.lists("BackendDelegate", &[("id", id), ("processed", reference)]);
        let delegates = b.tables(vec![delegate; n]);
        let args = b.numbers([0, 1]);
        let calls = b.each(0..n, |b, nth| {
            let fields = [("delegate_index", number(nth)), ("args", To(args))];
            b.held("Instruction", "DelegateCall", &fields)
        });
        let values = vec![small_tensor(&mut b, 0); 3];
        let plan = method(&mut b, &[("delegates", delegates)], values, calls);
        with_segments(b, Some(plan), 1, vec![], 4 * n)
    }),
    ("arenas", |mut b, n| {
        let sizes = b.longs(vec![64; n]);
        one_plan(b, &[("non_const_buffer_sizes", sizes)], vec![], vec![])
    }),
    ("arenas of methods that share them", |mut b, n| {
        let each = n.isqrt();
        let sizes = b.longs(vec![64; each]);
        let plans = vec![b.lists("ExecutionPlan", &[("non_const_buffer_sizes", sizes)]); each];
        program(b, plans)
    }),
    ("tensors that each name an arena", |mut b, n| {
        let (sizes, order) = shape(&mut b, [2, 4]);
        let values = b.each(1..=n, |b, nth| {
            let place = b.table("AllocationDetails", &[("memory_id", number(nth))]);
            let fields =
                [("sizes", To(sizes)), ("dim_order", To(order)), ("allocation_info", To(place))];
            b.held("EValue", "Tensor", &fields)
        });
        one_plan(b, &[], values, vec![])
    }),
    ("devices of arenas, shared", |mut b, n| {
        let fields = [("buffer_idx", Number(1)), ("device_type", Number(1))];
        let device = b.table("NonConstBufferDevice", &fields);
        let (sizes, devices) = (b.longs(vec![64; n]), b.tables(vec![device; n]));
        let lists = [("non_const_buffer_sizes", sizes), ("non_const_buffer_device", devices)];
        one_plan(b, &lists, vec![], vec![])
    }),
    // Three tensors for each call, and one operator of nine.
    ("calls and values of an honest exporter", |mut b, n| {
        let operators = b.each(0..9, named_operator);
        let operators = b.tables(operators);
        let tensors = b.each(0..n, |b, nth| {
            let shape = shape(b, [nth % 4 + 1, 8]);
            tensor(b, shape, nth % 4096 * 256)
        });
        let calls = b.each(0..n, |b, nth| {
            let last = (nth + 1).min(n - 1);
            call(b, nth % 9, [nth.saturating_sub(5), nth, last, last])
        });
        one_plan(b, &[("operators", operators)], tensors, calls)
    }),
];

/// Tensors of many dimensions, which values and calls share.
fn tensors() -> Vec<Family> {
    let rows: [(_, fn(usize) -> usize, fn(usize) -> usize, _); 4] = [
        ("tensors of 16 dimensions, shared", |_| 16, |n| n, false),
        ("tensors of 1,000 dimensions, shared", |_| 1000, |n| n / 8, false),
        ("a tensor of 16 dimensions that all calls name", |_| 16, |_| 64, true),
        ("a tensor of n dimensions that all calls name", |n| n, |_| 32, true),
    ];
    let families = rows.map(|(name, rank, count, is_called)| {
        Family::program(name, move |mut b, n| {
            let shape = shape(&mut b, (0..rank(n)).map(|nth| 1 + usize::from(nth == 7)));
            let tensors = vec![tensor(&mut b, shape, 0); count(n)];
            let operators = operator(&mut b, "aten::add", 1);
            let calls = vec![call(&mut b, 0, [0; 8]); if is_called { n } else { 0 }];
            one_plan(b, &[("operators", operators)], tensors, calls)
        })
    });
    families.into()
}

/// Names that many share.
fn names() -> Vec<Family> {
    type Row = (&'static str, &'static str, fn(usize) -> usize, fn(usize) -> usize);
    let tensors: [Row; 4] = [
        ("a name of 64 characters that tensors share", "x", |_| 64, |n| n),
        ("a name of 64 codes that tensors share", "\u{1b}", |_| 64, |n| n),
        (
            "a name of 4,000 invisible characters that tensors share",
            "\u{200b}",
            |_| 4000,
            |n| n / 8,
        ),
        ("a name of n codes that tensors share", "\u{1b}", |n| n, |_| 16),
    ];
    let tensors = tensors.map(|(name, text, len, count)| {
        Family::program(name, move |mut b, n| {
            let name = b.text(&text.repeat(len(n)));
            let extra = b.lists("ExtraTensorInfo", &[("fully_qualified_name", name)]);
            let (sizes, order) = shape(&mut b, [2]);
            let shape = [("sizes", To(sizes)), ("dim_order", To(order))];
            let fields = [&shape[..], &[("extra_tensor_info", To(extra))]].concat();
            let tensors = vec![b.held("EValue", "Tensor", &fields); count(n)];
            one_plan(b, &[], tensors, vec![])
        })
    });
    let keys: [Row; 2] = [
        ("a key of 4,000 codes that named data share", "\u{1b}", |_| 4000, |n| n / 8),
        ("a key of n codes that named data share", "\u{1b}", |n| n, |_| 16),
    ];
    let keys = keys.map(|(name, text, len, count)| {
        Family::program(name, move |mut b, n| {
            let named = vec![named(&mut b, &text.repeat(len(n)), 0); count(n)];
            with_segments(b, None, 1, named, 4 * n)
        })
    });
    tensors.into_iter().chain(keys).collect()
}

/// Lists that calls and values share.
fn lists() -> Vec<Family> {
    let items = |b: &mut Builder, kind: &str, len: usize| {
        let items = (0..len).map(|nth| nth % 3);
        let items = if kind.contains("Tensor") { b.numbers(items) } else { b.longs(items) };
        b.held("EValue", kind, &[("items", To(items))])
    };
    let named = [
        ("a list of tensors that all calls name", "TensorList"),
        ("a list of optional tensors that all calls name", "OptionalTensorList"),
        ("a list of ints that all calls name", "IntList"),
        ("a list of numbers that all calls name", "DoubleList"),
    ];
    let named = named.map(|(name, kind)| {
        Family::program(name, move |mut b, n| {
            let mut values: Vec<_> = (0..3).map(|nth| small_tensor(&mut b, nth * 32)).collect();
            if kind == "IntList" {
                values = (0..3).map(|nth| int(&mut b, nth)).collect();
            }
            values.push(items(&mut b, kind, n));
            let operators = operator(&mut b, "aten::add", 1);
            let args = b.numbers([3, 0, 3, 3]);
            let calls = b.each(0..n, |b, _| call_of(b, 0, args));
            one_plan(b, &[("operators", operators)], values, calls)
        })
    });
    let shared = [
        ("lists of 8 tensors that share their items", "TensorList", 8),
        ("lists of 1,000 tensors that share their items", "TensorList", 1000),
        ("lists of 8 ints that share their items", "IntList", 8),
        ("lists of 1,000 numbers that share their items", "DoubleList", 1000),
    ];
    let shared = shared.map(|(name, kind, len)| {
        Family::program(name, move |mut b, n| {
            let count = if len == 8 { n } else { n / 8 };
            let mut values: Vec<_> = (0..3).map(|nth| small_tensor(&mut b, nth * 32)).collect();
            values.extend(vec![items(&mut b, kind, len); count]);
            let outputs = b.numbers(0..count / 30);
            one_plan(b, &[("outputs", outputs)], values, vec![])
        })
    });
    named.into_iter().chain(shared).collect()
}

/// Calls of operators in every order.
fn calls() -> Vec<Family> {
    let rows: [(_, usize, fn(usize, bool) -> usize); 4] = [
        ("calls that are all alike, or all of another operator", 2, |_, is_second| {
            usize::from(is_second)
        }),
        ("calls of two kinds", 2, |nth, is_second| random(nth * 2 + usize::from(is_second)) & 1),
        ("calls of thirteen kinds", 13, |nth, is_second| nth * nth / if is_second { 3 } else { 5 }),
        ("calls that are all different, in another order", 0, |nth, is_second| {
            if is_second { nth * 7919 } else { nth }
        }),
    ];
    let families = rows.map(|(name, operators, order)| {
        Family::program(name, move |mut b, n| {
            let is_second = b.version == Version::Second;
            let count = if operators == 0 { n } else { operators };
            let operators = b.each(0..count, named_operator);
            let operators = b.tables(operators);
            let calls =
                b.each(0..n, |b, nth| call(b, order(nth, is_second) % count, [nth % 61, nth % 7]));
            let values = vec![small_tensor(&mut b, 0); 64];
            one_plan(b, &[("operators", operators)], values, calls)
        })
    });
    families.into()
}

/// Jumps and moves from anywhere to anywhere. A maker gets the number of the instruction, and the count
/// of instructions or of values.
fn jumps_and_moves() -> Vec<Family> {
    let jumps: [(_, fn(usize, usize) -> usize); 4] = [
        ("jumps to the other end", |nth, count| count - 1 - nth),
        ("jumps over each other", |nth, count| random(nth) % count),
        ("jumps back to the start", |_, _| 0),
        ("jumps ahead", |nth, count| nth + (count - nth) / 2),
    ];
    let jumps = jumps.map(|(name, to)| {
        Family::program(name, move |mut b, n| {
            let jumps = b.each(0..n, |b, nth| {
                let fields = [("destination_instruction", number(to(nth, n)))];
                b.held("Instruction", "JumpFalseCall", &fields)
            });
            let values = vec![small_tensor(&mut b, 0); 3];
            one_plan(b, &[], values, jumps)
        })
    });
    let moves: [(_, bool, fn(usize, usize) -> [usize; 2]); 3] = [
        ("moves along a row", true, |nth, count| [nth % count, (nth + 1) % count]),
        ("moves onto one value", true, |nth, count| [nth % count, 0]),
        ("moves between two values", false, |nth, _| [nth % 2, (nth + 1) % 2]),
    ];
    let moves = moves.map(|(name, has_many, ends)| {
        Family::program(name, move |mut b, n| {
            let count = if has_many { n / 3 } else { 2 };
            let shape = shape(&mut b, [2, 4]);
            let values = b.each(0..count.max(1), |b, nth| tensor(b, shape, nth));
            let moves = b.each(0..n, |b, nth| {
                let [from, to] = ends(nth, count.max(1)).map(number);
                b.held("Instruction", "MoveCall", &[("move_from", from), ("move_to", to)])
            });
            one_plan(b, &[], values, moves)
        })
    });
    let paths: [(_, fn(usize, usize) -> Step); 4] = [
        ("moves against their order in a loop", |nth, count| match nth + 1 == count {
            true => Step::Jump(0),
            false => Step::Move(count - nth - 1, count - nth),
        }),
        ("branches in a loop", |nth, count| match (nth + 1 == count, nth % 4) {
            (true, _) => Step::Jump(0),
            (_, 0) => Step::Jump(nth + 3),
            (_, 2) => Step::Jump(nth + 2),
            _ => Step::Move(random(nth), random(nth + 1)),
        }),
        ("loops one after another", |nth, _| match nth % 4 {
            3 => Step::Jump(nth - 3),
            1 => Step::Jump(nth + 2),
            _ => Step::Move(random(nth), random(nth + 1)),
        }),
        ("branches that end together", |nth, count| match nth % 3 {
            0 => Step::Jump(nth + 3),
            1 => Step::Move(nth, nth + 3),
            _ => Step::Jump(count),
        }),
    ];
    let paths = paths.map(|(name, step)| {
        Family::program(name, move |mut b, n| {
            let count = (n / 3).max(1);
            let shape = shape(&mut b, [1]);
            // The elements of this tensor are unknown, so each jump may be taken or not.
            let condition = planned(&mut b, 11, shape, 0);
            let mut values = b.each(0..count, |b, nth| tensor(b, shape, nth));
            values.insert(0, condition);
            let steps = b.each(0..n, |b, nth| match step(nth, n) {
                Step::Move(from, to) => {
                    let [from, to] = [from, to].map(|value| number(1 + value % count));
                    b.held("Instruction", "MoveCall", &[("move_from", from), ("move_to", to)])
                }
                Step::Jump(to) => {
                    let to = ("destination_instruction", number(to.min(n)));
                    b.held("Instruction", "JumpFalseCall", &[to])
                }
            });
            one_plan(b, &[], values, steps)
        })
    });
    jumps.into_iter().chain(moves).chain(paths).collect()
}

/// An instruction: a move from value to value, or a jump to an instruction.
enum Step {
    Move(usize, usize),
    Jump(usize),
}

/// Tensors whose places overlap. A maker gets the number of a tensor and the count of tensors, and gives the
/// offset and the length.
fn lives() -> Vec<Family> {
    let rows: [(_, fn(usize, usize) -> [usize; 2]); 3] = [
        ("tensors inside each other", |nth, count| [nth, 2 * (count - nth)]),
        ("tensors that overlap", |nth, count| [nth * 3, count / 2]),
        ("tensors at one place", |_, _| [0, 64]),
    ];
    let families = rows.map(|(name, range)| {
        Family::program(name, move |mut b, n| {
            let values = b.each(0..n, |b, nth| {
                let [offset, len] = range(nth, n);
                let shape = shape(b, [len]);
                tensor(b, shape, offset)
            });
            let operators = operator(&mut b, "aten::view_copy", 1);
            let calls = b.each(0..n, |b, nth| call(b, 0, [nth, nth * 7 % n, nth * 31 % n]));
            one_plan(b, &[("operators", operators)], values, calls)
        })
    });
    families.into()
}

/// Returns the lists of a shape: the sizes, and the order of the dimensions.
fn shape(b: &mut Builder, sizes: impl IntoIterator<Item = usize>) -> (At, At) {
    let sizes: Vec<_> = sizes.into_iter().collect();
    let order: Vec<_> = (0..sizes.len()).map(|nth| nth as u8).collect();
    (b.numbers(sizes), b.bytes(&order))
}

/// Returns a tensor of float32 that is planned at an offset of the first arena.
fn tensor(b: &mut Builder, shape: (At, At), offset: usize) -> At {
    planned(b, 6, shape, offset)
}

/// Returns a tensor of a dtype that is planned at an offset of the first arena.
fn planned(b: &mut Builder, dtype: i64, (sizes, order): (At, At), offset: usize) -> At {
    let place = [("memory_id", Number(1)), ("memory_offset_low", number(offset))];
    let place = b.table("AllocationDetails", &place);
    let shape = [("sizes", To(sizes)), ("dim_order", To(order))];
    let dtype = ("scalar_type", Number(dtype));
    let fields = [dtype, ("allocation_info", To(place)), shape[0], shape[1]];
    b.held("EValue", "Tensor", &fields)
}

fn small_tensor(b: &mut Builder, offset: usize) -> At {
    let shape = shape(b, [2, 4]);
    tensor(b, shape, offset)
}

/// Returns an integer, which is another one in the second version of a file.
fn int(b: &mut Builder, value: usize) -> At {
    let value = number(value + usize::from(b.version == Version::Second));
    b.held("EValue", "Int", &[("int_val", value)])
}

fn named_operator(b: &mut Builder, nth: usize) -> At {
    let (name, overload) = (b.text(&format!("x::{nth}")), b.text("out"));
    b.lists("Operator", &[("name", name), ("overload", overload)])
}

fn call_of(b: &mut Builder, operator: usize, args: At) -> At {
    b.held("Instruction", "KernelCall", &[("op_index", number(operator)), ("args", To(args))])
}

/// Returns a method of one tensor and one call, each listed several times.
fn simple_method(b: &mut Builder, tensors: usize, calls: usize) -> At {
    let operators = operator(b, "aten::add", 1);
    let (tensor, call) = (small_tensor(b, 0), call(b, 0, [0, 1, 2, 2]));
    method(b, &[("operators", operators)], vec![tensor; tensors], vec![call; calls])
}

/// Returns a method of `n` delegates that all have payload 0, in a segment (location 1) or in the tables.
fn delegates(b: &mut Builder, n: usize, location: i64) -> At {
    let (id, key, value) = (b.text("XnnpackBackend"), b.text("key"), b.bytes(&[1; 16]));
    let spec = b.lists("CompileSpec", &[("key", key), ("value", value)]);
    let specs = b.tables([spec; 2]);
    let delegates = b.each(0..n, |b, _| {
        let reference = b.table("BackendDelegateDataReference", &[("location", Number(location))]);
        let fields = [("id", To(id)), ("processed", To(reference)), ("compile_specs", To(specs))];
        b.table("BackendDelegate", &fields)
    });
    let delegates = b.tables(delegates);
    b.lists("ExecutionPlan", &[("delegates", delegates)])
}

fn named(b: &mut Builder, key: &str, segment: usize) -> At {
    let key = b.text(key);
    b.table("NamedData", &[("key", To(key)), ("segment_index", number(segment))])
}

/// Returns a program of a method (or a small one), of `count` segments that lie in one another in `len`
/// bytes, and of named data.
fn with_segments(
    mut b: Builder,
    plan: Option<At>,
    count: usize,
    named: Vec<At>,
    len: usize,
) -> Made {
    let plan = plan.unwrap_or_else(|| simple_method(&mut b, 3, 1));
    let segments = b.each(0..count, |b, nth| {
        let fields = [("offset", number(nth)), ("size", number(len - nth.min(len / 2)))];
        b.table("DataSegment", &fields)
    });
    let (plans, segments, named) = (b.tables([plan]), b.tables(segments), b.tables(named));
    let fields = [("execution_plan", plans), ("segments", segments), ("named_data", named)];
    root(b, &fields, &vec![7; 2 * len])
}

/// Returns a number that does not follow from the one for the next seed.
fn random(seed: usize) -> usize {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed ^ mixed >> 32) & 0xffff_ffff) as usize
}
