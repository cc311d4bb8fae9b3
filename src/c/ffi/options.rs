//! The functions of options.

use core::ffi::{CStr, c_char, c_void};
use core::ptr::{self, NonNull};

use super::bytes;
use crate::abi::pte_status;
use crate::memory;
use crate::options::Options;

/// The options of a check. One object may be used by several threads while none of them changes it.
#[derive(Debug)]
pub struct pte_options(pub(super) Options);

/// Makes options with the defaults: every rule at its own severity, the limits for untrusted files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_new(options: *mut *mut pte_options) -> pte_status {
    // SAFETY: the caller's promise: null or writable.
    let Some(options) = (unsafe { options.as_mut() }) else {
        return pte_status::PTE_INVALID_ARGUMENT;
    };
    *options = memory::boxed(pte_options(Options::new())).map_or(ptr::null_mut(), NonNull::as_ptr);
    match options.is_null() {
        true => pte_status::PTE_NO_MEMORY,
        false => pte_status::PTE_OK,
    }
}

/// Frees options. Does nothing for NULL. Reports and files that were made with them stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_free(options: *mut pte_options) {
    if !options.is_null() {
        // SAFETY: the caller's promise: of `pte_options_new`, and not used again.
        drop(unsafe { Box::from_raw(options) });
    }
}

/// Sets the name of the file in documents, such as its path. It is a C string in UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_name(
    options: *mut pte_options,
    name: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, name, Options::set_name) }
}

/// Adds a .ptd file that programs are used with, called `name` in findings. Without one, external data is not judged.
///
/// The bytes are not copied: they must stay and not change for as long as the options are used. Returns PTE_REFUSED if
/// their structure is broken; pte_check them to learn where.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_add_data(
    options: *mut pte_options,
    name: *const c_char,
    data: *const c_void,
    size: usize,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { add_data(options, name, data, size) }
}

/// Sets the release of the runtime to judge for, such as "0.7" or "1.5".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_release(
    options: *mut pte_options,
    release: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, release, Options::set_release) }
}

/// Sets a preset: a named set of rules whose findings are errors. There is "untrusted-upload".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_preset(
    options: *mut pte_options,
    preset: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, preset, Options::set_preset) }
}

/// Leaves out findings of a rule, also if it is denied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_allow(
    options: *mut pte_options,
    rule: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, rule, Options::allow) }
}

/// Turns findings of a rule into errors, or all warnings for "warnings".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_deny(
    options: *mut pte_options,
    rule: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, rule, Options::deny) }
}

/// Sets the kernels that the runtime links: libraries and packages with commas between, such as "portable,quantized",
/// or the text of a selected_operators.yaml. A call of another operator is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_kernels(
    options: *mut pte_options,
    kernels: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, kernels, Options::set_kernels) }
}

/// Sets the backends that the runtime links: ids and packages with commas between, such as "XnnpackBackend".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_backends(
    options: *mut pte_options,
    backends: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, backends, Options::set_backends) }
}

/// Sets whether all bytes are searched for executable content. By default only the beginnings of segments are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_scan(options: *mut pte_options, scan: bool) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { change(options, |options| options.scans = scan) }
}

/// Sets how many findings of each rule are kept: 100 by default, and at most 10000. The rest are counted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_findings_per_rule(
    options: *mut pte_options,
    most: u32,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { change(options, |options| options.limits.findings_per_rule = most.min(10_000)) }
}

/// Sets the longest tables in bytes that are accepted: 2^31 - 1 by default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_table_limit(
    options: *mut pte_options,
    most: u64,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { change(options, |options| options.limits.program = most) }
}

/// Sets the most bytes of tables that are visited for each byte of them: 4 by default, and at most 64. Tables may be
/// shared, so a small file can describe a huge tree.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_amplification(
    options: *mut pte_options,
    most: u32,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { change(options, |options| options.limits.amplification = most.min(64)) }
}

/// Changes options by a C string in UTF-8.
unsafe fn set(
    options: *mut pte_options,
    text: *const c_char,
    set: impl FnOnce(&mut Options, &str) -> Result<(), pte_status>,
) -> pte_status {
    // SAFETY: the caller's promise: null, or a C string.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) });
    let text = text.and_then(|text| text.to_str().ok());
    // SAFETY: the caller's promise: null, or of `pte_options_new`.
    match (unsafe { options.as_mut() }, text) {
        (Some(options), Some(text)) => {
            set(&mut options.0, text).err().unwrap_or(pte_status::PTE_OK)
        }
        _ => pte_status::PTE_INVALID_ARGUMENT,
    }
}

unsafe fn change(options: *mut pte_options, change: impl FnOnce(&mut Options)) -> pte_status {
    // SAFETY: the caller's promise: null, or of `pte_options_new`.
    match unsafe { options.as_mut() } {
        Some(options) => {
            change(&mut options.0);
            pte_status::PTE_OK
        }
        None => pte_status::PTE_INVALID_ARGUMENT,
    }
}

unsafe fn add_data(
    options: *mut pte_options,
    name: *const c_char,
    data: *const c_void,
    size: usize,
) -> pte_status {
    // SAFETY: the caller's promise.
    let Some(bytes) = (unsafe { bytes(data, size) }) else {
        return pte_status::PTE_INVALID_ARGUMENT;
    };
    // SAFETY: the caller's promise.
    unsafe { set(options, name, |options, name| options.add_data(name, bytes)) }
}
