//! The oracles `roundtrip`, `encode` and `json`: what is written is read, and written again.

use core::fmt::{self, Debug};

use arbitrary::{Arbitrary, Unstructured};
use pte::flat::json as tables;
use pte::flat::load;
use pte::flat::tree::Unknown;
use pte::flat::view::Table;
use pte::flat::write::WriterLayout;
use pte::model::json::{self, AnyFile};
use pte::model::{AnyPtd, Blob, Container, FileModel, HeaderForm, ModelError, RootStruct};
use pte::ptd::{self, Generation};
use pte::schema::{flat_tensor, flat_tensor_legacy, program};
use pte::{ErrorKind, Handle, Limits};

use crate::agree::agree;
use crate::read::read;

/// The most bytes of an image that are looked at: JSON asks for gigabytes in a line.
const LONGEST: u64 = 1 << 20;

/// Writes the model of an accepted file: the result is accepted, has the same model, and gives the same bytes
/// when it is written again. So does the model's JSON.
pub fn roundtrip(bytes: &[u8]) {
    let Ok(file) = read(bytes, &Limits::UNTRUSTED) else { return };
    match &file {
        pte::File::Pte(pte) => {
            through_json(pte.program());
            again(pte.to_model().unwrap(), None);
        }
        pte::File::Ptd(ptd) => {
            match ptd.root() {
                ptd::Root::Current(root) => through_json(root),
                ptd::Root::Legacy(root) => through_json(root),
            }
            match ptd.to_model().unwrap() {
                AnyPtd::Current(model) => again(model, Some(ptd.generation())),
                AnyPtd::Legacy(model) => again(model, Some(ptd.generation())),
            }
        }
    }
}

/// A root as JSON, and what is loaded from that as JSON.
fn through_json<'a, T: Table<'a>>(root: T) {
    let mut text = String::new();
    let options = tables::Options { pretty: false, blob: |_: &'a [u8]| None };
    tables::write(root, options, &mut text).expect("a string takes text");
    let loaded = load::read(&text, T::DESC, &mut load::no_files);
    loaded.unwrap_or_else(|error| panic!("{error}: {text}"));
}

/// Written, read, and written again.
fn again<R: Readable>(mut model: FileModel<'_, R>, generation: Option<Generation>) {
    model.forget_unknown();
    let bytes = match image(&model) {
        Some(bytes) => bytes,
        None => return,
    };
    let mut read = R::read(&bytes).unwrap_or_else(|error| panic!("written, and refused: {error}"));
    same(&model, &read);
    // The layout of the tables is a guess, which may differ if there are few fields.
    read.container.layout = model.container.layout;
    let members = read.unknown.members;
    read.forget_unknown();
    assert_eq!(image(&read).as_ref(), Some(&bytes), "a second image");
    // JSON has only the tag of a union with an unknown member, and no model takes that.
    if members > 0 {
        return;
    }
    let text = whole(&read, generation);
    let loaded = json::read(&text, None, &mut json::no_files);
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut loaded = R::of(loaded);
    loaded.forget_unknown();
    same(&read, &loaded);
    // JSON does not tell one number that is none from another.
    let is_plain = loaded.root == read.root;
    let same_bytes = image(&loaded).as_ref() == Some(&bytes);
    assert!(same_bytes || !is_plain, "other bytes by way of {text}");
}

/// The two are the same but for what only the bytes say.
fn same<R: RootStruct + PartialEq + Debug>(ours: &FileModel<'_, R>, read: &FileModel<'_, R>) {
    if ours.root != read.root {
        // Numbers that are none are equal as texts alone.
        assert_eq!(format!("{:?}", ours.root), format!("{:?}", read.root), "the tables");
    }
    assert_eq!(ours.segments.len(), read.segments.len(), "segments");
    for (ours, read) in ours.segments.iter().zip(&read.segments) {
        assert_eq!(bytes_of(ours), bytes_of(read), "a segment");
    }
}

fn bytes_of(blob: &Blob<'_>) -> Vec<u8> {
    blob.to_bytes().unwrap_or_else(|error| panic!("in memory, and not read: {error}")).into_owned()
}

/// The bytes of a model; `None` where segments share bytes, which a model does not say.
fn image<R: RootStruct>(model: &FileModel<'_, R>) -> Option<Vec<u8>> {
    match model.image() {
        Ok(image) => {
            assert!(image.len() <= LONGEST * 16, "an image of {} bytes", image.len());
            let bytes = image.to_bytes().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(bytes.len() as u64, image.len(), "the length of the image");
            Some(bytes)
        }
        Err(ModelError::SegmentOverlap { .. } | ModelError::Polyglot) => None,
        Err(error) => panic!("not written: {error}"),
    }
}

/// A model as JSON with its container.
fn whole<R: Readable>(model: &FileModel<'_, R>, generation: Option<Generation>) -> String {
    let bytes = image(model).unwrap_or_default();
    let mut text = String::new();
    let blob = |blob: &Blob<'_>, out: &mut String| numbers(&bytes_of(blob), out);
    R::write(&bytes, &mut text, |out| json::write(model, generation, false, out, blob));
    text
}

fn numbers(bytes: &[u8], out: &mut String) -> fmt::Result {
    use fmt::Write;
    out.write_char('[')?;
    for (nth, byte) in bytes.iter().enumerate() {
        write!(out, "{}{byte}", if nth > 0 { "," } else { "" })?;
    }
    out.write_char(']')
}

/// A root that can be read from bytes.
trait Readable: RootStruct + PartialEq + Debug + for<'a> Arbitrary<'a> {
    fn read(bytes: &[u8]) -> pte::Result<FileModel<'_, Self>>;

    fn of(file: AnyFile<'_>) -> FileModel<'_, Self>;

    fn write(bytes: &[u8], out: &mut String, container: impl FnOnce(&mut String) -> fmt::Result);

    /// Adds the fields that readers require.
    fn complete(&mut self) {}

    const HEADER: Option<HeaderForm>;
}

fn write_root<'a, T: Table<'a>>(
    root: T,
    out: &mut String,
    container: impl FnOnce(&mut String) -> fmt::Result,
) {
    let options = tables::Options { pretty: false, blob: |_: &'a [u8]| None };
    let written = tables::write_beside(root, options, &mut *out, json::KEY, |out| container(out));
    written.expect("a string takes text");
}

impl Readable for program::model::Program {
    const HEADER: Option<HeaderForm> = None;

    fn read(bytes: &[u8]) -> pte::Result<FileModel<'_, Self>> {
        pte::Pte::read(bytes).map(|pte| pte.to_model().unwrap())
    }

    fn of(file: AnyFile<'_>) -> FileModel<'_, Self> {
        match file {
            AnyFile::Pte(file) => file,
            other => panic!("no program: {other:?}"),
        }
    }

    fn write(bytes: &[u8], out: &mut String, container: impl FnOnce(&mut String) -> fmt::Result) {
        let pte = pte::Pte::read(bytes).expect("it was read before");
        write_root(pte.program(), out, container);
    }
}

/// The root of one generation of data files, with the list that it requires beside that of segments.
macro_rules! readable {
    ($root:ty, $Generation:ident, $File:ident, $required:ident) => {
        impl Readable for $root {
            const HEADER: Option<HeaderForm> = Some(HeaderForm::PTD);

            fn read(bytes: &[u8]) -> pte::Result<FileModel<'_, Self>> {
                pte::Ptd::read(bytes).map(|ptd| match ptd.to_model().unwrap() {
                    AnyPtd::$Generation(file) => file,
                    other => panic!("of another generation: {other:?}"),
                })
            }

            fn of(file: AnyFile<'_>) -> FileModel<'_, Self> {
                match file {
                    AnyFile::$File(file) => file,
                    other => panic!("of another kind: {other:?}"),
                }
            }

            fn write(
                bytes: &[u8],
                out: &mut String,
                container: impl FnOnce(&mut String) -> fmt::Result,
            ) {
                match pte::Ptd::read(bytes).expect("it was read before").root() {
                    ptd::Root::$Generation(root) => write_root(root, out, container),
                    other => panic!("of another generation: {other:?}"),
                }
            }

            fn complete(&mut self) {
                self.version = 0;
                self.segments.get_or_insert_default();
                self.$required.get_or_insert_default();
            }
        }
    };
}

readable!(flat_tensor::model::FlatTensor, Current, Ptd, named_data);
readable!(flat_tensor_legacy::model::FlatTensor, Legacy, LegacyPtd, tensors);

/// A model of random contents is written in any layout, accepted by all three readers, the same
/// when it is read, and then written in the same bytes.
pub fn encode(bytes: &[u8]) {
    let mut random = Unstructured::new(bytes);
    let drawn = match random.int_in_range(0..=5) {
        Ok(0) => draw::<flat_tensor::model::FlatTensor>(random),
        Ok(1) => draw::<flat_tensor_legacy::model::FlatTensor>(random),
        _ => draw::<program::model::Program>(random),
    };
    // A draw that has run out of random bytes is no model.
    let _ = drawn;
}

fn draw<R: Readable>(mut random: Unstructured<'_>) -> arbitrary::Result<()> {
    let layout = WriterLayout { force_align: None, ..*random.choose(&WriterLayout::ALL)? };
    let force_align = *random.choose(&[None, None, Some(1), Some(32), Some(256)])?;
    let alignment = *random.choose(&[128, 1, 16, 4096])?;
    let size: u64 = random.int_in_range(0..=40)?;
    let mut root = R::arbitrary_take_rest(random)?;
    root.complete();
    let count = root.segments().len().min(16);
    root.set_segments(&vec![(u64::MAX, 0); count]);
    let segments = (0u8..16).take(count).map(|nth| Blob::from(vec![nth; usize::from(nth) + 1]));
    let mut model = FileModel {
        root,
        segments: segments.collect(),
        container: Container {
            layout: WriterLayout { force_align, ..layout },
            header: R::HEADER,
            segment_alignment: alignment,
            trailing: Blob::Zeros(size),
            ..Container::CURRENT
        },
        unknown: Unknown::default(),
    };
    model.lay_out();
    let Some(bytes) = image(&model) else {
        let refused = model.image().err();
        assert!(matches!(refused, Some(ModelError::Polyglot)), "segments lie one behind the other");
        return Ok(());
    };
    let mut read = R::read(&bytes)
        .unwrap_or_else(|error| panic!("written, and refused: {error}, at {}", error.place()));
    same(&model, &read);
    agree(&bytes);

    read.forget_unknown();
    let tables = crate::read::read(&bytes, &Limits::UNTRUSTED).expect("it was read before");
    let found = read.lay_out_like(crate::read::region(&tables));
    // Without a header, what a file is filled up with passes for tables.
    assert!(found || model.container.header.is_none(), "the layout is one of the known ones");
    if found {
        let again = image(&read).expect("segments are laid out one behind the other");
        assert!(again == bytes, "a second image");
    }
    Ok(())
}

/// A text is no file, or it is one that can be written and is then accepted, unless the text says
/// something of which the reader has another finding.
pub fn json(bytes: &[u8]) {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    match json::read(text, None, &mut json::no_files) {
        Ok(AnyFile::Pte(file)) => written(&file),
        Ok(AnyFile::Ptd(file)) => written(&file),
        Ok(AnyFile::LegacyPtd(file)) => written(&file),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn written<R: RootStruct>(file: &FileModel<'_, R>) {
    let image = match file.image() {
        Ok(image) if image.len() <= LONGEST => image,
        Ok(_) => return,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let opened = Handle::open(image, &Limits::UNTRUSTED);
    let refused = match &opened {
        Ok(_) => None,
        Err(pte::OpenError::Refused(error)) => Some(error.clone()),
        Err(error) => panic!("not opened: {error}"),
    };
    if let Some(error) = refused {
        let said = matches!(
            error.kind(),
            // Readers require these fields of the root of a .ptd.
            ErrorKind::FlatTensorLayout {} | ErrorKind::FlatTensorVersion { .. }
        );
        assert!(said, "written, and refused: {error}, at {}", error.place());
    }
}
