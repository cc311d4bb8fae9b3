//! The verbs, and what each may cost.

use core::iter;
use std::path::Path;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Program,
    Data,
}

/// A command line: `IN` is the file, `OTHER` a second version of it, `JSON` what `dump --container` makes of
/// it, and `OUT` where the output goes.
pub(crate) struct Verb {
    pub(crate) line: &'static str,
    /// Which kind of file it is run on; both where there is none.
    pub(crate) kind: Option<Kind>,
    /// Processor time, in seconds for each MB of the file.
    pub(crate) seconds: f64,
    /// Bytes of output for each byte of the file.
    pub(crate) output: f64,
}

/// Processor time, in seconds for each MB of the file.
const SECONDS: f64 = 0.5;
/// The same, where each part of the file becomes a file: a system may take 0.1 ms for one.
const SECONDS_OF_FILES: f64 = 3.0;
/// Bytes of output for each byte of the file.
pub(crate) const OUTPUT: f64 = 200.0;
/// The same, where all tables are asked for, each time that they are referred to.
pub(crate) const ALL_TABLES: f64 = 400.0;

pub(crate) const VERBS: &[Verb] = &[
    both("info IN"),
    both("info --json IN"),
    both("check IN"),
    both("check --json IN"),
    both("check --format sarif IN"),
    both("check --scan-blobs IN"),
    tables("dump IN"),
    tables("dump --compact --blobs inline IN"),
    tables("dump --container IN"),
    both("build JSON -o OUT"),
    both("tensors IN"),
    both("tensors --json IN"),
    both("tensors --hash --stats --json IN"),
    both("tensors --largest 10 IN"),
    both("size IN"),
    both("size --json IN"),
    both("size --against OTHER IN"),
    program("memory IN"),
    program("memory --json IN"),
    program("memory --svg IN"),
    both("map IN"),
    both("map --json IN"),
    both("map --at 100 IN"),
    both("map --html IN"),
    program("ops IN"),
    program("ops --json IN"),
    program("ops --format yaml IN"),
    program("graph IN"),
    program("graph --max-instructions 100000000 IN"),
    program("graph --max-instructions 100000000 --format mermaid IN"),
    program("graph --json IN"),
    program("graph --format model-explorer IN"),
    both("diff IN IN"),
    both("diff IN OTHER"),
    both("diff --json IN OTHER"),
    Verb { seconds: SECONDS_OF_FILES, ..both("extract --all OUT IN") },
    both("edit --align 64 IN -o OUT"),
    program("edit --externalize all --ptd OUT.ptd IN -o OUT"),
    program("edit --strip stacktrace --strip names IN -o OUT"),
    data("convert IN --to safetensors -o OUT"),
    data("convert IN --to ptd -o OUT"),
];

const fn both(line: &'static str) -> Verb {
    Verb { line, kind: None, seconds: SECONDS, output: OUTPUT }
}

const fn tables(line: &'static str) -> Verb {
    Verb { output: ALL_TABLES, ..both(line) }
}

const fn program(line: &'static str) -> Verb {
    Verb { kind: Some(Kind::Program), ..both(line) }
}

const fn data(line: &'static str) -> Verb {
    Verb { kind: Some(Kind::Data), ..both(line) }
}

impl Verb {
    /// Bytes of memory for each byte of the file: what the command itself declares.
    pub(crate) fn memory(&self) -> f64 {
        let line: Vec<_> = iter::once("pte").chain(self.line.split(' ')).collect();
        pte_cli::memory_factor(&line).unwrap_or_else(|| panic!("{}", self.line)) as f64
    }

    /// The arguments, for files in a folder.
    pub(crate) fn args(&self, folder: &Path) -> Vec<String> {
        let path = |name: &str| folder.join(name).display().to_string();
        let word = |word| match word {
            "IN" => path("in"),
            "OTHER" => path("other"),
            "JSON" => path("json"),
            "OUT" => path("out"),
            "OUT.ptd" => path("out.ptd"),
            word => String::from(word),
        };
        let output = self.line.starts_with("build").then(|| String::from("--quiet"));
        self.line.split(' ').map(word).chain(output).collect()
    }
}
