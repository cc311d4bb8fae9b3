//! Other kinds of files that are handed to this tool, named for what they are.
//!
//! Magic numbers: format.md §10, and the formats' own specifications.

use core::fmt;

/// A kind of file that is neither a `.pte` nor a `.ptd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Neighbour {
    /// Nothing at all.
    Empty,
    /// Nothing but zero bytes, where a head should be.
    Zeros,
    /// A `.bpte`: a program with test inputs, its identifier as found.
    BundledProgram([u8; 4]),
    /// A profile of a run.
    EtDump,
    /// A record of an export.
    EtRecord,
    /// A package of the native backend.
    Ptn,
    /// The graph of a `.ptn` package, taken out of it.
    NativeGraph,
    /// A delegate's payload, taken out of its program.
    Delegate(&'static str),
    /// Another FlatBuffers file, by its identifier.
    FlatBuffer([u8; 4]),
    /// Hugging Face's tensors.
    Safetensors,
    /// llama.cpp's model.
    Gguf,
    /// A model of ONNX.
    Onnx,
    /// A ZIP archive, such as a `.pt2`.
    Zip,
    /// A gzip stream.
    Gzip,
    /// A Python pickle, such as an old `.pt`.
    Pickle,
    /// A program of Linux, macOS or Windows.
    Executable,
    /// A Git LFS pointer: the file itself was never downloaded.
    GitLfs,
    /// A web page, as a failed download leaves it.
    Html,
    /// Plain text.
    Text,
    /// Something else.
    Unknown,
}

impl Neighbour {
    /// Names what a file is from its first bytes; up to 64 are looked at.
    pub fn of(head: &[u8]) -> Self {
        let head = head.get(..64).unwrap_or(head);
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
        for (magic, neighbour) in [
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
            (b"CMJR", Self::Delegate("CoreML")),
            (b"vela_bin_stream\0", Self::Delegate("Ethos-U")),
            (b"\xcd\xab\x78\x56", Self::Delegate("QNN")),
            (b"\xcd\xab\x34\x12", Self::Delegate("QNN")),
        ] {
            if starts(magic) {
                return neighbour;
            }
        }
        if matches!(head, [0x80, 2..=5, ..]) {
            return Self::Pickle;
        }
        if is_safetensors(head) {
            return Self::Safetensors;
        }
        match (magic_at(head, 4), magic_at(head, 8)) {
            (Some(id @ (b"BP06" | b"BP08")), _) => return Self::BundledProgram(*id),
            (Some(b"ED00"), _) | (_, Some(b"ED00")) => return Self::EtDump,
            (Some(b"NPTG"), _) => return Self::NativeGraph,
            (Some(b"XH00" | b"XN00" | b"XN01"), _) => return Self::Delegate("XNNPACK"),
            (Some(b"VH00" | b"VK00"), _) => return Self::Delegate("Vulkan"),
            (Some(b"MP00"), _) => return Self::Delegate("MPS"),
            (Some(b"MLX0"), _) => return Self::Delegate("MLX"),
            (Some(b"TOSA"), _) => return Self::Delegate("TOSA"),
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

fn magic_at(head: &[u8], pos: usize) -> Option<&[u8; 4]> {
    head.get(pos..)?.first_chunk()
}

/// A u64 header length, then a JSON object.
fn is_safetensors(head: &[u8]) -> bool {
    matches!(head, [_, _, _, _, _, 0, 0, 0, b'{', b'"' | b'}' | b' ' | b'\t' | b'\r' | b'\n', ..])
}

/// A protobuf message whose first field is `ir_version`, as every exporter writes it, followed by
/// a length-delimited or small field.
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

impl fmt::Display for Neighbour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "an empty file",
            Self::Zeros => "a file that begins with zeros (an unfinished download?)",
            Self::BundledProgram(id) => {
                return write!(
                    f,
                    "a bundled program ({}: a .bpte, a .pte with test inputs around it)",
                    id.escape_ascii()
                );
            }
            Self::EtDump => "an ETDump (a profile of a run)",
            Self::EtRecord => "an ETRecord (a record of an export)",
            Self::Ptn => "a .ptn package of the native backend",
            Self::NativeGraph => "a graph of the native backend (program.ptg of a .ptn package)",
            Self::Delegate(name) => return write!(f, "a delegate's payload ({name})"),
            Self::FlatBuffer(id) => {
                return write!(f, "another FlatBuffers file (\"{}\")", id.escape_ascii());
            }
            Self::Safetensors => "a safetensors file",
            Self::Gguf => "a GGUF file",
            Self::Onnx => "an ONNX model",
            Self::Zip => "a ZIP archive (a .pt2 or another package)",
            Self::Gzip => "a gzip file",
            Self::Pickle => "a Python pickle",
            Self::Executable => "an executable program",
            Self::GitLfs => "a Git LFS pointer (the file itself was not downloaded)",
            Self::Html => "a web page (a failed download?)",
            Self::Text => "a text file",
            Self::Unknown => "a file of an unknown kind",
        })
    }
}
