//! Foreign formats: files that are neither `.pte` nor `.ptd`, recognized by their first bytes, and payloads
//! of Core ML by their last ones.
//!
//! Magic numbers: format.md §10, and the formats' own specifications.

use crate::backend::{Backend, magic};
use pte_schema::{bundled_program, etdump};

pte_flat::messages! {
    /// A format that is neither `.pte` nor `.ptd`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum ForeignFormat {
        /// An empty file.
        Empty => "an empty file";
        /// A file that begins with zero bytes.
        Zeros => "a file that begins with zeros (an unfinished download?)";
        /// A `.bpte`: a program with test inputs. The field is the identifier of the file.
        BundledProgram(id: [u8; 4]) => "a bundled program ({}: a .bpte, a .pte with test inputs around it)", id.escape_ascii();
        /// A profile of a run.
        EtDump => "an ETDump (a profile of a run)";
        /// A record of an export.
        EtRecord => "an ETRecord (a record of an export)";
        /// A package of the native backend.
        Ptn => "a .ptn package of the native backend";
        /// A delegate's payload, as a separate file.
        Payload(backend: Backend) => "a delegate's payload ({})", backend.name();
        /// Another FlatBuffers file. The field is the identifier of the file.
        FlatBuffer(id: [u8; 4]) => "another FlatBuffers file (\"{}\")", id.escape_ascii();
        /// A safetensors file of Hugging Face.
        Safetensors => "a safetensors file";
        /// A GGUF model of llama.cpp.
        Gguf => "a GGUF file";
        /// An ONNX model.
        Onnx => "an ONNX model";
        /// A ZIP archive, such as a `.pt2`.
        Zip => "a ZIP archive (a .pt2 or another package)";
        /// A gzip stream.
        Gzip => "a gzip file";
        /// A Python pickle, such as an old `.pt`.
        Pickle => "a Python pickle";
        /// An executable of Linux, macOS or Windows.
        Executable => "an executable program";
        /// A Git LFS pointer: the file itself was never downloaded.
        GitLfs => "a Git LFS pointer (the file itself was not downloaded)";
        /// A web page, as a failed download leaves it.
        Html => "a web page (a failed download?)";
        /// Plain text.
        Text => "a text file";
        /// Any other file.
        Unknown => "a file of an unknown kind";
    }
}

/// The identifiers of a bundled program.
pub(crate) const BUNDLED_PROGRAM: [[u8; 4]; 2] =
    [bundled_program::desc::SCHEMA.identifier, *b"BP06"];

/// The identifier of a profile.
pub(crate) const ET_DUMP: [u8; 4] = etdump::desc::SCHEMA.identifier;

impl ForeignFormat {
    /// The length in bytes of the start of a file that [`of`](Self::of) reads. No header of a payload is
    /// longer.
    pub const HEAD: u64 = 64;

    /// Recognizes a format by a file's first bytes, of which at most [`HEAD`](Self::HEAD) are read.
    pub fn of(head: &[u8]) -> Self {
        let head = usize::try_from(Self::HEAD).ok().and_then(|len| head.get(..len)).unwrap_or(head);
        if head.is_empty() {
            return Self::Empty;
        }
        let starts = |magic: &[u8]| head.starts_with(magic);
        let holds = |part: &[u8]| head.windows(part.len()).any(|window| window == part);
        if starts(b"PK\x03\x04") {
            return match () {
                () if holds(b"ETRECORD") || holds(b"etrecord") => Self::EtRecord,
                () if holds(b"program.ptg") || holds(b"aliases.json") => Self::Ptn,
                () => Self::Zip,
            };
        }
        for (magic, format) in [
            (&b"GGUF"[..], Self::Gguf),
            (b"\x1f\x8b", Self::Gzip),
            (b"\x7fELF", Self::Executable),
            (b"\xcf\xfa\xed\xfe", Self::Executable),
            (b"\xca\xfe\xba\xbe", Self::Executable),
            (b"MZ", Self::Executable),
            (b"version https://git-lfs", Self::GitLfs),
            (b"<!DOCTYPE", Self::Html),
            (b"<!doctype", Self::Html),
            (b"<html", Self::Html),
        ] {
            if starts(magic) {
                return format;
            }
        }
        if let Some(backend) = Backend::of_payload(head) {
            return Self::Payload(backend);
        }
        if matches!(head, [0x80, 2..=5, ..]) {
            return Self::Pickle;
        }
        if is_safetensors(head) {
            return Self::Safetensors;
        }
        match (magic_at(head, 4), magic_at(head, 8)) {
            (Some(id), _) if BUNDLED_PROGRAM.contains(id) => return Self::BundledProgram(*id),
            (Some(&ET_DUMP), _) | (_, Some(&ET_DUMP)) => return Self::EtDump,
            _ => {}
        }
        if head.iter().all(|&byte| byte == 0) {
            return Self::Zeros;
        }
        if is_text(head) {
            return Self::Text;
        }
        if is_onnx(head) {
            return Self::Onnx;
        }
        match magic_at(head, 4) {
            Some(id) if id.iter().all(u8::is_ascii_alphanumeric) => Self::FlatBuffer(*id),
            _ => Self::Unknown,
        }
    }
}

impl ForeignFormat {
    /// Recognizes a format by a file's first and last bytes, of which [`HEAD`](Self::HEAD) each are enough.
    /// Payloads of Core ML begin with any file, and end with a table of contents. All other formats are
    /// recognized by the first bytes, as [`of`](Self::of) does.
    ///
    /// ```
    /// use pte::{Backend, ForeignFormat};
    ///
    /// let format = ForeignFormat::of_ends(b"{\"inputNames\": [", b"}{:\"nerdlihc\"{[:\"sedon\"{");
    /// assert_eq!(format, ForeignFormat::Payload(Backend::CoreMl));
    /// ```
    pub fn of_ends(head: &[u8], tail: &[u8]) -> Self {
        let most = usize::try_from(Self::HEAD).unwrap_or(usize::MAX);
        let head = head.get(..most).unwrap_or(head);
        let tail = tail.get(tail.len().saturating_sub(most)..).unwrap_or_default();
        let format = Self::of(head);
        match format.may_be_core_ml(head) && ends_as_core_ml(tail) {
            true => Self::Payload(Backend::CoreMl),
            false => format,
        }
    }

    /// Returns whether a file of this format, which begins with `head`, may be a payload of Core ML.
    pub(crate) fn may_be_core_ml(self, head: &[u8]) -> bool {
        // A program or a `.ptd` may end with such a payload.
        let is_data = head.starts_with(b"FH");
        !is_data && matches!(self, Self::Text | Self::Zeros | Self::Onnx | Self::Unknown)
    }
}

/// Returns whether a file ends with the start of a table of contents, whose bytes are reversed. Zeros may
/// follow.
fn ends_as_core_ml(tail: &[u8]) -> bool {
    let zeros = tail.iter().rev().take_while(|&&byte| byte == 0).count();
    let end = tail.len().saturating_sub(zeros);
    tail.get(..end).unwrap_or_default().ends_with(&magic::CORE_ML_CONTENTS)
}

fn magic_at(head: &[u8], pos: usize) -> Option<&[u8; 4]> {
    head.get(pos..)?.first_chunk()
}

/// Returns whether a file begins with a u64 header length and a JSON object.
fn is_safetensors(head: &[u8]) -> bool {
    matches!(head, [_, _, _, _, _, 0, 0, 0, b'{', b'"' | b'}' | b' ' | b'\t' | b'\r' | b'\n', ..])
}

/// Returns whether a file begins with a protobuf message of ONNX. Its first field is `ir_version`,
/// as every exporter writes it, and a length-delimited or small field follows.
fn is_onnx(head: &[u8]) -> bool {
    matches!(head, [0x08, 1..=30, 0x12 | 0x1a | 0x22 | 0x28 | 0x3a | 0x42, ..])
}

fn is_text(head: &[u8]) -> bool {
    let printable = |text: &str| !text.chars().any(|c| c.is_control() && !c.is_whitespace());
    match core::str::from_utf8(head) {
        Ok(text) => printable(text),
        // The window may end inside a character.
        Err(cut) if cut.error_len().is_none() => head
            .get(..cut.valid_up_to())
            .and_then(|head| core::str::from_utf8(head).ok())
            .is_some_and(|text| !text.is_empty() && printable(text)),
        Err(_) => false,
    }
}
