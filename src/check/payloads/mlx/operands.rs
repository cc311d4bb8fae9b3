//! Whether the graph has what each instruction names.

use super::{Counts, MLX_OPERAND, Site, instruction_path};
use crate::report::Findings;
use pte_core::payload::mlx::{MISSING, Operand, for_each_operand};

/// Judges whether the graph has what each instruction names.
pub(super) fn judge(site: &Site<'_, '_>, counts: &Counts, out: &mut Findings) {
    for (chain, nth, instruction) in site.instructions() {
        let mut wrong = None;
        let Some(node) = for_each_operand(instruction, |operand| {
            let count = counts.of(operand.kind);
            let is_there = u64::try_from(operand.index).is_ok_and(|index| index < count);
            wrong = wrong.or((!is_there).then_some((operand, count)));
        }) else {
            continue;
        };
        if let Some((Operand { name, kind, index, .. }, count)) = wrong {
            site.place.find(out, &MLX_OPERAND, node, &instruction_path(chain, nth), || {
                let of = kind.name();
                match index {
                    MISSING => format!("{name}: the index of a {of} is missing"),
                    _ => format!("{name}: {of} {index} is out of range: the graph has {count}"),
                }
            });
        }
    }
}
