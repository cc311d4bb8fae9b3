//! Rules as data: what each requires, how bad a finding is, and what the official runtime does.

use core::fmt;

/// A rule that a file may break.
#[derive(Debug)]
pub struct Rule {
    /// A stable name in kebab case, never reused.
    pub id: &'static str,
    /// Its subject.
    pub subject: &'static str,
    /// How bad a finding is.
    pub severity: Severity,
    /// What it requires.
    pub what: &'static str,
    /// Why: what happens otherwise.
    pub why: &'static str,
    /// What the official runtime (1.5.1) does if the rule is broken.
    pub runtime: Runtime,
    /// Its sources: sections of `docs/format.md`, which name upstream's files.
    pub rows: &'static [&'static str],
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Old or unusual.
    Note,
    /// Legal, and suspicious.
    Warning,
    /// The official runtime, given the backends and operators that the file asks for, refuses the
    /// file, crashes on it, or reads wrong memory, at some setting.
    Error,
}

/// What the official runtime does if a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// It returns an error, at once or when it uses the value.
    Refuses,
    /// It aborts, or reads through a null pointer.
    Crashes,
    /// It reads or writes memory that is not the file's.
    Misreads,
    /// It does not check.
    Ignores,
}

impl Rule {
    /// Returns whether the runtime of a release refuses or misreads a file for this rule alone. The
    /// severity is for the current release.
    pub fn is_refused_by(&self, release: Release) -> bool {
        is_listed(REFUSED, self.id, release)
    }

    /// Returns whether the runtime of a release accepts a file that breaks this rule, as newer ones do
    /// not.
    pub fn is_taken_by(&self, release: Release) -> bool {
        is_listed(TAKEN, self.id, release)
    }
}

/// A rule's name, and the releases from the first, to before the second.
type Row = (&'static str, Release, Release);

fn is_listed(rows: &[Row], rule: &str, release: Release) -> bool {
    rows.iter().any(|&(id, from, to)| id == rule && from <= release && release < to)
}

/// Notes that are Errors for some releases (format.md §1.3, §4.3).
const REFUSED: &[Row] = &[("constants-inline", (1, 5), NEVER), ("old-generation", (0, 7), NEVER)];
/// Errors that are none for some releases (format.md §4.3).
const TAKEN: &[Row] = &[("external-generation", (0, 5), (0, 7))];
const NEVER: Release = (u32::MAX, u32::MAX);

/// A release of the runtime: its major and minor number.
pub type Release = (u32, u32);

/// The newest release of the runtime that is known: what a later one adds is not judged.
pub const NEWEST: (u32, u32) = (1, 5);

impl Severity {
    /// Returns its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Runtime {
    /// What it does, in a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refuses => "refuses",
            Self::Crashes => "crashes",
            Self::Misreads => "reads wrong memory",
            Self::Ignores => "ignores",
        }
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Declares the rules of one subject: a static each, and the list of them all.
macro_rules! rules {
    ($subject:literal; $(
        $(#[$meta:meta])*
        $NAME:ident = $severity:ident $id:literal
            $what:literal
            $why:literal
            $runtime:ident [$($row:literal),* $(,)?];
    )*) => {
        $(
            $(#[$meta])*
            pub(in $crate::check) static $NAME: $crate::check::rule::Rule = $crate::check::rule::Rule {
                id: $id,
                subject: $subject,
                severity: $crate::check::rule::Severity::$severity,
                what: $what,
                why: $why,
                runtime: $crate::check::rule::Runtime::$runtime,
                rows: &[$($row),*],
            };
        )*

        /// The rules of this subject.
        pub(in $crate::check) static RULES: &[&$crate::check::rule::Rule] = &[$(&$NAME),*];
    };
}

pub(super) use rules;
