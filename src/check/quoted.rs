//! Texts of the file in messages: a message is short, however long the text is.

use core::fmt;

/// A text in quotes, escaped; of a long one its beginning, and how long it is.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = *self;
        match text.char_indices().nth(MOST_CHARACTERS) {
            None => write!(f, "{text:?}"),
            Some((end, _)) => {
                let shown = text.get(..end).unwrap_or_default();
                write!(f, "{shown:?}… ({} bytes)", text.len())
            }
        }
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
        let most = "é".repeat(MOST_CHARACTERS);
        assert_eq!(Quoted(&most).to_string(), alloc::format!("{most:?}"));
        let more = most.clone() + "éa";
        assert_eq!(Quoted(&more).to_string(), alloc::format!("{most:?}… (403 bytes)"));
    }
}
