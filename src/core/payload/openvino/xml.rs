//! Reads XML as a list of tags and texts, in place.

use super::{Unreadable, invalid};
use pte_flat::bytes::wide;

/// A part of a text.
pub(super) enum Item<'t> {
    Start(Tag<'t>),
    /// The end of an element, with its name.
    End(&'t [u8]),
    Text(&'t [u8]),
}

/// The start of an element.
pub(super) struct Tag<'t> {
    pub(super) name: &'t [u8],
    attributes: &'t [u8],
    /// Whether the element ends with its start.
    pub(super) is_empty: bool,
}

impl<'t> Tag<'t> {
    /// Returns the value of an attribute.
    pub(super) fn get(&self, name: &[u8]) -> Option<&'t [u8]> {
        let mut rest = self.attributes.trim_ascii_start();
        while !rest.is_empty() {
            let equals = rest.iter().position(|byte| *byte == b'=')?;
            let (key, value) = rest.split_at_checked(equals)?;
            let (quote, value) = value.get(1..)?.trim_ascii_start().split_first()?;
            let end = value.iter().position(|byte| byte == quote)?;
            if key.trim_ascii() == name {
                return value.get(..end);
            }
            rest = value.get(end.saturating_add(1)..)?.trim_ascii_start();
        }
        None
    }
}

/// The parts of a text that are not yet read.
pub(super) struct Items<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Items<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next part and its position. Declarations and comments are skipped.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Item<'t>)>, Unreadable> {
        loop {
            let at = self.at;
            let here = wide(at);
            let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) else {
                return Ok(None);
            };
            if rest.first() != Some(&b'<') {
                let len = rest.iter().position(|byte| *byte == b'<').unwrap_or(rest.len());
                self.at = at.saturating_add(len);
                return Ok(Some((here, Item::Text(rest.get(..len).unwrap_or_default()))));
            }
            let ends: [(&[u8], &[u8]); 2] = [(b"<!--", b"-->"), (b"<?", b"?>")];
            if let Some((_, end)) = ends.iter().find(|(start, _)| rest.starts_with(start)) {
                let found = rest.windows(end.len()).position(|part| part == *end);
                let found = found.ok_or_else(|| invalid(here, "a comment without an end"))?;
                self.at = at.saturating_add(found).saturating_add(end.len());
                continue;
            }
            let len = len_of_tag(rest).ok_or_else(|| invalid(here, "an element without an end"))?;
            self.at = at.saturating_add(len);
            let inside = rest.get(1..len.saturating_sub(1)).unwrap_or_default();
            if let Some(name) = inside.strip_prefix(b"/") {
                return Ok(Some((here, Item::End(name.trim_ascii()))));
            }
            let (inside, is_empty) = match inside.strip_suffix(b"/") {
                Some(inside) => (inside, true),
                None => (inside, false),
            };
            let end = inside.iter().position(u8::is_ascii_whitespace).unwrap_or(inside.len());
            let (name, attributes) = inside.split_at_checked(end).unwrap_or_default();
            return Ok(Some((here, Item::Start(Tag { name, attributes, is_empty }))));
        }
    }
}

/// Returns the length of the tag at the start of a text. Values of attributes may have `>`.
fn len_of_tag(text: &[u8]) -> Option<usize> {
    let mut quote = None;
    let is_end = |byte: &u8| {
        match (quote, byte) {
            (None, b'>') => return true,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            _ => {}
        }
        false
    };
    text.iter().position(is_end)?.checked_add(1)
}
