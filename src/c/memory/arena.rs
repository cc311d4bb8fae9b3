//! An arena: blocks of the host that smaller blocks are made of.
#![allow(unsafe_code, reason = "an arena is an allocator")]

use core::alloc::Layout;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicUsize, Ordering};

use talc::DefaultBinning;
use talc::base::Talc;
use talc::source::Manual;

use super::host;

/// The number of times that an arena had to grow beyond what was reserved. The tests expect 0.
pub(crate) static GROWN: AtomicUsize = AtomicUsize::new(0);

/// A list of blocks of the host's allocator that smaller blocks are made of.
pub(super) struct Arena {
    pub(super) talc: Talc<Manual, DefaultBinning>,
    pieces: [Piece; MOST_PIECES],
    count: usize,
    /// The size of all pieces.
    size: usize,
    /// The arena that was active before.
    pub(super) outer: *mut Self,
}

/// A block of an arena. One of an alignment of 0 is not the host's.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) start: *mut u8,
    pub(super) size: usize,
    pub(super) align: usize,
}

/// Each piece is at least as large as all before it, so there are never this many.
const MOST_PIECES: usize = 48;

impl Arena {
    pub(super) const fn empty() -> Self {
        let none = Piece { start: ptr::null_mut(), size: 0, align: 0 };
        Self {
            talc: Talc::new(Manual),
            pieces: [none; MOST_PIECES],
            count: 0,
            size: 0,
            outer: ptr::null_mut(),
        }
    }

    /// Adds a piece of at least `size` bytes from the host. Returns whether there is one.
    pub(super) fn reserve(&mut self, size: usize) -> bool {
        // The bookkeeping takes a part of the first piece, and a few words of each.
        let size = size.saturating_add(PIECE_OVERHEAD).max(self.size);
        let Ok(layout) = Layout::from_size_align(size, PIECE_ALIGN) else { return false };
        let Some(start) = NonNull::new(host::allocate(layout)) else { return false };
        let piece = Piece { start: start.as_ptr(), size, align: PIECE_ALIGN };
        let added = self.add(piece);
        if !added {
            host::release(piece.start, layout);
        }
        added
    }

    pub(super) fn add(&mut self, piece: Piece) -> bool {
        let Some(place) = self.pieces.get_mut(self.count) else { return false };
        // SAFETY: nothing else uses the piece, which exists as long as the arena does.
        if unsafe { self.talc.claim(piece.start, piece.size) }.is_none() {
            return false;
        }
        *place = piece;
        self.count = self.count.saturating_add(1);
        self.size = self.size.saturating_add(piece.size);
        true
    }

    pub(super) fn allocate(&mut self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises that the size is not zero.
        let mut block = unsafe { self.talc.try_allocate(layout) };
        let needed = layout.size().saturating_add(layout.align());
        // What was reserved is not enough, so this may fail.
        if block.is_none() && self.grow(needed) {
            // SAFETY: as above.
            block = unsafe { self.talc.try_allocate(layout) };
        }
        block.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    /// Adds a piece that was not reserved.
    fn grow(&mut self, size: usize) -> bool {
        GROWN.fetch_add(1, Ordering::Relaxed);
        self.reserve(size)
    }

    pub(super) fn contains(&self, block: *const u8) -> bool {
        let pieces = self.pieces.iter().take(self.count);
        pieces.into_iter().any(|piece| {
            block.addr().checked_sub(piece.start.addr()).is_some_and(|at| at < piece.size)
        })
    }

    /// Gives all pieces back to the host. What is in them is not dropped.
    pub(super) fn release(self) {
        for piece in self.pieces.iter().take(self.count) {
            if let Ok(layout) = Layout::from_size_align(piece.size, piece.align) {
                host::release(piece.start, layout);
            }
        }
    }
}

pub(super) const PIECE_ALIGN: usize = 16;
const PIECE_OVERHEAD: usize = 4096;
