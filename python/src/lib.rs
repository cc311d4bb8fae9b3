//! The extension module of the Python package `ptekit`.
//!
//! It has what needs Rust: opening, judging, documents as JSON text, writing, and the command. The Python
//! files beside it make objects of these, with types.

use pyo3::prelude::*;

mod check;
mod command;
mod documents;
mod error;
mod explorer;
mod handle;
mod mapping;
mod method;
mod rows;
mod several;
mod source;
mod write;

/// The module `ptekit._ptekit`.
#[pymodule]
mod _ptekit {
    #[pymodule_export]
    use crate::check::{Checked, Judge, to_sarif};
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::explorer::explorer;
    #[pymodule_export]
    use crate::handle::{Handle, dtypes};
    #[pymodule_export]
    use crate::mapping::Mapping;
    #[pymodule_export]
    use crate::method::{methods, operator_calls, tables, values, version};
    #[pymodule_export]
    use crate::rows::Scanner;
    #[pymodule_export]
    use crate::several::{diff_files, ops, ops_yaml, profile};
    #[pymodule_export]
    use crate::write::{convert, edit, write_ptd};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
