//! The progress of `pte check`, counted in files, or in bytes if whole files are read.

use std::path::PathBuf;

use crate::progress::Progress;

pub(super) struct CheckProgress {
    progress: Progress,
    in_bytes: bool,
}

impl CheckProgress {
    /// Starts a progress bar for `files`.
    pub(super) fn new(files: &[PathBuf], in_bytes: bool, is_shown: bool) -> Self {
        let (unit, total) = match in_bytes {
            true => {
                let lens = files.iter().filter_map(|path| Some(path.metadata().ok()?.len()));
                ("bytes", lens.sum())
            }
            false => ("files", files.len().try_into().unwrap_or(0)),
        };
        Self { progress: Progress::new(is_shown, unit, total), in_bytes }
    }

    /// Records that a file is done.
    pub(super) fn add_file(&self) {
        if !self.in_bytes {
            self.progress.add(1);
        }
    }

    /// Records that `count` more bytes were read.
    pub(super) fn add_bytes(&self, count: u64) {
        if self.in_bytes {
            self.progress.add(count);
        }
    }
}
