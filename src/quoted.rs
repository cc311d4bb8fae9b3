//! Texts of the file in messages: a message is short, however long the text is.

use core::fmt::{self, Write};

use crate::flat::json::is_harmless;

/// A text in quotes, escaped; of a long one its beginning, and how long it is.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = *self;
        // Rust's own escapes leave some characters that are not seen as they are.
        let mut f = Harmless(f);
        match text.char_indices().nth(MOST_CHARACTERS) {
            None => write!(f, "{text:?}"),
            Some((end, _)) => {
                let shown = text.get(..end).unwrap_or_default();
                write!(f, "{shown:?}… ({} bytes)", text.len())
            }
        }
    }
}

/// Escapes what is not harmless on its way.
struct Harmless<W>(W);

impl<W: Write> Write for Harmless<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| match is_harmless(c) {
            true => self.0.write_char(c),
            false => write!(self.0, "{}", c.escape_unicode()),
        })
    }
}

/// Characters shown of a text: more than names in genuine files have.
const MOST_CHARACTERS: usize = 200;

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{MOST_CHARACTERS, Quoted};

    #[test]
    fn a_text_is_cut_where_a_message_would_grow_with_it() {
        assert_eq!(Quoted("a\0\"b").to_string(), r#""a\0\"b""#);
        assert_eq!(Quoted("a\u{3164}\u{fe0f}b").to_string(), r#""a\u{3164}\u{fe0f}b""#);
        let most = "é".repeat(MOST_CHARACTERS);
        assert_eq!(Quoted(&most).to_string(), alloc::format!("{most:?}"));
        let more = most.clone() + "éa";
        assert_eq!(Quoted(&more).to_string(), alloc::format!("{most:?}… (403 bytes)"));
    }
}
