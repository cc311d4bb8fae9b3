//! The command `pte`, inside the extension.
//!
//! Its source is compiled as a module of this crate. The library cannot have it: the command must see only
//! what is public (docs/DESIGN.md).

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;

use crate::error::guarded;

#[path = "../../src/main.rs"]
#[allow(dead_code, reason = "its main function belongs to the program")]
pub(crate) mod program;

/// Runs a command line, whose first argument is the name of the program, and returns the exit status.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, command_line: Vec<OsString>) -> PyResult<u8> {
    py.detach(|| {
        guarded(|| {
            let status = program::run(command_line);
            // A Rust program flushes when it ends, but a module does not. A closed pipe is no
            // failure.
            let _ = std::io::stdout().flush();
            Ok(status)
        })
    })
}
