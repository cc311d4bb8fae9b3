//! `pte schema`: the declared tables as `.fbs` text.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::Common;
use super::output::{Content, Output};
use super::problem::{Problem, Status};
use pte::flat::{desc, fbs};
use pte::schema::SCHEMAS;

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
    #[arg(value_name = "NAME", default_value = "pte", value_parser = names())]
    which: &'static desc::Schema,
}

/// Takes the names of the schemas.
fn names() -> impl TypedValueParser<Value = &'static desc::Schema> {
    let values = SCHEMAS.iter().filter_map(|(names, _)| {
        let (first, others) = names.split_first()?;
        Some(PossibleValue::new(*first).aliases(others.iter().copied()))
    });
    PossibleValuesParser::new(values).try_map(|name| {
        let found = SCHEMAS.iter().find(|(names, _)| names.contains(&name.as_str()));
        found.map(|(_, schema)| *schema).ok_or("no schema has this name")
    })
}

impl Schema {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let out = Output::open(common.output.as_deref(), Content::Plain)?;
        out.finish_with(|out| Ok(fbs::write(self.which, out)?))?;
        Ok(Status::Good)
    }
}
