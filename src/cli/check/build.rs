//! The build of the runtime that `pte check` judges for: `--kernels` and `--backends`.

use std::path::PathBuf;

use clap::Args;
use pte::check::{NEWEST, Release, RuntimeBuild};
use pte::package;

use crate::kernels::KernelList;
use crate::problem::Problem;

/// Arguments on what the runtime links.
#[derive(Debug, Args)]
pub(super) struct BuildArguments {
    /// Report calls that these kernels lack: loading fails with status 0x14 (OperatorMissing). LIST has
    /// kernel libraries (prim, portable, optimized, quantized, llm, cortex_m, cadence), a package (wheel,
    /// android, ios) or a file of operators (selected_operators.yaml, or one name on each line), with
    /// commas between.
    #[arg(long, value_name = "LIST", conflicts_with = "structure_only")]
    kernels: Option<KernelList>,
    /// Report delegates of other backends than these: loading fails with status 0x20. LIST has ids
    /// (XnnpackBackend) or a package (wheel, android, ios), with commas between.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "structure_only")]
    backends: Option<Vec<String>>,
}

impl BuildArguments {
    /// Returns the files that the arguments name.
    pub(super) fn files(&self, release: Option<Release>) -> impl Iterator<Item = &PathBuf> {
        let release = release.unwrap_or(NEWEST);
        self.kernels.iter().flat_map(move |list| list.files(release))
    }

    /// Returns what is linked in `release`, or in the newest one.
    pub(super) fn build(&self, release: Option<Release>) -> Result<RuntimeBuild, Problem> {
        let release = release.unwrap_or(NEWEST);
        let kernels = self.kernels.as_ref().map(|list| list.read(release)).transpose()?;
        let backends =
            self.backends.as_ref().map(|names| package::backends(names, release)).transpose();
        let backends = backends.map_err(|error| Problem::Usage(error.to_string().into()))?;
        Ok(RuntimeBuild { kernels, backends })
    }
}
