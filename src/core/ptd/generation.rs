//! Detects the generation of a `.ptd`: one of the incompatible layouts of `FlatTensor` (format.md §4.3).

use core::fmt;

use crate::error::{Error, ErrorKind, PathComponent, Result};
use crate::limits::Limits;
use crate::verify::{self, Verified};
use pte_flat::Kind as _;
use pte_flat::desc::TableDesc;
use pte_schema::flat_tensor::{desc, view};
use pte_schema::flat_tensor_legacy as legacy;

/// A layout of `.ptd` files. All layouts have the same identifier and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// The layout of January 2025, which was never released. The header is in front of a whole
    /// FlatBuffer.
    Zero,
    /// The layout until March 2025, which the C++ writer of release 0.6 also writes.
    One,
    /// The layout of release 0.6.
    Two,
    /// The layout of release 0.7 and later.
    Three,
}

/// The root table, in the schema of the file's generation.
#[derive(Clone, Copy, Debug)]
pub enum Root<'a> {
    /// The root of generation 3.
    Current(view::FlatTensor<'a>),
    /// The root of generations 0 to 2.
    Legacy(legacy::view::FlatTensor<'a>),
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "generation 0 (January 2025, unreleased)",
            Self::One => "generation 1 (before release 0.6, or its C++ writer)",
            Self::Two => "generation 2 (release 0.6)",
            Self::Three => "generation 3 (release 0.7 and later)",
        })
    }
}

/// Proves `region` in its own generation, which this function detects.
///
/// Field 3 (`segments`) decides. Every old writer stores it, even if it is empty, and no current
/// writer does.
///
/// It is not enough to try both layouts, since an old file without tensors is also a valid current
/// file.
pub(super) fn detect<'a>(
    region: &'a [u8],
    whole: bool,
    limits: &Limits,
) -> Result<(Root<'a>, Generation, Verified)> {
    // The version field is proven first: a later version may change all other fields.
    let bare = verify::verify(region, &BARE, limits)?.0.raw();
    for field in BARE.fields {
        let version = bare.scalar(field.slot).unwrap_or_default();
        if version != 0 {
            let at = bare.field_pos(field.slot).unwrap_or_default();
            let refused = Error::new(ErrorKind::FlatTensorVersion { version }, at.into());
            return Err(refused.within(PathComponent::Field(field.name)));
        }
    }
    if bare.offset_of(OLD_SEGMENTS) == 0 && !whole {
        let (root, verified) = verify::read::<view::FlatTensor<'a>>(region, limits)?;
        if root.segments().is_none() || root.named_data().is_none() {
            return Err(Error::new(ErrorKind::FlatTensorLayout {}, bare.pos().into()));
        }
        return Ok((Root::Current(root), Generation::Three, verified));
    }
    let (root, verified) = verify::read::<legacy::view::FlatTensor<'a>>(region, limits)?;
    if root.segments().is_none() || root.tensors().is_none() {
        return Err(Error::new(ErrorKind::FlatTensorLayout {}, bare.pos().into()));
    }
    let has_contents = root.tensors().is_some_and(|tensors| !tensors.is_empty())
        || root.named_data().is_some_and(|named| !named.is_empty());
    if has_contents {
        match verify::read::<view::FlatTensor<'a>>(region, limits) {
            Ok((current, _))
                if current.named_data().is_some_and(|named| !named.is_empty())
                    && current.segments().is_some_and(|segments| !segments.is_empty()) =>
            {
                return Err(Error::new(ErrorKind::FlatTensorPolyglot {}, bare.pos().into()));
            }
            // If a limit is exceeded, it is unknown whether the file is valid in both layouts.
            Err(error) if error.code() == WORK_LIMIT.code() => return Err(error),
            _ => {}
        }
    }
    let generation = match root.named_data() {
        _ if whole => Generation::Zero,
        None => Generation::One,
        Some(_) => Generation::Two,
    };
    Ok((Root::Legacy(root), generation, verified))
}

/// Compared by its code, which every build has.
const WORK_LIMIT: pte_flat::ErrorKind = pte_flat::ErrorKind::WorkLimit { limit: 0, what: "" };

/// Returns whether `region`, which was written in an old layout, is also valid in the current one.
/// [`detect`] would then refuse it, or misread it as current.
#[cfg(feature = "alloc")]
pub(crate) fn is_polyglot(region: &[u8], whole: bool) -> bool {
    let is_misread = |error: &Error| match error.kind() {
        ErrorKind::FlatTensorPolyglot {} => true,
        // Both layouts are refused for these reasons, so the error does not depend on the layout.
        ErrorKind::FlatTensorLayout {} | ErrorKind::FlatTensorVersion { .. } => false,
        _ => {
            let bare = verify::verify(region, &BARE, &Limits::UNTRUSTED);
            !whole && bare.is_ok_and(|(bare, _)| bare.raw().offset_of(OLD_SEGMENTS) == 0)
        }
    };
    match detect(region, whole, &Limits::UNTRUSTED) {
        Ok((root, _, _)) => matches!(root, Root::Current(_)),
        Err(error) => is_misread(&error),
    }
}

/// A root table with the version only, which has the same slot in both layouts.
static BARE: TableDesc = pte_flat::table!("FlatTensor", desc::FlatTensor.fields.split_at(1).0, 1);

/// The slot of `segments` before release 0.7.
const OLD_SEGMENTS: u16 = 3;
