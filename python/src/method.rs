//! The methods of a program, a part at a time: a large method costs only the parts that are used.

use core::fmt::Write as _;

use pte::flat::json;
use pte::flat::view::Table;
use pte::operators::usage::calls_by_name;
use pte::schema::program::view::{EValue, ExecutionPlan, KernelTypes};
use pte::tensors::{TensorPlace, TensorRecord, TensorRow};
use pte::{Pte, document};
use pyo3::prelude::*;

use crate::documents::{self, Names};
use crate::error::{Failure, Result, apart, guarded};
use crate::handle::Handle;

/// A method: its name, the indices of its inputs and outputs, and the bytes of its arenas.
type Head = (String, Vec<i32>, Vec<i32>, Vec<i64>);

/// Returns the version of a program's schema.
#[pyfunction]
pub(crate) fn version(of: &Handle) -> PyResult<u32> {
    guarded(|| Ok(of.pte()?.program().version()))
}

/// Returns the operators that the methods of a program call, with the numbers of calls.
#[pyfunction]
pub(crate) fn operator_calls(py: Python<'_>, of: &Handle) -> PyResult<Vec<(String, u64)>> {
    apart(py, || {
        let calls = calls_by_name(&of.pte()?).into_iter();
        Ok(calls.map(|(name, calls)| (name.raw().to_owned(), calls)).collect())
    })
}

/// Returns the methods of a program.
#[pyfunction]
pub(crate) fn methods(py: Python<'_>, of: &Handle) -> PyResult<Vec<Head>> {
    apart(py, || {
        let mut names = of.names();
        let plans = of.pte()?.program().execution_plan();
        plans.into_iter().flatten().map(|plan| head(plan, &mut names)).collect()
    })
}

/// Returns the JSON of a list of values of a method: all, or those of `indices`. Each has its fields, and
/// as `tensor` its row of `pte.tensors/1`, null for another kind. A value that is not there is null.
#[pyfunction]
pub(crate) fn values(
    py: Python<'_>,
    of: &Handle,
    method: usize,
    indices: Option<Vec<i32>>,
) -> PyResult<String> {
    apart(py, || {
        let (pte, mut names) = (of.pte()?, of.names());
        let values = plan(&pte, method)?.values();
        let mut write = |value, out: &mut String| write_value(&pte, value, &mut names, out);
        let Some(indices) = indices else {
            return list(values.into_iter().flatten(), write);
        };
        let at = |index: i32| values?.get(usize::try_from(index).ok()?);
        list(indices.into_iter().map(at), |value, out| match value {
            Some(value) => write(value, out),
            None => {
                out.push_str("null");
                Ok(())
            }
        })
    })
}

/// Returns the JSON of a list of the tables of operators, delegates or chains of a method.
#[pyfunction]
pub(crate) fn tables(py: Python<'_>, of: &Handle, method: usize, part: &str) -> PyResult<String> {
    apart(py, || {
        let pte = of.pte()?;
        let plan = plan(&pte, method)?;
        match part {
            "operators" => list(plan.operators().into_iter().flatten(), write_table),
            "delegates" => list(plan.delegates().into_iter().flatten(), write_table),
            "chains" => list(plan.chains().into_iter().flatten(), write_table),
            part => Err(Failure::Value(format!("there is no part {part:?} of methods"))),
        }
    })
}

fn plan<'a>(pte: &Pte<'a>, method: usize) -> Result<ExecutionPlan<'a>> {
    let plan = pte.program().execution_plan().and_then(|plans| plans.get(method));
    plan.ok_or_else(|| Failure::Value(format!("there is no method {method}")))
}

fn head(plan: ExecutionPlan<'_>, names: &mut Names) -> Result<Head> {
    let name = plan.name().unwrap_or_default();
    names.charge(name)?;
    Ok((
        name.to_owned(),
        plan.inputs().into_iter().flatten().collect(),
        plan.outputs().into_iter().flatten().collect(),
        // The first size is of a buffer that no tensor is in.
        plan.non_const_buffer_sizes().into_iter().flatten().skip(1).collect(),
    ))
}

fn write_value<'a>(
    pte: &Pte<'a>,
    value: EValue<'a>,
    names: &mut Names,
    out: &mut String,
) -> Result<()> {
    let place = TensorPlace::Value { method: None, index: 0 };
    let row = match value.val() {
        Some(KernelTypes::Tensor(tensor)) => Some(TensorRow::of(pte, tensor, place)),
        _ => None,
    };
    let record = row.as_ref().map(TensorRecord::from);
    let key = record.as_ref().and_then(|record| record.key);
    names.charge(key.map_or("", |key| key.raw()))?;
    let mut row = Vec::new();
    document::write_line(&mut row, &record)?;
    let row = String::from_utf8(row).map_err(|error| Failure::absent("internal", &error))?;
    json::write_beside(value, options(), out, "tensor", |out| out.write_str(&row))
        .map_err(|error| Failure::absent("internal", &error))?;
    Ok(())
}

fn write_table<'a>(table: impl Table<'a>, out: &mut String) -> Result<()> {
    let written = json::write(table, options(), out);
    written.map(drop).map_err(|error| Failure::absent("internal", &error))
}

/// Returns the JSON of a list, whose items `write` writes.
fn list<T>(
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(T, &mut String) -> Result<()>,
) -> Result<String> {
    let mut out = String::from("[");
    for (nth, item) in items.enumerate() {
        if nth > 0 {
            out.push(',');
        }
        write(item, &mut out)?;
    }
    out.push(']');
    Ok(out)
}

fn options<'a>() -> json::Options<impl FnMut(&'a [u8]) -> Option<String>> {
    json::Options { pretty: false, blob: |bytes| documents::blob(bytes, false) }
}
