//! Finds the payloads of a program's delegates and recognizes their backends. Reads the payloads
//! whose layout is known.
//!
//! Each backend has its own file or folder, and [`Backend`] lists all backends that are recognized.
//! A payload is in a segment or in the FlatBuffer: [`Payload::range`] returns its range in the
//! file. [`PayloadContents`] describes what is in a payload.

use alloc::collections::BTreeSet;
use core::ops::Range;

use crate::backend::{Backend, magic};
use crate::error::Result;
use crate::pte::Pte;
use binrw::meta::ReadMagic;
use flatbuffer::FlatBufferFormat;
use model::Model;
use pte_flat::bytes::len_of;
use pte_flat::cost;
use pte_schema::program::view::BackendDelegate;
use sections::Reader as SectionsReader;

mod bundle;
pub mod command_stream;
mod contents;
#[cfg(feature = "json")]
pub mod coreml;
pub mod ethosu;
mod flatbuffer;
pub mod graph;
mod id_map;
mod layout;
mod literal;
pub mod mlx;
mod model;
mod native;
pub mod openvino;
mod place;
pub mod qnn;
mod read;
mod sections;
mod tables;
mod tosa;
mod unreadable;
mod vendors;
pub mod vgf;
pub mod vulkan;
#[cfg_attr(not(feature = "json"), expect(dead_code, reason = "the messages of Core ML"))]
mod wire;
pub mod xnnpack;

pub use bundle::Bundle;
pub use contents::{DataUse, GraphConstant, PayloadContents};
pub use graph::{Graph, Quantization, Reader, Scales};
pub use layout::Layout;
pub use place::{ConstantPlace, Key};
pub use read::for_each_graph;
pub use sections::{Scratch, Section, Sections, archive, for_each_sections};
pub use tables::{Tables, TablesPlace};
pub use unreadable::Unreadable;
pub use xnnpack::uses::ConstantUses;

/// The backends whose payloads are read, and how. Those of other backends are opaque.
static FORMATS: &[(Backend, Format)] = &[
    (Backend::Xnnpack, Format::FlatBuffer(&xnnpack::form::FORMAT)),
    (Backend::Vulkan, Format::FlatBuffer(&vulkan::FORMAT)),
    (Backend::Tosa, Format::FlatBuffer(&tosa::FORMAT)),
    (Backend::Native, Format::FlatBuffer(&native::FORMAT)),
    (Backend::Mlx, Format::FlatBuffer(&mlx::FORMAT)),
    (Backend::EthosU, Format::Sections(ethosu::sections::sections)),
    (Backend::Vgf, Format::Sections(vgf::sections::sections)),
    #[cfg(feature = "json")]
    (Backend::CoreMl, Format::Sections(coreml::sections::sections)),
    (Backend::OpenVino, Format::Sections(openvino::sections::sections)),
    (Backend::Qnn, Format::Sections(qnn::sections::sections)),
    (Backend::Neuropilot, Format::Sections(vendors::neuropilot)),
    (Backend::Neutron, Format::Sections(vendors::neutron)),
    (Backend::Mps, Format::Sections(vendors::mps)),
    (Backend::Cuda, Format::Sections(vendors::aot_inductor)),
    (Backend::Metal, Format::Sections(vendors::aot_inductor)),
];

/// How the payloads of a backend are read.
enum Format {
    /// The payload has a FlatBuffer of a known schema, and its graph.
    FlatBuffer(&'static FlatBufferFormat),
    /// The payload has sections, which a function finds.
    Sections(SectionsReader),
}

/// The backends with a known graph in their sections. The list is apart, so that a program that only judges payloads
/// does not contain what makes these graphs.
static MODELS: &[(Backend, &Model)] = &[
    (Backend::EthosU, &ethosu::MODEL),
    (Backend::Vgf, &vgf::form::MODEL),
    #[cfg(feature = "json")]
    (Backend::CoreMl, &coreml::MODEL),
];

impl Format {
    /// Returns the format of a backend's payloads; `None` if they are opaque.
    fn of(backend: Backend) -> Option<&'static Self> {
        FORMATS.iter().find(|(of, _)| *of == backend).map(|(_, format)| format)
    }
}

/// The payload of a delegate (upstream: processed bytes): its backend and its range in the file.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let bytes = include_bytes!("../../tests/data/pte/xnn_gpt.pte");
/// let pte = pte::Pte::read(bytes)?;
/// let payloads = pte.payloads().collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(payloads.len(), 12);
/// assert_eq!(payloads[0].backend(), Some(pte::Backend::Xnnpack));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Payload<'a> {
    delegate: BackendDelegate<'a>,
    range: Range<u64>,
}

impl<'a> Pte<'a> {
    /// Returns the payload of `delegate`; `None` if it has no payload.
    ///
    /// # Errors
    ///
    /// The delegate refers to a segment or inline data that does not exist.
    pub fn payload(&self, delegate: BackendDelegate<'a>) -> Result<Option<Payload<'a>>> {
        let range = self.delegate_range(delegate)?;
        Ok(range.map(|range| Payload { delegate, range }))
    }

    /// Returns the payload of each delegate, method by method. Delegates may share a payload.
    ///
    /// # Errors
    ///
    /// Each item may be an error of [`payload`](Self::payload).
    pub fn payloads(&self) -> impl Iterator<Item = Result<Payload<'a>>> {
        let plans = self.program().execution_plan().into_iter().flatten();
        let delegates = plans.flat_map(|plan| plan.delegates().into_iter().flatten());
        delegates.filter_map(|delegate| self.payload(delegate).transpose())
    }

    /// Returns the valid payloads, each once for each backend whose delegates share it.
    pub(crate) fn distinct_payloads(&self) -> impl Iterator<Item = Payload<'a>> {
        let mut seen = BTreeSet::new();
        self.payloads().filter_map(Result::ok).filter(move |payload| {
            let Range { start, end } = payload.range();
            cost::look_up("", seen.len());
            seen.insert((start, end, payload.backend()))
        })
    }
}

impl Backend {
    /// Returns what documents show of the graphs in payloads of the backend; `None` if their tables are not known.
    pub fn graph_detail(self) -> Option<graph::Detail> {
        let model = || Model::of(self).map(|model| model.detail);
        FlatBufferFormat::of(self).map(|format| format.detail).or_else(model)
    }
}

impl<'a> Payload<'a> {
    /// Returns the id of the backend as the program spells it; `None` if it is missing.
    pub fn id(&self) -> Option<&'a str> {
        self.delegate.id()
    }

    /// Returns the backend; `None` for an unknown id.
    pub fn backend(&self) -> Option<Backend> {
        Backend::of_id(self.id()?)
    }

    /// Returns the delegate.
    pub fn delegate(&self) -> BackendDelegate<'a> {
        self.delegate
    }

    /// Returns the range of the payload in the file.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        len_of(&self.range)
    }

    /// Returns whether the payload has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

// Declarations of headers take a magic only as a literal. It is compared with the list of backends when this is
// compiled.
const _: () = {
    assert!(is_same(xnnpack::XnnpackHeader::MAGIC, magic::XNNPACK));
    assert!(is_same(vulkan::VulkanHeader::MAGIC, magic::VULKAN));
    assert!(is_same(mlx::MlxHeader::MAGIC, magic::MLX));
};

/// Compares two identifiers at compile time.
const fn is_same(a: [u8; 4], b: [u8; 4]) -> bool {
    u32::from_le_bytes(a) == u32::from_le_bytes(b)
}

#[cfg(test)]
mod tests {
    use super::{Format, MODELS};

    #[test]
    fn a_graph_without_a_flatbuffer_is_in_sections() {
        for (backend, _) in MODELS {
            assert!(matches!(Format::of(*backend), Some(Format::Sections(_))), "{backend:?}");
        }
    }
}
