//! Documents of several files: operators, differences and profiles.

use std::path::PathBuf;

use pte::Limits;
use pte::check::{NEWEST, Release};
use pte::diff::{self, Class, DiffDocument, Given};
use pte::operators::selected::SelectedOperators;
use pte::operators::usage::UsageReport;
use pte::payload::Unreadable;
use pte::profile::Profile;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::documents::text;
use crate::error::{Failure, Result, apart};
use crate::handle::Handle;
use crate::source::Source;

/// Returns the document `pte.ops/1` of programs. `against` is the text of a list of operators.
#[pyfunction]
#[pyo3(signature = (files, against, method))]
pub(crate) fn ops(
    py: Python<'_>,
    files: Vec<Py<Handle>>,
    against: Option<String>,
    method: Option<String>,
) -> PyResult<String> {
    apart(py, || {
        let list = against.as_deref().map(|text| kernels(text, NEWEST)).transpose()?;
        let report = usage(&files, method, true)?;
        text(&report.document(list.as_ref()))
    })
}

/// Returns the operators of a text: names of kernel libraries and packages with commas between, or a list.
pub(crate) fn kernels(text: &str, release: Release) -> Result<SelectedOperators> {
    let libraries = text.trim().split(',').map(|name| SelectedOperators::of_library(name, release));
    if let Some(libraries) = libraries.collect::<Option<Vec<_>>>() {
        let mut all = SelectedOperators::default();
        libraries.into_iter().for_each(|library| all.merge(library));
        return Ok(all);
    }
    SelectedOperators::read(text).map_err(|error| Failure::Value(error.to_string()))
}

/// Returns the `selected_operators.yaml` of programs.
#[pyfunction]
#[pyo3(signature = (files, method))]
pub(crate) fn ops_yaml(
    py: Python<'_>,
    files: Vec<Py<Handle>>,
    method: Option<String>,
) -> PyResult<String> {
    apart(py, || Ok(usage(&files, method, false)?.to_yaml()))
}

fn usage(files: &[Py<Handle>], method: Option<String>, with_nodes: bool) -> Result<UsageReport> {
    let mut report = method.map(UsageReport::of_method).unwrap_or_default();
    for file in files {
        let file = file.get();
        if let Some(method) = &report.method {
            has_method(file, method)?;
        }
        report.add(&file.name, &file.pte()?);
        if with_nodes {
            report.add_nodes(&file.opened, &file.limits)?;
        }
    }
    Ok(report)
}

/// Returns the document `pte.diff/1` of two files, with the `.ptd` files beside each.
#[pyfunction]
#[pyo3(signature = (before, after, with_before, with_after, ignore, method))]
pub(crate) fn diff_files(
    py: Python<'_>,
    before: Py<Handle>,
    after: Py<Handle>,
    with_before: Vec<Py<Handle>>,
    with_after: Vec<Py<Handle>>,
    ignore: Vec<String>,
    method: Option<String>,
) -> PyResult<String> {
    apart(py, || {
        let (before, after) = (before.get(), after.get());
        let left = Given {
            file: &before.opened,
            data: with_before.iter().map(|data| &data.get().opened).collect(),
        };
        let right = Given {
            file: &after.opened,
            data: with_after.iter().map(|data| &data.get().opened).collect(),
        };
        let limits = &before.limits;
        let report = match &method {
            Some(method) => {
                has_method(before, method).or_else(|_| has_method(after, method))?;
                diff::compare_methods(&left, &right, method, limits)
            }
            None => diff::compare(&left, &right, limits),
        };
        let mut report = report.map_err(failure)?;
        for name in &ignore {
            let class = Class::ALL.into_iter().find(|class| class.id() == name);
            let unknown = || Failure::Value(format!("unknown class of differences {name:?}"));
            report.ignore(class.ok_or_else(unknown)?);
        }
        text(&DiffDocument::new(&before.name, &after.name, &report))
    })
}

/// Returns the document `pte.profile/1` of an ETDump: of a file at `path`, or of `bytes`.
#[pyfunction]
#[pyo3(signature = (path, bytes, name, program, method))]
pub(crate) fn profile(
    py: Python<'_>,
    path: Option<PathBuf>,
    bytes: Option<PyBackedBytes>,
    name: String,
    program: Option<Py<Handle>>,
    method: Option<String>,
) -> PyResult<String> {
    apart(py, || {
        let limits = program.as_ref().map_or(Limits::UNTRUSTED, |file| file.get().limits);
        let source = match (path, bytes) {
            (Some(path), _) => Source::open(&path)?,
            (None, bytes) => Source::of(bytes.ok_or(Failure::Memory)?),
        };
        let read = Profile::read(&source.read_whole(&limits)?, &limits);
        let mut profile = read.map_err(|why| match why {
            Unreadable::Graph(error) => Failure::Refused(error),
            Unreadable::Magic { .. } => Failure::absent("profile", "this is no ETDump"),
            why => Failure::absent("profile", &why),
        })?;
        if let Some(program) = &program {
            let pte = program.get().pte()?;
            let plan = Profile::method(&pte, method.as_deref());
            let plan = plan.ok_or_else(|| {
                let name = method.as_deref().unwrap_or("forward");
                Failure::Value(format!("there is no method {name:?}"))
            })?;
            let named = profile.name_after(plan);
            named.map_err(|why| Failure::Value(why.to_string()))?;
        }
        text(&profile.named(name))
    })
}

fn has_method(file: &Handle, name: &str) -> Result<()> {
    let pte = file.pte()?;
    let mut plans = pte.program().execution_plan().into_iter().flatten();
    match plans.any(|plan| plan.name().unwrap_or_default() == name) {
        true => Ok(()),
        false => Err(Failure::Value(format!("there is no method {name:?}"))),
    }
}

fn failure(error: diff::DiffError<std::io::Error>) -> Failure {
    match error {
        diff::DiffError::Open(_, error) => error.into(),
        error @ diff::DiffError::Kinds => Failure::Value(error.to_string()),
        error => Failure::absent("diff", &error),
    }
}
