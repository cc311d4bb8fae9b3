//! What the languages of source code have in common: names, comments and rows of bytes.

use pte::firmware::Requirements;
use pte::quoted::UntrustedString;

use crate::input::{Input, Readable};
use crate::output::Output;
use crate::problem::Problem;

/// What is written as source code.
pub(super) struct Source<'s> {
    /// The name of the file.
    pub(super) file: UntrustedString,
    /// The identifier of the bytes.
    pub(super) symbol: String,
    /// The same in capitals, which macros begin with.
    pub(super) prefix: String,
    pub(super) needs: &'s Requirements,
    pub(super) sha256: &'s str,
    pub(super) alignment: u64,
    pub(super) section: Option<&'s str>,
}

/// Source code: text, the bytes of the file in rows, text.
#[derive(Default)]
pub(super) struct Code {
    pub(super) before: String,
    /// Appends a row of bytes; `None` if the code has no bytes.
    pub(super) row: Option<fn(&[u8], &mut String)>,
    pub(super) after: String,
}

impl Source<'_> {
    /// Returns the lines of the comment at the start.
    pub(super) fn about(&self) -> [String; 2] {
        let Self { file, sha256, needs, alignment, .. } = self;
        let made = format!("Made by pte embed from {}.", comment(file.raw()));
        let bytes = needs.bytes;
        [made, format!("{bytes} bytes, aligned to {alignment}, sha256 {sha256}")]
    }
}

impl Code {
    /// Writes the code with the bytes of `input`.
    pub(super) fn write(&self, input: &Input, out: &mut Output) -> Result<(), Problem> {
        out.bytes(self.before.as_bytes())?;
        if let Some(row) = self.row {
            let mut text = String::new();
            input.try_chunks(0..input.opened.file_len(), &mut |chunk| {
                text.clear();
                chunk.chunks(ROW).for_each(|bytes| row(bytes, &mut text));
                out.bytes(text.as_bytes())
            })?;
        }
        out.bytes(self.after.as_bytes())
    }
}

/// Returns a name for a comment of any language: escaped, cut, on one line, and without the ends of comments.
pub(super) fn comment(name: &str) -> String {
    let mut text = String::new();
    for c in crate::text::name(name).chars() {
        let is_mark = |c: char| matches!(c, '*' | '/');
        if is_mark(c) && text.ends_with(is_mark) {
            text.push(' ');
        }
        text.push(c);
    }
    text
}

/// Returns a name as a string literal of C and assemblers. Bytes other than letters, digits and a few marks are octal:
/// three digits, so that no following character can belong to them. A question mark may begin a trigraph.
pub(super) fn literal(name: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in name {
        match byte {
            b' '..=b'~' if !b"\"\\?".contains(&byte) => text.push(byte.into()),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}

/// The number of bytes in a row.
const ROW: usize = 16;
