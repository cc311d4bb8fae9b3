//! The functions of files: methods, values and data.

use core::ffi::{c_char, c_void};
use core::ptr::NonNull;

use super::options::pte_options;
use super::report::document;
use super::{bytes, give, made_of};
use crate::abi::{pte_method, pte_status, pte_text, pte_value};
use crate::{file, memory};

/// A file whose structure is proven. It never changes.
#[expect(missing_debug_implementations, reason = "C has a pointer to it")]
pub struct pte_file(memory::Owned<file::Opened>);

/// Proves the structure of a .pte or .ptd file, and opens it. Rules are not checked: that is pte_check.
///
/// The tables are copied, so names, shapes and offsets stay as proven if the buffer changes. Data is not
/// copied: the buffer must stay until the file is freed. `options` may be NULL. `*file` is NULL unless PTE_OK is
/// returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_open(
    data: *const c_void,
    size: usize,
    options: *const pte_options,
    file: *mut *mut pte_file,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { made_of(data, size, options, file.cast(), file::open) }
}

/// Closes a file. Does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_free(file: *mut pte_file) {
    if let Some(file) = NonNull::new(file) {
        // SAFETY: the caller's promise: a file, which is not used again.
        unsafe { memory::Owned::free(file.cast::<memory::Owned<file::Opened>>()) };
    }
}

/// Returns whether the file is a program (.pte), and not a data file (.ptd); false for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_is_program(file: *const pte_file) -> bool {
    // SAFETY: the caller's promise.
    unsafe { opened(file) }.is_some_and(file::Opened::is_program)
}

/// Gives a summary as JSON: the document pte.info/1, as `pte info --json` prints it. Free it by pte_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_summary_json(
    file: *const pte_file,
    text: *mut *mut c_char,
    size: *mut usize,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe {
        document(opened(file), file::Opened::summary_memory, file::Opened::summary, text, size)
    }
}

/// Returns the number of methods; 0 for a data file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_method_count(file: *const pte_file) -> usize {
    // SAFETY: the caller's promise.
    unsafe { opened(file) }.map_or(0, file::Opened::method_count)
}

/// Gives method `index`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_method(
    file: *const pte_file,
    index: usize,
    method: *mut pte_method,
) -> pte_status {
    // SAFETY: the caller's promise.
    let plan = unsafe { opened(file) }.and_then(|file| file.method(index));
    let found = plan.map(|plan| pte_method {
        name: pte_text::of_file(plan.name()),
        input_count: plan.inputs().map_or(0, |all| all.len()),
        output_count: plan.outputs().map_or(0, |all| all.len()),
        value_count: plan.values().map_or(0, |all| all.len()),
        // The first size is not of an arena.
        arena_count: plan.non_const_buffer_sizes().map_or(0, |all| all.len().saturating_sub(1)),
        delegate_count: plan.delegates().map_or(0, |all| all.len()),
    });
    // SAFETY: the caller's promise: null or writable.
    unsafe { give(found, method) }
}

/// Gives the index of the first method with a name, which is the one that runs. The name has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_find_method(
    file: *const pte_file,
    name: *const c_char,
    size: usize,
    index: *mut usize,
) -> pte_status {
    // SAFETY: the caller's promise.
    let (file, name) = unsafe { (opened(file), bytes(name.cast::<c_void>(), size)) };
    // SAFETY: the caller's promise: null or writable.
    unsafe { find(file, name, file::Opened::find_method, index) }
}

/// Gives the size in bytes of planned arena `index` of a method. The memory id of arena 0 is 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_method_arena(
    file: *const pte_file,
    method: usize,
    index: usize,
    size: *mut u64,
) -> pte_status {
    // SAFETY: the caller's promise.
    let plan = unsafe { opened(file) }.and_then(|file| file.method(method));
    let sizes = plan.and_then(|plan| plan.non_const_buffer_sizes());
    let found = sizes.zip(index.checked_add(1)).and_then(|(sizes, index)| sizes.get(index));
    let found = found.map(|size| u64::try_from(size).unwrap_or_default());
    // SAFETY: the caller's promise: null or writable.
    unsafe { give(found, size) }
}

/// Gives the id of the backend of delegate `index` of a method as `value->name`, and its payload as its data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_method_delegate(
    file: *const pte_file,
    method: usize,
    index: usize,
    value: *mut pte_value,
) -> pte_status {
    // SAFETY: the caller's promise.
    let found = unsafe { opened(file) }.and_then(|file| file.delegate(method, index));
    // SAFETY: the caller's promise: null or writable.
    unsafe { give(found, value) }
}

/// Gives input `index` of a method.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_method_input(
    file: *const pte_file,
    method: usize,
    index: usize,
    value: *mut pte_value,
) -> pte_status {
    // SAFETY: the caller's promise.
    let found = unsafe { opened(file) }.and_then(|file| file.input(method, index));
    // SAFETY: the caller's promise: null or writable.
    unsafe { give(found, value) }
}

/// Gives output `index` of a method.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_method_output(
    file: *const pte_file,
    method: usize,
    index: usize,
    value: *mut pte_value,
) -> pte_status {
    // SAFETY: the caller's promise.
    let found = unsafe { opened(file) }.and_then(|file| file.output(method, index));
    // SAFETY: the caller's promise: null or writable.
    unsafe { give(found, value) }
}

/// Gives value `index` of a method: inputs, outputs, constants and what is computed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_method_value(
    file: *const pte_file,
    method: usize,
    index: usize,
    value: *mut pte_value,
) -> pte_status {
    // SAFETY: the caller's promise.
    let found = unsafe { opened(file) }.and_then(|file| file.value(method, index));
    // SAFETY: the caller's promise: null or writable.
    unsafe { give(found, value) }
}

/// Gives the first tensor of a program with a fully qualified name, or the entry of a data file. The name has `size`
/// bytes. The search takes time for each tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_find_tensor(
    file: *const pte_file,
    name: *const c_char,
    size: usize,
    value: *mut pte_value,
) -> pte_status {
    // SAFETY: the caller's promise.
    let (file, name) = unsafe { (opened(file), bytes(name.cast::<c_void>(), size)) };
    // SAFETY: the caller's promise: null or writable.
    unsafe { find(file, name, file::Opened::find_tensor, value) }
}

/// Returns the number of named data of a program, or of the entries of a data file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_data_count(file: *const pte_file) -> usize {
    // SAFETY: the caller's promise.
    unsafe { opened(file) }.map_or(0, file::Opened::data_count)
}

/// Gives named data `index` of a program, or entry `index` of a data file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_data(
    file: *const pte_file,
    index: usize,
    value: *mut pte_value,
) -> pte_status {
    // SAFETY: the caller's promise.
    let found = unsafe { opened(file) }.and_then(|file| file.data(index));
    // SAFETY: the caller's promise: null or writable.
    unsafe { give(found, value) }
}

/// Gives the first named data of a program with a key, or entry of a data file. The key has `size` bytes. The search
/// takes time for each key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_find_data(
    file: *const pte_file,
    key: *const c_char,
    size: usize,
    value: *mut pte_value,
) -> pte_status {
    // SAFETY: the caller's promise.
    let (file, key) = unsafe { (opened(file), bytes(key.cast::<c_void>(), size)) };
    // SAFETY: the caller's promise: null or writable.
    unsafe { find(file, key, file::Opened::find_data, value) }
}

unsafe fn opened<'a>(file: *const pte_file) -> Option<&'a file::Opened> {
    // SAFETY: the caller's promise: null, or a file.
    unsafe { file.as_ref() }.map(|file| file.0.value())
}

/// Writes what `search` finds of a name to `place`.
unsafe fn find<T>(
    file: Option<&file::Opened>,
    name: Option<&[u8]>,
    search: impl FnOnce(&file::Opened, &str) -> Option<T>,
    place: *mut T,
) -> pte_status {
    let (Some(file), Some(name), false) = (file, name, place.is_null()) else {
        return pte_status::PTE_INVALID_ARGUMENT;
    };
    // Names in files are UTF-8.
    match core::str::from_utf8(name).ok().and_then(|name| search(file, name)) {
        // SAFETY: the caller's promise.
        Some(found) => unsafe { give(Some(found), place) },
        None => pte_status::PTE_NOT_FOUND,
    }
}
