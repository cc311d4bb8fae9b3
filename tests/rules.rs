//! Rules on meaning, each on a genuine file of which one thing was changed through its JSON.

use std::fs;

use pte::check::Report;
use pte::pte::{Arena, Storage};
use pte::schema::program::view::KernelTypes;
use pte::{Limits, Ptd, Pte};
use serde_json::{Value, json};

use crate::support::build;
use crate::support::json::dump;

/// The program `file`, changed; without its segments, so that what is constant does not resolve.
fn changed(file: &str, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let bytes = fs::read(format!("tests/data/pte/{file}")).unwrap();
    let mut root: Value = serde_json::from_str(&dump(&bytes)).unwrap();
    change(&mut root);
    build::file(&json!({ "kind": "pte", "root": root }).to_string())
}

fn errors(report: &Report) -> Vec<&'static str> {
    let found = report.findings().iter().map(|finding| finding.rule);
    found.filter(|rule| rule.severity == pte::check::Severity::Error).map(|rule| rule.id).collect()
}

/// add.pte: one call of aten::add.out with `[0, 1, 3, 2, 2]`.
#[test]
fn calls_have_the_arguments_that_the_operator_takes() {
    let judged = |args: Value| {
        let bytes = changed("add.pte", |root| {
            let chain = &mut root["execution_plan"][0]["chains"][0];
            chain["instructions"][0]["instr_args"]["args"] = args;
        });
        errors(&Pte::read(&bytes).unwrap().check())
    };
    assert!(judged(json!([0, 1, 3, 2, 2])).is_empty());
    assert_eq!(judged(json!([0, 1, 3, 2])), ["args-count"]);
    assert_eq!(judged(json!([0, 1, 3, 2, 2, 2])), ["args-count"]);
    assert_eq!(judged(json!([0, 3, 3, 2, 2])), ["args-type"], "an Int for a Tensor");
    assert_eq!(judged(json!([0, 1, 1, 2, 2])), ["args-type"], "a Tensor for a Scalar");
    assert_eq!(judged(json!([0, 4, 3, 2, 2])), ["args-index"]);
}

#[test]
fn external_data_has_the_tensor_s_shape() {
    let data = fs::read("tests/data/ptd/external_all.default_external_constant.ptd").unwrap();
    let data = Ptd::read(&data).unwrap();
    let judged = |field: &str, value: Value| {
        let bytes = changed("external_all.pte", |root| {
            root["execution_plan"][0]["values"][0]["val"][field] = value;
        });
        let pte = Pte::read(&bytes).unwrap();
        errors(&pte.check_with_data(std::slice::from_ref(&data), &Limits::UNTRUSTED))
    };
    assert!(judged("requires_grad", json!(false)).is_empty());
    assert_eq!(judged("scalar_type", json!("INT")), ["external-layout"]);
    assert_eq!(judged("sizes", json!([16, 32])), ["external-layout"]);
    assert_eq!(judged("dim_order", json!([1, 0])), ["external-layout"]);
}

/// Both halves of an offset count: `memory_offset_low | memory_offset_high << 32`.
#[test]
fn planned_offsets_have_two_halves() {
    let bytes = changed("add.pte", |root| {
        root["execution_plan"][0]["values"][0]["val"]["allocation_info"]["memory_offset_high"] =
            json!(3);
    });
    let pte = Pte::read(&bytes).unwrap();
    let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
    let Some(KernelTypes::Tensor(tensor)) = plan.values().unwrap().get(0).unwrap().val() else {
        panic!("a tensor");
    };
    let place = Arena { memory_id: 1, offset: 3 << 32 | 96 };
    assert_eq!(pte.storage(tensor), Ok(Storage::Planned { place, initial: None }));
    assert_eq!(errors(&pte.check()), ["planned-out-of-bounds"]);
}
