//! The exported functions. Each checks its pointers, and calls a safe function.
#![allow(unsafe_code, reason = "pointers of C")]
#![allow(non_camel_case_types, reason = "the names of C")]
#![expect(clippy::missing_safety_doc, reason = "the contract is in the header, for C")]

use core::ffi::{CStr, c_char, c_void};
use core::ptr;
#[cfg(feature = "check")]
use core::ptr::NonNull;
use core::slice;

#[cfg(feature = "check")]
use crate::abi::{pte_allocator, pte_finding, pte_method, pte_severity, pte_text, pte_value};
use crate::abi::{pte_refusal, pte_status};
use crate::verify;
#[cfg(feature = "check")]
use crate::{file, judge, memory, options::Options};

/// The options of a check. One object may be used by several threads while none of them changes it.
#[cfg(feature = "check")]
#[derive(Debug)]
pub struct pte_options(Options);

/// The findings in a file. It refers to nothing of the caller, and never changes.
#[cfg(feature = "check")]
#[expect(missing_debug_implementations, reason = "C has a pointer to it")]
pub struct pte_report(memory::Owned<judge::Judged>);

/// A file whose structure is proven. It never changes.
#[cfg(feature = "check")]
#[expect(missing_debug_implementations, reason = "C has a pointer to it")]
pub struct pte_file(memory::Owned<file::Opened>);

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

/// Makes options with the defaults: every rule at its own severity, the limits for untrusted files.
#[cfg(feature = "check")]
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
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_free(options: *mut pte_options) {
    if !options.is_null() {
        // SAFETY: the caller's promise: of `pte_options_new`, and not used again.
        drop(unsafe { Box::from_raw(options) });
    }
}

/// Sets the name of the file in documents, such as its path. It is a C string in UTF-8.
#[cfg(feature = "check")]
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
#[cfg(feature = "check")]
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
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_release(
    options: *mut pte_options,
    release: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, release, Options::set_release) }
}

/// Sets a preset: a named set of rules whose findings are errors. There is "untrusted-upload".
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_preset(
    options: *mut pte_options,
    preset: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, preset, Options::set_preset) }
}

/// Leaves out findings of a rule, also if it is denied.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_allow(
    options: *mut pte_options,
    rule: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, rule, Options::allow) }
}

/// Turns findings of a rule into errors, or all warnings for "warnings".
#[cfg(feature = "check")]
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
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_kernels(
    options: *mut pte_options,
    kernels: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, kernels, Options::set_kernels) }
}

/// Sets the backends that the runtime links: ids and packages with commas between, such as "XnnpackBackend".
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_backends(
    options: *mut pte_options,
    backends: *const c_char,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { set(options, backends, Options::set_backends) }
}

/// Sets whether all bytes are searched for executable content. By default only the beginnings of segments are.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_scan(options: *mut pte_options, scan: bool) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { change(options, |options| options.scans = scan) }
}

/// Sets how many findings of each rule are kept: 100 by default, and at most 10000. The rest are counted.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_findings_per_rule(
    options: *mut pte_options,
    most: u32,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { change(options, |options| options.limits.findings_per_rule = most.min(10_000)) }
}

/// Sets the longest tables in bytes that are accepted: 2^31 - 1 by default.
#[cfg(feature = "check")]
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
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_options_set_amplification(
    options: *mut pte_options,
    most: u32,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { change(options, |options| options.limits.amplification = most.min(64)) }
}

/// Judges a file of any kind by every rule, and makes a report.
///
/// Returns PTE_OK if the file was judged, with any verdict: pte_report_error_count has that. A file whose structure
/// is broken has one finding. `options` may be NULL, for the defaults. `*report` is NULL unless PTE_OK is returned.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_check(
    data: *const c_void,
    size: usize,
    options: *const pte_options,
    report: *mut *mut pte_report,
) -> pte_status {
    // SAFETY: the caller's promise: null or writable.
    let Some(report) = (unsafe { report.as_mut() }) else {
        return pte_status::PTE_INVALID_ARGUMENT;
    };
    *report = ptr::null_mut();
    // SAFETY: the caller's promise.
    let Some(bytes) = (unsafe { bytes(data, size) }) else {
        return pte_status::PTE_INVALID_ARGUMENT;
    };
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

/// Returns the number of warnings; 0 for NULL.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_warning_count(report: *const pte_report) -> usize {
    // SAFETY: the caller's promise.
    unsafe { count(report, pte_severity::PTE_WARNING) }
}

/// Returns the number of notes; 0 for NULL.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_note_count(report: *const pte_report) -> usize {
    // SAFETY: the caller's promise.
    unsafe { count(report, pte_severity::PTE_NOTE) }
}

/// Returns the number of findings that the report has; 0 for NULL. It may have fewer than were counted: see
/// pte_options_set_findings_per_rule.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_finding_count(report: *const pte_report) -> usize {
    // SAFETY: the caller's promise: null, or a report.
    unsafe { report.as_ref() }.map_or(0, |report| report.0.value().findings().len())
}

/// Returns the number of findings that were counted and not kept; 0 for NULL.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_omitted_count(report: *const pte_report) -> usize {
    // SAFETY: the caller's promise: null, or a report.
    let omitted = unsafe { report.as_ref() }.map_or(0, |report| report.0.value().omitted());
    usize::try_from(omitted).unwrap_or(usize::MAX)
}

/// Gives finding `index`; the worst come first. Its texts exist as long as the report.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_finding(
    report: *const pte_report,
    index: usize,
    finding: *mut pte_finding,
) -> pte_status {
    // SAFETY: the caller's promise: null, or a report.
    let texts =
        unsafe { report.as_ref() }.and_then(|report| report.0.value().findings().get(index));
    let found = texts.map(|texts| pte_finding {
        rule: terminated(&texts.rule),
        severity: texts.severity,
        has_offset: texts.offset.is_some(),
        offset: texts.offset.unwrap_or_default(),
        path: terminated(&texts.path),
        message: terminated(&texts.message),
        why: terminated(&texts.why),
        help: terminated(&texts.help),
        data_file: terminated(&texts.data_file),
    });
    // SAFETY: the caller's promise: null or writable.
    unsafe { give(found, finding) }
}

/// Gives the report as JSON: the document pte.check/1, as `pte check --json` prints it. Free it by pte_text_free.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_json(
    report: *const pte_report,
    text: *mut *mut c_char,
    size: *mut usize,
) -> pte_status {
    // SAFETY: the caller's promise: null, or a report.
    let report = unsafe { report.as_ref() }.map(|report| report.0.value());
    // SAFETY: the caller's promise.
    unsafe { document(report, judge::Judged::document_memory, judge::Judged::json, text, size) }
}

/// Gives the report as SARIF 2.1.0, which code-scanning sites read. Free it by pte_text_free.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_sarif(
    report: *const pte_report,
    text: *mut *mut c_char,
    size: *mut usize,
) -> pte_status {
    // SAFETY: the caller's promise: null, or a report.
    let report = unsafe { report.as_ref() }.map(|report| report.0.value());
    // SAFETY: the caller's promise.
    unsafe { document(report, judge::Judged::document_memory, judge::Judged::sarif, text, size) }
}

/// Frees a document. Does nothing for NULL.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_text_free(text: *mut c_char) {
    if let Some(text) = NonNull::new(text) {
        // SAFETY: the caller's promise: a document of this library, which is not used again.
        unsafe { memory::free_host_text(text.cast::<u8>()) };
    }
}

/// Proves the structure of a .pte or .ptd file, and opens it. Rules are not checked: that is pte_check.
///
/// The tables are copied, so names, shapes and offsets stay as proven if the buffer changes. Data is not
/// copied: the buffer must stay until the file is freed. `options` may be NULL. `*file` is NULL unless PTE_OK is
/// returned.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_open(
    data: *const c_void,
    size: usize,
    options: *const pte_options,
    file: *mut *mut pte_file,
) -> pte_status {
    // SAFETY: the caller's promise: null or writable.
    let Some(file) = (unsafe { file.as_mut() }) else { return pte_status::PTE_INVALID_ARGUMENT };
    *file = ptr::null_mut();
    // SAFETY: the caller's promise.
    let Some(bytes) = (unsafe { bytes(data, size) }) else {
        return pte_status::PTE_INVALID_ARGUMENT;
    };
    let defaults = Options::new();
    // SAFETY: the caller's promise: null, or of `pte_options_new`.
    let options = unsafe { options.as_ref() }.map_or(&defaults, |options| &options.0);
    match file::open(bytes, options) {
        Ok(made) => {
            *file = made.as_ptr().cast();
            pte_status::PTE_OK
        }
        Err(status) => status,
    }
}

/// Closes a file. Does nothing for NULL.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_free(file: *mut pte_file) {
    if let Some(file) = NonNull::new(file) {
        // SAFETY: the caller's promise: a file, which is not used again.
        unsafe { memory::Owned::free(file.cast::<memory::Owned<file::Opened>>()) };
    }
}

/// Returns whether the file is a program (.pte), and not a data file (.ptd); false for NULL.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_is_program(file: *const pte_file) -> bool {
    // SAFETY: the caller's promise.
    unsafe { opened(file) }.is_some_and(file::Opened::is_program)
}

/// Gives a summary as JSON: the document pte.info/1, as `pte info --json` prints it. Free it by pte_text_free.
#[cfg(feature = "check")]
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
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_method_count(file: *const pte_file) -> usize {
    // SAFETY: the caller's promise.
    unsafe { opened(file) }.map_or(0, file::Opened::method_count)
}

/// Gives method `index`.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_method(
    file: *const pte_file,
    index: usize,
    method: *mut pte_method,
) -> pte_status {
    // SAFETY: the caller's promise.
    let plan = unsafe { opened(file) }.and_then(|file| file.method(index));
    let found = plan.map(|plan| pte_method {
        name: of_file(plan.name().unwrap_or_default()),
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
#[cfg(feature = "check")]
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
#[cfg(feature = "check")]
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
#[cfg(feature = "check")]
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
    unsafe { give(found.map(pte_value::from), value) }
}

/// Gives input `index` of a method.
#[cfg(feature = "check")]
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
    unsafe { give(found.map(pte_value::from), value) }
}

/// Gives output `index` of a method.
#[cfg(feature = "check")]
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
    unsafe { give(found.map(pte_value::from), value) }
}

/// Gives value `index` of a method: inputs, outputs, constants and what is computed.
#[cfg(feature = "check")]
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
    unsafe { give(found.map(pte_value::from), value) }
}

/// Gives the first tensor of a program with a fully qualified name, or the entry of a data file. The name has `size`
/// bytes. The search takes time for each tensor.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_find_tensor(
    file: *const pte_file,
    name: *const c_char,
    size: usize,
    value: *mut pte_value,
) -> pte_status {
    // SAFETY: the caller's promise.
    let (file, name) = unsafe { (opened(file), bytes(name.cast::<c_void>(), size)) };
    let find_tensor = |file: &file::Opened, name: &str| file.find_tensor(name).map(pte_value::from);
    // SAFETY: the caller's promise: null or writable.
    unsafe { find(file, name, find_tensor, value) }
}

/// Returns the number of named data of a program, or of the entries of a data file.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_data_count(file: *const pte_file) -> usize {
    // SAFETY: the caller's promise.
    unsafe { opened(file) }.map_or(0, file::Opened::data_count)
}

/// Gives named data `index` of a program, or entry `index` of a data file.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_data(
    file: *const pte_file,
    index: usize,
    value: *mut pte_value,
) -> pte_status {
    // SAFETY: the caller's promise.
    let found = unsafe { opened(file) }.and_then(|file| file.data(index));
    // SAFETY: the caller's promise: null or writable.
    unsafe { give(found.map(pte_value::from), value) }
}

/// Gives the first named data of a program with a key, or entry of a data file. The key has `size` bytes. The search
/// takes time for each key.
#[cfg(feature = "check")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_file_find_data(
    file: *const pte_file,
    key: *const c_char,
    size: usize,
    value: *mut pte_value,
) -> pte_status {
    // SAFETY: the caller's promise.
    let (file, key) = unsafe { (opened(file), bytes(key.cast::<c_void>(), size)) };
    let find_data = |file: &file::Opened, key: &str| file.find_data(key).map(pte_value::from);
    // SAFETY: the caller's promise: null or writable.
    unsafe { find(file, key, find_data, value) }
}

#[cfg(feature = "check")]
impl From<file::Value<'_>> for pte_value {
    fn from(value: file::Value<'_>) -> Self {
        Self {
            kind: value.kind,
            name: of_file(value.name),
            dtype: value.dtype.map_or(-1, |dtype| dtype.0.into()),
            dtype_name: of_file(value.dtype_name),
            rank: value.sizes.len,
            sizes: value.sizes.first,
            is_dynamic: value.is_dynamic,
            storage: value.storage,
            arena: value.arena.map_or(0, |arena| arena.memory_id),
            arena_offset: value.arena.map_or(0, |arena| arena.offset),
            data: match value.bytes {
                [] => ptr::null(),
                bytes => bytes.as_ptr().cast(),
            },
            size: value.bytes.len(),
            integer: value.integer,
            number: value.number,
            text: of_file(value.text),
        }
    }
}

/// Returns a text of the tables, where a NUL follows each text, or an empty one.
#[cfg(feature = "check")]
fn of_file(text: &str) -> pte_text {
    match text {
        "" => terminated("\0"),
        text => pte_text { data: text.as_ptr().cast(), size: text.len() },
    }
}

/// Returns a text without the NUL at its end.
#[cfg(feature = "check")]
fn terminated(text: &str) -> pte_text {
    pte_text { data: text.as_ptr().cast(), size: text.len().saturating_sub(1) }
}

#[cfg(feature = "check")]
unsafe fn opened<'a>(file: *const pte_file) -> Option<&'a file::Opened> {
    // SAFETY: the caller's promise: null, or a file.
    unsafe { file.as_ref() }.map(|file| file.0.value())
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

/// Writes what `search` finds of a name to `place`.
#[cfg(feature = "check")]
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

/// Writes a document to memory of the host.
#[cfg(feature = "check")]
unsafe fn document<T>(
    of: Option<&T>,
    reserve: impl FnOnce(&T) -> usize,
    make: impl FnOnce(&T) -> Result<Vec<u8>, pte_status>,
    text: *mut *mut c_char,
    size: *mut usize,
) -> pte_status {
    // SAFETY: the caller's promise: null or writable.
    let (text, size) = unsafe { (text.as_mut(), size.as_mut()) };
    let (Some(of), Some(text)) = (of, text) else { return pte_status::PTE_INVALID_ARGUMENT };
    *text = ptr::null_mut();
    let made = memory::within_reserve(reserve(of), || {
        let made = make(of)?;
        let copy = memory::host_text(&made).ok_or(pte_status::PTE_NO_MEMORY)?;
        Ok((copy, made.len()))
    });
    match made {
        Ok((copy, len)) => {
            *text = copy.as_ptr().cast();
            if let Some(size) = size {
                *size = len;
            }
            pte_status::PTE_OK
        }
        Err(status) => status,
    }
}

/// Changes options by a C string in UTF-8.
#[cfg(feature = "check")]
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

#[cfg(feature = "check")]
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

#[cfg(feature = "check")]
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
