//! What is around the tables, as JSON: segments go through memory piece by piece.

use core::fmt::{self, Write};
use core::ops::Range;
use std::collections::BTreeMap;
use std::io;

use pte::Source;
use pte::model::{Blob, File, ModelError, Root, json};
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

    /// Writes the container of `model`, which was taken from tables in `region`.
    pub(super) fn write<R: Root>(
        &mut self,
        mut model: File<'_, R>,
        region: &[u8],
        generation: Option<Generation>,
        out: &mut Output,
    ) -> fmt::Result {
        model.lay_out_like(region);
        let pretty = self.pretty;
        json::write(&model, generation, pretty, out, |blob, out| {
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
        self.tell(&mut model).map_err(|error| {
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

    /// Says what `pte build` will not do with what was written.
    fn tell<R: Root>(&mut self, model: &mut File<'_, R>) -> io::Result<()> {
        if !model.unknown.is_none() {
            let (fields, members) = (model.unknown.fields, model.unknown.members);
            self.notes.push(format!(
                "{fields} fields and {members} members of unions are of a newer writer: they are \
                 not shown, and `pte build` cannot restore them"
            ));
            return Ok(());
        }
        let built = model.image();
        let same = match &built {
            Ok(image) => {
                let source = self.input.opened.source();
                let (mut at, mut same) = (0u64, image.len() == source.size()?);
                let mut there = Vec::new();
                image.pieces(|piece| {
                    for part in piece.chunks(1 << 20) {
                        if !same {
                            break;
                        }
                        there.resize(part.len(), 0);
                        source.read_at(at, &mut there)?;
                        same = there == part;
                        at = at.saturating_add(u64::try_from(part.len()).unwrap_or(u64::MAX));
                    }
                    io::Result::Ok(())
                })?;
                same
            }
            Err(_) => false,
        };
        match built {
            Err(ModelError::Read(error)) => return Err(error.into()),
            Err(error) => self.notes.push(format!("`pte build` cannot build this again: {error}")),
            Ok(_) if !same => self.notes.push(
                "what `pte build` makes of this means the same, and is not the same bytes".into(),
            ),
            Ok(_) => {}
        }
        Ok(())
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
