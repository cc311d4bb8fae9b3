//! Named tensors and blobs, by key: of programs, and of two `.ptd` files of any generations.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::contents::{Contents, Sha};
use super::{Class, DiffError, Difference, Report, Shown, text};
use crate::bytes::{index as at_index, narrow};
use crate::error::Result;
use crate::file::source::Source;
use crate::ptd::{Layout, Ptd};
use crate::pte::Pte;

/// What a key leads to.
struct Entry<'a> {
    layout: Option<Layout<'a>>,
    /// Its digest and length, or the code of what is wrong with it.
    data: core::result::Result<(Sha, u64), &'static str>,
}

/// The entries of a file. What is the same and in the same place is kept once, however many keys lead to it.
struct Entries<'a> {
    /// By key, and those of one key in the order of the file; with the number of what is there.
    rows: Vec<(Option<&'a str>, u32)>,
    distinct: Vec<Entry<'a>>,
}

/// A key, and of the entries with that key which one.
type Key<'a> = (Option<&'a str>, usize);

/// Adds what differs between the named data of two programs.
pub(super) fn compare<S: Source>(
    (old, a): (&Pte<'_>, &mut Contents<'_, S>),
    (new, b): (&Pte<'_>, &mut Contents<'_, S>),
    report: &mut Report,
) -> core::result::Result<(), DiffError<S::Error>> {
    let rows = |pte: &Pte<'_>| pte.named_data().len();
    if rows(old) == 0 && rows(new) == 0 {
        return Ok(());
    }
    let mut before = entries(old.named_data().map(|(key, range)| (key, None, range)), a)?;
    let mut after = entries(new.named_data().map(|(key, range)| (key, None, range)), b)?;
    // What one has in itself the other may have beside it.
    lend(&before, &mut after, b)?;
    lend(&after, &mut before, a)?;
    differences(&before, &after, report);
    Ok(())
}

fn lend<'a, S: Source>(
    from: &Entries<'a>,
    to: &mut Entries<'a>,
    contents: &mut Contents<'_, S>,
) -> core::result::Result<(), DiffError<S::Error>> {
    let mut lent = Vec::new();
    for rows in from.keys() {
        if let Some(&(Some(name), _)) = rows.first()
            && to.of_key(Some(name)).is_empty()
            && let Some(data) = contents.hash_key(name)?
        {
            lent.push((Some(name), narrow(to.distinct.len())));
            to.distinct.push(Entry { layout: None, data: Ok(data) });
        }
    }
    to.rows.append(&mut lent);
    to.sort();
    Ok(())
}

/// Adds what differs between two `.ptd` files.
pub(super) fn compare_files<S: Source>(
    (old, a): (&Ptd<'_>, &mut Contents<'_, S>),
    (new, b): (&Ptd<'_>, &mut Contents<'_, S>),
    report: &mut Report,
) -> core::result::Result<(), DiffError<S::Error>> {
    if old.generation() != new.generation() {
        report.header("generation", old.generation(), new.generation());
    }
    let before = entries(old.entries().map(|e| (e.key(), e.layout(), e.range())), a)?;
    let after = entries(new.entries().map(|e| (e.key(), e.layout(), e.range())), b)?;
    differences(&before, &after, report);
    Ok(())
}

fn entries<'a, S: Source>(
    rows: impl Iterator<Item = (Option<&'a str>, Option<Layout<'a>>, Result<Range<u64>>)>,
    contents: &mut Contents<'_, S>,
) -> core::result::Result<Entries<'a>, DiffError<S::Error>> {
    let mut entries =
        Entries { rows: Vec::with_capacity(rows.size_hint().0), distinct: Vec::new() };
    let mut known = BTreeMap::new();
    for (key, layout, range) in rows {
        let range = range.map_err(|error| error.code()).map(|range| (range.start, range.end));
        let sizes =
            layout.and_then(|layout| layout.sizes).map(|sizes| sizes.bytes().as_ptr_range());
        let order =
            layout.and_then(|layout| layout.dim_order).map(|all| all.bytes().as_ptr_range());
        let bounds = |range: Range<*const u8>| (range.start, range.end);
        let dtype = layout.map(|layout| layout.scalar_type.0);
        let place = (range, dtype, sizes.map(bounds), order.map(bounds));
        let nth = match known.get(&place) {
            Some(&nth) => nth,
            None => {
                let data = match range {
                    Ok((start, end)) => Ok((contents.hash(start..end)?, end.saturating_sub(start))),
                    Err(code) => Err(code),
                };
                let nth = narrow(entries.distinct.len());
                entries.distinct.push(Entry { layout, data });
                known.insert(place, nth);
                nth
            }
        };
        entries.rows.push((key, nth));
    }
    entries.sort();
    Ok(entries)
}

impl<'a> Entries<'a> {
    fn sort(&mut self) {
        self.rows.sort_by_key(|&(key, _)| key);
    }

    /// Returns the rows of each key.
    fn keys(&self) -> impl Iterator<Item = &[(Option<&'a str>, u32)]> {
        self.rows.chunk_by(|(one, _), (other, _)| one == other)
    }

    /// Returns the rows of a key.
    fn of_key(&self, key: Option<&str>) -> &[(Option<&'a str>, u32)] {
        let from = self.rows.partition_point(|&(other, _)| other < key);
        let rest = self.rows.get(from..).unwrap_or_default();
        let len = rest.partition_point(|&(other, _)| other <= key);
        rest.get(..len).unwrap_or_default()
    }

    fn entry(&self, row: Option<&(Option<&'a str>, u32)>) -> Option<&Entry<'a>> {
        self.distinct.get(at_index(row?.1))
    }
}

fn differences(before: &Entries<'_>, after: &Entries<'_>, report: &mut Report) {
    let mut add = |key: &Key<'_>, what, before: Option<Shown>, after: Option<Shown>| {
        report.add(Class::NamedData, || Difference {
            class: Class::NamedData,
            method: None,
            place: match *key {
                (None, _) => "(no key)".into(),
                (Some(name), 0) => text::quoted(name),
                (Some(name), nth) => format!("{}, again ({nth})", text::quoted(name)),
            },
            what,
            before,
            after,
        });
    };
    for rows in before.keys() {
        let key = rows.first().and_then(|&(key, _)| key);
        let others = after.of_key(key);
        for (nth, row) in rows.iter().enumerate() {
            let Some(old) = before.entry(Some(row)) else { continue };
            let key = &(key, nth);
            match after.entry(others.get(nth)) {
                None => add(key, "entry", Some(old.shown()), None),
                Some(new) => match (old.fields(new).as_slice(), old.data == new.data) {
                    ([], true) => {}
                    ([(what, one, other)], true) => {
                        let (one, other) = (one.clone(), other.clone());
                        add(key, what, Some(text::shown(one)), Some(text::shown(other)));
                    }
                    ([], false) => add(key, "data", Some(old.shown()), Some(new.shown())),
                    _ => add(key, "tensor", Some(old.shown()), Some(new.shown())),
                },
            }
        }
    }
    for rows in after.keys() {
        let key = rows.first().and_then(|&(key, _)| key);
        let known = before.of_key(key).len();
        for (nth, row) in rows.iter().enumerate().skip(known) {
            let new = after.entry(Some(row));
            add(&(key, nth), "entry", None, new.map(Entry::shown));
        }
    }
}

impl Entry<'_> {
    fn shown(&self) -> Shown {
        let shape = self.layout.map(|layout| {
            let sizes = layout.sizes.into_iter().flatten();
            format!("{}{}", text::dtype(layout.scalar_type), text::list(sizes))
        });
        match (&self.data, shape) {
            (Ok((sha, _)), Some(shape)) => text::data(shape, Some(*sha)),
            (Ok((sha, len)), None) => text::data(text::bytes(*len), Some(*sha)),
            (Err(code), shape) => text::shown(format!(
                "{}broken ({code})",
                shape.map_or_else(String::new, |s| s + ", ")
            )),
        }
    }

    /// What differs in shape.
    fn fields(&self, other: &Self) -> Vec<(&'static str, String, String)> {
        let mut out = Vec::new();
        let (Some(old), Some(new)) = (self.layout, other.layout) else {
            if self.layout.is_some() != other.layout.is_some() {
                let text = |entry: &Self| match entry.layout {
                    Some(_) => entry.shown().text,
                    None => "none".into(),
                };
                out.push(("shape", text(self), text(other)));
            }
            return out;
        };
        if old.scalar_type != new.scalar_type {
            out.push(("dtype", text::dtype(old.scalar_type), text::dtype(new.scalar_type)));
        }
        let bytes = |layout: Layout<'_>| layout.sizes.map_or_else(Vec::new, |s| s.bytes().to_vec());
        if bytes(old) != bytes(new) {
            let text = |layout: Layout<'_>| text::list(layout.sizes.into_iter().flatten());
            out.push(("sizes", text(old), text(new)));
        }
        let order =
            |layout: Layout<'_>| layout.dim_order.map_or_else(Vec::new, |o| o.bytes().to_vec());
        if order(old) != order(new) {
            let text = |layout: Layout<'_>| text::list(layout.dim_order.into_iter().flatten());
            out.push(("dim order", text(old), text(new)));
        }
        out
    }
}
