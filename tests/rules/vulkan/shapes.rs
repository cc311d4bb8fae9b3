//! Shapes that follow from the arguments of operators of Vulkan. The shapes of the rows are those of PyTorch 2.15.

use serde_json::{Value, json};

use super::judged;

/// Calls of operators: the arguments in front of the output, and the shapes of the outputs. An object is a tensor with
/// these sizes, `{"s": n}` an integer that is computed when the graph runs.
fn rows() -> Vec<(&'static str, Value, Value)> {
    let t = |sizes: Value| json!({ "t": sizes });
    let image = t(json!([2, 8, 14, 15]));
    let convolution = |input: Value, weights: Value, rest: Value| {
        let mut args = vec![t(input), t(weights), Value::Null];
        args.extend(rest.as_array().unwrap().iter().cloned());
        Value::Array(args)
    };
    let conv2d = convolution(
        json!([2, 8, 14, 15]),
        json!([16, 8, 3, 3]),
        json!([[2, 2], [1, 1], [1, 1], false, [0, 0], 1]),
    );
    let packed = |rest: Value| {
        let mut args = json!([
            image,
            1.5,
            0,
            t(json!([16, 72])),
            t(json!([16])),
            t(json!([16])),
            1.5,
            0,
            null
        ]);
        args.as_array_mut().unwrap().extend(rest.as_array().unwrap().iter().cloned());
        args
    };
    vec![
        ("aten.relu.default", json!([t(json!([2, 3]))]), json!([2, 3])),
        ("aten.add.Tensor", json!([t(json!([2, 1, 3])), t(json!([4, 1])), 1]), json!([2, 4, 3])),
        (
            "et_vk.binary_add_with_clamp.default",
            json!([t(json!([2, 3])), null, null, null]),
            json!([2, 3]),
        ),
        (
            "aten.native_layer_norm.default",
            json!([t(json!([2, 3, 4])), [4], null, null, 1e-5]),
            json!([[2, 3, 4], [2, 3, 1], [2, 3, 1]]),
        ),
        ("aten.mm.default", json!([t(json!([2, 3])), t(json!([3, 4]))]), json!([2, 4])),
        ("aten.bmm.default", json!([t(json!([5, 2, 3])), t(json!([5, 3, 4]))]), json!([5, 2, 4])),
        ("aten.bmm.default", json!([t(json!([5, 2, 3])), t(json!([3, 4]))]), json!([5, 2, 4])),
        (
            "aten.addmm.default",
            json!([t(json!([4])), t(json!([2, 3])), t(json!([3, 4])), 1, 1]),
            json!([2, 4]),
        ),
        ("aten.linear.default", json!([t(json!([2, 3])), t(json!([4, 3])), null]), json!([2, 4])),
        (
            "aten.linear.default",
            json!([t(json!([5, 2, 3])), t(json!([4, 3])), null]),
            json!([5, 2, 4]),
        ),
        ("aten.view_copy.default", json!([t(json!([2, 3, 4])), [2, -1]]), json!([2, 12])),
        ("aten.full.default", json!([[2, 3], 1.5, null, null, null, null]), json!([2, 3])),
        ("aten.permute_copy.default", json!([t(json!([2, 3, 4])), [2, 0, -2]]), json!([4, 2, 3])),
        ("aten.transpose.int", json!([t(json!([2, 3, 4])), 0, -1]), json!([4, 3, 2])),
        ("aten.unsqueeze_copy.default", json!([t(json!([2, 3])), -1]), json!([2, 3, 1])),
        ("aten.unsqueeze_copy.default", json!([t(json!([2, 3])), 0]), json!([1, 2, 3])),
        ("aten.squeeze_copy.dims", json!([t(json!([1, 3, 1, 2])), [0, 1, -2]]), json!([3, 2])),
        ("aten.select_copy.int", json!([t(json!([2, 3, 4])), -2, -3]), json!([2, 4])),
        ("aten.slice_copy.Tensor", json!([t(json!([4, 9])), 1, 1, i64::MAX, 3]), json!([4, 3])),
        ("aten.slice_copy.Tensor", json!([t(json!([4, 9])), 1, -100, 100, 1]), json!([4, 9])),
        ("aten.slice_copy.Tensor", json!([t(json!([4, 9])), -1, -7, -2, 1]), json!([4, 5])),
        ("aten.slice_copy.Tensor", json!([t(json!([4, 9])), 0, null, 3, 1]), json!([3, 9])),
        ("aten.split.Tensor", json!([t(json!([2, 7])), 3, -1]), json!([[2, 3], [2, 3], [2, 1]])),
        (
            "aten.split_with_sizes_copy.default",
            json!([t(json!([7, 2])), [2, 5], 0]),
            json!([[2, 2], [5, 2]]),
        ),
        ("aten.cat.default", json!([[t(json!([2, 3])), t(json!([2, 4]))], -1]), json!([2, 7])),
        (
            "aten.expand_copy.default",
            json!([t(json!([3, 1])), [2, -1, 4], false]),
            json!([2, 3, 4]),
        ),
        ("aten.repeat.default", json!([t(json!([3, 2])), [4, 1, 5]]), json!([4, 3, 10])),
        (
            "aten.constant_pad_nd.default",
            json!([t(json!([2, 3, 4])), [1, 2, -1, 0], 0]),
            json!([2, 2, 7]),
        ),
        ("aten.unfold_copy.default", json!([t(json!([2, 9])), 1, 3, 2]), json!([2, 4, 3])),
        ("aten.mean.dim", json!([t(json!([2, 3, 4])), [0, -1], false, null]), json!([3])),
        ("aten.sum.dim_IntList", json!([t(json!([2, 3, 4])), [1], true, null]), json!([2, 1, 4])),
        ("aten.sum.dim_IntList", json!([t(json!([2, 3])), [], true, null]), json!([1, 1])),
        ("aten.var.dim", json!([t(json!([2, 3])), [1], true, false]), json!([2])),
        ("aten.argmax.default", json!([t(json!([2, 3])), -1, true]), json!([2, 1])),
        (
            "aten.embedding.default",
            json!([t(json!([10, 6])), t(json!([2, 3])), -1, false, false]),
            json!([2, 3, 6]),
        ),
        (
            "aten.gather.default",
            json!([t(json!([4, 5])), 1, t(json!([4, 2])), false]),
            json!([4, 2]),
        ),
        ("aten.index_select.default", json!([t(json!([4, 5])), 0, t(json!([7]))]), json!([7, 5])),
        ("aten.pixel_shuffle.default", json!([t(json!([2, 18, 4, 5])), 3]), json!([2, 2, 12, 15])),
        ("aten.convolution.default", conv2d.clone(), json!([2, 16, 7, 8])),
        (
            "et_vk.conv_with_clamp.default",
            [conv2d.as_array().unwrap().clone(), vec![Value::Null; 2]].concat().into(),
            json!([2, 16, 7, 8]),
        ),
        (
            "aten.convolution.default",
            convolution(
                json!([1, 8, 14, 15]),
                json!([8, 1, 3, 5]),
                json!([[1], [2, 0], [2, 1], false, [0], 8]),
            ),
            json!([1, 8, 14, 11]),
        ),
        (
            "aten.convolution.default",
            convolution(json!([1, 8, 30]), json!([4, 8, 3]), json!([[1], [0], [3], false, [0], 1])),
            json!([1, 4, 24]),
        ),
        (
            "aten.convolution.default",
            convolution(
                json!([1, 8, 14, 15]),
                json!([8, 3, 3, 3]),
                json!([[2, 2], [1, 1], [1, 1], true, [1, 0], 2]),
            ),
            json!([1, 6, 28, 29]),
        ),
        (
            "et_vk.q8ta_conv2d.default",
            packed(json!([[3, 3], [2, 2], [1, 1], [1, 1], 1, "none"])),
            json!([2, 16, 7, 8]),
        ),
        (
            "aten.avg_pool2d.default",
            json!([image, [3, 3], [2, 2], [1, 1], false, true, null]),
            json!([2, 8, 7, 8]),
        ),
        (
            "aten.avg_pool2d.default",
            json!([image, [3, 3], [], [0, 0], true, true, null]),
            json!([2, 8, 5, 5]),
        ),
        (
            "aten.max_pool2d_with_indices.default",
            json!([image, [2, 2], [2, 2], [0, 0], [1, 1], true]),
            json!([[2, 8, 7, 8], [2, 8, 7, 8]]),
        ),
        (
            "aten.max_pool2d.default",
            json!([image, [3, 3], [1, 1], [1, 1], [2, 2], false]),
            json!([2, 8, 12, 13]),
        ),
        // The last window ends where the image does. A list of one number is of both axes.
        (
            "aten.max_pool2d.default",
            json!([t(json!([1, 1, 5, 5])), [3, 3], [2], [0], [1], true]),
            json!([1, 1, 2, 2]),
        ),
        // The last window would begin behind the padding in front.
        (
            "aten.max_pool2d.default",
            json!([t(json!([1, 1, 5, 5])), [2, 2], [4, 4], [1, 1], [1, 1], true]),
            json!([1, 1, 2, 2]),
        ),
        ("aten.upsample_nearest2d.vec", json!([image, [20, 21], null]), json!([2, 8, 20, 21])),
        (
            "aten.grid_sampler_2d.default",
            json!([image, t(json!([2, 3, 4, 2])), 0, 1, true]),
            json!([2, 8, 3, 4]),
        ),
        (
            "aten._weight_int8pack_mm.default",
            json!([t(json!([2, 3])), t(json!([4, 3])), t(json!([4]))]),
            json!([2, 4]),
        ),
    ]
}

/// A graph that calls one operator. All tensors that the call reads are inputs.
#[derive(Default)]
struct One {
    values: Vec<Value>,
    inputs: Vec<usize>,
}

impl One {
    fn add(&mut self, kind: &str, value: Value) -> usize {
        self.values.push(json!({"value_type": kind, "value": value}));
        self.values.len() - 1
    }

    fn tensor(&mut self, dims: &Value) -> usize {
        let tensor = json!({"datatype": "FLOAT32", "dims": dims, "constant_id": -1, "mem_obj_id": -1,
            "storage_type": "BUFFER", "memory_layout": "DEFAULT_LAYOUT"});
        self.add("VkTensor", tensor)
    }

    /// Adds an argument, and returns its id.
    fn argument(&mut self, value: &Value) -> usize {
        match value {
            Value::Null => self.add("Null", json!({})),
            Value::Bool(flag) => self.add("Bool", json!({ "bool_val": flag })),
            Value::String(text) => self.add("String", json!({ "string_val": text })),
            Value::Number(number) if number.is_i64() => {
                self.add("Int", json!({ "int_val": number }))
            }
            Value::Number(number) => self.add("Double", json!({ "double_val": number })),
            Value::Object(fields) if fields.contains_key("s") => {
                self.add("SymInt", json!({ "value": fields["s"] }))
            }
            Value::Object(fields) => {
                let id = self.tensor(&fields["t"]);
                self.inputs.push(id);
                id
            }
            Value::Array(items) if items.iter().all(Value::is_i64) => {
                self.add("IntList", json!({ "items": items }))
            }
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| self.argument(item)).collect();
                self.add("ValueList", json!({ "items": items }))
            }
        }
    }

    /// Returns the messages of `vulkan-shape` about a call that writes outputs with these shapes.
    fn judged(name: &str, args: &Value, outputs: &Value) -> Vec<String> {
        let mut graph = Self::default();
        let mut ids: Vec<_> =
            args.as_array().unwrap().iter().map(|arg| graph.argument(arg)).collect();
        let listed = outputs.as_array().unwrap().iter().all(Value::is_array);
        let output = match outputs {
            Value::Array(outputs) if listed && !outputs.is_empty() => {
                let items: Vec<_> = outputs.iter().map(|dims| graph.tensor(dims)).collect();
                graph.add("ValueList", json!({ "items": items }))
            }
            dims => graph.tensor(dims),
        };
        ids.push(output);
        let found = judged(|payload| {
            payload["chain"] = json!([{"node_id": 0, "name": name, "args": ids}]);
            payload["values"] = json!(graph.values);
            payload["input_ids"] = json!(graph.inputs);
            payload["output_ids"] = json!([]);
        });
        // The call of the delegate is that of another graph.
        let found = found.into_iter().filter(|(rule, _)| rule != "vulkan-args");
        let messages = found.map(|(rule, message)| {
            assert_eq!(rule, "vulkan-shape", "{name} {args}: {message}");
            message
        });
        messages.collect()
    }
}

/// Each size of an output is the only one that fits.
#[test]
fn outputs_have_the_shapes_that_follow_from_the_arguments() {
    for (name, args, outputs) in rows() {
        assert_eq!(One::judged(name, &args, &outputs), [""; 0], "{name} {args}");
        let is_wrong = |outputs: Value| {
            let messages = One::judged(name, &args, &outputs);
            let [message] = &messages[..] else {
                panic!("{name} {args} gives {outputs}: {messages:?}")
            };
            assert!(message.contains(name) && message.contains("has the shape"), "{message}");
        };
        let listed = outputs[0].is_array();
        let first = if listed { outputs[0].clone() } else { outputs.clone() };
        let with = |first: Value| match listed {
            true => [vec![first], outputs.as_array().unwrap()[1..].to_vec()].concat().into(),
            false => first,
        };
        // How many channels a packed weight has is not compared.
        let compared = |axis: usize| match name {
            "et_vk.q8ta_conv2d.default" => axis != 1,
            "aten._weight_int8pack_mm.default" => axis == 0,
            _ => true,
        };
        let rank = first.as_array().unwrap().len();
        for axis in (0..rank).filter(|axis| compared(*axis)) {
            for other in [-1, 1] {
                let mut changed = first.clone();
                changed[axis] = json!(first[axis].as_i64().unwrap() + other);
                is_wrong(with(changed));
            }
        }
        let mut longer = first.clone();
        longer.as_array_mut().unwrap().push(json!(2));
        is_wrong(with(longer));
    }
}

/// A split has an output for each part, and its parts make the whole.
#[test]
fn splits_have_an_output_for_each_part() {
    let t = json!({"t": [2, 7]});
    for (args, outputs, part) in [
        (json!([t, 3, 1]), json!([[2, 3], [2, 3]]), "writes 2 outputs: expected 3"),
        (json!([t, 0, 1]), json!([[2, 7]]), "cannot split"),
        (json!([t, 3, 2]), json!([[2, 7]]), "cannot split"),
    ] {
        let messages = One::judged("aten.split.Tensor", &args, &outputs);
        assert!(messages.len() == 1 && messages[0].contains(part), "{messages:?}");
    }
    let name = "aten.split_with_sizes_copy.default";
    let messages = One::judged(name, &json!([t, [3, 3], 1]), &json!([[2, 3], [2, 3]]));
    assert!(messages.len() == 1 && messages[0].contains("cannot split"), "{messages:?}");
}

/// Arguments that fit no output at all.
#[test]
fn arguments_that_fit_no_output_are_found() {
    let t = |sizes: Value| json!({ "t": sizes });
    let pool = |pads: Value| json!([t(json!([1, 1, 2, 2])), [5, 5], [1, 1], pads, [1, 1], false]);
    for (name, args, output) in [
        ("aten.mm.default", json!([t(json!([2, 3])), t(json!([4, 3]))]), json!([2, 3])),
        ("aten.bmm.default", json!([t(json!([5, 2, 3])), t(json!([1, 3, 4]))]), json!([5, 2, 4])),
        ("aten.add.Tensor", json!([t(json!([2, 3])), t(json!([2])), 1]), json!([2, 3])),
        ("aten.where.self", json!([t(json!([2])), t(json!([3])), t(json!([1]))]), json!([3])),
        ("aten.cat.default", json!([[t(json!([2, 3])), t(json!([3, 3]))], 1]), json!([2, 6])),
        ("aten.cat.default", json!([[t(json!([2, 3])), t(json!([2]))], 0]), json!([4, 3])),
        ("aten.permute_copy.default", json!([t(json!([2, 2])), [0, 0]]), json!([2, 2])),
        ("aten.permute_copy.default", json!([t(json!([2, 2])), [0]]), json!([2, 2])),
        ("aten.select_copy.int", json!([t(json!([2, 3])), 0, 2]), json!([3])),
        ("aten.select_copy.int", json!([t(json!([2, 3])), 0, -3]), json!([3])),
        ("aten.slice_copy.Tensor", json!([t(json!([2, 3])), 0, 0, 2, 0]), json!([2, 3])),
        ("aten.slice_copy.Tensor", json!([t(json!([2, 3])), 2, 0, 2, 1]), json!([2, 3])),
        ("aten.expand_copy.default", json!([t(json!([2, 3])), [2, 6], false]), json!([2, 6])),
        ("aten.mean.dim", json!([t(json!([2, 3])), [2], false, null]), json!([2, 3])),
        (
            "aten.embedding.default",
            json!([t(json!([6])), t(json!([2])), -1, false, false]),
            json!([2, 6]),
        ),
        ("aten.pixel_shuffle.default", json!([t(json!([2, 7, 4, 4])), 2]), json!([2, 1, 8, 8])),
        ("aten.max_pool2d.default", pool(json!([1, 1])), json!([1, 1, 1, 1])),
        ("aten.view_copy.default", json!([t(json!([2, 3, 4])), [2, 12]]), json!([2, 12, 1])),
    ] {
        let messages = One::judged(name, &args, &output);
        let is_found = messages.len() == 1 && messages[0].contains("does not fit the arguments");
        assert!(is_found, "{name} {args}: {messages:?}");
    }
    assert_eq!(
        One::judged("aten.max_pool2d.default", &pool(json!([2, 2])), &json!([1, 1, 2, 2])),
        [""; 0]
    );
}

/// Integers that are computed when the graph runs may change a shape.
#[test]
fn shapes_of_computed_integers_are_not_compared() {
    let t = json!({"t": [2, 6]});
    for (name, args) in [
        ("aten.slice_copy.Tensor", json!([t, 1, 0, {"s": 3}, 1])),
        ("aten.view_copy.default", json!([t, [{"s": 2}, 3]])),
        ("aten.full.default", json!([[{"s": 2}, 3], 1.5, null, null, null, null])),
    ] {
        for output in [json!([2, 3]), json!([2, 4])] {
            assert_eq!(One::judged(name, &args, &output), [""; 0], "{name}");
        }
    }
}
