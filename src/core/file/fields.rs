//! `header!`: a header as a struct, and its layout as data.

/// A field of a header: its name and its length in bytes.
pub type HeaderField = (&'static str, u32);

/// Emits a header that begins with a magic of 4 bytes, and lists its fields in `FIELDS`.
macro_rules! header {
    // The struct is emitted token by token: binrw needs the caller's hygiene.
    ($($header:tt)*) => {
        $($header)*
        $crate::file::fields! { $($header)* }
    };
}

/// Emits the list of fields of a header.
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

pub(crate) use {fields, header};
