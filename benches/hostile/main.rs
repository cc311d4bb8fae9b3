//! Every verb on files that are built to cost much: processor time, memory and output for each byte, the worst
//! of all families beside an honest file of the same size.
//!
//! `cargo bench --bench hostile [-- [MEGABYTES] [limits] [patient] [verb=TEXT…] [family=TEXT…]]` runs all verbs on all
//! families, or those with such a text in their names. `limits` runs them where memory is short instead,
//! and only looks for processes that crash. `patient` allows ten times the time, on a machine that may be busy: for the
//! gate. The exit status is 1 where an aim is missed.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark that goes wrong is meant to stop"
)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use child::Cost;
use pte_tests::hostile::{self, Family};
use verbs::{Kind, VERBS, Verb};

mod child;
mod verbs;

/// Processor seconds after which a run is ended.
const MOST_SECONDS: u64 = 60;
/// Address space in kilobytes, where memory is short.
const SHORT: [u64; 3] = [1_000_000, 200_000, 100_000];

fn main() -> ExitCode {
    let is_measuring = std::env::args().any(|arg| arg == "--bench");
    let mut words: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let mut size = if is_measuring { 1 << 20 } else { 1 << 14 };
    words.retain(|word| match word.parse::<usize>() {
        Ok(megabytes) => {
            size = megabytes << 20;
            false
        }
        Err(_) => true,
    });
    let is_limited = words.iter().any(|word| word == "limits");
    let patience = if words.iter().any(|word| word == "patient") { 10.0 } else { 1.0 };
    words.retain(|word| word != "limits" && word != "patient");
    if !Path::new("/usr/bin/time").exists() {
        println!("SKIPPED: costs of hostile files: there is no /usr/bin/time");
        return ExitCode::SUCCESS;
    }
    let mut all = hostile::families();
    let takes = |prefix: &str, name: &str| {
        let mut texts = words.iter().filter_map(|word| word.strip_prefix(prefix)).peekable();
        texts.peek().is_none() || texts.any(|text| name.contains(text))
    };
    all.retain(|family| takes("family=", &family.name));
    let verbs: Vec<_> = VERBS.iter().filter(|verb| takes("verb=", verb.line)).collect();
    let mut table = Table::new(&verbs, size, patience, is_measuring && !is_limited);
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    for (number, family) in all.iter().enumerate() {
        let kind = make(folder.path(), family, size);
        for (nth, verb) in verbs.iter().enumerate() {
            let is_given = !verb.line.contains("JSON") || folder.path().join("json").exists();
            // `cargo test` takes every ninth pair: each verb and each family several times.
            let is_taken = is_measuring || (number + nth) % 9 == 0;
            if is_taken && is_given && verb.kind.is_none_or(|of| of == kind) {
                match is_limited {
                    true => table.limited(folder.path(), verb, family),
                    false => table.add(nth, folder.path(), verb, family),
                }
            }
        }
    }
    table.print(&verbs);
    if table.missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Writes a file, another version of it, and its tables as JSON. Returns the kind of the file.
fn make(folder: &Path, family: &Family, size: usize) -> Kind {
    let [file, other] = family.of_size(size);
    for (name, bytes) in [("in", &file), ("other", &other)] {
        fs::write(folder.join(name), bytes).unwrap_or_else(|error| panic!("{error}"));
    }
    let json = folder.join("json");
    drop(fs::remove_file(&json));
    let path = |path: &Path| path.display().to_string();
    let args = ["dump", "--compact", "--container", "--blobs", "inline", "-o"].map(String::from);
    let args = args.into_iter().chain([path(&json), path(&folder.join("in"))]).collect::<Vec<_>>();
    let cost = child::run(&args, &folder.join("none"), MOST_SECONDS, None);
    // Not of all files: data that is used over and over is not written over and over.
    assert!(json.exists() || cost.status == 1, "{}: {}", family.name, cost.stderr);
    if file[4..].starts_with(b"ET") { Kind::Program } else { Kind::Data }
}

/// The worst of what was measured of a verb.
#[derive(Clone, Default)]
struct Worst {
    honest: [f64; 3],
    /// Of seconds, memory and output the most, and the family.
    most: [(f64, String); 3],
    refused: usize,
    runs: usize,
}

struct Table {
    size: usize,
    /// The factor of the time that a verb may take.
    patience: f64,
    is_measuring: bool,
    /// Of a process that does nothing.
    nothing: Cost,
    rows: Vec<Worst>,
    missed: Vec<String>,
}

impl Table {
    fn new(verbs: &[&Verb], size: usize, patience: f64, is_measuring: bool) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let none = folder.path().join("none");
        let nothing = child::run(&["--version".into()], &none, MOST_SECONDS, None);
        let rows = vec![Worst::default(); verbs.len()];
        Self { size, patience, is_measuring, nothing, rows, missed: Vec::new() }
    }

    fn add(&mut self, nth: usize, folder: &Path, verb: &Verb, family: &Family) {
        let cost = run(folder, verb, None);
        let len = |name: &str| folder.join(name).metadata().map_or(0, |metadata| metadata.len());
        // JSON is longer than what it describes.
        let given = match verb.line.split(' ').next() {
            Some("build") => len("json").max(1),
            Some("diff") => len("in") + len("other"),
            _ => len("in"),
        } as f64;
        let found = [
            cost.seconds / given * 1e6,
            cost.memory.saturating_sub(self.nothing.memory) as f64 / given,
            cost.output as f64 / given,
        ];
        let row = &mut self.rows[nth];
        row.runs += 1;
        row.refused += usize::from(cost.status != 0 && cost.output == 0);
        if family.name.contains("honest") {
            row.honest = [0, 1, 2].map(|nth| row.honest[nth].max(found[nth]));
        }
        let aims = [verb.seconds * self.patience, verb.memory(), verb.output];
        for (nth, what) in ["s a MB", "x memory", "x output"].into_iter().enumerate() {
            if found[nth] >= row.most[nth].0 {
                row.most[nth] = (found[nth], family.name.clone());
            }
            if self.is_measuring && found[nth] > aims[nth] {
                self.missed
                    .push(format!("{}: {:.2} {what}: {}", verb.line, found[nth], family.name));
            }
        }
        self.look(&cost, verb, family, None);
    }

    /// Runs a verb where memory is short.
    fn limited(&mut self, folder: &Path, verb: &Verb, family: &Family) {
        for limit in SHORT {
            let cost = run(folder, verb, Some(limit));
            self.look(&cost, verb, family, Some(limit));
        }
    }

    fn look(&mut self, cost: &Cost, verb: &Verb, family: &Family, limit: Option<u64>) {
        if cost.is_crash() {
            let first = cost.stderr.lines().next().unwrap_or_default();
            let limit = limit.map_or(String::new(), |limit| format!(" within {limit} kB"));
            let text = format!("status {}{limit}: {first}", cost.status);
            self.missed.push(format!("{}: {text}: {}", verb.line, family.name));
        }
    }

    fn print(&self, verbs: &[&Verb]) {
        if self.is_measuring {
            println!(
                "Files of {} bytes. Of each verb the worst (an honest file of that size).\n",
                self.size
            );
            println!(
                "| verb | s a MB | memory | output | slowest | most memory | most output | refused |"
            );
            println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
            for (verb, row) in verbs.iter().zip(&self.rows).filter(|(_, row)| row.runs > 0) {
                let [time, memory, output] = row.most.each_ref();
                let [its_time, its_memory, its_output] = row.honest;
                println!(
                    "| `{}` | {:.2} ({its_time:.2}) | {:.1} ({its_memory:.1}) | {:.1} ({its_output:.1}) \
                     | {} | {} | {} | {} of {} |",
                    verb.line,
                    time.0,
                    memory.0,
                    output.0,
                    time.1,
                    memory.1,
                    output.1,
                    row.refused,
                    row.runs
                );
            }
        }
        println!("\n{} aims missed", self.missed.len());
        self.missed.iter().for_each(|missed| println!("  {missed}"));
    }
}

/// Runs a verb on the files of a folder, and removes what it wrote.
fn run(folder: &Path, verb: &Verb, kilobytes: Option<u64>) -> Cost {
    let out = folder.join("out");
    let is_folder = verb.line.contains("--all OUT");
    let cost = child::run(&verb.args(folder), &out, MOST_SECONDS, kilobytes);
    if is_folder {
        drop(fs::remove_dir_all(&out));
    }
    drop(fs::remove_file(&out));
    drop(fs::remove_file(folder.join("out.ptd")));
    cost
}
