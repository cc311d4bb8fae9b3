//! Untrusted text comes from a file, a file name, a list, JSON or an argument. No output for a
//! terminal contains a character of it that moves the cursor or is invisible.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use super::{LINEAR, pte, run, text};
use crate::support::build;

/// Text that sets a terminal's title, clears its screen, forges a line, reverses text, is invisible, or
/// resembles a space.
const HOSTILE: &str = "\u{301}q\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\r\nerror: forged\t\u{8}\u{7f}\u{85}\u{202e}\u{2066}\
    \u{200b}\u{200d}\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{17b4}\u{180b}\u{180e}\u{2028}\u{2029}\
    \u{2061}\u{206a}\u{2800}\u{3164}\u{fe0f}\u{feff}\u{ffa0}\u{fff9}\u{fffc}\u{1d159}\u{1d173}\
    \u{e0041}\u{e0100}\u{a0}\u{1680}\u{2000}\u{200a}\u{202f}\u{205f}\u{3000}\u{e000}\u{10fffd}\
    \u{40000}\u{fffe}\u{16fe4}z";

#[track_caller]
fn assert_harmless(args: &[&str], done: &Output) {
    for (stream, bytes) in [("stdout", &done.stdout), ("stderr", &done.stderr)] {
        let shown = text(bytes);
        let is_bad = |c: char| {
            c != '\n'
                && (c.is_control() || (!c.is_ascii() && c != '\u{301}' && HOSTILE.contains(c)))
        };
        let bad = shown.lines().find(|line| line.contains(is_bad));
        assert_eq!(bad.map(|line| line.escape_unicode().to_string()), None, "{stream} of {args:?}");
        assert!(!shown.contains("\nerror: forged"), "{stream} of {args:?}: {shown}");
        for before in ["\"\u{301}", " \u{301}", "\n\u{301}", "'\u{301}"] {
            assert!(!shown.contains(before), "{stream} of {args:?}: a mark without a base");
        }
    }
    assert!(done.status.code().is_some_and(|code| code < 4), "{args:?}: {:?}", done.status);
}

/// A program with hostile text in every string; programs with different `other` differ.
fn program(name: &str, other: i64) -> Vec<u8> {
    let call = |args: &[i64]| json!({"instr_args_type": "KernelCall", "instr_args": {"op_index": 0, "args": args}});
    let tensor = |extra: Value| {
        let mut tensor = json!({"scalar_type": "FLOAT", "sizes": [2], "dim_order": [0]});
        tensor.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"val_type": "Tensor", "val": tensor})
    };
    let planned = json!({"allocation_info": {"memory_id": 1}});
    let named = json!({"allocation_info": {"memory_id": 1},
        "extra_tensor_info": {"fully_qualified_name": name}});
    let constant = json!({"data_buffer_idx": 1,
        "extra_tensor_info": {"fully_qualified_name": name}});
    let root = json!({
        "execution_plan": [{
            "name": name,
            "container_meta_type": {"encoded_inp_str": name, "encoded_out_str": name},
            "values": [tensor(named), tensor(planned), tensor(constant),
                {"val_type": "String", "val": {"string_val": name}},
                {"val_type": "Int", "val": {"int_val": other}}],
            "inputs": [0],
            "outputs": [1],
            "chains": [{"inputs": [], "outputs": [], "instructions": [call(&[0, 2, 3, 4, 1, 1]),
                {"instr_args_type": "DelegateCall",
                    "instr_args": {"delegate_index": 0, "args": [1, 0]}}],
                "stacktrace": [{"items": [{"filename": name, "lineno": 1, "name": name,
                    "context": name}]}, {"items": []}]}],
            "operators": [{"name": name, "overload": name}, {"name": "aten::add", "overload": name}],
            "delegates": [{"id": name, "processed": {"location": "INLINE", "index": 0},
                "compile_specs": [{"key": name, "value": [1]}, {"key": name, "value": []}]}],
            "non_const_buffer_sizes": [0, 64],
        }, {"name": name}],
        "constant_buffer": [{"storage": []}, {"storage": [0, 0, 0, 0, 0, 0, 0, 0]}],
        "backend_delegate_data": [{"data": [1, 2, 3]}],
        "segments": [{"offset": 0, "size": 16}],
        "named_data": [{"key": name, "segment_index": 0}, {"key": name, "segment_index": 7}],
    });
    build::file(&json!({"root": root, "data": [{"zeros": 16}]}).to_string())
}

fn data(name: &str) -> Vec<u8> {
    let layout = json!({"scalar_type": "FLOAT", "sizes": [2], "dim_order": [0]});
    let root = json!({"version": 0, "segments": [{"offset": 0, "size": 8}], "named_data": [
        {"key": name, "segment_index": 0, "tensor_layout": layout},
        {"key": format!("{name}2"), "segment_index": 0}]});
    build::file(&json!({"kind": "ptd", "root": root, "data": [{"zeros": 8}]}).to_string())
}

/// Every verb in every format, on files with hostile strings and hostile names.
#[test]
fn text_of_a_file_is_escaped_by_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    // File names have no NUL, no slash, and at most 255 bytes.
    let name: String = HOSTILE.chars().filter(|c| *c != '/').collect();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        name.to_string()
    };
    let own = write("m.pte", &program(HOSTILE, 1));
    let odd = write(&format!("{name}.pte"), &program(HOSTILE, 2));
    let weights = write(&format!("{name}.ptd"), &data(HOSTILE));
    let plain = crate::support::files::read(LINEAR).unwrap();
    let plain = write("plain.pte", &plain);
    let broken = write(&format!("broken{name}.pte"), b"PK\x03\x04\x1b]0;t\x07");
    let list = write("list", format!("operators:\n  \"{}\": {{}}\n", "aten::x").as_bytes());
    let bad_list = write(&format!("list{name}"), b"operators: [x\x1b[2J]\n");
    let bad_names = write("names", format!("a {HOSTILE}").as_bytes());
    let missing = format!("missing{name}");
    let tensor = format!("{HOSTILE}:2");
    let delegate = format!("{HOSTILE}:0");
    let assign = format!("{HOSTILE}={missing}");
    // Folders that are files, or do not exist.
    let (in_file, in_none) = (format!("{odd}/x"), format!("{missing}/out"));
    let dir = format!("dir={in_file}");
    let (own, odd, weights) = (own.as_str(), odd.as_str(), weights.as_str());
    let mut all: Vec<Vec<&str>> = Vec::new();
    for file in [own, odd, weights, &broken, &missing, "."] {
        for words in [
            &["info"][..],
            &["check"],
            &["check", "--format", "sarif"],
            &["check", "--json", "--scan-blobs"],
            &["check", "--with", weights],
            &["check", "--with", &broken, "--with", own],
            &["dump"],
            &["dump", "--blobs", "inline"],
            &["dump", "--container"],
            &["tensors"],
            &["tensors", "--stats", "--hash"],
            &["tensors", "--json", "--largest", "2"],
            &["size", "--depth", "9"],
            &["size", "--json"],
            &["size", "--budget", "1"],
            &["size", "--against", own],
            &["memory"],
            &["memory", "--svg"],
            &["memory", "--json"],
            &["memory", "--budget", "1", "--budget", "1=1", "--budget", "7=1"],
            &["map"],
            &["map", "--depth", "9"],
            &["map", "--html"],
            &["map", "--json"],
            &["ops"],
            &["ops", "--json"],
            &["ops", "--format", "yaml"],
            &["ops", "--against", &list],
            &["ops", "--against", &bad_list],
            &["ops", "--against", &bad_names],
            &["ops", "--against", &missing],
            &["graph"],
            &["graph", "--format", "mermaid"],
            &["graph", "--json"],
            &["graph", "--method", &missing],
            &["memory", "--method", &missing],
            &["diff", own],
            &["diff", &plain],
            &["diff", "--format", "markdown", own],
            &["diff", "--format", "markdown", &plain],
            &["diff", "--json", own],
            &["diff", "--with", weights, own],
            &["diff", "--with", own, own],
            &["extract", "--key", &missing],
            &["extract", "--tensor", &missing],
            &["extract", "--delegate", &missing],
            &["extract", "--delegate", &tensor],
            &["extract", "--segment", "99"],
            &["extract", "--all", &missing, "--as", "npy"],
            &["edit", "--align", "64"],
            &["edit", "--in-place", "--remove-data", &missing],
            &["edit", "--in-place", "--set-data", &assign],
            &["edit", "--in-place", "--inline", own],
            &["edit", "-o", own, "--inline", own],
            &["edit", "--externalize", "all", "-o", "edited.pte", "--ptd", "edited.ptd"],
            &["convert"],
            &["convert", "--to", "safetensors", "--skip-blobs", "-o", "out.safetensors"],
            &["convert", "--to", "safetensors", "-o", &in_none],
            &["convert", "--to", "ptd", "-o", "out.ptd"],
            &["build"],
            &["info", "-o", file],
        ] {
            all.push([words, &[file]].concat());
        }
    }
    for words in [
        &["extract", own, "--tensor", &tensor, "-o", "tensor"][..],
        &["extract", own, "--delegate", &delegate, "-o", "delegate"],
        &["extract", own, "--key", HOSTILE, "-o", "key"],
        &["extract", own, "--all", "parts"],
        &["extract", own, "--all", "parts"],
        &["info", own, "-o", &in_none],
        &["dump", own, "--blobs", &dir],
        &["man", "--all", &in_file],
        &["extract", own, "--all", &in_file],
        &["graph", own, "--max-instructions", "0"],
        &["tensors", own, "-o", "tensors.txt"],
    ] {
        all.push(words.to_vec());
    }
    for args in &all {
        assert_harmless(args, &run(args, Some(folder.path()), b""));
    }
    // In data formats, the text is kept and only encoded.
    let parsed = |args: &[&str]| -> Value {
        serde_json::from_slice(&run(args, Some(folder.path()), b"").stdout).unwrap()
    };
    assert_eq!(parsed(&["info", "--json", own])["files"][0]["methods"][0]["name"], HOSTILE);
    assert_eq!(parsed(&["check", "--json", odd])["files"][0]["path"], odd);
    assert_eq!(parsed(&["graph", "--json", own])["methods"][0]["name"], HOSTILE);
    let index = fs::read_to_string(folder.path().join("parts/index.json")).unwrap();
    assert!(index.is_ascii(), "{index}");
    let index: Value = serde_json::from_str(&index).unwrap();
    assert!(index["parts"].as_array().unwrap().iter().any(|part| part["key"] == HOSTILE));
}

/// Every byte of a hostile file, as `map --at` shows it.
#[test]
fn text_of_a_file_is_escaped_at_every_byte() {
    let bytes = program(HOSTILE, 1);
    for at in (0..bytes.len()).step_by(61) {
        for format in ["text", "json"] {
            let args = ["map", "-", "--at", &at.to_string(), "--format", format];
            assert_harmless(&args, &run(&args, None, &bytes));
        }
    }
}

/// Messages about JSON and safetensors files quote their text.
#[test]
fn text_of_a_json_file_is_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let quoted = json!(HOSTILE).to_string();
    let escaped = quoted.replace('\u{301}', "\\u0301");
    for name in [&quoted, &escaped] {
        for json in [
            name.to_string(),
            format!("{{{name}: 1}}"),
            format!("{{\"execution_plan\": [{{{name}: 1}}]}}"),
            format!("{{\"execution_plan\": {name}}}"),
            format!("{{\"version\": {name}}}"),
            format!("{{\"version\": 0, \"version\": {name}}}"),
            format!("{{\"execution_plan\": [{{\"values\": [{{\"val_type\": {name}}}]}}]}}"),
            format!("{{\"execution_plan\": [{{\"name\": {{\"file\": {name}}}}}]}}"),
            format!("{{\"constant_buffer\": [{{\"storage\": {{\"file\": {name}}}}}]}}"),
            format!("{{\"constant_buffer\": [{{\"storage\": {{{name}: 1}}}}]}}"),
            format!("{{\"version\": 0, \"container\": {{\"kind\": {name}}}}}"),
            format!("{{\"version\": 0, \"container\": {{{name}: 1}}}}"),
            format!("{{\"version\": 0, \"container\": {{\"segments\": [{{\"file\": {name}}}]}}}}"),
            format!("{{\"version\": 0, \"container\": {{\"layout\": {name}}}}}"),
            format!("{{\"version\": 0}} {HOSTILE}"),
            HOSTILE.to_string(),
        ] {
            for kind in ["pte", "ptd"] {
                let args = ["build", "--kind", kind, "-"];
                let done = run(&args, Some(folder.path()), json.as_bytes());
                assert_ne!(done.status.code(), Some(0), "{json}");
                assert_harmless(&args, &done);
            }
        }
        for header in [
            format!("{{{name}: 1}}"),
            format!("{{{name}: {{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 9]}}}}"),
            format!("{{{name}: {{\"dtype\": \"F4\", \"shape\": [2], \"data_offsets\": [0, 1]}}}}"),
            format!("{{{name}: {{\"dtype\": {name}, \"shape\": [2], \"data_offsets\": [0, 8]}}}}"),
            format!("{{{name}: {{{name}: 1}}}}"),
            format!("{{\"__metadata__\": {{{name}: 1}}}}"),
            format!("{{\"__metadata__\": {name}}}"),
            format!(
                "{{\"a\": {{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}}} {name}"
            ),
        ] {
            let mut file = (header.len() as u64).to_le_bytes().to_vec();
            file.extend(header.as_bytes());
            file.extend([0; 8]);
            let args = ["convert", "--to", "ptd", "-"];
            assert_harmless(&args, &run(&args, Some(folder.path()), &file));
        }
    }
}

/// Messages about arguments come from the command-line parser, which quotes them.
#[test]
fn text_of_an_argument_is_escaped() {
    let option = format!("--{HOSTILE}");
    let value = format!("--color={HOSTILE}");
    let pair = format!("x={HOSTILE}");
    for args in [
        &[HOSTILE][..],
        &[&option],
        &[&value, "info", LINEAR],
        &["info", &option, LINEAR],
        &["explain", HOSTILE],
        &["man", HOSTILE],
        &["completions", HOSTILE],
        &["schema", HOSTILE],
        &["schema", "program", HOSTILE],
        &["check", LINEAR, "--allow", HOSTILE],
        &["check", LINEAR, "--deny", HOSTILE],
        &["check", LINEAR, "--runtime", HOSTILE],
        &["map", LINEAR, "--at", HOSTILE],
        &["size", LINEAR, "--budget", HOSTILE],
        &["memory", LINEAR, "--budget", &pair],
        &["graph", LINEAR, "--format", HOSTILE],
        &["diff", LINEAR, LINEAR, "--ignore", HOSTILE],
        &["edit", LINEAR, "--align", HOSTILE],
        &["edit", LINEAR, "--set-data", HOSTILE],
        &["dump", LINEAR, "--blobs", HOSTILE],
        &["build", LINEAR, "--blobs", HOSTILE],
        &["extract", LINEAR, "--delegate", HOSTILE],
        &["info", LINEAR, "--max-stream", HOSTILE],
        &["edit", LINEAR, "--ptd", HOSTILE, "-o", "x"],
        // An argument that is wrong, but valid when escaped.
        &["info", LINEAR, "--json", "--format", "text", "-o", HOSTILE],
    ] {
        let done = pte(args);
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        assert_harmless(args, &done);
        assert!(!done.stderr.is_empty(), "{args:?}");
    }
    assert!(text(&pte(&["explain", "a\u{a0}b"]).stderr).contains(r"a\u{a0}b"));
}

/// File names that are not UTF-8, also in system errors.
#[cfg(unix)]
#[test]
fn text_of_a_system_error_is_escaped() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let named = |ending: &str| {
        let mut name = b"\xff\xc2\x1b]0;t\x07\n".to_vec();
        name.extend("\u{202e}\u{a0}".as_bytes());
        name.extend(ending.as_bytes());
        folder.path().join(OsStr::from_bytes(&name))
    };
    symlink("nowhere", named("a.pte")).unwrap();
    symlink(named("b.pte"), named("b.pte")).unwrap();
    fs::create_dir(named("c.pte")).unwrap();
    fs::write(named("d.pte"), b"").unwrap();
    for verb in ["info", "check", "build", "convert", "dump", "ops", "map"] {
        for ending in ["a.pte", "b.pte", "c.pte", "d.pte", "none"] {
            let path: &Path = &named(ending);
            let done = super::command()
                .arg(verb)
                .arg(path)
                .args([OsStr::new("-o"), &path.join("out").into_os_string()])
                .output()
                .unwrap();
            assert_harmless(&[verb, ending], &done);
        }
    }
    let done = run(&["check", "--follow", "."], Some(folder.path()), b"");
    assert_harmless(&["check", "."], &done);
    assert!(text(&done.stdout).contains(r"\xff\xc2\u{1b}]0;t\u{7}\n\u{202e}\u{a0}a.pte"));
}

/// With colours, all escape sequences in the output are those of the command.
#[test]
fn color_is_the_only_escape_sequence() {
    let bytes = program(HOSTILE, 1);
    for verb in ["info", "check", "tensors", "size", "memory", "map", "ops"] {
        let done = run(&["--color", "always", verb, "-"], None, &bytes);
        let shown = text(&done.stdout);
        assert!(shown.contains('\u{1b}'), "{verb}");
        let plain = shown.split('\u{1b}').skip(1).all(|part| {
            let colour = part.strip_prefix('[').and_then(|part| part.split_once('m'));
            colour.is_some_and(|(code, _)| code.bytes().all(|c| c.is_ascii_digit() || c == b';'))
        });
        assert!(plain, "{verb}: {shown:?}");
        assert!(!shown.contains("[2J") || shown.contains(r"\u{1b}[2J"), "{verb}");
    }
}

/// Names in a file are untrusted text.
#[test]
fn control_characters_in_names_are_escaped() {
    let whole = crate::support::files::read(LINEAR).unwrap();
    let at = whole.windows(7).position(|window| window == b"forward").unwrap();
    let mut bytes = whole;
    bytes[at..at + 7].copy_from_slice(b"\x1b[2Jabc");
    for args in [&["info", "-"][..], &["tensors", "-"], &["ops", "-"], &["graph", "-"]] {
        let shown = run(args, None, &bytes);
        assert_eq!(shown.status.code(), Some(0));
        assert!(!text(&shown.stdout).contains('\u{1b}'), "{args:?}");
    }
}

/// Characters that are invisible or reverse text are escaped, in JSON as `\\u`.
#[test]
fn invisible_characters_are_escaped() {
    let odd = "a\u{61c}\u{ad}\u{180e}\u{e0041}\u{3164}\u{115f}\u{1160}\u{ffa0}\u{2800}\u{fe0f}\
               \u{e0100}\u{34f}\u{202e}\u{200b}\u{2066}\u{feff}\u{2028}\u{1d173}z";
    let plain = "naïve 名前 🎉";
    let names = format!(r#"{{"key": "{odd}"}}, {{"key": "{odd}"}}, {{"key": "{plain}"}}"#);
    let root = format!(r#"{{"segments": [{{"size": 8}}], "named_data": [{names}]}}"#);
    let bytes =
        build::file(&format!(r#"{{"kind": "ptd", "root": {root}, "data": [{{"zeros": 8}}]}}"#));
    for args in [
        &["info", "-"][..],
        &["info", "--json", "-"],
        &["tensors", "-"],
        &["tensors", "--json", "-"],
        &["dump", "-"],
        &["check", "-"],
        &["check", "--json", "-"],
        &["check", "--format", "sarif", "-"],
    ] {
        let done = run(args, None, &bytes);
        assert_eq!(done.status.code(), Some(0), "{args:?} {}", text(&done.stderr));
        let shown = text(&done.stdout);
        for c in odd.chars().filter(|c| !c.is_ascii()) {
            assert!(!shown.contains(c), "{args:?} shows {}", c.escape_unicode());
        }
        assert!(args[0] == "check" || shown.contains(plain), "{args:?}");
        let json = serde_json::from_str::<Value>(&shown);
        let name = match (args, &json) {
            (["dump", ..], Ok(json)) => Some(&json["named_data"][0]["key"]),
            (["tensors", "--json", ..], Ok(json)) => Some(&json["tensors"][0]["key"]),
            _ => None,
        };
        assert!(name.is_none_or(|name| name == odd), "{args:?}: {name:?}");
        assert_eq!(name.is_some(), matches!(args, ["dump", ..] | ["tensors", "--json", ..]));
    }
}
