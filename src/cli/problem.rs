//! What ends a verb early, how it is told, and which exit status it means.

use core::fmt;
use std::io;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use pte::flat::json;
use pte::{Error, OpenError};

/// The exit status of the command; of several files the highest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    Good,
    BadNews,
    Usage,
    Io,
}

/// Why a verb could not do its work on a file.
#[derive(Debug)]
pub(super) enum Problem {
    /// The file's bytes were refused.
    Refused { file: String, error: Error },
    /// What was asked for is not in the file, or cannot be had of it.
    Absent { file: String, message: String },
    /// A text that was given is not what it should be.
    Text { file: String, error: String, place: String, status: Status },
    /// The command line asks for what does not go together.
    Usage(String),
    /// Reading or writing failed.
    Io { file: String, error: io::Error },
    /// Whoever reads our output went away: that is no failure.
    Closed,
}

pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const NOTE: Style = AnsiColor::Cyan.on_default().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const NAME: Style = AnsiColor::Cyan.on_default();
pub(super) const BOLD: Style = Style::new().bold();

impl Problem {
    /// A failure of the file called `file`.
    pub(super) fn io(file: impl Into<String>, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Io { file: file.into(), error },
        }
    }

    pub(super) fn open(file: &str, error: OpenError<io::Error>) -> Self {
        match error {
            OpenError::Refused(error) => Self::Refused { file: file.into(), error },
            OpenError::Source(error) => Self::io(file, error),
            OpenError::PastEnd => Self::io(file, io::ErrorKind::UnexpectedEof.into()),
            OpenError::Memory => Self::io(file, io::ErrorKind::OutOfMemory.into()),
        }
    }

    pub(super) fn status(&self) -> Status {
        match self {
            Self::Refused { .. } | Self::Absent { .. } => Status::BadNews,
            Self::Text { status, .. } => *status,
            Self::Usage(_) => Status::Usage,
            Self::Io { .. } => Status::Io,
            Self::Closed => Status::Good,
        }
    }

    /// Tells it on standard error.
    pub(super) fn report(&self) -> Status {
        if !matches!(self, Self::Closed) {
            anstream::eprintln!("{self}");
        }
        self.status()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { file, error } => {
                write!(f, "{ERROR}error[{}]{ERROR:#}: {error}", error.code())?;
                write!(f, "\n  at {}", error.place())?;
                write!(f, "\n  {DIM}in{DIM:#} {}", printable(file))?;
                write!(f, "\n  {DIM}help:{DIM:#} {}", error.kind().help())
            }
            Self::Absent { file, message } => {
                write!(f, "{ERROR}error{ERROR:#}: {}", printable(message))?;
                write!(f, "\n  {DIM}in{DIM:#} {}", printable(file))
            }
            Self::Text { file, error, place, .. } => {
                write!(f, "{ERROR}error{ERROR:#}: {}", printable(error))?;
                write!(f, "\n  at {}", printable(place))?;
                write!(f, "\n  {DIM}in{DIM:#} {}", printable(file))
            }
            Self::Usage(message) => write!(f, "{ERROR}error{ERROR:#}: {}", printable(message)),
            Self::Io { file, error } => {
                write!(f, "{ERROR}error{ERROR:#}: {}: {error}", printable(file))?;
                match io_help(error.kind()) {
                    Some(help) => write!(f, "\n  {DIM}help:{DIM:#} {help}"),
                    None => Ok(()),
                }
            }
            Self::Closed => Ok(()),
        }
    }
}

/// What to do where reading or writing failed, if that is known.
pub(super) fn io_help(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::NotFound => "Check the path: a part of it is not there.",
        io::ErrorKind::PermissionDenied => "Ask its owner for the permission, or copy it.",
        io::ErrorKind::IsADirectory => "Give the path of a file; `pte check` takes folders too.",
        io::ErrorKind::NotADirectory => "Check the path: a part of it is a file.",
        io::ErrorKind::UnexpectedEof => {
            "It became shorter while it was read: wait until it is written."
        }
        io::ErrorKind::StorageFull => "Make room, or write to another place with -o.",
        io::ErrorKind::OutOfMemory => "Its tables do not fit into memory: take a larger machine.",
        _ => return None,
    })
}

/// Tells something that ends nothing on standard error.
pub(super) fn note(message: &str) {
    anstream::eprintln!("{NOTE}note{NOTE:#}: {}", printable(message));
}

/// Text from a file or a file's name, made fit for a terminal: no character of it reaches the
/// screen that moves the cursor, reverses what is read, or is not seen.
pub(super) fn printable(text: &str) -> impl fmt::Display {
    struct Printable<'t>(&'t str);
    impl fmt::Display for Printable<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for c in self.0.chars() {
                match json::is_harmless(c) {
                    true => fmt::Write::write_char(f, c)?,
                    false => write!(f, "{}", c.escape_default())?,
                }
            }
            Ok(())
        }
    }
    Printable(text)
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Good => 0u8,
            Status::BadNews => 1,
            Status::Usage => 2,
            Status::Io => 3,
        })
    }
}
