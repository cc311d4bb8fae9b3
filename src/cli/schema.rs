//! `pte schema`: the declared tables as `.fbs` text.

use clap::{Args, ValueEnum};

use super::Common;
use super::output::{Content, Output, formatted};
use super::problem::{Problem, Status};
use pte::flat::fbs;
use pte::schema::{bundled_program, etdump, flat_tensor, flat_tensor_legacy, program};
use pte::schema::{enn, mlx, native, qnn, tosa, vulkan, xnnpack};

/// Print the tables as FlatBuffers schema text
///
/// Each field has its slot and the release that introduced it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte schema pte          the schema of .pte files
  pte schema ptd          the schema of .ptd files since release 0.7
  pte schema ptd-legacy   the schema of older .ptd files
  pte schema xnnpack      the schema of the graphs in XNNPACK's payloads

Exit status: 0 printed, 2 usage, 3 not writable")]
pub(super) struct Schema {
    /// The schema.
    #[arg(default_value = "pte")]
    which: SchemaName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemaName {
    #[value(alias = "program")]
    Pte,
    #[value(alias = "flat-tensor")]
    Ptd,
    #[value(alias = "flat-tensor-legacy")]
    PtdLegacy,
    Xnnpack,
    Vulkan,
    Tosa,
    Native,
    Mlx,
    Qnn,
    Enn,
    BundledProgram,
    Etdump,
}

impl Schema {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let schema = match self.which {
            SchemaName::Pte => &program::desc::SCHEMA,
            SchemaName::Ptd => &flat_tensor::desc::SCHEMA,
            SchemaName::PtdLegacy => &flat_tensor_legacy::desc::SCHEMA,
            SchemaName::Xnnpack => &xnnpack::desc::SCHEMA,
            SchemaName::Vulkan => &vulkan::desc::SCHEMA,
            SchemaName::Tosa => &tosa::desc::SCHEMA,
            SchemaName::Native => &native::desc::SCHEMA,
            SchemaName::Mlx => &mlx::desc::SCHEMA,
            SchemaName::Qnn => &qnn::desc::SCHEMA,
            SchemaName::Enn => &enn::desc::SCHEMA,
            SchemaName::BundledProgram => &bundled_program::desc::SCHEMA,
            SchemaName::Etdump => &etdump::desc::SCHEMA,
        };
        let mut out = Output::open(common.output.as_deref(), Content::Plain)?;
        let written = fbs::write(schema, &mut out);
        formatted(out, written)?;
        Ok(Status::Good)
    }
}
