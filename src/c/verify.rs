//! The proof of the structure.

use pte_core::{File, Limits};

use crate::abi::pte_status;
use crate::memory;

/// Proves the structure of a file. A call needs no heap: a refusal is a few small allocations, which this function's
/// frame has room for.
pub(crate) fn verify(bytes: &[u8]) -> pte_status {
    let mut room = memory::Room::new();
    memory::within(&mut room, || match File::read_with(bytes, &Limits::UNTRUSTED) {
        Ok(_) => pte_status::PTE_OK,
        Err(_) => pte_status::PTE_REFUSED,
    })
    .unwrap_or_else(|status| status)
}
