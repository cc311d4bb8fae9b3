//! The command `pte`, inside the extension.

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;

use crate::error::apart;

/// Runs a command line, whose first argument is the name of the program, and returns the exit status.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, command_line: Vec<OsString>) -> PyResult<u8> {
    apart(py, || {
        let status = pte_cli::run(command_line);
        // A Rust program flushes when it ends, but a module does not. A closed pipe is no
        // failure.
        let _ = std::io::stdout().flush();
        Ok(status)
    })
}
