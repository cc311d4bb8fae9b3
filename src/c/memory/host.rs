//! The host's allocator: the system's, or functions of the caller.
#![allow(unsafe_code, reason = "the allocator's functions are C")]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU8, Ordering};
use std::alloc::System;

use crate::abi::pte_allocator;

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
pub(crate) fn set(allocator: pte_allocator) -> bool {
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
fn current() -> Option<&'static pte_allocator> {
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
pub(super) fn allocate(layout: Layout) -> *mut u8 {
    match current() {
        // SAFETY: the size is not zero.
        None => unsafe { System.alloc(layout) },
        Some(host) => host.allocate.map_or(ptr::null_mut(), |allocate| {
            // SAFETY: the contract of `pte_allocator`.
            let block = unsafe { allocate(host.context, layout.size(), layout.align()) };
            block.cast::<u8>()
        }),
    }
}

/// Gives a block of [`allocate`] back.
pub(super) fn release(block: *mut u8, layout: Layout) {
    match current() {
        // SAFETY: the block is of the system, with this layout.
        None => unsafe { System.dealloc(block, layout) },
        Some(host) => {
            if let Some(release) = host.release {
                // SAFETY: the contract of `pte_allocator`.
                unsafe {
                    release(host.context, block.cast::<c_void>(), layout.size(), layout.align())
                };
            }
        }
    }
}
