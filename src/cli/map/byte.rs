//! `pte map --at`: the meaning of one byte.

use core::fmt::{self, Write};
use core::ops::Range;

use pte::File;
use pte::flat::desc::Number;
use pte::map::{ByteInfo, ByteRole, OtherFile};
use pte::payload::PayloadContents;
use pte::quoted::UntrustedString;
use serde::Serialize;

use super::MapFormat;
use crate::input::Readable;
use crate::json;
use crate::output::Output;
use crate::problem::{BOLD, DIM, NAME, Problem};
use crate::text::{grouped, name};

/// A byte with its meaning.
pub(super) struct Byte<'a> {
    info: ByteInfo<'a>,
    path: UntrustedString,
    at: u64,
    bytes: u64,
    /// The names of the byte's parts, outermost first.
    parts: Vec<UntrustedString>,
    /// The start of the program in its bundle, from which offsets count; `None` without a bundle.
    program: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct Document<'d> {
    schema: &'static str,
    path: &'d UntrustedString,
    bytes: u64,
    byte: ByteRecord<'d>,
}

#[derive(Serialize)]
pub(super) struct ByteRecord<'d> {
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<u64>,
    offset: u64,
    part: &'d [UntrustedString],
    begin: u64,
    end: u64,
    segment: Option<u32>,
    path: Option<UntrustedString>,
    role: &'static str,
    role_begin: u64,
    role_end: u64,
    text: UntrustedString,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_name: Option<&'static str>,
}

impl<'a> Byte<'a> {
    pub(super) fn of(
        file: &File<'a>,
        payloads: &[PayloadContents],
        at: u64,
        input: &dyn Readable,
    ) -> Result<Self, Problem> {
        let info = ByteInfo::with_payloads(file, payloads, at);
        Self::new(info, (at, file.file_len()), input)
    }

    /// Describes a byte of a payload, a bundled program or a profile.
    pub(super) fn of_other(
        file: &'a OtherFile,
        at: u64,
        input: &dyn Readable,
    ) -> Result<Self, Problem> {
        Self::new(ByteInfo::of_other(file, at), (at, file.file_len()), input)
    }

    /// Records that the file is the program at `start` in a bundle.
    pub(super) fn in_program_at(self, start: u64) -> Self {
        Self { program: Some(start), ..self }
    }

    fn new(
        info: Option<ByteInfo<'a>>,
        (at, bytes): (u64, u64),
        input: &dyn Readable,
    ) -> Result<Self, Problem> {
        let Some(info) = info else {
            return Err(input.absent(format!(
                "byte {at:#x} ({at}) is out of range: the file has {} bytes, the last one at {:#x}",
                grouped(bytes),
                bytes.saturating_sub(1)
            )));
        };
        let parts = info.part().names(|name| input.name_again(Some(name)))?;
        Ok(Self { path: input.name().clone(), at, bytes, parts, info, program: None })
    }

    /// Writes the byte as a document or in words.
    pub(super) fn write(&self, format: MapFormat, out: &mut Output) -> Result<(), Problem> {
        match format {
            MapFormat::Json => out.json(&self.document()),
            _ => Ok(self.show(out)?),
        }
    }

    fn table_path(&self) -> Option<UntrustedString> {
        let path = UntrustedString::of(&self.info.place().path());
        Some(path).filter(|path| !path.raw().is_empty())
    }

    fn document(&self) -> Document<'_> {
        Document { schema: "pte.map/1", path: &self.path, bytes: self.bytes, byte: self.record() }
    }

    /// Returns the range of the byte's field.
    pub(super) fn range(&self) -> Range<u64> {
        self.info.range()
    }

    pub(super) fn record(&self) -> ByteRecord<'_> {
        let (piece, range) = (self.info.piece(), self.info.range());
        let (mut to, mut value, mut value_name) = (None, None, None);
        match self.info.role() {
            ByteRole::Offset { to: at } | ByteRole::ToVtable { to: at } => to = Some(at),
            ByteRole::Number { value: number, name, .. } => {
                (value, value_name) = (Some(number_of(number)), name);
            }
            ByteRole::Tag { tag, member } => (value, value_name) = (Some(tag.into()), member),
            ByteRole::Count(count) | ByteRole::TextLength(count) => value = Some(count.into()),
            ByteRole::Entry { offset: count, .. }
            | ByteRole::VtableLength(count)
            | ByteRole::TableLength(count) => value = Some(count.into()),
            _ => {}
        }
        ByteRecord {
            program: self.program,
            offset: self.at,
            part: &self.parts,
            begin: piece.start,
            end: piece.end,
            segment: self.info.segment(),
            path: self.table_path(),
            role: self.info.role().id(),
            role_begin: range.start,
            role_end: range.end,
            text: UntrustedString::of(&self.info.role()),
            to,
            value,
            value_name,
        }
    }

    pub(super) fn show(&self, out: &mut Output) -> fmt::Result {
        let (piece, range) = (self.info.piece(), self.info.range());
        let path = &self.path;
        writeln!(out, "{BOLD}{path}{BOLD:#}  {DIM}byte {:#x} ({}){DIM:#}", self.at, self.at)?;
        let parts: Vec<_> = self.parts.iter().map(name).collect();
        label(out, "part", &format!("{NAME}{}{NAME:#}", parts.join(" / ")))?;
        if let Some(start) = self.program {
            label(out, "program", &format!("in a bundle at {start:#x}: offsets count from there"))?;
        }
        label(out, "piece", &within(self.at, &piece))?;
        if let Some(segment) = self.info.segment() {
            label(out, "segment", &segment.to_string())?;
        }
        if let Some(path) = self.table_path() {
            label(out, "path", &path.to_string())?;
        }
        label(out, "role", &UntrustedString::of(&self.info.role()).to_string())?;
        if range != piece {
            label(out, "", &within(self.at, &range))?;
        }
        Ok(())
    }
}

/// Formats a range and the position of a byte in it.
fn within(at: u64, range: &Range<u64>) -> String {
    let (begin, end) = (range.start, range.end);
    let nth = grouped(at.saturating_sub(begin));
    let of = grouped(end.saturating_sub(begin));
    format!("{begin:#x}..{end:#x}, {DIM}byte {nth} of {of}{DIM:#}")
}

fn label(out: &mut Output, title: &str, text: &str) -> fmt::Result {
    writeln!(out, "  {DIM}{title:<8}{DIM:#} {text}")
}

fn number_of(number: Number) -> serde_json::Value {
    match number {
        Number::Bool(value) => value.into(),
        Number::Int(value) => json::int(value),
        Number::Single(value) => json::float(value.into()),
        Number::Float(value) => json::float(value),
    }
}
