//! Tests of the layout cache and of the recorded facts. Errors in them make reading slow and change
//! no verdict, so tests with files cannot find them.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that goes wrong is meant to stop"
)]

use alloc::vec::Vec;

use super::Verified;
use super::cache::{FEW_SLOTS, LayoutCache, MANY_SLOTS};
use super::seen::Notes;
use super::verify;
use super::vtable::VtableLayout;
use crate::desc::{FieldDesc, Kind, Member, Number, Prim, ScalarDesc, TableDesc, UnionDesc};
use crate::limits::Limits;

const BOOL: ScalarDesc = ScalarDesc {
    prim: Prim::Bool,
    default: Number::Bool(false),
    names: None,
    of: None,
    optional: false,
};
const BYTE: ScalarDesc =
    ScalarDesc { prim: Prim::U8, default: Number::Int(0), names: None, of: None, optional: false };
static FLAG: TableDesc = crate::table!(
    "Flag",
    &[FieldDesc {
        slot: 0,
        name: "flag",
        kind: Kind::Scalar(BOOL),
        required: false,
        recursive: false,
        since: None,
    }],
    0,
);
static BARE: TableDesc = crate::table!("Bare", &[], 0);

/// Returns `n` vtables without fields, one every 4 bytes.
fn vtables(n: usize) -> Vec<u8> {
    [4, 0, 4, 0].repeat(n)
}

/// Adds the layout of a vtable. Returns false if the cache has no room.
fn keep<const CACHE_SLOTS: usize>(
    layouts: &LayoutCache<CACHE_SLOTS>,
    buf: &[u8],
    vtable: u32,
    desc: &'static TableDesc,
) -> bool {
    let room = layouts.room(vtable, desc);
    if let Some(layout) = room {
        layout.prove(buf, 0, &Notes::new(0)).unwrap();
    }
    room.is_some()
}

/// Returns whether the layout is in any slot of the cache.
fn has<const CACHE_SLOTS: usize>(
    layouts: &LayoutCache<CACHE_SLOTS>,
    vtable: u32,
    desc: &'static TableDesc,
) -> bool {
    layouts.room(vtable, desc).is_some_and(VtableLayout::is_proven)
}

#[test]
fn a_cached_layout_is_found_by_its_vtable_and_type() {
    let buf = vtables(64);
    let layouts = LayoutCache::<MANY_SLOTS>::new();
    let places = || (0..64).map(|nth| nth * 4);
    for vtable in places() {
        assert!(!has(&layouts, vtable, &FLAG), "{vtable}");
        assert!(keep(&layouts, &buf, vtable, &FLAG), "{vtable}");
    }
    let mut first = 0;
    for vtable in places() {
        assert!(has(&layouts, vtable, &FLAG), "{vtable}");
        assert!(layouts.known(vtable, &BARE).is_none() && !has(&layouts, vtable, &BARE));
        if let Some(layout) = layouts.known(vtable, &FLAG) {
            assert!(layout.is(vtable, &FLAG));
            first += 1;
        }
    }
    assert!(first > 32, "most are in their first slot: {first}");
    assert!(!has(&layouts, 256, &FLAG), "never added");
}

/// Tables of different types can share a vtable. Their layouts must not compete for one slot.
#[test]
fn one_vtable_has_a_slot_for_each_type() {
    let buf = vtables(8);
    let layouts = LayoutCache::<MANY_SLOTS>::new();
    for vtable in (0..8).map(|nth| nth * 4) {
        assert!(keep(&layouts, &buf, vtable, &FLAG) && keep(&layouts, &buf, vtable, &BARE));
        assert!(layouts.known(vtable, &FLAG).is_some() && layouts.known(vtable, &BARE).is_some());
    }
}

/// The seed depends on the whole name.
#[test]
fn long_type_names_have_different_seeds() {
    let mut seeds =
        ["OptionalTensorList", "ConstantDataOffset", "ContainerMetadata", "AllocationDetails"]
            .map(|name| crate::table!(name, &[], 0).seed);
    seeds.sort_unstable();
    assert!(seeds.windows(2).all(|pair| pair[0] != pair[1]), "{seeds:x?}");
}

#[test]
fn the_cache_fills_all_of_its_slots() {
    let buf = vtables(2000);
    let (few, many) = (LayoutCache::<FEW_SLOTS>::new(), LayoutCache::<MANY_SLOTS>::new());
    let kept = (0..2000).filter(|nth| keep(&few, &buf, nth * 4, &FLAG)).count();
    assert_eq!(kept, FEW_SLOTS, "a full cache uses every slot");
    let kept = (0..2000).filter(|nth| keep(&many, &buf, nth * 4, &FLAG)).count();
    assert_eq!(kept, MANY_SLOTS, "a full cache uses every slot");
}

/// If a file has a vtable for each table, the search for each must not try eight slots.
#[test]
fn after_thousands_of_misses_only_the_first_slot_is_probed() {
    let buf = vtables(6000);
    let layouts = LayoutCache::<FEW_SLOTS>::new();
    let known = |nth: &u32| layouts.known(nth * 4, &FLAG).is_some();
    let found = |nth: &u32| has(&layouts, nth * 4, &FLAG);
    let kept: Vec<u32> = (0..1000).filter(|nth| keep(&layouts, &buf, nth * 4, &FLAG)).collect();
    assert!(kept.iter().all(found) && !kept.iter().all(known));
    assert!(!(1000..6000).any(|nth| keep(&layouts, &buf, nth * 4, &FLAG)));
    assert!(kept.iter().all(|nth| found(nth) == known(nth)));
}

static BYTES: TableDesc = crate::table!(
    "Bytes",
    &[
        FieldDesc {
            slot: 0,
            name: "one",
            kind: Kind::Scalar(BYTE),
            required: false,
            recursive: false,
            since: None,
        },
        FieldDesc {
            slot: 1,
            name: "two",
            kind: Kind::Scalar(BYTE),
            required: false,
            recursive: false,
            since: None,
        },
    ],
    0,
);

/// Returns a table with a bool `byte`, after its vtable, which declares `size` and `entries`.
fn flag(byte: u8, size: u8, entries: &[u8]) -> Vec<u8> {
    let len = u8::try_from(4 + 2 * entries.len()).unwrap();
    let mut buf = [&[0; 8][..], &[len, 0, size, 0]].concat();
    buf.extend(entries.iter().flat_map(|&entry| [entry, 0]));
    buf.resize(buf.len().next_multiple_of(4), 0);
    let root = u8::try_from(buf.len()).unwrap();
    buf[0] = root;
    buf.extend([root - 8, 0, 0, 0, byte, 0, 0, 0, 0, 0, 0, 0]);
    buf
}

fn seen(buf: &[u8]) -> Verified {
    verify(buf, &FLAG, &Limits::default()).unwrap().1
}

#[test]
fn ordinary_tables_are_not_odd() {
    let plain = seen(&flag(1, 8, &[4]));
    assert_eq!(plain, Verified { root: 16, tables: 1, lowest: 8, is_unusual: false });
    assert_eq!(seen(&flag(0, 8, &[4])), plain, "any bool");
    assert!(seen(&flag(2, 8, &[4])).is_unusual, "a byte that is no bool");
    assert!(!seen(&flag(1, 5, &[4])).is_unusual, "a size that just holds its field");
    assert!(seen(&flag(1, 4, &[4])).is_unusual, "a size that does not");
    assert!(!seen(&flag(1, 8, &[4, 0])).is_unusual, "an unknown slot, left empty");
    assert!(seen(&flag(1, 8, &[4, 5])).is_unusual, "an unknown slot");
    assert!(seen(&flag(1, 8, &[0, 0, 5])).is_unusual, "the second one");
}

/// Overlaps are found in the first 64 bytes of a table. No known table is longer.
#[test]
fn overlapping_and_distant_fields_are_odd() {
    for (one, two, is_unusual) in [
        (4, 5, false),
        (5, 4, false),
        (63, 4, false),
        (4, 63, false),
        (4, 4, true),
        (63, 63, true),
        (64, 5, true),
        (5, 64, true),
        (4, 68, true),
        (0, 0, false),
    ] {
        let mut buf = flag(0, 80, &[one, two]);
        buf.resize(buf.len() + 80, 0);
        let seen = verify(&buf, &BYTES, &Limits::default()).unwrap().1;
        assert_eq!(seen.is_unusual, is_unusual, "{one} and {two}");
    }
}

#[test]
fn a_vtable_with_too_many_unknown_slots_is_odd() {
    for (slots, last, is_unusual) in [(65, 5, true), (65, 0, false), (66, 5, true), (66, 0, true)] {
        let mut entries = [0; 100];
        entries[slots - 1] = last;
        assert_eq!(
            seen(&flag(1, 8, &entries[..slots])).is_unusual,
            is_unusual,
            "{slots} slots, {last}"
        );
    }
}

static UNION: UnionDesc =
    UnionDesc { name: "Of", members: &[Member { name: "Bare", table: &BARE }] };
static NAMED: TableDesc = crate::table!(
    "Named",
    &[
        FieldDesc {
            slot: 0,
            name: "name",
            kind: Kind::Str,
            required: false,
            recursive: false,
            since: None,
        },
        FieldDesc {
            slot: 1,
            name: "of",
            kind: Kind::Union(&UNION),
            required: false,
            recursive: false,
            since: None,
        },
    ],
    1,
);

/// A table with several references is verified by its list of references. There the two halves of a
/// union are separate entries.
#[test]
fn half_a_union_is_refused_beside_other_references() {
    for (tag, value) in [(4, 0), (0, 8)] {
        let error = verify(&flag(1, 12, &[0, tag, value]), &NAMED, &Limits::default()).unwrap_err();
        assert_eq!(error.code(), "union-half");
    }
    assert!(verify(&flag(1, 12, &[0, 0, 0]), &NAMED, &Limits::default()).is_ok());
}
