//! Graphs of the native backend and of MLX as structs, trees and JSON: recursion is bounded, and
//! written graphs can be read again.

use pte::Limits;
use pte::flat::desc::MOST_NESTED;
use pte::flat::json::Options;
use pte::flat::load;
use pte::flat::model::{Model, Nested};
use pte::flat::tree::{FieldValue, Object, SetError};
use pte::flat::write::{self, WriterLayout};
use pte::payload::{Graph, Tables, TablesPlace};
use pte::schema::native::model::{
    Argument, ArgumentValue, Graph as NativeGraph, GraphArg, Method, NamedArgument, Node, Program,
};
use pte::schema::{mlx, native};
use pte_tests::trees::object_of;

/// A graph that calls an operator named by its depth, with `inner` as an argument.
fn around(inner: Option<Nested<NativeGraph>>, target: String) -> NativeGraph {
    let value = inner.map(|graph| {
        ArgumentValue::GraphArg(GraphArg { name: Some("body".into()), graph: Some(graph) })
    });
    let arg = Some(Argument { value });
    let inputs = Some(vec![NamedArgument { arg, ..NamedArgument::default() }]);
    let (name, target) = (Some("node".into()), Some(target));
    let node = Node { name, target, inputs, ..Node::default() };
    NativeGraph { nodes: Some(vec![node]), ..NativeGraph::default() }
}

/// Returns a graph with `depth` nested graphs.
fn deep(depth: u32) -> NativeGraph {
    (0..depth).fold(around(None, "op 0".into()), |graph, nth| {
        around(Some(Nested::new(graph).unwrap()), format!("op {}", nth + 1))
    })
}

fn program(graph: NativeGraph) -> Program {
    let graph = Some(graph);
    let method = Method { name: Some("forward".into()), graph, ..Method::default() };
    Program { version: Some("1".into()), methods: Some(vec![method]) }
}

fn json(bytes: &[u8]) -> String {
    let place = TablesPlace::of(bytes, bytes.len() as u64).unwrap().unwrap();
    let region = &bytes[place.range.start as usize..place.range.end as usize];
    let tables = Tables::read(&place, region, &Limits::UNTRUSTED).unwrap();
    let mut text = String::new();
    tables.write_json(Options { pretty: false, blob: |_: &[u8]| None }, 0, &mut text).unwrap();
    text
}

fn operators(bytes: &[u8]) -> Vec<Option<String>> {
    let mut found = Vec::new();
    let read = |range: std::ops::Range<u64>| {
        Ok::<_, ()>(Some(&bytes[range.start as usize..range.end as usize]))
    };
    let backend = Some(pte::Backend::Native);
    Graph::with(backend, bytes.len() as u64, read, &Limits::UNTRUSTED, |graph| {
        let graph = graph.unwrap().unwrap();
        found = graph.operators().map(|name| name.map(String::from)).collect();
    })
    .unwrap();
    found
}

#[test]
fn structs_nest_as_deep_as_the_limit() {
    let deepest = deep(MOST_NESTED);
    let error = Nested::new(deepest.clone()).unwrap_err();
    assert!(error.to_string().contains("more than 12 deep"), "{error}");
    let program = program(deepest);
    assert_eq!(program.clone(), program);
    let object = object_of(&program);
    let layout = WriterLayout::default();
    let bytes = write::write(&native::desc::SCHEMA, &object, &[], &layout).unwrap();
    assert_eq!(Program::from_object(object), Ok(program.clone()));
    assert!(write::write(&native::desc::SCHEMA, &program, &[], &layout).unwrap() == bytes);
    let wanted: Vec<_> = (0..=MOST_NESTED).rev().map(|nth| Some(format!("op {nth}"))).collect();
    assert_eq!(operators(&bytes), wanted);
    let text = json(&bytes);
    let loaded = load::read(&text, &native::desc::Program, &mut load::no_files).unwrap();
    assert_eq!(Program::from_object(loaded), Ok(program));
}

#[test]
fn trees_nest_as_deep_as_the_limit() {
    let mut arg = Object::new(&native::desc::GraphArg);
    let graph = deep(MOST_NESTED);
    let refused = arg.set("graph", FieldValue::Table(object_of(&graph)));
    assert!(matches!(refused, Err(SetError::TooDeep)), "{refused:?}");
    let graph = deep(MOST_NESTED - 1);
    arg.set("graph", FieldValue::Table(object_of(&graph))).unwrap();
}

/// A member in front of its tag is kept as text, and read by a new reader of JSON.
#[test]
fn json_nests_as_deep_as_the_limit_in_any_order() {
    let innermost = || String::from(r#"{"nodes":[]}"#);
    let level = |inner: String, tag_first: bool| {
        let (tag, value) =
            (r#""value_type":"GraphArg""#, format!(r#""value":{{"name":"g","graph":{inner}}}"#));
        let arg = if tag_first { format!("{tag},{value}") } else { format!("{value},{tag}") };
        format!(r#"{{"nodes":[{{"name":"n","inputs":[{{"arg":{{{arg}}}}}]}}]}}"#)
    };
    let of = |depth: u32, tag_first: bool| {
        let graph = (0..depth).fold(innermost(), |inner, _| level(inner, tag_first));
        format!(r#"{{"methods":[{{"name":"m","graph":{graph}}}]}}"#)
    };
    for tag_first in [true, false] {
        let read = |depth| {
            let text = of(depth, tag_first);
            load::read(&text, &native::desc::Program, &mut load::no_files).map(drop)
        };
        assert_eq!(read(MOST_NESTED), Ok(()));
        let error = read(MOST_NESTED + 1).unwrap_err();
        assert!(error.message().contains("more than 12 deep"), "{error}");
        // Deeper than any stack.
        assert!(read(3_000).is_err());
    }
    let text = of(MOST_NESTED + 1, true);
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "it is valid JSON");
}

/// A table with more references than a layout has places, structs, and numbers that may be absent.
#[test]
fn graphs_of_mlx_are_written_and_read() {
    let text = r#"{"instruction_chains":[{"instructions":[
        {"op_type":"MetalKernelNode","op":{"name":"k","source":"s","inputs":[{"idx":1},{"idx":2}],
            "outputs":[{"idx":3}],"grid":[{"literal":4,"is_vid":false}],
            "threadgroup":[{"literal":0,"vid":{"idx":5},"is_vid":true}],"header":"h",
            "input_names":["a","b"],"output_names":["c"],"ensure_row_contiguous":false,
            "atomic_outputs":true,"output_shapes_flat":[],"output_shape_lengths":[6],
            "output_dtypes":[7],"template_arg_names":["d"],"template_arg_kinds":[1],
            "template_arg_values":[-1],"init_value":0.0}},
        {"op_type":"MetalKernelNode","op":{"name":"k","source":"s","inputs":[],"outputs":[],"grid":[],
            "threadgroup":[],"ensure_row_contiguous":true,"atomic_outputs":false}},
        {"op_type":"UpdateAndAttendNode","op":{"q":{"idx":0},"k":{"idx":1},"v":{"idx":2},
            "position":{"idx":3},"out":{"idx":4},"layer_id":0}},
        {"op_type":"FlipNode","op":{"x":{"idx":0},"out":{"idx":0},"axes":[0]}}
    ]}],"num_constant_tensors":0,"num_input_tensors":0,"num_output_tensors":0,
    "num_mutable_buffer_tensors":0,"num_temp_tensors":0,"num_values":0,"main_chain_idx":0,
    "init_chain_idx":-1}"#;
    let loaded = load::read(text, &mlx::desc::MLXGraph, &mut load::no_files).unwrap();
    for layout in &WriterLayout::ALL {
        let tables = write::write(&mlx::desc::SCHEMA, &loaded, &[], layout).unwrap();
        let end = 24 + tables.len() as u64;
        let header = [&[0; 4], &b"MLX0"[..], &end.to_le_bytes(), &[0; 8]].concat();
        let found: serde_json::Value =
            serde_json::from_str(&json(&[header, tables].concat())).unwrap();
        assert_eq!(found, serde_json::from_str::<serde_json::Value>(text).unwrap());
    }
    for wrong in [r#"{"x":1}"#, r#"{"x":{}}"#, r#"{"x":{"id":1}}"#, r#"{"x":{"idx":1,"y":2}}"#] {
        assert!(load::read(wrong, &mlx::desc::SignNode, &mut load::no_files).is_err(), "{wrong}");
    }
}
