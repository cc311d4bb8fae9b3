//! Data files that are valid by construction.

use arbitrary::{Result, Unstructured};
use pte::model::PtdModel;
use pte::schema::flat_tensor::model::{NamedData, TensorLayout};
use pte::schema::scalar::ScalarType;

/// A `.ptd` that `check` passes.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn data(random: &mut Unstructured<'_>) -> Result<PtdModel<'static>> {
    let mut file: PtdModel<'static> = PtdModel::empty();
    for nth in 0..random.int_in_range(0..=4)? {
        let key = format!("key {nth}");
        let rank = random.int_in_range(0..=3)?;
        let sizes = (0..rank).map(|_| random.int_in_range(0..=3)).collect::<Result<Vec<i32>>>()?;
        let dim_order = (0..u8::try_from(sizes.len()).unwrap_or(u8::MAX)).collect();
        let scalar_type = ScalarType::FLOAT;
        let bytes = scalar_type.nbytes(sizes.iter().copied()).unwrap_or_default();
        let tensor_layout = match random.arbitrary()? {
            true => {
                Some(TensorLayout { scalar_type, sizes: Some(sizes), dim_order: Some(dim_order) })
            }
            false => None,
        };
        let bytes = vec![nth; usize::try_from(bytes).unwrap_or_default()];
        let segment_index = file.add_segment(bytes.into());
        let named = NamedData { key: Some(key), segment_index, tensor_layout };
        file.root.named_data.get_or_insert_default().push(named);
    }
    Ok(file)
}
