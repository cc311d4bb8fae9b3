//! Sets and removes the named data of a file of either kind.

use alloc::string::{String, ToString};
use core::mem::take;

use super::{Blob, FileModel, PtdModel, PteModel, RootStruct};
use pte_flat::quoted::Quoted;
use pte_schema::{flat_tensor, program};

pte_flat::errors! {
    /// The reason why named data cannot be changed.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum DataError {
        /// There is no data for this key.
        UnknownKey(key: String) => "no data has the key {}", Quoted(key);
        /// The key belongs to a tensor, and the new data has another size than the tensor.
        TensorSize {
            /// The key.
            key: String,
            /// The number of bytes that the tensor needs; `None` if its shape is invalid.
            wanted: Option<u64>,
            /// The number of bytes of the new data.
            given: u64,
        } =>
            "the tensor {} {}", Quoted(key), match wanted {
                Some(wanted) => format!("has {wanted} bytes, and {given} were given"),
                None => "has a shape of no size".into(),
            };
    }
}

impl<'a> PteModel<'a> {
    /// Sets the named data of `key`. Returns whether the key existed.
    pub fn set_data(&mut self, key: &str, blob: Blob<'a>) -> bool {
        let named = self.root.named_data.iter_mut().flatten();
        let found = named.enumerate().find(|(_, named)| named.key.as_deref() == Some(key));
        let Some((nth, segment_index)) = found.map(|(nth, named)| (nth, named.segment_index))
        else {
            let segment_index = self.add_segment(blob);
            let named = program::model::NamedData { key: Some(key.to_string()), segment_index };
            self.root.named_data.get_or_insert_default().push(named);
            return false;
        };
        let own = self.own_segment(segment_index, blob);
        let named = self.root.named_data.as_mut().and_then(|named| named.get_mut(nth));
        named.into_iter().for_each(|named| named.segment_index = own);
        true
    }
}

impl<'a> PtdModel<'a> {
    /// Sets the data of `key`. A new key gets a blob without a shape. Returns whether the key
    /// existed.
    ///
    /// # Errors
    ///
    /// [`DataError::TensorSize`] if the key belongs to a tensor that needs another number of bytes.
    pub fn set_data(&mut self, key: &str, blob: Blob<'a>) -> Result<bool, DataError> {
        let named = self.root.named_data.get_or_insert_default().iter().enumerate();
        let found = named.into_iter().find(|(_, named)| named.key.as_deref() == Some(key));
        let Some((nth, named)) = found else {
            let segment_index = self.add_segment(blob);
            let named = flat_tensor::model::NamedData {
                key: Some(key.to_string()),
                segment_index,
                tensor_layout: None,
            };
            self.root.named_data.get_or_insert_default().push(named);
            return Ok(false);
        };
        if let Some(layout) = &named.tensor_layout {
            let sizes = layout.sizes.iter().flatten().copied();
            let (wanted, given) = (layout.scalar_type.nbytes(sizes), blob.len());
            if wanted != Some(given) {
                return Err(DataError::TensorSize { key: key.into(), wanted, given });
            }
        }
        let segment_index = named.segment_index;
        let own = self.own_segment(segment_index, blob);
        let named = self.root.named_data.as_mut().and_then(|named| named.get_mut(nth));
        named.into_iter().for_each(|named| named.segment_index = own);
        Ok(true)
    }
}

impl<R: RootStruct> FileModel<'_, R> {
    /// Removes the named data of `key`.
    ///
    /// # Errors
    ///
    /// [`DataError::UnknownKey`].
    pub fn remove_data(&mut self, key: &str) -> Result<(), DataError> {
        let mut is_first = true;
        let removed = self.root.remove_named(&mut |known| known == key && take(&mut is_first));
        if removed.is_empty() {
            return Err(DataError::UnknownKey(key.into()));
        }
        self.drop_unused(removed);
        Ok(())
    }
}
