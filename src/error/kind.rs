//! The list of refusals: for each its name, its message and what a reader can do about it.

use core::fmt;

use crate::neighbour::Neighbour;

/// Declares every way to be refused once: variant, code, message, advice.
macro_rules! kinds {
    ($(
        $(#[$meta:meta])*
        $Kind:ident { $( $(#[$fmeta:meta])* $field:ident: $Field:ty ),* } = $code:literal
            $message:literal
            help $help:literal;
    )*) => {
        /// What was wrong, with the numbers that show it.
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
            /// Every code, in alphabetical order, with its advice.
            pub const CODES: &'static [(&'static str, &'static str)] = &[ $( ($code, $help) ),* ];

            /// The stable name, in kebab case.
            pub fn code(&self) -> &'static str {
                match self { $( Self::$Kind { .. } => $code, )* }
            }

            /// What it means for the reader of the message, and what to do.
            pub fn help(&self) -> &'static str {
                match self { $( Self::$Kind { .. } => $help, )* }
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
    /// The constant segment or buffer has no entry of that number (format.md §7.6).
    ConstantIndex {
        /// What the tensor asks for.
        index: u32,
        /// How many there are.
        count: u32
    } = "constant-index"
        "constant {index} is asked for, and there are {count}"
        help "The tensor's data_buffer_idx does not fit the constants of this file; export it again.";
    /// Data lies outside the segment that holds it (format.md §7.6).
    DataOutOfBounds {
        /// Where the data would end, counted from the start of its segment.
        end: u64,
        /// How long the segment is.
        size: u64
    } = "data-out-of-bounds"
        "the data would end {end} bytes into a segment of {size} bytes"
        help "Offset and size of this data do not fit its segment; export the file again.";
    /// The inline delegate data has no entry of that number (format.md §6.6).
    DelegateDataIndex {
        /// What the delegate asks for.
        index: u32,
        /// How many there are.
        count: u32
    } = "delegate-data-index"
        "inline delegate data {index} is asked for, and there are {count}"
        help "The delegate's payload is not in this file; export it again.";
    /// A delegate says neither INLINE nor SEGMENT (format.md §3.2).
    DelegateLocation {
        /// The number found.
        location: i8
    } = "delegate-location"
        "the delegate's payload is at location {location}, and only INLINE (0) and SEGMENT (1) are known"
        help "The file needs a newer reader, or is damaged.";
    /// A vector's elements do not lie at a multiple of their size.
    ElementMisaligned {
        /// Bytes of an element.
        size: u32
    } = "element-misaligned"
        "the vector's elements are not aligned to their {size} bytes"
        help "No writer lays a vector out like this: the file is damaged or was made by hand.";
    /// A table's field does not lie at a multiple of its size.
    FieldMisaligned {
        /// Bytes of the field.
        size: u32
    } = "field-misaligned"
        "the field is not aligned to its {size} bytes"
        help "No writer lays a table out like this: the file is damaged or was made by hand.";
    /// A field's offset in the vtable leads onto the table's own first word.
    FieldOffset {
        /// The offset found.
        offset: u16
    } = "field-offset"
        "the field is said to lie {offset} bytes into its table, on the table's own first word"
        help "The vtable is damaged.";
    /// A table's fields end past the FlatBuffers part.
    FieldOutOfBounds {
        /// Where the last field would end.
        end: u64,
        /// Where the FlatBuffers part ends.
        limit: u64
    } = "field-out-of-bounds"
        "the table's fields end at {end:#x}, past the FlatBuffers part, which ends at {limit:#x}"
        help "The file is damaged or cut short.";
    /// The file is shorter than what its kind needs.
    FileTooShort {
        /// Bytes there are.
        len: u64,
        /// Bytes needed.
        needed: u64
    } = "file-too-short"
        "the file has {len} bytes, and at least {needed} are needed"
        help "The file was cut short: download or copy it again.";
    /// A `.ptd` whose tables fit no known generation (format.md §4.3).
    FlatTensorLayout {} = "flat-tensor-layout"
        "the FlatTensor table has neither the current fields (segments and named_data) nor the old ones (tensors and segments)"
        help "The file needs a newer reader, or is damaged.";
    /// A `.ptd` that reads as two generations with different contents (format.md §4.3).
    FlatTensorPolyglot {} = "flat-tensor-polyglot"
        "the FlatTensor table reads as the old layout and as the current one, with contents in both"
        help "Runtimes up to 0.6 and from 0.7 on would see different tensors: do not trust this file.";
    /// A `.ptd` of a version that no reader knows.
    FlatTensorVersion {
        /// The version found.
        version: u32
    } = "flat-tensor-version"
        "FlatTensor version {version}, and only version 0 is known"
        help "The file needs a newer reader, or is damaged.";
    /// The FlatBuffers part that a `.ptd` header declares does not fit (format.md §2.6).
    FlatbufferRange {
        /// flatbuffer_offset.
        offset: u64,
        /// flatbuffer_size.
        size: u64
    } = "flatbuffer-range"
        "flatbuffer_offset {offset} and flatbuffer_size {size} describe no FlatBuffers part: the offset must be a multiple of 8 from 40 on, the size at least 8"
        help "The header is damaged, or its writer used a tensor_alignment that is no multiple of 8.";
    /// The FlatBuffers part ends past the file.
    FlatbufferTruncated {
        /// Where it should end.
        end: u64,
        /// How long the file is.
        len: u64
    } = "flatbuffer-truncated"
        "the FlatBuffers part ends at byte {end}, and the file has only {len}"
        help "The file was cut short: download or copy it again.";
    /// The header's own length is below its smallest form (format.md §1.2, §2.3).
    HeaderLength {
        /// The length found.
        length: u32,
        /// The smallest one.
        minimum: u32
    } = "header-length"
        "the extended header says that it has {length} bytes, and it has at least {minimum}"
        help "The header is damaged.";
    /// A `.ptd` without its header (format.md §2.3).
    HeaderMissing {} = "header-missing"
        "the file has no FH01 header at byte 8"
        help "Every .ptd has one: the file is damaged.";
    /// The header reaches past the part of the file that must hold it (format.md §1.5).
    HeaderOutOfBounds {
        /// Where the header ends.
        end: u64,
        /// Where it must have ended.
        limit: u64
    } = "header-out-of-bounds"
        "the extended header ends at byte {end}, past byte {limit}, where it must have ended"
        help "The header is damaged, or the file was cut short.";
    /// A table says that it is smaller than its own first word.
    ObjectSize {
        /// The size found.
        size: u16
    } = "object-size"
        "the vtable says that its table has {size} bytes, and a table has at least 4"
        help "The vtable is damaged.";
    /// An offset of 0: it would lead to itself.
    OffsetNull {} = "offset-null"
        "the offset is 0, which leads to itself"
        help "The file is damaged or was made by hand.";
    /// An offset leads out of the FlatBuffers part.
    OffsetOutOfBounds {
        /// Where it leads.
        target: u64,
        /// Where the FlatBuffers part ends.
        limit: u64
    } = "offset-out-of-bounds"
        "the offset leads to {target:#x}, and the FlatBuffers part ends at {limit:#x}"
        help "The file is damaged or cut short.";
    /// The file is of another kind.
    OtherFormat {
        /// What it is.
        neighbour: Neighbour
    } = "other-format"
        "this is {neighbour}, not a .pte or .ptd file"
        help "Give a .pte program or a .ptd data file.";
    /// The FlatBuffers part is longer than the limit.
    ProgramLimit {
        /// Its length.
        size: u64,
        /// The limit.
        limit: u64
    } = "program-limit"
        "the FlatBuffers part has {size} bytes, and the limit is {limit}"
        help "FlatBuffers itself ends at 2 GiB; a lower limit can be raised with --max-program.";
    /// program_size is too small to hold the headers (format.md §1.5).
    ProgramSize {
        /// program_size.
        size: u64,
        /// The least that the headers need.
        minimum: u64
    } = "program-size"
        "program_size is {size}, and the headers alone take {minimum} bytes"
        help "The header is damaged.";
    /// The root offset leads out of the FlatBuffers part, or into the headers' first 8 bytes.
    RootOffset {
        /// The offset found.
        root: u32,
        /// Where the FlatBuffers part ends.
        limit: u64
    } = "root-offset"
        "the root offset is {root:#x}, and the root table must lie between 0x8 and the end of the FlatBuffers part at {limit:#x}"
        help "The file is damaged or cut short.";
    /// Segments that begin inside the FlatBuffers part (format.md §1.5).
    SegmentBase {
        /// segment_base_offset.
        base: u64,
        /// Where the FlatBuffers part ends.
        end: u64
    } = "segment-base"
        "the segments begin at byte {base}, inside the FlatBuffers part, which ends at byte {end}"
        help "The header is damaged.";
    /// No segment of that number.
    SegmentIndex {
        /// What is asked for.
        index: u32,
        /// How many there are.
        count: u32
    } = "segment-index"
        "segment {index} is asked for, and there are {count}"
        help "A reference to a segment does not fit the list of segments; export the file again.";
    /// A segment ends past the bytes that may hold segments.
    SegmentOutOfBounds {
        /// offset.
        offset: u64,
        /// size.
        size: u64,
        /// Bytes from the segment base to the end of the segment data.
        limit: u64
    } = "segment-out-of-bounds"
        "a segment of {size} bytes at offset {offset} does not fit the {limit} bytes that hold segments"
        help "The file is damaged or cut short.";
    /// A segment with contents in a file whose header places no segments (format.md §1.5).
    SegmentWithoutBase {
        /// size.
        size: u64
    } = "segment-without-base"
        "a segment of {size} bytes in a file without a header that places any"
        help "The runtime cannot load this segment: the extended header is missing or damaged.";
    /// The segment data ends past the file.
    SegmentsTruncated {
        /// segment_base_offset.
        base: u64,
        /// segment_data_size.
        size: u64,
        /// How long the file is.
        len: u64
    } = "segments-truncated"
        "{size} bytes of segments from byte {base} on, and the file has only {len} bytes"
        help "The file was cut short: download or copy it again.";
    /// A string without its final zero.
    StringNotTerminated {} = "string-not-terminated"
        "the string does not end with a zero byte"
        help "The runtime reads on past its end; the file is damaged or was made by hand.";
    /// A string that is no UTF-8.
    StringNotUtf8 {
        /// Bytes of the string that are.
        valid: u32
    } = "string-not-utf8"
        "the string is no UTF-8 from its byte {valid} on"
        help "The file is damaged or was made by hand.";
    /// A string that ends past the FlatBuffers part.
    StringOutOfBounds {
        /// Its length.
        len: u32
    } = "string-out-of-bounds"
        "a string of {len} bytes ends past the FlatBuffers part"
        help "The file is damaged or cut short.";
    /// A table at a position that is no multiple of 4.
    TableMisaligned {} = "table-misaligned"
        "the table does not lie at a multiple of 4"
        help "The file is damaged or was made by hand.";
    /// A tensor whose size cannot be computed (format.md §6.3).
    TensorSize {} = "tensor-size"
        "the tensor's size cannot be computed: a negative size, an unknown dtype, or a product that overflows"
        help "The tensor's sizes or scalar_type are damaged.";
    /// One half of a union without the other.
    UnionHalf {
        /// The tag.
        tag: u8
    } = "union-half"
        "a union with tag {tag} and only one of its two halves"
        help "The file is damaged or was made by hand.";
    /// A header magic of a version that is not known (format.md §1.5).
    UnknownHeader {
        /// What was found.
        magic: Magic,
        /// What is known.
        known: Magic
    } = "unknown-header"
        "the extended header's magic is {magic}, and only {known} is known"
        help "The file needs a newer reader.";
    /// A file identifier of a version that is not known (format.md §1.5).
    UnknownIdentifier {
        /// What was found.
        identifier: Magic,
        /// What is known.
        known: Magic
    } = "unknown-identifier"
        "the file identifier is {identifier}, and only {known} is known"
        help "The file needs a newer reader.";
    /// A vector or string at a position that is no multiple of 4.
    VectorMisaligned {} = "vector-misaligned"
        "the length of a vector or string does not lie at a multiple of 4"
        help "The file is damaged or was made by hand.";
    /// A vector that ends past the FlatBuffers part.
    VectorOutOfBounds {
        /// Bytes of its elements.
        bytes: u64
    } = "vector-out-of-bounds"
        "vector of {bytes} bytes ends past the program"
        help "The file is damaged or cut short.";
    /// A vtable of an odd length, or one too short for its own two words.
    VtableLength {
        /// The length found.
        len: u16
    } = "vtable-length"
        "the vtable says that it has {len} bytes, and it has an even number of them from 4 on"
        help "The vtable is damaged.";
    /// A vtable at an odd position.
    VtableMisaligned {} = "vtable-misaligned"
        "the vtable does not lie at a multiple of 2"
        help "The file is damaged or was made by hand.";
    /// A vtable outside the FlatBuffers part.
    VtableOutOfBounds {
        /// Where the table says its vtable is.
        vtable: i64
    } = "vtable-out-of-bounds"
        "the table's vtable, at byte {vtable}, does not lie in the FlatBuffers part"
        help "The file is damaged or cut short.";
    /// More was visited than the limit allows.
    WorkLimit {
        /// The limit, in bytes.
        limit: u64
    } = "work-limit"
        "reading this file visits more than {limit} bytes: the same tables are used over and over"
        help "The file is built to be slow; if you trust it, raise --max-amplification.";
    /// A file of the kind that was not asked for.
    WrongKind {
        /// What it is.
        found: &'static str,
        /// What was asked for.
        wanted: &'static str
    } = "wrong-kind"
        "this is a {found} file, and a {wanted} is wanted"
        help "Read it as what it is.";
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
