//! What is no call: the indices of moves, frees and jumps. What they do is judged in `flow`.

use alloc::format;

use super::{
    FREE_INDEX, JUMP_CONDITION_INDEX, JUMP_DESTINATION, JUMP_TO_ITSELF, MOVE_INDEX, MOVE_LIST,
    Pass, Spot,
};
use crate::check::Findings;
use crate::error::PathComponent;
use crate::flat::view::Table;
use crate::schema::program::tag;
use crate::schema::program::view::{FreeCall, JumpFalseCall, MoveCall};

impl<'a> Pass<'_, '_, 'a> {
    pub(super) fn moved(&self, spot: Spot<'a>, call: MoveCall<'a>, out: &mut Findings) {
        let (from, to) = (call.move_from(), call.move_to());
        for (index, field) in [(from, "move_from"), (to, "move_to")] {
            if !self.plan.has(index) {
                self.find(
                    out,
                    &MOVE_INDEX,
                    spot,
                    call.raw(),
                    &[PathComponent::Field(field)],
                    || format!("value {index} is asked for, and there are {}", self.plan.len),
                );
            }
        }
        let (Some(source), Some(target)) =
            (self.values.tag(from.into()), self.values.tag(to.into()))
        else {
            return;
        };
        let is_list = |tag| (tag::IntList..=tag::OptionalTensorList).contains(&tag);
        if is_list(source) || is_list(target) {
            self.find(out, &MOVE_LIST, spot, call.raw(), &[], || {
                format!("value {from} is moved onto value {to}, and one of them is a list")
            });
        }
    }

    pub(super) fn free(&self, spot: Spot<'a>, call: FreeCall<'a>, out: &mut Findings) {
        let index = call.value_index();
        if !self.plan.has(index) {
            let steps = [PathComponent::Field("value_index")];
            self.find(out, &FREE_INDEX, spot, call.raw(), &steps, || {
                format!("value {index} is freed, and there are {}", self.plan.len)
            });
        }
    }

    pub(super) fn jump(&self, spot: Spot<'a>, call: JumpFalseCall<'a>, out: &mut Findings) {
        let condition = call.cond_value_index();
        if !self.plan.has(condition) {
            let steps = [PathComponent::Field("cond_value_index")];
            self.find(out, &JUMP_CONDITION_INDEX, spot, call.raw(), &steps, || {
                format!("value {condition} is asked for, and there are {}", self.plan.len)
            });
        }
        let to = call.destination_instruction();
        let steps = [PathComponent::Field("destination_instruction")];
        match u32::try_from(to) {
            Ok(to) if to == spot.nth => {
                self.find(out, &JUMP_TO_ITSELF, spot, call.raw(), &steps, || {
                    format!("instruction {to} jumps to itself")
                })
            }
            Ok(to) if to <= spot.len => {}
            _ => self.find(out, &JUMP_DESTINATION, spot, call.raw(), &steps, || {
                format!("a jump to instruction {to}, and there are {}", spot.len)
            }),
        }
    }
}
