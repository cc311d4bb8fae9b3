//! What the library that proves the structure alone needs in place of `std`.
#![allow(unsafe_code, reason = "a function of C")]

use core::panic::PanicInfo;

/// Ends the process: this build cannot catch a bug.
#[panic_handler]
fn bug(_: &PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: it has no arguments.
    unsafe { abort() }
}
