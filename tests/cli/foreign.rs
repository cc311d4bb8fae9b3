//! Payloads and profiles as standalone files.

use super::{good, json, pte, run, text};
use crate::support::snapshot::assert_snapshot;
use crate::support::{build, files};

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
    let alone = &alone["files"][0]["graphs"];
    for (field, of_program) in within.as_object().unwrap() {
        // Data in the program is outside of the payload.
        if field != "external" {
            assert_eq!(&alone[field], of_program, "{field}");
        }
    }
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
    let profile = files::read(PROFILE).unwrap();
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
    let program = crate::support::xnnpack::sound("XNNAdd");
    let broken = crate::support::xnnpack::changed(&program, "-g/xnodes");
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

/// Returns a payload of Core ML with two files of 3 and 2 bytes.
fn coreml(padding: usize) -> Vec<u8> {
    let file = |name: &str, at: u64, size: u64| {
        format!(
            r#"{{"children":{{}},"dataRegion":{{"offset":{at},"size":{size}}},"kind":0,"name":"{name}"}}"#
        )
    };
    let root = r#"{"children":{"a.json":0,"b.bin":1},"kind":1,"name":""}"#;
    let contents =
        format!(r#"{{"nodes":[{},{},{root}]}}"#, file("a.json", 0, 3), file("b.bin", 3, 2));
    let mut bytes = b"{}\nxy".to_vec();
    bytes.extend(contents.bytes().rev());
    bytes.resize(bytes.len() + padding, 0);
    bytes
}

/// Payloads of Core ML have no magic. They are known by the table of contents at their end.
#[test]
fn payloads_of_coreml_are_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for padding in [0, 12] {
        let (path, bytes) = (at("coreml.blob"), coreml(padding));
        std::fs::write(&path, &bytes).unwrap();
        let screen = good(&["info", &path]);
        assert!(screen.contains("payload of CoreML"), "{screen}");
        assert!(screen.contains("2 files, 5 B"), "{screen}");
        let done = pte(&["check", &path]);
        assert!(text(&done.stdout).contains("error[coreml-archive]: the payload has no model"));
        let sum = json(&["size", "--json", &path])["files"][0]["bytes"].clone();
        assert_eq!(sum, bytes.len());
        let map = good(&["map", &path]);
        assert!(map.contains("b.bin") && map.contains("table of contents"), "{map}");
        let dumped = json(&["dump", &path]);
        assert_eq!(dumped["sections"][1]["file"], "b.bin");
        assert_eq!(pte(&["extract", &path, "--key", "b.bin"]).stdout, b"xy");
        assert_eq!(pte(&["extract", &path, "--segment", "0"]).stdout, b"{}\n");
        for verb in ["info", "dump"] {
            let done = run(&[verb, "-"], None, &bytes);
            assert_eq!(done.status.code(), Some(0), "{verb}: {}", text(&done.stderr));
        }
    }
    // A program may end with such a payload, and JSON may be piped.
    let done = run(&["info", "-"], None, b"{}");
    assert!(text(&done.stderr).contains("a text file"), "{done:?}");
    let mut cut = coreml(0);
    cut[6] = b'?';
    std::fs::write(at("cut.blob"), &cut).unwrap();
    for verb in ["info", "check", "size", "map", "dump"] {
        assert_eq!(pte(&[verb, &at("cut.blob")]).status.code(), Some(1), "{verb}");
    }
}

/// A message about a damaged payload says what the file is.
#[test]
fn damaged_payloads_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.payload");
    let path = path.to_str().unwrap();
    let whole = payload("tests/data/pte/xnn_delegate_segment.pte");
    std::fs::write(path, &whole[..100]).unwrap();
    for verb in ["info", "check", "size", "map", "dump"] {
        let done = pte(&[verb, path]);
        let shown = text(&done.stdout) + &text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{verb}");
        let wanted =
            "a delegate's payload (XNNPACK), and it is damaged or cut off: the graph would be";
        assert!(shown.contains(wanted), "{verb}: {shown}");
    }
}

/// A damaged ETDump or ETRecord has the place of the damage, the consequence and advice, in text and in JSON.
#[test]
fn damaged_profiles_and_records_have_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let profile = std::fs::read(files::path(PROFILE)).unwrap()[..12].to_vec();
    let mut record = std::fs::read(files::path("tests/data/other/linear.etrecord")).unwrap();
    // The end of the archive has the position of the directory, and its first entry that of a header.
    let end = record.len() - 22;
    let directory = u32::from_le_bytes(record[end + 16..end + 20].try_into().unwrap()) as usize;
    record[directory + 44..directory + 46].fill(0xff);
    for (name, bytes, offset, part, why) in [
        ("cut.etdp", profile, 0, "profile", "and there are 12 bytes"),
        (
            "moved.etrecord",
            record,
            directory,
            "archive",
            "members overlap, are out of order or behind the central directory",
        ),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap();
        for verb in ["check", "info", "map", "size"] {
            let done = pte(&[verb, "--json", path]);
            assert_eq!(done.status.code(), Some(1), "{verb} {name}");
            let found: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
            let files =
                if found["refused"].is_null() { &found["files"] } else { &found["refused"] };
            let finding = &files[0]["findings"][0];
            assert_eq!(finding["rule"], "unreadable", "{verb} {name}: {found}");
            assert_eq!(
                (finding["offset"].as_u64(), &finding["path"]),
                (Some(offset as u64), &part.into())
            );
            assert!(finding["message"].as_str().unwrap().contains(why), "{finding}");
            assert!(!finding["message"].as_str().unwrap().contains("payload"), "{finding}");
            assert!(finding["why"].is_string() && finding["help"].is_string(), "{finding}");
        }
        let shown = text(&pte(&["map", path]).stderr);
        assert!(shown.contains(&format!("\n  at {offset:#x}, {part}\n")), "{shown}");
        assert!(shown.contains("\n  help: Copy the file again."), "{shown}");
    }
}

/// A sound record that exceeds a limit is not called damaged.
#[test]
fn a_record_past_a_limit_is_not_damaged() {
    use crate::support::archive::{Member, archive};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.etrecord");
    let names: Vec<_> = (0..60_000).map(|nth| format!("{nth:060}")).collect();
    let of = |count: usize| {
        let mut all: Vec<Member<'_>> = vec![("ETRECORD_V0", b"", 0)];
        all.extend(names[..count].iter().map(|name| -> Member<'_> { (name, b"x", 0) }));
        archive(&all)
    };
    std::fs::write(&path, of(60_000)).unwrap();
    let done = pte(&["info", path.to_str().unwrap()]);
    let said = text(&done.stderr);
    assert!(
        said.contains("a limit is met: too many members") && !said.contains("damaged"),
        "{said}"
    );
    std::fs::write(&path, of(2_000)).unwrap();
    good(&["info", path.to_str().unwrap()]);
}

/// A record that Python reads is not called damaged: the message says what is not read, and the advice what to do.
#[test]
fn a_whole_record_that_is_not_read_is_not_damaged() {
    use crate::support::archive::{Member, archive};
    let (identifier, map): (Member<'_>, Member<'_>) =
        (("ETRECORD_V0", b"", 0), ("debug_handle_map", b"{}", 0));
    let whole = archive(&[identifier, map]);
    let end = whole.len() - 22;
    let mut comment = whole.clone();
    comment[end + 20] = 5;
    comment.extend(b"hello");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.etrecord");
    let path = path.to_str().unwrap();
    for (bytes, why, help) in [
        (
            archive(&[identifier, (map.0, map.1, 8)]),
            "a member is compressed",
            "without compression",
        ),
        (comment, "it ends with a comment", "without a comment"),
        ([&whole[..], b"junk"].concat(), "other bytes are behind its end", "without a comment"),
        ([&whole[..], &[0; 100]].concat(), "other bytes are behind its end", "without a comment"),
        (
            archive(&[identifier, map, map]),
            "two members have the same name",
            "one member of each name",
        ),
    ] {
        std::fs::write(path, bytes).unwrap();
        for verb in ["check", "info", "map"] {
            let done = pte(&[verb, path]);
            assert_eq!(done.status.code(), Some(1), "{why}");
            let said = text(&done.stdout) + &text(&done.stderr);
            assert!(said.contains(&format!("which is not read: {why}")), "{said}");
            assert!(said.contains(help) && !said.contains("damaged"), "{said}");
        }
    }
    // Without the record of its end, an archive is cut off.
    std::fs::write(path, &whole[..end]).unwrap();
    let said = text(&pte(&["info", path]).stderr);
    assert!(said.contains("damaged or cut off: the end of central directory record"), "{said}");
}

/// Verbs that take programs alone name the verbs that take a payload.
#[test]
fn verbs_of_programs_name_those_of_payloads() {
    let whole = payload("tests/data/pte/vulkan_conv.pte");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("payload");
    let path = path.to_str().unwrap();
    std::fs::write(path, whole).unwrap();
    for (verb, path) in [("tensors", path), ("ops", path), ("graph", path), ("tensors", PROFILE)] {
        let shown = text(&pte(&[verb, path]).stderr);
        assert!(shown.contains(" take this file; other verbs take the program"), "{verb}: {shown}");
    }
}
