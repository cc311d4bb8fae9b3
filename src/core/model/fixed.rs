//! The reasons why a payload cannot be changed.

use alloc::string::String;

use super::ModelError;
use crate::payload::Unreadable;
use crate::payload::xnnpack::NoConstant;
use pte_flat::tree::Unknown;

pte_flat::errors! {
    /// The reason why the constants of a payload cannot be moved.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum FixedPayload {
        /// The payload has no header, and its constants are in the graph, as before release 0.2.
        Headerless => "it has no header, as before release 0.2, and its constants are inside the graph";
        /// The backend refuses the payload.
        Unreadable(why: Unreadable) => "{why}";
        /// The backend refuses a constant of the payload.
        Constant {
            /// The index of the constant.
            nth: u32,
            /// The reason of the refusal.
            reason: NoConstant,
        } => "{}", refusal(*nth, reason);
        /// The payload comes from a newer writer, and its unknown parts would be lost.
        Unknown(unknown: Unknown) => "{}", ModelError::Unknown(*unknown);
        /// Payloads or constants overlap, so their bytes would be read more often than allowed.
        Overlap => "payloads or constants overlap too much";
    }
}

/// Returns why the backend refuses constant `nth`.
fn refusal(nth: u32, reason: &NoConstant) -> String {
    match reason {
        NoConstant::Index { len } => format!("constant {nth} of {len}"),
        NoConstant::Empty => format!("constant {nth} has no bytes"),
        NoConstant::Range { offset, size, all } => {
            format!("constant {nth} has {size} bytes from {offset} on, and all have {all}")
        }
    }
}
