//! What the benchmarks share: files to measure on, and how time is taken.
//!
//! `cargo bench` measures; `cargo test` runs each benchmark once on little, so that none goes stale.

#![allow(
    dead_code,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "each benchmark uses some of it, and one that goes wrong is meant to stop"
)]

use core::fmt::Write;
use core::hint::black_box;
use std::process::Command;
use std::time::Instant;

use pte::flat::{load, write};
use pte::schema::program::desc;

pub(crate) mod graphs;
pub(crate) mod views;

/// Whether `cargo bench` asks, and not `cargo test`.
pub(crate) fn measuring() -> bool {
    std::env::args().any(|arg| arg == "--bench")
}

/// The arguments without those that Cargo adds.
pub(crate) fn arguments() -> impl Iterator<Item = String> {
    std::env::args().skip(1).filter(|arg| !arg.starts_with("--"))
}

/// The best of fifteen runs over the same bytes, in milliseconds; one run where nothing is measured.
///
/// What is too short for the clock is repeated, and a run is the mean. What comes of the last time is
/// freed when the time has been taken, as it is by the peers.
pub(crate) fn best<'t, T: ?Sized, R>(input: &'t T, work: impl Fn(&'t T) -> R) -> f64 {
    let time = |times: u32| {
        let start = Instant::now();
        (1..times).for_each(|_| drop(black_box(work(black_box(input)))));
        let made = black_box(work(black_box(input)));
        let taken = start.elapsed().as_secs_f64() * 1e3 / f64::from(times);
        drop(made);
        taken
    };
    let once = time(1);
    if !measuring() {
        return once;
    }
    let times = if once < 0.1 { 10_000 } else { 1 };
    (0..15).map(|_| time(times)).fold(once, f64::min)
}

/// What the peer prints of the file: the first number among its words.
pub(crate) fn reported(peer: &str, file: &str) -> f64 {
    let out = Command::new(peer).arg(file).output().unwrap_or_else(|e| panic!("{peer}: {e}"));
    let text = String::from_utf8_lossy(&out.stdout);
    let number = text.split_whitespace().find_map(|word| word.parse().ok());
    number.unwrap_or_else(|| panic!("{peer} printed {text:?}"))
}

/// What is measured, and the work.
pub(crate) type Row<'b, R> = (&'static str, fn(&'b [u8]) -> R);

/// Prints the best time of each row on these bytes, with its ratios to the times of the peers on the file of
/// them. Returns the times of the peers.
pub(crate) fn compare<'b, R, const N: usize>(
    rows: &[Row<'b, R>; N],
    bytes: &'b [u8],
    peers: &[String],
    file: &str,
) -> Vec<f64> {
    let mut ours = [f64::MAX; N];
    let mut theirs = vec![f64::MAX; peers.len()];
    // Taking turns, so that what else the machine does meets all of them.
    for _ in 0..5 {
        for ((_, work), time) in rows.iter().zip(&mut ours) {
            *time = time.min(best(bytes, work));
        }
        for (peer, time) in peers.iter().zip(&mut theirs) {
            *time = time.min(reported(peer, file));
        }
    }
    for ((name, _), time) in rows.iter().zip(ours) {
        print!("{name:<24} {time:9.4} ms");
        theirs.iter().for_each(|their| print!("  {:6.2} x", time / their));
        println!();
    }
    theirs
}

/// A program of `n` values and `n` calls, every third value not a tensor.
pub(crate) fn large(n: u32) -> Vec<u8> {
    let mut json = String::from(r#"{"execution_plan": [{"name": "forward", "values": ["#);
    for nth in 0..n {
        let rank = nth % 4 + 1;
        let list = |of: &dyn Fn(u32) -> u32| {
            (0..rank).map(|nth| of(nth).to_string()).collect::<Vec<_>>().join(",")
        };
        let (sizes, order) = (list(&|dim| (nth + dim) % 4 + 1), list(&|dim| dim));
        let place = nth % 4096 * 4096;
        let text = match nth % 3 {
            0 => r#"{"val_type": "Int", "val": {"int_val": 7}}"#.to_string(),
            _ => format!(
                r#"{{"val_type": "Tensor", "val": {{"scalar_type": "FLOAT", "sizes": [{sizes}],
                "dim_order": [{order}],
                "allocation_info": {{"memory_id": 1, "memory_offset_low": {place}}}}}}}"#
            ),
        };
        write!(json, "{}{text}", if nth > 0 { "," } else { "" }).unwrap_or_default();
    }
    json.push_str(r#"], "inputs": [1], "outputs": [2], "chains": [{"instructions": ["#);
    for nth in 0..n {
        let args = (0..nth % 7 + 3).map(|arg| (nth.wrapping_mul(31 + arg) % n).to_string());
        let args = args.collect::<Vec<_>>().join(",");
        write!(
            json,
            r#"{}{{"instr_args_type": "KernelCall", "instr_args": {{"op_index": {}, "args": [{args}]}}}}"#,
            if nth > 0 { "," } else { "" },
            nth % 9
        )
        .unwrap_or_default();
    }
    json.push_str(r#"]}], "operators": ["#);
    let operators: Vec<_> =
        (0..9).map(|nth| format!(r#"{{"name": "own::op{nth}", "overload": ""}}"#)).collect();
    json.push_str(&operators.join(","));
    json.push_str(
        r#"], "delegates": [], "non_const_buffer_sizes": [0, 20971520]}], "segments": []}"#,
    );
    let root = load::read(&json, desc::SCHEMA.root, &mut load::no_files);
    let root = root.unwrap_or_else(|error| panic!("{error}"));
    write::write(&desc::SCHEMA, &root, &[], &write::WriterLayout::default())
        .unwrap_or_else(|error| panic!("{error}"))
}
