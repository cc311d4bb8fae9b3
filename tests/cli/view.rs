//! `pte view`: the page from 127.0.0.1, and requests that a hostile page or program may send.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{BASIC, LINEAR, command, files, good, pte, text};

/// A running command, which ends with the test.
pub(super) struct Server {
    child: Child,
    /// The folder of temporary files.
    folder: TempDir,
    host: String,
    token: String,
}

impl Server {
    pub(super) fn new(files: &[&str]) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), &files::path(""), files)
    }

    fn in_folder(folder: TempDir, current: &Path, files: &[&str]) -> Self {
        let mut command = command();
        command.args(["view", "--no-open"]).args(files).current_dir(current);
        Self::of(command, folder)
    }

    /// Starts a command, whose temporary files are in `folder`, and reads the address that it prints.
    fn of(mut command: Command, folder: TempDir) -> Self {
        let mut child =
            command.env("TMPDIR", folder.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (host, token) = line.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let (host, token) = (host.into(), token.trim_end_matches("/\n").into());
        Self { child, folder, host, token }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/{}/", self.host, self.token)
    }

    /// Sends bytes, and returns all that is answered.
    fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // The server may have answered and closed before all is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// Sends a request, and returns the status and the body.
    fn request(&self, method: &str, path: &str, host: &str) -> (u16, Vec<u8>) {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n");
        let answer = self.send(head.as_bytes());
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = text(&answer[..end]);
        for header in ["nosniff", "no-store", "same-origin", "frame-ancestors 'none'"] {
            assert!(head.contains(header), "{head}");
        }
        (head[9..12].parse().unwrap(), answer[end + 4..].to_vec())
    }

    fn get(&self, path: &str) -> (u16, Vec<u8>) {
        self.request("GET", &format!("/{}/{path}", self.token), &self.host)
    }

    fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {}", text(&body));
        serde_json::from_slice(&body).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answers are the documents of the verbs.
#[test]
fn view_serves_the_page_and_answers_as_the_verbs_do() {
    let server = Server::new(&[LINEAR, BASIC, "tests/data/pte/add.pte"]);
    let (status, page) = server.get("");
    let page = text(&page);
    assert_eq!(status, 200);
    assert!(page.contains("connect-src 'self';"));
    assert!(page.contains(r#""name":"linear.pte","size":1808,"isData":false"#), "{page}");
    assert!(page.contains(r#""name":"ptd_basic.ptd""#) && !page.contains("tests/data"));
    let said = |args: &[&str]| serde_json::from_str::<Value>(&good(args)).unwrap();
    assert_eq!(server.json("0/info"), said(&["info", "--json", LINEAR]));
    assert_eq!(server.json("0/memory"), said(&["memory", "--json", LINEAR]));
    assert_eq!(server.json("0/mapAt?arg=96"), said(&["map", "--json", "--at", "96", LINEAR]));
    assert_eq!(server.json("1/sizes"), said(&["size", "--json", BASIC]));
    assert_eq!(server.json("1/modules"), said(&["size", "--by-module", "--json", BASIC]));
    let checked = server.json("0/check?runtime=1.0");
    assert_eq!(checked["files"][0]["findings"][0]["in"], BASIC, "judged with the data");
    let differing = server.json("0/diff?file=2");
    assert!(differing["count"].as_u64().unwrap() > 0);
    let (_, bytes) = server.get("0/bytes?offset=8&length=4");
    assert_eq!(bytes, b"eh00");
    let (_, npy) = server.get("0/tensor?arg=forward:1");
    assert!(npy.starts_with(b"\x93NUMPY"), "{}", text(&npy));
    let (status, absent) = server.get("1/ops");
    assert_eq!(status, 422);
    assert!(text(&absent).contains("which has no operators"));
}

/// The page shows of an error what the terminal does: the code, the place and what to do.
#[test]
fn view_answers_an_error_with_its_code_and_help() {
    let server = Server::new(&["README.md", LINEAR]);
    let finding = |path: &str| {
        let (status, body) = server.get(path);
        assert_eq!(status, 422, "{path}");
        serde_json::from_slice::<Value>(&body).unwrap()
    };
    let want = &server.json("0/check")["files"][0]["findings"][0];
    for call in ["memory", "map", "tensor?arg=x", "diff?file=1"] {
        let path = format!("0/{call}");
        let found = finding(&path);
        let found = found["files"][0]["findings"].get(0).unwrap_or(&found);
        assert_eq!(found["rule"], "other-format", "{path}: {found}");
        assert_eq!((&found["help"], &found["message"]), (&want["help"], &want["message"]));
    }
    for call in ["info", "sizes", "modules", "ops"] {
        let found = finding(&format!("0/{call}"));
        assert_eq!(found["refused"][0]["findings"][0]["rule"], "other-format", "{call}");
    }
    assert_eq!(server.json("0/explorer")["graphs"][0]["nodes"][0]["id"], "findings");
    let absent = finding("1/tensor?arg=none");
    assert_eq!(absent["rule"], "absent", "{absent}");
    assert!(absent["message"].as_str().unwrap().contains("none"), "{absent}");
}

#[test]
fn view_refuses_other_hosts_methods_paths_and_tokens() {
    let server = Server::new(&[LINEAR]);
    let path = format!("/{}/0/info", server.token);
    let port = server.host.rsplit(':').next().unwrap();
    let rebound = format!("127.0.0.1.evil.example:{port}");
    for host in [&format!("evil.example:{port}"), &rebound, "", ":80", "127.0.0.1.", "127.0.0.2"] {
        assert_eq!(server.request("GET", &path, host).0, 403, "{host}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT"] {
        assert_eq!(server.request(method, &path, &server.host).0, 405, "{method}");
    }
    let wrong = format!("/{}/0/info", "0".repeat(server.token.len()));
    let short = format!("/{}/0/info", &server.token[1..]);
    let above = format!("/../{}/", server.token);
    for path in ["/", "/0/info", "/favicon.ico", &wrong, &short, &above] {
        assert_eq!(server.request("GET", path, &server.host).0, 404, "{path}");
    }
    for path in [
        "1/info",
        "-1/info",
        "x/info",
        "0/none",
        "0",
        "0/",
        "0/info/",
        "0/../0/info",
        "0/bytes/x",
        "../../etc/passwd",
        "0/%2e%2e/info",
        "0/edit",
        "0/build",
        "page.html",
    ] {
        assert_eq!(server.get(path).0, 404, "{path}");
    }
}

/// The other end of a tunnel has another port.
#[test]
fn view_answers_through_a_tunnel() {
    let server = Server::new(&[LINEAR]);
    let path = format!("/{}/0/info", server.token);
    for host in ["localhost:8000", "127.0.0.1:8000", "localhost"] {
        assert_eq!(server.request("GET", &path, host).0, 200, "{host}");
    }
}

/// Other users see the arguments of the browser's process: they are a file that only this user can read.
#[cfg(unix)]
#[test]
fn view_opens_the_browser_at_a_private_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (opener, opened) = (folder.path().join("xdg-open"), folder.path().join("opened"));
    std::fs::write(&opener, "#!/bin/sh\necho \"$*\" >opened.part && mv opened.part opened\n")
        .unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::copy(&opener, folder.path().join("open")).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut command = command();
    command.args(["view".as_ref(), files::path(LINEAR).as_os_str()]);
    command.env("PATH", path).current_dir(folder.path());
    let server = Server::of(command, folder);
    let begun = Instant::now();
    while !opened.exists() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let arguments = std::fs::read_to_string(&opened).unwrap();
    assert!(!arguments.contains(&server.token) && !arguments.contains("http"), "{arguments}");
    let page = Path::new(arguments.trim());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(page), mode(page.parent().unwrap())), (0o600, 0o700));
    let lead = std::fs::read_to_string(page).unwrap();
    assert!(lead.contains(&format!("url={}'", server.url())), "{lead}");
}

/// The page reads the given files and nothing else: no configuration of the folder that it runs in.
#[test]
fn view_reads_no_configuration() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pte.toml"), "[size]\nbudget = \"10B\"\n").unwrap();
    let current = folder.path().to_owned();
    let linear = files::path(LINEAR);
    let server = Server::in_folder(folder, &current, &[linear.to_str().unwrap()]);
    for call in ["sizes", "memory", "check"] {
        let (status, body) = server.get(&format!("0/{call}"));
        assert_eq!(status, 200, "{call}: {}", text(&body));
    }
}

/// Files of the same name have their paths beside them.
#[test]
fn view_tells_files_of_the_same_name_apart() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("linear.pte");
    std::fs::copy(files::path(LINEAR), &copy).unwrap();
    let server = Server::new(&[LINEAR, copy.to_str().unwrap()]);
    let (_, page) = server.get("");
    assert!(text(&page).contains(&format!(r#""name":"{}""#, copy.display())));
}

/// A value of a query is one value of one flag: it names no other file, and is no flag.
#[test]
fn view_takes_a_value_for_a_value() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let server = Server::new(&[LINEAR]);
    for value in ["-o", "--output", "--with", "1.0 -o", ""] {
        let value = format!("{value}={}", made.display()).replace(' ', "+");
        for call in ["check?runtime=", "mapAt?arg=", "tensor?arg="] {
            let (status, _) = server.get(&format!("0/{call}{value}"));
            assert!(matches!(status, 400 | 422), "{call}{value}: {status}");
        }
    }
    for path in ["0/mapAt", "0/diff", "0/diff?file=7", "0/diff?file=/etc/passwd", "0/tensor"] {
        assert!(matches!(server.get(path).0, 400 | 404), "{path}");
    }
    assert!(!made.exists());
    let (_, bytes) = server.get("0/bytes?offset=0&length=99999999999");
    assert_eq!(bytes.len(), 1808, "the length is no allocation");
    let far = server.get("0/bytes?offset=18446744073709551615&length=1");
    assert_eq!(far, (200, Vec::new()));
}

/// Requests that do not end, are too long or are no HTTP are dropped, and others are answered meanwhile.
#[test]
fn view_survives_hostile_requests() {
    let server = Server::new(&[LINEAR]);
    let mut slow: Vec<_> = (0..8).map(|_| TcpStream::connect(&server.host).unwrap()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET /").unwrap();
    }
    assert_eq!(server.get("0/info").0, 200, "while others wait");
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(100_000));
    let headers = format!("GET / HTTP/1.1\r\n{}", "a: b\r\n".repeat(100_000));
    for (bytes, status) in [
        (long.as_bytes(), "431"),
        (headers.as_bytes(), "431"),
        (b"\r\n\r\n", "400"),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", "400"),
        (b"GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", "403"),
        (b"GET /\xff\xfe HTTP/1.1\r\n\r\n", "400"),
    ] {
        let answer = server.send(bytes);
        let answer = text(&answer);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{status}: {answer:?}");
    }
    let begun = Instant::now();
    for mut stream in slow {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    assert!(begun.elapsed() < Duration::from_secs(15), "a request has five seconds");
    assert_eq!(server.get("0/info").0, 200);
}

/// Another user needs no token to open connections.
#[test]
fn view_answers_beside_many_connections_that_ask_nothing() {
    let server = Server::new(&[LINEAR]);
    let silent: Vec<_> = (0..64).map(|_| TcpStream::connect(&server.host).unwrap()).collect();
    let begun = Instant::now();
    assert_eq!(server.get("0/info").0, 200);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    drop(silent);
}

#[test]
fn view_gives_the_page_to_many_at_once() {
    let server = &Server::new(&[LINEAR]);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(move || (0..10).for_each(|_| assert_eq!(server.get("").0, 200)));
        }
    });
}

/// A file that is removed or cut while it is shown is an error in words.
#[test]
fn view_of_a_file_that_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pte");
    std::fs::copy(LINEAR, &path).unwrap();
    let server = Server::new(&[path.to_str().unwrap()]);
    assert_eq!(server.get("0/info").0, 200);
    std::fs::write(&path, &std::fs::read(LINEAR).unwrap()[..200]).unwrap();
    let (status, body) = server.get("0/info");
    assert_eq!(status, 422);
    assert!(text(&body).contains("refused"), "{}", text(&body));
    assert_eq!(server.json("0/check")["files"][0]["verdict"], "error");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(server.get("0/info").0, 422);
}

/// Opening a pipe blocks until something writes to it.
#[cfg(unix)]
#[test]
fn view_of_a_file_that_becomes_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let (model, data) = (folder.path().join("model.pte"), folder.path().join("data.ptd"));
    std::fs::copy(files::path(LINEAR), &model).unwrap();
    std::fs::copy(files::path(BASIC), &data).unwrap();
    let server = Server::new(&[LINEAR, model.to_str().unwrap(), data.to_str().unwrap()]);
    for path in [&model, &data] {
        std::fs::remove_file(path).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    for call in ["1/info", "1/bytes?offset=0&length=8", "0/diff?file=1", "0/check", "2/tensors"] {
        let (status, body) = server.get(call);
        assert!(text(&body).contains("is not a regular file"), "{call}: {}", text(&body));
        assert_eq!(status, 422, "{call}");
    }
    assert_eq!(server.get("0/info").0, 200);
}

#[test]
fn view_takes_files_of_this_disk() {
    for (args, status, what) in [
        (&["view"][..], 2, "FILE"),
        (&["view", "--no-open", "-"], 2, "is not a regular file"),
        (&["view", "--no-open", "tests"], 2, "is not a regular file"),
        (&["view", "--no-open", "tests/data/none.pte"], 3, "No such file"),
        (&["view", "--no-open", LINEAR, "-o", "x.html"], 2, "view writes no file"),
    ] {
        let done = pte(args);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(status), "{args:?} {said}");
        assert!(said.contains(what), "{args:?} {said}");
    }
}

/// Ctrl-C ends the command, and nothing is left in the folder of temporary files.
#[cfg(target_os = "linux")]
#[test]
fn view_ends_at_ctrl_c() {
    let mut server = Server::new(&[LINEAR]);
    let folder = server.folder.path().to_owned();
    let left = || std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(left(), 1);
    let id = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(!server.child.wait().unwrap().success());
    assert_eq!(left(), 0);
}
