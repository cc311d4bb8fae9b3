//! Which file a path names: two paths may name one file.

use std::path::Path;
#[cfg(not(unix))]
use std::path::PathBuf;
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
    a == b || identity(a).is_some_and(|own| identity(b) == Some(own))
}
