//! The debug handles of instructions.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;

/// The debug handles of each instruction, by method.
pub(super) type HandleMap = BTreeMap<String, BTreeMap<u32, Handles>>;

/// The debug handles of an instruction.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Handles {
    One(u64),
    Several(Vec<u64>),
}

impl Handles {
    pub(super) fn all(&self) -> &[u64] {
        match self {
            Self::One(one) => core::slice::from_ref(one),
            Self::Several(all) => all,
        }
    }
}
