//! Writes a proven table as JSON, driven by its declaration. No code is specific to a table.
//!
//! The conventions are those of `flatc --json --strict-json --defaults-json`: absent scalars appear
//! with their defaults unless they are optional, other absent fields do not, and enum values are
//! names. Non-finite numbers are strings, since flatc's output for them is not valid JSON.

use core::fmt::{self, Write};

use alloc::string::String;

use crate::desc::{FieldDesc, Kind, Number, Prim, ScalarDesc, StructDesc, TableDesc};
use crate::quoted::EscapeScan;
use crate::view::{List, Raw, Strings, Table};

/// The options of the output.
#[derive(Debug)]
pub struct Options<B> {
    /// Whether to write line breaks and indentation.
    pub pretty: bool,
    /// Called for each `[ubyte]`. Returns the JSON of the vector, or `None` to write it as numbers.
    pub blob: B,
}

/// Counts of things that a dump leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Omitted {
    /// The number of unions with an unknown member. Of such a union, only the tag is written.
    pub unknown_members: u64,
}

/// Writes `table` to `out`.
///
/// ```
/// # pte_flat::schema! {
/// #     root Point b"PNT0" "point" "example";
/// #     enums:
/// #     unions:
/// #     tables:
/// #     /// A point.
/// #     table Point {
/// #         /// The position.
/// #         0 x: i32 = 0,
/// #     }
/// # }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use pte_flat::json::{Options, write};
///
/// # let point = model::Point { x: 7 };
/// # let bytes = pte_flat::write::write(&desc::SCHEMA, &point, &[], &Default::default()).unwrap();
/// let root: view::Point = pte_flat::read(&bytes, &pte_flat::Limits::default())?;
/// let mut text = String::new();
/// write(root, Options { pretty: false, blob: |_: &[u8]| None }, &mut text)?;
/// assert_eq!(text, r#"{"x":7}"#);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The errors of `out`.
pub fn write<'a, T: Table<'a>, W: Write, B: FnMut(&'a [u8]) -> Option<String>>(
    table: T,
    options: Options<B>,
    out: W,
) -> Result<Omitted, fmt::Error> {
    write_raw(table.raw(), T::DESC, options, 0, out)
}

/// Writes a proven table as [`write()`] does, indented by `level` levels of another document.
pub fn write_raw<'a, W: Write, B: FnMut(&'a [u8]) -> Option<String>>(
    raw: Raw<'a>,
    desc: &'static TableDesc,
    options: Options<B>,
    level: usize,
    out: W,
) -> Result<Omitted, fmt::Error> {
    let mut writer = Writer::new(out, options);
    writer.level = level;
    writer.table(raw, desc)?;
    writer.out.flush()?;
    Ok(writer.omitted)
}

/// Writes `table` as [`write()`] does, with an extra key after its fields. `value` writes the value
/// of the key.
///
/// # Errors
///
/// The errors of `out` and of `value`.
pub fn write_beside<'a, T: Table<'a>, W: Write, B: FnMut(&'a [u8]) -> Option<String>>(
    table: T,
    options: Options<B>,
    out: W,
    key: &str,
    value: impl FnOnce(&mut W) -> fmt::Result,
) -> Result<Omitted, fmt::Error> {
    let mut writer = Writer::new(out, options);
    let mut empty = writer.open(table.raw(), T::DESC)?;
    writer.key(key, "", &mut empty)?;
    writer.out.flush()?;
    value(&mut writer.out.to)?;
    writer.close(empty)?;
    writer.out.flush()?;
    Ok(writer.omitted)
}

struct Writer<W, B> {
    out: Gathered<W>,
    options: Options<B>,
    level: usize,
    omitted: Omitted,
}

/// Buffers the output, since a dump consists of millions of short pieces.
struct Gathered<W> {
    text: String,
    to: W,
}

/// The size at which the buffer is flushed.
const ENOUGH: usize = 1 << 14;

impl<W: Write> Gathered<W> {
    fn flush(&mut self) -> fmt::Result {
        self.to.write_str(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

impl<W: Write> Write for Gathered<W> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        if self.text.len() < ENOUGH { Ok(()) } else { self.flush() }
    }

    #[inline]
    fn write_char(&mut self, c: char) -> fmt::Result {
        self.text.push(c);
        Ok(())
    }
}

impl<'a, W: Write, B: FnMut(&'a [u8]) -> Option<String>> Writer<W, B> {
    fn new(to: W, options: Options<B>) -> Self {
        let out = Gathered { text: String::new(), to };
        Self { out, options, level: 0, omitted: Omitted::default() }
    }

    fn table(&mut self, raw: Raw<'a>, desc: &'static TableDesc) -> fmt::Result {
        let empty = self.open(raw, desc)?;
        self.close(empty)
    }

    /// Writes a table up to its closing brace, and returns whether it is empty.
    fn open(&mut self, raw: Raw<'a>, desc: &'static TableDesc) -> Result<bool, fmt::Error> {
        self.out.write_char('{')?;
        self.level = self.level.saturating_add(1);
        let mut empty = true;
        for field in desc.fields {
            self.field(raw, field, &mut empty)?;
        }
        Ok(empty)
    }

    fn close(&mut self, empty: bool) -> fmt::Result {
        self.level = self.level.saturating_sub(1);
        if !empty {
            self.line()?;
        }
        self.out.write_char('}')
    }

    fn field(&mut self, raw: Raw<'a>, field: &FieldDesc, empty: &mut bool) -> fmt::Result {
        match field.kind {
            Kind::Scalar(scalar) => {
                if scalar.optional && raw.offset_of(field.slot) == 0 {
                    return Ok(());
                }
                self.key(field.name, "", empty)?;
                let number = raw.number(field.slot, scalar.prim).unwrap_or(scalar.default);
                match scalar.of {
                    None => self.scalar(number, scalar),
                    Some(of) => self.one(number, of),
                }
            }
            Kind::Union(desc) => {
                self.key(field.name, "_type", empty)?;
                let Some((tag, value)) = raw.union(field.slot) else {
                    return self.out.write_str("\"NONE\"");
                };
                let Some(member) = desc.member(tag) else {
                    self.omitted.unknown_members = self.omitted.unknown_members.saturating_add(1);
                    return write!(self.out, "{tag}");
                };
                self.string(member.name)?;
                self.key(field.name, "", empty)?;
                self.table(value.resolved(), member.table)
            }
            _ if raw.offset_of(field.slot) == 0 => Ok(()),
            Kind::Str => {
                self.key(field.name, "", empty)?;
                self.string(raw.str(field.slot).unwrap_or_default())
            }
            Kind::Table(desc) => {
                let Some(table) = raw.target(field.slot) else { return Ok(()) };
                self.key(field.name, "", empty)?;
                self.table(table, desc)
            }
            Kind::Tables(desc) => {
                let Some(list) = raw.list::<Raw<'a>>(field.slot) else { return Ok(()) };
                self.key(field.name, "", empty)?;
                self.tables(list, desc)
            }
            Kind::Strs => {
                let Some(texts) = raw.strings(field.slot) else { return Ok(()) };
                self.key(field.name, "", empty)?;
                self.strings(texts)
            }
            Kind::Scalars { prim, of, .. } => {
                let Some((bytes, _)) = raw.vector_bytes(field.slot, prim) else { return Ok(()) };
                self.key(field.name, "", empty)?;
                self.scalars(bytes, prim, of)
            }
        }
    }

    fn tables(&mut self, list: List<'a, Raw<'a>>, desc: &'static TableDesc) -> fmt::Result {
        self.out.write_char('[')?;
        self.level = self.level.saturating_add(1);
        let mut empty = true;
        for raw in list.raws() {
            self.separate(&mut empty)?;
            self.table(raw, desc)?;
        }
        self.level = self.level.saturating_sub(1);
        if !empty {
            self.line()?;
        }
        self.out.write_char(']')
    }

    fn strings(&mut self, texts: Strings<'a>) -> fmt::Result {
        self.out.write_char('[')?;
        let between = if self.options.pretty { ", " } else { "," };
        for (nth, text) in texts.iter().enumerate() {
            if nth > 0 {
                self.out.write_str(between)?;
            }
            self.string(text)?;
        }
        self.out.write_char(']')
    }

    fn scalars(&mut self, bytes: &'a [u8], prim: Prim, of: Option<&StructDesc>) -> fmt::Result {
        if prim == Prim::U8
            && let Some(text) = (self.options.blob)(bytes)
        {
            return self.out.write_str(&text);
        }
        self.out.write_char('[')?;
        let between = if self.options.pretty { ", " } else { "," };
        for (nth, chunk) in bytes.chunks_exact(prim.size().into()).enumerate() {
            if nth > 0 {
                self.out.write_str(between)?;
            }
            match (Number::from_le(chunk, prim), of) {
                (Some(number), None) => self.number(number)?,
                (Some(number), Some(of)) => self.one(number, of)?,
                (None, _) => {}
            }
        }
        self.out.write_char(']')
    }

    /// Writes a struct of one number.
    fn one(&mut self, number: Number, of: &StructDesc) -> fmt::Result {
        let between = if self.options.pretty { " " } else { "" };
        write!(self.out, "{{\"{}\":{between}", of.field)?;
        self.number(number)?;
        self.out.write_char('}')
    }

    fn scalar(&mut self, number: Number, scalar: ScalarDesc) -> fmt::Result {
        match (number, scalar.names) {
            (Number::Int(value), Some(names)) => match names.name_of(value) {
                Some(name) => self.string(name),
                None => write!(self.out, "{value}"),
            },
            _ => self.number(number),
        }
    }

    fn number(&mut self, number: Number) -> fmt::Result {
        match number {
            Number::Bool(value) => self.out.write_str(if value { "true" } else { "false" }),
            // Printing an i128 is slow. Every integer of the formats fits 64 bits.
            Number::Int(value) => match u64::try_from(value.unsigned_abs()) {
                Ok(size) => {
                    if value < 0 {
                        self.out.write_char('-')?;
                    }
                    self.digits(size)
                }
                Err(_) => write!(self.out, "{value}"),
            },
            // The shortest text that parses to the same bits. It always has a point or an exponent.
            Number::Single(value) if value.is_finite() => write!(self.out, "{value:?}"),
            Number::Float(value) if value.is_finite() => write!(self.out, "{value:?}"),
            Number::Single(value) => self.not_finite(value.into()),
            Number::Float(value) => self.not_finite(value),
        }
    }

    /// Writes a number as decimal digits. Most have few, for which `write!` takes much longer.
    fn digits(&mut self, value: u64) -> fmt::Result {
        if value > 9 {
            self.digits(value / 10)?;
        }
        let digit = u32::try_from(value % 10).ok().and_then(|digit| char::from_digit(digit, 10));
        self.out.write_char(digit.unwrap_or_default())
    }

    fn not_finite(&mut self, value: f64) -> fmt::Result {
        self.out.write_str(match value {
            f64::INFINITY => "\"inf\"",
            f64::NEG_INFINITY => "\"-inf\"",
            _ => "\"nan\"",
        })
    }

    fn key(&mut self, name: &str, suffix: &str, empty: &mut bool) -> fmt::Result {
        self.separate(empty)?;
        let after = if self.options.pretty { "\": " } else { "\":" };
        self.out.write_char('"')?;
        [name, suffix, after].into_iter().try_for_each(|text| self.out.write_str(text))
    }

    fn separate(&mut self, empty: &mut bool) -> fmt::Result {
        if !core::mem::replace(empty, false) {
            self.out.write_char(',')?;
        }
        self.line()
    }

    fn line(&mut self) -> fmt::Result {
        if !self.options.pretty {
            return Ok(());
        }
        self.out.write_char('\n')?;
        // Only recursive tables need more indentation than this.
        const SPACES: &str = "                                                                ";
        let mut left = self.level.saturating_mul(2);
        while left > SPACES.len() {
            self.out.write_str(SPACES)?;
            left = left.saturating_sub(SPACES.len());
        }
        self.out.write_str(SPACES.get(..left).unwrap_or_default())
    }

    fn string(&mut self, text: &str) -> fmt::Result {
        string(text, &mut self.out)
    }
}

/// Writes `text` as a JSON string. Characters that move a terminal's cursor, are invisible or
/// reverse text are escaped.
///
/// # Errors
///
/// The errors of `out`.
pub fn string(text: &str, out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    // Nearly every text is plain ASCII.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
        out.write_str(text)?;
        return out.write_char('"');
    }
    let (mut scan, mut plain) = (EscapeScan::default(), 0);
    for (at, c) in text.char_indices() {
        if scan.shows(c) && c != '"' && c != '\\' {
            continue;
        }
        out.write_str(text.get(plain..at).unwrap_or_default())?;
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            _ => escape(c, out)?,
        }
        plain = at.saturating_add(c.len_utf8());
    }
    out.write_str(text.get(plain..).unwrap_or_default())?;
    out.write_char('"')
}

/// Writes a character as a JSON `\u` escape, or as two above U+FFFF.
///
/// # Errors
///
/// The errors of `out`.
pub fn escape(c: char, out: &mut impl Write) -> fmt::Result {
    let mut units = [0; 2];
    c.encode_utf16(&mut units).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
}
