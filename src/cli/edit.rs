//! `pte edit`: changes parts of a file and keeps the rest.

use core::slice;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::build::PtdBuilder;
use pte::check::{Checker, DATA_ELSEWHERE, Report};
use pte::model::{
    AnyPtd, Blob, ConstantHome, ExternalKind, Image, ModelError, MovedConstants, PtdModel,
    PteModel, Ranges, SharedSegments,
};
use pte::{File, Handle, Limits, OpenError, Ptd, Pte, Source};

use super::Common;
use super::atomic::hard_links;
use super::identity::{folder_of, is_same};
use super::input::{Input, Readable, open_regular};
use super::problem::{Problem, Status, note};
use super::save::{self, NewFile};
use super::text::{bytes, count, name_of, wide};

mod shared;

/// Change parts of a file and keep the rest
///
/// Changes are made in this order: --inline, --payload-constants, --remove-data, --set-data,
/// --externalize, --share, --strip, --align. Bytes before the first change keep their offsets, and the
/// tables keep the layout of the tool that wrote them. The result is checked before it is written: an
/// Error that the input does not have is refused. Several programs get one .ptd with --externalize,
/// in which equal data is stored once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte edit model.pte --strip stacktrace --strip names -o small.pte
  pte edit model.pte --externalize constants -o program.pte    writes program.ptd as well
  pte edit program.pte --inline program.ptd -o model.pte       merges both files
  pte edit model.pte --externalize payloads -o program.pte     constants of XNNPACK payloads too
  pte edit program.pte --inline program.ptd --payload-constants inside -o model.pte
  pte edit 32.pte 64.pte 96.pte --externalize payloads -o out  one out/shared.ptd for all of them
  pte edit weights.ptd --share -o small.ptd                    stores equal data once
  pte edit model.pte --set-data weights=new.bin --in-place
  pte edit weights.ptd --remove-data unused --align 4096 -o aligned.ptd

Exit status: 0 written, 1 the file is broken, or the result would be, 2 usage, 3 not readable or
not writable")]
pub(super) struct Edit {
    /// A .pte or .ptd file, or - for standard input. Several programs need --externalize; -o then names a folder.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Replace the file itself.
    #[arg(long)]
    in_place: bool,
    /// Move the data of tensors and delegates from this .ptd into the program; may be repeated.
    #[arg(long, value_name = "PTD")]
    inline: Vec<PathBuf>,
    /// Move the constants of XNNPACK payloads into named data of the program, or back into the payloads.
    #[arg(long, value_name = "WHERE")]
    payload_constants: Option<Home>,
    /// Remove the data of this key; may be repeated.
    #[arg(long, value_name = "KEY")]
    remove_data: Vec<String>,
    /// Set the data of a key to the bytes of a file; may be repeated.
    #[arg(long, value_name = "KEY=FILE", value_parser = assignment)]
    set_data: Vec<(String, PathBuf)>,
    /// Move data into a .ptd.
    #[arg(long, value_name = "WHAT")]
    externalize: Option<Moved>,
    /// The smallest data that --externalize moves.
    #[arg(long, value_name = "BYTES", default_value_t = 1, requires = "externalize")]
    min_size: u64,
    /// The .ptd that --externalize writes. By default it has the output's name with .ptd; that of several programs is
    /// shared.ptd in their folder.
    #[arg(long, value_name = "FILE", requires = "externalize")]
    ptd: Option<PathBuf>,
    /// Store equal named data and equal payloads once. Reads data of equal length.
    #[arg(long)]
    share: bool,
    /// Remove data that no runtime reads; may be repeated.
    #[arg(long, value_name = "WHAT")]
    strip: Vec<Strip>,
    /// The alignment of segments, a power of two.
    #[arg(long, value_name = "BYTES", value_parser = power_of_two)]
    align: Option<u64>,
    /// Write the file even if unknown fields, of a newer writer, are lost.
    #[arg(long)]
    forget_unknown: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Moved {
    /// Constant tensors.
    Constants,
    /// The named data of delegates.
    Data,
    /// Both.
    All,
    /// The constants in XNNPACK payloads, and the named data of delegates.
    Payloads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Home {
    /// Named data, for runtimes of release 0.6 and later.
    Named,
    /// The payloads.
    Inside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Strip {
    /// The source locations of instructions.
    Stacktrace,
    /// The names of parameters and buffers.
    Names,
}

impl Edit {
    /// Returns whether data moves to a `.ptd`, which is built while the program is in memory.
    pub(super) fn externalizes(&self) -> bool {
        self.externalize.is_some()
    }

    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        if !self.changes_something() {
            let message = "no change is named: give --inline, --payload-constants, --remove-data, --set-data, \
                           --externalize, --share, --strip, --align or --forget-unknown";
            return Err(Problem::Usage(message.into()));
        }
        let [file] = self.files.as_slice() else { return self.run_shared(common) };
        let limits = common.limits();
        let input = Input::open(file, &limits)?;
        refuse_bundle(&input)?;
        let others = self.inline.iter().map(|path| Input::open(path, &limits));
        let others = others.collect::<Result<Vec<_>, _>>()?;
        let data = self.new_data()?;
        let known = save::report(&input.opened, &input.name, &limits)?;
        let output = match (self.in_place, &common.output) {
            (true, _) if file.as_os_str() == "-" => {
                return Err(Problem::Usage("standard input cannot be replaced: use -o".into()));
            }
            (true, Some(_)) => {
                return Err(Problem::Usage("--in-place and -o cannot be combined".into()));
            }
            (true, None) => {
                refuse_hard_links(file)?;
                file.as_path()
            }
            (false, Some(path)) => path.as_path(),
            (false, None) => {
                return Err(Problem::Usage("name the output with -o, or use --in-place".into()));
            }
        };
        let inputs = self.kept();
        let is_quiet = common.quiet || self.in_place;
        let mut done = Vec::new();
        match input.opened.file() {
            File::Pte(pte) => {
                let mut model = self.model(&input, &pte, common)?;
                refuse_unused(&others, slice::from_ref(&input), &limits)?;
                let ptds = others.iter().map(current);
                let ptds = ptds.collect::<Result<Vec<_>, _>>()?;
                let out = self.program(&input, &mut model, &ptds, &data, (&limits, &mut done))?;
                let opened = proven(model.image_with(&limits), &input, output, (&known, &limits))?;
                let mut files = vec![NewFile { opened, path: Some(output), is_quiet }];
                let path = out.as_ref().map(|_| self.ptd_path(file, output)).transpose()?;
                if let Some((ptd, path)) = out.as_ref().zip(path.as_deref()) {
                    let image = ptd.image_with(&limits);
                    let opened = proven(image, &input, path, (&Report::default(), &limits))?;
                    let ptd = NewFile { opened, path: Some(path), is_quiet: common.quiet };
                    refuse_lost_data(&ptd, &files, &limits)?;
                    // The `.ptd` is first, so that the program on disk is never without its data.
                    files.insert(0, ptd);
                }
                save::write(&files, &inputs)?;
            }
            File::Ptd(ptd) => {
                self.refuse_program_options()?;
                let model = ptd.to_model_from(input.opened.source());
                let AnyPtd::Current(mut model) = model.map_err(|error| input.no_memory(error))?
                else {
                    return Err(old(&input));
                };
                model.lay_out_like(ptd.region());
                if self.forget_unknown {
                    model.forget_unknown();
                }
                self.data(&input, &mut model, &data, (&limits, &mut done))?;
                let opened = proven(model.image_with(&limits), &input, output, (&known, &limits))?;
                save::write(&[NewFile { opened, path: Some(output), is_quiet }], &inputs)?;
            }
        }
        if !common.quiet {
            done.iter().for_each(|message| note(message));
        }
        Ok(Status::Good)
    }

    /// Opens the files whose bytes become named data.
    fn new_data(&self) -> Result<Vec<(&str, Data)>, Problem> {
        self.set_data.iter().map(|(key, path)| Ok((key.as_str(), Data::open(path)?))).collect()
    }

    /// Returns the files that are read and must not be replaced.
    fn kept(&self) -> Vec<PathBuf> {
        let programs = if self.in_place { &[][..] } else { &self.files };
        let blobs = self.set_data.iter().map(|(_, path)| path);
        programs.iter().chain(&self.inline).chain(blobs).cloned().collect()
    }

    /// Returns whether the arguments name an operation.
    fn changes_something(&self) -> bool {
        !(self.inline.is_empty()
            && self.remove_data.is_empty()
            && self.set_data.is_empty()
            && self.strip.is_empty())
            || self.externalize.is_some()
            || self.payload_constants.is_some()
            || self.share
            || self.align.is_some()
            || self.forget_unknown
    }

    /// Returns the model of a program, which is written in the layout that it has.
    fn model<'m>(
        &self,
        input: &'m Input,
        pte: &Pte<'m>,
        common: &Common,
    ) -> Result<PteModel<'m>, Problem> {
        refuse_bundle(input)?;
        let model = pte.to_model_from(input.opened.source());
        let mut model = model.map_err(|error| input.no_memory(error))?;
        if !model.lay_out_like(pte.region()) && !common.quiet {
            note("the layout of the tables is not known: they will move");
        }
        if self.forget_unknown {
            model.forget_unknown();
        }
        Ok(model)
    }

    /// Returns the path of the `.ptd` for the program `file` that is written to `output`.
    fn ptd_path(&self, file: &Path, output: &Path) -> Result<PathBuf, Problem> {
        let Some(path) = &self.ptd else {
            let is_device = output.metadata().is_ok_and(|it| !it.is_file() && !it.is_dir());
            // The file that is standard output may be a regular one.
            let is_listed = ["/dev", "/dev/fd"].map(Path::new).contains(&folder_of(output));
            if output.as_os_str() == "-" || is_device || is_listed || output.starts_with("/proc") {
                let what = if is_device { "a device or a pipe" } else { "standard output" };
                let message =
                    format!("name the .ptd with --ptd: {what} has no name to derive it from");
                return Err(Problem::Usage(message.into()));
            }
            return apart(output.with_extension("ptd"), file, output);
        };
        apart(path.clone(), file, output)
    }

    /// Changes a program, and returns the `.ptd` with the data that moved out. `done` receives the
    /// changes to report once they are written.
    fn program<'m>(
        &self,
        input: &Input,
        model: &mut PteModel<'m>,
        ptds: &[PtdModel<'m>],
        data: &'m [(&str, Data)],
        (limits, done): (&Limits, &mut Vec<String>),
    ) -> Result<Option<PtdModel<'m>>, Problem> {
        let absent = |error: &dyn core::fmt::Display| input.absent(error.to_string());
        let mut report = |message: String| done.push(message);
        for ptd in ptds {
            let moved = model.inline(ptd).map_err(|error| absent(&error))?;
            if moved.tensors == 0 && moved.data == 0 && self.files.len() == 1 {
                let message = format!(
                    "nothing of the .ptd moves in: no tensor of the program uses its {}, which have shapes; for \
                     delegates only data without a shape moves in",
                    count(wide(moved.unused), "key"),
                );
                return Err(input.absent(message));
            }
            report(format!(
                "{} tensors and {} named blobs moved in, {} unused tensors left out",
                moved.tensors, moved.data, moved.unused
            ));
        }
        let home = match (self.payload_constants, self.externalize) {
            (Some(Home::Inside), _) => Some(ConstantHome::Payload),
            (Some(Home::Named), _) => Some(ConstantHome::Named { least: 1 }),
            (None, Some(Moved::Payloads)) => Some(ConstantHome::Named { least: self.min_size }),
            (None, _) => None,
        };
        if let Some(home) = home {
            let moved = model.move_payload_constants(home, limits);
            let moved = moved.map_err(|error| absent(&error))?;
            constants_moved(home, moved).into_iter().for_each(&mut report);
        }
        for key in &self.remove_data {
            model.remove_data(key).map_err(|error| absent(&error))?;
        }
        for (key, data) in data {
            model.set_data(key, data.blob());
        }
        let out = match self.externalize {
            None => None,
            Some(what) => {
                let kind = match what {
                    Moved::Constants => ExternalKind::Constants,
                    // The constants in payloads are named data by now.
                    Moved::Data | Moved::Payloads => ExternalKind::Data,
                    Moved::All => ExternalKind::All,
                };
                let ptd = model.externalize(|external| kind.includes(external, self.min_size));
                let ptd = ptd.map_err(|error| absent(&error))?;
                let moved = ptd.root.named_data.as_ref().map_or(0, Vec::len);
                report(match moved {
                    0 => "no data to move out: no .ptd is written".into(),
                    _ => format!("{moved} tensors and blobs moved out"),
                });
                // The official runtime refuses an empty `.ptd`, so none is written.
                Some(ptd).filter(|_| moved > 0)
            }
        };
        if self.share {
            let shared = model.share_equal(limits);
            report(shared_note(shared.map_err(|error| input.absent(error.to_string()))?));
        }
        if self.strip.contains(&Strip::Stacktrace) {
            report(format!("{} stack traces removed", model.strip_stacktraces()));
        }
        if self.strip.contains(&Strip::Names) {
            report(format!("{} names removed", model.strip_names()));
        }
        self.align.into_iter().for_each(|align| model.align(align));
        Ok(out)
    }

    fn data<'m>(
        &self,
        input: &Input,
        model: &mut PtdModel<'m>,
        data: &'m [(&str, Data)],
        (limits, done): (&Limits, &mut Vec<String>),
    ) -> Result<(), Problem> {
        let absent = |error: &dyn core::fmt::Display| input.absent(error.to_string());
        for key in &self.remove_data {
            model.remove_data(key).map_err(|error| absent(&error))?;
        }
        for (key, data) in data {
            model.set_data(key, data.blob()).map_err(|error| absent(&error))?;
        }
        if self.share {
            let shared = model.share_equal(limits);
            done.push(shared_note(shared.map_err(|error| absent(&error))?));
        }
        self.align.into_iter().for_each(|align| model.align(align));
        Ok(())
    }

    fn refuse_program_options(&self) -> Result<(), Problem> {
        let wrong = [
            ("--inline", !self.inline.is_empty()),
            ("--externalize", self.externalize.is_some()),
            ("--payload-constants", self.payload_constants.is_some()),
            ("--strip", !self.strip.is_empty()),
        ];
        match wrong.into_iter().find(|&(_, given)| given) {
            Some((option, _)) => Err(Problem::Usage(format!("{option} is for a .pte").into())),
            None => Ok(()),
        }
    }
}

/// Returns `path`, the `.ptd`. A path that is also the output or the input is a usage error.
fn apart(path: PathBuf, file: &Path, output: &Path) -> Result<PathBuf, Problem> {
    match is_same(&path, output) || is_same(&path, file) {
        true => Err(Problem::Usage(
            format!("{} is the program: name another .ptd with --ptd", name_of(&path)).into(),
        )),
        false => Ok(path),
    }
}

/// Refuses a `.ptd` without a key that one of `programs` uses. What payloads use that cannot be read is not known.
fn refuse_unused(ptds: &[Input], programs: &[Input], limits: &Limits) -> Result<(), Problem> {
    for input in ptds {
        let File::Ptd(ptd) = input.opened.file() else { continue };
        let (keys, ptd) = (wide(ptd.entries().count()), [ptd]);
        let unused = |program: &Input| {
            let found = count_with(&program.opened, &ptd, &["key-unused"], limits);
            found.map_err(|error| Problem::open(&program.name, error))
        };
        let all = programs.iter().map(unused).collect::<Result<Vec<_>, _>>()?;
        if all.iter().all(|&unused| unused == keys) {
            let message =
                "--inline would move nothing in: no key of this .ptd is used by the program";
            return Err(input.absent(message.into()));
        }
    }
    Ok(())
}

/// Refuses to replace a `.ptd` that has data which one of `programs` needs and the new `.ptd` does not have.
fn refuse_lost_data(
    ptd: &NewFile<'_, '_>,
    programs: &[NewFile<'_, '_>],
    limits: &Limits,
) -> Result<(), Problem> {
    let (Some(path), File::Ptd(new)) = (ptd.path, ptd.opened.file()) else { return Ok(()) };
    if !path.is_file() || path.as_os_str() == "-" {
        return Ok(());
    }
    // Any other file is replaced as it is.
    let Ok(input) = Input::open(path, limits) else { return Ok(()) };
    let File::Ptd(old) = input.opened.file() else { return Ok(()) };
    let both = [new, old];
    let [new, _] = &both;
    for program in programs {
        let unresolved = |data: &[Ptd<'_>]| {
            let found = count_with(&program.opened, data, &DATA_ELSEWHERE, limits);
            found.map_err(|error| Problem::io(name_of(path), io::Error::other(error)))
        };
        if unresolved(&both)? < unresolved(slice::from_ref(new))? {
            let (old, program) = (name_of(path), program.path.map_or("".into(), name_of));
            let message = format!(
                "{old} has data that {program} needs, and would be replaced: name another .ptd with --ptd; \
                 with --inline {old} it gets this data too"
            );
            return Err(Problem::Usage(message.into()));
        }
    }
    Ok(())
}

/// Returns the number of findings of some rules about a program and the `.ptd` files in `data`.
fn count_with<S: Source>(
    program: &Handle<S>,
    data: &[Ptd<'_>],
    rules: &[&str],
    limits: &Limits,
) -> Result<u64, OpenError<S::Error>> {
    let report = Checker::new().limits(*limits).data(data).check(program)?;
    let counts = report.counts().filter(|(rule, _)| rules.contains(&rule.id));
    Ok(counts.map(|(_, count)| count).fold(0, u64::saturating_add))
}

/// Proves a new file, and refuses an Error that the report `known` does not have.
fn proven<'m>(
    image: Result<Image<'m>, ModelError>,
    input: &Input,
    path: &Path,
    (known, limits): (&Report, &Limits),
) -> Result<Handle<Image<'m>>, Problem> {
    let unwritable =
        |error| Problem::Absent { file: input.name.clone(), message: save::unwritable(&error) };
    let opened = save::proven(image.map_err(unwritable)?, &name_of(path), limits)?;
    save::refuse_new_errors(&opened, &name_of(path), known, limits)?;
    Ok(opened)
}

/// Refuses a bundled program.
fn refuse_bundle(input: &Input) -> Result<(), Problem> {
    if input.bundle.is_none() {
        return Ok(());
    }
    let message = "this is a program with test inputs, which cannot be written: give the program";
    Err(input.absent(message.into()))
}

/// Refuses to replace a file that has several hard links.
fn refuse_hard_links(file: &Path) -> Result<(), Problem> {
    let links = hard_links(file);
    if links <= 1 {
        return Ok(());
    }
    let message = format!(
        "{} has {links} hard links, and --in-place would replace only this one: write to another name with -o",
        name_of(file)
    );
    Err(Problem::Usage(message.into()))
}

/// A file whose bytes become named data.
#[derive(Debug)]
struct Data {
    file: std::fs::File,
    len: u64,
}

impl Data {
    fn open(path: &Path) -> Result<Self, Problem> {
        let problem = |error| Problem::io(name_of(path), error);
        let (file, len) = open_regular(path).map_err(problem)?;
        Ok(Self { file, len })
    }

    fn blob(&self) -> Blob<'_> {
        let source: &dyn Ranges = &self.file;
        Blob::Range(source, 0..self.len)
    }
}

/// Returns the model of an input that is a `.ptd`. An old generation is converted to the current
/// one.
fn current(input: &Input) -> Result<PtdModel<'_>, Problem> {
    match input.opened.file() {
        File::Ptd(ptd) => match ptd.to_model_from(input.opened.source()) {
            Err(error) => Err(input.no_memory(error)),
            Ok(AnyPtd::Current(model)) => Ok(model),
            Ok(AnyPtd::Legacy(_)) => PtdBuilder::from_ptd(&ptd, input.opened.source())
                .and_then(PtdBuilder::finish)
                .map_err(|error| input.absent(error.to_string())),
        },
        File::Pte(_) => Err(input.absent("this is a .pte, and --inline takes a .ptd".into())),
    }
}

/// Returns notes on the constants of payloads that were moved, and on those that stayed.
fn constants_moved(home: ConstantHome, moved: MovedConstants) -> Vec<String> {
    let MovedConstants { constants, payloads, referenced, elsewhere, others, kept, .. } = moved;
    let is_inside = home == ConstantHome::Payload;
    let to = if is_inside { "into" } else { "out of" };
    let mut notes = vec![format!("{constants} constants moved {to} {payloads} payloads")];
    if referenced > 0 {
        notes.push(format!(
            "{referenced} constants stay where they are: the backend would free them, and read them when it runs"
        ));
    }
    if is_inside && elsewhere > 0 {
        notes.push(format!(
            "{elsewhere} constants stay outside: the program does not have their keys"
        ));
    }
    if others > 0 {
        notes.push(format!("{others} delegates of other backends stay as they are"));
    }
    if kept > 0 {
        notes.push(format!("{kept} named blobs stay: other backends may use them"));
    }
    notes
}

fn shared_note(shared: SharedSegments) -> String {
    match shared.segments {
        0 => "no data is stored twice".into(),
        count => format!("{count} equal segments removed, {}", bytes(shared.bytes)),
    }
}

fn old(input: &Input) -> Problem {
    input.absent("this .ptd is of a release before 0.7: convert it with pte convert".into())
}

fn assignment(text: &str) -> Result<(String, PathBuf), String> {
    match text.rsplit_once('=') {
        Some((_, "-")) => Err("expected KEY=FILE: standard input is not a file".into()),
        Some((key, path)) if !path.is_empty() => Ok((key.into(), path.into())),
        _ => Err("expected KEY=FILE".into()),
    }
}

pub(super) fn power_of_two(text: &str) -> Result<u64, String> {
    let number = text.parse::<u64>().ok().filter(|number| number.is_power_of_two());
    number.filter(|&number| number <= 1 << 30).ok_or("expected a power of two, up to 2^30".into())
}
