//! Bundled programs (`.bpte`): a program with test inputs and the expected outputs.

use core::ops::Range;

use super::Unreadable;
use crate::foreign::BUNDLED_PROGRAM;
use crate::limits::Limits;
use crate::verify;
use pte_flat::bytes::{array_at, wide};
use pte_schema::bundled_program::view;

/// A bundled program with proven tables.
///
/// The structure of the program inside is not proven. The range of this program can be read like
/// any other program.
#[derive(Clone, Copy, Debug)]
pub struct Bundle<'b> {
    root: view::BundledProgram<'b>,
}

impl<'b> Bundle<'b> {
    /// Proves the tables of a whole `.bpte` file.
    ///
    /// # Errors
    ///
    /// The file has another identifier, or breaks a structural rule.
    pub fn read(bytes: &'b [u8], limits: &Limits) -> Result<Self, Unreadable> {
        let magic = array_at(bytes, 4).unwrap_or_default();
        if !BUNDLED_PROGRAM.contains(&magic) {
            return Err(Unreadable::Magic { magic });
        }
        match verify::read(bytes, limits) {
            Ok((root, _)) => Ok(Self { root }),
            Err(error) => Err(Unreadable::Graph(error)),
        }
    }

    /// Returns the root table.
    pub fn root(&self) -> view::BundledProgram<'b> {
        self.root
    }

    /// Returns the range of the program in the file; `None` if there is no program.
    pub fn program(&self) -> Option<Range<u64>> {
        let program = self.root.program()?;
        let start = u64::from(program.pos());
        Some(start..start.saturating_add(wide(program.len())))
    }

    /// Returns the total number of test cases of all methods.
    pub fn test_cases(&self) -> u64 {
        let suites = self.root.method_test_suites().into_iter().flatten();
        let cases = suites.map(|suite| suite.test_cases().map_or(0, |cases| wide(cases.len())));
        cases.fold(0, u64::saturating_add)
    }
}
