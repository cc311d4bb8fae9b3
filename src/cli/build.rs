//! `pte build`: a file from the JSON of a dump.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::Limits;
use pte::check::{CheckedFile, Checker};
use pte::file::FileKind;
use pte::model::json::{self, AnyFile, JsonError};
use pte::model::{Amplified, FileModel, ModelError, RootStruct};

use super::Common;
use super::check::show;
use super::input;
use super::problem::{Problem, Status, lines};
use super::reserve::Reserved;
use super::save::{self, NewFile};
use super::text::{name_of, wide};
use folder::Folder;

mod folder;

/// Build a .pte or .ptd from JSON and blobs
///
/// The inverse of dump --container, with blobs inline or as files. An unchanged dump gives the same
/// file, byte for byte if its writer's layout is known. The JSON and the files of blobs may be changed
/// before.
///
/// JSON without a container describes a file without data. Fields that the container leaves out get
/// the values of current writers: "container": {"segments": [{"file": "weights.bin"}]} is enough, with
/// --lay-out for the sizes.
///
/// The result is checked before it is written. A broken structure is refused. Findings are reported as
/// by pte check, and the file is written with them, so that broken files can be made on purpose.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte dump --container --blobs dir=parts model.pte -o parts/model.json
  pte build parts/model.json -o model.pte           blobs are in the folder of the JSON
  pte build model.json --blobs dir=parts -o model.pte
  pte build --lay-out parts/model.json -o model.pte after the size of a blob changed
  pte dump X --container --blobs dir=D | pte build - --blobs dir=D -o Y

Exit status: 0 written, also with findings, 1 the JSON is wrong, or the structure of the file that it
makes, 2 usage, 3 not readable or writable")]
pub(super) struct Build {
    /// The JSON, or - for standard input.
    json: PathBuf,
    /// The folder of the blobs, as dir=FOLDER. The default is the folder of the JSON.
    #[arg(long, value_name = "HOW", value_parser = folder)]
    blobs: Option<PathBuf>,
    /// The kind of file, for JSON without a container.
    #[arg(long, value_name = "KIND")]
    kind: Option<KindArgument>,
    /// Compute the offsets and sizes of segments, ignoring those in the JSON.
    #[arg(long)]
    lay_out: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KindArgument {
    /// A program.
    Pte,
    /// Named tensors and blobs.
    Ptd,
}

fn folder(text: &str) -> Result<PathBuf, String> {
    match text.strip_prefix("dir=") {
        Some(folder) if !folder.is_empty() => Ok(folder.into()),
        _ => Err("expected dir=FOLDER".into()),
    }
}

impl Build {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let limits = common.limits();
        let no_text = |no_text| Problem::no_text(&self.json, no_text, Status::BadNews);
        let text = input::read_text(&self.json)?.map_err(no_text)?;
        let _reserved = Reserved::new(wide(text.len()), &name_of(&self.json))?;
        let beside = self.json.parent().filter(|parent| !parent.as_os_str().is_empty());
        let beside = beside.filter(|_| self.json.as_os_str() != "-").unwrap_or(Path::new("."));
        let folder = Folder::new(self.blobs.as_deref().unwrap_or(beside), text.len());
        let kind = self.kind.map(|kind| match kind {
            KindArgument::Pte => FileKind::Pte,
            KindArgument::Ptd => FileKind::Ptd,
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

    fn write<R: RootStruct>(
        &self,
        mut file: FileModel<'_, R>,
        folder: &Folder,
        limits: &Limits,
        common: &Common,
    ) -> Result<Status, Problem> {
        if self.lay_out {
            file.lay_out();
        }
        // Aligned data can make the tables many times longer than their JSON, so the length of the
        // tables is limited.
        let (given, segments) = (folder.given(), file.segments.len());
        let limit = limits.bytes_written(given, u64::try_from(segments).unwrap_or(u64::MAX));
        let within = Limits { program: limits.program.min(limit), ..*limits };
        let image = file.image_with(&within).map_err(|error| self.unbuildable(&error))?;
        if image.len() > limit {
            let error = Amplified { len: image.len(), given, limit };
            let message = save::over_budget(&error);
            return Err(Problem::Absent { file: name_of(&self.json), message });
        }
        let name = common.output.as_deref().map_or("<standard output>".into(), name_of);
        let inputs: Vec<_> = [self.json.clone()].into_iter().chain(folder.used()).collect();
        let opened = save::proven(image, &name, limits)?;
        let problem = |error| Problem::io(name_of(&self.json), io::Error::other(error));
        let report = Checker::new().limits(*limits).check(&opened).map_err(problem)?;
        let mut checked = CheckedFile::new(name, &opened.file());
        checked.add(&opened, &[], &report);
        let path = common.output.as_deref();
        save::write(&[NewFile { opened, path, is_quiet: common.quiet }], &inputs)?;
        if !checked.findings.is_empty() && !common.quiet {
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = show::write(&[checked], &mut text);
            lines(&text);
        }
        Ok(Status::Good)
    }

    fn absent(&self, message: String) -> Problem {
        Problem::Absent { file: name_of(&self.json), message: message.into() }
    }

    /// Returns the problem of a refused JSON text. `status` is set if a blob could not be read.
    fn refused(&self, error: &JsonError, status: Option<Status>) -> Problem {
        let text = |message: String, place: String| Problem::Text {
            file: name_of(&self.json),
            error: message.into(),
            place: place.into(),
            help: None,
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
            JsonError::KindUnknown => {
                self.absent("the JSON is neither clearly a .pte nor a .ptd: give --kind".into())
            }
            JsonError::OtherKind => {
                self.absent("the JSON is not of the kind that --kind gives".into())
            }
            JsonError::ContainerMissing => self.absent(format!(
                "{error}: `pte dump --container` writes them, with --blobs dir=FOLDER as files"
            )),
            _ => self.absent(error.to_string()),
        }
    }

    fn unbuildable(&self, error: &ModelError) -> Problem {
        let hint = match error {
            ModelError::SegmentCount { .. }
            | ModelError::SegmentSize { .. }
            | ModelError::SegmentOverlap { .. } => "; --lay-out computes the offsets of segments",
            ModelError::HeaderMissing => "; remove the container's header to get a current one",
            ModelError::Unknown(_) => {
                "; remove \"unknown\" from the container to build without them"
            }
            _ => "",
        };
        self.absent(format!("{}{hint}", save::unwritable(error)))
    }
}
