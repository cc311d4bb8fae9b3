//! The limit on the keys that the values of a graph name.

use super::constants_of;
use crate::error::{Error, PathComponent, Result};
use pte_flat::bytes::{narrow, wide};
use pte_flat::view::{Table, Vtable};
use pte_schema::xnnpack::view::{ConstantDataOffset, XNNGraph};

/// Checks that all values together name at most `limit` bytes of keys. Readers look the data of each
/// value up by its key, and any number of values may name one long key.
pub(super) fn limit(root: XNNGraph<'_>, limit: u64) -> Result<()> {
    let constants = root.constant_data().unwrap_or_default();
    let Some(key) = ConstantDataOffset::DESC.field("named_key") else { return Ok(()) };
    let mut vtable = Vtable::default();
    // Every read of a graph does this, so the texts of the keys are not looked at.
    let mut length = |nth: u32| {
        let constant = constants.raw_by(nth, &mut vtable);
        u64::from(constant.and_then(|constant| constant.str_len(key.slot)).unwrap_or_default())
    };
    let longest = (0..narrow(constants.len())).map(&mut length).max();
    let values = root.xvalues().unwrap_or_default();
    // A value has at most two constants.
    let most = wide(values.len()).saturating_mul(2).saturating_mul(longest.unwrap_or_default());
    if most <= limit {
        return Ok(());
    }
    let mut left = limit;
    for nth in values.iter().flat_map(constants_of).filter(|&nth| nth != 0) {
        let Some(rest) = left.checked_sub(length(nth)) else {
            let what = "bytes of keys";
            let error = Error::new(
                pte_flat::ErrorKind::WorkLimit { limit, what }.into(),
                values.pos().into(),
            );
            return Err(error.within(PathComponent::Field("xvalues")));
        };
        left = rest;
    }
    Ok(())
}
