//! Genuine files: the samples of this repository, and the folder of `PTE_CORPUS`.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Returns the path of a file of the repository.
pub fn path(name: impl AsRef<Path>) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(name)
}

/// Reads a file of the repository.
pub fn read(name: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    fs::read(path(name))
}

/// Reads a text of the repository.
pub fn read_to_string(name: impl AsRef<Path>) -> io::Result<String> {
    fs::read_to_string(path(name))
}

/// Returns what is known of a file of the repository.
pub fn metadata(name: impl AsRef<Path>) -> io::Result<fs::Metadata> {
    fs::metadata(path(name))
}

/// Returns every `.pte` and `.ptd` in `tests/data`, sorted by name.
pub fn samples() -> Vec<PathBuf> {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/data");
    let mut found = models(&data.join("pte"));
    found.extend(models(&data.join("ptd")));
    assert!(found.len() > 1, "tests/data holds files");
    found
}

/// Returns the samples for a test that takes long: each third one in a build with debug assertions.
pub fn some_samples() -> Vec<PathBuf> {
    samples().into_iter().step_by(crate::thinned(3)).collect()
}

/// Returns the folder of the larger corpus, with reference decodings; prints a note if there is none.
pub fn corpus() -> Option<PathBuf> {
    match std::env::var_os("PTE_CORPUS") {
        Some(folder) => Some(folder.into()),
        None => {
            println!("skipped: PTE_CORPUS names no folder");
            None
        }
    }
}

/// Returns the samples, and the files of the corpus if there is one.
pub fn everything() -> Vec<PathBuf> {
    let mut found = samples();
    found.extend(corpus().into_iter().flat_map(|folder| models(&folder)));
    found
}

/// Returns the `.pte` and `.ptd` files in a folder, sorted by name.
pub fn models(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut found: Vec<_> =
        entries.map(|entry| entry.unwrap().path()).filter(|p| is_model(p)).collect();
    found.sort();
    found
}

/// Returns the name of a file, for messages and snapshots.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "pte" || extension == "ptd")
}
