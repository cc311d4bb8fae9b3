//! Saves the files that tests make as seeds for a fuzzer: see `docs/fuzzing.md`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::{env, fs};

/// The largest seed in bytes: longer files slow a fuzzer.
const LONGEST: usize = 8192;

/// Writes a file into the folder of `PTE_HARVEST`, if it is set, under the hash of its bytes.
#[track_caller]
pub fn harvest(bytes: &[u8]) {
    let Some(folder) = env::var_os("PTE_HARVEST").filter(|_| bytes.len() <= LONGEST) else {
        return;
    };
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let path = Path::new(&folder).join(format!("{:016x}", hasher.finish()));
    fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
