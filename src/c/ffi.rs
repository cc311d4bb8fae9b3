//! The exported functions. Each checks its pointers, and calls a safe function.
#![allow(unsafe_code, reason = "pointers of C")]
#![expect(clippy::missing_safety_doc, reason = "the contract is in the header, for C")]

use core::ffi::{CStr, c_char};
use core::ptr::{self, NonNull};
use core::slice;

#[cfg(feature = "check")]
use crate::abi::{pte_options, pte_report, pte_severity};
use crate::abi::{pte_allocator, pte_status};
#[cfg(feature = "check")]
use crate::{judge, options::Options};
use crate::{memory, verify};

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_set_allocator(allocator: *const pte_allocator) -> pte_status {
    // SAFETY: the pointer is null, or to an allocator.
    match unsafe { allocator.as_ref() } {
        Some(allocator)
            if allocator.allocate.is_some()
                && allocator.release.is_some()
                && memory::set_host(*allocator) =>
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
pub unsafe extern "C" fn pte_verify(data: *const core::ffi::c_void, size: usize) -> pte_status {
    // SAFETY: the caller's promise.
    match unsafe { bytes(data, size) } {
        Some(bytes) => verify::verify(bytes),
        None => pte_status::PTE_INVALID_ARGUMENT,
    }
}

/// Judges a file of any kind by every rule, and makes a report.
///
/// Returns PTE_OK if the file was judged, whatever the verdict: pte_report_error_count has that. A file whose structure
/// is broken has one finding. `options` may be NULL, for the defaults. `*report` is NULL unless PTE_OK is returned.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_check(
    data: *const core::ffi::c_void,
    size: usize,
    options: *const pte_options,
    report: *mut *mut pte_report,
) -> pte_status {
    // SAFETY: the caller's promise: null or writable.
    let Some(report) = (unsafe { report.as_mut() }) else { return pte_status::PTE_INVALID_ARGUMENT };
    *report = ptr::null_mut();
    // SAFETY: the caller's promise.
    let Some(bytes) = (unsafe { bytes(data, size) }) else { return pte_status::PTE_INVALID_ARGUMENT };
    let defaults = Options::new();
    // SAFETY: the caller's promise: null, or of `pte_options_new`.
    let options = unsafe { options.as_ref() }.map_or(&defaults, |options| &options.0);
    match judge::check(bytes, options) {
        Ok(made) => {
            *report = made.as_ptr().cast();
            pte_status::PTE_OK
        }
        Err(status) => status,
    }
}

/// Returns the number of errors, with those that the limit on findings left out; 0 for NULL.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_error_count(report: *const pte_report) -> usize {
    // SAFETY: the caller's promise.
    unsafe { count(report, pte_severity::PTE_ERROR) }
}

#[cfg(feature = "check")]
unsafe fn count(report: *const pte_report, severity: pte_severity) -> usize {
    // SAFETY: the caller's promise: null, or a report.
    let count = unsafe { report.as_ref() }.map_or(0, |report| report.0.value().count(severity));
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Frees a report, and all texts of it. Does nothing for NULL.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_free(report: *mut pte_report) {
    if let Some(report) = NonNull::new(report) {
        // SAFETY: the caller's promise: a report, which is not used again.
        unsafe { memory::Owned::free(report.cast::<memory::Owned<judge::Judged>>()) };
    }
}

/// Returns the bytes that a pointer and a size describe. A null pointer is an empty file if the size is 0.
unsafe fn bytes<'a>(data: *const core::ffi::c_void, size: usize) -> Option<&'a [u8]> {
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
