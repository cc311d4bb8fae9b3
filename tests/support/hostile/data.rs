//! Data files that are costly to show, of both generations.

use super::{Family, Made};
use crate::tables::{At, Builder, Field, Version, number};
use Field::{Number, To};

/// A family: its name, the rank of a shape, and the entries of a file and the count of its segments.
type Row = (&'static str, usize, fn(&mut Data, usize) -> (Vec<At>, usize));

pub(super) fn families() -> Vec<Family> {
    let rows: [Row; 9] = [
        ("an entry, shared", 2, |data, n| (vec![data.entry("k", 0); n], 1)),
        ("a segment, shared", 2, |_, n| (vec![], n)),
        ("entries that share a segment", 1, |data, n| {
            ((0..n).map(|nth| data.entry(&format!("{nth:07}"), 0)).collect(), 1)
        }),
        ("entries in segments over each other", 1, |data, n| {
            ((0..n).map(|nth| data.entry(&format!("{nth:07}"), nth)).collect(), n)
        }),
        ("a name of 4,000 codes, shared", 2, |data, n| {
            (vec![data.entry(&"\u{1b}".repeat(4000), 0); n / 8], 1)
        }),
        ("a name of n codes, shared", 2, |data, n| {
            (vec![data.entry(&"\u{1b}".repeat(n), 0); 16], 1)
        }),
        ("16 dimensions, shared", 16, |data, n| {
            ((0..n).map(|nth| data.entry(&format!("{nth:07}"), 0)).collect(), 1)
        }),
        ("1,000 dimensions, shared", 1000, |data, n| (vec![data.entry("k", 0); n / 8], 1)),
        ("honest", 2, |data, n| {
            let entries = (0..n).map(|nth| {
                data.set_rank(2);
                data.entry(&format!("layers.{nth:07}.weight"), 0)
            });
            (entries.collect(), 1)
        }),
    ];
    let of = |is_legacy: bool| {
        rows.map(|(name, rank, make)| {
            let name = format!("{}.ptd: {name}", if is_legacy { "old " } else { "" });
            Family::new(name, move |version, n| file(version, is_legacy, n, rank, make))
        })
    };
    of(false).into_iter().chain(of(true)).collect()
}

/// A file in the making, and the lists of a shape, which entries may share.
struct Data {
    b: Builder,
    is_legacy: bool,
    sizes: At,
    order: At,
}

impl Data {
    fn set_rank(&mut self, rank: usize) {
        self.sizes = self.b.numbers((0..rank).map(|nth| 1 + usize::from(nth < 2) * 3));
        self.order = self.b.bytes(&(0..rank).map(|nth| nth as u8).collect::<Vec<_>>());
    }

    fn entry(&mut self, key: &str, segment: usize) -> At {
        let (key, segment) = (To(self.b.text(key)), number(segment));
        let shape = [("sizes", To(self.sizes)), ("dim_order", To(self.order))];
        if self.is_legacy {
            let fields = [("fully_qualified_name", key), ("segment_index", segment)];
            return self.b.table("TensorMetadata", &[fields, shape].concat());
        }
        let layout = ("tensor_layout", To(self.b.table("TensorLayout", &shape)));
        self.b.table("NamedData", &[("key", key), ("segment_index", segment), layout])
    }
}

/// Returns a file of entries, and of segments that lie in one another.
fn file(
    version: Version,
    is_legacy: bool,
    n: usize,
    rank: usize,
    make: fn(&mut Data, usize) -> (Vec<At>, usize),
) -> Made {
    let b = if is_legacy { version.legacy_ptd() } else { version.ptd() };
    let mut data = Data { b, is_legacy, sizes: 0, order: 0 };
    data.set_rank(rank);
    let (entries, segments) = make(&mut data, n);
    let (mut b, len) = (data.b, 64 + 4 * n);
    let segments = b.each(0..segments, |b, nth| {
        let fields = [("offset", number(nth % 32)), ("size", number(len - nth % 32))];
        b.table("DataSegment", &fields)
    });
    let (segments, entries) = (To(b.tables(segments)), To(b.tables(entries)));
    let root = match is_legacy {
        false => b.table("FlatTensor", &[("segments", segments), ("named_data", entries)]),
        true => {
            let fields = [("tensor_alignment", Number(16)), ("tensors", entries)];
            let none = To(b.tables([]));
            let lists = [("segments", segments), ("named_data", none)];
            b.table("FlatTensor", &[fields, lists].concat())
        }
    };
    Made(b.finish(root, &vec![7; len]), vec![])
}
