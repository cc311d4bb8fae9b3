//! The ranges of a file as rows that are made one at a time, for text and for the document
//! `pte.map/1`.

use core::convert::Infallible;
use core::fmt;

use super::{RangeEntry, RangeRow, Ranges, RowContents};

impl Ranges<'_, '_> {
    /// Calls `charge` with each name from the file that the rows show. A small file may use one
    /// long name for many ranges.
    ///
    /// # Errors
    ///
    /// The first error of `charge`.
    pub fn charge_names<E>(&self, mut charge: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        self.rows().try_for_each(|row| row.charge_names(&mut charge))
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

impl RangeRow<'_, '_, '_> {
    /// Returns the range, without the ranges inside it.
    #[must_use]
    pub fn entry(&self) -> RangeEntry {
        let free = |_: &str| Ok::<(), Infallible>(());
        match RangeEntry::of(self, &mut { free }) {
            Ok(entry) => entry,
            Err(never) => match never {},
        }
    }

    /// Charges the names of the row and of its contents. The recursion is as deep as the nesting.
    fn charge_names<E>(&self, charge: &mut impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        RangeEntry::of(self, charge)?;
        match self.contents() {
            RowContents::Rows(mut rows) => rows.try_for_each(|row| row.charge_names(charge)),
            _ => Ok(()),
        }
    }
}

#[cfg(feature = "serde")]
mod serialize {
    use alloc::vec::Vec;
    use serde::{Serialize, Serializer};

    use super::{RangeEntry, RangeRow, Ranges, RowContents};
    use crate::listed::Listed;
    use crate::map::KindTotal;

    /// A row with its contents, in the order of a document's fields.
    #[derive(Serialize)]
    struct Record<R: Serialize> {
        #[serde(flatten)]
        entry: RangeEntry,
        #[serde(skip_serializing_if = "Option::is_none")]
        parts: Option<R>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        kinds: Vec<KindTotal>,
    }

    impl Serialize for Ranges<'_, '_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.rows())
        }
    }

    impl Serialize for RangeRow<'_, '_, '_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let (parts, kinds) = match self.contents() {
                RowContents::Nothing => (None, Vec::new()),
                RowContents::Rows(rows) => (Some(Listed::new(rows)), Vec::new()),
                RowContents::Kinds(kinds) => (None, kinds),
            };
            Record { entry: self.entry(), parts, kinds }.serialize(serializer)
        }
    }
}
