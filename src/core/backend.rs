//! The known backends: the id of each in programs, and the magic of its payloads.
//!
//! Sources: docs/format.md §11.7 and ExecuTorch's `backends/*/runtime`. Format detection, rules and
//! [`payload`](crate::payload) read this list. Readers of payloads use the constants in `magic`.

use pte_flat::bytes::until_nul;

/// The magics of payloads. The literals of headers are held equal to these at compile time.
pub(crate) mod magic {
    use core::ffi::CStr;

    use pte_schema::{native, tosa, vulkan, xnnpack};

    /// The header of XNNPACK.
    pub(crate) const XNNPACK: [u8; 4] = *b"XH00";
    /// The identifiers of XNNPACK's graph, which may be the whole payload.
    pub(crate) const XNNPACK_GRAPH: [[u8; 4]; 2] = [*b"XN00", xnnpack::desc::SCHEMA.identifier];
    /// The header of Vulkan.
    pub(crate) const VULKAN: [u8; 4] = *b"VH00";
    /// The identifier of Vulkan's graph.
    pub(crate) const VULKAN_GRAPH: [u8; 4] = vulkan::desc::SCHEMA.identifier;
    /// The header of Metal Performance Shaders, and the identifier of a graph without a header.
    pub(crate) const MPS: [u8; 4] = *b"MP00";
    /// The header of MLX.
    pub(crate) const MLX: [u8; 4] = *b"MLX0";
    /// The identifier of a TOSA graph.
    pub(crate) const TOSA: [u8; 4] = tosa::desc::SCHEMA.identifier;
    /// The identifier of a graph of the native backend.
    pub(crate) const NATIVE: [u8; 4] = native::desc::SCHEMA.identifier;
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

/// Declares the backends: a row has the variant, the id, the name, the offset of the magic in payloads, and the magics.
macro_rules! backends {
    ($(
        $(#[$meta:meta])*
        $Variant:ident $id:literal $name:literal $at:literal [$($magic:expr),*] $($mark:ident)*;
    )*) => {
        /// A backend whose payloads are recognized.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Backend { $( $(#[$meta])* $Variant, )* }

        impl Backend {
            const ALL: &[Self] = &[$( Self::$Variant ),*];

            const fn known(self) -> &'static Known {
                match self { $( Self::$Variant => {
                    const MAGIC: Magic = Magic { at: $at, any_of: &[$($magic),*] };
                    const KNOWN: Known = Known::new($id, $name, MAGIC)$(.$mark())*;
                    &KNOWN
                } )* }
            }
        }
    };
}

backends! {
    /// XNNPACK: CPU kernels.
    Xnnpack "XnnpackBackend" "XNNPACK" 4 [&magic::XNNPACK, &magic::XNNPACK_GRAPH[0], &magic::XNNPACK_GRAPH[1]]
        without_memory;
    /// Vulkan, and WebGPU, which registers under the same id.
    Vulkan "VulkanBackend" "Vulkan" 4 [&magic::VULKAN, &magic::VULKAN_GRAPH];
    /// Metal Performance Shaders.
    Mps "MPSBackend" "MPS" 4 [&magic::MPS] without_samples;
    /// Apple MLX.
    Mlx "MLXBackend" "MLX" 4 [&magic::MLX];
    /// Plain TOSA graphs.
    Tosa "TOSABackend" "TOSA" 4 [&magic::TOSA];
    /// ExecuTorch's native backend.
    Native "NativeBackend" "native" 4 [&magic::NATIVE];
    /// Arm Ethos-U.
    EthosU "EthosUBackend" "Ethos-U" 0 [magic::ETHOS_U.to_bytes_with_nul()];
    /// Apple Core ML.
    CoreMl "CoreMLBackend" "CoreML" 0 [&magic::CORE_ML_REFERENCE] or_without;
    /// Qualcomm AI Engine Direct.
    Qnn "QnnBackend" "QNN" 0 [&magic::QNN_CONTEXT, &magic::QNN_GRAPH] or_without;
    /// Arm's VGF, for the ML extensions of Vulkan.
    Vgf "VgfBackend" "VGF" 0 [&magic::VGF] or_without;
    /// Intel OpenVINO.
    OpenVino "OpenvinoBackend" "OpenVINO" 0 [&magic::OPEN_VINO] or_without;
    /// MediaTek Neuropilot.
    Neuropilot "NeuropilotBackend" "Neuropilot" 0 [] or_without without_samples;
    /// NXP eIQ Neutron.
    Neutron "NeutronBackend" "Neutron" 0 [] or_without without_samples;
    /// Samsung ENN.
    Enn "EnnBackend" "ENN" 0 [] or_without without_samples;
    /// AOTInductor for CUDA.
    Cuda "CudaBackend" "CUDA" 0 [] or_without without_samples;
    /// AOTInductor for Metal.
    Metal "MetalBackend" "Metal" 0 [] or_without without_samples;
}

/// A known backend.
struct Known {
    /// `BackendDelegate.id`.
    id: &'static str,
    name: &'static str,
    magic: Magic,
    /// Whether every payload has one of the magics.
    always: bool,
    /// Whether there are genuine payloads to hold rules against.
    has_samples: bool,
    /// Whether a delegate may give memory to a tensor that has none.
    gives_memory: bool,
}

impl Known {
    const fn new(id: &'static str, name: &'static str, magic: Magic) -> Self {
        Self { id, name, magic, always: true, has_samples: true, gives_memory: true }
    }

    /// Marks a backend with some payloads that have no magic.
    const fn or_without(self) -> Self {
        Self { always: false, ..self }
    }

    /// Marks a backend whose delegates give no memory to tensors.
    const fn without_memory(self) -> Self {
        Self { gives_memory: false, ..self }
    }

    /// Marks a backend of which there are no genuine payloads to hold rules against.
    const fn without_samples(self) -> Self {
        Self { has_samples: false, ..self }
    }
}

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
        Self::ALL.iter().copied().find(|backend| backend.known().id == id)
    }

    /// Returns the backend whose payload begins with `head`; 16 bytes are enough.
    pub fn of_payload(head: &[u8]) -> Option<Self> {
        Self::ALL.iter().copied().find(|backend| backend.known().magic.is_in(head))
    }

    /// Returns the id that programs use (`BackendDelegate.id`).
    pub fn id(self) -> &'static str {
        self.known().id
    }

    /// Returns the common name.
    pub fn name(self) -> &'static str {
        self.known().name
    }

    /// Returns the magic of the backend's payloads; `None` if some payloads have none.
    pub fn magic(self) -> Option<Magic> {
        let known = self.known();
        known.always.then_some(known.magic)
    }

    /// Returns whether a delegate of the backend may give memory to a tensor that has none.
    pub fn gives_memory(self) -> bool {
        self.known().gives_memory
    }

    /// Returns whether genuine payloads of the backend are available to test rules. If not, its payloads are not
    /// judged.
    pub fn has_samples(self) -> bool {
        self.known().has_samples
    }
}

/// The number of bytes in which every magic lies.
pub const LONGEST_MAGIC: usize = 16;

#[cfg(test)]
mod tests {
    use super::{Backend, LONGEST_MAGIC};

    #[test]
    fn ids_and_magics_of_backends_are_their_own() {
        for backend in Backend::ALL {
            assert_eq!(Backend::of_id(backend.id()), Some(*backend));
            let magic = backend.known().magic;
            for bytes in magic.any_of {
                let head = [&[0; 8][..magic.at], bytes].concat();
                assert_eq!(Backend::of_payload(&head), Some(*backend));
                assert!(head.len() <= LONGEST_MAGIC);
            }
        }
        assert_eq!(Backend::of_id("xnnpackbackend"), None);
        assert_eq!(Backend::of_id("XnnpackBackend\0x"), Some(Backend::Xnnpack));
        assert_eq!(Backend::of_payload(b"\0\0\0\0XH0"), None);
    }
}
