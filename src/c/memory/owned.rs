//! Values that belong to the caller of the library, in memory of the host.
#![allow(unsafe_code, reason = "values in memory of the host")]

use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::arena::{Arena, PIECE_ALIGN};
use super::{host, run};
use crate::abi::pte_status;

/// A value and the arena that it is allocated in. Its owner is the caller of the library, who frees it.
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
        let made = run(&mut arena, make).and_then(|made| made);
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

/// Moves a value to the host's memory, as a `Box` has it; `None` if memory is short.
pub(crate) fn boxed<T>(value: T) -> Option<NonNull<T>> {
    let place = NonNull::new(host::allocate(Layout::new::<T>()))?.cast::<T>();
    // SAFETY: the place has the layout of the type.
    unsafe { place.write(value) };
    Some(place)
}

/// Copies a text to the host's memory, with a NUL behind it. Returns its address; `None` if memory is short.
pub(crate) fn host_text(text: &[u8]) -> Option<NonNull<u8>> {
    let layout = text_layout(text.len())?;
    let block = NonNull::new(host::allocate(layout))?;
    // SAFETY: the block has room for its size, the text and a NUL.
    unsafe {
        block.cast::<usize>().write(text.len());
        let start = block.add(TEXT_HEAD);
        ptr::copy_nonoverlapping(text.as_ptr(), start.as_ptr(), text.len());
        start.add(text.len()).write(0);
        Some(start)
    }
}

/// Gives a text back to the host.
///
/// # Safety
///
/// `text` is of [`host_text`], and is not used again.
pub(crate) unsafe fn free_host_text(text: NonNull<u8>) {
    // SAFETY: the caller's promise: the size is in front of the text.
    let (block, size) = unsafe {
        let block = text.sub(TEXT_HEAD);
        (block, block.cast::<usize>().read())
    };
    if let Some(layout) = text_layout(size) {
        host::release(block.as_ptr(), layout);
    }
}

fn text_layout(size: usize) -> Option<Layout> {
    let size = size.checked_add(TEXT_HEAD)?.checked_add(1)?;
    Layout::from_size_align(size, PIECE_ALIGN).ok()
}

/// The bytes in front of a text: its size.
const TEXT_HEAD: usize = 16;
