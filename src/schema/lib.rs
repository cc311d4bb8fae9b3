//! The declared tables: of programs and data files, of delegates' payloads, and of the formats around
//! them. Fields are in the order of upstream's schema files. Tables with the same fields stand together (`also`).

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arbitrary")]
extern crate std;

use pte_flat::desc::Schema;

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

/// Each schema with its names. The first is that of its files or of its backend; a second one is that of its root.
pub static SCHEMAS: [(&[&str], &Schema); 14] = [
    (&["pte", "program"], &program::desc::SCHEMA),
    (&["ptd", "flat-tensor"], &flat_tensor::desc::SCHEMA),
    (&["ptd-legacy", "flat-tensor-legacy"], &flat_tensor_legacy::desc::SCHEMA),
    (&["xnnpack"], &xnnpack::desc::SCHEMA),
    (&["vulkan"], &vulkan::desc::SCHEMA),
    (&["tosa"], &tosa::desc::SCHEMA),
    (&["native"], &native::desc::SCHEMA),
    (&["mlx"], &mlx::desc::SCHEMA),
    (&["vgf"], &vgf::desc::SCHEMA),
    (&["qnn"], &qnn::desc::SCHEMA),
    (&["qnn-legacy"], &qnn_legacy::desc::SCHEMA),
    (&["enn"], &enn::desc::SCHEMA),
    (&["bundled-program"], &bundled_program::desc::SCHEMA),
    (&["etdump"], &etdump::desc::SCHEMA),
];
