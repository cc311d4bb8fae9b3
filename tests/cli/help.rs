//! `--help`, `pte completions` and `pte man`.

use std::fs;

use super::{LINEAR, good, pte, run, text};
use crate::support::snapshot::assert_snapshot;

/// Returns the examples of `pte --help`: commands and their descriptions.
fn examples() -> Vec<(String, String)> {
    let help = good(&["--help"]);
    let (_, behind) = help.split_once("Examples:\n").unwrap();
    let (lines, _) = behind.split_once("\n\n").unwrap();
    let mut examples: Vec<(String, String)> = Vec::new();
    for line in lines.lines() {
        match line.strip_prefix("  pte ") {
            Some(line) => {
                let (command, what) = line.split_once("  ").unwrap_or((line, ""));
                examples.push((command.into(), what.trim().into()));
            }
            None => examples.last_mut().unwrap().1.push_str(line.trim()),
        }
    }
    examples
}

#[test]
fn examples_of_help_work() {
    let folder = tempfile::tempdir().unwrap();
    let model = |name: &str, sample: &str| {
        fs::copy(
            crate::support::files::path(format!("tests/data/pte/{sample}")),
            folder.path().join(name),
        )
        .unwrap();
    };
    model("model.pte", "xnn_gpt.pte");
    model("new.pte", "xnn_gpt.pte");
    model("old.pte", "xnn_mixed.pte");
    let examples = examples();
    assert!(examples.len() > 12, "{examples:?}");
    for (need, status, answer) in [
        (
            "the largest tensors",
            0,
            "03896820ae193ca4196c2d18295e095906f85ab489dee731d42411279ed15739",
        ),
        ("why one is larger than the other", 0, "named data / "),
        ("a delegate's blob", 0, ""),
        ("for a selective build", 0, "aten::native_layer_norm.out:"),
        ("a size gate for CI", 0, "delegates"),
    ] {
        let found: Vec<_> = examples.iter().filter(|(_, what)| what.contains(need)).collect();
        let [(command, _)] = found.as_slice() else { panic!("{need}: {found:?}") };
        let args: Vec<_> = command.split(' ').collect();
        let done = run(&args, Some(folder.path()), b"");
        assert_eq!(done.status.code(), Some(status), "{command}: {}", text(&done.stderr));
        let shown = text(&done.stdout);
        assert!(shown.contains(answer), "{command}: {shown}");
        if need == "a delegate's blob" {
            let bytes = fs::read(folder.path().join("blob.bin")).unwrap();
            assert_eq!(&bytes[4..8], b"XH00", "the magic of XNNPACK's payloads");
        }
        if need == "a size gate for CI" {
            // The same command for a model over the budget.
            let args: Vec<_> =
                args.iter().map(|&arg| if arg == "8MB" { "8kB" } else { arg }).collect();
            let done = run(&args, Some(folder.path()), b"");
            assert_eq!(done.status.code(), Some(1), "{args:?}");
        }
    }
}

#[test]
#[cfg_attr(
    not(all(feature = "remote", feature = "scan")),
    ignore = "pages have what all features add"
)]
fn help_completions_and_man_pages_are_printed() {
    assert_snapshot("cli-help", &good(&["--help"]));
    let help = good(&["--help"]);
    let (_, verbs) = help.split_once("Commands:\n").unwrap();
    let verbs = verbs.lines().take_while(|line| !line.is_empty());
    let verbs: Vec<_> = verbs.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(verbs.len() > 20, "{verbs:?}");
    for verb in verbs.into_iter().filter(|verb| *verb != "help") {
        let help = good(&[verb, "--help"]);
        assert!(help.contains("Examples:") && help.contains("Exit status:"), "{verb}");
        assert!(good(&["man", verb]).contains(".TH"), "{verb}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(good(&["completions", shell]).contains("pte"), "{shell}");
    }
    assert_eq!(
        pte(&["--version"]).stdout,
        format!("pte {}\n", env!("CARGO_PKG_VERSION")).into_bytes()
    );
    for wrong in [&[][..], &["frobnicate"], &["info"], &["info", "--frobnicate", LINEAR]] {
        assert_eq!(pte(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

/// Common tasks on a model file take one command each.
#[test]
fn ten_tasks_take_one_command_each() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str, sample: &str| {
        fs::copy(
            crate::support::files::path(format!("tests/data/pte/{sample}")),
            folder.path().join(name),
        )
        .unwrap();
    };
    copy("model.pte", "xnn_gpt.pte");
    copy("old.pte", "xnn_mixed.pte");
    copy("llm.pte", "const_methods_simple.pte");
    copy("methods.pte", "multi_method.pte");
    let bytes = crate::support::files::read(LINEAR).unwrap();
    fs::write(folder.path().join("cut.pte"), &bytes[..1000]).unwrap();
    for (task, command, status, answer) in [
        ("what is in it", "info model.pte", 0, "XnnpackBackend"),
        ("why it does not load", "check cut.pte", 1, "cut short"),
        ("what grew", "size model.pte --against old.pte", 0, "named data / "),
        (
            "which layers are not quantized",
            "tensors --unquantized model.pte",
            0,
            "XNNFullyConnected",
        ),
        ("does it fit 512 KiB", "memory model.pte --budget 512KiB", 0, "20,544 bytes"),
        ("which kernels it needs", "ops model.pte", 0, "aten::embedding.out"),
        ("what get_max_seq_len returns", "info llm.pte --method get_max_seq_len", 0, "= 2048"),
        (
            "who asks for this blob",
            "tensors --key 201fc4ea model.pte",
            0,
            "XNNFullyConnected filter",
        ),
        ("which method takes most memory", "memory methods.pte", 0, "forward  272 bytes"),
        ("is this upload safe", "check --preset untrusted-upload model.pte", 0, "ok  model.pte"),
    ] {
        let args: Vec<_> = command.split(' ').collect();
        let done = run(&args, Some(folder.path()), b"");
        let shown = text(&done.stdout);
        assert_eq!(done.status.code(), Some(status), "{task}: {shown}{}", text(&done.stderr));
        assert!(shown.contains(answer), "{task}: {shown}");
    }
}

/// A shell asks the command for the values of arguments.
#[test]
fn shells_complete_rules_methods_and_verbs() {
    let complete = |words: &[&str]| {
        let last = (words.len() - 1).to_string();
        let done = super::command()
            .env("PTE_COMPLETE", "bash")
            .env("_CLAP_IFS", "\n")
            .env("_CLAP_COMPLETE_INDEX", last)
            .arg("--")
            .args(words)
            .output()
            .unwrap();
        text(&done.stdout)
    };
    let methods = complete(&["pte", "memory", "tests/data/pte/multi_method.pte", "--method", ""]);
    assert!(methods.lines().any(|line| line == "encode"), "{methods}");
    assert_eq!(complete(&["pte", "check", "--allow", "paths-"]), "paths-leaked");
    assert_eq!(complete(&["pte", "check", "--preset", "u"]), "untrusted-upload");
    assert_eq!(complete(&["pte", "prof"]), "profile");
    assert_eq!(complete(&["pte", "man", "grap"]), "graph");
    let none = complete(&["pte", "memory", "tests/data/ptd/ptd_basic.ptd", "--method", ""]);
    assert!(!none.contains("forward"), "{none}");
}
