//! Rules on the indices of moves, frees and jumps. `dataflow` judges their effects on values.

use super::rules::{
    FREE_INDEX, JUMP_CONDITION_INDEX, JUMP_DESTINATION, JUMP_TO_ITSELF, MOVE_INDEX, MOVE_LIST,
};
use crate::report::Findings;
use crate::site::Plan;
use crate::values::Values;
use pte_core::PathComponent;
use pte_core::method::Instruction;
use pte_schema::program::is_list;

/// Judges a move.
pub(super) fn check_move(
    plan: &Plan<'_, '_>,
    values: &Values,
    instruction: &Instruction<'_>,
    out: &mut Findings,
) {
    let Some((source, target)) = instruction.moved() else { return };
    for (index, field) in [(source, "move_from"), (target, "move_to")] {
        if !plan.has(index) {
            let path = [PathComponent::Field(field)];
            plan.find_instruction(out, &MOVE_INDEX, instruction, &path, || {
                format!("value {index} is asked for, and there are {}", plan.len)
            });
        }
    }
    let tags = [source, target].map(|index| values.tag(index.into()));
    if tags.iter().all(Option::is_some) && tags.into_iter().flatten().any(is_list) {
        plan.find_instruction(out, &MOVE_LIST, instruction, &[], || {
            format!("value {source} is moved onto value {target}, and one of them is a list")
        });
    }
}

/// Judges a free.
pub(super) fn check_free(plan: &Plan<'_, '_>, instruction: &Instruction<'_>, out: &mut Findings) {
    let Some(index) = instruction.freed().filter(|&index| !plan.has(index)) else { return };
    let path = [PathComponent::Field("value_index")];
    plan.find_instruction(out, &FREE_INDEX, instruction, &path, || {
        format!("value {index} is freed, and there are {}", plan.len)
    });
}

/// Judges a jump.
pub(super) fn check_jump(plan: &Plan<'_, '_>, instruction: &Instruction<'_>, out: &mut Findings) {
    let Some(jump) = instruction.jump() else { return };
    if !plan.has(jump.condition) {
        let path = [PathComponent::Field("cond_value_index")];
        plan.find_instruction(out, &JUMP_CONDITION_INDEX, instruction, &path, || {
            format!("value {} is asked for, and there are {}", jump.condition, plan.len)
        });
    }
    let (to, path) = (jump.destination, [PathComponent::Field("destination_instruction")]);
    if !jump.is_valid {
        plan.find_instruction(out, &JUMP_DESTINATION, instruction, &path, || {
            format!("a jump to instruction {to}, and there are {}", instruction.chain_len())
        });
    } else if jump.target == instruction.pc() {
        plan.find_instruction(out, &JUMP_TO_ITSELF, instruction, &path, || {
            format!("instruction {to} jumps to itself")
        });
    }
}
