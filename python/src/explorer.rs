//! Files as graphs of Model Explorer.

use std::io;
use std::path::PathBuf;

use pte::check::CheckedFile;
use pte::explorer::{ExplorerDocument, Overlay, RecordedModules};
use pte::profile::Profile;
use pte::quoted::UntrustedString;
use pyo3::prelude::*;

use crate::documents::text;
use crate::error::{Failure, Result, apart};
use crate::handle::{Handle, limits};
use crate::source::Source;

/// Returns the graph collection of a file on disk, or an overlay for it. A file that is refused or cannot be read has a
/// node with the reason.
#[pyfunction]
#[pyo3(signature = (path, name, overlay, etdump, method, etrecord))]
pub(crate) fn explorer(
    py: Python<'_>,
    path: PathBuf,
    name: String,
    overlay: Option<&str>,
    etdump: Option<PathBuf>,
    method: Option<String>,
    etrecord: Option<PathBuf>,
) -> PyResult<String> {
    let overlay = overlay.map(of_name).transpose()?;
    apart(py, || {
        let profile = etdump.map(|path| read_profile(&path)).transpose()?;
        let modules = etrecord.map(|path| read_modules(&path)).transpose()?;
        let shown = Shown { overlay, profile, method, modules };
        match open(Source::open(&path), &name, &shown) {
            Err(Failure::Refused(error)) => shown.of_refused(CheckedFile::refused(name, &error)),
            Err(Failure::Absent { message, .. }) => {
                shown.of_refused(CheckedFile::unreadable(name, message, None))
            }
            done => done,
        }
    })
}

/// What is shown of a file: its graph, or numbers to lay over it.
struct Shown {
    overlay: Option<Overlay>,
    profile: Option<Profile>,
    method: Option<String>,
    modules: Option<RecordedModules>,
}

impl Shown {
    /// Returns the text of a document. `ran` is the index of the method whose times are shown.
    fn text(&self, document: &ExplorerDocument<'_>, ran: u32) -> Result<String> {
        match self.overlay {
            None => text(document),
            Some(overlay) => {
                let profile = self.profile.as_ref().map(|profile| (profile, ran));
                text(&document.overlay(overlay, profile))
            }
        }
    }

    fn of_refused(&self, checked: CheckedFile) -> Result<String> {
        self.text(&ExplorerDocument::refused(checked), 0)
    }
}

fn open(source: io::Result<Source>, name: &str, shown: &Shown) -> Result<String> {
    let (source, limits) = (source?, limits(false));
    match ExplorerDocument::of_other(UntrustedString::from(name), &source, &limits)? {
        Some(Ok(document)) => return shown.text(&document, 0),
        Some(Err(why)) => return Err(Failure::absent("payload", &why)),
        None => {}
    }
    let handle = Handle::open(source, name.into(), limits)?;
    let document = ExplorerDocument::of(&handle.name, &handle.opened, true, &limits)?
        .with_modules(shown.modules.clone().unwrap_or_default());
    let ran = match (&shown.profile, handle.pte()) {
        (Some(_), Ok(pte)) => Profile::method_index(&pte, shown.method.as_deref()),
        _ => Some(0),
    };
    let ran = ran.ok_or_else(|| Failure::Value("the program has no such method".into()))?;
    shown.text(&document, ran)
}

fn read_profile(path: &std::path::Path) -> Result<Profile> {
    let limits = limits(false);
    let bytes = Source::open(path)?.read_whole(&limits)?;
    Profile::read(&bytes, &limits).map_err(|why| Failure::absent("profile", &why))
}

fn read_modules(path: &std::path::Path) -> Result<RecordedModules> {
    let modules = RecordedModules::read(&Source::open(path)?)?;
    modules.map_err(|why| Failure::absent("ETRecord", &why))
}

fn of_name(name: &str) -> PyResult<Overlay> {
    let all = [Overlay::Findings, Overlay::Bytes, Overlay::Memory, Overlay::Time];
    let found = all.into_iter().find(|overlay| overlay.id() == name);
    found.ok_or_else(|| Failure::Value(format!("unknown overlay {name:?}")).into())
}
