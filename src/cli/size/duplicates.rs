//! Data that is stored more than once, in the files of `pte size`.

use core::fmt::{self, Write};
use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pte::file::chunks;
use pte::map::{DuplicateGroup, Duplicates, StoredFile};

use crate::Common;
use crate::identity::{Identity, identity};
use crate::input::{self, CHUNK, Input, Readable};
use crate::output::Output;
use crate::problem::{BOLD, DIM, NAME, Problem};
#[cfg(feature = "remote")]
use crate::remote;
use crate::text::{bytes, count, grouped, name, wide};

/// The data of the files. Files are opened again to compare it, since there may be too many to keep
/// open; streams are kept.
#[derive(Default)]
pub(super) struct StoredFiles {
    files: Vec<StoredFile>,
    paths: Vec<PathBuf>,
    streams: BTreeMap<usize, Input>,
    seen: BTreeSet<Identity>,
}

impl StoredFiles {
    /// Adds the data of the file at `path`. A file that is given twice is added once.
    pub(super) fn add(&mut self, path: &Path, data: StoredFile, input: Input) {
        #[cfg(feature = "remote")]
        if remote::url_of(path).is_some() {
            return;
        }
        if identity(path).is_some_and(|own| !self.seen.insert(own)) {
            return;
        }
        if input::is_stream(path) {
            self.streams.insert(self.files.len(), input);
        }
        self.files.push(data);
        self.paths.push(path.to_path_buf());
    }

    /// Compares the data. Returns `None` if no data was collected.
    pub(super) fn duplicates(&self, common: &Common) -> Result<Option<Duplicates<'_>>, Problem> {
        if self.files.is_empty() {
            return Ok(None);
        }
        let limits = common.limits();
        let mut last: Option<(usize, Input)> = None;
        let read = |nth: usize, range: Range<u64>, each: &mut dyn FnMut(&[u8])| {
            if let Some(stream) = self.streams.get(&nth) {
                return pass_on(stream, range, each);
            }
            if last.as_ref().is_none_or(|(of, _)| *of != nth) {
                let Some(path) = self.paths.get(nth) else { return Ok(()) };
                last = Some((nth, Input::open(path, &limits)?));
            }
            last.as_ref().map_or(Ok(()), |(_, input)| pass_on(input, range, each))
        };
        Duplicates::find(&self.files, read).map(Some)
    }
}

/// Passes on the bytes of a range, a chunk at a time.
fn pass_on(input: &Input, range: Range<u64>, each: &mut dyn FnMut(&[u8])) -> Result<(), Problem> {
    chunks(range, CHUNK).try_for_each(|chunk| {
        each(&input.read_uncharged(chunk)?);
        Ok(())
    })
}

/// Shows the largest groups of equal data in `files` files.
pub(super) fn show(found: &Duplicates<'_>, files: usize, out: &mut Output) -> fmt::Result {
    if found.groups.is_empty() {
        return Ok(());
    }
    let saved = bytes(found.saved);
    write!(out, "\n{BOLD}stored more than once{BOLD:#}  {DIM}{saved} less if stored once")?;
    if found.saved_within_files != 0 && found.saved_within_files != found.saved {
        write!(out, ", {} of it within files", bytes(found.saved_within_files))?;
    }
    writeln!(out, "{DIM:#}")?;
    let (shown, folded) = found.groups.split_at_checked(MAX_GROUPS).unwrap_or((&found.groups, &[]));
    let widest = shown.iter().map(|group| grouped(group.bytes).len()).max().unwrap_or_default();
    for group in shown {
        let (bytes, places) = (grouped(group.bytes), grouped(wide(group.places.len())));
        write!(out, "  {bytes:>widest$} × {places}  {NAME}{}{NAME:#}", names(group))?;
        if files > 1 {
            let paths: BTreeSet<_> = group.places.iter().map(|place| place.path.raw()).collect();
            write!(out, "  {DIM}in {}{DIM:#}", count(wide(paths.len()), "file"))?;
        }
        writeln!(out)?;
    }
    if !folded.is_empty() {
        let saved = folded.iter().map(|group| group.saved).sum();
        let more = grouped(wide(folded.len()));
        writeln!(out, "  {DIM}… {more} more, {} less{DIM:#}", bytes(saved))?;
    }
    Ok(())
}

/// Returns the different names of equal data, at most three of them.
fn names(group: &DuplicateGroup<'_>) -> String {
    let mut seen = BTreeSet::new();
    let all = group.places.iter().filter_map(|place| place.part.last());
    let all: Vec<_> = all.filter(|name| seen.insert(name.raw())).collect();
    let shown: Vec<_> = all.iter().take(MAX_NAMES).map(|part| name(*part)).collect();
    match all.len().saturating_sub(MAX_NAMES) {
        0 => shown.join(", "),
        more => format!("{}, {more} more", shown.join(", ")),
    }
}

/// The maximum number of groups that are shown.
const MAX_GROUPS: usize = 10;

/// The maximum number of names that are shown for equal data.
const MAX_NAMES: usize = 3;
