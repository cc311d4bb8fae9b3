//! The reasons why a payload cannot be changed.

use core::fmt;

use super::ModelError;
use crate::payload::Unreadable;
use crate::payload::xnnpack::NoConstant;
use pte_flat::tree::Unknown;

/// The reason why the constants of a payload cannot be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FixedPayload {
    /// The payload has no header, and its constants are in the graph, as before release 0.2.
    Headerless,
    /// The backend refuses the payload.
    Unreadable(Unreadable),
    /// The backend refuses a constant of the payload.
    Constant {
        /// The index of the constant.
        nth: u32,
        /// The reason of the refusal.
        reason: NoConstant,
    },
    /// The payload comes from a newer writer, and its unknown parts would be lost.
    Unknown(Unknown),
    /// Payloads or constants overlap, so their bytes would be read more often than allowed.
    Overlap,
}

impl fmt::Display for FixedPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Headerless => f.write_str(
                "it has no header, as before release 0.2, and its constants are inside the graph",
            ),
            Self::Unreadable(why) => why.fmt(f),
            Self::Constant { nth, reason } => match reason {
                NoConstant::Index { len } => write!(f, "constant {nth} of {len}"),
                NoConstant::Empty => write!(f, "constant {nth} has no bytes"),
                NoConstant::Range { offset, size, all } => {
                    write!(
                        f,
                        "constant {nth} has {size} bytes from {offset} on, and all have {all}"
                    )
                }
            },
            Self::Unknown(unknown) => ModelError::Unknown(*unknown).fmt(f),
            Self::Overlap => f.write_str("payloads or constants overlap too much"),
        }
    }
}

impl core::error::Error for FixedPayload {}
