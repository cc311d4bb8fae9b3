//! The last line of `pte check`, if it checked several files.

use core::fmt::{self, Write};

use pte::check::CheckedFile;

use crate::problem::DIM;
use crate::text::{count, grouped};

/// The counts in the last line.
#[derive(Default)]
pub(super) struct CheckSummary {
    files: u64,
    /// The number of files with the verdict `ok`.
    good: u64,
    /// The number of files that lack data.
    incomplete: u64,
    /// The number of findings of severity Warning, in all files.
    warnings: u64,
    /// The number of findings of severity Error, and of refusals.
    errors: u64,
}

impl CheckSummary {
    pub(super) fn of<'f>(files: impl Iterator<Item = &'f CheckedFile>) -> Self {
        let mut summary = Self::default();
        let add = |sum: &mut u64, count: bool| *sum = sum.saturating_add(count.into());
        for file in files {
            add(&mut summary.files, true);
            add(&mut summary.good, file.verdict == "ok");
            add(&mut summary.incomplete, file.verdict == "incomplete");
            for finding in &file.findings {
                add(&mut summary.warnings, finding.severity == "warning");
                add(&mut summary.errors, finding.severity == "error");
            }
        }
        summary
    }

    /// Writes the line, if several files were checked.
    pub(super) fn write(&self, out: &mut impl Write) -> fmt::Result {
        if self.files < 2 {
            return Ok(());
        }
        let bad = self.files.saturating_sub(self.good).saturating_sub(self.incomplete);
        write!(out, "{}: {} ok", count(self.files, "file"), grouped(self.good))?;
        for (number, what) in [(self.incomplete, "incomplete"), (bad, "with errors")] {
            if number > 0 {
                write!(out, ", {} {what}", grouped(number))?;
            }
        }
        writeln!(out, "{DIM}{}{DIM:#}", self.findings())
    }

    /// Returns the non-zero numbers of findings, in words.
    fn findings(&self) -> String {
        let numbers = [(self.errors, "error"), (self.warnings, "warning")].into_iter();
        let shown = numbers.filter(|(number, _)| *number > 0);
        let shown: Vec<_> = shown.map(|(number, noun)| count(number, noun)).collect();
        if shown.is_empty() { String::new() } else { format!(" · {}", shown.join(", ")) }
    }
}
