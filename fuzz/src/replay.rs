//! Runs an oracle on files, without a fuzzer.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io, panic};

use crate::{ORACLES, Oracle};

/// The oracle that `FUZZER` names, or else the program's own file name.
///
/// # Panics
///
/// Neither the variable nor the program's name is a target.
pub fn chosen() -> Oracle {
    let own = || Some(env::current_exe().ok()?.file_stem()?.to_str()?.to_owned());
    let name = env::var("FUZZER").ok().or_else(own).unwrap_or_default();
    let names = || ORACLES.map(|(name, _)| name).join(" ");
    let found = ORACLES.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("set FUZZER to one of: {}", names())).1
}

/// Runs `oracle` on the files, and on all files in the folders, that the command line names. This is the
/// `main` of a target on a stable toolchain.
pub fn main(oracle: Oracle) -> ExitCode {
    let named: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    if named.is_empty() {
        eprintln!("give files or folders to replay");
        return ExitCode::from(2);
    }
    let (mut count, mut failed) = (0u64, 0u64);
    for path in &named {
        let files = match files(path) {
            Ok(files) => files,
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                return ExitCode::from(2);
            }
        };
        for (file, bytes) in files {
            count += 1;
            if !holds(oracle, &bytes) {
                failed += 1;
                eprintln!("fails: {}", file.display());
            }
        }
    }
    println!("{count} files, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether `oracle` takes `bytes` without a panic; the panic's message is on standard error.
pub fn holds(oracle: Oracle, bytes: &[u8]) -> bool {
    panic::catch_unwind(|| oracle(bytes)).is_ok()
}

/// The file `path`, or every file below it, by name. Files whose names begin with a dot and
/// Markdown are no inputs.
///
/// # Errors
///
/// A file or folder cannot be read.
pub fn files(path: &Path) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    paths(path)?.into_iter().map(|path| Ok((path.clone(), fs::read(path)?))).collect()
}

/// The paths of [`files`].
///
/// # Errors
///
/// A folder cannot be read.
pub fn paths(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries: Vec<PathBuf> =
        fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        let hidden = entry.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
        if !hidden && entry.extension().is_none_or(|extension| extension != "md") {
            found.extend(paths(&entry)?);
        }
    }
    Ok(found)
}
