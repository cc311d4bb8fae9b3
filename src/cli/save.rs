//! A file that was made or changed: judged before it gets its name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pte::check::Severity;
use pte::model::Image;
use pte::{File, Limits, OpenError, Opened};

use super::output::{Content, Output, Progress};
use super::problem::Problem;
use super::text::name_of;

/// Writes `image` to `path`, whole or not at all, unless it has an Error that `known` has not.
/// `path` may be one of `inputs` only if that was asked for (`in_place`).
pub(super) fn save(
    image: &Image<'_>,
    path: &Path,
    inputs: &[PathBuf],
    known: &BTreeSet<&'static str>,
    limits: &Limits,
    quiet: bool,
) -> Result<(), Problem> {
    let name = name_of(path);
    let opened = Opened::open(image, limits).map_err(|error| match error {
        OpenError::Refused(error) => Problem::Refused { file: name.clone(), error },
        error => Problem::io(&name, std::io::Error::other(error)),
    })?;
    let refused = |error| Problem::Refused { file: name.clone(), error };
    let file = opened.file().map_err(refused)?;
    let new = errors(&file, limits);
    if let Some(id) = new.difference(known).next() {
        let message = format!(
            "the result would have an Error that the input has not, {id}: nothing is written \
             (see pte explain {id})"
        );
        return Err(Problem::Absent { file: name, message });
    }
    let mut out = Output::beside(Some(path), Content::Bytes, inputs)?;
    let progress = Progress::new(!quiet, "bytes", image.len());
    let failed = |error| Problem::io(name.clone(), error);
    image
        .pieces(&mut |piece: &[u8]| {
            progress.add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
            std::io::Write::write_all(&mut out, piece)
        })
        .map_err(failed)?;
    out.finish()
}

/// The rules of severity Error that a file breaks.
pub(super) fn errors(file: &File<'_>, limits: &Limits) -> BTreeSet<&'static str> {
    let report = file.check_with(limits);
    let found = report.counts().filter(|(rule, _)| rule.severity == Severity::Error);
    found.map(|(rule, _)| rule.id).collect()
}
