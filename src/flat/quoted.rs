//! Untrusted text, displayed escaped: text from a file, a file's name or the command line.
//!
//! A control character moves the cursor or sets the terminal's title, a bidirectional one reverses
//! the text around it, and an invisible one makes two names look alike. [`Untrusted`] and
//! [`UntrustedString`] can only be displayed with these characters escaped.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt::{self, Write};

/// Returns whether a character can be shown unescaped, after another one that can.
///
/// Control and format characters cannot, nor spaces other than U+0020, line separators, and code
/// points without a character (unassigned, private, surrogate). The same holds for characters that
/// are blank by design: fillers, variation selectors and the empty pattern of Braille.
#[must_use]
pub fn is_harmless(c: char) -> bool {
    // A shortcut: nearly every character of a genuine file is ASCII.
    matches!(c, ' '..='~') || (!is_blank(c) && is_printable(c))
}

/// Returns whether a character is blank although its category is that of letters, marks or symbols.
///
/// These are Unicode's `Default_Ignorable_Code_Point`, and others that fonts leave empty.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{2d7f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{fffc}'
            | '\u{1107f}'
            | '\u{16fe4}'
            | '\u{1d159}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns whether Rust prints a character unescaped in the `Debug` form of a string. The standard
/// library has the table of Unicode's categories.
fn is_printable(c: char) -> bool {
    // The character is tested after a letter, since a mark at the start of a string is escaped.
    let mut bytes = [b'a'; 5];
    let len = bytes.get_mut(1..).map_or(0, |rest| c.encode_utf8(rest).len());
    let text = bytes.get(..=len).and_then(|bytes| core::str::from_utf8(bytes).ok());
    text.is_some_and(|text| text.escape_debug().nth(1) == Some(c))
}

/// Returns whether a character is drawn over the one before it, such as a combining accent.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && c.escape_debug().len() > 1
}

/// Decides for each character of a text, in order, whether it can be shown unescaped.
///
/// A combining mark needs a letter or a symbol before it. On a quote, a slash or a space it would
/// change what surrounds the text, or the separators of its parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct EscapeScan {
    has_base: bool,
}

impl EscapeScan {
    /// Returns whether the next character can be shown unescaped.
    pub fn shows(&mut self, c: char) -> bool {
        let shown = is_harmless(c) && (self.has_base || !is_mark(c));
        self.has_base = shown && c != ' ' && !c.is_ascii_punctuation();
        shown
    }
}

/// Writes a text, with Rust's escapes such as `\u{202e}` and `\n` for characters that cannot be
/// shown.
fn write_escaped(text: &str, out: &mut impl Write) -> fmt::Result {
    let (mut scan, mut plain) = (EscapeScan::default(), 0);
    for (at, c) in text.char_indices() {
        if scan.shows(c) {
            continue;
        }
        out.write_str(text.get(plain..at).unwrap_or_default())?;
        write!(out, "{}", c.escape_default())?;
        plain = at.saturating_add(c.len_utf8());
    }
    out.write_str(text.get(plain..).unwrap_or_default())
}

/// Returns bytes as hexadecimal digits, such as those of a digest.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A text that is displayed escaped. [`raw`](Self::raw) returns it unescaped, for a lookup or for a
/// format with its own escapes.
///
/// ```
/// use pte_flat::quoted::Untrusted;
///
/// let name = Untrusted::from("a\u{1b}[2J\u{a0}b");
/// assert_eq!(name.to_string(), r"a\u{1b}[2J\u{a0}b");
/// assert_eq!(name.raw().len(), 8);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Untrusted<'a>(&'a str);

impl<'a> Untrusted<'a> {
    /// Returns the text unescaped. It must not be written to a terminal.
    #[must_use]
    pub fn raw(self) -> &'a str {
        self.0
    }

    /// Returns the escaped text. A long text is cut to its first `most` characters and an ellipsis.
    #[must_use]
    pub fn cut(self, most: usize) -> String {
        match self.0.char_indices().nth(most) {
            None => self.to_string(),
            Some((end, _)) => format!("{}…", Self(self.0.get(..end).unwrap_or_default())),
        }
    }
}

impl<'a> From<&'a str> for Untrusted<'a> {
    fn from(text: &'a str) -> Self {
        Self(text)
    }
}

impl<'a> From<&'a UntrustedString> for Untrusted<'a> {
    fn from(text: &'a UntrustedString) -> Self {
        Self(&text.0)
    }
}

impl fmt::Display for Untrusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().is_none() && f.precision().is_none() {
            return write_escaped(self.0, f);
        }
        let mut text = String::new();
        write_escaped(self.0, &mut text)?;
        f.pad(&text)
    }
}

/// Displays the text in quotes, escaped.
impl fmt::Debug for Untrusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rust's own escapes leave some invisible characters unescaped.
        write!(Harmless(f), "{:?}", self.0)
    }
}

/// An owned text that is displayed escaped. See [`Untrusted`].
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UntrustedString(String);

impl UntrustedString {
    /// Returns the text of a message that may quote a file, such as an operating system's error.
    #[must_use]
    pub fn of(message: &(impl fmt::Display + ?Sized)) -> Self {
        Self(message.to_string())
    }

    /// Returns the text unescaped. It must not be written to a terminal.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Borrows the text.
    #[must_use]
    pub fn as_untrusted(&self) -> Untrusted<'_> {
        Untrusted(&self.0)
    }
}

impl From<String> for UntrustedString {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for UntrustedString {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// Converts an argument or a path. Bytes that are not UTF-8 become `\xNN`, so that different names
/// stay different.
#[cfg(feature = "std")]
impl From<&std::ffi::OsStr> for UntrustedString {
    fn from(name: &std::ffi::OsStr) -> Self {
        let mut text = String::new();
        for chunk in name.as_encoded_bytes().utf8_chunks() {
            text.push_str(chunk.valid());
            chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
        }
        Self(text)
    }
}

impl From<Untrusted<'_>> for UntrustedString {
    fn from(text: Untrusted<'_>) -> Self {
        Self(text.0.to_owned())
    }
}

impl From<&Self> for UntrustedString {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl fmt::Display for UntrustedString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_untrusted().fmt(f)
    }
}

impl fmt::Debug for UntrustedString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_untrusted(), f)
    }
}

/// Serializes the text unescaped: a data format has its own escapes.
#[cfg(feature = "serde")]
impl serde::Serialize for Untrusted<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

/// Serializes the text unescaped: a data format has its own escapes.
#[cfg(feature = "serde")]
impl serde::Serialize for UntrustedString {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Displays a text in quotes, escaped. Of a long text, it shows the beginning and the length, so
/// that messages stay short.
#[derive(Debug)]
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = *self;
        match text.char_indices().nth(MOST_CHARACTERS) {
            None => write!(f, "{:?}", Untrusted(text)),
            Some((end, _)) => {
                let shown = Untrusted(text.get(..end).unwrap_or_default());
                write!(f, "{shown:?}… ({} bytes)", text.len())
            }
        }
    }
}

/// Escapes characters that cannot be shown while it writes.
struct Harmless<W>(W);

impl<W: Write> Write for Harmless<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| match is_harmless(c) {
            true => self.0.write_char(c),
            false => write!(self.0, "{}", c.escape_unicode()),
        })
    }
}

/// The most characters shown of a text: more than names in genuine files have.
const MOST_CHARACTERS: usize = 200;

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::{MOST_CHARACTERS, Quoted, Untrusted, is_harmless};

    #[test]
    fn a_text_is_cut_where_a_message_would_grow_with_it() {
        assert_eq!(Quoted("a\0\"b").to_string(), r#""a\0\"b""#);
        assert_eq!(Quoted("a\u{3164}\u{fe0f}b").to_string(), r#""a\u{3164}\u{fe0f}b""#);
        let most = "é".repeat(MOST_CHARACTERS);
        assert_eq!(Quoted(&most).to_string(), format!("{most:?}"));
        let more = most.clone() + "éa";
        assert_eq!(Quoted(&more).to_string(), format!("{most:?}… (403 bytes)"));
        assert_eq!(Untrusted("abc").cut(3), "abc");
        assert_eq!(Untrusted("ab\n").cut(2), "ab…");
    }

    /// Characters that move the cursor, are invisible, or look like a space are escaped.
    #[test]
    fn invisible_characters_are_escaped() {
        let ranges = [
            '\0'..='\u{1f}',
            '\u{7f}'..='\u{a0}',
            '\u{ad}'..='\u{ad}',
            '\u{34f}'..='\u{34f}',
            '\u{600}'..='\u{605}',
            '\u{61c}'..='\u{61c}',
            '\u{115f}'..='\u{1160}',
            '\u{1680}'..='\u{1680}',
            '\u{17b4}'..='\u{17b5}',
            '\u{180b}'..='\u{180f}',
            '\u{2000}'..='\u{200f}',
            '\u{2028}'..='\u{202f}',
            '\u{205f}'..='\u{206f}',
            '\u{2800}'..='\u{2800}',
            '\u{3000}'..='\u{3000}',
            '\u{3164}'..='\u{3164}',
            '\u{e000}'..='\u{f8ff}',
            '\u{fdd0}'..='\u{fdef}',
            '\u{fe00}'..='\u{fe0f}',
            '\u{feff}'..='\u{feff}',
            '\u{ffa0}'..='\u{ffa0}',
            '\u{fff0}'..='\u{fffc}',
            '\u{fffe}'..='\u{ffff}',
            '\u{13430}'..='\u{1343f}',
            '\u{16fe4}'..='\u{16fe4}',
            '\u{1bca0}'..='\u{1bca3}',
            '\u{1d159}'..='\u{1d159}',
            '\u{1d173}'..='\u{1d17a}',
            '\u{40000}'..='\u{4ffff}',
            '\u{e0000}'..='\u{e0fff}',
            '\u{f0000}'..='\u{10ffff}',
        ];
        for c in ranges.into_iter().flatten() {
            assert!(!is_harmless(c), "{:x}", u32::from(c));
            let shown = Untrusted(&format!("a{c}b")).to_string();
            assert!(shown.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{shown}");
        }
    }

    #[test]
    fn writing_of_people_is_shown_as_it_is() {
        for text in
            ["naïve", "名前 🎉", "ελληνικά", "हिन्दी", "ไทย", "e\u{301}", "a\\b \"c\"", "→…–✓"]
        {
            assert_eq!(Untrusted(text).to_string(), text);
        }
    }

    /// A mark without a character in front would change a quote or a space of the message.
    #[test]
    fn a_mark_without_a_base_is_escaped() {
        assert_eq!(Untrusted("\u{301}a\u{301}").to_string(), "\\u{301}a\u{301}");
        assert_eq!(Untrusted("a\n\u{338}").to_string(), r"a\n\u{338}");
        assert_eq!(Untrusted("a \u{338}=\u{338}").to_string(), r"a \u{338}=\u{338}");
        assert_eq!(format!("{:?}", Untrusted("\u{301}\u{a0}")), r#""\u{301}\u{a0}""#);
        assert_eq!(format!("{:>4}|{:<4}|", Untrusted("ab"), Untrusted("\n")), "  ab|\\n  |");
    }
}
