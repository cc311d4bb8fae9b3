//! Outputs of all verbs: files, pipes and colours.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use super::inputs::INPUT_VERBS;
use super::{BASIC, LINEAR, command, good, pte, text};
use crate::support::files;

#[test]
fn output_files_are_written_atomically() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("dump.json");
    good(&["dump", LINEAR, "-o", out.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&out).unwrap(), good(&["dump", LINEAR]));
    // A refusal keeps the old output, and leaves no other file.
    let cut = folder.path().join("cut.pte");
    fs::write(&cut, &files::read(LINEAR).unwrap()[..1000]).unwrap();
    let refused = pte(&["dump", cut.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&out).unwrap(), good(&["dump", LINEAR]));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    // An input is never overwritten.
    let same = pte(&["dump", cut.to_str().unwrap(), "-o", cut.to_str().unwrap()]);
    assert_eq!(same.status.code(), Some(1), "refused before it is opened for writing");
    let copy = folder.path().join("copy.pte");
    fs::copy(files::path(LINEAR), &copy).unwrap();
    let same = pte(&["dump", copy.to_str().unwrap(), "-o", copy.to_str().unwrap()]);
    assert_eq!(same.status.code(), Some(2));
    assert_eq!(fs::read(&copy).unwrap(), files::read(LINEAR).unwrap());
    let nowhere =
        pte(&["dump", LINEAR, "-o", folder.path().join("no/dump.json").to_str().unwrap()]);
    assert_eq!(nowhere.status.code(), Some(3));
}

/// The exit status is the same whether or not the message can be written.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_for_errors_changes_no_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.pte");
    let out = out.to_str().unwrap();
    for (args, status) in [
        (&["info", "no-such-file"][..], 3),
        (&["check", "README.md"], 1),
        (&["check", "--with", BASIC, "--with", BASIC, LINEAR], 0),
        (&["edit", LINEAR, "--align", "64", "-o", out], 0),
        (&["diff", LINEAR, "no-such-file"], 3),
        (&["info", "--no-such-flag"], 2),
        (&["info", "no-such\u{202e}file"], 3),
        (&["--no-such\u{202e}flag"], 2),
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let done = command().args(args).stderr(full).output().unwrap();
        assert_eq!(done.status.code(), Some(status), "{args:?}");
    }
}

/// The help is output as any other.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_for_output_is_reported() {
    for args in [
        &["--help"][..],
        &["-h"],
        &["--version"],
        &["help", "map"],
        &["map", "--help"],
        &["info", LINEAR],
        // More than the buffer of the output.
        &["memory", "tests/data/pte/multi_method.pte", "tests/data/pte/synth_all_seg.pte"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let done = command().args(args).stdout(full).output().unwrap();
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{args:?} {said}");
        assert!(said.contains("<standard output>: No space left"), "{args:?} {said}");
    }
}

#[cfg(unix)]
#[test]
fn replaced_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("segment.bin");
    fs::write(&out, "old").unwrap();
    for mode in [0o600, 0o640] {
        fs::set_permissions(&out, fs::Permissions::from_mode(mode)).unwrap();
        good(&["extract", LINEAR, "--segment", "0", "-o", out.to_str().unwrap()]);
        assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, mode);
    }
}

/// A reader such as `head` may close the pipe.
#[test]
fn closed_pipe_is_no_error() {
    let mut child = command()
        .args(["dump", "--blobs", "inline", "tests/data/pte/xnn_gpt.pte"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(0), &b""[..]));
}

/// A gate such as `pte check … | head` must see the verdict.
#[test]
fn closed_pipe_keeps_the_status_of_an_answer() {
    for args in [
        &["check", "--no-config", "tests/data/pte/synth_all_seg.pte"][..],
        &["diff", LINEAR, "tests/data/pte/xnn_gpt.pte"],
        &["size", "--budget", "1", "--no-config", LINEAR],
        &["memory", "--budget", "1", "--no-config", LINEAR],
    ] {
        let mut command = command();
        command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1), "{args:?}");
    }
}

#[test]
fn color_is_used_only_on_request() {
    assert!(!good(&["info", LINEAR]).contains('\u{1b}'), "not on a pipe");
    assert!(good(&["--color", "always", "info", LINEAR]).contains('\u{1b}'));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("info.txt");
    good(&["--color", "always", "info", LINEAR, "-o", out.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&out).unwrap(), good(&["info", LINEAR]), "never in a file");
}

/// The reader may close the pipe before there is output: no error and no message.
#[test]
fn closed_output_is_no_error_for_any_verb() {
    let whole = files::read("tests/data/pte/xnn_gpt.pte").unwrap();
    let more: [&[&str]; 5] = [
        &["map", "--depth", "9"],
        &["map", "--html"],
        &["graph", "--json"],
        &["memory", "--svg"],
        &["size", "--json"],
    ];
    for verb in INPUT_VERBS.into_iter().chain(more) {
        let mut child = command()
            .args(verb)
            .arg("-")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The command writes nothing before it has read its input.
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(&whole).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!(text(&done.stderr), "", "{verb:?}");
        let differ = verb[0] == "diff";
        assert!(
            done.status.code() == Some(0) || differ && done.status.code() == Some(1),
            "{verb:?}: {:?}",
            done.status
        );
    }
}

/// Lines break between words where the width of the terminal is known, and nothing is lost.
#[test]
fn reports_fit_the_width_of_the_terminal() {
    const DELEGATED: &str = "tests/data/pte/xnn_gpt.pte";
    let run = |args: &[&str], columns: Option<usize>| {
        let mut command = command();
        command.args(args).env_remove("COLUMNS");
        if let Some(columns) = columns {
            command.env("COLUMNS", columns.to_string());
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let reports =
        [vec!["info", DELEGATED], vec!["map", DELEGATED], vec!["diff", LINEAR, DELEGATED]];
    for args in reports {
        let whole = run(&args, None);
        assert!(whole.lines().any(|line| line.chars().count() > 80), "{whole}");
        for columns in [60, 80] {
            let narrow = run(&args, Some(columns));
            assert_eq!(words(&narrow), words(&whole), "{args:?}");
            // A word is not broken: a row of `map` may be two offsets, a size and one word.
            let long = narrow.lines().filter(|line| words(line).len() > 4);
            let mut long = long.filter(|line| line.chars().count() > columns);
            assert_eq!(long.next(), None, "{args:?} at {columns} columns");
        }
    }
}

/// What a verb reads beside the model is an input too.
#[test]
fn no_output_replaces_what_the_verb_has_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("precious");
    let path = file.to_str().unwrap();
    good(&["check", LINEAR, "--write-baseline", path, "-q"]);
    let baseline = fs::read_to_string(&file).unwrap();
    for (contents, args) in [
        (&baseline[..], &["check", LINEAR, "--json", "--baseline"][..]),
        ("aten::add.out\n", &["check", LINEAR, "--json", "--kernels"]),
        ("[check]\n", &["check", LINEAR, "--json", "--config"]),
        ("", &["graph", "tests/data/pte/dyn_batch.pte", "--overlay", "time", "--etdump"]),
        ("", &["graph", LINEAR, "--format", "model-explorer", "--etrecord"]),
    ] {
        let contents = match args.last() {
            Some(&"--etdump") => files::read("tests/data/other/mlp.etdp").unwrap(),
            Some(&"--etrecord") => files::read("tests/data/other/linear.etrecord").unwrap(),
            _ => contents.into(),
        };
        fs::write(&file, &contents).unwrap();
        let done = pte(&[args, &[path, "-o", path]].concat());
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", text(&done.stderr));
        assert!(text(&done.stderr).contains("precious is also an input"), "{args:?}");
        assert_eq!(fs::read(&file).unwrap(), contents, "{args:?}");
    }
}

/// Two outputs in one file are refused before one is written, also if the file does not exist yet.
#[test]
fn two_outputs_need_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let count = || fs::read_dir(folder.path()).unwrap().count();
    let [twice, dotted] = ["r.json", "./r.json"].map(|name| folder.path().join(name));
    let [twice, dotted] = [&twice, &dotted].map(|path| path.to_str().unwrap());
    let done = pte(&["check", LINEAR, "-o", twice, "--write-baseline", dotted]);
    assert_eq!((done.status.code(), count()), (Some(2), 0));
    let said = text(&done.stderr);
    assert!(said.contains("r.json would be written by -o and by --write-baseline"), "{said}");
    // A dump writes a blob as a file that is named by its hash.
    let blobs = format!("dir={}", folder.path().display());
    let dump = ["dump", "--container", "--blobs", &blobs, "tests/data/pte/xnn_mixed.pte"];
    good(&dump);
    let files = count();
    assert!(files > 0);
    let blob = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&blob).unwrap();
    for exists in [true, false] {
        if !exists {
            fs::remove_file(&blob).unwrap();
        }
        let done = pte(&[&dump[..], &["-o", blob.to_str().unwrap()]].concat());
        assert_eq!(done.status.code(), Some(2));
        assert!(text(&done.stderr).contains("has the name of a blob"), "{}", text(&done.stderr));
        assert_eq!(fs::read(&blob).ok(), exists.then(|| bytes.clone()));
    }
}

/// A limit on the size of files is an error as any other, and leaves nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_the_size_of_files_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let pte = env!("CARGO_BIN_EXE_pte");
    let model = files::path("tests/data/pte/xnn_gpt.pte");
    for args in ["extract --all \"$2\" \"$1\"", "dump --blobs inline \"$1\" -o \"$2\""] {
        let script = format!("ulimit -f 10; exec \"$0\" {args}");
        let mut shell = std::process::Command::new("bash");
        let shell = shell.args(["-c", &script, pte]).args([&model, &out]);
        let done = shell.output().unwrap();
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{args}: {said}");
        assert!(said.contains("File too large"), "{args}: {said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{args}");
    }
}

/// The settings of a verb are an input too.
#[test]
fn settings_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("pte.toml");
    let settings = settings.to_str().unwrap();
    for verb in ["check", "size", "memory"] {
        fs::write(settings, "").unwrap();
        let done = pte(&[verb, LINEAR, "--config", settings, "-o", settings]);
        assert_eq!(done.status.code(), Some(2), "{verb}");
        assert!(text(&done.stderr).contains("pte.toml is also an input"), "{verb}");
        assert_eq!(fs::read(settings).unwrap(), b"", "{verb}");
    }
}
