//! The options of QNN in compile specs, and its payloads.

use serde_json::{Value, json};

use super::fixtures::{is_broken, judge};
use crate::support::fixture::Fixture;

/// Returns the findings in the program of `base/qnn.json`, after a change of its compile specs.
fn judged(change: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    let Fixture(mut program) = Fixture::read("base/qnn").unwrap();
    change(&mut program["root"]["execution_plan"][0]["delegates"][0]);
    judge(&Fixture(program))
}

fn options(delegate: &mut Value) -> &mut Value {
    &mut delegate["compile_specs"][0]["value"]["qnn"]
}

fn remove(options: &mut Value, field: &str) {
    options.as_object_mut().unwrap().remove(field).unwrap();
}

#[test]
fn what_the_backend_reads_is_there() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 10] = [
        ("no soc_info", |o| remove(o, "soc_info")),
        ("no backend_options", |o| remove(o, "backend_options")),
        ("no library_path", |o| remove(o, "library_path")),
        ("no htp_info", |o| remove(&mut o["soc_info"], "htp_info")),
        ("no htp_options", |o| {
            remove(&mut o["backend_options"], "htp_options");
        }),
        ("no gpu_options", |o| o["backend_options"]["backend_type"] = json!("kGpuBackend")),
        ("no lpai_options", |o| o["backend_options"]["backend_type"] = json!("kLpaiBackend")),
        ("no lpai_info", |o| {
            o["backend_options"] = json!({"backend_type": "kLpaiBackend", "lpai_options": {}});
        }),
        ("dump_intermediate_outputs at a log level", |o| {
            o["dump_intermediate_outputs"] = json!(true);
            o["log_level"] = json!("kLogLevelInfo");
        }),
        ("dump_intermediate_outputs at a log level", |o| {
            o["dump_intermediate_outputs"] = json!(true);
            o["log_level"] = json!(77);
        }),
    ];
    for (part, change) in changes {
        is_broken(&judged(|delegate| change(options(delegate))), "qnn-options", part);
    }
    let quiet = judged(|delegate| options(delegate)["dump_intermediate_outputs"] = json!(true));
    assert_eq!(quiet, []);
}

#[test]
fn the_last_spec_counts_and_its_key_ends_at_a_nul() {
    let junk = |key: &str| json!({"key": key, "value": [1, 2, 3, 4]});
    let push = |delegate: &mut Value, spec: Value| {
        delegate["compile_specs"].as_array_mut().unwrap().push(spec);
    };
    let none = judged(|delegate| delegate["compile_specs"] = json!([]));
    is_broken(&none, "qnn-options", "no compile spec qnn_compile_spec");
    assert_eq!(judged(|delegate| push(delegate, junk("other"))), []);
    for key in ["qnn_compile_spec", "qnn_compile_spec\0x"] {
        is_broken(&judged(|delegate| push(delegate, junk(key))), "qnn-options", "at byte 0x0");
        let first = judged(|delegate| {
            delegate["compile_specs"].as_array_mut().unwrap().insert(0, junk(key));
        });
        assert_eq!(first, [], "{key}");
    }
    // So does the name of the backend: `delegate-id-nul` is the warning on it.
    let found = judged(|delegate| {
        delegate["id"] = json!("QnnBackend\0x");
        delegate["compile_specs"] = json!([]);
    });
    assert!(found.iter().any(|(rule, _)| rule == "qnn-options"), "{found:?}");
}

/// Options as `flatc` makes them of release 0.6's schema: for SM8650, with online_prepare and graph_name "forward".
const FIRST: &str = concat!(
    "140000001000180008000c0010001400000007001000000000000001580000002800000010000000",
    "04000000000000000000000007000000666f72776172640008000e00040008000800000002000000",
    "1400000000000e000800000000000000000004000e000000040000000000000000000000f4ffffff",
    "390000000c00000008000c0004000800080000004b00000008000000",
);

/// A current reader takes the field graph_name of releases up to 0.6 for library_path.
#[test]
fn the_options_of_release_0_6_are_known() {
    let byte = |at| u8::from_str_radix(&FIRST[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..FIRST.len()).step_by(2).map(byte).collect();
    let found = judged(|delegate| delegate["compile_specs"][0]["value"] = json!(bytes));
    is_broken(&found, "qnn-old", "before 1.2");
}

/// `info` shows the chip and the processor that the options name.
#[test]
fn the_summary_has_the_target_of_the_options() {
    use pte::summary::{ContentSummary, Summary};
    use pte::{Handle, Limits};

    let bytes = Fixture::read("base/qnn").unwrap().parts().bytes;
    let handle = Handle::open(&bytes[..], &Limits::UNTRUSTED).unwrap();
    let summary = Summary::read(&handle, &Limits::UNTRUSTED).unwrap();
    let ContentSummary::Pte(program) = summary.contents else { panic!("not a program") };
    let sections = program.backends[0].sections.as_ref().unwrap();
    let targets: Vec<_> = sections.targets.iter().map(ToString::to_string).collect();
    assert_eq!(targets, ["SM8650 kHtpBackend"]);
}

#[test]
fn libraries_of_op_packages_are_named() {
    let found = judged(|delegate| {
        let packages = json!([{"op_package_path": ""}, {"op_package_path": "./libours.so"}]);
        options(delegate)["op_package_options"] = json!({"op_package_infos": packages});
    });
    is_broken(&found, "qnn-library", "\"./libours.so\"");
}

/// A path of any form is a library that the runtime would load.
#[test]
fn any_library_is_named() {
    for path in ["x", "libours.so", "/tmp/ours", "C:\\ours.dll"] {
        let found = judged(|delegate| options(delegate)["library_path"] = json!(path));
        is_broken(&found, "qnn-library", "the options name the library");
    }
}

/// The backend reads a header of 20 bytes.
#[test]
fn a_payload_has_its_header() {
    let found = |len: u32| {
        let Fixture(mut program) = Fixture::read("base/qnn").unwrap();
        program["data"][0] = json!({"zeros": len});
        program["root"]["segments"][0]["size"] = json!(len);
        judge(&Fixture(program))
    };
    for len in [1, 19] {
        is_broken(&found(len), "qnn-payload", &format!("a payload of {len} bytes"));
    }
    for len in [20, 21, 1536] {
        assert_eq!(found(len), [], "{len}");
    }
}
