//! Real servers on 127.0.0.1: nginx, moto (S3) and azurite (Azure). `PTE_NGINX`, `PTE_MOTO` and
//! `PTE_AZURITE` name their programs; `.ci/run --extra` sets them. Without its variable, a test
//! prints a note and passes.

use std::fs;
#[cfg(feature = "cloud")]
use std::io::Read;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::LINEAR;

/// A server that ends with its test.
struct Program {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    /// Starts the program that a variable names; `None` if there is none.
    fn start(variable: &str, prepare: impl FnOnce(&mut Command, &Path, u16)) -> Option<Self> {
        let Some(program) = std::env::var_os(variable) else {
            eprintln!("skipped: {variable} names no program");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        prepare(&mut command, folder.path(), port);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"] {
            command.env_remove(name);
        }
        let child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).spawn();
        let program = Self { child: child.unwrap(), port, folder };
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(program);
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("{variable} does not listen after a minute");
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sends a request with a body, and returns the status line.
    #[cfg(feature = "cloud")]
    fn put(&self, path: &str, headers: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let head = format!(
            "PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Length: {}\r\n{headers}\r\n",
            self.port,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        let reply = String::from_utf8_lossy(&reply);
        let status = reply.lines().next().unwrap_or_default().to_owned();
        assert!(status.contains(" 20"), "{path}: {reply}");
        status
    }
}

/// Returns the rows of a scan, sorted by their URIs.
#[cfg(feature = "cloud")]
fn rows(folder: &Path) -> Vec<serde_json::Value> {
    let mut rows = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ndjson") {
            let text = fs::read_to_string(path).unwrap();
            let parsed = text.lines().map(|line| serde_json::from_str(line).unwrap());
            rows.extend(parsed.collect::<Vec<serde_json::Value>>());
        }
    }
    rows.sort_by_key(|row| row["uri"].as_str().unwrap().to_owned());
    rows
}

/// A server of the files in its folder, with a log of requests.
fn nginx() -> Option<Program> {
    Program::start("PTE_NGINX", |command, folder, port| {
        let at = folder.display();
        let text = format!(
            "daemon off; master_process off; pid {at}/pid; error_log {at}/errors;\n\
             events {{ }}\n\
             http {{ log_format sizes '$request_method $status $body_bytes_sent';\n\
             access_log {at}/log sizes; client_body_temp_path {at}/t1; proxy_temp_path {at}/t2;\n\
             fastcgi_temp_path {at}/t3; uwsgi_temp_path {at}/t4; scgi_temp_path {at}/t5;\n\
             server {{ listen 127.0.0.1:{port}; root {at}/files; }} }}\n"
        );
        fs::create_dir(folder.join("files")).unwrap();
        fs::write(folder.join("conf"), text).unwrap();
        command.args(["-p", &at.to_string(), "-e", &format!("{at}/errors")]);
        command.args(["-c", &format!("{at}/conf")]);
    })
}

impl Program {
    /// Writes a file that is served. It has `len` bytes, sparse after the given ones.
    fn serve(&self, name: &str, bytes: &[u8], len: u64) {
        let mut file = fs::File::create(self.folder.path().join("files").join(name)).unwrap();
        file.write_all(bytes).unwrap();
        file.set_len(len).unwrap();
    }

    /// Runs a verb on a file, and returns the requests and the bytes that the server has logged.
    fn cost(&self, verb: &str, name: &str) -> (usize, u64) {
        let log = self.folder.path().join("log");
        let before = fs::read_to_string(&log).unwrap_or_default().lines().count();
        let url = format!("{}/{name}", self.origin());
        let done = crate::cli::command()
            .args([verb, "-v", &url, "--allow-http", "--allow-private", "--timeout", "20"])
            .output()
            .unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.code().is_some_and(|code| code < 2), "{said}");
        // A line is written after its reply.
        thread::sleep(Duration::from_millis(200));
        let text = fs::read_to_string(&log).unwrap();
        let lines: Vec<_> = text.lines().skip(before).collect();
        let sizes = lines.iter().map(|line| line.rsplit(' ').next().unwrap());
        let bytes = sizes.map(|size| size.parse::<u64>().unwrap()).sum();
        assert!(lines.iter().all(|line| line.starts_with("GET 206 ")), "{lines:?}");
        let plural = if lines.len() == 1 { "" } else { "s" };
        let shown = format!("{} request{plural}, {bytes} bytes", lines.len());
        assert!(said.replace(',', "").contains(&shown.replace(',', "")), "{said} {shown}");
        eprintln!("{verb} {name}: {shown}");
        (lines.len(), bytes)
    }
}

#[test]
fn nginx_serves_a_sparse_file_of_6_gb() {
    let Some(server) = nginx() else { return };
    server.serve("plain.pte", LINEAR, 6 << 30);
    let (requests, bytes) = server.cost("info", "plain.pte");
    assert!(requests <= 2 && bytes <= 100_000, "{requests} {bytes}");
    let delegates = crate::support::files::read("tests/data/pte/xnn_gpt.pte").unwrap();
    server.serve("delegates.pte", &delegates, 6 << 30);
    let (requests, _) = server.cost("info", "delegates.pte");
    assert!(requests <= 3, "{requests}");
}

#[test]
fn nginx_serves_a_mobilenet() {
    let Some(server) = nginx() else { return };
    let name = std::env::var_os("PTE_CORPUS").map(PathBuf::from);
    let found = name
        .and_then(|corpus| Some(corpus.join("xnn_mobilenet_v2.pte")).filter(|path| path.exists()));
    let Some(found) = found else {
        eprintln!("skipped: PTE_CORPUS has no MobileNet");
        return;
    };
    let model = fs::read(found).unwrap();
    server.serve("mv2.pte", &model, u64::try_from(model.len()).unwrap());
    let (requests, _) = server.cost("check", "mv2.pte");
    assert!(requests <= 4, "{requests}");
}

#[test]
fn nginx_refuses_a_range_of_a_file_that_changed() {
    let Some(server) = nginx() else { return };
    server.serve("m.pte", LINEAR, 2 << 20);
    let url = format!("{}/m.pte", server.origin());
    let file = super::open(&url).unwrap();
    thread::sleep(Duration::from_millis(1100));
    server.serve("m.pte", &[7; 100], 2 << 20);
    let error = super::read(&file, 1 << 20, 10).unwrap_err();
    assert_eq!(error.to_string(), pte::remote::RemoteError::Changed.to_string());
}

#[cfg(feature = "cloud")]
mod stores {
    use sha2::{Digest, Sha256};

    use super::super::cloud::{local, text};
    use super::*;

    const MOTO: [(&str, &str); 2] =
        [("AWS_ACCESS_KEY_ID", "testing"), ("AWS_SECRET_ACCESS_KEY", "testing")];

    #[test]
    fn moto_serves_and_lists_a_bucket() {
        let server = Program::start("PTE_MOTO", |command, _, port| {
            command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        });
        let Some(server) = server else { return };
        server.put("/models", "", b"");
        // A page of a listing has 1,000 keys.
        for nth in 0..1003 {
            server.put(&format!("/models/in/m{nth:04}.pte"), "", LINEAR);
        }
        server.put("/models/other.pte", "", LINEAR);
        server.put("/models/in/notes.txt", "", b"no model");
        server.put("/models/in/a%20b%3F.pte", "", b"no model either");
        let origin = server.origin();
        let settings = [&MOTO[..], &[("AWS_ENDPOINT_URL", &origin)]].concat();
        check(&settings, "s3://models/in", 1004, "s3://models/in/a b%3F.pte");
    }

    /// Scans a prefix and resumes, and compares the rows with those of the same local files.
    fn check(settings: &[(&str, &str)], root: &str, count: usize, refused: &str) {
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().to_str().unwrap();
        let args = ["scan", "--format", "ndjson", "--jobs", "4", "-o", folder, root];
        let done = local(settings, &args);
        assert!(done.status.success(), "{}", text(&done));
        let found = rows(out.path());
        assert_eq!(found.len(), count, "{}", text(&done));
        let again = text(&local(settings, &[&args[..], &["--resume"]].concat()));
        assert!(again.contains(&format!("{count} skipped")), "{again}");
        let of_refused = found.iter().find(|row| row["uri"] == refused).unwrap();
        assert_eq!(of_refused["status"], "refused");
        let remote = found.iter().find(|row| row["status"] == "ok").unwrap();
        assert_eq!((&remote["requests"], &remote["bytes_read"]), (&1.into(), &LINEAR.len().into()));
        assert!(remote["etag"].is_string() && remote["mtime_ms"].is_u64());
        let local_out = tempfile::tempdir().unwrap();
        let folder = local_out.path().to_str().unwrap();
        let args = ["scan", "--format", "ndjson", "-o", folder, "tests/data/pte/linear.pte"];
        assert!(local(&[], &args).status.success());
        for (key, value) in rows(local_out.path())[0].as_object().unwrap() {
            let differs = ["uri", "etag", "mtime_ms", "requests", "bytes_read", "time_us"];
            assert!(differs.contains(&key.as_str()) || remote[key] == *value, "{key}");
        }
        let verb = local(settings, &["check", "-v", remote["uri"].as_str().unwrap()]);
        assert!(verb.status.success() && text(&verb).contains("1 request,"), "{}", text(&verb));
        let missing = local(settings, &["info", &format!("{root}/missing.pte")]);
        assert_eq!(missing.status.code(), Some(3));
        assert!(text(&missing).contains("404"), "{}", text(&missing));
    }

    #[test]
    fn azurite_serves_and_lists_a_container() {
        let server = Program::start("PTE_AZURITE", |command, folder, port| {
            let port = port.to_string();
            command.args(["--blobHost", "127.0.0.1", "--blobPort", &port, "--silent"]);
            command.args(["--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck"]);
            command.env("AZURITE_ACCOUNTS", format!("name:{}", base64(KEY)));
            command.current_dir(folder);
        });
        let Some(server) = server else { return };
        put_blob(&server, "/models?restype=container", "", b"");
        for nth in 0..20 {
            put_blob(&server, &format!("/models/in/m{nth:04}.pte"), "BlockBlob", LINEAR);
        }
        put_blob(&server, "/models/other.pte", "BlockBlob", LINEAR);
        put_blob(&server, "/models/in/z.pte", "BlockBlob", b"no model");
        let (origin, key) = (format!("{}/name", server.origin()), base64(KEY));
        let settings = [
            ("AZURE_STORAGE_ENDPOINT", origin.as_str()),
            ("AZURE_STORAGE_ACCOUNT_NAME", "name"),
            ("AZURE_STORAGE_ACCOUNT_KEY", &key),
        ];
        check(&settings, "az://models/in", 21, "az://models/in/z.pte");
    }

    const KEY: &[u8] = b"a key of this test and of nothing else";

    /// Writes a blob, with a request signed by the shared key.
    fn put_blob(server: &Program, path: &str, kind: &str, body: &[u8]) {
        let date =
            Command::new("date").args(["-u", "+%a, %d %b %Y %H:%M:%S GMT"]).output().unwrap();
        let date = String::from_utf8(date.stdout).unwrap();
        let date = date.trim();
        let kind = match kind {
            "" => String::new(),
            kind => format!("x-ms-blob-type:{kind}\n"),
        };
        let length = if body.is_empty() { String::new() } else { body.len().to_string() };
        let headers = format!("{kind}x-ms-date:{date}\nx-ms-version:2021-08-06\n");
        let resource = path.replace("?restype=", "\nrestype:");
        let text = format!("PUT\n\n\n{length}\n\n\n\n\n\n\n\n\n{headers}/name/name{resource}");
        let signature = base64(&hmac(KEY, text.as_bytes()));
        let headers = format!(
            "{}Authorization: SharedKey name:{signature}\r\n",
            headers.replace('\n', "\r\n")
        );
        server.put(&format!("/name{path}"), &headers, body);
    }

    fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
        let mut block = [0u8; 64];
        block[..key.len()].copy_from_slice(key);
        let digest = |pad: u8, text: &[u8]| {
            let mut sha = Sha256::new();
            sha.update(block.map(|byte| byte ^ pad));
            sha.update(text);
            sha.finalize().to_vec()
        };
        digest(0x5c, &digest(0x36, text))
    }

    fn base64(bytes: &[u8]) -> String {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let at = |nth: usize| u32::from(chunk.get(nth).copied().unwrap_or_default());
            let word = at(0) << 16 | at(1) << 8 | at(2);
            for nth in 0..4 {
                let digit = digits[(word >> (18 - 6 * nth) & 63) as usize];
                text.push(if nth > chunk.len() { '=' } else { char::from(digit) });
            }
        }
        text
    }
}
