//! Tables as plain structs that own what they hold.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::flat::desc::TableDesc;
use crate::flat::tree::{Object, Value};
use crate::flat::view::Scalar;

pub(crate) mod declare;

/// A table as a struct: every field by its name, numbers by value, everything else optional.
pub trait Model: Sized {
    /// Its declaration.
    const DESC: &'static TableDesc;

    /// The tree of it, which [`write`](fn@crate::flat::write::write) takes; strings and bytes are
    /// borrowed.
    fn to_object(&self) -> Object<'_>;
}

/// Every table of a vector as a tree.
pub(crate) fn tables<M: Model>(models: &[M]) -> Value<'_> {
    Value::Tables(models.iter().map(Model::to_object).collect())
}

/// The elements of a vector as they stand in a file.
pub(crate) fn scalars<T: Scalar>(items: &[T]) -> Value<'_> {
    Value::Scalars(T::to_bytes(items))
}

/// As many bytes of each element as it takes, one after the other.
pub(crate) fn bytes<T: Scalar>(items: &[T]) -> Cow<'_, [u8]> {
    let size = usize::from(T::PRIM.size());
    let mut out = Vec::with_capacity(items.len().saturating_mul(size));
    for item in items {
        let bytes = item.to_number().stored(T::PRIM).unwrap_or_default();
        out.extend_from_slice(bytes.get(..size).unwrap_or_default());
    }
    out.into()
}
