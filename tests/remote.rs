//! Remote files: which requests are sent, what is refused, and what is never sent. All servers are
//! on 127.0.0.1. A second port acts as another origin.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pte::remote::{Client, RemoteError, RemoteFile, RemoteOptions, Resolve, Secret};
use pte::{Handle, Limits, Source};

#[cfg(all(feature = "cloud", feature = "scan"))]
mod cloud;
#[cfg(feature = "scan")]
mod programs;
mod server;

use server::{Act, Server, partial, reply};

const LINEAR: &[u8] = include_bytes!("data/pte/linear.pte");

/// Options for servers on this machine.
fn options() -> RemoteOptions {
    let mut options = RemoteOptions::default();
    options.allows_http = true;
    options.allows_private = true;
    options.timeout = Duration::from_secs(5);
    options.repeats = 0;
    options
}

fn open_with(options: RemoteOptions, url: &str) -> Result<RemoteFile, RemoteError> {
    let client = Client::new(options);
    client.open(&client.url(url)?)
}

fn open(url: &str) -> Result<RemoteFile, RemoteError> {
    open_with(options(), url)
}

/// Opens the file of a server that does `act`, and returns why that fails.
fn refusal(act: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> RemoteError {
    let server = Server::start(move |_, _| Act::Send(act()));
    open(&server.url("/m")).unwrap_err()
}

/// Bytes that differ at every place.
fn long_file() -> Vec<u8> {
    (0..1_000_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn read(file: &RemoteFile, pos: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut out = vec![0; len];
    file.read_at(pos, &mut out).map(|()| out)
}

#[test]
fn a_small_file_takes_one_request() {
    let server = Server::of(LINEAR.to_vec());
    let file = open(&server.url("/m.pte")).unwrap();
    assert_eq!(file.etag().unwrap().raw(), "\"v1\"");
    let handle = Handle::open(&file, &Limits::UNTRUSTED).unwrap();
    pte::check::Checker::new().check(&handle).unwrap();
    assert_eq!(handle.read(0..LINEAR.len() as u64).unwrap(), LINEAR);
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].header("range"), Some("bytes=0-65535"));
    assert_eq!(asked[0].header("accept-encoding"), Some("identity"));
    assert_eq!(asked[0].header("authorization"), None);
    assert_eq!((file.spent().requests, file.spent().bytes), (1, LINEAR.len() as u64));
}

/// The server claims a file of 6 GB, and generates the requested bytes.
#[test]
fn a_file_of_6_gb_is_summarized_with_one_request() {
    let server = Server::start(|asked, _| {
        let (start, end) = asked.range.unwrap();
        let body: Vec<_> =
            (start..end).map(|at| LINEAR.get(at).copied().unwrap_or_default()).collect();
        let headers =
            format!("ETag: \"v1\"\r\nContent-Range: bytes {start}-{}/6442450944\r\n", end - 1);
        Act::Send(reply("206 Partial", &headers, &body))
    });
    let file = open(&server.url("/m.pte")).unwrap();
    let handle = Handle::open(&file, &Limits::UNTRUSTED).unwrap();
    let summary = pte::summary::Summary::read(&handle, &Limits::UNTRUSTED).unwrap();
    assert_eq!(summary.bytes, 6 << 30);
    let spent = file.spent();
    assert!(spent.requests <= 2 && spent.bytes <= 100_000, "{spent:?}");
}

#[test]
fn later_requests_carry_if_match_and_give_the_same_bytes() {
    let bytes = long_file();
    let server = Server::of(bytes.clone());
    let file = open(&server.url("/m")).unwrap();
    for (pos, len) in [(65_000, 2_000), (500_000, 10), (999_990, 10), (0, 1_000_000), (70_000, 0)] {
        assert_eq!(read(&file, pos as u64, len).unwrap(), &bytes[pos..pos + len], "{pos}");
    }
    assert!(read(&file, 999_991, 10).is_err() && read(&file, u64::MAX, 10).is_err());
    let asked = server.asked();
    assert!(asked.len() > 2 && asked[0].header("if-match").is_none());
    assert!(asked[1..].iter().all(|asked| asked.header("if-match") == Some("\"v1\"")));
    assert!(file.spent().bytes <= 1_000_000, "no byte is read twice");
}

#[test]
fn neighbouring_ranges_are_one_request() {
    let bytes = long_file();
    let server = Server::of(bytes.clone());
    let file = open(&server.url("/m")).unwrap();
    let mut buffers = [[0; 100]; 4];
    let places = [200_000u64, 100_000, 150_000, 800_000];
    let mut reads: Vec<_> =
        places.into_iter().zip(&mut buffers).map(|(pos, out)| (pos, &mut out[..])).collect();
    file.read_many(&mut reads).unwrap();
    for (pos, out) in places.iter().zip(&buffers) {
        assert_eq!(out, &bytes[*pos as usize..][..100]);
    }
    let ranges: Vec<_> = server.asked().iter().map(|asked| asked.range.unwrap()).collect();
    assert_eq!(ranges, [(0, 65_536), (100_000, 200_100), (800_000, 800_100)]);
}

#[test]
fn a_file_that_changes_is_refused() {
    let etags = Server::start(|asked, nth| {
        Act::Send(partial(&long_file(), asked, if nth == 0 { "\"v1\"" } else { "\"v2\"" }))
    });
    let precondition = Server::start(|asked, nth| match nth {
        0 => Act::Send(partial(&long_file(), asked, "\"v1\"")),
        _ => Act::Send(reply("412 Changed", "", b"")),
    });
    let shorter = Server::start(|asked, nth| {
        let len = if nth == 0 { 1_000_000 } else { 999_999 };
        Act::Send(partial(&long_file()[..len], asked, "\"v1\""))
    });
    let whole = Server::start(|asked, nth| match nth {
        0 => Act::Send(partial(&long_file(), asked, "W/\"v1\"")),
        _ => Act::Send(reply("200 OK", "ETag: \"v2\"\r\n", &long_file())),
    });
    for server in [etags, precondition, shorter, whole] {
        let file = open(&server.url("/m")).unwrap();
        let error = read(&file, 500_000, 10).unwrap_err();
        assert_eq!(error.to_string(), RemoteError::Changed.to_string());
    }
}

#[test]
fn a_short_body_is_refused() {
    let short = refusal(|| {
        let headers =
            "HTTP/1.1 206 P\r\nContent-Length: 100\r\nContent-Range: bytes 0-99/100\r\n\r\n";
        [headers.as_bytes(), &[7; 50]].concat()
    });
    assert!(matches!(short, RemoteError::Connection(_)), "{short:?}");
    let chunked = refusal(|| {
        let headers =
            "HTTP/1.1 206 P\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes 0-99/100\r\n\r\n";
        [headers.as_bytes(), b"5\r\nabcde\r\n0\r\n\r\n"].concat()
    });
    assert!(matches!(chunked, RemoteError::Connection(_)), "{chunked:?}");
}

#[test]
fn a_lying_length_is_refused() {
    let of = |range: &'static str, len: usize| {
        refusal(move || reply("206 P", &format!("Content-Range: bytes {range}\r\n"), &vec![7; len]))
    };
    for (range, len) in [
        ("0-99/100", 50),
        ("0-99/100", 150),
        ("0-99/1000", 100),
        ("5-104/105", 100),
        ("0-99/*", 100),
    ] {
        assert!(matches!(of(range, len), RemoteError::Reply(_)), "{range} {len}");
    }
    let missing = refusal(|| reply("206 P", "", &[7; 100]));
    assert!(matches!(missing, RemoteError::Reply(_)), "{missing:?}");
    let chunked = refusal(|| {
        let headers =
            "HTTP/1.1 206 P\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes 0-1/2\r\n\r\n";
        [headers.as_bytes(), b"5\r\nabcde\r\n0\r\n\r\n"].concat()
    });
    assert!(matches!(chunked, RemoteError::Reply(_)), "{chunked:?}");
}

#[test]
fn a_wrong_range_in_a_later_reply_is_refused() {
    let server = Server::start(|asked, nth| {
        let mut asked = asked.clone();
        if nth > 0 {
            asked.range = asked.range.map(|(start, end)| (start - 1, end - 1));
        }
        Act::Send(partial(&long_file(), &asked, "\"v1\""))
    });
    let file = open(&server.url("/m")).unwrap();
    assert!(read(&file, 500_000, 10).unwrap_err().to_string().contains("range"));
}

#[test]
fn a_server_without_ranges_may_send_a_small_file_only() {
    let small = Server::start(|_, _| Act::Send(reply("200 OK", "", LINEAR)));
    let file = open(&small.url("/m")).unwrap();
    assert_eq!(read(&file, 0, LINEAR.len()).unwrap(), LINEAR);
    let large = refusal(|| reply("200 OK", "", &vec![0; (1 << 20) + 1]));
    assert!(matches!(large, RemoteError::Reply(_)), "{large:?}");
    let endless = refusal(|| {
        let head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
        [&head[..], &vec![0; 3 << 20]].concat()
    });
    assert!(matches!(endless, RemoteError::Reply(_)), "{endless:?}");
    let empty = Server::of(Vec::new());
    assert_eq!(open(&empty.url("/m")).unwrap().size().unwrap(), 0);
}

#[test]
fn encoded_replies_are_refused() {
    let error = refusal(|| {
        reply("206 P", "Content-Encoding: gzip\r\nContent-Range: bytes 0-3/4\r\n", &[7; 4])
    });
    assert!(matches!(error, RemoteError::Reply(_)), "{error:?}");
}

#[test]
fn long_headers_are_refused() {
    let error = refusal(|| reply("206 P", &format!("X: {}\r\n", "a".repeat(200_000)), b""));
    assert!(matches!(error, RemoteError::Reply(_)), "{error:?}");
}

#[test]
fn a_stalled_server_costs_the_timeout_only() {
    let mut options = options();
    options.timeout = Duration::from_secs(1);
    options.repeats = 5;
    let body = b"HTTP/1.1 206 P\r\nContent-Length: 100\r\nContent-Range: bytes 0-99/100\r\n\r\nabc";
    for sent in [&b""[..], b"HTTP/1.1 206 P\r\nCont", body] {
        let server = Server::start(move |_, _| Act::Stall(sent.to_vec()));
        let begun = Instant::now();
        let error = open_with(options.clone(), &server.url("/m")).unwrap_err();
        assert_eq!(error, RemoteError::Timeout, "{sent:?}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    }
}

#[test]
fn failures_that_may_pass_are_tried_again() {
    for (failure, at_least) in [
        (reply("429 Slow", "Retry-After: 1\r\n", b""), 1000),
        (reply("429 Slow", "ratelimit: \"api\";r=0;t=1\r\n", b""), 1000),
        (reply("429 Slow", "Retry-After: 1\r\nratelimit: \"api\";r=0;t=600\r\n", b""), 1000),
        (reply("503 Busy", "", b""), 200),
        (reply("408 Late", "", b""), 200),
        (Vec::new(), 200),
    ] {
        let server = Server::start(move |asked, nth| match nth {
            0 => Act::Send(failure.clone()),
            _ => Act::Send(partial(LINEAR, asked, "\"v1\"")),
        });
        let mut options = options();
        options.repeats = 2;
        let begun = Instant::now();
        let file = open_with(options, &server.url("/m")).unwrap();
        assert_eq!((file.spent().requests, server.asked().len()), (2, 2));
        assert!(begun.elapsed() >= Duration::from_millis(at_least), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_server_that_keeps_failing_is_given_up() {
    let server = Server::start(|_, _| Act::Send(reply("503 Busy", "", b"")));
    let mut options = options();
    options.repeats = 1;
    let error = open_with(options.clone(), &server.url("/m")).unwrap_err();
    assert_eq!((error, server.asked().len()), (RemoteError::Status(503), 2));
    // A wait that is longer than the timeout is not begun.
    let server = Server::start(|_, _| Act::Send(reply("429 Slow", "Retry-After: 3600\r\n", b"")));
    let error = open_with(options, &server.url("/m")).unwrap_err();
    assert_eq!((error, server.asked().len()), (RemoteError::Status(429), 1));
    for status in [400, 401, 403, 404, 410] {
        let error = refusal(move || reply(&format!("{status} No"), "", b""));
        assert_eq!(error, RemoteError::Status(status));
    }
}

#[test]
fn the_token_is_sent_to_the_hub_alone() {
    let canary = Arc::new(Server::of(long_file()));
    let target = canary.url("/signed?X-Signature=SECRET");
    let hub = Server::start(move |_, _| {
        Act::Send(reply(
            "302 Found",
            &format!("X-Repo-Commit: c0ffee\r\nLocation: {target}\r\n"),
            b"",
        ))
    });
    let mut options = options();
    options.hub = hub.url("");
    options.token = Secret::new("hf_TOKEN\n");
    assert!(!format!("{options:?}").contains("hf_TOKEN"));
    let file = open_with(options.clone(), "hf://org/repo@main/m.pte").unwrap();
    read(&file, 500_000, 10).unwrap();
    assert_eq!(file.commit().unwrap().raw(), "c0ffee");
    assert_eq!(file.name().raw(), "hf://org/repo@main/m.pte");
    assert_eq!(hub.asked().len(), 1, "later ranges are asked of the target");
    assert_eq!(hub.asked()[0].path, "/org/repo/resolve/main/m.pte");
    assert_eq!(hub.asked()[0].header("authorization"), Some("Bearer hf_TOKEN"));
    assert_eq!(canary.asked().len(), 2);
    for asked in canary.asked() {
        assert!(!asked.head.contains("hf_TOKEN"), "{}", asked.head);
    }
    // A URL that is not of the hub gets no token, even at the hub's own origin.
    open_with(options.clone(), &hub.url("/m")).unwrap();
    assert_eq!(hub.asked()[1].header("authorization"), None);
    // A redirect to another origin and back does not bring the token back.
    let back = hub.url("/again");
    let away =
        Server::start(move |_, _| Act::Send(reply("307 T", &format!("Location: {back}\r\n"), b"")));
    let out = away.url("/");
    let round =
        Server::start(move |_, _| Act::Send(reply("307 T", &format!("Location: {out}\r\n"), b"")));
    options.hub = round.url("");
    open_with(options, "hf://o/r/m").unwrap();
    assert_eq!(round.asked()[0].header("authorization"), Some("Bearer hf_TOKEN"));
    assert!(hub.asked()[2].header("authorization").is_none());
}

#[test]
fn redirects_are_bounded_and_stay_within_http() {
    let server = Server::start(|asked, _| {
        let next = asked.path.trim_start_matches('/').parse::<u32>().unwrap() + 1;
        match next {
            6 => Act::Send(partial(LINEAR, asked, "\"v1\"")),
            _ => Act::Send(reply("302 Found", &format!("Location: {next}\r\n"), b"")),
        }
    });
    assert!(open(&server.url("/0")).is_ok(), "5 redirects");
    let endless = refusal(|| reply("302 Found", "Location: /m\r\n", b""));
    assert!(matches!(endless, RemoteError::Redirect(_)), "{endless:?}");
    for location in ["Location: file:///etc/passwd\r\n", "Location: http://u:p@127.0.0.1/\r\n", ""]
    {
        let error = refusal(move || reply("302 Found", location, b""));
        assert!(matches!(error, RemoteError::Redirect(_)), "{error:?}");
    }
}

#[test]
fn nothing_is_sent_where_it_is_not_allowed() {
    let server = Server::of(LINEAR.to_vec());
    let url = server.url("/m");
    let mut plain = options();
    plain.allows_http = false;
    assert_eq!(open_with(plain, &url).unwrap_err(), RemoteError::PlainHttp);
    let mut offline = options();
    offline.is_offline = true;
    assert_eq!(open_with(offline, &url).unwrap_err(), RemoteError::Offline);
    let mut private = options();
    private.allows_private = false;
    let error = open_with(private, &url).unwrap_err();
    assert!(matches!(error, RemoteError::PrivateAddress(_)), "{error:?}");
    assert!(server.asked().is_empty());
}

/// Resolves every name to loopback, and counts.
#[derive(Debug, Default)]
struct Loopback(AtomicUsize);

impl Resolve for Loopback {
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        assert_eq!(host, "models.example");
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))])
    }
}

#[test]
fn a_name_that_resolves_to_a_private_address_is_refused() {
    let server = Server::of(LINEAR.to_vec());
    let url = server.url("/m").replace("127.0.0.1", "models.example");
    let resolver = Arc::new(Loopback::default());
    let mut options = options();
    options.resolver = Some(resolver.clone());
    options.allows_private = false;
    let error = open_with(options.clone(), &url).unwrap_err();
    assert_eq!(error, RemoteError::PrivateAddress("models.example".into()));
    assert!(server.asked().is_empty());
    // The address that was judged is the one that is connected to: a name is resolved once.
    options.allows_private = true;
    open_with(options, &url).unwrap();
    assert_eq!(resolver.0.load(Ordering::Relaxed), 2);
}

/// A resolver that gives a public address and then one of this machine.
#[derive(Debug)]
struct Mixed;

impl Resolve for Mixed {
    fn resolve(&self, _: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok([[93, 184, 216, 34], [127, 0, 0, 1]].map(|of| SocketAddr::from((of, port))).into())
    }
}

/// The connection would be tried with each address, until one answers.
#[test]
fn a_name_with_a_private_address_among_others_is_refused() {
    let server = Server::of(LINEAR.to_vec());
    let url = server.url("/m").replace("127.0.0.1", "models.example");
    let mut options = options();
    options.resolver = Some(Arc::new(Mixed));
    options.allows_private = false;
    let error = open_with(options, &url).unwrap_err();
    assert_eq!(error, RemoteError::PrivateAddress("models.example".into()));
    assert!(server.asked().is_empty());
}

#[test]
fn budgets_of_requests_and_bytes_end_a_read() {
    let server = Server::of(long_file());
    let mut bytes = options();
    bytes.file_bytes = 100_000;
    let file = open_with(bytes, &server.url("/m")).unwrap();
    let error = read(&file, 500_000, 50_000).unwrap_err();
    assert_eq!(error.to_string(), RemoteError::Bytes(100_000).to_string());
    let mut requests = options();
    requests.file_requests = 2;
    let file = open_with(requests, &server.url("/m")).unwrap();
    assert!(read(&file, 500_000, 10).is_ok());
    assert!(read(&file, 990_000, 10).is_err() || file.spent().requests == 2);
    let mut run = options();
    run.all_requests = 1;
    let client = Client::new(run);
    let url = client.url(&server.url("/m")).unwrap();
    assert!(client.open(&url).is_ok());
    assert_eq!(client.open(&url).unwrap_err(), RemoteError::Requests(1));
}

/// A hub with two repositories; listings have two pages.
fn hub() -> Server {
    Server::start(|asked, _| {
        let host = asked.header("host").unwrap();
        let page = |body: &str, next: Option<&str>| {
            let link = next.map(|next| format!("Link: <http://{host}{next}>; rel=\"next\"\r\n"));
            Act::Send(reply("200 OK", &link.unwrap_or_default(), body.as_bytes()))
        };
        match asked.path.as_str() {
            "/api/models?author=org" => {
                page(r#"[{"id":"org/a"}, {"id":7}]"#, Some("/api/models?c=2"))
            }
            "/api/models?c=2" => page(r#"[{"id":"org/b"}, {"id":"org/gated"}]"#, None),
            "/api/models/org/a/tree/main?recursive=true" => page(
                r#"[{"type":"directory","path":"d"}, {"type":"file","path":"d/m.pte","oid":"1"}]"#,
                Some("/api/models/org/a/tree/main?c=2"),
            ),
            "/api/models/org/a/tree/main?c=2" => {
                page(r#"[{"type":"file","path":"README.md","oid":"2"}, {"type":"file"}]"#, None)
            }
            "/api/models/org/b/tree/main?recursive=true" => {
                page(r#"[{"type":"file","path":"n.pte","oid":"3","lfs":{"oid":"4"}}]"#, None)
            }
            "/api/models/org/self/tree/main?recursive=true" => {
                page("[]", Some("/api/models/org/self/tree/main?recursive=true"))
            }
            "/api/models/org/text/tree/main?recursive=true" => page("<html>", None),
            path if path.contains("/resolve/main/") => Act::Send(partial(LINEAR, asked, "\"v1\"")),
            _ => Act::Send(reply("401 No", "", b"")),
        }
    })
}

#[test]
fn listings_of_the_hub_are_read_page_by_page() {
    let hub = hub();
    let mut options = options();
    options.hub = hub.url("/");
    options.token = Secret::new("hf_TOKEN");
    let client = Client::new(options);
    let list = |text: &str| {
        let mut found = Vec::new();
        let failed = client.list(text, |file| {
            found.push((file.url, file.id));
            true
        });
        failed.map(|failed| (found, failed))
    };
    let (found, failed) = list("hf://org").unwrap();
    let urls: Vec<_> = found.iter().map(|(url, id)| (url.as_str(), id.as_str())).collect();
    let expected =
        [("hf://org/a/d/m.pte", "1"), ("hf://org/a/README.md", "2"), ("hf://org/b/n.pte", "4")];
    assert_eq!(urls, expected);
    assert_eq!(failed, [("hf://org/gated".to_owned(), RemoteError::Status(401))]);
    assert!(hub.asked().iter().all(|asked| asked.header("authorization").is_some()));
    assert_eq!(list("hf://org/gated").unwrap_err(), RemoteError::Status(401));
    assert!(matches!(list("hf://org/self").unwrap_err(), RemoteError::Reply(_)));
    assert!(matches!(list("hf://org/text").unwrap_err(), RemoteError::Reply(_)));
}

#[test]
fn a_listing_does_not_lead_to_another_origin() {
    let canary = Server::of(Vec::new());
    let next = canary.url("/next");
    let hub = Server::start(move |_, _| {
        Act::Send(reply("200 OK", &format!("Link: <{next}>; rel=\"next\"\r\n"), b"[]"))
    });
    let mut options = options();
    options.hub = hub.url("");
    options.token = Secret::new("hf_TOKEN");
    let error = Client::new(options).list("hf://org/repo", |_| true).unwrap_err();
    assert!(matches!(error, RemoteError::Redirect(_)), "{error:?}");
    assert!(canary.asked().is_empty());
}

#[test]
fn an_endless_listing_ends_with_the_budget_of_requests() {
    let hub = Server::start(|asked, nth| {
        let host = asked.header("host").unwrap();
        let link = format!("Link: <http://{host}/next/{nth}>; rel=\"next\"\r\n");
        Act::Send(reply("200 OK", &link, b"[]"))
    });
    let mut options = options();
    options.hub = hub.url("");
    options.all_requests = 50;
    let error = Client::new(options).list("hf://org/repo", |_| true).unwrap_err();
    assert_eq!((error, hub.asked().len()), (RemoteError::Requests(50), 50));
}

mod command {
    use std::process::Output;

    use super::LINEAR;
    use super::server::{Act, Server, reply};

    fn pte(args: &[&str]) -> Output {
        let mut command = crate::cli::command();
        for name in
            ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
        {
            command.env_remove(name);
        }
        for name in ["HF_TOKEN", "HF_ENDPOINT", "HF_HUB_OFFLINE"] {
            command.env_remove(name);
        }
        command
            .args(args)
            .args(["--allow-http", "--allow-private", "--timeout", "5"])
            .output()
            .unwrap()
    }

    #[test]
    fn verbs_take_a_url_where_they_take_a_path() {
        let server = Server::of(LINEAR.to_vec());
        let url = server.url("/m.pte?sig=SECRET");
        let shown = server.url("/m.pte");
        let path = "tests/data/pte/linear.pte";
        for verb in ["info", "check", "size", "map", "tensors", "ops", "memory", "graph", "dump"] {
            let (remote, local) = (pte(&[verb, &url]), pte(&[verb, path]));
            assert_eq!(
                remote.status.code(),
                Some(0),
                "{verb}: {}",
                String::from_utf8_lossy(&remote.stderr)
            );
            let remote = String::from_utf8(remote.stdout).unwrap().replace(&shown, path);
            assert_eq!(remote, String::from_utf8(local.stdout).unwrap(), "{verb}");
        }
        assert_eq!(pte(&["diff", &url, path]).status.code(), Some(0));
        let payload = include_bytes!("data/other/mlx_mlp.payload");
        let payload = Server::of(payload.to_vec());
        for verb in ["info", "check", "size", "map", "dump"] {
            let done = pte(&[verb, &payload.url("/m.payload")]);
            assert_eq!(
                done.status.code(),
                Some(0),
                "{verb}: {}",
                String::from_utf8_lossy(&done.stderr)
            );
        }
        let spent = String::from_utf8(pte(&["info", "-v", &url]).stderr).unwrap();
        assert!(spent.contains("1 request, 1,808 bytes") && !spent.contains("SECRET"), "{spent}");
    }

    #[test]
    fn queries_and_tokens_are_in_no_message_and_no_row() {
        let server = Server::start(|_, _| Act::Send(reply("403 No", "", b"")));
        let url = server.url("/m.pte?sig=SECRET");
        let shown = pte(&["info", "-v", &url]);
        assert_eq!(shown.status.code(), Some(3));
        let message = String::from_utf8([shown.stdout, shown.stderr].concat()).unwrap();
        assert!(message.contains("/m.pte") && !message.contains("SECRET"), "{message}");
        let user = pte(&["info", "http://name:SECRET@127.0.0.1/m.pte"]);
        assert!(!String::from_utf8(user.stderr).unwrap().contains("SECRET"));
        assert_eq!(user.status.code(), Some(2));
    }

    /// Files a second stay within 20 % of what the jobs allow at a latency, or of what the cores allow without
    /// any, whichever is less.
    #[cfg(feature = "scan")]
    #[test]
    #[ignore = "a measurement, which needs cores that do nothing else"]
    fn a_scan_hides_the_latency_of_servers() {
        use std::thread::sleep;
        use std::time::{Duration, Instant};

        use super::server::partial;

        const JOBS: u32 = 64;
        let rate = |latency: u64, count: u32| {
            let server = Server::start(move |asked, _| {
                sleep(Duration::from_millis(latency));
                Act::Send(partial(LINEAR, asked, "\"v1\""))
            });
            let out = tempfile::tempdir().unwrap();
            let rows = out.path().join("rows");
            let urls: Vec<_> = (0..count).map(|nth| server.url(&format!("/{nth}.pte"))).collect();
            let jobs = JOBS.to_string();
            let rest =
                ["scan", "--format", "ndjson", "--jobs", &jobs, "-o", rows.to_str().unwrap()];
            let args: Vec<_> = rest.into_iter().chain(urls.iter().map(String::as_str)).collect();
            let begin = Instant::now();
            let done = pte(&args);
            let seconds = begin.elapsed().as_secs_f64();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            f64::from(count) / seconds
        };
        let whole = rate(0, 3000);
        eprintln!("without latency: {whole:.0} files a second");
        for latency in [20, 100] {
            let bound = whole.min(f64::from(JOBS) * 1000.0 / latency as f64);
            let rate = rate(latency, 3000);
            eprintln!(
                "{latency} ms: {rate:.0} files a second, {:.0} % of {bound:.0}",
                100.0 * rate / bound
            );
            assert!(rate > 0.8 * bound);
        }
    }

    #[cfg(feature = "scan")]
    #[test]
    fn a_scan_has_a_row_about_each_url() {
        let server = Server::of(LINEAR.to_vec());
        let broken = Server::start(|_, _| Act::Send(reply("404 No", "", b"")));
        let out = tempfile::tempdir().unwrap();
        let rows = out.path().join("rows");
        let [good, missing] = [server.url("/m.pte?sig=SECRET"), broken.url("/x.pte")];
        let args = ["scan", "--format", "ndjson", "-o", rows.to_str().unwrap(), &good, &missing];
        let done = pte(&args);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let text = std::fs::read_to_string(rows.join("part-000000.ndjson")).unwrap();
        assert!(!text.contains("SECRET"), "{text}");
        let found: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let good =
            found.iter().find(|row| row["uri"].as_str().unwrap().ends_with("/m.pte")).unwrap();
        assert_eq!(
            (&good["status"], &good["requests"], &good["etag"]),
            (&"ok".into(), &1.into(), &"\"v1\"".into())
        );
        let missing =
            found.iter().find(|row| row["uri"].as_str().unwrap().ends_with("/x.pte")).unwrap();
        assert_eq!(missing["status"], "unreadable");
        assert!(missing["message"].as_str().unwrap().contains("404"));
    }

    #[cfg(feature = "scan")]
    #[test]
    fn a_scan_of_an_organization_has_a_row_about_each_model() {
        let hub = super::hub();
        let out = tempfile::tempdir().unwrap();
        let rows = out.path().join("rows");
        let scan = |more: &[&str]| {
            crate::cli::command()
                .args(["scan", "--format", "ndjson", "-o", rows.to_str().unwrap(), "hf://org"])
                .args(["--allow-http", "--allow-private", "--timeout", "5"])
                .args(more)
                .env("HF_ENDPOINT", hub.url(""))
                .env("HF_TOKEN", "hf_TOKEN")
                .output()
                .unwrap()
        };
        let done = scan(&[]);
        // If one repository may not be listed, the others are still scanned.
        assert_eq!(done.status.code(), Some(3));
        assert!(String::from_utf8(done.stderr).unwrap().contains("hf://org/gated: access denied"));
        let text = std::fs::read_to_string(rows.join("part-000000.ndjson")).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.contains("\"hf://org/a/d/m.pte\"") && text.contains("\"hf://org/b/n.pte\""));
        assert!(!text.contains("hf_TOKEN"));
        let before = hub.asked().len();
        let again = scan(&["--resume"]);
        assert!(String::from_utf8(again.stdout).unwrap().starts_with("0 files: 0 ok, 2 skipped"));
        assert_eq!(hub.asked().len(), before + 5 + 1, "only listings are read again");
    }
}
