//! Files as structs: read into a model and written again, byte for byte.

use std::collections::BTreeMap;
use std::fs;

use pte::Check;
use pte::flat::json::{Options, write};
use pte::flat::tree::Unknown;
use pte::flat::write::WriterLayout;
use pte::model::{AnyPtd, Blob, Container, FileModel, HeaderForm, ModelError, RootStruct};
use pte::schema::flat_tensor::model as current;
use pte::schema::flat_tensor_legacy::model as legacy;
use pte::schema::program::model as program;
use pte::{Ptd, Pte};

use crate::support::build;
use crate::support::files::{self, name};

pub(crate) mod amplified;
mod budget;
mod builder;
pub(crate) mod edit;
#[cfg(feature = "sha2")]
mod payloads;
#[cfg(feature = "sha2")]
mod shared;
#[cfg(feature = "std")]
mod sparse;
mod written;

/// Every genuine file: read into a model and written again, it has the same bytes, for every writer.
#[test]
fn every_file_comes_back_byte_for_byte() {
    let mut writers: BTreeMap<String, usize> = BTreeMap::new();
    for path in files::everything() {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        let layout = match pte::file::sniff(&bytes).unwrap() {
            pte::file::FileKind::Pte => {
                let pte = Pte::read(&bytes).unwrap();
                comes_back(pte.to_model().unwrap(), pte.region(), &bytes, &name)
            }
            pte::file::FileKind::Ptd => {
                let ptd = Ptd::read(&bytes).unwrap();
                match ptd.to_model().unwrap() {
                    AnyPtd::Current(model) => comes_back(model, ptd.region(), &bytes, &name),
                    AnyPtd::Legacy(model) => comes_back(model, ptd.region(), &bytes, &name),
                }
            }
        };
        *writers.entry(layout).or_default() += 1;
    }
    println!("{writers:?}");
    assert!(writers["python"] > 5 && writers["flatc"] > 5, "both are there: {writers:?}");
}

/// A file of any layout, when written in the current layout, has the same tables and no new
/// findings, and is always written in the same way.
#[test]
fn every_file_says_the_same_in_todays_layout() {
    for path in files::everything().into_iter().filter(|path| path.extension().unwrap() == "pte") {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        let pte = Pte::read(&bytes).unwrap();
        let mut model = pte.to_model().unwrap();
        model.container.layout = WriterLayout::default();
        let written = model.image().unwrap().to_bytes().unwrap();
        let again = Pte::read(&written).unwrap();
        let model = again.to_model().unwrap();
        assert!(
            model.image().unwrap().to_bytes().unwrap() == written,
            "{name}: not the same twice"
        );
        let text = |pte: &Pte<'_>| {
            let mut text = String::new();
            let options = Options { pretty: false, blob: |_: &[u8]| None };
            write(pte.program(), options, &mut text).unwrap();
            text
        };
        assert!(text(&again) == text(&pte), "{name}: its dump changed");
        let rules = |pte: &Pte<'_>| {
            let report = pte.check();
            report.counts().map(|(rule, _)| rule.id).collect::<Vec<_>>()
        };
        let (before, after) = (rules(&pte), rules(&again));
        let new: Vec<_> = after.iter().filter(|id| !before.contains(id)).collect();
        assert!(new.is_empty(), "{name}: {new:?}");
    }
}

/// Returns the name of the layout in which the model has the bytes of the file.
fn comes_back<R: RootStruct>(
    mut model: FileModel<'_, R>,
    region: &[u8],
    bytes: &[u8],
    name: &str,
) -> String {
    assert!(model.lay_out_like(region), "{name}: no layout gives its tables");
    let image = model.image().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(image.len(), bytes.len() as u64, "{name}");
    assert!(image.to_bytes().unwrap() == bytes, "{name}: it differs");
    let layout = model.container.layout;
    match layout.force_align {
        None => layout.name.into(),
        Some(align) => format!("{} aligned to {align}", layout.name),
    }
}

/// The structs go through any format of serde, names and all.
#[cfg(feature = "serde")]
#[test]
fn models_can_be_serialized() {
    for path in files::samples().into_iter().filter(|path| path.extension().unwrap() == "pte") {
        let bytes = fs::read(&path).unwrap();
        let root = Pte::read(&bytes).unwrap().to_model().unwrap().root;
        let text = serde_json::to_string(&root).unwrap();
        if text.contains("\"double_val\":null") {
            continue; // JSON has no infinity.
        }
        let back: pte::schema::program::model::Program = serde_json::from_str(&text).unwrap();
        assert!(back == root, "{}", name(&path));
    }
    let unknown = serde_json::from_str::<pte::schema::program::model::Int>(r#"{"int_vla": 1}"#);
    assert!(unknown.unwrap_err().to_string().contains("int_vla"));
}

/// An old `.ptd` has its alignment in the slot of a current one's offset to segments. Read as an
/// offset, the alignment of this file leads to bytes that may be segments.
#[test]
fn an_old_ptd_that_would_read_as_a_current_one_is_not_written() {
    let image = |alignment| {
        let root = legacy::FlatTensor {
            tensor_alignment: alignment,
            tensors: Some(vec![legacy::TensorMetadata::default()]),
            segments: Some(vec![legacy::DataSegment::default()]),
            named_data: Some(vec![legacy::NamedData::default()]),
            ..Default::default()
        };
        let container = Container { header: Some(HeaderForm::PTD), ..Container::CURRENT };
        let unknown = Unknown::default();
        let model = FileModel { root, segments: vec![Blob::EMPTY], container, unknown };
        model.image().map(|image| image.to_bytes().unwrap())
    };
    assert!(matches!(image(16), Err(ModelError::Polyglot)));
    assert_eq!(Ptd::read(&image(32).unwrap()).unwrap().entries().count(), 2);
}

/// An old `.ptd` is recognized by its list of segments, even an empty one. Without the list it
/// would be read as a current one, whose offset to segments is the old alignment.
#[test]
fn an_old_ptd_without_segments_is_not_written_where_it_would_be_misread() {
    let is_written = |alignment| {
        let root = legacy::FlatTensor { tensor_alignment: alignment, ..Default::default() };
        let container = Container { header: Some(HeaderForm::PTD), ..Container::CURRENT };
        let unknown = Unknown::default();
        let model = FileModel { root, segments: vec![], container, unknown };
        !matches!(model.image(), Err(ModelError::Polyglot))
    };
    assert!(!is_written(1));
    // An alignment of 0 is no offset: the reader reports what the file lacks.
    assert!(is_written(0));
}

/// A program without data needs no header. A `.ptd` does.
#[test]
fn a_ptd_without_a_header_is_not_written() {
    fn image<R: RootStruct>(root: R) -> Result<u64, ModelError> {
        let unknown = Unknown::default();
        let model = FileModel { root, segments: vec![], container: Container::CURRENT, unknown };
        model.image().map(|image| image.len())
    }
    assert!(image(program::Program::default()).is_ok());
    assert!(matches!(image(current::FlatTensor::default()), Err(ModelError::HeaderMissing)));
    assert!(matches!(image(legacy::FlatTensor::default()), Err(ModelError::HeaderMissing)));
}

/// A header in front of the FlatBuffer marks a file as generation 0, with any tables.
#[test]
fn a_header_in_front_is_not_written_where_the_file_would_be_taken_for_an_old_ptd() {
    let HeaderForm::Inserted { length, chunk } = HeaderForm::PTD else { panic!() };
    let header = Some(HeaderForm::InFront { length, chunk });
    let container = Container { header, ..Container::CURRENT };
    let unknown = Unknown::default();
    fn refused<R: RootStruct>(root: R, container: &Container<'_>, unknown: Unknown) -> bool {
        let model = FileModel { root, segments: vec![], container: container.clone(), unknown };
        matches!(model.image(), Err(ModelError::HeaderInFront))
    }
    assert!(refused(program::Program::default(), &container, unknown));
    assert!(refused(current::FlatTensor::default(), &container, unknown));
    assert!(!refused(legacy::FlatTensor::default(), &container, unknown));
}

/// Without a base, an empty segment may declare any offset. The written file does not reach there.
#[test]
fn an_empty_segment_far_out_makes_no_long_file() {
    let root = current::FlatTensor {
        segments: Some(vec![current::DataSegment { offset: 1 << 45, size: 0 }]),
        named_data: Some(vec![]),
        ..Default::default()
    };
    for padding in [0, 100] {
        let container = Container { header: Some(HeaderForm::PTD), padding, ..Container::CURRENT };
        let unknown = Unknown::default();
        let model =
            FileModel { root: root.clone(), segments: vec![Blob::EMPTY], container, unknown };
        let image = model.image().unwrap();
        assert!(image.len() < 400, "{} bytes", image.len());
        let bytes = image.to_bytes().unwrap();
        let AnyPtd::Current(again) = Ptd::read(&bytes).unwrap().to_model().unwrap() else {
            panic!()
        };
        assert_eq!(again.root, root);
        assert_eq!(again.image().unwrap().to_bytes().unwrap(), bytes);
    }
}

/// Bytes that the header counts behind empty segments are still counted.
#[test]
fn padding_behind_empty_segments_is_counted() {
    let bytes = build::file(
        r#"{"root": {"execution_plan": [], "segments": [{"offset": 16}]}, "header": {"length": 32,
            "segment_base_offset": 0, "segment_data_size": 0}}"#,
    );
    for padding in [0, 24] {
        let mut model = Pte::read(&bytes).unwrap().to_model().unwrap();
        model.container.segment_base_offset = None;
        model.container.padding = padding;
        let out = model.image().unwrap().to_bytes().unwrap();
        let again = Pte::read(&out).unwrap().to_model().unwrap();
        let left = (again.container.padding, again.container.trailing.len());
        assert_eq!(left, (padding, model.container.trailing.len()));
    }
}
