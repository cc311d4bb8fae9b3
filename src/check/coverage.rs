//! Which rows of format.md are covered, and by which rules and error codes.
//!
//! A rule cites the rows that it covers ([`Rule::rows`]). This module lists the other rows. Some
//! are covered by error codes of the reader. The rest cannot be judged from the file alone, or only
//! in part. `docs/rules.md` shows all rows as one table.

use alloc::vec::Vec;

use super::rule::Rule;
use super::rules;

/// The rules and error codes that cover a row of `docs/format.md`.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The rules that cite the row.
    pub rules: Vec<&'static Rule>,
    /// The codes of errors that are found before any rule runs
    /// ([`ErrorKind::CODES`](pte_core::ErrorKind)).
    pub codes: Vec<&'static str>,
    /// The reason why the row, or a part of it, cannot be judged from the file alone.
    pub reason: Option<&'static str>,
}

/// Returns what covers a row of `docs/format.md`, such as `7.4.26` or `8.1 CVE-2025-54951`. The
/// answer is empty if there is no such row.
///
/// ```
/// let answer = pte::check::coverage::answer("8.1 CVE-2025-54951");
/// assert_eq!(answer.rules[0].id, "tensor-rank");
/// assert_eq!(answer.reason, None);
/// ```
pub fn answer(row: &str) -> Answer {
    let codes = STRUCTURE.iter().filter(|(id, _)| *id == row).flat_map(|(_, codes)| *codes);
    let mut reasons = UNJUDGED.iter().chain(PARTLY);
    Answer {
        rules: rules().filter(|rule| rule.rows.contains(&row)).collect(),
        codes: codes.copied().collect(),
        reason: reasons.find(|(id, _)| *id == row).map(|(_, reason)| *reason),
    }
}

/// Returns the rows that the error with the code `code` covers.
pub fn rows_of(code: &str) -> impl Iterator<Item = &'static str> {
    STRUCTURE.iter().filter(move |(_, codes)| codes.contains(&code)).map(|(row, _)| *row)
}

/// The codes of errors that FlatBuffers' own verifier reports too.
const VERIFIER: &[&str] = &[
    "root-offset",
    "offset-null",
    "offset-out-of-bounds",
    "table-misaligned",
    "vtable-out-of-bounds",
    "vtable-length",
    "vtable-misaligned",
    "field-out-of-bounds",
    "field-misaligned",
    "vector-misaligned",
    "vector-out-of-bounds",
    "string-out-of-bounds",
    "string-not-terminated",
    "program-limit",
];

/// The rows of `docs/format.md` that the reader checks, each with its error codes. A file that
/// breaks a row is refused with one of these codes.
pub static STRUCTURE: &[(&str, &[&str])] = &[
    ("1.3.2", &["header-length", "unknown-header", "file-too-short"]),
    ("1.3.3", &["segments-truncated"]),
    ("1.3.4", &["segments-truncated", "flatbuffer-truncated"]),
    ("1.3.5", &["flatbuffer-truncated"]),
    ("1.3.7", &["program-size", "file-too-short"]),
    ("1.3.8", &["unknown-identifier", "other-format"]),
    ("1.3.9", VERIFIER),
    ("1.3.10", &["root-offset"]),
    ("1.3.17", &["segment-out-of-bounds", "segment-without-base"]),
    (
        "2.4.2",
        &[
            "header-missing",
            "header-length",
            "unknown-header",
            "file-too-short",
            "header-out-of-bounds",
        ],
    ),
    ("2.4.3", &["segments-truncated"]),
    ("2.4.4", &["flatbuffer-range", "flatbuffer-truncated"]),
    ("2.4.5", &["unknown-identifier", "other-format"]),
    ("2.4.7", &["flatbuffer-range", "root-offset"]),
    ("2.4.8", &["flat-tensor-version"]),
    ("2.4.9", &["flat-tensor-layout"]),
    ("2.4.10", VERIFIER),
    ("2.4.11", &["offset-null"]),
    ("2.4.13", &["segment-out-of-bounds"]),
    ("2.4.14", &["segments-truncated"]),
    ("2.4.25", &["header-missing", "header-length", "unknown-header", "flat-tensor-version"]),
    ("2.4.26", &["segment-out-of-bounds", "segments-truncated"]),
    ("7.2.1", VERIFIER),
    ("7.2.3", &["offset-null"]),
    ("7.2.5", &["union-half"]),
    ("7.2.10", &["union-half"]),
    ("7.4.2", &["offset-null", "union-half"]),
    ("7.4.19", &["segment-out-of-bounds", "segment-without-base"]),
    ("7.4.23", &["offset-null"]),
    ("7.4.24", &["offset-null", "union-half"]),
    ("7.6.2", &["offset-null"]),
    ("7.6.3", &["segment-without-base"]),
    ("7.6.6", &["segment-out-of-bounds"]),
    ("7.6.7", &["segment-out-of-bounds"]),
    ("7.6.8", &["segment-without-base"]),
    ("7.6.11", &["segment-out-of-bounds"]),
    ("7.6.13", &["offset-null"]),
    ("7.6.14", &["segment-out-of-bounds"]),
    ("7.6.16", &["segment-out-of-bounds", "segments-truncated", "flatbuffer-truncated"]),
    ("7.7.1", &["program-size", "flatbuffer-truncated", "segment-base", "segments-truncated"]),
    ("7.7.2", &["segment-out-of-bounds", "segments-truncated"]),
    ("7.7.3", &["segment-out-of-bounds", "segment-base"]),
    ("7.7.4", &["segment-without-base"]),
    ("7.7.5", &["segment-out-of-bounds"]),
    ("7.7.6", &["offset-null", "union-half"]),
    ("7.7.7", &["union-half"]),
    ("7.7.8", &["vtable-length", "object-size", "field-offset", "work-limit"]),
    ("7.7.9", &["root-offset"]),
    ("7.7.10", &["work-limit", "program-limit"]),
    ("7.7.11", &["string-not-utf8"]),
    ("7.7.12", &["flat-tensor-version"]),
    ("7.7.24", VERIFIER),
    (
        "7.7.24",
        &[
            "flatbuffer-range",
            "flatbuffer-truncated",
            "segments-truncated",
            "segment-out-of-bounds",
        ],
    ),
    ("8.1 CVE-2025-54952", &["vector-out-of-bounds", "program-limit"]),
    ("8.2 3d2c85395e", &["root-offset"]),
    ("8.2 e59c0bd901", &["segments-truncated"]),
    ("8.2 beca948cc9", &["segment-out-of-bounds"]),
    ("8.2 8d29b22198", &["segment-out-of-bounds", "segments-truncated", "flatbuffer-truncated"]),
    ("8.2 ec5e8e4bdf", &["segment-out-of-bounds"]),
    ("8.2 #22114", &["flat-tensor-version"]),
    ("8.2 #22118", &["root-offset", "flatbuffer-range"]),
    ("8.3.1", &["vector-out-of-bounds"]),
    ("8.3.2", &["vector-out-of-bounds"]),
    ("8.3.3", &["root-offset", "offset-out-of-bounds"]),
    ("8.3.4", &["vtable-out-of-bounds", "offset-out-of-bounds"]),
    ("8.3.5", &["string-out-of-bounds", "string-not-terminated"]),
    ("8.3.8", &["segment-out-of-bounds"]),
    ("8.3.9", &["segments-truncated", "flatbuffer-range", "flatbuffer-truncated", "segment-base"]),
    ("8.3.16", &["work-limit"]),
];

/// The rows of `docs/format.md` that cannot be judged from the file alone, with the reason.
pub static UNJUDGED: &[(&str, &str)] = &[
    ("1.3.6", "Where a loader puts the bytes is not in the file."),
    ("1.3.14", "Nothing is wrong with it: the offset stands for no constants."),
    ("2.4.6", "Where a loader puts the bytes is not in the file."),
    ("2.4.23", "The size is that of the caller's buffer."),
    ("2.4.24", "The number is the caller's."),
    ("7.3.2", "The name that is asked for is the caller's."),
    ("7.3.3", "The number is the caller's."),
    ("7.3.6", "The number is the caller's."),
    ("7.3.12", "The number is the caller's."),
    (
        "7.4.8",
        "How much memory a method is given to load into is the caller's choice; a list is never longer than the file.",
    ),
    ("7.4.15", "Which backends a runtime is built with is not in the file."),
    ("7.6.15", "The key and the question are the backend's."),
    ("7.6.17", "The file is judged as it is read; what happens to it later is not in it."),
    ("7.6.18", "Which data is loaded is the caller's choice."),
    ("8.1 CVE-2025-54949", "The index is a number that the program computes while it runs."),
    ("8.2 6b545a2361", "It is about memory that the caller gives, not about what a file says."),
    ("8.2 2d13fae2af", "It is about memory that the caller gives, not about what a file says."),
    ("8.2 161d5353e0", "It is about what the caller hands in when the method runs."),
    ("8.2 7600df87ab", "It is about the sizes that tensors get when the method runs."),
    ("8.2 64fa85e5de", "The index is a number that the program computes while it runs."),
    ("8.2 652cc5a8d3", "It is about the sizes that tensors get when the method runs."),
    ("8.2 c0cef6cf65", "Of a bundle only the program is judged; its test data is shown."),
    (
        "8.3.15",
        "How much memory a method is given to load into is the caller's choice; such a list is no fault.",
    ),
];

/// The rows of `docs/format.md` that are judged in part, with the reason why the rest is not.
pub static PARTLY: &[(&str, &str)] = &[
    ("1.3.9", "The verifier is answered here, the validation after it by the rows of 7.2."),
    (
        "2.4.15",
        "Only the keys of a program that is given are known, and of its delegates those whose graphs are judged; another may ask for any.",
    ),
    (
        "2.4.16",
        "A blob has no layout and needs none: only a program that wants a tensor shows the fault.",
    ),
    ("7.4.3", "Which data is loaded is the caller's choice: judged where the data is given."),
    ("7.4.5", "Which data is loaded is the caller's choice: judged where the data is given."),
    ("7.4.6", "That the layouts are equal is judged where the data is given."),
    (
        "7.4.21",
        "What a backend accepts is its own format: some are judged (limits.md), and how others begin.",
    ),
    (
        "7.4.28",
        "Which kernels a runtime is built with is not in the file; what the official ones are is known.",
    ),
    ("7.4.33", "Whether another loop ends depends on what its kernels compute."),
    ("7.4.35", "What an operator that is not the official runtime's takes is not in the file."),
    (
        "7.4.43",
        "At most four runs and three iterations of a loop are interpreted; later ones are judged by facts that hold in any order of the instructions.",
    ),
    (
        "7.4.44",
        "At most four runs and three iterations of a loop are interpreted; later ones are judged by facts that hold in any order of the instructions.",
    ),
    (
        "7.5.9",
        "The memory is the caller's; that the method declares an arena for the tensor is judged.",
    ),
    (
        "7.5.12",
        "The caller may give other arenas than the file declares: the declared ones are judged.",
    ),
    ("7.6.3", "Whether a program still has its loader is the caller's choice."),
    ("7.6.19", "Which data is loaded is the caller's choice: judged where the data is given."),
    ("7.7.13", "Keys of other files are judged where these are given."),
    (
        "7.7.16",
        "Whether a loop that changes its condition ends depends on what its kernels compute.",
    ),
    (
        "7.7.18",
        "Planned tensors may overlap if their lifetimes do not. Faulty overlaps cannot be distinguished from these.",
    ),
    ("7.7.21", "Which data is loaded is the caller's choice: judged where the data is given."),
    (
        "7.7.23",
        "What is inside a payload is the backend's own format: some are judged (limits.md), and how others begin.",
    ),
    (
        "8.1 CVE-2025-30404",
        "The allocator and its sizes are the caller's: only what the file asks for is judged.",
    ),
    (
        "8.1 CVE-2025-54950",
        "What an operator that is not the official runtime's takes is not in the file.",
    ),
    (
        "8.2 7ceccdfdae",
        "The memory is the caller's; that the method declares an arena for the tensor is judged.",
    ),
    (
        "8.2 #22237",
        "How many inputs and outputs there are is in the context binary, whose layout is Qualcomm's.",
    ),
    ("8.2 c4983ce1f7", "Whether another loop ends depends on what its kernels compute."),
    (
        "8.3.16",
        "Plans that are really there, each with another name, are no fault: judging them costs as much as they are long.",
    ),
    (
        "8.3.22",
        "Numbers that the program computes while it runs are not in the file: constant ones are judged.",
    ),
];
