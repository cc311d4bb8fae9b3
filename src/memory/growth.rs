//! Tests that liveness analysis costs O(n log n) for every hostile file.

use alloc::format;
use alloc::vec::Vec;

use super::Memory;
use crate::check::growth::hostile;
use crate::{Limits, Pte, cost};

#[test]
#[expect(clippy::as_conversions, reason = "a test that goes wrong is meant to stop")]
fn no_file_takes_more_than_n_log_n_steps() {
    let (mut wrong, mut seen) = (Vec::new(), 0u64);
    for (name, make) in hostile() {
        let costs = [256, 512, 1024, 2048].map(|n| {
            let file = make(n);
            let Ok(pte) = Pte::read_with(&file, &Limits::UNTRUSTED) else { return None };
            cost::taken();
            for plan in pte.program().execution_plan().into_iter().flatten() {
                seen = seen.saturating_add(Memory::of(&pte, plan).instruction_count().into());
            }
            let bytes = pte.region().len() as f64;
            Some((cost::taken() as f64, bytes, bytes * bytes.log2()))
        });
        for pair in costs.windows(2) {
            let [Some((few, less, _)), Some((many, more, most))] = pair else { continue };
            let growth = (many / few) / (more / less);
            let each = many / most;
            // A small total is dominated by the constant cost of a method.
            if each > MOST_STEPS || growth > MOST_GROWTH && each > FEW_STEPS {
                wrong.push(format!("{name}: {each:.2} steps, growing {growth:.2} times"));
            }
        }
    }
    assert!(seen > 10_000, "instructions were replayed: {seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The limits, as for the rules: the growth of the cost relative to the growth of the size, and the
/// cost divided by n log n for n bytes. Below `FEW_STEPS`, any growth is allowed.
const MOST_GROWTH: f64 = 1.3;
const MOST_STEPS: f64 = 5.0;
const FEW_STEPS: f64 = 0.25;
