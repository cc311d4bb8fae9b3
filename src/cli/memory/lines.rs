//! Memory plans as JSON, with one line for each arena.

use pte::memory::DocumentWriter;
use pte::quoted::UntrustedString;

use super::method::Method;
use super::{Show, Subject};
use crate::input::Readable;
use crate::output::Output;
use crate::problem::Problem;

#[derive(Default)]
pub(super) struct Lines {
    document: Option<DocumentWriter>,
}

impl Show for Lines {
    fn begin(
        &mut self,
        out: &mut Output,
        path: &UntrustedString,
        of: &Subject,
    ) -> Result<(), Problem> {
        let document = DocumentWriter::begin(out, path, &of.file, of.methods);
        self.document = Some(document.map_err(|error| out.problem(error))?);
        Ok(())
    }

    fn method(&mut self, out: &mut Output, method: &Method<'_, '_>) -> Result<(), Problem> {
        let row = method.document();
        row.charge_names(|name| method.input.name_again(Some(name)))?;
        let Some(document) = &mut self.document else { return Ok(()) };
        document.method(out, &row).map_err(|error| out.problem(error))
    }

    fn end(&mut self, out: &mut Output) -> Result<(), Problem> {
        let Some(document) = self.document.take() else { return Ok(()) };
        document.end(out).map_err(|error| out.problem(error))
    }
}
