//! Rows of scans.

use std::path::PathBuf;

use pte::remote::{Client, RemoteOptions};
use pte::scan::{Depth, Scan};
use pyo3::prelude::*;

use crate::documents::text;
use crate::error::{Failure, Result, apart, guarded};

/// The settings of rows, and the client of URLs, which keeps its connections.
#[pyclass(frozen, module = "ptekit._ptekit")]
#[derive(Debug)]
pub(crate) struct Scanner(Scan);

#[pymethods]
impl Scanner {
    #[new]
    #[pyo3(signature = (depth, allow_http, allow_private))]
    fn new(depth: &str, allow_http: bool, allow_private: bool) -> PyResult<Self> {
        guarded(|| {
            let depths = [Depth::Header, Depth::Check, Depth::Hash];
            let depth = depths.into_iter().find(|of| of.name() == depth).ok_or_else(|| {
                Failure::Value(format!("unknown depth {depth:?}: header, check or hash"))
            })?;
            let mut options = RemoteOptions::of_environment();
            options.allows_http = allow_http;
            options.allows_private = allow_private;
            Ok(Self(Scan::new().depth(depth).client(Client::new(options))))
        })
    }

    /// Returns a row, as JSON text, of each path or URL.
    fn rows(&self, py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Vec<String>> {
        apart(py, || {
            let mut rows = Ok(Vec::new());
            self.0.rows(paths.iter().map(PathBuf::as_path), |row| add(&mut rows, text(&row)));
            rows
        })
    }
}

fn add(rows: &mut Result<Vec<String>>, row: Result<String>) {
    match (rows.as_mut(), row) {
        (Ok(rows), Ok(row)) => rows.push(row),
        (Ok(_), Err(failure)) => *rows = Err(failure),
        (Err(_), _) => {}
    }
}
