//! Proves that bytes are JSON as Python's `json` reads it, without building anything.

/// The most arrays and objects that may be open at once. Genuine graphs have fewer than 30.
const DEEPEST: usize = 512;

/// Proves a text, and returns its first byte that is no space.
///
/// # Errors
///
/// The position of the first byte that is not JSON.
pub(super) fn prove(bytes: &[u8]) -> Result<u8, usize> {
    core::str::from_utf8(bytes).map_err(|error| error.valid_up_to())?;
    let mut text = Text { bytes, at: 0 };
    text.skip_spaces();
    let first = text.peek().ok_or(text.at)?;
    text.value().ok_or(text.at)?;
    text.skip_spaces();
    if text.at == bytes.len() { Ok(first) } else { Err(text.at) }
}

struct Text<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Text<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips bytes, and returns their number.
    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = rest.iter().take_while(|byte| is_skipped(**byte)).count();
        self.at = self.at.saturating_add(len);
        len
    }

    fn skip_spaces(&mut self) {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// Reads a word if it is next.
    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(word).then_some(())?;
        self.at = self.at.saturating_add(word.len());
        Some(())
    }

    /// Reads a mark and the spaces around it, if it is next.
    fn mark(&mut self, mark: u8) -> Option<()> {
        self.skip_spaces();
        self.word(&[mark])?;
        self.skip_spaces();
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        (self.skip(|byte| byte.is_ascii_digit()) > 0).then_some(())
    }

    fn number(&mut self) -> Option<()> {
        // A number has no zeros in front.
        if self.word(b"0").is_none() {
            self.digits()?;
        }
        if self.word(b".").is_some() {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at = self.at.saturating_add(1);
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at = self.at.saturating_add(1);
            }
            self.digits()?;
        }
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        self.word(b"\"")?;
        loop {
            self.skip(|byte| !matches!(byte, b'"' | b'\\' | ..=0x1f));
            match self.peek()? {
                b'"' => return self.word(b"\""),
                b'\\' => {
                    self.at = self.at.saturating_add(1);
                    let escaped = self.peek()?;
                    if !b"\"\\/bfnrtu".contains(&escaped) {
                        return None;
                    }
                    self.at = self.at.saturating_add(1);
                    if escaped == b'u' {
                        let end = self.at.saturating_add(4);
                        let hex = self.bytes.get(self.at..end)?;
                        hex.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                        self.at = end;
                    }
                }
                _ => return None,
            }
        }
    }

    /// Reads the key of an object's member.
    fn key(&mut self) -> Option<()> {
        self.string()?;
        self.mark(b':')
    }

    /// Reads a value with all that is in it.
    fn value(&mut self) -> Option<()> {
        // A bit for each open array or object, which is set for objects.
        let (mut open, mut depth) = ([false; DEEPEST], 0usize);
        loop {
            let is_opened = match self.peek()? {
                mark @ (b'{' | b'[') => {
                    let is_object = mark == b'{';
                    self.mark(mark)?;
                    if self.word(if is_object { b"}" } else { b"]" }).is_some() {
                        false
                    } else {
                        *open.get_mut(depth)? = is_object;
                        depth = depth.saturating_add(1);
                        if is_object {
                            self.key()?;
                        }
                        true
                    }
                }
                b'"' => self.string().map(|()| false)?,
                b'0'..=b'9' => self.number().map(|()| false)?,
                b'-' => {
                    self.word(b"-")?;
                    self.word(b"Infinity").or_else(|| self.number()).map(|()| false)?
                }
                _ => {
                    let words: [&[u8]; 5] = [b"null", b"true", b"false", b"NaN", b"Infinity"];
                    words.iter().find_map(|word| self.word(word)).map(|()| false)?
                }
            };
            if is_opened {
                continue;
            }
            // The value has ended, and perhaps those around it.
            loop {
                let Some(within) = depth.checked_sub(1) else { return Some(()) };
                let is_object = open.get(within).copied()?;
                if self.mark(b',').is_some() {
                    if is_object {
                        self.key()?;
                    }
                    break;
                }
                self.mark(if is_object { b'}' } else { b']' })?;
                depth = within;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn json_is_what_python_reads() {
        for text in [
            "{}",
            " [ ] ",
            "0",
            "-1.5e+3",
            "\"a\\u00e9\\n\"",
            "[NaN, -Infinity, null, true]",
            "{\"a\": {\"b\": [1, [2], {}]}, \"c\": \"\"}",
        ] {
            assert!(prove(text.as_bytes()).is_ok(), "{text}");
        }
        for (text, at) in [
            ("", 0),
            ("{", 1),
            ("[1,]", 3),
            ("{\"a\"}", 4),
            ("{\"a\":1,}", 7),
            ("01", 1),
            ("1.", 2),
            ("\"\\x\"", 2),
            ("\"\n\"", 1),
            ("[1}", 2),
            ("{} {}", 3),
            ("nul", 0),
            ("-", 1),
            ("1e", 2),
        ] {
            assert_eq!(prove(text.as_bytes()), Err(at), "{text}");
        }
        assert_eq!(prove(b"\"\xff\""), Err(1));
        let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
        assert_eq!(prove(&nested(DEEPEST)), Ok(b'['));
        // The innermost array is empty, and is never open.
        assert_eq!(prove(&nested(DEEPEST + 1)), Ok(b'['));
        assert_eq!(prove(&nested(DEEPEST + 2)), Err(DEEPEST + 1));
        let long: Vec<u8> = nested(100_000);
        assert!(prove(&long).is_err());
    }
}
