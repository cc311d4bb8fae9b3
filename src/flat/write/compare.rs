//! What would be written, held against what exists: nothing of it is kept.

use core::ops::ControlFlow::{Break, Continue};

use super::sink::{Length, Same, Sink};
use super::{HEAD, WriteError, Writer, WriterLayout};
use crate::flat::desc::Schema;
use crate::flat::node::Node;

/// The result of a comparison.
pub(crate) struct Compared {
    /// What would be written, if the buffer has the same bytes.
    pub(crate) same: Option<Plain>,
    /// Which of [`FORCED`](super::FORCED) would give the same bytes up to the first difference. A bit
    /// for each.
    pub(crate) alike: u16,
}

/// A buffer as it is written without a chunk.
pub(crate) struct Plain {
    /// Its length.
    pub(crate) len: usize,
    /// The offset of its root.
    pub(crate) root: u32,
}

/// Compares what `root` would be written as, without a chunk, with the end of `region`. The offset of
/// the root and the identifier, which a chunk would follow, are not compared.
pub(crate) fn compare(root: &dyn Node, region: &[u8], layout: &WriterLayout) -> Compared {
    let mut writer = Writer::new(layout, Same::new(region));
    let pos = writer.body(root);
    let len = writer.out.len().saturating_add(HEAD);
    let same = match pos {
        Continue(pos) => Some(Plain { len, root: super::length(len).saturating_sub(pos) }),
        Break(()) => None,
    };
    Compared { same, alike: writer.alike }
}

/// Returns the length of what `root` would be written as without a chunk, which makes it longer by
/// its own length.
///
/// # Errors
///
/// Where the buffer would be too long, or there is no memory for the places of its tables.
pub(crate) fn length(
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
