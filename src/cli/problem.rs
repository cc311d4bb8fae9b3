//! Problems that end a verb, their messages, and the exit status.

use core::fmt;
use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use pte::payload::Unreadable;
use pte::quoted::{Untrusted, UntrustedString};
use pte::{Error, ErrorKind, ForeignFormat, OpenError};

use super::text::name_of;

/// The exit status of the command, which is the highest status of all files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    Good,
    BadNews,
    Usage,
    Io,
}

/// The reason why a verb failed on a file.
#[derive(Debug)]
pub(super) enum Problem {
    /// The file's bytes were refused.
    Refused { file: UntrustedString, error: Error, help: &'static str },
    /// The file is of a kind that the verb does not read, or exceeds a limit.
    Unreadable { file: UntrustedString, message: UntrustedString },
    /// The file is damaged, and of a format other than `.pte` and `.ptd`.
    Damaged { file: UntrustedString, format: ForeignFormat, why: Unreadable },
    /// The verb takes files of other formats.
    WrongFormat { file: UntrustedString, message: UntrustedString, help: &'static str },
    /// The request does not fit this file: for example, it has no such method or key.
    Absent { file: UntrustedString, message: UntrustedString },
    /// A text file is invalid.
    Text {
        file: UntrustedString,
        error: UntrustedString,
        place: UntrustedString,
        help: Option<&'static str>,
        status: Status,
    },
    /// The command line is invalid.
    Usage(UntrustedString),
    /// Reading or writing failed.
    Io { file: UntrustedString, kind: io::ErrorKind, error: UntrustedString },
    /// The reader of the output closed the pipe, which is not a failure.
    Closed,
}

/// The error that a file is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoText {
    /// The offset of the first offending byte.
    pub(super) at: usize,
    /// Whether the file begins with the byte order mark of UTF-16.
    pub(super) is_utf_16: bool,
}

pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const NOTE: Style = AnsiColor::Cyan.on_default().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const NAME: Style = AnsiColor::Cyan.on_default();
pub(super) const BOLD: Style = Style::new().bold();

impl Problem {
    /// Returns the problem of a failed read or write of the file called `file`.
    pub(super) fn io(file: impl Into<UntrustedString>, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            kind => Self::Io { file: file.into(), kind, error: UntrustedString::of(&error) },
        }
    }

    /// Returns the problem of a file called `file` that was refused.
    pub(super) fn refused(file: impl Into<UntrustedString>, error: Error) -> Self {
        let help = help(&error);
        Self::Refused { file: file.into(), error, help }
    }

    /// Returns the problem of a file called `file` that could not be opened.
    pub(super) fn open(file: &UntrustedString, error: OpenError<io::Error>) -> Self {
        match error {
            OpenError::Refused(error) => Self::refused(file, error),
            OpenError::Source(error) => Self::io(file, error),
            OpenError::PastEnd => Self::io(file, io::ErrorKind::UnexpectedEof.into()),
            OpenError::Memory => Self::io(file, io::ErrorKind::OutOfMemory.into()),
            error => Self::io(file, io::Error::other(error.to_string())),
        }
    }

    /// Returns the problem of a request for a method of a file of another kind.
    pub(super) fn no_methods(file: &UntrustedString) -> Self {
        Self::Absent { file: file.clone(), message: "only a program has methods".into() }
    }

    /// Returns the problem that a bundle or a profile is invalid.
    pub(super) fn invalid(file: &UntrustedString, why: Unreadable) -> Self {
        let file = file.clone();
        match why {
            Unreadable::Graph(error) => Self::refused(file, error),
            why => Self::Unreadable { file, message: UntrustedString::of(&why) },
        }
    }

    /// Returns the problem that a file of a format other than `.pte` and `.ptd` is invalid.
    pub(super) fn invalid_as(
        file: &UntrustedString,
        format: ForeignFormat,
        why: Unreadable,
    ) -> Self {
        match why {
            Unreadable::Graph(_) => Self::invalid(file, why),
            why => Self::Damaged { file: file.clone(), format, why },
        }
    }

    /// Returns the problem that the text at `path` is not UTF-8.
    pub(super) fn no_text(path: &Path, no_text: NoText, status: Status) -> Self {
        let NoText { at, is_utf_16 } = no_text;
        let (error, help) = match is_utf_16 {
            true => ("this is text in UTF-16, not in UTF-8", "Save the text as UTF-8."),
            false => ("this is not text in UTF-8", "Give a text: this file has other bytes."),
        };
        let place = format!("byte {at:#x}").into();
        Self::Text { file: name_of(path), error: error.into(), place, help: Some(help), status }
    }

    /// Replaces the advice to give a `.pte` or a `.ptd` file, for a verb that takes other files.
    pub(super) fn or_give(self, files: &'static str) -> Self {
        match self {
            Self::Refused { file, error, help }
                if matches!(error.kind(), ErrorKind::OtherFormat { .. })
                    && help == error.kind().help() =>
            {
                Self::Refused { file, error, help: files }
            }
            problem => problem,
        }
    }

    /// Returns what is wrong, without the file.
    pub(super) fn message(&self) -> UntrustedString {
        match self {
            Self::Refused { error, .. } => UntrustedString::of(error),
            Self::Damaged { format, why, .. } => why.in_file(*format).into(),
            Self::Unreadable { message, .. }
            | Self::WrongFormat { message, .. }
            | Self::Absent { message, .. } => message.clone(),
            Self::Text { error, .. } | Self::Io { error, .. } => error.clone(),
            Self::Usage(message) => message.clone(),
            Self::Closed => "the output was closed".into(),
        }
    }

    pub(super) fn status(&self) -> Status {
        match self {
            Self::Refused { .. }
            | Self::Unreadable { .. }
            | Self::Damaged { .. }
            | Self::WrongFormat { .. }
            | Self::Absent { .. } => Status::BadNews,
            Self::Text { status, .. } => *status,
            Self::Usage(_) => Status::Usage,
            Self::Io { .. } => Status::Io,
            Self::Closed => Status::Good,
        }
    }

    /// Writes the problem to standard error.
    pub(super) fn report(&self) -> Status {
        if !matches!(self, Self::Closed) {
            say(format_args!("{self}\n"));
        }
        self.status()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { file, error, help } => {
                write!(f, "{ERROR}error[{}]{ERROR:#}: {error}", error.code())?;
                write!(f, "\n  at {}", error.place())?;
                write!(f, "\n  {DIM}in{DIM:#} {file}")?;
                write!(f, "\n  {DIM}help:{DIM:#} {help}")
            }
            Self::Damaged { file, format, why } => {
                write!(f, "{ERROR}error{ERROR:#}: {}", why.in_file(*format))?;
                if let Some((offset, part)) = why.place() {
                    write!(f, "\n  at {offset:#x}, {part}")?;
                }
                write!(f, "\n  {DIM}in{DIM:#} {file}")?;
                write!(f, "\n  {DIM}help:{DIM:#} {}", why.help())
            }
            Self::WrongFormat { file, message, help } => {
                write!(f, "{ERROR}error{ERROR:#}: {message}")?;
                write!(f, "\n  {DIM}in{DIM:#} {file}")?;
                write!(f, "\n  {DIM}help:{DIM:#} {help}")
            }
            Self::Unreadable { file, message } | Self::Absent { file, message } => {
                write!(f, "{ERROR}error{ERROR:#}: {message}")?;
                write!(f, "\n  {DIM}in{DIM:#} {file}")
            }
            Self::Text { file, error, place, help, .. } => {
                write!(f, "{ERROR}error{ERROR:#}: {error}")?;
                write!(f, "\n  at {place}")?;
                write!(f, "\n  {DIM}in{DIM:#} {file}")?;
                match help {
                    Some(help) => write!(f, "\n  {DIM}help:{DIM:#} {help}"),
                    None => Ok(()),
                }
            }
            Self::Usage(message) => write!(f, "{ERROR}error{ERROR:#}: {message}"),
            Self::Io { file, kind, error } => {
                write!(f, "{ERROR}error{ERROR:#}: {file}: {error}")?;
                match io_help(*kind) {
                    Some(help) => write!(f, "\n  {DIM}help:{DIM:#} {help}"),
                    None => Ok(()),
                }
            }
            Self::Closed => Ok(()),
        }
    }
}

/// A formatting error holds no reason. [`Output`](super::output::Output) keeps it.
impl From<fmt::Error> for Problem {
    fn from(_: fmt::Error) -> Self {
        Self::Closed
    }
}

/// Returns what to do with a file that was refused.
fn help(error: &Error) -> &'static str {
    let ErrorKind::OtherFormat { format } = error.kind() else { return error.kind().help() };
    match format {
        ForeignFormat::Payload(_) | ForeignFormat::Ptn | ForeignFormat::EtRecord => {
            "`pte info`, `check`, `size`, `map`, `dump`, `extract` and `graph --format model-explorer` take this file; other verbs take the program."
        }
        ForeignFormat::EtDump => {
            "`pte profile`, `info`, `check`, `size`, `map`, `dump`, `extract` and `graph --format model-explorer` take this file; other verbs take the program."
        }
        _ => error.kind().help(),
    }
}

/// Returns advice for a failed read or write, if there is any.
pub(super) fn io_help(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::NotFound => "Check the path: a part of it does not exist.",
        io::ErrorKind::PermissionDenied => "Ask the owner for permission.",
        io::ErrorKind::IsADirectory => "Give the path of a file: this is a folder.",
        io::ErrorKind::NotADirectory => "Check the path: a part of it is a file.",
        io::ErrorKind::UnexpectedEof => {
            "The file became shorter while it was read: wait until it is completely written."
        }
        io::ErrorKind::FileTooLarge => {
            "Raise the limit on the size of files (`ulimit -f`), or write to another file system with -o."
        }
        io::ErrorKind::StorageFull => "Free disk space, or write to another place with -o.",
        io::ErrorKind::OutOfMemory => "The tables of the file do not fit into memory.",
        // The library of Rust has no stable name for this kind.
        kind if format!("{kind:?}") == "FilesystemLoop" => {
            "Check the links in the path: they lead back to themselves."
        }
        _ => return None,
    })
}

/// Prints a note on standard error.
pub(super) fn note(message: &str) {
    say(format_args!("{NOTE}note{NOTE:#}: {}\n", Untrusted::from(message)));
}

/// Prints an error on standard error, without ending the verb.
pub(super) fn bad_news(message: &str) {
    say(format_args!("{ERROR}error{ERROR:#}: {}\n", Untrusted::from(message)));
}

/// Prints styled lines on standard error. The caller must escape untrusted text in them.
pub(super) fn lines(styled: &str) {
    say(format_args!("{styled}"));
}

/// Writes to standard error. A failure is ignored, since the exit status has the result too.
fn say(text: fmt::Arguments<'_>) {
    let _ = anstream::stderr().lock().write_fmt(text);
}

impl From<Status> for u8 {
    fn from(status: Status) -> Self {
        match status {
            Status::Good => 0,
            Status::BadNews => 1,
            Status::Usage => 2,
            Status::Io => 3,
        }
    }
}
