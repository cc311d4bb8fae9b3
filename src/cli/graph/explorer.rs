//! The graph collection that Model Explorer opens, and the node data files that it lays over one.

use std::path::Path;

use clap::ValueEnum;
use pte::explorer::{ExplorerDocument, Overlay, RecordedModules};
use pte::graph::GraphDocument;
use pte::profile::Profile;
use pte::{File, ForeignFormat};

use super::{Graph, GraphFormat};
use crate::Common;
use crate::input::{Bytes, Input, Readable, Streams};
use crate::output::{Content, Output};
use crate::problem::{Problem, Status};
use crate::text::name_of;
use crate::{profile, refusal};

/// The numbers of a node data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Numbers {
    /// The worst finding about each node: 3 error, 2 warning, 1 note.
    Findings,
    /// The bytes of the file that each node's data takes.
    Bytes,
    /// The bytes of arenas that are live at each instruction.
    Memory,
    /// The ticks of each instruction in a profile.
    Time,
}

impl Graph {
    /// Writes the graph of a file of any kind. Of a refused file, writes its findings.
    pub(super) fn run_explorer(&self, common: &Common) -> Result<Status, Problem> {
        let name = name_of(&self.file);
        // A broken record or profile says nothing about the file.
        let modules = self.etrecord.as_deref().map(read_modules).transpose()?;
        let profile = self.etdump.as_deref().map(|path| profile::read(path, &common.limits()));
        match self.explore(modules.unwrap_or_default(), profile.transpose()?, common) {
            Err(
                problem @ (Problem::Refused { .. }
                | Problem::Unreadable { .. }
                | Problem::Damaged { .. }),
            ) => {
                let document = ExplorerDocument::refused(refusal::checked(name, &problem));
                self.write(&document, None, common)?;
                Ok(problem.report())
            }
            result => result,
        }
    }

    fn explore(
        &self,
        modules: RecordedModules,
        profile: Option<Profile>,
        common: &Common,
    ) -> Result<Status, Problem> {
        let (name, limits) = (name_of(&self.file), common.limits());
        let bytes = Bytes::open(&self.file, &name, Streams::ModelsAndTables)?;
        let has_times = profile.is_some()
            || bytes.foreign_format(&name)?.is_some_and(|format| format == ForeignFormat::EtDump);
        if self.overlay == Some(Numbers::Time) && !has_times {
            let message = "--overlay time needs the profile of a run: give --etdump";
            return Err(Problem::Usage(message.into()));
        }
        let other = ExplorerDocument::of_other(&name, &bytes, &limits);
        match other.map_err(|error| Problem::open(&name, error))? {
            Some(Ok(document)) => return self.write(&document, None, common),
            Some(Err(why)) => return Err(bytes.invalid(&name, why)),
            None => {}
        }
        let input = Input::of(bytes, &name, &limits)?;
        let file = input.opened.file();
        let document = ExplorerDocument::of(&name, &input.opened, self.stats, &limits);
        let mut document = document.map_err(|error| Problem::open(&name, error))?;
        let mut run = None;
        match &file {
            File::Ptd(_) if self.method.is_some() => return Err(Problem::no_methods(&name)),
            File::Ptd(_) => {}
            File::Pte(pte) => {
                let mut graph = GraphDocument::new(&name, pte);
                graph.method.clone_from(&self.method);
                graph.shown = self.shown(GraphFormat::Json);
                graph.shown.folds_order = true;
                self.admit(&input, GraphFormat::Json, &graph)?;
                document = document.with_method(self.method.as_deref()).showing(graph.shown);
                if !modules.can_be_of(pte) {
                    let message = "the ETRecord is of another program: it has other methods, or more instructions";
                    return Err(input.absent(message.into()));
                }
                document = document.with_modules(modules);
                if let Some((mut profile, path)) = profile.zip(self.etdump.as_deref()) {
                    let method = self.method.as_deref();
                    let ran = Profile::method_index(pte, method).zip(Profile::method(pte, method));
                    let Some((index, plan)) = ran else {
                        let message = "choose the method that ran with --method";
                        return Err(Problem::Usage(message.into()));
                    };
                    profile::name_after(&mut profile, path, plan)?;
                    run = Some((profile, index));
                }
            }
        }
        self.write(&document, run.as_ref().map(|(profile, method)| (profile, *method)), common)
    }

    fn write(
        &self,
        document: &ExplorerDocument<'_>,
        profile: Option<(&Profile, u32)>,
        common: &Common,
    ) -> Result<Status, Problem> {
        let inputs = [Some(&self.file), self.etdump.as_ref(), self.etrecord.as_ref()];
        let inputs: Vec<_> = inputs.into_iter().flatten().cloned().collect();
        let mut out = Output::beside(common.output.as_deref(), Content::Plain, &inputs)?;
        match self.overlay {
            None => out.json_rows(document)?,
            Some(numbers) => {
                let overlay = match numbers {
                    Numbers::Findings => Overlay::Findings,
                    Numbers::Bytes => Overlay::Bytes,
                    Numbers::Memory => Overlay::Memory,
                    Numbers::Time => Overlay::Time,
                };
                out.json_rows(&document.overlay(overlay, profile))?;
            }
        }
        out.finish()?;
        Ok(Status::Good)
    }
}

fn read_modules(path: &Path) -> Result<RecordedModules, Problem> {
    let name = name_of(path);
    let bytes = Bytes::open(path, &name, Streams::ModelsAndTables)?;
    let help = "Give an ETRecord, which an exporter writes.";
    bytes.must_be(ForeignFormat::EtRecord, &name, ("ETRecord", help))?;
    let modules = RecordedModules::read(&bytes).map_err(|error| Problem::open(&name, error))?;
    modules.map_err(|why| bytes.invalid(&name, why))
}
