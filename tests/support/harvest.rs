//! What the tests make, for a fuzzer to begin with: see `docs/fuzzing.md`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::{env, fs};

/// Longer files teach a fuzzer little, and slow it.
const LONGEST: usize = 8192;

/// Writes a file into the folder that `PTE_HARVEST` names, if it names one; equal files are one.
#[track_caller]
pub(crate) fn harvest(bytes: &[u8]) {
    let Some(folder) = env::var_os("PTE_HARVEST").filter(|_| bytes.len() <= LONGEST) else {
        return;
    };
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let path = Path::new(&folder).join(format!("{:016x}", hasher.finish()));
    fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
