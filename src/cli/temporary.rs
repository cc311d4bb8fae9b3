//! Named temporary files and folders, removed on drop and when a signal ends the command.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) use signals::report_large_files;

/// A file or folder with a temporary name.
#[derive(Debug)]
pub(super) struct Temporary {
    /// The temporary path; `None` once the file or folder has its final name.
    path: Option<PathBuf>,
}

/// The existing temporary names. While the signal thread holds the lock, no temporary file is
/// created or renamed.
static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

impl Temporary {
    /// Creates a file or folder in `folder`. It calls `make` with names until a name is new.
    pub(super) fn new<T>(
        folder: &Path,
        make: impl FnMut(&Path) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        signals::handle();
        let mut names = names();
        let temporary = tempfile::Builder::new().prefix(PREFIX).make_in(folder, make)?;
        let (file, path) = temporary.into_parts();
        let path = path.keep().map_err(|error| error.error)?;
        names.insert(path.clone());
        Ok((Self { path: Some(path) }, file))
    }

    /// Creates a folder that only its owner can enter.
    pub(super) fn folder(folder: &Path) -> io::Result<Self> {
        Self::new(folder, make_private_folder).map(|(temporary, ())| temporary)
    }

    /// Returns the temporary path.
    pub(super) fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    /// Renames the file or folder to its final name, replacing an existing file.
    pub(super) fn rename(mut self, to: &Path) -> io::Result<()> {
        let mut names = names();
        fs::rename(self.path(), to)?;
        names.remove(self.path());
        self.path = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut names = names();
            names.remove(&path);
            remove(&path);
        }
    }
}

#[cfg(unix)]
fn make_private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// The prefix of temporary names.
const PREFIX: &str = ".pte-";

fn names() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // The set is consistent even if a thread panicked while it held the lock.
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a file, or a folder to which another thread may still write. Failures are ignored.
fn remove(path: &Path) {
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
        let _ = fs::remove_file(path);
        return;
    }
    for _ in 0..ATTEMPTS {
        if fs::remove_dir_all(path).is_ok() || path.symlink_metadata().is_err() {
            return;
        }
    }
}

/// The maximum number of attempts to empty a folder to which another thread writes.
const ATTEMPTS: usize = 1000;

#[cfg(unix)]
mod signals {
    use std::fs;
    use std::os::raw::c_int;
    use std::sync::mpsc;
    use std::sync::{Arc, Once};
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Makes a write past the limit on file sizes an error. Otherwise a signal ends the command without a message.
    pub(in super::super) fn report_large_files() {
        // Without a handler, the signal ends the command.
        let _ = flag::register(SIGXFSZ, Arc::default());
    }

    /// Starts a thread, once. The thread waits for a signal that ends the command, removes all
    /// temporary files and ends the command by that signal.
    pub(super) fn handle() {
        static STARTED: Once = Once::new();
        STARTED.call_once(|| {
            let (ready, started) = mpsc::channel();
            // Signals are caught only if the thread could be started.
            let thread = thread::Builder::new().name("signals".into()).spawn(move || {
                let signals = Signals::new(caught());
                let _ = ready.send(());
                let Some(signal) = signals.ok().and_then(|mut caught| caught.forever().next())
                else {
                    return;
                };
                let names = super::names();
                names.iter().for_each(|path| super::remove(path));
                let _ = emulate_default_handler(signal);
            });
            // Without a thread, signals end the command immediately.
            let _ = thread.map(|_| started.recv());
        });
    }

    /// Returns the signals to catch. Signals that were ignored at the start, such as by `nohup`,
    /// are excluded. Only Linux reports these; on other systems SIGHUP is not caught.
    fn caught() -> impl Iterator<Item = c_int> {
        let status = fs::read_to_string("/proc/self/status").ok();
        let mask = status.as_deref().and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
            u64::from_str_radix(line.trim(), 16).ok()
        });
        let is_ignored = move |signal: c_int| match mask {
            None => signal == SIGHUP,
            Some(mask) => {
                let bit = u32::try_from(signal.saturating_sub(1)).unwrap_or_default();
                mask.checked_shr(bit).unwrap_or_default() & 1 == 1
            }
        };
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(move |&signal| !is_ignored(signal))
    }
}

#[cfg(not(unix))]
mod signals {
    /// Does nothing: this system has no such signals.
    pub(super) fn handle() {}

    /// Does nothing: this system has no such signals.
    pub(in super::super) fn report_large_files() {}
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Temporary;

    #[test]
    fn what_has_no_final_name_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(folder.path()).unwrap().count();
        let (file, _) = Temporary::new(folder.path(), |path| fs::File::create_new(path)).unwrap();
        let inner = Temporary::folder(folder.path()).unwrap();
        fs::write(inner.path().join("part"), "part").unwrap();
        assert_eq!(count(), 2);
        drop((file, inner));
        assert_eq!(count(), 0);
        let inner = Temporary::folder(folder.path()).unwrap();
        inner.rename(&folder.path().join("final")).unwrap();
        assert!(folder.path().join("final").is_dir());
        assert_eq!(count(), 1);
    }
}
