//! Programs without an Error, for another judge: `cargo run -p pte-fuzz --example forge FOLDER COUNT SEED`
//!
//! Half of them are valid by construction; the others were damaged since, and `check` still passes
//! them. Whatever runs them should not crash.

use std::path::PathBuf;
use std::{env, fs, process};

use arbitrary::Unstructured;
use pte::check::Severity;
use pte_fuzz::mutate::{Xorshift, mutate};
use pte_fuzz::{damaged, smith};

fn main() {
    let mut args = env::args().skip(1);
    let (folder, count, seed) = (args.next(), args.next(), args.next());
    let number = |text: Option<String>| text?.parse::<u64>().ok();
    let (Some(folder), Some(count), Some(seed)) = (folder, number(count), number(seed)) else {
        eprintln!("FOLDER COUNT SEED");
        process::exit(2);
    };
    let folder = PathBuf::from(folder);
    if let Err(error) = fs::create_dir_all(&folder) {
        eprintln!("{}: {error}", folder.display());
        process::exit(3);
    }
    let mut random = Xorshift::new(seed);
    let (mut made, mut drawn) = (0, 0u64);
    while made < count {
        drawn += 1;
        let bytes: Vec<u8> = (0..512).flat_map(|_| random.next_u64().to_le_bytes()).collect();
        let file = match made % 4 {
            0 | 1 => valid(&bytes),
            2 => damaged(&mut Unstructured::new(&bytes)).ok(),
            _ => valid(&bytes).map(|file| mutate(&file, &mut random)),
        };
        let Some(file) = file.filter(|file| passes(file)) else { continue };
        let path = folder.join(format!("{made:06}.pte"));
        if let Err(error) = fs::write(&path, &file) {
            eprintln!("{}: {error}", path.display());
            process::exit(3);
        }
        made += 1;
    }
    eprintln!("{made} files of {drawn} draws");
}

fn valid(bytes: &[u8]) -> Option<Vec<u8>> {
    let model = smith::program(&mut Unstructured::new(bytes)).ok()?;
    model.image().ok()?.to_bytes().ok()
}

/// Whether no rule of severity Error is broken.
fn passes(bytes: &[u8]) -> bool {
    pte::Pte::read(bytes).is_ok_and(|pte| pte.check().worst() != Some(Severity::Error))
}
