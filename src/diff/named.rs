//! Named tensors and blobs, by key: of programs, and of two `.ptd` files of any generations.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::contents::{Contents, Sha};
use super::{Class, DiffError, Difference, Report, Shown, say};
use crate::error::Result;
use crate::file::source::Source;
use crate::ptd::{Layout, Ptd};
use crate::pte::Pte;

/// What a key leads to.
#[derive(Clone)]
struct Entry<'a> {
    layout: Option<Layout<'a>>,
    /// Its digest and length, or the code of what is wrong with it.
    data: core::result::Result<(Sha, u64), &'static str>,
}

/// By key; of entries with one key, which of them.
type Entries<'a> = BTreeMap<(Option<&'a str>, usize), Entry<'a>>;

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
    for &(key, nth) in from.keys() {
        if let (Some(name), 0) = (key, nth)
            && !to.contains_key(&(key, 0))
            && let Some(data) = contents.hash_key(name)?
        {
            to.insert((key, 0), Entry { layout: None, data: Ok(data) });
        }
    }
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
    let mut entries = BTreeMap::new();
    let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for (key, layout, range) in rows {
        let data = match range {
            Ok(range) => {
                let len = range.end.saturating_sub(range.start);
                Ok((contents.hash(range)?, len))
            }
            Err(error) => Err(error.code()),
        };
        let count = counts.entry(key).or_default();
        entries.insert((key, *count), Entry { layout, data });
        *count = count.saturating_add(1);
    }
    Ok(entries)
}

fn differences(before: &Entries<'_>, after: &Entries<'_>, report: &mut Report) {
    let mut add =
        |key: &(Option<&str>, usize), what, before: Option<Shown>, after: Option<Shown>| {
            report.add(Class::NamedData, || Difference {
                class: Class::NamedData,
                method: None,
                place: match *key {
                    (None, _) => "(no key)".into(),
                    (Some(name), 0) => say::quoted(name),
                    (Some(name), nth) => format!("{}, again ({nth})", say::quoted(name)),
                },
                what,
                before,
                after,
            });
        };
    for (key, old) in before {
        match after.get(key) {
            None => add(key, "entry", Some(old.shown()), None),
            Some(new) => match (old.fields(new).as_slice(), old.data == new.data) {
                ([], true) => {}
                ([(what, one, other)], true) => {
                    add(key, what, Some(say::shown(one.clone())), Some(say::shown(other.clone())));
                }
                ([], false) => add(key, "data", Some(old.shown()), Some(new.shown())),
                _ => add(key, "tensor", Some(old.shown()), Some(new.shown())),
            },
        }
    }
    for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
        add(key, "entry", None, Some(new.shown()));
    }
}

impl Entry<'_> {
    fn shown(&self) -> Shown {
        let shape = self.layout.map(|layout| {
            let sizes = layout.sizes.into_iter().flatten();
            format!("{}{}", say::dtype(layout.scalar_type), say::list(sizes))
        });
        match (&self.data, shape) {
            (Ok((sha, _)), Some(shape)) => say::data(shape, Some(*sha)),
            (Ok((sha, len)), None) => say::data(say::bytes(*len), Some(*sha)),
            (Err(code), shape) => say::shown(format!(
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
            out.push(("dtype", say::dtype(old.scalar_type), say::dtype(new.scalar_type)));
        }
        let bytes = |layout: Layout<'_>| layout.sizes.map_or_else(Vec::new, |s| s.bytes().to_vec());
        if bytes(old) != bytes(new) {
            let text = |layout: Layout<'_>| say::list(layout.sizes.into_iter().flatten());
            out.push(("sizes", text(old), text(new)));
        }
        let order =
            |layout: Layout<'_>| layout.dim_order.map_or_else(Vec::new, |o| o.bytes().to_vec());
        if order(old) != order(new) {
            let text = |layout: Layout<'_>| say::list(layout.dim_order.into_iter().flatten());
            out.push(("dim order", text(old), text(new)));
        }
        out
    }
}
