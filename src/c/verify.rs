//! The proof of the structure.

use pte_core::file::{FileKind, sniff};
use pte_core::{Error, Limits, Ptd, Pte};

use crate::abi::{pte_refusal, pte_status};

/// Proves the structure of a file, and returns why it is refused. A call needs no heap: with the feature `check`, a
/// refusal is a few small allocations, which this function's frame has room for.
pub(crate) fn verify(bytes: &[u8]) -> Result<Option<pte_refusal>, pte_status> {
    let refusal = || {
        let refused = match sniff(bytes) {
            Ok(FileKind::Pte) => program(bytes),
            Ok(FileKind::Ptd) => data(bytes),
            Err(error) => Err(error),
        };
        refused.err().map(|error| pte_refusal::new(error.code(), error.offset()))
    };
    #[cfg(feature = "check")]
    return crate::memory::within(&mut crate::memory::Room::new(), refusal);
    #[cfg(not(feature = "check"))]
    Ok(refusal())
}

// Functions of their own: a call needs the stack for one of them only.
#[inline(never)]
fn program(bytes: &[u8]) -> Result<(), Error> {
    Pte::read_with(bytes, &Limits::UNTRUSTED).map(drop)
}

#[inline(never)]
fn data(bytes: &[u8]) -> Result<(), Error> {
    Ptd::read_with(bytes, &Limits::UNTRUSTED).map(drop)
}
