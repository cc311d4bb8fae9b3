//! The verifier of [`pte_flat`], with the limits and the errors of this crate.

use pte_flat::desc::TableDesc;
use pte_flat::verify;
use pte_flat::view::{ProvenTable, Table};

pub use pte_flat::verify::Verified;

use crate::error::Result;
use crate::limits::Limits;

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
    verify::verify(buf, desc, &limits.into()).map_err(pte_flat::Error::lift)
}

/// Proves a buffer as [`verify`](fn@verify) does. The offset to the root is at position `at`.
///
/// # Errors
///
/// As of [`verify`](fn@verify).
pub fn verify_at<'a>(
    buf: &'a [u8],
    at: u32,
    desc: &'static TableDesc,
    limits: &Limits,
) -> Result<(ProvenTable<'a>, Verified)> {
    verify::verify_at(buf, at, desc, &limits.into()).map_err(pte_flat::Error::lift)
}

/// Proves a buffer without an identifier as [`verify`](fn@verify) does.
///
/// # Errors
///
/// As of [`verify`](fn@verify).
pub fn verify_bare<'a>(
    buf: &'a [u8],
    desc: &'static TableDesc,
    limits: &Limits,
) -> Result<(ProvenTable<'a>, Verified)> {
    verify::verify_bare(buf, desc, &limits.into()).map_err(pte_flat::Error::lift)
}

/// Proves `buf` as [`verify`](fn@verify) does, and returns the root as a typed view.
///
/// # Errors
///
/// As of [`verify`](fn@verify).
pub fn read<'a, T: Table<'a>>(buf: &'a [u8], limits: &Limits) -> Result<(T, Verified)> {
    verify::read_verified(buf, &limits.into()).map_err(pte_flat::Error::lift)
}
