//! Limits on the work that a FlatBuffer may cause, each with its reason.

/// Limits on the work that a FlatBuffer may cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes visited for each byte of the FlatBuffer. The bytes of strings and vectors
    /// count, and each table in a vector counts as 16 bytes.
    ///
    /// Tables may be shared, so a small buffer can describe a huge tree. The number of tables in
    /// vectors is limited too: one for every 64 bytes that may be visited, or 4,096 if that is
    /// more. A table counts at each visit.
    pub amplification: u32,
    /// The longest FlatBuffer in bytes. FlatBuffers' own limit is 2^31 − 1; a larger value has no effect.
    pub size: u64,
}

impl Default for Limits {
    /// For untrusted buffers.
    fn default() -> Self {
        Self::UNTRUSTED
    }
}

impl Limits {
    /// For untrusted buffers; the default.
    pub const UNTRUSTED: Self = Self { amplification: 4, size: MAX_SIZE };

    /// Returns the most bytes visited in a FlatBuffer of `len` bytes.
    pub fn bytes_visited(&self, len: u64) -> u64 {
        len.saturating_mul(self.amplification.into())
    }

    /// Returns the limit on tables in vectors for a FlatBuffer of `len` bytes. A table counts at
    /// each visit.
    ///
    /// A table in a vector may take only 4 bytes, and takes more time than other bytes. Genuine
    /// files have at most one in 40 bytes.
    pub fn tables_in_lists(&self, len: u64) -> u64 {
        self.bytes_visited(len).div_euclid(64).max(ALWAYS_LISTED)
    }
}

/// FlatBuffers' own bound on a buffer (`FLATBUFFERS_MAX_BUFFER_SIZE`).
pub const MAX_SIZE: u64 = (1 << 31) - 1;

/// The tables in vectors that every buffer may have, so that small buffers are not refused.
const ALWAYS_LISTED: u64 = 4096;

/// The bytes charged for a table in a vector, besides its offset: the smallest size of a table with
/// fields.
///
/// The few tables that it refers to outside of vectors are not charged.
pub(crate) const LISTED_TABLE: u64 = 12;

/// The memory budget of a model, and of writing it, for each byte of its tables or JSON. Genuine
/// files take at most 7.
pub const MODEL_BYTES: u64 = 22;

/// The memory that every model may take, so that small files are not refused.
pub const MODEL_FLOOR: u64 = 1 << 20;
