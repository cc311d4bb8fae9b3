//! The sizes of tensors of TOSA, VGF and Vulkan.

use core::fmt;

use pte_flat::cost;

/// The most dimensions of these backends: Vulkan's.
pub(super) const MOST: usize = 8;

/// The sizes of a tensor, none of which is unknown.
#[derive(Clone, Copy, Default)]
pub(super) struct Sizes {
    pub(super) len: u8,
    sizes: [i32; MOST],
}

impl Sizes {
    /// Returns the sizes of a tensor; `None` if one is unknown, or if there are too many.
    pub(super) fn of(sizes: impl ExactSizeIterator<Item = impl Into<i64>>) -> Option<Self> {
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

    /// Returns the size of an axis; `None` if there is no such axis.
    pub(super) fn at(&self, axis: usize) -> Option<i64> {
        self.all().get(axis).copied().map(i64::from)
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

    /// Returns the sizes with another one of an axis.
    pub(super) fn with_axis(
        self,
        axis: usize,
        change: impl Fn(i64) -> Option<i64>,
    ) -> Option<Self> {
        self.map(&mut |nth, size| if nth == axis { change(size) } else { Some(size) })
    }

    /// Returns the sizes with another last one; `None` without dimensions.
    pub(super) fn with_last(self, last: i64) -> Option<Self> {
        self.with_axis(self.all().len().checked_sub(1)?, |_| Some(last))
    }

    /// Returns the sizes with another axis.
    pub(super) fn inserted(self, axis: usize, size: i64) -> Option<Self> {
        let (before, after) = self.all().split_at_checked(axis)?;
        let before = before.iter().try_fold(Self::default(), |all, size| all.with((*size).into()));
        after.iter().try_fold(before?.with(size)?, |all, size| all.with((*size).into()))
    }

    /// Returns the sizes without some axes.
    pub(super) fn without(self, is_removed: impl Fn(usize) -> bool) -> Option<Self> {
        let mut kept = self.all().iter().enumerate().filter(|(nth, _)| !is_removed(*nth));
        kept.try_fold(Self::default(), |all, (_, size)| all.with((*size).into()))
    }

    /// Returns the sizes to which these and others broadcast, the last axes of both aligned; `None` if they do not.
    pub(super) fn broadcast(self, other: Self) -> Option<Self> {
        let (long, short) = if self.len < other.len { (other, self) } else { (self, other) };
        let missing = usize::from(long.len.saturating_sub(short.len));
        long.map(&mut |nth, size| match (
            size,
            nth.checked_sub(missing).map_or(Some(1), |nth| short.at(nth))?,
        ) {
            (size, 1) | (1, size) => Some(size),
            (size, other) => (size == other).then_some(size),
        })
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.all())
    }
}
