//! Values in words: types of tensors, and the contents of scalars.

use core::fmt::Display;

use alloc::format;
use alloc::string::{String, ToString};

use super::MethodGraph;
use crate::bytes::index as at;
use crate::schema::program::view::KernelTypes;
use crate::schema::scalar::ScalarType;

/// Returns a dtype with sizes, such as `float32[2, 8]`. Sizes past the 16th are cut off.
pub fn tensor_type(dtype: ScalarType, sizes: impl IntoIterator<Item = i32>) -> String {
    format!("{}{}", dtype_name(dtype), list(sizes))
}

/// Returns the name of a dtype in PyTorch, such as `float32`.
pub(crate) fn dtype_name(dtype: ScalarType) -> String {
    dtype.torch_name().map_or_else(|| format!("dtype {}", dtype.0), ToString::to_string)
}

/// Returns a list such as `[0, 2, 1]`. Items past the 16th are cut off.
pub(crate) fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    format!("[{}]", joined(items, MOST_SIZES))
}

/// Returns the first `most` items with commas between them, and `…` if there are more.
pub(crate) fn joined<T: Display>(items: impl IntoIterator<Item = T>, most: usize) -> String {
    let mut out = String::new();
    for (nth, item) in items.into_iter().enumerate() {
        if nth > 0 {
            out.push_str(", ");
        }
        if nth == most {
            out.push('…');
            break;
        }
        out.push_str(&item.to_string());
    }
    out
}

impl MethodGraph<'_> {
    /// Returns the type of a value, or the contents of a scalar: `float32[2, 8]`, `int 1`.
    pub fn value_text(&self, value: u32) -> String {
        match self.value(at(value)) {
            Some(KernelTypes::Tensor(tensor)) => {
                tensor_type(tensor.scalar_type(), tensor.sizes().into_iter().flatten())
            }
            Some(KernelTypes::Int(int)) => format!("int {}", int.int_val()),
            Some(KernelTypes::Double(double)) => format!("float {}", double.double_val()),
            Some(KernelTypes::Bool(bool)) => format!("bool {}", bool.bool_val()),
            Some(KernelTypes::Null(_)) => "None".into(),
            Some(other) => other.name().unwrap_or(UNKNOWN).into(),
            None => UNKNOWN.into(),
        }
    }
}

const UNKNOWN: &str = "an unknown value";

/// The rank limit of the runtime. No larger rank occurs in genuine files.
const MOST_SIZES: usize = 16;
