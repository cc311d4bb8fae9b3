//! Names, numbers and shapes as text for people.

use std::path::Path;

pub(super) use pte::flat::bytes::wide;
use pte::quoted::{Untrusted, UntrustedString};
use pte::schema::program::TensorShapeDynamism;
use pte::schema::scalar::ScalarType;
use pte::summary::{ConstantValue, ValueKind, ValueSummary};

/// Returns the name of a path for messages. The query of a URL is left out, since it may contain a
/// signature.
pub(super) fn name_of(path: &Path) -> UntrustedString {
    #[cfg(feature = "remote")]
    if let Some(text) = path.to_str().filter(|text| pte::remote::is_url(text)) {
        return pte::remote::shown(text);
    }
    match path.as_os_str() == "-" {
        true => "<standard input>".into(),
        false => path.as_os_str().into(),
    }
}

/// Returns a note on links in folders that were not followed, if there are any.
pub(super) fn links_note(skipped: u64) -> Option<String> {
    let are = if skipped == 1 { "is" } else { "are" };
    let links = count(skipped, "link");
    (skipped > 0).then(|| format!("{links} in folders {are} not followed: use --follow"))
}

/// Formats a number of bytes in powers of 1000, such as `1.8 kB`.
pub(super) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut hundredth = 10u64;
    for unit in UNITS {
        // The value is rounded once, since rounding a rounded number would round up too often.
        let tenths = count.checked_div(hundredth).unwrap_or(0).saturating_add(5) / 10;
        if tenths < 10_000 {
            let (whole, part) = (tenths / 10, tenths % 10);
            return match whole {
                100.. => format!("{whole} {unit}"),
                _ => format!("{whole}.{part} {unit}"),
            };
        }
        hundredth = hundredth.saturating_mul(1000);
    }
    format!("{count} B")
}

/// Formats a count with its noun: `1 tensor`, `2 tensors`.
pub(super) fn count(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", grouped(number)),
    }
}

/// Formats a number with thousands separators.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && digits.len().saturating_sub(nth) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns PyTorch's name of a dtype, or the schema's name if PyTorch has none.
pub(super) fn dtype(dtype: ScalarType) -> String {
    dtype.torch_name().map_or_else(|| dtype.to_string(), ToString::to_string)
}

/// Returns a dtype with sizes, such as `float32[2, 8]`.
pub(super) fn shape(dtype: ScalarType, sizes: impl IntoIterator<Item = i32>) -> String {
    pte::graph::tensor_type(dtype, sizes)
}

/// Returns the type of an input or output, such as `int` or `≤ float32[2, 8]`. For an output of a
/// constant method, the value follows: `int = 2048`.
pub(super) fn value(value: &ValueSummary) -> String {
    let Some(dtype) = value.dtype else {
        let text = match value.kind {
            ValueKind::Member("Int") => "int",
            ValueKind::Member("Double") => "float",
            ValueKind::Member("Bool") => "bool",
            ValueKind::Member("String") => "str",
            ValueKind::Member("Null") => "None",
            ValueKind::Member(name) => name,
            ValueKind::Missing => "?",
            _ => "an unknown value",
        };
        return match &value.value {
            Some(ConstantValue::Int(value)) => format!("{text} = {value}"),
            Some(ConstantValue::Double(value)) => format!("{text} = {value:?}"),
            Some(ConstantValue::Bool(value)) => format!("{text} = {value}"),
            Some(ConstantValue::String(value)) => format!("{text} = \"{}\"", name(value)),
            _ => text.to_string(),
        };
    };
    let mut text = shape(dtype, value.sizes.iter().flatten().copied());
    match value.dynamism {
        None | Some(TensorShapeDynamism::STATIC) => {}
        Some(TensorShapeDynamism::DYNAMIC_BOUND) => text.insert_str(0, "≤ "),
        Some(_) => text.push_str(" unbound"),
    }
    text
}

/// Draws a share of the file as a bar of ten cells. The bar is at least an eighth of a cell long.
pub(super) fn bar(part: u64, whole: u64) -> String {
    let eighths = u128::from(part).saturating_mul(80).checked_div(whole.into()).unwrap_or_default();
    let eighths = usize::try_from(eighths).unwrap_or(80).clamp(1, 80);
    let (full, rest) = (eighths / 8, eighths % 8);
    let mut bar = "█".repeat(full);
    if let Some(&part) = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"].get(rest) {
        bar.push_str(part);
    }
    format!("{bar:<10}")
}

/// Escapes a name and cuts it to [`MAX_CHARACTERS`].
pub(crate) fn name<'a>(text: impl Into<Untrusted<'a>>) -> String {
    text.into().cut(MAX_CHARACTERS)
}

const MAX_CHARACTERS: usize = 100;

/// Formats a share as a percentage with one decimal.
pub(super) fn share(part: u64, of: u64) -> String {
    percent(part.into(), of).trim_start_matches('+').into()
}

/// Formats a change as a signed percentage with one decimal.
pub(super) fn percent(part: i128, of: u64) -> String {
    let of = u128::from(of);
    let rounded = part.unsigned_abs().saturating_mul(1000).saturating_add(of / 2);
    let Some(tenths) = rounded.checked_div(of) else { return "–".into() };
    let sign = if part < 0 { '−' } else { '+' };
    format!("{sign}{}.{}%", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn bytes_are_rounded_to_the_nearest_tenth() {
        for (count, text) in [
            (999, "999 B"),
            (1000, "1.0 kB"),
            (1949, "1.9 kB"),
            (1950, "2.0 kB"),
            (1_940_000, "1.9 MB"),
            (1_949_999, "1.9 MB"),
            (1_950_000, "2.0 MB"),
            (999_949, "999 kB"),
            (999_950, "1.0 MB"),
            (1_960_000, "2.0 MB"),
            (1_960_000_000, "2.0 GB"),
            (123_456_789, "123 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(count), text, "{count}");
        }
    }
}
