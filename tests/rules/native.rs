//! Graphs of the native backend: what defines a value, and the data of constants.

use serde_json::{Value, json};

use super::fixtures::{is_broken, judge};
use crate::support::fixture::Fixture;

/// Returns the findings in the program of `base/native.json`, after a change of its method.
fn judged(change: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    judged_with(&[], change)
}

/// Returns the same of a program with named data, of which each blob has a key and a number of bytes.
fn judged_with(data: &[(&str, u64)], change: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    let Fixture(mut program) = Fixture::read("base/native").unwrap();
    change(&mut program["data"][0]["native"]["methods"][0]);
    let (mut named, mut offset) = (Vec::new(), 2048);
    for (nth, (key, bytes)) in (1..).zip(data) {
        named.push(json!({"key": key, "segment_index": nth}));
        let segments = program["root"]["segments"].as_array_mut().unwrap();
        segments.push(json!({"offset": offset, "size": bytes}));
        let whole = bytes.next_multiple_of(16);
        offset += whole;
        program["data"].as_array_mut().unwrap().push(json!({ "zeros": whole }));
    }
    if !named.is_empty() {
        program["root"]["named_data"] = json!(named);
    }
    let mut found = judge(&Fixture(program));
    // The last segment has less than its share of the data.
    found.retain(|(rule, _)| rule != "trailing-bytes");
    found
}

/// A list of tensors defines each of its names, and not the name of the output.
#[test]
fn a_list_of_tensors_defines_its_items() {
    let with = |output: Value, read: &str| {
        judged(|method| {
            let graph = &mut method["graph"];
            graph["nodes"][1]["outputs"] = json!([output]);
            let view = &mut graph["nodes"][2];
            view["inputs"][0]["arg"]["value"]["name"] = json!(read);
            view["outputs"] = json!([{"name": "view"}]);
        })
    };
    let list = json!({"name": "all", "kind": "TENSOR_LIST", "names": ["one", "two"]});
    for read in ["one", "two"] {
        assert_eq!(with(list.clone(), read), []);
    }
    is_broken(&with(list, "all"), "native-value", "all");
    let tensor = json!({"name": "add", "names": ["one", "two"]});
    assert_eq!(with(tensor.clone(), "add"), []);
    is_broken(&with(tensor, "one"), "native-value", "one");
}

/// A constant is judged with the bytes that its key has.
#[test]
fn data_of_a_constant_has_its_bytes() {
    let found = |bytes: u64| {
        judged_with(&[("weight", bytes)], |method| {
            let sizes = json!([{"min": 2, "max": 2}, {"min": 3, "max": 3}]);
            let meta = json!({"dtype": "FLOAT", "sizes": sizes});
            method["constants"] = json!([{"name": "w", "data_key": "weight", "meta": meta}]);
        })
    };
    for bytes in [24, 25, 64] {
        assert_eq!(found(bytes), [], "{bytes}");
    }
    for bytes in [1, 23] {
        let part = format!("constant \"w\" takes 24 bytes, and \"weight\" has {bytes}");
        is_broken(&found(bytes), "delegate-key-short", &part);
    }
}

/// The inputs and outputs of a branch may be numbers, which have no tensor.
#[test]
fn a_number_needs_no_tensor() {
    let with = |kind: &str| {
        judged(|method| {
            let graph = &mut method["graph"];
            let output = json!({"name": "n", "kind": kind});
            let node = json!({"name": "n", "op_kind": "PLACEHOLDER", "outputs": [output]});
            graph["nodes"].as_array_mut().unwrap().push(node);
            graph["inputs"].as_array_mut().unwrap().push(json!("n"));
        })
    };
    for kind in ["INT", "BOOL", "FLOAT"] {
        assert_eq!(with(kind), [], "{kind}");
    }
    is_broken(&with("TENSOR"), "native-meta", "the input or output \"n\" has no tensor value");
}
