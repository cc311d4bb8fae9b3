//! The rules on `.ptd` files: keys, shapes, and data of the right size.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::container;
use super::container::{filled, overlaps};
use super::names::Keys;
use super::report::Findings;
use super::resolve::rule_of;
use super::rule::rules;
use super::tensors::is_permutation;
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::ptd::{Entry, Generation, Root};
use pte_core::{PathComponent, Ptd};
use pte_flat::bytes::{len_of, narrow, wide};
use pte_flat::path;

rules! {
    "data";

    OLD_GENERATION = Note "old-generation"
        "A .ptd is of the layout that is written since release 0.7."
        "Runtimes from 0.7 on read it as their own layout, and find nothing or garbage."
        "`pte convert` writes the current layout."
        Misreads ["4.1", "4.3"]
        untrusted_upload "A current runtime reads the data file as another layout.";
    LAYOUT_SIZES_MISSING = Error "layout-sizes-missing"
        "The shape of named data has a list of sizes, which may be empty."
        "Asking for the shape reads through a null pointer."
        MADE_BY_HAND
        Crashes ["2.4.17", "7.4.6", "7.7.24", "8.2 eeb0646b84", "8.3.10"];
    LAYOUT_DIM_ORDER_MISSING = Error "layout-dim-order-missing"
        "The shape of named data has a dim order, which may be empty."
        "Asking for the shape reads through a null pointer."
        MADE_BY_HAND
        Crashes ["2.4.17", "7.4.6", "7.7.24", "8.2 eeb0646b84", "8.3.10"];
    LAYOUT_DIM_ORDER_LENGTH = Error "layout-dim-order-length"
        "The dim order of named data is not shorter than its sizes."
        "The runtime reads past its end."
        MADE_BY_HAND
        Misreads ["2.4.18", "7.4.6", "7.7.24", "8.2 8b30cfec9a"];
    LAYOUT_DIM_ORDER_LONG = Warning "layout-dim-order-long"
        "The dim order of named data is not longer than its sizes."
        "The runtime ignores the rest."
        UNUSUAL
        Ignores ["2.4.18", "7.7.24"];
    LAYOUT_DIM_ORDER = Error "layout-dim-order"
        "The dim order of named data is a permutation of its dimensions."
        "Asking for the shape is refused, or no tensor can have it."
        MADE_BY_HAND
        Refuses ["2.4.20", "7.7.24", "8.2 90e6e4ca4e"];
    LAYOUT_RANK = Error "layout-rank"
        "Named data has at most 16 dimensions."
        "No tensor can have this shape."
        MADE_BY_HAND
        Refuses ["6.3", "7.7.24", "8.1 CVE-2025-54951", "8.3.17"];
    LAYOUT_DTYPE = Error "layout-dtype"
        "The dtype of named data is one that the runtime knows."
        "Asking for the shape aborts."
        MADE_BY_HAND
        Crashes ["2.4.21", "7.7.24"];
    LAYOUT_SIZE = Error "layout-size"
        "The sizes of named data are not negative, and its bytes can be counted in 64 bits."
        "Asking for the shape is refused; runtimes before 0.7 compute a wrong size."
        MADE_BY_HAND
        Refuses ["2.4.19", "7.7.24", "8.2 30f6b897b0", "8.3.18"];
    DATA_TOO_SHORT = Error "data-too-short"
        "Named data has the bytes that its shape asks for."
        "The runtime never compares the lengths, and reads past the data."
        "Write the data again: it was cut short, or is of another shape."
        Misreads ["2.4.22", "7.7.21", "7.7.24"];
    DATA_TOO_LONG = Note "data-too-long"
        "Named data has no more bytes than its shape asks for."
        "The rest is never read."
        "Write the data again: it was cut short, or is of another shape."
        Ignores ["2.4.22", "7.7.24"];
}

pub(super) fn check(ptd: &Ptd<'_>, out: &mut Findings) {
    if ptd.file_len() < 64 {
        out.find(
            &container::FILE_SHORT,
            0,
            || vec![PathComponent::Field("header")],
            || format!("the file has {} bytes", ptd.file_len()),
        );
    }
    if ptd.generation() < Generation::Three {
        out.find(
            &OLD_GENERATION,
            0,
            || vec![PathComponent::Field("header")],
            || ptd.generation().to_string(),
        );
    }
    let mut keys = Keys::default();
    for (nth, entry) in (0..).zip(ptd.entries()) {
        let path = || path(ptd, nth);
        keys.judge(entry.key(), nth, entry.offset(), path, out);
        judge(&entry, path, out);
    }
    let count = ptd.segment_count();
    let range = |nth| ptd.segment_range(nth).unwrap_or_default();
    let mut find = |rule, nth, message: &dyn Fn() -> String| {
        let path = || path!["flat_tensor", "segments", nth].to_vec();
        out.find(rule, ptd.segment_place(nth), path, message);
    };
    let mut last = 0;
    for (range, nth) in filled(count, range) {
        if range.start < last {
            find(&container::SEGMENTS_UNSORTED, nth, &|| {
                format!("segment {nth} begins at byte {}, before an earlier one", range.start)
            });
        }
        last = last.max(range.start);
    }
    container::oddities(count, range, references(ptd.root()), &mut find);
    overlaps(count, range, |nth, message| find(&container::SEGMENTS_OVERLAP, nth, message));
    let end = ptd.region_start().saturating_add(wide(ptd.region().len())).max(ptd.declared_end());
    if end < ptd.file_len() {
        let rest = ptd.file_len().saturating_sub(end);
        let path = || vec![PathComponent::Field("header")];
        out.find(&container::TRAILING_BYTES, end, path, || {
            format!("{rest} bytes after the last segment")
        });
    }
}

/// Returns the path to entry `nth` of a file.
pub(super) fn path(ptd: &Ptd<'_>, nth: u32) -> Vec<PathComponent> {
    // The entries of a legacy file are its tensors, then its named data.
    let tensors = match ptd.root() {
        Root::Current(_) => 0,
        Root::Legacy(root) => narrow(root.tensors().map_or(0, |tensors| tensors.len())),
    };
    let (list, index) = match nth.checked_sub(tensors) {
        Some(rest) => ("named_data", rest),
        None => ("tensors", nth),
    };
    path!["flat_tensor", list, index].to_vec()
}

fn judge(entry: &Entry<'_>, path: impl Fn() -> Vec<PathComponent>, out: &mut Findings) {
    let at = entry.offset();
    let mut find = |rule, message: &dyn Fn() -> String| out.find(rule, at, &path, message);
    let range = entry.range();
    if let Err(error) = &range
        && error.code() != "tensor-size"
    {
        find(rule_of(error), &|| error.to_string());
    }
    let Some(layout) = entry.layout() else { return };
    if layout.sizes.is_none() {
        find(&LAYOUT_SIZES_MISSING, &|| "the shape has no sizes".into());
    }
    if layout.dim_order.is_none() {
        find(&LAYOUT_DIM_ORDER_MISSING, &|| "the shape has no dim order".into());
    }
    if let (Some(sizes), Some(order)) = (layout.sizes, layout.dim_order) {
        if sizes.len() > MOST_DIMENSIONS {
            find(&LAYOUT_RANK, &|| format!("{} dimensions", sizes.len()));
        }
        let lengths =
            || format!("a dim order of length {} for a rank of {}", order.len(), sizes.len());
        if order.len() > sizes.len() {
            find(&LAYOUT_DIM_ORDER_LONG, &lengths);
        }
        if order.len() < sizes.len() {
            find(&LAYOUT_DIM_ORDER_LENGTH, &lengths);
        } else if !is_permutation(order, sizes.len()) {
            find(&LAYOUT_DIM_ORDER, &|| {
                let shown: Vec<_> = order.iter().take(MOST_DIMENSIONS).collect();
                format!("{shown:?} is no permutation")
            });
        }
    }
    let dtype = layout.scalar_type;
    if dtype.element_size().is_none() {
        return find(&LAYOUT_DTYPE, &|| format!("dtype {}", dtype.0));
    }
    // Without sizes, or with too many, the expected number of bytes is unknown. Other rules report these.
    if layout.sizes.is_none_or(|sizes| sizes.len() > MOST_DIMENSIONS) {
        return;
    }
    let Some(nbytes) = layout.nbytes() else {
        return find(&LAYOUT_SIZE, &|| "the size cannot be computed".into());
    };
    let Ok(range) = range else { return };
    let len = len_of(&range);
    if len < nbytes {
        find(&DATA_TOO_SHORT, &|| format!("{len} bytes, and the shape asks for {nbytes}"));
    } else if len > nbytes {
        find(&DATA_TOO_LONG, &|| format!("{len} bytes, and the shape asks for {nbytes}"));
    }
}

/// Returns the segments that named data refers to.
fn references(root: Root<'_>) -> impl Iterator<Item = u32> {
    let (current, legacy) = match root {
        Root::Current(root) => (Some(root), None),
        Root::Legacy(root) => (None, Some(root)),
    };
    let named = current.and_then(|root| root.named_data()).into_iter().flatten();
    let tensors = legacy.and_then(|root| root.tensors()).into_iter().flatten();
    let blobs = legacy.and_then(|root| root.named_data()).into_iter().flatten();
    let tensors = tensors.map(|tensor| tensor.segment_index());
    let blobs = blobs.map(|blob| blob.segment_index());
    named.map(|named| named.segment_index()).chain(tensors).chain(blobs)
}
