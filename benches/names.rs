//! A million names: a data file of so many small tensors is opened and each looked up, beside
//! `safetensors` with the same tensors.
//!
//! `cargo bench --bench names [-- COUNT]`

#![allow(
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "a benchmark that goes wrong is meant to stop"
)]

use core::hint::black_box;
use std::process::Command;

use pte::Ptd;
use pte::build::{PtdBuilder, Shape};
use pte::schema::scalar::ScalarType;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use support::{best, measuring};

mod support;

/// Opens a file of these names and looks each of them up.
type Work = fn(&[u8], &[String]);

fn main() {
    let args = support::arguments().collect::<Vec<_>>();
    if let [file, kind, count] = &args[..] {
        return held(file, if kind == "ours" { ours } else { theirs }, count);
    }
    let asked = args.iter().find_map(|arg| arg.parse().ok());
    let count = asked.unwrap_or(if measuring() { 1_000_000 } else { 1_000 });
    let names = names(count);
    let files: [(_, _, _, Work); 2] = [
        ("pte", "ours", ptd(&names), ours),
        ("safetensors", "theirs", safetensors(&names), theirs),
    ];
    println!("{count} names, {} and {} bytes", files[0].2.len(), files[1].2.len());
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let measured = files.map(|(name, kind, bytes, work)| {
        let path = folder.path().join(kind);
        std::fs::write(&path, &bytes).unwrap_or_else(|error| panic!("{error}"));
        let this = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
        let output = Command::new(this).arg(path).args([kind, &count.to_string()]).output();
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        let held = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        (name, best(&bytes[..], |bytes| work(bytes, &names)), held)
    });
    let [(.., theirs, _)] = &measured[1..] else { return };
    for (name, time, held) in &measured {
        println!("{name:<20} {time:9.1} ms  {:.2} x  {held}", time / theirs);
    }
}

fn names(count: u32) -> Vec<String> {
    (0..count).map(|nth| format!("layers.{}.block.w{}", nth / 9, nth % 9)).collect()
}

fn ours(bytes: &[u8], names: &[String]) {
    let ptd = Ptd::read(bytes).unwrap_or_else(|error| panic!("{error}"));
    let index = ptd.index();
    for name in names {
        let entry = index.get(name).unwrap_or_else(|| panic!("{name} is not found"));
        black_box(entry.range().ok().and_then(|range| ptd.bytes(range)));
    }
}

fn theirs(bytes: &[u8], names: &[String]) {
    let file = SafeTensors::deserialize(bytes).unwrap_or_else(|error| panic!("{error}"));
    for name in names {
        let tensor = file.tensor(name).unwrap_or_else(|error| panic!("{error}"));
        black_box(tensor.data());
    }
}

/// How much more memory a process has held at most once the work is done than before it.
fn held(file: &str, work: Work, count: &str) {
    let names = names(count.parse().unwrap_or_else(|error| panic!("{count}: {error}")));
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let before = most_held();
    work(&bytes, &names);
    match (before, most_held()) {
        (Some(before), Some(after)) => println!("{:.1} MB", (after - before) / 1e3),
        _ => println!("its memory is not reported here"),
    }
}

/// The peak resident memory of this process in kilobytes, on Linux.
fn most_held() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Four floats for each name.
const DATA: [u8; 16] = [0; 16];

fn ptd(names: &[String]) -> Vec<u8> {
    let mut ptd = PtdBuilder::new();
    ptd.set_segment_alignment(16).unwrap_or_else(|error| panic!("{error}"));
    for name in names {
        let added = ptd.tensor(name.clone(), Shape::new(ScalarType::FLOAT, [4]), DATA.to_vec());
        added.unwrap_or_else(|error| panic!("{error}"));
    }
    let model = ptd.finish().unwrap_or_else(|error| panic!("{error}"));
    let image = model.image().unwrap_or_else(|error| panic!("{error}"));
    image.to_bytes().unwrap_or_else(|error| panic!("{error}"))
}

fn safetensors(names: &[String]) -> Vec<u8> {
    let tensors = names.iter().map(|name| {
        let tensor = TensorView::new(Dtype::F32, vec![4], &DATA);
        (name, tensor.unwrap_or_else(|error| panic!("{error}")))
    });
    safetensors::serialize(tensors, None).unwrap_or_else(|error| panic!("{error}"))
}
