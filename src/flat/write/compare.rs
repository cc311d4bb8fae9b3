//! Compares tables with an existing buffer without writing a copy.

use core::ops::ControlFlow::{Break, Continue};

use super::sink::{Length, Same, Sink};
use super::{HEAD, WriteError, Writer, WriterLayout};
use crate::desc::Schema;
use crate::node::Node;

/// The result of a comparison.
#[derive(Debug)]
pub struct Compared {
    /// The length and root of the written buffer, if the existing one has the same bytes.
    pub same: Option<Plain>,
    /// One bit for each alignment in [`FORCED`](super::FORCED): whether it gives the same bytes, up
    /// to the first difference.
    pub alike: u16,
}

/// The form of a written buffer without a chunk.
#[derive(Debug)]
pub struct Plain {
    /// The length of the buffer.
    pub len: usize,
    /// The offset of the buffer's root.
    pub root: u32,
}

/// Writes `root` without a chunk, and compares it with the end of `region`. The root offset and the
/// identifier in front are not compared.
pub fn compare(root: &dyn Node, region: &[u8], layout: &WriterLayout) -> Compared {
    let mut writer = Writer::new(layout, Same::new(region));
    let pos = writer.body(root);
    let len = writer.out.len().saturating_add(HEAD);
    let same = match pos {
        Continue(pos) => Some(Plain { len, root: super::length(len).saturating_sub(pos) }),
        Break(()) => None,
    };
    Compared { same, alike: writer.alike }
}

/// Returns the length of `root` as written without a chunk. A chunk adds its own length.
///
/// # Errors
///
/// If the buffer would be too long, or memory is short.
pub fn length(
    schema: &Schema,
    root: &dyn Node,
    layout: &WriterLayout,
) -> Result<usize, WriteError> {
    let mut writer = Writer::new(layout, Length::default());
    match writer.whole(schema, root, &[]) {
        Continue(()) => Ok(writer.out.len()),
        Break(()) => Err(writer.error.unwrap_or(WriteError::OutOfMemory)),
    }
}
