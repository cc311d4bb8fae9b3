//! What is known of an operator in a kernel library, in one row of a list.

use crate::release::Release;

/// An operator of a library.
#[derive(Debug)]
pub(super) struct Registered {
    /// The full name, overload included.
    pub(super) operator: &'static str,
    /// The first release whose library has it, from [`OLDEST_LISTED`] on.
    pub(super) since: Release,
    /// The first later release whose library lacks it again.
    pub(super) until: Option<Release>,
}

/// The oldest release whose libraries were read.
pub(super) const OLDEST_LISTED: Release = (1, 0);

/// Expands to a list of rows: name, and the fields that are not those of an operator in all releases.
macro_rules! rows {
    ($($name:literal $($field:ident: $value:expr),*;)*) => {
        &[$(Registered { $($field: $value,)* ..super::registration::Registered::always($name) }),*]
    };
}

pub(super) use rows;

impl Registered {
    /// Returns the row of an operator that every release from [`OLDEST_LISTED`] on has.
    pub(super) const fn always(operator: &'static str) -> Self {
        Self { operator, since: OLDEST_LISTED, until: None }
    }
}
