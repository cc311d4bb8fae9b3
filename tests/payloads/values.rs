//! The values in graphs of Core ML and of Ethos-U: their roles, their arguments of the call, and their data.

use pte::Backend;
use pte::graph::PayloadGraph;
use pte::payload::ethosu::{Blocks, Port};
use pte::payload::graph::{DataPlace, NO_ID};
use pte::payload::{ConstantPlace, PayloadContents, Sections};
use pte::tensors::datatype_name;
use pte::{Handle, Limits};

use super::command_stream::{CONV, Stream, block, layer};
use super::vgf::with_graph_of;
use crate::support::coreml::{attribute, field, function, named, operation, package, tensor};
use crate::support::files;

/// Returns the used values of a payload in words: the role, the argument, the datatype, the sizes, and the data.
fn values(backend: Backend, payload: &[u8]) -> Vec<String> {
    with_graph_of(backend, payload, |graph| {
        let graph = graph.unwrap().unwrap();
        let row = |value: &pte::payload::graph::Value| {
            let argument = match value.argument {
                NO_ID => String::new(),
                argument => format!(" {argument}"),
            };
            let data = match graph.data_of(value).map(|data| &data.place) {
                Some(DataPlace::Payload(range)) => format!(" {} bytes", range.end - range.start),
                Some(place) => format!(" {place:?}"),
                None => String::new(),
            };
            let name = value.datatype.name().map_or("?", |name| datatype_name(name));
            format!("{:?}{argument} {name}{:?}{data}", value.role, value.dims())
        };
        graph.used_values().map(row).collect()
    })
}

/// Returns the nodes of a payload: the operator, the number of inputs and outputs, and the attributes.
fn nodes(backend: Backend, payload: &[u8]) -> Vec<String> {
    let graph =
        with_graph_of(backend, payload, |graph| PayloadGraph::of(0..0, graph.unwrap().unwrap()));
    let nodes = graph.nodes(false).filter(|node| node.value.is_none());
    let row = |node: pte::graph::PayloadNode| {
        let attributes = node.attributes.iter();
        let attributes: String =
            attributes.map(|one| format!(" {}={}", one.name.raw(), one.value.raw())).collect();
        let (inputs, outputs) = (node.inputs.unwrap().len(), node.outputs.unwrap().len());
        format!("{} {inputs} {outputs}{attributes}", node.name.unwrap().raw())
    };
    nodes.map(row).collect()
}

/// Returns a function with the inputs b, a state and a, and with the outputs y and z.
fn two(name: &str) -> Vec<u8> {
    let state = [field(1, b"s"), field(2, &field(5, &field(1, &tensor(4))))].concat();
    let inputs = [named("b", 1), state, named("a", 2)];
    let ops = [
        operation("add", &["b", "a", "s"], &[("y", 5), ("t", 6)]),
        operation("mul", &["t"], &[("z", 7)]),
    ];
    let ops = ops.map(|operation| field(3, &operation)).concat();
    function(name, &inputs, &[field(2, b"y"), field(2, b"z"), ops].concat())
}

/// The metadata has the order of a call's arguments. Without a name there it is the order of the function.
#[test]
fn inputs_and_outputs_of_coreml_are_those_of_the_metadata() {
    let of = |[b, a, y, z]: [u32; 4]| {
        let inputs = [format!("Input {b} float32[1]"), "Inner float32[4]".into()];
        let outputs = [format!("Output {y} float32[5]"), "Inner float32[6]".into()];
        let inputs = inputs.into_iter().chain([format!("Input {a} float32[2]")]);
        let all = inputs.chain(outputs).chain([format!("Output {z} float32[7]")]);
        all.collect::<Vec<_>>()
    };
    let names = r#"{"inputNames":["a","b"],"outputNames":["z","y"]}"#;
    let one = |metadata: &str| values(Backend::CoreMl, &package(&two("f"), metadata));
    assert_eq!(one(names), of([1, 0, 3, 2]));
    assert_eq!(one(r#"{"inputNames":[],"outputNames":[]}"#), of([0, 1, 2, 3]));
    // Metadata of more than 1 MiB is not read.
    let long = |len: usize| format!("{names}{}", " ".repeat(len - names.len()));
    assert_eq!(one(&long(1 << 20)), of([1, 0, 3, 2]));
    assert_eq!(one(&long((1 << 20) + 1)), of([0, 1, 2, 3]));
    // Of functions with one name, the first has the names.
    let metadata = format!(r#"{{"methods":{{"f":{names}}}}}"#);
    let all = package(&[two("f"), two("g"), two("f")].concat(), &metadata);
    let plain = of([0, 1, 2, 3]);
    assert_eq!(values(Backend::CoreMl, &all), [of([1, 0, 3, 2]), plain.clone(), plain].concat());
}

/// A constant in the model is an attribute of its readers in the same function.
#[test]
fn operations_of_coreml_have_their_values_attributes_and_blocks() {
    let constant = [operation("const", &[], &[("c", 1)]), attribute("val", 1.5)].concat();
    let inner = |operations: &[Vec<u8>]| -> Vec<u8> {
        field(4, &operations.iter().flat_map(|one| field(3, one)).collect::<Vec<u8>>())
    };
    let branch = [operation("cond", &[], &[]), inner(&[operation("mul", &[], &[])])].concat();
    let body = [constant.clone(), operation("sub", &[], &[]), branch];
    let outer = [
        operation("while_loop", &["c", "other"], &[("y", 1), ("", 2)]),
        attribute("name", 1.5),
        attribute("rate", 2.5),
        inner(&body),
    ];
    let first = [constant, outer.concat()].map(|one| field(3, &one)).concat();
    let second = field(3, &operation("relu", &["c"], &[("z", 1)]));
    let functions = [function("f", &[], &first), function("g", &[], &second)].concat();
    let payload = package(&functions, "{}");
    let expected = ["while_loop 1 1 x=1.5 rate=2.5", "relu 1 1"];
    assert_eq!(nodes(Backend::CoreMl, &payload), expected);
    let all = with_graph_of(Backend::CoreMl, &payload, |graph| {
        let graph = graph.unwrap().unwrap();
        let nodes = graph.nodes.iter();
        let row = |node: &pte::payload::graph::Node| {
            format!("{} {}", node.depth, graph.operator(node).unwrap())
        };
        nodes.map(row).collect::<Vec<_>>()
    });
    assert_eq!(all, ["0 while_loop", "1 sub", "1 cond", "2 mul", "0 relu"]);
}

/// The metadata of a blob begins with a number. Without it the constant has no data.
#[test]
fn a_blob_of_coreml_without_its_sentinel_has_no_data() {
    let file = files::read("tests/data/pte/coreml_mlp.pte").unwrap();
    let without_data = |file: &[u8]| {
        let handle = Handle::open(file, &Limits::UNTRUSTED).unwrap();
        let contents = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
        let constants = contents.iter().flat_map(|payload| &payload.constants);
        constants.filter(|constant| constant.data == ConstantPlace::Nowhere).count()
    };
    assert_eq!(without_data(&file), 0);
    let mut changed = file.clone();
    let at = file.windows(4).position(|part| part == 0xdead_beefu32.to_le_bytes()).unwrap();
    changed[at] ^= 1;
    assert_eq!(without_data(&changed), 1);
}

/// Returns a payload of Ethos-U with these blocks.
fn ethosu(blocks: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let ends = [("vela_bin_stream", Vec::new()), ("vela_end_stream", Vec::new())];
    let all = ends[..1].iter().chain(blocks).chain(&ends[1..]);
    let mut out = Vec::new();
    for (name, contents) in all {
        let mut header = name.as_bytes().to_vec();
        header.resize(16, 0);
        header.extend((contents.len() as u32).to_le_bytes());
        header.resize(32, 0);
        out.extend(header);
        out.extend(contents);
        out.resize(out.len().next_multiple_of(16), 0);
    }
    out
}

/// Returns a block of inputs or outputs: the number of elements, their size, and the offset of each.
fn ports(all: &[[u32; 3]]) -> Vec<u8> {
    let words =
        all.iter().flat_map(|&[elements, size, offset]| [elements, 1, 1, 1, 1, 1, size, offset, 0]);
    [all.len() as u32].into_iter().chain(words).flat_map(u32::to_le_bytes).collect()
}

/// A place in the scratch memory is another value after each write. The last one there is the output.
#[test]
fn values_of_ethos_u_are_those_of_places_in_memory() {
    // The first layer reads the input at 64, and the second what the first has written to 1000.
    let mut first = layer();
    first.large.extend([(0x00, 64), (0x20, 8), (0x21, 48)]);
    let next =
        |from: u32, to: u32| Stream { narrow: Vec::new(), large: vec![(0x00, from), (0x10, to)] };
    let words =
        [first.words(CONV, 0), next(1000, 2000).words(CONV, 0), next(2000, 1000).words(CONV, 0)];
    let commands = block(0, &words.concat());
    let payload = |weights: usize| {
        ethosu(&[
            ("cmd_data", commands.clone()),
            ("weight_data", vec![0; weights]),
            ("inputs", ports(&[[9, 1, 64], [8, 2, 5000], [7, 4, 6000]])),
            ("outputs", ports(&[[5, 1, 1000], [8, 2, 5000]])),
        ])
    };
    let found = values(Backend::EthosU, &payload(56));
    let layer = "uint8[4, 6, 8]";
    let inner = format!("Inner {layer}");
    let expected = [
        "Input 0 int8[9]",
        "Input 1 int16[8]",
        "Input 2 int32[7]",
        "Constant uint8[48] 48 bytes",
        &inner,
        &inner,
        &format!("Output 3 {layer}"),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        nodes(Backend::EthosU, &payload(56)),
        ["conv 2 1 kernel_width=3 kernel_height=2"; 3]
    );
    // The last byte of the weights is the last that a layer reads.
    assert!(values(Backend::EthosU, &payload(55)).iter().all(|value| !value.contains("bytes")));
}

/// A stream with more than one operation for every 16 bytes has no graph. A kernel of 1 × 1 is no attribute.
#[test]
fn a_command_stream_of_ethos_u_has_a_graph_up_to_a_number_of_operations() {
    let count = |operations: usize| {
        let again = vec![CONV; operations - 1];
        let commands = block(0, &[layer().words(CONV, 0), again].concat());
        let payload = ethosu(&[("cmd_data", commands)]);
        with_graph_of(Backend::EthosU, &payload, |graph| Some(graph.unwrap()?.nodes.len()))
    };
    // The stream has 136 bytes, and 4 for each further operation.
    assert_eq!((count(11), count(12)), (Some(11), None));
    for (width, height, expected) in [(0, 0, ""), (0, 1, " kernel_width=1 kernel_height=2")] {
        let mut stream = layer();
        stream.narrow.extend([(0x120, width), (0x121, height)]);
        let commands = block(0, &stream.words(CONV, 0));
        let found = nodes(Backend::EthosU, &ethosu(&[("cmd_data", commands)]));
        assert_eq!(found, [format!("conv 1 1{expected}")]);
    }
}

/// The number of tensors and the length of the block give the number of their dimensions.
#[test]
fn ports_of_ethos_u_have_six_dimensions_or_four() {
    let block = |count: u32, words: usize| -> Vec<u8> {
        [count].into_iter().chain((2..).take(words)).flat_map(u32::to_le_bytes).collect()
    };
    let read = |count, words| {
        let ports = Port::all(&block(count, words)).ok()?;
        Some(ports.iter().map(|port| (port.elements, port.element_size, port.offset)).collect())
    };
    let long = (2 * 3 * 4 * 5 * 6 * 7, 8, 9);
    let short = (2 * 3 * 4 * 5, 6, 7);
    for (count, words, ports) in [
        (0, 0, Some(vec![])),
        (1, 9, Some(vec![long])),
        (1, 20, Some(vec![long])),
        (1, 8, Some(vec![short])),
        (1, 7, Some(vec![short])),
        (1, 6, None),
        (2, 14, Some(vec![short, (9 * 10 * 11 * 12, 13, 14)])),
        (5, 42, None),
        (6, 42, Some(vec![])),
    ] {
        let found: Option<Vec<_>> = read(count, words);
        let found = found.map(|found| if count > 2 { Vec::new() } else { found });
        assert_eq!(found, ports, "{count} in {words} words");
    }
    let external = |flag: u8| {
        let mut payload = ethosu(&[("weight_data", vec![b'k'; 64])]);
        payload[32 + 20] = flag;
        let read = |range: std::ops::Range<u64>| {
            Ok::<_, ()>(payload[range.start as usize..range.end as usize].to_vec())
        };
        let found = Sections::of(Backend::EthosU, payload.len() as u64, read);
        let blocks = Blocks::new(&found.unwrap().unwrap().unwrap());
        (blocks.is_external, blocks.weights.is_some())
    };
    assert_eq!((external(0), external(1)), ((false, true), (true, false)));
}
