//! JSON that is cut to a length, and can stand inside of HTML.

use std::io::{self, Write};

/// A writer of one JSON document that is not much longer than `most` bytes.
///
/// White space is left out. An array ends when `most` bytes are written, and an inner array ends earlier, so that there
/// is room for the items after it. A long string is cut. `<` is escaped, so that no text can end an element of HTML.
pub(super) struct Short {
    text: Vec<u8>,
    most: usize,
    /// The arrays and objects that are open.
    open: Vec<Open>,
    /// The number of arrays in `open`.
    arrays: usize,
    /// The length of `open` in the array whose items are left out.
    leaves_out: Option<usize>,
    string: Option<StringState>,
    omitted: u64,
    /// Whether no item of an array is left out.
    has_all_items: bool,
    /// Whether writing fails once the document is too long.
    is_whole_or_nothing: bool,
}

struct Open {
    is_array: bool,
    /// Whether an item may begin here.
    awaits_item: bool,
    has_items: bool,
}

#[derive(Default)]
struct StringState {
    len: usize,
    /// Whether the next byte belongs to an escape, such as `\\n`.
    is_escape: bool,
    /// The digits of a `\\u` that follow.
    digits: u8,
    is_cut: bool,
}

impl Short {
    pub(super) fn new(most: usize) -> Self {
        Self {
            text: Vec::new(),
            most,
            open: Vec::new(),
            arrays: 0,
            leaves_out: None,
            string: None,
            omitted: 0,
            has_all_items: true,
            is_whole_or_nothing: false,
        }
    }

    /// Makes writing fail once the document is too long: what follows would be written for nothing.
    pub(super) fn be_whole_or_nothing(&mut self) {
        self.is_whole_or_nothing = true;
    }

    /// Returns the document.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the number of items that are left out, and of strings that are cut.
    pub(super) fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns whether the document has all items of its arrays.
    pub(super) fn has_all_items(&self) -> bool {
        self.has_all_items
    }

    /// Counts items that are left out before the document is written.
    pub(super) fn leave_out(&mut self, items: u64) {
        self.omitted = self.omitted.saturating_add(items);
    }

    fn put(&mut self, byte: u8) {
        if self.leaves_out.is_some() {
            return;
        }
        match byte {
            b'<' => self.text.extend_from_slice(b"\\u003c"),
            _ => self.text.push(byte),
        }
    }

    /// Returns whether arrays of the current depth are full.
    fn is_full(&self) -> bool {
        let share = self.arrays.saturating_sub(2).min(12);
        let kept = 16usize.saturating_sub(share);
        self.text.len() >= (self.most / 16).saturating_mul(kept)
    }

    /// Takes the first byte of an item of an array.
    fn item(&mut self) {
        let depth = self.open.len();
        let is_full = self.is_full();
        let Some(open) = self.open.last_mut().filter(|open| open.is_array && open.awaits_item)
        else {
            return;
        };
        open.awaits_item = false;
        let follows = core::mem::replace(&mut open.has_items, true);
        match self.leaves_out {
            Some(at) if at == depth => self.omitted = self.omitted.saturating_add(1),
            Some(_) => {}
            None if is_full => {
                self.leaves_out = Some(depth);
                self.has_all_items = false;
                self.omitted = self.omitted.saturating_add(1);
            }
            None if follows => self.put(b','),
            None => {}
        }
    }

    fn byte(&mut self, byte: u8) {
        if self.string.is_some() {
            return self.string_byte(byte);
        }
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {}
            b'[' | b'{' => {
                self.item();
                self.put(byte);
                let is_array = byte == b'[';
                self.arrays = self.arrays.saturating_add(usize::from(is_array));
                self.open.push(Open { is_array, awaits_item: true, has_items: false });
            }
            b']' | b'}' => {
                if self.leaves_out == Some(self.open.len()) {
                    self.leaves_out = None;
                }
                self.open.pop();
                self.arrays = self.arrays.saturating_sub(usize::from(byte == b']'));
                self.put(byte);
            }
            b',' => match self.open.last_mut().filter(|open| open.is_array) {
                // Written with the item, if there is room for it.
                Some(open) => open.awaits_item = true,
                None => self.put(byte),
            },
            b'"' => {
                self.item();
                self.put(byte);
                self.string = Some(StringState::default());
            }
            _ => {
                self.item();
                self.put(byte);
            }
        }
    }

    fn string_byte(&mut self, byte: u8) {
        let Some(state) = &mut self.string else { return };
        let is_inside = state.is_escape || state.digits > 0 || byte & 0xc0 == 0x80;
        if state.digits > 0 {
            state.digits = state.digits.saturating_sub(1);
        } else if state.is_escape {
            state.is_escape = false;
            state.digits = if byte == b'u' { 4 } else { 0 };
        } else if byte == b'"' {
            self.string = None;
            return self.put(byte);
        } else {
            state.is_escape = byte == b'\\';
        }
        if !is_inside && !state.is_cut && state.len >= LONGEST && self.most < usize::MAX {
            state.is_cut = true;
            self.omitted = self.omitted.saturating_add(1);
            "…".bytes().for_each(|byte| self.put(byte));
        } else if !state.is_cut {
            state.len = state.len.saturating_add(1);
            self.put(byte);
        }
    }
}

impl Write for Short {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_whole_or_nothing {
            // Only arrays are cut.
            self.has_all_items &= self.text.len() <= self.most;
            if !self.has_all_items {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
        bytes.iter().for_each(|&byte| self.byte(byte));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The most bytes of a string.
const LONGEST: usize = 1000;

#[cfg(test)]
mod tests {
    use super::{LONGEST, Short, Write as _};

    fn short(text: &str, most: usize) -> (String, u64) {
        let mut short = Short::new(most);
        short.write_all(text.as_bytes()).unwrap();
        (String::from_utf8(short.text().to_vec()).unwrap(), short.omitted())
    }

    #[test]
    fn a_document_with_room_is_whole_and_has_no_markup() {
        let text = "{ \"a\": [1, [ ], {\"b]\": \"</script>\\\" , \"}, true],\n\"c\": {} }\n";
        let (shown, omitted) = short(text, 1 << 20);
        assert_eq!(shown, r#"{"a":[1,[],{"b]":"\u003c/script>\" , "},true],"c":{}}"#);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!((value(&shown), omitted), (value(text), 0));
    }

    #[test]
    fn items_are_left_out_and_counted_and_deeper_ones_first() {
        let text = r#"{"rows": [{"n": [1, 2, 3], "a": [[4, [5]], 6]}, [7], 8], "all": 3}"#;
        for most in 0..100 {
            let (shown, omitted) = short(text, most);
            let value: serde_json::Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(value["all"], 3, "what stands in no array is kept");
            assert!(shown.len() <= most + 40, "{most} {shown}");
            assert_eq!(omitted == 0, shown == text.replace(' ', ""), "{most} {shown}");
        }
        assert_eq!(short("[1, [2], 3]", 0), ("[]".into(), 3));
    }

    #[test]
    fn a_document_that_must_be_whole_fails_once_it_is_too_long() {
        let written = |text: &str, most| {
            let mut short = Short::new(most);
            short.be_whole_or_nothing();
            let is_written = text.bytes().all(|byte| short.write_all(&[byte]).is_ok());
            (is_written, short.has_all_items(), short.text().len())
        };
        assert_eq!(written("[1,2,3]", 1 << 10), (true, true, 7));
        for text in
            [format!("[{}1]", "1,".repeat(1 << 10)), format!("{{{}}}", "\"a\":1,".repeat(1 << 10))]
        {
            let (is_written, is_whole, len) = written(&text, 100);
            assert!(!is_written && !is_whole && len < 120, "{len}");
        }
    }

    #[test]
    fn a_long_string_is_cut_between_characters() {
        for letter in ["a", "é", "\\n", "\\u202e", "\u{1f600}"] {
            let text = format!("[\"{}\",1]", letter.repeat(LONGEST));
            let (shown, _) = short(&text, 1 << 20);
            assert!(shown.len() < LONGEST + 20, "{shown}");
            let value: serde_json::Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(value[1], 1);
        }
    }
}
