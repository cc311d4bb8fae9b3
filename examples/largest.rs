//! Prints the largest entries of a `.ptd`, whatever its size: only the FlatBuffers part is read.
//!
//! `cargo run --example largest -- tests/data/ptd/ptd_dtypes.ptd`

#![allow(
    clippy::arithmetic_side_effects,
    clippy::std_instead_of_core,
    reason = "an example reads like the code of those who use the library"
)]

use std::error::Error;
use std::fs;

use pte::{File, Limits, Opened};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or("tests/data/ptd/ptd_dtypes.ptd".into());
    let opened = Opened::open(fs::File::open(&path)?, &Limits::UNTRUSTED)?;
    let File::Ptd(ptd) = opened.file()? else {
        return Err(format!("{path} is a program; its data would be in a .ptd").into());
    };
    let mut entries = Vec::new();
    for entry in ptd.entries() {
        let range = entry.range()?;
        entries.push((range.end - range.start, entry.key().unwrap_or("(no key)")));
    }
    entries.sort_unstable_by(|a, b| b.cmp(a));
    println!("{path}, {}", ptd.generation());
    for (bytes, key) in entries.iter().take(5) {
        println!("{bytes:>10} bytes  {key}");
    }
    // The bytes themselves are read only now, and only these.
    if let Some(first) = ptd.entries().next() {
        let data = opened.read(first.range()?)?;
        println!("the first one begins with {:02x?}", data.get(..8).unwrap_or(&data));
    }
    Ok(())
}
