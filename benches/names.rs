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

use pte::Ptd;
use pte::build::{PtdBuilder, Shape};
use pte::schema::scalar::ScalarType;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use support::{best, measuring};

mod support;

fn main() {
    let asked = support::arguments().find_map(|arg| arg.parse().ok());
    let count = asked.unwrap_or(if measuring() { 1_000_000 } else { 1_000 });
    let names: Vec<String> =
        (0..count).map(|nth: u32| format!("layers.{}.block.w{}", nth / 9, nth % 9)).collect();
    let (ptd, safetensors) = (ptd(&names), safetensors(&names));
    let ours = best(&ptd[..], |bytes| {
        let ptd = Ptd::read(bytes).unwrap_or_else(|error| panic!("{error}"));
        let index = ptd.index();
        for name in &names {
            let entry = index.get(name).unwrap_or_else(|| panic!("{name} is not found"));
            black_box(entry.range().ok().and_then(|range| ptd.bytes(range)));
        }
    });
    let theirs = best(&safetensors[..], |bytes| {
        let file = SafeTensors::deserialize(bytes).unwrap_or_else(|error| panic!("{error}"));
        for name in &names {
            let tensor = file.tensor(name).unwrap_or_else(|error| panic!("{error}"));
            black_box(tensor.data());
        }
    });
    println!("{count} names, {} and {} bytes", ptd.len(), safetensors.len());
    println!("pte                  {ours:9.1} ms  {:.2} x", ours / theirs);
    println!("safetensors          {theirs:9.1} ms");
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
