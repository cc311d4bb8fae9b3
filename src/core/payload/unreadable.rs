//! Why a payload, or another file that is no program, cannot be read.

use alloc::string::String;
use core::ops::Range;

use crate::error::Error;
use crate::foreign::ForeignFormat;

pte_flat::errors! {
    /// The reason why a backend refuses a payload.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Unreadable {
        /// The payload is shorter than its header.
        Short {
            /// The length of the payload in bytes.
            len: u64,
            /// The length of the header.
            needed: u64,
        } => "there are {len} bytes, and the header needs {needed}";
        /// A header or an inner FlatBuffer has none of the magics of its backend.
        Magic {
            /// The four bytes that were found.
            magic: [u8; 4],
        } => "unknown magic \"{}\" in the payload", magic.escape_ascii();
        /// The header declares a part that is outside the payload, or overlaps the previous part.
        Part {
            /// The name of the part.
            name: &'static str,
            /// The range of the part in the payload.
            range: Range<u64>,
            /// The length of the payload in bytes.
            len: u64,
        } => "the {name} would be at bytes {:#x} to {:#x}, and there are {len} bytes", range.start, range.end;
        /// A message of Protocol Buffers has a malformed field.
        Message {
            /// The position of the field in the model.
            at: u64,
        } => "malformed field at byte {at:#x} of the model";
        /// The model of OpenVINO is not what its plugin reads.
        Model {
            /// The position in the model.
            at: u64,
            /// The description of the defect.
            why: &'static str,
        } => "byte {at:#x} of the model: {why}";
        /// A command stream has a word that is no command.
        Commands {
            /// The position in the payload.
            at: u64,
            /// The description of the defect.
            why: &'static str,
        } => "byte {at:#x} of the payload: {why}";
        /// A block of a stream has an unknown name, or a position that is not allowed.
        Block {
            /// The position of the block in the payload.
            at: u64,
        } => "invalid block at byte {at:#x} of the payload";
        /// A `.ptn` package or an ETRecord does not have the layout that its writer gives it.
        Package {
            /// The position in the file.
            at: u64,
            /// The description of the defect.
            why: &'static str,
        } => "invalid archive at byte {at:#x}: {why}";
        /// An archive is whole, and has something that is not read.
        Unsupported {
            /// The position in the file.
            at: u64,
            /// The description of what is not read.
            why: &'static str,
            /// The advice.
            help: &'static str,
        } => "archive that is not read, at byte {at:#x}: {why}";
        /// The central directory of an archive is longer than is read.
        Directory {
            /// The position of the central directory.
            at: u64,
            /// The length of the central directory in bytes.
            len: u64,
            /// The maximum length.
            most: u64,
        } => "too many members: the central directory has {len} bytes, and at most {most} are read";
        /// The payload has more sections than are read.
        Sections {
            /// The maximum number of sections.
            most: usize,
        } => "the payload has more than {most} sections";
        /// Parts of the payload, or of several payloads, overlap, and would be read more often than is done.
        Overlap => "payloads or scales overlap, and would be read more often than is done";
        /// The payload's FlatBuffer breaks a structural rule. The error's offset is relative to the
        /// payload.
        Graph(error: Error) => "{error}";
    }
}

impl Unreadable {
    /// Returns what is wrong with a standalone file of this format.
    #[must_use]
    pub fn in_file(&self, format: ForeignFormat) -> String {
        match self {
            // The place of the defect is shown beside the message.
            Self::Package { why, .. } => {
                format!("this is {format}, and it is damaged or cut off: {why}")
            }
            Self::Unsupported { why, .. } => format!("this is {format}, which is not read: {why}"),
            _ if self.is_limit() => format!("this is {format}, and a limit is met: {self}"),
            _ => format!("this is {format}, and it is damaged or cut off: {self}"),
        }
    }

    /// Returns the position of the defect in the payload or the file, and the name of the part with it; `None` if it
    /// is not in one place.
    #[must_use]
    pub fn place(&self) -> Option<(u64, &'static str)> {
        Some(match self {
            Self::Short { len, .. } => (*len, "header"),
            Self::Part { name, range, len } => (range.start.min(*len), name),
            Self::Message { at } | Self::Model { at, .. } => (*at, "model"),
            Self::Commands { at, .. } => (*at, "command stream"),
            Self::Block { at } => (*at, "block"),
            Self::Package { at, .. } | Self::Unsupported { at, .. } => (*at, "archive"),
            Self::Directory { at, .. } => (*at, "directory"),
            Self::Graph(error) => (error.offset(), "graph"),
            Self::Magic { .. } | Self::Sections { .. } | Self::Overlap => return None,
        })
    }

    /// Returns the consequence of the defect for the readers of a standalone file.
    #[must_use]
    pub fn why(&self) -> &'static str {
        match self.is_limit() || matches!(self, Self::Unsupported { .. }) {
            true => "This file is not judged: others may read it.",
            false => "Reading the file is refused, or gives something else than was written.",
        }
    }

    /// Returns advice: what to do with a standalone file.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unsupported { help, .. } => help,
            _ if self.is_limit() => "Split the file, or write fewer parts into it.",
            _ => {
                "Copy the file again. If it was changed, write it again with the tool that made it."
            }
        }
    }

    /// Returns whether a file is not read because of a limit of this crate, and not because of a defect.
    fn is_limit(&self) -> bool {
        matches!(self, Self::Sections { .. } | Self::Directory { .. } | Self::Overlap)
    }
}
