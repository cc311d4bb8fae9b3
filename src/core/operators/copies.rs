//! Operators that copy the elements of one of their arguments to their output.

use super::kind::{Kind, signature};

/// An operator that copies a tensor.
#[derive(Debug)]
pub struct Copied {
    /// The operator's full name.
    operator: &'static str,
    /// The argument that is copied.
    pub source: u32,
    /// Whether the output has the sizes of that argument too.
    pub keeps_sizes: bool,
}

/// Returns what an operator copies, by its full name. Most operators copy nothing. If source and
/// output differ in dtype, elements are converted.
pub fn copied(operator: &str) -> Option<&'static Copied> {
    let found = COPIES.binary_search_by(|copied| copied.operator.cmp(operator)).ok()?;
    COPIES.get(found)
}

/// Returns whether an operator views or copies its first argument, possibly with other sizes or
/// strides. `operator` is its full name.
pub fn rearranges(operator: &str) -> bool {
    let is_view = || {
        let letters = signature(operator).map_or("", |(_, letters)| letters);
        letters.chars().filter_map(Kind::of).any(Kind::is_view)
    };
    // Copies between devices do not count: graphs must show them.
    let is_on_device = |copied: &Copied| !copied.operator.starts_with("et_copy::");
    copied(operator).is_some_and(|copied| copied.source == 0 && is_on_device(copied)) || is_view()
}

/// The operators, sorted.
static COPIES: &[Copied] = &[
    same("aten::_to_copy.out"),
    same("aten::alias_copy.out"),
    same("aten::clone.out"),
    Copied { operator: "aten::copy.out", source: 1, keeps_sizes: false },
    Copied { operator: "aten::copy_", source: 1, keeps_sizes: false },
    same("aten::detach_copy.out"),
    reshaped("aten::expand_copy.out"),
    same("aten::lift_fresh_copy.out"),
    reshaped("aten::permute_copy.out"),
    reshaped("aten::squeeze_copy.dim_out"),
    reshaped("aten::squeeze_copy.dims_out"),
    reshaped("aten::t_copy.out"),
    reshaped("aten::transpose_copy.int_out"),
    reshaped("aten::unsqueeze_copy.out"),
    reshaped("aten::view_copy.out"),
    same("dim_order_ops::_clone_dim_order.out"),
    same("dim_order_ops::_to_dim_order_copy.out"),
    same("et_copy::_d2h_copy.out"),
    same("et_copy::_h2d_copy.out"),
];

const fn same(operator: &'static str) -> Copied {
    Copied { operator, source: 0, keeps_sizes: true }
}

const fn reshaped(operator: &'static str) -> Copied {
    Copied { operator, source: 0, keeps_sizes: false }
}

#[cfg(test)]
mod tests {
    use super::COPIES;
    use crate::operators::signature;

    #[test]
    fn copies_are_sorted_and_have_a_tensor_to_read_and_one_to_write() {
        assert!(COPIES.windows(2).all(|pair| pair[0].operator < pair[1].operator));
        for copied in COPIES {
            let (_, letters) = signature(copied.operator).unwrap();
            assert_eq!(letters.as_bytes()[usize::try_from(copied.source).unwrap()], b't');
            assert!(letters.contains('w'), "{}", copied.operator);
        }
    }
}
