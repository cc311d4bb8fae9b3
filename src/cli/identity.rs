//! Which file a path names: two paths may name one file.

use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::{fs, io};

/// The identity of a file, which is the same for all paths to the file.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);
#[cfg(not(unix))]
pub(super) type Identity = PathBuf;

/// Returns the identity of the file at `path`, if the file exists. `-` is standard input.
#[cfg(unix)]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    path.canonicalize().ok()
}

/// Returns the metadata of `path`. Standard input may be a redirected file.
#[cfg(unix)]
fn metadata(path: &Path) -> io::Result<fs::Metadata> {
    use std::os::fd::AsFd;
    match path.as_os_str() == "-" {
        true => fs::File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata(),
        false => path.metadata(),
    }
}

/// Returns whether two paths are equal or name the same file. The files need not exist.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    a == b
        || match (identity(a), identity(b)) {
            (None, None) => place(a).is_some_and(|own| place(b) == Some(own)),
            (own, other) => own == other,
        }
}

/// Returns the path without links of a file that need not exist, where a dangling link leads.
pub(super) fn place(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = path.read_link() else { break };
        path = folder_of(&path).join(target);
    }
    let (known, folder) = path.ancestors().find_map(|known| {
        let folder = if known.as_os_str().is_empty() { Path::new(".") } else { known };
        Some((known, folder.canonicalize().ok()?))
    })?;
    Some(folder.join(path.strip_prefix(known).ok()?))
}

/// Returns the folder of a path, which is the current one if the path has none.
pub(super) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The largest number of links that are followed one after the other, as Linux has it.
const MAX_LINKS: usize = 40;
