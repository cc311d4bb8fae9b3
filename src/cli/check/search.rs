//! The files of `pte check`: the given paths, and the models in given folders.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf, is_separator};

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

/// A search of folders for models.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Whether links in folders are followed.
    pub(super) follows: bool,
    /// The number of links to models and folders that were not followed.
    pub(super) skipped_links: u64,
}

/// What a search of one folder has found.
#[derive(Default)]
struct Found {
    files: Vec<PathToCheck>,
    folders: Vec<PathBuf>,
    /// Links to folders. They are searched last, so that a folder with another path is found by that.
    linked: Vec<PathBuf>,
}

impl Search {
    /// Adds `path`, or every `.pte`, `.ptd` and `.bpte` in the folder `path` and its subfolders, sorted by path.
    /// `path` may be a link.
    ///
    /// Folders that cannot be read are added with their problem, and so are models that are not
    /// regular files.
    pub(super) fn add_files(&mut self, path: &Path, all: &mut Vec<PathToCheck>) {
        if path.as_os_str() == "-" || !path.is_dir() {
            all.push(PathToCheck { path: path.to_owned(), problem: None });
            return;
        }
        let mut found = Found { folders: vec![path.to_owned()], ..Found::default() };
        // Each folder is searched once: links may form a cycle, or lead to a folder by many paths.
        let mut seen = BTreeSet::new();
        loop {
            found.linked.sort_unstable_by(|a, b| b.cmp(a));
            let Some(folder) = found.folders.pop().or_else(|| found.linked.pop()) else { break };
            let is_seen = self.follows
                && folder.canonicalize().is_ok_and(|canonical| !seen.insert(canonical));
            if is_seen {
                continue;
            }
            if let Err(error) = self.search(&folder, &mut found) {
                found.files.push(PathToCheck::problem(folder, error));
            }
        }
        let mut files = found.files;
        if files.is_empty() {
            let message = "no .pte, .ptd or .bpte file in this folder".into();
            let problem = Problem::Unreadable { file: name_of(path), message };
            files.push(PathToCheck { path: path.to_owned(), problem: Some(problem) });
        }
        files.sort_by_cached_key(|file| order_of(&file.path));
        all.append(&mut files);
    }

    fn search(&mut self, folder: &Path, found: &mut Found) -> io::Result<()> {
        for entry in folder.read_dir()? {
            let entry = entry?;
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => found.folders.push(path),
                Ok(kind) if kind.is_symlink() && (is_named_model(&path) || path.is_dir()) => {
                    match (self.follows, path.is_dir()) {
                        (false, _) => self.skipped_links = self.skipped_links.saturating_add(1),
                        (true, true) => found.linked.push(path),
                        (true, false) => found.files.push(regular(path)),
                    }
                }
                _ if !is_named_model(&path) => {}
                Ok(kind) if kind.is_file() => {
                    found.files.push(PathToCheck { path, problem: None });
                }
                Ok(_) => found.files.push(regular(path)),
                Err(error) => found.files.push(PathToCheck::problem(path, error)),
            }
        }
        Ok(())
    }
}

/// Returns bytes that sort paths of one folder as `Path` does, part by part, at less cost.
fn order_of(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let order = |&byte| if is_separator(char::from(byte)) { 0 } else { byte };
    bytes.iter().map(order).collect()
}

/// Returns a path with its problem, if it is not a regular file.
fn regular(path: PathBuf) -> PathToCheck {
    match ensure_regular(&path) {
        Ok(()) => PathToCheck { path, problem: None },
        Err(error) => PathToCheck::problem(path, error),
    }
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
    match kind.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("not a regular file, but a pipe, a socket or a device")),
    }
}
