//! Constants of XNNPACK payloads that move to named data and back.

use std::collections::BTreeMap;
use std::fs;

use pte::Check;
use pte::check::Severity;
use pte::model::{
    Blob, ConstantHome, ExternalError, FixedPayload, MovedConstants, PteModel, RootStruct,
};
use pte::payload::PayloadContents;
use pte::payload::xnnpack::{PayloadConstant, XnnpackGraph};
use pte::schema::program::model::NamedData;
use pte::{Handle, Limits, Pte};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::build;
use crate::support::files::{self, name};
use crate::support::xnnpack::sound;
use crate::support::xnnpack::{Constant, Input, Output, changed, graph, node};

const NAMED: ConstantHome = ConstantHome::Named { least: 1 };
const INSIDE: ConstantHome = ConstantHome::Payload;

fn change(model: &mut PteModel<'_>, home: ConstantHome) -> Result<MovedConstants, ExternalError> {
    model.move_payload_constants(home, &Limits::UNTRUSTED)
}

/// Returns the program with its constants at `home`, and the counts.
#[track_caller]
fn moved(bytes: &[u8], home: ConstantHome) -> (Vec<u8>, MovedConstants) {
    let pte = Pte::read(bytes).unwrap();
    let mut model = pte.to_model().unwrap();
    model.lay_out_like(pte.region());
    let counts = change(&mut model, home).unwrap();
    (model.image().unwrap().to_bytes().unwrap(), counts)
}

/// Returns the error of moving the constants.
#[track_caller]
fn refused(bytes: &[u8], home: ConstantHome) -> String {
    let mut model = Pte::read(bytes).unwrap().to_model().unwrap();
    change(&mut model, home).unwrap_err().to_string()
}

/// Returns the bytes and the scales of each constant, by payload and value.
fn constants(bytes: &[u8]) -> Vec<(usize, u32, Vec<u8>, Vec<u8>)> {
    let handle = Handle::open(bytes, &Limits::UNTRUSTED).unwrap();
    let contents = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
    let bytes =
        |range: std::ops::Range<u64>| bytes[range.start as usize..range.end as usize].to_vec();
    let mut all = Vec::new();
    for (nth, payload) in contents.iter().enumerate() {
        for constant in &payload.constants {
            let data = constant.data.range().map(bytes).unwrap_or_default();
            let scales =
                constant.quantization.as_ref().and_then(|quantization| quantization.scales());
            let scales = scales.and_then(|place| place.range()).map(bytes).unwrap_or_default();
            all.push((nth, constant.value, data, scales));
        }
    }
    all
}

/// Returns the keys of the named data and their segments.
fn keys(bytes: &[u8]) -> Vec<(String, u32)> {
    let model = Pte::read(bytes).unwrap().to_model().unwrap();
    let named = model.root.named_data.into_iter().flatten();
    named.map(|named| (named.key.unwrap(), named.segment_index)).collect()
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn errors(bytes: &[u8]) -> Vec<&'static str> {
    let report = Pte::read(bytes).unwrap().check();
    let errors = report.findings().iter().filter(|found| found.rule.severity == Severity::Error);
    errors.map(|finding| finding.rule.id).collect()
}

/// Returns every place of a constant behind a graph, relative to the file.
fn places_behind(bytes: &[u8]) -> Vec<std::ops::Range<u64>> {
    let pte = Pte::read(bytes).unwrap();
    let mut places = Vec::new();
    for payload in pte.payloads().map(Result::unwrap) {
        let inner = pte.bytes(payload.range()).unwrap();
        let Ok(graph) = XnnpackGraph::parse(inner, &Limits::UNTRUSTED) else { continue };
        let count = graph.root().constant_data().map_or(0, |all| all.len());
        for nth in 1..count as u32 {
            if let Ok(PayloadConstant::Behind(range)) = graph.constant(nth) {
                let start = payload.range().start;
                places.push(start + range.start..start + range.end);
            }
        }
    }
    places
}

fn programs() -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<_> = files::everything();
    if let Some(corpus) = files::corpus() {
        let folder = corpus.join("../payloads/genuine/programs");
        paths.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pte"));
    paths.sort();
    let read = |path: &std::path::PathBuf| (name(path).to_string(), fs::read(path).unwrap());
    let mut programs: Vec<_> = paths.iter().map(read).collect();
    programs.retain(|(_, bytes)| bytes.windows(14).any(|part| part == b"XnnpackBackend"));
    programs
}

/// Every genuine program keeps its constants and gets no new Error when they move. Named constants
/// come back byte for byte, except for the order in which methods were lowered.
#[test]
fn payload_constants_move_inside_and_come_back() {
    let (mut in_and_out, mut out_and_in, mut reordered) = (0, 0, Vec::new());
    for (name, bytes) in programs() {
        let (before, known) = (constants(&bytes), errors(&bytes));
        let (inside, into) = moved(&bytes, INSIDE);
        let (named, out_of) = moved(&inside, NAMED);
        let (again, _) = moved(&named, INSIDE);
        let elsewhere = into.elsewhere > 0;
        for (form, bytes) in [("inside", &inside), ("named", &named), ("again", &again)] {
            assert_eq!(constants(bytes), before, "{name}: {form}");
            assert_eq!(errors(bytes), known, "{name}: {form}");
        }
        assert!(
            elsewhere || keys(&inside).len() as u64 <= into.referenced,
            "{name}: keys are left"
        );
        assert_eq!(places_behind(&named), [], "{name}: constants are left");
        assert_eq!(places_behind(&again).len(), places_behind(&inside).len(), "{name}");
        if into.constants > 0 {
            assert!(out_of.constants >= into.constants, "{name}");
            match named == bytes {
                true => in_and_out += 1,
                false => reordered.push(name),
            }
        } else if out_of.constants > 0 {
            // A program without segments keeps the header that the named data needed.
            let has_header = Pte::read(&bytes).unwrap().header().is_some();
            assert!(!has_header || again == bytes, "{name}");
            out_and_in += 1;
        }
    }
    reordered.retain(|name| !["v0.6.0_xnn_conv.pte", "xnn_multi.pte"].contains(&name.as_str()));
    assert_eq!(reordered, Vec::<String>::new());
    assert!(in_and_out >= 5 && out_and_in >= 4, "{in_and_out} {out_and_in}");
}

/// A layer with a weight and a bias.
fn layer() -> Value {
    sound("XNNFullyConnected")
}

/// Returns the file of a program whose constants behind the graph are 0, 1, 2, and so on.
fn numbered(program: &Value) -> Vec<u8> {
    let mut bytes = build::file(&program.to_string());
    let pte = Pte::read(&bytes).unwrap();
    let mut ranges = Vec::new();
    for payload in pte.payloads().map(Result::unwrap) {
        let inner = pte.bytes(payload.range()).unwrap();
        let graph = XnnpackGraph::parse(inner, &Limits::UNTRUSTED).unwrap();
        let (start, part) = (payload.range().start, graph.parts().constants.clone());
        ranges.push((start + part.start) as usize..(start + part.end) as usize);
    }
    for range in ranges {
        let bytes = bytes[range].iter_mut();
        bytes.enumerate().for_each(|(nth, byte)| *byte = nth as u8);
    }
    bytes
}

#[test]
fn a_key_is_the_digest_of_the_bytes() {
    let bytes = numbered(&layer());
    let before = constants(&bytes);
    let (named, counts) = moved(&bytes, NAMED);
    assert_eq!((counts.constants, counts.payloads), (2, 1));
    let wanted: Vec<_> = before.iter().map(|constant| digest(&constant.2)).collect();
    assert_ne!(wanted[0], wanted[1]);
    assert_eq!(keys(&named).into_iter().map(|(key, _)| key).collect::<Vec<_>>(), wanted);
}

/// Constants of one place, and constants of equal bytes, are one datum.
#[test]
fn equal_constants_share_their_data() {
    // Both constants of the layer are the first 16 bytes. A third one elsewhere has equal bytes.
    let program = changed(
        &layer(),
        "c1/offset = 0; c1/size = 16; c2/offset = 0; c2/size = 16; \
         g/constant_data/3 = {\"offset\": 256, \"size\": 16}",
    );
    let mut program = program;
    program["data"][0]["constants"] = json!(272);
    program["data"][0]["size"] = json!(8192);
    program["root"]["segments"][0]["size"] = json!(8192);
    let bytes = numbered(&program);
    let (named, counts) = moved(&bytes, NAMED);
    assert_eq!((counts.constants, keys(&named).len()), (3, 1));
    // Constants of one key have one place again.
    let (inside, counts) = moved(&named, INSIDE);
    let places = places_behind(&inside);
    assert_eq!(counts.constants, 3);
    assert_eq!((places.len(), &places[0], &places[0]), (3, &places[1], &places[2]));
    assert_eq!(keys(&inside), []);
}

#[test]
fn constants_inside_are_aligned_in_the_file() {
    // The first constant takes 20 bytes, and the payload is at an odd offset.
    let mut program = changed(&layer(), "c1/size = 20; c2/offset = 20");
    program["root"]["segments"][0]["offset"] = json!(3);
    program["data"] = json!([{"zeros": 3}, program["data"][0]]);
    let bytes = numbered(&program);
    assert!(places_behind(&bytes).iter().any(|place| place.start % 16 != 0));
    let (named, _) = moved(&bytes, NAMED);
    let pte = Pte::read(&named).unwrap();
    for (_, range) in pte.named_data() {
        assert_eq!(range.unwrap().start % 16, 0);
    }
    let (inside, _) = moved(&named, INSIDE);
    let places = places_behind(&inside);
    assert_eq!(places.iter().map(|place| place.start % 16).collect::<Vec<_>>(), [0, 0]);
    assert_eq!(constants(&inside), constants(&bytes));
}

/// Keys of scales are those of upstream's writer. Scales with the bytes of a constant share its segment.
#[test]
fn scales_have_keys_of_their_own() {
    let of_groups = json!({
        "scale": [], "channel_dim": 0, "group_size": 16, "scale_buffer_idx": 3, "num_scales": 6,
    });
    let of_channels =
        json!({"scale": [], "channel_dim": 0, "scale_buffer_idx": 3, "num_scales": 3});
    for (datatype, params, offset) in [("qcint8", of_channels, 96), ("qbint4", of_groups, 48)] {
        let values = [
            (Input, "fp32", &[2, 32][..]),
            (Constant, datatype, &[3, 32]),
            (Constant, "fp32", &[3]),
            (Output, "fp32", &[2, 3]),
        ];
        let ids = json!({"input1_id": 0, "filter_id": 1, "bias_id": 2, "output_id": 3});
        let program = graph(&values, &[node("XNNFullyConnected", ids)]);
        // The scales are the bytes of the bias.
        let scales = format!("g/constant_data/3 = {{\"offset\": {offset}, \"size\": 12}}");
        let mut program = changed(&program, &scales);
        let quant = "/data/0/xnnpack/xvalues/1/xvalue_union/quant_params";
        *program.pointer_mut(quant).unwrap() = params;
        let bytes = numbered(&program);
        let (named, counts) = moved(&bytes, NAMED);
        assert_eq!(counts.constants, 3, "{datatype}");
        let (bias, keys) = (digest(&constants(&bytes)[1].2), keys(&named));
        let keys_only: Vec<_> = keys.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys_only[1..], [bias.as_str(), &format!("scale_{bias}")], "{datatype}");
        assert_eq!(keys[1].1, keys[2].1, "{datatype}: one segment");
        assert_eq!(constants(&bytes)[0].3.len(), 12, "{datatype}");
        assert_eq!(constants(&named), constants(&bytes), "{datatype}");
    }
}

#[test]
fn small_constants_stay_inside() {
    let bytes = numbered(&layer());
    let sizes: Vec<_> = constants(&bytes).iter().map(|constant| constant.2.len() as u64).collect();
    let least = *sizes.iter().max().unwrap();
    let (named, counts) = moved(&bytes, ConstantHome::Named { least });
    assert_eq!((counts.constants, keys(&named).len(), places_behind(&named).len()), (1, 1, 1));
    assert_eq!(constants(&named), constants(&bytes));
    let (same, counts) = moved(&bytes, ConstantHome::Named { least: least + 1 });
    assert_eq!((counts, same == bytes), (MovedConstants::default(), true));
}

/// A slope of PReLU is read each time that the payload runs. A payload in a segment is freed before that.
#[test]
fn constants_that_the_backend_does_not_copy_stay_named() {
    let values =
        [(Input, "fp32", &[2, 4][..]), (Constant, "fp32", &[4]), (Output, "fp32", &[2, 4])];
    let ids = json!({"input1_id": 0, "input2_id": 1, "output_id": 2});
    for operator in ["XNNPReLU", "XNNAdd"] {
        let bytes = numbered(&graph(&values, &[node(operator, ids.clone())]));
        let (named, _) = moved(&bytes, NAMED);
        let (inside, counts) = moved(&named, INSIDE);
        assert_eq!((counts.constants, counts.referenced), (0, 1), "{operator}");
        assert!(inside == named, "{operator}");
        // Inline payloads stay in memory with the program.
        let mut model = Pte::read(&named).unwrap().to_model().unwrap();
        let payload = model.segments[0].to_bytes().unwrap().into_owned();
        let plan = &mut model.root.execution_plan.as_mut().unwrap()[0];
        let processed = plan.delegates.as_mut().unwrap()[0].processed.as_mut().unwrap();
        processed.location = pte::schema::program::DataLocation::INLINE;
        model.root.backend_delegate_data =
            Some(vec![pte::schema::program::model::BackendDelegateInlineData {
                data: Some(payload),
            }]);
        let counts = change(&mut model, INSIDE).unwrap();
        assert_eq!((counts.constants, counts.referenced), (1, 0), "{operator}");
        let inside = model.image().unwrap().to_bytes().unwrap();
        assert_eq!(constants(&inside), constants(&bytes), "{operator}");
    }
}

/// A constant that one node copies and another does not stays where it is. The backend would free named data, since
/// it takes it for copied.
#[test]
fn one_reader_that_does_not_copy_is_enough() {
    let values = [
        (Input, "fp32", &[2, 4][..]),
        (Constant, "fp32", &[2, 4]),
        (Output, "fp32", &[2, 2]),
        (Output, "fp32", &[2, 4]),
    ];
    let nodes = [
        node(
            "XNNFullyConnected",
            json!({"input1_id": 0, "filter_id": 1, "bias_id": u32::MAX, "output_id": 2}),
        ),
        node("XNNMultiply", json!({"input1_id": 0, "input2_id": 1, "output_id": 3})),
    ];
    let counts = moved(&numbered(&graph(&values, &nodes)), NAMED).1;
    assert_eq!((counts.constants, counts.referenced), (0, 1));
    let (named, _) = moved(&numbered(&graph(&values[..3], &nodes[..1])), NAMED);
    assert_eq!(moved(&named, INSIDE).1.constants, 1);
}

/// Two delegates with one payload still share it; other users of the segment keep the old bytes.
#[test]
fn shared_payloads_stay_shared() {
    let mut program = layer();
    let plan = &mut program["root"]["execution_plan"][0];
    let delegate = plan["delegates"][0].clone();
    plan["delegates"] = json!([delegate, delegate]);
    let bytes = numbered(&program);
    let (named, counts) = moved(&bytes, NAMED);
    assert_eq!((counts.constants, counts.payloads), (2, 1));
    let indices = |bytes: &[u8]| {
        let model = Pte::read(bytes).unwrap().to_model().unwrap();
        let plans = model.root.execution_plan.into_iter().flatten();
        let delegates = plans.flat_map(|plan| plan.delegates.unwrap());
        delegates.map(|delegate| delegate.processed.unwrap().index).collect::<Vec<_>>()
    };
    assert_eq!(indices(&named), [0, 0]);
    // A delegate of another backend has the segment, too.
    program["root"]["execution_plan"][0]["delegates"][1]["id"] = json!("Other");
    let bytes = numbered(&program);
    let (named, counts) = moved(&bytes, NAMED);
    assert_eq!((counts.constants, counts.others), (2, 1));
    let indices = indices(&named);
    assert_ne!(indices[0], 0);
    assert_eq!(indices[1], 0);
    let old = |bytes: &[u8]| Pte::read(bytes).unwrap().segment(0).unwrap().to_vec();
    assert_eq!(old(&named), old(&bytes));
    // The other backend may use named data, so it stays.
    let (inside, counts) = moved(&named, INSIDE);
    assert_eq!((counts.constants, counts.kept, keys(&inside).len()), (2, 2, 2));
}

#[test]
fn data_of_other_users_stays() {
    let (named, _) = moved(&numbered(&layer()), NAMED);
    let mut model = Pte::read(&named).unwrap().to_model().unwrap();
    let first = model.root.named_data.as_ref().unwrap()[0].segment_index;
    let data = NamedData { key: Some("own".into()), segment_index: first };
    model.root.named_data.as_mut().unwrap().push(data);
    change(&mut model, INSIDE).unwrap();
    let inside = model.image().unwrap().to_bytes().unwrap();
    assert_eq!(keys(&inside).iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["own"]);
    let own = Pte::read(&inside).unwrap().named_data().next().unwrap().1.unwrap();
    let own = &inside[own.start as usize..own.end as usize];
    assert_eq!(own, constants(&inside)[0].2);
}

/// Keys that the program does not have are in a `.ptd`: they stay, and are never given to other data.
#[test]
fn keys_elsewhere_stay() {
    let bytes = numbered(&layer());
    let key = digest(&constants(&bytes)[1].2);
    let (named, _) = moved(&bytes, NAMED);
    let mut model = Pte::read(&named).unwrap().to_model().unwrap();
    let ptd = model.externalize(|_| true).unwrap();
    let outside = model.image().unwrap().to_bytes().unwrap();
    assert_eq!(ptd.segments.len(), 2);
    let (same, counts) = moved(&outside, INSIDE);
    assert_eq!((counts.constants, counts.elsewhere, same == outside), (0, 2, true));
    let text = format!("c1/named_key = \"{key}\"; c1/offset = 18446744073709551615");
    let program = changed(&layer(), &text);
    let bytes = numbered(&program);
    assert_eq!(refused(&bytes, NAMED), format!("duplicate key \"{key}\""));
}

#[test]
fn other_data_under_a_key_is_refused() {
    let bytes = numbered(&layer());
    let key = digest(&constants(&bytes)[0].2);
    let len = constants(&bytes)[0].2.len();
    for other in [vec![7; len], vec![7; len + 1]] {
        let mut model = Pte::read(&bytes).unwrap().to_model().unwrap();
        model.set_data(&key, Blob::from(other));
        let error = change(&mut model, NAMED).unwrap_err();
        assert!(matches!(&error, ExternalError::SameKey(found) if *found == key), "{error}");
    }
    // Equal data under the key is used.
    let mut model = Pte::read(&bytes).unwrap().to_model().unwrap();
    model.set_data(&key, Blob::from(constants(&bytes)[0].2.clone()));
    change(&mut model, NAMED).unwrap();
    assert_eq!(model.root.named_data.as_ref().unwrap().len(), 2);
    assert_eq!(model.root.segments().len(), 3);
}

#[test]
fn payloads_that_cannot_be_changed_are_refused() {
    let of = |reason: &str| {
        format!("the payload of delegate 0 of \"forward\" cannot be changed: {reason}")
    };
    let program = layer();
    let bytes = numbered(&changed(&program, "c2/offset = 4096"));
    for home in [NAMED, INSIDE] {
        let error = refused(&bytes, home);
        assert!(error.starts_with(&of("constant 2 has")), "{error}");
    }
    // A payload that its backend refuses.
    let mut broken = numbered(&program);
    let at = broken.windows(4).position(|part| part == b"XH00").unwrap();
    broken[at] = b'Y';
    for home in [NAMED, INSIDE] {
        assert_eq!(refused(&broken, home), of("unknown magic \"YH00\" in the payload"));
    }
    // A payload without a header has its constants in the graph, and keys it cannot have.
    let pte = Pte::read(&broken).unwrap();
    let graph = json!({
        "version": "0", "num_externs": 0, "xnodes": [], "constant_buffer": [{}, {"storage": [1, 2, 3, 4]}],
        "xvalues": [{"xvalue_union_type": "XNNTensorValue", "xvalue_union": {"constant_buffer_idx": 1}}],
    });
    let schema = &pte::schema::xnnpack::desc::SCHEMA;
    let root =
        pte::flat::load::read(&graph.to_string(), schema.root, &mut pte::flat::load::no_files);
    let layout = pte::flat::write::WriterLayout::default();
    let old = pte::flat::write::write(schema, &root.unwrap(), &[], &layout).unwrap();
    let mut model = pte.to_model().unwrap();
    model.replace_segment(0, Blob::from(old));
    let error = change(&mut model, NAMED).unwrap_err();
    assert!(
        matches!(&error, ExternalError::Payload { reason: FixedPayload::Headerless, .. }),
        "{error}"
    );
    assert_eq!(change(&mut model, INSIDE).unwrap(), MovedConstants::default());
}

/// If a small file has many payloads at one place, they are not read or copied again and again.
#[test]
fn overlapping_payloads_are_refused() {
    let mut program = layer();
    let size = program["root"]["segments"][0]["size"].as_u64().unwrap();
    let (count, room) = (200, 64 << 10);
    let mut segments = vec![json!({"offset": 0, "size": size})];
    let mut delegates = vec![program["root"]["execution_plan"][0]["delegates"][0].clone()];
    for nth in 1..count {
        segments.push(json!({"offset": 0, "size": size + nth}));
        let mut delegate = delegates[0].clone();
        delegate["processed"]["index"] = json!(nth);
        delegates.push(delegate);
    }
    program["root"]["segments"] = json!(segments);
    program["root"]["execution_plan"][0]["delegates"] = json!(delegates);
    program["data"][0]["size"] = json!(size);
    program["data"].as_array_mut().unwrap().push(json!({"zeros": count}));
    // One constant is large, so that all of them together are over any limit.
    program["data"][0]["constants"] = json!(room);
    program["data"][0]["size"] = json!(size + room);
    for segment in program["root"]["segments"].as_array_mut().unwrap() {
        segment["size"] = json!(segment["size"].as_u64().unwrap() + room);
    }
    let program = changed(&program, &format!("c1/offset = 0; c1/size = {room}; c2/offset = 0"));
    let error = refused(&numbered(&program), NAMED);
    assert!(
        error.ends_with("cannot be changed: payloads or constants overlap too much"),
        "{error}"
    );
}

/// A list of constants without any refers to no segment: one that nothing else uses can go.
#[test]
fn an_empty_list_of_constants_uses_no_segment() {
    let bytes = build::file(
        r#"{"data": [{"zeros": 16}], "root": {
            "segments": [{"size": 4}, {"offset": 8, "size": 8}],
            "constant_segment": {"segment_index": 0, "offsets": [0]},
            "named_data": [{"key": "a"}, {"key": "b", "segment_index": 1}]
        }}"#,
    );
    let mut model = Pte::read(&bytes).unwrap().to_model().unwrap();
    model.remove_data("a").unwrap();
    assert_eq!(model.segments.len(), 1);
    let mut uses: BTreeMap<u32, usize> = BTreeMap::new();
    model.root.segment_indices(&mut |nth| *uses.entry(*nth).or_default() += 1);
    assert_eq!(uses, BTreeMap::from([(0, 1)]));
}

/// A key that one payload no longer uses, and another one still does, stays.
#[test]
fn data_that_another_payload_refers_to_stays() {
    let values =
        [(Input, "fp32", &[4, 4][..]), (Constant, "fp32", &[4, 4]), (Output, "fp32", &[4, 4])];
    let layer = json!({"input1_id": 0, "filter_id": 1, "bias_id": u32::MAX, "output_id": 2});
    let mut program = graph(&values, &[node("XNNFullyConnected", layer)]);
    let two = json!({"input1_id": 0, "input2_id": 1, "output_id": 2});
    let other = graph(&values, &[node("XNNMultiply", two)]);
    let size = program["data"][0]["size"].as_u64().unwrap();
    program["data"].as_array_mut().unwrap().push(other["data"][0].clone());
    let segment = json!({"offset": size, "size": other["data"][0]["size"]});
    program["root"]["segments"].as_array_mut().unwrap().push(segment);
    let plan = &mut program["root"]["execution_plan"][0];
    let mut delegate = plan["delegates"][0].clone();
    delegate["processed"]["index"] = json!(1);
    plan["delegates"].as_array_mut().unwrap().push(delegate);
    let bytes = numbered(&program);
    let (named, _) = moved(&bytes, NAMED);
    assert_eq!(keys(&named).len(), 1);
    let (inside, counts) = moved(&named, INSIDE);
    assert_eq!((counts.constants, counts.referenced, keys(&inside).len()), (1, 1, 1));
    assert_eq!(constants(&inside), constants(&bytes));
}

/// The backend never reads the size that a payload declares for named data. In the payload, a
/// constant has the size of its data.
#[test]
fn a_constant_inside_has_the_size_of_its_data() {
    let bytes = numbered(&layer());
    let first = constants(&bytes)[0].2.clone();
    let program = changed(&layer(), "c1/named_key = \"key\"; c1/size = 1");
    let program = numbered(&program);
    let mut model = Pte::read(&program).unwrap().to_model().unwrap();
    model.set_data("key", Blob::from(first.clone()));
    change(&mut model, INSIDE).unwrap();
    let inside = model.image().unwrap().to_bytes().unwrap();
    assert_eq!(constants(&inside)[0].2, first);
}
