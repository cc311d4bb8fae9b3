//! The FlatBuffers inside other files: delegates' payloads, bundled programs and profiles.

use core::fmt;
use core::ops::Range;

use alloc::string::String;

use super::Unreadable;
use crate::limits::Limits;
use crate::verify;
use pte_flat::bytes::{array_at, sum};
use pte_flat::desc::Schema;
use pte_flat::json::{self, Omitted, Options};
use pte_flat::view::{ProvenTable, Raw, Table};
use pte_schema::{bundled_program, etdump};

/// The place of a FlatBuffer in another file, and its schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TablesPlace {
    /// The schema.
    pub schema: &'static Schema,
    /// The range of the FlatBuffer in the file.
    pub range: Range<u64>,
    /// The position of the offset to the root table, counted from the start of `range`. It is 4 if
    /// the size of the FlatBuffer comes first, and otherwise 0.
    root: u32,
    /// The accepted identifiers: a FlatBuffer with another one is refused. The list is empty for a
    /// FlatBuffer without an identifier.
    identifiers: &'static [[u8; 4]],
}

/// A FlatBuffer inside another file, with proven structure.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use pte::Limits;
/// use pte::payload::{Tables, TablesPlace};
///
/// # let file = include_bytes!("../../../tests/data/pte/xnn_delegate_inline.pte");
/// let program = pte::Pte::read(file)?;
/// let payload = program.payloads().next().ok_or("no payload")??;
/// let bytes = program.bytes(payload.range()).ok_or("not in memory")?;
/// let place = TablesPlace::of(bytes, bytes.len() as u64).ok_or("an opaque payload")??;
/// let tables = Tables::read(&place, &bytes[place.range.start as usize..], &Limits::UNTRUSTED)?;
/// assert_eq!(tables.schema().root.name, "XNNGraph");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tables<'b> {
    schema: &'static Schema,
    root: ProvenTable<'b>,
}

impl TablesPlace {
    pub(super) fn new(
        schema: &'static Schema,
        range: Range<u64>,
        root: u32,
        identifiers: &'static [[u8; 4]],
    ) -> Self {
        Self { schema, range, root, identifiers }
    }

    /// Returns the position of the offset to the root table, counted from the start of `range`.
    pub(crate) fn root_position(&self) -> u32 {
        self.root
    }

    /// Returns the length of the root offset, and of the identifier if there is one.
    pub fn root_length(&self) -> u64 {
        if self.identifiers.is_empty() { 4 } else { 8 }
    }
}

impl<'b> Tables<'b> {
    /// Proves the structure of a FlatBuffer. `bytes` begin at the start of `place`, and may be
    /// longer.
    ///
    /// # Errors
    ///
    /// The identifier is unknown, or a structural rule is broken. The error's offset is relative to
    /// the file.
    pub fn read(place: &TablesPlace, bytes: &'b [u8], limits: &Limits) -> Result<Self, Unreadable> {
        let Range { start, end } = place.range;
        let len = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        let bytes = bytes.get(..len).unwrap_or(bytes);
        let magic = array_at(bytes, sum(place.root, 4)).unwrap_or_default();
        if !place.identifiers.is_empty() && !place.identifiers.contains(&magic) {
            return Err(Unreadable::Magic { magic });
        }
        match verify::verify_at(bytes, place.root, place.schema.root, limits) {
            Ok((root, _)) => Ok(Self { schema: place.schema, root }),
            Err(error) => Err(Unreadable::Graph(error.shifted(start))),
        }
    }

    /// Returns the root table of a profile; `None` for other tables.
    pub fn as_etdump(&self) -> Option<etdump::view::ETDump<'b>> {
        self.root_as()
    }

    /// Returns the root table of a bundled program; `None` for other tables.
    pub fn as_bundled_program(&self) -> Option<bundled_program::view::BundledProgram<'b>> {
        self.root_as()
    }

    /// Returns the root table as type `T`; `None` if it is of another type.
    pub fn root_as<T: Table<'b>>(&self) -> Option<T> {
        self.root.view()
    }

    /// Returns the root table.
    pub fn root(&self) -> Raw<'b> {
        self.root.raw()
    }

    /// Returns the schema.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// Writes the tables as JSON, as [`json::write`](fn@json::write) does, indented by `level`
    /// levels of another document.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn write_json<W: fmt::Write, B: FnMut(&'b [u8]) -> Option<String>>(
        &self,
        options: Options<B>,
        level: usize,
        out: W,
    ) -> Result<Omitted, fmt::Error> {
        json::write_raw(self.root.raw(), self.schema.root, options, level, out)
    }
}
