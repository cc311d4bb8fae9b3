//! Converts numbers for JSON documents. Infinities and NaN are strings, as in `pte dump`.

use serde_json::{Number, Value};

/// Converts an integer. An integer that exceeds 64 bits becomes a string.
pub(super) fn int(value: i128) -> Value {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(value), _) => value.into(),
        (_, Ok(value)) => value.into(),
        _ => value.to_string().into(),
    }
}

/// Converts a float to a number, or to `nan`, `inf` or `-inf`.
pub(super) fn float(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| value.to_string().to_lowercase().into(), Value::Number)
}
