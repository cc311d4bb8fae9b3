//! The document `pte.tensors/1`, a row at a time: a file may have millions.

use std::io::{Result, Write};

use serde::Serialize;

use crate::document::write_line;
use pte_flat::quoted::UntrustedString;

/// Writes the document `pte.tensors/1`, a row at a time.
#[derive(Debug)]
pub struct TensorDocumentWriter {
    is_empty: bool,
}

impl TensorDocumentWriter {
    /// Writes the name of a file. `program_offset` is the start of the program in its bundle, if
    /// there is one.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn begin(
        out: &mut (impl Write + ?Sized),
        path: &UntrustedString,
        program_offset: Option<u64>,
    ) -> Result<Self> {
        out.write_all(b"{\"schema\": \"pte.tensors/1\", \"path\": ")?;
        write_line(out, path)?;
        if let Some(start) = program_offset {
            write!(out, ", \"program_offset\": {start}")?;
        }
        out.write_all(b", \"tensors\": [")?;
        Ok(Self { is_empty: true })
    }

    /// Writes a row: a [`DocumentRow`](super::DocumentRow), or one with values that are computed
    /// from its bytes.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn row(&mut self, out: &mut (impl Write + ?Sized), row: &impl Serialize) -> Result<()> {
        out.write_all(if self.is_empty { b"\n  " } else { b",\n  " })?;
        self.is_empty = false;
        write_line(out, row)
    }

    /// Writes the end of the document.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn end(self, out: &mut (impl Write + ?Sized)) -> Result<()> {
        out.write_all(if self.is_empty { b"]}\n" } else { b"\n]}\n" })
    }
}
