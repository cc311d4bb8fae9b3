//! The sections of payloads without a known schema: handmade payloads of backends without samples,
//! and the payloads of Core ML.

use std::convert::Infallible;
use std::fs;
use std::ops::Range;

use pte::Backend;
use pte::payload::{Section, Sections};

use super::genuine;
use crate::support::files;

fn found(backend: Backend, payload: &[u8]) -> Result<Vec<Section>, String> {
    let read =
        |range: Range<u64>| Ok::<_, Infallible>(&payload[range.start as usize..range.end as usize]);
    let found = Sections::of(backend, payload.len() as u64, read).unwrap().unwrap();
    found.map(|found| found.sections).map_err(|why| why.to_string())
}

fn sections(backend: Backend, payload: &[u8]) -> Result<Vec<(&'static str, Range<u64>)>, String> {
    let found = found(backend, payload)?.into_iter();
    Ok(found.map(|one| (one.name, one.range)).collect())
}

#[test]
fn neutron_has_microcode_weights_and_kernels() {
    let mut payload = vec![1, 1, 2, 0, 0, 0, 1, 1];
    payload.resize(16, 0);
    let mut code = vec![0u8; 32];
    code[..4].copy_from_slice(&0x6443_4d6eu32.to_le_bytes());
    (code[24], code[28]) = (40, 5);
    payload.extend(code);
    payload.resize(16 + 48 + 16 + 7, 0);
    let expected = [("microcode", 16..56), ("weights", 64..69), ("kernels", 80..87)];
    assert_eq!(sections(Backend::Neutron, &payload), Ok(expected.to_vec()));
    payload[16 + 24] = 200;
    assert!(sections(Backend::Neutron, &payload).is_err(), "past the end");
    payload[16] = 0;
    assert!(sections(Backend::Neutron, &payload).is_err(), "no magic");
    assert!(sections(Backend::Neutron, &[255; 8]).is_err());
}

#[test]
fn metal_performance_shaders_have_a_graph_and_constants() {
    let mut payload = vec![0, 0, 0, 0, b'M', b'P', b'0', b'0'];
    payload.extend(32u64.to_le_bytes());
    payload.extend(16u64.to_le_bytes());
    payload.resize(48, 0);
    let expected = [("graph", 24..32), ("constants", 32..48)];
    assert_eq!(sections(Backend::Mps, &payload), Ok(expected.to_vec()));
    payload[16] = 17;
    assert!(sections(Backend::Mps, &payload).is_err(), "past the end");
    payload[0] = 8;
    assert_eq!(sections(Backend::Mps, &payload), Ok(vec![("graph", 0..48)]));
    assert!(sections(Backend::Mps, b"MP00").is_err());
}

#[test]
fn aot_inductor_has_two_keys() {
    let found = sections(Backend::Cuda, b"ab_so_blob\ncd_weights_blob");
    assert_eq!(found, Ok(vec![("shared object", 0..10), ("weights", 11..26)]));
    assert_eq!(sections(Backend::Metal, b""), Ok(vec![]));
    assert!(sections(Backend::Cuda, b"one line").is_err());
    assert!(sections(Backend::Cuda, b"\xff\n").is_err());
}

/// The files of a file system of Core ML, with their sizes.
fn names(payload: &[u8]) -> Result<Vec<(String, u64)>, ()> {
    let found = found(Backend::CoreMl, payload).map_err(|_| ())?.into_iter();
    Ok(found.map(|one| (one.file.unwrap(), one.range.end - one.range.start)).collect())
}

fn payload(files: &[u8], contents: &str) -> Vec<u8> {
    let reversed = contents.bytes().rev();
    files.iter().copied().chain(reversed).collect()
}

const FILE: &str = r#"{"name":"a","kind":0,"dataRegion":{"offset":1,"size":2},"children":{}}"#;

#[test]
fn files_of_coreml_have_their_paths() {
    let folder = r#"{"name":"f","kind":1,"dataRegion":{"offset":0,"size":0},"children":{"a":0}}"#;
    let root = r#"{"name":"","kind":1,"dataRegion":{"offset":0,"size":0},"children":{"f":1}}"#;
    let contents = format!(r#"{{"nodes":[{FILE},{folder},{root}]}}"#);
    assert_eq!(names(&payload(b"xyz", &contents)), Ok(vec![("f/a".into(), 2)]));
    let mut padded = payload(b"xyz", &contents);
    padded.extend([0; 5]);
    assert_eq!(names(&padded), Ok(vec![("f/a".into(), 2)]));
}

#[test]
fn contents_of_coreml_that_are_no_tree_are_refused() {
    for nodes in [
        // A folder that is its own child, an index past the end, a file in two folders, a file in none.
        r#"{"name":"","kind":1,"dataRegion":{"offset":0,"size":0},"children":{"a":0}}"#.into(),
        r#"{"name":"","kind":1,"dataRegion":{"offset":0,"size":0},"children":{"a":9}}"#.into(),
        format!(r#"{FILE},{{"kind":1,"children":{{"a":0,"b":0}}}}"#),
        format!(r#"{FILE},{{"kind":1,"children":{{}}}}"#),
        "1".into(),
    ] {
        let nodes: String = nodes;
        let contents = format!(r#"{{"nodes":[{nodes}]}}"#);
        assert_eq!(names(&payload(b"xyz", &contents)), Err(()), "{contents}");
    }
    let far = FILE.replace("\"size\":2", "\"size\":200000");
    let contents = format!(r#"{{"nodes":[{far},{{"kind":1,"children":{{"a":0}}}}]}}"#);
    assert_eq!(names(&payload(b"xyz", &contents)), Err(()), "past the end");
    assert_eq!(names(b""), Err(()));
    assert_eq!(names(&[0; 100]), Err(()));
}

/// The model and its weights are in genuine payloads, and all files are in the payload.
#[test]
fn genuine_payloads_of_coreml_have_a_model() {
    let mut seen = 0;
    for path in genuine("").into_iter().filter(|path| files::name(path).starts_with("coreml__")) {
        let bytes = fs::read(&path).unwrap_or_default();
        let Ok(names) = names(&bytes) else { continue };
        assert!(names.iter().any(|(name, _)| name.ends_with("/model.mlmodel")), "{names:?}");
        assert!(names.iter().any(|(name, size)| name.ends_with("/weight.bin") && *size > 0));
        seen += 1;
    }
    assert!(files::corpus().is_none() || seen == 3, "{seen}");
}
