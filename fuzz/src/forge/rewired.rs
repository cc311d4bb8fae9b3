//! Genuine programs whose instructions are wired in another way: other operands and ends, moves, frees and jumps in
//! between, tensors and numbers of another kind.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

use pte::check::Checker;
use pte::model::PteModel;
use pte::schema::program::TensorShapeDynamism;
use pte::schema::program::model::{
    self, ExecutionPlan, Instruction, InstructionArguments, KernelTypes,
};
use pte::schema::scalar::ScalarType;
use pte::{File, Limits};

use crate::mutate::Xorshift;
use crate::replay;

/// The most changes of one program.
const MOST_CHANGES: usize = 3;

/// The largest program that is changed.
const MOST_BYTES: usize = 1 << 18;

static PROGRAMS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();

/// Sets the folder of programs that are changed, in place of `tests/data/pte`.
///
/// # Errors
///
/// The folder cannot be read.
pub fn set_programs(folder: &Path) -> io::Result<()> {
    let programs = programs(folder)?;
    PROGRAMS.get_or_init(|| programs);
    Ok(())
}

fn programs(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut files: Vec<PathBuf> = replay::paths(folder)?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "pte"));
    let all: io::Result<Vec<_>> = files.into_iter().map(fs::read).collect();
    Ok(all?.into_iter().filter(|bytes| bytes.len() <= MOST_BYTES && runs(bytes)).collect())
}

/// Returns whether a program has instructions, and all data that they need. The runtime crashes on a payload of XNNPACK
/// without its data (docs/divergences.md).
fn runs(bytes: &[u8]) -> bool {
    let Ok(File::Pte(pte)) = File::read_with(bytes, &Limits::UNTRUSTED) else { return false };
    if !Checker::new().check_bytes(bytes).is_ok_and(|report| report.missing().is_empty()) {
        return false;
    }
    let plans = pte.program().execution_plan().into_iter().flatten();
    plans.into_iter().any(|plan| pte::method::instructions(plan).next().is_some())
}

/// Returns a changed program.
pub(super) fn file(random: &mut Xorshift) -> Option<Vec<u8>> {
    let own = || programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/pte"));
    let programs = PROGRAMS.get_or_init(|| own().unwrap_or_default());
    let bytes = programs.get(random.below(programs.len()))?;
    let Ok(File::Pte(pte)) = File::read_with(&bytes[..], &Limits::UNTRUSTED) else { return None };
    let mut model: PteModel<'_> = pte.to_model().ok()?;
    let plans = model.root.execution_plan.as_mut()?;
    let nth = random.below(plans.len());
    let plan = plans.get_mut(nth)?;
    for _ in 0..=random.below(MOST_CHANGES) {
        change(plan, random)?;
    }
    super::image(&model)
}

fn change(plan: &mut ExecutionPlan, random: &mut Xorshift) -> Option<()> {
    let values = plan.values.as_mut()?;
    let chains = plan.chains.as_mut()?;
    let chain = random.below(chains.len());
    let instructions = chains.get_mut(chain)?.instructions.as_mut()?;
    let len = instructions.len();
    if len == 0 {
        return None;
    }
    let at = random.below(len);
    match random.below(16) {
        0..=4 => {
            // An operand is another value, most often one of the same kind.
            let args = match instructions.get_mut(at)?.instr_args.as_mut()? {
                InstructionArguments::KernelCall(call) => call.args.as_mut()?,
                InstructionArguments::DelegateCall(call) => call.args.as_mut()?,
                InstructionArguments::MoveCall(call) => {
                    call.move_from = any(values, random);
                    return Some(());
                }
                InstructionArguments::FreeCall(call) => {
                    call.value_index = any(values, random);
                    return Some(());
                }
                InstructionArguments::JumpFalseCall(call) => {
                    call.destination_instruction = i32::try_from(random.below(len + 1)).ok()?;
                    return Some(());
                }
                InstructionArguments::Unknown(_) => return None,
            };
            // The last argument is the place of the result.
            let nth = if random.below(3) == 0 {
                args.len().checked_sub(1)?
            } else {
                random.below(args.len())
            };
            let arg = args.get_mut(nth)?;
            *arg = like(values, *arg, random);
        }
        5..=7 => {
            let from = any(values, random);
            let to = if random.below(3) == 0 {
                *pick(plan.outputs.as_deref()?, random)?
            } else {
                like(values, from, random)
            };
            let call = model::MoveCall { move_from: from, move_to: to };
            insert(instructions, at, InstructionArguments::MoveCall(call));
        }
        8 => {
            let call = model::FreeCall { value_index: any(values, random) };
            insert(instructions, at, InstructionArguments::FreeCall(call));
        }
        9 | 10 => {
            let call = model::JumpFalseCall {
                cond_value_index: any(values, random),
                destination_instruction: i32::try_from(random.below(len + 2)).ok()?,
            };
            insert(instructions, at, InstructionArguments::JumpFalseCall(call));
        }
        11 => {
            let other = random.below(len);
            match random.below(3) {
                0 => instructions.swap(at, other),
                1 => drop(instructions.remove(at)),
                _ => {
                    let copy = instructions.get(at)?.clone();
                    instructions.insert(other, copy);
                }
            }
        }
        12 => {
            let nth = random.below(values.len());
            match values.get_mut(nth)?.val.as_mut()? {
                KernelTypes::Tensor(tensor) => match random.below(4) {
                    0 => {
                        tensor.scalar_type = *pick(
                            &[
                                ScalarType::INT,
                                ScalarType::LONG,
                                ScalarType::FLOAT,
                                ScalarType::BOOL,
                            ],
                            random,
                        )?
                    }
                    1 => tensor.allocation_info = None,
                    2 => tensor.shape_dynamism = TensorShapeDynamism::DYNAMIC_BOUND,
                    _ => {
                        let sizes = tensor.sizes.as_mut()?;
                        let nth = random.below(sizes.len());
                        *sizes.get_mut(nth)? = i32::try_from(random.below(9)).ok()?;
                    }
                },
                KernelTypes::Int(int) => int.int_val = *pick(&[-1, 0, 1, 2, 7, 1 << 31], random)?,
                KernelTypes::Bool(bool) => bool.bool_val = !bool.bool_val,
                _ => {}
            }
        }
        13 => {
            let from = random.below(values.len());
            let copy = values.get(from)?.clone();
            let to = random.below(values.len());
            *values.get_mut(to)? = copy;
        }
        _ => {
            let other = any(values, random);
            let ends =
                if random.below(3) == 0 { plan.inputs.as_mut()? } else { plan.outputs.as_mut()? };
            let nth = random.below(ends.len());
            *ends.get_mut(nth)? = other;
        }
    }
    Some(())
}

fn insert(instructions: &mut Vec<Instruction>, at: usize, call: InstructionArguments) {
    for instruction in instructions.iter_mut() {
        if let Some(InstructionArguments::JumpFalseCall(jump)) = &mut instruction.instr_args
            && usize::try_from(jump.destination_instruction).is_ok_and(|to| to > at)
        {
            jump.destination_instruction += 1;
        }
    }
    instructions.insert(at, Instruction { instr_args: Some(call) });
}

fn pick<'v, T>(all: &'v [T], random: &mut Xorshift) -> Option<&'v T> {
    all.get(random.below(all.len()))
}

fn any(values: &[model::EValue], random: &mut Xorshift) -> i32 {
    i32::try_from(random.below(values.len())).unwrap_or_default()
}

/// Returns a value of the same kind in five of six cases, and any in the others.
fn like(values: &[model::EValue], value: i32, random: &mut Xorshift) -> i32 {
    let kind = |value: &model::EValue| value.val.as_ref().map(core::mem::discriminant);
    let wanted = usize::try_from(value).ok().and_then(|value| values.get(value)).and_then(kind);
    let same: Vec<usize> = (0..values.len()).filter(|&nth| kind(&values[nth]) == wanted).collect();
    match pick(&same, random) {
        Some(&nth) if random.below(6) > 0 => i32::try_from(nth).unwrap_or_default(),
        _ => any(values, random),
    }
}
