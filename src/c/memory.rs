//! Memory: the allocator of the library, and the arena that a call allocates from.
//!
//! Stable Rust ends the process where an allocation fails that is not written to be fallible. So a call reserves what
//! it may need at most before it begins, in one piece, and its allocations are parts of that piece. If the piece cannot
//! be had, the call fails with a status, and nothing has happened yet.
#![allow(unsafe_code, reason = "an allocator is unsafe by its nature")]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::panic::AssertUnwindSafe;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU8, Ordering};
use std::panic;
use std::sync::OnceLock;

use arena::{Arena, Piece};

use crate::abi::pte_status;

pub(crate) mod arena;
pub(crate) mod host;
#[cfg(feature = "check")]
mod owned;

#[cfg(feature = "check")]
pub(crate) use owned::{Owned, boxed, free_host_text, host_text};

#[global_allocator]
static LIBRARY: Library = Library;

/// The allocator of everything in the library: the arena of the running call, or else the host's allocator.
struct Library;

std::thread_local! {
    /// The innermost arena of this thread's running call. Neither its start nor its end allocates.
    static ACTIVE: Cell<*mut Arena> = const { Cell::new(ptr::null_mut()) };
}

// SAFETY: an arena and the host's allocator keep the contract, and the address says which of them a block is of.
unsafe impl GlobalAlloc for Library {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match NonNull::new(ACTIVE.get()) {
            // SAFETY: an active arena exists until its call ends, and only this thread uses it. The size is not zero.
            Some(mut arena) => unsafe { arena.as_mut() }.allocate(layout),
            None => host::allocate(layout),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let mut next = ACTIVE.get();
        // SAFETY: as for `alloc`. An arena is active for as long as one that was begun later is.
        while let Some(arena) = unsafe { next.as_mut() } {
            if arena.contains(block) {
                // SAFETY: the block is of this arena, with this layout.
                return unsafe { arena.talc.deallocate(block, layout) };
            }
            next = arena.outer;
        }
        host::release(block, layout);
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for `alloc`.
        if let Some(arena) = unsafe { ACTIVE.get().as_mut() }
            && arena.contains(block)
        {
            if size <= layout.size() {
                // SAFETY: the block is of this arena, and the new size is neither zero nor larger.
                unsafe { arena.talc.shrink(block, layout, size) };
                return block;
            }
            // SAFETY: the block is of this arena, and the new size is larger.
            if unsafe { arena.talc.try_grow_in_place(block, layout, size) } {
                return block;
            }
        }
        // SAFETY: the caller promises that `size`, rounded up to the alignment, is a valid size.
        let grown = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the size is not zero. Both blocks have room for the smaller of the sizes.
        unsafe {
            let new = self.alloc(grown);
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}

/// Makes an arena active until it is dropped.
struct Activation<'a>(&'a mut Arena);

impl<'a> Activation<'a> {
    fn new(arena: &'a mut Arena) -> Self {
        arena.outer = ACTIVE.replace(arena);
        Self(arena)
    }
}

impl Drop for Activation<'_> {
    fn drop(&mut self) {
        ACTIVE.set(self.0.outer);
    }
}

/// Runs `work` with an arena of `reserve` bytes. What `work` returns must have no memory of the arena.
#[cfg(feature = "check")]
pub(crate) fn within_reserve<T: Copy>(
    reserve: usize,
    work: impl FnOnce() -> Result<T, pte_status>,
) -> Result<T, pte_status> {
    let mut arena = Arena::empty();
    if !arena.reserve(reserve) {
        return Err(pte_status::PTE_NO_MEMORY);
    }
    let result = run(&mut arena, work);
    arena.release();
    result?
}

/// Adds `bytes` to what the running call has reserved.
#[cfg(feature = "check")]
pub(crate) fn reserve(bytes: usize) -> Result<(), pte_status> {
    // SAFETY: an active arena exists until its call ends, and only this thread uses it.
    let arena = unsafe { ACTIVE.get().as_mut() };
    let is_reserved = arena.is_none_or(|arena| arena.reserve(bytes));
    is_reserved.then_some(()).ok_or(pte_status::PTE_NO_MEMORY)
}

/// Room for an arena in a frame of the stack.
pub(crate) struct Room(MaybeUninit<[u64; 1024]>);

impl Room {
    pub(crate) const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

/// Runs `work` with an arena in `room`. What `work` returns must have no memory of the arena.
pub(crate) fn within<T: Copy>(room: &mut Room, work: impl FnOnce() -> T) -> Result<T, pte_status> {
    let mut arena = Arena::empty();
    let piece = Piece { start: room.0.as_mut_ptr().cast(), size: size_of::<Room>(), align: 0 };
    if !arena.add(piece) {
        return Err(pte_status::PTE_NO_MEMORY);
    }
    let result = run(&mut arena, work);
    arena.release();
    result
}

/// Runs `work` with an active arena. A panic is a bug, and is returned as one.
fn run<T>(arena: &mut Arena, work: impl FnOnce() -> T) -> Result<T, pte_status> {
    silence_panics();
    let activation = Activation::new(arena);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    // The payload of a panic is in the arena.
    let result = result.map_err(drop).map_err(|()| pte_status::PTE_BUG);
    drop(activation);
    result
}

/// Where messages of panics go that are not of a call.
static OTHERS: OnceLock<PanicHook> = OnceLock::new();

type PanicHook = Box<dyn Fn(&panic::PanicHookInfo<'_>) + Send + Sync>;

/// Whether [`silence_panics`] was called.
static SILENT: AtomicU8 = AtomicU8::new(0);

/// Lets panics of calls write nothing, and keep nothing: what the default hook allocates would outlive the arena.
fn silence_panics() {
    if SILENT.swap(1, Ordering::Relaxed) == 0 {
        let _ = OTHERS.set(panic::take_hook());
        panic::set_hook(Box::new(|info| {
            if ACTIVE.get().is_null()
                && let Some(hook) = OTHERS.get()
            {
                hook(info);
            }
        }));
    }
}
