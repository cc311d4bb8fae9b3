//! Calls of any operator that the official runtime has. Arguments have the kinds that it takes, and any sizes and
//! numbers: the verdicts of `pte check` are compared with the runtime's.

use arbitrary::Result;
use pte::operators::{KERNELS, Kernel};
use pte::schema::program::model::{self, InstructionArguments, KernelTypes};
use pte::schema::scalar::ScalarType;

use super::{Place, Smith};

/// Every operator.
pub(super) fn operators() -> &'static [Kernel] {
    KERNELS
}

impl Smith<'_, '_> {
    /// Returns a call of a random operator: a sound one with up to three changes, or one with random arguments.
    pub(super) fn any_call(&mut self) -> Result<InstructionArguments> {
        let nth = self.random.choose_index(KERNELS.len())?;
        if self.random.ratio(1, 2)? {
            let changes = self.random.int_in_range(0..=3)?;
            return self.near_sound(nth, changes);
        }
        let Kernel { name: full, letters, .. } = KERNELS[nth];
        let (name, overload) = full.rsplit_once('.').unwrap_or((full, ""));
        let common = Common { dtype: self.often_float()?, sizes: self.shape()? };
        let mut args: Vec<i32> = Vec::with_capacity(letters.len());
        for letter in letters.chars() {
            let arg = match (letter, args.last()) {
                // Writers list the output of a call twice.
                ('.', Some(&written)) => written,
                _ => self.arg(letter, &common)?,
            };
            args.push(arg);
        }
        Ok(self.call(name, overload, args))
    }

    pub(super) fn arg(&mut self, letter: char, common: &Common) -> Result<i32> {
        if letter.is_ascii_uppercase() && self.random.ratio(1, 2)? {
            return Ok(self.value(KernelTypes::Null(model::Null {})));
        }
        Ok(match letter.to_ascii_lowercase() {
            't' | 'h' => self.given(common)?,
            'w' => {
                let (dtype, sizes) = self.near(common)?;
                self.out(dtype, &sizes)?
            }
            'y' => {
                let (dtype, sizes) = self.near(common)?;
                self.tensor(Place::Input, dtype, sizes)?
            }
            'v' | 'x' | 'o' => {
                let count = self.random.int_in_range(0..=3)?;
                let mut items = (0..count)
                    .map(|_| match letter {
                        'x' => self.out(common.dtype, &common.sizes),
                        _ => self.given(common),
                    })
                    .collect::<Result<Vec<_>>>()?;
                if letter == 'o' && self.random.ratio(1, 3)? {
                    items.insert(0, -1);
                }
                let items = Some(items);
                self.value(match letter {
                    'o' => KernelTypes::OptionalTensorList(model::OptionalTensorList { items }),
                    _ => KernelTypes::TensorList(model::TensorList { items }),
                })
            }
            'i' => self.little()?,
            's' | 'n' | '#' | '$' | '~' | '=' if self.random.ratio(2, 3)? => self.little()?,
            'd' | 's' | 'n' | '%' | '~' | '$' | '=' => {
                let double_val = *self.random.choose(&[0.0, 0.5, 1.0, -1.0, 1e-5, 300.0])?;
                self.value(KernelTypes::Double(model::Double { double_val }))
            }
            'l' => {
                let count = match self.random.ratio(1, 2)? {
                    true => common.sizes.len(),
                    false => self.random.int_in_range(0..=3)?,
                };
                let items = (0..count).map(|_| self.little().map(i64::from));
                let items = Some(items.collect::<Result<_>>()?);
                self.value(KernelTypes::IntList(model::IntList { items }))
            }
            'f' => {
                let items = Some(self.random.choose(&[vec![], vec![1.0], vec![2.0, 2.0]])?.clone());
                self.value(KernelTypes::DoubleList(model::DoubleList { items }))
            }
            'm' => {
                let items = self.some()?;
                self.value(KernelTypes::BoolList(model::BoolList { items }))
            }
            'z' => {
                let text = *self.random.choose(&["trunc", "floor", "none", "reflect", ""])?;
                let string_val = Some(text.to_owned());
                self.value(KernelTypes::String(model::String { string_val }))
            }
            '@' => self.out(common.dtype, &common.sizes)?,
            // A Bool, and what may be anything.
            _ => {
                let bool_val = self.random.arbitrary()?;
                self.value(KernelTypes::Bool(model::Bool { bool_val }))
            }
        })
    }

    /// A tensor to read: a new one, or one that an earlier call had.
    fn given(&mut self, common: &Common) -> Result<i32> {
        let values = self.plan.values.iter().flatten().enumerate();
        let tensors = values.filter(|(_, value)| matches!(value.val, Some(KernelTypes::Tensor(_))));
        let tensors = tensors.filter_map(|(nth, _)| i32::try_from(nth).ok()).collect::<Vec<_>>();
        if !tensors.is_empty() && self.random.ratio(1, 4)? {
            return self.random.choose(&tensors).copied();
        }
        let (dtype, sizes) = self.near(common)?;
        self.source(dtype, &sizes)
    }

    /// Returns the dtype and sizes that most tensors of the call have, or seldom others.
    fn near(&mut self, common: &Common) -> Result<(ScalarType, Vec<i32>)> {
        let dtype = match self.random.ratio(1, 8)? {
            true => self.dtype()?,
            false => common.dtype,
        };
        let sizes = match self.random.int_in_range(0..=9)? {
            0 | 1 => self.shape()?,
            2 => common.sizes.iter().rev().copied().collect(),
            _ => common.sizes.clone(),
        };
        Ok((dtype, sizes))
    }

    fn often_float(&mut self) -> Result<ScalarType> {
        match self.random.ratio(2, 3)? {
            true => Ok(ScalarType::FLOAT),
            false => self.dtype(),
        }
    }

    /// An Int that may be a dimension, a size, a flag, or wrong.
    fn little(&mut self) -> Result<i32> {
        let int_val = match self.random.ratio(1, 24)? {
            true => *self.random.choose(&[i64::MIN, i64::MAX, 1 << 31, -129, 255])?,
            false => self.random.int_in_range(-1..=3)?,
        };
        Ok(self.number(int_val))
    }
}

/// The dtype and sizes of most tensors of a call.
pub(super) struct Common {
    pub(super) dtype: ScalarType,
    pub(super) sizes: Vec<i32>,
}
