//! The budgets that a file's work is held to, each with its reason.

/// How much work a file may cause.
///
/// ```
/// let limits = pte::Limits { findings_per_rule: 10, ..pte::Limits::UNTRUSTED };
/// assert_eq!(limits.amplification, 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes visited per byte of the FlatBuffers part: those of strings and lists, and 16 for each
    /// table in a list. Tables may be shared, so a small file can describe a huge tree; an honest
    /// file visits less than its own length. Every genuine file seen so far passes with 4, and most
    /// with 1. Lists of tables may have a sixty-fourth as many elements, each counted at every
    /// visit, or 1,000,000.
    ///
    /// A file that is written is bounded as well: see [`bytes_written`](Self::bytes_written).
    pub amplification: u32,
    /// Longest FlatBuffers part, in bytes: FlatBuffers' own bound is 2^31 − 1, so 32-bit positions
    /// always suffice. A larger value here has no effect.
    pub program: u64,
    /// Findings kept for each rule; the rest are only counted.
    pub findings_per_rule: u32,
}

impl Limits {
    /// For untrusted files, and the default.
    pub const UNTRUSTED: Self =
        Self { amplification: 4, program: MAX_PROGRAM, findings_per_rule: 100 };

    /// For files of one's own: the same checks, wider budgets.
    pub const TRUSTED: Self =
        Self { amplification: 64, program: MAX_PROGRAM, findings_per_rule: u32::MAX };
}

impl Limits {
    /// Bytes that may be visited of a FlatBuffers part of `len` bytes.
    pub(crate) fn bytes_visited(&self, len: u64) -> u64 {
        len.saturating_mul(self.amplification.into())
    }

    /// Tables that vectors may refer to in a FlatBuffers part of `len` bytes, counted at each visit.
    /// The smallest take 4 bytes, and more time than as many bytes of anything else; genuine files
    /// have one for each 40 bytes and more.
    pub(crate) fn tables_in_lists(&self, len: u64) -> u64 {
        self.bytes_visited(len).div_euclid(64).max(MOST_TABLES)
    }

    /// Returns how long a written file may be that is made of `given` different bytes, `segments`
    /// of them different segments: [`amplification`](Self::amplification) times `given`, 4096 bytes
    /// of padding for each segment but no more than 200 for each byte, and 1 MiB.
    ///
    /// Segments may overlap, and a blob may be named many times, so that a small file or a small
    /// JSON text can describe a huge file. Every genuine file, and each segment of it aligned to a
    /// page, is within the limit.
    ///
    /// ```
    /// assert_eq!(pte::Limits::UNTRUSTED.bytes_written(10_000, 2), 4 * 10_000 + 2 * 4096 + (1 << 20));
    /// ```
    pub fn bytes_written(&self, given: u64, segments: u64) -> u64 {
        let padding = segments.saturating_mul(PADDING_OF_SEGMENT);
        let padding = padding.min(given.saturating_mul(PADDING_OF_BYTE));
        let copies = given.saturating_mul(self.amplification.into());
        copies.saturating_add(padding).saturating_add(ALWAYS_WRITTEN)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::UNTRUSTED
    }
}

/// FlatBuffers' own bound on a buffer (`FLATBUFFERS_MAX_BUFFER_SIZE`, format.md §0.2).
pub(crate) const MAX_PROGRAM: u64 = (1 << 31) - 1;

/// Tables that FlatBuffers' C++ verifier visits before it gives up (`max_tables`, format.md §0.2).
pub(crate) const MOST_TABLES: u64 = 1_000_000;

/// Bytes that the official runtime reads before anything else (`kNumHeadBytes`, format.md §1.2):
/// both headers lie within them.
pub(crate) const HEAD: usize = 64;

/// Bytes of padding in front of a segment in a written file: a page.
const PADDING_OF_SEGMENT: u64 = 4096;

/// Bytes of padding for each byte that a written file is made of: a segment of a few bytes takes 24
/// more in the tables, which pays for a page.
const PADDING_OF_BYTE: u64 = 200;

/// Bytes that a written file may have however little it is made of: room for the gaps that a file
/// of a few segments may have, and nothing to a disk.
const ALWAYS_WRITTEN: u64 = 1 << 20;

/// Most dimensions of a tensor (`kTensorDimensionLimit`, format.md §6.3).
pub(crate) const MOST_DIMENSIONS: usize = 16;

/// Bytes that a table in a list counts for beside those of the offset to it: the least that one with
/// fields has. What it refers to outside of lists, a few tables at most, counts for nothing.
pub(crate) const LISTED_TABLE: u64 = 12;

/// Bytes of memory that a model may take for each byte of the tables or the JSON that it is made of, with
/// what writing it takes: genuine files take 7 at most.
pub(crate) const MODEL_BYTES: u64 = 22;

/// Bytes of memory that every model may take, so that no small file is refused.
pub(crate) const MODEL_FLOOR: u64 = 1 << 20;
