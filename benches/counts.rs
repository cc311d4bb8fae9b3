//! Instructions that reading and judging take, which repeat to the digit where times do not.
//!
//! `cargo bench --bench counts` needs `valgrind`: it runs this program under cachegrind, twice for each
//! line, and what a second run of the same work adds is what the work costs.
//!
//! With the argument `record` it compares the counts with `benches/counts.txt`, and fails if one has grown by
//! more than 1 %. `PTE_BLESS=1` writes the record. Counts depend on the profile: `.ci/run --counts` chooses it.
//!
//! The record has a block for each toolchain: compiler, architecture and C library, whose allocator and copies
//! are counted too. Of one toolchain, counts differ by less than 0.05 % between folders and machines: valgrind
//! shows every program the same processor, and what is left of it is switched off below.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "a benchmark that goes wrong is meant to stop"
)]

use core::hint::black_box;
use std::process::Command;

use pte::Check;
use pte::check::{Checker, Severity};
use pte::payload::xnnpack::XnnpackGraph;
use pte::{Limits, Pte};
use support::graphs;

mod support;

/// What is counted: a name, the file, and the work.
type Subject = (&'static str, fn() -> Vec<u8>, fn(&[u8]));

const SUBJECTS: [Subject; 9] = [
    ("small structure", small, structure),
    ("small rules", small, rules),
    ("large structure", || support::large(10_000), structure),
    ("large rules", || support::large(10_000), rules),
    ("large fields", || support::large(10_000), fields),
    ("additions structure", || graphs::additions(10_000), graph_structure),
    ("additions rules", || graphs::additions(10_000), graph_rules),
    ("layers structure", || graphs::layers(5_000), graph_structure),
    ("layers rules", || graphs::layers(5_000), graph_rules),
];

fn main() {
    let args = support::arguments().collect::<Vec<_>>();
    if let [name, times] = &args[..] {
        // How threads share the work differs from run to run.
        pte::check::judge_on_one_thread();
        let times: u32 = times.parse().unwrap_or_else(|error| panic!("{times}: {error}"));
        return run(name, times);
    }
    if !support::measuring() {
        return SUBJECTS.iter().for_each(|(name, ..)| run(name, 1));
    }
    let compares = args.first().is_some_and(|arg| arg == "record");
    let (path, toolchain) = ("benches/counts.txt", toolchain());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/counts.txt");
    let all = std::fs::read_to_string(file).unwrap_or_default();
    let is_own = |block: &&str| block.lines().next() == Some(&toolchain[..]);
    let recorded = all.split("\n\n").find(is_own).unwrap_or_default();
    let blesses = std::env::var_os("PTE_BLESS").is_some();
    if compares && !blesses && recorded.is_empty() {
        return println!("SKIPPED: instruction counts: {path} has none of {toolchain}");
    }
    let (mut record, mut has_grown) = (format!("{toolchain}\n"), false);
    for (name, ..) in SUBJECTS {
        let (Some(once), Some(more)) = (count(name, 1), count(name, 11)) else {
            return println!("SKIPPED: instruction counts: valgrind cannot be run");
        };
        let counted = (more - once) / 10;
        println!("{name:<20} {counted:>12} instructions");
        record += &format!("{name:<20} {counted:>12}\n");
        if compares && !blesses {
            let line = recorded.lines().find_map(|line| line.strip_prefix(name));
            let before = line.and_then(|line| line.trim().parse::<u64>().ok());
            let before = before.unwrap_or_else(|| panic!("{path} has no count of {name}"));
            if counted * 100 > before * 101 {
                println!("{name}: more than 1 % above the recorded {before}");
                has_grown = true;
            }
        }
    }
    if compares && blesses {
        let others = all.split("\n\n").filter(|block| !is_own(block) && !block.is_empty());
        let blocks: Vec<_> = others.map(str::trim_end).chain([record.trim_end()]).collect();
        let text = blocks.join("\n\n") + "\n";
        std::fs::write(file, text).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    assert!(
        !has_grown,
        "counts have grown: PTE_BLESS=1 .ci/run --counts records them; CHANGELOG.md has the reason"
    );
}

/// Returns the versions of the compiler and of the C library, and the architecture, on which counts depend.
fn toolchain() -> String {
    let version = |program: &str, arg: &str| {
        let output = Command::new(program).arg(arg).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        text.ok().filter(|text| !text.is_empty()).unwrap_or_else(|| format!("no {program}"))
    };
    let (compiler, library) =
        (version("rustc", "--version"), version("getconf", "GNU_LIBC_VERSION"));
    format!("{compiler}, {}, {library}", std::env::consts::ARCH)
}

fn run(wanted: &str, times: u32) {
    let subject = SUBJECTS.iter().find(|(name, ..)| *name == wanted);
    let (_, make, work) = subject.unwrap_or_else(|| panic!("{wanted} is nothing that is counted"));
    let bytes = make();
    (0..times).for_each(|_| work(black_box(&bytes)));
}

/// Instructions of a process that does the work so many times; `None` without valgrind.
fn count(name: &str, times: u32) -> Option<u64> {
    let this = std::env::current_exe().ok()?;
    let mut command = Command::new("valgrind");
    // What the C library copies with depends on the processor, and the stack's place on the environment.
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env(
        "GLIBC_TUNABLES",
        "glibc.cpu.hwcaps=-AVX2,-AVX,-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM",
    );
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    let output = command.arg(this).args([name, &times.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|line| line.contains("I refs:") || line.contains("I   refs:"));
    let line = line.unwrap_or_else(|| panic!("cachegrind says {text}"));
    let number: String = line.rsplit(':').next()?.chars().filter(char::is_ascii_digit).collect();
    number.parse().ok()
}

fn small() -> Vec<u8> {
    include_bytes!("../tests/data/pte/linear.pte").to_vec()
}

fn structure(bytes: &[u8]) {
    drop(black_box(Pte::read(bytes)));
}

fn rules(bytes: &[u8]) {
    let pte = Pte::read(bytes).unwrap_or_else(|error| panic!("{error}"));
    black_box(pte.check());
}

fn fields(bytes: &[u8]) {
    let pte = Pte::read(bytes).unwrap_or_else(|error| panic!("{error}"));
    black_box(support::views::read_all(pte.program()));
}

fn graph_structure(bytes: &[u8]) {
    black_box(XnnpackGraph::parse(bytes, &Limits::UNTRUSTED))
        .unwrap_or_else(|error| panic!("{error}"));
}

fn graph_rules(bytes: &[u8]) {
    let report = Checker::new().check_payload(bytes).unwrap_or_else(|error| panic!("{error}"));
    // What is found at best is the note that only a part of a payload is judged.
    assert!(report.worst() <= Some(Severity::Note), "a refused graph would only look cheap");
}
