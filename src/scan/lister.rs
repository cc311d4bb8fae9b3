//! The lister: finds the files of roots, one at a time.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use super::judge::Judge;
use super::pattern;
use pte_flat::quoted::UntrustedString;
#[cfg(feature = "remote")]
use pte_remote::{Client, is_listing, is_url, shown};

/// A place where a scan finds files.
pub enum ScanRoot {
    /// A file, a URL, a folder that is searched for `.pte` and `.ptd` files, or a pattern with `*`, `?` and
    /// `**`. The path may be a link; [`Scan::follow`](super::Scan::follow) decides on those in folders.
    Path(PathBuf),
    /// Lines with one path or URL each.
    List(Box<dyn BufRead + Send>),
}

impl core::fmt::Debug for ScanRoot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Self::List(_) => f.write_str("List"),
        }
    }
}

/// The identity of a row: a digest of the file's name, the file's state, and the settings of
/// judging.
pub(super) type Key = [u8; 16];

/// The place of a file.
#[derive(Debug)]
pub(super) enum TargetPlace {
    Path(PathBuf),
    /// The text of a URL.
    #[cfg(feature = "remote")]
    Url(String),
}

/// A file to judge.
#[derive(Debug)]
pub(super) struct Target {
    /// The name of the file. Bytes that are not UTF-8 are `\xNN`.
    pub(super) uri: String,
    pub(super) key: Key,
    pub(super) place: Result<TargetPlace, String>,
    pub(super) mtime_ms: Option<i64>,
}

/// The receiver wants no more files, so the listing ends.
#[derive(Debug)]
pub(super) struct Stopped;

/// Lists the files of roots, and calls `emit` with each.
pub(super) struct Lister<'s, F> {
    pub(super) judge: &'s Judge,
    pub(super) emit: F,
    #[cfg(feature = "remote")]
    pub(super) client: Option<&'s Client>,
    /// Whether links in folders are followed.
    pub(super) follows: bool,
    /// The number of links to models and folders that were not followed.
    pub(super) skipped_links: u64,
    /// The listings that failed, each with the reason.
    pub(super) failed: Vec<String>,
}

impl<F: FnMut(Target) -> Result<(), Stopped>> Lister<'_, F> {
    /// Lists the files of a root.
    pub(super) fn list(&mut self, root: ScanRoot) -> Result<(), Stopped> {
        match root {
            ScanRoot::Path(path) => self.path(&path),
            ScanRoot::List(lines) => self.lines(lines),
        }
    }

    /// Lists one file or URL, without searching it.
    pub(super) fn one(&mut self, path: &Path) -> Result<(), Stopped> {
        #[cfg(feature = "remote")]
        if let Some(text) = path.to_str().filter(|text| is_url(text)) {
            let (key, uri) = (self.key(path, None), shown(text).raw().to_owned());
            let place = Ok(TargetPlace::Url(text.to_owned()));
            return (self.emit)(Target { uri, key, place, mtime_ms: None });
        }
        self.file(path.to_owned())
    }

    fn path(&mut self, path: &Path) -> Result<(), Stopped> {
        #[cfg(feature = "remote")]
        if let Some(text) = path.to_str().filter(|text| is_url(text)) {
            return self.url(path, text);
        }
        if path.is_dir() {
            return match self.folder(path.to_owned(), is_named_model)? {
                0 => self.problem(path, "no .pte or .ptd file in this folder".into()),
                _ => Ok(()),
            };
        }
        match path.to_str().filter(|text| pattern::is_pattern(text) && !path.exists()) {
            Some(text) => self.pattern(path, text),
            None => self.file(path.to_owned()),
        }
    }

    fn pattern(&mut self, path: &Path, text: &str) -> Result<(), Stopped> {
        let (start, rest) = pattern::split(text);
        let folder = if start.is_empty() { Path::new(".") } else { Path::new(start) };
        let is_match = |path: &Path| {
            let relative = path.strip_prefix(folder).ok().and_then(Path::to_str);
            relative.is_some_and(|relative| pattern::matches(rest, relative))
        };
        match self.folder(folder.to_owned(), is_match)? {
            0 => self.problem(path, "no file matches this pattern".into()),
            _ => Ok(()),
        }
    }

    /// Lists the files in a folder and its subfolders, and returns their number. The order is that
    /// of the file system, since sorting would need memory for all of them.
    fn folder(&mut self, folder: PathBuf, takes: impl Fn(&Path) -> bool) -> Result<u64, Stopped> {
        let (mut folders, mut found) = (vec![folder], 0u64);
        // Links to folders are searched last, so that a folder with another path is listed by that. Each
        // folder is listed once: links may form a cycle, or lead to a folder by many paths.
        let (mut linked, mut seen) = (Vec::new(), BTreeSet::new());
        while let Some(folder) = folders.pop().or_else(|| linked.pop()) {
            let is_seen = self.follows
                && folder.canonicalize().is_ok_and(|canonical| !seen.insert(canonical));
            if is_seen {
                continue;
            }
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    found = found.saturating_add(1);
                    self.problem(&folder, error.to_string())?;
                    continue;
                }
            };
            for entry in entries {
                let (path, kind) =
                    match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                        Ok(entry) => entry,
                        Err(error) => {
                            self.problem(&folder, error.to_string())?;
                            break;
                        }
                    };
                if kind.is_dir() {
                    folders.push(path);
                    continue;
                }
                let is_folder = kind.is_symlink() && path.is_dir();
                match kind.is_symlink() {
                    true if !is_folder && !takes(&path) => {}
                    true if !self.follows => {
                        self.skipped_links = self.skipped_links.saturating_add(1);
                    }
                    true if is_folder => linked.push(path),
                    _ if takes(&path) => {
                        found = found.saturating_add(1);
                        self.file(path)?;
                    }
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    fn lines(&mut self, mut lines: Box<dyn BufRead + Send>) -> Result<(), Stopped> {
        loop {
            let mut line = Vec::new();
            let most = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
            let list = Path::new("<list>");
            match lines.by_ref().take(most).read_until(b'\n', &mut line) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => return self.problem(list, error.to_string()),
            }
            if line.len() >= MAX_LINE && line.last() != Some(&b'\n') {
                let message = format!("a line of the list has more than {MAX_LINE} bytes");
                return self.problem(list, message);
            }
            while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                line.pop();
            }
            if !line.is_empty() {
                let path = path_of(line);
                #[cfg(feature = "remote")]
                if let Some(text) = path.to_str().filter(|text| is_url(text)) {
                    self.url(&path, text)?;
                    continue;
                }
                self.file(path)?;
            }
        }
    }

    /// Lists a URL. The state of its file is not known before the first request, so the key has
    /// only the name.
    #[cfg(feature = "remote")]
    fn url(&mut self, path: &Path, text: &str) -> Result<(), Stopped> {
        if is_listing(text) {
            return self.listing(text);
        }
        self.one(path)
    }

    /// Lists the models of an organization or a repository of the hub, or in a bucket or under a prefix. Other files,
    /// and files that are done, are listed and then skipped.
    #[cfg(feature = "remote")]
    fn listing(&mut self, text: &str) -> Result<(), Stopped> {
        let Some(client) = self.client else {
            return self.problem(Path::new(text), "remote files are not read".into());
        };
        let (judge, emit, mut is_stopped) = (self.judge, &mut self.emit, false);
        let listed = client.list(text, |file| {
            if is_named_model(Path::new(&file.url)) {
                let key = key_of(judge, file.url.as_bytes(), file.id.as_bytes());
                let place = Ok(TargetPlace::Url(file.url.clone()));
                let target = Target { uri: file.url, key, place, mtime_ms: file.mtime_ms };
                is_stopped = emit(target).is_err();
            }
            !is_stopped
        });
        match listed {
            _ if is_stopped => return Err(Stopped),
            Ok(failed) => {
                let failed = failed.into_iter().map(|(url, error)| format!("{url}: {error}"));
                self.failed.extend(failed);
            }
            Err(error) => self.failed.push(format!("{}: {error}", shown(text).raw())),
        }
        Ok(())
    }

    fn file(&mut self, path: PathBuf) -> Result<(), Stopped> {
        let metadata = match path.metadata() {
            Ok(metadata) if metadata.is_file() => metadata,
            Ok(metadata) if metadata.is_dir() => {
                return self.problem(&path, "this is a folder".into());
            }
            // Opening a pipe would block.
            Ok(_) => return self.problem(&path, "not a regular file".into()),
            Err(error) => return self.problem(&path, error.to_string()),
        };
        let (len, mtime_ns) = (metadata.len(), mtime_ns(&metadata));
        let key = self.key(&path, Some((len, mtime_ns)));
        let mtime_ms = i64::try_from(mtime_ns.div_euclid(1_000_000)).ok();
        (self.emit)(Target {
            uri: text_of(&path),
            key,
            place: Ok(TargetPlace::Path(path)),
            mtime_ms,
        })
    }

    /// Lists a file that cannot be read.
    fn problem(&mut self, path: &Path, message: String) -> Result<(), Stopped> {
        let key = self.key(path, None);
        (self.emit)(Target { uri: text_of(path), key, place: Err(message), mtime_ms: None })
    }

    fn key(&self, path: &Path, state: Option<(u64, i128)>) -> Key {
        let mut bytes = Vec::new();
        if let Some((len, mtime)) = state {
            bytes.extend_from_slice(&len.to_le_bytes());
            bytes.extend_from_slice(&mtime.to_le_bytes());
        }
        key_of(self.judge, path.as_os_str().as_encoded_bytes(), &bytes)
    }
}

/// Returns the key of a file by its name and its state.
fn key_of(judge: &Judge, name: &[u8], state: &[u8]) -> Key {
    let mut sha = Sha256::new();
    for part in [judge.depth.name(), env!("CARGO_PKG_VERSION"), judge.rules.as_str()] {
        sha.update(part);
        sha.update([0]);
    }
    sha.update(u64::try_from(state.len()).unwrap_or(u64::MAX).to_le_bytes());
    sha.update(state);
    sha.update(name);
    let digest = sha.finalize();
    let mut key = Key::default();
    key.iter_mut().zip(&digest[..]).for_each(|(to, from)| *to = *from);
    key
}

fn is_named_model(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("pte") || extension.eq_ignore_ascii_case("ptd")
    })
}

/// Returns the time of the last change in nanoseconds since 1970; 0 if the system reports none.
fn mtime_ns(metadata: &Metadata) -> i128 {
    let nanos = |since: core::time::Duration| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX);
    match metadata.modified().map(|time| time.duration_since(UNIX_EPOCH)) {
        Ok(Ok(since)) => nanos(since),
        Ok(Err(before)) => nanos(before.duration()).saturating_neg(),
        Err(_) => 0,
    }
}

/// Returns the text of a path.
fn text_of(path: &Path) -> String {
    UntrustedString::from(path.as_os_str()).raw().to_owned()
}

#[cfg(unix)]
fn path_of(line: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(line).into()
}

#[cfg(not(unix))]
fn path_of(line: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&line).into_owned().into()
}

/// The maximum number of bytes of a line in a list.
const MAX_LINE: usize = 1 << 16;
