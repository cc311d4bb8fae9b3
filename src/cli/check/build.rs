//! The build of the runtime that `pte check` judges for: `--kernels` and `--backends`.

use std::collections::BTreeSet;

use clap::Args;
use pte::check::{NEWEST, Release, RuntimeBuild};
use pte::package::Package;
use pte::quoted::Untrusted;

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
    /// Returns what is linked in `release`, or in the newest one.
    pub(super) fn build(&self, release: Option<Release>) -> Result<RuntimeBuild, Problem> {
        let release = release.unwrap_or(NEWEST);
        let kernels = self.kernels.as_ref().map(|list| list.read(release)).transpose()?;
        let backends = self.backends.as_ref().map(|list| backends(list, release)).transpose()?;
        Ok(RuntimeBuild { kernels, backends })
    }
}

fn backends(list: &[String], release: Release) -> Result<BTreeSet<String>, Problem> {
    let mut ids = BTreeSet::new();
    for name in list {
        let Some(package) = Package::of_name(name) else {
            ids.insert(name.clone());
            continue;
        };
        let known = package.backends(release).ok_or_else(|| {
            let ((major, minor), name) = (release, Untrusted::from(name.as_str()));
            let message =
                format!("the backends of {name:?} in release {major}.{minor} are not known");
            Problem::Usage(message.into())
        })?;
        ids.extend(known.into_iter().map(String::from));
    }
    Ok(ids)
}
