//! Equal data: stored once in a file, and in one `.ptd` for several programs.

use pte::model::{ExternalError, ModelError, PteModel, SharedPtd};
use pte::{Limits, Ptd, Pte};

use crate::support::build;
use crate::support::programs::one_segment_listed_often;

const LIMITS: Limits = Limits::UNTRUSTED;

/// Returns a program with one constant, called `name`, whose elements are `byte`.
fn constant(name: &str, byte: u8) -> Vec<u8> {
    build::file(&format!(
        r#"{{"data": [{{"zeros": 16}}, {{"hex": "{}"}}], "root": {{
            "segments": [{{"size": 80}}], "constant_segment": {{"offsets": [0, 16]}},
            "execution_plan": [{{"name": "forward", "values": [{{"val_type": "Tensor", "val": {{
                "scalar_type": "BYTE", "sizes": [64], "dim_order": [0], "data_buffer_idx": 1,
                "extra_tensor_info": {{"fully_qualified_name": "{name}"}}
            }}}}]}}]
        }}}}"#,
        format!("{byte:02x}").repeat(64)
    ))
}

/// Returns a program with named data.
fn named(key: &str, byte: u8) -> Vec<u8> {
    build::file(&format!(
        r#"{{"data": [{{"hex": "{}"}}], "root": {{"segments": [{{"size": 64}}],
            "named_data": [{{"key": "{key}"}}], "execution_plan": []}}}}"#,
        format!("{byte:02x}").repeat(64)
    ))
}

/// The keys and first bytes of a `.ptd`, and the names of tensors in each program.
type Shared = (Vec<(String, u8)>, Vec<Vec<String>>);

/// Moves all data of the programs out.
fn share(files: &[Vec<u8>]) -> Result<Shared, ExternalError> {
    let mut shared = SharedPtd::new();
    let mut programs = Vec::new();
    for file in files {
        let mut program = Pte::read(file).unwrap().to_model().unwrap();
        let moved = program.externalize(|_| true)?;
        shared.add(&mut program, moved, &LIMITS)?;
        programs.push(names(&program));
    }
    let bytes = shared.finish()?.image().unwrap().to_bytes().unwrap();
    let ptd = Ptd::read(&bytes).unwrap();
    let entries = ptd.entries().map(|entry| {
        (entry.key().unwrap().to_owned(), bytes[entry.range().unwrap().start as usize])
    });
    Ok((entries.collect(), programs))
}

fn names(program: &PteModel<'_>) -> Vec<String> {
    let values = program.root.execution_plan.iter().flatten().flat_map(|plan| &plan.values);
    let tensors = values.flatten().filter_map(|value| match &value.val {
        Some(pte::schema::program::model::KernelTypes::Tensor(tensor)) => Some(tensor),
        _ => None,
    });
    let names = tensors.filter_map(|tensor| tensor.extra_tensor_info.as_ref());
    names.filter_map(|extra| extra.fully_qualified_name.clone()).collect()
}

/// A key with equal data is one entry. A constant with other data gets another key, which its tensor has.
#[test]
fn constants_of_one_name_share_or_get_another_key() {
    let files = [("w", 1), ("w", 1), ("w", 2), ("w", 3), ("w", 2), ("v", 1)];
    let files = files.map(|(name, byte)| constant(name, byte));
    let (entries, programs) = share(&files).unwrap();
    let expected = [("w", 1), ("w.2", 2), ("w.3", 3), ("v", 1)];
    assert_eq!(entries, expected.map(|(key, byte)| (key.to_owned(), byte)));
    assert_eq!(programs.concat(), ["w", "w", "w.2", "w.3", "w.2", "v"]);
}

/// A payload asks for a key of named data, so the key cannot change.
#[test]
fn named_data_of_one_key_must_be_equal() {
    let (entries, _) = share(&[named("k", 1), named("k", 1), named("l", 1)]).unwrap();
    assert_eq!(entries, [("k".to_owned(), 1), ("l".to_owned(), 1)]);
    let error = share(&[named("k", 1), named("k", 2)]).unwrap_err();
    assert_eq!(error.to_string(), "duplicate key \"k\"");
}

/// Runtimes refuse a key that is both in a program and in its `.ptd`.
#[test]
fn a_key_that_another_program_keeps_is_refused() {
    let files = [constant("k", 1), named("k", 1)];
    let mut shared = SharedPtd::new();
    let [mut moving, mut keeping] =
        files.each_ref().map(|file| Pte::read(file).unwrap().to_model().unwrap());
    let moved = moving.externalize(|_| true).unwrap();
    shared.add(&mut moving, moved, &LIMITS).unwrap();
    let moved = keeping.externalize(|_| false).unwrap();
    shared.add(&mut keeping, moved, &LIMITS).unwrap();
    assert_eq!(shared.finish().unwrap_err().to_string(), "duplicate key \"k\"");
}

/// Of equal segments, the one with the largest alignment stays. Constants stay where they are.
#[test]
fn equal_segments_keep_the_largest_alignment() {
    let bytes = build::file(
        r#"{"data": [{"zeros": 4672}], "root": {
            "segments": [{"size": 64}, {"offset": 80, "size": 64}, {"offset": 4096, "size": 64},
                {"offset": 4608, "size": 64}],
            "constant_segment": {"segment_index": 3, "offsets": [0, 16]},
            "named_data": [{"key": "a", "segment_index": 1}, {"key": "b", "segment_index": 2}],
            "execution_plan": [{"delegates": [
                {"id": "B", "processed": {"location": "SEGMENT", "index": 0}},
                {"id": "B", "processed": {"location": "SEGMENT", "index": 1}}]}]
        }}"#,
    );
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let shared = program.share_equal(&LIMITS).unwrap();
    assert_eq!((shared.segments, shared.bytes), (2, 128));
    let bytes = program.image().unwrap().to_bytes().unwrap();
    let pte = Pte::read(&bytes).unwrap();
    assert_eq!(pte.segment_count(), 2);
    let ranges: Vec<_> = pte.named_data().map(|(_, range)| range.unwrap()).collect();
    assert_eq!(ranges[0], ranges[1]);
    let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
    for delegate in plan.delegates().unwrap() {
        assert_eq!(pte.delegate_range(delegate).unwrap().unwrap(), ranges[0]);
    }
}

/// 4,000 segments over one range are not read once each.
#[test]
fn overlapping_segments_are_not_read_often() {
    let bytes = one_segment_listed_often(4_000);
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let named = (0..4_000).map(|nth| pte::schema::program::model::NamedData {
        key: Some(nth.to_string()),
        segment_index: nth,
    });
    program.root.named_data = Some(named.collect());
    let error = program.share_equal(&LIMITS).unwrap_err();
    assert!(matches!(error, ModelError::Amplified(_)), "{error}");
}
