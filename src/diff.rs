//! Two files, compared by what they mean: what a runtime would do otherwise, and nothing else.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pte::diff::{Given, Verdict, compare};
//! use pte::{Limits, Handle, Pte};
//!
//! # let bytes: &[u8] = include_bytes!("../tests/data/pte/linear.pte");
//! let mut model = Pte::read(bytes)?.to_model()?;
//! model.set_data("metadata.note", vec![1, 2, 3].into());
//! let changed = model.image()?.to_bytes()?;
//!
//! let before = Handle::open(bytes, &Limits::UNTRUSTED)?;
//! let after = Handle::open(&changed[..], &Limits::UNTRUSTED)?;
//! let report = compare(&Given::new(&before), &Given::new(&after), &Limits::UNTRUSTED)?;
//! assert_eq!(report.verdict, Verdict::Different);
//! assert_eq!(report.differences.len(), 1);
//! assert_eq!(report.differences[0].place, "\"metadata.note\"");
//! # Ok(())
//! # }
//! ```
//!
//! Numbers of values, operators, delegates, constants and segments are no meaning: a value is what it
//! is used for. Calls are aligned first; then an input is its position, a result the place where it
//! is first used by aligned calls, and what never changes is its content. So two files are the same
//! if there is a renumbering under which they do the same.
//!
//! What was changed once is told once: a weight and not each of its uses, a tensor's size and not
//! each call that touches it; and what follows from a call that is new or gone is not told apart
//! from it.
//!
//! It takes n log n steps in the FlatBuffers parts, whatever the files are. Data is read in pieces,
//! and a range of bytes once.

use core::fmt;

use alloc::string::String;
use alloc::vec::Vec;

use crate::file::source::Source;
use crate::handle::{File, Handle, OpenError};
use crate::limits::Limits;

mod align;
mod contents;
mod fields;
mod method;
mod named;
mod plan;
mod program;
mod say;
mod steps;
mod tensors;
mod values;
mod written;

use contents::Contents;

/// One of the two files, and the `.ptd` files that it is used with.
#[derive(Debug)]
pub struct Given<'g, S> {
    /// The file.
    pub file: &'g Handle<S>,
    /// Where a program's EXTERNAL tensors and its delegates' keys are looked for; without them, such
    /// a tensor is its key.
    pub data: Vec<&'g Handle<S>>,
}

impl<'g, S> Given<'g, S> {
    /// A file by itself.
    pub fn new(file: &'g Handle<S>) -> Self {
        Self { file, data: Vec::new() }
    }
}

/// What two files have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Every byte.
    Identical,
    /// What they mean.
    Same,
    /// Not all that they mean.
    Different,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the files have in common.
    pub verdict: Verdict,
    /// What differs, in the order of [`Class`]: the first [`Report::MOST`] of each class.
    pub differences: Vec<Difference>,
    /// What is written otherwise, whether it means the same or not; empty for identical files.
    pub written: Vec<Written>,
    counts: [u64; Class::ALL.len()],
}

/// What a difference is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The version, and the generation of a `.ptd`.
    Header,
    /// Methods that only one file has.
    Methods,
    /// Inputs and outputs.
    Signature,
    /// Calls, moves, frees and jumps, with their order and arguments.
    Instructions,
    /// Dtype, sizes, dim order and the like of what is neither an input, an output nor a constant.
    Values,
    /// Constants, and what mutable tensors start with.
    Constants,
    /// Backends, payloads and compile specs.
    Delegates,
    /// Named tensors and blobs.
    NamedData,
    /// Fully qualified names of tensors, where nothing is found by them.
    Names,
    /// Values that nothing uses: runtimes make them all the same, and refuse what does not fit.
    Unused,
    /// Arenas, and where tensors lie in them.
    MemoryPlan,
}

impl Class {
    /// All of them, in order.
    pub const ALL: [Self; 11] = [
        Self::Header,
        Self::Methods,
        Self::Signature,
        Self::Instructions,
        Self::Values,
        Self::Constants,
        Self::Delegates,
        Self::NamedData,
        Self::Names,
        Self::Unused,
        Self::MemoryPlan,
    ];

    /// Its name in JSON, such as `named-data`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Methods => "methods",
            Self::Signature => "signature",
            Self::Instructions => "instructions",
            Self::Values => "values",
            Self::Constants => "constants",
            Self::Delegates => "delegates",
            Self::NamedData => "named-data",
            Self::Names => "names",
            Self::Unused => "unused",
            Self::MemoryPlan => "memory-plan",
        }
    }
}

/// Something that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it is about.
    pub class: Class,
    /// The method, without what could move a terminal's cursor; of a long name the beginning.
    pub method: Option<String>,
    /// Where, such as `call 12 aten::add.out, argument 1`, numbered as in the first file, or in the
    /// second one for what only that has. Empty for the whole method or file.
    pub place: String,
    /// What of it, such as `sizes`, `operator` or `payload`.
    pub what: &'static str,
    /// What the first file has; `None` if it has nothing.
    pub before: Option<Shown>,
    /// What the second file has; `None` if it has nothing.
    pub after: Option<Shown>,
}

/// One side of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// For people; short, without control characters.
    pub text: String,
    /// The digest of the data, if it is about data.
    pub sha256: Option<[u8; 32]>,
}

/// What is written in other bytes, and means the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What, such as `segments`.
    pub what: &'static str,
    /// In the first file.
    pub before: String,
    /// In the second file.
    pub after: String,
}

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The first one.
    Before,
    /// The second one.
    After,
    /// A `.ptd` that the first one is used with.
    WithBefore(usize),
    /// A `.ptd` that the second one is used with.
    WithAfter(usize),
}

/// Why two files cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffError<E> {
    /// A file cannot be read.
    Open(Whose, OpenError<E>),
    /// One is a `.pte` and the other a `.ptd`.
    Kinds,
    /// A program was given in place of a `.ptd`, or a `.ptd` to a `.ptd`.
    NoData(Whose),
    /// The file names the same data over and over: more than so many bytes would be read.
    Work(Whose, u64),
}

impl<E: fmt::Display> fmt::Display for DiffError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(_, error) => error.fmt(f),
            Self::Kinds => f.write_str("one is a program, and the other a data file"),
            Self::NoData(_) => {
                f.write_str("only a program is used with data, and only with a .ptd")
            }
            Self::Work(_, most) => write!(
                f,
                "more than {most} bytes would be read: the same data is used over and over; if you \
                 trust the file, allow more amplification"
            ),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for DiffError<E> {}

/// Compares two files of one kind.
///
/// # Errors
///
/// Where a file cannot be read, where the kinds differ, or where more would be read
/// than `limits` allow.
pub fn compare<S: Source>(
    before: &Given<'_, S>,
    after: &Given<'_, S>,
    limits: &Limits,
) -> Result<Report, DiffError<S::Error>> {
    let files = (before.file.file(), after.file.file());
    let a = &mut Contents::new(before, Whose::Before, limits)?;
    let b = &mut Contents::new(after, Whose::After, limits)?;
    let mut report = Report::new();
    let identical = contents::identical(before.file, after.file)?;
    let alone = before.data.is_empty() && after.data.is_empty();
    if !identical {
        report.verdict = Verdict::Same;
    }
    match &files {
        // Data that they are used with may differ nevertheless.
        (File::Pte(_), File::Pte(_)) if identical && alone => {}
        (File::Pte(old), File::Pte(new)) => program::compare((old, a), (new, b), &mut report)?,
        (File::Ptd(_), File::Ptd(_)) if !alone => return Err(DiffError::NoData(Whose::Before)),
        (File::Ptd(_), File::Ptd(_)) if identical => {}
        (File::Ptd(old), File::Ptd(new)) => named::compare_files((old, a), (new, b), &mut report)?,
        _ => return Err(DiffError::Kinds),
    }
    report.finish();
    if !identical {
        report.written = written::of(&files.0, &files.1);
    }
    Ok(report)
}

impl Report {
    /// Differences that are kept of each class; all of them are counted.
    pub const MOST: u64 = 1000;

    fn new() -> Self {
        Self {
            verdict: Verdict::Identical,
            differences: Vec::new(),
            written: Vec::new(),
            counts: [0; Class::ALL.len()],
        }
    }

    /// How many differences of a class there are.
    pub fn count(&self, class: Class) -> u64 {
        let all = Class::ALL.iter().zip(self.counts);
        all.filter(|&(other, _)| *other == class).map(|(_, count)| count).sum()
    }

    /// How many differences there are.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Leaves out all differences of a class, as if they had no meaning.
    pub fn ignore(&mut self, class: Class) {
        self.differences.retain(|difference| difference.class != class);
        let all = Class::ALL.iter().zip(&mut self.counts);
        all.filter(|(other, _)| **other == class).for_each(|(_, count)| *count = 0);
        if self.total() == 0 && self.verdict == Verdict::Different {
            self.verdict = Verdict::Same;
        }
    }

    /// Counts one more difference, and says whether it is kept.
    fn counts(&mut self, class: Class) -> bool {
        let mut all = Class::ALL.iter().zip(&mut self.counts);
        let Some((_, count)) = all.find(|(other, _)| **other == class) else { return false };
        *count = count.saturating_add(1);
        *count <= Self::MOST
    }

    /// One more difference, which is made only if it is kept.
    fn add(&mut self, class: Class, make: impl FnOnce() -> Difference) {
        if self.counts(class) {
            self.differences.push(make());
        }
    }

    /// What the files themselves differ in.
    fn header(&mut self, what: &'static str, before: impl ToString, after: impl ToString) {
        let class = Class::Header;
        self.add(class, || Difference {
            class,
            method: None,
            place: String::new(),
            what,
            before: Some(say::shown(before.to_string())),
            after: Some(say::shown(after.to_string())),
        });
    }

    fn finish(&mut self) {
        // Stable: in a class, the order in which they were found.
        self.differences.sort_by_key(|difference| difference.class);
        if !self.differences.is_empty() {
            self.verdict = Verdict::Different;
        }
    }
}
