//! The storage of tensors: the place of their bytes (format.md §6.1, §7.6).

use core::ops::Range;

use super::{Pte, file_range};
use crate::error::{Error, ErrorKind, Result};
use crate::file::segments::piece;
use crate::limits::MOST_DIMENSIONS;
use pte_flat::bytes::{index as at_index, narrow};
use pte_flat::view::Table;
use pte_schema::program::TensorDataLocation;
use pte_schema::program::view::{AllocationDetails, SubsegmentOffsets, Tensor};

/// The storage of a tensor's bytes (format.md §6.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage<'a> {
    /// Bytes that are provided when the program runs: those of an input or a placeholder.
    Unbound,
    /// Bytes of this file that never change.
    Constant(Range<u64>),
    /// A place in an arena. The initial bytes, if any, are copied from this file.
    Planned {
        /// The place of the tensor.
        place: Arena,
        /// The initial bytes in the file.
        initial: Option<Range<u64>>,
    },
    /// Bytes of a `.ptd`.
    External {
        /// The key in that file: the tensor's fully qualified name.
        key: Option<&'a str>,
        /// For a tensor that changes, the place to which the bytes are copied.
        place: Option<Arena>,
    },
}

/// A place in an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arena {
    /// An index into `non_const_buffer_sizes`, from 1 on.
    pub memory_id: u32,
    /// The offset in the arena in bytes.
    pub offset: u64,
}

impl Arena {
    /// Returns the planned place of a tensor. In the file, the offset in the arena is split in two
    /// halves.
    #[inline]
    pub fn of(info: AllocationDetails<'_>) -> Self {
        let (high, low) = (info.memory_offset_high(), info.memory_offset_low());
        Self { memory_id: info.memory_id(), offset: u64::from(high) << 32 | u64::from(low) }
    }
}

impl<'a> Pte<'a> {
    /// Returns the storage of `tensor`.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use pte::Storage;
    /// use pte::schema::program::view::KernelTypes;
    ///
    /// # let bytes = include_bytes!("../../../tests/data/pte/linear.pte");
    /// let pte = pte::Pte::read(bytes)?;
    /// let plan = pte.program().execution_plan().and_then(|plans| plans.get(0)).ok_or("no method")?;
    /// for value in plan.values().into_iter().flatten() {
    ///     if let Some(KernelTypes::Tensor(tensor)) = value.val()
    ///         && let Storage::Constant(range) = pte.storage(tensor)?
    ///     {
    ///         println!("a constant of {:?} at {range:?}", tensor.sizes());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If an index is out of range, the data is out of bounds, or its size cannot be computed.
    pub fn storage(&self, tensor: Tensor<'a>) -> Result<Storage<'a>> {
        self.storage_of(tensor, || nbytes(tensor))
    }

    /// Returns the storage of a tensor with `size` bytes, as [`storage`](Self::storage) does.
    pub fn storage_of(
        &self,
        tensor: Tensor<'a>,
        size: impl FnOnce() -> Result<u64>,
    ) -> Result<Storage<'a>> {
        let place = tensor.allocation_info().map(Arena::of);
        if let Some(extra) = tensor.extra_tensor_info()
            && extra.location() == TensorDataLocation::EXTERNAL
        {
            return Ok(Storage::External { key: extra.fully_qualified_name(), place });
        }
        match (tensor.data_buffer_idx(), place) {
            (0, None) => Ok(Storage::Unbound),
            (0, Some(place)) => Ok(Storage::Planned { place, initial: None }),
            (index, None) => {
                size().and_then(|size| self.constant(index, size)).map(Storage::Constant)
            }
            (index, Some(place)) => {
                let initial = size().and_then(|size| self.mutable(index, size)).map(Some);
                initial.map(|initial| Storage::Planned { place, initial })
            }
        }
        // The offset of an error is that of the tensor's table.
        .map_err(|error| error.at(tensor.raw().pos().into()))
    }

    /// Returns the range of constant `index`. In old files the constant is in the FlatBuffer,
    /// otherwise in a segment.
    pub fn constant(&self, index: u32, size: u64) -> Result<Range<u64>> {
        match self.program.constant_segment() {
            Some(pieces) if pieces.offsets().is_some_and(|offsets| !offsets.is_empty()) => {
                self.piece(pieces, index, size)
            }
            _ => self.constant_in_buffer(index, size),
        }
    }

    fn constant_in_buffer(&self, index: u32, size: u64) -> Result<Range<u64>> {
        let buffers = self.program.constant_buffer();
        let Some(buffer) = buffers.and_then(|buffers| buffers.get(at_index(index))) else {
            let count = buffers.map_or(0, |buffers| buffers.len());
            let count = narrow(count);
            return Err(Error::new(ErrorKind::ConstantIndex { index, count }, 0));
        };
        let whole = buffer.storage().map_or(0..0, |data| file_range(data.pos(), data.bytes()));
        piece(&whole, 0, size)
    }

    /// Returns the range of initial state `index`. Runtimes always use the first list of states.
    fn mutable(&self, index: u32, size: u64) -> Result<Range<u64>> {
        match self.program.mutable_data_segments().and_then(|all| all.get(0)) {
            Some(pieces) => self.piece(pieces, index, size),
            None => Err(Error::new(ErrorKind::ConstantIndex { index, count: 0 }, 0)),
        }
    }

    fn piece(&self, pieces: SubsegmentOffsets<'a>, index: u32, size: u64) -> Result<Range<u64>> {
        let offsets = pieces.offsets();
        let Some(offset) = offsets.and_then(|offsets| offsets.get(at_index(index))) else {
            let count = offsets.map_or(0, |offsets| offsets.len());
            let count = narrow(count);
            return Err(Error::new(ErrorKind::ConstantIndex { index, count }, 0));
        };
        let segment = self.segment_range(pieces.segment_index())?;
        piece(&segment, offset, size)
    }
}

/// Returns the number of bytes of a dense tensor.
fn nbytes(tensor: Tensor<'_>) -> Result<u64> {
    // Many tensors may share one long list.
    let sizes = tensor.sizes().unwrap_or_default();
    let nbytes = (sizes.len() <= MOST_DIMENSIONS).then(|| tensor.scalar_type().nbytes(sizes));
    nbytes.flatten().ok_or_else(|| Error::new(ErrorKind::TensorSize {}, 0))
}
