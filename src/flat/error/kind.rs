//! The errors of the verifier, each with its code and message.

use core::fmt;

/// Declares each error once: variant, code and message.
macro_rules! kinds {
    ($(
        $(#[$meta:meta])*
        $Kind:ident { $( $(#[$fmeta:meta])* $field:ident: $Field:ty ),* } = $code:literal
            $message:literal;
    )*) => {
        /// What is wrong with a FlatBuffer, with the values that caused it.
        ///
        /// The names are stable: a code is never reused for another meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $(
                $(#[$meta])*
                $Kind { $( $(#[$fmeta])* $field: $Field ),* },
            )*
        }

        impl ErrorKind {
            /// Every code, in alphabetical order.
            pub const CODES: &'static [&'static str] = &[$( $code ),*];
        }

        impl super::Kind for ErrorKind {
            fn code(&self) -> &'static str {
                match self { $( Self::$Kind { .. } => $code, )* }
            }
        }

        impl fmt::Display for ErrorKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $( Self::$Kind { $( $field ),* } => write!(f, $message), )* }
            }
        }
    };
}

kinds! {
    /// The elements of a vector are misaligned.
    ElementMisaligned {
        /// Bytes of an element.
        size: u32
    } = "element-misaligned"
        "the vector's elements are not aligned to their {size} bytes";
    /// A field of a table is misaligned.
    FieldMisaligned {
        /// Bytes of the field.
        size: u32
    } = "field-misaligned"
        "the field is not aligned to its {size} bytes";
    /// A required field is absent.
    FieldMissing {
        /// The name of the field.
        field: &'static str
    } = "field-missing"
        "the table has no field {field}, which is required";
    /// The offset of a field lies within the first word of its table.
    FieldOffset {
        /// The offset found.
        offset: u16
    } = "field-offset"
        "invalid field offset {offset}: the first 4 bytes of a table are its offset to the vtable";
    /// A table ends past the end of the FlatBuffer.
    FieldOutOfBounds {
        /// The end of the last field.
        end: u64,
        /// The end of the FlatBuffer.
        limit: u64
    } = "field-out-of-bounds"
        "the table's fields end at {end:#x}, past the end of the FlatBuffer at {limit:#x}";
    /// Tables of a recursive field are nested too deeply.
    NestingLimit {
        /// The limit.
        limit: u32
    } = "nesting-limit"
        "this graph is nested too deep: at most {limit} graphs may be in one another";
    /// The declared size of a table is below 4.
    ObjectSize {
        /// The size found.
        size: u16
    } = "object-size"
        "invalid table size {size} in the vtable: the minimum is 4";
    /// An offset is 0.
    OffsetNull {} = "offset-null"
        "the offset is 0: it leads to itself";
    /// An offset is out of bounds.
    OffsetOutOfBounds {
        /// The target of the offset.
        target: u64,
        /// The end of the FlatBuffer.
        limit: u64
    } = "offset-out-of-bounds"
        "the offset leads to {target:#x}, past the end of the FlatBuffer at {limit:#x}";
    /// The FlatBuffer is longer than the limit.
    SizeLimit {
        /// The length.
        size: u64,
        /// The limit.
        limit: u64
    } = "program-limit"
        "the FlatBuffer has {size} bytes, and the limit is {limit}";
    /// The root offset is out of bounds, or leads to the offset or the identifier.
    RootOffset {
        /// The offset found.
        root: u32,
        /// The first position where the root table may lie.
        least: u32,
        /// The end of the FlatBuffer.
        limit: u64
    } = "root-offset"
        "invalid root offset {root:#x}: the root table must lie between {least:#x} and the end of the FlatBuffer at {limit:#x}";
    /// A string is not terminated.
    StringNotTerminated {} = "string-not-terminated"
        "the string does not end with a zero byte";
    /// A string is not UTF-8.
    StringNotUtf8 {
        /// The number of bytes before the first invalid one.
        valid: u32
    } = "string-not-utf8"
        "the string is not UTF-8 from its byte {valid} on";
    /// A string is out of bounds.
    StringOutOfBounds {
        /// The length.
        len: u32
    } = "string-out-of-bounds"
        "a string of {len} bytes ends past the end of the FlatBuffer";
    /// A table is misaligned.
    TableMisaligned {} = "table-misaligned"
        "the table does not lie at a multiple of 4";
    /// A union has only one of its halves.
    UnionHalf {
        /// The tag.
        tag: u8
    } = "union-half"
        "only one half of the union is present; its tag is {tag}";
    /// A vector or string is misaligned.
    VectorMisaligned {} = "vector-misaligned"
        "the length of a vector or string does not lie at a multiple of 4";
    /// A vector is out of bounds.
    VectorOutOfBounds {
        /// The bytes of its elements.
        bytes: u64
    } = "vector-out-of-bounds"
        "a vector of {bytes} bytes ends past the end of the FlatBuffer";
    /// The length of a vtable is odd or below 4.
    VtableLength {
        /// The length found.
        len: u16
    } = "vtable-length"
        "invalid vtable length {len}: it must be even and at least 4";
    /// A vtable is misaligned.
    VtableMisaligned {} = "vtable-misaligned"
        "the vtable does not lie at a multiple of 2";
    /// A vtable is out of bounds.
    VtableOutOfBounds {
        /// The declared position of the vtable.
        vtable: i64
    } = "vtable-out-of-bounds"
        "the table's vtable, at byte {vtable}, does not lie in the FlatBuffer";
    /// Verification would exceed a limit.
    WorkLimit {
        /// The limit.
        limit: u64,
        /// What the limit counts.
        what: &'static str
    } = "work-limit"
        "reading this file visits more than {limit} {what}: the same tables are referred to many times";
}
