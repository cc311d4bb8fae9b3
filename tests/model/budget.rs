//! The memory that a model may take.

use std::fs;

use pte::flat::ledger::{Ledger, MemoryError};
use pte::flat::model::FromView;
use pte::flat::write::WriterLayout;
use pte::model::json::{self, AnyFile, JsonError};
use pte::model::{Blob, Container, FileModel, RootNode};
use pte::ptd::Root;
use pte::schema::flat_tensor::model as flat_tensor;
use pte::schema::flat_tensor_legacy::model as legacy;
use pte::schema::program::model::{Buffer, DataSegment, Program};

use pte::{File, Limits, Pte};

use crate::support::{files, shared};

/// The budget that docs/attacks.md states.
fn budget(given: usize) -> u64 {
    22 * given as u64 + (1 << 20)
}

#[test]
fn a_table_that_is_listed_over_and_over_is_within_the_memory_budget_or_refused() {
    let mut refused = Vec::new();
    for (name, path, slot) in shared::FAMILIES {
        let bytes = shared::program_of(path, slot, 1 << 20, (1 << 18) - 64);
        let pte = Pte::read_with(&bytes, &Limits::TRUSTED).unwrap();
        match pte.to_model() {
            Err(MemoryError::Budget { budget: limit, needed }) => {
                assert_eq!(limit, budget(bytes.len()), "{name}");
                assert!(needed > limit, "{name}: {needed}");
                refused.push(name);
            }
            Err(error) => panic!("{name}: {error}"),
            // One struct of each, at least, is in memory.
            Ok(model) => {
                let plans = model.root.execution_plan.iter().flatten();
                let values = plans.flat_map(|plan| plan.values.iter().flatten()).count();
                let of_value = size_of::<pte::schema::program::model::EValue>();
                assert!((values * of_value) as u64 <= budget(bytes.len()), "{name}");
            }
        }
        // Views copy nothing of the tables.
        let source: &[u8] = &bytes;
        assert_eq!(pte.to_views_from(&source).is_err(), name == "segment", "{name}");
    }
    assert_eq!(refused, ["segment", "method", "value", "delegate", "chain"]);
}

#[test]
fn json_that_would_take_more_memory_than_its_budget_is_refused() {
    for (item, is_refused) in [("{}", true), (r#"{"val_type":"Null","val":{}}"#, false)] {
        let values = vec![item; 100_000].join(",");
        let text = format!(r#"{{"execution_plan":[{{"values":[{values}]}}]}}"#);
        match json::read(&text, None, &mut json::no_files) {
            Err(JsonError::Memory(MemoryError::Budget { budget: limit, needed })) => {
                assert!(is_refused && limit == budget(text.len()) && needed > limit, "{item}");
            }
            read => assert!(!is_refused && read.is_ok(), "{item}: {read:?}"),
        }
    }
}

/// A short text may name a long blob many times. In tables, each use is a copy.
#[test]
fn a_blob_that_tables_name_over_and_over_is_not_copied_without_a_bound() {
    let long = vec![7u8; 1 << 20];
    let source: &[u8] = &long;
    let read = |times| {
        let buffers = vec![r#"{"storage":{"file":"a"}}"#; times].join(",");
        let text = format!(r#"{{"execution_plan":[],"constant_buffer":[{buffers}]}}"#);
        let mut files = |_: &str| Ok(Blob::Range(&source, 0..1 << 20));
        json::read(&text, None, &mut files).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(read(5), Ok(()));
    assert!(read(6).unwrap_err().contains("the tables would take more than 5242880 bytes"));
}

/// The value of a union is kept as text until its tag is known.
#[test]
fn a_union_s_value_may_stand_in_front_of_its_tag() {
    let read = |item: &str| {
        let text = format!(r#"{{"execution_plan":[{{"values":[{item}]}}]}}"#);
        json::read(&text, None, &mut json::no_files)
    };
    let items = vec!["7"; 100_000].join(",");
    let [before, after] = [
        format!(r#"{{"val":{{"items":[{items}]}},"val_type":"DoubleList"}}"#),
        format!(r#"{{"val_type":"DoubleList","val":{{"items":[{items}]}}}}"#),
    ];
    let [Ok(AnyFile::Pte(before)), Ok(AnyFile::Pte(after))] = [read(&before), read(&after)] else {
        panic!("one of them is refused")
    };
    assert!(before.root == after.root);
    let error = read(r#"{"val":{"int_val":"x"},"val_type":"Int"}"#).unwrap_err().to_string();
    assert!(!error.contains("line 1 column"), "one place is enough: {error}");
    assert!(error.starts_with("execution_plan[0].values[0].val<Int>.int_val: invalid"), "{error}");
}

/// Each known layout is found again, with each alignment of data in the tables.
#[test]
fn a_layout_is_found_with_the_alignment_of_its_data() {
    let aligns = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096].map(Some);
    for layout in WriterLayout::ALL {
        for force_align in aligns.into_iter().chain([None]) {
            let buffer = |len| Buffer { storage: Some(vec![7; len]) };
            let root = Program {
                constant_buffer: Some([0, 1, 70, 3, 5000, 0].map(buffer).into()),
                segments: Some(vec![DataSegment::default()]),
                ..Program::default()
            };
            let container =
                Container { layout: WriterLayout { force_align, ..layout }, ..Container::CURRENT };
            let unknown = Default::default();
            let model = FileModel { root, segments: vec![Blob::EMPTY], container, unknown };
            let bytes = model.image().unwrap().to_bytes().unwrap();
            assert_eq!(model.image_len().unwrap(), bytes.len() as u64);
            let source: &[u8] = &bytes;
            let pte = Pte::read(&bytes).unwrap();
            is_found(pte.to_views_from(&source).unwrap(), &bytes);
            is_found(pte.to_model().unwrap(), &bytes);
        }
    }
}

fn is_found<R: RootNode>(mut file: FileModel<'_, R>, bytes: &[u8]) {
    assert!(file.lay_out_like(bytes));
    let layout = file.container.layout;
    assert!(file.image().unwrap().to_bytes().unwrap() == bytes, "{layout:?}");
    // A byte that differs, wherever it is, is found.
    for at in [8, bytes.len() / 2, bytes.len() - 1] {
        let mut other = bytes.to_vec();
        other[at] ^= 1;
        assert!(!file.lay_out_like(&other), "{layout:?}, {at}");
    }
}

#[test]
fn genuine_files_take_less_than_half_of_the_memory_budget() {
    let (mut most, mut count) = (0, 0);
    for path in files::everything() {
        let bytes = fs::read(path).unwrap();
        let mut ledger = Ledger::of(u64::MAX);
        let region = match File::read_with(&bytes, &Limits::UNTRUSTED).unwrap() {
            File::Pte(file) => {
                let _ = Program::read(file.program(), &mut ledger);
                file.region().len()
            }
            File::Ptd(file) => {
                match file.root() {
                    Root::Current(root) => drop(flat_tensor::FlatTensor::read(root, &mut ledger)),
                    Root::Legacy(root) => drop(legacy::FlatTensor::read(root, &mut ledger)),
                }
                file.region().len()
            }
        };
        assert!(!ledger.is_refused());
        most = ledger.spent().div_ceil(region as u64).max(most);
        count += 1;
    }
    assert!(count > 20 && most <= 12, "{most} bytes for each of {count} files at most");
}
