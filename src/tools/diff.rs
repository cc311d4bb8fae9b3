//! Compares two files by meaning: by what a runtime would do with them.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pte::diff::{Given, Verdict, compare};
//! use pte::{Limits, Handle, Pte};
//!
//! # let bytes: &[u8] = include_bytes!("../../tests/data/pte/linear.pte");
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
//! The indices of values, operators, delegates, constants and segments have no meaning.
//! Instructions are aligned first. Then values are matched: inputs by position, results by their
//! first use in aligned instructions, constants by content. Two files are the same if new indices
//! make them equal.
//!
//! A change is reported once: a weight and not each of its uses, the size of a tensor and not each call
//! that uses it. The consequences of an added or removed call are part of that difference.
//!
//! The comparison takes O(n log n) time in the sizes of the FlatBuffers. Data is read in chunks, each range
//! once.

use core::fmt;

use alloc::string::String;
use alloc::vec::Vec;

use pte_core::{File, Handle, Limits, OpenError, Source};

mod align;
mod contents;
mod describe;
mod digest;
mod document;
mod fields;
mod fingerprint;
mod hunks;
mod instructions;
mod items;
mod load;
mod method;
mod named;
mod payload;
mod plan;
mod program;
mod tensors;
mod text;
mod values;
mod writers;
mod written;

use contents::Contents;
pub use document::DiffDocument;

/// One of the two files, and the `.ptd` files that it is used with.
#[derive(Debug)]
pub struct Given<'g, S> {
    /// The file.
    pub file: &'g Handle<S>,
    /// The files that keys of EXTERNAL tensors and delegates are resolved in. An unresolved tensor is
    /// compared by its key.
    pub data: Vec<&'g Handle<S>>,
}

impl<'g, S> Given<'g, S> {
    /// Returns a file without `.ptd` files.
    pub fn new(file: &'g Handle<S>) -> Self {
        Self { file, data: Vec::new() }
    }
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Verdict {
    /// All bytes are equal.
    Identical,
    /// The files have the same meaning.
    Same,
    /// The files differ in meaning.
    Different,
}

/// The differences between two files.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The result.
    pub verdict: Verdict,
    /// The differences, sorted by [`Class`]; the first [`Comparison::MOST`] of each class.
    pub differences: Vec<Difference>,
    /// The differences in the encoding; none for identical files.
    pub written: Vec<Written>,
    counts: [u64; Class::ALL.len()],
}

/// The subject of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub enum Class {
    /// The version, and the generation of a `.ptd`.
    Header,
    /// Methods that only one file has.
    Methods,
    /// Inputs and outputs.
    Signature,
    /// Calls, moves, frees and jumps, their order and arguments.
    Instructions,
    /// Dtypes, sizes, dim orders and other fields of intermediate tensors.
    Values,
    /// Constants, and the initial data of mutable tensors.
    Constants,
    /// Backends, payloads and compile specs.
    Delegates,
    /// Named tensors and blobs.
    NamedData,
    /// Fully qualified names of tensors, except names that are keys.
    Names,
    /// Unused values, which runtimes create nevertheless.
    Unused,
    /// Arenas, and the places of tensors in them.
    MemoryPlan,
}

impl Class {
    /// All classes, in order.
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

    /// Returns the name of the class in JSON, such as `named-data`.
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

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The subject.
    pub class: Class,
    /// The name of the method, escaped and cut.
    pub method: Option<String>,
    /// The place, such as `call 12 aten::add.out, argument 1`, numbered as in the first file. Something
    /// added is numbered as in the second file. Empty for the whole method or file.
    pub place: String,
    /// The property that differs, such as `sizes`, `operator` or `payload`.
    pub what: &'static str,
    /// The first file's side of the difference; `None` for an addition.
    pub before: Option<Shown>,
    /// The second file's side of the difference; `None` for a removal.
    pub after: Option<Shown>,
}

/// The kind of a [`Difference`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Change {
    /// Only the second file has something.
    Added,
    /// Only the first file has something.
    Removed,
    /// Both files have something, which differs.
    Changed,
}

impl Difference {
    /// Returns what happened from the first file to the second.
    #[must_use]
    pub fn change(&self) -> Change {
        match (&self.before, &self.after) {
            (None, _) => Change::Added,
            (_, None) => Change::Removed,
            _ => Change::Changed,
        }
    }
}

/// One side of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Shown {
    /// A short text without control characters.
    pub text: String,
    /// The digest of the data, for a difference in data.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Option::is_none", serialize_with = "document::hexadecimal")
    )]
    pub sha256: Option<[u8; 32]>,
}

/// A difference in the encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Written {
    /// The property, such as `segments`.
    pub what: &'static str,
    /// The text of the property for the first file.
    pub before: String,
    /// The text of the property for the second file.
    pub after: String,
}

/// One of the compared files, or a `.ptd` beside one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The first of the compared files.
    Before,
    /// The second of the compared files.
    After,
    /// A `.ptd` that the first file is used with, by its index.
    WithBefore(usize),
    /// A `.ptd` that the second file is used with, by its index.
    WithAfter(usize),
}

/// The reason why two files cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffError<E> {
    /// A file cannot be read.
    Open(Whose, OpenError<E>),
    /// The files are a `.pte` and a `.ptd`.
    Kinds,
    /// A file that was given as a `.ptd` is not one, or `.ptd` files were given without programs.
    NoData(Whose),
    /// The file refers to the same data so often that more than this number of bytes would be read.
    Work(Whose, u64),
}

impl<E: fmt::Display> fmt::Display for DiffError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(_, error) => error.fmt(f),
            Self::Kinds => f.write_str(
                "the files are of different kinds: a program (.pte) and a data file (.ptd)",
            ),
            Self::NoData(_) => f.write_str(
                "only a program can be used with data files, and these must be .ptd files",
            ),
            Self::Work(_, most) => write!(
                f,
                "more than {most} bytes would be read, since data is referred to many times; if you \
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
/// A file cannot be read, the kinds differ, or more bytes would be read than `limits` allow.
pub fn compare<S: Source>(
    before: &Given<'_, S>,
    after: &Given<'_, S>,
    limits: &Limits,
) -> Result<Comparison, DiffError<S::Error>> {
    compare_parts(before, after, None, limits)
}

/// Compares only the methods with the name `name` of two programs. The verdict is
/// [`Identical`](Verdict::Identical) only if the whole files are identical.
///
/// # Errors
///
/// The errors of [`compare`].
pub fn compare_methods<S: Source>(
    before: &Given<'_, S>,
    after: &Given<'_, S>,
    name: &str,
    limits: &Limits,
) -> Result<Comparison, DiffError<S::Error>> {
    let mut report = compare_parts(before, after, Some(name), limits)?;
    report.written.clear();
    Ok(report)
}

fn compare_parts<S: Source>(
    before: &Given<'_, S>,
    after: &Given<'_, S>,
    method: Option<&str>,
    limits: &Limits,
) -> Result<Comparison, DiffError<S::Error>> {
    let files = (before.file.file(), after.file.file());
    let a = &mut Contents::new(before, Whose::Before, limits)?;
    let b = &mut Contents::new(after, Whose::After, limits)?;
    let mut report = Comparison::new();
    let identical = contents::identical(before.file, after.file)?;
    let alone = before.data.is_empty() && after.data.is_empty();
    if !identical {
        report.verdict = Verdict::Same;
    }
    match &files {
        // Identical programs without `.ptd` files need no comparison. With `.ptd` files they are
        // compared, since the `.ptd` files may differ.
        (File::Pte(_), File::Pte(_)) if identical && alone => {}
        (File::Pte(old), File::Pte(new)) => {
            program::compare((old, a), (new, b), method, &mut report)?
        }
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

impl Comparison {
    /// The most differences of a class that are kept. All of them are counted.
    pub const MOST: u64 = 1000;

    fn new() -> Self {
        Self {
            verdict: Verdict::Identical,
            differences: Vec::new(),
            written: Vec::new(),
            counts: [0; Class::ALL.len()],
        }
    }

    /// Returns the number of differences of a class.
    pub fn count(&self, class: Class) -> u64 {
        let all = Class::ALL.iter().zip(self.counts);
        all.filter(|&(other, _)| *other == class).map(|(_, count)| count).sum()
    }

    /// Returns the number of differences.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Removes all differences of a class.
    pub fn ignore(&mut self, class: Class) {
        self.differences.retain(|difference| difference.class != class);
        let all = Class::ALL.iter().zip(&mut self.counts);
        all.filter(|(other, _)| **other == class).for_each(|(_, count)| *count = 0);
        if self.total() == 0 && self.verdict == Verdict::Different {
            self.verdict = Verdict::Same;
        }
    }

    /// Counts a difference. Returns whether it is to be kept.
    fn counts(&mut self, class: Class) -> bool {
        let mut all = Class::ALL.iter().zip(&mut self.counts);
        let Some((_, count)) = all.find(|(other, _)| **other == class) else { return false };
        *count = count.saturating_add(1);
        *count <= Self::MOST
    }

    /// Adds a difference outside of methods: its place, its property and its sides. Calls `make` only if the
    /// difference is kept.
    fn add(
        &mut self,
        class: Class,
        make: impl FnOnce() -> (String, &'static str, Option<Shown>, Option<Shown>),
    ) {
        if self.counts(class) {
            let (place, what, before, after) = make();
            let difference = Difference { class, method: None, place, what, before, after };
            self.differences.push(difference);
        }
    }

    /// Adds a difference of the files themselves.
    fn header(&mut self, what: &'static str, before: impl ToString, after: impl ToString) {
        let side = |side: &dyn ToString| Some(text::shown(side.to_string()));
        self.add(Class::Header, || (String::new(), what, side(&before), side(&after)));
    }

    fn finish(&mut self) {
        // Stable: differences of a class stay in the order in which they were found.
        self.differences.sort_by_key(|difference| difference.class);
        if !self.differences.is_empty() {
            self.verdict = Verdict::Different;
        }
    }
}
