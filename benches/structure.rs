//! Reading and judging hostile files that list one table over and over, beside an honest file of the
//! same size: they may take a constant factor longer.
//!
//! `cargo bench --bench structure [-- MEGABYTES]`

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark that goes wrong is meant to stop"
)]

use core::hint::black_box;

use pte::Check;
use pte::Pte;
use pte_tests::shared::{FAMILIES, lead, program, table};
use support::{best, large, measuring};

mod support;

fn main() {
    let asked = support::arguments().find_map(|arg| arg.parse::<usize>().ok());
    let size = asked.unwrap_or(if measuring() { 64 } else { 1 }) << 20;
    let honest = large(u32::try_from(size / 119).unwrap_or(u32::MAX));
    let [structure, rules] = times(&honest);
    println!("{:<26} structure and rules", "");
    println!("{:<26} {structure:8.1} {rules:8.1} ms  {} bytes", "honest", honest.len());
    let of_own = ("a vtable for each segment", own_vtables(size));
    let listed = FAMILIES.map(|(name, path, slot)| (name, program(path, slot, size)));
    for (name, bytes) in listed.into_iter().chain([of_own]) {
        let [its_structure, its_rules] = times(&bytes);
        println!(
            "{name:<26} {its_structure:8.1} {its_rules:8.1} ms  {:5.2} x {:5.2} x",
            its_structure / structure,
            its_rules / rules
        );
    }
}

/// What reading takes, and what reading and judging does.
fn times(bytes: &[u8]) -> [f64; 2] {
    // A file that is refused would only look fast.
    Pte::read(bytes).unwrap_or_else(|error| panic!("{error}"));
    let read = |bytes: &[u8]| drop(black_box(Pte::read(bytes)));
    let check = |bytes: &[u8]| {
        if let Ok(pte) = Pte::read(bytes) {
            black_box(pte.check());
        }
    };
    [best(bytes, read), best(bytes, check)]
}

/// A program of segments that share no vtable.
fn own_vtables(size: usize) -> Vec<u8> {
    let mut out = b"\0\0\0\0ET12".to_vec();
    let count = size / 36;
    table(&mut out, 0, 4, count);
    let first = out.len();
    out.resize((first + 4 * count).next_multiple_of(8), 0);
    for nth in 0..count {
        // Its length, that of the table, and where the offset and the size are; both are 0.
        out.extend([8, 0, 24, 0, 8, 0, 16, 0]);
        let target = out.len();
        out.extend(8u32.to_le_bytes());
        out.resize(target + 24, 0);
        lead(&mut out, first + 4 * nth, target);
    }
    out
}
