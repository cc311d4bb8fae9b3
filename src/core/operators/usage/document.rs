//! The document `pte.ops/1`. With the feature `serde` it can be serialized.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::library::Library;
use super::{MethodUsage, ProgramUsage, Usage, UsageReport};
use crate::operators::selected::SelectedOperators;
use crate::release::NEWEST;
use pte_flat::quoted::UntrustedString;
use pte_schema::scalar::ScalarType;

/// The document `pte.ops/1`: the operators and backends of programs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct UsageDocument<'r> {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The programs.
    pub files: Vec<ProgramUsageEntry<'r>>,
    /// The operators of all programs, the most called first.
    pub operators: Vec<OperatorEntry<'r>>,
    /// The backends of all programs, by id.
    pub backends: Vec<BackendEntry<'r>>,
    /// The nodes in the payloads of all programs, by backend, the most frequent operator first.
    pub nodes: Vec<NodeEntry<'r>>,
    /// The operators that a given list lacks; `None` without a list.
    pub missing: Option<Vec<&'r UntrustedString>>,
    /// The operators of the list without a kernel for a used dtype; `None` without a list.
    pub missing_dtypes: Option<Vec<MissingDtypes<'r>>>,
}

/// The dtypes for which a list has no kernel of an operator.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MissingDtypes<'r> {
    /// The name of the operator with its overload.
    pub name: &'r UntrustedString,
    /// The names of the dtypes.
    pub dtypes: Vec<String>,
}

/// A program.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProgramUsageEntry<'r> {
    /// The path or the name of the program.
    pub path: &'r UntrustedString,
    /// The number of methods.
    pub method_count: u64,
    /// The first 1,024 methods.
    pub methods: Vec<MethodUsageEntry<'r>>,
}

/// A method.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MethodUsageEntry<'r> {
    /// The name.
    pub name: Option<&'r UntrustedString>,
    /// The operators of the method, the most called first.
    pub operators: Vec<OperatorEntry<'r>>,
    /// The backends of the method, by id.
    pub backends: Vec<BackendEntry<'r>>,
}

/// An operator.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OperatorEntry<'r> {
    /// The name with its overload.
    pub name: &'r UntrustedString,
    /// The kernel library of upstream to link for the operator, by its short name; `None` if no library has it.
    pub library: Option<&'static str>,
    /// The number of instructions that call the operator.
    pub calls: u64,
    /// The dtypes of the tensors in its calls. The document has their names.
    #[cfg_attr(feature = "serde", serde(serialize_with = "names"))]
    pub dtypes: &'r BTreeSet<ScalarType>,
    /// The kernel keys. Only the list of the operators of all programs has them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub kernels: Option<&'r BTreeSet<String>>,
}

/// A backend.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BackendEntry<'r> {
    /// The id.
    pub id: &'r UntrustedString,
    /// The number of delegates.
    pub delegates: u64,
    /// The number of instructions that call one of the delegates.
    pub calls: u64,
}

/// An operator of a backend's graphs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NodeEntry<'r> {
    /// The id of the backend.
    pub backend: &'r UntrustedString,
    /// The operator.
    pub operator: &'r UntrustedString,
    /// The number of nodes.
    pub nodes: u64,
    /// The datatypes of the values that these nodes read and write, as in the schema of the backend.
    pub datatypes: &'r BTreeSet<&'static str>,
}

impl UsageReport {
    /// Returns the document `pte.ops/1`. If `against` is a list, the document also has the
    /// operators and dtypes that this list lacks.
    #[must_use]
    pub fn document<'r>(&'r self, against: Option<&SelectedOperators>) -> UsageDocument<'r> {
        let missing_dtypes = against.map(|list| {
            let missing = self.missing_dtypes(list).into_iter();
            let named = |dtypes: Vec<ScalarType>| dtypes.iter().map(ToString::to_string).collect();
            missing.map(|(name, dtypes)| MissingDtypes { name, dtypes: named(dtypes) }).collect()
        });
        UsageDocument {
            schema: "pte.ops/1",
            files: self.programs.iter().map(Into::into).collect(),
            operators: operators(&self.total, true),
            backends: backends(&self.total),
            nodes: self.nodes(),
            missing: against.map(|list| self.missing_from(list)),
            missing_dtypes,
        }
    }
}

impl UsageReport {
    /// Lists the nodes in payloads, by backend, the most frequent operator first.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeEntry<'_>> {
        let mut nodes: Vec<_> = self
            .nodes
            .iter()
            .map(|((backend, operator), of)| NodeEntry {
                backend,
                operator,
                nodes: of.nodes,
                datatypes: &of.datatypes,
            })
            .collect();
        nodes.sort_by(|a, b| a.backend.cmp(b.backend).then_with(|| b.nodes.cmp(&a.nodes)));
        nodes
    }
}

impl<'r> From<&'r ProgramUsage> for ProgramUsageEntry<'r> {
    fn from(program: &'r ProgramUsage) -> Self {
        Self {
            path: &program.path,
            method_count: program.method_count,
            methods: program.methods.iter().map(Into::into).collect(),
        }
    }
}

impl<'r> From<&'r MethodUsage> for MethodUsageEntry<'r> {
    fn from(method: &'r MethodUsage) -> Self {
        Self {
            name: method.name.as_ref(),
            operators: operators(&method.usage, false),
            backends: backends(&method.usage),
        }
    }
}

/// Lists operators, the most called first.
fn operators(usage: &Usage, kernels: bool) -> Vec<OperatorEntry<'_>> {
    let all = usage.operators.iter().map(|(name, operator)| OperatorEntry {
        name,
        library: Library::to_link(name.raw(), NEWEST).map(|library| library.name),
        calls: operator.calls,
        dtypes: &operator.dtypes,
        kernels: kernels.then_some(&operator.kernels),
    });
    let mut all: Vec<_> = all.collect();
    all.sort_unstable_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(b.name)));
    all
}

fn backends(usage: &Usage) -> Vec<BackendEntry<'_>> {
    let all = usage.backends.iter();
    all.map(|(id, of)| BackendEntry { id, delegates: of.delegates, calls: of.calls }).collect()
}

#[cfg(feature = "serde")]
fn names<S: serde::Serializer>(
    dtypes: &&BTreeSet<ScalarType>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use alloc::string::ToString;
    serializer.collect_seq(dtypes.iter().map(ScalarType::to_string))
}
