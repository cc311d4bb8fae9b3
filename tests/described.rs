//! Files from descriptions, as fixtures are: headers, segments and padding are where they belong.

use pte::ptd::Generation;
use pte::{Ptd, Pte};

use crate::support::build::file;

#[test]
fn a_pte_has_a_header_where_it_has_data() {
    let root = r#""root": {"segments": [{"offset": 2, "size": 3}]}"#;
    let data = r#""data": [{"zeros": 2}, {"hex": "00ff"}, {"bytes": [7]}]"#;
    let built = file(&format!(r#"{{{root}, {data}, "align": 64, "trailing": {{"hex": "01"}}}}"#));
    let pte = Pte::read(&built).unwrap();
    let header = pte.header().unwrap();
    assert_eq!((header.length, header.segment_data_size), (32, 5));
    assert_eq!(header.program_size, pte.region().len() as u64);
    assert_eq!(header.segment_base_offset, header.program_size.next_multiple_of(64));
    assert_eq!(pte.segment(0), Some(&[0, 0xff, 7][..]));
    assert_eq!(built.len() as u64, header.segment_base_offset + 6);
    let gap = header.program_size as usize..header.segment_base_offset as usize;
    assert!(built[gap].iter().all(|&byte| byte == 0));

    let without = file(r#"{"kind": "pte", "root": {"version": 3}}"#);
    let pte = Pte::read(&without).unwrap();
    assert_eq!((pte.header(), pte.program().version()), (None, 3));
}

#[test]
fn a_header_can_be_old_and_can_be_wrong() {
    let with = |header: &str| {
        let root = r#""root": {"segments": [{"size": 4}]}, "data": [{"zeros": 4}]"#;
        file(&format!(r#"{{{root}, "header": {header}}}"#))
    };
    let old = with(r#"{"length": 24}"#);
    let header = Pte::read(&old).unwrap().header().unwrap();
    assert_eq!((header.length, header.segment_data_size), (24, 0));
    assert_eq!(old.len(), with("{}").len(), "the padding makes up for it");
    assert_eq!(Pte::read(&with(r#"{"length": 40}"#)).unwrap().header().unwrap().length, 40);
    for (header, code) in [
        (r#"{"length": 8}"#, "header-length"),
        (r#"{"program_size": 1000}"#, "flatbuffer-truncated"),
        (r#"{"segment_base_offset": 48}"#, "segment-base"),
        (r#"{"segment_data_size": 5}"#, "segments-truncated"),
        ("null", "segment-without-base"),
    ] {
        assert_eq!(Pte::read(&with(header)).unwrap_err().code(), code, "{header}");
    }
}

#[test]
fn a_ptd_is_of_either_kind() {
    let current = file(
        r#"{"kind": "ptd", "data": [{"hex": "0000803f"}], "root": {
            "segments": [{"size": 4}],
            "named_data": [{"key": "w", "tensor_layout":
                {"scalar_type": "FLOAT", "sizes": [1], "dim_order": [0]}}]
        }}"#,
    );
    let ptd = Ptd::read(&current).unwrap();
    assert_eq!(ptd.generation(), Generation::Three);
    let entry = ptd.entries().next().unwrap();
    let range = entry.range().unwrap();
    assert_eq!(entry.key(), Some("w"));
    assert_eq!(ptd.bytes(range), Some(&1f32.to_le_bytes()[..]));
    let header = ptd.header();
    assert_eq!((header.length, header.flatbuffer_offset), (40, 48));
    assert_eq!(header.flatbuffer_offset + header.flatbuffer_size, ptd.region().len() as u64);

    let root = r#"{"tensor_alignment": 16, "segments": [], "tensors": [], "named_data": []}"#;
    let legacy = file(&format!(r#"{{"kind": "ptd-legacy", "root": {root}}}"#));
    assert_eq!(Ptd::read(&legacy).unwrap().generation(), Generation::Two);
}

#[test]
#[should_panic(expected = "\"progam_size\" is none of")]
fn misspelt_override_is_refused() {
    file(r#"{"root": {}, "header": {"progam_size": 1}}"#);
}
