//! `header!` and `integers!`: a header as a struct, and its layout as data.

use pte_flat::bytes::{array_at, index, u32_at};

/// A field of a header: its name and its length in bytes.
#[cfg(feature = "alloc")]
pub type HeaderField = (&'static str, u32);

/// The fields of a header that begins with a magic and with its own length, both of 4 bytes.
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    length: u32,
    at: u32,
}

impl<'a> Fields<'a> {
    /// Returns the fields, which begin with the length; `None` for another magic.
    pub(crate) fn new(bytes: &'a [u8], magic: &[u8; 4]) -> Option<Self> {
        let length = u32_at(bytes, 4)?;
        bytes.starts_with(magic).then_some(Self { bytes, length, at: 4 })
    }

    /// Returns the next field; zeros if it ends after the header, and `None` if it ends after the bytes.
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let begin = index(self.at);
        let end = begin.saturating_add(N);
        self.at = u32::try_from(end).ok()?;
        if end > index(self.length) { Some([0; N]) } else { array_at(self.bytes, begin) }
    }
}

/// Emits a header of little-endian integers, which begins with a magic of 4 bytes and with its own length.
macro_rules! integers {
    (
        $magic:literal,
        $(#[$meta:meta])*
        pub struct $Header:ident { $( $(#[$fm:meta])* pub $field:ident: $P:ident ),* $(,)? }
    ) => {
        $(#[$meta])*
        pub struct $Header { $( $(#[$fm])* pub $field: $P ),* }

        impl $Header {
            const MAGIC: [u8; 4] = *$magic;

            /// Reads the header. A field that the length does not cover is 0. Returns `None` for another magic, for
            /// a length that is too small, and if a field is missing.
            pub fn read(bytes: &[u8]) -> Option<Self> {
                let mut fields = $crate::file::fields::Fields::new(bytes, &Self::MAGIC)?;
                let header = Self { $( $field: $P::from_le_bytes(fields.take()?) ),* };
                (header.length >= Self::MINIMUM).then_some(header)
            }

            /// Returns the header as stored, without padding, and without fields that its length does not cover.
            #[cfg(feature = "alloc")]
            pub fn to_bytes(&self) -> alloc::vec::Vec<u8> {
                let mut bytes = Self::MAGIC.to_vec();
                $(
                    let field = self.$field.to_le_bytes();
                    if bytes.len().saturating_add(field.len()) <= pte_flat::bytes::index(self.length) {
                        bytes.extend_from_slice(&field);
                    }
                )*
                bytes
            }
        }

        #[cfg(feature = "alloc")]
        $crate::file::fields! {
            pub struct $Header { $( pub $field: $P ),* }
        }
    };
}

/// Emits a header that begins with a magic of 4 bytes, and lists its fields in `FIELDS`.
#[cfg(feature = "alloc")]
macro_rules! header {
    // The struct is emitted token by token: binrw needs the caller's hygiene.
    ($($header:tt)*) => {
        $($header)*
        $crate::file::fields! { $($header)* }
    };
}

/// Emits the list of fields of a header.
#[cfg(feature = "alloc")]
macro_rules! fields {
    (
        $(#[$meta:meta])*
        pub struct $Header:ident { $( $(#[$fm:meta])* pub $field:ident: $P:ident ),* $(,)? }
    ) => {
        impl $Header {
            /// The fields in their order, with the magic.
            pub const FIELDS: &[$crate::file::HeaderField] =
                &[("magic", 4), $( (stringify!($field), $P::BITS / 8) ),*];
        }
    };
}

pub(crate) use integers;
#[cfg(feature = "alloc")]
pub(crate) use {fields, header};
