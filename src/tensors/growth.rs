//! The cost of listing tensors, constants and requests: O(n log n) for every hostile file.

use alloc::format;
use alloc::vec::Vec;

use super::{ConstantRow, KeyRequest, TensorRow};
use crate::check::growth::hostile;
use crate::payload::PayloadContents;
use crate::{Handle, Limits, cost};

#[test]
#[expect(clippy::as_conversions, reason = "a test that goes wrong is meant to stop")]
fn no_list_takes_more_than_n_log_n_steps() {
    let (mut wrong, mut requested) = (Vec::new(), 0);
    for (name, make) in hostile() {
        let costs = [256, 512, 1024].map(|n| {
            let bytes = make(n);
            let opened = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
            let file = opened.file();
            cost::taken();
            let payloads = PayloadContents::all(&opened, &Limits::UNTRUSTED).unwrap();
            let rows = TensorRow::all(&file).count() + ConstantRow::all(&file, &payloads).len();
            let requests = KeyRequest::all(&opened, "", &Limits::UNTRUSTED).unwrap().len();
            requested += requests;
            let bytes = opened.region_len() as f64;
            (cost::taken() as f64 + (rows + requests) as f64, bytes)
        });
        for pair in costs.windows(2) {
            let [(few, less), (many, more)] = pair else { continue };
            let (growth, each) = ((many / few) / (more / less), many / (more * more.log2()));
            if each > MOST_STEPS || growth > MOST_GROWTH && each > FEW_STEPS {
                wrong.push(format!("{name}: {each:.2} steps, growing {growth:.2} times"));
            }
        }
    }
    assert!(requested > 90, "requests were found: {requested}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The maximum number of steps for each byte, divided by the binary logarithm of the size. The
/// slowest file takes 0.5.
const MOST_STEPS: f64 = 1.0;
/// The maximum growth of the steps, divided by the growth of the bytes, if the size doubles.
const MOST_GROWTH: f64 = 1.3;
/// The number of steps for each byte below which growth is ignored, since constant costs dominate.
const FEW_STEPS: f64 = 0.05;
