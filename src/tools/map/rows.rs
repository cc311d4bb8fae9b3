//! The ranges of a file as rows that are made one at a time, for text and for the document
//! `pte.map/1`.

use core::convert::Infallible;
use core::fmt;
use core::ops::Range;

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::nest::{LazySpan, LazyWithin};
use super::{KindEntry, RangeEntry, Ranges};

/// The outermost ranges of a file, as rows. Only one row of each level is in memory.
#[derive(Clone, Debug)]
pub struct RangeRows<'r, 'm, 'a> {
    ranges: &'r Ranges<'m, 'a>,
    place: Place<'r, 'm, 'a>,
}

/// The place of rows in a larger file, and of a file in them.
#[derive(Clone, Debug)]
struct Place<'r, 'm, 'a> {
    /// The number that is added to offsets.
    by: u64,
    /// The range whose contents are these other ranges.
    program: Option<(Range<u64>, &'r Ranges<'m, 'a>)>,
}

/// A range of a file, as a row.
#[derive(Clone, Debug)]
pub struct RangeRow<'r, 'm, 'a> {
    span: LazySpan<'r, 'm, 'a>,
    place: Place<'r, 'm, 'a>,
}

/// The contents of a row.
#[non_exhaustive]
pub enum RowContents<'r, 'm, 'a> {
    /// No further ranges.
    Nothing,
    /// Rows, in the order of the file.
    Rows(Box<dyn Iterator<Item = RangeRow<'r, 'm, 'a>> + 'r>),
    /// Totals by kind, the largest first.
    Kinds(Vec<KindEntry>),
}

impl<'r, 'm: 'r, 'a: 'r> RangeRows<'r, 'm, 'a> {
    /// Returns the rows of `ranges`.
    #[must_use]
    pub fn new(ranges: &'r Ranges<'m, 'a>) -> Self {
        Self { ranges, place: Place { by: 0, program: None } }
    }

    /// Replaces the contents of the range `place` by the ranges of the program that is there.
    #[must_use]
    pub fn with_program(self, place: Range<u64>, program: &'r Ranges<'m, 'a>) -> Self {
        Self { place: Place { by: 0, program: Some((place, program)) }, ..self }
    }

    /// Returns the outermost rows.
    pub fn iter(&self) -> impl Iterator<Item = RangeRow<'r, 'm, 'a>> + use<'r, 'm, 'a> {
        let place = self.place.clone();
        self.ranges.spans().map(move |span| RangeRow { span, place: place.clone() })
    }

    /// Calls `charge` with each name from the file that the rows show. A small file may use one
    /// long name for many ranges.
    ///
    /// # Errors
    ///
    /// The first error of `charge`.
    pub fn charge_names<E>(&self, mut charge: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        self.iter().try_for_each(|row| row.charge_names(&mut charge))
    }
}

impl fmt::Debug for RowContents<'_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("Nothing"),
            Self::Rows(_) => f.write_str("Rows(..)"),
            Self::Kinds(kinds) => f.debug_tuple("Kinds").field(kinds).finish(),
        }
    }
}

impl<'r, 'm: 'r, 'a: 'r> RangeRow<'r, 'm, 'a> {
    /// Returns the range, without the ranges inside it.
    #[must_use]
    pub fn entry(&self) -> RangeEntry {
        let free = |_: &str| Ok::<(), Infallible>(());
        match self.charged(&mut { free }) {
            Ok(entry) => entry,
            Err(never) => match never {},
        }
    }

    /// Returns the contents of the range.
    #[must_use]
    pub fn contents(&self) -> RowContents<'r, 'm, 'a> {
        if let Some((range, program)) = &self.place.program
            && *range == self.span.range
        {
            let place = Place { by: range.start, program: None };
            return RowContents::Rows(Box::new(RangeRows { ranges: program, place }.iter()));
        }
        match self.span.within() {
            LazyWithin::Nothing => RowContents::Nothing,
            LazyWithin::Spans(spans) => {
                let place = self.place.clone();
                let row = move |span| Self { span, place: place.clone() };
                RowContents::Rows(Box::new(spans.map(row)))
            }
            LazyWithin::Kinds(kinds) => {
                RowContents::Kinds(kinds.iter().map(KindEntry::of).collect())
            }
        }
    }

    fn charged<E>(&self, charge: &mut impl FnMut(&str) -> Result<(), E>) -> Result<RangeEntry, E> {
        let (range, title) = (self.span.range.clone(), self.span.title);
        let mut entry = RangeEntry::without_contents(range, title, charge)?;
        entry.shift(self.place.by);
        Ok(entry)
    }

    /// Charges the names of the row and of its contents. The recursion is as deep as the nesting.
    fn charge_names<E>(&self, charge: &mut impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        self.charged(charge)?;
        match self.contents() {
            RowContents::Rows(mut rows) => rows.try_for_each(|row| row.charge_names(charge)),
            _ => Ok(()),
        }
    }
}

#[cfg(feature = "serde")]
mod serialize {
    use core::cell::Cell;

    use alloc::vec::Vec;
    use serde::{Serialize, Serializer};

    use super::{KindEntry, RangeEntry, RangeRow, RangeRows, RowContents};

    /// A row with its contents, in the order of a document's fields.
    #[derive(Serialize)]
    struct Record<R: Serialize> {
        #[serde(flatten)]
        entry: RangeEntry,
        #[serde(skip_serializing_if = "Option::is_none")]
        parts: Option<R>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        kinds: Vec<KindEntry>,
    }

    /// Items that are serialized as a list, once.
    struct Once<I>(Cell<Option<I>>);

    impl<I: Iterator<Item: Serialize>> Serialize for Once<I> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.0.take().into_iter().flatten())
        }
    }

    impl Serialize for RangeRows<'_, '_, '_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.iter())
        }
    }

    impl Serialize for RangeRow<'_, '_, '_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let (parts, kinds) = match self.contents() {
                RowContents::Nothing => (None, Vec::new()),
                RowContents::Rows(rows) => (Some(Once(Cell::new(Some(rows)))), Vec::new()),
                RowContents::Kinds(kinds) => (None, kinds),
            };
            Record { entry: self.entry(), parts, kinds }.serialize(serializer)
        }
    }
}
