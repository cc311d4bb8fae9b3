//! Tables of payloads, with errors that the tables of models cannot have.

use pte::Limits;
use pte::payload::{Tables, TablesPlace, Unreadable};

use super::{Case, case_of};
use crate::support::asm::Asm;

pub(super) fn cases() -> Vec<Case> {
    let name = |asm: Asm| case("offset-out-of-bounds", "A name behind the end", &asm, "name");
    vec![
        case("field-missing", "A graph of TOSA without a version", &graph(), "program^"),
        case("field-missing", "A graph of MLX without its chains", &mlx(), "program^"),
        case("nesting-limit", "Graphs of the native backend, 13 deep", &nested(13, 1), "graph13"),
        case("work-limit", "A graph in two arguments, 12 times", &nested(12, 2), "nodes11*"),
        name(names().patch("name", u32::MAX.to_le_bytes())),
        case(
            "string-not-terminated",
            "A name in a list that does not end",
            &names().patch("name*+5", [1]),
            "name*+5",
        ),
    ]
}

/// Reads a payload, which must be refused.
#[track_caller]
fn case(code: &'static str, attack: &'static str, asm: &Asm, at: &str) -> Case {
    let bytes = asm.finish();
    let place = TablesPlace::of(&bytes, bytes.len() as u64).expect(attack).expect(attack);
    match Tables::read(&place, &bytes[place.range.start as usize..], &Limits::UNTRUSTED) {
        Err(Unreadable::Graph(error)) => case_of(code, attack, error, asm.at(at)),
        other => panic!("{attack}: {other:?}"),
    }
}

/// A graph of TOSA without a version.
fn graph() -> Asm {
    Asm::new().link("program").bytes(b"TOSA").table("program", 4, &[])
}

/// A payload of MLX whose graph has no fields.
fn mlx() -> Asm {
    let asm = Asm::new().zeros(4).bytes(b"MLX0").u64_from("start", "end").zeros(8);
    asm.link("program").zeros(4).table("program", 4, &[]).label("end")
}

/// A program of the native backend with `depth` nested graphs: a node of each graph has the next
/// graph as an argument, `times` times.
fn nested(depth: u32, times: u32) -> Asm {
    let asm = Asm::new().link("program").bytes(b"NPTG").table("program", 8, &[0, 4]);
    let asm = asm.link("methods").vector("methods", 4, 1).link("method");
    let asm = asm.table("method", 12, &[4, 8]).link("name").link("graph0").string("name", "m");
    let asm = (0..depth).fold(asm, |asm, nth| level(asm, nth, times));
    let last = format!("graph{depth}");
    asm.table(&last, 8, &[4]).link("nodes").vector("nodes", 4, 0).label("end")
}

/// A graph of [`nested`], up to the offset to the next one.
fn level(asm: Asm, nth: u32, times: u32) -> Asm {
    let name = |what: &str| format!("{what}{nth}");
    let [nodes, node, label, inputs] = ["nodes", "node", "label", "inputs"].map(name);
    let [input, arg, value, text] = ["input", "arg", "value", "text"].map(name);
    let asm = asm.table(&name("graph"), 8, &[4]).link(&nodes).vector(&nodes, 4, 1).link(&node);
    let asm = asm.table(&node, 12, &[4, 0, 0, 8]).link(&label).link(&inputs).string(&label, "n");
    let asm = asm.vector(&inputs, 4, times);
    let asm = (0..times).fold(asm, |asm, _| asm.u32_to(format!("{input}*")));
    let asm = asm.table(&input, 8, &[0, 4]).link(&arg);
    let asm = asm.table(&arg, 12, &[8, 4]).link(&value).u8(13).zeros(3);
    let asm = asm.table(&value, 12, &[4, 8]).link(&text).link(format!("graph{}", nth + 1));
    asm.string(&text, "g")
}

/// A graph of TOSA whose only block has one input, with the name `x`.
fn names() -> Asm {
    let asm = Asm::new().link("program").bytes(b"TOSA").table("program", 12, &[4, 8]);
    let asm = asm.link("version").link("regions").table("version", 4, &[]);
    let asm = asm.vector("regions", 4, 1).link("region").table("region", 8, &[0, 4]);
    let asm = asm.link("blocks").vector("blocks", 4, 1).link("block");
    let asm = asm.table("block", 8, &[0, 0, 0, 4]).link("inputs").vector("inputs", 4, 1);
    asm.link("name").string("name", "x").label("end")
}

#[test]
fn a_graph_with_names_is_read() {
    let bytes = names().finish();
    let place = TablesPlace::of(&bytes, bytes.len() as u64).unwrap().unwrap();
    assert!(Tables::read(&place, &bytes, &Limits::UNTRUSTED).is_ok());
}

#[test]
fn graphs_nested_as_deep_as_the_limit_are_read() {
    let bytes = nested(12, 1).finish();
    let place = TablesPlace::of(&bytes, bytes.len() as u64).unwrap().unwrap();
    let tables = Tables::read(&place, &bytes, &Limits::UNTRUSTED).unwrap();
    let mut json = String::new();
    let options = pte::flat::json::Options { pretty: true, blob: |_: &[u8]| None };
    tables.write_json(options, 0, &mut json).unwrap();
    assert_eq!(json.matches("\"graph\": {").count(), 13);
    let file = pte::map::OtherFile::read(&bytes.as_slice(), &Limits::UNTRUSTED).unwrap().unwrap();
    assert_eq!(file.unwrap().map().root().bytes(), bytes.len() as u64);
}
