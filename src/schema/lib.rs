//! The declared tables: of programs and data files, of delegates' payloads, and of the formats around
//! them. Fields are in the order of upstream's schema files.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arbitrary")]
extern crate std;

#[cfg(feature = "alloc")]
pub mod bundled_program;
#[cfg(feature = "alloc")]
pub mod enn;
#[cfg(feature = "alloc")]
pub mod etdump;
pub mod flat_tensor;
pub mod flat_tensor_legacy;
#[cfg(feature = "alloc")]
pub mod mlx;
#[cfg(feature = "alloc")]
pub mod native;
pub mod program;
#[cfg(feature = "alloc")]
pub mod qnn;
#[cfg(feature = "alloc")]
pub mod qnn_legacy;
pub mod scalar;
#[cfg(feature = "alloc")]
pub mod tosa;
#[cfg(feature = "alloc")]
pub mod vulkan;
#[cfg(feature = "alloc")]
pub mod xnnpack;
