//! The command as a child: what one run of it costs.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a run took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cost {
    /// Processor time of all threads, in seconds.
    pub(crate) seconds: f64,
    /// Most memory at once, in bytes.
    pub(crate) memory: u64,
    /// Bytes on standard output, and of the files that were written.
    pub(crate) output: u64,
    pub(crate) status: i32,
    pub(crate) stderr: String,
}

impl Cost {
    /// Whether the process was ended by a signal (as shells count them), or by a panic.
    pub(crate) fn is_crash(&self) -> bool {
        self.status >= 128 || self.status == 101 || self.status < 0
    }
}

/// Runs the command under `/usr/bin/time`, for `seconds` of processor time at most and within `kilobytes`
/// of address space. `made` is a file or folder that it may write.
pub(crate) fn run(args: &[String], made: &Path, seconds: u64, kilobytes: Option<u64>) -> Cost {
    let limit = kilobytes.map_or(String::new(), |limit| format!("ulimit -v {limit}; "));
    let script = format!("ulimit -t {seconds}; ulimit -c 0; {limit}exec \"$@\"");
    let times = made.with_extension("times");
    let mut child = Command::new("/usr/bin/time")
        .args(["-q", "-f", "%U %S %M", "-o"])
        .arg(&times)
        .args(["sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_pte")])
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("/usr/bin/time: {error}"));
    let mut stderr = child.stderr.take().unwrap_or_else(|| panic!("no standard error"));
    let errors = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = (&mut stderr).take(1 << 16).read_to_end(&mut text);
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut stdout = child.stdout.take().unwrap_or_else(|| panic!("no standard output"));
    let mut output = std::io::copy(&mut stdout, &mut std::io::sink()).unwrap_or(0);
    let status = child.wait().unwrap_or_else(|error| panic!("{error}"));
    output += length(made);
    let stderr = errors.join().unwrap_or_default();
    let text = fs::read_to_string(&times).unwrap_or_default();
    // With -q nothing stands in front of the numbers.
    let last = text.lines().last().unwrap_or_default();
    let numbers: Vec<f64> = last.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [user, system, memory] = numbers[..] else { panic!("/usr/bin/time wrote {text:?}") };
    Cost {
        seconds: user + system,
        memory: memory as u64 * 1024,
        output,
        status: status.code().unwrap_or(-1),
        stderr,
    }
}

/// Bytes of a file, or of the files in a folder.
fn length(path: &Path) -> u64 {
    match fs::read_dir(path) {
        Ok(all) => all.flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum(),
        Err(_) => path.metadata().map_or(0, |metadata| metadata.len()),
    }
}
