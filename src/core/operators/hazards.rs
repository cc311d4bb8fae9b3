//! Kernels that read an argument again after they have written or resized their output.
//!
//! If the output shares memory with the argument, the kernel then reads values that it has not
//! checked or counted. The hazards were found in upstream's kernels, and by running calls whose
//! arguments share memory (format.md §6.10).

/// The arguments of an operator that must not share bytes with its output.
#[derive(Debug)]
pub struct Hazard {
    /// The operator's full name.
    operator: &'static str,
    /// Arguments that the kernel still reads after it has begun to write the output. It checks or
    /// counts some of them first, such as indices, masks, counts and zero points. It reads others
    /// row by row, while it writes the results of earlier rows. If an argument is a list, all of
    /// its items are meant.
    pub read_again: &'static [u32],
    /// Arguments whose sizes are read again after the output was resized. They must not be the
    /// output.
    pub sized_again: &'static [u32],
}

/// Returns the hazard of an operator, by its full name. Most operators have none.
pub fn hazard(operator: &str) -> Option<&'static Hazard> {
    let found = HAZARDS.binary_search_by(|hazard| hazard.operator.cmp(operator)).ok()?;
    HAZARDS.get(found)
}

/// The hazards, sorted by operator.
static HAZARDS: &[Hazard] = &[
    sized("aten::addmm.out", &[1, 2]),
    sized("aten::cat.out", &[0]),
    read("aten::gather.out", &[2]),
    read("aten::index.Tensor_out", &[1]),
    read("aten::index_put.out", &[1]),
    read("aten::index_put_", &[1]),
    read("aten::index_select.out", &[2]),
    sized("aten::linear.out", &[0, 1]),
    read("aten::masked_select.out", &[1]),
    read("aten::max_pool2d_with_indices_backward.grad_input", &[7]),
    sized("aten::mm.out", &[0, 1]),
    read("aten::nonzero.out", &[0]),
    read("aten::repeat_interleave.Tensor_out", &[0]),
    read("aten::scatter.src_out", &[2]),
    read("aten::scatter.value_out", &[2]),
    read("aten::scatter_add.out", &[2]),
    sized("aten::topk.values", &[0]),
    read("quantized_decomposed::choose_qparams_per_token_asymmetric.out", &[0]),
    read("quantized_decomposed::dequantize_per_channel.out", &[2]),
    read("quantized_decomposed::dequantize_per_token.out", &[2]),
    embedding("quantized_decomposed::embedding_2bit.dtype_out"),
    embedding("quantized_decomposed::embedding_2bit.out"),
    embedding("quantized_decomposed::embedding_4bit.dtype_out"),
    embedding("quantized_decomposed::embedding_4bit.out"),
    embedding("quantized_decomposed::embedding_byte.dtype_out"),
    embedding("quantized_decomposed::embedding_byte.out"),
];

const fn read(operator: &'static str, read_again: &'static [u32]) -> Hazard {
    Hazard { operator, read_again, sized_again: &[] }
}

const fn sized(operator: &'static str, sized_again: &'static [u32]) -> Hazard {
    Hazard { operator, read_again: &[], sized_again }
}

/// Returns the hazard of an embedding. Its kernel reads the indices, and the sizes of scales and
/// zero points, again after it has resized the output.
const fn embedding(operator: &'static str) -> Hazard {
    Hazard { operator, read_again: &[5], sized_again: &[1, 2] }
}

#[cfg(test)]
mod tests {
    use super::HAZARDS;
    use crate::operators::signature;

    #[test]
    fn hazards_are_sorted_and_name_arguments_that_are_tensors_or_lists_of_them() {
        assert!(HAZARDS.windows(2).all(|pair| pair[0].operator < pair[1].operator));
        for hazard in HAZARDS {
            let (_, letters) = signature(hazard.operator).unwrap();
            for &arg in hazard.read_again.iter().chain(hazard.sized_again) {
                let letter = letters.chars().nth(usize::try_from(arg).unwrap()).unwrap();
                assert!("tTov".contains(letter), "{}: {arg} is {letter}", hazard.operator);
            }
        }
    }
}
