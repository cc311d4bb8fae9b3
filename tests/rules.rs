//! Rules on meaning, each on a genuine file with one change in its JSON.

use pte::Check;
use pte::check::{Checker, Report};
use pte::schema::program::view::KernelTypes;
use pte::{Arena, Storage};
use pte::{File, Handle, Limits, Ptd, Pte};
use serde_json::{Value, json};

use crate::support::build;
use crate::support::fixture::Fixture;
use crate::support::json::dump;

mod constants;
mod contracts;
mod coreml;
mod dataflow;
mod ethosu;
mod fixtures;
mod mlx;
mod native;
mod openvino;
mod qnn;
mod releases;
mod segments;
mod sound;
mod tosa;
mod vulkan;
pub(crate) mod xnnpack;

/// Returns the program `file` with a change, and without its segments: no constant resolves.
fn changed(file: &str, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let bytes = crate::support::files::read(format!("tests/data/pte/{file}")).unwrap();
    let mut root: Value = serde_json::from_str(&dump(&bytes)).unwrap();
    change(&mut root);
    build::file(&json!({ "kind": "pte", "root": root }).to_string())
}

fn errors(report: &Report) -> Vec<&'static str> {
    let found = report.findings().iter().map(|finding| finding.rule);
    found.filter(|rule| rule.severity == pte::check::Severity::Error).map(|rule| rule.id).collect()
}

/// Judges a program with data files, all of them in memory.
fn with_data(pte: &Pte<'_>, data: &[Ptd<'_>]) -> Report {
    Checker::new().data(data).check_tables(&File::Pte(pte.clone()))
}

/// add.pte: one call of aten::add.out with `[0, 1, 3, 2, 2]`.
#[test]
fn calls_have_the_arguments_that_the_operator_takes() {
    let judged = |args: Value| {
        let bytes = changed("add.pte", |root| {
            let chain = &mut root["execution_plan"][0]["chains"][0];
            chain["instructions"][0]["instr_args"]["args"] = args;
        });
        errors(&Pte::read(&bytes).unwrap().check())
    };
    assert!(judged(json!([0, 1, 3, 2, 2])).is_empty());
    assert_eq!(judged(json!([0, 1, 3, 2])), ["args-count"]);
    assert_eq!(judged(json!([0, 1, 3, 2, 2, 2])), ["args-count"]);
    assert_eq!(judged(json!([0, 3, 3, 2, 2])), ["args-type"], "an Int for a Tensor");
    assert_eq!(judged(json!([0, 1, 1, 2, 2])), ["args-type"], "a Tensor for a Scalar");
    assert_eq!(judged(json!([0, 4, 3, 2, 2])), ["args-index"]);
}

/// Exporters write Null for an input that is an Int with a dynamic dimension. The official runtime refuses every
/// Int for it, and does not abort.
#[test]
fn a_null_input_that_is_used_as_a_number_is_said_to_be_refused() {
    let bytes = changed("add.pte", |root| {
        let plan = &mut root["execution_plan"][0];
        plan["values"][3] = json!({"val_type": "Null", "val": {}});
        plan["inputs"] = json!([0, 1, 3]);
    });
    let report = Pte::read(&bytes).unwrap().check();
    assert_eq!(errors(&report), ["args-type"]);
    let found = report.findings().iter().find(|found| found.rule.id == "args-type").unwrap();
    assert!(found.message.contains("the runtime refuses to set it"), "{}", found.message);
}

/// Few arguments are checked at once, many one by one.
#[test]
fn every_argument_of_a_long_call_is_the_index_of_a_value() {
    let judged = |args: &[i32]| {
        let bytes = changed("add.pte", |root| {
            let plan = &mut root["execution_plan"][0];
            plan["operators"][0]["name"] = json!("my::add");
            plan["chains"][0]["instructions"][0]["instr_args"]["args"] = json!(args);
        });
        errors(&Pte::read(&bytes).unwrap().check())
    };
    for len in [1, 2, 15, 16, 17, 40] {
        assert!(judged(&vec![3; len]).is_empty(), "{len}");
        for nth in 0..len {
            for index in [-1, i32::MIN, 4, i32::MAX] {
                let mut args = vec![3; len];
                args[nth] = index;
                assert_eq!(judged(&args), ["args-index"], "{index} as argument {nth} of {len}");
            }
        }
    }
}

/// Operators that do not exist, in a method whose operator is known, and in one where none is.
#[test]
fn called_operators_exist() {
    for name in ["aten::add", "my::add"] {
        for index in 0..4 {
            let bytes = changed("add.pte", |root| {
                let plan = &mut root["execution_plan"][0];
                plan["operators"][0]["name"] = json!(name);
                plan["chains"][0]["instructions"][0]["instr_args"]["op_index"] = json!(index);
            });
            let found = errors(&Pte::read(&bytes).unwrap().check());
            let wanted: &[&str] = if index == 0 { &[] } else { &["operator-index"] };
            assert_eq!(found, wanted, "{name}, {index}");
        }
    }
}

#[test]
fn external_data_has_the_tensor_s_shape() {
    let data =
        crate::support::files::read("tests/data/ptd/external_all.default_external_constant.ptd")
            .unwrap();
    let data = Ptd::read(&data).unwrap();
    let judged = |field: &str, value: Value| {
        let bytes = changed("external_all.pte", |root| {
            root["execution_plan"][0]["values"][0]["val"][field] = value;
        });
        let pte = Pte::read(&bytes).unwrap();
        errors(&with_data(&pte, std::slice::from_ref(&data)))
    };
    assert!(judged("requires_grad", json!(false)).is_empty());
    assert_eq!(judged("scalar_type", json!("INT")), ["external-layout"]);
    assert_eq!(judged("sizes", json!([16, 32])), ["external-layout"]);
    assert_eq!(judged("dim_order", json!([1, 0])), ["external-layout"]);
}

/// Only the nesting of the outputs is required, since the runtime does not use the nesting of the
/// inputs.
#[test]
fn the_nesting_of_the_outputs_is_required() {
    let judged = |field: &str| {
        let bytes = changed("add.pte", |root| {
            let nesting = &mut root["execution_plan"][0]["container_meta_type"];
            assert!(nesting.as_object_mut().unwrap().remove(field).is_some());
        });
        let report = Pte::read(&bytes).unwrap().check();
        report.findings().iter().map(|finding| finding.rule.id).collect::<Vec<_>>()
    };
    assert_eq!(judged("encoded_out_str"), ["plan-metadata-missing"]);
    assert!(judged("encoded_inp_str").is_empty());
}

/// The name of external data is a key like any other.
#[test]
fn a_name_of_external_data_holds_no_nul() {
    let bytes = changed("external_all.pte", |root| {
        let tensor = &mut root["execution_plan"][0]["values"][0]["val"];
        tensor["extra_tensor_info"]["fully_qualified_name"] = json!("a\0b");
    });
    let report = Pte::read(&bytes).unwrap().check();
    let found: Vec<_> = report.findings().iter().map(|finding| finding.rule.id).collect();
    assert_eq!(found, ["key-nul", "external-not-judged"]);
}

/// Each wrong dimension shares some bits with an existing one.
#[test]
fn a_dim_order_has_each_dimension_once_and_no_other() {
    let judged = |order: [u8; 2]| {
        let bytes = changed("add.pte", |root| {
            let tensor = &mut root["execution_plan"][0]["values"][0]["val"];
            tensor["sizes"] = json!([1, 1]);
            tensor["dim_order"] = json!(order);
        });
        errors(&Pte::read(&bytes).unwrap().check())
    };
    let dimensions = [0, 1, 2, 7, 8, 63, 64, 65, 66, 71, 127, 128, 129, 192, 193, 255];
    for (one, other) in dimensions.iter().flat_map(|one| dimensions.map(|other| (*one, other))) {
        let is_order = one != other && one < 2 && other < 2;
        let expected: &[&str] = if is_order { &[] } else { &["tensor-dim-order"] };
        assert_eq!(judged([one, other]), expected, "{one}, {other}");
    }
}

/// Computed numbers are unknown before the program runs.
#[test]
fn only_constant_strides_are_judged() {
    let good = crate::support::files::read_to_string("tests/rules/base/call.json").unwrap();
    let judged = |computed: bool| {
        let mut file: Value = serde_json::from_str(&good).unwrap();
        let plan = &mut file["root"]["execution_plan"][0];
        let values = plan["values"].as_array_mut().unwrap();
        values.push(json!({"val_type": "Int", "val": {"int_val": i64::MAX}}));
        values.push(json!({"val_type": "IntList", "val": {"items": [2, 2]}}));
        values.push(json!({"val_type": "IntList", "val": {"items": [3, 2]}}));
        values.push(json!({"val_type": "Null", "val": {}}));
        values[2]["val"]["int_val"] = json!(2);
        plan["operators"][0] = json!({"name": "aten::as_strided_copy", "overload": "out"});
        let calls = plan["chains"][0]["instructions"].as_array_mut().unwrap();
        calls[0]["instr_args"]["args"] = json!([0, 4, 5, 6, 1, 1]);
        if computed {
            let moved = json!({"move_from": 2, "move_to": 3});
            calls.insert(0, json!({"instr_args_type": "MoveCall", "instr_args": moved}));
        }
        errors(&Pte::read(&build::file(&file.to_string())).unwrap().check())
    };
    assert_eq!(judged(false), ["strided-out-of-bounds"]);
    assert!(judged(true).is_empty());
}

/// Both halves of an offset count: `memory_offset_low | memory_offset_high << 32`.
#[test]
fn planned_offsets_have_two_halves() {
    let bytes = changed("add.pte", |root| {
        root["execution_plan"][0]["values"][0]["val"]["allocation_info"]["memory_offset_high"] =
            json!(3);
    });
    let pte = Pte::read(&bytes).unwrap();
    let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
    let Some(KernelTypes::Tensor(tensor)) = plan.values().unwrap().get(0).unwrap().val() else {
        panic!("a tensor");
    };
    let place = Arena { memory_id: 1, offset: 3 << 32 | 96 };
    assert_eq!(pte.storage(tensor), Ok(Storage::Planned { place, initial: None }));
    assert_eq!(errors(&pte.check()), ["planned-out-of-bounds"]);
}

/// Returns the findings in the program that `json` describes. The tests below need more than a pair of
/// files in `tests/rules`: several rules at once, or a second sound file.
#[track_caller]
fn findings(json: &Value) -> Vec<String> {
    let bytes = build::file(&json.to_string());
    let report = Pte::read(&bytes).unwrap().check();
    report.findings().iter().map(|f| format!("{}: {}", f.rule.id, f.message)).collect()
}

/// One shape is also one dim order.
#[test]
fn external_tensors_of_one_name_have_one_layout() {
    let found = |order: [u8; 2]| {
        let tensor = |order: [u8; 2]| {
            json!({"val_type": "Tensor", "val": {
                "scalar_type": "FLOAT", "sizes": [2, 2], "dim_order": order,
                "extra_tensor_info": {"location": "EXTERNAL", "fully_qualified_name": "w"}
            }})
        };
        let mut found = findings(&json!({"root": {
            "execution_plan": [{"values": [tensor([0, 1]), tensor(order)]}]
        }}));
        found.retain(|line| line.starts_with("external-key-conflict"));
        found
    };
    assert!(found([0, 1]).is_empty());
    let message = "another tensor has the name \"w\" and another shape";
    assert_eq!(found([1, 0]), [format!("external-key-conflict: {message}")]);
}

/// An invalid value is reported once, and not by the instructions and lists that use it.
#[test]
fn a_value_of_no_kind_is_one_finding() {
    for (value, expected) in [
        (json!({}), "value-empty: value 0 is empty"),
        (json!({"val_type": 12, "val": {}}), "value-unknown: a value of kind 12"),
        (json!({"val_type": 255, "val": {}}), "value-unknown: a value of kind 255"),
    ] {
        let list = |kind: &str| json!({"val_type": kind, "val": {"items": [0]}});
        let found = findings(&json!({"root": {"execution_plan": [{
            "name": "forward", "container_meta_type": {"encoded_out_str": ""},
            "values": [value, list("IntList"), list("TensorList"), list("OptionalTensorList")],
            "inputs": [0], "outputs": [0],
            "chains": [{"instructions": []}], "operators": [], "delegates": [],
            "non_const_buffer_sizes": [0]
        }], "constant_segment": {"offsets": [0]}}}));
        assert_eq!(found, [expected]);
    }
}

/// The location of a tensor's data is not data.
#[test]
fn a_location_alone_is_no_storage() {
    let call = crate::support::files::read_to_string("tests/rules/base/call.json").unwrap();
    let judged = |location: i32| {
        let mut file: Value = serde_json::from_str(&call).unwrap();
        let plan = &mut file["root"]["execution_plan"][0];
        plan["inputs"] = json!([]);
        plan["values"][0]["val"] = json!({
            "sizes": [3, 4], "dim_order": [0, 1], "scalar_type": "FLOAT",
            "extra_tensor_info": {"location": location, "fully_qualified_name": "w"}
        });
        findings(&file)
    };
    let unstored = "storage-missing: value 0 is a tensor without data";
    assert_eq!(judged(0), [unstored]);
    assert!(judged(1)[0].starts_with("external-not-judged"), "{:?}", judged(1));
    assert_eq!(judged(2), ["tensor-enum: location 2", unstored]);
}
fn ids(bytes: &[u8]) -> Vec<String> {
    let report = match pte::file::sniff(bytes).unwrap() {
        pte::file::FileKind::Pte => Pte::read(bytes).unwrap().check(),
        pte::file::FileKind::Ptd => Ptd::read(bytes).unwrap().check(),
    };
    let found = report.findings().iter();
    found.map(|finding| format!("{}: {}", finding.rule.id, finding.place().path())).collect()
}

/// add.pte: one operator, `aten::add` `out`. The name with its overload has one dot more.
#[test]
fn a_short_operator_name_is_looked_up_and_a_long_one_is_refused() {
    let judged = |name: usize, overload: usize| {
        ids(&changed("add.pte", |root| {
            root["execution_plan"][0]["operators"][0] =
                json!({"name": "n".repeat(name), "overload": "o".repeat(overload)});
        }))
    };
    let at = "program.execution_plan[0].operators[0]";
    for (name, overload) in [(99, 0), (95, 3), (0, 98)] {
        assert_eq!(judged(name, overload), [format!("operator-unknown: {at}")]);
    }
    for (name, overload) in [(100, 0), (96, 3), (0, 99)] {
        assert_eq!(judged(name, overload), [format!("operator-name-long: {at}")]);
    }
}

/// The runtime reads names up to the first NUL.
#[test]
fn an_operator_name_ends_at_a_nul() {
    let judged = |name: &str, overload: &str| {
        let bytes = changed("add.pte", |root| {
            let plan = &mut root["execution_plan"][0];
            plan["operators"][0] = json!({"name": name, "overload": overload});
            plan["chains"][0]["instructions"][0]["instr_args"]["args"] = json!([0, 1, 3, 2]);
        });
        errors(&Pte::read(&bytes).unwrap().check())
    };
    for (name, overload) in [
        ("aten::add", "out"),
        ("aten::add\0", "out"),
        ("aten::add", "out\0.Tensor"),
        ("aten::add\0.out", "out\0"),
    ] {
        assert_eq!(judged(name, overload), ["args-count"], "{name:?} {overload:?}");
    }
    for (name, overload) in [("aten::add\0.out", ""), ("aten::add", "\0out"), ("\0", "out")] {
        assert!(judged(name, overload).is_empty(), "{name:?} {overload:?}");
    }
}

/// An earlier move or unknown operator may have changed a value.
#[test]
fn arguments_are_judged_until_something_may_have_changed_them() {
    let judged = |operator: &str, chains: Value| {
        let bytes = changed("add.pte", |root| {
            let plan = &mut root["execution_plan"][0];
            let known = plan["operators"][0].take();
            plan["operators"] = json!([known, {"name": operator, "overload": "out"}]);
            plan["chains"] = chains;
        });
        errors(&Pte::read(&bytes).unwrap().check())
    };
    let call = |op_index: i32, args: [i32; 5]| {
        let args = json!({"op_index": op_index, "args": args});
        json!({"instr_args_type": "KernelCall", "instr_args": args})
    };
    let chain = |instructions: &[&Value]| json!({"instructions": instructions});
    // Value 3 is an Int: no Tensor.
    let (wrong, other) = (&call(0, [3, 1, 3, 2, 2]), &call(1, [0, 1, 3, 2, 2]));
    for (operator, chains, expected) in [
        ("aten::sub", json!([chain(&[other, wrong])]), &["args-type"][..]),
        ("my::op", json!([chain(&[other, wrong])]), &[]),
        ("my::op", json!([chain(&[wrong, other])]), &["args-type"]),
        ("my::op", json!([chain(&[wrong, wrong])]), &["args-type", "args-type"]),
        ("my::op", json!([chain(&[other]), chain(&[wrong])]), &[]),
        ("my::op", json!([chain(&[wrong]), chain(&[other])]), &["args-type"]),
    ] {
        assert_eq!(judged(operator, chains), expected);
    }
}

/// In a `.ptd` of an old layout, tensors and blobs are in two lists. A name may occur in only one
/// of them.
#[test]
fn findings_in_a_ptd_have_the_offset_of_the_entry() {
    let root = json!({
        "tensor_alignment": 16,
        "segments": [{"offset": 0, "size": 24}, {"offset": 16, "size": 8}],
        "tensors": [
            {"fully_qualified_name": "w", "scalar_type": "FLOAT", "sizes": [2], "dim_order": [0]},
            {"fully_qualified_name": "", "scalar_type": "FLOAT", "sizes": [-2], "dim_order": [0]}
        ],
        "named_data": [{"key": "w", "segment_index": 1}, {}]
    });
    let legacy = json!({"kind": "ptd-legacy", "root": root, "data": [{"zeros": 24}]});
    assert_eq!(
        ids(&build::file(&legacy.to_string())),
        [
            "old-generation: header",
            "key-empty: flat_tensor.tensors[1]",
            "layout-size: flat_tensor.tensors[1]",
            "key-duplicate: flat_tensor.named_data[0]",
            "key-missing: flat_tensor.named_data[1]",
            "segments-overlap: flat_tensor.segments[1]",
        ]
    );
    let mut without = legacy;
    without["root"]["tensors"] = json!([]);
    without["root"]["segments"][1] = json!({"offset": 16, "size": 0});
    assert_eq!(
        ids(&build::file(&without.to_string())),
        ["old-generation: header", "key-missing: flat_tensor.named_data[1]"]
    );
    let root = json!({
        "segments": [{"size": 4}],
        "named_data": [{"key": "\0"}, {"key": "\0"}, {"key": "w", "segment_index": 1}]
    });
    let current = json!({"kind": "ptd", "root": root, "data": [{"zeros": 4}]});
    assert_eq!(
        ids(&build::file(&current.to_string())),
        [
            "key-nul: flat_tensor.named_data[0]",
            "key-nul: flat_tensor.named_data[1]",
            "key-duplicate: flat_tensor.named_data[1]",
            "segment-index: flat_tensor.named_data[2]",
        ]
    );
}

/// Payloads are read from the whole file in memory, or by ranges.
#[test]
fn keys_of_delegates_are_looked_up() {
    let program = crate::support::files::read("tests/data/pte/xnn_external.pte").unwrap();
    let data = crate::support::files::read("tests/data/ptd/xnn_external.xnn_weights.ptd").unwrap();
    let other = crate::support::files::read("tests/data/ptd/ptd_basic.ptd").unwrap();
    let (data, other) = (Ptd::read(&data).unwrap(), Ptd::read(&other).unwrap());
    let limits = Limits::UNTRUSTED;
    let counts = |report: Report| -> Vec<_> {
        let found =
            report.counts().filter(|(rule, _)| ["external", "payloads"].contains(&rule.subject));
        found.map(|(rule, count)| (rule.id, count)).collect()
    };
    let whole = Pte::read(&program).unwrap();
    let opened = Handle::open(&program[..], &limits).unwrap();
    let File::Pte(ranges) = opened.file() else { panic!("a program") };
    let found = |data: &[Ptd<'_>]| {
        let found = counts(Checker::new().data(data).check(&opened).unwrap());
        assert_eq!(counts(with_data(&whole, data)), found);
        found
    };
    assert_eq!(found(std::slice::from_ref(&data)), []);
    assert_eq!(found(&[data.clone(), data.clone()]), [("key-in-two-files", 4)]);
    let unused = other.entries().count() as u64;
    assert_eq!(found(&[data.clone(), other.clone()]), [("key-unused", unused)]);
    let keys = [("delegate-key-unresolved", 4), ("key-unused", unused)];
    assert_eq!(found(std::slice::from_ref(&other)), keys);
    // If the payload was not read, its keys are not known.
    let unread = counts(with_data(&ranges, &[other]));
    assert_eq!(unread, []);
}

/// A payload is trusted no more than the file around it.
#[test]
fn damaged_payloads_are_reported() {
    let program = crate::support::files::read("tests/data/pte/xnn_external.pte").unwrap();
    let data = crate::support::files::read("tests/data/ptd/xnn_external.xnn_weights.ptd").unwrap();
    let data = [Ptd::read(&data).unwrap()];
    let payload = program.windows(4).position(|window| window == b"XH00").unwrap() - 4;
    let len = u32::from_le_bytes(program[payload + 14..payload + 18].try_into().unwrap());
    let mut seen = std::collections::BTreeSet::new();
    for at in payload + 8..payload + 32 + len as usize {
        for change in [1, 0x80, 0xff] {
            let mut damaged = program.clone();
            damaged[at] ^= change;
            let pte = Pte::read(&damaged).unwrap();
            let report = with_data(&pte, &data);
            seen.extend(report.counts().map(|(rule, _)| rule.id));
        }
    }
    let expected = [
        "delegate-key-short",
        "delegate-key-unresolved",
        "key-unused",
        "payload-unreadable",
        "xnnpack-constant",
        "xnnpack-constant-short",
        "xnnpack-external",
        "xnnpack-id",
        "xnnpack-kind",
        "xnnpack-named-freed",
        "xnnpack-order",
        "xnnpack-quantization",
        "xnnpack-rank",
        "xnnpack-unread",
    ];
    assert_eq!(Vec::from_iter(seen), expected);

    // The identifier is changed, but the graph could still be read.
    let begin = u32::from_le_bytes(program[payload + 10..payload + 14].try_into().unwrap());
    let mut other = program.clone();
    other[payload + begin as usize + 4] = b'Y';
    let report = with_data(&Pte::read(&other).unwrap(), &data);
    let unreadable = report.findings().iter().find(|f| f.rule.id == "payload-unreadable").unwrap();
    assert_eq!(unreadable.message, "unknown magic \"YN01\" in the payload");
}

/// The shortest graph is one with an identifier; of a shorter one the header is refused.
#[test]
fn a_graph_has_eight_bytes_at_least() {
    let program = crate::support::files::read("tests/data/pte/xnn_external.pte").unwrap();
    let payload = program.windows(4).position(|window| window == b"XH00").unwrap() - 4;
    let findings = |size: u32| {
        let mut other = program.clone();
        other[payload + 14..payload + 18].copy_from_slice(&size.to_le_bytes());
        let report = with_data(&Pte::read(&other).unwrap(), &[]);
        let unreadable = report.findings().iter().find(|f| f.rule.id == "payload-unreadable");
        unreadable.unwrap().message.clone()
    };
    assert_eq!(
        findings(8),
        "at byte 0x20 of the payload: invalid root offset 0x20: the root table must lie between 0x8 \
         and the end of the FlatBuffer at 0x8"
    );
    assert_eq!(findings(7), "the graph would be at bytes 0x20 to 0x27, and there are 1248 bytes");
}

/// Thousands of delegates may name overlapping pieces of one payload: no more is read than four
/// times the file, and the file is then refused.
#[test]
fn overlapping_payloads_are_read_within_a_budget() {
    let graph = r#"{"constant_data": [{}, {"size": 4, "named_key": "k"}], "xnodes": [], "xvalues": [
        {"xvalue_union_type": "XNNTensorValue", "xvalue_union": {
            "datatype": "xnn_datatype_fp32", "constant_buffer_idx": 1, "external_id": 4294967295
        }}
    ]}"#;
    let numbers = |count: usize, each: &dyn Fn(usize) -> String| {
        (0..count).map(each).collect::<Vec<_>>().join(", ")
    };
    let count = 2000;
    let delegates = numbers(count, &|nth| {
        let processed = format!(r#"{{"location": "SEGMENT", "index": {nth}}}"#);
        format!(r#"{{"id": "XnnpackBackend", "processed": {processed}, "compile_specs": []}}"#)
    });
    let segments = numbers(count, &|nth| format!(r#"{{"offset": 0, "size": {}}}"#, 512 + nth));
    let json = format!(
        r#"{{"root": {{
            "execution_plan": [{{"name": "forward", "delegates": [{delegates}]}}],
            "segments": [{segments}]
        }}, "data": [{{"xnnpack": {graph}, "size": 512}}, {{"zeros": {count}}}]}}"#
    );
    let bytes = build::file(&json);
    let pte = Pte::read(&bytes).unwrap();
    let count_of = |amplification, id| {
        let limits = Limits { amplification, ..Limits::UNTRUSTED };
        let report = Checker::new().limits(limits).data(&[]).check_tables(&File::Pte(pte.clone()));
        report.counts().find(|(rule, _)| rule.id == id).map(|row| row.1)
    };
    assert_eq!(count_of(100, "delegate-key-unresolved"), Some(2000));
    assert_eq!(count_of(100, "payload-unreadable"), None);
    let graph = {
        let at = bytes.windows(4).position(|window| window == b"XH00").unwrap() + 10;
        u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()))
    };
    let read = bytes.len() as u64 / (64 + graph);
    assert_eq!(count_of(1, "delegate-key-unresolved"), Some(read));
    assert_eq!(count_of(1, "payload-unreadable"), Some(1));
}

/// The runtime compares as much of the data's dim order as there are sizes.
#[test]
fn a_dim_order_is_compared_up_to_the_number_of_sizes() {
    let program = build::file(
        r#"{"root": {"execution_plan": [{"values": [{"val_type": "Tensor", "val": {
            "scalar_type": "FLOAT", "sizes": [2, 3], "dim_order": [1, 0],
            "extra_tensor_info": {"fully_qualified_name": "w", "location": "EXTERNAL"}}}]}]}}"#,
    );
    let pte = Pte::read(&program).unwrap();
    let findings = |order: Value| {
        let layout = json!({"scalar_type": "FLOAT", "sizes": [2, 3], "dim_order": order});
        let root = json!({"segments": [{"size": 24}],
            "named_data": [{"key": "w", "tensor_layout": layout}]});
        let bytes =
            build::file(&json!({"kind": "ptd", "root": root, "data": [{"zeros": 24}]}).to_string());
        let ptd = Ptd::read(&bytes).unwrap();
        let found = errors(&with_data(&pte, &[ptd]));
        found.into_iter().filter(|id| id.starts_with("external")).collect::<Vec<_>>()
    };
    assert!(findings(json!([1, 0])).is_empty());
    assert!(findings(json!([1, 0, 2])).is_empty());
    assert_eq!(findings(json!([0, 1])), ["external-layout"]);
    assert_eq!(findings(json!([1])), ["external-layout"]);
}

/// A missing name, and an empty name that occurs twice.
#[test]
fn empty_names_are_names() {
    let judged = |names: [Value; 2]| {
        let plans = names.map(|name| json!({"name": name}));
        let bytes = build::file(&json!({"root": {"execution_plan": plans}}).to_string());
        let report = Pte::read(&bytes).unwrap().check();
        report.counts().any(|(rule, _)| rule.id == "plan-name-duplicate")
    };
    assert!(judged([json!(""), json!("")]));
    assert!(judged([json!("a"), json!("a")]));
    assert!(!judged([json!(""), json!("a")]));
}

/// An EXTERNAL tensor of each rank: its dim order is compared in every place.
#[test]
fn external_dim_order_is_compared_in_every_place() {
    for rank in 1..=16u8 {
        let order: Vec<u8> = (0..rank).collect();
        let sizes = vec![1; rank.into()];
        let judged = |theirs: &[u8]| {
            let shape =
                |order: &[u8]| json!({"scalar_type": "FLOAT", "sizes": sizes, "dim_order": order});
            let entry = json!({"key": "k", "tensor_layout": shape(theirs)});
            let root = json!({"segments": [{"size": 4}], "named_data": [entry]});
            let data = json!({"kind": "ptd", "root": root, "data": [{"zeros": 4}]});
            let data = build::file(&data.to_string());
            let mut tensor = shape(&order);
            tensor["extra_tensor_info"] =
                json!({"fully_qualified_name": "k", "location": "EXTERNAL"});
            let plan =
                json!({"name": "forward", "values": [{"val_type": "Tensor", "val": tensor}]});
            let bytes = build::file(&json!({"root": {"execution_plan": [plan]}}).to_string());
            let pte = Pte::read(&bytes).unwrap();
            let found = errors(&with_data(&pte, &[Ptd::read(&data).unwrap()]));
            found.contains(&"external-layout")
        };
        assert!(!judged(&order), "rank {rank}");
        for last in 1..rank {
            let mut other = order.clone();
            other.swap(usize::from(last) - 1, last.into());
            assert!(judged(&other), "rank {rank}: {other:?}");
        }
    }
}

/// A tensor that has no memory leads XNNPACK through a null pointer: no delegate of it gives memory.
#[test]
fn an_argument_of_xnnpack_has_memory() {
    let mut file = Fixture::read("base/xnnpack").unwrap();
    let found = |file: &Fixture| {
        let report = Pte::read(&file.parts().bytes).unwrap().check();
        errors(&report).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(found(&file).is_empty());
    // A constant without data, and no input of the method.
    let plan = &mut file.0["root"]["execution_plan"][0];
    plan["values"][0]["val"].as_object_mut().unwrap().remove("allocation_info");
    plan["inputs"] = json!([]);
    assert_eq!(found(&file), ["storage-missing"]);
    // Another backend may give it memory.
    file.0["root"]["execution_plan"][0]["delegates"][0]["id"] = json!("OtherBackend");
    assert!(found(&file).is_empty());
}

/// If a program lost the names of its data, its keys are missing, and the backend has no map.
#[test]
fn keys_of_a_program_that_lost_its_names_are_missing() {
    let key = "5ac6a5945f16500911219129984ba8b387a06f24fe383ce4e81a73294065461b";
    let mut file = Fixture::read("base/xnnpack").unwrap();
    let graph = &mut file.0["data"][0]["xnnpack"];
    for (nth, size) in [(1, 48), (2, 12)] {
        graph["constant_data"][nth] = json!({"offset": u64::MAX, "size": size, "named_key": key});
    }
    file.0["data"][0]["constants"] = json!(0);
    let found = |file: &Fixture| {
        let report = Pte::read(&file.parts().bytes).unwrap().check();
        errors(&report).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    // The data is expected in a .ptd.
    assert!(found(&file).is_empty());
    file.0["root"]["segments"] = json!([{"size": 1536}, {"offset": 1536, "size": 48}]);
    file.0["data"].as_array_mut().unwrap().push(json!({"zeros": 48}));
    assert_eq!(found(&file), ["delegate-key-unresolved"; 2]);
}

/// The condition of a jump is a Bool or a tensor of them; the runtime reads no other dtype as one.
#[test]
fn a_jump_reads_a_tensor_of_bools_alone() {
    let dtypes = ["BYTE", "CHAR", "SHORT", "INT", "LONG", "HALF", "FLOAT", "DOUBLE", "BOOL"];
    for dtype in dtypes {
        let Fixture(mut program) = Fixture::read("base/jump").unwrap();
        program["root"]["execution_plan"][0]["values"][2]["val"]["scalar_type"] = json!(dtype);
        let found = fixtures::judge(&Fixture(program));
        match dtype {
            "BOOL" => assert_eq!(found, []),
            _ => fixtures::is_broken(&found, "jump-condition-type", ""),
        }
    }
}
