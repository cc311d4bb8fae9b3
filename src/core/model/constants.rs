//! Reads and replaces the constants of a program.

use alloc::vec::Vec;

use super::blob::Cutter;
use super::{Blob, Budget, ModelError, PteModel};
use crate::limits::Limits;
use pte_flat::bytes::index;
use pte_schema::program::TensorDataLocation;
use pte_schema::program::model::{Buffer, EValue, KernelTypes, SubsegmentOffsets, Tensor};

/// The default alignment of constants in all writers.
const ALIGNMENT: u64 = 16;

impl<'a> PteModel<'a> {
    /// Returns the bytes of each constant, by `Tensor.data_buffer_idx`; index 0 is reserved.
    ///
    /// A constant ends at the start of the next one, which may include padding, or at the end of
    /// its largest tensor if that is later (format.md §6.1).
    pub fn constants(&self) -> Vec<Blob<'a>> {
        let Some((segment_index, offsets)) = self.offsets() else {
            let buffers = self.root.constant_buffer.iter().flatten();
            return buffers
                .map(|buffer| buffer.storage.clone().unwrap_or_default().into())
                .collect();
        };
        self.pieces(segment_index, offsets, is_constant)
    }

    /// Returns the pieces of a segment that begin at `offsets`. A piece ends at the start of the
    /// next one, or at the end of its largest tensor if that is later.
    pub(super) fn pieces(
        &self,
        segment_index: u32,
        offsets: &[u64],
        uses: impl Fn(&Tensor) -> bool,
    ) -> Vec<Blob<'a>> {
        if offsets.len() < 2 {
            // The segment is never loaded, so it may have another use.
            return vec![Blob::EMPTY];
        }
        let Some(segment) = self.segments.get(index(segment_index)) else { return Vec::new() };
        let next = offsets.iter().skip(1).copied().chain([segment.len()]);
        let mut ends: Vec<u64> = next.collect();
        let plans = self.root.execution_plan.iter().flatten();
        for value in plans.flat_map(|plan| plan.values.iter().flatten()) {
            let Some(KernelTypes::Tensor(tensor)) = &value.val else { continue };
            let nth = index(tensor.data_buffer_idx);
            let size = tensor.scalar_type.nbytes(tensor.sizes.iter().flatten().copied());
            if let (Some(begin), Some(end), Some(size)) =
                (offsets.get(nth), ends.get_mut(nth), size)
                && uses(tensor)
            {
                *end = begin.saturating_add(size).max(*end);
            }
        }
        let cutter = Cutter::new(segment);
        offsets.iter().zip(ends).map(|(&begin, end)| cutter.slice(begin..end)).collect()
    }

    /// Returns the segment index of the constants and their offsets; `None` if they are in the
    /// tables.
    fn offsets(&self) -> Option<(u32, &[u64])> {
        let constants = self.root.constant_segment.as_ref()?;
        let offsets = constants.offsets.as_deref().filter(|offsets| !offsets.is_empty())?;
        Some((constants.segment_index, offsets))
    }

    /// Replaces the constants. Tensors refer to them by index, and index 0 is reserved.
    ///
    /// The constants are stored in a segment, each at a multiple of 16, or in the tables if the
    /// program has its constants there.
    ///
    /// # Errors
    ///
    /// Constants in the tables cannot be read from their source. [`ModelError::Amplified`] if the
    /// constants overlap so much that their copies in the tables exceed [`Limits::UNTRUSTED`].
    pub fn set_constants(&mut self, constants: Vec<Blob<'a>>) -> Result<(), ModelError> {
        let inside = self.root.constant_buffer.as_ref().is_some_and(|buffers| !buffers.is_empty());
        if inside && self.offsets().is_none() {
            let len = constants.iter().fold(0, |sum: u64, blob| sum.saturating_add(blob.len()));
            Budget::new(0, &constants).check(len, &Limits::UNTRUSTED)?;
            let mut buffers = Vec::with_capacity(constants.len());
            for constant in constants {
                buffers.push(Buffer { storage: Some(constant.to_bytes()?.into_owned()) });
            }
            self.root.constant_buffer = Some(buffers);
            return Ok(());
        }
        let (data, offsets) = concatenated(constants, ALIGNMENT);
        let old = self.root.constant_segment.clone();
        let segment_index = self.segment_after(old, data);
        let offsets = Some(offsets);
        self.root.constant_segment = Some(SubsegmentOffsets { segment_index, offsets });
        Ok(())
    }

    /// Stores `data` in the segment of `old`, or in a new segment if other fields use the old one.
    pub(super) fn segment_after(&mut self, old: Option<SubsegmentOffsets>, data: Blob<'a>) -> u32 {
        let Some(SubsegmentOffsets { segment_index, offsets }) = old else {
            return self.add_segment(data);
        };
        // A list with only the reserved index never loads its segment, which may have another use.
        let is_loaded = offsets.is_some_and(|offsets| offsets.len() > 1);
        let segment = self.segments.get(index(segment_index));
        if is_loaded || segment.is_some_and(Blob::is_empty) {
            return self.own_segment(segment_index, data);
        }
        self.add_segment(data)
    }

    /// Returns the tensors of all methods.
    pub(super) fn tensors(&mut self) -> impl Iterator<Item = &mut Tensor> {
        let plans = self.root.execution_plan.iter_mut().flatten();
        let values = plans.flat_map(|plan| plan.values.iter_mut().flatten());
        values.filter_map(|value: &mut EValue| match &mut value.val {
            Some(KernelTypes::Tensor(tensor)) => Some(tensor),
            _ => None,
        })
    }
}

/// Returns whether the tensor is a constant of the program.
pub(super) fn is_constant(tensor: &Tensor) -> bool {
    let location = tensor.extra_tensor_info.as_ref().map(|extra| extra.location);
    tensor.data_buffer_idx != 0
        && tensor.allocation_info.is_none()
        && location != Some(TensorDataLocation::EXTERNAL)
}

/// Returns whether the tensor has an initial state in the program.
pub(super) fn is_state(tensor: &Tensor) -> bool {
    let location = tensor.extra_tensor_info.as_ref().map(|extra| extra.location);
    tensor.data_buffer_idx != 0
        && tensor.allocation_info.is_some()
        && location != Some(TensorDataLocation::EXTERNAL)
}

/// Concatenates blobs, each at a multiple of `align`, and returns their offsets.
pub(crate) fn concatenated(blobs: Vec<Blob<'_>>, align: u64) -> (Blob<'_>, Vec<u64>) {
    let (mut data, mut offsets) = (Vec::new(), Vec::with_capacity(blobs.len()));
    let mut end = 0u64;
    for blob in blobs {
        let begin = end.checked_next_multiple_of(align).unwrap_or(u64::MAX);
        offsets.push(begin);
        if begin > end {
            data.push(Blob::Zeros(begin.saturating_sub(end)));
        }
        end = begin.saturating_add(blob.len());
        data.push(blob);
    }
    (Blob::Parts(data), offsets)
}
