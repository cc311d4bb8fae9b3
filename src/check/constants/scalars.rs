//! Numbers that `_local_scalar_dense` reads from constants: they are in the file.

use alloc::collections::BTreeMap;

use crate::cost;
use crate::file::source::Source;
use crate::handle::{File, OpenError, ReadVec};
use crate::method;
use crate::operators::{LOCAL_SCALAR_DENSE, Scalar, Signatures};
use crate::pte::Storage;
use crate::schema::program::view::{InstructionArguments, KernelTypes};

/// The first elements of constants that calls read as a number, by method and value.
#[derive(Default)]
pub(in crate::check) struct ConstantScalars(BTreeMap<(u32, u32), Scalar>);

impl ConstantScalars {
    /// Reads them from `source`, a few bytes each.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] where reading fails, [`OpenError::Memory`] where memory is short.
    pub(super) fn read<S: Source>(
        file: &File<'_>,
        source: &S,
    ) -> Result<Self, OpenError<S::Error>> {
        let mut found = BTreeMap::new();
        let File::Pte(pte) = file else { return Ok(Self(found)) };
        for (nth, view) in method::distinct(pte) {
            let signatures = Signatures::of(view);
            let is_read = |name: &str| name == LOCAL_SCALAR_DENSE;
            if !signatures.iter().any(|known| known.is_some_and(|known| is_read(known.0))) {
                continue;
            }
            for instruction in method::instructions(view) {
                let Some(InstructionArguments::KernelCall(call)) = instruction.operation() else {
                    continue;
                };
                if !signatures.signature(call).is_some_and(|known| is_read(known.0)) {
                    continue;
                }
                let arg = call.args().and_then(|args| u32::try_from(args.get(0)?).ok());
                let Some(value) = arg else { continue };
                cost::look_up("", found.len());
                if found.contains_key(&(nth, value)) {
                    continue;
                }
                let values = view.values();
                let held = values.and_then(|all| all.get(crate::bytes::index(value))?.val());
                let Some(KernelTypes::Tensor(tensor)) = held else { continue };
                let (dtype, storage) = (tensor.scalar_type(), pte.storage(tensor));
                let Ok(Storage::Constant(bytes)) = storage else { continue };
                let width = dtype.element_size().unwrap_or_default();
                let end = bytes.start.saturating_add(width);
                if width == 0 || end > bytes.end {
                    continue;
                }
                let element = source.read_vec(bytes.start..end)?;
                if let Some(scalar) = Scalar::read(dtype, &element) {
                    found.insert((nth, value), scalar);
                }
            }
        }
        Ok(Self(found))
    }

    /// Returns the number in the constant at `value` of a method.
    pub(super) fn get(&self, plan: u32, value: u32) -> Option<Scalar> {
        self.0.get(&(plan, value)).copied()
    }
}
