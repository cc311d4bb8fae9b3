//! Prints what a program needs of its surroundings: operators, backends, and data from `.ptd`s.
//!
//! `cargo run --example inventory -- tests/data/pte/xnn_gpt.pte`

#![allow(
    clippy::std_instead_of_core,
    reason = "an example reads like the code of those who use the library"
)]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;

use pte::Pte;
use pte::pte::{Storage, operator_name};
use pte::schema::program::view::KernelTypes;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or("tests/data/pte/linear.pte".into());
    let bytes = fs::read(&path)?;
    // A refusal names what is wrong; its place says where.
    let pte = Pte::read(&bytes).map_err(|error| format!("{error}\n  at {}", error.place()))?;

    let mut needs = BTreeSet::new();
    for plan in pte.program().execution_plan().into_iter().flatten() {
        for operator in plan.operators().into_iter().flatten() {
            needs.insert(format!("operator {}", operator_name(operator)));
        }
        for delegate in plan.delegates().into_iter().flatten() {
            needs.insert(format!("backend {}", delegate.id().unwrap_or_default()));
        }
        for value in plan.values().into_iter().flatten() {
            if let Some(KernelTypes::Tensor(tensor)) = value.val()
                && let Storage::External { key, .. } = pte.storage(tensor)?
            {
                needs.insert(format!("data {}", key.unwrap_or_default()));
            }
        }
    }
    println!("{path} needs");
    needs.iter().for_each(|need| println!("  {need}"));
    Ok(())
}
