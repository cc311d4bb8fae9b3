//! Documents of several files: operators and differences.

use pte::diff::{self, Class, Difference, Given, Shown, Verdict};
use pte::operators::selected::SelectedOperators;
use pte::operators::usage::UsageReport;
use pyo3::prelude::*;
use serde_json::{Map as Object, Value, json};

use crate::documents::hex;
use crate::error::{Failure, Result, guarded};
use crate::handle::{Handle, text};

/// Returns the document `pte.ops/1` of programs. `against` is the text of a list of operators.
#[pyfunction]
#[pyo3(signature = (files, against))]
pub(crate) fn ops(
    py: Python<'_>,
    files: Vec<Py<Handle>>,
    against: Option<String>,
) -> PyResult<String> {
    py.detach(|| {
        guarded(|| {
            let list = against.as_deref().map(|text| {
                let read = SelectedOperators::read(text);
                read.map_err(|error| Failure::Value(error.to_string()))
            });
            let list = list.transpose()?;
            let report = usage(&files, true)?;
            text(&report.document(list.as_ref()))
        })
    })
}

/// Returns the `selected_operators.yaml` of programs.
#[pyfunction]
pub(crate) fn ops_yaml(py: Python<'_>, files: Vec<Py<Handle>>) -> PyResult<String> {
    py.detach(|| guarded(|| Ok(usage(&files, false)?.to_yaml())))
}

fn usage(files: &[Py<Handle>], with_nodes: bool) -> Result<UsageReport> {
    let mut report = UsageReport::default();
    for file in files {
        let file = file.get();
        report.add(&file.name, &file.pte()?);
        if with_nodes {
            report.add_nodes(&file.opened, &file.limits)?;
        }
    }
    Ok(report)
}

/// Returns the document `pte.diff/1` of two files, with the `.ptd` files beside each.
#[pyfunction]
#[pyo3(signature = (before, after, with_before, with_after, ignore))]
pub(crate) fn diff_files(
    py: Python<'_>,
    before: Py<Handle>,
    after: Py<Handle>,
    with_before: Vec<Py<Handle>>,
    with_after: Vec<Py<Handle>>,
    ignore: Vec<String>,
) -> PyResult<String> {
    py.detach(|| {
        guarded(|| {
            let (before, after) = (before.get(), after.get());
            let left = Given {
                file: &before.opened,
                data: with_before.iter().map(|data| &data.get().opened).collect(),
            };
            let right = Given {
                file: &after.opened,
                data: with_after.iter().map(|data| &data.get().opened).collect(),
            };
            let mut report = diff::compare(&left, &right, &before.limits).map_err(failure)?;
            for name in &ignore {
                let class = Class::ALL.into_iter().find(|class| class.id() == name);
                let unknown = || Failure::Value(format!("unknown class of differences {name:?}"));
                report.ignore(class.ok_or_else(unknown)?);
            }
            let counts = Class::ALL.iter().map(|&class| (class.id(), report.count(class)));
            let counts = counts.filter(|&(_, count)| count > 0);
            let mut counts: Vec<_> = counts.map(|(id, count)| (id.to_owned(), count)).collect();
            counts.sort();
            let counts = counts.into_iter().map(|(id, count)| (id, count.into()));
            let written = report.written.iter().map(|written| {
                json!({ "what": written.what, "before": written.before, "after": written.after })
            });
            text(&json!({
                "schema": "pte.diff/1",
                "before": before.name,
                "after": after.name,
                "verdict": match report.verdict {
                    Verdict::Identical => "identical",
                    Verdict::Same => "same",
                    Verdict::Different => "different",
                },
                "count": report.total(),
                "counts": counts.collect::<Object<String, Value>>(),
                "differences": report.differences.iter().map(difference).collect::<Vec<_>>(),
                "written": written.collect::<Vec<_>>(),
            }))
        })
    })
}

fn difference(of: &Difference) -> Value {
    let side = |shown: &Option<Shown>| match shown {
        None => Value::Null,
        Some(Shown { text, sha256: None, .. }) => json!({ "text": text }),
        Some(Shown { text, sha256: Some(sha), .. }) => json!({ "text": text, "sha256": hex(sha) }),
    };
    json!({
        "class": of.class.id(),
        "change": match (&of.before, &of.after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        },
        "method": of.method,
        "place": of.place,
        "what": of.what,
        "before": side(&of.before),
        "after": side(&of.after),
    })
}

fn failure(error: diff::DiffError<std::io::Error>) -> Failure {
    match error {
        diff::DiffError::Open(_, error) => error.into(),
        error @ diff::DiffError::Kinds => Failure::Value(error.to_string()),
        error => Failure::absent("diff", &error),
    }
}
