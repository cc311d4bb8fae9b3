//! The fingerprint of a value: digests by which values of two methods are compared.

use super::digest::Sha;

/// The digests of a value, and its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fingerprint {
    /// The digest of the value without its name and its place in memory.
    pub(super) digest: Sha,
    /// The digest of the value without its name, its place in memory and its data.
    pub(super) meta: Sha,
    /// The digest of the value's data.
    pub(super) data: Option<Sha>,
    /// The digest of the value's name, unless the name is the key of the data.
    pub(super) name: Option<Sha>,
    pub(super) class: ValueClass,
}

/// The property that identifies a value in both methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueClass {
    /// Identified by its contents, which never change.
    Fixed,
    /// Identified by its definition and its uses.
    Variable,
    /// Identified by its items, which are values.
    List,
}
