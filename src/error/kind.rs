//! The list of refusals: for each its name, its message, what is asked and why, and what a reader can
//! do about it.

use core::fmt;

use crate::foreign::ForeignFormat;

/// What is known of a way to be refused before it is met.
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
    /// What is asked of a file.
    pub what: &'static str,
    /// Why it is asked: what happens otherwise.
    pub why: &'static str,
    /// What the official runtime (1.5.1) does, in a few words.
    pub runtime: &'static str,
    /// What to do.
    pub help: &'static str,
}

/// Declares every way to be refused once: variant, code, message, what is asked, what happens
/// otherwise, what the official runtime does, advice.
macro_rules! kinds {
    ($(
        $(#[$meta:meta])*
        $Kind:ident { $( $(#[$fmeta:meta])* $field:ident: $Field:ty ),* } = $code:literal
            $message:literal
            asks $what:literal
            otherwise $why:literal
            runtime $runtime:literal
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
            /// Every code, in alphabetical order, with all that is known of it beforehand.
            pub const CODES: &'static [Code] = &[ $( Code {
                id: $code, what: $what, why: $why, runtime: $runtime, help: $help,
            } ),* ];

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
        asks "A tensor's constant is one that the file has."
        otherwise "Loading the method is refused."
        runtime "refuses"
        help "The tensor's data_buffer_idx does not fit the constants of this file; export it again.";
    /// Data lies outside the segment that holds it (format.md §7.6).
    DataOutOfBounds {
        /// Where the data would end, counted from the start of its segment.
        end: u64,
        /// How long the segment is.
        size: u64
    } = "data-out-of-bounds"
        "the data would end {end} bytes into a segment of {size} bytes"
        asks "A tensor's data lies within its segment."
        otherwise "Loading the method is refused; runtimes before 1.0 read past the segment."
        runtime "refuses"
        help "Offset and size of this data do not fit its segment; export the file again.";
    /// The inline delegate data has no entry of that number (format.md §6.6).
    DelegateDataIndex {
        /// What the delegate asks for.
        index: u32,
        /// How many there are.
        count: u32
    } = "delegate-data-index"
        "inline delegate data {index} is asked for, and there are {count}"
        asks "A delegate's inline payload is one that the file has."
        otherwise "Loading the method is refused; without any list of them the runtime reads through a null pointer."
        runtime "crashes"
        help "The delegate's payload is not in this file; export it again.";
    /// A delegate says neither INLINE nor SEGMENT (format.md §3.2).
    DelegateLocation {
        /// The number found.
        location: i8
    } = "delegate-location"
        "the delegate's payload is at location {location}, and only INLINE (0) and SEGMENT (1) are known"
        asks "A delegate's payload is INLINE or in a SEGMENT."
        otherwise "Loading the method is refused: nothing says where the payload is."
        runtime "refuses"
        help "A newer writer may know more places: read it with a newer release of this tool, or export it again.";
    /// A vector's elements do not lie at a multiple of their size.
    ElementMisaligned {
        /// Bytes of an element.
        size: u32
    } = "element-misaligned"
        "the vector's elements are not aligned to their {size} bytes"
        asks "The elements of a vector lie at multiples of their size."
        otherwise "No runtime looks; a processor that reads numbers at such multiples only stops there."
        runtime "ignores"
        help "No writer lays a vector out like this: the file is damaged or was made by hand, so get it again from its source.";
    /// A table's field does not lie at a multiple of its size.
    FieldMisaligned {
        /// Bytes of the field.
        size: u32
    } = "field-misaligned"
        "the field is not aligned to its {size} bytes"
        asks "The fields of a table lie at multiples of their size."
        otherwise "A runtime that verifies refuses the file; for the others it depends on the processor whether they can be read."
        runtime "refuses"
        help "No writer lays a table out like this: the file is damaged or was made by hand, so get it again from its source.";
    /// A field's offset in the vtable leads onto the table's own first word.
    FieldOffset {
        /// The offset found.
        offset: u16
    } = "field-offset"
        "the field is said to lie {offset} bytes into its table, on the table's own first word"
        asks "A field lies behind the first word of its table."
        otherwise "The runtime does not look, and takes the way to the vtable for the field's value."
        runtime "ignores"
        help "The vtable is damaged, or was made by hand: export the file again.";
    /// A table's fields end past the FlatBuffers part.
    FieldOutOfBounds {
        /// Where the last field would end.
        end: u64,
        /// Where the FlatBuffers part ends.
        limit: u64
    } = "field-out-of-bounds"
        "the table's fields end at {end:#x}, past the FlatBuffers part, which ends at {limit:#x}"
        asks "The fields of a table end within the FlatBuffers part."
        otherwise "A runtime that verifies refuses the file; the others take what lies behind that part for fields."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short: compare its length with the original's, and copy it again.";
    /// The file is shorter than what its kind needs.
    FileTooShort {
        /// Bytes there are.
        len: u64,
        /// Bytes needed.
        needed: u64
    } = "file-too-short"
        "the file has {len} bytes, and at least {needed} are needed"
        asks "The file is as long as the headers of its kind."
        otherwise "Loading is refused: runtimes read the head before anything else."
        runtime "refuses"
        help "The file was cut short in its very head: download or copy it again.";
    /// A `.ptd` whose tables fit no known generation (format.md §4.3).
    FlatTensorLayout {} = "flat-tensor-layout"
        "the FlatTensor table has neither the current fields (segments and named_data) nor the old ones (tensors and segments)"
        asks "A .ptd has the lists of one known generation."
        otherwise "Runtimes refuse it, or read through a null pointer where a list should be."
        runtime "refuses or crashes"
        help "The file is damaged, or of a generation that is newer than this reader: write it again with a current release.";
    /// A `.ptd` that reads as two generations with different contents (format.md §4.3).
    FlatTensorPolyglot {} = "flat-tensor-polyglot"
        "the FlatTensor table reads as the old layout and as the current one, with contents in both"
        asks "A .ptd reads as one generation alone."
        otherwise "Runtimes up to 0.6 and from 0.7 on see different tensors: what was reviewed is not what runs."
        runtime "ignores"
        help "Runtimes up to 0.6 and from 0.7 on would see different tensors: do not trust this file.";
    /// A `.ptd` of a version that no reader knows.
    FlatTensorVersion {
        /// The version found.
        version: u32
    } = "flat-tensor-version"
        "FlatTensor version {version}, and only version 0 is known"
        asks "The version of a .ptd is 0."
        otherwise "The runtime (1.5.1) refuses any other; older ones do not look."
        runtime "refuses"
        help "The file needs a newer reader, or is damaged: look up which release wrote it.";
    /// The FlatBuffers part that a `.ptd` header declares does not fit (format.md §2.6).
    FlatbufferRange {
        /// flatbuffer_offset.
        offset: u64,
        /// flatbuffer_size.
        size: u64
    } = "flatbuffer-range"
        "flatbuffer_offset {offset} and flatbuffer_size {size} describe no FlatBuffers part: the offset must be a multiple of 8 from 40 on, the size at least 8"
        asks "The FlatBuffers part of a .ptd begins behind the header at a multiple of 8, and has at least 8 bytes."
        otherwise "Runtimes add offset and size without asking whether the sum overflows, and take what is there for tables."
        runtime "reads wrong memory"
        help "The header is damaged, or its writer used a tensor_alignment that is no multiple of 8: write the file again with one that is.";
    /// The FlatBuffers part ends past the file.
    FlatbufferTruncated {
        /// Where it should end.
        end: u64,
        /// How long the file is.
        len: u64
    } = "flatbuffer-truncated"
        "the FlatBuffers part ends at byte {end}, and the file has only {len}"
        asks "The FlatBuffers part lies in the file."
        otherwise "Loading is refused: the tables are not all there."
        runtime "refuses"
        help "The file was cut short: download or copy it again.";
    /// The header's own length is below its smallest form (format.md §1.2, §2.3).
    HeaderLength {
        /// The length found.
        length: u32,
        /// The smallest one.
        minimum: u32
    } = "header-length"
        "the extended header says that it has {length} bytes, and it has at least {minimum}"
        asks "The extended header is as long as its fields: at least 24 bytes in a .pte, 40 in a .ptd."
        otherwise "Loading is refused, since fields would be missing."
        runtime "refuses"
        help "The length in the header is damaged: get the file again, or export it again.";
    /// A `.ptd` without its header (format.md §2.3).
    HeaderMissing {} = "header-missing"
        "the file has no FH01 header at byte 8"
        asks "A .ptd has an FH01 header."
        otherwise "Loading is refused: nothing else says where tables and segments are."
        runtime "refuses"
        help "Every .ptd has one: the file is damaged, or something else with a .ptd's identifier; get it again.";
    /// The header reaches past the part of the file that must hold it (format.md §1.5).
    HeaderOutOfBounds {
        /// Where the header ends.
        end: u64,
        /// Where it must have ended.
        limit: u64
    } = "header-out-of-bounds"
        "the extended header ends at byte {end}, past byte {limit}, where it must have ended"
        asks "The extended header ends before what it describes begins."
        otherwise "The runtime does not look: the same bytes are read as header and as tables."
        runtime "ignores"
        help "The header is damaged, or the file was cut short: get it again.";
    /// A table says that it is smaller than its own first word.
    ObjectSize {
        /// The size found.
        size: u16
    } = "object-size"
        "the vtable says that its table has {size} bytes, and a table has at least 4"
        asks "A table is at least as long as its own first word, which has 4 bytes."
        otherwise "The runtime never reads this number. No writer makes such a one, so what is taken for a vtable is none."
        runtime "ignores"
        help "The vtable is damaged, or something led to what is no vtable: get the file again.";
    /// An offset of 0: it would lead to itself.
    OffsetNull {} = "offset-null"
        "the offset is 0, which leads to itself"
        asks "An offset leads on, and not to itself."
        otherwise "In a field a runtime that verifies refuses it; in a list its own bytes are taken for a table."
        runtime "refuses, or reads wrong memory"
        help "No writer makes such an offset: the file is damaged or was made by hand; do not load it.";
    /// An offset leads out of the FlatBuffers part.
    OffsetOutOfBounds {
        /// Where it leads.
        target: u64,
        /// Where the FlatBuffers part ends.
        limit: u64
    } = "offset-out-of-bounds"
        "the offset leads to {target:#x}, and the FlatBuffers part ends at {limit:#x}"
        asks "An offset leads into the FlatBuffers part."
        otherwise "A runtime that verifies refuses the file; the others follow it into memory that is not the file's."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short, or meant to be followed astray: get it again from a source that you trust.";
    /// The file is of another kind.
    OtherFormat {
        /// What it is.
        format: ForeignFormat
    } = "other-format"
        "this is {format}, not a .pte or .ptd file"
        asks "The file is a .pte or a .ptd."
        otherwise "Loading is refused: the identifier is another one."
        runtime "refuses"
        help "Give a .pte program or a .ptd data file.";
    /// The FlatBuffers part is longer than the limit.
    ProgramLimit {
        /// Its length.
        size: u64,
        /// The limit.
        limit: u64
    } = "program-limit"
        "the FlatBuffers part has {size} bytes, and the limit is {limit}"
        asks "The FlatBuffers part is no longer than the limit: 2 GiB, or what --max-program says."
        otherwise "Offsets in FlatBuffers end there, and a runtime that verifies refuses more."
        runtime "refuses"
        help "FlatBuffers itself ends at 2 GiB; a lower limit can be raised with --max-program.";
    /// program_size is too small to hold the headers (format.md §1.5).
    ProgramSize {
        /// program_size.
        size: u64,
        /// The least that the headers need.
        minimum: u64
    } = "program-size"
        "program_size is {size}, and the headers alone take {minimum} bytes"
        asks "program_size is large enough for the headers that it counts."
        otherwise "The runtime refuses less than 8 bytes; of what is more it does not ask whether the header fits."
        runtime "refuses"
        help "The program_size in the header is damaged: get the file again, or export it again.";
    /// The root offset leads out of the FlatBuffers part, or into the headers' first 8 bytes.
    RootOffset {
        /// The offset found.
        root: u32,
        /// Where the FlatBuffers part ends.
        limit: u64
    } = "root-offset"
        "the root offset is {root:#x}, and the root table must lie between 0x8 and the end of the FlatBuffers part at {limit:#x}"
        asks "The root table lies in the FlatBuffers part, behind its first 8 bytes."
        otherwise "Loading is refused; a .ptd by release 1.5.1 alone, and older ones read memory that is not the file's."
        runtime "refuses, or reads wrong memory"
        help "The first four bytes are damaged, or the file is cut short: get it again.";
    /// Segments that begin inside the FlatBuffers part (format.md §1.5).
    SegmentBase {
        /// segment_base_offset.
        base: u64,
        /// Where the FlatBuffers part ends.
        end: u64
    } = "segment-base"
        "the segments begin at byte {base}, inside the FlatBuffers part, which ends at byte {end}"
        asks "Segments begin behind the FlatBuffers part."
        otherwise "The runtime does not look: the same bytes are tables and weights."
        runtime "ignores"
        help "The segment_base_offset in the header is damaged: export the file again.";
    /// No segment of that number.
    SegmentIndex {
        /// What is asked for.
        index: u32,
        /// How many there are.
        count: u32
    } = "segment-index"
        "segment {index} is asked for, and there are {count}"
        asks "A reference to a segment is the number of one."
        otherwise "Loading what refers to it is refused."
        runtime "refuses"
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
        asks "Every segment lies in the file, and in a .ptd within the size that the header declares."
        otherwise "Loading it is refused; where the sum of base and offset overflows, other bytes are taken for it."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short: compare its length with the original's, and download it again.";
    /// A segment with contents in a file whose header places no segments (format.md §1.5).
    SegmentWithoutBase {
        /// size.
        size: u64
    } = "segment-without-base"
        "a segment of {size} bytes in a file without a header that places any"
        asks "Where segments have bytes, a header says where they begin."
        otherwise "Loading a segment is refused; the constants' one is taken from the beginning of the file."
        runtime "refuses, or reads wrong memory"
        help "The runtime cannot load this segment: the extended header is missing or damaged, so export the file again.";
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
        asks "The data of all segments lies in the file."
        otherwise "Loading is refused; a .ptd not by every release, nor where the sum overflows."
        runtime "refuses"
        help "The file was cut short behind its tables: download or copy it again.";
    /// A string without its final zero.
    StringNotTerminated {} = "string-not-terminated"
        "the string does not end with a zero byte"
        asks "A string ends with a zero byte."
        otherwise "A runtime that verifies refuses the file; the others read on behind the string until they meet one."
        runtime "refuses, or reads wrong memory"
        help "The runtime reads on past its end; the file is damaged or was made by hand: do not load it.";
    /// A string that is no UTF-8.
    StringNotUtf8 {
        /// Bytes of the string that are.
        valid: u32
    } = "string-not-utf8"
        "the string is no UTF-8 from its byte {valid} on"
        asks "A string is text in UTF-8."
        otherwise "The runtime compares bytes and does not look; tools can neither show nor store such a name."
        runtime "ignores"
        help "The file is damaged, or a name in it was made by hand: export it again with a name that is text.";
    /// A string that ends past the FlatBuffers part.
    StringOutOfBounds {
        /// Its length.
        len: u32
    } = "string-out-of-bounds"
        "a string of {len} bytes ends past the FlatBuffers part"
        asks "A string ends within the FlatBuffers part."
        otherwise "A runtime that verifies refuses the file; the others read a name from memory that is not the file's."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short, or its string was made too long by hand: get it again.";
    /// A table at a position that is no multiple of 4.
    TableMisaligned {} = "table-misaligned"
        "the table does not lie at a multiple of 4"
        asks "A table lies at a multiple of 4."
        otherwise "A runtime that verifies refuses the file; for the others all of the table's numbers lie at odd addresses."
        runtime "refuses"
        help "What leads to this table is damaged or was made by hand: get the file again.";
    /// A tensor whose size cannot be computed (format.md §6.3).
    TensorSize {} = "tensor-size"
        "the tensor's size cannot be computed: a negative size, an unknown dtype, or a product that overflows"
        asks "A tensor's size in bytes can be computed: no size is negative, the dtype is known, and no product overflows."
        otherwise "Loading the method is refused; in a .ptd a dtype that is not known ends the process."
        runtime "refuses or crashes"
        help "The tensor's sizes or scalar_type are damaged: export the file again.";
    /// One half of a union without the other.
    UnionHalf {
        /// The tag.
        tag: u8
    } = "union-half"
        "a union with tag {tag} and only one of its two halves"
        asks "A union has both of its halves, the tag and the value, or neither."
        otherwise "Without the value the runtime reads through a null pointer; without the tag it refuses the method."
        runtime "crashes"
        help "No writer leaves one half out: the file is damaged or was made by hand; do not load it.";
    /// A header magic of a version that is not known (format.md §1.5).
    UnknownHeader {
        /// What was found.
        magic: Magic,
        /// What is known.
        known: Magic
    } = "unknown-header"
        "the extended header's magic is {magic}, and only {known} is known"
        asks "The extended header is of a version that is known."
        otherwise "The runtime takes it for no header at all, and so loses the segments."
        runtime "ignores"
        help "The file needs a newer reader, of this tool and of the runtime.";
    /// A file identifier of a version that is not known (format.md §1.5).
    UnknownIdentifier {
        /// What was found.
        identifier: Magic,
        /// What is known.
        known: Magic
    } = "unknown-identifier"
        "the file identifier is {identifier}, and only {known} is known"
        asks "The file identifier is of a version that is known: ET12 for a .pte, FT01 for a .ptd."
        otherwise "Loading is refused: another version may have other tables."
        runtime "refuses"
        help "The file needs a newer reader: look up which release wrote it.";
    /// A vector or string at a position that is no multiple of 4.
    VectorMisaligned {} = "vector-misaligned"
        "the length of a vector or string does not lie at a multiple of 4"
        asks "The length of a vector or string lies at a multiple of 4."
        otherwise "A runtime that verifies refuses the file; the others read a length that no writer has put there."
        runtime "refuses, or reads wrong memory"
        help "What leads to this vector is damaged or was made by hand: get the file again.";
    /// A vector that ends past the FlatBuffers part.
    VectorOutOfBounds {
        /// Bytes of its elements.
        bytes: u64
    } = "vector-out-of-bounds"
        "vector of {bytes} bytes ends past the program"
        asks "A vector ends within the FlatBuffers part."
        otherwise "A runtime that verifies refuses the file; the others read memory that is not the file's, for as long as the count says."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short, or its count was made to lie: get it again.";
    /// A vtable of an odd length, or one too short for its own two words.
    VtableLength {
        /// The length found.
        len: u16
    } = "vtable-length"
        "the vtable says that it has {len} bytes, and it has an even number of them from 4 on"
        asks "The length of a vtable is even, and covers its own two words."
        otherwise "A runtime that verifies refuses an odd length, and takes a table whose vtable is too short for an empty one."
        runtime "refuses"
        help "The length of the vtable is damaged: get the file again, or export it again.";
    /// A vtable at an odd position.
    VtableMisaligned {} = "vtable-misaligned"
        "the vtable does not lie at a multiple of 2"
        asks "A vtable lies at a multiple of 2."
        otherwise "A runtime that verifies refuses the file; the others read fields' offsets from odd addresses."
        runtime "refuses"
        help "The way from the table to its vtable is damaged or was made by hand: get the file again.";
    /// A vtable outside the FlatBuffers part.
    VtableOutOfBounds {
        /// Where the table says its vtable is.
        vtable: i64
    } = "vtable-out-of-bounds"
        "the table's vtable, at byte {vtable}, does not lie in the FlatBuffers part"
        asks "The vtable of a table lies in the FlatBuffers part."
        otherwise "A runtime that verifies refuses the file; the others take any memory for the list of fields."
        runtime "refuses, or reads wrong memory"
        help "The file is damaged or cut short, or made to be read elsewhere: get it again from a source that you trust.";
    /// More was visited than the limit allows.
    WorkLimit {
        /// The limit.
        limit: u64,
        /// What it counts.
        what: &'static str
    } = "work-limit"
        "reading this file visits more than {limit} {what}: the same tables are used over and over"
        asks "Reading all tables visits at most four bytes for each byte of the FlatBuffers part, or what --max-amplification says, and a sixteenth as many tables in lists, or a million."
        otherwise "A small file could keep a reader busy for hours; a runtime that verifies stops at 1,000,000 tables."
        runtime "refuses"
        help "The file is built to be slow; if you trust it, raise --max-amplification.";
    /// A file of the kind that was not asked for.
    WrongKind {
        /// What it is.
        found: &'static str,
        /// What was asked for.
        wanted: &'static str
    } = "wrong-kind"
        "this is a {found} file, and a {wanted} is wanted"
        asks "A file is read as what it is."
        otherwise "The tables of a program are not those of a data file."
        runtime "refuses"
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
