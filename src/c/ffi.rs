//! The exported functions. Each checks its pointers, and calls a safe function. Those of options, reports and files
//! have a file each.
#![allow(unsafe_code, reason = "pointers of C")]
#![allow(non_camel_case_types, reason = "the names of C")]
#![expect(clippy::missing_safety_doc, reason = "the contract is in the header, for C")]

use core::ffi::{CStr, c_char, c_void};
use core::ptr;
#[cfg(feature = "check")]
use core::ptr::NonNull;
use core::slice;

#[cfg(feature = "check")]
use crate::abi::pte_allocator;
use crate::abi::{pte_refusal, pte_status};
#[cfg(feature = "check")]
use crate::memory;
#[cfg(feature = "check")]
use crate::options::Options;
use crate::verify;

#[cfg(feature = "check")]
pub mod file;
#[cfg(feature = "check")]
pub mod options;
#[cfg(feature = "check")]
pub mod report;

/// Returns the version of the library, such as "0.3.0".
#[unsafe(no_mangle)]
pub extern "C" fn pte_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns what a status means, in English.
#[unsafe(no_mangle)]
pub extern "C" fn pte_status_message(status: i32) -> *const c_char {
    let message: &CStr = match status {
        0 => c"ok",
        1 => c"invalid argument",
        2 => c"not enough memory",
        3 => c"the structure of the bytes is broken, or they are no .pte or .ptd file",
        4 => c"the file has nothing of this name",
        5 => c"a bug of the library",
        _ => c"unknown status",
    };
    message.as_ptr()
}

/// Sets the allocator of the library, for the whole process. Without this call it is malloc and free.
///
/// Returns PTE_INVALID_ARGUMENT if a function is null, or if the library has allocated before.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_set_allocator(allocator: *const pte_allocator) -> pte_status {
    // SAFETY: the pointer is null, or to an allocator.
    match unsafe { allocator.as_ref() } {
        Some(allocator)
            if allocator.allocate.is_some()
                && allocator.release.is_some()
                && memory::host::set(*allocator) =>
        {
            pte_status::PTE_OK
        }
        _ => pte_status::PTE_INVALID_ARGUMENT,
    }
}

/// Proves the structure of a .pte or .ptd file: that every offset, length and text in its tables is where it may be.
/// No rule about their meaning is checked. A call allocates nothing.
///
/// Returns PTE_OK or PTE_REFUSED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_verify(data: *const c_void, size: usize) -> pte_status {
    // SAFETY: the caller's promise. NULL is allowed.
    unsafe { pte_verify_refusal(data, size, ptr::null_mut()) }
}

/// Proves the structure as pte_verify does, and writes to `refusal` why the file is refused. `refusal` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_verify_refusal(
    data: *const c_void,
    size: usize,
    refusal: *mut pte_refusal,
) -> pte_status {
    // SAFETY: the caller's promise.
    let Some(bytes) = (unsafe { bytes(data, size) }) else {
        return pte_status::PTE_INVALID_ARGUMENT;
    };
    let found = match verify::verify(bytes) {
        Ok(found) => found,
        Err(status) => return status,
    };
    // SAFETY: the caller's promise: null or writable.
    if let Some(refusal) = unsafe { refusal.as_mut() } {
        *refusal = found.unwrap_or(pte_refusal::NONE);
    }
    match found {
        None => pte_status::PTE_OK,
        Some(_) => pte_status::PTE_REFUSED,
    }
}

/// Makes an object of the caller's bytes and options, and writes the pointer to `place`: NULL unless it is made.
#[cfg(feature = "check")]
unsafe fn made_of<T>(
    data: *const c_void,
    size: usize,
    options: *const options::pte_options,
    place: *mut *mut memory::Owned<T>,
    make: impl FnOnce(&'static [u8], &Options) -> Result<NonNull<memory::Owned<T>>, pte_status>,
) -> pte_status {
    // SAFETY: the caller's promise: null or writable.
    let Some(place) = (unsafe { place.as_mut() }) else { return pte_status::PTE_INVALID_ARGUMENT };
    *place = ptr::null_mut();
    // SAFETY: the caller's promise.
    let Some(bytes) = (unsafe { bytes(data, size) }) else {
        return pte_status::PTE_INVALID_ARGUMENT;
    };
    let defaults = Options::new();
    // SAFETY: the caller's promise: null, or of `pte_options_new`.
    let options = unsafe { options.as_ref() }.map_or(&defaults, |options| &options.0);
    match make(bytes, options) {
        Ok(made) => {
            *place = made.as_ptr();
            pte_status::PTE_OK
        }
        Err(status) => status,
    }
}

/// Writes `found` to `place`.
#[cfg(feature = "check")]
unsafe fn give<T>(found: Option<T>, place: *mut T) -> pte_status {
    match (found, NonNull::new(place)) {
        (Some(found), Some(place)) => {
            // SAFETY: the caller's promise: null or writable.
            unsafe { place.write(found) };
            pte_status::PTE_OK
        }
        _ => pte_status::PTE_INVALID_ARGUMENT,
    }
}

/// Returns the bytes that a pointer and a size describe. A null pointer is an empty file if the size is 0.
unsafe fn bytes<'a>(data: *const c_void, size: usize) -> Option<&'a [u8]> {
    if size == 0 {
        return Some(&[]);
    }
    // Larger than any object of C, so the size is a mistake.
    if data.is_null() || isize::try_from(size).is_err() {
        return None;
    }
    // SAFETY: the caller's promise: `size` bytes that can be read, and are not written during the call.
    Some(unsafe { slice::from_raw_parts(data.cast::<u8>(), size) })
}
