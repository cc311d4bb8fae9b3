//! The fingerprint of a value: digests by which values of two methods are compared.

use super::digest::Sha;

/// The digests of a value, and its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fingerprint {
    /// The digest of the value without its name and its place in memory.
    pub(super) digest: Sha,
    /// The digest of the value without its name, its place in memory and its data.
    pub(super) meta: Sha,
    /// The digest of its data.
    pub(super) data: Option<Sha>,
    /// The digest of its name, unless the name is the key of its data.
    pub(super) name: Option<Sha>,
    pub(super) class: ValueClass,
}

/// The property that identifies a value in both methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueClass {
    /// Its contents, which never change.
    Fixed,
    /// Its definition and its uses.
    Variable,
    /// Its items, which are values.
    List,
}
