//! The FlatBuffers inside other files: delegates' payloads, bundled programs and profiles.

use core::fmt;
use core::ops::Range;

use alloc::string::String;
use binrw::meta::ReadMagic;

use super::Unreadable;
use super::mlx::{MlxHeader, MlxParts};
use super::sections::package;
use super::vulkan::{VulkanHeader, VulkanParts};
use super::xnnpack::{XnnpackHeader, XnnpackParts};
use crate::backend::{Backend, magic};
use crate::foreign::{BUNDLED_PROGRAM, ET_DUMP, ForeignFormat};
use crate::limits::Limits;
use crate::verify;
use pte_flat::bytes::{array_at, sum, u32_at};
use pte_flat::desc::Schema;
use pte_flat::json::{self, Omitted, Options};
use pte_flat::view::{ProvenTable, Raw, Table};
use pte_schema::{bundled_program, etdump, mlx, native, tosa, vulkan, xnnpack};

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
                Some(Ok(Self { schema, range: 0..len, root: 0, identifiers: &BUNDLED_PROGRAM }))
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
                let schema = &etdump::desc::SCHEMA;
                Some(Ok(Self { schema, range: 0..end, root, identifiers: &[ET_DUMP] }))
            }
            ForeignFormat::Ptn => Some(package::graph(head, len).map(Self::native)),
            _ => None,
        }
    }

    /// Returns the place of a graph of the native backend.
    fn native(range: Range<u64>) -> Self {
        Self { schema: &native::desc::SCHEMA, range, root: 0, identifiers: &[magic::NATIVE] }
    }

    /// Returns whether the schema of the backend's payloads is known.
    pub fn is_known(backend: Backend) -> bool {
        Self::of_payload(backend, &[], 0).is_some()
    }

    /// Finds the FlatBuffer of a payload, as [`of`](Self::of) does. The backend comes from the
    /// delegate's id.
    ///
    /// # Errors
    ///
    /// The header of the payload is invalid.
    pub fn of_payload(backend: Backend, head: &[u8], len: u64) -> Option<Result<Self, Unreadable>> {
        Some(match backend {
            Backend::Xnnpack => XnnpackParts::of(head, len).map(|parts| Self {
                schema: &xnnpack::desc::SCHEMA,
                range: parts.graph,
                root: 0,
                identifiers: &magic::XNNPACK_GRAPH,
            }),
            Backend::Vulkan => VulkanParts::of(head, len).map(|parts| Self {
                schema: &vulkan::desc::SCHEMA,
                range: parts.graph,
                root: 0,
                identifiers: &[magic::VULKAN_GRAPH],
            }),
            // The whole payload is the graph, without a header.
            Backend::Tosa => {
                let schema = &tosa::desc::SCHEMA;
                Ok(Self { schema, range: 0..len, root: 0, identifiers: &[magic::TOSA] })
            }
            Backend::Native => Ok(Self::native(0..len)),
            Backend::Mlx => MlxParts::of(head, len).map(|parts| Self {
                schema: &mlx::desc::SCHEMA,
                range: parts.graph,
                root: 0,
                identifiers: &[],
            }),
            _ => return None,
        })
    }
}

impl TablesPlace {
    /// Returns the position of the offset to the root table, counted from the start of `range`.
    pub(crate) fn root_position(&self) -> u32 {
        self.root
    }

    /// Returns the length of the root offset, and of the identifier if there is one.
    pub(crate) fn root_length(&self) -> u64 {
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

// Schemas and headers declare the magics that writers use now.
const _: () = {
    assert!(is_same(bundled_program::desc::SCHEMA.identifier, BUNDLED_PROGRAM[0]));
    assert!(is_same(etdump::desc::SCHEMA.identifier, ET_DUMP));
    assert!(is_same(native::desc::SCHEMA.identifier, magic::NATIVE));
    assert!(is_same(tosa::desc::SCHEMA.identifier, magic::TOSA));
    assert!(is_same(vulkan::desc::SCHEMA.identifier, magic::VULKAN_GRAPH));
    assert!(is_same(xnnpack::desc::SCHEMA.identifier, magic::XNNPACK_GRAPH[1]));
    // The header of XNNPACK is declared with the four bytes in front of its magic.
    let [.., a, b, c, d] = XnnpackHeader::MAGIC;
    assert!(is_same([a, b, c, d], magic::XNNPACK));
    assert!(is_same(VulkanHeader::MAGIC, magic::VULKAN));
    assert!(is_same(MlxHeader::MAGIC, magic::MLX));
};

/// Compares two identifiers at compile time.
const fn is_same(a: [u8; 4], b: [u8; 4]) -> bool {
    u32::from_le_bytes(a) == u32::from_le_bytes(b)
}
