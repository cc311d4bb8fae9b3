//! Refused files in JSON. All verbs use the form of `pte check`.

use std::path::{Path, PathBuf};

use pte::check::CheckedFile;
use pte::quoted::UntrustedString;
use serde::Serialize;
#[cfg(not(target_family = "wasm"))]
use serde_json::json;

use super::output::{Content, Output};
use super::problem::{Problem, Status, io_help};

/// The document `pte.error/1`, for a verb that reads one file and has refused it.
#[derive(Serialize)]
struct RefusalDocument {
    schema: &'static str,
    files: [CheckedFile; 1],
}

/// The refused files of a verb that reads several files.
#[derive(Default)]
pub(super) struct Refusals(Vec<CheckedFile>);

/// The document of a verb that reads several files, with the refused files.
#[derive(Serialize)]
pub(super) struct WithRefusals<'r, D> {
    #[serde(flatten)]
    document: D,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    refused: &'r [CheckedFile],
}

impl Refusals {
    /// Reports the problem of a file on standard error, and keeps it for the document.
    pub(super) fn report(&mut self, problem: &Problem) -> Status {
        self.0.extend(refused_file(problem));
        problem.report()
    }

    /// Returns `document` with the refused files in the field `refused`.
    pub(super) fn beside<D: Serialize>(&self, document: D) -> WithRefusals<'_, D> {
        WithRefusals { document, refused: &self.0 }
    }
}

/// Shows several files. `open` reads and judges a file before anything of it is written: if it fails, the problem is
/// reported, and the other files are shown.
///
/// # Errors
///
/// The output fails, or the only file cannot be opened.
pub(super) fn show_each<T>(
    files: &[PathBuf],
    is_json: bool,
    out: &mut Output,
    mut open: impl FnMut(&Path) -> Result<T, Problem>,
    mut show: impl FnMut(&T, &mut Output) -> Result<(), Problem>,
) -> Result<Status, Problem> {
    let (mut status, mut is_first) = (Status::Good, true);
    for path in files {
        match open(path) {
            Ok(file) => {
                if !is_first && !is_json {
                    out.bytes(b"\n")?;
                }
                is_first = false;
                show(&file, out)?;
            }
            Err(problem) if files.len() == 1 => return Err(problem),
            Err(problem) => {
                status = status.max(problem.report());
                if is_json {
                    write_into(out, &problem)?;
                }
            }
        }
    }
    Ok(status)
}

/// Writes the document `pte.error/1` to standard output, unless other output was written before.
pub(super) fn write_document(problem: &Problem) {
    let Some(file) = refused_file(problem).filter(|_| !Output::has_begun()) else { return };
    let document = RefusalDocument { schema: "pte.error/1", files: [file] };
    let out = Output::open(None, Content::Plain);
    let written = out.and_then(|out| out.finish_with(|out| out.json(&document)));
    // An error here is ignored, since the problem itself is reported on standard error.
    drop(written);
}

/// Writes the document `pte.error/1` instead of the verb's document for a refused file.
pub(super) fn write_into(out: &mut Output, problem: &Problem) -> Result<(), Problem> {
    match refused_file(problem) {
        Some(file) => out.json(&RefusalDocument { schema: "pte.error/1", files: [file] }),
        None => Ok(()),
    }
}

/// Returns the code, the message and the help of a problem, as a JSON object for the page.
#[cfg(not(target_family = "wasm"))]
pub(super) fn for_page(problem: &Problem) -> serde_json::Value {
    let file = refused_file(problem);
    match file.as_ref().and_then(|file| file.findings.first()) {
        Some(finding) => json!(finding),
        None => json!({ "message": problem.message() }),
    }
}

/// Returns a file as `pte check` shows a refused one; `None` if the problem is not about a file.
fn refused_file(problem: &Problem) -> Option<CheckedFile> {
    let (Problem::Refused { file, .. }
    | Problem::Unreadable { file, .. }
    | Problem::Damaged { file, .. }
    | Problem::WrongFormat { file, .. }
    | Problem::Absent { file, .. }
    | Problem::Text { file, .. }
    | Problem::Io { file, .. }) = problem
    else {
        return None;
    };
    Some(checked(file.clone(), problem))
}

/// Returns the file `name`, which was refused or could not be read.
pub(super) fn checked(name: UntrustedString, problem: &Problem) -> CheckedFile {
    match problem {
        Problem::Refused { error, help, .. } => {
            let mut file = CheckedFile::refused(name, error);
            file.findings.iter_mut().for_each(|finding| finding.help = Some(help));
            file
        }
        Problem::Damaged { format, why, .. } => CheckedFile::damaged(name, *format, why),
        Problem::WrongFormat { message, help, .. } => {
            CheckedFile::unreadable(name, message, Some(help))
        }
        Problem::Text { error, place, help, .. } => {
            let message = UntrustedString::of(&format_args!("{error}, at {place}"));
            CheckedFile::unreadable(name, message, *help)
        }
        Problem::Absent { message, .. } => CheckedFile::absent(name, message),
        Problem::Unreadable { message, .. } => CheckedFile::unreadable(name, message, None),
        Problem::Io { error, kind, .. } => CheckedFile::unreadable(name, error, io_help(*kind)),
        Problem::Usage(_) | Problem::Closed => {
            CheckedFile::unreadable(name, problem.message(), None)
        }
    }
}
