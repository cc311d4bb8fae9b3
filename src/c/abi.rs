//! The types of the interface, as `include/pte.h` has them.
#![allow(non_camel_case_types, reason = "the names of C")]

use core::ffi::{c_char, c_void};

/// The outcome of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pte_status {
    /// The call has done what it is for. Of pte_check: the file was judged, whatever the verdict.
    PTE_OK = 0,
    /// A pointer is null, an index is out of range, or a text is not what the argument takes.
    PTE_INVALID_ARGUMENT = 1,
    /// Memory is short. Nothing was changed, and nothing is to be freed.
    PTE_NO_MEMORY = 2,
    /// The structure of the bytes is broken, or they are no .pte or .ptd file.
    PTE_REFUSED = 3,
    /// The file has nothing of this name.
    PTE_NOT_FOUND = 4,
    /// The library has a bug, which it has caught. Treat the file as refused, and report it.
    PTE_BUG = 5,
}

/// A text. `data[size]` is a NUL.
///
/// Texts that are said to be escaped have no other NUL, and no character that a terminal acts on: they can be printed
/// as C strings. Names of a file are as the file has them, and may contain anything that is UTF-8, also NULs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pte_text {
    /// The bytes, in UTF-8. Never null.
    pub data: *const c_char,
    /// The number of bytes, without the NUL at the end.
    pub size: usize,
}

/// The allocator that the library gets memory from.
///
/// Its functions may be called from every thread that calls the library, and must not call the library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pte_allocator {
    /// Returns `size` bytes at a multiple of `alignment`, a power of two; NULL if memory is short. `size` is not 0.
    pub allocate:
        Option<unsafe extern "C" fn(context: *mut c_void, size: usize, alignment: usize) -> *mut c_void>,
    /// Takes back what `allocate` has returned for the same size and alignment.
    pub release: Option<
        unsafe extern "C" fn(context: *mut c_void, block: *mut c_void, size: usize, alignment: usize),
    >,
    /// The first argument of both.
    pub context: *mut c_void,
}

/// How bad a finding is.
#[cfg(feature = "check")]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pte_severity {
    /// Worth knowing.
    PTE_NOTE = 0,
    /// Probably a mistake.
    PTE_WARNING = 1,
    /// The official runtime refuses the file, crashes on it or misreads it.
    PTE_ERROR = 2,
}

/// A finding. All texts are escaped, and belong to the report.
#[cfg(feature = "check")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pte_finding {
    /// The id of the rule, such as "tensor-shape"; docs/rules.md describes each. Ids never change their meaning.
    pub rule: pte_text,
    /// The severity, by the options of the check.
    pub severity: pte_severity,
    /// Whether `offset` is set: a finding may be about the file as a whole.
    pub has_offset: bool,
    /// The offset of the wrong bytes in the file.
    pub offset: u64,
    /// The path from the root table to these bytes; may be empty.
    pub path: pte_text,
    /// What is wrong, with the values and the limits.
    pub message: pte_text,
    /// The consequence; may be empty.
    pub why: pte_text,
    /// What to do; may be empty.
    pub help: pte_text,
    /// The name of the data file that the finding is in; empty for the checked file itself.
    pub data_file: pte_text,
}

/// The options of a check. One object may be used by several threads while none of them changes it.
#[cfg(feature = "check")]
#[derive(Debug)]
pub struct pte_options(pub(crate) crate::options::Options);

/// The findings in a file. It refers to nothing of the caller, and never changes.
#[cfg(feature = "check")]
#[expect(missing_debug_implementations, reason = "seen by C alone")]
pub struct pte_report(pub(crate) crate::memory::Owned<crate::judge::Judged>);
