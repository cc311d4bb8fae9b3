//! Payloads of delegates, and other files with tables. They are decoded, and writing their tables
//! gives the same bytes. With `PTE_CORPUS`, the payloads beside that corpus are read too.

use std::fs;
use std::path::{Path, PathBuf};

use pte::check::{Checker, Severity};
use pte::flat::json::Options;
use pte::flat::load;
use pte::flat::write::{self, WriterLayout};
use pte::graph::{PayloadGraph, PayloadNodeId};
use pte::payload::xnnpack::{PayloadConstant, XnnpackGraph, XnnpackHeader};
use pte::payload::{
    ConstantPlace, PayloadContents, Tables, TablesPlace, Unreadable, for_each_graph,
};
use pte::schema::xnnpack;
use pte::tensors::ConstantRow;
use pte::{Handle, Limits, Pte};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::xnnpack::{Inner, Input, Output, graph, node};
use crate::support::xnnpack::{changed, sound};
use crate::support::{build, files};

mod attributes;
mod command_stream;
#[cfg(feature = "json")]
mod coreml;
#[cfg(feature = "json")]
mod native;
mod package;
mod record;
#[cfg(feature = "documents")]
mod record_graphs;
#[cfg(feature = "json")]
mod sections;
#[cfg(feature = "json")]
mod tosa;
#[cfg(feature = "json")]
mod values;
mod vgf;
mod vgf_operators;

/// Returns the payloads of the samples and of the corpus.
fn payloads() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for path in files::samples() {
        let bytes = fs::read(&path).unwrap();
        let Ok(program) = Pte::read(&bytes) else { continue };
        for payload in program.payloads() {
            let payload = payload.unwrap();
            let name = format!("{}:{:#x}", path.display(), payload.range().start);
            all.push((name, program.bytes(payload.range()).unwrap().to_vec()));
        }
    }
    for path in genuine("").into_iter().filter(|path| has_extension(path, "blob")) {
        all.push((path.display().to_string(), fs::read(&path).unwrap()));
    }
    all
}

/// Returns the files of a folder of genuine payloads; none without a corpus.
fn genuine(folder: &str) -> Vec<PathBuf> {
    let Some(corpus) = files::corpus() else { return Vec::new() };
    let folder = corpus.join("../payloads/genuine").join(folder);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension == wanted)
}

/// Reads the tables of a file, as the JSON of `pte dump`.
fn tables(bytes: &[u8]) -> Option<Value> {
    let place = TablesPlace::of(bytes, bytes.len() as u64)?.unwrap();
    let region = &bytes[place.range.start as usize..place.range.end as usize];
    let tables = Tables::read(&place, region, &Limits::UNTRUSTED).unwrap();
    let blob = |blob: &[u8]| {
        let sha256: String =
            Sha256::digest(blob).iter().map(|byte| format!("{byte:02x}")).collect();
        let len = blob.len();
        (len > 64).then(|| format!(r#"{{"sha256": "{sha256}", "len": {len}}}"#))
    };
    let mut text = String::new();
    tables.write_json(Options { pretty: false, blob }, 0, &mut text).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn tables_decode_as_flatc_decodes_them() {
    let mut compared = 0;
    let samples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/data/other");
    let samples = fs::read_dir(samples).unwrap().map(|entry| entry.unwrap().path());
    for path in samples.chain(genuine("")).chain(genuine("neighbours")) {
        let golden = path.with_file_name(format!("{}.json", files::name(&path)));
        let (Ok(golden), Some(found)) =
            (fs::read_to_string(golden), tables(&fs::read(&path).unwrap()))
        else {
            continue;
        };
        let want: Value = serde_json::from_str(&golden).unwrap();
        let mut found = found;
        remove_later_fields(&mut found, &want);
        assert!(equal(&want, &found), "{}: {found}", path.display());
        compared += 1;
    }
    assert!(compared >= 3, "{compared} compared");
    assert!(files::corpus().is_none() || compared > 235, "{compared} compared");
}

/// Removes the fields that the schemas of TOSA lacked with which flatc decoded.
fn remove_later_fields(found: &mut Value, want: &Value) {
    let later = ["software_version", "compatibility", "scale_type", "scale_data", "block_shape"];
    match (found, want) {
        (Value::Object(found), Value::Object(want)) => {
            found.retain(|key, _| want.contains_key(key) || !later.contains(&key.as_str()));
            let both = found.iter_mut().filter_map(|(key, found)| Some((found, want.get(key)?)));
            both.for_each(|(found, want)| remove_later_fields(found, want));
        }
        (Value::Array(found), Value::Array(want)) => {
            found.iter_mut().zip(want).for_each(|(found, want)| remove_later_fields(found, want));
        }
        _ => {}
    }
}

/// Compares JSON: flatc prints at most six decimals of a float.
fn equal(want: &Value, found: &Value) -> bool {
    match (want, found) {
        (Value::Object(want), Value::Object(found)) => {
            want.len() == found.len()
                && want.iter().all(|(key, want)| found.get(key).is_some_and(|f| equal(want, f)))
        }
        (Value::Array(want), Value::Array(found)) => {
            want.len() == found.len() && want.iter().zip(found).all(|(w, f)| equal(w, f))
        }
        (Value::Number(want), Value::Number(found)) if want.is_f64() || found.is_f64() => {
            let (want, found) = (want.as_f64().unwrap(), found.as_f64().unwrap());
            (want - found).abs() <= 5.1e-7 || (want - found).abs() <= 1e-6 * want.abs()
        }
        (want, found) => want == found,
    }
}

/// The header and the tables of a graph are written as their own writer wrote them.
#[test]
fn graphs_are_written_as_they_were_read() {
    let mut written = 0;
    for (name, bytes) in payloads() {
        let Ok(graph) = XnnpackGraph::parse(&bytes, &Limits::UNTRUSTED) else { continue };
        let parts = graph.parts();
        let region = &bytes[parts.graph.start as usize..parts.graph.end as usize];
        let same = WriterLayout::ALL.iter().any(|layout| {
            let schema = &xnnpack::desc::SCHEMA;
            let mut again = write::write(schema, &graph.root(), &[], layout).unwrap();
            again[4..8].copy_from_slice(&region[4..8]);
            again == region
        });
        // Two writers of the corpus lay tables out as no known writer does.
        let is_foreign = name.contains("synthetic");
        assert!(same || is_foreign, "{name}: the graph is written with other bytes");
        if let Some(header) = parts.header {
            let stored = header.to_bytes();
            assert_eq!(stored.len(), XnnpackHeader::PADDED as usize);
            assert_eq!(bytes[..30], stored[..30], "{name}");
        }
        written += 1;
    }
    assert!(written > 5, "{written} graphs");
}

/// Every constant that a graph names is found, and its range is in the payload.
#[test]
fn constants_of_graphs_are_found() {
    let (mut behind, mut within, mut named) = (0, 0, 0);
    for (name, bytes) in payloads() {
        let Ok(graph) = XnnpackGraph::parse(&bytes, &Limits::UNTRUSTED) else { continue };
        for value in graph.root().xvalues().into_iter().flatten() {
            for nth in
                pte::payload::xnnpack::constants_of(value).into_iter().filter(|&nth| nth != 0)
            {
                match graph.constant(nth).unwrap_or_else(|why| panic!("{name}: {why:?}")) {
                    PayloadConstant::Behind(range) => {
                        assert!(range.end <= bytes.len() as u64, "{name}");
                        behind += 1;
                    }
                    PayloadConstant::Within { .. } => within += 1,
                    PayloadConstant::Named { key, .. } => {
                        assert!(!key.is_empty(), "{name}");
                        named += 1;
                    }
                }
            }
        }
    }
    assert!(named > 5, "{behind} behind the graph, {within} in it, {named} named");
}

#[test]
fn a_profile_is_read_with_and_without_its_size_in_front() {
    for path in genuine("neighbours").into_iter().filter(|path| has_extension(path, "etdp")) {
        let bytes = fs::read(&path).unwrap();
        let whole = tables(&bytes).unwrap();
        assert!(whole["run_data"].is_array(), "{}", path.display());
        // A size that is larger than the file.
        let mut longer = bytes.clone();
        longer[3] = 0x7f;
        assert!(TablesPlace::of(&longer, longer.len() as u64).unwrap().is_err());
    }
}

/// Returns whether a check finds an Error, structure included.
fn has_error(bytes: &[u8]) -> bool {
    let checker = Checker::new();
    checker.check_bytes(bytes).map_or(true, |report| report.worst() == Some(Severity::Error))
}

/// Programs whose payload crashes the official runtime, never ends or exceeds its memory, by
/// recorded verdicts.
#[test]
fn programs_whose_payload_harms_the_runtime_are_refused() {
    let Some(corpus) = files::corpus() else { return };
    let folder = corpus.join("../payloads/hostile");
    let Ok(index) = fs::read_to_string(folder.join("hostile/index.json")) else { return };
    let index: Value = serde_json::from_str(&index).unwrap();
    let is_harm = |verdict: &Value| {
        let verdict = verdict.as_str().unwrap_or_default();
        verdict.starts_with("crash") || verdict == "hang"
    };
    let mut harmful = 0;
    for file in index["files"].as_array().unwrap() {
        let (runtime, name) = (&file["runtime"], file["file"].as_str().unwrap());
        let harms = ["minimal", "ic"].iter().any(|level| is_harm(&runtime[level]["verdict"]));
        if harms || file.get("silent").is_some() {
            let bytes = fs::read(folder.join("hostile").join(name)).unwrap();
            assert!(has_error(&bytes), "{name}: {}", file["note"]);
            harmful += 1;
        }
    }
    let lines = fs::read_to_string(folder.join("hostile/mutations.jsonl")).unwrap();
    for line in lines.lines() {
        let mutation: Value = serde_json::from_str(line).unwrap();
        if !["minimal", "ic"].iter().any(|level| is_harm(&mutation[level])) {
            continue;
        }
        let mut bytes = fs::read(folder.join(mutation["seed"].as_str().unwrap())).unwrap();
        for patch in mutation["patches"].as_array().unwrap() {
            let at = usize::try_from(patch[0].as_u64().unwrap()).unwrap();
            let hex = patch[1].as_str().unwrap();
            for (nth, pair) in (0..hex.len()).step_by(2).enumerate() {
                bytes[at + nth] = u8::from_str_radix(&hex[pair..pair + 2], 16).unwrap();
            }
        }
        assert!(has_error(&bytes), "mutation {}", mutation["id"]);
        harmful += 1;
    }
    println!("{harmful} programs that harm the runtime");
    assert!(harmful > 50, "{harmful}");
    for path in genuine("programs").into_iter().filter(|path| has_extension(path, "pte")) {
        // The scales in this file are f16, but the backend reads f32, so the runtime refuses it.
        let is_refused = files::name(&path) == "l_ao_c8_f16.pte";
        assert_eq!(has_error(&fs::read(&path).unwrap()), is_refused, "{}", path.display());
    }
}

/// Returns the number of payloads of a program whose graphs are read.
fn graphs(bytes: &[u8]) -> usize {
    let handle = Handle::open(bytes, &Limits::UNTRUSTED).unwrap();
    let mut count = 0;
    for_each_graph(&handle, &Limits::UNTRUSTED, |_, _| count += 1).unwrap();
    count
}

/// Payloads may overlap: together, at most four times the file is read.
#[test]
fn graphs_of_overlapping_payloads_are_read_within_a_budget() {
    let mut program = sound("XNNFullyConnected");
    let size = program["root"]["segments"][0]["size"].as_u64().unwrap();
    let delegate = program["root"]["execution_plan"][0]["delegates"][0].clone();
    let mut delegates = Vec::new();
    let mut segments = Vec::new();
    for nth in 0..2000u64 {
        segments.push(json!({"offset": 0, "size": size + nth}));
        let mut delegate = delegate.clone();
        delegate["processed"]["index"] = json!(nth);
        delegates.push(delegate);
    }
    program["data"].as_array_mut().unwrap().push(json!({"zeros": 2000}));
    program["root"]["segments"] = json!(segments);
    program["root"]["execution_plan"][0]["delegates"] = json!(delegates);
    let bytes = build::file(&program.to_string());
    let len = graph_len(&bytes);
    let read = graphs(&bytes);
    let limit = 4 * bytes.len() / (len + 64);
    assert!(read <= limit && read < 2000 && read > 10, "{read} of {limit}");
}

/// A reader looks the data of each value up by its key, and any number of values may name one key.
#[test]
fn keys_that_many_values_share_are_limited() {
    let graph = |values: u32, key: usize| {
        let constant = json!({"named_key": "k".repeat(key), "size": 4});
        let value = json!({"xvalue_union_type": "XNNTensorValue", "xvalue_union": {
            "datatype": "xnn_datatype_fp32", "constant_buffer_idx": 1, "external_id": u32::MAX,
        }});
        let root = json!({
            "xnodes": [], "xvalues": vec![value; values as usize],
            "constant_data": [json!({}), constant],
        });
        let object = load::read(&root.to_string(), xnnpack::desc::SCHEMA.root, &mut load::no_files);
        let layout = &WriterLayout::ALL[0];
        let bytes = write::write(&xnnpack::desc::SCHEMA, &object.unwrap(), &[], layout).unwrap();
        let size = u32::try_from(bytes.len()).unwrap();
        let header = XnnpackHeader {
            length: XnnpackHeader::LENGTH,
            flatbuffer_offset: XnnpackHeader::PADDED,
            flatbuffer_size: size,
            constant_data_offset: XnnpackHeader::PADDED + size,
            constant_data_size: 0,
        };
        let payload = [header.to_bytes(), bytes].concat();
        XnnpackGraph::parse(&payload, &Limits::UNTRUSTED).map(drop)
    };
    assert_eq!(graph(2000, 100), Ok(()));
    assert_eq!(graph(3, 100_000), Ok(()));
    let Err(Unreadable::Graph(error)) = graph(2000, 100_000) else { panic!("accepted") };
    assert_eq!(error.code(), "work-limit");
    assert!(error.to_string().contains("bytes of keys"), "{error}");
}

/// Returns the length of the graph of the first payload.
fn graph_len(bytes: &[u8]) -> usize {
    let pte = Pte::read(bytes).unwrap();
    let payload = pte.payloads().next().unwrap().unwrap();
    let graph = XnnpackGraph::parse(pte.bytes(payload.range()).unwrap(), &Limits::UNTRUSTED);
    let range = graph.unwrap().parts().graph.clone();
    (range.end - range.start) as usize
}

#[test]
fn a_payload_of_several_delegates_is_read_once() {
    let mut program = sound("XNNFullyConnected");
    let plan = &mut program["root"]["execution_plan"][0];
    let delegate = plan["delegates"][0].clone();
    plan["delegates"] = json!([delegate, delegate, delegate]);
    assert_eq!(graphs(&build::file(&program.to_string())), 1);
}

/// A delegate of an unknown backend in front does not hide the graph of a payload that both share.
#[test]
fn a_payload_of_two_backends_is_read_for_each() {
    let mut program = sound("XNNFullyConnected");
    let plan = &mut program["root"]["execution_plan"][0];
    let delegate = plan["delegates"][0].clone();
    let mut other = delegate.clone();
    other["id"] = json!("OtherBackend");
    plan["delegates"] = json!([other, delegate]);
    let bytes = build::file(&program.to_string());
    let handle = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
    let mut read = Vec::new();
    for_each_graph(&handle, &Limits::UNTRUSTED, |payload, graph| {
        read.push((payload.id().unwrap().to_owned(), graph.unwrap().is_some()));
    })
    .unwrap();
    assert_eq!(read, [("OtherBackend".into(), false), ("XnnpackBackend".into(), true)]);
}

/// An input that is absent has a place in its operator: those after it keep their names.
#[test]
fn a_constant_after_an_absent_input_has_the_name_of_its_own_input() {
    let names = |change: &str| {
        let bytes = build::file(&changed(&sound("XNNConv2d"), change).to_string());
        let opened = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
        let payloads = PayloadContents::all(&opened, &Limits::UNTRUSTED).unwrap();
        let rows = ConstantRow::all(&opened.file(), &payloads);
        rows.iter()
            .filter_map(|row| Some(row.constant.reader?.input()))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(names(""), "filter bias");
    assert_eq!(names("n0/filter_id = 4294967295"), "bias");
}

/// Runtimes use the first of two entries with one key.
#[test]
fn a_constant_is_the_first_data_of_its_key() {
    let mut program = sound("XNNFullyConnected");
    let constants = "/data/0/xnnpack/constant_data/1";
    let entry = program.pointer_mut(constants).unwrap();
    let need = entry["size"].as_u64().unwrap();
    *entry = json!({"named_key": "key", "size": need});
    let size = program["root"]["segments"][0]["size"].as_u64().unwrap();
    let segments = program["root"]["segments"].as_array_mut().unwrap();
    segments.extend([0, 1].map(|nth| json!({"offset": size + nth * need, "size": need})));
    program["root"]["named_data"] =
        json!([{"key": "key", "segment_index": 2}, {"key": "key", "segment_index": 1}]);
    program["data"].as_array_mut().unwrap().push(json!({"zeros": 2 * need}));
    let bytes = build::file(&program.to_string());
    let handle = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
    let contents = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
    let pte = Pte::read(&bytes).unwrap();
    assert_eq!(contents[0].constants[0].data.range(), Some(pte.segment_range(2).unwrap()));
}

/// A constant in a graph without a header has its range in the file, wherever the payload is.
#[test]
fn constants_of_old_payloads_are_found_in_the_file() {
    let graph = json!({
        "version": "0", "num_externs": 0, "xnodes": [],
        "constant_buffer": [{}, {"storage": [1, 2, 3, 4]}],
        "xvalues": [{"xvalue_union_type": "XNNTensorValue", "xvalue_union": {
            "datatype": "xnn_datatype_fp32", "constant_buffer_idx": 1,
        }}],
    });
    let schema = &xnnpack::desc::SCHEMA;
    let mut no_files = load::no_files;
    let root = load::read(&graph.to_string(), schema.root, &mut no_files).unwrap();
    let old = write::write(schema, &root, &[], &WriterLayout::default()).unwrap();
    let mut program = sound("XNNFullyConnected");
    program["root"]["segments"] = json!([{"offset": 16, "size": old.len()}]);
    program["data"] = json!([{"zeros": 16}, {"bytes": old}]);
    let bytes = build::file(&program.to_string());
    let handle = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
    let contents = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
    let ConstantPlace::Payload(range) = contents[0].constants[0].data.clone() else {
        panic!("not in the payload");
    };
    assert_eq!(bytes[range.start as usize..range.end as usize], [1, 2, 3, 4]);
}

/// Operators run in order, so a value that two of them write flows from the last one before its reader.
#[test]
fn a_value_flows_from_the_last_operator_that_writes_it() {
    let values = [(Input, "fp32", &[4][..]), (Inner, "fp32", &[4]), (Output, "fp32", &[4])];
    let one = |from: u32, to: u32| json!({"input_id": from, "output_id": to});
    let nodes = [node("XNNAbs", one(0, 1)), node("XNNExp", one(0, 1)), node("XNNSin", one(1, 2))];
    let bytes = build::file(&graph(&values, &nodes).to_string());
    let handle = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
    let graphs = PayloadGraph::all(&handle, &Limits::UNTRUSTED).unwrap();
    let edges = graphs[0].edges(true).filter(|edge| edge.value == 1);
    let from: Vec<_> = edges.map(|edge| (edge.from, edge.to)).collect();
    assert_eq!(from, [(PayloadNodeId::Node(1), PayloadNodeId::Node(2))]);
}
