//! The modules of instructions, as an ETRecord has them.

use alloc::collections::BTreeMap;
use alloc::string::String;

use pte_flat::cost;

#[cfg(all(feature = "json", feature = "serde"))]
mod read;

/// The module of each instruction of methods, from an ETRecord.
///
/// The record has a debug handle for each instruction, or several for a delegate, and for each node of its graphs the
/// handle and the stack of modules.
#[derive(Clone, Debug, Default)]
pub struct RecordedModules(BTreeMap<String, BTreeMap<u32, String>>);

impl RecordedModules {
    /// Returns the dotted name of an instruction's module, which is empty for the outermost module.
    #[must_use]
    pub fn module(&self, method: &str, instruction: u32) -> Option<&str> {
        cost::look_up(method, self.0.len());
        let modules = self.0.get(method)?;
        cost::look_up("", modules.len());
        modules.get(&instruction).map(String::as_str)
    }
}
