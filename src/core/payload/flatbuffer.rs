//! Payloads whose graph is a FlatBuffer of a known schema. The backends that have one are in `payload.rs`.

use core::ops::Range;

use binrw::BinRead;
use binrw::io::Cursor;
use binrw::meta::ReadEndian;

use super::{Format, Unreadable};

use super::graph::{Detail, Graph};
use super::sections::{Section, package};
use super::tables::{Tables, TablesPlace};
use crate::backend::Backend;
use crate::file::HeaderField;
use crate::foreign::{BUNDLED_PROGRAM, ET_DUMP, ForeignFormat};
use crate::limits::Limits;
use pte_flat::bytes::{array_at, u32_at};
use pte_flat::desc::Schema;
use pte_flat::view::Table;
use pte_schema::{bundled_program, etdump};

/// The format of a backend's payloads: their header, their tables, and the graph in these.
pub(super) struct FlatBufferFormat {
    /// The schema of the tables.
    pub(super) schema: &'static Schema,
    /// The accepted identifiers. The list is empty for tables without an identifier.
    pub(super) identifiers: &'static [[u8; 4]],
    /// The fields of the header, from its magic on. It is empty if the whole payload is the tables.
    pub(super) header: &'static [HeaderField],
    /// What documents show of the graphs.
    pub(super) detail: Detail,
    /// Finds the parts of a payload of a length that begins with some bytes.
    pub(super) parts: fn(&[u8], u64) -> Result<Parts, Unreadable>,
    /// Proves the tables, and returns the graph.
    pub(super) graph: for<'p> fn(&Region<'_, 'p>) -> Result<Graph<'p>, Unreadable>,
}

/// The parts of a payload, as ranges in it.
#[derive(Default)]
pub(super) struct Parts {
    /// The range of the tables.
    pub(super) graph: Range<u64>,
    /// The range of the constants, which the tables describe one by one.
    pub(super) constants: Range<u64>,
    /// The range of data of unknown contents.
    pub(super) section: Option<Section>,
}

impl Parts {
    /// Returns the parts of a payload that is nothing but its tables.
    #[expect(clippy::unnecessary_wraps, reason = "a row of the list has functions of one type")]
    pub(super) fn whole(_: &[u8], len: u64) -> Result<Self, Unreadable> {
        Ok(Self { graph: 0..len, ..Self::default() })
    }
}

/// Reads the header of a payload of `len` bytes that begins with `head`. `needed` is the header's length.
pub(super) fn header_of<H>(head: &[u8], len: u64, needed: u64) -> Result<H, Unreadable>
where
    H: for<'a> BinRead<Args<'a> = ()> + ReadEndian,
{
    if len < needed {
        return Err(Unreadable::Short { len, needed });
    }
    // The runtime does not read the first four bytes.
    let rest = head.get(4..).unwrap_or_default();
    let magic = array_at(head, 4).unwrap_or_default();
    H::read(&mut Cursor::new(rest)).map_err(|_| Unreadable::Magic { magic })
}

/// The tables of a payload that are not proven yet.
pub(super) struct Region<'r, 'p> {
    /// The first bytes of the payload.
    pub(super) head: &'r [u8],
    /// The length of the payload.
    pub(super) len: u64,
    /// The place of the tables.
    pub(super) place: &'r TablesPlace,
    /// The bytes of the tables.
    pub(super) bytes: &'p [u8],
    pub(super) limits: &'r Limits,
}

impl<'p> Region<'_, 'p> {
    /// Proves the tables, and returns the root.
    pub(super) fn root<T: Table<'p>>(&self) -> Result<T, Unreadable> {
        let tables = Tables::read(self.place, self.bytes, self.limits)?;
        // The schema of the place is that of the backend.
        tables.root_as().ok_or(Unreadable::Magic { magic: [0; 4] })
    }
}

impl FlatBufferFormat {
    /// Returns the format of a backend's payloads; `None` if their tables are not known.
    pub(super) fn of(backend: Backend) -> Option<&'static Self> {
        match Format::of(backend)? {
            Format::FlatBuffer(format) => Some(format),
            Format::Sections(_) => None,
        }
    }

    /// Proves the tables of a payload, and returns the graph.
    pub(super) fn read<'p>(&self, region: &Region<'_, 'p>) -> Result<Graph<'p>, Unreadable> {
        let mut graph = (self.graph)(region)?;
        graph.detail = self.detail;
        Ok(graph)
    }

    /// Returns the length of the header, with the four bytes in front of its magic.
    pub(super) fn header_length(&self) -> u64 {
        let fields = self.header.iter().map(|(_, len)| u64::from(*len));
        fields.fold(4, u64::saturating_add)
    }

    /// Returns the place of tables with this schema.
    fn place(&self, range: Range<u64>) -> TablesPlace {
        TablesPlace::new(self.schema, range, 0, self.identifiers)
    }
}

impl TablesPlace {
    /// Finds the FlatBuffer of a file of `len` bytes that begins with `head`; 64 bytes of it are
    /// enough. Returns `None` for a file whose tables are not known.
    ///
    /// # Errors
    ///
    /// The header of the file is invalid.
    pub fn of(head: &[u8], len: u64) -> Option<Result<Self, Unreadable>> {
        match ForeignFormat::of(head) {
            ForeignFormat::Payload(backend) => Self::of_payload(backend, head, len),
            ForeignFormat::BundledProgram(_) => {
                let schema = &bundled_program::desc::SCHEMA;
                Some(Ok(Self::new(schema, 0..len, 0, &BUNDLED_PROGRAM)))
            }
            ForeignFormat::EtDump => {
                // The runtime may write the FlatBuffer's size in front of it. Alignments count from
                // the start of the file.
                let is_bare = array_at(head, 4) == Some(ET_DUMP);
                let size = u32_at(head, 0).map(u64::from).unwrap_or_default();
                let (root, end) = if is_bare { (0, len) } else { (4, size.saturating_add(4)) };
                if end > len {
                    return Some(Err(Unreadable::Part { name: "profile", range: 0..end, len }));
                }
                Some(Ok(Self::new(&etdump::desc::SCHEMA, 0..end, root, &[ET_DUMP])))
            }
            ForeignFormat::Ptn => {
                let format = FlatBufferFormat::of(Backend::Native)?;
                Some(package::graph(head, len).map(|range| format.place(range)))
            }
            _ => None,
        }
    }

    /// Returns whether the schema of the backend's payloads is known.
    pub fn is_known(backend: Backend) -> bool {
        FlatBufferFormat::of(backend).is_some()
    }

    /// Finds the FlatBuffer of a payload, as [`of`](Self::of) does. The backend comes from the
    /// delegate's id.
    ///
    /// # Errors
    ///
    /// The header of the payload is invalid.
    pub fn of_payload(backend: Backend, head: &[u8], len: u64) -> Option<Result<Self, Unreadable>> {
        let format = FlatBufferFormat::of(backend)?;
        Some((format.parts)(head, len).map(|parts| format.place(parts.graph)))
    }
}
