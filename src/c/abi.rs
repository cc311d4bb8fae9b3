//! The types of the interface, as `include/pte.h` has them.
#![allow(non_camel_case_types, reason = "the names of C")]

use core::ffi::{c_char, c_void};
#[cfg(feature = "check")]
use core::ptr;

/// The outcome of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pte_status {
    /// The call has done what it is for. Of pte_check: the file was judged, with any verdict.
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

#[cfg(feature = "check")]
impl pte_text {
    /// An empty text.
    pub(crate) const EMPTY: Self = Self { data: c"".as_ptr(), size: 0 };

    /// A text without the NUL at its end.
    pub(crate) fn terminated(text: &str) -> Self {
        Self { data: text.as_ptr().cast(), size: text.len().saturating_sub(1) }
    }

    /// A text of the tables, where a NUL follows each text, or an empty one.
    pub(crate) fn of_file(text: Option<&str>) -> Self {
        match text.unwrap_or_default() {
            "" => Self::EMPTY,
            text => Self { data: text.as_ptr().cast(), size: text.len() },
        }
    }
}

/// Why the structure of a file is refused.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct pte_refusal {
    /// The id of the rule, such as "offset-out-of-bounds", as a C string; empty if the file is not refused.
    pub rule: [c_char; 32],
    /// The offset of the wrong bytes in the file.
    pub offset: u64,
}

impl pte_refusal {
    /// Of a file that is not refused.
    pub(crate) const NONE: Self = Self { rule: [0; 32], offset: 0 };

    /// Of a file that breaks the rule `id` at `offset`.
    pub(crate) fn new(id: &str, offset: u64) -> Self {
        let mut refusal = Self { offset, ..Self::NONE };
        // The last byte stays a NUL.
        for (to, from) in refusal.rule.iter_mut().take(31).zip(id.bytes()) {
            *to = c_char::from_ne_bytes([from]);
        }
        refusal
    }
}

/// The allocator that the library gets memory from.
///
/// Its functions may be called from every thread that calls the library, and must not call the library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pte_allocator {
    /// Returns `size` bytes at a multiple of `alignment`, a power of two; NULL if memory is short. `size` is not 0.
    pub allocate: Option<
        unsafe extern "C" fn(context: *mut c_void, size: usize, alignment: usize) -> *mut c_void,
    >,
    /// Takes back what `allocate` has returned for the same size and alignment.
    pub release: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            block: *mut c_void,
            size: usize,
            alignment: usize,
        ),
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

/// The type of a value.
#[cfg(feature = "check")]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pte_value_kind {
    /// No value.
    PTE_VALUE_NONE = 0,
    /// A tensor.
    PTE_VALUE_TENSOR = 1,
    /// Named bytes without a shape.
    PTE_VALUE_BLOB = 2,
    /// An integer.
    PTE_VALUE_INT = 3,
    /// A floating-point number.
    PTE_VALUE_DOUBLE = 4,
    /// A boolean: `integer` is 0 or 1.
    PTE_VALUE_BOOL = 5,
    /// A text.
    PTE_VALUE_STRING = 6,
    /// A list, or a type that this version does not know.
    PTE_VALUE_OTHER = 7,
}

/// Where the bytes of a tensor are.
#[cfg(feature = "check")]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pte_storage {
    /// The caller of the runtime provides them: an input, for example.
    PTE_STORAGE_NONE = 0,
    /// In the file, and they never change.
    PTE_STORAGE_FILE = 1,
    /// In a planned arena; the file has the initial bytes.
    PTE_STORAGE_INITIAL = 2,
    /// In a planned arena.
    PTE_STORAGE_PLANNED = 3,
    /// In a .ptd file, under `name`.
    PTE_STORAGE_EXTERNAL = 4,
    /// The reference to them is invalid. A check reports it.
    PTE_STORAGE_BROKEN = 5,
}

/// A value of a method, a tensor or named data.
#[cfg(feature = "check")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pte_value {
    /// The type. Fields of other types are 0 or empty.
    pub kind: pte_value_kind,
    /// The fully qualified name of a tensor, or the key of data, as the file has it; empty if it has none. It belongs
    /// to the pte_file.
    pub name: pte_text,
    /// The dtype: a number of ExecuTorch's ScalarType; -1 if the value is no tensor.
    pub dtype: i32,
    /// PyTorch's name of the dtype, such as "float32"; empty if the runtime does not know it.
    pub dtype_name: pte_text,
    /// The number of sizes. More than 16 are refused by the runtime.
    pub rank: usize,
    /// The first 16 sizes, the outermost dimension first.
    pub sizes: [i32; 16],
    /// Whether the sizes may change when the program runs.
    pub is_dynamic: bool,
    /// Where the bytes are.
    pub storage: pte_storage,
    /// The memory id of the planned arena, from 1 on; 0 if there is none.
    pub arena: u32,
    /// The offset in the arena.
    pub arena_offset: u64,
    /// The bytes in the buffer of the caller; NULL if there are none.
    pub data: *const c_void,
    /// The number of bytes.
    pub size: usize,
    /// The number of an integer or a boolean.
    pub integer: i64,
    /// The number of a floating-point number.
    pub number: f64,
    /// The text, as the file has it.
    pub text: pte_text,
}

#[cfg(feature = "check")]
impl pte_value {
    /// No value.
    pub(crate) const NONE: Self = Self {
        kind: pte_value_kind::PTE_VALUE_NONE,
        name: pte_text::EMPTY,
        dtype: -1,
        dtype_name: pte_text::EMPTY,
        rank: 0,
        sizes: [0; 16],
        is_dynamic: false,
        storage: pte_storage::PTE_STORAGE_NONE,
        arena: 0,
        arena_offset: 0,
        data: ptr::null(),
        size: 0,
        integer: 0,
        number: 0.0,
        text: pte_text::EMPTY,
    };

    /// The same value with bytes of the caller's buffer.
    pub(crate) fn with_bytes(self, bytes: &'static [u8]) -> Self {
        let data = if bytes.is_empty() { ptr::null() } else { bytes.as_ptr().cast() };
        Self { data, size: bytes.len(), ..self }
    }

    /// The same value with the sizes of a tensor.
    pub(crate) fn with_sizes(mut self, sizes: impl Iterator<Item = i32>) -> Self {
        for size in sizes {
            if let Some(place) = self.sizes.get_mut(self.rank) {
                *place = size;
            }
            self.rank = self.rank.saturating_add(1);
        }
        self
    }
}

/// A method of a program.
#[cfg(feature = "check")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pte_method {
    /// The name, as the file has it.
    pub name: pte_text,
    /// The number of inputs.
    pub input_count: usize,
    /// The number of outputs.
    pub output_count: usize,
    /// The number of values.
    pub value_count: usize,
    /// The number of planned arenas.
    pub arena_count: usize,
    /// The number of delegates.
    pub delegate_count: usize,
}
