//! `pte dump`: the FlatBuffers part as JSON.

use core::fmt::Write;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use sha2::{Digest, Sha256};

use super::input::Input;
use super::output::{Content, Output, formatted};
use super::problem::{Problem, Status};
use super::{Common, hex};
use pte::File;
use pte::flat::json;
use pte::ptd::Root;

/// Show the FlatBuffers part as JSON
///
/// Field names, enum names and unions are those of upstream's schema, in the conventions of
/// `flatc --json --strict-json --defaults-json`. A .ptd is shown in the fields of its generation.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte dump model.pte                            indented, blobs as sha256 and length
  pte dump --blobs inline model.pte -o all.json every byte as a number
  pte dump --blobs dir=blobs model.pte          blobs as files of the folder blobs
  pte dump --compact model.pte | jq '.execution_plan[].operators'

Exit status: 0 shown, 1 the file is broken or of another kind, 2 usage, 3 not readable")]
pub(super) struct Dump {
    /// A .pte or .ptd file, or - for standard input.
    file: PathBuf,
    /// How to show blobs: hash, inline, or dir=FOLDER.
    #[arg(long, value_name = "HOW", default_value = "hash", value_parser = Blobs::parse)]
    blobs: Blobs,
    /// No line breaks and no indentation.
    #[arg(long)]
    compact: bool,
}

#[derive(Clone, Debug)]
enum Blobs {
    Hash,
    Inline,
    Folder(PathBuf),
}

/// A shorter `[ubyte]` is written as numbers, whatever was asked for: most are shapes.
const BLOB: usize = 64;

impl Blobs {
    fn parse(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("dir=")) {
            ("hash", _) => Ok(Self::Hash),
            ("inline", _) => Ok(Self::Inline),
            (_, Some(folder)) if !folder.is_empty() => Ok(Self::Folder(folder.into())),
            _ => Err("one of hash, inline, dir=FOLDER".into()),
        }
    }

    /// The JSON that stands for a blob; `None` for its numbers.
    fn show(&self, blob: &[u8], problem: &mut Option<Problem>) -> Option<String> {
        if blob.len() <= BLOB {
            return None;
        }
        let hash = || hex(&Sha256::digest(blob));
        match self {
            Self::Inline => None,
            Self::Hash => Some(format!("{{\"sha256\": \"{}\", \"len\": {}}}", hash(), blob.len())),
            Self::Folder(folder) => {
                // Named by content, so that equal blobs are one file.
                let name = format!("{}.bin", hash());
                let path = folder.join(&name);
                // What is there under its own digest is left alone, whatever it is.
                if fs::symlink_metadata(&path).is_err() {
                    let written = Output::open(Some(&path), Content::Bytes);
                    let written = written.and_then(|mut out| {
                        out.bytes(blob)?;
                        out.finish()
                    });
                    if let Err(error) = written {
                        problem.get_or_insert(error);
                    }
                }
                Some(format!("{{\"file\": \"{name}\"}}"))
            }
        }
    }
}

impl Dump {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let input = Input::open(&self.file, &common.limits())?;
        let file = input.opened.file().map_err(|error| input.refused(error))?;
        if let Blobs::Folder(folder) = &self.blobs {
            let name = folder.to_string_lossy();
            fs::create_dir_all(folder).map_err(|error| Problem::io(name, error))?;
        }
        let inputs = core::slice::from_ref(&self.file);
        let mut out = Output::beside(common.output.as_deref(), Content::Plain, inputs)?;
        let mut problem = None;
        let blob = |bytes: &[u8]| self.blobs.show(bytes, &mut problem);
        let options = json::Options { pretty: !self.compact, blob };
        let written = match file {
            File::Pte(pte) => json::write(pte.program(), options, &mut out),
            File::Ptd(ptd) => match ptd.root() {
                Root::Current(root) => json::write(root, options, &mut out),
                Root::Legacy(root) => json::write(root, options, &mut out),
            },
        };
        if let Some(problem) = problem {
            return Err(problem);
        }
        let written = written.and_then(|omitted| out.write_char('\n').map(|()| omitted));
        formatted(out, written.map(drop))?;
        if let Ok(omitted) = written
            && omitted.unknown_members > 0
            && !common.quiet
        {
            anstream::eprintln!(
                "note: {} unions have a member that this version does not know; \
                 they are shown as the tag's number",
                omitted.unknown_members
            );
        }
        Ok(Status::Good)
    }
}
