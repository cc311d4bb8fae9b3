//! Rows as the columns of a Parquet file.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::row::{Cell, Row, SCHEMA};

/// A field of the schema, and how to get its value from a row.
struct Field {
    name: &'static str,
    content: Content,
}

enum Content {
    /// A value or null.
    One(Value),
    /// A list of values.
    List(Each),
    /// A list of groups with these fields.
    Groups(&'static [(&'static str, Each)]),
}

#[derive(Clone, Copy)]
enum Value {
    Text(fn(&Row) -> Option<&str>),
    Count(fn(&Row) -> Option<u64>),
    Signed(fn(&Row) -> Option<i64>),
    Flag(fn(&Row) -> bool),
}

/// The values of a list.
#[derive(Clone, Copy)]
enum Each {
    Texts(fn(&Row) -> Vec<&Cell>),
    Counts(fn(&Row) -> Vec<u64>),
}

const fn one(name: &'static str, value: Value) -> Field {
    Field { name, content: Content::One(value) }
}

const fn text(name: &'static str, get: fn(&Row) -> Option<&str>) -> Field {
    one(name, Value::Text(get))
}

const fn count(name: &'static str, get: fn(&Row) -> Option<u64>) -> Field {
    one(name, Value::Count(get))
}

const fn list(name: &'static str, get: fn(&Row) -> Vec<&Cell>) -> Field {
    Field { name, content: Content::List(Each::Texts(get)) }
}

const fn groups(name: &'static str, fields: &'static [(&'static str, Each)]) -> Field {
    Field { name, content: Content::Groups(fields) }
}

fn shown(cell: &Option<Cell>) -> Option<&str> {
    cell.as_ref().map(Cell::as_str)
}

/// The fields, in the order of [`Row`].
#[rustfmt::skip]
static FIELDS: &[Field] = &[
    text("schema", |row| Some(row.schema)),
    text("uri", |row| Some(row.uri.as_str())),
    text("kind", |row| row.kind),
    count("size", |row| row.size),
    text("etag", |row| shown(&row.etag)),
    text("commit", |row| shown(&row.commit)),
    one("mtime_ms", Value::Signed(|row| row.mtime_ms)),
    text("status", |row| Some(row.status)),
    text("code", |row| row.code),
    count("offset", |row| row.offset),
    text("message", |row| shown(&row.message)),
    count("errors", |row| Some(row.errors)),
    count("warnings", |row| Some(row.warnings)),
    count("notes", |row| Some(row.notes)),
    groups("findings", &[
        ("name", Each::Texts(|row| row.findings.iter().map(|of| &of.name).collect())),
        ("count", Each::Counts(|row| row.findings.iter().map(|of| of.count).collect())),
    ]),
    count("version", |row| row.version),
    list("methods", |row| row.methods.iter().collect()),
    groups("operators", &[
        ("name", Each::Texts(|row| row.operators.iter().map(|of| &of.name).collect())),
        ("count", Each::Counts(|row| row.operators.iter().map(|of| of.count).collect())),
    ]),
    groups("backends", &[
        ("id", Each::Texts(|row| row.backends.iter().map(|of| &of.id).collect())),
        ("delegates", Each::Counts(|row| row.backends.iter().map(|of| of.delegates).collect())),
        ("bytes", Each::Counts(|row| row.backends.iter().map(|of| of.bytes).collect())),
        ("nodes", Each::Counts(|row| row.backends.iter().map(|of| of.nodes).collect())),
    ]),
    groups("payloads", &[
        ("name", Each::Texts(|row| row.payloads.iter().map(|of| &of.name).collect())),
        ("count", Each::Counts(|row| row.payloads.iter().map(|of| of.count).collect())),
    ]),
    count("external_tensors", |row| Some(row.external_tensors)),
    count("external_bytes", |row| Some(row.external_bytes)),
    list("external_keys", |row| row.external_keys.iter().collect()),
    count("missing", |row| Some(row.missing)),
    list("missing_keys", |row| row.missing_keys.iter().collect()),
    count("flatbuffer_bytes", |row| row.flatbuffer_bytes),
    count("padding_bytes", |row| row.padding_bytes),
    count("segment_bytes", |row| row.segment_bytes),
    count("trailing_bytes", |row| row.trailing_bytes),
    one("is_cut", Value::Flag(|row| row.is_cut)),
    text("sha256", |row| shown(&row.sha256)),
    count("requests", |row| Some(row.requests)),
    count("bytes_read", |row| Some(row.bytes_read)),
    count("time_us", |row| Some(row.time_us)),
    text("depth", |row| Some(row.depth)),
    text("tool", |row| Some(row.tool)),
    text("rules", |row| Some(row.rules.as_str())),
];

/// Returns the schema as Parquet writes it.
fn schema() -> String {
    let each = |name: &str, of: &Each| match of {
        Each::Texts(_) => format!("required binary {name} (STRING);"),
        Each::Counts(_) => format!("required int64 {name};"),
    };
    let fields = FIELDS.iter().map(|Field { name, content }| match content {
        Content::One(Value::Text(_)) => format!("optional binary {name} (STRING);"),
        Content::One(Value::Count(_) | Value::Signed(_)) => format!("optional int64 {name};"),
        Content::One(Value::Flag(_)) => format!("required boolean {name};"),
        Content::List(of) => {
            let element = each("element", of);
            format!("required group {name} (LIST) {{ repeated group list {{ {element} }} }}")
        }
        Content::Groups(of) => {
            let of: String = of.iter().map(|(name, of)| each(name, of)).collect();
            let element = format!("required group element {{ {of} }}");
            format!("required group {name} (LIST) {{ repeated group list {{ {element} }} }}")
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

    fn write_group(&mut self, rows: &[Row]) -> Result<(), ParquetError> {
        let mut group = self.0.next_row_group()?;
        let mut next =
            |write: &dyn Fn(&mut SerializedColumnWriter<'_>) -> Result<(), ParquetError>| {
                let missing = || ParquetError::General("a column is missing".to_owned());
                let mut column = group.next_column()?.ok_or_else(missing)?;
                write(&mut column)?;
                column.close()
            };
        for field in FIELDS {
            match &field.content {
                Content::One(value) => next(&|column| write_values(column, *value, rows))?,
                Content::List(of) => next(&|column| write_lists(column, *of, rows))?,
                Content::Groups(of) => {
                    for (_, of) in *of {
                        next(&|column| write_lists(column, *of, rows))?;
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

fn write_values(
    column: &mut SerializedColumnWriter<'_>,
    value: Value,
    rows: &[Row],
) -> Result<(), ParquetError> {
    match value {
        Value::Text(get) => {
            let levels: Vec<_> = rows.iter().map(|row| i16::from(get(row).is_some())).collect();
            let values: Vec<_> = rows.iter().filter_map(get).map(ByteArray::from).collect();
            column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
        Value::Count(get) => {
            let levels: Vec<_> = rows.iter().map(|row| i16::from(get(row).is_some())).collect();
            let values: Vec<_> = rows.iter().filter_map(get).map(signed).collect();
            column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Value::Signed(get) => {
            let levels: Vec<_> = rows.iter().map(|row| i16::from(get(row).is_some())).collect();
            let values: Vec<_> = rows.iter().filter_map(get).collect();
            column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Value::Flag(get) => {
            let values: Vec<_> = rows.iter().map(get).collect();
            column.typed::<BoolType>().write_batch(&values, None, None)?;
        }
    }
    Ok(())
}

/// Writes lists that are never null. An empty list has the definition level 0. The first item of a
/// list has the repetition level 0.
fn write_lists(
    column: &mut SerializedColumnWriter<'_>,
    each: Each,
    rows: &[Row],
) -> Result<(), ParquetError> {
    let (mut definitions, mut repetitions) = (Vec::new(), Vec::new());
    let mut add = |len: usize| {
        definitions.extend((0..len.max(1)).map(|_| i16::from(len > 0)));
        repetitions.extend((0..len.max(1)).map(|nth| i16::from(nth > 0)));
    };
    match each {
        Each::Texts(get) => {
            let mut values = Vec::new();
            for row in rows {
                let items = get(row);
                add(items.len());
                values.extend(items.into_iter().map(|cell| ByteArray::from(cell.as_str())));
            }
            column.typed::<ByteArrayType>().write_batch(
                &values,
                Some(&definitions),
                Some(&repetitions),
            )?;
        }
        Each::Counts(get) => {
            let mut values = Vec::new();
            for row in rows {
                let items = get(row);
                add(items.len());
                values.extend(items.into_iter().map(signed));
            }
            column.typed::<Int64Type>().write_batch(
                &values,
                Some(&definitions),
                Some(&repetitions),
            )?;
        }
    }
    Ok(())
}

/// Returns a count as Parquet's signed number.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

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
        let mut columns: Vec<_> = FIELDS.iter().map(|field| field.name).collect();
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
