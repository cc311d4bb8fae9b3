//! Compares which lists a method has. Runtimes refuse a missing list and accept an empty one.

use alloc::string::String;

use super::Method;
use crate::diff::plan::Plan;
use crate::diff::{Class, text};

impl Method<'_, '_, '_, '_> {
    /// Reports a list that is missing in one method and empty in the other one.
    pub(super) fn missing_lists(&mut self) {
        for (old, new) in lists(self.a).into_iter().zip(lists(self.b)) {
            let is_empty = |list: List| list.len.unwrap_or_default() == 0;
            if old.len.is_some() != new.len.is_some() && is_empty(old) && is_empty(new) {
                let text = |list: List| list.len.map(|_| text::shown("an empty list"));
                self.add(old.class, |_| (String::new(), old.name, text(old), text(new)));
            }
        }
    }
}

/// A list of a method.
#[derive(Clone, Copy)]
struct List {
    name: &'static str,
    class: Class,
    /// The number of items; `None` for a missing list.
    len: Option<usize>,
}

/// Returns the lists that loading a method needs.
fn lists(plan: &Plan<'_, '_>) -> [List; 6] {
    let view = plan.view;
    let list = |name, class, len| List { name, class, len };
    [
        list("inputs", Class::Signature, view.inputs().map(|all| all.len())),
        list("outputs", Class::Signature, view.outputs().map(|all| all.len())),
        list("chains", Class::Instructions, view.chains().map(|all| all.len())),
        list("values", Class::Values, view.values().map(|all| all.len())),
        list("delegates", Class::Delegates, view.delegates().map(|all| all.len())),
        list("arenas", Class::MemoryPlan, view.non_const_buffer_sizes().map(|all| all.len())),
    ]
}
