//! What is known of an operator of the official runtime, in one row of a table.

use super::contracts::Term;
use crate::release::{Release, was_run};
use pte_schema::scalar::ScalarType;

/// An operator of the official runtime.
#[derive(Debug)]
pub struct Kernel {
    /// The full name, overload included: `aten::add.out`.
    pub name: &'static str,
    /// The kinds of the arguments: a letter for each, whose meaning is documented at [`Kind`](super::Kind). The
    /// runtime requires exactly this number of arguments (ExecuTorch's codegen/gen.py and
    /// kernels/prim_ops/register_prim_ops.cpp).
    pub letters: &'static str,
    /// The names of the arguments, as the schemas in PyTorch and ExecuTorch spell them, with spaces between them. A
    /// value that the call replaces by its result is `out`; a last argument that repeats the output has no name.
    pub arguments: &'static str,
    /// The first release that has the operator. No later release lacks it. The facts are from PyPI's wheels
    /// (format.md §6.11).
    pub since: Release,
    /// The conditions of the kernel on its arguments. Most kernels have none.
    pub contract: &'static [Term],
    /// The arguments that must not share memory with the output.
    pub hazard: Option<Hazard>,
    /// The argument that the kernel copies to its output.
    pub copied: Option<Copied>,
    /// The dtypes that the kernel accepts for its first tensor in the first release that was run: a bit for
    /// each `ScalarType`; 0 if no valid call was run in that release (`tests/tools/dtypes.py`).
    pub dtypes: u32,
    /// The later releases at which the dtypes change, with the dtypes from there on.
    pub dtypes_since: &'static [(Release, u32)],
}

/// The dtypes that kernels were run with: all but quantized ones, bits and floats of 8 bits.
const TESTED_DTYPES: u32 = ANY;

impl Kernel {
    /// Returns the argument whose dtype [`dtypes`](Self::dtypes) is about: the first tensor, or list of tensors, that
    /// the call reads, or the first that it writes.
    pub fn typed_arg(&self) -> Option<usize> {
        let read = self.letters.find(['t', 'T', 'v', 'o', 'h', 'y']);
        read.or_else(|| self.letters.find(['w', 'x', '@']))
    }

    /// Returns whether the kernel of `release` takes a first tensor of this dtype. The result is `None` if the
    /// release or the kernel was not run with it.
    pub fn takes(&self, release: Release, dtype: ScalarType) -> Option<bool> {
        let bit = 1u32.checked_shl(u32::try_from(dtype.0).ok()?)?;
        if TESTED_DTYPES & bit == 0 || !was_run(release) {
            return None;
        }
        let change = self.dtypes_since.iter().rfind(|(since, _)| *since <= release);
        let taken = change.map_or(self.dtypes, |(_, taken)| *taken);
        (taken != 0).then_some(taken & bit != 0)
    }
}

/// The oldest release whose operators are known.
pub const OLDEST: Release = (0, 4);

/// The arguments of an operator that must not share bytes with its output: the kernel reads them again after it has
/// written or resized the output. If they share memory, it reads values that it has not checked or counted. The
/// hazards were found in upstream's kernels, and by running calls whose arguments share memory (format.md §6.10).
#[derive(Debug)]
pub struct Hazard {
    /// Arguments whose elements are read again after the output was written. If one is a list, its items are meant.
    pub read_again: &'static [u32],
    /// Arguments whose sizes are read again after the output was resized. They must not be the output.
    pub sized_again: &'static [u32],
}

/// A copy. If source and output differ in dtype, elements are converted.
#[derive(Debug)]
pub struct Copied {
    /// The argument that is copied.
    pub source: u32,
    /// Whether the output has the sizes of that argument too.
    pub keeps_sizes: bool,
}

/// Expands to a list of rows: name, letters, names of the arguments, and the fields that are not those of [`PLAIN`].
macro_rules! kernels {
    ($($name:literal $letters:literal $arguments:literal $($field:ident: $value:expr),*;)*) => {
        &[$(Kernel {
            name: $name,
            letters: $letters,
            arguments: $arguments,
            $($field: $value,)*
            ..super::kernel::PLAIN
        }),*]
    };
}

pub(super) use kernels;

/// An operator of which only names and letters are known.
pub(super) const PLAIN: Kernel = Kernel {
    name: "",
    letters: "",
    arguments: "",
    since: OLDEST,
    contract: &[],
    hazard: None,
    copied: None,
    dtypes: 0,
    dtypes_since: &[],
};

// The sets of dtypes that many kernels take.
pub(super) const ANY: u32 = 0x3800_8fff;
pub(super) const REAL_OR_COMPLEX: u32 = 0x8fff;
pub(super) const REAL_OR_BOOL: u32 = 0x88ff;
pub(super) const REAL: u32 = 0x80ff;
pub(super) const FLOATS: u32 = 0x80e0;
pub(super) const INTEGERS_OR_BOOL: u32 = 0x81f;
// As above, or a dtype that the kernel's contract refuses.
pub(super) const REAL_OR_PROMOTED: u32 = 0x3800_88ff;
pub(super) const INTEGERS_OR_PROMOTED: u32 = 0x3800_081f;

/// Returns the hazard of arguments whose elements are read again.
pub(super) const fn read(read_again: &'static [u32]) -> Option<Hazard> {
    Some(Hazard { read_again, sized_again: &[] })
}

/// Returns the hazard of arguments whose sizes are read again.
pub(super) const fn sized(sized_again: &'static [u32]) -> Option<Hazard> {
    Some(Hazard { read_again: &[], sized_again })
}

/// The hazard of an embedding: its kernel reads the indices, and the sizes of scales and zero points, again.
pub(super) const EMBEDDING_HAZARD: Option<Hazard> =
    Some(Hazard { read_again: &[5], sized_again: &[1, 2] });

/// Returns a copy that keeps the sizes of argument `source`.
pub(super) const fn same(source: u32) -> Option<Copied> {
    Some(Copied { source, keeps_sizes: true })
}

/// Returns a copy of argument `source` with other sizes.
pub(super) const fn reshaped(source: u32) -> Option<Copied> {
    Some(Copied { source, keeps_sizes: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::KERNELS;
    use crate::release::RELEASES;

    /// The dtypes change at a release, and stay up to the next change. Those of releases that were not run are not
    /// known.
    #[test]
    fn the_dtypes_of_a_kernel_change_at_a_release() {
        let mut changes = 0;
        for kernel in KERNELS {
            let mut taken = kernel.dtypes;
            for release in RELEASES.iter().map(|facts| facts.release) {
                let change = kernel.dtypes_since.iter().find(|(since, _)| *since == release);
                if let Some((_, now)) = change {
                    taken = *now;
                    changes += 1;
                }
                for dtype in 0..32i8 {
                    let bit = 1u32 << dtype;
                    let is_known = was_run(release) && taken != 0 && TESTED_DTYPES & bit != 0;
                    let expected = is_known.then_some(taken & bit != 0);
                    assert_eq!(
                        kernel.takes(release, ScalarType(dtype)),
                        expected,
                        "{}",
                        kernel.name
                    );
                }
            }
        }
        assert!(changes > 0);
    }
}
