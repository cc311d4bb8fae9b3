//! New and changed files. They are proven and judged before they are written, and written aside and renamed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use pte::build::{BuildError, PtdBuilder, Shape};
use pte::check::{Checker, Report};
use pte::convert::{ConvertError, Safetensors};
use pte::model::{AnyPtd, Blob, ConstantHome, ExternalKind, Image, ModelError, PtdModel, PteModel};
use pte::schema::scalar::ScalarType;
use pte::{File, ForeignFormat, Limits, Source as _};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use tempfile::NamedTempFile;

use crate::error::{Failure, Result, apart};
use crate::handle::{Handle, limits};
use crate::source::Source;

/// A named tensor or blob: its key, then the code of the dtype, the sizes and the dim order, then
/// its bytes. A blob has `None` in the middle.
type NewEntry = (String, Option<(i8, Vec<i32>, Option<Vec<u8>>)>, PyBackedBytes);

/// A change of a file.
#[derive(Debug, FromPyObject)]
pub(crate) struct Change {
    #[pyo3(item)]
    kind: String,
    #[pyo3(item)]
    key: String,
    #[pyo3(item)]
    number: u64,
    #[pyo3(item)]
    bytes: Option<PyBackedBytes>,
    #[pyo3(item)]
    file: Option<Py<Handle>>,
}

/// The bytes of a file that was not written to a path.
type Written = Option<Vec<u8>>;

/// Writes a `.ptd` with these entries to `path`, or returns its bytes.
#[pyfunction]
pub(crate) fn write_ptd<'py>(
    py: Python<'py>,
    entries: Vec<NewEntry>,
    alignment: u64,
    share: bool,
    path: Option<PathBuf>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let written = apart(py, || {
        let mut builder = PtdBuilder::new();
        builder.set_segment_alignment(alignment)?;
        for (key, shape, bytes) in &entries {
            let bytes: &[u8] = bytes;
            match shape {
                None => builder.blob(key, bytes)?,
                Some((dtype, sizes, order)) => {
                    let mut shape = Shape::new(ScalarType(*dtype), sizes.clone());
                    shape.dim_order.clone_from(order);
                    builder.tensor(key, shape, bytes)?
                }
            };
        }
        finish_ptd(builder, share, path.as_deref(), &Limits::TRUSTED)
    })?;
    object(py, written)
}

/// Writes a safetensors file as a `.ptd`, or a `.ptd` as safetensors or as one of the current release. The
/// input is a path or bytes.
#[pyfunction]
#[pyo3(signature = (path, bytes, to, alignment, share, skip_blobs, output))]
#[allow(clippy::too_many_arguments, reason = "they are those of the Python function")]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    bytes: Option<PyBackedBytes>,
    to: &str,
    alignment: Option<u64>,
    share: bool,
    skip_blobs: bool,
    output: Option<PathBuf>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let written = apart(py, || {
        let source = match (path, bytes) {
            (Some(path), _) => Source::open(&path)?,
            (None, Some(bytes)) => Source::of(bytes),
            (None, None) => return Err(Failure::Value("a path or bytes are needed".into())),
        };
        let limits = limits(false);
        let mut head = [0; 64];
        let len = usize::try_from(source.size()?).map_or(head.len(), |len| len.min(head.len()));
        let head = head.get_mut(..len).unwrap_or_default();
        source.read_at(0, head)?;
        if ForeignFormat::of(head) == ForeignFormat::Safetensors {
            if to != "ptd" {
                let message = "the input is a safetensors file already";
                return Err(Failure::Value(message.into()));
            }
            let built = Safetensors::open(&source)?.into_ptd()?;
            return finish_aligned(built, alignment, share, output.as_deref(), &limits);
        }
        let opened = pte::Handle::open(source, &limits)?;
        let File::Ptd(ptd) = opened.file() else {
            let message = "this is a program: only .ptd and safetensors files are converted";
            return Err(Failure::Value(message.into()));
        };
        if to == "ptd" {
            let built = PtdBuilder::from_ptd(&ptd, opened.source())?;
            return finish_aligned(built, alignment, share, output.as_deref(), &limits);
        }
        let tensors = Safetensors::from_ptd(&ptd, opened.source(), skip_blobs)?;
        let image = tensors.image_with(&limits)?;
        // Checks that it can be read back.
        Safetensors::open(&image)?;
        write(&image, output.as_deref())
    })?;
    object(py, written)
}

/// The bytes of the edited file and of the new `.ptd`. Each is `None` if it was written to a path.
type Edited<'py> = (Option<Bound<'py, PyBytes>>, Option<Bound<'py, PyBytes>>);

/// Makes changes to a file, in their order, and writes the result, and the `.ptd` that data was moved to.
/// Without a path the bytes are returned.
#[pyfunction]
#[pyo3(signature = (file, changes, path, ptd_path, forget_unknown))]
pub(crate) fn edit<'py>(
    py: Python<'py>,
    file: Py<Handle>,
    changes: Vec<Change>,
    path: Option<PathBuf>,
    ptd_path: Option<PathBuf>,
    forget_unknown: bool,
) -> PyResult<Edited<'py>> {
    let (written, ptd) = apart(py, || {
        let (of, known) = (file.get(), report(&file.get().opened, &file.get().limits)?);
        if of.is_bundled() {
            let message = "this is a program with test inputs, which cannot be written";
            return Err(Failure::Absent { code: "bundle", message: message.into() });
        }
        match of.opened.file() {
            File::Pte(pte) => {
                let mut model = pte.to_model_from(of.opened.source()).map_err(memory)?;
                model.lay_out_like(pte.region());
                if forget_unknown {
                    model.forget_unknown();
                }
                let mut moved = None;
                for change in &changes {
                    let ptd = change_program(&mut model, change, &of.limits)?;
                    if let (Some(_), Some(_)) = (&moved, &ptd) {
                        let message = "data was moved out twice: do it in two edits";
                        return Err(Failure::Value(message.into()));
                    }
                    moved = ptd.or(moved);
                }
                let out = match &moved {
                    None => None,
                    // The data is written first, so that no program is ever without its data.
                    Some(moved) => {
                        let none = Report::default();
                        let image = moved.image_with(&of.limits)?;
                        judged(image, &none, &of.limits, ptd_path.as_deref())?
                    }
                };
                let image = model.image_with(&of.limits)?;
                Ok((judged(image, &known, &of.limits, path.as_deref())?, out))
            }
            File::Ptd(ptd) => {
                let model = ptd.to_model_from(of.opened.source()).map_err(memory)?;
                let AnyPtd::Current(mut model) = model else {
                    let message = "this .ptd is of a release before 0.7: convert it";
                    return Err(Failure::Absent { code: "old-ptd", message: message.into() });
                };
                model.lay_out_like(ptd.region());
                if forget_unknown {
                    model.forget_unknown();
                }
                for change in &changes {
                    change_data(&mut model, change, &of.limits)?;
                }
                let image = model.image_with(&of.limits)?;
                Ok((judged(image, &known, &of.limits, path.as_deref())?, None))
            }
        }
    })?;
    Ok((object(py, written)?, object(py, ptd)?))
}

/// Makes a change to a program. Returns the `.ptd` with the data that was moved out.
fn change_program<'m>(
    model: &mut PteModel<'m>,
    change: &'m Change,
    limits: &Limits,
) -> Result<Option<PtdModel<'m>>> {
    let absent = |error: &dyn core::fmt::Display| Failure::absent("edit", error);
    match (change.kind.as_str(), &change.bytes, &change.file) {
        ("set-data", Some(bytes), _) => {
            model.set_data(&change.key, bytes_of(bytes));
        }
        ("remove-data", ..) => model.remove_data(&change.key).map_err(|error| absent(&error))?,
        ("set-constant", Some(bytes), _) => {
            let mut constants = model.constants();
            let nth = usize::try_from(change.number).ok().filter(|&nth| nth > 0);
            let place = nth.and_then(|nth| constants.get_mut(nth));
            *place.ok_or_else(|| Failure::Value("no such constant".into()))? = bytes_of(bytes);
            model.set_constants(constants)?;
        }
        ("inline", _, Some(file)) => {
            let ptd = current(file.get())?;
            model.inline(&ptd).map_err(|error| absent(&error))?;
        }
        ("externalize", ..) => {
            let kind = ExternalKind::of_name(&change.key);
            let unknown = || Failure::Value(format!("unknown kind of data {:?}", change.key));
            let (kind, least) = (kind.ok_or_else(unknown)?, change.number);
            let moved = model.externalize(|external| kind.includes(external, least));
            let moved = moved.map_err(|error| absent(&error))?;
            // The official runtime refuses an empty .ptd.
            let count = moved.root.named_data.as_ref().map_or(0, Vec::len);
            return Ok(Some(moved).filter(|_| count > 0));
        }
        ("payload-constants", ..) => {
            let home = match change.key.as_str() {
                "inside" => ConstantHome::Payload,
                _ => ConstantHome::Named { least: change.number },
            };
            model.move_payload_constants(home, limits).map_err(|error| absent(&error))?;
        }
        ("share", ..) => {
            model.share_equal(limits)?;
        }
        ("strip", ..) => {
            match change.key.as_str() {
                "stacktrace" => model.strip_stacktraces(),
                _ => model.strip_names(),
            };
        }
        ("align", ..) => model.align(change.number),
        (kind, ..) => return Err(Failure::Value(format!("unknown change {kind:?}"))),
    }
    Ok(None)
}

/// Makes a change to a data file.
fn change_data<'m>(model: &mut PtdModel<'m>, change: &'m Change, limits: &Limits) -> Result<()> {
    let absent = |error: &dyn core::fmt::Display| Failure::absent("edit", error);
    match (change.kind.as_str(), &change.bytes) {
        ("set-data", Some(bytes)) => {
            model.set_data(&change.key, bytes_of(bytes)).map_err(|error| absent(&error))?;
        }
        ("remove-data", _) => model.remove_data(&change.key).map_err(|error| absent(&error))?,
        ("share", _) => {
            model.share_equal(limits)?;
        }
        ("align", _) => model.align(change.number),
        (kind, _) => return Err(Failure::Value(format!("{kind} is for a program"))),
    }
    Ok(())
}

/// Returns the model of a `.ptd`; one of an old generation is converted.
fn current(file: &Handle) -> Result<PtdModel<'_>> {
    let ptd = file.ptd()?;
    match ptd.to_model_from(file.opened.source()).map_err(memory)? {
        AnyPtd::Current(model) => Ok(model),
        AnyPtd::Legacy(_) => Ok(PtdBuilder::from_ptd(&ptd, file.opened.source())?.finish()?),
    }
}

fn bytes_of(bytes: &PyBackedBytes) -> Blob<'_> {
    Blob::from(&**bytes)
}

fn finish_aligned(
    mut built: PtdBuilder<'_>,
    alignment: Option<u64>,
    share: bool,
    path: Option<&Path>,
    limits: &Limits,
) -> Result<Written> {
    if let Some(alignment) = alignment {
        built.set_segment_alignment(alignment)?;
    }
    finish_ptd(built, share, path, limits)
}

fn finish_ptd(
    mut built: PtdBuilder<'_>,
    share: bool,
    path: Option<&Path>,
    limits: &Limits,
) -> Result<Written> {
    if share {
        built.share_equal().map_err(std::io::Error::from)?;
    }
    let model = built.finish()?;
    judged(model.image_with(limits)?, &Report::default(), limits, path)
}

/// Proves and judges a new file, refuses an Error that `known` does not have, and writes it.
fn judged(
    image: Image<'_>,
    known: &Report,
    limits: &Limits,
    path: Option<&Path>,
) -> Result<Written> {
    let opened = pte::Handle::open(image, limits).map_err(|error| match error {
        pte::OpenError::Refused(error) => Failure::Refused(error),
        error => Failure::Io(std::io::Error::other(error.to_string())),
    })?;
    let report = report(&opened, limits)?;
    if let Some(rule) = report.new_errors(known).next() {
        let message = format!("the result would have a new Error, {}: nothing is written", rule.id);
        return Err(Failure::Absent { code: rule.id, message });
    }
    write(opened.source(), path)
}

/// Returns a report of the rules on a file, without other files.
fn report<S: pte::Source<Error: core::error::Error>>(
    opened: &pte::Handle<S>,
    limits: &Limits,
) -> Result<Report> {
    let report = Checker::new().limits(*limits).check(opened);
    report.map_err(|error| Failure::Io(std::io::Error::other(error.to_string())))
}

/// Writes a file aside and renames it, or returns its bytes. A replaced file keeps its permissions.
/// If `path` is a symbolic link, its target is replaced.
fn write(image: &Image<'_>, path: Option<&Path>) -> Result<Written> {
    let Some(path) = path else {
        let mut bytes = Vec::new();
        let len = usize::try_from(image.len()).map_err(|_| Failure::Memory)?;
        bytes.try_reserve_exact(len).map_err(|_| Failure::Memory)?;
        image.write_to(&mut bytes)?;
        return Ok(Some(bytes));
    };
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pte-");
    let replaced = path.metadata().ok().map(|old| old.permissions());
    // A new file's default permissions, before the umask. A replacement gets the old ones below.
    #[cfg(unix)]
    if replaced.is_none() {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file: NamedTempFile = builder.tempfile_in(folder)?;
    image.write_to_file(file.as_file(), |_| ())?;
    file.flush()?;
    if let Some(permissions) = replaced {
        file.as_file().set_permissions(permissions)?;
        // The old file must not be lost if the power fails before the new one is on disk.
        file.as_file().sync_all()?;
    }
    file.persist(&path).map_err(|error| error.error)?;
    Ok(None)
}

/// Returns a `bytes` object, or a `MemoryError`.
fn object(py: Python<'_>, bytes: Written) -> PyResult<Option<Bound<'_, PyBytes>>> {
    let object = |bytes: Vec<u8>| {
        PyBytes::new_with(py, bytes.len(), |out| {
            out.copy_from_slice(&bytes);
            Ok(())
        })
    };
    bytes.map(object).transpose()
}

fn memory(error: pte::flat::ledger::MemoryError) -> Failure {
    match error {
        pte::flat::ledger::MemoryError::OutOfMemory => Failure::Memory,
        error => Failure::absent("work-limit", &error),
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Broken(error) => Self::Refused(error),
            error => Self::absent("build", &error),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::absent("write", &error)
    }
}

impl From<ConvertError> for Failure {
    fn from(error: ConvertError) -> Self {
        match error {
            ConvertError::Read(error) => Self::Io(error.into()),
            ConvertError::Broken(error) => Self::Refused(error),
            ConvertError::Build(error) => error.into(),
            error => Self::absent("convert", &error),
        }
    }
}
