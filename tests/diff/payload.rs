//! Payloads of XNNPACK are compared by their nodes, values and constants.

use pte::diff::{Class, Given, Verdict, compare};
use pte::payload::{ConstantPlace, PayloadContents};
use pte::{Limits, Pte};
use serde_json::{Value, json};

use super::{diff, lines, opened, sample};
use crate::support::build;
use crate::support::xnnpack::{Constant, Inner, Input, Output, changed, graph, node};
use crate::support::xnnpack::{every, sound};

fn file(program: &Value) -> Vec<u8> {
    build::file(&program.to_string())
}

/// A changed weight is one line, whether it is in the payload or in named data.
#[test]
fn a_changed_constant_is_one_difference_with_its_node() {
    let mut changed = Vec::new();
    for (name, nth) in [("v0.5.0_xnn_qs8.pte", 0), ("v0.5.0_xnn_qs8.pte", 3), ("xnn_mixed.pte", 1)]
    {
        let before = sample(name);
        let contents = PayloadContents::all(&opened(&before), &Limits::UNTRUSTED).unwrap();
        let constants: Vec<_> = contents.iter().flat_map(|payload| &payload.constants).collect();
        let mut after = before.clone();
        after[constants[nth].data.range().unwrap().start as usize] ^= 1;
        let found = diff(&before, &after);
        let reader = constants[nth].reader.unwrap();
        let place = format!("node {} {} {}: data", reader.node, reader.operator(), reader.input());
        let delegates: Vec<_> =
            lines(&found).into_iter().filter(|line| line.starts_with("delegates")).collect();
        assert_eq!(delegates.len(), 1, "{name} {nth}: {delegates:?}");
        assert!(delegates[0].contains(&place), "{name} {nth}: {delegates:?}");
        changed.push(lines(&found).len());
    }
    // A key that stays is reported with the data that it has.
    assert_eq!(changed, [1, 1, 2]);
}

/// A new key for new data is not an additional difference.
#[test]
fn the_key_of_a_changed_constant_is_no_difference() {
    let before = sample("xnn_mixed.pte");
    let contents = PayloadContents::all(&opened(&before), &Limits::UNTRUSTED).unwrap();
    let constants = contents.iter().flat_map(|payload| &payload.constants);
    let mut places = constants.filter_map(|constant| match &constant.data {
        ConstantPlace::Named { key, range: Some(range), .. } => {
            Some((key.as_untrusted().raw().to_string(), range.clone()))
        }
        _ => None,
    });
    let (key, range) = places.next().unwrap();
    let renamed = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let new: String = key.chars().rev().collect();
        let mut at = 0;
        while let Some(next) =
            bytes[at..].windows(key.len()).position(|part| part == key.as_bytes())
        {
            bytes[at + next..][..key.len()].copy_from_slice(new.as_bytes());
            at += next + key.len();
        }
        bytes
    };
    let same = renamed(&before);
    assert_ne!(same, before);
    assert_eq!(diff(&before, &same).verdict, Verdict::Same);
    let mut other = same;
    other[range.start as usize] ^= 1;
    let found = diff(&before, &other);
    assert_eq!(found.count(Class::Delegates), 1, "{:?}", lines(&found));
    assert_eq!(found.total(), 1, "{:?}", lines(&found));
}

/// Ids, the order of values and unread numbers have no meaning.
#[test]
fn a_payload_that_is_written_differently_is_the_same() {
    let program = sound("XNNFullyConnected");
    let before = file(&program);
    for changes in [
        "v0/id_out = 77; n0/input1_id = 77",
        "v1/id_out = 0; v0/id_out = 1; n0/input1_id = 1; n0/filter_id = 0",
        "g/version = \"7\"; v0/num_dims = 9; g/input_ids = []; g/output_ids = [5]",
        "x0/debug_handle = 3",
    ] {
        let found = diff(&before, &file(&changed(&program, changes)));
        assert_eq!(found.verdict, Verdict::Same, "{changes}: {:?}", lines(&found));
    }
    let mut reversed = program;
    reversed["data"][0]["xnnpack"]["xvalues"].as_array_mut().unwrap().reverse();
    assert_eq!(diff(&before, &file(&reversed)).verdict, Verdict::Same);
}

/// Of the values that no node names, inputs and outputs have a meaning. Of values with one id, the first has.
#[test]
fn values_that_no_node_names_have_a_meaning_as_arguments() {
    let one: (_, _, &[u64]) = (Input, "fp32", &[2]);
    let values = [one, (Output, "fp32", &[2]), one, one, (Inner, "fp32", &[2])];
    let program = graph(&values, &[node("XNNAbs", json!({"input_id": 0, "output_id": 1}))]);
    let program = changed(&program, "v3/dims = [4]");
    let before = file(&program);
    let is_same = |after: &Value| diff(&before, &file(after)).verdict == Verdict::Same;
    assert!(is_same(&changed(&program, "v4/dims = [9]")));
    let again = changed(&program, "v4/id_out = 0; v4/dims = [9]");
    assert!(is_same(&again));
    for value in [0, 2, 3] {
        assert!(!is_same(&changed(&program, &format!("v{value}/dims = [9]"))), "{value}");
    }
    let mut reversed = program;
    reversed["data"][0]["xnnpack"]["xvalues"].as_array_mut().unwrap().reverse();
    assert!(is_same(&reversed));
}

#[test]
fn differences_of_nodes_and_values_name_them() {
    let program = sound("XNNFullyConnected");
    let convolution = sound("XNNConv2d");
    for (program, changes, expected) in [
        (&program, "n0/flags = 1", "node 0 XNNFullyConnected: flags: 0 → 1"),
        (&program, "v1/dims = [5, 9]", "node 0 XNNFullyConnected filter: dims: "),
        (
            &program,
            "x0/output_min_max = {\"output_min\": 0, \"output_max\": 6}",
            "output_max: 0 → 6",
        ),
        (&program, "n0/bias_id = 4294967295", "node 0 XNNFullyConnected: bias_id: value 2 → none"),
        (&program, "n0/filter_id = 0", "node 0 XNNFullyConnected: filter_id: value 1 → value 0"),
        (&convolution, "n0/padding_top = 2", "node 0 XNNConv2d: padding_top: 0 → 2"),
        (&convolution, "v0/external_id = 9", "node 0 XNNConv2d input1: external_id: 0 → 9"),
    ] {
        let found = diff(&file(program), &file(&changed(program, changes)));
        let found = lines(&found);
        assert!(found.iter().any(|line| line.contains(expected)), "{changes}: {found:?}");
    }
    let values = [(Input, "fp32", &[2u64][..]), (Constant, "fp32", &[2]), (Output, "fp32", &[2])];
    let ids = json!({"input1_id": 0, "input2_id": 1, "output_id": 2});
    let plain = graph(&values, &[node("XNNAdd", ids.clone())]);
    let two = graph(&values, &[node("XNNMultiply", ids.clone())]);
    let found = lines(&diff(&file(&plain), &file(&two)));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("node 0: nodes: XNNAdd → XNNMultiply"), "{found:?}");
    let quantized =
        [(Input, "qint8", &[2u64][..]), (Constant, "qint8", &[2]), (Output, "qint8", &[2])];
    let one = graph(&quantized, &[node("XNNAdd", ids)]);
    let found = lines(&diff(&file(&plain), &file(&one)));
    let expected = "input1: quantization: none → PerTensorQuant";
    assert!(found.iter().any(|line| line.ends_with(expected)), "{found:?}");
    let found =
        lines(&diff(&file(&one), &file(&changed(&one, "q1/scale = 0.25; q1/zero_point = 3"))));
    assert!(found.iter().any(|line| line.contains("input2: scale: 0.5 → 0.25")), "{found:?}");
    assert!(found.iter().any(|line| line.contains("input2: zero_point: 0 → 3")), "{found:?}");
}

/// A value of the second file has the number of the first file's value that it corresponds to, if there is one.
#[test]
fn values_are_numbered_as_in_the_first_file() {
    let unary =
        |name: &str, from: u32, to: u32| node(name, json!({"input_id": from, "output_id": to}));
    let values = [(Input, "fp32", &[2][..]), (Inner, "fp32", &[2]), (Output, "fp32", &[2])];
    let one = graph(&values, &[unary("XNNAbs", 0, 1), unary("XNNNegate", 1, 2)]);
    let values = [(Inner, "fp32", &[2][..]), (Output, "fp32", &[2]), (Input, "fp32", &[2])];
    let two = graph(&values, &[unary("XNNAbs", 2, 0), unary("XNNNegate", 2, 1)]);
    let three = changed(&one, "n1/input_id = 7");
    for (other, expected) in [(two, "value 0"), (three, "value 7 of the second file")] {
        let found = lines(&diff(&file(&one), &file(&other)));
        let expected = format!("node 1 XNNNegate: input_id: value 1 → {expected}");
        assert!(found.iter().any(|line| line.ends_with(&expected)), "{found:?}");
    }
}

/// Added and removed nodes have their place in the first graph, their number, and up to eight names.
#[test]
fn added_and_removed_nodes_have_a_place_and_a_number() {
    let chain = |operators: &str| {
        let operators: Vec<_> = operators.split(' ').collect();
        let inner = operators[1..].iter().map(|_| (Inner, "fp32", &[2u64][..]));
        let first = [(Input, "fp32", &[2u64][..])];
        let values = first.into_iter().chain(inner).chain([(Output, "fp32", &[2u64][..])]);
        let nodes = (0..).zip(&operators).map(|(nth, operator): (u32, _)| {
            node(&format!("XNN{operator}"), json!({"input_id": nth, "output_id": nth + 1}))
        });
        file(&graph(&values.collect::<Vec<_>>(), &nodes.collect::<Vec<_>>()))
    };
    let eight = "Abs Floor Sin Cos Exp Log Tanh Gelu";
    let names = eight.split(' ').map(|name| format!("XNN{name}")).collect::<Vec<_>>().join(", ");
    let (all, more) = (format!("{eight} Negate"), format!("{eight} Abs Negate"));
    for (before, after, expected) in [
        ("Negate", "Abs Negate", "before node 0: nodes: none → XNNAbs".into()),
        ("Negate", "Negate Abs", "after node 0: nodes: none → XNNAbs".into()),
        ("Sin Abs Negate", "Sin Negate", "node 1: nodes: XNNAbs → none".into()),
        (
            "Sin Abs Floor Negate",
            "Sin Negate",
            "nodes 1 to 2: nodes: 2 nodes: XNNAbs, XNNFloor → none".into(),
        ),
        (&all, "Negate", format!("nodes 0 to 7: nodes: 8 nodes: {names} → none")),
        (&more, "Negate", format!("nodes 0 to 8: nodes: 9 nodes: {names}, … → none")),
        ("Negate", &more, format!("before node 0: nodes: none → 9 nodes: {names}, …")),
    ] {
        let found = lines(&diff(&chain(before), &chain(after)));
        assert!(found.iter().any(|line| line.ends_with(&expected)), "{expected}: {found:?}");
    }
}

/// Returns the named data of a program as a `.ptd`, without some keys, and with the first byte of each changed by `by`.
fn data(program: &[u8], without: &str, by: u8) -> Vec<u8> {
    let pte = Pte::read(program).unwrap();
    let entries = pte.named_data().map(|(key, range)| (key.unwrap(), range.unwrap()));
    let (mut bytes, mut named, mut segments) = (Vec::new(), Vec::new(), Vec::new());
    for (key, range) in entries.filter(|(key, _)| *key != without) {
        named.push(json!({"key": key, "segment_index": segments.len()}));
        segments.push(json!({"offset": bytes.len(), "size": range.end - range.start}));
        let at = bytes.len();
        bytes.extend(pte.bytes(range).unwrap());
        bytes[at] ^= by;
        bytes.resize(bytes.len().next_multiple_of(16), 0);
    }
    let root = json!({"version": 0, "segments": segments, "named_data": named});
    file(&json!({"kind": "ptd", "root": root, "data": [{"bytes": bytes}]}))
}

/// A payload's constant is the data that the program has under its key, or else the first of the `.ptd` files.
#[test]
fn named_constants_are_those_that_the_runtime_finds() {
    let whole = sample("xnn_mixed.pte");
    let bare = super::changed(&whole, |model| model.root.named_data = None);
    let contents = PayloadContents::all(&opened(&whole), &Limits::UNTRUSTED).unwrap();
    let mut constants = contents.iter().flat_map(|payload| &payload.constants);
    let key = constants.find_map(|constant| match &constant.data {
        ConstantPlace::Named { key, .. } => Some(key.as_untrusted().raw().to_string()),
        _ => None,
    });
    let key = key.unwrap();
    let (good, bad) = (data(&whole, "", 0), data(&whole, "", 1));
    let root = json!({"segments": [], "named_data": []});
    let unknown = file(&json!({"kind": "ptd", "root": root, "data": []}));
    let rest = data(&whole, &key, 0);
    let [good, bad, rest, unknown] = [&good, &bad, &rest, &unknown].map(|ptd| opened(ptd));
    let (whole, bare) = (opened(&whole), opened(&bare));
    let delegates = |file, data: &[_]| {
        let after = Given { file, data: data.to_vec() };
        let report = compare(&Given::new(&whole), &after, &Limits::UNTRUSTED).unwrap();
        let lines = lines(&report).into_iter().filter(|line| line.starts_with("delegates: "));
        lines.collect::<Vec<_>>()
    };
    for (file, data) in [
        (&whole, vec![&bad]),
        (&bare, vec![&good]),
        (&bare, vec![&unknown, &good]),
        (&bare, vec![&good, &bad]),
        (&bare, vec![&rest, &good]),
    ] {
        assert_eq!(delegates(file, &data), [] as [&str; 0]);
    }
    let names_other_data = |lines: &[String]| lines.iter().any(|line| line.contains(" bytes #"));
    assert!(names_other_data(&delegates(&bare, &[&bad, &good])));
    let missing = delegates(&bare, &[&rest]);
    assert!(missing.iter().all(|line| line.ends_with("data that no file has")), "{missing:?}");
    assert_eq!(missing.len(), 1, "{missing:?}");
    // Data that no file has is known by its key.
    let image = bare.read(0..bare.file_len()).unwrap();
    let at = image.windows(key.len()).position(|part| part == key.as_bytes()).unwrap();
    let mut renamed = image.clone();
    renamed[at] = if key.as_bytes()[0] == b'x' { b'y' } else { b'x' };
    assert_eq!(diff(&image, &image.clone()).verdict, Verdict::Identical);
    assert_eq!(diff(&image, &renamed).count(Class::Delegates), 1);
}

/// Of equal keys of a program, runtimes take the first.
#[test]
fn a_second_data_of_a_key_is_no_data_of_a_payload() {
    let before = sample("xnn_mixed.pte");
    let ranges: Vec<_> =
        Pte::read(&before).unwrap().named_data().map(|(_, range)| range.unwrap()).collect();
    let len = |nth: usize| ranges[nth].end - ranges[nth].start;
    let other = (1..ranges.len()).find(|&nth| len(nth) == len(0)).unwrap();
    let delegates = |place: usize| {
        let after = super::changed(&before, |model| {
            let named = model.root.named_data.as_mut().unwrap();
            let mut second = named[0].clone();
            second.segment_index = named[other].segment_index;
            named.insert(place, second);
        });
        diff(&before, &after).count(Class::Delegates)
    };
    assert_eq!([delegates(ranges.len()), delegates(1), delegates(0)], [0, 0, 1]);
}

/// An added node does not hide a changed weight of another.
#[test]
fn constants_are_compared_beside_added_and_removed_nodes() {
    let values = [
        (Input, "fp32", &[2u64][..]),
        (Constant, "fp32", &[2]),
        (Inner, "fp32", &[2]),
        (Output, "fp32", &[2]),
        (Inner, "fp32", &[2]),
    ];
    let add = node("XNNAdd", json!({"input1_id": 0, "input2_id": 1, "output_id": 2}));
    let floor = |from: u32, to: u32| node("XNNFloor", json!({"input_id": from, "output_id": to}));
    let one = graph(&values, &[add.clone(), floor(2, 3)]);
    let sine = node("XNNSin", json!({"input_id": 2, "output_id": 4}));
    let mut two = graph(&values, &[add, sine, floor(4, 3)]);
    let added = lines(&diff(&file(&one), &file(&two)));
    assert_eq!(added.len(), 2, "{added:?}");
    assert!(added[0].contains("after node 0: nodes: none → XNNSin"), "{added:?}");
    assert!(
        added[1].contains("node 1 XNNFloor: input_id: value 2 → value 4 of the second file"),
        "{added:?}"
    );
    let removed = lines(&diff(&file(&two), &file(&one)));
    assert!(removed[0].contains("node 1: nodes: XNNSin → none"), "{removed:?}");
    two = changed(&two, "v1/dims = [1, 2]");
    let found = lines(&diff(&file(&one), &file(&two)));
    assert!(found.iter().any(|line| line.contains("node 0 XNNAdd input2: dims: ")), "{found:?}");
}

/// Numbers without a meaning: the backend does not read them, or their targets are compared
/// instead.
const UNREAD: [&str; 7] = [
    "num_dims",
    "input_ids",
    "output_ids",
    "num_externs",
    "debug_handle",
    // All data is zeros.
    "constant_buffer_idx",
    "offset",
];

/// Each number in the graphs of all operators is compared.
#[test]
fn every_number_of_a_graph_is_compared() {
    let mut silent = Vec::new();
    let mut compared = 0;
    for operator in every() {
        let program = sound(operator);
        let before = file(&program);
        let mut places = Vec::new();
        let graph = &program["data"][0]["xnnpack"];
        for list in ["xvalues", "xnodes"] {
            numbers(&graph[list], &format!("/data/0/xnnpack/{list}"), &mut places);
        }
        for place in places {
            if UNREAD.iter().any(|name| place.split('/').any(|step| step == *name)) {
                continue;
            }
            let mut changed = program.clone();
            let number = changed.pointer_mut(&place).unwrap();
            *number = match number.as_u64() {
                // An unused id stays unused.
                Some(4_294_967_295) => continue,
                Some(int) => json!(int + 1),
                None => json!(number.as_f64().unwrap() + 1.0),
            };
            compared += 1;
            let found = diff(&before, &file(&changed));
            if found.verdict != Verdict::Different {
                silent.push(format!("{operator}{place}"));
            }
        }
    }
    assert!(compared > 300, "{compared}");
    assert!(silent.is_empty(), "{silent:?}");
}

/// Adds the places of all numbers in a document.
fn numbers(value: &Value, place: &str, places: &mut Vec<String>) {
    match value {
        Value::Number(_) => places.push(place.to_string()),
        Value::Array(items) => {
            for (nth, item) in items.iter().enumerate() {
                numbers(item, &format!("{place}/{nth}"), places);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                numbers(field, &format!("{place}/{name}"), places);
            }
        }
        _ => {}
    }
}

/// A payload that the backend refuses is compared by its bytes.
#[test]
fn a_broken_payload_is_compared_by_its_bytes() {
    let before = sample("xnn_delegate_inline.pte");
    let range = Pte::read(&before).unwrap().payloads().next().unwrap().unwrap().range();
    let mut after = before.clone();
    let identifier = before[range.start as usize..].windows(4).position(|part| part == b"XN01");
    after[range.start as usize + identifier.unwrap()] = b'Y';
    let found = lines(&diff(&before, &after));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("payload"), "{found:?}");
}

/// The bytes of scales in a constant are compared, of channels and of groups.
#[test]
fn changed_scales_are_one_difference() {
    let of_groups = json!({
        "scale": [], "channel_dim": 0, "group_size": 16, "scale_buffer_idx": 2, "num_scales": 6,
    });
    let of_channels =
        json!({"scale": [], "channel_dim": 0, "scale_buffer_idx": 2, "num_scales": 3});
    for (datatype, params, size) in [("qcint8", of_channels, 96), ("qbint4", of_groups, 48)] {
        let values = [
            (Input, "fp32", &[2, 32][..]),
            (Constant, datatype, &[3, 32]),
            (Output, "fp32", &[2, 3]),
        ];
        let ids = json!({"input1_id": 0, "filter_id": 1, "bias_id": u32::MAX, "output_id": 2});
        let program = graph(&values, &[node("XNNFullyConnected", ids)]);
        let scales = format!("g/constant_data/2 = {{\"offset\": {size}, \"size\": 12}}");
        let mut program = changed(&program, &scales);
        let quant = "/data/0/xnnpack/xvalues/1/xvalue_union/quant_params";
        *program.pointer_mut(quant).unwrap() = params;
        program["data"][0]["constants"] = json!(size + 16);
        let before = file(&program);
        let contents = PayloadContents::all(&opened(&before), &Limits::UNTRUSTED).unwrap();
        let quantization = contents[0].constants[0].quantization.clone().unwrap();
        let at = quantization.scales().unwrap().range().unwrap().start as usize;
        let mut after = before.clone();
        after[at + 3] ^= 1;
        let found = lines(&diff(&before, &after));
        assert_eq!(found.len(), 1, "{datatype}: {found:?}");
        assert!(found[0].contains("filter: scales"), "{datatype}: {found:?}");
    }
}
