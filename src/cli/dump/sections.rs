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
    let mut object = Object { level, is_empty: true, out };
    object.out.write_char('{')?;
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
    line(level, 0, out)?;
    out.write_char('}')
}

fn list(sections: &[Section], level: Option<usize>, out: &mut Output) -> fmt::Result {
    out.write_char('[')?;
    let inner = level.map(|level| level.saturating_add(2));
    for (nth, section) in sections.iter().enumerate() {
        if nth > 0 {
            out.write_char(',')?;
        }
        line(level, 2, out)?;
        let mut object = Object { level: inner, is_empty: true, out };
        object.out.write_char('{')?;
        object.text("name", Some(section.name))?;
        object.number("offset", Some(section.range.start))?;
        let size = len_of(&section.range);
        object.number("size", Some(size))?;
        object.text("key", section.key.as_deref())?;
        object.text("file", section.file.as_deref())?;
        line(inner, 0, out)?;
        out.write_char('}')?;
    }
    if !sections.is_empty() {
        line(level, 1, out)?;
    }
    out.write_char(']')
}

/// A JSON object of which some fields are written.
struct Object<'o> {
    level: Option<usize>,
    is_empty: bool,
    out: &'o mut Output,
}

impl Object<'_> {
    fn key(&mut self, name: &str) -> fmt::Result {
        if !core::mem::take(&mut self.is_empty) {
            self.out.write_char(',')?;
        }
        line(self.level, 1, self.out)?;
        let after = if self.level.is_some() { ": " } else { ":" };
        write!(self.out, "\"{name}\"{after}")
    }

    fn text(&mut self, name: &str, text: Option<&str>) -> fmt::Result {
        let Some(text) = text else { return Ok(()) };
        self.key(name)?;
        json::string(text, &mut *self.out)
    }

    fn number(&mut self, name: &str, number: Option<u64>) -> fmt::Result {
        let Some(number) = number else { return Ok(()) };
        self.key(name)?;
        write!(self.out, "{number}")
    }
}

fn line(level: Option<usize>, deeper: usize, out: &mut Output) -> fmt::Result {
    match level {
        Some(level) => write!(out, "\n{:1$}", "", level.saturating_add(deeper).saturating_mul(2)),
        None => Ok(()),
    }
}
