//! Creates dumps, and compares them with those of another decoder.

use pte::flat::json;
use pte::ptd::Root;
use pte::{Ptd, Pte};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the dump of a file with blobs as sha256, as `pte dump` prints it.
pub fn dump(bytes: &[u8]) -> String {
    let mut text = String::new();
    let options = json::Options {
        pretty: true,
        blob: |blob: &[u8]| {
            let hash = || {
                Sha256::digest(blob).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
            };
            (blob.len() > 64)
                .then(|| format!("{{\"sha256\": \"{}\", \"len\": {}}}", hash(), blob.len()))
        },
    };
    match pte::file::sniff(bytes).unwrap() {
        pte::file::FileKind::Pte => {
            json::write(Pte::read(bytes).unwrap().program(), options, &mut text).unwrap();
        }
        pte::file::FileKind::Ptd => {
            match Ptd::read(bytes).unwrap().root() {
                Root::Current(root) => json::write(root, options, &mut text),
                Root::Legacy(root) => json::write(root, options, &mut text),
            }
            .unwrap();
        }
    }
    text
}

/// Returns the differences of two decodings. flatc prints at most 12 decimals of a double.
pub fn differences(want: &Value, got: &Value, path: &str, found: &mut Vec<String>) {
    match (want, got) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let here = format!("{path}.{key}");
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => differences(a, b, &here, found),
                    (Some(_), None) => found.push(format!("{here}: missing")),
                    (None, _) => found.push(format!("{here}: extra")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (nth, (a, b)) in a.iter().zip(b).enumerate() {
                differences(a, b, &format!("{path}[{nth}]"), found);
            }
        }
        (Value::Number(a), Value::Number(b)) if a == b => {}
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            if (a - b).abs() > 1e-12 * a.abs().max(1.0) {
                found.push(format!("{path}: {b}, and the reference has {a}"));
            }
        }
        (a, b) if a == b => {}
        (a, b) => found.push(format!("{path}: {b}, and the reference has {a}")),
    }
}
