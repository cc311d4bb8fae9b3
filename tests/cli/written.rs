//! Written files: signals leave no partial file, and replacements keep owner and links.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pte::model::{Blob, PtdModel};

use super::{BASIC, LINEAR, good, pte, text};

/// A sparse `.ptd` of 8 GB, which takes longer to write than any test runs.
fn long_file(folder: &Path) -> String {
    let mut data = PtdModel::empty();
    data.add_segment(Blob::Zeros(8 << 30));
    let path = folder.join("long.ptd");
    let file = fs::File::create_new(&path).unwrap();
    data.image().unwrap().write_to_file(&file, |_| ()).unwrap();
    path.to_str().unwrap().into()
}

/// Starts a command whose output is in `folder`, and waits until it writes.
fn start(command: &mut Command, folder: &Path) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    while !is_writing(&child, folder) {
        if let Some(status) = child.try_wait().unwrap() {
            panic!("ended too early: {status}, {:?}", child.wait_with_output());
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is written");
        sleep(Duration::from_millis(2));
    }
    child
}

/// Whether a command has an open file of over a megabyte in `folder`, without a name or with a temporary
/// one.
fn is_writing(child: &Child, folder: &Path) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{}/fd", child.id())) else { return false };
    open.filter_map(Result::ok).any(|entry| {
        let Ok(target) = fs::read_link(entry.path()) else { return false };
        let is_temporary = target.to_string_lossy().contains("/.pte-")
            || target.to_string_lossy().ends_with(" (deleted)");
        let len = fs::metadata(entry.path()).map_or(0, |metadata| metadata.len());
        target.starts_with(folder) && is_temporary && len > 1 << 20
    })
}

/// Whether a command ignores a signal, as shells arrange for background jobs.
fn ignores(child: &Child, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal - 1) & 1 == 1
}

/// Sends `signal`, and returns the signal that ended the command; `None` if it is ignored.
fn end(mut child: Child, signal: i32) -> Option<i32> {
    if ignores(&child, signal) {
        println!("skipped: signal {signal} is ignored here");
        child.kill().unwrap();
        child.wait().unwrap();
        return None;
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert_eq!((text(&done.stdout), text(&done.stderr)), (String::new(), String::new()));
    Some(done.status.signal().unwrap_or_else(|| panic!("{}", done.status)))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

const HANGUP: i32 = 1;
const INTERRUPT: i32 = 2;
const KILL: i32 = 9;
const TERMINATE: i32 = 15;

#[test]
fn signal_while_writing_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let long = long_file(&folder);
    let out = folder.join("out.bin");
    for signal in [INTERRUPT, TERMINATE, HANGUP, KILL] {
        let mut command = super::command();
        command.args(["-q", "extract", &long, "--segment", "0", "-o"]).arg(&out);
        let child = start(&mut command, &folder);
        let has_name = names(&folder).iter().any(|name| name.starts_with(".pte-"));
        if signal == KILL && has_name {
            println!("skipped: this file system has no files without a name");
        }
        if let Some(ended) = end(child, signal) {
            assert_eq!(ended, signal);
        }
        assert!(names(&folder) == ["long.ptd"] || signal == KILL && has_name, "signal {signal}");
    }
}

/// Without `/proc`, files need a temporary name.
#[test]
fn signal_while_writing_leaves_no_named_file() {
    const WITHOUT: &str = "mount --make-rprivate / && umount -l /proc && exec \"$@\"";
    let without = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", WITHOUT, "sh"]).args(args);
        command
    };
    if !without(&["true"]).output().is_ok_and(|done| done.status.success()) {
        println!("skipped: /proc cannot be taken away here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let long = long_file(&folder);
    let out = folder.join("out.bin");
    let out = out.to_str().unwrap();
    let command = env!("CARGO_BIN_EXE_pte");
    for signal in [INTERRUPT, TERMINATE] {
        let args = [command, "-q", "extract", &long, "--segment", "0", "-o", out];
        let child = start(&mut without(&args), &folder);
        assert!(names(&folder).iter().any(|name| name.starts_with(".pte-")));
        if let Some(ended) = end(child, signal) {
            assert_eq!(ended, signal);
            assert_eq!(names(&folder), ["long.ptd"], "signal {signal}");
        }
    }
    for name in names(&folder).into_iter().filter(|name| name.starts_with(".pte-")) {
        fs::remove_file(folder.join(name)).unwrap();
    }
    let args = [command, "extract", LINEAR, "--segment", "0", "-o", out];
    for mode in [0o644, 0o640] {
        assert!(without(&args).current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success());
        assert_eq!(fs::read(out).unwrap(), crate::support::files::read(LINEAR).unwrap()[0x680..]);
        // The second run replaces the first output.
        assert!(mode == 0o644 || fs::metadata(out).unwrap().mode() & 0o777 == 0o640);
        fs::set_permissions(out, fs::Permissions::from_mode(0o640)).unwrap();
    }
    assert_eq!(names(&folder).len(), 2);
}

#[test]
fn signal_while_writing_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let long = long_file(&folder);
    let out = folder.join("parts");
    for signal in [INTERRUPT, TERMINATE, HANGUP] {
        let mut command = super::command();
        command.args(["-q", "extract", &long, "--all"]).arg(&out);
        let child = start(&mut command, &folder);
        match end(child, signal) {
            Some(ended) => {
                assert_eq!(ended, signal);
                assert_eq!(names(&folder), ["long.ptd"], "signal {signal}");
            }
            // The signal was ignored, so the command was killed.
            None => {
                let left = names(&folder).into_iter().filter(|name| name.starts_with(".pte-"));
                left.for_each(|name| fs::remove_dir_all(folder.join(name)).unwrap());
            }
        }
    }
}

/// Existing pages are replaced, not overwritten.
#[test]
fn man_pages_are_written_atomically() {
    let folder = tempfile::tempdir().unwrap();
    let [page, other] = ["pte-info.1", "other"].map(|name| folder.path().join(name));
    fs::write(&page, "old").unwrap();
    fs::hard_link(&page, &other).unwrap();
    good(&["man", "--all", folder.path().to_str().unwrap()]);
    assert_eq!(fs::read(&other).unwrap(), b"old");
    assert!(fs::read_to_string(&page).unwrap().contains(".TH pte-info 1"));
}

#[test]
fn in_place_refuses_hard_links() {
    let folder = tempfile::tempdir().unwrap();
    let [file, link, out] = ["a.ptd", "b.ptd", "c.ptd"].map(|name| folder.path().join(name));
    fs::copy(crate::support::files::path(BASIC), &file).unwrap();
    fs::hard_link(&file, &link).unwrap();
    let path = file.to_str().unwrap();
    let done = pte(&["edit", path, "--align", "4096", "--in-place"]);
    assert_eq!(done.status.code(), Some(2));
    let stderr = text(&done.stderr);
    assert!(stderr.contains("a.ptd has 2 hard links"), "{stderr}");
    assert!(stderr.contains("write to another name with -o"), "{stderr}");
    assert_eq!(fs::metadata(&link).unwrap().nlink(), 2);
    assert!(fs::read(&link).unwrap() == crate::support::files::read(BASIC).unwrap());
    // With -o, the new file gets the name, and other hard links keep the old contents.
    fs::write(&out, "old").unwrap();
    fs::hard_link(&out, folder.path().join("d")).unwrap();
    good(&["edit", path, "--align", "4096", "--quiet", "-o", out.to_str().unwrap()]);
    assert_eq!(fs::read(folder.path().join("d")).unwrap(), b"old");
    assert!(fs::read(&out).unwrap().len() > 4096);
}

#[test]
fn replaced_file_keeps_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ptd");
    fs::copy(crate::support::files::path(BASIC), &file).unwrap();
    if chown(&file, Some(1000), Some(1001)).is_err() {
        println!("skipped: only root can give files away");
        return;
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o2664)).unwrap();
    let path = file.to_str().unwrap();
    let kept = |what: &str| {
        let is = fs::metadata(&file).unwrap();
        assert_eq!((is.uid(), is.gid(), is.mode() & 0o7777), (1000, 1001, 0o2664), "{what}");
    };
    good(&["edit", path, "--align", "4096", "--in-place"]);
    kept("--in-place");
    assert!(fs::read(&file).unwrap().len() > 4096);
    good(&["extract", LINEAR, "--program", "-o", path]);
    kept("-o");

    // If the owner cannot be kept, the file is not replaced.
    let before = fs::read(&file).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let as_another = |args: &[&str]| {
        let mut command = super::command();
        command.args(args).uid(65534).gid(65534).output()
    };
    if !as_another(&["schema", "program"]).is_ok_and(|done| done.status.success()) {
        println!("skipped: another user cannot run the command");
        return;
    }
    let done = as_another(&["schema", "program", "-o", path]).unwrap();
    assert_eq!(done.status.code(), Some(3));
    let stderr = text(&done.stderr);
    assert!(stderr.contains("its owner (user 1000, group 1001) cannot be kept"), "{stderr}");
    assert!(fs::read(&file).unwrap() == before);
    assert_eq!(names(folder.path()), ["a.ptd"]);
}
