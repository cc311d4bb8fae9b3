//! The fingerprint of a tensor, and its fields without its place in memory.

use alloc::string::String;
use alloc::vec::Vec;

use super::DiffError;
use super::contents::Contents;
use super::digest::Hasher;
use super::fields::{self, Field, TableRef};
use super::fingerprint::{Fingerprint, ValueClass};
use super::text;
use pte_core::{Arena, Pte, Source, Storage};
use pte_flat::view::Table;
use pte_schema::program::TensorDataLocation;
use pte_schema::program::view::Tensor;

/// Returns the fingerprint of a tensor.
pub(super) fn fingerprint<'a, S: Source>(
    pte: &Pte<'a>,
    tensor: Tensor<'a>,
    contents: &mut Contents<'_, S>,
) -> Result<Fingerprint, DiffError<S::Error>> {
    let (mut data, mut class) = (None, ValueClass::Variable);
    let mut rest = Hasher::of(b'd');
    match pte.storage(tensor) {
        Ok(Storage::Constant(range)) => {
            (data, class) = (Some(contents.hash(range)?), ValueClass::Fixed);
        }
        Ok(Storage::Planned { initial: Some(range), .. }) => data = Some(contents.hash(range)?),
        Ok(Storage::External { key, place }) => {
            class = if place.is_some() { ValueClass::Variable } else { ValueClass::Fixed };
            match contents.hash_key(key.unwrap_or_default())? {
                Some((sha, _)) => data = Some(sha),
                None => _ = rest.text(Some("external")).text(key),
            }
        }
        Ok(_) => {}
        Err(error) => _ = rest.text(Some(error.code())),
    }
    let mut meta = Hasher::of(b't');
    fields::hash(Some(tensor.raw()), Tensor::DESC, &mut meta);
    let meta = meta.finish();
    let mut digest = Hasher::of(b'T');
    digest.bytes(&meta).bytes(data.as_ref().map_or(&[][..], |sha| sha)).bytes(&rest.finish());
    let name = name(tensor).filter(|name| !name.is_empty()).map(|name| {
        let mut hasher = Hasher::of(b'n');
        hasher.text(Some(name));
        hasher.finish()
    });
    Ok(Fingerprint { digest: digest.finish(), meta, data, name, class })
}

/// Returns the name of a parameter or buffer. The name of an EXTERNAL tensor is a key and does not count.
fn name(tensor: Tensor<'_>) -> Option<&str> {
    match is_external(tensor) {
        true => None,
        false => tensor.extra_tensor_info()?.fully_qualified_name(),
    }
}

/// Returns whether the data of a tensor is in a `.ptd`.
pub(super) fn is_external(tensor: Tensor<'_>) -> bool {
    let extra = tensor.extra_tensor_info();
    extra.is_some_and(|extra| extra.location() == TensorDataLocation::EXTERNAL)
}

/// Returns the planned place of a tensor: its arena and offset.
pub(super) fn place(tensor: Tensor<'_>) -> Option<(u32, u64)> {
    let Arena { memory_id, offset } = Arena::of(tensor.allocation_info()?);
    Some((memory_id, offset))
}

/// Returns the fields that differ between two tensors, without their data.
pub(super) fn differing(old: Tensor<'_>, new: Tensor<'_>) -> Vec<Field> {
    fields::differing(TableRef::of(old), TableRef::of(new))
}

/// Returns the location of the data of a tensor in words.
pub(super) fn source(pte: &Pte<'_>, tensor: Tensor<'_>) -> String {
    match pte.storage(tensor) {
        Ok(Storage::External { key, .. }) => {
            format!("external {}", text::quoted(key.unwrap_or_default()))
        }
        Ok(Storage::Constant(_)) => "constant".into(),
        Ok(Storage::Planned { initial: Some(_), .. }) => "with initial data".into(),
        Ok(_) => "without data".into(),
        Err(error) => format!("broken ({})", error.code()),
    }
}
