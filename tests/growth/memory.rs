//! Tests that liveness analysis and the sizes of pools cost O(n log n) for every hostile file.

use super::{GrowthLimits, MOST_GROWTH, SIZES};
use crate::support::hostile;
use pte::Limits;
use pte::Pte;
use pte::check::NEWEST;
use pte::flat::cost;
use pte::memory::{Memory, PointerWidth, Pools, Target};
use pte::payload::Scratch;

#[test]
fn no_file_takes_more_than_n_log_n_steps() {
    let (mut wrong, mut seen) = (Vec::new(), 0u64);
    let target = Target::new(NEWEST, PointerWidth::Bits32).unwrap();
    for family in hostile::families() {
        let costs = SIZES.map(|n| {
            let file = family.make(n).0;
            let Ok(pte) = Pte::read_with(&file, &Limits::UNTRUSTED) else { return None };
            cost::taken();
            for plan in pte.program().execution_plan().into_iter().flatten() {
                seen = seen.saturating_add(Memory::of(&pte, plan).instruction_count().into());
                let _ = Pools::of(&pte, plan, &Scratch::default(), target);
            }
            let bytes = pte.region().len() as f64;
            Some((cost::taken() as f64, bytes))
        });
        LIMITS.compare(&family.name, &costs, &mut wrong);
    }
    assert!(seen > 10_000, "instructions were replayed: {seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const LIMITS: GrowthLimits =
    GrowthLimits { most_steps: 5.0, most_growth: MOST_GROWTH, few_steps: 0.25 };
