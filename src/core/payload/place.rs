//! The places of the data that graphs use.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::ops::Range;

use pte_flat::bytes::len_of;
use pte_flat::quoted::Untrusted;

/// The place of a constant's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstantPlace {
    /// A range of the file, in the payload.
    Payload(Range<u64>),
    /// Named data, of the program or of a `.ptd`.
    Named {
        /// The key.
        key: Key,
        /// The number of bytes that the payload declares for the data.
        size: u64,
        /// The range of the data in the file; `None` if the file does not have the key.
        range: Option<Range<u64>>,
    },
    /// The payload has no constant with this index, so the backend refuses the payload.
    Nowhere,
}

/// A key of named data. Several constants may share a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(Arc<str>);

impl From<&str> for Key {
    fn from(key: &str) -> Self {
        Self(key.into())
    }
}

impl ConstantPlace {
    /// Returns the range of the bytes; `None` if the bytes are not in the file.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        match self {
            Self::Payload(range) => Some(range.clone()),
            Self::Named { range, .. } => range.clone(),
            Self::Nowhere => None,
        }
    }

    /// Returns the number of bytes that the payload declares; `None` if it has no such constant.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Self::Payload(range) => Some(len_of(range)),
            Self::Named { size, .. } => Some(*size),
            Self::Nowhere => None,
        }
    }
}

impl Key {
    /// Returns the text of the key.
    #[must_use]
    pub fn as_untrusted(&self) -> Untrusted<'_> {
        Untrusted::from(&*self.0)
    }
}

/// The ranges of a file's named data.
pub(super) type NamedRanges<'k> = BTreeMap<&'k str, Range<u64>>;
