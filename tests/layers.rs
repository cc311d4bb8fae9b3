//! Tests of the architecture, beyond the dependencies that the manifests of the crates declare.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

mod circles;
mod imports;

use circles::Siblings;
use imports::{Modules, Names};

use crate::support::files;

#[test]
fn no_two_modules_of_a_directory_use_each_other() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for source in crates() {
        let read = |path: PathBuf| {
            let module = module_of(path.strip_prefix(&source).unwrap());
            (module, bare(&fs::read_to_string(path).unwrap()))
        };
        let files: Vec<(Names, String)> = rust_files(&source).into_iter().map(read).collect();
        let modules = Modules::of(&files);
        let mut siblings = Siblings::default();
        for (module, code) in &files {
            for used in modules.used(module, code) {
                seen += 1;
                siblings.add(module, &used);
            }
        }
        let circles = siblings.circles().into_iter();
        wrong.extend(circles.map(|(parent, circle)| {
            format!("{}, {}: {circle:?}", source.display(), parent.join("::"))
        }));
    }
    assert!(seen > 1000, "paths were found: {seen}");
    assert!(wrong.is_empty(), "modules that use each other:\n{}", wrong.join("\n"));
}

/// A file that was added by accident is found here. Without Git or a repository there is nothing to look at.
#[test]
fn the_top_level_has_only_what_belongs_there() {
    let git = Command::new("git").arg("-C").arg(files::path("")).args(["ls-files", "-z"]).output();
    let Ok(listed) = git else { return };
    let listed = String::from_utf8(listed.stdout).unwrap();
    let names: BTreeSet<&str> =
        listed.split_terminator('\0').filter_map(|path| path.split('/').next()).collect();
    let unknown: Vec<_> = names.into_iter().filter(|name| !TOP_LEVEL.contains(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

const TOP_LEVEL: [&str; 27] = [
    ".cargo",
    ".ci",
    ".clusterfuzzlite",
    ".gitattributes",
    ".github",
    ".gitignore",
    ".pre-commit-hooks.yaml",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "action.yml",
    "benches",
    "clippy.toml",
    "docs",
    "examples",
    "fuzz",
    "python",
    "rustfmt.toml",
    "snapshots",
    "src",
    "tests",
    "web",
];

/// The walker is for any FlatBuffers schema. It needs no other crate, and does not know ExecuTorch.
#[test]
fn the_walker_stands_alone() {
    let folder = files::path("src/flat");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let dependencies = manifest.split("[dependencies]\n").nth(1).unwrap().split("\n[").next();
    for dependency in dependencies.unwrap().lines().filter(|line| !line.is_empty()) {
        assert!(dependency.contains("optional = true"), "{dependency}");
    }
    let mut found = Vec::new();
    for path in rust_files(&folder) {
        let text = fs::read_to_string(&path).unwrap().to_lowercase();
        for word in ["executorch", ".pte", ".ptd", "delegate", "kernel", "segment"] {
            for (nth, _) in text.lines().enumerate().filter(|(_, line)| line.contains(word)) {
                found.push(format!("{}:{}: {word}", path.display(), nth + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The library forbids unsafe code. The Python package maps files, and fills buffers of Python. The C library has
/// pointers of C, and an allocator.
#[test]
fn unsafe_code_is_in_few_files() {
    let root = files::path("");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"forbid\""));
    let files = ["python/src", "src"].iter().flat_map(|folder| rust_files(&root.join(folder)));
    let with_unsafe = files.filter(|path| {
        let text = code(&fs::read_to_string(path).unwrap());
        text.contains("unsafe {") || text.contains("unsafe fn") || text.contains("unsafe impl")
    });
    let found: Vec<_> =
        with_unsafe.map(|path| path.strip_prefix(&root).unwrap().to_owned()).collect();
    let expected = [
        "python/src/mapping.rs",
        "src/c/bare.rs",
        "src/c/ffi/file.rs",
        "src/c/ffi/options.rs",
        "src/c/ffi/report.rs",
        "src/c/ffi.rs",
        "src/c/memory/arena.rs",
        "src/c/memory/host.rs",
        "src/c/memory/owned.rs",
        "src/c/memory.rs",
        "src/c/tests.rs",
    ];
    assert_eq!(found, expected.map(Path::new));
}

/// Messages go where untrusted text is escaped, inputs come from where streams are bounded.
#[test]
fn the_command_speaks_and_opens_files_in_one_place() {
    let folder = files::path("src/cli");
    let mut found = Vec::new();
    for path in rust_files(&folder) {
        let text = code(&fs::read_to_string(&path).unwrap());
        for (word, places) in [
            // These panic if nothing can be written.
            ("print!(", &[][..]),
            ("println!(", &[]),
            ("::stderr().lock(", &["problem.rs"]),
            ("File::open(", &["input.rs"]),
            ("fs::read(", &["input.rs"]),
            // A file of the system lists the ignored signals.
            ("read_to_string(", &["input.rs", "temporary.rs"]),
            ("to_string_lossy(", &["text.rs"]),
            (".display()", &["text.rs"]),
        ] {
            if text.contains(word) && !places.iter().any(|place| path.ends_with(place)) {
                found.push(format!("{} has {word}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_trusted_base_stays_small() {
    // A review of the code that follows unproven offsets reads these files.
    let source = files::path("src");
    for (file, most) in [
        ("flat/bytes.rs", 86),
        ("flat/verify.rs", 260),
        ("flat/verify/deep.rs", 60),
        ("flat/verify/entry.rs", 70),
        ("flat/verify/budget.rs", 40),
        ("flat/verify/leaf.rs", 115),
        ("flat/verify/seen.rs", 65),
        ("flat/verify/vtable.rs", 195),
        ("flat/verify/cache.rs", 90),
        ("flat/verify/text.rs", 70),
        ("flat/verify/union.rs", 70),
        ("flat/verify/verified.rs", 70),
        ("flat/verify/why.rs", 100),
        ("core/file/fields.rs", 40),
        ("core/file/header.rs", 240),
        ("core/file/plain.rs", 80),
        ("core/file/extents.rs", 145),
        ("core/file/segments.rs", 90),
        ("core/payload/mlx.rs", 70),
        ("core/payload/sections/archive.rs", 145),
        ("core/payload/sections/archive/checksum.rs", 30),
        ("core/payload/sections/archive/directory.rs", 80),
        ("core/payload/sections/archive/end.rs", 40),
        ("core/payload/sections/archive/header.rs", 140),
        ("core/payload/sections/package.rs", 65),
        ("core/payload/sections/record.rs", 95),
        ("core/payload/xnnpack.rs", 230),
        ("core/payload/xnnpack/header.rs", 60),
        ("core/payload/xnnpack/keys.rs", 45),
    ] {
        let lines = fs::read_to_string(source.join(file)).unwrap().lines().count();
        assert!(lines <= most, "{file} has {lines} lines, and {most} are meant to be enough");
    }
}

/// Code without comments, in which paths are examples.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The path of a file's module: empty for the root of a crate.
fn module_of(path: &Path) -> Names {
    let names = path.with_extension("");
    let names = names.iter().map(|name| name.to_str().unwrap().to_owned());
    names.filter(|name| !["lib", "main"].contains(&name.as_str())).collect()
}

/// Code without comments, the text of strings, and a test module at the end.
fn bare(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let code = code(text).replace("\\\\", "").replace("\\\"", "").replace("'\"'", "");
    let mut bare = String::new();
    for (nth, part) in code.split('"').enumerate() {
        if nth % 2 == 0 {
            // A comment behind code.
            let lines = part.lines().map(|line| line.split("//").next().unwrap());
            bare.extend(lines.flat_map(|line| [line, "\n"]));
        }
    }
    bare
}

/// The folders of the crates in `src`.
fn crates() -> Vec<PathBuf> {
    let folders = fs::read_dir(files::path("src")).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = folders.filter(|path| path.join("lib.rs").exists()).collect();
    folders.sort();
    folders
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
