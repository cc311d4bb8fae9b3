//! Prints the methods of a program, with the operators that each calls.
//!
//! `cargo run --example print_model --no-default-features --features std -- model.pte`

use core::error::Error;
use std::{env, fs};

use pte::Pte;
use pte::Sound;
use pte::sound::{Operation, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: print_model FILE")?;
    let bytes = fs::read(path)?;
    // From here on nothing can fail: the program has no Error, so that its accessors have no `Option`.
    let program = Pte::read(&bytes)?.sound()?;
    for method in program.methods() {
        println!("{}", method.name());
        for instruction in method.chains().flat_map(|chain| chain.instructions()) {
            let Operation::Kernel { operator, args } = instruction else { continue };
            let tensors = args.into_iter().filter(|arg| matches!(arg.value(), Value::Tensor(_)));
            println!("  {operator} with {} tensors", tensors.count());
        }
    }
    Ok(())
}
