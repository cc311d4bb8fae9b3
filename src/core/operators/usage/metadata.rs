//! Call metadata, by which the runtime selects kernels: the dtype and dim order of each tensor
//! argument.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::limits::MOST_DIMENSIONS;
use crate::pte::tensor_at;
use pte_schema::program::view::{ExecutionPlan, KernelTypes, Tensor};
use pte_schema::scalar::ScalarType;

/// The dtype and dim order of every tensor of a plan. Tensors that agree in both share a number.
pub(super) struct CallMetadata {
    /// For each value, the number of its dtype and dim order; `None` for a value without tensors.
    values: Vec<Option<usize>>,
    /// For each number, the dtype, and the text of the dtype and the dim order.
    different: Vec<(ScalarType, String)>,
}

impl CallMetadata {
    pub(super) fn of(plan: ExecutionPlan<'_>) -> Self {
        let mut metadata = Self { values: Vec::new(), different: Vec::new() };
        let mut known: BTreeMap<(i8, Vec<u8>), usize> = BTreeMap::new();
        for value in plan.values().into_iter().flatten() {
            let number = tensor(plan, value.val()).map(|tensor| {
                let dtype = tensor.scalar_type();
                let order = tensor.dim_order().into_iter().flatten().take(MOST_DIMENSIONS);
                let order: Vec<u8> = order.collect();
                let text: Vec<_> = order.iter().map(u8::to_string).collect();
                let next = metadata.different.len();
                *known.entry((dtype.0, order)).or_insert_with(|| {
                    metadata.different.push((dtype, format!("{};{}", dtype.0, text.join(","))));
                    next
                })
            });
            metadata.values.push(number);
        }
        metadata
    }

    /// Returns the number that stands for the dtype and dim order of an argument.
    pub(super) fn get(&self, arg: i32) -> Option<usize> {
        *self.values.get(usize::try_from(arg).ok()?)?
    }

    pub(super) fn dtype(&self, number: usize) -> Option<ScalarType> {
        self.different.get(number).map(|(dtype, _)| *dtype)
    }

    /// Returns the kernel key of a call, such as `v1/6;0,1|6;0`, or `v1` without tensors.
    pub(super) fn key(&self, call: &[usize]) -> String {
        let mut key = String::from("v1");
        for (nth, number) in call.iter().enumerate() {
            key.push(if nth == 0 { '/' } else { '|' });
            key.push_str(self.different.get(*number).map_or("", |(_, text)| text.as_str()));
        }
        key
    }
}

/// Returns the tensor that selects the kernel for an argument: the argument, or the first tensor of
/// a list. The tensors of a list are assumed to be alike.
fn tensor<'a>(plan: ExecutionPlan<'a>, value: Option<KernelTypes<'a>>) -> Option<Tensor<'a>> {
    let at = |index: i32| tensor_at(plan, index);
    match value? {
        KernelTypes::Tensor(tensor) => Some(tensor),
        KernelTypes::TensorList(list) => at(list.items()?.get(0)?),
        KernelTypes::OptionalTensorList(list) => list.items()?.into_iter().find_map(at),
        _ => None,
    }
}
