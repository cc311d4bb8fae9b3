//! Semantic rules for a file whose FlatBuffer is already proven, and the checker that applies them.
//!
//! A [`Checker`] holds the settings of a check and returns one [`Report`]. Most rules read only
//! proven views. Those of `constants`, `contents` and `payloads` also read segments.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
extern crate alloc;

use pte_core::{File, Ptd, Pte};

mod calls;
mod checker;
mod constant_bools;
mod constants;
mod container;
mod contents;
pub mod coverage;
mod data_file;
mod dataflow;
mod delegates;
mod document;
mod external;
mod instructions;
mod kernels;
mod kind;
mod layout;
mod linked;
mod loading;
mod memory;
mod names;
mod parallel;
mod payloads;
mod plans;
mod policy;
mod preset;
mod record;
mod release;
mod report;
mod resolve;
mod rule;
#[cfg(all(feature = "json", feature = "serde", feature = "sha2"))]
mod sarif;
mod site;
pub mod sound;
mod tables;
mod tensors;
mod values;
mod verdict;
mod version;

pub use checker::{Checker, judged_kind};
pub use document::{
    ABSENT, ByteWindow, CheckDocument, CheckedFile, DOCS_URL, FindingRecord, RuleDocument,
    RuleRecord, RulesDocument, UNREADABLE,
};
pub use external::data_rule;
pub use linked::RuntimeBuild;
pub use loading::LoadMemory;
pub use parallel::judge_on_one_thread;
pub use policy::Policy;
pub use preset::Preset;
pub use pte_core::release::{NEWEST, NEWEST_VERSION, Release};
pub use report::{DATA_ELSEWHERE, Finding, Report};
pub use rule::{Rule, Runtime, Severity};
#[cfg(all(feature = "json", feature = "serde", feature = "sha2"))]
pub use sarif::sarif;
pub use verdict::{MissingKeys, Verdict};
pub use version::{ReleaseError, parse_release};

/// All rules, by subject: on the FlatBuffer, on payloads, on the bytes of segments, and on the file as a whole.
pub static RULES: &[&[&Rule]] = &joined();

const BEFORE_PAYLOADS: &[&[&Rule]] = &[
    container::RULES,
    plans::RULES,
    values::RULES,
    tensors::RULES,
    memory::RULES,
    resolve::RULES,
    calls::RULES,
    kernels::RULES,
    dataflow::RULES,
    delegates::RULES,
    names::RULES,
    data_file::RULES,
    external::RULES,
    payloads::RULES,
];

const AFTER_PAYLOADS: &[&[&Rule]] = &[
    contents::RULES,
    constants::RULES,
    layout::RULES,
    kind::RULES,
    record::RULES,
    release::RULES,
    linked::RULES,
];

const SUBJECTS: usize = BEFORE_PAYLOADS.len() + payloads::JUDGED.len() + AFTER_PAYLOADS.len();

/// Returns the rules of all subjects, with those of each backend whose payloads are judged.
#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs at build time")]
const fn joined() -> [&'static [&'static Rule]; SUBJECTS] {
    let mut all: [&[&Rule]; SUBJECTS] = [&[]; SUBJECTS];
    let (mut nth, judged) = (0, BEFORE_PAYLOADS.len());
    let after = judged + payloads::JUDGED.len();
    while nth < SUBJECTS {
        all[nth] = if nth < judged {
            BEFORE_PAYLOADS[nth]
        } else if nth < after {
            payloads::JUDGED[nth - judged].rules
        } else {
            AFTER_PAYLOADS[nth - after]
        };
        nth += 1;
    }
    all
}

/// Returns all rules.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().flat_map(|rules| rules.iter().copied())
}

/// Returns the rule with the name `id`.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// Judges the FlatBuffer of a file.
pub trait Check {
    /// Judges the FlatBuffer by every rule, with the limits for untrusted files. A [`Checker`] also
    /// judges segments and data files.
    ///
    /// ```
    /// use pte::check::Check;
    ///
    /// # fn main() -> Result<(), pte::Error> {
    /// # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
    /// let pte = pte::Pte::read(bytes)?;
    /// assert!(pte.check().findings().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    fn check(&self) -> Report;
}

impl Check for File<'_> {
    fn check(&self) -> Report {
        Checker::new().check_tables(self)
    }
}

impl Check for Pte<'_> {
    fn check(&self) -> Report {
        File::Pte(self.clone()).check()
    }
}

impl Check for Ptd<'_> {
    fn check(&self) -> Report {
        File::Ptd(self.clone()).check()
    }
}
