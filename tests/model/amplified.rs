//! Files that would be many times longer than their input are refused, and honest files are
//! not.

use pte::model::{self, AnyPtd, Blob, ExternalError, ModelError};
use pte::{Limits, Ptd, Pte};

use crate::support::asm::Asm;
use crate::support::build;
use crate::support::programs::{DATA, one_segment_listed_often, overlapping_constants};

/// The same as a `.ptd`.
fn one_segment_of_data_listed_often(count: u32) -> Vec<u8> {
    let asm = Asm::new().link("data").bytes(b"FT01").flat_tensor_header();
    let asm = asm.table("data", 12, &[0, 4, 8]).link("segments").link("named");
    let asm = asm.vector("named", 4, 0);
    let asm = (0..count).fold(asm.vector("segments", 4, count), |asm, _| asm.u32_to("segment*"));
    let asm = asm.table("segment", 16, &[0, 8]).zeros(4).u64(DATA as u64);
    asm.segments(&vec![7; DATA]).finish()
}

#[track_caller]
fn is_amplified(error: &ModelError, at_least: u64) {
    let ModelError::Amplified(error) = error else { panic!("{error}") };
    assert!(error.len >= at_least && error.limit < error.len, "{error}");
    assert!(error.limit < 40_000_000, "{error}");
}

/// 4,000 segments over one table would become 2 GB.
#[test]
fn segments_that_are_one_range_are_not_written_once_each() {
    let bytes = one_segment_listed_often(4_000);
    assert!(bytes.len() < 600_000);
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.align(4096);
    is_amplified(&program.image().unwrap_err(), 2_000_000_000);
    let limits = Limits { amplification: u32::MAX, ..Limits::UNTRUSTED };
    assert!(program.image_with(&limits).unwrap().len() > 2_000_000_000, "where it is allowed");

    let bytes = one_segment_of_data_listed_often(4_000);
    let AnyPtd::Current(mut data) = Ptd::read(&bytes).unwrap().to_model().unwrap() else {
        panic!()
    };
    data.align(16);
    is_amplified(&data.image().unwrap_err(), 2_000_000_000);
}

/// The same for segments that stay in a source.
#[test]
fn segments_of_a_source_that_are_one_range_are_not_written_once_each() {
    let bytes = one_segment_listed_often(1000);
    let source = &bytes[..];
    let mut program = Pte::read(&bytes).unwrap().to_model_from(&source).unwrap();
    program.align(4096);
    is_amplified(&program.image().unwrap_err(), 500_000_000);
}

#[test]
fn constants_that_overlap_do_not_move_out_once_each() {
    let steps: [fn(usize) -> usize; 2] = [|_| 0, |nth| nth];
    for begin in steps {
        let bytes = overlapping_constants(1000, begin);
        let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
        let out = program.externalize(|_| true).unwrap();
        assert_eq!(out.segments.len(), 1000);
        is_amplified(&out.image().unwrap_err(), 450_000_000);
        // Constants that stay have the same bound.
        let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
        let mut nth = 0;
        let out = program.externalize(|_| core::mem::replace(&mut nth, 1) == 0).unwrap();
        assert_eq!(out.segments.len(), 1);
        is_amplified(&program.image().unwrap_err(), 450_000_000);
    }
}

/// If a program has its constants in its tables, copies would be made in memory.
#[test]
fn constants_that_overlap_do_not_move_into_the_tables_once_each() {
    let bytes = overlapping_constants(1000, |_| 0);
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let out = program.externalize(|_| true).unwrap();
    program.root.constant_segment = None;
    let storage = Some(Vec::new());
    let buffer = pte::schema::program::model::Buffer { storage };
    program.root.constant_buffer = Some(vec![buffer]);
    match program.inline(&out).unwrap_err() {
        ExternalError::Model(error) => is_amplified(&error, 500_000_000),
        error => panic!("{error}"),
    }
}

/// Data that entries share is one segment of the program.
#[test]
fn shared_data_moves_in_once() {
    let mut data = model::PtdModel::empty();
    data.add_segment(vec![7; 1000].into());
    let entry = |key: &str| pte::schema::flat_tensor::model::NamedData {
        key: Some(key.into()),
        ..Default::default()
    };
    data.root.named_data = Some(["a", "b", "c"].map(entry).into());
    let bytes = build::file(r#"{"root": {"execution_plan": []}}"#);
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    assert_eq!(program.inline(&data).unwrap().data, 3);
    assert_eq!(program.segments.len(), 1);
    let named = program.root.named_data.as_ref().unwrap();
    assert!(named.iter().all(|entry| entry.segment_index == 0));
    let out = program.image().unwrap().to_bytes().unwrap();
    let pte = Pte::read(&out).unwrap();
    assert!(pte.named_data().all(|(_, range)| pte.bytes(range.unwrap()).unwrap() == [7; 1000]));
}

/// Padding has an allowance, so thousands of segments of one byte may each have their own page.
#[test]
fn small_segments_may_be_aligned_to_pages() {
    for size in [1, 64, 5000] {
        let mut data = model::PtdModel::empty();
        for nth in 0..3000 {
            data.segments.push(vec![nth as u8; size].into());
        }
        data.align(4096);
        let image = data.image().unwrap_or_else(|error| panic!("{size}: {error}"));
        assert!(image.len() > 3000 * 4096 - 4096);
    }
}

/// Zeros that a caller requests are not limited.
#[test]
fn zeros_may_be_a_segment() {
    let mut data = model::PtdModel::empty();
    data.add_segment(Blob::Zeros(1 << 40));
    assert!(data.image().unwrap().len() > 1 << 40);
    // No computer has memory for it.
    data.segments[0] = Blob::Zeros(1 << 62);
    data.lay_out();
    let image = data.image().unwrap();
    assert!(image.to_bytes().unwrap_err().to_string().contains("memory"));
}

/// The gaps of a model are bounded by its contents.
#[test]
fn gaps_are_bounded_by_what_is_given() {
    let bytes = build::file(
        r#"{"root": {"segments": [{"size": 4}], "named_data": [{"key": "a"}]},
            "data": [{"zeros": 4}]}"#,
    );
    let image = |change: &dyn Fn(&mut model::PteModel<'_>)| {
        let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
        change(&mut program);
        program.image().map(|image| image.len())
    };
    let far = 1 << 30;
    is_amplified(&image(&|program| program.container.padding = far).unwrap_err(), far);
    let base =
        |program: &mut model::PteModel<'_>| program.container.segment_base_offset = Some(far);
    is_amplified(&image(&base).unwrap_err(), far);
    let offset = |program: &mut model::PteModel<'_>| {
        program.root.segments.as_mut().unwrap()[0].offset = far;
    };
    is_amplified(&image(&offset).unwrap_err(), far);
    let least = |program: &mut model::PteModel<'_>| program.container.padding = 1 << 20;
    assert!(image(&least).unwrap() > 1 << 20, "a mebibyte is nothing");
}

/// Ranges of constants in a blob of many parts are found without a search through all parts.
#[test]
fn constants_of_many_parts_are_cut_in_time() {
    let count = 100_000;
    let offsets: Vec<u64> = (0..=count).map(|nth| nth * 16).collect();
    let parts = (0..=count).map(|nth| Blob::from(nth.to_le_bytes().repeat(2)));
    let bytes = build::file(r#"{"root": {"execution_plan": []}}"#);
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.add_segment(Blob::Parts(parts.collect()));
    program.root.constant_segment = Some(pte::schema::program::model::SubsegmentOffsets {
        segment_index: 0,
        offsets: Some(offsets),
    });
    let constants = program.constants();
    assert_eq!(constants.len() as u64, count + 1);
    for (nth, constant) in constants.iter().enumerate().step_by(9999) {
        assert_eq!(&*constant.to_bytes().unwrap(), (nth as u64).to_le_bytes().repeat(2));
    }
}
