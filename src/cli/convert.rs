//! `pte convert`: safetensors to `.ptd` and back, and old `.ptd` files to current ones.

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pte::File;
use pte::build::{BuildError, PtdBuilder};
use pte::check::Report;
use pte::convert::{ConvertError, Safetensors};
use pte::model::Image;
use pte::quoted::UntrustedString;

use super::edit::power_of_two;
use super::input::{Bytes, Input, Readable, Streams};
use super::output::{Content, Output};
use super::problem::{Problem, Status};
use super::progress::Progress;
use super::text::name_of;
use super::{Common, save};

/// Convert safetensors to .ptd and back, or an old .ptd to a current one
///
/// The input's format is recognized by content, the output's by its name. Names, dtypes, shapes, data
/// and metadata are kept; anything without a counterpart is refused. Data is streamed, and the result
/// is checked before it is written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte convert model.safetensors -o model.ptd
  pte convert model.ptd -o model.safetensors
  pte convert --to ptd model.safetensors | sha256sum
  pte convert old.ptd -o current.ptd         from release 0.6 to 0.7 and later

Exit status: 0 written, 1 broken or without a counterpart, 2 usage, 3 not readable or writable")]
pub(super) struct Convert {
    /// A safetensors or .ptd file, or - for standard input.
    file: PathBuf,
    /// The output format, if the output's name does not give it.
    #[arg(long, value_name = "KIND")]
    to: Option<To>,
    /// The alignment of tensor data in a .ptd, a power of two. The default is 128.
    #[arg(long, value_name = "N", value_parser = power_of_two)]
    align: Option<u64>,
    /// Store equal data of a .ptd once. Reads data of equal length twice.
    #[arg(long)]
    share: bool,
    /// Leave out blobs, which safetensors does not support.
    #[arg(long)]
    skip_blobs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    /// ExecuTorch's data files, of release 0.7 and later.
    Ptd,
    /// Hugging Face's safetensors.
    Safetensors,
}

impl Convert {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let (name, limits) = (name_of(&self.file), common.limits());
        let wrong = |problem: Problem| problem.or_give("Give a .ptd or a safetensors file.");
        let bytes = Bytes::open(&self.file, &name, Streams::ModelsAndSafetensors).map_err(wrong)?;
        if bytes.is_safetensors().map_err(|error| Problem::io(name.clone(), error))? {
            if self.target(common, To::Ptd)? == To::Safetensors {
                return Err(Problem::Usage("the input is a safetensors file already".into()));
            }
            let tensors = Safetensors::open(&bytes);
            let built = tensors.and_then(Safetensors::into_ptd);
            self.write_ptd(common, built.map_err(|error| problem(&name, error))?)?;
            return Ok(Status::Good);
        }
        let input = Input::new(bytes, &name, &limits).map_err(wrong)?;
        let file = input.opened.file();
        let File::Ptd(ptd) = &file else {
            return Err(input.absent(
                "this is a program: only .ptd and safetensors files can be converted; \
                 `pte extract --all` extracts its data"
                    .into(),
            ));
        };
        let source = input.opened.source();
        match self.target(common, To::Safetensors)? {
            To::Ptd => {
                let built = PtdBuilder::from_ptd(ptd, source);
                let built = built.map_err(|error| problem(&name, error.into()))?;
                input.spend(&(0..built.data_len()))?;
                self.write_ptd(common, built)?;
            }
            To::Safetensors => {
                let tensors = Safetensors::from_ptd(ptd, source, self.skip_blobs);
                let tensors = tensors.map_err(|error| problem(&name, error))?;
                input.spend(&(0..tensors.data_len()))?;
                let image =
                    tensors.image_with(&common.limits()).map_err(|error| problem(&name, error))?;
                // Checks that the new file can be read.
                Safetensors::open(&image).map_err(|error| problem(&name, error))?;
                self.write(common, &image)?;
            }
        }
        Ok(Status::Good)
    }

    /// Returns the output format from the flag or from the output's name; otherwise `default`.
    fn target(&self, common: &Common, default: To) -> Result<To, Problem> {
        let output = common.output.as_deref().filter(|path| path.as_os_str() != "-");
        let extension = output.and_then(|path| path.extension()?.to_str());
        let named = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("ptd") => Some(To::Ptd),
            Some("safetensors") => Some(To::Safetensors),
            _ => None,
        };
        let to = match (self.to, named, output) {
            (Some(to), ..) | (None, Some(to), _) => to,
            (None, None, None) => default,
            (None, None, Some(_)) => {
                return Err(Problem::Usage(
                    "the output's name ends in neither .ptd nor .safetensors: give --to ptd or \
                     --to safetensors"
                        .into(),
                ));
            }
        };
        match to {
            To::Ptd if self.skip_blobs => Err(Problem::Usage(
                "--skip-blobs needs safetensors output: a .ptd has blobs".into(),
            )),
            To::Safetensors if self.align.is_some() || self.share => {
                Err(Problem::Usage("--align and --share need .ptd output".into()))
            }
            to => Ok(to),
        }
    }

    fn write_ptd(&self, common: &Common, mut built: PtdBuilder<'_>) -> Result<(), Problem> {
        let name = name_of(&self.file);
        let refused = |error: BuildError| problem(&name, error.into());
        if let Some(align) = self.align {
            built.set_segment_alignment(align).map_err(refused)?;
        }
        if self.share {
            built.share_equal().map_err(|error| problem(&name, error.into()))?;
        }
        let model = built.finish().map_err(refused)?;
        let absent = |message| Problem::Absent { file: name.clone(), message };
        let limits = common.limits();
        let image = model.image_with(&limits).map_err(|error| absent(save::unwritable(&error)))?;
        let checked = save::proven(image, &name, &limits)?;
        save::refuse_new_errors(&checked, &name, &Report::default(), &limits)?;
        self.write(common, checked.source())
    }

    fn write(&self, common: &Common, image: &Image<'_>) -> Result<(), Problem> {
        let inputs = core::slice::from_ref(&self.file);
        let mut out = Output::beside(common.output.as_deref(), Content::Bytes, inputs)?;
        let progress = Progress::new(!common.quiet, "bytes", image.len());
        out.image(image, &name_of(&self.file), &progress)?;
        drop(progress);
        out.finish()
    }
}

/// Returns the problem of a failed conversion.
fn problem(name: &UntrustedString, error: ConvertError) -> Problem {
    match error {
        ConvertError::Read(error) => Problem::io(name, io::Error::from(error)),
        ConvertError::Broken(error) | ConvertError::Build(BuildError::Broken(error)) => {
            Problem::refused(name, error)
        }
        ConvertError::Amplified(error) => {
            Problem::Absent { file: name.into(), message: save::over_budget(&error) }
        }
        error => {
            let message = match advice(&error) {
                Some(advice) => UntrustedString::of(&format_args!("{error}; {advice}")),
                None => UntrustedString::of(&error),
            };
            Problem::Absent { file: name.into(), message }
        }
    }
}

/// Returns advice on flags or verbs that avoid an error, if there is any.
fn advice(error: &ConvertError) -> Option<&'static str> {
    match error {
        ConvertError::Blob { .. } | ConvertError::Metadata { .. } => {
            Some("--skip-blobs leaves it out")
        }
        ConvertError::ScalarType { .. } => Some("`pte extract --key` writes its bytes"),
        ConvertError::DimOrder { .. } => {
            Some("or `pte extract --tensor --as npy` writes it in the order of its sizes")
        }
        _ => None,
    }
}
