//! A whole file as JSON. The tables are written as in [`flat::json`](pte_flat::json), and the
//! rest of the file is under the key `container` of the root's object.
//!
//! | key | value | default |
//! | --- | --- | --- |
//! | `kind` | `"pte"` or `"ptd"` | determined by the keys of the root |
//! | `generation` | of a `.ptd`, 0 to 3; 0 to 2 have the fields before release 0.7 | determined by the keys of the root |
//! | `header` | null, or an object: `length` and `chunk` in bytes, and `in_front` (of the FlatBuffer, in generation 0) | that of current writers |
//! | `layout` | the name of a [`WriterLayout`], the layout of the tables | that of current writers |
//! | `force_align` | the alignment of data in the tables, or null for that of the schema | null |
//! | `segment_base_offset` | the start of the segments, or null for the first aligned offset after the tables | null |
//! | `segment_alignment` | the alignment of segments | 128 |
//! | `padding` | the number of zeros after the last segment that the header counts | 0 |
//! | `segments` | an array of blobs: numbers, or `{"file": NAME}` | no segments |
//! | `trailing` | a blob: the bytes after those that the header counts | empty |
//! | `unknown` | the numbers of `fields` and of union `members` of a newer writer, which the JSON does not have | none |
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pte::model::json::{self, AnyFile};
//!
//! let text = r#"{
//!     "segments": [{"size": 4}],
//!     "named_data": [{"key": "bias", "tensor_layout":
//!         {"scalar_type": "FLOAT", "sizes": [1], "dim_order": [0]}}],
//!     "container": {"kind": "ptd", "segments": [[0, 0, 128, 63]]}
//! }"#;
//! let AnyFile::Ptd(file) = json::read(text, None, &mut json::no_files)? else { return Ok(()) };
//! let bytes = file.image()?.to_bytes()?;
//! assert_eq!(pte::Ptd::read(&bytes)?.entries().next().and_then(|entry| entry.key()), Some("bias"));
//! # Ok(())
//! # }
//! ```

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use core::fmt::{self, Write};

use super::{
    Blob, Container, FileModel, HeaderForm, LegacyPtdModel, PtdModel, PteModel, RootNode,
    RootStruct,
};
use crate::error::wraps;
use crate::file::FileKind;
use crate::limits::MAX_SIZE;
use crate::ptd::Generation;
use pte_flat::bytes::wide;
use pte_flat::json::string;
use pte_flat::ledger::{Ledger, MemoryError, Refused};
use pte_flat::limits::MODEL_FLOOR;
use pte_flat::load::{self, LoadError};
use pte_flat::model::TreeError;
use pte_flat::write::WriterLayout;

mod container;

use container::{Parts, RootContents};

/// Returns the blob for `{"file": NAME}`, or an error message. Blobs of segments are read only when
/// they are written.
pub type FindBlob<'f, 'a> = dyn FnMut(&str) -> Result<Blob<'a>, String> + 'f;

/// A file of either kind, of any generation.
#[derive(Clone, Debug)]
pub enum AnyFile<'a> {
    /// A program.
    Pte(PteModel<'a>),
    /// Named tensors and blobs.
    Ptd(PtdModel<'a>),
    /// A `.ptd` with the fields before release 0.7.
    LegacyPtd(LegacyPtdModel<'a>),
}

pte_flat::errors! {
    /// An error in reading a file from JSON.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum JsonError {
        /// The text is not valid JSON, or does not fit the schema.
        Text(error: LoadError) => "{error}";
        /// The text does not say whether the file is a `.pte` or a `.ptd`.
        KindUnknown => "unknown kind of file: the container has no kind, pte or ptd";
        /// The text describes the other kind of file.
        OtherKind => "the container is of the other kind of file";
        /// A union has only a tag or only a value.
        Tree(error: TreeError) => "{}: {error}", error.place();
        /// Segments have bytes, but the container is missing.
        ContainerMissing => "the segments have bytes, and there is no container with them";
        /// Memory is short.
        Memory(error: MemoryError) => "{error}";
    }
}

/// The key of the container in the root's object.
pub const KEY: &str = "container";

/// A [`FindBlob`] that finds no blobs.
///
/// # Errors
///
/// Always.
pub fn no_files<'a>(name: &str) -> Result<Blob<'a>, String> {
    load::no_files(name).map(Blob::from)
}

/// Reads a file. `kind` is used only if the text does not determine it. `files` finds the blobs.
///
/// The file may take 22 bytes of memory for each byte of the text, plus 1 MiB. Blobs of `files` do
/// not count. A text without a container gives a file without data, as current writers make it.
/// Sizes and offsets are not checked here: [`FileModel::image`](super::FileModel::image) compares
/// them, and [`FileModel::lay_out`](super::FileModel::lay_out) computes them again.
///
/// # Errors
///
/// The first error in the text: invalid JSON, or a value that does not fit a file.
pub fn read<'a>(
    text: &str,
    kind: Option<FileKind>,
    files: &mut FindBlob<'_, 'a>,
) -> Result<AnyFile<'a>, JsonError> {
    let mut ledger = Ledger::of(wide(text.len()));
    let RootContents { keys, container } = container::read(text, files, &mut ledger)?;
    let said = container.as_ref().and_then(|parts| parts.kind);
    if kind.is_some() && said.is_some() && kind != said {
        return Err(JsonError::OtherKind);
    }
    let generation = container.as_ref().and_then(|parts| parts.generation);
    let kind = match said.or(kind) {
        Some(kind) => kind,
        None if generation.is_some() => FileKind::Ptd,
        // The kind that knows more of the keys wins.
        None => match keys.program.cmp(&keys.current.max(keys.legacy)) {
            core::cmp::Ordering::Greater => FileKind::Pte,
            core::cmp::Ordering::Less => FileKind::Ptd,
            _ if keys.named_data => FileKind::Ptd,
            _ => return Err(JsonError::KindUnknown),
        },
    };
    let is_legacy = match generation {
        Some(generation) => generation < 3,
        None => keys.legacy > keys.current,
    };
    let ledger = &mut ledger;
    Ok(match kind {
        FileKind::Pte => AnyFile::Pte(file(text, container, HeaderForm::PTE, files, ledger)?),
        FileKind::Ptd if is_legacy => {
            let (length, chunk) = HeaderForm::PTD.room();
            let form = match generation {
                Some(0) => HeaderForm::InFront { length, chunk },
                _ => HeaderForm::PTD,
            };
            AnyFile::LegacyPtd(file(text, container, form, files, ledger)?)
        }
        FileKind::Ptd => AnyFile::Ptd(file(text, container, HeaderForm::PTD, files, ledger)?),
    })
}

/// Returns the file with a root and a container. Absent values default to those of current writers.
fn file<'a, R: RootStruct>(
    text: &str,
    container: Option<Parts<'a>>,
    form: HeaderForm,
    files: &mut FindBlob<'_, 'a>,
    ledger: &mut Ledger,
) -> Result<FileModel<'a, R>, JsonError> {
    let mut used = Used::default();
    let mut bytes = |name: &str| {
        let blob = files(name)?;
        used.add(&blob)?;
        blob.to_bytes().map(Cow::into_owned).map_err(|error| format!("{name:?}: {error}"))
    };
    let object = load::read_within(text, R::DESC, Some(KEY), &mut bytes, ledger);
    let object = object.map_err(|error| refused(error, ledger))?;
    let root = R::take_object(object, ledger)?;
    let is_pte = R::SCHEMA.extension == "pte";
    let parts = match container {
        Some(parts) => parts,
        None => {
            let (mut has_data, count) = (false, root.segment_count());
            root.each_segment(&mut |_, size| has_data |= size > 0);
            if has_data {
                return Err(JsonError::ContainerMissing);
            }
            let segments = ledger.vec(count, 0);
            let mut segments = segments.map_err(|Refused| JsonError::Memory(ledger.error()))?;
            segments.resize(count, Blob::EMPTY);
            Parts { segments, ..Parts::default() }
        }
    };
    let has_data = parts.segments.iter().any(|blob| !blob.is_empty());
    let layout =
        parts.layout.unwrap_or(if is_pte { WriterLayout::PYTHON } else { WriterLayout::FLATC });
    let header = parts.header.unwrap_or((has_data || !is_pte).then_some(form));
    let container = Container {
        layout: WriterLayout { force_align: parts.force_align, ..layout },
        header,
        segment_base_offset: parts.segment_base_offset,
        segment_alignment: parts.segment_alignment.unwrap_or(Container::CURRENT.segment_alignment),
        padding: parts.padding,
        trailing: parts.trailing,
    };
    Ok(FileModel { root, segments: parts.segments, container, unknown: parts.unknown })
}

/// Counts the bytes of blobs that are copied to tables.
#[derive(Default)]
struct Used {
    /// The number of bytes of all copies, counted at each use.
    copied: u64,
    /// The number of distinct bytes. Each range of a source counts once.
    given: u64,
    ranges: BTreeSet<(u64, u64)>,
}

impl Used {
    /// Counts a blob. A limit is needed since a short text can use a long blob many times.
    fn add(&mut self, blob: &Blob<'_>) -> Result<(), String> {
        let is_new = match blob {
            Blob::Range(_, range) => self.ranges.insert((range.start, range.end)),
            _ => true,
        };
        let len = blob.len();
        self.given = self.given.saturating_add(if is_new { len } else { 0 });
        self.copied = self.copied.saturating_add(len);
        let most = self.given.saturating_mul(COPIES).saturating_add(MODEL_FLOOR).min(MAX_SIZE);
        match self.copied > most {
            true => Err(format!("the tables would take more than {most} bytes")),
            false => Ok(()),
        }
    }
}

/// The maximum number of copies of a blob in tables, on average.
const COPIES: u64 = 4;

/// Writes the container of `file` as the value of [`KEY`], in the form that [`read`] accepts.
///
/// `pretty` selects line breaks, and the indentation of a value in the root's object. `blob` writes
/// the JSON of a blob.
///
/// # Errors
///
/// The errors of `out` and of `blob`.
pub fn write<R: RootNode, W: Write>(
    file: &FileModel<'_, R>,
    generation: Option<Generation>,
    pretty: bool,
    out: &mut W,
    mut blob: impl FnMut(&Blob<'_>, &mut W) -> fmt::Result,
) -> fmt::Result {
    let Container { layout, header, segment_base_offset, segment_alignment, padding, trailing } =
        &file.container;
    let null = || String::from("null");
    let line = |out: &mut W, key: &str| match pretty {
        true => write!(out, "\n    \"{key}\": "),
        false => write!(out, "\"{key}\":"),
    };
    let member = |out: &mut W, key: &str, value: &str| {
        line(out, key)?;
        write!(out, "{value},")
    };
    out.write_char('{')?;
    member(out, "kind", &format!("\"{}\"", R::SCHEMA.extension))?;
    if let Some(generation) = generation {
        let number = match generation {
            Generation::Zero => "0",
            Generation::One => "1",
            Generation::Two => "2",
            Generation::Three => "3",
        };
        member(out, "generation", number)?;
    }
    let header = header.map_or_else(null, |form| {
        let (length, chunk) = form.room();
        let in_front = matches!(form, HeaderForm::InFront { .. });
        format!("{{\"length\": {length}, \"chunk\": {chunk}, \"in_front\": {in_front}}}")
    });
    member(out, "header", &header)?;
    let mut name = String::new();
    string(layout.name, &mut name)?;
    member(out, "layout", &name)?;
    member(out, "force_align", &layout.force_align.map_or_else(null, |align| align.to_string()))?;
    let base = segment_base_offset.map_or_else(null, |base| base.to_string());
    member(out, "segment_base_offset", &base)?;
    member(out, "segment_alignment", &segment_alignment.to_string())?;
    member(out, "padding", &padding.to_string())?;
    if !file.unknown.is_none() {
        let (fields, members) = (file.unknown.fields, file.unknown.members);
        let lost = format!("{{\"fields\": {fields}, \"members\": {members}}}");
        member(out, "unknown", &lost)?;
    }
    line(out, "segments")?;
    out.write_char('[')?;
    for (nth, segment) in file.segments.iter().enumerate() {
        out.write_str(if nth > 0 { "," } else { "" })?;
        out.write_str(if pretty { "\n      " } else { "" })?;
        blob(segment, out)?;
    }
    out.write_str(if pretty && !file.segments.is_empty() { "\n    ]," } else { "]," })?;
    line(out, "trailing")?;
    blob(trailing, out)?;
    out.write_str(if pretty { "\n  }" } else { "}" })
}

wraps! { JsonError: Text(LoadError) }

impl From<TreeError> for JsonError {
    fn from(error: TreeError) -> Self {
        match error.as_memory() {
            Some(error) => Self::Memory(error),
            None => Self::Tree(error),
        }
    }
}

/// Converts an error in the text. A memory error has no position in the text.
fn refused(error: LoadError, ledger: &Ledger) -> JsonError {
    match ledger.is_exceeded() {
        true => JsonError::Memory(ledger.error()),
        false => JsonError::Text(error),
    }
}
