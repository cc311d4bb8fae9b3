//! The memory of the library that proves the structure alone, without `std`: a fixed pool, and no heap.
#![allow(unsafe_code, reason = "an allocator is unsafe by its nature")]

use core::hint::spin_loop;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use talc::TalcLock;
use talc::source::Claim;

use crate::abi::pte_status;

#[global_allocator]
// SAFETY: nothing else refers to the pool.
static LIBRARY: TalcLock<Spin, Claim> = TalcLock::new(unsafe { Claim::array(&raw mut POOL) });

/// What a refusal is made of, for each call that runs at one time.
static mut POOL: [u64; MOST_CALLS * 1024] = [0; MOST_CALLS * 1024];

/// The number of calls that may run at one time. Others wait: none waits for memory while it has some.
const MOST_CALLS: usize = 16;

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Nothing, since the pool is fixed.
pub(crate) struct Room;

impl Room {
    pub(crate) const fn new() -> Self {
        Self
    }
}

/// Runs `work` when the pool has room for it. What `work` returns must have no memory of the pool.
pub(crate) fn within<T: Copy>(_: &mut Room, work: impl FnOnce() -> T) -> Result<T, pte_status> {
    let begin = |calls: usize| calls.checked_add(1).filter(|calls| *calls <= MOST_CALLS);
    while CALLS.fetch_update(Ordering::Acquire, Ordering::Relaxed, begin).is_err() {
        spin_loop();
    }
    let result = work();
    CALLS.fetch_sub(1, Ordering::Release);
    Ok(result)
}

/// A lock that waits by asking again. It is held for a few instructions.
struct Spin(AtomicBool);

// SAFETY: one caller at a time changes the flag from false to true, and only that one changes it back.
unsafe impl talc::lock_api::RawMutex for Spin {
    #[expect(clippy::declare_interior_mutable_const, reason = "the trait asks for it")]
    const INIT: Self = Self(AtomicBool::new(false));
    type GuardMarker = talc::lock_api::GuardSend;

    fn lock(&self) {
        while !self.try_lock() {
            spin_loop();
        }
    }

    fn try_lock(&self) -> bool {
        !self.0.swap(true, Ordering::Acquire)
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Ends the process: this build cannot catch a bug.
#[panic_handler]
fn bug(_: &PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: it has no arguments.
    unsafe { abort() }
}
