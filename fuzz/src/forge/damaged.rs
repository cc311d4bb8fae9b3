//! Files with damage anywhere.

use arbitrary::Unstructured;

use super::{data, entropy, program};
use crate::mutate::{Xorshift, mutate};
use crate::smith;

/// Makes a damaged file: a program with damage placed by the declarations, or a program or a data file
/// with damage anywhere.
pub(super) fn file(number: u64, random: &mut Xorshift) -> Option<Vec<u8>> {
    match number % 4 {
        0 | 1 => crate::damaged(&mut Unstructured::new(&entropy(random))).ok(),
        2 => Some(mutate(&program(smith::program, random)?, random)),
        _ => Some(mutate(&data::file(number / 4, random)?, random)),
    }
}
