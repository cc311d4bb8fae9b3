//! Judges what a proven file means: rules in, findings out.
//!
//! [`Checker`] is the one way to judge: it holds what is judged and for whom, and gives one
//! [`Report`]. Rules read proven views; only those of `contents` and `keys` read segments.

use alloc::collections::BTreeSet;

use crate::cost;
use crate::flat::view::Table;
use crate::{File, Ptd, Pte};

mod calls;
mod checker;
mod constants;
mod container;
mod contents;
pub mod coverage;
mod data;
mod dataflow;
mod delegates;
mod external;
#[cfg(test)]
pub(crate) mod growth;
mod instructions;
mod kernels;
mod keys;
mod layout;
mod memory;
mod names;
mod parts;
mod plans;
mod policy;
mod release;
mod report;
mod resolve;
mod rule;
mod site;
mod tensors;
mod values;

pub use checker::Checker;
pub use policy::Policy;
pub(crate) use report::Findings;
pub use report::{Finding, Report};
pub use rule::{NEWEST, Release, Rule, Runtime, Severity};

/// Every rule there is, by subject.
pub static RULES: &[&[&Rule]] = &[
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
    data::RULES,
    external::RULES,
    keys::RULES,
    contents::RULES,
    constants::RULES,
    layout::RULES,
    release::RULES,
];

/// Every rule there is.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().flat_map(|rules| rules.iter().copied())
}

/// The rule of that name.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

impl File<'_> {
    /// Judges what the FlatBuffer says by every rule, with the limits for untrusted files;
    /// [`Checker`] judges more.
    pub fn check(&self) -> Report {
        Checker::new().check_tables(self)
    }

    /// Judges what the FlatBuffer says.
    fn judge(&self, out: &mut Findings) {
        match self {
            Self::Pte(pte) => pte.judge(out),
            Self::Ptd(ptd) => ptd.judge(out),
        }
    }
}

impl Pte<'_> {
    /// As [`File::check`].
    ///
    /// ```
    /// # fn main() -> Result<(), pte::Error> {
    /// # let bytes = include_bytes!("../tests/data/pte/linear.pte");
    /// let pte = pte::Pte::read(bytes)?;
    /// assert!(pte.check().findings().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn check(&self) -> Report {
        File::Pte(self.clone()).check()
    }

    fn judge(&self, out: &mut Findings) {
        container::check(self, out);
        names::check(self, out);
        let mut layouts = external::ExpectedLayouts::default();
        let mut judged = BTreeSet::new();
        for (nth, plan) in (0..).zip(self.program().execution_plan().into_iter().flatten()) {
            // The same table again is the same again: a hostile file may list one millions of times.
            cost::look_up("", judged.len());
            if !judged.insert(plan.raw().pos()) {
                continue;
            }
            let plan = site::Plan::new(self, nth, plan);
            let values = values::check(&plan, out);
            layouts.judge(&plan, &values, out);
            plans::check(&plan, &values, out);
            memory::check(&plan, out);
            instructions::check(&plan, &values, out);
            delegates::check(&plan, out);
        }
        plans::check_names(self, out);
        layout::pte(self, out);
    }
}

impl Ptd<'_> {
    /// As [`File::check`].
    pub fn check(&self) -> Report {
        File::Ptd(self.clone()).check()
    }

    fn judge(&self, out: &mut Findings) {
        data::check(self, out);
        layout::ptd(self, out);
    }
}
