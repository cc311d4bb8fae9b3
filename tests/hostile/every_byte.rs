//! Genuine files are cut at every byte, and every byte is replaced; in a build that is not optimized, a part of
//! the bytes by a part of the values. Nothing panics: an accepted
//! file can be read to its last field, and a refusal points inside the file.

use pte::Check;
use std::fs;
use std::path::Path;

use super::read;
use crate::support::exercise::exercise;
use crate::support::{files, thinned};

#[test]
fn every_truncation() {
    for path in files::samples() {
        let bytes = fs::read(&path).unwrap();
        assert!(judge(&bytes), "{}", path.display());
        for len in (0..bytes.len()).step_by(thinned(9)) {
            match read(&bytes[..len]) {
                Ok(_) => assert!(judge(&bytes[..len])),
                Err(error) => assert!(error.offset() <= len as u64, "{error} at {}", error.place()),
            }
        }
    }
}

/// A larger file, each byte with a few values.
#[test]
fn every_byte_of_a_program() {
    every_value(&["pte/linear.pte"], thinned(31), |byte| {
        vec![0, 1, 4, 0x7f, 0x80, 0xff, byte ^ 1, byte ^ 0x80]
    });
}

/// The smallest program, each byte with each of its 256 values.
#[test]
fn every_value_of_every_byte() {
    every_value(&["pte/dyn_nonzero.pte"], thinned(3), |_| all_values());
}

/// The smallest data file with a tensor, of the current and the legacy layout.
#[test]
fn every_value_of_every_byte_of_data() {
    let names = ["ptd/ptd_basic.ptd", "ptd/v0.6.0_ptd_direct_16.ptd"];
    every_value(&names, thinned(3), |_| all_values());
}

fn all_values() -> Vec<u8> {
    (0..=255).step_by(thinned(85)).collect()
}

fn every_value(names: &[&str], step: usize, values: fn(u8) -> Vec<u8>) {
    let enough = 1000 / thinned(60);
    for name in names {
        let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/data");
        let mut bytes = fs::read(data.join(name)).unwrap();
        let (mut accepted, mut refused) = (0, 0);
        for at in (0..bytes.len()).step_by(step) {
            let byte = bytes[at];
            for other in values(byte) {
                bytes[at] = other;
                match judge(&bytes) {
                    true => accepted += 1,
                    false => refused += 1,
                }
            }
            bytes[at] = byte;
        }
        // A loop that sees only one of the two would test nothing.
        assert!(
            accepted > enough && refused > enough,
            "{name}: {accepted} accepted, {refused} refused"
        );
    }
}

/// Returns whether a file is accepted. Calls every accessor of an accepted file.
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
