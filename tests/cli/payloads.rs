//! The constants in delegates' payloads, as the verbs show them.

use std::collections::BTreeMap;
use std::fs;

use pte::diff::{Given, Verdict, compare};
use pte::map::{Map, Name, User};
use pte::payload::{ConstantPlace, PayloadContents};
use pte::summary::{ContentSummary, Summary};
use pte::tensors::ConstantRow;
use pte::{Backend, Handle, Limits};
use serde_json::{Value, json as value};

use super::{good, json, pte, text};
use crate::support::build;
use crate::support::files;
use crate::support::snapshot::assert_snapshot;
use crate::support::xnnpack;
use crate::support::xnnpack::sound;

const SEGMENT: &str = "tests/data/pte/xnn_delegate_segment.pte";
const EXTERNAL: &str = "tests/data/pte/xnn_external.pte";
const QUANTIZED: &str = "tests/data/pte/v0.5.0_xnn_qs8.pte";

/// Returns the rows of `pte tensors` that are constants of payloads.
fn listed(path: &str) -> Vec<Value> {
    let document = json(&["tensors", "--json", path]);
    let rows = document["tensors"].as_array().unwrap().iter();
    rows.filter(|row| row.get("delegate").is_some()).cloned().collect()
}

#[test]
fn tensors_lists_constants_with_node_and_quantization() {
    for (page, args) in [
        ("segment", &[SEGMENT][..]),
        ("external", &[EXTERNAL]),
        ("quantized", &[QUANTIZED]),
        ("oldest", &["tests/data/pte/v0.2.0_xnn_qs8.pte"]),
        ("json", &["--json", QUANTIZED]),
        ("largest", &["--largest", "3", "--hash", "--stats", "tests/data/pte/xnn_gpt.pte"]),
    ] {
        assert_snapshot(&format!("tensors-payload-{page}"), &good(&[&["tensors"], args].concat()));
    }
}

#[test]
fn size_and_map_name_constants_by_their_nodes() {
    assert_snapshot("size-payload", &good(&["size", "--depth", "9", SEGMENT]));
    assert_snapshot("size-payload-quantized", &good(&["size", QUANTIZED]));
    assert_snapshot("map-payload", &good(&["map", QUANTIZED]));
    let offset = listed(SEGMENT)[0]["offset"].to_string();
    assert_snapshot("map-payload-byte", &good(&["map", SEGMENT, "--at", &offset]));
}

/// The bytes and the dtype of each listed constant are those that `extract` writes.
#[test]
fn each_listed_constant_can_be_extracted() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("part");
    let out = out.to_str().unwrap();
    let mut extracted = 0;
    for path in
        [SEGMENT, QUANTIZED, "tests/data/pte/v0.2.0_xnn_qs8.pte", "tests/data/pte/xnn_mixed.pte"]
    {
        let whole = files::read(path).unwrap();
        for row in listed(path) {
            let (method, delegate, value) = (&row["method"], &row["delegate"], &row["value"]);
            let name = format!("{}:{delegate}/{value}", method.as_str().unwrap());
            let start = row["offset"].as_u64().unwrap() as usize;
            let bytes = &whole[start..][..row["bytes"].as_u64().unwrap() as usize];
            good(&["extract", path, "--tensor", &name, "-o", out]);
            assert_eq!(files::read(out).unwrap(), bytes, "{path} {name}");
            if !row["dtype"].as_str().unwrap().contains("int4") {
                good(&["extract", path, "--tensor", &name, "--as", "npy", "-o", out]);
                let array = files::read(out).unwrap();
                assert!(array.ends_with(bytes), "{path} {name}");
                let shape: Vec<_> =
                    row["sizes"].as_array().unwrap().iter().map(Value::to_string).collect();
                let shape = shape.join(", ");
                assert!(String::from_utf8_lossy(&array).contains(&shape), "{path} {name}: {shape}");
            }
            extracted += 1;
        }
    }
    assert!(extracted >= 10, "{extracted}");
}

#[test]
fn the_graph_of_a_payload_can_be_extracted() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("graph");
    let out = out.to_str().unwrap();
    for (path, magic) in [
        (SEGMENT, b"XN01"),
        ("tests/data/pte/v0.2.0_xnn_all_inline.pte", b"XN01"),
        ("tests/data/pte/vulkan_conv.pte", b"VK00"),
    ] {
        good(&["extract", path, "--graph", "forward:0", "-o", out]);
        assert_eq!(&files::read(out).unwrap()[4..8], magic, "{path}");
    }
    for (path, delegate, message) in [
        ("tests/data/pte/demo_backend.pte", "forward:0", "no tables that are known"),
        (SEGMENT, "forward:7", "no delegate"),
        (SEGMENT, "forward", "expected METHOD:N"),
    ] {
        let done = pte(&["extract", path, "--graph", delegate]);
        assert!(text(&done.stderr).contains(message), "{path} {delegate}: {done:?}");
    }
    let done = pte(&["extract", SEGMENT, "--tensor", "forward:0/99999"]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
}

/// The map, the rows and the summary count constants separately, and agree.
#[test]
fn constants_of_all_samples_are_in_the_map_once() {
    let (mut compared, mut read) = (0, BTreeMap::new());
    for path in files::samples() {
        let bytes = files::read(&path).unwrap();
        let handle = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
        let payloads = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
        // TOSA's are vectors of the graph: their pieces are those of its tables.
        if payloads.iter().any(|payload| payload.backend == Backend::Tosa) {
            continue;
        }
        let file = handle.file();
        let map = Map::with_payloads(&file, &payloads);
        assert_eq!(map.root().bytes(), bytes.len() as u64, "{}", path.display());
        let is_constant = |part: u32| match map.part(part).name() {
            Name::Users(users) => {
                matches!(users.first(), Some(User::Constant { .. } | User::Graph { .. }))
            }
            _ => false,
        };
        let pieces = map.pieces().iter().filter(|piece| is_constant(piece.part));
        let in_map: u64 = pieces.map(|piece| piece.range.end - piece.range.start).sum();

        // Each range once, with scales.
        let mut ranges = BTreeMap::new();
        for constant in payloads.iter().flat_map(|payload| &payload.constants) {
            let scales =
                constant.quantization.as_ref().and_then(|quantization| quantization.scales());
            for place in [Some(&constant.data), scales].into_iter().flatten() {
                match place {
                    ConstantPlace::Payload(range) => {
                        ranges.insert(range.start, range.end - range.start);
                    }
                    ConstantPlace::Named { key, .. } => {
                        let row = |row: &ConstantRow<'_>| row.key() == Some(key.as_untrusted());
                        let rows = ConstantRow::all(&file, &payloads);
                        let found = rows.into_iter().find(row).and_then(|row| row.range());
                        ranges.extend(found.map(|range| (range.start, range.end - range.start)));
                    }
                    other => panic!("{}: {other:?}", path.display()),
                }
            }
            *read.entry(constant.datatype.name().unwrap()).or_insert(0) += 1;
            assert!(constant.reader.is_some(), "{}: {constant:?}", path.display());
        }
        let apart: u64 = ranges.values().sum();
        // Scales in named data are not listed in separate rows.
        assert!(in_map >= apart, "{}: {in_map} {apart}", path.display());

        let summary = Summary::read(&handle, &Limits::UNTRUSTED).unwrap();
        let ContentSummary::Pte(program) = &summary.contents else { continue };
        let is_external = path.ends_with("xnn_external.pte");
        let counted: u64 = program
            .backends
            .iter()
            .filter_map(|backend| backend.graphs.as_ref())
            .filter_map(|graphs| Some(graphs.constants?.bytes))
            .sum();
        if !is_external && !payloads.is_empty() {
            assert_eq!(in_map, counted, "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
    for datatype in ["fp32", "qint8", "qint32"] {
        assert!(read.contains_key(&*format!("xnn_datatype_{datatype}")), "{datatype}: {read:?}");
    }
}

/// Each of the payloads is shorter than the one before, and all have the same graph: together they have more
/// bytes than the file.
#[test]
fn overlapping_payloads_take_no_more_memory_than_the_file() {
    let mut program = sound("XNNFullyConnected");
    let size = program["root"]["segments"][0]["size"].as_u64().unwrap();
    let root = &mut program["root"];
    for nth in 1..200u64 {
        let segments = root["segments"].as_array_mut().unwrap();
        segments.push(value!({"offset": 0, "size": size - nth}));
        let delegates = root["execution_plan"][0]["delegates"].as_array_mut().unwrap();
        let mut delegate = delegates[0].clone();
        delegate["processed"]["index"] = value!(nth);
        delegates.push(delegate);
    }
    let bytes = build::file(&program.to_string());
    let handle = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
    let contents = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
    let graphs: u64 = contents.iter().map(|one| one.graph.end - one.graph.start).sum();
    assert!(contents.len() > 1 && graphs <= bytes.len() as u64, "{}", contents.len());
    let before = Given::new(&handle);
    let report = compare(&before, &Given::new(&handle), &Limits::UNTRUSTED).unwrap();
    assert_eq!(report.verdict, Verdict::Identical);
}

/// Scales that lie behind the graph have an id of their own: that of the constant, and `.scales`.
#[test]
fn scales_inside_a_payload_can_be_extracted() {
    let of_groups = value!({
        "scale": [], "channel_dim": 0, "group_size": 16, "scale_buffer_idx": 2, "num_scales": 6,
    });
    let of_channels =
        value!({"scale": [], "channel_dim": 0, "scale_buffer_idx": 2, "num_scales": 3});
    for (datatype, params, at, descr) in
        [("qcint8", of_channels, 96, "'<f4'"), ("qbint4", of_groups, 48, "'<u2'")]
    {
        let values = [
            (xnnpack::Input, "fp32", &[2, 32][..]),
            (xnnpack::Constant, datatype, &[3, 32]),
            (xnnpack::Output, "fp32", &[2, 3]),
        ];
        let ids = value!({"input1_id": 0, "filter_id": 1, "bias_id": u32::MAX, "output_id": 2});
        let program = xnnpack::graph(&values, &[xnnpack::node("XNNFullyConnected", ids)]);
        let scales = format!("g/constant_data/2 = {{\"offset\": {at}, \"size\": 12}}");
        let mut program = xnnpack::changed(&program, &scales);
        let quant = "/data/0/xnnpack/xvalues/1/xvalue_union/quant_params";
        *program.pointer_mut(quant).unwrap() = params;
        program["data"][0]["constants"] = value!(at + 16);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scales.pte");
        fs::write(&file, build::file(&program.to_string())).unwrap();
        let file = file.to_str().unwrap();

        let name = "forward:0/1.scales";
        assert!(good(&["tensors", file]).contains(&format!("scales {name} at 0x")), "{datatype}");
        let quantization = listed(file)[0]["quantization"].clone();
        let start = quantization["scale_offset"].as_u64().unwrap() as usize;
        assert_eq!(quantization["scale_bytes"], 12);
        let bytes = &files::read(file).unwrap()[start..start + 12];
        assert_eq!(pte(&["extract", file, "--tensor", name]).stdout, bytes);
        let array = pte(&["extract", file, "--tensor", name, "--as", "npy"]).stdout;
        assert!(array.ends_with(bytes), "{datatype}");
        assert!(String::from_utf8_lossy(&array[..128]).contains(descr), "{datatype}");
        let parts = folder.path().join("parts");
        good(&["extract", file, "--all", parts.to_str().unwrap(), "--quiet"]);
        let index = files::read(parts.join("index.json")).unwrap();
        let index: Value = serde_json::from_slice(&index).unwrap();
        let all = index["parts"].as_array().unwrap();
        let what = format!("scales {name}");
        let part = all.iter().find(|part| part["what"] == what.as_str()).unwrap();
        assert_eq!(part["offset"], start);
    }
}
