//! A server of faults on 127.0.0.1: each request gets the bytes that a test writes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request, as it was received.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) range: Option<(usize, usize)>,
}

impl Asked {
    /// Returns the value of a header, named in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.to_ascii_lowercase() == name).then(|| value.trim())
        })
    }
}

/// The reaction of the server to a request.
pub(crate) enum Act {
    /// Sends these bytes and closes the connection.
    Send(Vec<u8>),
    /// Sends these bytes and then nothing.
    Stall(Vec<u8>),
}

pub(crate) struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    is_closed: Arc<AtomicBool>,
}

impl Server {
    /// Starts a server. `act` is called with each request and the number of those before it.
    pub(crate) fn start(act: impl Fn(&Asked, usize) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, is_closed) =
            (Arc::<Mutex<Vec<Asked>>>::default(), Arc::<AtomicBool>::default());
        let (list, closed, act) = (Arc::clone(&asked), Arc::clone(&is_closed), Arc::new(act));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if closed.load(Ordering::Relaxed) {
                    break;
                }
                let (list, closed, act) =
                    (Arc::clone(&list), Arc::clone(&closed), Arc::clone(&act));
                thread::spawn(move || {
                    // A client that closes the connection is not a failure of the server.
                    let _ = answer(stream.unwrap(), &list, &closed, act.as_ref());
                });
            }
        });
        Self { port, asked, is_closed }
    }

    /// Serves `file` as a well-behaved server does.
    pub(crate) fn of(file: Vec<u8>) -> Self {
        Self::start(move |asked, _| Act::Send(partial(&file, asked, "\"v1\"")))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn answer(
    mut stream: TcpStream,
    list: &Mutex<Vec<Asked>>,
    closed: &AtomicBool,
    act: &dyn Fn(&Asked, usize) -> Act,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    let mut asked = Asked { path, head, range: None };
    asked.range = asked.header("range").map(|text| {
        let (first, last) = text.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        (first.parse().unwrap(), last.parse::<usize>().unwrap() + 1)
    });
    let before = {
        let mut list = list.lock().unwrap();
        list.push(asked.clone());
        list.len() - 1
    };
    match act(&asked, before) {
        Act::Send(bytes) => stream.write_all(&bytes),
        Act::Stall(bytes) => {
            stream.write_all(&bytes)?;
            for _ in 0..100 {
                if closed.load(Ordering::Relaxed) {
                    break;
                }
                thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        }
    }
}

/// Returns a reply with a length, `headers` (each with its line break) and a body.
pub(crate) fn reply(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Returns a reply with the requested range of `file`.
pub(crate) fn partial(file: &[u8], asked: &Asked, etag: &str) -> Vec<u8> {
    let (start, end) = asked.range.expect("a range");
    let (end, size) = (end.min(file.len()), file.len());
    if start >= end {
        return reply("416 No", &format!("Content-Range: bytes */{size}\r\n"), b"");
    }
    let headers = format!("ETag: {etag}\r\nContent-Range: bytes {start}-{}/{size}\r\n", end - 1);
    reply("206 Partial", &headers, &file[start..end])
}
