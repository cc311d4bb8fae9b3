//! Hostile data files.

use crate::families::Kind::Data;
use crate::families::*;
use crate::flat::Field::{To, U8, U32, U64};
use crate::flat::{Flat, Id};

pub(crate) fn families() -> Vec<Family> {
    let mut all = Vec::new();
    for generation in [3, 1] {
        let add = |name: &str, make: fn(&mut Flat, u8) -> Made| {
            let name =
                if generation == 3 { format!(".ptd: {name}") } else { format!("old .ptd: {name}") };
            Family::new(Data, name, move |flat| make(flat, generation))
        };
        all.extend([
            add("an entry, shared", |flat, generation| {
                let name = flat.string("k");
                let shape = Shape::new(flat, 2);
                let entry = shape.entry(flat, generation, name, 0);
                let count = listed(flat, 40);
                data(flat, generation, 1, vec![entry; count])
            }),
            add("a segment, shared", |flat, generation| {
                let segments = vec![segment(flat, 0, 64); listed(flat, 0)];
                finish(flat, generation, segments, Vec::new(), 64)
            }),
            add("entries that share a segment", |flat, generation| {
                let shape = Shape::new(flat, 1);
                let entries = (0..own(flat, 80)).map(|nth| {
                    let name = flat.string(format!("{nth:07}"));
                    shape.entry(flat, generation, name, 0)
                });
                let entries = entries.collect();
                data(flat, generation, 1, entries)
            }),
            add("entries in segments over each other", |flat, generation| {
                let shape = Shape::new(flat, 1);
                let count = own(flat, 120);
                let entries = (0..count).map(|nth| {
                    let name = flat.string(format!("{nth:07}"));
                    shape.entry(flat, generation, name, nth as u32)
                });
                let entries = entries.collect();
                data(flat, generation, count, entries)
            }),
            add("a name of 4,000 codes, shared", |flat, generation| {
                let name = flat.string("\u{1b}".repeat(4000));
                let shape = Shape::new(flat, 2);
                let entry = shape.entry(flat, generation, name, 0);
                let count = listed(flat, 4050);
                data(flat, generation, 1, vec![entry; count])
            }),
            add("a name of a quarter of the file, shared", |flat, generation| {
                let len = flat.size / 4;
                let name = flat.string("\u{1b}".repeat(len));
                let shape = Shape::new(flat, 2);
                let entry = shape.entry(flat, generation, name, 0);
                let count = listed(flat, len);
                data(flat, generation, 1, vec![entry; count])
            }),
            add("16 dimensions, shared", |flat, generation| {
                let shape = Shape::new(flat, 16);
                let entries = (0..own(flat, 60).min(visits(flat, 120))).map(|nth| {
                    let name = flat.string(format!("{nth:07}"));
                    shape.entry(flat, generation, name, 0)
                });
                let entries = entries.collect();
                data(flat, generation, 1, entries)
            }),
            add("1,000 dimensions, shared", |flat, generation| {
                let name = flat.string("k");
                let shape = Shape::new(flat, 1000);
                let entry = shape.entry(flat, generation, name, 0);
                let count = listed(flat, 5000);
                data(flat, generation, 1, vec![entry; count])
            }),
            add("honest", |flat, generation| {
                let count = own(flat, 120);
                let entries = (0..count).map(|nth| {
                    let name = flat.string(format!("layers.{nth:07}.weight"));
                    let shape = Shape::new(flat, 2);
                    shape.entry(flat, generation, name, 0)
                });
                let entries = entries.collect();
                data(flat, generation, 1, entries)
            }),
        ]);
    }
    all
}

/// The lists of a shape, which entries may share.
struct Shape {
    sizes: Id,
    order: Id,
}

impl Shape {
    fn new(flat: &mut Flat, rank: usize) -> Self {
        let sizes = flat.i32s((0..rank).map(|nth| 1 + i32::from(nth < 2) * 3));
        Self { sizes, order: flat.bytes((0..rank).map(|nth| nth as u8).collect()) }
    }

    fn entry(&self, flat: &mut Flat, generation: u8, name: Id, segment: u32) -> Id {
        let shape = |from| [(from, U8(0)), (from + 1, To(self.sizes)), (from + 2, To(self.order))];
        if generation == 3 {
            let layout = flat.table(&shape(0));
            return flat.table(&[(0, To(name)), (1, U32(segment)), (2, To(layout))]);
        }
        let [dtype, sizes, order] = shape(1);
        flat.table(&[(0, To(name)), dtype, sizes, order, (4, U32(segment)), (5, U64(0))])
    }
}

/// A file of entries, and of segments that lie in one another.
fn data(flat: &mut Flat, generation: u8, segments: usize, entries: Vec<Id>) -> Made {
    let bytes = (flat.size / 8).max(64);
    let segments =
        (0..segments as u64).map(|nth| segment(flat, nth % 32, bytes as u64 - nth % 32)).collect();
    finish(flat, generation, segments, entries, bytes)
}

fn finish(
    flat: &mut Flat,
    generation: u8,
    segments: Vec<Id>,
    entries: Vec<Id>,
    bytes: usize,
) -> Made {
    let segments = flat.offsets(segments);
    let entries = flat.offsets(entries);
    let root = match generation {
        3 => flat.table(&[(0, U32(0)), (1, To(segments)), (2, To(entries))]),
        _ => {
            let none = flat.offsets(Vec::new());
            let fields =
                [(0, U32(0)), (1, U32(16)), (2, To(entries)), (3, To(segments)), (4, To(none))];
            flat.table(&fields)
        }
    };
    Made { root, segments: bytes }
}
