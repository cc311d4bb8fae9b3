//! Memory: the allocator of the library, and the arena that a call allocates from.
//!
//! Stable Rust ends the process where an allocation fails that is not written to be fallible. So a call reserves what
//! it may need at most before it begins, in one piece, and its allocations are parts of that piece. If the piece cannot
//! be had, the call fails with a status, and nothing has happened yet.
#![allow(unsafe_code, reason = "an allocator is unsafe by its nature")]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU8, Ordering};
use std::alloc::System;
use std::panic::{self, AssertUnwindSafe};
use std::sync::OnceLock;

use talc::DefaultBinning;
use talc::base::Talc;
use talc::source::Manual;

use crate::abi::{pte_allocator, pte_status};

#[global_allocator]
static LIBRARY: Library = Library;

/// The allocator of everything in the library: the arena of the running call, or else the host's allocator.
struct Library;

std::thread_local! {
    /// The innermost arena of this thread's running call. Neither its start nor its end allocates.
    static ACTIVE: Cell<*mut Arena> = const { Cell::new(ptr::null_mut()) };
}

// SAFETY: an arena and the host's allocator keep the contract, and the address tells which of them a block is of.
unsafe impl GlobalAlloc for Library {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match NonNull::new(ACTIVE.get()) {
            // SAFETY: an active arena exists until its call ends, and only this thread uses it. The size is not zero.
            Some(mut arena) => unsafe { arena.as_mut() }.allocate(layout),
            None => host_allocate(layout),
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
        host_release(block, layout);
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

/// A list of blocks of the host's allocator that smaller blocks are made of.
struct Arena {
    talc: Talc<Manual, DefaultBinning>,
    pieces: [Piece; MOST_PIECES],
    count: usize,
    /// The size of all pieces.
    size: usize,
    /// The arena that was active before.
    outer: *mut Arena,
}

/// A block of an arena. One of an alignment of 0 is not the host's.
#[derive(Clone, Copy)]
struct Piece {
    start: *mut u8,
    size: usize,
    align: usize,
}

/// Each piece is at least as large as all before it, so there are never this many.
const MOST_PIECES: usize = 48;

impl Arena {
    const fn empty() -> Self {
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
    fn reserve(&mut self, size: usize) -> bool {
        // The bookkeeping takes a part of the first piece, and a few words of each.
        let size = size.saturating_add(PIECE_OVERHEAD).max(self.size);
        let Ok(layout) = Layout::from_size_align(size, PIECE_ALIGN) else { return false };
        let Some(start) = NonNull::new(host_allocate(layout)) else { return false };
        let piece = Piece { start: start.as_ptr(), size, align: PIECE_ALIGN };
        let added = self.add(piece);
        if !added {
            host_release(piece.start, layout);
        }
        added
    }

    fn add(&mut self, piece: Piece) -> bool {
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

    fn allocate(&mut self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises that the size is not zero.
        let mut block = unsafe { self.talc.try_allocate(layout) };
        let needed = layout.size().saturating_add(layout.align());
        // What was reserved is not enough, so this may fail.
        if block.is_none() && self.reserve(needed) {
            // SAFETY: as above.
            block = unsafe { self.talc.try_allocate(layout) };
        }
        block.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    fn contains(&self, block: *const u8) -> bool {
        let pieces = self.pieces.iter().take(self.count);
        pieces.into_iter().any(|piece| {
            block.addr().checked_sub(piece.start.addr()).is_some_and(|at| at < piece.size)
        })
    }

    /// Gives all pieces back to the host. What is in them is not dropped.
    fn release(self) {
        for piece in self.pieces.iter().take(self.count) {
            if let Ok(layout) = Layout::from_size_align(piece.size, piece.align) {
                host_release(piece.start, layout);
            }
        }
    }
}

const PIECE_ALIGN: usize = 16;
const PIECE_OVERHEAD: usize = 4096;

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
pub(crate) fn within<T: Copy>(
    room: &mut Room,
    work: impl FnOnce() -> T,
) -> Result<T, pte_status> {
    let mut arena = Arena::empty();
    let piece =
        Piece { start: room.0.as_mut_ptr().cast(), size: size_of::<Room>(), align: 0 };
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

/// A value with an arena of its own, in which it is itself. It belongs to the caller of the library.
pub(crate) struct Owned<T> {
    arena: Arena,
    value: ManuallyDrop<T>,
}

impl<T> Owned<T> {
    /// Makes a value in an arena of `reserve` bytes.
    pub(crate) fn new(
        reserve: usize,
        make: impl FnOnce() -> Result<T, pte_status>,
    ) -> Result<NonNull<Self>, pte_status> {
        let mut arena = Arena::empty();
        let layout = Layout::new::<Self>();
        if !arena.reserve(reserve.saturating_add(layout.size()).saturating_add(layout.align())) {
            return Err(pte_status::PTE_NO_MEMORY);
        }
        let place = NonNull::new(arena.allocate(layout)).map(NonNull::cast::<Self>);
        let made = run(&mut arena, make).flatten();
        match (place, made) {
            (Some(place), Ok(value)) => {
                arena.outer = ptr::null_mut();
                // SAFETY: the place has this type's layout, and nothing is in it.
                unsafe { place.write(Self { arena, value: ManuallyDrop::new(value) }) };
                Ok(place)
            }
            (_, made) => {
                arena.release();
                Err(made.err().unwrap_or(pte_status::PTE_NO_MEMORY))
            }
        }
    }

    pub(crate) fn value(&self) -> &T {
        &self.value
    }

    /// Gives the memory of the value back.
    ///
    /// # Safety
    ///
    /// `place` is of [`new`](Self::new), and is not used again.
    pub(crate) unsafe fn free(place: NonNull<Self>) {
        // SAFETY: the caller's promise. The arena is moved out of the memory that it has.
        unsafe { place.read() }.arena.release();
    }
}

/// Where messages of panics go that are not of a call.
static OTHERS: OnceLock<Box<dyn Fn(&panic::PanicHookInfo<'_>) + Send + Sync>> = OnceLock::new();

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

/// The host's allocator, which is set at most once: before the first allocation.
struct Host(UnsafeCell<pte_allocator>);

// SAFETY: it is written once, by the thread that has changed `HOST_STATE` to `SETTING`, and read only after `SET`.
// `pte_set_allocator` requires that its functions may be called from any thread.
unsafe impl Sync for Host {}

static HOST: Host = Host(UnsafeCell::new(pte_allocator {
    allocate: None,
    release: None,
    context: ptr::null_mut(),
}));

static HOST_STATE: AtomicU8 = AtomicU8::new(UNSET);

const UNSET: u8 = 0;
const SETTING: u8 = 1;
const SET: u8 = 2;
/// The system's allocator was used.
const SYSTEM: u8 = 3;

/// Sets the host's allocator. Returns whether none was set or used before.
pub(crate) fn set_host(allocator: pte_allocator) -> bool {
    let order = Ordering::Acquire;
    if HOST_STATE.compare_exchange(UNSET, SETTING, order, order).is_err() {
        return false;
    }
    // SAFETY: no other thread reads or writes it in this state.
    unsafe { *HOST.0.get() = allocator };
    HOST_STATE.store(SET, Ordering::Release);
    true
}

/// Returns the host's allocator; `None` for the system's.
fn host() -> Option<&'static pte_allocator> {
    loop {
        match HOST_STATE.load(Ordering::Acquire) {
            // SAFETY: it is not written in this state, and never again.
            SET => return Some(unsafe { &*HOST.0.get() }),
            SYSTEM => return None,
            SETTING => core::hint::spin_loop(),
            _ => {
                let order = Ordering::Acquire;
                let _ = HOST_STATE.compare_exchange(UNSET, SYSTEM, order, order);
            }
        }
    }
}

/// Returns a block of the host; null if there is none. The size is not zero.
fn host_allocate(layout: Layout) -> *mut u8 {
    match host() {
        // SAFETY: the size is not zero.
        None => unsafe { System.alloc(layout) },
        Some(host) => host.allocate.map_or(ptr::null_mut(), |allocate| {
            // SAFETY: the contract of `pte_allocator`.
            let block = unsafe { allocate(host.context, layout.size(), layout.align()) };
            block.cast::<u8>()
        }),
    }
}

/// Gives a block of [`host_allocate`] back.
fn host_release(block: *mut u8, layout: Layout) {
    match host() {
        // SAFETY: the block is of the system, with this layout.
        None => unsafe { System.dealloc(block, layout) },
        Some(host) => {
            if let Some(release) = host.release {
                // SAFETY: the contract of `pte_allocator`.
                unsafe { release(host.context, block.cast::<c_void>(), layout.size(), layout.align()) };
            }
        }
    }
}
