//! The writer of parts. Rows become NDJSON and Parquet files, which are written under another name,
//! synced and renamed.

use core::time::Duration;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::columns::Columns;
use super::lister::Key;
use super::manifest::{KEYS, Manifest, Part, UNFINISHED, name_of, sync_folder};
use super::row::Row;
use pte_tools::document;

/// The file formats of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowFormat {
    /// Parquet, compressed with zstd.
    #[default]
    Parquet,
    /// JSON, with one row on each line.
    Ndjson,
    /// Both Parquet and JSON.
    Both,
}

/// The writer of a scan's rows.
pub(super) struct Parts {
    folder: PathBuf,
    format: RowFormat,
    rows_of_part: u64,
    manifest: Manifest,
    current: Option<Open>,
}

/// A part that is being written.
struct Open {
    name: String,
    begun: Instant,
    rows: u64,
    keys: Vec<u8>,
    ndjson: Option<BufWriter<fs::File>>,
    parquet: Option<Columns>,
    /// The rows of the next row group.
    group: Vec<Row>,
    weight: usize,
}

impl Parts {
    pub(super) fn new(
        folder: &Path,
        format: RowFormat,
        rows_of_part: u64,
        manifest: Manifest,
    ) -> io::Result<Self> {
        let mut parts =
            Self { folder: folder.to_owned(), format, rows_of_part, manifest, current: None };
        parts.manifest.is_complete = false;
        parts.manifest.write(&parts.folder)?;
        Ok(parts)
    }

    /// Adds a row, and finishes the part if it is full or old.
    pub(super) fn add(&mut self, key: Key, row: Row) -> io::Result<()> {
        let open = match self.current.take() {
            Some(open) => open,
            None => self.open()?,
        };
        let open = self.current.insert(open);
        open.keys.extend_from_slice(&key);
        open.rows = open.rows.saturating_add(1);
        if let Some(file) = &mut open.ndjson {
            document::write_line(file, &row)?;
            file.write_all(b"\n")?;
        }
        if open.parquet.is_some() {
            open.weight = open.weight.saturating_add(row.weight());
            open.group.push(row);
            if open.group.len() >= GROUP_ROWS || open.weight >= GROUP_BYTES {
                open.flush_group()?;
            }
        }
        match open.rows >= self.rows_of_part || open.begun.elapsed() >= OLDEST {
            true => self.finish_part(),
            false => Ok(()),
        }
    }

    /// Finishes the last part, and marks the scan as complete. Returns the number of parts.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.finish_part()?;
        self.manifest.is_complete = true;
        self.manifest.write(&self.folder)?;
        Ok(u64::try_from(self.manifest.parts.len()).unwrap_or(u64::MAX))
    }

    fn path(&self, name: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{name}.{extension}"))
    }

    fn open(&self) -> io::Result<Open> {
        let name = name_of(self.manifest.next_number());
        let create = |extension: &str| {
            let aside = self.path(&name, &format!("{extension}{UNFINISHED}"));
            fs::File::options().write(true).create_new(true).open(aside)
        };
        let has_ndjson = self.format != RowFormat::Parquet;
        let has_parquet = self.format != RowFormat::Ndjson;
        Ok(Open {
            begun: Instant::now(),
            rows: 0,
            keys: Vec::new(),
            ndjson: has_ndjson.then(|| create(NDJSON)).transpose()?.map(BufWriter::new),
            parquet: has_parquet.then(|| Columns::new(create(PARQUET)?)).transpose()?,
            group: Vec::new(),
            weight: 0,
            name,
        })
    }

    /// Syncs and renames the files of the part, and then adds the part to the manifest. A part that
    /// is not in the manifest does not count.
    fn finish_part(&mut self) -> io::Result<()> {
        let Some(mut open) = self.current.take() else { return Ok(()) };
        let mut formats = Vec::new();
        if let Some(file) = open.ndjson.take() {
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            formats.push(NDJSON.to_owned());
        }
        open.flush_group()?;
        if let Some(columns) = open.parquet.take() {
            columns.finish()?.sync_all()?;
            formats.push(PARQUET.to_owned());
        }
        let mut keys = fs::File::create(self.path(&open.name, &format!("{KEYS}{UNFINISHED}")))?;
        keys.write_all(&open.keys)?;
        keys.sync_all()?;
        for extension in formats.iter().map(String::as_str).chain([KEYS]) {
            let aside = self.path(&open.name, &format!("{extension}{UNFINISHED}"));
            fs::rename(aside, self.path(&open.name, extension))?;
        }
        sync_folder(&self.folder)?;
        self.manifest.parts.push(Part { name: open.name, rows: open.rows, formats });
        self.manifest.write(&self.folder)
    }
}

impl Open {
    fn flush_group(&mut self) -> io::Result<()> {
        if let Some(parquet) = &mut self.parquet
            && !self.group.is_empty()
        {
            parquet.write(&self.group)?;
        }
        self.group.clear();
        self.weight = 0;
        Ok(())
    }
}

const NDJSON: &str = "ndjson";
const PARQUET: &str = "parquet";

/// The maximum number of rows of a row group. Each takes about 12 kB while the group is written, as JSON.
const GROUP_ROWS: usize = 1_000;

/// The approximate maximum size of a row group in memory, in bytes.
const GROUP_BYTES: usize = 8 << 20;

/// The age at which a part is finished even if it is not full. A killed scan loses at most the rows
/// of this time.
const OLDEST: Duration = Duration::from_secs(300);
