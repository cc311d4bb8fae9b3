//! The walker alone, on the schema of another project: `examples/tflite.rs`.

use crate::support::files;

#[path = "../examples/tflite.rs"]
#[expect(dead_code, reason = "the test calls what the program's main function calls")]
mod tflite;

const MODEL: &str = "tests/data/other/simple_add_model.tflite";

/// The model adds two images of 8-bit integers. It is a test model of TensorFlow Lite Micro (Apache-2.0).
#[test]
fn a_model_of_tensorflow_lite_is_proven_and_printed() {
    let bytes = files::read(MODEL).unwrap();
    assert_eq!(
        tflite::print(&bytes).unwrap(),
        r#"version 3: Some("MLIR Converted.")
  "serving_default_input_1:0" INT8 Some([1, 128, 128, 1]), 0 bytes
  "serving_default_input_2:0" INT8 Some([1, 128, 128, 1]), 0 bytes
  "PartitionedCall:0" INT8 Some([1, 128, 128, 1]), 0 bytes
  operator Some(0): Some([0, 1]) -> Some([2])
"#
    );
}

#[test]
fn a_damaged_model_of_tensorflow_lite_is_refused_with_its_place() {
    let bytes = files::read(MODEL).unwrap();
    assert_eq!(
        tflite::print(&bytes[..500]).unwrap_err().to_string(),
        "the offset leads to 0x3b4, past the end of the FlatBuffer at 0x1f4, at 0x38, operator_codes"
    );
    let mut refused = 0;
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        refused += usize::from(tflite::print(&damaged).is_err());
    }
    assert!(refused > bytes.len() / 8, "{refused} of {}", bytes.len());
}
