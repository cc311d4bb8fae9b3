//! `pte edit --externalize` of several programs: one `.ptd` for all of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use pte::File;
use pte::check::Report;
use pte::model::{ExternalError, PtdModel, SharedPtd};

use super::{Edit, current, proven, refuse_hard_links, refuse_lost_data, refuse_unused};
use crate::Common;
use crate::identity::is_same;
use crate::input::{self, Input, Readable};
use crate::problem::{Problem, Status, note};
use crate::save::{self, NewFile};
use crate::text::{bytes as formatted, name_of};

impl Edit {
    /// Moves data of all programs into one `.ptd`.
    pub(super) fn run_shared(&self, common: &Common) -> Result<Status, Problem> {
        let usage = |message: &str| Err(Problem::Usage(message.into()));
        if self.externalize.is_none() {
            return usage("several files need --externalize, which gives them one .ptd");
        }
        if self.files.iter().any(|file| file.as_os_str() == "-") {
            return usage("standard input can be edited only alone");
        }
        input::once(&self.files)?;
        let outputs = self.outputs(common)?;
        let ptd_path = match (&self.ptd, &common.output) {
            (Some(path), _) => path.clone(),
            (None, Some(folder)) => folder.join("shared.ptd"),
            (None, None) => return usage("name the .ptd of all programs with --ptd"),
        };
        for path in outputs.iter().chain(&self.files) {
            if is_same(path, &ptd_path) {
                let name = name_of(&ptd_path);
                let message = format!("{name} is a program: name another .ptd with --ptd");
                return usage(&message);
            }
        }
        let limits = common.limits();
        let open = |path: &PathBuf| Input::open(path, &limits);
        let inputs = self.files.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let others = self.inline.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let data = self.new_data()?;
        refuse_unused(&others, &inputs, &limits)?;
        let ptds = others.iter().map(current).collect::<Result<Vec<_>, _>>()?;
        let (mut shared, mut done, mut models) = (SharedPtd::new(), Vec::new(), Vec::new());
        let mut moved = 0u64;
        for input in &inputs {
            let File::Pte(pte) = input.opened.file() else {
                let message = "this is a .ptd: only programs share one .ptd";
                return Err(input.absent(message.into()));
            };
            let mut model = self.model(input, &pte, common)?;
            let mut notes = Vec::new();
            let ptd = self.program(input, &mut model, &ptds, &data, (&limits, &mut notes))?;
            // The keys of a program that moves nothing out stay as well.
            let ptd = ptd.unwrap_or_else(PtdModel::empty);
            let lengths = ptd.segments.iter().map(pte::model::Blob::len);
            moved = lengths.fold(moved, u64::saturating_add);
            shared.add(&mut model, ptd, &limits).map_err(|error| clash(input, &error))?;
            let name = &input.name;
            done.extend(notes.into_iter().map(|text| format!("{name}: {text}")));
            models.push((input, model, save::report(&input.opened, &input.name, &limits)?));
        }
        let ptd = shared.finish().map_err(|error| {
            Problem::Usage(format!("{error}: a program keeps it, and another moves it out").into())
        })?;
        let stored = ptd.segments.iter().map(pte::model::Blob::len).fold(0, u64::saturating_add);
        let mut files = Vec::new();
        for ((input, model, known), path) in models.iter().zip(&outputs) {
            let opened = proven(model.image_with(&limits), input, path, (known, &limits))?;
            let is_quiet = common.quiet || self.in_place;
            files.push(NewFile { opened, path: Some(path), is_quiet });
        }
        if moved > 0
            && let Some((first, ..)) = models.first()
        {
            let image = ptd.image_with(&limits);
            let opened = proven(image, first, &ptd_path, (&Report::default(), &limits))?;
            let new = NewFile { opened, path: Some(&ptd_path), is_quiet: common.quiet };
            refuse_lost_data(&new, &files, &limits)?;
            // The `.ptd` is first, so that no program on disk is ever without its data.
            files.insert(0, new);
            done.push(format!(
                "{}: {} of data, {} less than apart",
                name_of(&ptd_path),
                formatted(stored),
                formatted(moved.saturating_sub(stored))
            ));
        }
        let folder = common.output.as_ref().filter(|folder| !folder.is_dir());
        if let Some(folder) = folder {
            fs::create_dir(folder).map_err(|error| Problem::io(name_of(folder), error))?;
        }
        save::write(&files, &self.kept()).inspect_err(|_| {
            // An empty folder would be left.
            folder.map(fs::remove_dir);
        })?;
        if !common.quiet {
            done.iter().for_each(|message| note(message));
        }
        Ok(Status::Good)
    }

    /// Returns the path of each result: the programs themselves, or their names in the folder of
    /// `-o`.
    fn outputs(&self, common: &Common) -> Result<Vec<PathBuf>, Problem> {
        let folder = match (self.in_place, &common.output) {
            (true, Some(_)) => {
                return Err(Problem::Usage("--in-place and -o cannot be combined".into()));
            }
            (true, None) => {
                self.files.iter().try_for_each(|file| refuse_hard_links(file))?;
                return Ok(self.files.clone());
            }
            (false, Some(folder)) if folder.as_os_str() != "-" => folder,
            (false, _) => {
                let message = "name a folder for the programs with -o, or use --in-place";
                return Err(Problem::Usage(message.into()));
            }
        };
        let mut names = BTreeSet::new();
        let paths = self.files.iter().map(|file| {
            let name = file.file_name().filter(|name| names.insert(name.to_os_string()));
            name.map(|name| folder.join(name)).ok_or_else(|| {
                let message = format!("{} has the name of another program", name_of(file));
                Problem::Usage(message.into())
            })
        });
        paths.collect()
    }
}

fn clash(input: &Input, error: &ExternalError) -> Problem {
    input.absent(match error {
        ExternalError::SameKey(_) => {
            format!("{error}: another program has different data under it, and payloads ask for it")
        }
        error => error.to_string(),
    })
}
