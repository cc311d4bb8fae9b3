//! Payloads of Core ML and of Ethos-U: the operations and the constants in genuine programs, and damaged ones.

use pte::Backend;
use pte::Limits;
use pte::graph::PayloadGraph;
use pte::payload::command_stream::{Step, Work, decode};
use pte::payload::coreml::mil::Model;
use pte::payload::coreml::{Blob, Metadata, Package};
use pte::payload::ethosu::Blocks;
use pte::payload::{PayloadContents, Sections};
use pte::tensors::ConstantRow;
use pte::{Handle, Pte};

use crate::support::coreml::field;
use crate::support::files;

/// The payload of a sample.
fn payload(name: &str) -> Vec<u8> {
    let file = files::read(format!("tests/data/pte/{name}")).unwrap();
    let program = Pte::read(&file).unwrap();
    let range = program.payloads().next().unwrap().unwrap().range();
    program.bytes(range).unwrap().to_vec()
}

/// The sections of a payload.
fn sections(backend: Backend, payload: &[u8]) -> Sections {
    let read = |range: std::ops::Range<u64>| {
        Ok::<_, ()>(payload[range.start as usize..range.end as usize].to_vec())
    };
    Sections::of(backend, payload.len() as u64, read).unwrap().unwrap().unwrap()
}

/// The names of the operators in a sample.
fn operators(name: &str) -> Vec<String> {
    let file = files::read(format!("tests/data/pte/{name}")).unwrap();
    let handle = Handle::open(&file[..], &Limits::UNTRUSTED).unwrap();
    let graphs = PayloadGraph::all(&handle, &Limits::UNTRUSTED).unwrap();
    let nodes =
        graphs.iter().flat_map(|graph| graph.nodes(true).filter(|node| node.value.is_none()));
    nodes.map(|node| node.name.unwrap().raw().to_string()).collect()
}

/// The model in a payload of Core ML.
fn model() -> Vec<u8> {
    let payload = payload("coreml_mlp.pte");
    let range = Package::new(sections(Backend::CoreMl, &payload)).model().unwrap();
    payload[range.start as usize..range.end as usize].to_vec()
}

#[test]
fn an_ml_program_has_its_operations_in_order() {
    assert_eq!(operators("coreml_mlp.pte"), ["linear", "relu", "linear"]);
}

#[test]
fn constants_of_an_ml_program_have_names_and_shapes() {
    let file = files::read("tests/data/pte/coreml_mlp.pte").unwrap();
    let handle = Handle::open(&file[..], &Limits::UNTRUSTED).unwrap();
    let contents = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
    let rows = contents.iter().flat_map(ConstantRow::of_payload).map(|row| {
        let name = row.constant.name.as_ref().unwrap().as_untrusted().raw().to_string();
        (name, row.constant.dims.clone(), row.bytes().unwrap())
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort();
    let expected = [
        ("p_0_bias", vec![16], 64),
        ("p_0_weight", vec![16, 16], 1024),
        ("p_2_bias", vec![4], 16),
        ("p_2_weight", vec![4, 16], 256),
    ];
    assert_eq!(rows, expected.map(|(name, dims, bytes)| (name.to_string(), dims, bytes)));
}

#[test]
fn a_model_names_its_specification_and_its_systems() {
    let version = sections(Backend::CoreMl, &payload("coreml_mlp.pte")).version;
    assert_eq!(version.as_deref(), Some("specification 6 (iOS 15, macOS 12)"));
}

#[test]
fn names_of_files_that_lead_out_of_their_folder_are_refused() {
    for name in ["..", ".", "", "a/b", "/a", "a\\\\b"] {
        let file = r#"{"name":"NAME","kind":0,"dataRegion":{"offset":0,"size":0},"children":{}}"#;
        let root = r#"{"name":"","kind":1,"dataRegion":{"offset":0,"size":0},"children":{"a":0}}"#;
        let refuses = |name: &str| {
            let nodes = format!(r#"{{"nodes":[{},{root}]}}"#, file.replace("NAME", name));
            let payload: Vec<u8> = nodes.bytes().rev().collect();
            let read = |range: std::ops::Range<u64>| {
                Ok::<_, ()>(payload[range.start as usize..range.end as usize].to_vec())
            };
            Sections::of(Backend::CoreMl, payload.len() as u64, read).unwrap().unwrap().is_err()
        };
        assert!(!refuses("a") && refuses(name), "{name}");
    }
}

#[test]
fn a_model_that_is_cut_has_fewer_operations_or_is_refused() {
    let model = model();
    let count = |bytes: &[u8]| {
        let model = Model::read(bytes).ok()?;
        let blocks = model.functions().filter_map(|function| function.block());
        Some(blocks.flat_map(|block| block.operations()).count())
    };
    let whole = count(&model).unwrap();
    assert!(whole > 3);
    for len in 0..model.len() {
        assert!(count(&model[..len]).is_none_or(|count| count <= whole), "{len} bytes");
    }
}

#[test]
fn messages_nested_deeper_than_the_official_readers_go_are_refused() {
    // A value of a list of values, again and again; an ML Program has it as an attribute.
    let nested = |depth: usize| {
        let value = (0..depth).fold(Vec::new(), |value, _| field(3, &field(3, &field(1, &value))));
        field(502, &field(4, &field(2, &value)))
    };
    assert!(Model::read(&nested(30)).is_ok());
    assert!(Model::read(&nested(40)).is_err());
}

#[test]
fn metadata_has_the_names_of_one_method_or_of_each() {
    let one = Metadata::read(br#"{"inputNames":["x"],"outputNames":["y","z"]}"#).unwrap();
    assert_eq!(one.method("any").unwrap().outputs, ["y", "z"]);
    assert_eq!(one.count("any"), Some(3));
    let all = br#"{"methods":{"f":{"inputNames":[],"outputNames":["y"]}}}"#;
    let all = Metadata::read(all).unwrap();
    assert_eq!(all.method("f").unwrap().outputs, ["y"]);
    assert!(all.method("g").is_none() && all.only().is_none());
    assert!(Metadata::read(b"{").is_none());
    let none = br#"{"methods":{},"inputNames":["x"],"outputNames":["y"]}"#;
    assert_eq!(Metadata::read(none).unwrap().only().unwrap().inputs, ["x"], "no list of methods");
}

/// Returns a model whose block of the opset `CoreML7` has one constant behind a block of another opset: the number of
/// its datatype, its sizes, and the field of its elements with their bytes.
fn model_of(datatype: u8, sizes: &[u8], list: u32, elements: &[u8]) -> Vec<u8> {
    let sizes = sizes.iter().flat_map(|&size| field(3, &field(1, &[8, size])));
    let tensor = [vec![8, datatype], sizes.collect()].concat();
    let elements = field(3, &field(1, &field(list, &field(1, elements))));
    let value = [field(2, &field(1, &tensor)), elements].concat();
    let attribute = field(5, &[field(1, b"val"), field(2, &value)].concat());
    let operation = [field(1, b"const"), attribute].concat();
    let blocks = [(&b"CoreML5"[..], Vec::new()), (b"CoreML7", field(3, &operation))];
    let blocks = blocks.map(|(name, block)| field(3, &[field(1, name), field(2, &block)].concat()));
    let function = [field(2, b"CoreML7"), blocks.concat()].concat();
    field(502, &field(2, &[field(1, b"main"), field(2, &function)].concat()))
}

/// Elements in the model have the sign and the width of their datatype, and are those of the function's own opset.
#[test]
fn elements_in_a_model_are_those_of_their_datatype() {
    let minus_one = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    for (datatype, list, elements, shown) in [
        (11, 1, &1.5f32.to_le_bytes()[..], "Float(1.5)"),
        (23, 2, &[0xac, 0x02], "Int(300)"),
        (23, 2, &minus_one, "Int(-1)"),
        (24, 5, &[0xac, 0x02], "Int(300)"),
        (1, 3, &[1], "Bool(true)"),
        (1, 3, &[0], "Bool(false)"),
        (2, 4, b"same", "Text(\"same\")"),
        (10, 7, &[0x00, 0xc0], "Float(-2.0)"),
        (21, 7, &[0xff], "Int(-1)"),
        (31, 7, &[0xff], "Int(255)"),
    ] {
        let bytes = model_of(datatype, &[], list, elements);
        let model = Model::read(&bytes).unwrap();
        let block = model.functions().next().unwrap().block().unwrap();
        let operation = block.operations().next().expect("the block of the opset");
        let (_, constant) = operation.attributes().next().unwrap();
        assert_eq!(format!("{:?}", constant.literal().unwrap()), shown, "{datatype}");
    }
}

#[test]
fn numbers_that_end_early_and_fields_without_a_number_are_refused() {
    for (elements, is_good) in [(&[0xac, 0x02][..], true), (&[], true), (&[0xac], false)] {
        assert_eq!(Model::read(&model_of(23, &[2], 2, elements)).is_ok(), is_good);
    }
    for number in [0, 1] {
        assert_eq!(Model::read(&[number << 3, 8]).is_ok(), number == 1);
    }
}

/// The last byte of elements that have fewer bits is there whole.
#[test]
fn elements_of_fewer_bits_have_whole_bytes() {
    for (datatype, sizes, bytes) in [
        (25, &[3][..], 2),
        (25, &[2, 2], 2),
        (37, &[9], 2),
        (38, &[4], 3),
        (39, &[3], 2),
        (11, &[3], 12),
        (1, &[3], 3),
    ] {
        let model = model_of(datatype, sizes, 7, &[]);
        let model = Model::read(&model).unwrap();
        let block = model.functions().next().unwrap().block().unwrap();
        let (_, constant) = block.operations().next().unwrap().attributes().next().unwrap();
        assert_eq!(constant.of().bytes(), Some(bytes), "{datatype} {sizes:?}");
    }
}

#[test]
fn bools_are_stored_as_any_small_integer() {
    let of = |datatype: u32| Blob { sentinel: Blob::SENTINEL, datatype, range: 0..1 };
    let known = "FLOAT16 FLOAT32 UINT8 INT8 BFLOAT16 INT16 UINT16 INT4 UINT1 UINT2 UINT4 UINT3 UINT6 INT32 UINT32 \
                 FLOAT8E4M3FN FLOAT8E5M2";
    for (number, name) in (1..).zip(known.split_whitespace()) {
        let fits = (0..20).filter(|&other| of(other).is_of(name));
        assert_eq!(fits.collect::<Vec<_>>(), [number], "{name}");
    }
    assert!([3, 4].into_iter().all(|datatype| of(datatype).is_of("BOOL")));
}

/// The driver's actions in a payload of Ethos-U, with its blocks.
fn commands() -> (Vec<u8>, Blocks) {
    let payload = payload("ethosu_add.pte");
    let blocks = Blocks::new(&sections(Backend::EthosU, &payload));
    let range = blocks.commands.clone().unwrap();
    (payload[range.start as usize..range.end as usize].to_vec(), blocks)
}

#[test]
fn a_command_stream_has_its_operations_and_their_memory() {
    assert_eq!(operators("ethosu_add.pte"), ["elementwise"]);
    let (commands, blocks) = commands();
    let mut found = Vec::new();
    decode(&commands, |step| {
        let Step::Operation(operation) = step else { panic!("an unknown command") };
        assert_eq!((operation.name, operation.mode), ("elementwise", Some("ADD")));
        let accesses = operation.accesses.into_iter();
        found.extend(accesses.map(|one| (one.name, one.region, one.range, one.is_written)));
    })
    .unwrap();
    let expected =
        [("ifm", 1, 0..256, false), ("ifm2", 1, 256..512, false), ("ofm", 1, 0..256, true)];
    assert_eq!(found, expected);
    assert_eq!(blocks.scratch, 512);
    assert_eq!(Work::of(&commands).unwrap().peak, 512);
}

#[test]
fn a_command_stream_that_is_cut_is_refused() {
    let (commands, _) = commands();
    for len in 0..commands.len() {
        assert!(decode(&commands[..len], |_| {}).is_err(), "{len} bytes");
    }
}
