//! Lists of kernels in arguments: libraries of upstream, packages, and files.

use std::io;
use std::path::{Path, PathBuf};

use pte::operators::selected::SelectedOperators;
use pte::release::Release;

use super::input;
use super::problem::{Problem, Status};
use super::text::name_of;

/// The names and files of a list of kernels, with commas between.
#[derive(Clone, Debug)]
pub(super) struct KernelList(Vec<PathBuf>);

impl From<std::ffi::OsString> for KernelList {
    fn from(text: std::ffi::OsString) -> Self {
        // A path that is not UTF-8 is one file.
        let parts = text.to_str().map(|text| text.split(',').map(PathBuf::from).collect());
        Self(parts.unwrap_or_else(|| vec![text.into()]))
    }
}

impl KernelList {
    /// Returns the list of one part, which may have commas in its name.
    pub(super) fn of_part(part: PathBuf) -> Self {
        Self(vec![part])
    }

    /// Returns the parts that are files: those that name no library or package.
    pub(super) fn files(&self, release: Release) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().filter(move |part| library(part, release).is_none())
    }

    /// Returns the operators of all parts.
    pub(super) fn read(&self, release: Release) -> Result<SelectedOperators, Problem> {
        let mut all = SelectedOperators::default();
        for part in &self.0 {
            match library(part, release) {
                Some(library) => all.merge(library),
                None => all.merge(read_list(part)?),
            }
        }
        Ok(all)
    }
}

fn library(part: &Path, release: Release) -> Option<SelectedOperators> {
    SelectedOperators::of_library(part.to_str()?, release)
}

fn read_list(path: &Path) -> Result<SelectedOperators, Problem> {
    let name = name_of(path);
    // A word without a dot or a slash is rather a library with a typing error than a file.
    let is_word = path.to_str().is_some_and(|text| text != "-" && !text.contains(['.', '/', '\\']));
    if is_word && !path.exists() {
        let names = SelectedOperators::library_names().collect::<Vec<_>>().join(", ");
        let message = format!("no such file, kernel library or package: there is {names}");
        return Err(Problem::io(&name, io::Error::new(io::ErrorKind::NotFound, message)));
    }
    let text = input::read_text(path)?.map_err(|_| {
        let message = format!(
            "{name} is not text, so it is no list of operators: `pte ops --format yaml` writes one"
        );
        Problem::Usage(message.into())
    })?;
    SelectedOperators::read(&text).map_err(|error| Problem::Text {
        file: name,
        error: error.message.into(),
        place: format!("line {}", error.line).into(),
        help: None,
        status: Status::Usage,
    })
}
