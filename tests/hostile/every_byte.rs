//! Genuine files cut short at every byte, and with every byte replaced: nothing panics, whatever is
//! accepted can be read to its last field, and whatever is refused is refused inside the file.

use std::fs;
use std::path::Path;

use super::read;
use crate::support::exercise::exercise;
use crate::support::files;

#[test]
fn every_truncation() {
    for path in files::samples() {
        let bytes = fs::read(&path).unwrap();
        assert!(judge(&bytes), "{}", path.display());
        for len in 0..bytes.len() {
            match read(&bytes[..len]) {
                Ok(_) => assert!(judge(&bytes[..len])),
                Err(error) => assert!(error.offset() <= len as u64, "{error} at {}", error.place()),
            }
        }
    }
}

#[test]
fn every_byte_of_a_program() {
    every_byte("pte/linear.pte");
}

#[test]
fn every_byte_of_a_data_file() {
    every_byte("ptd/ptd_basic.ptd");
}

fn every_byte(name: &str) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut bytes = fs::read(data.join(name)).unwrap();
    let (mut accepted, mut refused) = (0, 0);
    for at in 0..bytes.len() {
        let byte = bytes[at];
        for other in [0, 1, 4, 0x7f, 0x80, 0xff, byte ^ 1, byte ^ 0x80] {
            bytes[at] = other;
            match judge(&bytes) {
                true => accepted += 1,
                false => refused += 1,
            }
        }
        bytes[at] = byte;
    }
    // A loop that sees only one of the two would test nothing.
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

/// Whether a file is accepted; in that case everything is asked of it.
fn judge(bytes: &[u8]) -> bool {
    if exercise(bytes).is_err() {
        return false;
    }
    for finding in read(bytes).unwrap().check().findings() {
        let place = finding.place();
        assert!(finding.offset <= bytes.len() as u64, "{} at {place}", finding.message);
    }
    true
}
