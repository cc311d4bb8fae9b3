//! Programs from their parts.

use std::collections::BTreeMap;
use std::fs;

use pte::Check;
use pte::Pte;
use pte::build::{BuildError, PteBuilder};
use pte::model::{self, Blob};
use pte::schema::program::DataLocation;
use pte::schema::program::model::Program;

use crate::support::files::{self, name};

/// Programs of upstream's own writer are built again from their parts, byte for byte.
#[test]
fn programs_are_made_as_upstream_makes_them() {
    let (mut same, mut other) = (0, Vec::new());
    for path in files::everything().into_iter().filter(|path| path.extension().unwrap() == "pte") {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        let pte = Pte::read(&bytes).unwrap();
        let mut model = pte.to_model().unwrap();
        model.lay_out_like(pte.region());
        // The current layout, without options.
        if (model.container.layout.name, model.container.layout.force_align) != ("python", None) {
            continue;
        }
        let built = built(&model).image().unwrap().to_bytes().unwrap();
        let rules = |report: pte::check::Report| {
            report.counts().map(|(rule, _)| rule.id).collect::<Vec<_>>()
        };
        let before = rules(pte.check());
        let after = rules(Pte::read(&built).unwrap().check());
        assert!(after.iter().all(|id| before.contains(id)), "{name}: {after:?}");
        match built == bytes {
            true => same += 1,
            false => other.push(name),
        }
    }
    println!("{same} the same, other: {other:?}");
    // Files whose constants or named data have a larger alignment, which the file does not record.
    other.retain(|name| !name.starts_with("constant_alignment") && !name.contains("synth"));
    assert!(same > 40, "{same} the same");
    assert_eq!(other, Vec::<String>::new(), "{same} the same");
}

/// Builds a program again from its parts.
fn built<'a>(model: &model::PteModel<'a>) -> model::PteModel<'a> {
    let mut builder = PteBuilder::new();
    builder.set_segment_alignment(model.container.segment_alignment).unwrap();
    let segment = |nth: u32| model.segments[nth as usize].clone();
    for constant in model.constants().into_iter().skip(1) {
        builder.constant(constant).unwrap();
    }
    if let Some(states) = model.root.mutable_data_segments.iter().flatten().next() {
        let (all, offsets) = (segment(states.segment_index), states.offsets.as_ref().unwrap());
        let ends = offsets.iter().skip(1).copied().chain([all.len()]);
        for (&begin, end) in offsets.iter().zip(ends).skip(1) {
            builder.state(all.slice(begin..end)).unwrap();
        }
    }
    let mut root = model.root.clone();
    let mut payloads = BTreeMap::new();
    for data in root.backend_delegate_data.take().into_iter().flatten() {
        builder.inline_payload(data.data.unwrap_or_default()).unwrap();
    }
    // The payloads are added in the order of their segments, which is that of their first use.
    let delegates = |root: &Program| -> Vec<u32> {
        let plans = root.execution_plan.iter().flatten();
        let all = plans.flat_map(|plan| plan.delegates.iter().flatten());
        let processed = all.filter_map(|delegate| delegate.processed.clone());
        processed.filter(|p| p.location == DataLocation::SEGMENT).map(|p| p.index).collect()
    };
    for nth in delegates(&root) {
        payloads.entry(nth).or_insert_with(|| builder.payload(segment(nth)).unwrap());
    }
    for plan in root.execution_plan.iter_mut().flatten() {
        for delegate in plan.delegates.iter_mut().flatten() {
            if let Some(processed) = &mut delegate.processed
                && processed.location == DataLocation::SEGMENT
            {
                *processed = payloads[&processed.index].clone();
            }
        }
    }
    let mut named = BTreeMap::new();
    for entry in root.named_data.take().into_iter().flatten() {
        let (key, nth) = (entry.key.unwrap(), entry.segment_index);
        match named.get(&nth) {
            Some(&handle) => builder.named_data_in(key, handle).unwrap(),
            None => {
                named.insert(nth, builder.named_data(key, segment(nth), 1).unwrap());
            }
        }
    }
    builder.finish(root).unwrap()
}

#[test]
fn what_cannot_be_built_is_refused() {
    let mut builder = PteBuilder::new();
    assert_eq!(builder.set_segment_alignment(0), Err(BuildError::Alignment));
    assert_eq!(builder.set_constant_alignment(3), Err(BuildError::Alignment));
    let segment = builder.named_data("a", vec![1], 16).unwrap();
    assert_eq!(
        builder.named_data("a", vec![1], 16).unwrap_err().to_string(),
        "duplicate key \"a\""
    );
    assert_eq!(builder.named_data("b", vec![1], 0), Err(BuildError::Alignment));
    assert_eq!(PteBuilder::new().named_data_in("b", segment), Err(BuildError::Segment));
    builder.named_data_in("b", segment).unwrap();
    builder.named_data("c", vec![2; 3], 4096).unwrap();
    let bytes = builder.finish(Program::default()).unwrap().image().unwrap().to_bytes().unwrap();
    let pte = Pte::read(&bytes).unwrap();
    let data =
        pte.named_data().map(|(key, range)| (key.unwrap(), pte.bytes(range.unwrap()).unwrap()));
    let want: [(&str, &[u8]); 3] = [("a", &[1]), ("b", &[1]), ("c", &[2; 3])];
    assert_eq!(data.collect::<Vec<_>>(), want);
    assert_eq!(pte.program().segments().unwrap().get(2).unwrap().offset(), 4096);
}

/// Bytes from several places are one blob.
#[test]
fn blobs_are_cut_and_joined() {
    let source: &[u8] = b"0123456789";
    let mut blob = Blob::from(&b"ab"[..]);
    blob.append(Blob::Zeros(3));
    blob.append(Blob::Range(&source, 2..6));
    let whole = b"ab\0\0\x002345";
    assert_eq!((blob.len(), &*blob.to_bytes().unwrap()), (9, &whole[..]));
    for begin in 0..=10u64 {
        for end in begin..=11 {
            let cut = |at: u64| (at as usize).min(whole.len());
            let part = blob.slice(begin..end);
            let want = &whole[cut(begin)..cut(end)];
            assert_eq!(&*part.to_bytes().unwrap(), want, "{begin}..{end}");
            assert_eq!(part.len(), want.len() as u64);
        }
    }
}
