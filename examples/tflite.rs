//! Declares a part of TensorFlow Lite's schema, proves a model and prints its tensors and operators.
//!
//! `cargo run -p pte-flat --example tflite -- tests/data/other/simple_add_model.tflite`
//!
//! Only the crate `pte-flat` is used, which reads any schema. Tables and fields have the names and the
//! slots of `tensorflow/compiler/mlir/lite/schema/schema.fbs`. What is not declared is skipped by
//! readers, as FlatBuffers have it for fields of newer writers.

use core::error::Error;
use core::fmt::Write;
use std::process::ExitCode;
use std::{env, fs};

use pte_flat::{Limits, read};

pub(crate) mod schema {
    pte_flat::schema! {
        root Model b"TFL3" "tflite" "tflite";

        enums:

        /// The dtype of a tensor.
        enum TensorType: i8 {
            FLOAT32 = 0, FLOAT16 = 1, INT32 = 2, UINT8 = 3, INT64 = 4, STRING = 5, BOOL = 6, INT16 = 7,
            COMPLEX64 = 8, INT8 = 9, FLOAT64 = 10,
        }

        unions:

        tables:

        /// A tensor.
        table Tensor {
            0 shape: [i32],
            1 type_: TensorType = TensorType::FLOAT32,
            /// An index of `Model.buffers`. The buffer is empty if the tensor is no constant.
            2 buffer: u32 = 0,
            3 name: &str,
        }

        /// An operator that calls name by index.
        table OperatorCode {
            /// A `BuiltinOperator` below 127.
            0 deprecated_builtin_code: i8 = 0,
            1 custom_code: &str,
            2 version: i32 = 1,
            /// A `BuiltinOperator` of schemas since 3a.
            3 builtin_code: i32 = 0,
        }

        /// A call of an operator.
        table Operator {
            0 opcode_index: u32 = 0,
            /// Indices of the tensors; -1 for an optional one that is not there.
            1 inputs: [i32],
            2 outputs: [i32],
        }

        /// A function.
        table SubGraph {
            0 tensors: [&Tensor],
            1 inputs: [i32],
            2 outputs: [i32],
            3 operators: [&Operator],
            4 name: &str,
        }

        /// Bytes of a constant.
        table Buffer {
            0 data: [u8],
        }

        /// The root.
        table Model {
            0 version: u32 = 0,
            1 operator_codes: [&OperatorCode],
            2 subgraphs: [&SubGraph],
            3 description: &str,
            4 buffers: [&Buffer],
        }
    }
}

fn main() -> ExitCode {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: tflite FILE");
        return ExitCode::from(2);
    };
    match fs::read(&path).map_err(Into::into).and_then(|bytes| print(&bytes)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the tensors and operators of a model as text, or why its structure is damaged.
pub(crate) fn print(bytes: &[u8]) -> Result<String, Box<dyn Error>> {
    // All tables are proven here: from now on a field is absent only where the schema allows it.
    let model: schema::view::Model<'_> = read(bytes, &Limits::default())
        .map_err(|error| format!("{error}, at {}", error.place()))?;
    let mut text = format!("version {}: {:?}\n", model.version(), model.description());
    for graph in model.subgraphs().into_iter().flatten() {
        for tensor in graph.tensors().into_iter().flatten() {
            let data = model.buffers().and_then(|buffers| buffers.get(index(tensor.buffer())));
            let constant = data.and_then(|buffer| buffer.data()).map_or(0, |data| data.len());
            writeln!(
                text,
                "  {:?} {:?} {:?}, {constant} bytes",
                tensor.name().unwrap_or_default(),
                tensor.type_(),
                tensor.shape()
            )?;
        }
        for operator in graph.operators().into_iter().flatten() {
            let codes = model.operator_codes();
            let code = codes.and_then(|codes| codes.get(index(operator.opcode_index())));
            let code =
                code.map(|code| code.builtin_code().max(code.deprecated_builtin_code().into()));
            writeln!(
                text,
                "  operator {code:?}: {:?} -> {:?}",
                operator.inputs(),
                operator.outputs()
            )?;
        }
    }
    Ok(text)
}

/// Returns an index of the file as one of a list. One that does not fit is past the end of any list.
fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
