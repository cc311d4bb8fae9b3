//! The known backends: the id of each in programs, and the magic of its payloads.
//!
//! Sources: docs/format.md §11.7 and ExecuTorch's `backends/*/runtime`. Format detection, rules and
//! [`payload`](crate::payload) read this list. Readers of payloads use the constants in `magic`.

use pte_flat::bytes::until_nul;

/// The magics of payloads. The literals of headers and of schemas are held equal to these at compile time.
pub(crate) mod magic {
    use core::ffi::CStr;

    /// The header of XNNPACK.
    pub(crate) const XNNPACK: [u8; 4] = *b"XH00";
    /// The identifiers of XNNPACK's graph, which may be the whole payload. The schema declares the second.
    pub(crate) const XNNPACK_GRAPH: [[u8; 4]; 2] = [*b"XN00", *b"XN01"];
    /// The header of Vulkan.
    pub(crate) const VULKAN: [u8; 4] = *b"VH00";
    /// The identifier of Vulkan's graph.
    pub(crate) const VULKAN_GRAPH: [u8; 4] = *b"VK00";
    /// The header of Metal Performance Shaders, and the identifier of a graph without a header.
    pub(crate) const MPS: [u8; 4] = *b"MP00";
    /// The header of MLX.
    pub(crate) const MLX: [u8; 4] = *b"MLX0";
    /// The identifier of a TOSA graph.
    pub(crate) const TOSA: [u8; 4] = *b"TOSA";
    /// The identifier of a graph of the native backend.
    pub(crate) const NATIVE: [u8; 4] = *b"NPTG";
    /// The name of the first block of an Ethos-U stream.
    pub(crate) const ETHOS_U: &CStr = c"vela_bin_stream";
    /// The start of a Core ML payload that refers to named data.
    pub(crate) const CORE_ML_REFERENCE: [u8; 4] = *b"CMJR";
    /// The end of any other Core ML payload: the start of its table of contents, in reversed order.
    pub(crate) const CORE_ML_CONTENTS: [u8; 10] = *b"[:\"sedon\"{";
    /// The header of QNN's context binary.
    pub(crate) const QNN_CONTEXT: [u8; 4] = 0x5678_abcd_u32.to_le_bytes();
    /// The header of QNN's graph that the driver compiles when it is loaded: releases 0.6 and 0.7.
    pub(crate) const QNN_GRAPH: [u8; 4] = 0x1234_abcd_u32.to_le_bytes();
    /// The header of VGF.
    pub(crate) const VGF: [u8; 4] = *b"VGF1";
    /// The header of a model that OpenVINO's CPU plugin exports.
    pub(crate) const OPEN_VINO: [u8; 8] = *b"RR_UPCVO";
}

/// A backend whose payloads are recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// XNNPACK: CPU kernels.
    Xnnpack,
    /// Vulkan, and WebGPU, which registers under the same id.
    Vulkan,
    /// Metal Performance Shaders.
    Mps,
    /// Apple MLX.
    Mlx,
    /// Plain TOSA graphs.
    Tosa,
    /// ExecuTorch's native backend.
    Native,
    /// Arm Ethos-U.
    EthosU,
    /// Apple Core ML.
    CoreMl,
    /// Qualcomm AI Engine Direct.
    Qnn,
    /// Arm's VGF, for the ML extensions of Vulkan.
    Vgf,
    /// Intel OpenVINO.
    OpenVino,
    /// MediaTek Neuropilot.
    Neuropilot,
    /// NXP eIQ Neutron.
    Neutron,
    /// Samsung ENN.
    Enn,
    /// AOTInductor for CUDA.
    Cuda,
    /// AOTInductor for Metal.
    Metal,
}

/// A known backend.
struct Known {
    backend: Backend,
    /// `BackendDelegate.id`.
    id: &'static str,
    name: &'static str,
    /// The offset of the magic in the backend's payloads.
    at: usize,
    magics: &'static [&'static [u8]],
    /// Whether every payload has one of the magics.
    always: bool,
    /// Whether there are genuine payloads to hold rules against.
    has_samples: bool,
}

impl Known {
    const fn new(
        backend: Backend,
        id: &'static str,
        name: &'static str,
        at: usize,
        magics: &'static [&'static [u8]],
    ) -> Self {
        Self { backend, id, name, at, magics, always: true, has_samples: true }
    }

    /// Marks a backend with some payloads that have no magic.
    const fn or_without(self) -> Self {
        Self { always: false, ..self }
    }

    /// Marks a backend of which there are no genuine payloads to hold rules against.
    const fn without_samples(self) -> Self {
        Self { has_samples: false, ..self }
    }
}

#[rustfmt::skip]
static KNOWN: [Known; 16] = [
    Known::new(Backend::Xnnpack, "XnnpackBackend", "XNNPACK", 4, &[&magic::XNNPACK, &magic::XNNPACK_GRAPH[0], &magic::XNNPACK_GRAPH[1]]),
    Known::new(Backend::Vulkan, "VulkanBackend", "Vulkan", 4, &[&magic::VULKAN, &magic::VULKAN_GRAPH]),
    Known::new(Backend::Mps, "MPSBackend", "MPS", 4, &[&magic::MPS]).without_samples(),
    Known::new(Backend::Mlx, "MLXBackend", "MLX", 4, &[&magic::MLX]),
    Known::new(Backend::Tosa, "TOSABackend", "TOSA", 4, &[&magic::TOSA]),
    Known::new(Backend::Native, "NativeBackend", "native", 4, &[&magic::NATIVE]),
    Known::new(Backend::EthosU, "EthosUBackend", "Ethos-U", 0, &[magic::ETHOS_U.to_bytes_with_nul()]),
    Known::new(Backend::CoreMl, "CoreMLBackend", "CoreML", 0, &[&magic::CORE_ML_REFERENCE]).or_without(),
    Known::new(Backend::Qnn, "QnnBackend", "QNN", 0, &[&magic::QNN_CONTEXT, &magic::QNN_GRAPH]).or_without(),
    Known::new(Backend::Vgf, "VgfBackend", "VGF", 0, &[&magic::VGF]).or_without(),
    Known::new(Backend::OpenVino, "OpenvinoBackend", "OpenVINO", 0, &[&magic::OPEN_VINO]).or_without(),
    Known::new(Backend::Neuropilot, "NeuropilotBackend", "Neuropilot", 0, &[]).or_without().without_samples(),
    Known::new(Backend::Neutron, "NeutronBackend", "Neutron", 0, &[]).or_without().without_samples(),
    Known::new(Backend::Enn, "EnnBackend", "ENN", 0, &[]).or_without().without_samples(),
    Known::new(Backend::Cuda, "CudaBackend", "CUDA", 0, &[]).or_without().without_samples(),
    Known::new(Backend::Metal, "MetalBackend", "Metal", 0, &[]).or_without().without_samples(),
];

/// The magic that every payload of a backend has.
#[derive(Clone, Copy, Debug)]
pub struct Magic {
    /// The offset in the payload.
    pub at: usize,
    /// The magics that the backend accepts.
    pub any_of: &'static [&'static [u8]],
}

impl Magic {
    /// Returns the bytes of `head`, the start of a payload, from the offset of the magic on.
    pub fn found_in(self, head: &[u8]) -> &[u8] {
        head.get(self.at..).unwrap_or_default()
    }

    /// Returns whether `head`, the start of a payload, has one of the magics.
    pub fn is_in(self, head: &[u8]) -> bool {
        let found = self.found_in(head);
        self.any_of.iter().any(|magic| found.starts_with(magic))
    }
}

impl Backend {
    /// Returns the backend with this id.
    pub fn of_id(id: &str) -> Option<Self> {
        // Runtimes read names up to a NUL.
        let id = until_nul(id);
        KNOWN.iter().find(|known| known.id == id).map(|known| known.backend)
    }

    /// Returns the backend whose payload begins with `head`; 16 bytes are enough.
    pub fn of_payload(head: &[u8]) -> Option<Self> {
        let is_it = |known: &&Known| Magic { at: known.at, any_of: known.magics }.is_in(head);
        KNOWN.iter().find(is_it).map(|known| known.backend)
    }

    /// Returns the id that programs use (`BackendDelegate.id`).
    pub fn id(self) -> &'static str {
        self.known().map_or("", |known| known.id)
    }

    /// Returns the common name.
    pub fn name(self) -> &'static str {
        self.known().map_or("", |known| known.name)
    }

    /// Returns the magic of the backend's payloads; `None` if some payloads have none.
    pub fn magic(self) -> Option<Magic> {
        let known = self.known().filter(|known| known.always)?;
        Some(Magic { at: known.at, any_of: known.magics })
    }

    /// Returns whether genuine payloads of the backend are available to test rules. If not, its payloads are not
    /// judged.
    pub fn has_samples(self) -> bool {
        self.known().is_some_and(|known| known.has_samples)
    }

    fn known(self) -> Option<&'static Known> {
        KNOWN.iter().find(|known| known.backend == self)
    }
}

/// The number of bytes in which every magic lies.
pub const LONGEST_MAGIC: usize = 16;

#[cfg(test)]
mod tests {
    use super::{Backend, KNOWN, LONGEST_MAGIC};

    #[test]
    fn every_backend_has_one_row_whose_magics_are_its_own() {
        for known in &KNOWN {
            let rows = KNOWN.iter().filter(|other| other.id == known.id);
            assert_eq!(rows.count(), 1, "{}", known.id);
            assert_eq!(Backend::of_id(known.id), Some(known.backend));
            assert_eq!((known.backend.id(), known.backend.name()), (known.id, known.name));
            for magic in known.magics {
                let head = [&[0; 8][..known.at], magic].concat();
                assert_eq!(Backend::of_payload(&head), Some(known.backend));
                assert!(head.len() <= LONGEST_MAGIC);
            }
        }
        assert_eq!(Backend::of_id("xnnpackbackend"), None);
        assert_eq!(Backend::of_id("XnnpackBackend\0x"), Some(Backend::Xnnpack));
        assert_eq!(Backend::of_payload(b"\0\0\0\0XH0"), None);
    }
}
