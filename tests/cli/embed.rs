//! `pte embed`: source code, headers, and boards.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{BASIC, LINEAR, append_run, good, json, pte, run, text};
use crate::support::files;
use crate::support::snapshot::assert_snapshot;

const MULTI: &str = "tests/data/pte/multi_method.pte";
const MIXED: &str = "tests/data/pte/xnn_mixed.pte";
const BOARDS: [&str; 3] = ["nucleo-h743zi2", "pico2", "corstone-300"];

#[test]
fn each_format_has_a_page() {
    let mut page = good(&["embed", LINEAR]);
    for format in ["json", "c", "cpp", "header", "asm", "rust", "yaml"] {
        page.push_str(&format!("\n--format {format} --section network_model_sec\n"));
        let args = ["embed", LINEAR, "--format", format, "--section", "network_model_sec"];
        // The bytes themselves are compared after they are compiled.
        let is_bytes = |line: &&str| !line.starts_with("    0x") && !line.starts_with("\\x");
        good(&args).lines().filter(is_bytes).for_each(|line| page.push_str(&format!("{line}\n")));
    }
    assert_snapshot("embed-formats", &page);
    let several = [MULTI, MIXED].map(|file| good(&["embed", file, "--format", "header"]));
    assert_snapshot("embed-headers", &several.concat());
}

/// The YAML is that of `pte ops`.
#[test]
fn yaml_is_that_of_ops() {
    let yaml = good(&["ops", LINEAR, "--format", "yaml"]);
    assert_eq!(good(&["embed", LINEAR, "--format", "yaml"]), yaml);
}

#[test]
fn the_format_follows_from_the_name_of_the_output() {
    let folder = tempfile::tempdir().unwrap();
    for (name, begin) in [
        ("model.c", "/* Made"),
        ("model.CPP", "/* Made"),
        ("model.h", "/* Made"),
        ("model.S", "/* Made"),
        ("model.rs", "//! Made"),
        ("model.json", "{"),
        ("model.txt", "tests/data"),
        ("model.yml", "build_features"),
    ] {
        let out = folder.path().join(name);
        good(&["embed", LINEAR, "-o", out.to_str().unwrap()]);
        assert!(fs::read_to_string(&out).unwrap().starts_with(begin), "{name}");
    }
    let out = folder.path().join("model.bin");
    assert_eq!(pte(&["embed", LINEAR, "-o", out.to_str().unwrap()]).status.code(), Some(2));
    assert!(!out.exists());
}

/// The alignment is that of the runtime at least, else that of segments or of data in the tables.
#[test]
fn alignment_follows_from_the_segments() {
    for (file, bytes, reason) in [
        ("segment_alignment_1.pte", 16, "runtime"),
        ("v0.2.0_inline_const.pte", 16, "runtime"),
        ("linear.pte", 128, "segments"),
        ("segment_alignment_4096.pte", 4096, "segments"),
        ("v0.3.0_inline_const_align32.pte", 32, "tables"),
    ] {
        let shown = json(&["embed", "--json", &format!("tests/data/pte/{file}")]);
        assert_eq!(shown["alignment"], bytes, "{file}");
        assert_eq!(shown["alignment_reason"], reason, "{file}");
    }
    let shown = good(&["embed", LINEAR, "--align", "4096", "--format", "c"]);
    assert!(shown.contains("_Alignas(4096)"), "{shown}");
    assert!(good(&["embed", LINEAR, "--align", "8", "--format", "c"]).contains("_Alignas(128)"));
}

#[test]
fn boards_say_what_fits_and_what_would_help() {
    let mut page = String::new();
    for board in BOARDS {
        let board = format!("examples/boards/{board}.toml");
        for file in [LINEAR, MIXED] {
            let args = ["embed", file, "--board", &board];
            append_run(&mut page, &args, &pte(&args));
        }
        let shown = pte(&["embed", "--json", LINEAR, "--board", &board]);
        let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
        assert_eq!(shown["board"]["fits"], true, "{board}");
    }
    assert_snapshot("embed-boards", &page);
}

/// A region is too small by one byte at most one byte below what the program needs, with padding.
#[test]
fn small_boards_are_too_small_by_so_much() {
    let folder = tempfile::tempdir().unwrap();
    let board = |text: &str| {
        let path = folder.path().join("board.toml");
        fs::write(&path, format!("name = \"small\"\n{text}")).unwrap();
        path.to_str().unwrap().to_string()
    };
    // The file begins at the next multiple of 128. The arena and the allocators begin at multiples of 16: 224 bytes,
    // 564 and 196 take 996.
    for (flash, sram, flash_over, sram_over) in [
        ("size = 2064, reserved = 129", "size = 996", Some(0), Some(0)),
        ("size = 2063, reserved = 129", "size = 995", Some(1), Some(1)),
        ("size = \"2 kB\"", "size = 1027, reserved = 17", Some(0), Some(1)),
        ("size = 0", "size = \"1 KiB\", reserved = \"4 KiB\"", Some(1808), Some(4068)),
    ] {
        let path = board(&format!("flash = {{ {flash} }}\nsram = {{ {sram} }}\n"));
        let done = pte(&["embed", "--json", LINEAR, "--board", &path]);
        let shown: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        let over = |nth: usize| shown["board"]["regions"][nth]["over"].as_u64();
        assert_eq!((over(0), over(1)), (flash_over, sram_over), "{flash} {sram}");
        let status = i32::from(flash_over != Some(0) || sram_over != Some(0));
        assert_eq!(done.status.code(), Some(status), "{flash} {sram}");
    }
    let mut page = String::new();
    for (file, text) in [
        (
            LINEAR,
            "flash = { size = 1700 }\nsram = { size = 100 }\nregions.dtcm = { size = 256, memory_ids = [2] }\n",
        ),
        (MULTI, "flash = { size = \"1 MB\" }\nsram = { size = 2000 }\n"),
        (MULTI, "flash = { size = \"1 MB\" }\nsram = { size = 2000 }\nloads = \"one\"\n"),
        (MIXED, "flash = { size = \"1 MB\" }\nsram = { size = 2000 }\nbackends = []\n"),
        ("tests/data/pte/external_all.pte", "flash = { size = 1000 }\nsram = { size = 1000 }\n"),
        (
            "tests/data/pte/mem_pools.pte",
            "flash = { size = \"1 MB\" }\nsram = { size = \"1 MB\" }\nregions.ram2 = { size = 16, memory_ids = [2] }\n",
        ),
        (
            LINEAR,
            "flash = { size = \"1 MB\" }\nsram = { size = \"1 MB\" }\noperators = [\"aten::addmm.out\"]\n",
        ),
    ] {
        board(text);
        let shown = run(
            &["embed", files::path(file).to_str().unwrap(), "--board", "board.toml"],
            Some(folder.path()),
            b"",
        );
        let lines = text_of(&shown.stdout);
        let verdict = lines.lines().skip_while(|line| !line.starts_with("small"));
        page.push_str(&format!("{file} on\n{text}"));
        verdict.for_each(|line| page.push_str(&format!("| {line}\n")));
        assert_eq!(
            shown.status.code(),
            Some(i32::from(page.ends_with("x") || lines.contains("does not fit")))
        );
    }
    assert_snapshot("embed-small-boards", &page);
}

/// Advice is given if it helps, to the byte.
#[test]
fn advice_on_boards_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board.toml");
    let board = |file: &str, text: &str| {
        fs::write(&path, format!("name = \"small\"\n{text}")).unwrap();
        let done = pte(&["embed", "--json", file, "--board", path.to_str().unwrap()]);
        let shown: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(shown["board"]["fits"], done.status.code() == Some(0), "{text}");
        shown["board"].clone()
    };
    let advice = |file: &str, text: &str, kind: &str| {
        let shown = board(file, text);
        let advice = shown["advice"].as_array().unwrap().clone();
        advice.into_iter().find(|of| of["kind"] == kind)
    };
    // The file has 1808 bytes, of which 144 can be moved out of it.
    for (flash, fits) in [(1808 - 144, true), (1808 - 145, false), (0, false)] {
        let text = format!("flash = {{ size = {flash} }}\nsram = {{ size = 4096 }}\n");
        let found = advice(LINEAR, &text, "externalize").unwrap();
        assert_eq!((&found["bytes"], &found["fits"]), (&144.into(), &fits.into()), "{flash}");
    }
    // The arena has 224 bytes.
    for (size, is_room) in [(224, true), (223, false), (4096, true)] {
        let text = format!(
            "flash = {{ size = 4096 }}\nsram = {{ size = 16 }}\nregions.a = {{ memory_ids = [9], size = {size} }}\n"
        );
        assert_eq!(advice(LINEAR, &text, "move").is_some(), is_room, "{size}");
    }
    // One method alone needs less than all of them, and has to fit.
    let needed = |loads: &str| {
        let text =
            format!("flash = {{ size = 65536 }}\nsram = {{ size = 0 }}\nloads = \"{loads}\"\n");
        let shown = board(MULTI, &text);
        let regions = shown["regions"].as_array().unwrap().clone();
        regions.iter().find(|region| region["name"] == "sram").unwrap()["needed"].as_u64().unwrap()
    };
    let (one, all) = (needed("one"), needed("all"));
    assert!(one < all, "{one} {all}");
    for (sram, helps) in [(one - 1, false), (one, true), (all - 1, true), (all, false)] {
        let text = format!("flash = {{ size = 65536 }}\nsram = {{ size = {sram} }}\n");
        assert_eq!(advice(MULTI, &text, "load_one").is_some(), helps, "{sram}");
    }
    // What others have of a region may be more than there is.
    let text = "flash = { size = 4096 }\nsram = { size = 4096 }\nregions.a = { memory_ids = [9], size = 10, reserved = 20 }\n";
    let shown = board(LINEAR, text);
    let over: Vec<_> = shown["regions"].as_array().unwrap().iter().map(|of| &of["over"]).collect();
    assert_eq!(over, [0, 0, 10]);
}

/// Inline constants that were exported with an alignment of 32 keep it: the file itself begins at a multiple of 32.
#[test]
fn inline_constants_keep_their_alignment() {
    let file = "tests/data/pte/v0.3.0_inline_const_align32.pte";
    let shown = json(&["embed", "--json", file]);
    assert_eq!((&shown["alignment"], &shown["alignment_reason"]), (&32.into(), &"tables".into()));
    assert!(good(&["embed", file, "--format", "c"]).contains("_Alignas(32)"));
}

/// Nothing is written for a board that the program does not fit.
#[test]
fn source_for_a_board_that_is_too_small_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let board = "name = \"b\"\nflash = { size = 1 }\nsram = { size = 1 }\n";
    fs::write(folder.path().join("board.toml"), board).unwrap();
    fs::copy(files::path(LINEAR), folder.path().join("linear.pte")).unwrap();
    let args = ["embed", "linear.pte", "--board", "board.toml", "-o", "model.c"];
    let mut page = String::new();
    append_run(&mut page, &args, &run(&args, Some(folder.path()), b""));
    assert!(!folder.path().join("model.c").exists());
    let forced = run(&[&args[..], &["--force"]].concat(), Some(folder.path()), b"");
    assert_eq!(forced.status.code(), Some(1));
    assert!(folder.path().join("model.c").exists());
    assert_snapshot("embed-not-written", &page);
}

#[test]
fn wrong_boards_and_arguments_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(files::path(LINEAR), folder.path().join("linear.pte")).unwrap();
    let sizes = "name = \"b\"\nflash = { size = 1 }\nsram = { size = 1 }\n";
    let mut page = String::new();
    for wrong in [
        "name = \"b\"\n".to_string(),
        format!("{sizes}flush = 1\n"),
        format!("{sizes}regions.a = {{ size = 1, memory_ids = [0] }}\n"),
        format!(
            "{sizes}regions.a = {{ size = 1, memory_ids = [1] }}\nregions.b = {{ size = 1, memory_ids = [1] }}\n"
        ),
        format!("{sizes}regions.sram = {{ size = 1, memory_ids = [1] }}\n"),
        format!("{sizes}operators = [\"portible\"]\n"),
        format!("{sizes}operators = [\"aten:: add\"]\n"),
        sizes.replace("size = 1", "size = \"1 parsec\""),
        sizes.replace("size = 1", "size = -1"),
    ] {
        fs::write(folder.path().join("board.toml"), &wrong).unwrap();
        let args = ["embed", "linear.pte", "--board", "board.toml"];
        let done = run(&args, Some(folder.path()), b"");
        assert!(matches!(done.status.code(), Some(2 | 3)), "{wrong}");
        page.push_str(&format!("{wrong}{}\n", text(&done.stderr)));
    }
    for args in [
        &["embed", "linear.pte", "--section", "a\"), weak, section(\"b"][..],
        &["embed", "linear.pte", "--name", "a b"],
        &["embed", "linear.pte", "--name", "int"],
        &["embed", "linear.pte", "--name", "class"],
        &["embed", "linear.pte", "--name", ""],
        &["embed", "linear.pte", "--align", "3"],
        &["embed", "-", "--format", "asm"],
        &["embed", "linear.pte", "-o", "linear.pte", "--format", "c"],
        &["embed", "linear.pte", "--board", "none.toml"],
        &["embed", files::path(BASIC).to_str().unwrap(), "--format", "yaml"],
    ] {
        let done = run(args, Some(folder.path()), &files::read(LINEAR).unwrap());
        let shown = text(&done.stderr).replace(files::path("").to_str().unwrap(), "");
        page.push_str(&format!("{:?}\n{shown}? {}\n\n", &args[2..], done.status.code().unwrap()));
    }
    assert_snapshot("embed-refused", &page);
}

#[test]
fn a_file_with_an_error_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = rebuilt(folder.path(), "\"name\": \"forward\"", "\"name\": \"\"", "224", "-224");
    let done = pte(&["embed", &model, "--format", "c"]);
    assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(1), ""));
    assert!(text(&done.stderr).contains("arena-negative"), "{}", text(&done.stderr));
    assert_eq!(pte(&["embed", &model, "--format", "c", "--force"]).status.code(), Some(0));
}

/// Names of methods, operators and files are data: none of them ends a comment, a literal or a macro.
#[test]
fn hostile_names_stay_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut page = String::new();
    for (name, operator) in [
        ("*/ int x; /*", "\\\"; system(\\\"x"),
        ("??/\\n#error", "\\u202e\\u0000'%s\\\\"),
        ("", "9"),
        ("//\\\\\\n}", "*/"),
    ] {
        let model = rebuilt(
            folder.path(),
            "\"name\": \"forward\"",
            &format!("\"name\": \"{name}\""),
            "\"aten::addmm\"",
            &format!("\"{operator}\""),
        );
        for (format, extension) in [("header", "h"), ("cpp", "cpp"), ("rust", "rs")] {
            let shown = good(&["embed", &model, "--force", "--format", format, "--name", "m"]);
            assert!(shown.bytes().all(|c| c == b'\n' || (b' '..=b'~').contains(&c)), "{shown}");
            let facts = shown.lines().filter(|line| {
                ["NAME", "X(\"", "name:", "(\""].iter().any(|mark| line.contains(mark))
            });
            if format != "cpp" {
                facts.for_each(|line| page.push_str(&format!("{line}\n")));
            }
            fs::write(folder.path().join(format!("m.{extension}")), shown).unwrap();
        }
        for compiler in ["gcc", "g++"] {
            compile(
                folder.path(),
                compiler,
                &["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "m.h"],
            );
        }
        compile(folder.path(), "rustc", RUST);
    }
    assert_snapshot("embed-hostile-names", &page);
    // The file's own name.
    let odd = folder.path().join("*／\" \\ ?> ;#\u{202e} x.pte".replace('／', "-"));
    fs::copy(files::path(LINEAR), &odd).unwrap();
    let odd = odd.to_str().unwrap();
    fs::write(folder.path().join("odd.S"), good(&["embed", odd, "--format", "asm", "--name", "m"]))
        .unwrap();
    compile(folder.path(), "gcc", &["-c", "odd.S", "-o", "odd.o"]);
    assert!(good(&["embed", odd, "--format", "c"]).contains("unsigned char x_pte["));
}

/// The compiled bytes are those of the file, at the alignment that the header names.
#[test]
#[cfg_attr(not(unix), ignore = "the compilers are those of Unix")]
fn compiled_bytes_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    fs::write(at("main.c"), MAIN).unwrap();
    for file in [LINEAR, MIXED, "tests/data/pte/segment_alignment_4096.pte"] {
        fs::copy(files::path(file), at("model.pte")).unwrap();
        let path = at("model.pte");
        for (out, compiler) in [("m.c", "gcc"), ("m.cpp", "g++"), ("m.S", "gcc")] {
            for section in [&[][..], &["--section", "network_model_sec"]] {
                good(&[&["embed", &path, "-o", &at("model_pte.h")][..], section].concat());
                good(&[&["embed", &path, "-o", &at(out)][..], section].concat());
                let flags = ["-Wall", "-Wextra", "-Werror", "-c"];
                let object = [&flags[..], &[out, "-o", "m.o"]].concat();
                if compile(folder.path(), compiler, &object)
                    && compile(
                        folder.path(),
                        "gcc",
                        &[&flags[..3], &["main.c", "m.o", "-o", "main"]].concat(),
                    )
                {
                    let done = Command::new(at("main")).arg(&path).status().unwrap();
                    assert!(done.success(), "{file} {out} {section:?}");
                }
                let object =
                    [&["-mcpu=cortex-m4", "-mthumb"][..], &flags, &[out, "-o", "arm.o"]].concat();
                let compiler = format!("arm-none-eabi-{compiler}");
                if compile(folder.path(), &compiler, &object) {
                    compare_object(folder.path(), section.last().copied());
                }
            }
        }
        good(&["embed", &path, "-o", &at("m.rs")]);
        fs::write(at("main.rs"), RUST_MAIN).unwrap();
        if compile(folder.path(), "rustc", &["--edition", "2024", "main.rs", "-o", "rust"]) {
            let done = Command::new(at("rust")).arg(&path).status().unwrap();
            assert!(done.success(), "{file} in Rust");
        }
    }
}

/// Compares the section of the bytes in an object for Arm.
fn compare_object(folder: &Path, section: Option<&str>) {
    let headers =
        Command::new("arm-none-eabi-objdump").args(["-h", "arm.o"]).current_dir(folder).output();
    let headers = text_of(&headers.unwrap().stdout);
    let bytes = fs::read(folder.join("model.pte")).unwrap();
    let row = headers.lines().find(|line| {
        let mut words = line.split_whitespace().skip(1);
        let name = words.next().unwrap_or_default();
        let len = words.next().and_then(|word| usize::from_str_radix(word, 16).ok());
        len == Some(bytes.len()) && section.map_or(name.starts_with(".rodata"), |of| name == of)
    });
    let row = row.unwrap_or_else(|| panic!("{section:?} is missing: {headers}"));
    let header = fs::read_to_string(folder.join("model_pte.h")).unwrap();
    let alignment =
        header.lines().find_map(|line| line.strip_prefix("#define MODEL_PTE_ALIGNMENT "));
    let alignment: u32 = alignment.unwrap().trim_end_matches('u').parse().unwrap();
    assert!(row.ends_with(&format!("2**{}", alignment.trailing_zeros())), "{row}");
    let name = row.split_whitespace().nth(1).unwrap();
    let args = ["-O", "binary", "-j", name, "arm.o", "arm.bin"];
    let done =
        Command::new("arm-none-eabi-objcopy").args(args).current_dir(folder).status().unwrap();
    assert!(done.success());
    assert!(fs::read(folder.join("arm.bin")).unwrap() == bytes, "{name}");
}

/// Compiles, and returns whether the compiler exists.
fn compile(folder: &Path, compiler: &str, args: &[&str]) -> bool {
    let Ok(done) = Command::new(compiler).args(args).current_dir(folder).output() else {
        eprintln!("skipped: there is no {compiler}");
        return false;
    };
    assert!(done.status.success(), "{compiler} {args:?}: {}", text_of(&done.stderr));
    true
}

/// Returns the path of a program like `linear.pte`, with two texts of its JSON replaced.
fn rebuilt(folder: &Path, name: &str, new_name: &str, other: &str, new_other: &str) -> String {
    let dumped = good(&["dump", "--container", "--blobs", "inline", LINEAR]);
    assert!(dumped.contains(name) && dumped.contains(other), "{dumped}");
    let changed = dumped.replacen(name, new_name, 1).replacen(other, new_other, 1);
    let (from, to) = (folder.join("model.json"), folder.join("model.pte"));
    fs::write(&from, changed).unwrap();
    let done = pte(&["build", from.to_str().unwrap(), "-o", to.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(0), "{}", text_of(&done.stderr));
    to.to_str().unwrap().into()
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const RUST: &[&str] = &[
    "--edition",
    "2024",
    "--crate-type",
    "lib",
    "--emit",
    "metadata",
    "-D",
    "warnings",
    "-A",
    "unused",
    "m.rs",
];

/// Compares the bytes of the file in its argument with those that are linked.
const MAIN: &str = r#"
#include "model_pte.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ROW(name) name,
#define KERNEL(name, dtype) { name, dtype },
static const char *const operators[] = { MODEL_PTE_OPERATORS(ROW) 0 };
static const struct { const char *name; int dtype; } kernels[] = { MODEL_PTE_KERNELS(KERNEL) { 0, 0 } };
static const char *const backends[] = { MODEL_PTE_BACKENDS(ROW) 0 };
static unsigned char arena[MODEL_PTE_METHOD_FORWARD_ARENA_1_BYTES];

int main(int argc, char **argv) {
    static unsigned char bytes[MODEL_PTE_SIZE + 1];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : 0;
    if (!file || fread(bytes, 1, sizeof bytes, file) != MODEL_PTE_SIZE) return 1;
    if (memcmp(bytes, model_pte, MODEL_PTE_SIZE) != 0) return 2;
    if ((uintptr_t)model_pte % MODEL_PTE_ALIGNMENT != 0) return 3;
    if (sizeof operators / sizeof *operators != MODEL_PTE_OPERATOR_COUNT + 1) return 4;
    if (sizeof backends / sizeof *backends != MODEL_PTE_BACKEND_COUNT + 1) return 5;
    if (sizeof kernels / sizeof *kernels < 2 || arena[0] != 0) return 6;
    return strcmp(MODEL_PTE_METHOD_FORWARD_NAME, "forward") != 0;
}
"#;

const RUST_MAIN: &str = r#"
#[allow(dead_code)]
mod m;
const _: [u8; m::METHODS[0].arenas[0].1] = [0; m::METHODS[0].arenas[0].1];
fn main() {
    let file = std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
    assert!(file == m::PROGRAM.0);
    assert_eq!(std::ptr::addr_of!(m::PROGRAM).addr() % std::mem::align_of::<m::Program>(), 0);
    assert_eq!(m::METHODS[0].name, "forward");
}
"#;
