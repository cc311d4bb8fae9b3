//! What loading costs as a file grows: `check`, `info` and `size` of programs with more segment bytes, methods,
//! or values and calls. Each row is a file, with the processor time and the memory of each verb.
//!
//! `cargo bench --bench growth` prints the table of docs/performance.md. It needs `/usr/bin/time`.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::panic,
    reason = "a benchmark that goes wrong is meant to stop"
)]

use std::fs::File;
use std::path::Path;

use pte::build::PteBuilder;
use pte::model::Blob;
use pte::schema::program::model::{
    AllocationDetails, Chain, EValue, ExecutionPlan, Instruction, InstructionArguments, Int,
    KernelCall, KernelTypes, Operator, Program, Tensor,
};
use pte::schema::scalar::ScalarType;

#[allow(dead_code, reason = "the benchmark hostile uses all of it")]
#[path = "hostile/child.rs"]
mod child;
mod support;

/// The verbs that open a model first.
const VERBS: [&str; 3] = ["check", "info", "size"];

fn main() {
    if !Path::new("/usr/bin/time").exists() {
        return println!("skipped: there is no /usr/bin/time");
    }
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let path = folder.path().join("in.pte");
    println!("| file | MB | {} |", VERBS.join(" | "));
    let of = |count: u64| if support::measuring() { count } else { count / 10_000 };
    for gigabytes in [1, 5, 20] {
        write(&path, hollow(of(gigabytes << 30)));
        row(&path, &format!("a constant of {gigabytes} GB, on a sparse file"));
    }
    for methods in [1_000, 10_000, 100_000].map(of) {
        write(&path, (PteBuilder::new(), (0..methods).map(|nth| method(nth, 10)).collect()));
        row(&path, &format!("{methods} methods of 10 values"));
    }
    for values in [100_000, 300_000, 1_000_000].map(of) {
        write(&path, (PteBuilder::new(), vec![method(0, values)]));
        row(&path, &format!("{values} values and as many calls"));
    }
}

/// Prints what each verb takes for the file at `path`.
fn row(path: &Path, name: &str) {
    let len = path.metadata().map_or(0, |metadata| metadata.len());
    print!("| {name} | {:.1} |", len as f64 / 1e6);
    for verb in VERBS {
        let args = [verb.to_owned(), path.display().to_string()];
        let cost = child::run(&args, &path.with_extension("none"), 600, None);
        assert!(cost.status == 0, "pte {verb}: {}", cost.stderr);
        print!(" {:.2} s, {:.1} MB |", cost.seconds, cost.memory as f64 / 1e6);
    }
    println!();
}

/// Returns a program with a constant of `bytes` bytes.
fn hollow(bytes: u64) -> (PteBuilder<'static>, Vec<ExecutionPlan>) {
    let mut builder = PteBuilder::new();
    let index = builder.constant(Blob::Zeros(bytes)).unwrap_or_else(|error| panic!("{error}"));
    let rows = i32::try_from(bytes / 4096).unwrap_or(i32::MAX);
    let plan = method(0, 1);
    let values = vec![value(Tensor { data_buffer_idx: index, ..tensor(vec![rows, 1024]) })];
    let chains = Some(vec![Chain { instructions: Some(vec![]), ..Chain::default() }]);
    (builder, vec![ExecutionPlan { values: Some(values), chains, inputs: Some(vec![]), ..plan }])
}

/// Returns method `nth`, with `count` values, and a call for each of them that reads one and writes the next.
fn method(nth: u64, count: u64) -> ExecutionPlan {
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    let planned = Some(AllocationDetails { memory_id: 1, ..AllocationDetails::default() });
    let values = (0..count).map(|nth| match nth % 3 {
        2 => EValue { val: Some(KernelTypes::Int(Int { int_val: nth.into() })) },
        _ => value(Tensor { allocation_info: planned.clone(), ..tensor(vec![nth % 4 + 1, 4]) }),
    });
    let call = |nth: i32| Instruction {
        instr_args: Some(InstructionArguments::KernelCall(KernelCall {
            op_index: 0,
            args: Some(vec![nth, (nth + 1) % count]),
        })),
    };
    ExecutionPlan {
        name: Some(format!("method {nth}")),
        values: Some(values.collect()),
        inputs: Some(vec![0]),
        outputs: Some(vec![0]),
        chains: Some(vec![Chain {
            instructions: Some((0..count).map(call).collect()),
            ..Chain::default()
        }]),
        operators: Some(vec![Operator {
            name: Some("own::op".into()),
            overload: Some("out".into()),
        }]),
        delegates: Some(vec![]),
        non_const_buffer_sizes: Some(vec![0, 1 << 20]),
        ..ExecutionPlan::default()
    }
}

fn value(tensor: Tensor) -> EValue {
    EValue { val: Some(KernelTypes::Tensor(tensor)) }
}

fn tensor(sizes: Vec<i32>) -> Tensor {
    let dim_order = Some((0u8..).take(sizes.len()).collect());
    Tensor { scalar_type: ScalarType::FLOAT, sizes: Some(sizes), dim_order, ..Tensor::default() }
}

fn write(path: &Path, (builder, plans): (PteBuilder<'_>, Vec<ExecutionPlan>)) {
    let program = Program { execution_plan: Some(plans), ..Program::default() };
    let model = builder.finish(program).unwrap_or_else(|error| panic!("{error}"));
    let image = model.image().unwrap_or_else(|error| panic!("{error}"));
    let file = File::create(path).unwrap_or_else(|error| panic!("{error}"));
    image.write_to_file(&file, |_| {}).unwrap_or_else(|error| panic!("{error}"));
}
