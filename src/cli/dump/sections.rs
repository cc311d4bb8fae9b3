//! The sections of payloads as JSON.

use core::fmt::{self, Write};

use pte::flat::bytes::len_of;
use pte::flat::json;
use pte::payload::{Section, Sections, Unreadable};

use crate::output::Output;

/// Writes the sections of a payload as an object, or the message of an invalid payload. `level`
/// indents lines; `None` writes one line.
pub(super) fn write(
    found: &Result<Sections, Unreadable>,
    level: Option<usize>,
    out: &mut Output,
) -> fmt::Result {
    let mut object = Object::begin(level, out)?;
    match found {
        Err(why) => object.text("unreadable", Some(&why.to_string()))?,
        Ok(found) => {
            object.text("version", found.version.as_deref())?;
            object.text("target", found.target.as_deref())?;
            object.number("scratch", found.scratch)?;
            object.key("sections")?;
            list(&found.sections, level, object.out)?;
        }
    }
    object.end()
}

fn list(sections: &[Section], level: Option<usize>, out: &mut Output) -> fmt::Result {
    out.write_char('[')?;
    let inner = level.map(|level| level.saturating_add(2));
    for (nth, section) in sections.iter().enumerate() {
        out.write_str(if nth > 0 { "," } else { "" })?;
        line(inner, out)?;
        let mut object = Object::begin(inner, out)?;
        object.text("name", Some(section.name))?;
        object.number("offset", Some(section.range.start))?;
        object.number("size", Some(len_of(&section.range)))?;
        object.text("key", section.key.as_deref())?;
        object.text("file", section.file.as_deref())?;
        object.end()?;
    }
    if !sections.is_empty() {
        line(level.map(|level| level.saturating_add(1)), out)?;
    }
    out.write_char(']')
}

/// A JSON object of which some fields are written. `level` indents its lines; `None` writes one line.
pub(super) struct Object<'o> {
    level: Option<usize>,
    is_empty: bool,
    pub(super) out: &'o mut Output,
}

impl<'o> Object<'o> {
    pub(super) fn begin(level: Option<usize>, out: &'o mut Output) -> Result<Self, fmt::Error> {
        out.write_char('{')?;
        Ok(Self { level, is_empty: true, out })
    }

    pub(super) fn key(&mut self, name: &str) -> fmt::Result {
        if !core::mem::take(&mut self.is_empty) {
            self.out.write_char(',')?;
        }
        line(self.level.map(|level| level.saturating_add(1)), self.out)?;
        let after = if self.level.is_some() { ": " } else { ":" };
        write!(self.out, "\"{name}\"{after}")
    }

    pub(super) fn text(&mut self, name: &str, text: Option<&str>) -> fmt::Result {
        let Some(text) = text else { return Ok(()) };
        self.key(name)?;
        json::string(text, &mut *self.out)
    }

    pub(super) fn number(&mut self, name: &str, number: Option<u64>) -> fmt::Result {
        let Some(number) = number else { return Ok(()) };
        self.key(name)?;
        write!(self.out, "{number}")
    }

    pub(super) fn end(self) -> fmt::Result {
        line(self.level, self.out)?;
        self.out.write_char('}')
    }
}

/// Begins a line of a level; `None` stays on the same line.
pub(super) fn line(level: Option<usize>, out: &mut Output) -> fmt::Result {
    match level {
        Some(level) => write!(out, "\n{:1$}", "", level.saturating_mul(2)),
        None => Ok(()),
    }
}
