//! Files that are built to be slow, beside an honest one of the same size: reading and judging them may
//! take a constant factor longer, whatever is in them.
//!
//! `cargo bench --bench walk [-- MEGABYTES]`

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark that goes wrong is meant to stop"
)]

use core::hint::black_box;

use pte::Pte;
use support::{best, large, measuring};

mod support;

/// What is shared by as many offsets as are accepted, and where: a table of no fields takes 4 bytes.
type Shared = (&'static str, &'static [u16], u16);

const SHARED: [Shared; 8] = [
    ("one segment, shared", &[], 4),
    ("one named data, shared", &[], 7),
    ("one method, shared", &[], 1),
    ("one value, shared", &[1], 2),
    ("one operator, shared", &[1], 6),
    ("one delegate, shared", &[1], 7),
    ("one chain, shared", &[1], 5),
    ("one instruction, shared", &[1, 5], 2),
];

fn main() {
    let asked = support::arguments().find_map(|arg| arg.parse::<usize>().ok());
    let size = asked.unwrap_or(if measuring() { 64 } else { 1 }) << 20;
    let honest = large(u32::try_from(size / 119).unwrap_or(u32::MAX));
    let [structure, rules] = times(&honest);
    println!("{:<26} structure and rules", "");
    println!("{:<26} {structure:8.1} {rules:8.1} ms  {} bytes", "honest", honest.len());
    let of_own = ("a vtable for each segment", own_vtables(size));
    let shared = SHARED.map(|(name, way, slot)| (name, shared(way, slot, size)));
    for (name, bytes) in shared.into_iter().chain([of_own]) {
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

/// A program in which a vector refers to one table of no fields again and again. `way` are the slots of
/// the vectors that lead there, each of one table, and `slot` is that of the vector.
fn shared(way: &[u16], slot: u16, size: usize) -> Vec<u8> {
    let mut out = b"\0\0\0\0ET12".to_vec();
    // Where the offset is that is to lead to the next table.
    let mut from = 0;
    for &slot in way {
        table(&mut out, from, slot, 1);
        from = out.len();
        out.extend([0; 4]);
    }
    // A sixteenth as many tables in lists as there are bytes: see `pte::Limits`.
    let count = size / 16 - way.len();
    table(&mut out, from, slot, count);
    let first = out.len();
    out.resize(first + 4 * count + 4, 0);
    let target = out.len();
    // The vtable is in front of the table: it has no fields, and the table no more than 4 bytes.
    out[target - 4..].copy_from_slice(&[4, 0, 4, 0]);
    out.extend(4u32.to_le_bytes());
    (0..count).for_each(|nth| lead(&mut out, first + 4 * nth, target));
    out.resize(size, 0);
    out
}

/// A program of segments that each have a vtable of their own.
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

/// A table with one field, a vector of `count` offsets, which the caller writes next; the offset at
/// `from` leads to it.
fn table(out: &mut Vec<u8>, from: usize, slot: u16, count: usize) {
    out.resize(out.len().next_multiple_of(4), 0);
    let vtable = out.len();
    let len = 4 + 2 * (slot + 1);
    out.extend([len, 8].map(u16::to_le_bytes).as_flattened());
    out.resize(vtable + usize::from(len) - 2, 0);
    out.extend(4u16.to_le_bytes());
    out.resize(out.len().next_multiple_of(4), 0);
    let target = out.len();
    lead(out, from, target);
    out.extend(((target - vtable) as u32).to_le_bytes());
    out.extend(4u32.to_le_bytes());
    out.extend((count as u32).to_le_bytes());
}

/// Writes the offset at `from` that leads to `target`.
fn lead(out: &mut [u8], from: usize, target: usize) {
    out[from..from + 4].copy_from_slice(&((target - from) as u32).to_le_bytes());
}
