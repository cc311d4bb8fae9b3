//! Errors as Python's exceptions.

use core::fmt;
use core::panic::AssertUnwindSafe;
use std::io;
use std::panic::catch_unwind;

use pte::{Error, OpenError};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

/// The error of a function, before it becomes an exception. No Python object is in it, so it can be made
/// without the interpreter.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The bytes of a file were refused.
    Refused(Error),
    /// The request cannot be met for this file.
    Absent {
        /// A stable name of the reason.
        code: &'static str,
        /// What is wrong.
        message: String,
    },
    /// An argument is wrong.
    Value(String),
    /// Reading or writing failed.
    Io(io::Error),
    /// Memory is short.
    Memory,
}

/// The result of a function of the extension.
pub(crate) type Result<T> = core::result::Result<T, Failure>;

/// Runs `work`, and makes an exception of an error. A panic becomes an exception too: it must
/// neither end the process nor escape `except Exception`.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(PyErr::from),
        Err(_) => {
            let message = "an error in ptekit itself: please report it with the file";
            Err(Failure::Absent { code: "internal", message: message.into() }.into())
        }
    }
}

/// Runs `work` as [`guarded`] does, while other threads of Python run.
pub(crate) fn apart<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| guarded(work))
}

impl Failure {
    /// Returns the failure of a request that cannot be met, with the error's own message.
    pub(crate) fn absent(code: &'static str, error: &(impl fmt::Display + ?Sized)) -> Self {
        Self::Absent { code, message: error.to_string() }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) => {
                let place = error.place().path().to_string();
                let help = Some(error.kind().help());
                of_family(error.code(), &error.to_string(), Some(error.offset()), &place, help)
            }
            Failure::Absent { code, message } => of_family(code, &message, None, "", None),
            Failure::Value(message) => PyValueError::new_err(message),
            Failure::Io(error) => error.into(),
            Failure::Memory => PyMemoryError::new_err("memory is short"),
        }
    }
}

/// Returns a `ptekit.PteError`, which is a class in Python: the stable interface cannot extend exceptions.
fn of_family(
    code: &str,
    message: &str,
    offset: Option<u64>,
    path: &str,
    help: Option<&str>,
) -> PyErr {
    Python::attach(|py| {
        let made = || {
            let class = py.import("ptekit._errors")?.getattr("PteError")?;
            class.call1((message, code, offset, path, help))
        };
        made().map_or_else(|error| error, PyErr::from_value)
    })
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::OutOfMemory => Self::Memory,
            _ => Self::Io(error),
        }
    }
}

impl From<OpenError<io::Error>> for Failure {
    fn from(error: OpenError<io::Error>) -> Self {
        match error {
            OpenError::Refused(error) => Self::Refused(error),
            OpenError::Source(error) => error.into(),
            OpenError::Memory => Self::Memory,
            error => Self::absent("past-end", &error),
        }
    }
}
