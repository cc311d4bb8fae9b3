//! `pte map`: which byte belongs to what.

use core::fmt::{self, Write};
use core::ops::Range;
use core::str::FromStr;
use std::path::PathBuf;

use clap::Args;
use pte::File;
use pte::map::{Kind, Map, Name, Nesting, Part, Span, Title, Within};
use pte::quoted::UntrustedString;
use serde::Serialize;

use self::byte::Byte;
use super::Common;
use super::input::Input;
use super::output::{Content, Output, formatted};
use super::problem::{BOLD, DIM, NAME, Problem, Status};
use super::text::{grouped, name};

mod byte;
mod page;

/// Show which byte of a file belongs to what
///
/// Ranges in the order of the file, one in the other; together they have every byte once. Neighbours
/// that are alike are one row, with what is in it by kind; --depth shows each. Padding and gaps are
/// rows too. No segment data is read.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte map model.pte
  pte map model.pte --depth 99              every table, vector and string, by the way to it
  pte map model.pte --at 0x1a40             what one byte is
  pte map model.pte --html -o model.html    a page with the map, the methods and the sizes
  pte map --json model.pte | jq '.parts[] | [.begin, .end, .name]'

JSON, \"schema\": \"pte.map/1\":
  path, bytes  of the file
  parts        begin, end, bytes, name, and what for a table, vtable, vector or string; part (names,
               outermost first) of what is no part of the range around it, as a vtable that tables
               share; in it parts, or kinds: name, what, count, bytes. Those of a level have all bytes
               of what they are in
With --at:
  byte         offset, part (names, outermost first), begin and end of the piece around it, segment,
               path (null where nothing in the tables leads to it), role, role_begin and role_end,
               text; to (where an offset leads), value and value_name (of a number)

Exit status: 0 shown, 1 no such byte or the file is broken, 2 usage, 3 not readable")]
pub(super) struct MapFile {
    /// A file, or - for standard input.
    file: PathBuf,
    /// Tell of the byte at this offset: decimal, or hexadecimal after 0x.
    #[arg(long, value_name = "OFFSET")]
    at: Option<Offset>,
    /// Levels that are shown, nothing folded; without it 4, folded. Of 3 and more, as long as the file
    /// has no more than 500,000 ranges.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// How to show the answer.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Shape,
    /// Short for --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Short for --format html.
    #[arg(long, conflicts_with_all = ["format", "json", "at"])]
    html: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Shape {
    Text,
    Json,
    /// A page that needs nothing else, for a browser.
    Html,
}

#[derive(Serialize)]
struct Document<'d> {
    schema: &'static str,
    path: &'d UntrustedString,
    bytes: u64,
    parts: Vec<Row>,
}

/// A range as rows show it.
#[derive(Serialize)]
struct Row {
    begin: u64,
    end: u64,
    bytes: u64,
    name: UntrustedString,
    /// What it is a part of, outermost first, where that is not what is around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<Vec<UntrustedString>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<KindRow>,
}

#[derive(Serialize)]
struct KindRow {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<&'static str>,
    count: u64,
    bytes: u64,
}

impl MapFile {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let shape = match (self.json, self.html) {
            (true, _) => Shape::Json,
            (_, true) => Shape::Html,
            _ => self.format,
        };
        if self.at.is_some() && shape == Shape::Html {
            return Err(Problem::Usage("--at tells of one byte, which needs no page".into()));
        }
        let inputs = core::slice::from_ref(&self.file);
        let content = if shape == Shape::Text { Content::Text } else { Content::Plain };
        let mut out = Output::beside(common.output.as_deref(), content, inputs)?;
        let input = Input::open(&self.file, &common.limits())?;
        let file = input.opened.file();
        if let Some(Offset(at)) = self.at {
            let byte = Byte::of(&file, at, &input)?;
            let written = match shape {
                Shape::Json => out.json(&byte.document()).map(|()| Ok(()))?,
                _ => byte.show(&mut out),
            };
            formatted(out, written)?;
            return Ok(Status::Good);
        }
        // The page makes a second map, and there is memory for one.
        let rows = self.rows(&Map::in_detail(&file), &input)?;
        let written = match shape {
            Shape::Json => {
                let (path, bytes) = (&input.name, file.file_len());
                out.json(&Document { schema: "pte.map/1", path, bytes, parts: rows })?;
                Ok(())
            }
            Shape::Html => page::show(&input, &file, &rows, &mut out)?,
            Shape::Text => show(&input, &file, &rows, &mut out),
        };
        formatted(out, written)?;
        Ok(Status::Good)
    }

    fn rows(&self, map: &Map<'_>, input: &Input) -> Result<Vec<Row>, Problem> {
        let nesting = match self.depth {
            Some(depth) => Nesting { depth, most: usize::MAX },
            None => Nesting { depth: DEPTH, most: MOST_ROWS },
        };
        let pieces = u64::try_from(map.pieces().len()).unwrap_or(u64::MAX);
        if self.depth.is_some_and(|depth| depth > 2) && pieces > MOST_PIECES {
            return Err(input.absent(format!(
                "{} ranges are too many for a list, which takes {}: leave --depth out, or ask for one \
                 byte with --at",
                grouped(pieces),
                grouped(MOST_PIECES)
            )));
        }
        map.nested(nesting).iter().map(|span| Row::of(span, input)).collect()
    }
}

impl Row {
    fn of(span: &Span<'_, '_>, input: &Input) -> Result<Self, Problem> {
        let (mut parts, mut kinds) = (Vec::new(), Vec::new());
        match &span.within {
            Within::Spans(spans) => {
                parts = spans.iter().map(|span| Self::of(span, input)).collect::<Result<_, _>>()?;
            }
            Within::Kinds(all) => kinds = all.iter().map(KindRow::of).collect(),
            _ => {}
        }
        let (mut what, mut count, mut others) = (None, None, None);
        let name = match span.title {
            Title::Part(part) | Title::Other(part) => {
                if let Name::Thing(_, thing) = part.name() {
                    what = Some(thing.name());
                }
                if matches!(span.title, Title::Other(_)) {
                    others = Some(parts_of(part, input)?);
                }
                name_of(part, input)?
            }
            Title::Segment(nth) => format!("segment {nth}").into(),
            Title::Alike { name, count: many } => {
                count = Some(many);
                name.into()
            }
            _ => UntrustedString::default(),
        };
        let Range { start: begin, end } = span.range;
        let (bytes, part) = (end.saturating_sub(begin), others);
        Ok(Self { begin, end, bytes, name, part, what, count, parts, kinds })
    }

    /// Its name, and with it that of what all of its bytes are in it.
    fn title(&self) -> (String, &Self) {
        let (mut row, mut title) = (self, self.label());
        while let [only] = row.parts.as_slice()
            && row.kinds.is_empty()
        {
            // A string takes whatever is written to it.
            let _ = write!(title, " / {}", only.label());
            row = only;
        }
        (title, row)
    }

    /// What there is most of in it, and how much padding.
    fn kinds(&self) -> String {
        let told = |kind: &&KindRow| self.count.is_some() && kind.name == self.name.raw();
        let (padding, kinds): (Vec<_>, Vec<_>) =
            self.kinds.iter().filter(|kind| !told(kind)).partition(|kind| kind.name == "padding");
        let mut shown: Vec<_> = kinds.iter().take(MOST_KINDS).map(|kind| kind.text()).collect();
        if let more @ 1.. = kinds.len().saturating_sub(MOST_KINDS) {
            shown.push(format!("{more} more kinds"));
        }
        shown.extend(padding.iter().map(|kind| format!("padding of {}", grouped(kind.bytes))));
        shown.join(", ")
    }

    fn label(&self) -> String {
        // What it is a part of, if it is none by itself.
        let of = self.part.as_ref().and_then(|part| part.last()).filter(|of| **of != self.name);
        match (self.count, of) {
            (Some(count), _) => format!("{} × {}", name(&self.name), grouped(count)),
            (None, Some(of)) => format!("{} / {}", name(of), name(&self.name)),
            (None, None) => name(&self.name),
        }
    }
}

impl KindRow {
    fn of(kind: &Kind) -> Self {
        let what = kind.what.map(pte::map::What::name);
        Self { name: kind.name, what, count: kind.count, bytes: kind.bytes }
    }

    /// Such as `12 Tensor vectors`.
    fn text(&self) -> String {
        let what = match (self.what, self.name) {
            (Some("table"), name) => name.to_string(),
            (Some("vtable"), _) => "vtable".into(),
            // Strings have a part of their own.
            (Some(what), "strings") => what.into(),
            (Some(what), name) => format!("{name} {what}"),
            (None, name) => name.into(),
        };
        match self.count {
            1 => what,
            count => format!("{what} × {}", grouped(count)),
        }
    }
}

/// What a part is or is in, outermost first: things in the tables are told by the way to them.
fn parts_of(part: Part<'_, '_>, input: &Input) -> Result<Vec<UntrustedString>, Problem> {
    let mut parts = Vec::new();
    let mut part = Some(part);
    while let Some(one) = part.filter(|part| part.parent().is_some()) {
        if !matches!(one.name(), Name::Thing(..)) {
            parts.push(name_of(one, input)?);
        }
        part = one.parent();
    }
    parts.reverse();
    Ok(parts)
}

/// The name of a part, paid for: parts may share a long one.
fn name_of(part: Part<'_, '_>, input: &Input) -> Result<UntrustedString, Problem> {
    let name = UntrustedString::of(&part.name());
    if !matches!(part.name(), Name::Fixed(_)) {
        input.name_again(Some(name.raw()))?;
    }
    Ok(name)
}

fn show(input: &Input, file: &File<'_>, rows: &[Row], out: &mut Output) -> fmt::Result {
    let (path, bytes) = (&input.name, file.file_len());
    writeln!(out, "{BOLD}{path}{BOLD:#}  {DIM}{} bytes{DIM:#}", grouped(bytes))?;
    let screen = Screen { offset: format!("{bytes:#x}").len(), bytes: grouped(bytes).len() };
    show_rows(rows, &screen, 0, out)
}

/// How wide the columns are.
struct Screen {
    offset: usize,
    bytes: usize,
}

fn show_rows(rows: &[Row], screen: &Screen, level: usize, out: &mut Output) -> fmt::Result {
    for row in rows {
        let (title, inner) = row.title();
        let Screen { offset, bytes: widest } = *screen;
        let (begin, end) = (format!("{:#x}", row.begin), format!("{:#x}", row.end));
        let (bytes, indent) = (grouped(row.bytes), level.saturating_mul(2));
        write!(out, "  {DIM}{begin:>offset$} {end:>offset$}{DIM:#} {bytes:>widest$}  ")?;
        write!(out, "{:indent$}{NAME}{title}{NAME:#}", "")?;
        if let Some(what) = inner.what {
            write!(out, "  {DIM}{what}{DIM:#}")?;
        }
        if !inner.kinds.is_empty() {
            let kinds = inner.kinds();
            if !kinds.is_empty() {
                write!(out, "  {DIM}{kinds}{DIM:#}")?;
            }
        }
        writeln!(out)?;
        show_rows(&inner.parts, screen, level.saturating_add(1), out)?;
    }
    Ok(())
}

/// An offset on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offset(u64);

impl FromStr for Offset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no offset: 6720 and 0x1a40 are");
        let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None => (text, 10),
        };
        if !digits.chars().all(|c| c.is_digit(radix)) {
            return Err(wrong());
        }
        u64::from_str_radix(digits, radix).map(Self).map_err(|_| wrong())
    }
}

/// Levels that are shown if nothing is said.
const DEPTH: u32 = 4;

/// Ranges of one range that are shown, before those that are alike become one.
const MOST_ROWS: usize = 16;

/// Ranges of a list that folds nothing: each takes a few hundred bytes.
const MOST_PIECES: u64 = 500_000;

/// Kinds that are told of a range.
const MOST_KINDS: usize = 4;

#[cfg(test)]
mod tests {
    use super::Offset;

    #[test]
    fn offsets_are_decimal_or_hexadecimal() {
        for (text, at) in [("0", 0), ("6720", 6720), ("0x1a40", 6720), ("0X1A40", 6720)] {
            assert_eq!(text.parse(), Ok(Offset(at)), "{text}");
        }
        assert_eq!("18446744073709551615".parse(), Ok(Offset(u64::MAX)));
        for text in ["", "0x", "1a40", "-1", "+1", "0x-1", "0x+1", "1 ", "18446744073709551616"] {
            assert!(text.parse::<Offset>().is_err(), "{text}");
        }
    }
}
