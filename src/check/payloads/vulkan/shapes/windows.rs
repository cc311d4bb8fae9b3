//! The windows of convolutions and poolings.

use super::numbers::Numbers;
use crate::payloads::sizes::Sizes;

/// The windows of a convolution or a pooling.
pub(super) struct Windows {
    pub(super) kernel: Numbers,
    pub(super) strides: Numbers,
    pub(super) pads: Numbers,
    pub(super) dilations: Numbers,
    /// Whether a window may reach past the end (`ceil_mode`).
    pub(super) rounds_up: bool,
}

impl Windows {
    /// Returns the kernel's reach, the stride and the padding of the axis of an image; `None` for other axes.
    fn of(&self, first: Sizes, axis: usize) -> Option<[i64; 3]> {
        let images = first.all().len().checked_sub(self.kernel.len)?;
        let nth = axis.checked_sub(images)?;
        let of = |list: &Numbers, default| list.each(nth).unwrap_or(default);
        let reach = of(&self.kernel, 1).checked_sub(1)?.checked_mul(of(&self.dilations, 1))?;
        Some([reach.checked_add(1)?, of(&self.strides, 1), of(&self.pads, 0)])
    }

    /// Returns the shape of an output that has an element for each window.
    pub(super) fn over(&self, first: Sizes) -> Option<Sizes> {
        first.map(&mut |nth, size| {
            let Some([reach, stride, pad]) = self.of(first, nth) else { return Some(size) };
            let last = size.checked_add(pad.checked_mul(2)?)?.checked_sub(reach)?;
            let count = places(last, stride)?;
            let is_partial = self.rounds_up && last.checked_rem(stride)? != 0;
            // A window past the end begins within the image or its padding in front.
            let begins = count.checked_mul(stride)? < size.checked_add(pad)?;
            Some(if is_partial && begins { count.checked_add(1)? } else { count })
        })
    }

    /// Returns the shape of an output of which each element of the input makes a window.
    pub(super) fn under(&self, first: Sizes, more: Numbers) -> Option<Sizes> {
        let images = first.all().len().checked_sub(self.kernel.len)?;
        first.map(&mut |nth, size| {
            let Some([reach, stride, pad]) = self.of(first, nth) else { return Some(size) };
            let more = more.each(nth.checked_sub(images)?).unwrap_or_default();
            let end = size.checked_sub(1)?.checked_mul(stride)?.checked_add(reach)?;
            end.checked_sub(pad.checked_mul(2)?)?.checked_add(more)
        })
    }
}

/// Returns the number of places from 0 to `last` at this distance; `None` if there is none.
pub(super) fn places(last: i64, stride: i64) -> Option<i64> {
    let is_right = last >= 0 && stride > 0;
    is_right.then_some(last.checked_div(stride)?.checked_add(1)?)
}
