//! The only code that relies on what the rules have proven.

pub(super) use pte_flat::view::bare;

/// Returns the value in `found`. It is present, since a file that breaks `rules` is not sound. If
/// it is missing nevertheless, a debug build panics, and a release build returns `otherwise`.
///
/// `rules` are the ids of rules, so that a test can check that each is an Error.
#[inline]
pub(super) fn proven<T>(found: Option<T>, rules: &'static str, otherwise: T) -> T {
    debug_assert!(found.is_some(), "not there, in spite of {rules}");
    found.unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pte_schema::program::view;

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "in spite of tensor-dtype"))]
    fn a_broken_proof_panics_in_debug_builds_only() {
        assert_eq!(proven(Some(1), "tensor-dtype", 0), 1);
        assert_eq!(proven(None, "tensor-dtype", 7), 7);
    }

    #[test]
    fn a_bare_table_has_no_fields() {
        let tensor = bare::<view::Tensor<'_>>();
        assert!(tensor.sizes().is_none() && tensor.extra_tensor_info().is_none());
        assert_eq!(tensor.data_buffer_idx(), 0);
        assert!(bare::<view::EValue<'_>>().val().is_none());
    }
}
