//! The operators of a method.

use alloc::string::String;

use super::rules::{
    OPERATOR_NAME_LONG, OPERATOR_NAME_MISSING, OPERATOR_NAME_NUL, OPERATOR_OVERLOAD_MISSING,
};
use crate::kernels::{self, Kernels};
use crate::report::Findings;
use crate::site::Plan;
use pte_core::operator_name;
use pte_core::operators::{Library, name_until_nul};
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::Table;

/// The longest name, in bytes: upstream's `kTempBufferSizeForName` (method.cpp), without the NUL.
pub(crate) const LONGEST_NAME: usize = 99;

/// Judges the operators of a method.
pub(super) fn check(plan: &Plan<'_, '_>, kernels: &Kernels, out: &mut Findings) {
    for (nth, operator) in (0..).zip(plan.view.operators().into_iter().flatten()) {
        let path = path!["operators", nth];
        let mut find = |rule, message: &dyn Fn() -> String| {
            plan.find(out, rule, operator.raw(), &path, message);
        };
        let overload = operator.overload();
        if [operator.name(), overload].iter().flatten().any(|text| text.contains('\0')) {
            find(&OPERATOR_NAME_NUL, &|| {
                format!("{} holds a NUL", Quoted(operator_name(operator).raw()))
            });
        }
        match operator.name() {
            None => find(&OPERATOR_NAME_MISSING, &|| "the operator has no name".into()),
            Some(name) => {
                let overload = overload.filter(|text| !text.is_empty());
                let len = overload.map_or(0, |text| text.len().saturating_add(1));
                let len = len.saturating_add(name.len());
                if len > LONGEST_NAME {
                    find(&OPERATOR_NAME_LONG, &|| format!("a name of {len} characters"));
                } else if !usize::try_from(nth).is_ok_and(|nth| kernels.signatures.is_known(nth))
                    && !Library::any_has(&name_until_nul(operator))
                {
                    find(&kernels::OPERATOR_UNKNOWN, &|| {
                        format!("{:?} is none of the runtime's", operator_name(operator))
                    });
                }
            }
        }
        if overload.is_none() {
            find(&OPERATOR_OVERLOAD_MISSING, &|| "the operator has no overload".into());
        }
    }
}
