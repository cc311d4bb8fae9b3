//! Files that are written atomically: complete or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::identity::folder_of;
use super::temporary::Temporary;

/// A file that gets its name when it is complete. Until then it has no name, or a temporary name if
/// the file system does not support unnamed files.
pub(super) struct AtomicFile {
    path: PathBuf,
    /// The permissions of the file that this file replaces.
    replaced: Option<fs::Permissions>,
    out: io::BufWriter<fs::File>,
    /// The temporary name, if the file has one.
    temporary: Option<Temporary>,
}

impl AtomicFile {
    /// Creates the file for `path`, which is not a link. If it replaces a file, it gets that file's
    /// owner, group and permissions.
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        let folder = folder_of(&path);
        if !folder.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "its folder does not exist"));
        }
        let old = path.metadata().ok();
        let (file, temporary) = match unnamed::create(folder, mode(old.as_ref())) {
            Some(file) => (file, None),
            None => {
                let mut options = fs::File::options();
                options.read(true).write(true).create_new(true);
                #[cfg(unix)]
                {
                    use std::os::unix::fs::OpenOptionsExt;
                    options.mode(mode(old.as_ref()));
                }
                let (temporary, file) = Temporary::new(folder, |path| options.open(path))?;
                (file, Some(temporary))
            }
        };
        if let Some(old) = &old {
            keep_owner(&file, old)?;
        }
        let replaced = old.map(|old| old.permissions());
        Ok(Self { path, replaced, out: io::BufWriter::new(file), temporary })
    }

    /// Flushes the buffer, and returns the file.
    pub(super) fn file(&mut self) -> io::Result<&fs::File> {
        self.out.flush()?;
        Ok(self.out.get_ref())
    }

    /// Gives the file its final name.
    pub(super) fn commit(self) -> io::Result<()> {
        let Self { path, replaced, out, temporary } = self;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let replaces = replaced.is_some();
        if let Some(permissions) = replaced {
            file.set_permissions(permissions)?;
            // Syncs first: if the power fails, either the old or the new file must be on disk.
            file.sync_all()?;
        }
        match temporary {
            Some(temporary) => temporary.rename(&path),
            None => unnamed::give_name(&file, &path, replaces),
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the number of hard links of the file at `path`; 1 if the system does not report it.
#[cfg(unix)]
pub(super) fn hard_links(path: &Path) -> u64 {
    path.metadata().map_or(1, |metadata| std::os::unix::fs::MetadataExt::nlink(&metadata))
}

#[cfg(not(unix))]
pub(super) fn hard_links(_: &Path) -> u64 {
    1
}

/// Returns the permissions for creating a file, before the umask. A replacement stays private until
/// it gets the permissions of the old file.
fn mode(old: Option<&fs::Metadata>) -> u32 {
    if old.is_some() { 0o600 } else { 0o666 }
}

/// Sets the owner and the group of a file to those of the replaced file.
#[cfg(unix)]
fn keep_owner(file: &fs::File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let new = file.metadata()?;
    let owner = Some(old.uid()).filter(|&owner| owner != new.uid());
    let group = Some(old.gid()).filter(|&group| group != new.gid());
    if owner.is_none() && group.is_none() {
        return Ok(());
    }
    fchown(file, owner, group).map_err(|error| {
        let (owner, group) = (old.uid(), old.gid());
        let message = format!("its owner (user {owner}, group {group}) cannot be kept: {error}");
        io::Error::new(error.kind(), message)
    })
}

#[cfg(not(unix))]
fn keep_owner(_: &fs::File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Unnamed files, which the system removes when the process ends.
#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    use super::{Temporary, folder_of};

    /// Creates an unnamed file in `folder`; `None` if the system does not support such files, or
    /// cannot name them later.
    pub(super) fn create(folder: &Path, mode: u32) -> Option<fs::File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = fs::File::from(open(folder, flags, Mode::from_raw_mode(mode)).ok()?);
        let [own, found] = [file.metadata().ok()?, handle(&file).metadata().ok()?];
        ((own.dev(), own.ino()) == (found.dev(), found.ino())).then_some(file)
    }

    /// Gives `file` the name `path`. A new name is given directly, and an existing one is replaced
    /// through a temporary name.
    pub(super) fn give_name(file: &fs::File, path: &Path, replaces: bool) -> io::Result<()> {
        let link = |path: &Path| {
            linkat(CWD, handle(file), CWD, path, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
        };
        if !replaces {
            match link(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                done => return done,
            }
        }
        let (temporary, ()) = Temporary::new(folder_of(path), link)?;
        temporary.rename(path)
    }

    /// Returns the path under `/proc` of an open file of this process.
    fn handle(file: &fs::File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
}

#[cfg(not(target_os = "linux"))]
mod unnamed {
    use std::fs;
    use std::io;
    use std::path::Path;

    /// Returns `None`, since this system does not support unnamed files.
    pub(super) fn create(_: &Path, _: u32) -> Option<fs::File> {
        None
    }

    /// Fails, since this system does not support unnamed files.
    pub(super) fn give_name(_: &fs::File, _: &Path, _: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
