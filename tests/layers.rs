//! Tests of the architecture: `src/lib.rs` lists the modules bottom-up, and a file may use only
//! modules that are listed above its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

mod circles;
mod imports;

use circles::Siblings;
use imports::{Modules, Names};

#[test]
fn every_file_uses_only_what_is_listed_above_it() {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("src");
    let lib = fs::read_to_string(source.join("lib.rs")).unwrap();
    let order = modules(&lib);
    let reexports = reexports(&lib);
    assert!(order.len() >= 10, "the modules were found: {order:?}");
    let mut seen = 0;
    let mut wrong = Vec::new();
    for path in rust_files(&source) {
        let place = path.strip_prefix(&source).unwrap();
        let module = place.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = module.trim_end_matches(".rs");
        // The command is a separate crate, which sees only the public library.
        if ["lib", "main", "cli"].contains(&module) {
            continue;
        }
        let own = position(&order, module);
        for used in uses(&code(&fs::read_to_string(&path).unwrap())) {
            let used = reexports.get(&used).unwrap_or(&used);
            seen += 1;
            if position(&order, used) > own {
                wrong.push(format!("{} uses crate::{used}", place.display()));
            }
        }
    }
    assert!(seen > 50, "uses were found: {seen}");
    assert!(wrong.is_empty(), "listed below it in lib.rs:\n{}", wrong.join("\n"));
}

#[test]
fn no_two_modules_of_a_directory_use_each_other() {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("src");
    let read = |path: PathBuf| {
        let module = module_of(path.strip_prefix(&source).unwrap());
        (module, bare(&fs::read_to_string(path).unwrap()))
    };
    let files: Vec<(Names, String)> = rust_files(&source).into_iter().map(read).collect();
    let modules = Modules::of(&files);
    let mut siblings = Siblings::default();
    let mut seen = 0;
    for (module, code) in &files {
        for used in modules.used(module, code) {
            seen += 1;
            siblings.add(module, &used);
        }
    }
    assert!(seen > 1000, "paths were found: {seen}");
    let circles = siblings.circles().into_iter();
    let circles: Vec<_> =
        circles.map(|(parent, circle)| format!("{}: {circle:?}", parent.join("::"))).collect();
    assert!(circles.is_empty(), "modules that use each other:\n{}", circles.join("\n"));
}

#[test]
fn the_command_sees_only_what_is_public() {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("src");
    let main = fs::read_to_string(source.join("main.rs")).unwrap();
    assert!(
        main.contains("mod cli;"),
        "the command is a module of the program, not of the library"
    );
    let lib = fs::read_to_string(source.join("lib.rs")).unwrap();
    assert!(!modules(&lib).contains(&"cli".to_string()));
}

/// The library forbids unsafe code. The Python package maps files, and fills buffers of Python.
#[test]
fn unsafe_code_is_in_one_file() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"forbid\""));
    let files = rust_files(&root.join("python/src")).into_iter();
    let with_unsafe = files.filter(|path| {
        let text = code(&fs::read_to_string(path).unwrap());
        text.contains("unsafe {") || text.contains("unsafe fn") || text.contains("unsafe impl")
    });
    let found: Vec<_> =
        with_unsafe.map(|path| path.strip_prefix(root).unwrap().to_owned()).collect();
    assert_eq!(found, [Path::new("python/src/mapping.rs")]);
}

/// Messages go where untrusted text is escaped, inputs come from where streams are bounded.
#[test]
fn the_command_speaks_and_opens_files_in_one_place() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("src/cli");
    let mut found = Vec::new();
    for path in rust_files(&folder) {
        let text = code(&fs::read_to_string(&path).unwrap());
        for (word, places) in [
            ("print!(", &["problem.rs"][..]),
            ("println!(", &["problem.rs"]),
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
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("src");
    for (file, most) in [
        ("bytes.rs", 76),
        ("flat/verify.rs", 260),
        ("flat/verify/deep.rs", 60),
        ("flat/verify/budget.rs", 40),
        ("flat/verify/leaf.rs", 115),
        ("flat/verify/seen.rs", 65),
        ("flat/verify/vtable.rs", 195),
        ("flat/verify/cache.rs", 90),
        ("flat/verify/text.rs", 70),
        ("flat/verify/union.rs", 70),
        ("flat/verify/why.rs", 100),
        ("file/fields.rs", 40),
        ("file/header.rs", 240),
        ("file/extents.rs", 145),
        ("file/segments.rs", 90),
        ("payload/mlx.rs", 70),
        ("payload/sections/archive.rs", 145),
        ("payload/sections/package.rs", 65),
        ("payload/sections/record.rs", 95),
        ("payload/xnnpack.rs", 230),
        ("payload/xnnpack/header.rs", 60),
        ("payload/xnnpack/keys.rs", 45),
    ] {
        let lines = fs::read_to_string(source.join(file)).unwrap().lines().count();
        assert!(lines <= most, "{file} has {lines} lines, and {most} are meant to be enough");
    }
}

fn position(order: &[String], module: &str) -> usize {
    let found = order.iter().position(|other| other == module);
    found.unwrap_or_else(|| panic!("{module} is not listed in lib.rs"))
}

fn modules(lib: &str) -> Vec<String> {
    let names = lib
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    names.map(Into::into).collect()
}

/// The modules that the names at the crate's root come from.
fn reexports(lib: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in lib.lines().filter_map(|line| line.strip_prefix("pub use ")) {
        let module = line.split("::").next().unwrap();
        let names = line.rsplit("::").next().unwrap();
        for name in names.split(|c: char| !c.is_alphanumeric()).filter(|name| !name.is_empty()) {
            found.insert(name.to_string(), module.to_string());
        }
    }
    found
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

/// Returns the first names after `crate::`, including those of a list in braces.
fn uses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in text.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => {
                let list = list.split('}').next().unwrap();
                found.extend(list.split(',').filter_map(first_name));
            }
            None => found.extend(first_name(rest)),
        }
    }
    found
}

fn first_name(text: &str) -> Option<String> {
    let name: String =
        text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
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
