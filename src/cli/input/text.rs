//! Texts: files of operators, budgets and other lists.

use std::io::{self, Read};
use std::path::Path;

use super::bytes::{long_stream, max_stream};
use crate::problem::{NoText, Problem};
use crate::text::name_of;
use pte::file::open;

/// Reads the text at `path`. A regular file is read completely, and a stream or a device within the
/// limits. Reading ends at the first NUL, and at the first byte that is not UTF-8. A byte order mark is left out.
pub(crate) fn read_text(path: &Path) -> Result<Result<String, NoText>, Problem> {
    let name = name_of(path);
    let problem = |error| Problem::io(&name, error);
    let (mut file, mut stdin);
    let (from, len): (&mut dyn Read, _) = match path.as_os_str() == "-" {
        true => {
            stdin = io::stdin().lock();
            (&mut stdin, None)
        }
        false => {
            let (opened, len) = open(path).map_err(problem)?;
            file = opened;
            (&mut file, len)
        }
    };
    // Files under /proc report a length of 0 although they have contents.
    let len = len.filter(|&len| len > 0);
    // One byte more than the limit is read, to detect a longer stream.
    let mut from = from.take(len.unwrap_or(max_stream().saturating_add(1)));
    let (mut bytes, mut valid) = (Vec::new(), 0usize);
    let no_text = |bytes: &[u8], at| NoText {
        at,
        is_utf_16: bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff"),
    };
    let mut piece = vec![0; PIECE];
    loop {
        let read = match from.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(problem)?,
        };
        let read = piece.get(..read).unwrap_or_default();
        if read.is_empty() {
            break;
        }
        let nul = read.iter().position(|&byte| byte == 0).map(|at| bytes.len().saturating_add(at));
        let memory = |_| problem(io::ErrorKind::OutOfMemory.into());
        bytes.try_reserve(read.len()).map_err(memory)?;
        bytes.extend_from_slice(read);
        let mut is_text = nul.is_none();
        match core::str::from_utf8(bytes.get(valid..).unwrap_or_default()) {
            Ok(_) => valid = bytes.len(),
            Err(error) => {
                valid = valid.saturating_add(error.valid_up_to());
                is_text &= error.error_len().is_none();
            }
        }
        if !is_text {
            let at = nul.map_or(valid, |nul| nul.min(valid));
            return Ok(Err(no_text(&bytes, at)));
        }
        if len.is_none() && u64::try_from(bytes.len()).is_ok_and(|len| len > max_stream()) {
            return Err(long_stream(&name));
        }
    }
    // Editors on Windows put it in front of UTF-8 too.
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
        valid = valid.saturating_sub(BYTE_ORDER_MARK.len());
    }
    let text = String::from_utf8(bytes);
    Ok(text.map_err(|error| no_text(error.as_bytes(), valid)))
}

/// The byte order mark in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The number of bytes of a text that are read at once.
const PIECE: usize = 1 << 16;
