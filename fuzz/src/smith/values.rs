//! Values: tensors of any place, scalars, lists and texts.

use arbitrary::Result;
use pte::schema::program::model::{self, EValue, KernelTypes, Tensor};
use pte::schema::program::{TensorDataLocation, TensorShapeDynamism};
use pte::schema::scalar::ScalarType;

use super::{Calls, DTYPES, Smith};

/// The place of a tensor's data.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    Planned,
    Constant,
    State,
    External,
    /// Given when the program runs.
    Input,
}

impl Smith<'_, '_> {
    pub(super) fn value(&mut self, value: KernelTypes) -> i32 {
        let values = self.plan.values.get_or_insert_default();
        values.push(EValue { val: Some(value) });
        i32::try_from(values.len() - 1).unwrap_or(i32::MAX)
    }

    pub(super) fn number(&mut self, int_val: i64) -> i32 {
        self.value(KernelTypes::Int(model::Int { int_val }))
    }

    pub(super) fn int(&mut self) -> Result<i32> {
        let number = self.random.arbitrary()?;
        Ok(self.number(number))
    }

    pub(super) fn scalar(&mut self) -> Result<i32> {
        let value = match self.random.int_in_range(0..=4)? {
            0 => KernelTypes::Double(model::Double { double_val: self.random.arbitrary()? }),
            1 => KernelTypes::Bool(model::Bool { bool_val: self.random.arbitrary()? }),
            2 => KernelTypes::DoubleList(model::DoubleList { items: self.some()? }),
            3 => KernelTypes::BoolList(model::BoolList { items: self.some()? }),
            _ => KernelTypes::Int(model::Int { int_val: self.random.arbitrary()? }),
        };
        Ok(self.value(value))
    }

    pub(super) fn some<T: for<'a> arbitrary::Arbitrary<'a>>(&mut self) -> Result<Option<Vec<T>>> {
        let count = self.random.int_in_range(0..=4)?;
        (0..count).map(|_| self.random.arbitrary()).collect::<Result<_>>().map(Some)
    }

    /// A tensor that has data before it is used.
    pub(super) fn source(&mut self, dtype: ScalarType, sizes: &[i32]) -> Result<i32> {
        let swarm = self.swarm;
        let place = match self.random.int_in_range(0..=4)? {
            0 if swarm.constants() => Place::Constant,
            1 if swarm.states() => Place::State,
            2 if swarm.external() => Place::External,
            3 if swarm.inputs() => Place::Input,
            _ => Place::Planned,
        };
        self.tensor(place, dtype, sizes.to_vec())
    }

    /// A tensor that may be written to.
    pub(super) fn out(&mut self, dtype: ScalarType, sizes: &[i32]) -> Result<i32> {
        let index = self.tensor(Place::Planned, dtype, sizes.to_vec())?;
        if self.random.arbitrary()? {
            self.plan.outputs.get_or_insert_default().push(index);
        }
        Ok(index)
    }

    pub(super) fn tensor(
        &mut self,
        place: Place,
        dtype: ScalarType,
        sizes: Vec<i32>,
    ) -> Result<i32> {
        let bytes = dtype.nbytes(sizes.iter().copied()).unwrap_or_default();
        let rank = u8::try_from(sizes.len()).unwrap_or(u8::MAX);
        let mut dim_order: Vec<u8> = (0..rank).collect();
        // Most kernels want the same order of all their tensors.
        let odd = if self.calls == Calls::Valid { 8 } else { 64 };
        let is_odd = self.is_turned != self.random.ratio(1, odd)?;
        // A graph computes the sizes of its output in the order of dimensions.
        if is_odd && self.calls != (Calls::Graph { is_broken: false }) {
            match self.swarm.trailing() && rank > 2 {
                // Channels last.
                true => dim_order[1..].rotate_left(1),
                false => dim_order.reverse(),
            }
        }
        let mut tensor = Tensor {
            scalar_type: dtype,
            sizes: Some(sizes),
            dim_order: Some(dim_order),
            requires_grad: self.random.ratio(1, 8)?,
            shape_dynamism: match self.swarm.dynamic() && self.random.arbitrary()? {
                true => TensorShapeDynamism::DYNAMIC_BOUND,
                false => TensorShapeDynamism::STATIC,
            },
            ..Tensor::default()
        };
        if matches!(place, Place::Planned | Place::State) {
            let arena = self.random.choose_index(self.arenas.len())?;
            let begin = self.arenas[arena].next_multiple_of(16);
            self.arenas[arena] = begin + bytes;
            tensor.allocation_info = Some(model::AllocationDetails {
                memory_id: u32::try_from(arena).unwrap_or(u32::MAX) + 1,
                memory_offset_low: u32::try_from(begin).unwrap_or(u32::MAX),
                memory_offset_high: 0,
            });
        }
        let unique = self.plan.values.as_ref().map_or(0, Vec::len);
        let len = usize::try_from(bytes).unwrap_or_default();
        let [fill, ..] = match self.calls {
            Calls::Valid => unique.to_le_bytes(),
            // Some kernels crash on certain elements, which rules do not judge.
            _ => [0; 8],
        };
        let data = match self.calls {
            Calls::Tangled(_) if place == Place::Constant => self.contents(dtype, len)?,
            _ => vec![fill; len],
        };
        let name = format!("{}.{unique}", self.plan.name.as_deref().unwrap_or_default());
        match place {
            Place::Constant => {
                tensor.data_buffer_idx = u32::try_from(self.constants.len()).unwrap_or(u32::MAX);
                self.constants.push(data.into());
            }
            Place::State => {
                tensor.data_buffer_idx = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
                self.states.push(data);
            }
            Place::External | Place::Input | Place::Planned => {}
        }
        if place == Place::External || self.swarm.extra() && self.random.arbitrary()? {
            tensor.extra_tensor_info = Some(model::ExtraTensorInfo {
                fully_qualified_name: Some(name),
                location: match place {
                    Place::External => TensorDataLocation::EXTERNAL,
                    _ => TensorDataLocation::SEGMENT,
                },
                ..model::ExtraTensorInfo::default()
            });
        }
        let index = self.value(KernelTypes::Tensor(tensor));
        if place == Place::Input {
            self.plan.inputs.get_or_insert_default().push(index);
        }
        Ok(index)
    }

    pub(super) fn shape(&mut self) -> Result<Vec<i32>> {
        let most = if self.calls == Calls::One && self.random.ratio(1, 16)? { 9 } else { 4 };
        let rank = self.random.int_in_range(0..=most)?;
        (0..rank).map(|_| self.random.int_in_range(0..=3)).collect()
    }

    pub(super) fn dtype(&mut self) -> Result<ScalarType> {
        self.random.choose(&DTYPES).copied()
    }

    /// A text without NUL.
    pub(super) fn text(&mut self) -> Result<String> {
        let len = self.random.int_in_range(0..=12)?;
        let letters = ['a', 'z', '.', ' ', '"', '\\', '\n', 'ä', '→', '\u{1f600}'];
        (0..len).map(|_| self.random.choose(&letters).copied()).collect()
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>> {
        let len = self.random.int_in_range(1..=40)?;
        (0..len).map(|_| self.random.arbitrary()).collect()
    }
}
