//! An argument, which is one of many types.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Write};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Graph;
use pte_schema::scalar::ScalarType;

/// An argument of a call, or what a call returns: a union whose member's name begins with `as_`.
#[derive(Debug, Default)]
pub(crate) struct Argument {
    /// The value as Python writes it, cut after [`MOST_TEXT`] bytes.
    text: Box<str>,
    /// The names of values in it, in order.
    pub(crate) values: Vec<String>,
    /// The graphs of branches and loops.
    pub(crate) graphs: Vec<NamedGraph>,
}

/// A graph inside a call.
#[derive(Debug, Deserialize)]
pub(crate) struct NamedGraph {
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) graph: Graph,
}

impl Argument {
    /// Returns the value as Python writes it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the name of a dtype in PyTorch, whose numbers in `torch.export` are not those of the runtime.
pub(super) fn dtype(number: u64) -> &'static str {
    let code = match number {
        // The runtime's number is one less, up to BOOL. 0 is no dtype.
        1..=12 => i8::try_from(number).ok().and_then(|number| number.checked_sub(1)),
        13 => Some(ScalarType::BFLOAT16.0),
        28 => Some(ScalarType::UINT16.0),
        29 => Some(ScalarType::FLOAT8E4M3FN.0),
        30 => Some(ScalarType::FLOAT8E5M2.0),
        31 => Some(ScalarType::FLOAT8E4M3FNUZ.0),
        32 => Some(ScalarType::FLOAT8E5M2FNUZ.0),
        _ => None,
    };
    code.and_then(|code| ScalarType(code).torch_name()).unwrap_or("unknown")
}

/// Returns the name of a memory format in PyTorch.
fn memory_format(number: u64) -> &'static str {
    match number {
        1 => "contiguous_format",
        2 => "channels_last",
        3 => "channels_last_3d",
        4 => "preserve_format",
        _ => "unknown",
    }
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Union)
    }
}

/// Reads a list of arguments as one.
pub(super) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Argument, D::Error> {
    let mut builder = Builder::default();
    deserializer.deserialize_seq(Part(&mut builder))?;
    Ok(builder.finish())
}

/// Reads the one member of a union.
struct Union;

impl<'de> Visitor<'de> for Union {
    type Value = Argument;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an argument")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Argument, A::Error> {
        let mut builder = Builder::default();
        let Some(key) = members.next_key::<String>()? else {
            return Err(serde::de::Error::invalid_length(0, &self));
        };
        builder.member(&key, &mut members)?;
        Part(&mut builder).visit_map(members)?;
        Ok(builder.finish())
    }
}

/// An argument that is being read.
#[derive(Default)]
struct Builder {
    text: String,
    /// Whether the text ends with the mark of a cut.
    is_cut: bool,
    values: Vec<String>,
    graphs: Vec<NamedGraph>,
}

impl Builder {
    /// Adds to the text, up to its greatest length.
    fn add(&mut self, part: impl Display) {
        if self.is_cut {
            return;
        }
        // Only memory can be short, and then the process ends.
        let _ = write!(self.text, "{part}");
        if self.text.len() > MOST_TEXT {
            let mut ends = (0..=MOST_TEXT).rev();
            let end = ends.find(|&end| self.text.is_char_boundary(end));
            self.text.truncate(end.unwrap_or_default());
            self.text.push('…');
            self.is_cut = true;
        }
    }

    /// Adds a member of a map.
    fn member<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        members: &mut A,
    ) -> Result<(), A::Error> {
        match key {
            "as_none" => {
                members.next_value::<IgnoredAny>()?;
                self.add("None");
            }
            "as_scalar_type" => self.add(dtype(members.next_value()?)),
            "as_memory_format" => self.add(memory_format(members.next_value()?)),
            "as_graph" => {
                let graph: NamedGraph = members.next_value()?;
                self.add(&graph.name);
                self.graphs.push(graph);
            }
            "name" | "as_name" => {
                let name: String = members.next_value()?;
                self.add(&name);
                self.values.push(name);
            }
            "expr_str" | "type" => members.next_value_seed(Part(self))?,
            key if key.starts_with("as_") => members.next_value_seed(Part(self))?,
            key => {
                self.add(format_args!("{key}="));
                members.next_value_seed(Part(self))?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Argument {
        Argument { text: self.text.into(), values: self.values, graphs: self.graphs }
    }
}

/// A value in an argument.
struct Part<'b>(&'b mut Builder);

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an argument")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.add("None");
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.add(if value { "True" } else { "False" });
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.0.add(value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.0.add(value);
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.0.add(value);
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.0.add(value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let builder = self.0;
        builder.add("[");
        let start = builder.text.len();
        loop {
            let (end, is_cut) = (builder.text.len(), builder.is_cut);
            if end > start {
                builder.add(", ");
            }
            if items.next_element_seed(Part(builder))?.is_none() {
                // There was no item behind the comma.
                builder.text.truncate(end);
                builder.is_cut = is_cut;
                break;
            }
        }
        builder.add("]");
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let builder = self.0;
        let mut is_first = true;
        while let Some(key) = members.next_key::<String>()? {
            // A guess at the value of a symbol.
            if key == "hint" {
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            if !core::mem::take(&mut is_first) {
                builder.add(", ");
            }
            builder.member(&key, &mut members)?;
        }
        Ok(())
    }
}
/// The most bytes of an argument's text.
const MOST_TEXT: usize = 256;

#[cfg(test)]
mod tests {
    use super::Argument;
    use crate::exported::TensorType;

    fn shown(json: &str) -> (String, Vec<String>) {
        let argument: Argument = serde_json::from_str(json).unwrap();
        (argument.text().into(), argument.values)
    }

    #[test]
    fn arguments_are_written_as_in_python() {
        let texts = [
            (r#"{"as_none":true}"#, "None"),
            (r#"{"as_int":-3}"#, "-3"),
            (r#"{"as_ints":[]}"#, "[]"),
            (r#"{"as_ints":[1,2]}"#, "[1, 2]"),
            (r#"{"as_bool":false}"#, "False"),
            (r#"{"as_float":0.5}"#, "0.5"),
            (r#"{"as_int_lists":[[1],[],[2,3]]}"#, "[[1], [], [2, 3]]"),
            (r#"{"as_device":{"type":"cpu","index":null}}"#, "cpu, index=None"),
            (r#"{"as_complex":{"real":1.0,"imag":2.0}}"#, "real=1, imag=2"),
        ];
        for (json, text) in texts {
            assert_eq!(shown(json), (text.into(), vec![]), "{json}");
        }
    }

    /// The numbers are those of `ScalarType` and `MemoryFormat` in PyTorch's schema.
    #[test]
    fn dtypes_and_memory_formats_have_the_names_of_pytorch() {
        let dtypes = "unknown uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 \
                      complex128 bool bfloat16";
        let later = [(28, "uint16"), (29, "float8_e4m3fn"), (30, "float8_e5m2")];
        let last = [(31, "float8_e4m3fnuz"), (32, "float8_e5m2fnuz"), (27, "unknown")];
        for (number, name) in (0..).zip(dtypes.split_whitespace()).chain(later).chain(last) {
            assert_eq!(shown(&format!(r#"{{"as_scalar_type":{number}}}"#)).0, name, "{number}");
        }
        let formats = [
            "unknown",
            "contiguous_format",
            "channels_last",
            "channels_last_3d",
            "preserve_format",
        ];
        for (number, name) in formats.iter().enumerate() {
            assert_eq!(shown(&format!(r#"{{"as_memory_format":{number}}}"#)).0, *name);
        }
    }

    #[test]
    fn sizes_are_numbers_or_expressions() {
        let json = r#"{"dtype":7,"sizes":[{"as_expr":{"expr_str":"s0 + 1","hint":{"as_int":4}}},{"as_int":2}]}"#;
        let tensor: TensorType = serde_json::from_str(json).unwrap();
        assert_eq!(tensor.text(), "float32[s0 + 1, 2]");
    }

    #[test]
    fn an_argument_has_a_member() {
        for json in ["{}", "0", "[]", "null"] {
            assert!(serde_json::from_str::<Argument>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn values_are_found_in_any_argument() {
        let lists = [
            (r#"{"as_tensor":{"name":"x"}}"#, "x", vec!["x"]),
            (r#"{"as_sym_ints":[{"as_int":1},{"as_name":"s"}]}"#, "[1, s]", vec!["s"]),
            (
                r#"{"as_optional_tensors":[{"as_tensor":{"name":"a"}},{"as_none":true}]}"#,
                "[a, None]",
                vec!["a"],
            ),
        ];
        for (json, text, values) in lists {
            let values = values.into_iter().map(String::from).collect();
            assert_eq!(shown(json), (text.into(), values), "{json}");
        }
    }

    #[test]
    fn a_long_text_is_cut_and_its_values_are_not() {
        let names: Vec<String> = (0..500).map(|nth| format!(r#"{{"name":"ü{nth}"}}"#)).collect();
        let (text, values) = shown(&format!(r#"{{"as_tensors":[{}]}}"#, names.join(",")));
        assert!(text.len() < 300 && text.ends_with('…'), "{text}");
        assert_eq!(values.len(), 500);
    }

    #[test]
    fn a_text_ends_at_its_limit_or_with_a_mark() {
        let (most, half) = ("a".repeat(256), "€".repeat(86));
        for (json, text) in [
            (format!(r#"{{"as_string":"{most}"}}"#), most.clone()),
            (format!(r#"{{"as_string":"{most}a"}}"#), format!("{most}…")),
            (format!(r#"{{"as_string":"{half}"}}"#), format!("{}…", &half[..255])),
            (format!(r#"{{"as_strings":["{}"]}}"#, &most[1..]), format!("[{}…", &most[1..])),
            (format!(r#"{{"as_strings":["{}"]}}"#, &most[2..]), format!("[{}]", &most[2..])),
            (format!(r#"{{"as_strings":["{}", "b"]}}"#, &most[2..]), format!("[{},…", &most[2..])),
        ] {
            assert_eq!(shown(&json).0, text);
        }
    }
}
