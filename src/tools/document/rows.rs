//! JSON with one line for each row of a table.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Formats JSON with one line for each item of the outermost array, and of the arrays in these
/// items. Deeper values are compact.
#[derive(Default)]
pub(super) struct RowsFormatter {
    /// The number of arrays and objects that are open.
    depth: usize,
}

/// The depth of an object whose arrays hold rows. It counts the open brackets of the document, of
/// the outermost array and of the object.
const LAST_SPACED_OBJECT: usize = 3;

impl RowsFormatter {
    /// Formats an item of the outermost array.
    pub(super) fn inside() -> Self {
        Self { depth: LAST_SPACED_OBJECT.saturating_sub(1) }
    }

    fn separate<W: ?Sized + Write>(&self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(match (first, self.depth > LAST_SPACED_OBJECT) {
            (true, _) => b"",
            (false, false) => b", ",
            (false, true) => b",",
        })
    }
}

impl Formatter for RowsFormatter {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_add(1);
        out.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        out.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if self.depth > LAST_SPACED_OBJECT.saturating_add(1) {
            return self.separate(out, first);
        }
        out.write_all(if first { b"\n" } else { b",\n" })?;
        (2..self.depth).try_for_each(|_| out.write_all(b" "))
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_add(1);
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        out.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.separate(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(if self.depth > LAST_SPACED_OBJECT { b":" } else { b": " })
    }
}
