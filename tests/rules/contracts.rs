//! The contracts of kernels: for each operator a call that keeps its contract, and calls that break
//! it in one argument. The official runtime (1.5.1) computes the former, or refuses their data. On
//! the latter it aborts, divides by zero, or accesses memory outside of its tensors.

use pte::Check;
use pte::Pte;
use pte::check::Severity;
use serde_json::{Value, json};

use crate::support::build;

mod rows;

use self::rows::{NUMBER, ROWS, SHAPE};

#[test]
fn a_call_that_keeps_its_contract_has_no_finding_and_one_that_does_not_has() {
    let mut judged = 0;
    for &(operators, good, variants) in ROWS {
        let good: Vec<_> = good.split_whitespace().collect();
        for operator in operators.split_whitespace() {
            assert_eq!(errors(&program(operator, &good)), [] as [&str; 0], "{operator} {good:?}");
            for &(nth, instead, rule) in variants {
                let mut bad = good.clone();
                bad[nth] = instead;
                assert_eq!(errors(&program(operator, &bad)), [rule], "{operator} {bad:?}");
                judged += 1;
            }
        }
    }
    assert!(judged > 300, "{judged}");
}

/// A few messages of each form.
#[test]
fn messages_of_contracts_have_the_numbers() {
    let scale = "quantized_decomposed::quantize_per_tensor.out";
    for (operator, args, message) in [
        (
            scale,
            "FLOAT[2] 0.5 0 -128 127 0 CHAR[2] .",
            "argument 5 is 0, and the dtype of argument 6, CHAR (1), is wanted",
        ),
        (
            scale,
            "FLOAT[2] 0.5 0 -128 128 1 CHAR[2] .",
            "argument 4 is 128, and at most the greatest value of the dtype of argument 6, 127, \
             is wanted",
        ),
        (
            "aten::bmm.out",
            "FLOAT[2,3] FLOAT[2,4,5] FLOAT[2,3,5] .",
            "the rank of argument 0 is 2, and 3 is wanted",
        ),
        (
            "aten::unbind_copy.int_out",
            "FLOAT[2,3] -3 {FLOAT[3];FLOAT[3]} .",
            "dimension -3 of argument 0, which has 2",
        ),
        (
            "aten::as_strided_copy.out",
            "FLOAT[2,3] (2,2) (3,1) 2 FLOAT[2,2] .",
            "elements 2 to 6 of a tensor of 6",
        ),
    ] {
        let args: Vec<_> = args.split(' ').collect();
        let bytes = build::file(&program(operator, &args).to_string());
        let report = Pte::read(&bytes).unwrap().check();
        let found: Vec<_> = report.findings().iter().map(|found| &*found.message).collect();
        assert_eq!(found, [format!("{operator}: {message}")]);
    }
}

/// A value that a move or a computation has replaced is judged as the new one.
#[test]
fn contracts_follow_values_that_a_move_or_a_result_replaces() {
    let bad = ["3", "0", "="];
    let file = program("executorch_prim::mod.int", &bad);
    assert_eq!(errors(&file), [NUMBER]);
    let before = |instruction: Value| {
        let mut file = file.clone();
        let plan = &mut file["root"]["execution_plan"][0];
        let values = plan["values"].as_array_mut().unwrap();
        values.push(json!({"val_type": "Int", "val": {"int_val": 7}}));
        let instructions = &mut plan["chains"][0]["instructions"];
        instructions.as_array_mut().unwrap().insert(0, instruction);
        errors(&file)
    };
    let moved = |from: i32, to: i32| {
        let args = json!({"move_from": from, "move_to": to});
        before(json!({"instr_args_type": "MoveCall", "instr_args": args}))
    };
    assert!(moved(3, 1).is_empty(), "another divisor");
    assert_eq!(moved(3, 0), [NUMBER], "another dividend, by the same divisor");
    let args = json!({"op_index": 0, "args": [3, 3, 1]});
    let computed = before(json!({"instr_args_type": "KernelCall", "instr_args": args}));
    assert_eq!(computed, [NUMBER], "a computed divisor of 0");
}

/// A dim order that is longer than the sizes is reported once. It is not read again for each call,
/// since it may be as long as the file.
#[test]
fn a_dim_order_that_is_too_long_has_no_strides() {
    let args = ["FLOAT[2,3]", "2", "1", "true", "true", "FLOAT[2,2]", "LONG[2,2]", "."];
    let mut file = program("aten::topk.values", &args);
    let tensor = &mut file["root"]["execution_plan"][0]["values"][0]["val"];
    tensor["dim_order"] = json!([1, 0]);
    assert_eq!(errors(&file), [SHAPE]);
    let tensor = &mut file["root"]["execution_plan"][0]["values"][0]["val"];
    tensor["dim_order"] = json!([1, 0, 0]);
    assert_eq!(errors(&file), ["tensor-dim-order-length"]);
}

/// A dynamic tensor has the sizes in the file until it may be resized. A delegate or an unknown
/// operator may resize it, also through a list.
#[test]
fn sizes_of_resizable_tensors_are_unknown() {
    let args = ["FLOAT[2,3,9]~", "FLOAT[2,4,5]", "FLOAT[2,3,5]", "."];
    let file = program("aten::bmm.out", &args);
    assert_eq!(errors(&file), [SHAPE]);
    let is_judged = |kind: &str, args: Value| {
        let mut file = file.clone();
        let plan = &mut file["root"]["execution_plan"][0];
        let list = json!({"val_type": "TensorList", "val": {"items": [1, 0]}});
        plan["values"].as_array_mut().unwrap().push(list);
        let unknown = json!({"name": "custom::op", "overload": "out"});
        plan["operators"].as_array_mut().unwrap().push(unknown);
        let instruction = json!({"instr_args_type": kind, "instr_args": args});
        let instructions = &mut plan["chains"][0]["instructions"];
        instructions.as_array_mut().unwrap().insert(0, instruction);
        errors(&file).contains(&SHAPE)
    };
    assert!(!is_judged("DelegateCall", json!({"delegate_index": 0, "args": [0]})));
    assert!(!is_judged("DelegateCall", json!({"delegate_index": 0, "args": [3]})));
    assert!(!is_judged("KernelCall", json!({"op_index": 1, "args": [0]})));
    assert!(!is_judged("KernelCall", json!({"op_index": 1, "args": [3, 3]})));
    // Moves are followed.
    assert!(is_judged("MoveCall", json!({"move_from": 0, "move_to": 1})));
    assert!(is_judged("MoveCall", json!({"move_from": 1, "move_to": 2})));
}

/// A copy has the sizes of its source. Sizes that only a later instruction changes are known in the first
/// run.
#[test]
fn sizes_of_copies_and_of_outputs_before_they_are_resized_are_known() {
    let args = ["FLOAT[2,3,9]~", "FLOAT[2,4,5]", "FLOAT[2,3,5]", "."];
    let file = program("aten::bmm.out", &args);
    let with = |sizes: Value, at: usize| {
        let mut file = file.clone();
        let plan = &mut file["root"]["execution_plan"][0];
        let values = plan["values"].as_array_mut().unwrap();
        let mut source = values[1].clone();
        source["val"]["sizes"] = sizes;
        values.extend([source, json!({"val_type": "Null", "val": {}})]);
        let clone = json!({"name": "aten::clone", "overload": "out"});
        plan["operators"].as_array_mut().unwrap().push(clone);
        let args = json!({"op_index": 1, "args": [3, 4, 0, 0]});
        let instruction = json!({"instr_args_type": "KernelCall", "instr_args": args});
        plan["chains"][0]["instructions"].as_array_mut().unwrap().insert(at, instruction);
        errors(&file).contains(&SHAPE)
    };
    assert!(!with(json!([2, 3, 4]), 0));
    assert!(with(json!([2, 3, 5]), 0));
    assert!(with(json!([2, 3, 4]), 1));
}

/// A view has the sizes of its list.
#[test]
fn sizes_of_views_are_known() {
    let args = ["FLOAT[2,3,9]~", "FLOAT[2,4,5]", "FLOAT[2,3,5]", "."];
    let mut file = program("aten::bmm.out", &args);
    let plan = &mut file["root"]["execution_plan"][0];
    let values = plan["values"].as_array_mut().unwrap();
    let mut base = values[0].clone();
    base["val"]["shape_dynamism"] = json!("STATIC");
    values.extend([base, json!({"val_type": "IntList", "val": {"items": [5, 6, 7]}})]);
    values.extend([2, 3, 9].map(|size| json!({"val_type": "Int", "val": {"int_val": size}})));
    let view = json!({"name": "executorch_prim::et_view", "overload": "default"});
    plan["operators"].as_array_mut().unwrap().push(view);
    let args = json!({"op_index": 1, "args": [3, 4, 0]});
    let instruction = json!({"instr_args_type": "KernelCall", "instr_args": args});
    plan["chains"][0]["instructions"].as_array_mut().unwrap().insert(0, instruction);
    assert!(errors(&file).contains(&SHAPE), "{:?}", errors(&file));
    file["root"]["execution_plan"][0]["values"][7]["val"]["int_val"] = json!(4);
    assert!(!errors(&file).contains(&SHAPE));
}

fn errors(file: &Value) -> Vec<&'static str> {
    let bytes = build::file(&file.to_string());
    let report = Pte::read(&bytes).unwrap().check();
    let found = report.findings().iter().map(|finding| finding.rule);
    found.filter(|rule| rule.severity == Severity::Error).map(|rule| rule.id).collect()
}

/// A program of one call.
fn program(operator: &str, args: &[&str]) -> Value {
    let base = crate::support::files::read_to_string("tests/rules/base/call.json").unwrap();
    let mut file: Value = serde_json::from_str(&base).unwrap();
    let plan = &mut file["root"]["execution_plan"][0];
    let mut values = Values::default();
    let mut indices: Vec<usize> = Vec::new();
    for arg in args {
        let index = if *arg == "." { *indices.last().unwrap() } else { values.add(arg) };
        indices.push(index);
    }
    plan["values"] = json!(values.list);
    plan["inputs"] = json!([]);
    plan["outputs"] = json!([]);
    plan["non_const_buffer_sizes"] = json!([0, values.bytes]);
    let (name, overload) = operator.split_once('.').unwrap_or((operator, ""));
    plan["operators"][0] = json!({"name": name, "overload": overload});
    let instructions = plan["chains"][0]["instructions"].as_array_mut().unwrap();
    instructions[0]["instr_args"]["args"] = json!(indices);
    for &index in &values.resized {
        let args = json!({"op_index": 1, "args": [index, index, index]});
        instructions.insert(0, json!({"instr_args_type": "KernelCall", "instr_args": args}));
    }
    if !values.resized.is_empty() {
        let operators = plan["operators"].as_array_mut().unwrap();
        operators.push(json!({"name": "aten::abs", "overload": "out"}));
    }
    file
}

/// The values of a program.
#[derive(Default)]
struct Values {
    list: Vec<Value>,
    bytes: u64,
    /// The values that an earlier call resizes.
    resized: Vec<usize>,
}

impl Values {
    /// Adds a value as [`Row`] has it, after those that it refers to; returns its index.
    fn add(&mut self, arg: &str) -> usize {
        let inside = |from: usize| &arg[from..arg.len() - 1];
        let (kind, val) = match arg.chars().next().unwrap() {
            '=' => ("Int", json!({})),
            '-' if arg == "-" => ("Null", json!({})),
            '\'' => ("String", json!({"string_val": inside(1)})),
            '(' => {
                let items = inside(1).split(',').filter(|item| !item.is_empty());
                let items: Vec<_> = items.map(|item| self.add(item)).collect();
                ("IntList", json!({"items": items}))
            }
            'b' => {
                let items: Vec<_> = inside(2).split(',').map(|item| item == "1").collect();
                ("BoolList", json!({"items": items}))
            }
            list @ ('{' | '<') => {
                let items = inside(1).split(';').map(|item| match item {
                    "_" => json!(-1),
                    _ => json!(self.add(item)),
                });
                let items: Vec<_> = items.collect();
                let kind = if list == '{' { "TensorList" } else { "OptionalTensorList" };
                (kind, json!({"items": items}))
            }
            _ if arg.contains('[') => ("Tensor", self.tensor(arg)),
            _ => match (arg.parse::<bool>(), arg.parse::<i64>()) {
                (Ok(flag), _) => ("Bool", json!({"bool_val": flag})),
                (_, Ok(int)) => ("Int", json!({"int_val": int})),
                _ if arg == "inf" => ("Double", json!({"double_val": "inf"})),
                _ => ("Double", json!({"double_val": arg.parse::<f64>().unwrap()})),
            },
        };
        self.list.push(json!({"val_type": kind, "val": val}));
        self.list.len() - 1
    }

    fn tensor(&mut self, arg: &str) -> Value {
        let (dtype, rest) = arg.split_once('[').unwrap();
        let (sizes, rest) = rest.split_once(']').unwrap();
        let sizes = sizes.split(',').filter(|size| !size.is_empty());
        let sizes: Vec<u64> = sizes.map(|size| size.parse().unwrap()).collect();
        let mut order: Vec<_> = (0..sizes.len()).collect();
        if rest.contains('r') {
            order.reverse();
        }
        let offset = self.bytes;
        // Each tensor has room for the widest dtype, and overlaps no other.
        self.bytes += (sizes.iter().product::<u64>() * 16).next_multiple_of(64);
        if rest.contains('^') {
            self.resized.push(self.list.len());
        }
        let dtype = dtype.parse::<i8>().map_or(json!(dtype), |code| json!(code));
        json!({
            "scalar_type": dtype,
            "sizes": sizes,
            "dim_order": order,
            "shape_dynamism": if rest.contains('~') { "DYNAMIC_BOUND" } else { "STATIC" },
            "allocation_info": {"memory_id": 1, "memory_offset_low": offset}
        })
    }
}
