//! What a tensor is, apart from where it lies.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::DiffError;
use super::contents::{Contents, Hasher};
use super::fields::{self, Field};
use super::say;
use super::values::{Held, Sort};
use crate::file::source::Source;
use crate::flat::view::Table;
use crate::pte::{Arena, Pte, Storage};
use crate::schema::program::TensorDataLocation;
use crate::schema::program::view::Tensor;

/// The digests of a tensor.
pub(super) fn held<'a, S: Source>(
    pte: &Pte<'a>,
    tensor: Tensor<'a>,
    contents: &mut Contents<'_, S>,
) -> Result<Held, DiffError<S::Error>> {
    let (mut data, mut sort) = (None, Sort::Variable);
    let mut rest = Hasher::of(b'd');
    match pte.storage(tensor) {
        Ok(Storage::Constant(range)) => {
            (data, sort) = (Some(contents.hash(range)?), Sort::Fixed);
        }
        Ok(Storage::Planned { initial: Some(range), .. }) => data = Some(contents.hash(range)?),
        Ok(Storage::External { key, place }) => {
            sort = if place.is_some() { Sort::Variable } else { Sort::Fixed };
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
    Ok(Held { digest: digest.finish(), meta, data, name, sort })
}

/// The name of a parameter or a buffer by which nothing is found: that of an EXTERNAL tensor is the
/// key of its data.
fn name(tensor: Tensor<'_>) -> Option<&str> {
    match is_external(tensor) {
        true => None,
        false => tensor.extra_tensor_info()?.fully_qualified_name(),
    }
}

/// Whether the data of a tensor is in a `.ptd`.
pub(super) fn is_external(tensor: Tensor<'_>) -> bool {
    let extra = tensor.extra_tensor_info();
    extra.is_some_and(|extra| extra.location() == TensorDataLocation::EXTERNAL)
}

/// Where a tensor is planned to lie.
pub(super) fn place(tensor: Tensor<'_>) -> Option<(u32, u64)> {
    let Arena { memory_id, offset } = Arena::of(tensor.allocation_info()?);
    Some((memory_id, offset))
}

/// What differs between two tensors besides their data, as far as it is worth showing.
pub(super) fn differing(old: Tensor<'_>, new: Tensor<'_>) -> Vec<Field> {
    fields::differing(old.raw(), new.raw(), Tensor::DESC)
}

/// Where the data of a tensor is, if not in its own file.
pub(super) fn source(pte: &Pte<'_>, tensor: Tensor<'_>) -> String {
    match pte.storage(tensor) {
        Ok(Storage::External { key, .. }) => {
            format!("external {}", say::quoted(key.unwrap_or_default()))
        }
        Ok(Storage::Constant(_)) => "constant".into(),
        Ok(Storage::Planned { initial: Some(_), .. }) => "with initial data".into(),
        Ok(_) => "without data".into(),
        Err(error) => format!("broken ({})", error.code()),
    }
}
