//! The verdict on a file, and the keys of data that was not given.

use alloc::string::String;
use alloc::vec::Vec;

use super::rule::Severity;
use pte_flat::quoted::UntrustedString;

/// The verdict on a file, the best first.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use pte::check::{Checker, Verdict};
///
/// # let program: &[u8] = include_bytes!("../../tests/data/pte/external_all.pte");
/// let report = Checker::new().check_bytes(program)?;
/// assert_eq!(report.verdict(), Verdict::Incomplete);
/// assert_eq!(report.missing().keys()[0].raw(), "ls.0.bias");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing that was judged is an Error, and all data was given.
    Ok,
    /// As `Ok`, but the file needs data of a `.ptd` that was not given. The official runtime refuses to load such
    /// a method, or crashes.
    Incomplete,
    /// A finding is an Error.
    Error,
}

impl Verdict {
    /// Returns the name of the verdict in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Incomplete => "incomplete",
            Self::Error => "error",
        }
    }

    /// Returns the verdict that findings with these rules and severities come to.
    ///
    /// A file that only lacks data is `Incomplete` even if a policy makes that an Error.
    pub(super) fn of<'r>(findings: impl Iterator<Item = (&'r str, Severity)>) -> Self {
        let each = findings.map(|(rule, severity)| match severity {
            _ if rule == NOT_JUDGED => Self::Incomplete,
            Severity::Error => Self::Error,
            Severity::Warning | Severity::Note => Self::Ok,
        });
        each.max().unwrap_or(Self::Ok)
    }
}

/// The id of the rule on data that was not given.
pub(super) const NOT_JUDGED: &str = "external-not-judged";

/// The keys of data that a program needs and that no given file has.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MissingKeys {
    count: u64,
    keys: Vec<UntrustedString>,
}

impl MissingKeys {
    /// Returns the number of keys.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the first keys: those of tensors, then those that delegates use. At most
    /// `findings_per_rule` of [`Limits`](pte_core::Limits) are kept.
    #[must_use]
    pub fn keys(&self) -> &[UntrustedString] {
        &self.keys
    }

    /// Returns whether no data is missing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a key.
    pub(super) fn add(&mut self, key: &str, most: u64) {
        if self.count < most {
            self.keys.push(UntrustedString::from(String::from(key)));
        }
        self.count = self.count.saturating_add(1);
    }
}
