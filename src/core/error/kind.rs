//! All errors of reading a file, each with its code, message, requirement, reason and advice.

use core::fmt;

use pte_flat::Kind as _;

use crate::foreign::ForeignFormat;

/// The description of an error code.
///
/// ```
/// let code = pte::ErrorKind::CODES.iter().find(|code| code.id == "union-half").unwrap();
/// assert_eq!(code.what, "A union has both of its halves, the tag and the value, or neither.");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Code {
    /// The stable name, in kebab case.
    pub id: &'static str,
    /// The requirement that a file breaks.
    pub what: &'static str,
    /// The consequence if a file breaks the requirement.
    pub why: &'static str,
    /// The behaviour of the newest known release of the runtime.
    pub runtime: &'static str,
    /// The advice for the user.
    pub help: &'static str,
}

/// Declares each error once: code, variant, message, requirement, consequence, behaviour of the
/// official runtime, and advice. A row without a variant describes an error of the verifier.
macro_rules! kinds {
    ($(
        $code:literal $( =
            $(#[$meta:meta])*
            $Kind:ident { $( $(#[$fmeta:meta])* $field:ident: $Field:ty ),* }
            $message:literal
        )?
            asks $what:literal
            otherwise $why:literal
            runtime $runtime:literal
            help $help:literal;
    )*) => {
        /// The kind of an error, with the values that caused it.
        ///
        /// The names are stable: a code is never reused for another meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum ErrorKind {
            /// The FlatBuffer is malformed, or exceeds a limit.
            Flat(pte_flat::ErrorKind),
            $( $(
                $(#[$meta])*
                $Kind { $( $(#[$fmeta])* $field: $Field ),* },
            )? )*
        }

        impl ErrorKind {
            /// Every code with its description, in alphabetical order.
            pub const CODES: &'static [Code] = &[ $( Code {
                id: $code, what: $what, why: $why, runtime: $runtime, help: $help,
            } ),* ];

            /// Returns the stable name, in kebab case.
            pub fn code(&self) -> &'static str {
                match self {
                    Self::Flat(kind) => kind.code(),
                    $( $( Self::$Kind { .. } => $code, )? )*
                }
            }
        }

        impl fmt::Display for ErrorKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Flat(kind) => kind.fmt(f),
                    $( $( Self::$Kind { $( $field ),* } => write!(f, $message), )? )*
                }
            }
        }
    };
}

impl ErrorKind {
    /// Returns the description of the code.
    fn description(&self) -> Option<&'static Code> {
        Self::CODES.iter().find(|code| code.id == self.code())
    }

    /// Returns the consequence.
    pub fn why(&self) -> &'static str {
        self.description().map_or("", |code| code.why)
    }

    /// Returns advice: what the error means and what to do.
    pub fn help(&self) -> &'static str {
        self.description().map_or("", |code| code.help)
    }
}

impl From<pte_flat::ErrorKind> for ErrorKind {
    fn from(kind: pte_flat::ErrorKind) -> Self {
        Self::Flat(kind)
    }
}

impl pte_flat::Kind for ErrorKind {
    fn code(&self) -> &'static str {
        self.code()
    }
}

kinds! {
    "constant-index" =
        /// The constant index is out of range (format.md §7.6).
        ConstantIndex {
            /// The index that the tensor has.
            index: u32,
            /// The number of entries.
            count: u32
        }
        "constant index {index} is out of range: the file has {count} constants"
        asks "A tensor's constant index is in range."
        otherwise "Loading the method is refused."
        runtime "refuses"
        help "The tensor's data_buffer_idx does not fit the constants of this file; export it again.";
    "data-out-of-bounds" =
        /// Data lies outside the segment that holds it (format.md §7.6).
        DataOutOfBounds {
            /// The end of the data, counted from the start of its segment.
            end: u64,
            /// The length of the segment.
            size: u64
        }
        "the data would end {end} bytes into a segment of {size} bytes"
        asks "A tensor's data lies within its segment."
        otherwise "Loading the method is refused; runtimes before 1.0 read past the segment."
        runtime "refuses"
        help "Offset and size of this data do not fit its segment; export the file again.";
    "delegate-data-index" =
        /// The index of inline delegate data is out of range (format.md §6.6).
        DelegateDataIndex {
            /// The index that the delegate has.
            index: u32,
            /// The number of entries.
            count: u32
        }
        "inline delegate data index {index} is out of range: the file has {count}"
        asks "The index of a delegate's inline payload is in range."
        otherwise "Loading the method is refused; without any list of them the runtime reads through a null pointer."
        runtime "crashes"
        help "The delegate's payload is not in this file; export it again.";
    "delegate-location" =
        /// The location of a payload is neither INLINE nor SEGMENT (format.md §3.2).
        DelegateLocation {
            /// The number found.
            location: i8
        }
        "unknown location {location} of the delegate's payload: expected INLINE (0) or SEGMENT (1)"
        asks "A delegate's payload is INLINE or in a SEGMENT."
        otherwise "Loading the method is refused: the payload cannot be found."
        runtime "refuses"
        help "A newer writer may have added a location: read the file with a newer release of this tool, or export it again.";
    "element-misaligned"
        asks "The elements of a vector lie at multiples of their size."
        otherwise "No runtime checks this. Processors that need aligned numbers fault."
        runtime "ignores"
        help "No writer lays a vector out like this: the file is damaged or was made by hand, so get it again from its source.";
    "field-misaligned"
        asks "The fields of a table lie at multiples of their size."
        otherwise "A runtime that verifies refuses the file. In others the processor may fault."
        runtime "refuses"
        help "No writer lays a table out like this: the file is damaged or was made by hand, so get it again from its source.";
    "field-missing"
        asks "A table has the fields that its schema requires. Only tables of payloads require any."
        otherwise "A runtime that verifies refuses the payload; others read through a null pointer."
        runtime "refuses"
        help "The table is damaged or of another schema: export the model again.";
    "field-offset"
        asks "A field lies behind the first word of its table."
        otherwise "The runtime does not check this, and reads the offset to the vtable as the field's value."
        runtime "ignores"
        help "The vtable is damaged, or was made by hand: export the file again.";
    "field-out-of-bounds"
        asks "The fields of a table end within the FlatBuffer."
        otherwise "A runtime that verifies refuses the file; others read the bytes behind it as fields."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short: compare its length with the original's, and copy it again.";
    "file-too-short" =
        /// The file is too short for its kind.
        FileTooShort {
            /// The length of the file.
            len: u64,
            /// The length needed.
            needed: u64
        }
        "the file has {len} bytes, and at least {needed} are needed"
        asks "The file is as long as the headers of its kind."
        otherwise "Loading is refused: runtimes read the head before anything else."
        runtime "refuses"
        help "The file was cut short in its header: download or copy it again.";
    "flat-tensor-layout" =
        /// A `.ptd` that fits no known generation (format.md §4.3).
        FlatTensorLayout {}
        "the FlatTensor table has neither the current fields (segments and named_data) nor the old ones (tensors and segments)"
        asks "A .ptd has the lists of one known generation."
        otherwise "Runtimes refuse it, or read through a null pointer where a list should be."
        runtime "refuses or crashes"
        help "The file is damaged, or of a generation that is newer than this reader: write it again with a current release.";
    "flat-tensor-polyglot" =
        /// A `.ptd` that is valid as two generations, with different contents (format.md §4.3).
        FlatTensorPolyglot {}
        "the FlatTensor table reads as the old layout and as the current one, with contents in both"
        asks "A .ptd is valid as one generation only."
        otherwise "Runtimes up to 0.6 and from 0.7 on see different tensors: what was reviewed is not what runs."
        runtime "ignores"
        help "Runtimes up to 0.6 and from 0.7 on would see different tensors: do not trust this file.";
    "flat-tensor-version" =
        /// A `.ptd` of an unknown version.
        FlatTensorVersion {
            /// The version found.
            version: u32
        }
        "unknown FlatTensor version {version}: expected 0"
        asks "The version of a .ptd is 0."
        otherwise "The runtime refuses any other since release 1.5.1; older ones do not check."
        runtime "refuses"
        help "The file needs a newer reader, or is damaged: look up which release wrote it.";
    "flatbuffer-range" =
        /// The header of a `.ptd` declares an invalid range of the FlatBuffer (format.md §2.6).
        FlatbufferRange {
            /// flatbuffer_offset.
            offset: u64,
            /// flatbuffer_size.
            size: u64
        }
        "invalid flatbuffer_offset {offset} or flatbuffer_size {size}: the offset must be a multiple of 8 and at least 40, the size at least 8"
        asks "The FlatBuffer of a .ptd begins behind the header at a multiple of 8, and has at least 8 bytes."
        otherwise "Runtimes add offset and size without an overflow check, and read the bytes there as tables."
        runtime "reads wrong memory"
        help "The header is damaged, or its writer used a tensor_alignment that is no multiple of 8: write the file again with one that is.";
    "flatbuffer-truncated" =
        /// The FlatBuffer ends past the end of the file.
        FlatbufferTruncated {
            /// The declared end.
            end: u64,
            /// The length of the file.
            len: u64
        }
        "the FlatBuffer ends at byte {end}, and the file has only {len}"
        asks "The FlatBuffer lies in the file."
        otherwise "Loading is refused: the tables are not all there."
        runtime "refuses"
        help "The file was cut short: download or copy it again.";
    "header-length" =
        /// The declared length of the header is too small (format.md §1.2, §2.3).
        HeaderLength {
            /// The length found.
            length: u32,
            /// The smallest length.
            minimum: u32
        }
        "invalid extended header length {length}: the minimum is {minimum}"
        asks "The extended header is as long as its fields: at least 24 bytes in a .pte, 40 in a .ptd."
        otherwise "Loading is refused, since fields would be missing."
        runtime "refuses"
        help "The length in the header is damaged: get the file again, or export it again.";
    "header-missing" =
        /// A `.ptd` without its header (format.md §2.3).
        HeaderMissing {}
        "the file has no FH01 header at byte 8"
        asks "A .ptd has an FH01 header."
        otherwise "Loading is refused: the tables and segments cannot be found."
        runtime "refuses"
        help "Every .ptd has one: the file is damaged, or is another kind of file with the identifier of a .ptd. Get it again.";
    "header-out-of-bounds" =
        /// The header is too long for the space that it has (format.md §1.5).
        HeaderOutOfBounds {
            /// The end of the header.
            end: u64,
            /// The end of the space.
            limit: u64
        }
        "the extended header ends at byte {end}, past its limit at byte {limit}"
        asks "The extended header ends before what it describes begins."
        otherwise "The runtime does not check this: the same bytes are read as header and as tables."
        runtime "ignores"
        help "The header is damaged, or the file was cut short: get it again.";
    "nesting-limit"
        asks "At most 12 graphs of the native backend are in one another."
        otherwise "A reader that follows each nested graph may run out of stack. FlatBuffers' own verifier refuses it: it follows 64 tables, which 12 nested graphs reach."
        runtime "refuses"
        help "No exporter nests control flow as deep: the payload is damaged or malicious.";
    "object-size"
        asks "The size of a table in its vtable is at least 4."
        otherwise "The runtime never reads this number. No writer writes such a size: these bytes are not a vtable."
        runtime "ignores"
        help "The vtable is damaged, or an offset leads to bytes that are not a vtable: get the file again.";
    "offset-null"
        asks "An offset to a table or a vector is not 0."
        otherwise "A runtime that verifies refuses it in a field. In a list the bytes of the offset are read as a table."
        runtime "refuses, or reads wrong memory"
        help "No writer writes such an offset: the file is damaged or was made by hand; do not load it.";
    "offset-out-of-bounds"
        asks "An offset leads into the FlatBuffer."
        otherwise "A runtime that verifies refuses the file; others read memory outside of the file."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged, cut short or malicious: get it again from a trusted source.";
    "other-format" =
        /// The file has another format.
        OtherFormat {
            /// The format.
            format: ForeignFormat
        }
        "this is {format}, not a .pte or .ptd file"
        asks "The file is a .pte or a .ptd."
        otherwise "Loading is refused: the identifier is wrong."
        runtime "refuses"
        help "Give a .pte program or a .ptd data file.";
    "program-limit"
        asks "The FlatBuffer is at most as long as the limit: 2 GiB, or a lower one that was set."
        otherwise "FlatBuffers offsets reach no further, and a runtime that verifies refuses more."
        runtime "refuses"
        help "FlatBuffers allows 2 GiB at most. A lower limit for the program can be raised.";
    "program-size" =
        /// program_size is too small for the headers (format.md §1.5).
        ProgramSize {
            /// program_size.
            size: u64,
            /// The length of the headers.
            minimum: u64
        }
        "program_size is {size}, and the headers alone take {minimum} bytes"
        asks "program_size is large enough for the headers that it counts."
        otherwise "The runtime refuses less than 8 bytes; for larger values it does not check whether the header fits."
        runtime "refuses"
        help "The program_size in the header is damaged: get the file again, or export it again.";
    "root-offset"
        asks "The root table lies in the FlatBuffer, behind its first 8 bytes."
        otherwise "Loading is refused; for a .ptd from release 1.5.1 on. Older ones read memory outside of the file."
        runtime "refuses, or reads wrong memory"
        help "The first four bytes are damaged, or the file is cut short: get it again.";
    "segment-base" =
        /// The segments begin inside the FlatBuffer (format.md §1.5).
        SegmentBase {
            /// segment_base_offset.
            base: u64,
            /// The end of the FlatBuffer.
            end: u64
        }
        "the segments begin at byte {base}, inside the FlatBuffer, which ends at byte {end}"
        asks "Segments begin behind the FlatBuffer."
        otherwise "The runtime does not check this: the same bytes are tables and weights."
        runtime "ignores"
        help "The segment_base_offset in the header is damaged: export the file again.";
    "segment-index" =
        /// The index of a segment is out of range.
        SegmentIndex {
            /// The index.
            index: u32,
            /// The number of entries.
            count: u32
        }
        "segment index {index} is out of range: the file has {count} segments"
        asks "The index of a segment is in range."
        otherwise "Loading what refers to it is refused."
        runtime "refuses"
        help "A reference to a segment does not fit the list of segments; export the file again.";
    "segment-out-of-bounds" =
        /// A segment is out of bounds.
        SegmentOutOfBounds {
            /// The offset of the segment.
            offset: u64,
            /// The size of the segment.
            size: u64,
            /// The bytes available for segments, from the segment base on.
            limit: u64
        }
        "a segment of {size} bytes at offset {offset} is out of bounds: there are {limit} bytes of segments"
        asks "Every segment lies in the file, and in a .ptd within the size that the header declares."
        otherwise "Loading it is refused; if the sum of base and offset overflows, other bytes are read."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short: compare its length with the original's, and download it again.";
    "segment-without-base" =
        /// A segment has bytes, and the header has no segment base (format.md §1.5).
        SegmentWithoutBase {
            /// The size of the segment.
            size: u64
        }
        "a segment of {size} bytes, and no header says where segments begin"
        asks "A file whose segments have bytes has a header that says where they begin."
        otherwise "Loading a segment is refused. The constants are read from the start of the file."
        runtime "refuses, or reads wrong memory"
        help "The runtime cannot load this segment: the extended header is missing or damaged, so export the file again.";
    "segments-truncated" =
        /// The segment data ends past the end of the file.
        SegmentsTruncated {
            /// segment_base_offset.
            base: u64,
            /// segment_data_size.
            size: u64,
            /// The length of the file.
            len: u64
        }
        "{size} bytes of segments from byte {base} on end past the end of the file of {len} bytes"
        asks "The data of all segments lies in the file."
        otherwise "Loading is refused; for a .ptd not by every release, nor if the sum overflows."
        runtime "refuses"
        help "The file was cut short behind its tables: download or copy it again.";
    "string-not-terminated"
        asks "A string ends with a zero byte."
        otherwise "A runtime that verifies refuses the file; others read on until the next zero byte."
        runtime "refuses, or reads wrong memory"
        help "The runtime reads past its end. The file is damaged or was made by hand: do not load it.";
    "string-not-utf8"
        asks "A string is valid UTF-8."
        otherwise "The runtime compares bytes and does not check this. Tools can neither show nor store such a name."
        runtime "ignores"
        help "The file is damaged, or a name in it was made by hand: export it again with a name that is text.";
    "string-out-of-bounds"
        asks "A string ends within the FlatBuffer."
        otherwise "A runtime that verifies refuses the file; others read a name from memory outside of the file."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short, or the length of the string was changed: get it again.";
    "table-misaligned"
        asks "A table lies at a multiple of 4."
        otherwise "A runtime that verifies refuses the file; in others all numbers of the table are misaligned."
        runtime "refuses"
        help "The offset to this table is damaged or was made by hand: get the file again.";
    "tensor-size" =
        /// The size of a tensor cannot be computed (format.md §6.3).
        TensorSize {}
        "the tensor's size cannot be computed: a negative size, more than 16 of them, an unknown dtype, or a product that overflows"
        asks "A tensor's size in bytes can be computed: no size is negative, there are at most 16, the dtype is known, and no product overflows."
        otherwise "Loading the method is refused; in a .ptd an unknown dtype ends the process."
        runtime "refuses or crashes"
        help "The tensor's sizes or scalar_type are damaged: export the file again.";
    "union-half"
        asks "A union has both of its halves, the tag and the value, or neither."
        otherwise "Without the value the runtime reads through a null pointer; without the tag it refuses the method."
        runtime "crashes"
        help "No writer leaves one half out: the file is damaged or was made by hand; do not load it.";
    "unknown-header" =
        /// The version of the header is unknown (format.md §1.5).
        UnknownHeader {
            /// The value found.
            magic: Magic,
            /// The known value.
            known: Magic
        }
        "unknown extended header magic {magic}: expected {known}"
        asks "The extended header has a known version."
        otherwise "The runtime ignores the header, and so does not find the segments."
        runtime "ignores"
        help "The file needs a newer reader, of this tool and of the runtime.";
    "unknown-identifier" =
        /// The version of the file identifier is unknown (format.md §1.5).
        UnknownIdentifier {
            /// The value found.
            identifier: Magic,
            /// The known value.
            known: Magic
        }
        "unknown file identifier {identifier}: expected {known}"
        asks "The file identifier has a known version: ET12 for a .pte, FT01 for a .ptd."
        otherwise "Loading is refused: another version may have other tables."
        runtime "refuses"
        help "The file needs a newer reader: look up which release wrote it.";
    "vector-misaligned"
        asks "The length of a vector or string lies at a multiple of 4."
        otherwise "A runtime that verifies refuses the file; others read a wrong length."
        runtime "refuses, or reads wrong memory"
        help "The offset to this vector is damaged or was made by hand: get the file again.";
    "vector-out-of-bounds"
        asks "A vector ends within the FlatBuffer."
        otherwise "A runtime that verifies refuses the file; others read as much memory outside of the file as the count says."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short, or the count of the vector was changed: get it again.";
    "vtable-length"
        asks "The length of a vtable is even and at least 4."
        otherwise "A runtime that verifies refuses an odd length. With a vtable that is too short, it reads an empty table."
        runtime "refuses"
        help "The length of the vtable is damaged: get the file again, or export it again.";
    "vtable-misaligned"
        asks "A vtable lies at a multiple of 2."
        otherwise "A runtime that verifies refuses the file; others read field offsets from odd addresses."
        runtime "refuses"
        help "The offset from the table to its vtable is damaged or was made by hand: get the file again.";
    "vtable-out-of-bounds"
        asks "The vtable of a table lies in the FlatBuffer."
        otherwise "A runtime that verifies refuses the file; others read any memory as field offsets."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short, or malicious: get it again from a trusted source.";
    "work-limit"
        asks "The work of reading all tables is limited. Each visit of a shared table counts again: at most 4 bytes are visited for each byte of the FlatBuffer, and at most one table in a list for each 16 bytes, or 4,096."
        otherwise "A small file could keep a reader busy for hours; a runtime that verifies stops at 1,000,000 tables."
        runtime "refuses"
        help "The file is built to be slow. If you trust it, raise the amplification limit.";
    "wrong-kind" =
        /// The file is of the other kind.
        WrongKind {
            /// The kind found.
            found: &'static str,
            /// The expected kind.
            wanted: &'static str
        }
        "expected a {wanted} file, found a {found} file"
        asks "A file is read as the kind that it is."
        otherwise "The tables of a program are not those of a data file."
        runtime "refuses"
        help "Read the file as the kind that it is.";
}

/// Four bytes that name a format, shown as text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Magic(pub [u8; 4]);

impl fmt::Display for Magic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl fmt::Debug for Magic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// Every code of the verifier has a row.
const _: () = {
    let mut codes = pte_flat::ErrorKind::CODES;
    while let [code, tail @ ..] = codes {
        assert!(is_described(code.as_bytes()), "a code of pte-flat has no row");
        codes = tail;
    }
};

/// Returns whether there is a row for `code`.
const fn is_described(code: &[u8]) -> bool {
    let mut rows = ErrorKind::CODES;
    while let [row, tail @ ..] = rows {
        if equal(row.id.as_bytes(), code) {
            return true;
        }
        rows = tail;
    }
    false
}

const fn equal(mut left: &[u8], mut right: &[u8]) -> bool {
    loop {
        match (left, right) {
            ([], []) => return true,
            ([a, rest @ ..], [b, other @ ..]) if *a == *b => (left, right) = (rest, other),
            _ => return false,
        }
    }
}
