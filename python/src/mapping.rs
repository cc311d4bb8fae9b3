//! A file mapped into memory, as a read-only buffer: the only unsafe code of the project.
//!
//! A map shows the file as it is now. If another process writes to the file, the elements of arrays
//! change; if it is cut, reading behind its new end ends the process (SIGBUS), as with `numpy.memmap`.
//! The library never reads a map: it reads copies, made by system calls, and proves those. So only the
//! user's own reads of an array can see a change, and `numpy(copy=True)` avoids it.

use core::ffi::c_int;
use core::ptr;
use std::fs;
use std::io;

use memmap2::Mmap;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// A read-only map of a whole file. It lasts as long as a view of it.
#[pyclass(frozen, module = "ptekit._ptekit")]
#[derive(Debug)]
pub(crate) struct Mapping {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
}

impl Mapping {
    /// Maps a file.
    #[allow(
        unsafe_code,
        reason = "a file may change while it is mapped: the module has what follows"
    )]
    pub(crate) fn new(file: &fs::File) -> io::Result<Self> {
        let map = match file.metadata()?.len() {
            0 => None,
            // SAFETY: No reference to the bytes is made here: they are handed to Python as a buffer,
            // whose elements are read one at a time. Rust code reads copies of the file alone.
            _ => Some(unsafe { Mmap::map(file)? }),
        };
        Ok(Self { map })
    }
}

#[pymethods]
impl Mapping {
    /// Returns the number of bytes.
    fn __len__(&self) -> usize {
        self.map.as_ref().map_or(0, |map| map.len())
    }

    /// Fills a view of Python's buffer protocol.
    #[allow(unsafe_code, reason = "the buffer protocol has a C interface")]
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view to fill"));
        }
        let (start, len) = match &slf.get().map {
            Some(map) => (map.as_ptr().cast_mut().cast(), map.len()),
            None => (ptr::null_mut(), 0),
        };
        let len = isize::try_from(len).map_err(|_| PyBufferError::new_err("too long"))?;
        // SAFETY: `view` is Python's. The bytes stay mapped while this object lives, to which the view
        // holds a reference. The view is read-only, so nothing is written through the pointer.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, len, 1, flags) };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}
