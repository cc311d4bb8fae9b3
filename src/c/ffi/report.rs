//! The check, and the functions of reports.

use core::ffi::{c_char, c_void};
use core::ptr::{self, NonNull};

use super::options::pte_options;
use super::{give, made_of};
use crate::abi::{pte_finding, pte_severity, pte_status, pte_text};
use crate::{judge, memory};

/// The findings in a file. It refers to nothing of the caller, and never changes.
#[expect(missing_debug_implementations, reason = "C has a pointer to it")]
pub struct pte_report(memory::Owned<judge::Judged>);

/// Judges a file of any kind by every rule, and makes a report.
///
/// Returns PTE_OK if the file was judged, with any verdict: pte_report_error_count has that. A file whose structure
/// is broken has one finding. `options` may be NULL, for the defaults. `*report` is NULL unless PTE_OK is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_check(
    data: *const c_void,
    size: usize,
    options: *const pte_options,
    report: *mut *mut pte_report,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe { made_of(data, size, options, report.cast(), judge::check) }
}

unsafe fn judged<'a>(report: *const pte_report) -> Option<&'a judge::Judged> {
    // SAFETY: the caller's promise: null, or a report.
    unsafe { report.as_ref() }.map(|report| report.0.value())
}

/// Returns the number of errors, with those that the limit on findings left out; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_error_count(report: *const pte_report) -> usize {
    // SAFETY: the caller's promise.
    unsafe { count(report, pte_severity::PTE_ERROR) }
}

unsafe fn count(report: *const pte_report, severity: pte_severity) -> usize {
    // SAFETY: the caller's promise.
    let count = unsafe { judged(report) }.map_or(0, |report| report.count(severity));
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Frees a report, and all texts of it. Does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_free(report: *mut pte_report) {
    if let Some(report) = NonNull::new(report) {
        // SAFETY: the caller's promise: a report, which is not used again.
        unsafe { memory::Owned::free(report.cast::<memory::Owned<judge::Judged>>()) };
    }
}

/// Returns the number of warnings; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_warning_count(report: *const pte_report) -> usize {
    // SAFETY: the caller's promise.
    unsafe { count(report, pte_severity::PTE_WARNING) }
}

/// Returns the number of notes; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_note_count(report: *const pte_report) -> usize {
    // SAFETY: the caller's promise.
    unsafe { count(report, pte_severity::PTE_NOTE) }
}

/// Returns the number of findings that the report has; 0 for NULL. It may have fewer than were counted: see
/// pte_options_set_findings_per_rule.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_finding_count(report: *const pte_report) -> usize {
    // SAFETY: the caller's promise.
    unsafe { judged(report) }.map_or(0, |report| report.findings().len())
}

/// Returns the number of findings that were counted and not kept; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_omitted_count(report: *const pte_report) -> usize {
    // SAFETY: the caller's promise.
    let omitted = unsafe { judged(report) }.map_or(0, judge::Judged::omitted);
    usize::try_from(omitted).unwrap_or(usize::MAX)
}

/// Gives finding `index`; the worst come first. Its texts exist as long as the report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_finding(
    report: *const pte_report,
    index: usize,
    finding: *mut pte_finding,
) -> pte_status {
    // SAFETY: the caller's promise.
    let texts = unsafe { judged(report) }.and_then(|report| report.findings().get(index));
    let found = texts.map(|texts| pte_finding {
        rule: pte_text::terminated(&texts.rule),
        severity: texts.severity,
        has_offset: texts.offset.is_some(),
        offset: texts.offset.unwrap_or_default(),
        path: pte_text::terminated(&texts.path),
        message: pte_text::terminated(&texts.message),
        why: pte_text::terminated(&texts.why),
        help: pte_text::terminated(&texts.help),
        data_file: pte_text::terminated(&texts.data_file),
    });
    // SAFETY: the caller's promise: null or writable.
    unsafe { give(found, finding) }
}

/// Gives the report as JSON: the document pte.check/1, as `pte check --json` prints it. Free it by pte_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_json(
    report: *const pte_report,
    text: *mut *mut c_char,
    size: *mut usize,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe {
        document(judged(report), judge::Judged::document_memory, judge::Judged::json, text, size)
    }
}

/// Gives the report as SARIF 2.1.0, which code-scanning sites read. Free it by pte_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_report_sarif(
    report: *const pte_report,
    text: *mut *mut c_char,
    size: *mut usize,
) -> pte_status {
    // SAFETY: the caller's promise.
    unsafe {
        document(judged(report), judge::Judged::document_memory, judge::Judged::sarif, text, size)
    }
}

/// Frees a document. Does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pte_text_free(text: *mut c_char) {
    if let Some(text) = NonNull::new(text) {
        // SAFETY: the caller's promise: a document of this library, which is not used again.
        unsafe { memory::free_host_text(text.cast::<u8>()) };
    }
}

/// Writes a document to memory of the host.
pub(super) unsafe fn document<T>(
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
