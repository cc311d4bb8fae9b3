//! Judging files.

use std::io;
use std::path::PathBuf;

use pte::check::{
    CheckedFile, Checker, NEWEST, Policy, Preset, Release, RuntimeBuild, data_rule, parse_release,
    rule, sarif,
};
use pte::{Limits, Ptd, package};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::documents::text;
use crate::error::{Failure, Result, apart, guarded};
use crate::handle::Handle;
use crate::source::Source;

/// A policy: the rules that are allowed and denied, the release, what the runtime links, and whether
/// contents are searched.
#[pyclass(frozen, module = "ptekit._ptekit")]
#[derive(Debug)]
pub(crate) struct Judge {
    policy: Policy,
    build: RuntimeBuild,
    scan: bool,
    limits: Limits,
    data: Vec<Py<Handle>>,
}

/// A checked file.
#[pyclass(frozen, module = "ptekit._ptekit")]
#[derive(Debug)]
pub(crate) struct Checked(CheckedFile);

#[pymethods]
impl Checked {
    /// Returns the entry of the document `pte.check/1`.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        apart(py, || text(&self.0))
    }
}

#[pymethods]
impl Judge {
    #[new]
    #[pyo3(signature = (data, severities, preset, runtime, scan, trusted, linked, required))]
    #[expect(clippy::too_many_arguments, reason = "they are those of `ptekit.check`")]
    fn new(
        data: Vec<Py<Handle>>,
        severities: (Vec<String>, Vec<String>),
        preset: Option<String>,
        runtime: Option<String>,
        scan: bool,
        trusted: bool,
        linked: (Option<String>, Option<Vec<String>>),
        required: (bool, Option<u64>),
    ) -> PyResult<Self> {
        let ((allow, deny), (kernels, backends)) = (severities, linked);
        let (require_data, max_memory) = required;
        guarded(|| {
            let mut policy = policy(&allow, &deny, runtime.as_deref())?;
            let mut scan = scan;
            if let Some(id) = preset {
                let preset = Preset::of_id(&id);
                let preset =
                    preset.ok_or_else(|| Failure::Value(format!("unknown preset {id:?}")))?;
                policy = policy.preset(preset);
                scan |= preset.scans;
            }
            if require_data {
                policy = policy.deny(data_rule());
            }
            if let Some(bytes) = max_memory {
                policy = policy.max_memory(bytes);
            }
            for file in &data {
                file.get().ptd()?;
            }
            let build = build(kernels.as_deref(), backends, policy.release().unwrap_or(NEWEST))?;
            Ok(Self { policy, build, scan, limits: crate::handle::limits(trusted), data })
        })
    }

    /// Checks an opened file.
    fn handle(&self, py: Python<'_>, file: Py<Handle>) -> PyResult<Checked> {
        apart(py, || self.check(file.get()).map(Checked))
    }

    /// Checks a file on disk. That it is refused or cannot be read is a finding.
    fn path(&self, py: Python<'_>, path: PathBuf, name: String) -> PyResult<Checked> {
        apart(py, || self.open(Source::open(&path), name))
    }

    /// Checks the bytes of an object. That they are refused is a finding.
    fn bytes(&self, py: Python<'_>, bytes: PyBackedBytes, name: String) -> PyResult<Checked> {
        apart(py, || self.open(Ok(Source::of(bytes)), name))
    }
}

impl Judge {
    fn open(&self, source: io::Result<Source>, name: String) -> Result<Checked> {
        let opened = source.map_err(Failure::from);
        let opened = opened.and_then(|source| Handle::open(source, name.clone(), self.limits));
        let checked = opened.and_then(|file| self.check(&file));
        Ok(Checked(match checked {
            Ok(checked) => checked,
            Err(Failure::Refused(error)) => CheckedFile::refused(name, &error),
            Err(Failure::Io(error)) => CheckedFile::unreadable(name, error.to_string(), None),
            Err(Failure::Absent { message, .. }) => CheckedFile::unreadable(name, message, None),
            Err(failure) => return Err(failure),
        }))
    }

    fn check(&self, file: &Handle) -> Result<CheckedFile> {
        // Data files are used for a program, not for another data file.
        let is_program = file.pte().is_ok();
        let used = self.data.iter().filter(|_| is_program);
        let names: Vec<_> = used.clone().map(|of| of.get().name.clone()).collect();
        let data: Vec<Ptd<'_>> = used.map(|of| of.get().ptd()).collect::<Result<_>>()?;
        let mut checker = Checker::new().limits(self.limits).policy(self.policy.clone());
        // Without data files, keys of data are not looked for.
        if !data.is_empty() {
            checker = checker.data(&data);
        }
        checker = checker.build(&self.build);
        checker = checker.bundled(file.bundle.map(|(_, start)| start));
        let report = checker.scan(self.scan).check(&file.opened)?;
        let mut checked = CheckedFile::new(&file.name, &file.opened.file());
        checked.add(&file.opened, &names, &report);
        Ok(checked)
    }
}

/// Returns checked files as SARIF 2.1.0.
#[pyfunction]
pub(crate) fn to_sarif(py: Python<'_>, files: Vec<Py<Checked>>) -> PyResult<String> {
    apart(py, || {
        let files: Vec<_> = files.iter().map(|file| file.get().0.clone()).collect();
        text(&sarif(&files, &[]))
    })
}

/// Returns the build of the runtime that kernels and backends, or packages of them, describe.
fn build(
    kernels: Option<&str>,
    backends: Option<Vec<String>>,
    release: Release,
) -> Result<RuntimeBuild> {
    let kernels = kernels.map(|text| crate::several::kernels(text, release)).transpose()?;
    let backends = backends.map(|names| package::backends(&names, release));
    let backends = backends.transpose().map_err(|error| Failure::Value(error.to_string()))?;
    Ok(RuntimeBuild { kernels, backends })
}

/// Returns the policy of rules that are allowed and denied, and a release.
fn policy(allow: &[String], deny: &[String], runtime: Option<&str>) -> Result<Policy> {
    let mut policy = Policy::new();
    if let Some(release) = runtime {
        let release = parse_release(release).map_err(|error| Failure::Value(error.to_string()))?;
        policy = policy.runtime(release);
    }
    let unknown = |name: &str| Failure::Value(format!("unknown rule {name:?}"));
    for name in allow {
        policy = policy.allow(rule(name).ok_or_else(|| unknown(name))?);
    }
    for name in deny {
        policy = policy.deny_named(name).ok_or_else(|| unknown(name))?;
    }
    Ok(policy)
}
