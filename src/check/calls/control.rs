//! What is no call: moves, frees and jumps.

use alloc::format;
use core::sync::atomic::Ordering;

use super::{
    FREE_INDEX, FREE_TYPE, JUMP_CONDITION_INDEX, JUMP_CONDITION_STORAGE, JUMP_CONDITION_TYPE,
    JUMP_DESTINATION, JUMP_TO_ITSELF, MOVE_INDEX, MOVE_LIST, Pass, Spot,
};
use crate::check::Findings;
use crate::error::Step;
use crate::flat::view::Table;
use crate::schema::program::tag;
use crate::schema::program::view::{FreeCall, JumpFalseCall, KernelTypes, MoveCall};
use crate::schema::scalar::ScalarType;

impl<'a> Pass<'_, '_, 'a> {
    pub(super) fn moved(&self, spot: Spot<'a>, call: MoveCall<'a>, out: &mut Findings) {
        self.moves.store(true, Ordering::Relaxed);
        let (from, to) = (call.move_from(), call.move_to());
        for (index, field) in [(from, "move_from"), (to, "move_to")] {
            if !self.plan.has(index) {
                self.find(out, &MOVE_INDEX, spot, call.raw(), &[Step::Field(field)], || {
                    format!("value {index} is asked for, and there are {}", self.plan.len)
                });
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
        self.moves.store(true, Ordering::Relaxed);
        let index = call.value_index();
        let steps = [Step::Field("value_index")];
        match self.values.tag(index.into()) {
            None => self.find(out, &FREE_INDEX, spot, call.raw(), &steps, || {
                format!("value {index} is freed, and there are {}", self.plan.len)
            }),
            Some(tag::Tensor) => {}
            Some(_) => self.find(out, &FREE_TYPE, spot, call.raw(), &steps, || {
                format!("value {index} is freed, and it is no tensor")
            }),
        }
    }

    pub(super) fn jump(&self, spot: Spot<'a>, call: JumpFalseCall<'a>, out: &mut Findings) {
        let condition = call.cond_value_index();
        let steps = [Step::Field("cond_value_index")];
        match self.values.tag(condition.into()) {
            None => self.find(out, &JUMP_CONDITION_INDEX, spot, call.raw(), &steps, || {
                format!("value {condition} is asked for, and there are {}", self.plan.len)
            }),
            Some(tag::Bool) => {}
            Some(tag::Tensor) if self.is_bool_tensor(condition) => {
                if self.storage.lacks(condition, spot.moment()) {
                    self.find(out, &JUMP_CONDITION_STORAGE, spot, call.raw(), &steps, || {
                        format!("value {condition} is a tensor without data")
                    });
                }
            }
            Some(_) => self.find(out, &JUMP_CONDITION_TYPE, spot, call.raw(), &steps, || {
                format!("value {condition} is no Bool, nor a tensor of them")
            }),
        }
        let to = call.destination_instruction();
        let steps = [Step::Field("destination_instruction")];
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

    fn is_bool_tensor(&self, index: i32) -> bool {
        match self.plan.value(index.into()) {
            Some(KernelTypes::Tensor(tensor)) => tensor.scalar_type() == ScalarType::BOOL,
            _ => false,
        }
    }
}
