//! Sets and maps that are filled one by one.

/// Inserts items into a new set or map, of equal keys the last one.
///
/// `collect` sorts the items first: that is 4 kB of code for each type, which the C library and the WebAssembly module
/// cannot spare.
///
/// ```
/// use std::collections::BTreeSet;
///
/// let set: BTreeSet<u32> = pte_flat::inserted([3, 1, 3]);
/// assert!(set.into_iter().eq([1, 3]));
/// ```
pub fn inserted<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    all.extend(items);
    all
}
