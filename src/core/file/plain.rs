//! `file_header!`: a header that is declared with binrw, and can be read without it. binrw needs `alloc`.

/// Emits a header as `header!` does, with a second reader of the same declaration: its magic, its fields in their
/// order, and the conditions of binrw's `assert` and `if`. It is the only reader without `alloc`.
macro_rules! file_header {
    ($($header:tt)*) => {
        #[cfg(feature = "alloc")]
        $crate::file::fields::header! { $($header)* }
        $crate::file::plain::plain! { $($header)* }
    };
}

/// Emits the reader without binrw, and without `alloc` the struct itself.
macro_rules! plain {
    (
        $(#[doc = $about:literal])*
        #[binrw]
        #[brw(little, magic = $magic:literal)]
        #[derive($($Derived:ident),*)]
        pub struct $Header:ident { $(
            $(#[doc = $field_about:literal])*
            $(#[br(assert($is_valid:expr, $error:expr))])?
            $(#[br(if($is_stored:expr))] #[bw(if($is_written:expr))])?
            pub $field:ident: $P:ident
        ),* $(,)? }
    ) => {
        #[cfg(not(feature = "alloc"))]
        $(#[doc = $about])*
        #[derive($($Derived),*)]
        pub struct $Header { $( $(#[doc = $field_about])* pub $field: $P ),* }

        impl $Header {
            pub(super) const MAGIC: [u8; 4] = *$magic;

            #[cfg(feature = "alloc")]
            fn decode(bytes: &[u8]) -> Result<Self, Option<ErrorKind>> {
                Self::read(&mut binrw::io::Cursor::new(bytes)).map_err(|e| e.custom_err().copied())
            }

            #[cfg(not(feature = "alloc"))]
            fn decode(bytes: &[u8]) -> Result<Self, Option<ErrorKind>> {
                Self::read_plain(bytes)
            }

            /// Reads the header as its declaration for binrw says, without binrw.
            ///
            /// # Errors
            ///
            /// The declaration's own error, or `None` for another magic and for bytes that end in the header.
            #[doc(hidden)]
            pub fn read_plain(bytes: &[u8]) -> Result<Self, Option<ErrorKind>> {
                let mut rest = bytes.strip_prefix(&Self::MAGIC).ok_or(None)?;
                $(
                    let is_stored = true $(&& $is_stored)?;
                    let $field = match is_stored {
                        true => $P::from_le_bytes($crate::file::plain::take(&mut rest).ok_or(None)?),
                        false => 0,
                    };
                    $(if !$is_valid { return Err(Some($error)); })?
                )*
                Ok(Self { $($field),* })
            }
        }
    };
}

/// Splits the next field off `rest`; `None` if it ends after the bytes.
pub(super) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (field, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*field)
}

pub(super) use {file_header, plain};
