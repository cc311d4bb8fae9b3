//! `.ptd` files that are built, in the bytes of upstream's writer.

use std::fs;

use pte::Check;
use pte::Ptd;
use pte::build::{BuildError, PtdBuilder, Shape};
use pte::check::Severity;
use pte::ptd::{Generation, Root};
use pte::schema::scalar::ScalarType;

use crate::support::files::{self, name};
use crate::support::snapshot::assert_snapshot;
use crate::support::thinned;

/// Every current `.ptd` is the same file, byte for byte, when it is built from its entries.
#[test]
fn what_is_built_is_what_upstream_writes() {
    let mut built = 0;
    for path in files::everything() {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        let Ok(ptd) = Ptd::read(&bytes) else { continue };
        let Root::Current(root) = ptd.root() else { continue };
        // Before release 1.1, a header of 128 bytes was an option.
        if ptd.header().flatbuffer_offset != 48 {
            continue;
        }
        let mut builder = PtdBuilder::new();
        // Releases 0.7 and 1.0 align data to 16, and so did the writer of the last two files.
        let old = ["v0.7.0_", "v1.0.0_", "upstream_xor", "ptd_5000"];
        let alignment = match name.strip_prefix("ptd_align_") {
            Some(rest) => rest.trim_end_matches(".ptd").parse().unwrap(),
            None if old.iter().any(|old| name.starts_with(old)) => 16,
            None => 128,
        };
        builder.set_segment_alignment(alignment).unwrap();
        let mut segments = std::collections::BTreeMap::new();
        for named in root.named_data().unwrap() {
            let key = named.key().unwrap();
            let shape = named.tensor_layout().map(|layout| Shape {
                scalar_type: layout.scalar_type(),
                sizes: layout.sizes().unwrap().iter().collect(),
                dim_order: Some(layout.dim_order().unwrap().iter().collect()),
            });
            let range = ptd.segment_range(named.segment_index()).unwrap();
            let data = ptd.bytes(range).unwrap();
            let known = segments.get(&named.segment_index()).copied();
            let added = match (known, shape) {
                (Some(segment), Some(shape)) => builder.tensor_in(key, shape, segment),
                (Some(segment), None) => builder.blob_in(key, segment),
                (None, Some(shape)) => builder.tensor(key, shape, data).map(|segment| {
                    segments.insert(named.segment_index(), segment);
                }),
                (None, None) => builder.blob(key, data).map(|segment| {
                    segments.insert(named.segment_index(), segment);
                }),
            };
            added.unwrap();
            // A file does not record the alignments that were requested for its data.
            let requested = match key {
                "b" if name.starts_with("ptd_align_") => 48,
                "c" if name.starts_with("ptd_align_") => 7,
                _ => continue,
            };
            builder.align(segments[&named.segment_index()], requested).unwrap();
        }
        let again = builder.finish().unwrap().image().unwrap().to_bytes().unwrap();
        if again != bytes {
            println!("{name} differs");
        }
        built += 1;
    }
    println!("{built} files");
    assert!(built >= 10, "{built}");
}

/// A file of any generation has the same entries in the same order after it is built again. A file
/// of the current writer stays the same.
#[test]
fn a_file_anew_has_the_same_entries() {
    let (mut old, mut same) = (0, 0);
    for path in files::everything() {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        let Ok(ptd) = Ptd::read(&bytes) else { continue };
        let source = &bytes[..];
        let builder = PtdBuilder::from_ptd(&ptd, &source).unwrap();
        let anew = builder.finish().unwrap().image().unwrap().to_bytes().unwrap();
        let again = Ptd::read(&anew).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(again.generation(), Generation::Three);
        assert_eq!(contents(&again, &anew), contents(&ptd, &bytes), "{name}");
        let errors = again.check();
        assert!(errors.worst() < Some(Severity::Error), "{name}: {errors}");
        old += usize::from(ptd.generation() < Generation::Three);
        same += usize::from(anew == bytes);
    }
    println!("{old} of old generations, {same} the same");
    assert!(old >= 3 && same >= 5, "{old} {same}");
}

type Contents<'a> = Vec<(&'a str, Option<(ScalarType, Vec<i32>, Vec<u8>)>, &'a [u8])>;

fn contents<'a>(ptd: &Ptd<'a>, bytes: &'a [u8]) -> Contents<'a> {
    let entries = ptd.entries().map(|entry| {
        let range = entry.range().unwrap();
        let shape = entry.layout().map(|layout| {
            let order = layout.dim_order.unwrap().iter().collect();
            (layout.scalar_type, layout.sizes.unwrap().iter().collect(), order)
        });
        let bytes = &bytes[range.start as usize..range.end as usize];
        (entry.key().unwrap(), shape, bytes)
    });
    entries.collect()
}

/// Empty data has no place, so entries do not share it.
#[test]
fn entries_without_bytes_have_segments_of_their_own() {
    let mut builder = PtdBuilder::new();
    builder.blob("a", Vec::new()).unwrap();
    builder.blob("b", Vec::new()).unwrap();
    let bytes = builder.finish().unwrap().image().unwrap().to_bytes().unwrap();
    let source: &[u8] = &bytes;
    let anew = PtdBuilder::from_ptd(&Ptd::read(source).unwrap(), &source).unwrap();
    let anew = anew.finish().unwrap().image().unwrap().to_bytes().unwrap();
    assert_eq!(Ptd::read(&anew).unwrap().segment_count(), 2);
}

#[test]
fn what_no_runtime_could_use_is_refused() {
    let bytes = |len: usize| vec![1; len];
    let float = |sizes: &[i32]| Shape::new(ScalarType::FLOAT, sizes);
    let mut ptd = PtdBuilder::new();
    let first = ptd.tensor("a", float(&[2]), bytes(8)).unwrap();
    let mut page = String::new();
    let mut refused = |result: Result<(), BuildError>| {
        page.push_str(&result.unwrap_err().to_string());
        page.push('\n');
    };
    refused(ptd.tensor("a", float(&[2]), bytes(8)).map(drop));
    refused(ptd.blob("a", bytes(1)).map(drop));
    refused(ptd.tensor("b", float(&[2]), bytes(9)).map(drop));
    refused(ptd.tensor_in("b", float(&[3]), first));
    refused(ptd.tensor("b", float(&[-1]), bytes(4)).map(drop));
    refused(ptd.tensor("b", float(&[i32::MAX; 3]), bytes(4)).map(drop));
    refused(ptd.tensor("b", float(&[1; 17]), bytes(4)).map(drop));
    refused(ptd.tensor("b", Shape::new(ScalarType(30), [1]), bytes(4)).map(drop));
    for order in [&[0, 0][..], &[0], &[1, 2], &[0, 1, 2]] {
        let shape = Shape { dim_order: Some(order.to_vec()), ..float(&[1, 1]) };
        refused(ptd.tensor("b", shape, bytes(4)).map(drop));
    }
    refused(ptd.set_segment_alignment(0));
    refused(ptd.align(first, 0));
    let strange = {
        let mut other = PtdBuilder::new();
        other.blob("x", bytes(1)).unwrap();
        other.blob("y", bytes(1)).unwrap()
    };
    refused(ptd.blob_in("b", strange));
    assert_snapshot("build-refused", &page);
    // Refused entries leave nothing behind.
    let model = ptd.finish().unwrap();
    assert_eq!(model.segments.len(), 1);
    assert_eq!(model.root.named_data.unwrap().len(), 1);
}

#[test]
fn offsets_that_no_file_has_are_refused() {
    let mut ptd = PtdBuilder::new();
    ptd.blob("a", vec![1]).unwrap();
    let last = ptd.blob("b", vec![2]).unwrap();
    ptd.set_segment_alignment(u64::MAX).unwrap();
    ptd.align(last, u64::MAX - 1).unwrap();
    assert_eq!(ptd.finish().unwrap_err(), BuildError::TooLarge);
}

/// If neither of two alignments is a multiple of the other, the segment has both.
#[test]
fn a_segment_is_aligned_to_its_own_number_and_to_that_of_all() {
    for (all, own) in [(24, 16), (16, 24), (6, 4), (128, 16), (16, 4096), (7, 1)] {
        let mut ptd = PtdBuilder::new();
        ptd.set_segment_alignment(all).unwrap();
        ptd.blob("a", vec![1; 50]).unwrap();
        let last = ptd.blob("b", vec![2]).unwrap();
        ptd.align(last, own).unwrap();
        let segments = ptd.finish().unwrap().root.segments.unwrap();
        let offset = segments[1].offset;
        let is_aligned = offset.is_multiple_of(all) && offset.is_multiple_of(own);
        assert!(offset >= 50 && is_aligned, "{all}, {own}: {offset}");
        assert!(offset < 50 + all * own, "{all}, {own}: {offset} is further than it needs to be");
    }
}

/// Equal data is stored once if that is requested. The alignment of its first entry counts.
#[cfg(feature = "sha2")]
#[test]
fn equal_data_may_be_shared() {
    let mut ptd = PtdBuilder::new();
    for (key, byte) in [("a", 1), ("b", 2), ("c", 1), ("d", 2)] {
        ptd.blob(key, vec![byte; 100]).unwrap();
    }
    ptd.blob("e", vec![1; 99]).unwrap();
    let apart = ptd.clone().finish().unwrap();
    assert_eq!(apart.segments.len(), 5, "only where it is requested for");
    ptd.share_equal().unwrap();
    let model = ptd.finish().unwrap();
    let named = model.root.named_data.as_ref().unwrap();
    let indices: Vec<_> = named.iter().map(|named| named.segment_index).collect();
    assert_eq!(indices, [0, 1, 0, 1, 2]);
    let lens: Vec<_> = model.segments.iter().map(pte::model::Blob::len).collect();
    assert_eq!(lens, [100, 100, 99]);
    let bytes = model.image().unwrap().to_bytes().unwrap();
    let ptd = Ptd::read(&bytes).unwrap();
    let values: Vec<_> = contents(&ptd, &bytes).iter().map(|(.., data)| data[0]).collect();
    assert_eq!(values, [1, 2, 1, 2, 1]);
}

/// With this many keys, some digests are equal. Every key is still found, and of equal keys the
/// first.
#[test]
fn every_key_is_found() {
    let mut builder = PtdBuilder::new();
    builder.set_segment_alignment(1).unwrap();
    let keys: Vec<String> =
        (0..200_000 / thinned(5)).map(|nth| format!("layers.{nth}.weight")).collect();
    for (nth, key) in (0u32..).zip(&keys) {
        builder.blob(key.clone(), nth.to_le_bytes().to_vec()).unwrap();
    }
    let mut model = builder.finish().unwrap();
    let named = model.root.named_data.as_mut().unwrap();
    named.extend([named[7].clone(), named[0].clone()]);
    named[keys.len()].segment_index = 8;
    let bytes = model.image().unwrap().to_bytes().unwrap();
    let ptd = Ptd::read(&bytes).unwrap();
    let index = ptd.index();
    for (nth, key) in (0u32..).zip(&keys) {
        let entry = index.get(key).unwrap_or_else(|| panic!("{key} is not found"));
        assert_eq!(ptd.bytes(entry.range().unwrap()), Some(&nth.to_le_bytes()[..]), "{key}");
        assert!(index.get(&key[1..]).is_none());
    }
}
