//! Writes a program anew with the bits of its first float constant set to zero. All other bytes stay.
//!
//! `cargo run --example rewrite_weights --no-default-features --features std -- in.pte out.pte`

use core::error::Error;
use std::{env, fs};

use pte::Pte;
use pte::Sound;
use pte::Storage;
use pte::schema::program::view::KernelTypes;
use pte::schema::scalar::ScalarType;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = env::args().skip(1).collect();
    let [input, output] = args.as_slice() else {
        return Err("usage: rewrite_weights IN OUT".into());
    };
    let mut bytes = fs::read(input)?;
    let range = first_float_constant(&Pte::read(&bytes)?).ok_or("there is no float constant")?;
    let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
    let constant = bytes.get_mut(range).ok_or("the constant is not in the file")?;
    println!("{} bytes of weights are zero now", constant.len());
    constant.fill(0);
    // A segment of the same length: nothing else moves, and the result is judged before it is kept.
    Pte::read(&bytes)?.sound()?;
    fs::write(output, bytes)?;
    Ok(())
}

fn first_float_constant(pte: &Pte<'_>) -> Option<core::ops::Range<u64>> {
    let plans = pte.program().execution_plan().into_iter().flatten();
    plans.flat_map(|plan| plan.values().into_iter().flatten()).find_map(|value| {
        let Some(KernelTypes::Tensor(tensor)) = value.val() else { return None };
        match pte.storage(tensor) {
            Ok(Storage::Constant(range)) if tensor.scalar_type() == ScalarType::FLOAT => {
                Some(range)
            }
            _ => None,
        }
    })
}
