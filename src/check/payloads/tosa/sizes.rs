//! The sizes of tensors.

use core::fmt;

use pte_flat::cost;

/// The most dimensions of the specification.
pub(super) const MOST: usize = 6;

/// The sizes of a tensor, none of which is unknown.
#[derive(Clone, Copy, Default)]
pub(in crate::payloads) struct Sizes {
    pub(super) len: u8,
    sizes: [i32; MOST],
}

impl Sizes {
    /// Returns the sizes of a tensor; `None` if one is unknown, or if there are too many.
    pub(in crate::payloads) fn of(
        sizes: impl ExactSizeIterator<Item = impl Into<i64>>,
    ) -> Option<Self> {
        let mut sizes = Some(sizes).filter(|sizes| sizes.len() <= MOST)?;
        cost::charge(sizes.len());
        sizes.try_fold(Self::default(), |all, size| all.with(size.into()))
    }

    /// Adds a size; `None` if it is negative, or too large.
    pub(super) fn with(mut self, size: i64) -> Option<Self> {
        let size = i32::try_from(size).ok().filter(|size| *size >= 0)?;
        *self.sizes.get_mut(usize::from(self.len))? = size;
        self.len = self.len.saturating_add(1);
        Some(self)
    }

    pub(super) fn all(&self) -> &[i32] {
        self.sizes.get(..self.len.into()).unwrap_or_default()
    }

    pub(super) fn array<const N: usize>(self) -> Option<[i64; N]> {
        let mut out = [0; N];
        out.iter_mut().zip(self.sizes).for_each(|(out, size)| *out = size.into());
        (self.all().len() == N).then_some(out)
    }

    /// Returns the number of elements, at most `u64::MAX`.
    pub(super) fn elements(&self) -> u64 {
        let sizes = self.all().iter().map(|size| u64::try_from(*size).unwrap_or_default());
        sizes.fold(1, u64::saturating_mul)
    }

    /// Returns other sizes: `change` gives that of each axis.
    pub(super) fn map(self, change: &mut dyn FnMut(usize, i64) -> Option<i64>) -> Option<Self> {
        let mut sizes = self.all().iter().enumerate();
        sizes.try_fold(Self::default(), |all, (nth, size)| all.with(change(nth, (*size).into())?))
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.all())
    }
}
