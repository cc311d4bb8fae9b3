//! `pte dump`: the tables as JSON.

use core::fmt::{self, Write};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use sha2::{Digest, Sha256};

use super::Common;
use super::identity::{folder_of, is_same, place};
use super::input::{Bytes, CHUNK, Input, Streams};
use super::output::{Content, Output};
use super::problem::{Problem, Status, note};
use super::text::{count, name_of};
use pte::file::chunks;
use pte::flat::json;
use pte::flat::view::Table;
use pte::model::PtdViews;
use pte::model::json::KEY;
use pte::ptd;
use pte::quoted::{UntrustedString, hex};
use pte::schema::program::view::ExecutionPlan;
use pte::{File, Pte, Source};

mod container;
mod payloads;
mod sections;

use container::ContainerWriter;
use payloads::PayloadWriter;

/// Print the tables as JSON
///
/// Field names, enum names and unions are those of upstream's schema, in the conventions of
/// `flatc --json --strict-json --defaults-json`. A .ptd has the fields of its generation.
///
/// With --container the root has one more key, `container`: `kind`; `generation` of a .ptd;
/// `header` with `length`, `chunk` and `in_front`, or null; `layout` and `force_align`, the layout of
/// the tables; `segment_base_offset`, `segment_alignment` and `padding`; `segments` and `trailing`,
/// which are blobs; and `unknown` if a newer writer's fields are not in the JSON.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte dump model.pte                            indented, blobs as sha256 and length
  pte dump --blobs inline model.pte -o all.json every byte as a number
  pte dump --blobs dir=blobs model.pte          blobs as files in the folder blobs
  pte dump --container --blobs dir=. model.pte -o model.json
                                                everything that `pte build` needs
  pte dump --payloads model.pte                 with the graphs in delegates' payloads
  pte dump --method forward model.pte           the table of one method
  pte dump payload.bin                          the graph of a payload as a standalone file
  pte dump --compact model.pte | jq '.execution_plan[].operators'

Exit status: 0 shown, 1 the file is broken or of another kind, 2 usage, 3 not readable")]
pub(super) struct Dump {
    /// A .pte or .ptd file, a payload, a .ptn, a .bpte, an ETDump or an ETRecord, or - for standard input.
    file: PathBuf,
    /// How to show blobs: hash, inline, or dir=FOLDER.
    #[arg(long, value_name = "HOW", default_value = "hash", value_parser = Blobs::parse)]
    blobs: Blobs,
    /// Print no line breaks and no indentation.
    #[arg(long)]
    compact: bool,
    /// Has no effect: the output is JSON. It is accepted because other verbs have it.
    #[arg(long, hide = true)]
    json: bool,
    /// Include the header, the segments and trailing bytes.
    #[arg(long)]
    pub(super) container: bool,
    /// Include the tables in delegates' payloads.
    #[arg(long, conflicts_with = "container")]
    payloads: bool,
    /// Print the table of this method alone.
    #[arg(long, value_name = "METHOD", conflicts_with_all = ["container", "payloads"])]
    method: Option<String>,
}

#[derive(Clone, Debug)]
enum Blobs {
    Hash,
    Inline,
    Folder(BlobFolder),
}

/// The folder of blobs. A file has the SHA-256 of its bytes as name, so that equal blobs share a file.
#[derive(Clone, Debug)]
struct BlobFolder {
    path: PathBuf,
    /// The digests of the files that are written or were compared: any number of tables may share a blob.
    known: Arc<Mutex<BTreeSet<String>>>,
}

/// The longest `[ubyte]` that is always written as numbers, in bytes. Most such vectors are shapes.
const MAX_NUMBERS: usize = 64;

impl Blobs {
    fn parse(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("dir=")) {
            ("hash", _) => Ok(Self::Hash),
            ("inline", _) => Ok(Self::Inline),
            (_, Some(folder)) if !folder.is_empty() => {
                Ok(Self::Folder(BlobFolder { path: folder.into(), known: Arc::default() }))
            }
            _ => Err("expected hash, inline or dir=FOLDER".into()),
        }
    }

    /// Returns the JSON of a blob, or `None` to write its bytes as numbers.
    fn show(&self, blob: &[u8], problem: &mut Option<Problem>) -> Option<String> {
        if blob.len() <= MAX_NUMBERS {
            return None;
        }
        let hash = || hex(&Sha256::digest(blob));
        match self {
            Self::Inline => None,
            Self::Hash => Some(format!("{{\"sha256\": \"{}\", \"len\": {}}}", hash(), blob.len())),
            Self::Folder(folder) => match folder.write(&hash(), |out| out.bytes(blob)) {
                Ok(name) => Some(format!("{{\"file\": \"{name}\"}}")),
                Err(error) => {
                    problem.get_or_insert(error);
                    None
                }
            },
        }
    }
}

impl Dump {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let (name, limits) = (name_of(&self.file), common.limits());
        let bytes = Bytes::open(&self.file, &name, Streams::ModelsAndTables)?;
        if let Blobs::Folder(folder) = &self.blobs {
            let folder = &folder.path;
            refuse_blob_name(common.output.as_deref(), folder)?;
            fs::create_dir_all(folder).map_err(|error| Problem::io(name_of(folder), error))?;
        }
        let inputs = core::slice::from_ref(&self.file);
        let open = || Output::beside(common.output.as_deref(), Content::Plain, inputs);
        let only_method = || match &self.method {
            None => Ok(()),
            Some(_) => Err(Problem::no_methods(&name)),
        };
        if let Some(place) = payloads::place(&bytes, &name)? {
            only_method()?;
            if self.container {
                let message = format!("{name} has no container: it is neither a .pte nor a .ptd");
                return Err(Problem::Usage(message.into()));
            }
            let (context, shown) = ((&name, &limits), (&self.blobs, !self.compact));
            let write = |out: &mut Output| payloads::file(&bytes, &place, context, shown, out);
            return self.finish(open()?, write, common);
        }
        if !self.container
            && let Some(found) = payloads::sections_of_file(&bytes, &name)?
        {
            let out = open()?;
            only_method()?;
            let write = |out: &mut Output| {
                sections::write(&Ok(found), (!self.compact).then_some(0), out)?;
                Ok(json::Omitted::default())
            };
            return self.finish(out, write, common);
        }
        let input = Input::new(bytes, &name, &limits)?;
        if let Some(method) = &self.method {
            input.has_method(method)?;
        }
        let mut inside =
            self.payloads.then(|| PayloadWriter::new(&input, &self.blobs, limits, !self.compact));
        let mut writer =
            self.container.then(|| ContainerWriter::new(&input, &self.blobs, !self.compact));
        let write = |out: &mut Output| self.write(&input, &mut inside, &mut writer, out);
        let status = self.finish(open()?, write, common)?;
        let notes = writer.iter().filter(|_| !common.quiet).flat_map(|writer| &writer.notes);
        notes.for_each(|text| note(text));
        Ok(status)
    }

    /// Writes the tables of a model, with its payloads or its container.
    fn write(
        &self,
        input: &Input,
        inside: &mut Option<PayloadWriter<'_>>,
        writer: &mut Option<ContainerWriter<'_>>,
        out: &mut Output,
    ) -> Result<json::Omitted, Problem> {
        let file = input.opened.file();
        let mut problem = None;
        let blob = |bytes: &[u8]| self.blobs.show(bytes, &mut problem);
        let options = json::Options { pretty: !self.compact, blob };
        let written = match (&file, &mut *writer) {
            (File::Pte(pte), None) => match &mut *inside {
                None if self.method.is_some() => match self.plan(pte) {
                    Some(plan) => json::write(plan, options, out),
                    None => Ok(json::Omitted::default()),
                },
                None => json::write(pte.program(), options, out),
                Some(inside) => {
                    let write = |out: &mut &mut Output| inside.write(pte, out);
                    json::write_beside(pte.program(), options, out, payloads::KEY, write)
                }
            },
            (File::Ptd(ptd), None) => match ptd.root() {
                ptd::Root::Current(root) => json::write(root, options, out),
                ptd::Root::Legacy(root) => json::write(root, options, out),
            },
            (File::Pte(pte), Some(writer)) => {
                let views = pte.to_views_from(input.opened.source());
                let views = views.map_err(|error| input.no_memory(error))?;
                write_with_container(pte.program(), options, out, |out| {
                    writer.write(views, pte.region(), None, out)
                })
            }
            (File::Ptd(ptd), Some(writer)) => {
                let (region, generation) = (ptd.region(), Some(ptd.generation()));
                let views = ptd.to_views_from(input.opened.source());
                match views.map_err(|error| input.no_memory(error))? {
                    PtdViews::Current(views) => {
                        write_with_container(views.root, options, out, |out| {
                            writer.write(views, region, generation, out)
                        })
                    }
                    PtdViews::Legacy(views) => {
                        write_with_container(views.root, options, out, |out| {
                            writer.write(views, region, generation, out)
                        })
                    }
                }
            }
        };
        let problem = problem.or_else(|| inside.as_mut()?.problem.take());
        match problem.or_else(|| writer.as_mut()?.problem.take()) {
            Some(problem) => Err(problem),
            None => Ok(written?),
        }
    }

    /// Returns the first method with the requested name, which is the one that runtimes use.
    fn plan<'a>(&self, pte: &Pte<'a>) -> Option<ExecutionPlan<'a>> {
        let mut plans = pte.program().execution_plan().into_iter().flatten();
        plans.find(|plan| {
            plan.name().unwrap_or_default() == self.method.as_deref().unwrap_or_default()
        })
    }

    /// Writes the document, and ends its output.
    fn finish(
        &self,
        out: Output,
        write: impl FnOnce(&mut Output) -> Result<json::Omitted, Problem>,
        common: &Common,
    ) -> Result<Status, Problem> {
        let omitted = out.finish_with(|out| {
            let omitted = write(out)?;
            out.write_char('\n')?;
            Ok(omitted)
        })?;
        if omitted.unknown_members > 0 && !common.quiet {
            note(&format!(
                "{} with an unknown member: shown by the number of the tag",
                count(omitted.unknown_members, "union")
            ));
        }
        Ok(Status::Good)
    }
}

/// Writes a root table, with its container as an extra key.
fn write_with_container<'a, T: Table<'a>, B: FnMut(&'a [u8]) -> Option<String>>(
    root: T,
    options: json::Options<B>,
    out: &mut Output,
    container: impl FnOnce(&mut Output) -> fmt::Result,
) -> Result<json::Omitted, fmt::Error> {
    json::write_beside(root, options, out, KEY, |out| container(out))
}

/// Refuses an output that has the name of a blob in the folder of blobs.
fn refuse_blob_name(output: Option<&Path>, folder: &Path) -> Result<(), Problem> {
    let Some(place) = output.and_then(place) else { return Ok(()) };
    let name = place.file_name().and_then(|name| name.to_str()?.strip_suffix(".bin"));
    let is_digest =
        name.is_some_and(|name| name.len() == 64 && name.bytes().all(|c| c.is_ascii_hexdigit()));
    if !is_digest || !is_same(folder_of(&place), folder) {
        return Ok(());
    }
    let message = format!("{} has the name of a blob in the folder of blobs", name_of(&place));
    Err(Problem::Usage(message.into()))
}

impl BlobFolder {
    /// Writes the file of a blob with this SHA-256, and returns its name. An existing file must have these bytes: the
    /// files of an earlier dump may have been changed.
    fn write(
        &self,
        digest: &str,
        write: impl FnOnce(&mut Output) -> Result<(), Problem>,
    ) -> Result<String, Problem> {
        let name = format!("{digest}.bin");
        let path = self.path.join(&name);
        if !self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(digest.into()) {
            return Ok(name);
        }
        if fs::symlink_metadata(&path).is_ok() {
            let file = name_of(&path);
            if path.is_file() && sha256(&path, &file)? == digest {
                return Ok(name);
            }
            let message =
                "this file has other bytes than its name says: remove it, or give another folder";
            return Err(Problem::Absent { file, message: message.into() });
        }
        let mut out = Output::open(Some(&path), Content::Bytes)?;
        write(&mut out)?;
        out.finish()?;
        Ok(name)
    }
}

/// Returns the SHA-256 of the file at `path`, called `name`.
fn sha256(path: &Path, name: &UntrustedString) -> Result<String, Problem> {
    let file = Bytes::open(path, name, Streams::ModelsAndTables)?;
    let len = file.size().map_err(|error| Problem::io(name.clone(), error))?;
    let mut hash = Sha256::new();
    for chunk in chunks(0..len, CHUNK) {
        hash.update(file.read_unlimited(chunk, name)?);
    }
    Ok(hex(&hash.finalize()))
}
