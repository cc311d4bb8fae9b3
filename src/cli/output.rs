//! Where a verb's output goes: standard output, or a file that appears whole or not at all.

use core::fmt;
use core::time::Duration;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anstream::adapter::StripBytes;

use super::problem::Problem;

/// The output of a verb. Nothing is kept of it unless [`finish`](Self::finish) is reached.
pub(super) struct Output {
    name: String,
    to: To,
    /// Takes colour out of what goes to a file.
    strip: Option<StripBytes>,
    failed: Option<io::Error>,
}

enum To {
    Screen(io::BufWriter<Box<dyn Write>>),
    File { path: PathBuf, temporary: io::BufWriter<tempfile::NamedTempFile> },
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Text for people, with colour where it is wanted.
    Text,
    /// Text for programs.
    Plain,
    /// Bytes, which no terminal can show.
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
                Content::Plain | Content::Bytes => Box::new(stdout.lock()),
            };
            return Ok(Self {
                name: "<standard output>".into(),
                to: To::Screen(io::BufWriter::new(out)),
                strip: None,
                failed: None,
            });
        };
        let name = super::text::name_of(path);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let error = io::Error::new(io::ErrorKind::NotFound, "its folder does not exist");
            return Err(Problem::io(name, error));
        }
        let temporary = tempfile::Builder::new()
            .prefix(".pte-")
            .tempfile_in(folder)
            .map_err(|error| Problem::io(name.clone(), error))?;
        let strip = (content == Content::Text).then(StripBytes::new);
        let to = To::File { path: path.to_owned(), temporary: io::BufWriter::new(temporary) };
        Ok(Self { name, to, strip, failed: None })
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

    /// Writes bytes as they are.
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

    /// Writes a JSON value on the current line.
    pub(super) fn json_line(&mut self, value: &impl serde::Serialize) -> Result<(), Problem> {
        let written = serde_json::to_writer(&mut *self, value).map_err(io::Error::from);
        written.map_err(|error| Problem::io(self.name.clone(), error))
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
        match (&mut self.to, &mut self.strip) {
            (To::Screen(out), _) => out.write(bytes),
            (To::File { temporary, .. }, None) => temporary.write(bytes),
            (To::File { temporary, .. }, Some(strip)) => {
                strip.strip_next(bytes).try_for_each(|plain| temporary.write_all(plain))?;
                Ok(bytes.len())
            }
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

/// A bar on standard error for work that takes over a second, if it is a terminal.
pub(super) struct Progress {
    bar: Option<indicatif::ProgressBar>,
    begun: Instant,
}

impl Progress {
    /// For work on `total` bytes.
    pub(super) fn new(wanted: bool, total: u64) -> Self {
        let bar = (wanted && io::stderr().is_terminal()).then(|| {
            let style = indicatif::ProgressStyle::with_template(
                "{wide_bar} {bytes} of {total_bytes}, {eta} left",
            );
            let bar = indicatif::ProgressBar::hidden().with_elapsed(Duration::ZERO);
            bar.set_length(total);
            if let Ok(style) = style {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, begun: Instant::now() }
    }

    /// So many bytes are done.
    pub(super) fn at(&mut self, done: u64) {
        let Some(bar) = &self.bar else { return };
        if bar.is_hidden() && self.begun.elapsed() > Duration::from_secs(1) {
            bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
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
