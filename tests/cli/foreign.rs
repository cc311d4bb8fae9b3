//! Payloads and profiles as standalone files.

use super::{good, json, pte, run, text};
use crate::support::build;
use crate::support::snapshot::assert_snapshot;

const PROFILE: &str = "tests/data/other/mlp.etdp";

/// Returns the payload of the first delegate of a program, as `pte extract` writes it.
fn payload(program: &str) -> Vec<u8> {
    let done = pte(&["extract", "--delegate", "forward:0", program]);
    assert_eq!(done.status.code(), Some(0), "{program}");
    done.stdout
}

#[test]
fn info_takes_payloads_and_profiles() {
    let mut shown = good(&["info", PROFILE]);
    shown.push_str(&good(&["info", "--json", PROFILE]));
    for program in ["v1.0.0_xnn_qs8", "vulkan_conv"] {
        let bytes = payload(&format!("tests/data/pte/{program}.pte"));
        for arguments in [&["info", "-"][..], &["info", "--json", "-"]] {
            let done = run(arguments, None, &bytes);
            assert_eq!(done.status.code(), Some(0), "{program}: {}", text(&done.stderr));
            shown.push_str(&text(&done.stdout));
        }
    }
    assert_snapshot("info-other-files", &shown);
}

/// `info` shows the same facts about a standalone payload and about the payload in its program.
#[test]
fn info_of_a_payload_is_that_of_its_program() {
    let program = "tests/data/pte/xnn_delegate_segment.pte";
    let within = json(&["info", "--json", program])["files"][0]["backends"][0]["graphs"].clone();
    let done = run(&["info", "--json", "-"], None, &payload(program));
    let alone: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(alone["files"][0]["graphs"], within);
    assert!(within["nodes"].as_u64().unwrap() > 0);
}

#[test]
fn check_takes_payloads_and_profiles() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let done = pte(&["check", path.to_str().unwrap()]);
        (done.status.code(), text(&done.stdout))
    };
    let profile = std::fs::read(PROFILE).unwrap();
    assert_eq!(check("run.etdp", &profile).0, Some(0));
    let (status, shown) = check("cut.etdp", &profile[..400]);
    assert_eq!(status, Some(1));
    assert!(shown.contains("the profile would be at bytes 0x0 to 0x730"), "{shown}");
    let vulkan = payload("tests/data/pte/vulkan_conv.pte");
    assert_eq!(check("vulkan.payload", &vulkan).0, Some(0));
    let mut damaged = vulkan;
    // These bytes are the offset of the graph's root.
    damaged[32..36].copy_from_slice(&[0xff; 4]);
    assert_eq!(check("damaged.payload", &damaged).0, Some(1));
}

/// A graph is refused in a standalone file if it is refused in a program.
#[test]
fn check_of_a_payload_has_the_rules_of_its_graph() {
    let program = crate::rules::xnnpack::operators::sound("XNNAdd");
    let broken = crate::rules::xnnpack::changed(&program, "-g/xnodes");
    let bytes = build::file(&broken.to_string());
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("broken.pte"), &bytes).unwrap();
    good(&["extract", "--delegate", "forward:0", &at("broken.pte"), "-o", &at("broken.payload")]);
    for name in ["broken.pte", "broken.payload"] {
        let done = pte(&["check", &at(name)]);
        assert!(text(&done.stdout).contains("xnnpack-missing"), "{name}: {}", text(&done.stdout));
    }
}
