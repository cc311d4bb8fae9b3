//! The pipeline: one lister, several judges, one writer, and bounded queues between them.

use core::fmt;
use core::num::NonZero;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::judge::{Depth, Judge, set_unreadable};
use super::lister::{Key, Lister, ScanRoot, Stopped, Target, TargetPlace};
use super::manifest::{MANIFEST, Manifest};
use super::parts::{Parts, RowFormat};
#[cfg(feature = "remote")]
use super::row::Cell;
use super::row::Row;
use pte_core::Limits;
use pte_core::file::open_regular;
use pte_flat::quoted::UntrustedString;
#[cfg(feature = "remote")]
use pte_remote::Client;

/// The settings of a scan.
#[derive(Clone, Debug)]
pub struct Scan {
    depth: Depth,
    format: RowFormat,
    limits: Limits,
    jobs: usize,
    rows_of_part: u64,
    resumes: bool,
    follows: bool,
    #[cfg(feature = "remote")]
    client: Option<Client>,
}

/// The counts of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// The number of rows written.
    pub files: u64,
    /// The number of files that are `ok`.
    pub ok: u64,
    /// The number of files that need data of a `.ptd`.
    pub incomplete: u64,
    /// The number of files with an Error.
    pub errors: u64,
    /// The number of files whose structure was refused.
    pub refused: u64,
    /// The number of files that could not be read.
    pub unreadable: u64,
    /// The number of files that were skipped, since an earlier scan has rows of them.
    pub skipped: u64,
    /// The number of links to models and folders, in folders, that were not followed.
    pub skipped_links: u64,
    /// The number of bytes read.
    pub bytes_read: u64,
    /// The number of parts in the folder.
    pub parts: u64,
    /// The listings of a hub that failed, each with the reason.
    pub failed_roots: Vec<UntrustedString>,
}

/// The error of a scan whose results could not be written.
#[derive(Debug)]
pub struct ScanError {
    /// The place that could not be read or written.
    pub place: UntrustedString,
    /// The reason.
    pub error: io::Error,
}

impl ScanError {
    /// Returns the error of a failed read or write of `place`.
    pub fn new(place: impl Into<UntrustedString>, error: io::Error) -> Self {
        Self { place: place.into(), error }
    }
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, UntrustedString::of(&self.error))
    }
}

impl core::error::Error for ScanError {}

impl Default for Scan {
    fn default() -> Self {
        Self::new()
    }
}

impl Scan {
    /// Creates a scan by every rule, with the limits for untrusted files and a thread for each
    /// core.
    pub fn new() -> Self {
        Self {
            depth: Depth::default(),
            format: RowFormat::default(),
            limits: Limits::UNTRUSTED,
            jobs: thread::available_parallelism().map_or(1, NonZero::get),
            rows_of_part: ROWS_OF_PART,
            resumes: false,
            follows: false,
            #[cfg(feature = "remote")]
            client: None,
        }
    }

    /// Sets how much of each file is read.
    #[must_use]
    pub fn depth(self, depth: Depth) -> Self {
        Self { depth, ..self }
    }

    /// Sets the format of the rows.
    #[must_use]
    pub fn format(self, format: RowFormat) -> Self {
        Self { format, ..self }
    }

    /// Sets the limits of each file.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the number of files that are judged at once; at least one.
    #[must_use]
    pub fn jobs(self, jobs: usize) -> Self {
        Self { jobs: jobs.max(1), ..self }
    }

    /// Sets the maximum number of rows of a part; at least one.
    #[must_use]
    pub fn rows_of_part(self, rows: u64) -> Self {
        Self { rows_of_part: rows.max(1), ..self }
    }

    /// Sets whether rows are added to those of an earlier scan in the same folder. Files with rows
    /// there are skipped if nothing changed: their size, their time of change, the depth, the
    /// version of this package and the rules.
    #[must_use]
    pub fn resume(self, resumes: bool) -> Self {
        Self { resumes, ..self }
    }

    /// Sets whether links in folders are followed. Each folder of a root is searched once. A root may
    /// always be a link.
    #[must_use]
    pub fn follow(self, follows: bool) -> Self {
        Self { follows, ..self }
    }

    /// Sets the client that requests remote files. Without a client, a URL becomes a row of an
    /// unreadable file.
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn client(self, client: Client) -> Self {
        Self { client: Some(client), ..self }
    }

    /// Scans the files of `roots`, and writes rows to `folder`, which is created. Calls `progress` after
    /// each row.
    ///
    /// # Errors
    ///
    /// The folder has a manifest and the scan does not resume, or a row cannot be written. A file
    /// that cannot be read is a row, and not an error.
    pub fn run(
        &self,
        roots: Vec<ScanRoot>,
        folder: &Path,
        progress: impl FnMut(&Totals),
    ) -> Result<Totals, ScanError> {
        let name = UntrustedString::of(&folder.display());
        self.run_in(roots, folder, progress).map_err(|error| ScanError::new(name, error))
    }

    /// Judges files and URLs one after the other, and calls `each` with their rows in the same
    /// order. No folder is searched and nothing is written. Engines for several machines give some
    /// files to each worker.
    pub fn rows<'p>(&self, paths: impl IntoIterator<Item = &'p Path>, mut each: impl FnMut(Row)) {
        let judge = Judge::new(self.depth, self.limits);
        let mut lister = self.lister(&judge, |target| {
            each(self.row(target, &judge));
            Ok(())
        });
        // A file that cannot be read becomes a row, so nothing fails here.
        let _ = paths.into_iter().try_for_each(|path| lister.one(path));
    }

    fn lister<'s, F>(&'s self, judge: &'s Judge, emit: F) -> Lister<'s, F> {
        Lister {
            judge,
            emit,
            #[cfg(feature = "remote")]
            client: self.client.as_ref(),
            follows: self.follows,
            skipped_links: 0,
            failed: Vec::new(),
        }
    }

    fn run_in(
        &self,
        roots: Vec<ScanRoot>,
        folder: &Path,
        mut progress: impl FnMut(&Totals),
    ) -> io::Result<Totals> {
        fs::create_dir_all(folder)?;
        let (manifest, done) = match Manifest::read(folder)? {
            None => (Manifest::new(), BTreeSet::new()),
            Some(manifest) if self.resumes => {
                let keys = manifest.keys(folder)?;
                (manifest, keys)
            }
            Some(_) => {
                let message = format!("has the results of a scan ({MANIFEST})");
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
            }
        };
        manifest.remove_unnamed(folder)?;
        let mut parts = Parts::new(folder, self.format, self.rows_of_part, manifest)?;
        let judge = Judge::new(self.depth, self.limits);
        let mut totals = Totals::default();
        let (targets, queue) = mpsc::sync_channel(QUEUE);
        let (rows, judged) = mpsc::sync_channel(QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        let (judge, done) = (&judge, &done);
        let written = thread::scope(|scope| {
            let listed = thread::Builder::new()
                .spawn_scoped(scope, move || list(roots, judge, done, &targets, self))?;
            let mut started = 0usize;
            for _ in 0..self.jobs {
                let (queue, rows, judge) = (Arc::clone(&queue), rows.clone(), judge);
                match thread::Builder::new()
                    .spawn_scoped(scope, move || work(&queue, &rows, judge, self))
                {
                    Ok(_) => started = started.saturating_add(1),
                    // The threads that did start do all of the work.
                    Err(_) if started > 0 => break,
                    Err(error) => return Err(error),
                }
            }
            // Drops this thread's ends of the queues. Each queue closes when its last user ends.
            drop((queue, rows));
            for (key, row) in judged {
                totals.add(&row);
                parts.add(key, row)?;
                progress(&totals);
            }
            let listed = listed.join().unwrap_or_default();
            totals.skipped = listed.skipped;
            totals.skipped_links = listed.skipped_links;
            totals.failed_roots = listed.failed_roots;
            Ok(())
        });
        written?;
        totals.parts = parts.finish()?;
        Ok(totals)
    }
}

impl Totals {
    fn add(&mut self, row: &Row) {
        let of_status = match row.status {
            "ok" => &mut self.ok,
            "incomplete" => &mut self.incomplete,
            "error" => &mut self.errors,
            "refused" => &mut self.refused,
            _ => &mut self.unreadable,
        };
        for count in [of_status, &mut self.files] {
            *count = count.saturating_add(1);
        }
        self.bytes_read = self.bytes_read.saturating_add(row.bytes_read);
    }
}

/// Lists the files of all roots, and counts what is left out.
fn list(
    roots: Vec<ScanRoot>,
    judge: &Judge,
    done: &BTreeSet<Key>,
    targets: &SyncSender<Target>,
    scan: &Scan,
) -> Totals {
    let mut skipped = 0u64;
    let emit = |target: Target| {
        if done.contains(&target.key) {
            skipped = skipped.saturating_add(1);
            return Ok(());
        }
        targets.send(target).map_err(|_| Stopped)
    };
    let mut lister = scan.lister(judge, emit);
    for root in roots {
        // The writer has failed, and returns the error itself.
        if lister.list(root).is_err() {
            break;
        }
    }
    let (skipped_links, failed) = (lister.skipped_links, core::mem::take(&mut lister.failed));
    let failed_roots = failed.into_iter().map(UntrustedString::from).collect();
    Totals { skipped, skipped_links, failed_roots, ..Totals::default() }
}

/// Judges files until the queue is empty, or until no more rows are wanted.
fn work(
    queue: &Mutex<Receiver<Target>>,
    rows: &SyncSender<(Key, Row)>,
    judge: &Judge,
    scan: &Scan,
) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(target) = next else { return };
        if rows.send((target.key, scan.row(target, judge))).is_err() {
            return;
        }
    }
}

impl Scan {
    /// Judges a file.
    fn row(&self, target: Target, judge: &Judge) -> Row {
        let mut row = judge.row(&target.uri);
        row.mtime_ms = target.mtime_ms;
        let judged = match target.place {
            Ok(TargetPlace::Path(path)) => open_regular(&path)
                .map(|(file, _)| judge.judge(file, &mut row))
                .map_err(|error| error.to_string()),
            #[cfg(feature = "remote")]
            Ok(TargetPlace::Url(url)) => self.judge_url(&url, judge, &mut row),
            Err(message) => Err(message),
        };
        if let Err(message) = judged {
            set_unreadable(&mut row, &message);
        }
        row
    }

    #[cfg(feature = "remote")]
    fn judge_url(&self, url: &str, judge: &Judge, row: &mut Row) -> Result<(), String> {
        let client = self.client.as_ref().ok_or("remote files are not read")?;
        let file = client.url(url).and_then(|url| client.open(&url));
        let file = file.map_err(|error| error.to_string())?;
        row.etag = file.etag().as_ref().map(Cell::of);
        row.commit = file.commit().as_ref().map(Cell::of);
        judge.judge(&file, row);
        let spent = file.spent();
        (row.requests, row.bytes_read) = (spent.requests, spent.bytes);
        Ok(())
    }
}

/// The maximum number of files, and of rows, that wait in a queue.
const QUEUE: usize = 256;

/// The default maximum number of rows of a part.
const ROWS_OF_PART: u64 = 50_000;
