//! Manifests: a JSON document a line for each sample.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Class, Sample};

/// Returns the names of a sample's files: the file of the sample first.
pub fn names(class: Class, number: u64, sample: &Sample) -> Vec<String> {
    let stem = format!("{}-{number:06}", class.name());
    let is_data =
        pte::file::sniff(&sample.file[..sample.file.len().min(64)]) == Ok(pte::file::FileKind::Ptd);
    let extension = if is_data { "ptd" } else { "pte" };
    let data = (0..sample.data.len()).map(|nth| format!("{stem}.{nth}.ptd"));
    [format!("{stem}.{extension}")].into_iter().chain(data).collect()
}

/// Returns the line of a sample, without a newline.
///
/// `runtime` is null: `fuzz/batch.py --manifest` writes the verdict of the official runtime there.
pub fn line(class: Class, seed: u64, number: u64, sample: &Sample) -> String {
    let names = names(class, number, sample);
    let contents = [&sample.file].into_iter().chain(&sample.data);
    let files: Vec<Value> = names
        .iter()
        .zip(contents)
        .map(|(name, bytes)| json!({"file": name, "sha256": sha256(bytes), "size": bytes.len()}))
        .collect();
    let release = sample.release.map(|(major, minor)| format!("{major}.{minor}"));
    json!({
        "class": class.name(),
        "seed": seed,
        "number": number,
        "rule": sample.rule,
        "release": release,
        "errors": sample.errors,
        "files": files,
        "runtime": null,
    })
    .to_string()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
