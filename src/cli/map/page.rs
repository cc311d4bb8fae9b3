//! The page in one file (`web/page/file.ts`), with the documents of a model inside.
//!
//! The page is built from `web/` and checked in, so that the command needs no Node to build. Its policy allows its own
//! script and style, by their digests. What the command adds is JSON in an inert element.

use core::cell::OnceCell;
use core::fmt::Write as _;
use core::ops::Range;
use core::slice;
use std::collections::BTreeMap;
use std::io::Write as _;

use anstream::adapter::strip_str;
use pte::check::{CheckedFile, Checker};
use pte::document::write_line;
use pte::explorer::ExplorerDocument;
use pte::flat::bytes::len_of;
use pte::map::{Map, MapDocument, Nesting, OtherFile, SizeDocument, SizeTree};
use pte::operators::usage::UsageReport;
use pte::payload::PayloadContents;
use pte::quoted::UntrustedString;
use pte::summary::{NamedSummary, Summary, SummaryDocument};
use pte::tensors::ModuleTree;
use pte::{File, Limits, Pte, method};
use serde::Serialize;

use self::short::Short;
use super::byte::Byte;
use crate::input::{Input, Readable};
use crate::output::Output;
use crate::problem::Problem;
use crate::{check, info, memory, refusal};

mod largest;
mod short;

/// The page, with the places of what is written into it.
const PAGE: &str = include_str!("page/page.html");

/// A file of the page.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageFile {
    pub(crate) name: UntrustedString,
    pub(crate) size: u64,
    pub(crate) is_data: bool,
}

/// Returns JSON that can stand inside of the page.
pub(crate) fn inert(value: &serde_json::Value) -> Vec<u8> {
    let mut short = Short::new(usize::MAX);
    // It writes into memory, which does not fail.
    let _ = write_line(&mut short, value);
    short.text().to_vec()
}

/// A model whose page is written.
pub(crate) struct PageModel<'p> {
    input: &'p Input,
    /// The bundle that the program is in.
    bundle: Option<&'p OtherFile>,
    payloads: &'p [PayloadContents],
    nesting: Nesting,
    limits: Limits,
    checked: OnceCell<CheckedFile>,
}

/// Writes a page around `contents`. It may send requests to `connect`, a source of a content security policy. Without
/// JavaScript it shows `summary`.
pub(crate) fn write_around(
    out: &mut Output,
    connect: &str,
    summary: &str,
    contents: impl FnOnce(&mut Output) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let (head, rest) = PAGE.split_once("connect-src CONNECT").unwrap_or((PAGE, ""));
    let (policy, rest) = rest.split_once("SUMMARY").unwrap_or((rest, ""));
    let (middle, tail) = rest.split_once("CONTENTS").unwrap_or((rest, ""));
    out.bytes(head.as_bytes())?;
    out.bytes(format!("connect-src {connect}{policy}").as_bytes())?;
    out.bytes(summary.replace('&', "&amp;").replace('<', "&lt;").as_bytes())?;
    out.bytes(middle.as_bytes())?;
    contents(out)?;
    out.bytes(tail.as_bytes())
}

impl<'p> PageModel<'p> {
    pub(crate) fn new(
        input: &'p Input,
        bundle: Option<&'p OtherFile>,
        payloads: &'p [PayloadContents],
        nesting: Nesting,
        limits: Limits,
    ) -> Self {
        Self { input, bundle, payloads, nesting, limits, checked: OnceCell::new() }
    }

    /// Writes the page with its documents inside.
    pub(crate) fn write(&self, out: &mut Output) -> Result<(), Problem> {
        let summary = self.summary();
        write_around(out, "'none'", &summary, |out| self.contents(out))
    }

    /// Returns what `pte info` and `pte check` print, without colours. What cannot be shown says why.
    fn summary(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let written = match self.named_summary() {
            Ok(summary) => info::show(&summary, &mut text),
            Err(problem) => writeln!(text, "{problem}"),
        };
        self.input.renew_budget();
        let _ = written.and_then(|()| match self.checked() {
            Ok(checked) => check::show::write(slice::from_ref(checked), &mut text),
            Err(problem) => writeln!(text, "{problem}"),
        });
        let mut text = strip_str(&text).to_string();
        if text.len() > MOST_OF_SUMMARY {
            let end = (0..=MOST_OF_SUMMARY).rev().find(|&at| text.is_char_boundary(at));
            text.truncate(end.unwrap_or_default());
            text.push_str("…\n");
        }
        text
    }

    fn named_summary(&self) -> Result<NamedSummary, Problem> {
        let input = self.input;
        let summary = Summary::read_method(&input.opened, None, &self.limits);
        let mut summary = summary.map_err(|error| Problem::open(&input.name, error))?;
        if let Some(bundle) = &input.bundle {
            summary = summary.bundled(bundle.len, bundle.program.start);
        }
        Ok(summary.named(input.name.clone()))
    }

    fn contents(&self, out: &mut Output) -> Result<(), Problem> {
        let Self { input, .. } = self;
        let file = PageFile {
            name: input.name.clone(),
            size: self.bundle.map_or(input.opened.file_len(), OtherFile::file_len),
            is_data: matches!(input.opened.file(), File::Ptd(_)),
        };
        out.bytes(b"{\"files\":[")?;
        self.value(&file, out)?;
        out.bytes(b"],\"documents\":{")?;
        for (nth, (call, most, document)) in DOCUMENTS.iter().enumerate() {
            let comma = if nth > 0 { "," } else { "" };
            out.bytes(format!("{comma}\"{call}\":{{").as_bytes())?;
            // Each document may show all names.
            input.renew_budget();
            let mut short = Short::new(*most);
            match document(self, &mut short) {
                Ok(()) => {
                    let omitted = short.omitted();
                    out.bytes(format!("\"omitted\":{omitted},\"document\":").as_bytes())?;
                    out.bytes(short.text())?;
                }
                Err(problem) => {
                    out.bytes(b"\"omitted\":0,\"error\":")?;
                    self.value(&refusal::for_page(&problem), out)?;
                }
            }
            out.bytes(b"}")?;
        }
        out.bytes(b"},\"bytes\":[")?;
        let base = input.bundle.as_ref().map_or(0, |bundle| bundle.program.start);
        for (nth, window) in self.windows().into_iter().enumerate() {
            let (begin, comma) =
                (window.start.saturating_add(base), if nth > 0 { "," } else { "" });
            let bytes = base64(&input.read_uncharged(window)?);
            out.bytes(format!("{comma}[{begin},\"{bytes}\"]").as_bytes())?;
        }
        out.bytes(b"],\"fields\":")?;
        let mut fields = Short::new(MOST_OF_FIELDS);
        self.fields(&mut fields)?;
        out.bytes(fields.text())?;
        out.bytes(b"}")
    }

    fn value(&self, value: &impl Serialize, out: &mut Output) -> Result<(), Problem> {
        let mut short = Short::new(MOST_OF_FIELDS);
        self.line(value, &mut short)?;
        out.bytes(short.text())
    }

    fn line(&self, value: &impl Serialize, to: &mut Short) -> Result<(), Problem> {
        write_line(to, value).map_err(|error| Problem::io(&self.input.name, error))
    }
}

/// Writes a document about a model.
type WriteDocument = fn(&PageModel<'_>, &mut Short) -> Result<(), Problem>;

/// The documents of a page: the question of the page (`Call` in `web/page/engine.ts`), the largest number of bytes, and
/// what writes it.
const DOCUMENTS: &[(&str, usize, WriteDocument)] = &[
    ("info", 64 << 10, info),
    ("check", 96 << 10, check),
    ("sizes", 96 << 10, sizes),
    ("modules", 64 << 10, modules),
    ("memory", 192 << 10, memory),
    ("ops", 32 << 10, ops),
    ("map", 80 << 10, map),
    ("explorer", 288 << 10, explorer),
];

fn info(model: &PageModel<'_>, to: &mut Short) -> Result<(), Problem> {
    model.line(&SummaryDocument::new(vec![model.named_summary()?]), to)
}

fn check(model: &PageModel<'_>, to: &mut Short) -> Result<(), Problem> {
    model.line(model.checked()?, to)
}

fn sizes(model: &PageModel<'_>, to: &mut Short) -> Result<(), Problem> {
    let PageModel { input, payloads, bundle, .. } = model;
    let charge = |name: &str| input.name_again(Some(name));
    let mut sizes = SizeTree::try_of(&input.name, &input.opened.file(), payloads, charge)?;
    if let Some(bundle) = bundle {
        let program = sizes;
        sizes = bundle.sizes(&input.name, charge)?;
        sizes.add_program(program);
    }
    largest_parts(model, sizes, ROOM_FOR_PARTS, to)
}

fn modules(model: &PageModel<'_>, to: &mut Short) -> Result<(), Problem> {
    let PageModel { input, payloads, .. } = model;
    let sizes = ModuleTree::of(&input.opened.file(), payloads).sizes(&input.name);
    largest_parts(model, sizes, ROOM_FOR_MODULES, to)
}

/// Writes the largest parts of a file, for which there is `room`.
fn largest_parts(
    model: &PageModel<'_>,
    mut sizes: SizeTree,
    room: usize,
    to: &mut Short,
) -> Result<(), Problem> {
    let left_out = largest::keep(&mut sizes, room);
    model.line(&SizeDocument::new(&[sizes], None, None, u32::MAX), to)?;
    to.leave_out(left_out);
    Ok(())
}

fn memory(model: &PageModel<'_>, to: &mut Short) -> Result<(), Problem> {
    let left_out = memory::write_largest(model.input, &model.limits, ROOM_FOR_TENSORS, to)?;
    to.leave_out(left_out);
    Ok(())
}

fn ops(model: &PageModel<'_>, to: &mut Short) -> Result<(), Problem> {
    let mut report = UsageReport::default();
    crate::ops::add(model.input, &model.limits, &mut report)?;
    model.line(&report.document(None), to)
}

fn map(model: &PageModel<'_>, to: &mut Short) -> Result<(), Problem> {
    let PageModel { input, payloads, nesting, bundle, .. } = model;
    let (file, charge) = (input.opened.file(), |name: &str| input.name_again(Some(name)));
    let map = Map::in_detail_with_payloads(&file, payloads);
    let ranges = map.ranges(*nesting);
    let outer = bundle.map(OtherFile::map_in_detail);
    let (rows, bytes) = match (&outer, bundle) {
        (Some(outer), Some(bundle)) => {
            let program = bundle.program().unwrap_or_default();
            (outer.ranges(*nesting).with_program(program, ranges), bundle.file_len())
        }
        _ => (ranges, file.file_len()),
    };
    rows.charge_names(charge)?;
    model.line(&MapDocument::new(&input.name, bytes, &rows), to)
}

/// Writes the graph, if the page has room for all of it: a part of a graph would be another one. That of large tables
/// is not tried, since it takes more memory than the page.
fn explorer(model: &PageModel<'_>, to: &mut Short) -> Result<(), Problem> {
    let PageModel { input, payloads, limits, .. } = model;
    let graphs = payloads.iter().map(|of| len_of(&of.graph)).fold(0, u64::saturating_add);
    let too_large =
        || input.absent("the graph is too large for a page: `pte view` shows it".into());
    let is_too_large = match input.opened.file() {
        File::Pte(pte) => has_more_items(&pte, MOST_ITEMS),
        File::Ptd(_) => false,
    };
    if is_too_large || graphs > MOST_OF_GRAPHS || input.opened.region_len() > MOST_OF_TABLES {
        return Err(too_large());
    }
    let document = ExplorerDocument::of(&input.name, &input.opened, false, limits);
    let document = document.map_err(|error| Problem::open(&input.name, error))?;
    to.be_whole_or_nothing();
    let written = model.line(&document, to);
    if to.has_all_items() { written } else { Err(too_large()) }
}

/// Returns whether the arenas and instructions of a program, and the values that these name, are more than `most`.
fn has_more_items(pte: &Pte<'_>, most: usize) -> bool {
    let mut counts = method::distinct(pte).flat_map(|(_, plan)| {
        let arenas = plan.non_const_buffer_sizes().map_or(0, |sizes| sizes.len());
        let devices = plan.non_const_buffer_device().map_or(0, |devices| devices.len());
        let operands = method::instructions(plan).map(|one| one.operands().len().saturating_add(1));
        [arenas, devices].into_iter().chain(operands)
    });
    // `None` ends the sum.
    counts.try_fold(most, |left, count| left.checked_sub(count)).is_none()
}

/// The bytes of a file, and what they mean: of a small file all bytes, else those at the beginning and near findings.
impl PageModel<'_> {
    /// Returns the findings, which are judged once.
    fn checked(&self) -> Result<&CheckedFile, Problem> {
        if let Some(checked) = self.checked.get() {
            return Ok(checked);
        }
        let Self { input, limits, .. } = self;
        let start = input.bundle.as_ref().map(|bundle| bundle.program.start);
        let report = Checker::new().limits(*limits).bundled(start).check(&input.opened);
        let report = report.map_err(|error| Problem::open(&input.name, error))?;
        let mut checked = CheckedFile::new(&input.name, &input.opened.file());
        checked.add(&input.opened, &[], &report);
        Ok(self.checked.get_or_init(|| checked))
    }

    /// Returns the offsets of the first findings.
    fn places(&self) -> impl Iterator<Item = u64> {
        let findings = self.checked.get().into_iter().flat_map(|checked| &checked.findings);
        findings.filter_map(|finding| finding.offset).take(MOST_PLACES)
    }

    /// Returns the ranges whose bytes are in the page, in order and apart from each other.
    fn windows(&self) -> Vec<Range<u64>> {
        let len = self.input.opened.file_len();
        if len <= WHOLE {
            return core::iter::once(0..len).collect();
        }
        let near = |at: u64| {
            let begin = at.saturating_sub(BEFORE);
            begin.saturating_sub(begin % ROW)..at.saturating_add(AFTER).min(len)
        };
        let mut all: Vec<_> = self.places().chain([0]).map(near).collect();
        all.sort_by_key(|range| range.start);
        let mut windows: Vec<Range<u64>> = Vec::new();
        for range in all.into_iter().filter(|range| !range.is_empty()) {
            match windows.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => windows.push(range),
            }
        }
        windows
    }

    /// Writes the fields around each finding, and those at the beginning of the file. Each takes a walk of the tables,
    /// so there are fewer for larger tables. It ends where their names are too long in total.
    fn fields(&self, to: &mut Short) -> Result<(), Problem> {
        let Self { input, payloads, .. } = self;
        let failed = |error| Problem::io(&input.name, error);
        input.renew_budget();
        to.write_all(b"[").map_err(failed)?;
        let (file, len) = (input.opened.file(), input.opened.file_len());
        let walks = WALKED.checked_div(input.opened.region_len()).unwrap_or(WALKED);
        let mut left = if walks < FEWEST_FIELDS { 0 } else { walks.min(MOST_FIELDS) };
        let mut ends = BTreeMap::new();
        let near = self.places().map(|at| (at.saturating_sub(NEAR), at.saturating_add(NEAR)));
        'places: for (mut at, end) in [(0, NEAR)].into_iter().chain(near).chain([(0, AFTER)]) {
            while at < end.min(len) && left > 0 && to.has_all_items() {
                // A field that is already written is not looked up again.
                let known = ends.range(..=at).next_back().map(|(_, end)| *end);
                if let Some(end) = known.filter(|end| *end > at) {
                    at = end;
                    continue;
                }
                left = left.saturating_sub(1);
                let Ok(mut byte) = Byte::of(&file, payloads, at, *input) else { break 'places };
                if let Some(bundle) = &input.bundle {
                    byte = byte.in_program_at(bundle.program.start);
                }
                if !ends.is_empty() {
                    to.write_all(b",").map_err(failed)?;
                }
                self.line(&byte.record(), to)?;
                let range = byte.range();
                ends.insert(range.start, range.end);
                at = range.end.max(at.saturating_add(1));
            }
        }
        to.write_all(b"]").map_err(failed)
    }
}

/// Returns bytes in base64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |nth: usize| u32::from(chunk.get(nth).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (nth, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = usize::try_from(bits >> shift & 63).unwrap_or_default();
            let digit = DIGITS.get(digit).copied().map_or('=', char::from);
            text.push(if nth <= chunk.len() { digit } else { '=' });
        }
    }
    text
}

/// The largest file whose bytes are all in its page.
const WHOLE: u64 = 1 << 14;

/// The bytes before and after a place that a hex view shows (`web/page/hex.ts`, `views/bytes.ts`), and its rows.
const BEFORE: u64 = 256;
const AFTER: u64 = 512;
const ROW: u64 = 16;

/// The bytes before and after a finding whose fields are shown (`web/page/hex.ts`).
const NEAR: u64 = 32;

/// The most findings whose bytes are in the page.
const MOST_PLACES: usize = 40;

/// The most fields in a page, and the most bytes of tables that are walked for them. Of tables so large that this would
/// be a few fields, there are none.
const MOST_FIELDS: u64 = 400;
const FEWEST_FIELDS: u64 = 16;
const WALKED: u64 = 1 << 24;

/// The most bytes of all fields together, and of a message. 400 usual fields have 120 kB.
const MOST_OF_FIELDS: usize = 128 << 10;

/// The bytes for the parts of a file, and for its tensors: less than their documents have, for what else is in them.
const ROOM_FOR_PARTS: usize = 56 << 10;
const ROOM_FOR_MODULES: usize = 32 << 10;
const ROOM_FOR_TENSORS: usize = 128 << 10;

/// The most bytes of the text that is shown without JavaScript.
const MOST_OF_SUMMARY: usize = 16 << 10;

/// The most bytes of a program's tables and of its payloads' graphs, and the most arenas, instructions and operands,
/// whose graph is tried: a larger one has more than its document may have.
const MOST_OF_TABLES: u64 = 1 << 21;
const MOST_OF_GRAPHS: u64 = 1 << 18;
const MOST_ITEMS: usize = 1 << 13;

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_padded() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
