//! Data files of all generations.

use pte::flat::tree::Unknown;
use pte::flat::write::WriterLayout;
use pte::model::{Container, FileModel, HeaderForm, LegacyPtdModel, PtdModel};
use pte::schema::flat_tensor::model::{NamedData, TensorLayout};
use pte::schema::flat_tensor_legacy::model as legacy;
use pte::schema::scalar::ScalarType;

use super::image;
use crate::mutate::Xorshift;
use crate::smith::DTYPES;

/// Makes a data file of generation `number` modulo 4.
pub(super) fn file(number: u64, random: &mut Xorshift) -> Option<Vec<u8>> {
    let count = 1 + random.below(6);
    let alignment = [1, 16, 16, 64, 128][random.below(5)];
    let layout = WriterLayout::ALL[random.below(WriterLayout::ALL.len())];
    let generation = number % 4;
    if generation == 3 {
        let mut model = PtdModel::empty();
        model.container.layout = layout;
        for _ in 0..count {
            push(&mut model, random);
        }
        model.align(alignment);
        return image(&model);
    }
    let header = match generation {
        0 => HeaderForm::InFront { length: 40, chunk: 48 },
        _ => HeaderForm::PTD,
    };
    let alignment = alignment.max(16);
    let mut model: LegacyPtdModel<'static> = FileModel {
        root: legacy::FlatTensor {
            tensor_alignment: u32::try_from(alignment).unwrap_or(16),
            tensors: Some(Vec::new()),
            segments: Some(Vec::new()),
            named_data: (generation == 2).then(Vec::new),
            ..legacy::FlatTensor::default()
        },
        segments: Vec::new(),
        container: Container { layout, header: Some(header), ..Container::CURRENT },
        unknown: Unknown::default(),
    };
    for _ in 0..count {
        push_legacy(&mut model, random);
    }
    model.align(alignment);
    image(&model)
}

/// Adds an entry: a tensor, or bytes without a layout.
pub(super) fn push(model: &mut PtdModel<'_>, random: &mut Xorshift) {
    let (scalar_type, sizes, dim_order, len) = shape(random);
    let is_tensor = random.below(4) > 0;
    let len = if is_tensor { len } else { random.below(64) };
    let tensor_layout = is_tensor.then_some(TensorLayout {
        scalar_type,
        sizes: Some(sizes),
        dim_order: Some(dim_order),
    });
    let segments = model.segments.len();
    // An entry without a layout may have the segment of another one.
    let segment_index = if is_tensor || segments == 0 || random.below(4) > 0 {
        model.add_segment(bytes(len, random).into())
    } else {
        u32::try_from(random.below(segments)).unwrap_or_default()
    };
    let named = NamedData { key: Some(key(random)), segment_index, tensor_layout };
    model.root.named_data.get_or_insert_default().push(named);
}

/// Adds a tensor to a file before release 0.7, in a segment with others or in a separate one.
pub(super) fn push_legacy(model: &mut LegacyPtdModel<'_>, random: &mut Xorshift) {
    let (scalar_type, sizes, dim_order, len) = shape(random);
    let segment_index = model.add_segment(bytes(len, random).into());
    let fully_qualified_name = Some(key(random));
    if let Some(named) = &mut model.root.named_data
        && random.below(3) == 0
    {
        named.push(legacy::NamedData { key: fully_qualified_name, segment_index });
        return;
    }
    model.root.tensors.get_or_insert_default().push(legacy::TensorMetadata {
        fully_qualified_name,
        scalar_type,
        sizes: Some(sizes),
        dim_order: Some(dim_order),
        segment_index,
        offset: 0,
    });
}

fn key(random: &mut Xorshift) -> String {
    let name = ["weight", "bias", "layer.0.weight", "ключ", "k"][random.below(5)];
    format!("{name}.{:x}", random.next_u64() >> 32)
}

/// Returns random bytes.
pub(super) fn bytes(len: usize, random: &mut Xorshift) -> Vec<u8> {
    (0..len).map(|_| random.next_u64().to_le_bytes()[3]).collect()
}

/// A dtype, sizes, a dim order, and the number of bytes.
fn shape(random: &mut Xorshift) -> (ScalarType, Vec<i32>, Vec<u8>, usize) {
    let scalar_type = DTYPES[random.below(DTYPES.len())];
    let rank = random.below(5);
    let sizes: Vec<i32> = (0..rank).map(|_| random.below(4) as i32).collect();
    let mut dim_order: Vec<u8> = (0..rank as u8).collect();
    for nth in (1..rank).rev() {
        if random.below(4) == 0 {
            dim_order.swap(nth, random.below(nth + 1));
        }
    }
    let len = scalar_type.nbytes(sizes.iter().copied()).unwrap_or_default();
    (scalar_type, sizes, dim_order, usize::try_from(len).unwrap_or_default())
}
