//! Changed models: where their segments are after writing, and which models are refused.

use pte::Pte;
use pte::model::{self, Blob, ModelError};

use crate::support::asm::Asm;
use crate::support::build;

/// If a file gets a header, its contents keep their alignment.
#[test]
fn a_header_leaves_what_is_inside_aligned() {
    let bytes = build::file(
        r#"{"root": {"constant_buffer": [{"storage": []}, {"storage": [1, 2, 3, 4]}]}}"#,
    );
    for align in [None, Some(64), Some(256)] {
        let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
        program.container.layout.force_align = align;
        program.add_segment(Blob::from(vec![5; 9]));
        let out = program.image().unwrap().to_bytes().unwrap();
        let pte = Pte::read(&out).unwrap();
        let buffer = pte.program().constant_buffer().unwrap().get(1).unwrap();
        let pos = buffer.storage().unwrap().pos();
        assert_eq!(pos % align.unwrap_or(16), 0, "{align:?}: {pos}");
        assert_eq!(pte.segment(0), Some(&[5; 9][..]));
    }
}

/// Segments before the first change keep their offsets.
#[test]
fn segments_keep_their_place_as_far_as_they_can() {
    let bytes = build::file(
        r#"{"data": [{"zeros": 600}], "root": {"segments": [
            {"offset": 8, "size": 8}, {"offset": 96, "size": 4}, {"offset": 512, "size": 88}
        ], "named_data": [{"key": "a"}, {"key": "b", "segment_index": 1}]}}"#,
    );
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    assert_eq!(program.container.segment_alignment, 8, "what all of them are multiples of");
    program.set_data("b", vec![1; 5].into());
    let places = |program: &model::PteModel<'_>| {
        let places = program.root.segments.iter().flatten();
        places.map(|place| (place.offset, place.size)).collect::<Vec<_>>()
    };
    assert_eq!(places(&program), [(8, 8), (96, 5), (512, 88)], "512 was no accident");
    program.set_data("a", vec![1; 100].into());
    assert_eq!(places(&program)[0], (8, 100));
    program.align(64);
    assert_eq!(places(&program), [(0, 100), (128, 5), (192, 88)]);
    let image = program.image().unwrap().to_bytes().unwrap();
    let pte = Pte::read(&image).unwrap();
    assert_eq!(pte.header().unwrap().segment_base_offset % 64, 0);
    assert_eq!(pte.segment(0), Some(&[1; 100][..]));
}

/// An offset may have a larger alignment than writers use, by accident. A file of a few bytes does
/// not grow by a megabyte to keep it.
#[test]
fn a_segment_that_moves_keeps_no_alignment_beyond_a_page() {
    let bytes = build::file(
        r#"{"align": 16, "data": [{"zeros": 1048580}], "root": {"segments": [
            {"offset": 0, "size": 4}, {"offset": 1048576, "size": 4}
        ], "named_data": [{"key": "a"}, {"key": "b", "segment_index": 1}]}}"#,
    );
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.set_data("a", vec![1; 5].into());
    let places = program.root.segments.iter().flatten();
    let places: Vec<_> = places.map(|place| (place.offset, place.size)).collect();
    assert_eq!(places, [(0, 5), (4096, 4)]);
}

/// Unknown fields of a newer writer are not lost silently.
#[test]
fn unknown_parts_are_not_lost_in_silence() {
    let bytes =
        build::file(r#"{"root": {"execution_plan": [{"values": [{"val_type": 99, "val": {}}]}]}}"#);
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    assert_eq!(program.unknown.members, 1);
    let error = program.image().unwrap_err();
    assert!(matches!(error, ModelError::Unknown(_)));
    assert_eq!(
        error.to_string(),
        "0 fields and 1 members of unions of a newer writer would be lost"
    );
    program.forget_unknown();
    assert!(Pte::read(&program.image().unwrap().to_bytes().unwrap()).is_ok());
}

/// Fields in very high slots are not lost silently either. Such slots are not examined: only their
/// presence is counted.
#[test]
fn unknown_fields_far_out_are_not_lost_either() {
    let fields = |slots: usize, last: u16| {
        let mut offsets = vec![0; slots];
        offsets[slots - 1] = last;
        let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &offsets).zeros(8);
        Pte::read(&asm.finish()).unwrap().to_model().unwrap().unknown.fields
    };
    let root = pte::schema::program::desc::SCHEMA.root;
    let known: usize =
        root.fields.iter().map(|field| field.slot + field.slots()).max().unwrap().into();
    assert_eq!([fields(known + 64, 0), fields(known + 64, 4)], [0, 1]);
    assert_eq!([fields(known + 65, 0), fields(known + 65, 4), fields(999, 4)], [1, 1, 1]);
}

/// Each contradiction in a model has its own message.
#[test]
fn contradictions_are_reported() {
    let bytes = crate::support::files::read("tests/data/pte/xnn_gpt.pte").unwrap();
    let reported = |change: &dyn Fn(&mut model::PteModel<'_>)| {
        let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
        change(&mut program);
        program.image().unwrap_err().to_string()
    };
    let messages = [
        reported(&|program| drop(program.segments.pop())),
        reported(&|program| program.segments[1] = Blob::Zeros(7)),
        reported(&|program| program.root.segments.as_mut().unwrap()[1].offset = 0),
        reported(&|program| program.root.segments.as_mut().unwrap()[1].offset = u64::MAX),
        reported(&|program| program.container.header = None),
        reported(&|program| {
            let form = model::HeaderForm::Inserted { length: 32, chunk: 28 };
            program.container.header = Some(form);
        }),
        reported(&|program| program.container.padding = u64::MAX),
    ];
    crate::support::snapshot::assert_snapshot("model-errors", &messages.join("\n"));
}

/// An empty segment may lie in another one. The segment after it may not.
#[test]
fn an_empty_segment_hides_no_overlap() {
    let image = |last: u64| {
        let bytes = build::file(&format!(
            r#"{{"root": {{"segments": [{{"size": 16}}, {{"offset": 8, "size": 0}},
                {{"offset": {last}, "size": 8}}]}}, "data": [{{"zeros": 24}}]}}"#
        ));
        Pte::read(&bytes).unwrap().to_model().unwrap().image().map(|image| image.len())
    };
    assert!(image(16).is_ok());
    let error = image(8).unwrap_err();
    let overlap = ModelError::SegmentOverlap { index: 2, offset: 8, end: 16 };
    assert_eq!(error.to_string(), overlap.to_string());
}
