//! Rows as the columns of a Parquet file.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::Value as Json;

use super::row::{Row, SCHEMA};

/// The columns of a field.
enum Content {
    /// A value or null.
    Value(Leaf),
    /// A flag, which is never null.
    Flag,
    /// A list of texts.
    Texts,
    /// A list of groups with these fields.
    Groups(&'static [(&'static str, Leaf)]),
}

/// The type of a column.
#[derive(Clone, Copy)]
enum Leaf {
    Text,
    Number,
}

use Content::{Flag, Groups, Texts, Value};
use Leaf::{Number, Text};

/// The fields of [`Row`], in order.
static FIELDS: &[(&str, Content)] = &[
    ("schema", Value(Text)),
    ("uri", Value(Text)),
    ("kind", Value(Text)),
    ("size", Value(Number)),
    ("etag", Value(Text)),
    ("commit", Value(Text)),
    ("mtime_ms", Value(Number)),
    ("status", Value(Text)),
    ("code", Value(Text)),
    ("offset", Value(Number)),
    ("message", Value(Text)),
    ("errors", Value(Number)),
    ("warnings", Value(Number)),
    ("notes", Value(Number)),
    ("findings", Groups(COUNTED)),
    ("version", Value(Number)),
    ("methods", Texts),
    ("operators", Groups(COUNTED)),
    (
        "backends",
        Groups(&[("id", Text), ("delegates", Number), ("bytes", Number), ("nodes", Number)]),
    ),
    ("payloads", Groups(COUNTED)),
    ("external_tensors", Value(Number)),
    ("external_bytes", Value(Number)),
    ("external_keys", Texts),
    ("missing", Value(Number)),
    ("missing_keys", Texts),
    ("flatbuffer_bytes", Value(Number)),
    ("padding_bytes", Value(Number)),
    ("segment_bytes", Value(Number)),
    ("trailing_bytes", Value(Number)),
    ("is_cut", Flag),
    ("sha256", Value(Text)),
    ("requests", Value(Number)),
    ("bytes_read", Value(Number)),
    ("time_us", Value(Number)),
    ("depth", Value(Text)),
    ("tool", Value(Text)),
    ("rules", Value(Text)),
];

/// The fields of a name with its count.
const COUNTED: &[(&str, Leaf)] = &[("name", Text), ("count", Number)];

/// Returns the schema as Parquet writes it.
fn schema() -> String {
    let leaf = |name: &str, of: &Leaf| match of {
        Text => format!("binary {name} (STRING);"),
        Number => format!("int64 {name};"),
    };
    let list = |name: &str, element: String| {
        format!("required group {name} (LIST) {{ repeated group list {{ {element} }} }}")
    };
    let fields = FIELDS.iter().map(|(name, content)| match content {
        Value(of) => format!("optional {}", leaf(name, of)),
        Flag => format!("required boolean {name};"),
        Texts => list(name, format!("required {}", leaf("element", &Text))),
        Groups(of) => {
            let of = of.iter().map(|(name, of)| format!("required {}", leaf(name, of)));
            list(name, format!("required group element {{ {} }}", of.collect::<String>()))
        }
    });
    format!("message row {{ {} }}", fields.collect::<String>())
}

/// A Parquet file that rows are added to.
pub(super) struct Columns(SerializedFileWriter<File>);

impl Columns {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let schema = parse_message_type(&schema()).map_err(other)?;
        let level = ZstdLevel::try_new(3).map_err(other)?;
        let metadata = vec![
            KeyValue::new("schema".to_owned(), SCHEMA.to_owned()),
            KeyValue::new("tool".to_owned(), concat!("pte ", env!("CARGO_PKG_VERSION")).to_owned()),
        ];
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_key_value_metadata(Some(metadata))
            .build();
        SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
            .map(Self)
            .map_err(other)
    }

    /// Adds a row group.
    pub(super) fn write(&mut self, rows: &[Row]) -> io::Result<()> {
        self.write_group(rows).map_err(other)
    }

    /// Writes the columns of the rows, as the rows are in JSON.
    fn write_group(&mut self, rows: &[Row]) -> Result<(), ParquetError> {
        let rows = rows.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>();
        let rows = rows.map_err(|error| ParquetError::External(error.into()))?;
        let mut group = self.0.next_row_group()?;
        for (name, content) in FIELDS {
            let fields = rows.iter().map(|row| row.get(name).unwrap_or(&Json::Null));
            match content {
                Value(of) => Cells::of_values(fields).write(*of, &mut group)?,
                Flag => {
                    let flags: Vec<_> = fields.map(|flag| *flag == Json::Bool(true)).collect();
                    write::<BoolType>(&mut group, &flags, None, None)?;
                }
                Texts => Cells::of_lists(fields, |item| item).write(Text, &mut group)?,
                Groups(all) => {
                    for (name, of) in *all {
                        let lists = fields.clone();
                        Cells::of_lists(lists, |item| item.get(name).unwrap_or(&Json::Null))
                            .write(*of, &mut group)?;
                    }
                }
            }
        }
        group.close().map(|_| ())
    }

    /// Writes the end of the file, and returns it.
    pub(super) fn finish(self) -> io::Result<File> {
        self.0.into_inner().map_err(other)
    }
}

/// The values of a column. The definition level of null and of an empty list is 0. The repetition level of the first
/// item of a list is 0.
#[derive(Default)]
struct Cells<'j> {
    values: Vec<&'j Json>,
    definitions: Vec<i16>,
    /// Empty for values that are in no list.
    repetitions: Vec<i16>,
}

impl<'j> Cells<'j> {
    fn of_values(fields: impl Iterator<Item = &'j Json>) -> Self {
        let mut cells = Self::default();
        for value in fields {
            cells.definitions.push(i16::from(!value.is_null()));
            cells.values.extend(Some(value).filter(|value| !value.is_null()));
        }
        cells
    }

    /// Returns the cells of lists that are never null. `cell` returns that of an item.
    fn of_lists(
        fields: impl Iterator<Item = &'j Json>,
        cell: impl Fn(&'j Json) -> &'j Json,
    ) -> Self {
        let mut cells = Self::default();
        for list in fields {
            let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
            let len = items.len();
            cells.definitions.extend((0..len.max(1)).map(|_| i16::from(len > 0)));
            cells.repetitions.extend((0..len.max(1)).map(|nth| i16::from(nth > 0)));
            cells.values.extend(items.iter().map(&cell));
        }
        cells
    }

    fn write(&self, of: Leaf, group: &mut Group<'_>) -> Result<(), ParquetError> {
        let repetitions = Some(self.repetitions.as_slice()).filter(|levels| !levels.is_empty());
        let (values, definitions) = (self.values.iter(), Some(self.definitions.as_slice()));
        match of {
            Text => {
                let texts = values.map(|text| text.as_str().unwrap_or_default().into());
                let texts: Vec<ByteArray> = texts.collect();
                write::<ByteArrayType>(group, &texts, definitions, repetitions)
            }
            Number => {
                // Parquet's numbers are signed.
                let numbers = values.map(|number| number.as_i64().unwrap_or(i64::MAX));
                let numbers: Vec<i64> = numbers.collect();
                write::<Int64Type>(group, &numbers, definitions, repetitions)
            }
        }
    }
}

/// Writes the next column of a group.
fn write<T: DataType>(
    group: &mut Group<'_>,
    values: &[T::T],
    definitions: Option<&[i16]>,
    repetitions: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("a column is missing".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, definitions, repetitions)?;
    column.close()
}

type Group<'f> = SerializedRowGroupWriter<'f, File>;

fn other(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::{Columns, FIELDS};
    use crate::row::{Cell, CountCell, Row};

    /// The fields of NDJSON and Parquet are the same.
    #[test]
    fn the_columns_are_the_fields_of_a_row() {
        let row = serde_json::to_value(Row::default()).unwrap();
        let mut fields: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
        let mut columns: Vec<_> = FIELDS.iter().map(|(name, _)| *name).collect();
        assert!(fields.len() > 30);
        fields.sort_unstable();
        columns.sort_unstable();
        assert_eq!(columns, fields);
    }

    #[test]
    fn rows_can_be_read_again() {
        let list =
            |names: &[&str]| -> Vec<Cell> { names.iter().map(|name| Cell::of(*name)).collect() };
        let rows = [
            Row { uri: Cell::of("a"), methods: list(&["f", "g", "h"]), ..Row::default() },
            Row { uri: Cell::of("b"), size: Some(7), ..Row::default() },
            Row {
                uri: Cell::of("c"),
                methods: list(&["i"]),
                findings: vec![CountCell::new("x", 3), CountCell::new("y", 4)],
                ..Row::default()
            },
        ];
        let mut file = tempfile::tempfile().unwrap();
        let mut columns = Columns::new(file.try_clone().unwrap()).unwrap();
        columns.write(&rows[..1]).unwrap();
        columns.write(&rows[1..]).unwrap();
        columns.finish().unwrap();
        let mut head = [0; 4];
        file.rewind().unwrap();
        file.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"PAR1");
        let reader = SerializedFileReader::new(file).unwrap();
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        assert!(metadata.iter().any(|of| of.value.as_deref() == Some("pte.scan/1")));
        let shown: Vec<_> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(shown.len(), 3);
        assert!(shown[0].contains(r#"methods: ["f", "g", "h"], "#), "{}", shown[0]);
        assert!(
            shown[1].contains("size: 7, ") && shown[1].contains("methods: [], "),
            "{}",
            shown[1]
        );
        let findings = r#"findings: [{name: "x", count: 3}, {name: "y", count: 4}], "#;
        assert!(shown[2].contains(findings), "{}", shown[2]);
    }
}
