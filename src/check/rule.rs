//! Rules as data: the requirement, the severity, and what the official runtime does.

use alloc::string::String;
use core::fmt;

use pte_core::release::{Exception, Release};

/// A rule that a file may break.
#[derive(Debug)]
pub struct Rule {
    /// A stable name in kebab case, never reused.
    pub id: &'static str,
    /// The subject that the rule is listed under, such as `container`.
    pub subject: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// The requirement.
    pub what: &'static str,
    /// The consequence if the requirement is not met.
    pub why: &'static str,
    /// What to do about a finding.
    pub help: &'static str,
    /// What the newest known release of the runtime does if the rule is broken.
    pub runtime: Runtime,
    /// The evidence: sections of `docs/format.md`, which name upstream's files.
    pub rows: &'static [&'static str],
    /// Why the preset [`UNTRUSTED_UPLOAD`](super::Preset::UNTRUSTED_UPLOAD) denies what the rule finds; `None` if it
    /// does not.
    pub untrusted_upload: Option<&'static str>,
}

/// A rule that is broken, and what is wrong.
pub(crate) type Broken = (&'static Rule, String);

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file is legal, but old or unusual.
    Note,
    /// The file is legal, but suspicious.
    Warning,
    /// With some settings, the official runtime refuses the file, crashes on it, or reads wrong
    /// memory. The runtime is assumed to have all backends and operators that the file asks for.
    Error,
}

/// What the official runtime does if a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// The runtime returns an error, at once or when it uses the value.
    Refuses,
    /// The runtime aborts, or reads through a null pointer.
    Crashes,
    /// The runtime reads or writes memory that is not the file's.
    Misreads,
    /// The runtime does not check the requirement.
    Ignores,
}

impl Rule {
    /// Returns whether the rule is an Error for `release`, although its own severity is lower.
    pub fn is_refused_by(&self, release: Release) -> bool {
        Exception::of(release).any(|one| one.is_refused && one.rule == self.id)
    }

    /// Returns whether the runtime of `release` accepts a file that breaks this rule, although
    /// newer releases do not.
    pub fn is_taken_by(&self, release: Release) -> bool {
        Exception::of(release).any(|one| !one.is_refused && one.rule == self.id)
    }
}

impl Severity {
    /// Returns the name of the severity in reports.
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
    /// Returns what the runtime does, in one word.
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

/// Expands to the help text of a rule: a literal, or a named text that many rules share.
macro_rules! help {
    (MADE_BY_HAND) => {
        "No exporter is known to write this: the file is damaged or was made by hand, so get it again from its source."
    };
    (LOWER_AGAIN) => {
        "No exporter is known to write such a payload. Lower the model again, with other settings of the partitioner if the finding stays."
    };
    (UNUSUAL) => {
        "No exporter is known to write this: ask the writer of the file, or export the program again."
    };
    (HARMLESS) => {
        "Nothing needs to be done for a current runtime."
    };
    ($text:literal) => {
        $text
    };
}

/// Expands to an optional literal.
macro_rules! option {
    () => {
        None
    };
    ($text:literal) => {
        Some($text)
    };
}

/// Declares the rules of one subject: a static for each, and the list of them.
macro_rules! rules {
    ($subject:literal; $(
        $(#[$meta:meta])*
        $NAME:ident = $severity:ident $id:literal
            $what:literal
            $why:literal
            $help:tt
            $runtime:ident [$($row:literal),* $(,)?]
            $(untrusted_upload $upload:literal)?;
    )*) => {
        $(
            $(#[$meta])*
            pub(crate) static $NAME: $crate::rule::Rule = $crate::rule::Rule {
                id: $id,
                subject: $subject,
                severity: $crate::rule::Severity::$severity,
                what: $what,
                why: $why,
                help: $crate::rule::help!($help),
                runtime: $crate::rule::Runtime::$runtime,
                rows: &[$($row),*],
                untrusted_upload: $crate::rule::option!($($upload)?),
            };
        )*

        /// The rules of this subject.
        pub(crate) static RULES: &[&$crate::rule::Rule] = &[$(&$NAME),*];
    };
}

pub(super) use {help, option, rules};
