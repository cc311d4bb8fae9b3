//! Programs of AOTInductor, as its exporter lays them out: a payload with two keys, and under them a shared object and
//! the weights.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fixture::Fixture;

/// Returns the description of a program that calls a delegate with this shared object.
pub fn program(backend: &str, object: &[u8]) -> Value {
    let weights = [7; 64];
    let key = |bytes: &[u8], end: &str| {
        let digest = Sha256::digest(bytes);
        digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + end
    };
    let keys = [key(object, "_so_blob"), key(&weights, "_weights_blob")];
    let parts = [keys.join("\n").into_bytes(), object.to_vec(), weights.to_vec()];
    let Fixture(mut file) = Fixture::read("base/xnnpack").unwrap();
    let root = &mut file["root"];
    let spec = json!([{"key": "method_name", "value": b"forward"}]);
    root["execution_plan"][0]["delegates"][0]["id"] = json!(backend);
    root["execution_plan"][0]["delegates"][0]["compile_specs"] = spec;
    root["named_data"] = json!([
        {"key": keys[0], "segment_index": 1}, {"key": keys[1], "segment_index": 2}
    ]);
    let (mut segments, mut data, mut offset) = (Vec::new(), Vec::new(), 0);
    for part in parts {
        segments.push(json!({"offset": offset, "size": part.len()}));
        let gap = part.len().next_multiple_of(16) - part.len();
        offset += part.len() + gap;
        data.extend([json!({"bytes": part}), json!({"zeros": gap})]);
    }
    root["segments"] = json!(segments);
    file["data"] = json!(data);
    file
}
