//! `pte build`: a file from the JSON of a dump.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::Limits;
use pte::check::{CheckedFile, Checker};
use pte::file::Kind;
use pte::model::json::{self, AnyFile, JsonError};
use pte::model::{Amplified, File, ModelError, Root};

use super::check::show;
use super::input::{self, NoText};
use super::problem::{Problem, Status, lines};
use super::reserve::Reserved;
use super::text::{name_of, wide};
use super::{Common, save};
use folder::Folder;

mod folder;

/// Make a .pte or .ptd from JSON and blobs
///
/// The inverse of dump --container: what it wrote, with blobs inline or as files, becomes the same
/// file again, byte for byte where its writer's layout is known. The JSON may be changed in between,
/// and so may the files of blobs.
///
/// JSON without a container is of a file without data: one whose segments have bytes cannot be
/// built from it. What the container leaves out is as today's writers have it, so that
/// "container": {"segments": [{"file": "weights.bin"}]} is enough, with --lay-out for the sizes.
///
/// The result is judged before anything is written: one with a broken structure is not written,
/// findings of rules are told as check tells them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte dump --container --blobs dir=parts model.pte -o parts/model.json
  pte build parts/model.json -o model.pte           blobs are beside the JSON
  pte build model.json --blobs dir=parts -o model.pte
  pte build --lay-out parts/model.json -o model.pte after a blob's size has changed
  pte dump X --container --blobs dir=D | pte build - --blobs dir=D -o Y

Exit status: 0 written, 1 the JSON or the file that it makes is wrong, 2 usage, 3 not readable or
writable")]
pub(super) struct Build {
    /// The JSON, or - for standard input.
    json: PathBuf,
    /// Where the files of blobs are, as dir=FOLDER; if not given, the JSON's own folder.
    #[arg(long, value_name = "HOW", value_parser = folder)]
    blobs: Option<PathBuf>,
    /// What JSON without a container is.
    #[arg(long, value_name = "KIND")]
    kind: Option<Which>,
    /// Say again where each segment lies and how long it is, whatever the JSON says.
    #[arg(long)]
    lay_out: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Which {
    /// A program.
    Pte,
    /// Named tensors and blobs.
    Ptd,
}

fn folder(text: &str) -> Result<PathBuf, String> {
    match text.strip_prefix("dir=") {
        Some(folder) if !folder.is_empty() => Ok(folder.into()),
        _ => Err("dir=FOLDER".into()),
    }
}

impl Build {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let limits = common.limits();
        let text = input::read_text(&self.json, &limits)?.map_err(|NoText(at)| {
            self.absent(format!("this is no JSON: the byte at {at:#x} is no text"))
        })?;
        let _reserved = Reserved::new(wide(text.len()), &name_of(&self.json))?;
        let beside = self.json.parent().filter(|parent| !parent.as_os_str().is_empty());
        let beside = beside.filter(|_| self.json.as_os_str() != "-").unwrap_or(Path::new("."));
        let folder = Folder::new(self.blobs.as_deref().unwrap_or(beside), text.len());
        let kind = self.kind.map(|which| match which {
            Which::Pte => Kind::Pte,
            Which::Ptd => Kind::Ptd,
        });
        let file = json::read(&text, kind, &mut |name| folder.blob(name));
        let file = file.map_err(|error| self.refused(&error, folder.status()))?;
        drop(text);
        match file {
            AnyFile::Pte(file) => self.write(file, &folder, &limits, common),
            AnyFile::Ptd(file) => self.write(file, &folder, &limits, common),
            AnyFile::LegacyPtd(file) => self.write(file, &folder, &limits, common),
        }
    }

    fn write<R: Root>(
        &self,
        mut file: File<'_, R>,
        folder: &Folder,
        limits: &Limits,
        common: &Common,
    ) -> Result<Status, Problem> {
        if self.lay_out {
            file.lay_out();
        }
        // The tables may be many times longer than their JSON, where data in them is aligned.
        let (given, segments) = (folder.given(), file.segments.len());
        let limit = limits.bytes_written(given, u64::try_from(segments).unwrap_or(u64::MAX));
        let within = Limits { program: limits.program.min(limit), ..*limits };
        let image = file.image_with(&within).map_err(|error| self.unbuildable(&error))?;
        if image.len() > limit {
            let error = Amplified { len: image.len(), given, limit };
            let message = save::allowed(&error);
            return Err(Problem::Absent { file: name_of(&self.json), message });
        }
        let name = common.output.as_deref().map_or("<standard output>".into(), name_of);
        let inputs: Vec<_> = [self.json.clone()].into_iter().chain(folder.used()).collect();
        let opened = save::proven(image, &name, limits)?;
        let problem = |error| Problem::io(name_of(&self.json), io::Error::other(error));
        let report = Checker::new().limits(*limits).check(&opened).map_err(problem)?;
        let mut checked = CheckedFile::new(name, &opened.file());
        checked.add(&opened, &[], &report);
        save::write(&opened, common.output.as_deref(), &inputs, common.quiet)?;
        if !checked.findings.is_empty() && !common.quiet {
            let mut text = String::new();
            // A string takes whatever is written to it.
            let _ = show::write(&[checked], &mut text);
            lines(&text);
        }
        Ok(Status::Good)
    }

    fn absent(&self, message: String) -> Problem {
        Problem::Absent { file: name_of(&self.json), message: message.into() }
    }

    /// A text that is no file; `status` is that of a blob that was not to be had.
    fn refused(&self, error: &JsonError, status: Option<Status>) -> Problem {
        let text = |message: String, place: String| Problem::Text {
            file: name_of(&self.json),
            error: message.into(),
            place: place.into(),
            status: status.unwrap_or(Status::BadNews),
        };
        match error {
            JsonError::Text(error) => {
                let mut place = format!("line {}, column {}", error.line(), error.column());
                let path = error.place().to_string();
                if !path.is_empty() {
                    place = format!("{place}, {path}");
                }
                text(error.message().into(), place)
            }
            JsonError::Tree(error) => text(error.to_string(), error.place().to_string()),
            JsonError::KindUnknown => self.absent(
                "nothing in the JSON tells whether this is a .pte or a .ptd: say --kind".into(),
            ),
            JsonError::OtherKind => self.absent("this is not of the kind that --kind says".into()),
            JsonError::ContainerMissing => self.absent(format!(
                "{error}: `pte dump --container` shows them, with --blobs dir=FOLDER as files"
            )),
            _ => self.absent(error.to_string()),
        }
    }

    fn unbuildable(&self, error: &ModelError) -> Problem {
        let hint = match error {
            ModelError::SegmentCount { .. }
            | ModelError::SegmentSize { .. }
            | ModelError::SegmentOverlap { .. } => "; --lay-out says again where each segment lies",
            ModelError::HeaderMissing => "; leave the container's header out for today's",
            ModelError::Unknown(_) => "; take \"unknown\" out of the container to go without them",
            _ => "",
        };
        self.absent(format!("{}{hint}", save::unwritable(error)))
    }
}
