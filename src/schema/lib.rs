//! The declared tables: of programs and data files, of delegates' payloads, and of the formats around
//! them. Fields are in the order of upstream's schema files.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arbitrary")]
extern crate std;

pub mod bundled_program;
pub mod enn;
pub mod etdump;
pub mod flat_tensor;
pub mod flat_tensor_legacy;
pub mod mlx;
pub mod native;
pub mod program;
pub mod qnn;
pub mod qnn_legacy;
pub mod scalar;
pub mod tosa;
pub mod vgf;
pub mod vulkan;
pub mod xnnpack;
