//! Files from JSON descriptions: the tables as in a dump, and a computed container with optional overrides for
//! wrong fixtures.

use pte::file::header::{ExtendedHeader, FlatTensorHeader};
use pte::flat::desc::Schema;
use pte::flat::load;
use pte::flat::tree::Object;
use pte::flat::write::{self, WriterLayout};
use pte::schema::{flat_tensor, flat_tensor_legacy, program};
use pte::schema::{mlx, native, qnn, qnn_legacy, tosa, vgf as schema, vulkan, xnnpack};
use serde_json::{Value, json};

use crate::harvest::harvest;
pub use crate::hostile::vela_block;
use crate::openvino;

/// Returns the file that `json` describes:
///
/// ```text
/// {
///   "kind": "pte",                 or "ptd", or "ptd-legacy" for the fields before release 0.7
///   "root": {…},                   the tables; the value of a compile spec may be {"qnn": {…}}, options
///                                  of QNN, or {"qnn-legacy": {…}}
///   "header": {"length": 24},      overrides of computed fields; null for no header;
///                                  by default a .ptd has one, and a .pte with data
///   "data": [{"hex": "00ff"}, {"zeros": 8}, {"bytes": [1, 2]}],   from segment_base_offset on; also
///            [{"xnnpack": {…}, "constants": 64, "size": 512}], a payload with that graph and 64
///            bytes of constants, padded with zeros to 512; or [{"mlx": {…}, "size": 512}], or
///            [{"native": {…}, "size": 512}], and so for "tosa"; or [{"vgf": {"modules": {…}, "sequence": {…},
///            "resources": {…}, "constants": [{…}]}, "size": 1024}]; or
///            [{"openvino": "<net>…</net>", "constants": 64, "size": 1024}]
///   "align": 16,                   of segment_base_offset
///   "trailing": {"zeros": 3}       after the end that the header gives
/// }
/// ```
///
/// Only the root is required. Overrides change only the header.
#[track_caller]
pub fn file(json: &str) -> Vec<u8> {
    let file: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let keys = ["kind", "root", "header", "data", "align", "trailing"];
    only(&file, &keys);
    let schema = match file.get("kind").map(|kind| kind.as_str().unwrap()) {
        None | Some("pte") => &program::desc::SCHEMA,
        Some("ptd") => &flat_tensor::desc::SCHEMA,
        Some("ptd-legacy") => &flat_tensor_legacy::desc::SCHEMA,
        Some(kind) => panic!("kind {kind:?}"),
    };
    let mut root = file["root"].clone();
    write_options(&mut root);
    let root = load::read(&root.to_string(), schema.root, &mut load::no_files);
    let root = root.unwrap_or_else(|error| panic!("{error}"));
    let pieces = file.get("data").map_or(&[][..], |data| data.as_array().unwrap());
    let data: Vec<u8> = pieces.iter().flat_map(bytes).collect();
    let header = file.get("header").cloned().unwrap_or_else(|| {
        let has_one = schema.extension == "ptd" || !data.is_empty();
        if has_one { json!({}) } else { Value::Null }
    });
    let align = file.get("align").map_or(16, |align| align.as_u64().unwrap());
    let mut out = assemble(schema, &root, &header, &data, align);
    out.extend(file.get("trailing").map(bytes).unwrap_or_default());
    out
}

/// Replaces the options in a description by the bytes of their FlatBuffers.
#[track_caller]
fn write_options(json: &mut Value) {
    let kinds = [("qnn", &qnn::desc::SCHEMA), ("qnn-legacy", &qnn_legacy::desc::SCHEMA)];
    let options = kinds.iter().find_map(|(key, schema)| Some((json.get(key)?, schema)));
    if let Some((options, schema)) = options {
        let root = load::read(&options.to_string(), schema.root, &mut load::no_files);
        let root = root.unwrap_or_else(|error| panic!("{error}"));
        *json = json!(write::write(schema, &root, &[], &WriterLayout::default()).unwrap());
        return;
    }
    match json {
        Value::Array(list) => list.iter_mut().for_each(write_options),
        Value::Object(fields) => fields.values_mut().for_each(write_options),
        _ => {}
    }
}

/// Returns the file of `root`, with `data` at the next multiple of `align`. `header` is null for none, or an
/// object of overrides.
#[track_caller]
pub fn assemble(
    schema: &Schema,
    root: &Object<'_>,
    header: &Value,
    data: &[u8],
    align: u64,
) -> Vec<u8> {
    let is_pte = schema.extension == "pte";
    let length = number(header, "length", if is_pte { 32 } else { 40 });
    let chunk = match header {
        Value::Null => 0,
        _ => length.max(32).next_multiple_of(16),
    };
    let mut out =
        write::write(schema, root, &vec![0; chunk as usize], &WriterLayout::default()).unwrap();
    let end = out.len() as u64;
    let (base, size) = (end.next_multiple_of(align), data.len() as u64);
    if !header.is_null() {
        let of = |name, computed| number(header, name, computed);
        let length = u32::try_from(length).unwrap();
        let segment_base_offset = of("segment_base_offset", base);
        let segment_data_size = of("segment_data_size", size);
        let header = if is_pte {
            only(header, &PTE_FIELDS);
            let program_size = of("program_size", end);
            ExtendedHeader { length, program_size, segment_base_offset, segment_data_size }
                .to_bytes()
        } else {
            only(header, &PTD_FIELDS);
            let flatbuffer_offset = of("flatbuffer_offset", chunk);
            let flatbuffer_size = of("flatbuffer_size", end - chunk);
            FlatTensorHeader {
                length,
                flatbuffer_offset,
                flatbuffer_size,
                segment_base_offset,
                segment_data_size,
            }
            .to_bytes()
        };
        out[8..8 + header.len()].copy_from_slice(&header);
    }
    if !header.is_null() || !data.is_empty() {
        out.resize(base as usize, 0);
        out.extend_from_slice(data);
    }
    harvest(&out);
    out
}

#[track_caller]
fn only(object: &Value, known: &[&str]) {
    for key in object.as_object().unwrap().keys() {
        assert!(known.contains(&key.as_str()), "{key:?} is none of {known:?}");
    }
}

#[track_caller]
fn number(header: &Value, name: &str, computed: u64) -> u64 {
    header.get(name).map_or(computed, |value| value.as_u64().unwrap())
}

#[track_caller]
fn bytes(piece: &Value) -> Vec<u8> {
    only(
        piece,
        &[
            "hex",
            "zeros",
            "bytes",
            "xnnpack",
            "vulkan",
            "mlx",
            "native",
            "tosa",
            "vgf",
            "openvino",
            "constants",
            "size",
        ],
    );
    let size = || usize::try_from(piece["size"].as_u64().unwrap()).unwrap();
    let constants = piece.get("constants").map_or(0, |count| count.as_u64().unwrap());
    if let Some(graph) = piece.get("mlx") {
        return mlx_payload(graph, size());
    }
    if let Some(model) = piece.get("openvino") {
        let constants = vec![0; usize::try_from(constants).unwrap()];
        return padded(openvino::payload(&constants, model.as_str().unwrap()), size());
    }
    if let Some(parts) = piece.get("vgf") {
        return padded(vgf_payload(parts), size());
    }
    if let Some(graph) = piece.get("tosa") {
        return padded(write_graph(&tosa::desc::SCHEMA, graph), size());
    }
    if let Some(graph) = piece.get("native") {
        return padded(write_graph(&native::desc::SCHEMA, graph), size());
    }
    if let Some(graph) = piece.get("xnnpack") {
        return payload(graph, constants, size());
    }
    if let Some(graph) = piece.get("vulkan") {
        return payload_with(b"VH00", &vulkan::desc::SCHEMA, graph, constants, size());
    }
    match piece.as_object().unwrap().iter().next().unwrap() {
        (key, count) if key == "zeros" => vec![0; count.as_u64().unwrap() as usize],
        (key, hex) if key == "hex" => {
            let hex = hex.as_str().unwrap();
            assert!(hex.len().is_multiple_of(2), "whole bytes: {hex}");
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            (0..hex.len()).step_by(2).map(byte).collect()
        }
        (_, bytes) => {
            let byte = |byte: &Value| u8::try_from(byte.as_u64().unwrap()).unwrap();
            bytes.as_array().unwrap().iter().map(byte).collect()
        }
    }
}

/// Returns an MLX payload of `size` bytes.
#[track_caller]
fn mlx_payload(graph: &Value, size: usize) -> Vec<u8> {
    let graph = write_graph(&mlx::desc::SCHEMA, graph);
    let end = 24 + graph.len();
    let mut out = b"\0\0\0\0MLX0".to_vec();
    out.extend([end as u64, 0].map(u64::to_le_bytes).concat());
    out.extend(graph);
    padded(out, size)
}

/// Returns a VGF payload: a header, a FlatBuffer for each kind of table, and the table of constants with `zeros` behind
/// it.
#[track_caller]
fn vgf_payload(parts: &Value) -> Vec<u8> {
    let number = |of: &Value, name: &str| of[name].as_i64().unwrap();
    let constants = parts["constants"].as_array().unwrap();
    let mut section = b"CONST00\0".to_vec();
    section.extend((constants.len() as u64).to_le_bytes());
    for constant in constants {
        section.extend((number(constant, "mrt_index") as u32).to_le_bytes());
        section.extend((number(constant, "sparsity_dimension") as i32).to_le_bytes());
        let range = ["size", "offset"].map(|name| number(constant, name).to_le_bytes());
        section.extend(range.concat());
    }
    section.resize(section.len() + number(parts, "zeros") as usize, 0);
    let tables = [
        ("modules", &schema::desc::ModuleTable),
        ("sequence", &schema::desc::ModelSequenceTable),
        ("resources", &schema::desc::ModelResourceTable),
    ];
    let tables = tables
        .map(|(name, root)| write_graph(&Schema { root, ..schema::desc::SCHEMA }, &parts[name]));
    let [modules, sequence, resources] = tables;
    vgf([modules, sequence, resources, section], number(parts, "minor") as u8)
}

/// Returns a VGF payload with these sections: the modules, the sequence, the resources and the constants.
pub fn vgf(sections: [Vec<u8>; 4], minor: u8) -> Vec<u8> {
    let mut out = b"VGF1\0\0\0\0".to_vec();
    out.extend([0, minor, 0, 0, 0, 0, 0, 0]);
    out.resize(128, 0);
    for (nth, part) in sections.into_iter().enumerate() {
        out.resize(out.len().next_multiple_of(8), 0);
        let range = [out.len(), part.len()].map(|number| (number as u64).to_le_bytes());
        out[16 + 16 * nth..][..16].copy_from_slice(&range.concat());
        out.extend(part);
    }
    out
}

/// Returns the FlatBuffer of a graph.
#[track_caller]
pub fn write_graph(schema: &Schema, graph: &Value) -> Vec<u8> {
    let root = load::read(&graph.to_string(), schema.root, &mut load::no_files);
    let root = root.unwrap_or_else(|error| panic!("{error}"));
    write::write(schema, &root, &[], &WriterLayout::default()).unwrap()
}

/// Returns a payload with zeros behind it, `size` bytes in all.
#[track_caller]
fn padded(mut payload: Vec<u8>, size: usize) -> Vec<u8> {
    assert!(payload.len() <= size, "{} bytes do not fit {size}", payload.len());
    payload.resize(size, 0);
    payload
}

/// Returns an XNNPACK payload of `size` bytes. Its graph is followed by `constants` bytes of zeros.
#[track_caller]
pub fn payload(graph: &Value, constants: u64, size: usize) -> Vec<u8> {
    payload_with(b"XH00", &xnnpack::desc::SCHEMA, graph, constants, size)
}

/// Returns a payload of `size` bytes with a header like those of XNNPACK and Vulkan. Its graph is followed by
/// `constants` bytes of zeros.
#[track_caller]
fn payload_with(
    magic: &[u8; 4],
    schema: &'static Schema,
    graph: &Value,
    constants: u64,
    size: usize,
) -> Vec<u8> {
    let root = load::read(&graph.to_string(), schema.root, &mut load::no_files);
    let root = root.unwrap_or_else(|error| panic!("{error}"));
    let graph = write::write(schema, &root, &[], &WriterLayout::default()).unwrap();
    let len = u32::try_from(graph.len()).unwrap();
    let end = 32 + len.next_multiple_of(16);
    let mut out = [b"\0\0\0\0", magic, b"\x1e\0".as_slice()].concat();
    out.extend([32, len, end].iter().flat_map(|word: &u32| word.to_le_bytes()));
    out.extend(constants.to_le_bytes());
    out.resize(32, 0);
    out.extend(graph);
    assert!(out.len() as u64 + constants <= size as u64, "{} bytes do not fit {size}", out.len());
    out.resize(size, 0);
    out
}

const PTE_FIELDS: [&str; 4] =
    ["length", "program_size", "segment_base_offset", "segment_data_size"];
const PTD_FIELDS: [&str; 5] =
    ["length", "flatbuffer_offset", "flatbuffer_size", "segment_base_offset", "segment_data_size"];
