//! New and changed files, which are checked before they are written.

use std::io;
use std::path::{Path, PathBuf};

use pte::check::{Checker, Report};
use pte::model::{Amplified, Image, ModelError};
use pte::quoted::UntrustedString;
use pte::{Handle, Limits, OpenError, Source};

use super::output::{Content, Output};
use super::problem::{Problem, note};
use super::progress::Progress;
use super::text::name_of;

/// Proves the structure of a file, called `name`, that is not written yet.
pub(super) fn proven<'m>(
    image: Image<'m>,
    name: &UntrustedString,
    limits: &Limits,
) -> Result<Handle<Image<'m>>, Problem> {
    let refused = |error| {
        let file = format!("{}, which was not written", name.raw());
        Problem::refused(file, error)
    };
    Handle::open(image, limits).map_err(|error| match error {
        OpenError::Refused(error) => refused(error),
        error => Problem::io(name, io::Error::other(error)),
    })
}

/// A file that is proven, and where it will be.
pub(super) struct NewFile<'m, 'p> {
    pub(super) opened: Handle<Image<'m>>,
    pub(super) path: Option<&'p Path>,
    /// Whether nothing is reported.
    pub(super) is_quiet: bool,
}

/// Writes files: all of their bytes first, and then their names in this order. Reports each that replaced a file, and
/// refuses to overwrite one of `inputs`.
pub(super) fn write(files: &[NewFile<'_, '_>], inputs: &[PathBuf]) -> Result<(), Problem> {
    let mut outputs = Vec::new();
    for NewFile { path, is_quiet, .. } in files {
        let replaced = path.filter(|path| path.is_file() && !is_quiet);
        outputs.push((Output::beside(*path, Content::Bytes, inputs)?, replaced));
    }
    for ((out, _), NewFile { opened, is_quiet, .. }) in outputs.iter_mut().zip(files) {
        let image = opened.source();
        let progress = Progress::new(!is_quiet, "bytes", image.len());
        out.image(image, &"the new file".into(), &progress)?;
        out.flush_all()?;
    }
    for (out, replaced) in outputs {
        out.finish()?;
        if let Some(path) = replaced {
            note(&format!("{} is replaced", name_of(path)));
        }
    }
    Ok(())
}

/// Describes why a model cannot be written. For an exceeded limit, names the flag that raises it.
pub(super) fn unwritable(error: &ModelError) -> UntrustedString {
    match error {
        ModelError::Amplified(error) => over_budget(error),
        ModelError::TablesLimit { .. } => {
            format!("{error}; if you trust the input, raise --max-amplification and --max-program")
                .into()
        }
        error => UntrustedString::of(error),
    }
}

/// Describes that a file would exceed its write budget.
pub(super) fn over_budget(error: &Amplified) -> UntrustedString {
    format!("{error}; if you trust the input, raise --max-amplification").into()
}

/// Refuses a file, called `name`, if it has an Error that the report `before` does not have.
pub(super) fn refuse_new_errors(
    opened: &Handle<Image<'_>>,
    name: &UntrustedString,
    before: &Report,
    limits: &Limits,
) -> Result<(), Problem> {
    let report = report(opened, name, limits)?;
    let Some(id) = report.new_errors(before).next().map(|rule| rule.id) else { return Ok(()) };
    let message = format!(
        "the result would have a new Error, {id}: nothing is written (see pte explain {id})"
    );
    Err(Problem::Absent { file: name.into(), message: message.into() })
}

/// Returns a report of the rules on a file, called `name`, without other files.
pub(super) fn report<S: Source<Error: core::error::Error>>(
    opened: &Handle<S>,
    name: &UntrustedString,
    limits: &Limits,
) -> Result<Report, Problem> {
    let report = Checker::new().limits(*limits).check(opened);
    report.map_err(|error| Problem::io(name.clone(), io::Error::other(error.to_string())))
}
