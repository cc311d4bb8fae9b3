//! Programs without an Error, for another judge: `cargo run -p pte-fuzz --example forge FOLDER COUNT SEED`
//!
//! By their number: valid by construction (0 of 8) and with nothing that a runtime lacks (1, 2), damaged
//! since (3), damaged at random (4), and calls of any operator (5, 6, 7); those that `check` passes.
//! A runtime that runs them should not crash.
//!
//! With a fourth argument, `calls`: one call of any operator each. With `tangled`: one call with arguments
//! that alias each other. With `refused`: calls of any operator
//! that only rules about calls find an Error in; a runtime that runs many of these says that the rules
//! ask too much.

use std::path::PathBuf;
use std::{env, fs, process};

use arbitrary::Unstructured;
use pte::check::{Checker, Severity};
use pte::model::PteModel;
use pte_fuzz::mutate::{Xorshift, mutate};
use pte_fuzz::{damaged, smith};

fn main() {
    let mut args = env::args().skip(1);
    let (folder, count, seed) = (args.next(), args.next(), args.next());
    let only = args.next();
    let [calls, refused, tangled] =
        ["calls", "refused", "tangled"].map(|word| only.as_deref() == Some(word));
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
        let file = match made % 8 {
            _ if calls => written(smith::call, &bytes),
            _ if refused => written(smith::guess, &bytes),
            _ if tangled => written(|random| smith::tangled(random, None), &bytes),
            0 => written(smith::program, &bytes),
            1 | 2 => written(smith::runnable, &bytes),
            3 => damaged(&mut Unstructured::new(&bytes)).ok(),
            4 => written(smith::runnable, &bytes).map(|file| mutate(&file, &mut random)),
            _ => written(smith::guess, &bytes),
        };
        let wanted = if refused { is_refused_for_calls } else { passes };
        let Some(file) = file.filter(|file| wanted(file)) else { continue };
        let path = folder.join(format!("{made:06}.pte"));
        if let Err(error) = fs::write(&path, &file) {
            eprintln!("{}: {error}", path.display());
            process::exit(3);
        }
        made += 1;
    }
    eprintln!("{made} files of {drawn} draws");
}

type Smith = fn(&mut Unstructured<'_>) -> arbitrary::Result<PteModel<'static>>;

fn written(smith: Smith, bytes: &[u8]) -> Option<Vec<u8>> {
    let model = smith(&mut Unstructured::new(bytes)).ok()?;
    model.image().ok()?.to_bytes().ok()
}

/// Whether no rule of severity Error is broken.
fn passes(bytes: &[u8]) -> bool {
    Checker::new().check_bytes(bytes).is_ok_and(|report| report.worst() != Some(Severity::Error))
}

/// Whether such a rule is broken, and all of these are about kernels.
fn is_refused_for_calls(bytes: &[u8]) -> bool {
    pte::Pte::read(bytes).is_ok_and(|pte| {
        let report = pte.check();
        let mut broken = report.counts().filter(|(rule, _)| rule.severity == Severity::Error);
        report.worst() == Some(Severity::Error) && broken.all(|(rule, _)| rule.subject == "kernels")
    })
}
