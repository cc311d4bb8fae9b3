//! The limit on the keys that the values of a graph name.

use super::constants_of;
use crate::bytes::{index, wide};
use crate::error::{Error, ErrorKind, PathComponent, Result};
use crate::schema::xnnpack::view::{ConstantDataOffset, XNNGraph};

/// Checks that all values together name at most `limit` bytes of keys. Readers look the data of each
/// value up by its key, and any number of values may name one long key.
pub(super) fn limit(root: XNNGraph<'_>, limit: u64) -> Result<()> {
    let Some(constants) = root.constant_data().filter(|all| !all.is_empty()) else { return Ok(()) };
    let values = root.xvalues().unwrap_or_default();
    let length = |constant: ConstantDataOffset<'_>| constant.named_key().map_or(0, str::len);
    let longest = constants.iter().map(|constant| wide(length(constant))).max();
    // A value has at most two constants.
    let most = wide(values.len()).saturating_mul(2).saturating_mul(longest.unwrap_or_default());
    if most <= limit {
        return Ok(());
    }
    let mut left = limit;
    for nth in values.iter().flat_map(constants_of).filter(|&nth| nth != 0) {
        let Some(constant) = constants.get(index(nth)) else { continue };
        let Some(rest) = left.checked_sub(wide(length(constant))) else {
            let what = "bytes of keys";
            let error = Error::new(ErrorKind::WorkLimit { limit, what }, values.pos().into());
            return Err(error.within(PathComponent::Field("xvalues")));
        };
        left = rest;
    }
    Ok(())
}
