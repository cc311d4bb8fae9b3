//! Payloads of Qualcomm's backend, and the options of its delegates.

pub mod options;
pub(super) mod sections;
