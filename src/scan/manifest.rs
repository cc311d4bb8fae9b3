//! The manifest of a scan, which lists its complete parts.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::lister::Key;
use super::row::SCHEMA;

/// The name of the manifest in the folder of a scan.
pub const MANIFEST: &str = "manifest.json";

/// The parts that are complete, and the state of the scan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    schema: String,
    /// The schema of the rows.
    rows_schema: String,
    /// Whether the last scan ran to its end.
    pub(super) is_complete: bool,
    pub(super) parts: Vec<Part>,
}

/// A part of the rows. The files of a part differ in their extension only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) rows: u64,
    /// The extensions of the part's files.
    pub(super) formats: Vec<String>,
}

impl Manifest {
    pub(super) fn new() -> Self {
        Self {
            schema: "pte.scan-manifest/1".into(),
            rows_schema: SCHEMA.into(),
            is_complete: false,
            parts: Vec::new(),
        }
    }

    /// Reads the manifest in `folder`; `None` if there is none.
    pub(crate) fn read(folder: &Path) -> io::Result<Option<Self>> {
        let text = match fs::read_to_string(folder.join(MANIFEST)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let new = Self::new();
        let manifest: Self = serde_json::from_str(&text)?;
        if (&manifest.schema, &manifest.rows_schema) != (&new.schema, &new.rows_schema) {
            return Err(io::Error::other("a manifest of another version"));
        }
        match manifest.parts.iter().all(|part| number_of(&part.name).is_some()) {
            true => Ok(Some(manifest)),
            false => Err(io::Error::other("a part has another name than parts have")),
        }
    }

    /// Replaces the manifest in `folder`. The files that it names must already be on disk.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let aside = folder.join(ASIDE);
        let mut file = fs::File::create(&aside)?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&aside, folder.join(MANIFEST))?;
        sync_folder(folder)
    }

    /// Returns the number of the next part.
    pub(super) fn next_number(&self) -> u64 {
        let last = self.parts.iter().filter_map(|part| number_of(&part.name)).max();
        last.map_or(0, |last| last.saturating_add(1))
    }

    /// Reads the keys of all rows in all parts.
    pub(super) fn keys(&self, folder: &Path) -> io::Result<BTreeSet<Key>> {
        let mut keys = BTreeSet::new();
        for part in &self.parts {
            let bytes = fs::read(folder.join(format!("{}.{KEYS}", part.name)))?;
            keys.extend(
                bytes.chunks_exact(size_of::<Key>()).filter_map(|key| Key::try_from(key).ok()),
            );
        }
        Ok(keys)
    }

    /// Removes the files of parts that the manifest does not name. A killed scan leaves such files.
    pub(super) fn remove_unnamed(&self, folder: &Path) -> io::Result<()> {
        let named: BTreeSet<_> = self.parts.iter().map(|part| part.name.as_str()).collect();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let stem = name.split('.').next().unwrap_or_default();
            let is_part = number_of(stem).is_some() && !named.contains(stem);
            if is_part || name.ends_with(UNFINISHED) && number_of(stem).is_some() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Returns the name of a part.
pub(super) fn name_of(number: u64) -> String {
    format!("part-{number:06}")
}

fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("part-")?;
    let is_number = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// Makes the file names in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// The extension of the file with the keys of a part's rows.
pub(super) const KEYS: &str = "keys";

/// The last extension of a file that is not complete.
pub(super) const UNFINISHED: &str = ".unfinished";

const ASIDE: &str = "manifest.json.unfinished";
