//! `pte schema`: the declared tables as `.fbs` text.

use clap::{Args, ValueEnum};

use super::Common;
use super::output::{Content, Output, formatted};
use super::problem::{Problem, Status};
use pte::flat::fbs;
use pte::schema::{bundled_program, etdump, flat_tensor, flat_tensor_legacy, program};
use pte::schema::{vulkan, xnnpack};

/// Print the tables as FlatBuffers schema text
///
/// Each field has its slot and the release that introduced it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte schema                     the schema of .pte files
  pte schema flat-tensor         the schema of .ptd files since release 0.7
  pte schema flat-tensor-legacy  the schema of older .ptd files
  pte schema xnnpack             the schema of the graphs in XNNPACK's payloads

Exit status: 0 printed, 2 usage, 3 not writable")]
pub(super) struct Schema {
    /// The schema.
    #[arg(default_value = "program")]
    which: SchemaName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemaName {
    Program,
    FlatTensor,
    FlatTensorLegacy,
    Xnnpack,
    Vulkan,
    BundledProgram,
    Etdump,
}

impl Schema {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let schema = match self.which {
            SchemaName::Program => &program::desc::SCHEMA,
            SchemaName::FlatTensor => &flat_tensor::desc::SCHEMA,
            SchemaName::FlatTensorLegacy => &flat_tensor_legacy::desc::SCHEMA,
            SchemaName::Xnnpack => &xnnpack::desc::SCHEMA,
            SchemaName::Vulkan => &vulkan::desc::SCHEMA,
            SchemaName::BundledProgram => &bundled_program::desc::SCHEMA,
            SchemaName::Etdump => &etdump::desc::SCHEMA,
        };
        let mut out = Output::open(common.output.as_deref(), Content::Plain)?;
        let written = fbs::write(schema, &mut out);
        formatted(out, written)?;
        Ok(Status::Good)
    }
}
