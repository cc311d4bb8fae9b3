//! Constants that `_local_scalar_dense` turns into numbers.

use alloc::collections::BTreeMap;

use super::Method;
use pte_core::handle::ReadVec;
use pte_core::operators::{Kernel, LOCAL_SCALAR_DENSE, Scalar};
use pte_core::{OpenError, Source, method};
use pte_flat::bytes::index;
use pte_flat::cost;

/// The first element of each constant that a call reads as a number or copies, by method and value.
#[derive(Default)]
pub(crate) struct ConstantScalars(BTreeMap<(u32, u32), Scalar>);

impl ConstantScalars {
    /// Reads from `source` the first element of each constant that a call reads as a number or
    /// copies.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] where reading fails, [`OpenError::Memory`] where memory is short.
    pub(super) fn read<S: Source>(
        &mut self,
        method: &Method<'_, '_>,
        source: &S,
    ) -> Result<(), OpenError<S::Error>> {
        let is_read = |kernel: &Kernel| kernel.name == LOCAL_SCALAR_DENSE;
        if !method.signatures.iter().any(|known| known.is_some_and(is_read)) {
            return Ok(());
        }
        for instruction in method::instructions(method.view) {
            let Some(call) = instruction.kernel_call() else { continue };
            let Some(kernel) = method.signatures.kernel(call) else { continue };
            let is_direct = is_read(kernel);
            // A copy has the same element as its source, so sources of copies are read too.
            let arg = match &kernel.copied {
                _ if is_direct => 0,
                Some(copied) => index(copied.source),
                None => continue,
            };
            let arg = call.args().and_then(|args| u32::try_from(args.get(arg)?).ok());
            let Some(value) = arg else { continue };
            cost::look_up("", self.0.len());
            if self.0.contains_key(&(method.nth, value)) {
                continue;
            }
            let Some((tensor, bytes)) = method.constant(value) else { continue };
            let dtype = tensor.scalar_type();
            let width = dtype.element_size().unwrap_or_default();
            let end = bytes.start.saturating_add(width);
            if width == 0 || end > bytes.end {
                continue;
            }
            // `_local_scalar_dense` takes tensors of one element, and so do the copies for it.
            if !is_direct && dtype.nbytes(tensor.sizes().into_iter().flatten()) != Some(width) {
                continue;
            }
            let element = source.read_vec(bytes.start..end)?;
            if let Some(scalar) = Scalar::read(dtype, &element) {
                self.0.insert((method.nth, value), scalar);
            }
        }
        Ok(())
    }

    /// Returns the number in the constant at `value` of a method.
    pub(super) fn get(&self, plan: u32, value: u32) -> Option<Scalar> {
        self.0.get(&(plan, value)).copied()
    }
}
