//! The tensors and blobs of a file, one row each: what `tensors` lists and `extract` takes from.

use core::ops::Range;

use pte::ptd::Layout;
use pte::pte::{Arena, Storage};
use pte::quoted::Untrusted;
use pte::schema::program::view::{KernelTypes, Tensor};
use pte::{Error, File, Ptd, Pte};

/// A tensor or a blob.
pub(super) struct Row<'a> {
    pub(super) what: What<'a>,
    /// Its name in the file; few tensors of a program have one.
    pub(super) key: Option<Untrusted<'a>>,
    pub(super) layout: Option<Layout<'a>>,
    pub(super) lives: Lives,
}

/// What a row is of.
#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    /// A tensor of a method, by the index of its value.
    Value { method: Option<Untrusted<'a>>, index: u32 },
    /// A named tensor or blob, by its number.
    Named(u32),
}

/// Where the bytes of a row live.
pub(super) enum Lives {
    /// In the file, and never change.
    Constant(Range<u64>),
    /// In an arena, beginning as these bytes of the file.
    Mutable(Range<u64>, Arena),
    /// In an arena.
    Planned(Arena),
    /// In a `.ptd`.
    External(Option<Arena>),
    /// Given when the program runs.
    Unbound,
    /// Nowhere that the file has.
    Broken(Error),
    /// Somewhere that this version does not know of.
    Unknown,
}

impl<'a> Row<'a> {
    /// Every row of a file, named blobs last.
    pub(super) fn all(file: &'a File<'a>) -> Box<dyn Iterator<Item = Row<'a>> + 'a> {
        match file {
            File::Pte(pte) => Box::new(values(pte).chain(blobs(pte))),
            File::Ptd(ptd) => Box::new(entries(ptd)),
        }
    }

    /// Where the bytes lie in the file, if they do.
    pub(super) fn range(&self) -> Option<Range<u64>> {
        match &self.lives {
            Lives::Constant(range) | Lives::Mutable(range, _) => Some(range.clone()),
            _ => None,
        }
    }

    /// Bytes: those in the file, or else those that the shape asks for.
    pub(super) fn bytes(&self) -> Option<u64> {
        match self.range() {
            Some(range) => Some(range.end.saturating_sub(range.start)),
            None => self.layout?.nbytes(),
        }
    }
}

fn values<'a>(pte: &'a Pte<'a>) -> impl Iterator<Item = Row<'a>> {
    pte.program().execution_plan().into_iter().flatten().flat_map(move |plan| {
        let values = (0u32..).zip(plan.values().into_iter().flatten());
        // Once: to read a name takes as long as it is.
        let method = plan.name().map(Untrusted::from);
        values.filter_map(move |(index, value)| match value.val() {
            Some(KernelTypes::Tensor(tensor)) => {
                Some(tensor_row(pte, tensor, What::Value { method, index }))
            }
            _ => None,
        })
    })
}

fn tensor_row<'a>(pte: &'a Pte<'a>, tensor: Tensor<'a>, what: What<'a>) -> Row<'a> {
    Row {
        what,
        key: tensor
            .extra_tensor_info()
            .and_then(|extra| extra.fully_qualified_name())
            .map(Untrusted::from),
        layout: Some(Layout {
            scalar_type: tensor.scalar_type(),
            sizes: tensor.sizes(),
            dim_order: tensor.dim_order(),
        }),
        lives: match pte.storage(tensor) {
            Ok(Storage::Unbound) => Lives::Unbound,
            Ok(Storage::Constant(range)) => Lives::Constant(range),
            Ok(Storage::Planned { place, initial: None }) => Lives::Planned(place),
            Ok(Storage::Planned { place, initial: Some(range) }) => Lives::Mutable(range, place),
            Ok(Storage::External { place, .. }) => Lives::External(place),
            Ok(_) => Lives::Unknown,
            Err(error) => Lives::Broken(error),
        },
    }
}

fn blobs<'a>(pte: &'a Pte<'a>) -> impl Iterator<Item = Row<'a>> {
    (0u32..).zip(pte.named_data()).map(|(nth, (key, range))| Row {
        what: What::Named(nth),
        key: key.map(Untrusted::from),
        layout: None,
        lives: range.map_or_else(Lives::Broken, Lives::Constant),
    })
}

fn entries<'a>(ptd: &'a Ptd<'a>) -> impl Iterator<Item = Row<'a>> {
    (0u32..).zip(ptd.entries()).map(|(nth, entry)| Row {
        what: What::Named(nth),
        key: entry.key().map(Untrusted::from),
        layout: entry.layout(),
        lives: entry.range().map_or_else(Lives::Broken, Lives::Constant),
    })
}
