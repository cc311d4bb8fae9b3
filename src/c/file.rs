//! An opened file: its methods, tensors and named data.

use core::ops::Range;
use core::ptr::NonNull;

use pte_rs::Handle;
use pte_rs::check::judge_on_one_thread;
use pte_rs::schema::program::TensorShapeDynamism;
use pte_rs::schema::program::view::{ExecutionPlan, KernelTypes, Tensor};
use pte_rs::schema::scalar::ScalarType;
use pte_rs::summary::{Summary, SummaryDocument};
use pte_rs::tensors::{TensorPlace, TensorRow, TensorStorage};
use pte_rs::{File, Limits, OpenError, Ptd};

use crate::abi::{pte_status, pte_storage, pte_text, pte_value, pte_value_kind};
use crate::memory::{self, Owned};
use crate::options::Options;

/// A file whose structure is proven. It has a copy of the tables; data is in the caller's bytes.
#[derive(Debug)]
pub(crate) struct Opened {
    handle: Handle<&'static [u8]>,
    limits: Limits,
    name: String,
    /// The names of the dtypes by their codes, each with a NUL behind it.
    dtypes: Vec<String>,
}

/// Proves the structure of a file, and keeps the proof.
pub(crate) fn open(
    bytes: &'static [u8],
    options: &Options,
) -> Result<NonNull<Owned<Opened>>, pte_status> {
    Owned::new(64 << 10, || {
        // The tables are copied. Their length is known when they are proven.
        let file = File::read_with(bytes, &options.limits).map_err(|_| pte_status::PTE_REFUSED)?;
        let tables = file.region_range();
        let tables = usize::try_from(tables.end.saturating_sub(tables.start));
        memory::reserve(tables.unwrap_or(usize::MAX))?;
        let handle = Handle::open(bytes, &options.limits).map_err(|error| match error {
            OpenError::Memory => pte_status::PTE_NO_MEMORY,
            _ => pte_status::PTE_REFUSED,
        })?;
        memory::reserve(options.name.len().saturating_add(64 << 10))?;
        let names = (0..=i8::MAX).map_while(|code| ScalarType(code).torch_name());
        let dtypes = names.map(|name| format!("{name}\0")).collect();
        Ok(Opened { handle, limits: options.limits, name: options.name.clone(), dtypes })
    })
}

impl Opened {
    pub(crate) fn is_program(&self) -> bool {
        matches!(self.handle.file(), File::Pte(_))
    }

    pub(crate) fn method_count(&self) -> usize {
        match self.handle.file() {
            File::Pte(pte) => pte.program().execution_plan().map_or(0, |plans| plans.len()),
            File::Ptd(_) => 0,
        }
    }

    pub(crate) fn method(&self, index: usize) -> Option<ExecutionPlan<'_>> {
        let File::Pte(pte) = self.handle.file() else { return None };
        pte.program().execution_plan()?.get(index)
    }

    /// Returns the index of the first method with a name, which is the one that runs.
    pub(crate) fn find_method(&self, name: &str) -> Option<usize> {
        let File::Pte(pte) = self.handle.file() else { return None };
        let mut plans = pte.program().execution_plan().into_iter().flatten();
        plans.position(|plan| plan.name() == Some(name))
    }

    /// Returns value `index` of a method.
    pub(crate) fn value(&self, method: usize, index: usize) -> Option<pte_value> {
        let value = self.method(method)?.values()?.get(index)?;
        Some(value.val().map_or(pte_value::NONE, |value| self.describe(value)))
    }

    pub(crate) fn input(&self, method: usize, index: usize) -> Option<pte_value> {
        Some(self.operand(method, self.method(method)?.inputs()?.get(index)?))
    }

    pub(crate) fn output(&self, method: usize, index: usize) -> Option<pte_value> {
        Some(self.operand(method, self.method(method)?.outputs()?.get(index)?))
    }

    fn operand(&self, method: usize, index: i32) -> pte_value {
        let value = usize::try_from(index).ok().and_then(|index| self.value(method, index));
        value.unwrap_or(pte_value::NONE)
    }

    /// Returns the payload of delegate `index` of a method, by the id of its backend.
    pub(crate) fn delegate(&self, method: usize, index: usize) -> Option<pte_value> {
        let delegate = self.method(method)?.delegates()?.get(index)?;
        let File::Pte(pte) = self.handle.file() else { return None };
        let payload = pte.delegate_range(delegate).ok().flatten();
        Some(self.blob(delegate.id(), payload))
    }

    /// Returns the number of named blobs of a program, or of the entries of a data file.
    pub(crate) fn data_count(&self) -> usize {
        match self.handle.file() {
            File::Pte(pte) => pte.named_data().len(),
            File::Ptd(ptd) => usize::try_from(ptd.entry_count()).unwrap_or(usize::MAX),
        }
    }

    pub(crate) fn data(&self, index: usize) -> Option<pte_value> {
        match self.handle.file() {
            File::Pte(pte) => {
                let (key, range) = pte.named_data().nth(index)?;
                Some(self.blob(key, range.ok()))
            }
            File::Ptd(ptd) => self.entry(&ptd, u32::try_from(index).ok()?),
        }
    }

    /// Returns the first named blob of a program, or entry of a data file, with a key.
    pub(crate) fn find_data(&self, key: &str) -> Option<pte_value> {
        let index = match self.handle.file() {
            File::Pte(pte) => pte.named_data().position(|(other, _)| other == Some(key))?,
            File::Ptd(ptd) => {
                let index = (0..ptd.entry_count()).find(|nth| ptd.key(*nth) == Some(key))?;
                usize::try_from(index).ok()?
            }
        };
        self.data(index)
    }

    /// Returns the first tensor with a fully qualified name.
    pub(crate) fn find_tensor(&self, name: &str) -> Option<pte_value> {
        let File::Pte(pte) = self.handle.file() else { return self.find_data(name) };
        let plans = pte.program().execution_plan().into_iter().flatten();
        let mut values = plans.flat_map(|plan| plan.values().into_iter().flatten());
        values.find_map(|value| match value.val() {
            Some(KernelTypes::Tensor(tensor)) if name_of(tensor) == Some(name) => {
                Some(self.tensor(tensor))
            }
            _ => None,
        })
    }

    /// Returns the document `pte.info/1`.
    pub(crate) fn summary(&self) -> Result<Vec<u8>, pte_status> {
        judge_on_one_thread();
        let summary = Summary::read(&self.handle, &self.limits);
        let summary = summary.map_err(|_| pte_status::PTE_NO_MEMORY)?;
        let document = SummaryDocument::new([summary.named(self.name.as_str())]);
        crate::judge::written(&document)
    }

    /// Returns the memory that the summary may need. `cargo bench --bench hostile` measures 7 bytes for each of the
    /// tables and the payloads, and 15 of text. Its longest lists have a bound for any file.
    pub(crate) fn summary_memory(&self) -> usize {
        crate::judge::of_file(&self.handle).saturating_mul(3).saturating_add(OF_LISTS)
    }

    fn describe(&self, value: KernelTypes<'_>) -> pte_value {
        let none = pte_value::NONE;
        match value {
            KernelTypes::Tensor(tensor) => self.tensor(tensor),
            KernelTypes::Int(int) => {
                pte_value { kind: pte_value_kind::PTE_VALUE_INT, integer: int.int_val(), ..none }
            }
            KernelTypes::Double(double) => pte_value {
                kind: pte_value_kind::PTE_VALUE_DOUBLE,
                number: double.double_val(),
                ..none
            },
            KernelTypes::Bool(bool) => {
                let integer = i64::from(bool.bool_val());
                pte_value { kind: pte_value_kind::PTE_VALUE_BOOL, integer, ..none }
            }
            KernelTypes::String(text) => {
                let text = pte_text::of_file(text.string_val());
                pte_value { kind: pte_value_kind::PTE_VALUE_STRING, text, ..none }
            }
            _ => pte_value { kind: pte_value_kind::PTE_VALUE_OTHER, ..none },
        }
    }

    fn tensor(&self, tensor: Tensor<'_>) -> pte_value {
        let File::Pte(pte) = self.handle.file() else { return pte_value::NONE };
        let row = TensorRow::of(&pte, tensor, TensorPlace::Named(0));
        let (storage, range) = match &row.storage {
            TensorStorage::Constant(range) => (pte_storage::PTE_STORAGE_FILE, Some(range.clone())),
            TensorStorage::Mutable(range, _) => {
                (pte_storage::PTE_STORAGE_INITIAL, Some(range.clone()))
            }
            TensorStorage::Planned(_) => (pte_storage::PTE_STORAGE_PLANNED, None),
            TensorStorage::External(_) => (pte_storage::PTE_STORAGE_EXTERNAL, None),
            TensorStorage::Unbound => (pte_storage::PTE_STORAGE_NONE, None),
            _ => (pte_storage::PTE_STORAGE_BROKEN, None),
        };
        let arena = row.arena();
        let value = pte_value {
            kind: pte_value_kind::PTE_VALUE_TENSOR,
            name: pte_text::of_file(name_of(tensor)),
            is_dynamic: tensor.shape_dynamism() != TensorShapeDynamism::STATIC,
            storage,
            arena: arena.map_or(0, |arena| arena.memory_id),
            arena_offset: arena.map_or(0, |arena| arena.offset),
            ..self.of_dtype(tensor.scalar_type())
        };
        value.with_sizes(tensor.sizes().into_iter().flatten()).with_bytes(self.bytes(range))
    }

    fn entry(&self, ptd: &Ptd<'_>, nth: u32) -> Option<pte_value> {
        let entry = ptd.entry(nth)?;
        let blob = self.blob(entry.key(), entry.range().ok());
        let Some(layout) = entry.layout() else { return Some(blob) };
        let dtype = self.of_dtype(layout.scalar_type);
        let value = pte_value {
            kind: pte_value_kind::PTE_VALUE_TENSOR,
            dtype: dtype.dtype,
            dtype_name: dtype.dtype_name,
            ..blob
        };
        Some(value.with_sizes(layout.sizes.into_iter().flatten()))
    }

    fn of_dtype(&self, dtype: ScalarType) -> pte_value {
        let name = usize::try_from(dtype.0).ok().and_then(|code| self.dtypes.get(code));
        let dtype_name = name.map_or(pte_text::EMPTY, |name| pte_text::terminated(name));
        pte_value { dtype: dtype.0.into(), dtype_name, ..pte_value::NONE }
    }

    fn blob(&self, name: Option<&str>, range: Option<Range<u64>>) -> pte_value {
        let storage = match range {
            Some(_) => pte_storage::PTE_STORAGE_FILE,
            None => pte_storage::PTE_STORAGE_BROKEN,
        };
        let kind = pte_value_kind::PTE_VALUE_BLOB;
        let value = pte_value { kind, name: pte_text::of_file(name), storage, ..pte_value::NONE };
        value.with_bytes(self.bytes(range))
    }

    /// Returns the caller's bytes of a range in the file.
    fn bytes(&self, range: Option<Range<u64>>) -> &'static [u8] {
        let ends = range.and_then(|range| {
            Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
        });
        ends.and_then(|range| self.handle.source().get(range)).unwrap_or_default()
    }
}

/// The memory of the inputs and outputs that a summary lists at most, with their text.
const OF_LISTS: usize = 64 << 20;

fn name_of(tensor: Tensor<'_>) -> Option<&str> {
    tensor.extra_tensor_info()?.fully_qualified_name()
}
