//! Programs with one call of an XNNPACK graph.
//!
//! A graph is written as its values and one node. [`graph`] adds what every sound program has around
//! them: ids, constants of the needed size, scales, and a call with a tensor for each input and output.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::build;

/// The place of a value's data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Input,
    Output,
    Inner,
    Constant,
}
pub use Role::{Constant, Inner, Input, Output};

/// A value: its place, its datatype without the prefix, and its sizes.
pub type Tensor<'t> = (Role, &'t str, &'t [u64]);

/// The id of no value.
pub const NONE: u32 = u32::MAX;

/// Returns a program that calls a graph, as [`build::file`] takes it.
pub fn graph(tensors: &[Tensor<'_>], nodes: &[Value]) -> Value {
    let (mut values, mut args, mut offset, mut planned) = (Vec::new(), Vec::new(), 0, 0);
    // Enough for a graph and its scales.
    let mut room = 4096;
    let mut constants = vec![json!({})];
    for (id, &(role, datatype, dims)) in tensors.iter().enumerate() {
        let count_of = |roles: &[Role]| tensors.iter().filter(|t| roles.contains(&t.0)).count();
        let before = tensors[..id].iter().filter(|t| t.0 == role).count();
        let (flags, external) = match role {
            Input => (1, json!(before)),
            Output => (2, json!(count_of(&[Input]) + before)),
            Inner | Constant => (0, json!(NONE)),
        };
        let mut tensor = json!({
            "datatype": format!("xnn_datatype_{datatype}"), "num_dims": dims.len(), "dims": dims,
            "external_id": external, "flags": flags, "id_out": id,
        });
        if role == Constant {
            let size = bytes(datatype, dims);
            tensor["constant_buffer_idx"] = json!(constants.len());
            constants.push(json!({"offset": offset, "size": size}));
            offset += size;
        }
        values.push(match quantization(datatype, dims) {
            None => json!({"xvalue_union_type": "XNNTensorValue", "xvalue_union": tensor}),
            Some((kind, params)) => {
                let scales = params["scale"].as_array().map_or(0, Vec::len) as u64;
                room += 4 * (scales / 256 * 256);
                json!({"xvalue_union_type": "XNNQuantizedTensorValue", "xvalue_union": {
                    "tensor_value": tensor, "quant_params_type": kind, "quant_params": params,
                }})
            }
        });
    }
    for role in [Input, Output] {
        for &(_, datatype, dims) in tensors.iter().filter(|tensor| tensor.0 == role) {
            args.push(json!({"val_type": "Tensor", "val": {
                "scalar_type": dtype(datatype), "sizes": dims,
                "dim_order": (0..dims.len()).collect::<Vec<_>>(),
                "allocation_info": {"memory_id": 1, "memory_offset_low": planned},
            }}));
            planned += bytes(datatype, dims).next_multiple_of(16);
        }
    }
    let ids =
        |role| -> Vec<usize> { (0..tensors.len()).filter(|&id| tensors[id].0 == role).collect() };
    let inputs = ids(Input).len();
    let size = (room + offset).next_multiple_of(16);
    json!({
        "root": {
            "execution_plan": [{
                "name": "forward",
                "container_meta_type": {"encoded_inp_str": "", "encoded_out_str": ""},
                "values": args,
                "inputs": (0..inputs).collect::<Vec<_>>(),
                "outputs": (inputs..args.len()).collect::<Vec<_>>(),
                "chains": [{"inputs": [], "outputs": [], "instructions": [{
                    "instr_args_type": "DelegateCall",
                    "instr_args": {"delegate_index": 0, "args": (0..args.len()).collect::<Vec<_>>()},
                }]}],
                "operators": [],
                "delegates": [{
                    "id": "XnnpackBackend", "compile_specs": [],
                    "processed": {"location": "SEGMENT", "index": 0},
                }],
                "non_const_buffer_sizes": [0, planned],
            }],
            "constant_buffer": [],
            "constant_segment": {"segment_index": 0, "offsets": [0]},
            "backend_delegate_data": [],
            "segments": [{"offset": 0, "size": size}],
        },
        "data": [{"size": size, "constants": offset, "xnnpack": {
            "version": "0", "xvalues": values, "xnodes": nodes, "constant_data": constants,
            "num_externs": args.len(), "input_ids": ids(Input), "output_ids": ids(Output),
        }}],
    })
}

/// Returns a program with its payload inline, where the runtime does not free it.
pub fn inline(program: &Value) -> Value {
    let piece = &program["data"][0];
    let size = usize::try_from(piece["size"].as_u64().unwrap()).unwrap();
    let payload = build::payload(&piece["xnnpack"], piece["constants"].as_u64().unwrap(), size);
    let mut program = program.clone();
    program["root"]["backend_delegate_data"] = json!([{"data": payload}]);
    let plan = &mut program["root"]["execution_plan"][0];
    plan["delegates"][0]["processed"] = json!({"location": "INLINE", "index": 0});
    program["root"]["segments"] = json!([]);
    program["root"]["constant_segment"] = json!({"segment_index": 0, "offsets": [0]});
    program["data"] = json!([]);
    program
}

/// Returns the bytes that a constant needs. Rows of 4-bit elements have whole bytes.
fn bytes(datatype: &str, dims: &[u64]) -> u64 {
    let (last, rows) =
        dims.split_last().map_or((1, 1), |(last, rows)| (*last, rows.iter().product::<u64>()));
    rows * match datatype {
        "qcint4" | "qbint4" => last.div_ceil(2),
        "fp16" | "bf16" => 2 * last,
        "qint8" | "quint8" | "qcint8" | "qdint8" => last,
        _ => 4 * last,
    }
}

/// Returns the dtype of the argument for a value.
fn dtype(datatype: &str) -> &'static str {
    match datatype {
        "fp32" | "pfp32" => "FLOAT",
        "fp16" => "HALF",
        "bf16" => "BFLOAT16",
        "qint8" => "CHAR",
        "quint8" => "BYTE",
        "int32" => "INT",
        other => panic!("no argument is of {other}"),
    }
}

/// Returns the kind of quantization of a datatype, and its table.
fn quantization(datatype: &str, dims: &[u64]) -> Option<(&'static str, Value)> {
    Some(match datatype {
        "qint8" | "quint8" | "qint32" => ("PerTensorQuant", json!({"scale": 0.5})),
        "qcint8" | "qcint4" | "qcint32" => {
            ("PerChannelQuant", json!({"scale": vec![0.5; dims[0] as usize], "channel_dim": 0}))
        }
        "qbint4" => {
            let scales = vec![0.5; (dims[0] * dims[1] / 32) as usize];
            ("PerChannelGroupQuant", json!({"scale": scales, "channel_dim": 0, "group_size": 32}))
        }
        "qdint8" => ("PerTokenDynamicQuant", json!({"num_nonbatch_dims": 1})),
        _ => return None,
    })
}

/// Returns a node without a range for its output.
pub fn node(operator: &str, attributes: Value) -> Value {
    json!({"xnode_union_type": operator, "xnode_union": attributes})
}

/// Returns a program with changes, each `PLACE = JSON` or `-PLACE`, separated by semicolons.
///
/// A place begins with `g` (the graph), `v0` (a value's tensor), `q0` (its quantization), `u0` (its
/// XValue), `n0` (a node's operator), `x0` (its XNode), `a0` (an argument), `c0` (a constant),
/// `i0` (an instruction) or `p` (the method).
#[track_caller]
pub fn changed(program: &Value, changes: &str) -> Value {
    let mut program = program.clone();
    for change in changes.split(';').map(str::trim).filter(|change| !change.is_empty()) {
        let (place, value) = match change.strip_prefix('-') {
            Some(place) => (place, None),
            None => {
                let (place, value) = change.split_once(" = ").expect(change);
                (place, Some(serde_json::from_str(value).expect(change)))
            }
        };
        let pointer = pointer(&program, place.trim());
        let (parent, last) = pointer.rsplit_once('/').unwrap();
        let parent =
            program.pointer_mut(parent).unwrap_or_else(|| panic!("{change}: no {pointer}"));
        match (parent, value) {
            (Value::Array(list), Some(value)) => match last.parse::<usize>() {
                Ok(nth) if nth < list.len() => list[nth] = value,
                _ => list.push(value),
            },
            (Value::Array(list), None) => drop(list.remove(last.parse().unwrap())),
            (object, Some(value)) => object[last] = value,
            (object, None) => {
                assert!(object.as_object_mut().unwrap().remove(last).is_some(), "{change}");
            }
        }
    }
    program
}

fn pointer(program: &Value, place: &str) -> String {
    let (head, rest) = place.split_at(place.find('/').unwrap_or(place.len()));
    let graph = "/data/0/xnnpack";
    let plan = "/root/execution_plan/0";
    let (kind, nth) = head.split_at(1);
    let quantized = |nth: &str| {
        let kind = program.pointer(&format!("{graph}/xvalues/{nth}/xvalue_union_type"));
        kind.is_some_and(|kind| kind == "XNNQuantizedTensorValue")
    };
    let base = match kind {
        "g" => graph.into(),
        "p" => plan.into(),
        "v" if quantized(nth) => format!("{graph}/xvalues/{nth}/xvalue_union/tensor_value"),
        "v" => format!("{graph}/xvalues/{nth}/xvalue_union"),
        "q" => format!("{graph}/xvalues/{nth}/xvalue_union/quant_params"),
        "u" => format!("{graph}/xvalues/{nth}"),
        "n" => format!("{graph}/xnodes/{nth}/xnode_union"),
        "x" => format!("{graph}/xnodes/{nth}"),
        "a" => format!("{plan}/values/{nth}/val"),
        "c" => format!("{graph}/constant_data/{nth}"),
        "i" => format!("{plan}/chains/0/instructions/{nth}"),
        _ => panic!("{place}"),
    };
    base + rest
}

pub const BINARY: [&str; 7] =
    ["XNNAdd", "XNNSubtract", "XNNMultiply", "XNNDiv", "XNNMinimum", "XNNMaximum", "XNNPReLU"];
/// The operators of one input that integers have a kernel for.
pub const INTEGERS: [&str; 5] = ["XNNClamp", "XNNNegate", "XNNSquare", "XNNAbs", "XNNCopy"];
pub const UNARY: [&str; 18] = [
    "XNNSigmoid",
    "XNNClamp",
    "XNNFloor",
    "XNNSquareRoot",
    "XNNCeiling",
    "XNNHardswish",
    "XNNNegate",
    "XNNSquare",
    "XNNAbs",
    "XNNReciprocalSquareRoot",
    "XNNLog",
    "XNNGelu",
    "XNNTanh",
    "XNNExp",
    "XNNSin",
    "XNNCos",
    "XNNLeakyReLU",
    "XNNELU",
];
pub const OTHERS: [&str; 21] = [
    "XNNSoftmax",
    "XNNCopy",
    "XNNConvert",
    "XNNGlobalAvgPooling2d",
    "XNNStaticReshape",
    "XNNStaticTranspose",
    "XNNStaticSlice",
    "XNNStaticConstantPad",
    "XNNConcatenate2",
    "XNNConcatenate3",
    "XNNConcatenate4",
    "XNNConcatenate5",
    "XNNStaticResizeBilinear2D",
    "XNNAvgPooling2d",
    "XNNMaxPooling2d",
    "XNNArgMaxPooling2d",
    "XNNFullyConnected",
    "XNNConv2d",
    "XNNDepthwiseConv2d",
    "XNNConvTranspose2d",
    "XNNBatchMatrixMultiply",
];

/// Returns the operators that the backend has.
pub fn every() -> BTreeSet<&'static str> {
    BINARY.into_iter().chain(UNARY).chain(OTHERS).collect()
}

/// Returns a sound graph with one node.
pub fn sound(operator: &str) -> Value {
    let one = |from: &'static [u64], to: &'static [u64]| {
        vec![(Input, "fp32", from), (Output, "fp32", to)]
    };
    let two = |a: &'static [u64], b: &'static [u64], to: &'static [u64]| {
        vec![(Input, "fp32", a), (Input, "fp32", b), (Output, "fp32", to)]
    };
    let joined = |count: usize, to: &'static [u64]| {
        let mut values: Vec<Tensor<'_>> = vec![(Input, "fp32", &[2, 3]); count];
        values.push((Output, "fp32", to));
        let id = |nth| if nth < count { nth as u32 } else { NONE };
        (
            values,
            json!({"axis": 1, "input1_id": 0, "input2_id": 1, "input3_id": id(2), "input4_id": id(3),
                "input5_id": id(4), "output_id": count}),
        )
    };
    let layer = |filter: &'static [u64], from: &'static [u64], to: &'static [u64]| {
        let bias: &[u64] = if filter == [1, 3, 3, 4] { &[4] } else { &[5] };
        vec![
            (Input, "fp32", from),
            (Constant, "fp32", filter),
            (Constant, "fp32", bias),
            (Output, "fp32", to),
        ]
    };
    let convolution = |inputs: u32, outputs: u32, groups: u32| {
        json!({"kernel_height": 3, "kernel_width": 3, "subsampling_height": 1, "subsampling_width": 1,
            "dilation_height": 1, "dilation_width": 1, "group_input_channels": inputs,
            "group_output_channels": outputs, "groups": groups, "input1_id": 0, "filter_id": 1,
            "bias_id": 2, "output_id": 3})
    };
    let pooling = || {
        json!({"pooling_height": 2, "pooling_width": 2, "stride_height": 2, "stride_width": 2,
            "dilation_height": 1, "dilation_width": 1, "input_id": 0, "output_id": 1})
    };
    let ids = || json!({"input_id": 0, "output_id": 1});
    let (values, attributes): (Vec<Tensor<'_>>, Value) = match operator {
        "XNNBatchMatrixMultiply" => (
            two(&[2, 3, 4], &[2, 4, 5], &[2, 3, 5]),
            json!({"input1_id": 0, "input2_id": 1, "output_id": 2}),
        ),
        binary if BINARY.contains(&binary) => {
            (two(&[2, 3], &[3], &[2, 3]), json!({"input1_id": 0, "input2_id": 1, "output_id": 2}))
        }
        "XNNConvert" => {
            let sizes: &[u64] = &[2, 3];
            (vec![(Input, "fp32", sizes), (Output, "fp16", sizes)], ids())
        }
        "XNNGlobalAvgPooling2d" => (
            one(&[1, 4, 4, 3], &[1, 1, 1, 3]),
            json!({"input_id": 0, "output_id": 1, "flags": 0x40}),
        ),
        "XNNStaticReshape" => (
            one(&[2, 3], &[3, 2]),
            json!({"num_dims": 2, "new_shape": [3, 2], "input_id": 0, "output_id": 1}),
        ),
        "XNNStaticTranspose" => (
            one(&[2, 3], &[3, 2]),
            json!({"num_dims": 2, "perm": [1, 0], "input_id": 0, "output_id": 1}),
        ),
        "XNNStaticSlice" => (
            one(&[4, 6], &[2, 3]),
            json!({"num_dims": 2, "offsets": [1, 2], "sizes": [2, 3], "input_id": 0, "output_id": 1}),
        ),
        "XNNStaticConstantPad" => (
            one(&[2, 3], &[4, 6]),
            json!({"pre_paddings": [1, 1], "post_paddings": [1, 2], "input_id": 0, "output_id": 1}),
        ),
        "XNNConcatenate2" => joined(2, &[2, 6]),
        "XNNConcatenate3" => joined(3, &[2, 9]),
        "XNNConcatenate4" => joined(4, &[2, 12]),
        "XNNConcatenate5" => joined(5, &[2, 15]),
        "XNNStaticResizeBilinear2D" => (
            one(&[1, 2, 3, 4], &[1, 5, 6, 4]),
            json!({"new_height": 5, "new_width": 6, "input_id": 0, "output_id": 1}),
        ),
        "XNNAvgPooling2d" | "XNNMaxPooling2d" => (one(&[1, 4, 6, 3], &[1, 2, 3, 3]), pooling()),
        "XNNArgMaxPooling2d" => (
            vec![
                (Input, "fp32", &[1, 4, 6, 3]),
                (Output, "fp32", &[1, 2, 3, 3]),
                (Output, "int32", &[1, 2, 3, 3]),
            ],
            json!({"pooling_height": 2, "pooling_width": 2, "input_id": 0, "output_value_id": 1,
                "output_index_id": 2}),
        ),
        "XNNFullyConnected" => (
            layer(&[5, 4], &[2, 4], &[2, 5]),
            json!({"input1_id": 0, "filter_id": 1, "bias_id": 2, "output_id": 3}),
        ),
        "XNNConv2d" => (layer(&[5, 3, 3, 2], &[1, 6, 7, 2], &[1, 4, 5, 5]), convolution(2, 5, 1)),
        "XNNDepthwiseConv2d" => {
            (layer(&[1, 3, 3, 4], &[1, 6, 7, 2], &[1, 4, 5, 4]), convolution(1, 2, 2))
        }
        "XNNConvTranspose2d" => {
            (layer(&[5, 3, 3, 2], &[1, 6, 7, 2], &[1, 8, 9, 5]), convolution(2, 5, 1))
        }
        _ => (one(&[2, 3], &[2, 3]), ids()),
    };
    graph(&values, &[node(operator, attributes)])
}
