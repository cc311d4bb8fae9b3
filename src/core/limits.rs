//! Limits on the work that a file may cause, each with its reason.

pub(crate) use pte_flat::limits::MAX_SIZE;

/// Limits on the work that a file may cause.
///
/// ```
/// let limits = pte::Limits { findings_per_rule: 10, ..pte::Limits::UNTRUSTED };
/// assert_eq!(limits.amplification, 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes visited for each byte of the FlatBuffer. The bytes of strings and vectors
    /// count, and each table in a vector counts as 16 bytes.
    ///
    /// Tables may be shared, so a small file can describe a huge tree. Every genuine file seen so
    /// far passes with 4, and most with 1. The number of tables in vectors is limited too: one for
    /// every 64 bytes that may be visited, or 4,096 if that is more. A table counts at each visit.
    ///
    /// The length of a written file has a limit as well: see
    /// [`bytes_written`](Self::bytes_written).
    pub amplification: u32,
    /// The longest FlatBuffer in bytes. FlatBuffers' own limit is 2^31 − 1; a larger value has no effect.
    pub program: u64,
    /// The most findings kept for each rule. The rest are only counted.
    pub findings_per_rule: u32,
}

impl Limits {
    /// For untrusted files; the default.
    pub const UNTRUSTED: Self = Self {
        amplification: pte_flat::Limits::UNTRUSTED.amplification,
        program: MAX_SIZE,
        findings_per_rule: 100,
    };

    /// For trusted files: the same checks, larger limits.
    pub const TRUSTED: Self =
        Self { amplification: 64, program: MAX_SIZE, findings_per_rule: u32::MAX };
}

impl From<&Limits> for pte_flat::Limits {
    fn from(limits: &Limits) -> Self {
        Self { amplification: limits.amplification, size: limits.program }
    }
}

impl Limits {
    /// Returns the most bytes visited in a FlatBuffer of `len` bytes.
    pub fn bytes_visited(&self, len: u64) -> u64 {
        pte_flat::Limits::from(self).bytes_visited(len)
    }

    /// Returns the longest length of a written file that consists of `given` different bytes in
    /// `segments` different segments: [`amplification`](Self::amplification) times `given`, plus 4096
    /// bytes of padding for each segment (at most 200 for each byte), plus 1 MiB.
    ///
    /// Segments may overlap and blobs may be named many times, so a small input can describe a huge file.
    /// Every genuine file is within the limit, even with segments aligned to pages.
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

/// The bytes that the official runtime reads first (`kNumHeadBytes`, format.md §1.2). They include
/// the header of a `.pte` or `.ptd`.
pub(crate) const HEAD: usize = 64;

/// Bytes of padding in front of a segment in a written file: a page.
const PADDING_OF_SEGMENT: u64 = 4096;

/// The most padding for each distinct byte of a written file. A segment takes at least 24 bytes in
/// the tables, so each may have a page of padding.
const PADDING_OF_BYTE: u64 = 200;

/// The length that every written file may have. It leaves room for the gaps of a file with few
/// segments.
const ALWAYS_WRITTEN: u64 = 1 << 20;

/// The most dimensions of a tensor (`kTensorDimensionLimit`, format.md §6.3).
pub const MOST_DIMENSIONS: usize = 16;
