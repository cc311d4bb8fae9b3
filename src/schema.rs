//! The declared tables of both file formats, in the order of upstream's schema files, and the part
//! of one payload format that names data.

pub mod flat_tensor;
pub mod flat_tensor_legacy;
pub mod program;
pub mod scalar;
pub mod xnnpack;
