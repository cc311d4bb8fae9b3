//! Where a verb's output goes: standard output, or a file that appears whole or not at all.

use core::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::problem::Problem;

/// The output of a verb. Nothing is kept of it unless [`finish`](Self::finish) is reached.
pub(super) struct Output {
    name: String,
    to: To,
    failed: Option<io::Error>,
}

enum To {
    Screen(io::BufWriter<Box<dyn Write>>),
    File { path: PathBuf, temporary: io::BufWriter<tempfile::NamedTempFile> },
}

/// What is written: text, with colour where it is wanted, or bytes, which no terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text,
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
                    "these bytes are not for a terminal: name a file with -o, or pipe them".into(),
                ));
            }
            let out: Box<dyn Write> = match content {
                Content::Text => Box::new(anstream::AutoStream::auto(stdout.lock())),
                Content::Bytes => Box::new(stdout.lock()),
            };
            return Ok(Self {
                name: "<standard output>".into(),
                to: To::Screen(io::BufWriter::new(out)),
                failed: None,
            });
        };
        let name = super::input::name_of(path);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let temporary = tempfile::Builder::new()
            .prefix(".pte-")
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(|error| Problem::io(name.clone(), error))?;
        let to = To::File { path: path.to_owned(), temporary: io::BufWriter::new(temporary) };
        Ok(Self { name, to, failed: None })
    }

    /// Opens as [`open`](Self::open), unless that would overwrite one of `inputs`.
    pub(super) fn beside(
        path: Option<&Path>,
        content: Content,
        inputs: &[PathBuf],
    ) -> Result<Self, Problem> {
        if let Some(path) = path
            && let Ok(out) = path.canonicalize()
            && inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == out))
        {
            let message = format!("{} is also an input, and would be overwritten", path.display());
            return Err(Problem::Usage(message));
        }
        Self::open(path, content)
    }

    /// Whether colour and a terminal's width make sense.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let written = self.write_all(bytes);
        written.map_err(|error| Problem::io(self.name.clone(), error))
    }

    /// Writes a JSON document and a line break.
    pub(super) fn json(&mut self, document: &impl serde::Serialize) -> Result<(), Problem> {
        let written = serde_json::to_writer_pretty(&mut *self, document).map_err(io::Error::from);
        written
            .and_then(|()| self.write_all(b"\n"))
            .map_err(|error| Problem::io(self.name.clone(), error))
    }

    /// Makes the output appear under its name.
    pub(super) fn finish(mut self) -> Result<(), Problem> {
        let name = core::mem::take(&mut self.name);
        let done = match (self.failed, self.to) {
            (Some(error), _) => Err(error),
            (None, To::Screen(mut out)) => out.flush(),
            (None, To::File { path, temporary }) => persist(temporary, &path),
        };
        done.map_err(|error| Problem::io(name, error))
    }
}

fn persist(temporary: io::BufWriter<tempfile::NamedTempFile>, path: &Path) -> io::Result<()> {
    let file = temporary.into_inner().map_err(io::IntoInnerError::into_error)?;
    // A temporary file is private; the finished one is as open as any other new file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = path.metadata().map_or(0o644, |metadata| metadata.permissions().mode());
        file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Screen(out) => out.write(bytes),
            To::File { temporary, .. } => temporary.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Screen(out) => out.flush(),
            To::File { temporary, .. } => temporary.flush(),
        }
    }
}

/// Text that is formatted into the output. The first failure is kept for
/// [`finish`](Output::finish), since a formatter can only say that there was one.
impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write_all(text.as_bytes()).map_err(|error| {
            self.failed.get_or_insert(error);
            fmt::Error
        })
    }
}

/// A problem for a formatter that failed: the output knows which, see [`Output::finish`].
pub(super) fn formatted(out: Output, done: fmt::Result) -> Result<(), Problem> {
    match done {
        Ok(()) => out.finish(),
        Err(fmt::Error) => match out.finish() {
            Ok(()) => Err(Problem::Closed),
            Err(problem) => Err(problem),
        },
    }
}
