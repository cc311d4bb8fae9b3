//! `pte convert`: tensors of other tools as a `.ptd`, and back; old `.ptd`s as current ones.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pte::File;
use pte::build::{BuildError, PtdBuilder};
use pte::convert::{ConvertError, Safetensors};
use pte::model::Image;
use pte::quoted::UntrustedString;

use super::input::{Bytes, Input, Streams};
use super::output::{Content, Output, Progress};
use super::problem::{Problem, Status};
use super::text::name_of;
use super::{Common, save};

/// Convert safetensors to .ptd and back, or an old .ptd to a current one
///
/// What the input is shows in its bytes, what is written in the output's name. Names, dtypes,
/// shapes, data and metadata stay as they are; what has no counterpart is refused. Data is not kept
/// in memory, and the result is judged before any of it is written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte convert model.safetensors -o model.ptd
  pte convert model.ptd -o model.safetensors
  pte convert --to ptd model.safetensors | sha256sum
  pte convert old.ptd -o current.ptd         what release 0.6 wrote, for 0.7 and later

Exit status: 0 written, 1 broken or without a counterpart, 2 usage, 3 not readable or writable")]
pub(super) struct Convert {
    /// A safetensors or .ptd file, or - for standard input.
    file: PathBuf,
    /// What to write, where the output's name does not say it.
    #[arg(long, value_name = "KIND")]
    to: Option<To>,
    /// Bytes that the data of each tensor of a .ptd is aligned to, 128 if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    align: Option<u64>,
    /// Let equal data of a .ptd be there once: reads data of equal length an additional time.
    #[arg(long)]
    share: bool,
    /// Leave out what safetensors does not have: opaque blobs.
    #[arg(long)]
    skip_blobs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    /// ExecuTorch's data files, as they are since release 0.7.
    Ptd,
    /// Hugging Face's tensors.
    Safetensors,
}

impl Convert {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let (name, limits) = (name_of(&self.file), common.limits());
        let bytes = Bytes::open(&self.file, &name, &limits, Streams::TensorsToo)?;
        if bytes.is_safetensors().map_err(|error| Problem::io(name.clone(), error))? {
            if self.target(common, To::Ptd)? == To::Safetensors {
                return Err(Problem::Usage("the input is a safetensors file already".into()));
            }
            let tensors = Safetensors::open(&bytes);
            let built = tensors.and_then(Safetensors::into_ptd);
            self.write_ptd(common, built.map_err(|error| problem(&name, error))?)?;
            return Ok(Status::Good);
        }
        let input = Input::new(bytes, &name, &limits)?;
        let file = input.opened.file();
        let File::Ptd(ptd) = &file else {
            return Err(input.absent(
                "this is a program, and only .ptd and safetensors files are converted; \
                 `pte extract --all` takes its data out"
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
                // Whoever reads it does so by the same rules.
                Safetensors::open(&image).map_err(|error| problem(&name, error))?;
                self.write(common, &image)?;
            }
        }
        Ok(Status::Good)
    }

    /// What is to be written; `usual` where nothing says it.
    fn target(&self, common: &Common, usual: To) -> Result<To, Problem> {
        let output = common.output.as_deref().filter(|path| path.as_os_str() != "-");
        let extension = output.and_then(|path| path.extension()?.to_str());
        let named = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("ptd") => Some(To::Ptd),
            Some("safetensors") => Some(To::Safetensors),
            _ => None,
        };
        let to = match (self.to, named, output) {
            (Some(to), ..) | (None, Some(to), _) => to,
            (None, None, None) => usual,
            (None, None, Some(_)) => {
                return Err(Problem::Usage(
                    "the output's name ends in neither .ptd nor .safetensors: say --to ptd or \
                     --to safetensors"
                        .into(),
                ));
            }
        };
        match to {
            To::Ptd if self.skip_blobs => {
                Err(Problem::Usage("--skip-blobs is for safetensors: a .ptd has blobs".into()))
            }
            To::Safetensors if self.align.is_some() || self.share => {
                Err(Problem::Usage("--align and --share are for what is written as .ptd".into()))
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
        let judged = save::proven(image, &name, &limits)?;
        save::no_worse(&judged, &name, &BTreeSet::new(), &limits)?;
        self.write(common, judged.source())
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

/// Returns the problem of a conversion that failed.
fn problem(name: &UntrustedString, error: ConvertError) -> Problem {
    match error {
        ConvertError::Read(error) => Problem::io(name, io::Error::from(error)),
        ConvertError::Broken(error) | ConvertError::Build(BuildError::Broken(error)) => {
            Problem::Refused { file: name.into(), error }
        }
        ConvertError::Amplified(error) => {
            Problem::Absent { file: name.into(), message: save::allowed(&error) }
        }
        error => Problem::Absent { file: name.into(), message: UntrustedString::of(&error) },
    }
}
