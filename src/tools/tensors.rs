//! The tensors and blobs of a file, one row each, from its FlatBuffer alone.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
//! let file = pte::File::Pte(pte::Pte::read(bytes)?);
//! for row in pte::tensors::TensorRow::all(&file) {
//!     println!("{:?}: {} bytes, {}", row.place, row.bytes().unwrap_or(0), row.storage_name());
//! }
//! # Ok(())
//! # }
//! ```

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use pte_core::ptd::Layout;
use pte_core::{Arena, Error, File, Ptd, Pte, Storage};
use pte_flat::bytes::len_of;
use pte_flat::quoted::{Untrusted, UntrustedString};
use pte_schema::program::view::{KernelTypes, Tensor};
use pte_schema::scalar::ScalarType;

mod constants;
#[cfg(all(feature = "json", feature = "serde", feature = "std"))]
mod document;
mod modules;
mod requests;

pub use constants::{ConstantRecord, ConstantRow, QuantizationRecord, datatype_name};
#[cfg(all(feature = "json", feature = "serde", feature = "std"))]
pub use document::TensorDocumentWriter;
pub use modules::ModuleTree;
pub use requests::KeyRequest;

/// A tensor or a blob.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TensorRow<'a> {
    /// The place in the file's tables.
    pub place: TensorPlace<'a>,
    /// The name in the file. Few tensors of a program have one.
    pub key: Option<Untrusted<'a>>,
    /// The dtype and shape; `None` for a blob.
    pub layout: Option<Layout<'a>>,
    /// The storage of the bytes.
    pub storage: TensorStorage,
}

/// The place of a tensor or blob in the tables of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorPlace<'a> {
    /// A tensor of a method.
    Value {
        /// The name of the method.
        method: Option<Untrusted<'a>>,
        /// The value index of the tensor in the method.
        index: u32,
    },
    /// The named tensor or blob with this index.
    Named(u32),
}

/// The storage of a tensor or blob. All ranges are ranges of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorStorage {
    /// The bytes are in the file and never change.
    Constant(Range<u64>),
    /// The bytes are in an arena, and their initial values in the file.
    Mutable(Range<u64>, Arena),
    /// The bytes are in an arena.
    Planned(Arena),
    /// The bytes are in a `.ptd`, and may be in an arena when the program runs.
    External(Option<Arena>),
    /// The bytes are provided when the program runs.
    Unbound,
    /// The reference to the bytes is invalid.
    Broken(Error),
}

impl<'a> TensorRow<'a> {
    /// Returns every row of `file`: tensors first, in the order of the file, then named blobs.
    pub fn all(file: &'a File<'a>) -> impl Iterator<Item = Self> {
        let (pte, ptd) = match file {
            File::Pte(pte) => (Some(pte), None),
            File::Ptd(ptd) => (None, Some(ptd)),
        };
        let of_pte = pte.into_iter().flat_map(|pte| values(pte).chain(blobs(pte)));
        of_pte.chain(ptd.into_iter().flat_map(entries))
    }

    /// Returns the row of a tensor of `pte`, whose place is `place`.
    pub fn of(pte: &Pte<'a>, tensor: Tensor<'a>, place: TensorPlace<'a>) -> Self {
        Self {
            place,
            key: tensor
                .extra_tensor_info()
                .and_then(|extra| extra.fully_qualified_name())
                .map(Untrusted::from),
            layout: Some(Layout {
                scalar_type: tensor.scalar_type(),
                sizes: tensor.sizes(),
                dim_order: tensor.dim_order(),
            }),
            storage: match pte.storage(tensor) {
                Ok(Storage::Unbound) => TensorStorage::Unbound,
                Ok(Storage::Constant(range)) => TensorStorage::Constant(range),
                Ok(Storage::Planned { place, initial: None }) => TensorStorage::Planned(place),
                Ok(Storage::Planned { place, initial: Some(range) }) => {
                    TensorStorage::Mutable(range, place)
                }
                Ok(Storage::External { place, .. }) => TensorStorage::External(place),
                Err(error) => TensorStorage::Broken(error),
            },
        }
    }

    /// Returns the range of the bytes, if they are in the file.
    pub fn range(&self) -> Option<Range<u64>> {
        match &self.storage {
            TensorStorage::Constant(range) | TensorStorage::Mutable(range, _) => {
                Some(range.clone())
            }
            _ => None,
        }
    }

    /// Returns the number of bytes in the file, or otherwise the number that the shape needs.
    pub fn bytes(&self) -> Option<u64> {
        match self.range() {
            Some(range) => Some(len_of(&range)),
            None => self.layout?.nbytes(),
        }
    }

    /// Returns the place in an arena, if there is one.
    pub fn arena(&self) -> Option<Arena> {
        match &self.storage {
            TensorStorage::Mutable(_, arena) | TensorStorage::Planned(arena) => Some(*arena),
            TensorStorage::External(arena) => *arena,
            _ => None,
        }
    }

    /// Returns the name of the storage: `blob`, `constant`, `mutable`, `planned`, `external`,
    /// `unbound` or `broken`.
    pub fn storage_name(&self) -> &'static str {
        match &self.storage {
            TensorStorage::Constant(_) if self.layout.is_none() => "blob",
            TensorStorage::Constant(_) => "constant",
            TensorStorage::Mutable(..) => "mutable",
            TensorStorage::Planned(_) => "planned",
            TensorStorage::External(_) => "external",
            TensorStorage::Unbound => "unbound",
            TensorStorage::Broken(_) => "broken",
        }
    }
}

/// A row of the document `pte.tensors/1`: tensors and blobs first, then the constants of payloads, then
/// requests of delegates.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
#[non_exhaustive]
pub enum DocumentRow<'a> {
    /// A tensor or a blob.
    Tensor(TensorRecord<'a>),
    /// A constant of a delegate's payload.
    Constant(ConstantRecord<'a>),
    /// A request of a delegate for named data. Only a search for a key lists requests.
    Request(&'a KeyRequest<'a>),
}

/// Returns the `count` rows with the most bytes, the largest first. Rows of equal size keep the
/// order of `rows`.
pub fn largest<T>(
    rows: impl IntoIterator<Item = T>,
    bytes: impl Fn(&T) -> Option<u64>,
    count: usize,
) -> Vec<T> {
    let mut kept = BTreeMap::new();
    for (nth, row) in rows.into_iter().enumerate() {
        kept.insert((bytes(&row).unwrap_or_default(), Reverse(nth)), row);
        if kept.len() > count {
            kept.pop_first();
        }
    }
    kept.into_values().rev().collect()
}

/// A tensor or blob in the form of the document `pte.tensors/1`, without the fields that are
/// computed from its bytes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TensorRecord<'a> {
    /// For a tensor of a program, the name of the method.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub method: Option<Untrusted<'a>>,
    /// For a tensor of a program, the index of the value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub index: Option<u32>,
    /// The name in the file.
    pub key: Option<Untrusted<'a>>,
    /// The dtype. The document has its name, or its number if it has no name.
    #[cfg_attr(feature = "serde", serde(serialize_with = "name_or_number"))]
    pub dtype: Option<ScalarType>,
    /// The sizes of the shape.
    pub sizes: Option<Vec<i32>>,
    /// The dimensions from the outermost to the innermost in memory.
    pub dim_order: Option<Vec<u8>>,
    /// The number of bytes.
    pub bytes: Option<u64>,
    /// The name of the storage, as [`TensorRow::storage_name`] returns it.
    pub storage: &'static str,
    /// The offset of the bytes in the file.
    pub offset: Option<u64>,
    /// The index of the arena.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub memory_id: Option<u32>,
    /// The offset in the arena in bytes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub memory_offset: Option<u64>,
    /// The description of an invalid reference to the bytes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub problem: Option<UntrustedString>,
}

impl<'a> From<&TensorRow<'a>> for TensorRecord<'a> {
    fn from(row: &TensorRow<'a>) -> Self {
        let arena = row.arena();
        let (method, index) = match row.place {
            TensorPlace::Value { method, index } => (method, Some(index)),
            TensorPlace::Named(_) => (None, None),
        };
        Self {
            method,
            index,
            key: row.key,
            dtype: row.layout.map(|layout| layout.scalar_type),
            sizes: row.layout.and_then(|layout| Some(layout.sizes?.iter().collect())),
            dim_order: row.layout.and_then(|layout| Some(layout.dim_order?.iter().collect())),
            bytes: row.bytes(),
            storage: row.storage_name(),
            offset: row.range().map(|range| range.start),
            memory_id: arena.map(|arena| arena.memory_id),
            memory_offset: arena.map(|arena| arena.offset),
            problem: match &row.storage {
                TensorStorage::Broken(error) => Some(UntrustedString::of(error)),
                _ => None,
            },
        }
    }
}

#[cfg(feature = "serde")]
fn name_or_number<S: serde::Serializer>(
    dtype: &Option<ScalarType>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match dtype.map(|dtype| (dtype, dtype.name())) {
        None => serializer.serialize_none(),
        Some((_, Some(name))) => serializer.serialize_str(name),
        Some((dtype, None)) => serializer.serialize_i8(dtype.0),
    }
}

fn values<'a>(pte: &'a Pte<'a>) -> impl Iterator<Item = TensorRow<'a>> {
    pte.program().execution_plan().into_iter().flatten().flat_map(move |plan| {
        let values = (0u32..).zip(plan.values().into_iter().flatten());
        // The name is read once for each method, since reading it takes time for each of its bytes.
        let method = plan.name().map(Untrusted::from);
        values.filter_map(move |(index, value)| match value.val() {
            Some(KernelTypes::Tensor(tensor)) => {
                Some(TensorRow::of(pte, tensor, TensorPlace::Value { method, index }))
            }
            _ => None,
        })
    })
}

fn blobs<'a>(pte: &'a Pte<'a>) -> impl Iterator<Item = TensorRow<'a>> {
    (0u32..).zip(pte.named_data()).map(|(nth, (key, range))| TensorRow {
        place: TensorPlace::Named(nth),
        key: key.map(Untrusted::from),
        layout: None,
        storage: range.map_or_else(TensorStorage::Broken, TensorStorage::Constant),
    })
}

fn entries<'a>(ptd: &'a Ptd<'a>) -> impl Iterator<Item = TensorRow<'a>> {
    (0u32..).zip(ptd.entries()).map(|(nth, entry)| TensorRow {
        place: TensorPlace::Named(nth),
        key: entry.key().map(Untrusted::from),
        layout: entry.layout(),
        storage: entry.range().map_or_else(TensorStorage::Broken, TensorStorage::Constant),
    })
}
