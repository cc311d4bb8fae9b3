//! The payloads in a dump: their tables as JSON.

use core::fmt::{self, Write};
use core::ops::Range;
use std::collections::BTreeSet;

use pte::flat::bytes::len_of;
use pte::flat::json::{self, Omitted};
use pte::payload::{Sections, Tables, TablesPlace, Unreadable};
use pte::{Backend, ForeignFormat, Limits, Pte};

use super::Blobs;
use super::sections::{self, Object};
use crate::input::{Bytes, Input, Readable};
use crate::output::Output;
use crate::problem::Problem;
use pte::quoted::UntrustedString;

/// The key of the payloads in the JSON of a program.
pub(super) const KEY: &str = "payloads";

/// Writes the payloads of a program, and collects problems.
pub(super) struct PayloadWriter<'d> {
    input: &'d Input,
    blobs: &'d Blobs,
    limits: Limits,
    pretty: bool,
    pub(super) problem: Option<Problem>,
}

impl<'d> PayloadWriter<'d> {
    pub(super) fn new(input: &'d Input, blobs: &'d Blobs, limits: Limits, pretty: bool) -> Self {
        Self { input, blobs, limits, pretty, problem: None }
    }

    /// Writes a list of the payloads of a program. A payload that several delegates share is
    /// written once.
    pub(super) fn write(&mut self, pte: &Pte<'_>, out: &mut Output) -> fmt::Result {
        let mut seen = BTreeSet::new();
        out.write_char('[')?;
        let plans = pte.program().execution_plan().into_iter().flatten();
        for plan in plans {
            for (nth, delegate) in (0..).zip(plan.delegates().into_iter().flatten()) {
                // A delegate has no tables if it has no payload, or an invalid reference to one.
                let Ok(Some(payload)) = pte.payload(delegate) else { continue };
                let range = payload.range();
                if !seen.insert((range.start, range.end, payload.backend())) {
                    continue;
                }
                out.write_str(if seen.len() > 1 { "," } else { "" })?;
                sections::line(self.pretty.then_some(2), out)?;
                let mut object = Object::begin(self.pretty.then_some(2), out)?;
                object.text("method", Some(plan.name().unwrap_or_default()))?;
                object.number("delegate", Some(nth))?;
                object.text("id", Some(payload.id().unwrap_or_default()))?;
                object.number("offset", Some(range.start))?;
                object.number("size", Some(payload.len()))?;
                object.key("tables")?;
                let written = match payload.backend() {
                    None => Ok(object.out.write_str("null")?),
                    Some(backend) => self.contents(backend, range, &mut object),
                };
                written.map_err(|problem| {
                    self.problem.get_or_insert(problem);
                    fmt::Error
                })?;
                object.end()?;
            }
        }
        if !seen.is_empty() {
            sections::line(self.pretty.then_some(1), out)?;
        }
        out.write_char(']')
    }

    /// Writes the tables of a payload in a range of the file, or the reason why they are unreadable.
    /// Without tables, writes the sections, if its backend's payloads have any.
    fn contents(
        &self,
        backend: Backend,
        range: Range<u64>,
        object: &mut Object<'_>,
    ) -> Result<(), Problem> {
        let (at, len) = (|pos: u64| range.start.saturating_add(pos), len_of(&range));
        let read = |part: Range<u64>| self.input.read(at(part.start)..at(part.end));
        let head = read(0..len.min(ForeignFormat::HEAD))?;
        let Some(place) = TablesPlace::of_payload(backend, &head, len) else {
            object.out.write_str("null")?;
            if let Some(found) = Sections::of(backend, len, read)? {
                object.key("header")?;
                sections::write(&found, self.pretty.then_some(3), object.out)?;
            }
            return Ok(());
        };
        let unreadable = |why: Unreadable, object: &mut Object<'_>| {
            object.out.write_str("null")?;
            Ok(object.text("unreadable", Some(&why.to_string()))?)
        };
        let place = match place {
            Ok(place) => place,
            Err(why) => return unreadable(why, object),
        };
        let bytes = read(place.range.clone())?;
        match Tables::read(&place, &bytes, &self.limits) {
            Ok(tables) => write(tables, 3, self.blobs, self.pretty, object.out).map(drop),
            Err(why) => unreadable(why, object),
        }
    }
}

/// Returns the place of the tables in a file that is no model; `None` if the schema of its tables
/// is not known.
pub(super) fn place(bytes: &Bytes, name: &UntrustedString) -> Result<Option<TablesPlace>, Problem> {
    let (head, len) = bytes.head(name)?;
    match TablesPlace::of(&head, len) {
        None => Ok(None),
        Some(Ok(place)) => Ok(Some(place)),
        Some(Err(why)) => Err(bytes.invalid(name, why)),
    }
}

/// Writes the tables of a file that is not a model.
pub(super) fn file(
    bytes: &Bytes,
    place: &TablesPlace,
    (name, limits): (&UntrustedString, &Limits),
    (blobs, pretty): (&Blobs, bool),
    out: &mut Output,
) -> Result<Omitted, Problem> {
    let region = bytes.read(place.range.clone(), name, limits)?;
    let tables = Tables::read(place, &region, limits).map_err(|why| bytes.invalid(name, why))?;
    write(tables, 0, blobs, pretty, out)
}

/// Reads the sections of a standalone payload or ETRecord. Returns `None` for another file.
pub(super) fn sections_of_file(
    bytes: &Bytes,
    name: &UntrustedString,
) -> Result<Option<Sections>, Problem> {
    let (head, len) = bytes.head(name)?;
    // The ranges are those of headers, which are short.
    let read = |part| bytes.read_unlimited(part, name);
    let found = Sections::of_file(bytes.format(&head, len, name)?, len, read)?;
    found.transpose().map_err(|why| bytes.invalid(name, why))
}

fn write(
    tables: Tables<'_>,
    level: usize,
    blobs: &Blobs,
    pretty: bool,
    out: &mut Output,
) -> Result<Omitted, Problem> {
    let mut problem = None;
    let blob = |bytes: &[u8]| blobs.show(bytes, &mut problem);
    let written = tables.write_json(json::Options { pretty, blob }, level, &mut *out);
    match problem {
        Some(problem) => Err(problem),
        None => Ok(written?),
    }
}
