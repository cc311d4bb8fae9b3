//! The known backends: the id of each in programs, and the magic of its payloads.
//!
//! Sources: docs/format.md §11.7 and ExecuTorch's `backends/*/runtime`. Format detection, rules and
//! [`payload`](crate::payload) read this list. Readers of payloads compare the magic again, in their own layout.

use crate::bytes::until_nul;

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
}

impl Known {
    const fn new(
        backend: Backend,
        id: &'static str,
        name: &'static str,
        at: usize,
        magics: &'static [&'static [u8]],
    ) -> Self {
        Self { backend, id, name, at, magics, always: true }
    }

    /// Marks a backend with some payloads that have no magic.
    const fn or_without(self) -> Self {
        Self { always: false, ..self }
    }
}

#[rustfmt::skip]
static KNOWN: [Known; 16] = [
    Known::new(Backend::Xnnpack, "XnnpackBackend", "XNNPACK", 4, &[b"XH00", b"XN00", b"XN01"]),
    Known::new(Backend::Vulkan, "VulkanBackend", "Vulkan", 4, &[b"VH00", b"VK00"]),
    Known::new(Backend::Mps, "MPSBackend", "MPS", 4, &[b"MP00"]),
    Known::new(Backend::Mlx, "MLXBackend", "MLX", 4, &[b"MLX0"]),
    Known::new(Backend::Tosa, "TOSABackend", "TOSA", 4, &[b"TOSA"]),
    Known::new(Backend::Native, "NativeBackend", "native", 4, &[b"NPTG"]),
    Known::new(Backend::EthosU, "EthosUBackend", "Ethos-U", 0, &[b"vela_bin_stream\0"]),
    Known::new(Backend::CoreMl, "CoreMLBackend", "CoreML", 0, &[b"CMJR"]).or_without(),
    Known::new(Backend::Qnn, "QnnBackend", "QNN", 0, &[b"\xcd\xab\x78\x56", b"\xcd\xab\x34\x12"]).or_without(),
    Known::new(Backend::Vgf, "VgfBackend", "VGF", 0, &[b"VGF1"]).or_without(),
    Known::new(Backend::OpenVino, "OpenvinoBackend", "OpenVINO", 0, &[b"RR_UPCVO"]).or_without(),
    Known::new(Backend::Neuropilot, "NeuropilotBackend", "Neuropilot", 0, &[]).or_without(),
    Known::new(Backend::Neutron, "NeutronBackend", "Neutron", 0, &[]).or_without(),
    Known::new(Backend::Enn, "EnnBackend", "ENN", 0, &[]).or_without(),
    Known::new(Backend::Cuda, "CudaBackend", "CUDA", 0, &[]).or_without(),
    Known::new(Backend::Metal, "MetalBackend", "Metal", 0, &[]).or_without(),
];

/// The magic that every payload of a backend has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Magic {
    /// The offset in the payload.
    pub(crate) at: usize,
    /// The magics that the backend accepts.
    pub(crate) any_of: &'static [&'static [u8]],
}

impl Magic {
    /// Returns the bytes of `head`, the start of a payload, from the offset of the magic on.
    pub(crate) fn found_in(self, head: &[u8]) -> &[u8] {
        head.get(self.at..).unwrap_or_default()
    }

    /// Returns whether `head`, the start of a payload, has one of the magics.
    pub(crate) fn is_in(self, head: &[u8]) -> bool {
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
    pub(crate) fn magic(self) -> Option<Magic> {
        let known = self.known().filter(|known| known.always)?;
        Some(Magic { at: known.at, any_of: known.magics })
    }

    fn known(self) -> Option<&'static Known> {
        KNOWN.iter().find(|known| known.backend == self)
    }
}

/// The number of bytes in which every magic lies.
pub(crate) const LONGEST_MAGIC: usize = 16;

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
