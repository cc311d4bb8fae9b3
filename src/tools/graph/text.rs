//! Texts of values: types of tensors, and the contents of scalars.

use core::fmt::Display;

use alloc::string::{String, ToString};

use super::MethodGraph;
use pte_core::limits::MOST_DIMENSIONS;
use pte_flat::bytes::index as at;
use pte_flat::quoted::Untrusted;
use pte_schema::program::view::KernelTypes;
use pte_schema::program::view::String as EString;
use pte_schema::scalar::ScalarType;

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
    format!("[{}]", joined(items, MOST_DIMENSIONS))
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

/// Returns the contents of a value that is no tensor, such as `2`, `[1, 1]` or `None`. `text`
/// formats a string, and `item` formats an item of a list of indices.
pub(crate) fn literal<'a>(
    value: KernelTypes<'a>,
    text: impl FnOnce(EString<'a>) -> String,
    item: impl Fn(i64) -> String,
) -> Option<String> {
    let items = match value {
        KernelTypes::Null(_) => return Some("None".into()),
        KernelTypes::Int(int) => return Some(int.int_val().to_string()),
        KernelTypes::Bool(bool) => return Some(bool.bool_val().to_string()),
        KernelTypes::Double(double) => return Some(format!("{:?}", double.double_val())),
        KernelTypes::String(string) => return Some(text(string)),
        KernelTypes::IntList(items) => items.items().map(|all| list(all.into_iter().map(item))),
        KernelTypes::DoubleList(items) => {
            items.items().map(|all| list(all.into_iter().map(|item| format!("{item:?}"))))
        }
        KernelTypes::BoolList(items) => items.items().map(list),
        KernelTypes::TensorList(items) => {
            items.items().map(|all| list(all.into_iter().map(|at| item(at.into()))))
        }
        KernelTypes::OptionalTensorList(items) => {
            items.items().map(|all| list(all.into_iter().map(|at| item(at.into()))))
        }
        _ => return None,
    };
    Some(items.unwrap_or_else(|| "a list without items".into()))
}

/// Returns a string in quotes, cut after [`MOST_CHARACTERS`] characters.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        None => format!("{:?}", Untrusted::from(text)),
        Some((end, _)) => {
            format!("{:?}…", Untrusted::from(text.get(..end).unwrap_or_default()))
        }
    }
}

impl<'a> MethodGraph<'a> {
    /// Returns the type of a value, such as `float32[2, 8]`. For a scalar, returns its type and its
    /// contents, such as `int 1`.
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

    /// Returns the fully qualified name of a tensor. Names are read once, when the graph is made.
    pub fn value_name(&self, value: u32) -> Option<Untrusted<'a>> {
        self.text(value)
            .filter(|_| matches!(self.value(at(value)), Some(KernelTypes::Tensor(_))))
            .map(Into::into)
    }

    /// Returns the name of a tensor, or the contents of a string.
    fn text(&self, value: u32) -> Option<&'a str> {
        let nth = self.texts.binary_search_by_key(&value, |&(value, _)| value).ok()?;
        self.texts.get(nth).map(|&(_, text)| text)
    }

    /// Returns the text of an argument, if the argument is a constant without a node. Examples are
    /// `2`, `[1, 1]` and `float32[8, 4] weight`.
    pub(super) fn argument(&self, value: i32) -> Option<String> {
        let Ok(nth) = u32::try_from(value) else { return Some(format!("no value {value}")) };
        let Some(facts) = self.values.get(at(nth)) else {
            return Some(format!("no value {value}"));
        };
        if let Some(source) = facts.source {
            return self.argument(i32::try_from(source).ok()?);
        }
        if facts.writers > 0 || facts.is_input {
            return None;
        }
        match self.value(at(nth))? {
            KernelTypes::TensorList(_) | KernelTypes::OptionalTensorList(_) => None,
            KernelTypes::Tensor(_) => facts.is_folded.then(|| self.value_title(nth)),
            other => literal(
                other,
                |_| shortened(self.text(nth).unwrap_or_default()),
                |item| self.item(item),
            ),
        }
    }

    /// Returns the text of an item of a list of integers: the number, or the index of its value.
    fn item(&self, item: i64) -> String {
        let nth = u32::try_from(item).ok();
        let facts = nth.and_then(|nth| self.values.get(at(nth)).map(|facts| (nth, facts)));
        match facts.map(|(nth, facts)| (self.value(at(nth)), facts.writers)) {
            Some((Some(KernelTypes::Int(int)), 0)) => int.int_val().to_string(),
            Some(_) => format!("v{item}"),
            None => format!("no value {item}"),
        }
    }

    /// Returns the text of a value and its name, such as `float32[8, 4] weight`.
    pub fn value_title(&self, value: u32) -> String {
        let is_written = self.values.get(at(value)).is_some_and(|facts| facts.writers > 0);
        let mut title = match self.value(at(value)) {
            // The number in the file is from the export. The method computes another one.
            Some(KernelTypes::Int(_)) if is_written => "int".into(),
            Some(KernelTypes::Double(_)) if is_written => "float".into(),
            Some(KernelTypes::Bool(_)) if is_written => "bool".into(),
            _ => self.value_text(value),
        };
        if let Some(name) = self.value_name(value) {
            title.push(' ');
            title.push_str(&name.cut(MOST_CHARACTERS));
        }
        title
    }
}

const UNKNOWN: &str = "an unknown value";

/// The largest number of characters shown of a name or a string.
const MOST_CHARACTERS: usize = 60;
