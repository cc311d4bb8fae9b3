//! The proof of the structure.

use pte_core::file::{FileKind, sniff};
use pte_core::{Limits, Ptd, Pte};

use crate::abi::{pte_refusal, pte_status};

/// Proves the structure of a file, and returns why it is refused. A call needs no heap: with the feature `check`, a
/// refusal is a few small allocations, which this function's frame has room for.
pub(crate) fn verify(bytes: &[u8]) -> Result<Option<pte_refusal>, pte_status> {
    let refusal = || {
        // Not as a `File`, which takes more of the stack.
        let refused = match sniff(bytes) {
            Ok(FileKind::Pte) => Pte::read_with(bytes, &Limits::UNTRUSTED).err(),
            Ok(FileKind::Ptd) => Ptd::read_with(bytes, &Limits::UNTRUSTED).err(),
            Err(error) => Some(error),
        };
        refused.map(|error| pte_refusal::new(error.code(), error.offset()))
    };
    #[cfg(feature = "check")]
    return crate::memory::within(&mut crate::memory::Room::new(), refusal);
    #[cfg(not(feature = "check"))]
    Ok(refusal())
}
