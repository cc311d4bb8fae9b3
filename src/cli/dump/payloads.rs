//! The payloads in a dump: their tables as JSON.

use core::fmt::{self, Write};
use core::ops::Range;
use std::collections::BTreeSet;

use pte::flat::bytes::len_of;
use pte::flat::json::{self, Omitted};
use pte::payload::{Sections, Tables, TablesPlace, Unreadable};
use pte::{Backend, ForeignFormat, Limits, Pte, Source};

use super::{Blobs, sections};
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
            for (nth, delegate) in plan.delegates().into_iter().flatten().enumerate() {
                // A delegate has no tables if it has no payload, or an invalid reference to one.
                let Ok(Some(payload)) = pte.payload(delegate) else { continue };
                let range = payload.range();
                if !seen.insert((range.start, range.end, payload.backend())) {
                    continue;
                }
                if seen.len() > 1 {
                    out.write_char(',')?;
                }
                self.line(2, out)?;
                out.write_char('{')?;
                self.key(3, "method", out)?;
                json::string(plan.name().unwrap_or_default(), out)?;
                out.write_char(',')?;
                self.key(3, "delegate", out)?;
                write!(out, "{nth},")?;
                self.key(3, "id", out)?;
                json::string(payload.id().unwrap_or_default(), out)?;
                out.write_char(',')?;
                self.key(3, "offset", out)?;
                write!(out, "{},", range.start)?;
                self.key(3, "size", out)?;
                write!(out, "{},", payload.len())?;
                self.key(3, "tables", out)?;
                let Some(backend) = payload.backend() else {
                    out.write_str("null")?;
                    self.line(2, out)?;
                    out.write_char('}')?;
                    continue;
                };
                let head =
                    range.start..range.start.saturating_add(payload.len().min(ForeignFormat::HEAD));
                let written = self.input.read(head).map_err(Stop::Problem).and_then(|head| {
                    let place = TablesPlace::of_payload(backend, &head, payload.len());
                    if let Some(place) = place {
                        return self.tables(place, range.start, out);
                    }
                    out.write_str("null")?;
                    self.sections(backend, range.clone(), out)
                });
                if let Err(stop) = written {
                    if let Stop::Problem(problem) = stop {
                        self.problem.get_or_insert(problem);
                    }
                    return Err(fmt::Error);
                }
                self.line(2, out)?;
                out.write_char('}')?;
            }
        }
        if !seen.is_empty() {
            self.line(1, out)?;
        }
        out.write_char(']')
    }

    /// Writes the tables of a payload that begins at `start`. Of unreadable ones it writes null, and
    /// the reason.
    fn tables(
        &self,
        place: Result<TablesPlace, Unreadable>,
        start: u64,
        out: &mut Output,
    ) -> Result<(), Stop> {
        let place = match place {
            Ok(place) => place,
            Err(why) => return self.unreadable(&why.to_string(), out),
        };
        let Range { start: from, end: to } = place.range;
        let range = start.saturating_add(from)..start.saturating_add(to);
        let bytes = self.input.read(range)?;
        match Tables::read(&place, &bytes, &self.limits) {
            Ok(tables) => write(tables, 3, self.blobs, self.pretty, out).map(drop),
            Err(why) => self.unreadable(&why.to_string(), out),
        }
    }

    fn unreadable(&self, why: &str, out: &mut Output) -> Result<(), Stop> {
        out.write_str("null,")?;
        self.key(3, "unreadable", out)?;
        Ok(json::string(why, out)?)
    }

    /// Writes the sections of a payload in a range of the file, if its backend's payloads have
    /// sections.
    fn sections(&self, backend: Backend, range: Range<u64>, out: &mut Output) -> Result<(), Stop> {
        let at = |pos: u64| range.start.saturating_add(pos);
        let read = |part: Range<u64>| self.input.read(at(part.start)..at(part.end));
        let len = len_of(&range);
        if let Some(found) = Sections::of(backend, len, read)? {
            out.write_char(',')?;
            self.key(3, "header", out)?;
            sections::write(&found, self.pretty.then_some(3), out)?;
        }
        Ok(())
    }

    fn key(&self, level: usize, name: &str, out: &mut Output) -> fmt::Result {
        self.line(level, out)?;
        let after = if self.pretty { ": " } else { ":" };
        write!(out, "\"{name}\"{after}")
    }

    fn line(&self, level: usize, out: &mut Output) -> fmt::Result {
        match self.pretty {
            true => write!(out, "\n{:1$}", "", level.saturating_mul(2)),
            false => Ok(()),
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
) -> Result<Omitted, Stop> {
    let region = bytes.read(place.range.clone(), name, limits)?;
    let tables = Tables::read(place, &region, limits).map_err(|why| bytes.invalid(name, why))?;
    write(tables, 0, blobs, pretty, out)
}

/// Writes the sections of a standalone payload or ETRecord. Returns `None` for another file.
pub(super) fn sections_of_file(
    bytes: &Bytes,
    name: &UntrustedString,
    pretty: bool,
    open: impl FnOnce() -> Result<Output, Problem>,
) -> Result<Option<(Output, fmt::Result)>, Problem> {
    let (head, len) = bytes.head(name)?;
    let read = |part: Range<u64>| {
        // The range is that of a header, which is short.
        let size = usize::try_from(len_of(&part)).unwrap_or_default();
        let mut read = vec![0; size];
        let done = bytes.read_at(part.start, &mut read);
        done.map(|()| read).map_err(|error| Problem::io(name, error))
    };
    let Some(found) = Sections::of_file(bytes.format(&head, len, name)?, len, read)? else {
        return Ok(None);
    };
    let found = match found {
        Err(why) => return Err(bytes.invalid(name, why)),
        valid => valid,
    };
    let mut out = open()?;
    let written = sections::write(&found, pretty.then_some(0), &mut out);
    Ok(Some((out, written)))
}

fn write(
    tables: Tables<'_>,
    level: usize,
    blobs: &Blobs,
    pretty: bool,
    out: &mut Output,
) -> Result<Omitted, Stop> {
    let mut problem = None;
    let blob = |bytes: &[u8]| blobs.show(bytes, &mut problem);
    let written = tables.write_json(json::Options { pretty, blob }, level, &mut *out);
    match problem {
        Some(problem) => Err(Stop::Problem(problem)),
        None => Ok(written?),
    }
}

/// The reason why tables were not written.
pub(super) enum Stop {
    Problem(Problem),
    /// Writing to the output failed. [`Output`] keeps the error.
    Output,
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<fmt::Error> for Stop {
    fn from(_: fmt::Error) -> Self {
        Self::Output
    }
}
