//! `pte map`: the meaning of every byte of a file.

use core::fmt::{self, Write as _};
use core::str::FromStr;
use std::path::{Path, PathBuf};

use clap::Args;
use pte::map::{
    KindTotal, Map, MapDocument, Nesting, ObjectKind, RangeEntry as Row, RangeRow, Ranges,
    RowContents, Rows,
};
use pte::quoted::UntrustedString;

use self::byte::Byte;
#[cfg(not(target_family = "wasm"))]
use self::page::PageModel;
use super::Common;
use super::columns::Width;
use super::format::{Format, Formats};
use super::input::{self, Readable};
use super::other::{AnyInput, OtherInput};
use super::output::Output;
use super::problem::{BOLD, DIM, NAME, Problem, Status};
use super::refusal;
use super::text::{count, grouped, name, wide};

mod byte;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod page;

/// Show the meaning of every byte
///
/// Lists nested ranges in file order; together they have every byte once. Similar neighbours are
/// folded into one row, with their contents by kind; --depth unfolds them. Padding and gaps are rows
/// too. Of segments, only headers and graphs of payloads are read, but for the verdict of --html.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte map model.pte
  pte map a.pte b.pte
  pte map model.pte --depth 99              every table, vector and string, with its path
  pte map model.pte --at 0x1a40             the meaning of one byte
  pte map model.pte --html -o model.html    a page: verdict, sizes, methods, memory, graph, map
  pte map --json model.pte | jq '.parts[] | [.begin, .end, .name]'

JSON, \"schema\": \"pte.map/1\":
  path, bytes  of the file
  parts        begin, end, bytes, name; what: table, vtable, vector or string; part (names, outermost
               first) if it differs from the enclosing part, such as for a shared vtable; and nested
               parts, or kinds: name, what, count, bytes. Nested ones sum to their range
With --at:
  byte         offset, part (names, outermost first), begin and end of its piece, segment, path (null
               if no table refers to it), role, role_begin and role_end, text; to (the target of an
               offset), value and value_name (of a number)

Exit status: 0 shown, 1 no such byte or the file is broken, 2 usage, 3 not readable")]
pub(super) struct MapFile {
    /// Files, or - for standard input. Of several, JSON is a document for each; --at and --html take one.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Describe the byte at this offset: decimal, or hexadecimal after 0x.
    #[arg(long, value_name = "OFFSET")]
    at: Option<Offset>,
    /// Show N levels without folding; the default is 4 levels with folding. 3 and more need a file with at
    /// most 500,000 ranges.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    #[command(flatten)]
    pub(super) format: Format<MapFormat>,
    /// Short for --format html.
    #[arg(long, conflicts_with_all = ["format", "json", "at"])]
    html: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum MapFormat {
    Text,
    Json,
    /// A self-contained page for a browser.
    Html,
}

impl Formats for MapFormat {
    const JSON: Self = Self::Json;
}

impl MapFile {
    /// Returns whether the output is a page, which has what several verbs show.
    pub(super) fn is_page(&self) -> bool {
        self.html || self.format.chosen() == MapFormat::Html
    }

    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let format = if self.html { MapFormat::Html } else { self.format.chosen() };
        if self.at.is_some() && format == MapFormat::Html {
            return Err(Problem::Usage("--at cannot be combined with --html".into()));
        }
        input::once(&self.files)?;
        if self.files.len() > 1 && (self.at.is_some() || format == MapFormat::Html) {
            let message = "a page, and --at, are of one file: name one";
            return Err(Problem::Usage(message.into()));
        }
        let out = Output::beside(common.output.as_deref(), self.format.content(), &self.files)?;
        out.finish_with(|out| {
            let (mut status, mut shown) = (Status::Good, 0usize);
            for path in &self.files {
                match self.show(path, format, common, (out, shown)) {
                    Ok(()) => shown = shown.saturating_add(1),
                    Err(problem) if self.files.len() == 1 => return Err(problem),
                    Err(Problem::Closed) => return Err(Problem::Closed),
                    Err(problem) => {
                        status = status.max(problem.report());
                        if format == MapFormat::Json {
                            refusal::write_into(out, &problem)?;
                        }
                    }
                }
            }
            Ok(status)
        })
    }

    /// Writes the map of a file. `shown` is the number of files that were written before.
    fn show(
        &self,
        path: &Path,
        format: MapFormat,
        common: &Common,
        (out, shown): (&mut Output, usize),
    ) -> Result<(), Problem> {
        let (mut input, bundle) = match AnyInput::open(path, &common.limits())? {
            AnyInput::Model(input, bundle) => (input, bundle),
            AnyInput::Other(other) => return self.other(&other, format, (out, shown)),
        };
        let payloads = input.payloads_with_parts(&common.limits())?;
        if format == MapFormat::Html {
            // A page is sent to others, who need not know the folders of this disk.
            let name = input.name.raw().rsplit(['/', std::path::MAIN_SEPARATOR]).next();
            input.name = name.unwrap_or_default().into();
        }
        let file = input.opened.file();
        if let Some(Offset(at)) = self.at {
            let program = bundle.as_ref().and_then(|bundle| bundle.program());
            let byte = match (&bundle, program) {
                (None, _) | (_, None) => Byte::of(&file, &payloads, at, &*input)?,
                (Some(_), Some(program)) if program.contains(&at) => {
                    let within = at.saturating_sub(program.start);
                    Byte::of(&file, &payloads, within, &*input)?.in_program_at(program.start)
                }
                (Some(bundle), _) => Byte::of_other(bundle, at, &*input)?,
            };
            return byte.write(format, out);
        }
        #[cfg(target_family = "wasm")]
        if format == MapFormat::Html {
            return Err(Problem::Usage("this build of the command has no --html".into()));
        }
        #[cfg(not(target_family = "wasm"))]
        if format == MapFormat::Html {
            // The map is dropped before the page makes another one, since memory is reserved for one only.
            let pieces = || Map::in_detail_with_payloads(&file, &payloads).pieces().len();
            let nesting = self.nesting(pieces, &*input)?;
            let bundle = bundle.as_deref();
            let model = PageModel::new(&input, bundle, &payloads, nesting, common.limits());
            return model.write(out);
        }
        let map = Map::in_detail_with_payloads(&file, &payloads);
        let ranges = map.ranges(self.nesting(|| map.pieces().len(), &*input)?);
        let Some(bundle) = &bundle else {
            return write_rows(&*input, file.file_len(), &ranges, format, (out, shown));
        };
        let outer = bundle.map_in_detail();
        let outer = outer.ranges(self.nesting(|| outer.pieces().len(), &*input)?);
        let program = bundle.program().unwrap_or_default();
        let rows = outer.with_program(program, ranges);
        write_rows(&*input, bundle.file_len(), &rows, format, (out, shown))
    }

    /// Writes the map of a standalone payload or profile.
    fn other(
        &self,
        other: &OtherInput,
        format: MapFormat,
        (out, shown): (&mut Output, usize),
    ) -> Result<(), Problem> {
        if format == MapFormat::Html {
            return Err(other.absent("a page is of a .pte or a .ptd; leave --html out".into()));
        }
        if let Some(Offset(at)) = self.at {
            return Byte::of_other(&other.file, at, other)?.write(format, out);
        }
        let map = other.file.map_in_detail();
        let ranges = map.ranges(self.nesting(|| map.pieces().len(), other)?);
        write_rows(other, other.file.file_len(), &ranges, format, (out, shown))
    }

    /// Returns how the ranges are nested. `pieces` counts them where that matters.
    fn nesting(
        &self,
        pieces: impl FnOnce() -> usize,
        input: &dyn Readable,
    ) -> Result<Nesting, Problem> {
        let nesting = match self.depth {
            Some(depth) => Nesting { depth, most: usize::MAX },
            None => Nesting::default(),
        };
        if self.depth.is_none_or(|depth| depth <= 2) {
            return Ok(nesting);
        }
        let (pieces, most) = (pieces(), Row::MOST_UNFOLDED);
        if pieces > most {
            return Err(input.absent(format!(
                "the file has {} ranges, and --depth lists at most {}: leave --depth out, or use --at for \
                 one byte",
                grouped(wide(pieces)),
                grouped(wide(most))
            )));
        }
        Ok(nesting)
    }
}

/// Writes the ranges of a file of `bytes` bytes. `shown` is the number of files that were written
/// before.
fn write_rows(
    input: &dyn Readable,
    bytes: u64,
    rows: &Ranges<'_, '_>,
    format: MapFormat,
    (out, shown): (&mut Output, usize),
) -> Result<(), Problem> {
    // All names are charged before the first row is written.
    rows.charge_names(|name| input.name_again(Some(name)))?;
    let path = input.name();
    if format == MapFormat::Json {
        return out.json(&MapDocument::new(path, bytes, rows));
    }
    if shown > 0 {
        out.bytes(b"\n")?;
    }
    Ok(show(path, bytes, rows, out)?)
}

/// A row in words.
struct ShownRow<'r, 'm, 'a> {
    /// The titles of the row, and of the only parts that share it.
    title: String,
    /// The innermost of these rows, with its contents.
    entry: Row,
    kinds: Vec<KindTotal>,
    rows: Vec<RangeRow<'r, 'm, 'a>>,
    more: Option<Rows<'r, 'm, 'a>>,
}

impl<'r, 'm, 'a> ShownRow<'r, 'm, 'a> {
    /// Joins a row that has a single part with this part.
    fn of(mut row: RangeRow<'r, 'm, 'a>) -> Self {
        let mut title = String::new();
        loop {
            let entry = row.entry();
            if !title.is_empty() {
                title.push_str(" / ");
            }
            title.push_str(&label(&entry));
            match row.contents() {
                RowContents::Rows(mut more) => {
                    let first: Vec<_> = more.by_ref().take(2).collect();
                    match <[_; 1]>::try_from(first) {
                        Ok([only]) => row = only,
                        Err(rows) => {
                            let (kinds, more) = (Vec::new(), Some(more));
                            return Self { title, entry, kinds, rows, more };
                        }
                    }
                }
                contents => {
                    let kinds = match contents {
                        RowContents::Kinds(kinds) => kinds,
                        _ => Vec::new(),
                    };
                    return Self { title, entry, kinds, rows: Vec::new(), more: None };
                }
            }
        }
    }

    /// Returns the rows inside the row.
    fn inner(self) -> impl Iterator<Item = RangeRow<'r, 'm, 'a>> {
        self.rows.into_iter().chain(self.more.into_iter().flatten())
    }
}

/// Describes the most frequent kinds in a range, and its padding.
fn kinds_text(row: &Row, kinds: &[KindTotal]) -> String {
    let is_title = |kind: &&KindTotal| row.count.is_some() && kind.name == row.name.raw();
    let (padding, kinds): (Vec<_>, Vec<_>) =
        kinds.iter().filter(|kind| !is_title(kind)).partition(|kind| kind.name == "padding");
    let mut shown: Vec<_> = kinds.iter().take(MAX_KINDS).map(kind_text).collect();
    if let more @ 1.. = kinds.len().saturating_sub(MAX_KINDS) {
        shown.push(count(wide(more), "more kind"));
    }
    shown.extend(padding.iter().map(|kind| format!("padding of {}", grouped(kind.bytes))));
    shown.join(", ")
}

/// Returns the title of a row alone.
fn label(row: &Row) -> String {
    // The innermost part is named, if it is not the range itself.
    let of = row.part.as_ref().and_then(|part| part.last()).filter(|of| **of != row.name);
    match (row.count, of) {
        (Some(count), _) => format!("{} × {}", name(&row.name), grouped(count)),
        (None, Some(of)) => format!("{} / {}", name(of), name(&row.name)),
        (None, None) => name(&row.name),
    }
}

/// Formats a kind and its count, such as `Tensor vector × 12`.
fn kind_text(kind: &KindTotal) -> String {
    let what = match (kind.what.map(ObjectKind::name), kind.name) {
        (Some("table"), name) => name.to_string(),
        (Some("vtable"), _) => "vtable".into(),
        // All strings have the name `strings`: the kind `string` says as much.
        (Some(what), "strings") => what.into(),
        (Some(what), name) => format!("{name} {what}"),
        (None, name) => name.into(),
    };
    match kind.count {
        1 => what,
        count => format!("{what} × {}", grouped(count)),
    }
}

fn show(
    path: &UntrustedString,
    bytes: u64,
    rows: &Ranges<'_, '_>,
    out: &mut Output,
) -> fmt::Result {
    writeln!(out, "{BOLD}{path}{BOLD:#}  {DIM}{} bytes{DIM:#}", grouped(bytes))?;
    let (offset, digits) = (format!("{bytes:#x}").len(), grouped(bytes).len());
    let columns = Columns { offset, bytes: digits, terminal: Width::of_terminal() };
    rows.rows().try_for_each(|row| show_row(row, &columns, 0, out))
}

/// The widths of the columns.
struct Columns {
    offset: usize,
    bytes: usize,
    terminal: Width,
}

/// Writes a row and those inside it. The recursion is as deep as the nesting.
fn show_row<'r>(
    row: RangeRow<'r, '_, '_>,
    columns: &Columns,
    level: usize,
    out: &mut Output,
) -> fmt::Result {
    let place = row.entry();
    let row = ShownRow::of(row);
    let Columns { offset, bytes: widest, terminal } = *columns;
    let (begin, end) = (format!("{:#x}", place.begin), format!("{:#x}", place.end));
    let (bytes, indent) = (grouped(place.bytes), level.saturating_mul(2));
    write!(out, "  {DIM}{begin:>offset$} {end:>offset$}{DIM:#} {bytes:>widest$}  ")?;
    let kinds = kinds_text(&row.entry, &row.kinds);
    let mut text = format!("{NAME}{}{NAME:#}", row.title);
    let what = row.entry.what.unwrap_or_default();
    for more in [what, &kinds].into_iter().filter(|more| !more.is_empty()) {
        text.push_str(&format!("  {DIM}{more}{DIM:#}"));
    }
    let before = [2, offset, 1, offset, 1, widest, 2, indent];
    let begin = before.into_iter().fold(0, usize::saturating_add);
    writeln!(out, "{:indent$}{}", "", terminal.paragraph(&text, begin))?;
    row.inner().try_for_each(|row| show_row(row, columns, level.saturating_add(1), out))
}

/// An offset as a command-line argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offset(u64);

impl FromStr for Offset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid =
            || format!("invalid offset {text:?}: expected decimal (6720) or hexadecimal (0x1a40)");
        let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None => (text, 10),
        };
        if !digits.chars().all(|c| c.is_digit(radix)) {
            return Err(invalid());
        }
        u64::from_str_radix(digits, radix).map(Self).map_err(|_| invalid())
    }
}

/// The maximum number of kinds that are shown for a range.
const MAX_KINDS: usize = 4;

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
