//! Digests of typed fields.

use sha2::{Digest, Sha256};

use pte_flat::bytes::wide;

/// A SHA-256 digest.
pub(super) type Sha = [u8; 32];

/// A hasher of typed fields.
#[derive(Clone, Default)]
pub(super) struct Hasher(Sha256);

impl Hasher {
    /// Returns a hasher for a kind of things. Digests of different kinds are never equal.
    pub(super) fn of(kind: u8) -> Self {
        let mut hasher = Self::default();
        hasher.bytes(&[kind]);
        hasher
    }

    /// Adds the number of bytes, then the bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(wide(bytes.len()).cast_signed());
        self.0.update(bytes);
        self
    }

    pub(super) fn number(&mut self, number: impl Into<i64>) -> &mut Self {
        self.0.update(number.into().to_le_bytes());
        self
    }

    pub(super) fn text(&mut self, text: Option<&str>) -> &mut Self {
        self.number(i64::from(text.is_some())).bytes(text.unwrap_or_default().as_bytes())
    }

    pub(super) fn finish(self) -> Sha {
        self.0.finalize().into()
    }
}
