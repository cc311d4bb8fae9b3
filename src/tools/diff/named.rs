//! Compares named tensors and blobs by key: of two programs, or of two `.ptd` files of any generations.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::contents::Contents;
use super::digest::Sha;
use super::fields::{self, Field, TableRef};
use super::{Class, Comparison, DiffError, Shown, text};
use pte_core::ptd::{Layout, Root};
use pte_core::{Ptd, Pte, Result, Source};
use pte_flat::bytes::{index as at_index, narrow};

/// A named tensor or blob.
struct Entry<'a> {
    /// The layout of a tensor.
    layout: Option<EntryLayout<'a>>,
    /// The digest of the layout.
    digest: Option<Sha>,
    /// The digest and length of its data, or the error code of an invalid reference.
    data: core::result::Result<(Sha, u64), &'static str>,
}

/// The layout of a tensor, with the table that has it.
#[derive(Clone, Copy)]
struct EntryLayout<'a> {
    view: Layout<'a>,
    table: TableRef<'a>,
}

/// The entries of a file. Keys of the same data and the same table share an entry.
struct Entries<'a> {
    /// Each key with the index of its entry, sorted by key. Equal keys are in the order of the file.
    rows: Vec<(Option<&'a str>, u32)>,
    distinct: Vec<Entry<'a>>,
}

/// A key, and an index among the rows of this key.
type Key<'a> = (Option<&'a str>, usize);

/// Adds the differences between the named data of two programs.
pub(super) fn compare<S: Source>(
    (old, a): (&Pte<'_>, &mut Contents<'_, S>),
    (new, b): (&Pte<'_>, &mut Contents<'_, S>),
    report: &mut Comparison,
) -> core::result::Result<(), DiffError<S::Error>> {
    let rows = |pte: &Pte<'_>| pte.named_data().len();
    if rows(old) == 0 && rows(new) == 0 {
        return Ok(());
    }
    let mut before = entries(old.named_data().map(|(key, range)| (key, None, range)), a)?;
    let mut after = entries(new.named_data().map(|(key, range)| (key, None, range)), b)?;
    // Data that one program contains may be in a `.ptd` of the other.
    lend(&before, &mut after, b)?;
    lend(&after, &mut before, a)?;
    // Data that a payload requests is compared with the payload. Its key has no meaning.
    before.leave_out(&after, |key| a.is_asked(key));
    after.leave_out(&before, |key| b.is_asked(key));
    differences(&before, &after, report);
    Ok(())
}

/// Adds to `to` each key of `from` that `to` lacks and that one of its `.ptd` files has.
/// `contents` has the data of these files.
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
            to.distinct.push(Entry { layout: None, digest: None, data: Ok(data) });
        }
    }
    to.rows.append(&mut lent);
    to.sort();
    Ok(())
}

/// Adds the differences between two `.ptd` files.
pub(super) fn compare_files<S: Source>(
    (old, a): (&Ptd<'_>, &mut Contents<'_, S>),
    (new, b): (&Ptd<'_>, &mut Contents<'_, S>),
    report: &mut Comparison,
) -> core::result::Result<(), DiffError<S::Error>> {
    if old.generation() != new.generation() {
        report.header("generation", old.generation(), new.generation());
    }
    let (before, after) = (entries(rows(old), a)?, entries(rows(new), b)?);
    differences(&before, &after, report);
    Ok(())
}

/// A row of a file: its key, its layout, and the range of its data.
type Row<'a> = (Option<&'a str>, Option<EntryLayout<'a>>, Result<Range<u64>>);

/// Returns the rows of a `.ptd`, in the order of [`Ptd::entries`].
fn rows<'a>(ptd: &Ptd<'a>) -> impl Iterator<Item = Row<'a>> {
    let (current, legacy) = match ptd.root() {
        Root::Current(root) => (root.named_data(), None),
        Root::Legacy(root) => (None, root.tensors()),
    };
    let current =
        current.into_iter().flatten().map(|named| named.tensor_layout().map(TableRef::of));
    let legacy = legacy.into_iter().flatten().map(|tensor| Some(TableRef::of(tensor)));
    // Old generations list their blobs last. These have no layout.
    let tables = current.chain(legacy).chain(core::iter::repeat(None));
    ptd.entries().zip(tables).map(|(entry, table)| {
        let layout = entry.layout().zip(table).map(|(view, table)| EntryLayout { view, table });
        (entry.key(), layout, entry.range())
    })
}

fn entries<'a, S: Source>(
    rows: impl Iterator<Item = Row<'a>>,
    contents: &mut Contents<'_, S>,
) -> core::result::Result<Entries<'a>, DiffError<S::Error>> {
    let mut entries =
        Entries { rows: Vec::with_capacity(rows.size_hint().0), distinct: Vec::new() };
    let mut known = BTreeMap::new();
    for (key, layout, range) in rows {
        let range = range.map_err(|error| error.code()).map(|range| (range.start, range.end));
        let place = (range, layout.and_then(|layout| layout.table.pos()));
        let nth = match known.get(&place) {
            Some(&nth) => nth,
            None => {
                let data = match range {
                    Ok((start, end)) => Ok((contents.hash(start..end)?, end.saturating_sub(start))),
                    Err(code) => Err(code),
                };
                let nth = narrow(entries.distinct.len());
                let digest = layout.map(|layout| fields::digest(layout.table));
                entries.distinct.push(Entry { layout, digest, data });
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

    /// Removes the rows whose key `other` does not have, if `is_left_out` is true for the key.
    fn leave_out(&mut self, other: &Self, is_left_out: impl Fn(Option<&str>) -> bool) {
        self.rows.retain(|&(key, _)| !other.of_key(key).is_empty() || !is_left_out(key));
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

fn differences(before: &Entries<'_>, after: &Entries<'_>, report: &mut Comparison) {
    let mut add = |key: &Key<'_>, what, before: Option<Shown>, after: Option<Shown>| {
        report.add(Class::NamedData, || {
            let place = match *key {
                (None, _) => "(no key)".into(),
                (Some(name), 0) => text::quoted(name),
                (Some(name), nth) => format!("{}, again ({nth})", text::quoted(name)),
            };
            (place, what, before, after)
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
            let sizes = layout.view.sizes.into_iter().flatten();
            format!("{}{}", text::dtype(layout.view.scalar_type), text::list(sizes))
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

    /// Returns the fields of the layouts that differ.
    fn fields(&self, other: &Self) -> Vec<Field> {
        if self.digest == other.digest {
            return Vec::new();
        }
        let (Some(old), Some(new)) = (self.layout, other.layout) else {
            let text = |entry: &Self| match entry.layout {
                Some(_) => entry.shown().text,
                None => "none".into(),
            };
            return vec![("shape", text(self), text(other))];
        };
        let mut fields = fields::differing(old.table, new.table);
        if fields.is_empty() {
            let (before, after) = (self.shown().text, other.shown().text);
            fields.push(("tensor", before, format!("{after}, past what is shown")));
        }
        fields
    }
}
