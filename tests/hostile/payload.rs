//! Tables of payloads, in the ways in which no table of a model can be wrong.

use pte::Limits;
use pte::payload::{Tables, TablesPlace, Unreadable};

use super::{Case, case_of};
use crate::support::asm::Asm;

pub(super) fn cases() -> Vec<Case> {
    let name = |asm: Asm| case("offset-out-of-bounds", "A name behind the end", &asm, "name");
    vec![
        case("field-missing", "A graph of TOSA without a version", &graph(), "program^"),
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
    match Tables::read(&place, &bytes, &Limits::UNTRUSTED) {
        Err(Unreadable::Graph(error)) => case_of(code, attack, error, asm.at(at)),
        other => panic!("{attack}: {other:?}"),
    }
}

/// A graph of TOSA without a version.
fn graph() -> Asm {
    Asm::new().link("program").bytes(b"TOSA").table("program", 4, &[])
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
