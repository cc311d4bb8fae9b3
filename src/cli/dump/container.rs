//! The container of a dump as JSON: the header, segments and trailing bytes. Segments are read in
//! chunks.

use core::fmt::{self, Write};
use core::ops::Range;
use std::collections::BTreeMap;
use std::io;

use pte::Source;
use pte::flat::bytes::len_of;
use pte::model::{Blob, FileModel, Image, ModelError, ReadError, RootNode, json};
use pte::ptd::Generation;

use super::{Blobs, MAX_NUMBERS};
use crate::input::{Input, Readable};
use crate::output::Output;
use crate::problem::Problem;

/// Writes a container, and collects notes about it.
pub(super) struct ContainerWriter<'d> {
    input: &'d Input,
    blobs: &'d Blobs,
    pretty: bool,
    /// The hash of each range that was read. Segments may share a range.
    digests: BTreeMap<(u64, u64), String>,
    pub(super) problem: Option<Problem>,
    pub(super) notes: Vec<String>,
}

impl<'d> ContainerWriter<'d> {
    pub(super) fn new(input: &'d Input, blobs: &'d Blobs, pretty: bool) -> Self {
        let (digests, notes) = (BTreeMap::new(), Vec::new());
        Self { input, blobs, pretty, digests, problem: None, notes }
    }

    /// Writes the container of `file`, whose FlatBuffer is `region`.
    pub(super) fn write<R: RootNode>(
        &mut self,
        mut file: FileModel<'_, R>,
        region: &[u8],
        generation: Option<Generation>,
        out: &mut Output,
    ) -> fmt::Result {
        let is_known = file.lay_out_like(region);
        let pretty = self.pretty;
        json::write(&file, generation, pretty, out, |blob, out| {
            let shown = match blob {
                Blob::Range(_, range) => self.blob(range.clone(), out),
                // The data of a file on disk is always a range. Any other blob is in memory.
                blob => blob.to_bytes().map_err(|e| Problem::io("", e.into())).and_then(|bytes| {
                    out.bytes(b"[")?;
                    numbers(&bytes, true, pretty, out)?;
                    out.bytes(b"]")
                }),
            };
            shown.map_err(|problem| {
                self.problem.get_or_insert(problem);
                fmt::Error
            })
        })?;
        self.compare_rebuilt(&file, is_known).map_err(|error| {
            self.problem.get_or_insert(Problem::io(&self.input.name, error));
            fmt::Error
        })
    }

    fn blob(&mut self, range: Range<u64>, out: &mut Output) -> Result<(), Problem> {
        let len = len_of(&range);
        let is_short = usize::try_from(len).is_ok_and(|len| len <= MAX_NUMBERS);
        if is_short || matches!(self.blobs, Blobs::Inline) {
            out.bytes(b"[")?;
            let mut first = true;
            self.input.try_chunks(range, &mut |piece| {
                numbers(piece, core::mem::take(&mut first), self.pretty, out)
            })?;
            return out.bytes(b"]");
        }
        let digest = self.digest(range.clone())?;
        match self.blobs {
            Blobs::Folder(folder) => {
                let name = folder.write(&digest, |file| self.input.copy(range, file))?;
                out.bytes(format!("{{\"file\": \"{name}\"}}").as_bytes())
            }
            _ => out.bytes(format!("{{\"sha256\": \"{digest}\", \"len\": {len}}}").as_bytes()),
        }
    }

    fn digest(&mut self, range: Range<u64>) -> Result<String, Problem> {
        let key = (range.start, range.end);
        if let Some(digest) = self.digests.get(&key) {
            return Ok(digest.clone());
        }
        let digest = self.input.sha256(range)?;
        self.digests.insert(key, digest.clone());
        Ok(digest)
    }

    /// Adds notes if `pte build` cannot restore the file. Tables in an unknown layout are not
    /// rebuilt for a comparison, since their bytes would differ.
    fn compare_rebuilt<R: RootNode>(
        &mut self,
        file: &FileModel<'_, R>,
        is_known: bool,
    ) -> io::Result<()> {
        if !file.unknown.is_none() {
            let (fields, members) = (file.unknown.fields, file.unknown.members);
            self.notes.push(format!(
                "{fields} fields and {members} union members are of a newer writer: they are not \
                 in the JSON, and `pte build` cannot restore them"
            ));
            return Ok(());
        }
        let is_same = match is_known {
            true => file.image().map(|image| self.is_same(&image)),
            false => file.image_len().map(|_| Ok(false)),
        };
        match is_same {
            Err(ModelError::Read(error)) => return Err(error.into()),
            Err(error) => self.notes.push(format!("`pte build` cannot restore this file: {error}")),
            Ok(is_same) => {
                if !is_same? {
                    self.notes.push(
                        "`pte build` makes a file with the same meaning, but other bytes".into(),
                    );
                }
            }
        }
        Ok(())
    }

    /// Returns whether the input has the same bytes as `image`. Reading ends at the first
    /// difference.
    fn is_same(&self, image: &Image<'_>) -> io::Result<bool> {
        let source = self.input.opened.source();
        if image.len() != source.size()? {
            return Ok(false);
        }
        let (mut at, mut there) = (0u64, Vec::new());
        let compared = image.pieces(|piece| {
            for part in piece.chunks(1 << 20) {
                there.resize(part.len(), 0);
                source.read_at(at, &mut there).map_err(Unequal::Io)?;
                if there != part {
                    return Err(Unequal::Bytes);
                }
                at = at.saturating_add(u64::try_from(part.len()).unwrap_or(u64::MAX));
            }
            Ok(())
        });
        match compared {
            Ok(()) => Ok(true),
            Err(Unequal::Bytes) => Ok(false),
            Err(Unequal::Io(error)) => Err(error),
        }
    }
}

/// The reason why a comparison ended early.
enum Unequal {
    Bytes,
    Io(io::Error),
}

impl From<ReadError> for Unequal {
    fn from(error: ReadError) -> Self {
        Self::Io(error.into())
    }
}

/// Writes bytes as numbers of a JSON array. `first` is true if they begin the array.
fn numbers(bytes: &[u8], first: bool, pretty: bool, out: &mut Output) -> Result<(), Problem> {
    let between = if pretty { ", " } else { "," };
    let mut text = String::new();
    for (nth, byte) in bytes.iter().enumerate() {
        if nth > 0 || !first {
            text.push_str(between);
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte}");
    }
    out.bytes(text.as_bytes())
}
