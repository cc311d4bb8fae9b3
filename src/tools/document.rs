//! The text of JSON documents, as the command writes it.
//!
//! The documents contain text from files. Characters that move a terminal's cursor, reverse the
//! text or cannot be seen are escaped as `\u`, so the text can be shown as it is.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! let mut text = Vec::new();
//! pte::document::write_line(&mut text, &["a\u{202e}b"])?;
//! assert_eq!(text, br#"["a\u202eb"]"#);
//! # Ok(())
//! # }
//! ```

use alloc::string::String;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use pte_flat::json;
use pte_flat::quoted::EscapeScan;

mod rows;

/// Writes a document with indentation, followed by a line break.
///
/// # Errors
///
/// The errors of `out`, and of a value that JSON cannot represent.
pub fn write_pretty<W: Write + ?Sized>(out: &mut W, value: &impl Serialize) -> io::Result<()> {
    let pretty = Safe(PrettyFormatter::new());
    value.serialize(&mut Serializer::with_formatter(&mut *out, pretty))?;
    out.write_all(b"\n")
}

/// Writes a document in which each row, such as a node of a graph, has its own line. A line break
/// follows.
///
/// # Errors
///
/// The errors of `out`, and of a value that JSON cannot represent.
pub fn write_rows<W: Write + ?Sized>(out: &mut W, value: &impl Serialize) -> io::Result<()> {
    let rows = Safe(rows::RowsFormatter::default());
    value.serialize(&mut Serializer::with_formatter(&mut *out, rows))?;
    out.write_all(b"\n")
}

/// Writes one row of the outermost array of a document, as [`write_rows`] does, without a line
/// break.
///
/// # Errors
///
/// The errors of `out`, and of a value that JSON cannot represent.
pub fn write_row<W: Write + ?Sized>(out: &mut W, value: &impl Serialize) -> io::Result<()> {
    let rows = Safe(rows::RowsFormatter::inside());
    value.serialize(&mut Serializer::with_formatter(&mut *out, rows))?;
    Ok(())
}

/// Writes a value on the current line.
///
/// # Errors
///
/// The errors of `out`, and of a value that JSON cannot represent.
pub fn write_line<W: Write + ?Sized>(out: &mut W, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Safe(CompactFormatter)))?;
    Ok(())
}

/// Methods of a formatter that call those of the formatter inside.
macro_rules! forwarded {
    ($($method:ident($($argument:ident: $Argument:ty)?)),* $(,)?) => { $(
        fn $method<W: ?Sized + Write>(
            &mut self,
            out: &mut W,
            $($argument: $Argument)?
        ) -> io::Result<()> {
            self.0.$method(out, $($argument)?)
        }
    )* };
}

/// Escapes characters that a terminal would not show as they are.
struct Safe<F>(F);

impl<F: Formatter> Formatter for Safe<F> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Nearly all text is printable ASCII, which needs no escapes.
        if fragment.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return out.write_all(fragment.as_bytes());
        }
        let (mut scan, mut plain) = (EscapeScan::default(), 0);
        for (at, c) in fragment.char_indices() {
            if scan.shows(c) {
                continue;
            }
            out.write_all(fragment.get(plain..at).unwrap_or_default().as_bytes())?;
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = json::escape(c, &mut text);
            out.write_all(text.as_bytes())?;
            plain = at.saturating_add(c.len_utf8());
        }
        out.write_all(fragment.get(plain..).unwrap_or_default().as_bytes())
    }

    forwarded! {
        begin_array(), begin_array_value(first: bool), end_array_value(), end_array(),
        begin_object(), begin_object_key(first: bool), begin_object_value(), end_object_value(),
        end_object(),
    }
}
