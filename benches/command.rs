//! Whole processes: what someone waits for at the prompt.
//!
//! `cargo bench --bench command [-- GIGABYTES [FLATC PROGRAM.fbs [MANY]]]`: `sha256sum` and, where they are
//! given, `flatc` and the program of `peers/many.cpp` take turns with the command. Files are made in a temporary
//! folder: TMPDIR says where.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "a benchmark that goes wrong is meant to stop"
)]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use pte::build::{PtdBuilder, Shape};
use pte::model::Blob;
use pte::schema::scalar::ScalarType;
use support::{large, measuring};

mod support;

const PTE: &str = env!("CARGO_BIN_EXE_pte");

fn main() {
    let args = support::arguments().collect::<Vec<_>>();
    let unit = if measuring() { 1u64 << 30 } else { 1 << 20 };
    let gigabytes = args.first().and_then(|arg| arg.parse().ok()).unwrap_or(4u64);
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let at = |name: &str| folder.path().join(name);

    let version = best(&mut pte(&["--version"]));
    println!("{:<34} {version:9.1} ms", "pte --version");

    let sparse = at("sparse.ptd");
    hollow(&sparse, 5 * gigabytes * unit);
    let info = best(pte(&["info"]).arg(&sparse));
    println!("{:<34} {info:9.1} ms  {:.1} ms more", "pte info of a hollow .ptd", info - version);
    drop(fs::remove_file(&sparse));

    let full = at("full.ptd");
    filled(&full, gigabytes * unit);
    let ours = best(pte(&["tensors", "--hash", "--json"]).arg(&full));
    let theirs = best(Command::new("sha256sum").arg(&full));
    println!("{:<34} {ours:9.1} ms  {:.2} x sha256sum", "pte tensors --hash", ours / theirs);
    drop(fs::remove_file(&full));

    let count = if measuring() { 10_000 } else { 10 };
    let small = at("small");
    fs::create_dir(&small).unwrap_or_else(|error| panic!("{error}"));
    for nth in 0..count {
        let bytes = include_bytes!("../tests/data/pte/linear.pte");
        fs::write(small.join(format!("{nth}.pte")), bytes).unwrap_or_else(|e| panic!("{e}"));
    }
    let all = best(pte(&["check"]).arg(&small));
    print!("{:<34} {:9.3} ms each", format!("pte check of {count} files"), all / f64::from(count));
    if let [_, _, _, many] = &args[..] {
        let theirs = best(Command::new(many).arg(&small));
        print!("  {:.2} x C++", all / theirs);
    }
    println!();

    let program = at("large.pte");
    let bytes = large(if measuring() { 100_000 } else { 100 });
    fs::write(&program, bytes).unwrap_or_else(|error| panic!("{error}"));
    let ours = best(pte(&["dump"]).arg(&program));
    print!("{:<34} {ours:9.1} ms", "pte dump");
    if let [_, flatc, schema, ..] = &args[..] {
        let mut flatc = Command::new(flatc);
        flatc.args(["--json", "--strict-json", "--defaults-json", "--raw-binary", "-o"]);
        let theirs = best(flatc.arg(folder.path()).arg(schema).arg("--").arg(&program));
        print!("  {:.2} x flatc", ours / theirs);
    }
    println!();
}

fn pte(args: &[&str]) -> Command {
    let mut command = Command::new(PTE);
    command.args(args);
    command
}

/// The best of five runs of a process, in milliseconds; one where nothing is measured. What it prints
/// is thrown away.
fn best(command: &mut Command) -> f64 {
    command.stdout(Stdio::null());
    let mut time = || {
        let start = Instant::now();
        let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(status.success(), "{command:?}: {status}");
        start.elapsed().as_secs_f64() * 1e3
    };
    let runs = if measuring() { 5 } else { 1 };
    (0..runs).map(|_| time()).fold(f64::MAX, f64::min)
}

/// The file of 64 tensors of zeros that have so many bytes together.
fn tensors(bytes: u64) -> pte::model::PtdModel<'static> {
    let mut ptd = PtdBuilder::new();
    let each = bytes / 64;
    for nth in 0..64 {
        let sizes = [i32::try_from(each / 4).unwrap_or(i32::MAX)];
        let shape = Shape::new(ScalarType::FLOAT, sizes);
        let added = ptd.tensor(format!("tensor {nth}"), shape, Blob::Zeros(each));
        added.unwrap_or_else(|error| panic!("{error}"));
    }
    ptd.finish().unwrap_or_else(|error| panic!("{error}"))
}

/// Writes it with a hole on disk in place of the data.
fn hollow(path: &Path, bytes: u64) {
    let model = tensors(bytes);
    let image = model.image().unwrap_or_else(|error| panic!("{error}"));
    let mut head = Head(Vec::new());
    // It ends where the head is full.
    drop(image.write_to(&mut head));
    let file = File::create(path).and_then(|mut file| {
        file.write_all(&head.0)?;
        file.set_len(image.len())
    });
    file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Writes it with numbers that no disk and no filesystem makes smaller.
fn filled(path: &Path, bytes: u64) {
    hollow(path, bytes);
    let file = File::options().write(true).open(path);
    let mut file = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let len = fs::metadata(path).map_or(0, |metadata| metadata.len());
    let (mut state, mut left) = (0x2545_f491_4f6c_dd1du64, len.saturating_sub(HEAD));
    let written = io::Seek::seek(&mut file, io::SeekFrom::Start(HEAD)).and_then(|_| {
        while left > 0 {
            let mut block = Vec::with_capacity(1 << 20);
            while block.len() < 1 << 20 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                block.extend(state.to_le_bytes());
            }
            block.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            file.write_all(&block)?;
            left = left.saturating_sub(1 << 20);
        }
        Ok(())
    });
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// What 64 tensors need for their names and shapes, and more.
const HEAD: u64 = 1 << 16;

/// Keeps the first bytes, and then refuses more.
struct Head(Vec<u8>);

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = usize::try_from(HEAD).unwrap_or(usize::MAX).saturating_sub(self.0.len());
        if room == 0 {
            return Err(io::Error::other("the head is full"));
        }
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.0.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
