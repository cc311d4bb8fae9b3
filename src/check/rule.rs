//! Rules as data: what can be found, how bad it is, and what the official runtime does about it.

use core::fmt;

/// Something that can be found, by name.
#[derive(Debug)]
pub struct Rule {
    /// A stable name in kebab case, never reused.
    pub id: &'static str,
    /// What it is about.
    pub subject: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What the rule asks.
    pub what: &'static str,
    /// Why it is asked: what happens otherwise.
    pub why: &'static str,
    /// What the official runtime (1.5.1) does where the rule is broken.
    pub runtime: Runtime,
    /// Where that comes from: sections of `docs/format.md`, which name upstream's files.
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

/// What the official runtime does where a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// It gives an error, at once or when the place is reached.
    Refuses,
    /// It aborts, or reads through a null pointer.
    Crashes,
    /// It reads or writes memory that is not the file's.
    Misreads,
    /// It does not look.
    Ignores,
}

impl Rule {
    /// Whether the runtime of that release (major and minor number) refuses or misreads a file for
    /// this rule alone, whatever its severity says of the current one.
    pub fn is_refused_by(&self, release: Release) -> bool {
        is_listed(REFUSED, self.id, release)
    }

    /// Whether the runtime of that release (major and minor number) takes what breaks this rule,
    /// which newer ones do not.
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

/// The newest release of the runtime that is known here: what a later one brings is not judged.
pub const NEWEST: (u32, u32) = (1, 5);

impl Severity {
    /// Its name in reports.
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
