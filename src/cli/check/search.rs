//! The files of `pte check`: the given paths, and the models in given folders.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::text::name_of;

/// A path to check.
pub(super) struct PathToCheck {
    pub(super) path: PathBuf,
    /// The reason why the path is not opened, if there is one.
    pub(super) problem: Option<Problem>,
}

impl PathToCheck {
    fn problem(path: PathBuf, error: io::Error) -> Self {
        let problem = Problem::io(name_of(&path), error);
        Self { path, problem: Some(problem) }
    }
}

/// Adds `path`, or every `.pte`, `.ptd` and `.bpte` in the folder `path` and its subfolders, sorted by path.
///
/// Folders that cannot be read are added with their problem, and so are models that are not regular
/// files.
pub(super) fn add_files(path: &Path, all: &mut Vec<PathToCheck>) {
    if path.as_os_str() == "-" || !path.is_dir() {
        all.push(PathToCheck { path: path.to_owned(), problem: None });
        return;
    }
    let mut folders = vec![path.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        if let Err(error) = search(&folder, &mut folders, &mut found) {
            found.push(PathToCheck::problem(folder, error));
        }
    }
    if found.is_empty() {
        let message = "no .pte, .ptd or .bpte file in this folder".into();
        let problem = Problem::Unreadable { file: name_of(path), message };
        found.push(PathToCheck { path: path.to_owned(), problem: Some(problem) });
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    all.append(&mut found);
}

fn search(
    folder: &Path,
    folders: &mut Vec<PathBuf>,
    found: &mut Vec<PathToCheck>,
) -> io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        let path = entry.path();
        // Links to folders are not followed, since they could form a cycle.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folders.push(path),
            _ if !is_named_model(&path) => {}
            Ok(_) => found.push(match ensure_regular(&path) {
                Ok(()) => PathToCheck { path, problem: None },
                Err(error) => PathToCheck::problem(path, error),
            }),
            Err(error) => found.push(PathToCheck::problem(path, error)),
        }
    }
    Ok(())
}

fn is_named_model(path: &Path) -> bool {
    let is_one = |extension: &OsStr| {
        ["pte", "ptd", "bpte"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    };
    path.extension().is_some_and(is_one)
}

/// Returns an error if `path` is not a regular file. The file is not opened, since opening a pipe
/// would block.
fn ensure_regular(path: &Path) -> io::Result<()> {
    let kind = match path.metadata() {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            return Err(io::Error::new(error.kind(), "the target of this link does not exist"));
        }
        Err(error) => return Err(error),
    };
    match () {
        () if kind.is_file() => Ok(()),
        () if kind.is_dir() => Err(io::Error::other("a link to a folder is not followed")),
        () => Err(io::Error::other("not a regular file, but a pipe, a socket or a device")),
    }
}
