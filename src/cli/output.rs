//! The output of a verb: standard output or a file.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstream::adapter::StripBytes;
use anstream::{AutoStream, ColorChoice};
use pte::document;
use pte::model::{Image, ReadError};
use pte::quoted::UntrustedString;
use serde::Serialize;

use super::atomic::AtomicFile;
use super::identity::is_same;
use super::problem::Problem;
use super::progress::Progress;

/// Whether anything was written to a stream.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// The output of a verb. A file is discarded unless [`finish`](Self::finish) is called.
pub(super) struct Output {
    name: UntrustedString,
    target: Target,
    /// Removes colours from the output.
    strip: Option<StripBytes>,
    failed: Option<io::Error>,
    /// Whether the verb goes on after the reader of a stream has closed it.
    outlives_reader: bool,
}

enum Target {
    Stream(io::BufWriter<Box<dyn Write>>),
    File(AtomicFile),
}

/// The kind of content of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Text for people, with optional colours.
    Text,
    /// Text for programs, without colours.
    Plain,
    /// Binary data, which is not written to a terminal.
    Bytes,
}

impl Output {
    /// Opens the file at `path`, or standard output.
    pub(super) fn open(path: Option<&Path>, content: Content) -> Result<Self, Problem> {
        let path = path.filter(|path| path.as_os_str() != "-");
        let Some(path) = path else {
            let stdout = io::stdout();
            if content == Content::Bytes && stdout.is_terminal() {
                return Err(Problem::Usage(
                    "binary output is not written to a terminal: name a file with -o, or use a pipe".into(),
                ));
            }
            // Colours are removed before the text is buffered. After the buffer, each piece of text
            // would be a separate system call.
            let is_plain = AutoStream::choice(&stdout) == ColorChoice::Never;
            let strip = (content == Content::Text && is_plain).then(StripBytes::new);
            let out: Box<dyn Write> = match content {
                Content::Text if !is_plain => Box::new(AutoStream::auto(stdout.lock())),
                _ => Box::new(stdout.lock()),
            };
            return Ok(Self {
                name: "<standard output>".into(),
                target: Target::Stream(io::BufWriter::new(out)),
                strip,
                failed: None,
                outlives_reader: false,
            });
        };
        let name = super::text::name_of(path);
        let problem = |error| Problem::io(name.clone(), error);
        let strip = (content == Content::Text).then(StripBytes::new);
        // A device or a pipe is written to and not replaced. For a link, the target is replaced.
        let path = match (path.canonicalize(), path.symlink_metadata()) {
            (Ok(target), _) if target.is_file() => target,
            (Err(_), Err(error)) if error.kind() != io::ErrorKind::NotFound => {
                return Err(problem(error));
            }
            (Err(_), Err(_)) if ends_in_separator(path) => {
                return Err(problem(io::ErrorKind::IsADirectory.into()));
            }
            (Err(_), Err(_)) => path.to_owned(),
            // The path exists and is not a regular file. The target of `/dev/stdout` may have no
            // path.
            _ => {
                let file = fs::File::options().write(true).open(path).map_err(problem)?;
                let target = Target::Stream(io::BufWriter::new(Box::new(file)));
                return Ok(Self { name, target, strip, failed: None, outlives_reader: false });
            }
        };
        let target = Target::File(AtomicFile::create(path).map_err(problem)?);
        Ok(Self { name, target, strip, failed: None, outlives_reader: false })
    }

    /// Opens an output as [`open`](Self::open) does, but refuses to overwrite one of `inputs`.
    pub(super) fn beside(
        path: Option<&Path>,
        content: Content,
        inputs: &[PathBuf],
    ) -> Result<Self, Problem> {
        inputs.iter().try_for_each(|input| Self::refuse_input(path, input))?;
        Self::open(path, content)
    }

    /// Refuses an output at `path` that would overwrite an input.
    pub(super) fn refuse_input(path: Option<&Path>, input: &Path) -> Result<(), Problem> {
        match path.filter(|path| path.is_file() && is_same(input, path)) {
            None => Ok(()),
            Some(path) => {
                let name = super::text::name_of(path);
                let message = format!("{name} is also an input, and would be overwritten");
                Err(Problem::Usage(message.into()))
            }
        }
    }

    /// Returns the output of a verb whose exit status is an answer. If a reader such as `head` closes a stream, the
    /// rest is thrown away, and the verb goes on to its status.
    pub(super) fn with_answer(self) -> Self {
        Self { outlives_reader: true, ..self }
    }

    /// Throws away what follows, if the reader of a stream has closed it and the verb goes on.
    fn outlived<T>(&mut self, result: io::Result<T>, done: T) -> io::Result<T> {
        match (&self.target, result) {
            (Target::Stream(_), Err(error))
                if self.outlives_reader && error.kind() == io::ErrorKind::BrokenPipe =>
            {
                self.target = Target::Stream(io::BufWriter::new(Box::new(io::sink())));
                Ok(done)
            }
            (_, result) => result,
        }
    }

    /// Returns whether anything was written to standard output or to a device.
    pub(super) fn has_begun() -> bool {
        BEGUN.load(Ordering::Relaxed)
    }

    /// Writes bytes unchanged.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.write_all(bytes).map_err(|error| self.problem(error))
    }

    /// Writes a line of text.
    pub(super) fn line(&mut self, line: &str) -> Result<(), Problem> {
        self.bytes(line.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Writes a whole model. `input` is the name of the file with its data, which messages show.
    pub(super) fn image(
        &mut self,
        image: &Image<'_>,
        input: &UntrustedString,
        progress: &Progress,
    ) -> Result<(), Problem> {
        let done = |bytes| progress.add(bytes);
        let written = match &mut self.target {
            Target::Stream(out) => image.pieces(|piece| {
                done(u64::try_from(piece.len()).unwrap_or_default());
                out.write_all(piece)
            }),
            Target::File(file) => file.file().and_then(|file| image.write_to_file(file, done)),
        };
        written.map_err(|error| {
            let of_input = error.get_ref().is_some_and(|cause| cause.is::<ReadError>());
            Problem::io(if of_input { input } else { &self.name }, error)
        })
    }

    /// Writes a JSON document and a line break.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), Problem> {
        document::write_pretty(self, value).map_err(|error| self.problem(error))
    }

    /// Writes a JSON document with one line for each row, and a line break.
    pub(super) fn json_rows(&mut self, value: &impl Serialize) -> Result<(), Problem> {
        document::write_rows(self, value).map_err(|error| self.problem(error))
    }

    /// Returns the problem of a failed write.
    pub(super) fn problem(&self, error: io::Error) -> Problem {
        Problem::io(self.name.clone(), error)
    }

    /// Writes what is buffered, so that [`finish`](Self::finish) only gives a file its name.
    pub(super) fn flush_all(&mut self) -> Result<(), Problem> {
        self.flush().map_err(|error| self.problem(error))
    }

    /// Writes the output, and completes it. If formatting failed, reports the failure of the output.
    pub(super) fn finish_with<T>(
        mut self,
        write: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        match write(&mut self) {
            Ok(written) => self.finish().map(|()| written),
            Err(Problem::Closed) => self.finish().and(Err(Problem::Closed)),
            Err(problem) => Err(problem),
        }
    }

    /// Completes the output. A file gets its final name.
    pub(super) fn finish(mut self) -> Result<(), Problem> {
        let name = core::mem::take(&mut self.name);
        let flushed = match self.target {
            Target::Stream(_) => self.flush(),
            Target::File(_) => Ok(()),
        };
        let done = match (self.failed, self.target) {
            (Some(error), _) => Err(error),
            (None, Target::Stream(_)) => flushed,
            (None, Target::File(file)) => file.commit(),
        };
        done.map_err(|error| Problem::io(name, error))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let target: &mut dyn Write = match &mut self.target {
            Target::Stream(out) => {
                BEGUN.store(true, Ordering::Relaxed);
                out
            }
            Target::File(file) => file,
        };
        let written = match &mut self.strip {
            None => target.write(bytes),
            Some(strip) => {
                let mut plain = strip.strip_next(bytes);
                plain.try_for_each(|plain| target.write_all(plain)).map(|()| bytes.len())
            }
        };
        self.outlived(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.target {
            Target::Stream(out) => out.flush(),
            Target::File(file) => file.flush(),
        };
        self.outlived(flushed, ())
    }
}

/// Keeps the first failure for [`finish`](Output::finish), since [`fmt::Error`] holds no reason.
impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write_all(text.as_bytes()).map_err(|error| {
            self.failed.get_or_insert(error);
            fmt::Error
        })
    }
}

/// Refuses two outputs in one file, which the options `one` and `other` name.
pub(super) fn refuse_one_file(
    (one, a): (&str, Option<&Path>),
    (other, b): (&str, Option<&Path>),
) -> Result<(), Problem> {
    match a.zip(b).filter(|(a, b)| is_same(a, b)) {
        None => Ok(()),
        Some((path, _)) => {
            let name = super::text::name_of(path);
            let message =
                format!("{name} would be written by {one} and by {other}: give one another path");
            Err(Problem::Usage(message.into()))
        }
    }
}

/// Returns whether a path ends as that of a folder.
fn ends_in_separator(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    last.is_some_and(|&last| std::path::is_separator(last.into()))
}

/// Serializes a JSON value on one line.
pub(super) fn json_bytes(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    document::write_line(&mut bytes, value)?;
    Ok(bytes)
}
