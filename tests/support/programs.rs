//! Programs that tests of the library and of the command share.

use std::fmt::Write;

use crate::asm::Asm;
use crate::build;

/// The length of the segment of [`one_segment_listed_often`] and [`overlapping_constants`].
pub const DATA: usize = 500_000;

/// A program whose segments share one table, and so the same 500 kB.
pub fn one_segment_listed_often(count: u32) -> Vec<u8> {
    let asm = Asm::new().link("program").bytes(b"ET12").extended_header(32);
    let asm = asm.table("program", 8, &[0, 0, 0, 0, 4]).link("segments");
    let asm = (0..count).fold(asm.vector("segments", 4, count), |asm, _| asm.u32_to("segment*"));
    let asm = asm.table("segment", 16, &[0, 8]).zeros(4).u64(DATA as u64);
    asm.segments(&vec![7; DATA]).finish()
}

/// Returns a program whose constants begin at the offsets that `begin` returns, and all end with
/// their segment.
pub fn overlapping_constants(count: usize, begin: impl Fn(usize) -> usize) -> Vec<u8> {
    let (mut values, mut offsets) = (String::new(), "0".to_string());
    for nth in 0..count {
        let comma = if nth > 0 { "," } else { "" };
        let (place, at) = (nth + 1, begin(nth));
        write!(
            values,
            r#"{comma}{{"val_type": "Tensor", "val": {{"scalar_type": "BYTE", "sizes": [{}],
                "dim_order": [0], "data_buffer_idx": {place}}}}}"#,
            DATA - at
        )
        .unwrap();
        write!(offsets, ",{at}").unwrap();
    }
    build::file(&format!(
        r#"{{"data": [{{"zeros": {DATA}}}], "root": {{"segments": [{{"size": {DATA}}}],
            "constant_segment": {{"offsets": [{offsets}]}},
            "execution_plan": [{{"name": "forward", "values": [{values}]}}]}}}}"#
    ))
}

/// A program with a stack trace.
pub fn traced() -> Vec<u8> {
    build::file(
        r#"{"root": {"segments": [], "execution_plan": [{"name": "forward", "values": [],
            "inputs": [], "outputs": [], "operators": [], "delegates": [],
            "non_const_buffer_sizes": [0],
            "chains": [{"inputs": [], "outputs": [], "instructions": [], "stacktrace": [
                {"items": [{"filename": "model.py", "lineno": 7, "name": "forward",
                    "context": "return x + 1"}]},
                {"items": []}
            ]}]
        }]}}"#,
    )
}
