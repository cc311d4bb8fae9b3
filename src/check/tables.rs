//! Judges the tables of a file. The bytes of segments are not read.

use super::constants::Constants;
use super::external::{ExpectedLayouts, ExternalTensors};
use super::report::Findings;
use super::site::Plan;
use super::{container, data_file, delegates, instructions, layout, memory, names, plans, values};
use pte_core::{File, Ptd, Pte, method};

/// Judges the FlatBuffer of a file, and returns its tensors that request data from a `.ptd`.
/// `constants` are the constants that were read from segments.
pub(crate) fn judge<'a>(
    file: &File<'a>,
    constants: &Constants,
    out: &mut Findings,
) -> ExternalTensors<'a> {
    match file {
        File::Pte(pte) => program(pte, constants, out),
        File::Ptd(ptd) => {
            data_file(ptd, out);
            ExternalTensors::default()
        }
    }
}

fn program<'a>(pte: &Pte<'a>, constants: &Constants, out: &mut Findings) -> ExternalTensors<'a> {
    container::check(pte, out);
    names::check(pte, out);
    let mut layouts = ExpectedLayouts::default();
    for (nth, view) in method::distinct(pte) {
        let plan = Plan::new(pte, nth, view).with_constants(constants);
        let values = values::check(&plan, out);
        layouts.judge(&plan, &values, out);
        plans::check(&plan, &values, out);
        memory::check(&plan, out);
        instructions::check(&plan, &values, out);
        delegates::check(&plan, out);
    }
    plans::check_names(pte, out);
    memory::check_reach(pte, out);
    layout::pte(pte, out);
    layouts.tensors()
}

fn data_file(ptd: &Ptd<'_>, out: &mut Findings) {
    data_file::check(ptd, out);
    layout::ptd(ptd, out);
}
