//! The cost of listing tensors, constants and requests: O(n log n) for every hostile file.

use super::{GrowthLimits, MOST_GROWTH, SIZES};
use crate::support::hostile;
use pte::Handle;
use pte::Limits;
use pte::flat::cost;
use pte::payload::PayloadContents;
use pte::tensors::{ConstantRow, KeyRequest, TensorRow};

#[test]
fn no_list_takes_more_than_n_log_n_steps() {
    let (mut wrong, mut requested) = (Vec::new(), 0);
    for family in hostile::families() {
        let costs = SIZES.map(|n| {
            let bytes = family.make(n).0;
            let opened = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
            let file = opened.file();
            cost::taken();
            let payloads = PayloadContents::all(&opened, &Limits::UNTRUSTED).unwrap();
            let rows = TensorRow::all(&file).count() + ConstantRow::all(&file, &payloads).len();
            let requests = KeyRequest::all(&opened, "", &Limits::UNTRUSTED).unwrap().len();
            requested += requests;
            let bytes = opened.region_len() as f64;
            Some((cost::taken() as f64 + (rows + requests) as f64, bytes))
        });
        let limits = match family.name.contains("key of") {
            true => &LONG_KEYS,
            false => &LIMITS,
        };
        limits.compare(&family.name, &costs, &mut wrong);
    }
    assert!(requested > 50, "requests were found: {requested}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const LIMITS: GrowthLimits =
    GrowthLimits { most_steps: 1.0, most_growth: MOST_GROWTH, few_steps: 0.05 };

/// A long key that many entries share is looked up for each of them: 1.51 steps at most for each byte
/// and binary logarithm.
const LONG_KEYS: GrowthLimits =
    GrowthLimits { most_steps: 1.6, most_growth: MOST_GROWTH, few_steps: 0.05 };
