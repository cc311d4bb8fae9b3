//! `pte diff`: compares two files by meaning.

use std::io;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use pte::diff::{
    self, Class, Comparison, DiffDocument, DiffError, Difference, Given, Shown, Verdict, Whose,
    Written,
};
use pte::quoted::UntrustedString;
use pte::{File, Handle, OpenError};

use super::Common;
use super::format::{Format, Formats};
use super::input::{self, Bytes, Input};
use super::output::Output;
use super::problem::{Problem, Status};
use super::text::{count, grouped};

mod markdown;
mod screen;

/// Compare two files by meaning
///
/// Methods are compared by name, inputs and outputs by position, calls in order, values by their uses,
/// constants, payloads and blobs by their bytes. The numbers of values, operators, constants and
/// segments, the order and alignment of data, stack traces and the layout of tables have no meaning: if
/// only those differ, the files are the same. A change is reported once, however many calls use it.
/// Unused values are compared too, since a runtime creates every tensor.
///
/// Two exports of one model are the same. Exports of two releases may differ in their memory plans and
/// unused values, and a converted .ptd has another generation: --ignore memory-plan, --ignore unused and
/// --ignore header leave that out.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte diff old.pte new.pte                        what a change of the model did
  pte diff --format markdown old.pte new.pte      for a comment on a pull request
  pte diff old.ptd new.ptd                        tensors and blobs by key, of any generations
  pte diff whole.pte split.pte --with-after weights.ptd
  pte diff --method forward old.pte new.pte       one method alone
  pte diff --ignore memory-plan --ignore names old.pte new.pte && echo same
  pte diff --ignore header old.ptd current.ptd    a .ptd and what pte convert made of it

JSON, \"schema\": \"pte.diff/1\":
  before, after  the paths
  verdict        identical (every byte), same (written differently) or different
  count          of differences
  counts         of each class that has some: header, methods, signature, instructions, values,
                 constants, delegates, named-data, names, unused, memory-plan
  differences    class, change: added, removed or changed; method; place, such as
                 \"call 12 aten::add.out, argument 1\"; what; before and after: text and, of data,
                 sha256; null where there is nothing. The first 1,000 of each class
  written        differences in the encoding, without meaning: what, before, after

Exit status: 0 identical or the same, 1 different or broken, 2 usage, such as a .pte and a .ptd,
which cannot be compared, 3 not readable")]
pub(super) struct Diff {
    /// A .pte or a .ptd, or - for standard input.
    before: PathBuf,
    /// Another of the same kind, or - for standard input.
    after: PathBuf,
    /// A .ptd beside both programs: its data count as if they were in them.
    #[arg(long, value_name = "PTD")]
    with: Vec<PathBuf>,
    /// A .ptd beside the first program.
    #[arg(long, value_name = "PTD")]
    with_before: Vec<PathBuf>,
    /// A .ptd beside the second program.
    #[arg(long, value_name = "PTD")]
    with_after: Vec<PathBuf>,
    /// Compare only this method of two programs.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Ignore differences of this class, such as memory-plan or header.
    #[arg(long, value_name = "CLASS", value_parser = classes())]
    ignore: Vec<String>,
    #[command(flatten)]
    pub(super) format: Format<DiffFormat>,
    /// The most differences of each class in text and markdown.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    most: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DiffFormat {
    Text,
    Json,
    Markdown,
}

impl Formats for DiffFormat {
    const JSON: Self = Self::Json;
}

/// The names of the two files, and the report.
struct Found<'f> {
    before: &'f UntrustedString,
    after: &'f UntrustedString,
    report: &'f Comparison,
    /// Whether differences were ignored.
    ignored: bool,
    /// Whether a file is a bundled program. The program in it is compared.
    is_bundled: bool,
    most: usize,
}

impl Diff {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let data = self.with.iter().chain(&self.with_before).chain(&self.with_after);
        let paths: Vec<PathBuf> =
            [&self.before, &self.after].into_iter().chain(data).cloned().collect();
        input::once(&paths)?;
        let format = self.format.chosen();
        let out =
            Output::beside(common.output.as_deref(), self.format.content(), &paths)?.with_answer();
        let open = |path: &PathBuf| Input::open(path, &common.limits());
        let all = |paths: &[PathBuf]| paths.iter().map(open).collect::<Result<Vec<_>, _>>();
        let (before, after) = (open(&self.before)?, open(&self.after)?);
        let (both, old, new) = (all(&self.with)?, all(&self.with_before)?, all(&self.with_after)?);
        let old: Vec<&Input> = both.iter().chain(&old).collect();
        let new: Vec<&Input> = both.iter().chain(&new).collect();
        let given = |file: &Input, data: &[&Input]| -> Names {
            (data.iter().map(|input| input.name.clone()).collect(), file.name.clone())
        };
        let (old_names, new_names) = (given(&before, &old), given(&after, &new));
        let (left, right, limits) = (side(&before, &old), side(&after, &new), common.limits());
        let report = match &self.method {
            Some(method) => {
                before
                    .has_method(method)
                    .or_else(|problem| after.has_method(method).map_err(|_| problem))?;
                diff::compare_methods(&left, &right, method, &limits)
            }
            None => diff::compare(&left, &right, &limits),
        };
        let mut report = report.map_err(|error| match error {
            DiffError::Kinds => kinds([&before, &after]),
            error => problem(error, &old_names, &new_names),
        })?;
        let total = report.total();
        for class in Class::ALL {
            if self.ignore.iter().any(|ignored| ignored == class.id()) {
                report.ignore(class);
            }
        }
        let found = Found {
            before: &before.name,
            after: &after.name,
            report: &report,
            ignored: report.total() < total,
            is_bundled: before.bundle.is_some() || after.bundle.is_some(),
            most: self.most,
        };
        out.finish_with(|out| match format {
            DiffFormat::Json => out.json(&DiffDocument::new(&before.name, &after.name, &report)),
            DiffFormat::Text => Ok(screen::show(&found, out)?),
            DiffFormat::Markdown => Ok(markdown::show(&found, out)?),
        })?;
        Ok(match report.verdict {
            Verdict::Identical | Verdict::Same => Status::Good,
            Verdict::Different => Status::BadNews,
        })
    }
}

fn classes() -> PossibleValuesParser {
    PossibleValuesParser::new(Class::ALL.map(Class::id))
}

fn side<'g>(file: &'g Input, data: &[&'g Input]) -> Given<'g, Bytes> {
    let data: Vec<&Handle<Bytes>> = data.iter().map(|input| &input.opened).collect();
    Given { file: &file.opened, data }
}

/// Returns the problem that the two files are of different kinds.
fn kinds(files: [&Input; 2]) -> Problem {
    let kinds = files.map(|input| {
        let kind = match input.opened.file() {
            File::Pte(_) => "a program",
            _ => "a data file",
        };
        format!("{} is {kind}", input.name)
    });
    Problem::Usage(format!("{}: give two programs, or two data files", kinds.join(", ")).into())
}

/// The names of one side: those of its `.ptd` files, and that of the file itself.
type Names = (Vec<UntrustedString>, UntrustedString);

fn problem(error: DiffError<io::Error>, old: &Names, new: &Names) -> Problem {
    let name = |whose: Whose| -> UntrustedString {
        let beside = |(data, own): &Names, nth: usize| data.get(nth).unwrap_or(own).clone();
        match whose {
            Whose::Before => old.1.clone(),
            Whose::After => new.1.clone(),
            Whose::WithBefore(nth) => beside(old, nth),
            Whose::WithAfter(nth) => beside(new, nth),
        }
    };
    match error {
        DiffError::Open(whose, OpenError::Refused(error)) => Problem::refused(name(whose), error),
        DiffError::Open(whose, error) => Problem::open(&name(whose), error),
        DiffError::NoData(whose) => {
            let name = name(whose);
            let message = format!("only a program is used with data, and only with a .ptd: {name}");
            Problem::Usage(message.into())
        }
        DiffError::Work(whose, most) => Problem::Absent {
            file: name(whose),
            message: format!(
                "more than {most} bytes would be read: the same data is used over and over; if you \
                 trust the file, raise --max-amplification"
            )
            .into(),
        },
        error => {
            let message = UntrustedString::of(&error);
            Problem::Absent { file: name(Whose::After), message }
        }
    }
}

impl Found<'_> {
    /// Returns the differences of a class that are shown, and the number of all differences in the
    /// class.
    fn of(&self, class: Class) -> (Vec<&Difference>, u64) {
        let all = self.report.differences.iter().filter(|difference| difference.class == class);
        (all.take(self.most).collect(), self.report.count(class))
    }

    /// Returns the differences in the encoding, which are shown only for files of the same meaning.
    fn written(&self) -> &[Written] {
        match self.report.verdict {
            Verdict::Same if !self.ignored => &self.report.written,
            _ => &[],
        }
    }

    /// Returns a hint on how to ignore the differences, if all of them are of optional classes.
    fn hint(&self) -> Option<String> {
        let differ = || Class::ALL.into_iter().filter(|&class| self.report.count(class) > 0);
        let is_optional = |class| {
            matches!(class, Class::Header | Class::Names | Class::Unused | Class::MemoryPlan)
        };
        if self.report.verdict != Verdict::Different || !differ().all(is_optional) {
            return None;
        }
        let ignore: Vec<_> = differ().map(|class| format!("--ignore {}", class.id())).collect();
        Some(format!("{}: then they are the same", ignore.join(" ")))
    }

    /// Returns the verdict in one line.
    fn summary(&self) -> String {
        match self.report.verdict {
            Verdict::Identical if self.is_bundled => {
                "identical programs: every byte of them is the same, and bundles were not compared"
                    .into()
            }
            Verdict::Identical => "identical: every byte is the same".into(),
            Verdict::Same if self.ignored => "the same, but for what is ignored".into(),
            Verdict::Same => "the same, but written differently".into(),
            Verdict::Different => {
                let classes = Class::ALL.iter().map(|&class| (class, self.report.count(class)));
                let some = classes.filter(|&(_, count)| count > 0);
                let counts =
                    some.map(|(class, count)| format!("{} {}", title(class), grouped(count)));
                let counts = counts.collect::<Vec<_>>().join(", ");
                format!("different: {} ({counts})", count(self.report.total(), "difference"))
            }
        }
    }
}

/// Returns the displayed name of a class.
fn title(class: Class) -> String {
    class.id().replace('-', " ")
}

/// Returns one side of a difference in words, with the first digits of its digest.
fn text(shown: &Shown) -> UntrustedString {
    match shown.sha256 {
        Some(sha) => {
            let digest = pte::quoted::hex(sha.get(..8).unwrap_or_default());
            format!("{} sha256 {digest}…", shown.text).into()
        }
        None => shown.text.as_str().into(),
    }
}
