//! Calls of a graph: its arguments, their shapes, and payloads that several delegates have.

use serde_json::{Value, json};

use super::{found, hold, is_broken, judge, passes};
use crate::support::build;
use crate::support::xnnpack::{Constant, Input, Output, Tensor, changed, graph, node, sound};

/// The length in a header is not read by the backend.
#[test]
fn a_header_says_that_it_has_30_bytes() {
    let mut file = build::file(&sound("XNNSigmoid").to_string());
    assert_eq!(found(&file, None), []);
    let length = file.windows(4).position(|window| window == b"XH00").unwrap() + 4;
    file[length] = 29;
    is_broken(&found(&file, None), "xnnpack-unread", "the header says that it has 29 bytes", "29");
}

#[test]
fn arguments_are_tensors_of_the_graph_s_datatypes() {
    let wide = "allocation_info/memory_offset_low = 512; p/non_const_buffer_sizes = [0, 65536]";
    let dtypes = ["FLOAT", "HALF", "BFLOAT16", "INT", "CHAR", "BYTE", "LONG", "DOUBLE", "BOOL"];
    for (datatype, input, output) in [
        ("fp32", vec!["FLOAT"], vec!["FLOAT"]),
        ("fp16", vec!["HALF"], vec!["HALF"]),
        ("bf16", vec!["BFLOAT16"], vec!["BFLOAT16"]),
        ("int32", vec!["INT"], vec!["INT", "LONG"]),
        ("qint8", vec!["CHAR"], vec!["CHAR"]),
        ("quint8", vec!["BYTE"], vec!["BYTE"]),
    ] {
        let values: [Tensor<'_>; 2] = [(Input, datatype, &[2, 3]), (Output, datatype, &[2, 3])];
        let node = node("XNNAbs", json!({"input_id": 0, "output_id": 1}));
        let program = graph(&values, &[node]);
        for (arg, taken) in [(0, &input), (1, &output)] {
            for dtype in dtypes {
                let change = format!("a{arg}/scalar_type = \"{dtype}\"; a{arg}/{wide}");
                let program = changed(&program, &change);
                if taken.contains(&dtype) {
                    passes(&program, dtype);
                    continue;
                }
                // A part of the message: dtypes have the names of PyTorch in it.
                let found = judge(&program);
                let part = format!("and the graph's value of xnn_datatype_{datatype}");
                is_broken(&found, "xnnpack-args", &part, dtype);
            }
        }
    }
}

/// The sizes of an argument are compared in the order of its memory. The sizes of a value are
/// ignored.
#[test]
fn shapes_of_arguments_are_in_the_order_of_memory() {
    let large = "p/non_const_buffer_sizes = [0, 4096]; a1/allocation_info/memory_offset_low = 2048";
    hold(
        &changed(&sound("XNNSigmoid"), large),
        r#"
        v0/dims = [9, 9]; v1/dims = [7]; v1/num_dims = 1
        a0/sizes = [3, 2]; a0/dim_order = [1, 0]
        a0/sizes = [3, 2] => xnnpack-shape: the nodes compute [3, 2], and argument 1 is of [2, 3]
        a0/sizes = [2, 3]; a0/dim_order = [1, 0] => xnnpack-shape: compute [3, 2]
        a1/sizes = [2, 4] => xnnpack-shape: compute [2, 3], and argument 1 is of [2, 4]
        a1/sizes = [2, 4]; a1/shape_dynamism = "DYNAMIC_BOUND"
        a1/sizes = [3, 2]; a1/shape_dynamism = "DYNAMIC_BOUND"
        a1/sizes = [2, 2]; a1/shape_dynamism = "DYNAMIC_BOUND" => xnnpack-shape: and argument 1 is of [2, 2]
        a1/sizes = [1, 2, 3]; a1/dim_order = [0, 1, 2]; a1/shape_dynamism = "DYNAMIC_BOUND";
            => xnnpack-shape: and argument 1 is of [1, 2, 3]
    "#,
    );
}

/// Appends a second call, with arguments of a list, to a method with two more tensors.
fn called_twice(program: &Value, args: &Value, sizes: [&Value; 2]) -> Value {
    let mut program = program.clone();
    let plan = &mut program["root"]["execution_plan"][0];
    for (nth, sizes) in sizes.into_iter().enumerate() {
        let mut tensor = plan["values"][0].clone();
        tensor["val"]["sizes"] = sizes.clone();
        let rank = sizes.as_array().unwrap().len();
        tensor["val"]["dim_order"] = json!((0..rank).collect::<Vec<_>>());
        tensor["val"]["allocation_info"]["memory_offset_low"] = json!(1024 * (nth + 1));
        plan["values"].as_array_mut().unwrap().push(tensor);
    }
    plan["inputs"] = json!([0, 2]);
    plan["non_const_buffer_sizes"] = json!([0, 4096]);
    let mut call = plan["chains"][0]["instructions"][0].clone();
    call["instr_args"]["args"] = args.clone();
    plan["chains"][0]["instructions"].as_array_mut().unwrap().push(call);
    program
}

#[test]
fn each_call_of_a_delegate_is_judged() {
    let program = sound("XNNSigmoid");
    let twice = |args: Value, sizes: [Value; 2]| {
        judge(&called_twice(&program, &args, [&sizes[0], &sizes[1]]))
    };
    let same = || json!([2, 3]);
    assert_eq!(twice(json!([0, 1]), [same(), same()]), []);
    assert_eq!(twice(json!([2, 3]), [same(), same()]), []);
    assert_eq!(twice(json!([2, 3]), [json!([5]), json!([5])]), []);
    let found = twice(json!([2, 3]), [json!([3, 3]), same()]);
    is_broken(&found, "xnnpack-shape", "the nodes compute [3, 3]", "another shape");
    assert_eq!(found.len(), 1, "{found:?}");
    let found = twice(json!([2]), [same(), same()]);
    is_broken(&found, "xnnpack-args", "the graph uses argument 1, and there are 1", "too few");
    assert_eq!(found.len(), 1, "{found:?}");
    // The same sizes one after the other, of other ranks.
    let found = twice(json!([2, 3]), [json!([2]), json!([3, 2, 3])]);
    is_broken(&found, "xnnpack-shape", "the nodes compute [2]", "other ranks");
    // The same sizes, which are the greatest ones of the first call only.
    let bound = changed(&program, "a1/sizes = [2, 4]; a1/shape_dynamism = \"DYNAMIC_BOUND\"");
    let found = judge(&called_twice(&bound, &json!([2, 3]), [&json!([2, 3]), &json!([2, 4])]));
    is_broken(&found, "xnnpack-shape", "argument 1 is of [2, 4]", "a static output");
}

/// Two methods whose delegates have one payload: its graph is reported once, its calls are judged apart.
#[test]
fn a_payload_of_two_methods_is_judged_by_the_calls_of_both() {
    let two = |change: &dyn Fn(&mut Value)| {
        let mut program = sound("XNNSigmoid");
        let plans = program["root"]["execution_plan"].as_array_mut().unwrap();
        let mut second = plans[0].clone();
        second["name"] = json!("second");
        plans.push(second);
        change(&mut program);
        judge(&program)
    };
    assert_eq!(two(&|_| {}), []);
    let found = two(&|program| {
        program["root"]["execution_plan"][1]["values"][0]["val"]["sizes"] = json!([1, 6]);
    });
    is_broken(&found, "xnnpack-shape", "the nodes compute [1, 6]", "the second method");
    assert_eq!(found.len(), 1, "{found:?}");
    let found = two(&|program| {
        for plan in 0..2 {
            program["root"]["execution_plan"][plan]["values"][0]["val"]["sizes"] = json!([1, 6]);
        }
    });
    assert_eq!(found.len(), 2, "{found:?}");
    let found = two(&|program| {
        program["data"][0]["xnnpack"]["xvalues"][1]["xvalue_union"]["external_id"] = json!(7);
    });
    assert_eq!(found.len(), 1, "{found:?}");
    is_broken(&found, "xnnpack-external", "external_id 7", "the graph");
}

/// Sizes that are small by themselves, and too large when nodes multiply them.
#[test]
fn shapes_that_nodes_compute_do_not_overflow() {
    let values: [Tensor<'_>; 3] =
        [(Input, "fp32", &[1, 2]), (Constant, "fp32", &[2, 1]), (Output, "fp32", &[2, 2])];
    let ids = json!({"input1_id": 0, "input2_id": 1, "output_id": 2});
    passes(&crate::support::xnnpack::inline(&graph(&values, &[node("XNNAdd", ids)])), "small");
}
