//! The document `pte.embed/1`.

use alloc::string::ToString;
use alloc::vec::Vec;

use pte_core::operators::usage::{BackendEntry, OperatorEntry};
use pte_flat::quoted::{Untrusted, UntrustedString};
use pte_schema::scalar::ScalarType;
use serde::{Serialize, Serializer};

use super::{
    Advice, AlignmentReason, ArenaSize, Board, Fit, MethodRequirements, MissingDtypes,
    MissingOperator, RegionFit, Requirements,
};
use crate::summary::ValueSummary;

/// The document `pte.embed/1`: what a firmware needs of a program, and whether it fits a board.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FirmwareDocument<'r> {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The path or the name of the file.
    pub path: &'r UntrustedString,
    /// The length of the program in bytes.
    pub bytes: u64,
    /// The digest of its bytes.
    pub sha256: &'r str,
    /// The alignment of its first byte in memory.
    pub alignment: u64,
    /// The reason of the alignment.
    pub alignment_reason: AlignmentReason,
    /// The bytes of constants that lie in a `.ptd`.
    pub external: u64,
    /// The number of methods.
    pub method_count: u64,
    /// The first 1,024 methods.
    pub methods: Vec<MethodRow<'r>>,
    /// The operators, the most called first.
    pub operators: Vec<OperatorEntry<'r>>,
    /// The backends, by id.
    pub backends: Vec<BackendEntry<'r>>,
    /// The comparison with a board; `None` without one.
    pub board: Option<FitDocument<'r>>,
}

/// A method.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MethodRow<'r> {
    /// The name.
    pub name: Option<&'r UntrustedString>,
    /// The name in macros and constants.
    pub identifier: &'r str,
    /// The planned arenas.
    pub arenas: &'r [ArenaSize],
    /// The first inputs.
    pub inputs: Vec<ValueRow<'r>>,
    /// The first outputs.
    pub outputs: Vec<ValueRow<'r>>,
    /// The number of inputs.
    pub input_count: u64,
    /// The number of outputs.
    pub output_count: u64,
    /// The bytes of inputs and outputs that no arena has.
    pub unplanned: u64,
    /// See [`MethodRequirements::method_allocator`].
    pub method_allocator: u64,
    /// See [`MethodRequirements::temporary_allocator`].
    pub temporary_allocator: u64,
}

/// An input or output.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ValueRow<'r> {
    /// The type, the dtype and the sizes.
    #[serde(flatten)]
    pub value: &'r ValueSummary,
    /// The bytes of a tensor at its largest sizes; `None` if unknown.
    pub bytes: Option<u64>,
}

/// Whether a program fits a board.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FitDocument<'r> {
    /// The name of the board.
    pub name: Untrusted<'r>,
    /// Where the board's numbers come from.
    pub source: Option<Untrusted<'r>>,
    /// Whether the program fits.
    pub fits: bool,
    /// The regions of memory that the program uses.
    pub regions: &'r [RegionFit<'r>],
    /// The operators that the firmware lacks.
    pub missing: &'r [MissingOperator<'r>],
    /// The operators whose kernels in the firmware are for other dtypes.
    pub missing_dtypes: &'r [MissingDtypes<'r>],
    /// The backends that the firmware lacks.
    pub missing_backends: &'r [&'r UntrustedString],
    /// What would help.
    pub advice: &'r [Advice<'r>],
}

impl Requirements {
    /// Returns the document `pte.embed/1`. `sha256` is the digest of the program's bytes.
    #[must_use]
    pub fn document<'r>(
        &'r self,
        path: &'r UntrustedString,
        sha256: &'r str,
        fit: Option<(&'r Board, &'r Fit<'r>)>,
    ) -> FirmwareDocument<'r> {
        let usage = self.usage.document(None);
        FirmwareDocument {
            schema: "pte.embed/1",
            path,
            bytes: self.bytes,
            sha256,
            alignment: self.alignment.bytes,
            alignment_reason: self.alignment.reason,
            external: self.external,
            method_count: self.method_count,
            methods: self.methods.iter().map(MethodRow::of).collect(),
            operators: usage.operators,
            backends: usage.backends,
            board: fit.map(|(board, fit)| FitDocument::of(board, fit)),
        }
    }
}

impl<'r> MethodRow<'r> {
    fn of(method: &'r MethodRequirements) -> Self {
        let row = |value| ValueRow { value, bytes: MethodRequirements::bytes_of(value) };
        let summary = &method.summary;
        Self {
            name: summary.name.as_ref(),
            identifier: &method.identifier,
            arenas: &method.arenas,
            inputs: summary.inputs.iter().map(row).collect(),
            outputs: summary.outputs.iter().map(row).collect(),
            input_count: summary.input_count,
            output_count: summary.output_count,
            unplanned: method.unplanned,
            method_allocator: method.method_allocator,
            temporary_allocator: method.temporary_allocator,
        }
    }
}

impl<'r> FitDocument<'r> {
    fn of(board: &'r Board, fit: &'r Fit<'r>) -> Self {
        Self {
            name: board.name.as_untrusted(),
            source: board.source.as_ref().map(UntrustedString::as_untrusted),
            fits: fit.fits(),
            regions: &fit.regions,
            missing: &fit.operators,
            missing_dtypes: &fit.dtypes,
            missing_backends: &fit.backends,
            advice: &fit.advice,
        }
    }
}

/// Serializes dtypes as their names.
pub(super) fn dtype_names<S: Serializer>(
    dtypes: &[ScalarType],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(dtypes.iter().map(ToString::to_string))
}
