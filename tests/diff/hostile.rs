//! Hostile files that take no longer to compare than others of their size.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use pte::diff::{Class, Comparison};
use pte::schema::program::model::{
    EValue, ExecutionPlan, Instruction, InstructionArguments, Int, IntList, KernelCall,
    KernelTypes, Operator,
};

use super::{changed, diff, lines, sample};
use crate::support::thinned;

/// A program of one method with these operators, values and calls.
fn program(
    operators: Vec<String>,
    values: Vec<KernelTypes>,
    calls: Vec<(i32, Vec<i32>)>,
) -> Vec<u8> {
    changed(&sample("linear.pte"), |program| {
        let plan = &mut program.root.execution_plan.as_mut().unwrap()[0];
        fill(plan, operators, values, calls);
    })
}

fn fill(
    plan: &mut ExecutionPlan,
    operators: Vec<String>,
    values: Vec<KernelTypes>,
    calls: Vec<(i32, Vec<i32>)>,
) {
    plan.inputs = Some(vec![]);
    plan.outputs = Some(vec![]);
    let operator = |name| Operator { name: Some(name), ..Operator::default() };
    plan.operators = Some(operators.into_iter().map(operator).collect());
    plan.values = Some(values.into_iter().map(|value| EValue { val: Some(value) }).collect());
    let step = |(op_index, args)| {
        let call = KernelCall { op_index, args: Some(args) };
        Instruction { instr_args: Some(InstructionArguments::KernelCall(call)) }
    };
    let chain = &mut plan.chains.as_mut().unwrap()[0];
    chain.instructions = Some(calls.into_iter().map(step).collect());
}

fn int(int_val: i64) -> KernelTypes {
    KernelTypes::Int(Int { int_val })
}

/// Compares in both directions, in less time than a quadratic number of steps takes.
#[track_caller]
fn quick(before: &[u8], after: &[u8]) -> Comparison {
    let begun = taken();
    let report = diff(before, after);
    diff(after, before);
    let took = taken() - begun;
    assert!(took < Duration::from_secs(60 / thinned(3) as u64), "{took:?}");
    lines(&report);
    report
}

/// Returns the processor time of this thread. If the system does not report it, returns the elapsed
/// time, which other processes make longer.
fn taken() -> Duration {
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    // The name, in brackets, may have spaces. The 12th and 13th fields after it are the user time
    // and the system time in hundredths of a second: proc(5).
    let fields = stat.rsplit(')').next().into_iter().flat_map(str::split_whitespace);
    let ticks: Vec<u64> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    match ticks[..] {
        [user, system] => Duration::from_millis(10 * (user + system)),
        _ => BEGUN.elapsed(),
    }
}

const MANY: usize = 100_000 / thinned(40);

#[test]
fn calls_that_have_nothing_in_common() {
    let calls = |first: usize| {
        let names = (first..first + MANY).map(|nth| format!("x::{nth}")).collect();
        program(names, vec![int(1)], (0..MANY as i32).map(|nth| (nth, vec![0])).collect())
    };
    let report = quick(&calls(0), &calls(MANY));
    assert_eq!(report.count(Class::Instructions), MANY as u64, "each became another");
    assert_eq!(report.differences.len() as u64, Comparison::MOST);
}

#[test]
fn calls_in_another_order() {
    let names: Vec<String> = (0..MANY).map(|nth| format!("x::{nth}")).collect();
    let calls = |order: &dyn Fn(usize) -> usize| {
        let calls = (0..MANY).map(|nth| (order(nth) as i32, vec![0]));
        program(names.clone(), vec![int(1)], calls.collect())
    };
    quick(&calls(&|nth| nth), &calls(&|nth| MANY - 1 - nth));
    // 7,919 has no factor in common with the number of calls.
    quick(&calls(&|nth| nth), &calls(&|nth| nth * 7919 % MANY));
    let few = |by: usize| calls(&|nth| nth * nth / by % 13);
    quick(&few(3), &few(5));
}

/// Myers' algorithm alone takes 16 times as long for four times as many calls.
#[test]
fn alignment_of_calls_of_two_kinds_is_not_quadratic() {
    let names = ["x::0", "x::1"].map(String::from).to_vec();
    let calls = |count: usize, seed: u64| {
        let mut state = seed;
        let calls = (0..count).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 63) as i32, vec![0])
        });
        program(names.clone(), vec![int(1)], calls.collect())
    };
    let time = |count: usize| {
        let (before, after) = (calls(count, 1), calls(count, 2));
        let begun = taken();
        diff(&before, &after);
        taken() - begun
    };
    let (few, many) = (time(12_500 / thinned(2)), time(50_000 / thinned(2)));
    // The resolution of the clock is a hundredth of a second.
    assert!(many < few * 7 + Duration::from_millis(100), "{few:?}, then {many:?}");
}

/// Every call takes one of a few hundred long lists. The two files have the lists in other orders.
#[test]
fn long_lists_that_calls_share() {
    let (lists, items) = (300 / thinned(3), 20_000 / thinned(20));
    let file = |other: i64| {
        let list = |nth: usize| {
            let items = (0..items).map(|item| i64::from(item == nth)).collect();
            KernelTypes::IntList(IntList { items: Some(items) })
        };
        let mut values = vec![int(0), int(other), int(7)];
        values.extend((0..lists).map(list));
        let turn = |nth: usize| if other == 1 { nth / lists } else { nth };
        let calls = (0..MANY).map(|nth| (0, vec![(turn(nth) % lists) as i32 + 3, 2]));
        program(vec!["x::y".into()], values, calls.collect())
    };
    quick(&file(1), &file(2));
}

/// A long name is shown in part, however many calls have it.
#[test]
fn long_names() {
    let file = |end: &str| {
        let name = format!("\u{1b}[2J{}{end}", "x".repeat(1 << 16));
        let calls = (0..MANY as i32).map(|_| (0, vec![0]));
        program(vec![name], vec![int(1)], calls.collect())
    };
    let report = quick(&file("a"), &file("b"));
    let longest = lines(&report).into_iter().map(|line| line.len()).max();
    assert!(longest < Some(1000), "{longest:?}");
    assert!(lines(&report).iter().all(|line| !line.contains('\u{1b}')));
}

#[test]
fn methods_of_one_name() {
    let file = |sizes: i64| {
        changed(&sample("linear.pte"), |program| {
            let plans = program.root.execution_plan.as_mut().unwrap();
            let mut plan = plans[0].clone();
            fill(&mut plan, vec![], vec![], vec![]);
            plan.non_const_buffer_sizes = Some(vec![0, sizes]);
            *plans = vec![plan; MANY / 10];
        })
    };
    let report = quick(&file(1), &file(2));
    assert_eq!(report.count(Class::MemoryPlan), MANY as u64 / 10);
}

/// Many unused values, all of them different, in another order; and as many equal ones.
#[test]
fn many_values_that_nothing_uses() {
    let ints = |numbers: &dyn Fn(i64) -> i64| {
        let values = (0..MANY as i64).map(|nth| int(numbers(nth))).collect();
        program(vec![], values, vec![])
    };
    let none = quick(&ints(&|nth| nth), &ints(&|nth| MANY as i64 - 1 - nth));
    assert_eq!(none.total(), 0, "the same numbers");
    let all = quick(&ints(&|nth| nth), &ints(&|nth| -1 - nth));
    assert_eq!((all.total(), all.count(Class::Unused)), (1, 1));
    assert!(lines(&all).iter().all(|line| line.len() < 200), "{:?}", lines(&all));
    let tensors = |count: usize, rows: &dyn Fn(usize) -> i32| {
        changed(&sample("linear.pte"), |program| {
            let plan = &mut program.root.execution_plan.as_mut().unwrap()[0];
            let values = plan.values.as_mut().unwrap();
            for nth in 0..count {
                let mut value = values[3].clone();
                let Some(KernelTypes::Tensor(tensor)) = &mut value.val else { panic!("a tensor") };
                tensor.sizes = Some(vec![rows(nth), 4]);
                values.push(value);
            }
        })
    };
    let many = MANY / 5;
    let other = quick(&tensors(many, &|nth| nth as i32), &tensors(many, &|nth| nth as i32 / 2));
    assert_eq!((other.total(), other.count(Class::Unused)), (1, 1));
}
