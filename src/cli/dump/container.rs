//! What is around the tables, as JSON: segments go through memory piece by piece.

use core::fmt::{self, Write};
use core::ops::Range;
use std::collections::BTreeMap;
use std::io;

use pte::Source;
use pte::model::{Blob, File, Image, ModelError, ReadError, RootNode, json};
use pte::ptd::Generation;
use sha2::{Digest, Sha256};

use super::{BLOB, Blobs, write_new};
use crate::cli::hex;
use crate::cli::input::Input;
use crate::cli::output::Output;
use crate::cli::problem::Problem;

/// Writes containers, and keeps what is to be said of one.
pub(super) struct Around<'d> {
    input: &'d Input,
    blobs: &'d Blobs,
    pretty: bool,
    /// The digest of a range: segments may be equal.
    digests: BTreeMap<(u64, u64), String>,
    pub(super) problem: Option<Problem>,
    pub(super) notes: Vec<String>,
}

impl<'d> Around<'d> {
    pub(super) fn new(input: &'d Input, blobs: &'d Blobs, pretty: bool) -> Self {
        let (digests, notes) = (BTreeMap::new(), Vec::new());
        Self { input, blobs, pretty, digests, problem: None, notes }
    }

    /// Writes the container of `file`, whose tables are in `region`.
    pub(super) fn write<R: RootNode>(
        &mut self,
        mut file: File<'_, R>,
        region: &[u8],
        generation: Option<Generation>,
        out: &mut Output,
    ) -> fmt::Result {
        let is_known = file.lay_out_like(region);
        let pretty = self.pretty;
        json::write(&file, generation, pretty, out, |blob, out| {
            let shown = match blob {
                Blob::Range(_, range) => self.blob(range.clone(), out),
                // What was taken from a file on disk is in ranges of it.
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
        let len = range.end.saturating_sub(range.start);
        let short = usize::try_from(len).is_ok_and(|len| len <= BLOB);
        if short || matches!(self.blobs, Blobs::Inline) {
            out.bytes(b"[")?;
            let mut first = true;
            self.input.try_chunks(range, |piece| {
                numbers(piece, core::mem::take(&mut first), self.pretty, out)
            })?;
            return out.bytes(b"]");
        }
        let digest = self.digest(range.clone())?;
        match self.blobs {
            Blobs::Folder(folder) => {
                let name = format!("{digest}.bin");
                write_new(&folder.join(&name), |file| self.input.copy(range, file))?;
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
        let mut hash = Sha256::new();
        self.input.chunks(range, |piece| hash.update(piece))?;
        let digest = hex(&hash.finalize());
        self.digests.insert(key, digest.clone());
        Ok(digest)
    }

    /// Notes what `pte build` will not do with what was written. Tables in a layout that is not known
    /// are not made for it: their bytes differ.
    fn compare_rebuilt<R: RootNode>(
        &mut self,
        file: &File<'_, R>,
        is_known: bool,
    ) -> io::Result<()> {
        if !file.unknown.is_none() {
            let (fields, members) = (file.unknown.fields, file.unknown.members);
            self.notes.push(format!(
                "{fields} fields and {members} members of unions are of a newer writer: they are \
                 not shown, and `pte build` cannot restore them"
            ));
            return Ok(());
        }
        let is_same = match is_known {
            true => file.image().map(|image| self.is_same(&image)),
            false => file.image_len().map(|_| Ok(false)),
        };
        match is_same {
            Err(ModelError::Read(error)) => return Err(error.into()),
            Err(error) => self.notes.push(format!("`pte build` cannot build this again: {error}")),
            Ok(is_same) => {
                if !is_same? {
                    self.notes.push(
                        "what `pte build` makes of this means the same, and is not the same bytes"
                            .into(),
                    );
                }
            }
        }
        Ok(())
    }

    /// Whether the input has the bytes of `image`. Reading ends at the first piece that differs.
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

/// Why a comparison ends early.
enum Unequal {
    Bytes,
    Io(io::Error),
}

impl From<ReadError> for Unequal {
    fn from(error: ReadError) -> Self {
        Self::Io(error.into())
    }
}

/// Numbers of an array; `first` says whether they are its first ones.
fn numbers(bytes: &[u8], first: bool, pretty: bool, out: &mut Output) -> Result<(), Problem> {
    let between = if pretty { ", " } else { "," };
    let mut text = String::new();
    for (nth, byte) in bytes.iter().enumerate() {
        if nth > 0 || !first {
            text.push_str(between);
        }
        // A string takes whatever is written to it.
        let _ = write!(text, "{byte}");
    }
    out.bytes(text.as_bytes())
}
