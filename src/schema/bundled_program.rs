//! The schema of a `.bpte`, a program with test inputs and the outputs that they should give:
//! `devtools/bundled_program/schema/bundled_program_schema.fbs`.

use crate::scalar::ScalarType;
use pte_flat::schema;

schema! {
    root BundledProgram b"BP08" "bpte" "bundled_program_flatbuffer";

    enums:

    unions:

    /// The kinds of values, in another order than those of a program.
    union ValueUnion {
        1 Tensor,
        2 Int,
        3 Bool,
        4 Double,
    }

    tables:

    table Int {
        0 int_val: i64 = 0,
    }

    table Bool {
        0 bool_val: bool = false,
    }

    table Double {
        0 double_val: f64 = 0.0,
    }

    /// A tensor with its data.
    table Tensor {
        0 scalar_type: ScalarType = ScalarType::BYTE,
        /// The size of each dimension, outermost first.
        1 sizes: [i32],
        2 data: [u8 align 16],
        3 dim_order: [u8],
    }

    table Value {
        0 val: @ValueUnion,
    }

    /// Inputs, and the outputs that they should give.
    table BundledMethodTestCase {
        0 inputs: [&Value],
        1 expected_outputs: [&Value],
    }

    /// The tests of a method.
    table BundledMethodTestSuite {
        0 method_name: &str,
        1 test_cases: [&BundledMethodTestCase],
    }

    /// The root table of a `.bpte`.
    table BundledProgram {
        /// The version of the format: 2.
        0 version: u32 = 0,
        1 method_test_suites: [&BundledMethodTestSuite],
        /// A whole `.pte` file.
        2 program: [u8 align 32],
    }
}
