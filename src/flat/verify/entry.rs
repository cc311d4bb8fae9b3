//! The entries of the verifier: where the offset to the root is, and whether an identifier follows it.

use super::{Verified, verify_root};
use crate::desc::TableDesc;
use crate::error::Result;
use crate::limits::Limits;
use crate::view::{Proof, ProvenTable, Table};

/// Proves that `buf` is a FlatBuffer with a root of type `desc`, including everything reachable.
///
/// # Errors
///
/// The first broken rule that was found, with positions counted from the start of `buf`.
pub fn verify<'a>(
    buf: &'a [u8],
    desc: &'static TableDesc,
    limits: &Limits,
) -> Result<(ProvenTable<'a>, Verified)> {
    verify_at(buf, 0, desc, limits)
}

/// Proves a buffer as [`verify`] does. The offset to the root is at position `at`.
///
/// # Errors
///
/// As of [`verify`].
pub fn verify_at<'a>(
    buf: &'a [u8],
    at: u32,
    desc: &'static TableDesc,
    limits: &Limits,
) -> Result<(ProvenTable<'a>, Verified)> {
    verify_root(buf, (at, WITH_IDENTIFIER), desc, limits)
}

/// Proves a buffer as [`verify`] does. It has no identifier, so that the root may follow its offset.
///
/// # Errors
///
/// As of [`verify`].
pub fn verify_bare<'a>(
    buf: &'a [u8],
    desc: &'static TableDesc,
    limits: &Limits,
) -> Result<(ProvenTable<'a>, Verified)> {
    verify_root(buf, (0, WITHOUT_IDENTIFIER), desc, limits)
}

/// Proves `buf` as [`verify`] does, and returns the root as a typed view.
///
/// # Errors
///
/// As of [`verify`].
pub fn read<'a, T: Table<'a>>(buf: &'a [u8], limits: &Limits) -> Result<T> {
    read_verified(buf, limits).map(|(root, _)| root)
}

/// Proves `buf` as [`read`] does, and also returns what the walk recorded.
///
/// # Errors
///
/// As of [`verify`].
pub fn read_verified<'a, T: Table<'a>>(buf: &'a [u8], limits: &Limits) -> Result<(T, Verified)> {
    verify(buf, T::DESC, limits).map(|(root, seen)| (T::from_raw(root.raw(), Proof(())), seen))
}

/// The least offset of a root behind an identifier, and of one without.
const WITH_IDENTIFIER: u32 = 8;
const WITHOUT_IDENTIFIER: u32 = 4;
