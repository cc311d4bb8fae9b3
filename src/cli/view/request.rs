//! Requests to `pte view`: one GET of a path with the token, from this computer.

use core::time::Duration;
use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// A request for the page, or a question about a file.
#[derive(Debug)]
pub(super) struct Request {
    /// The first step of the path, which has to be the token.
    token: String,
    /// The rest of the path.
    path: String,
    query: Vec<(String, String)>,
}

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    BadRequest,
    Forbidden,
    NotFound,
    Method,
    TooLarge,
    TooSlow,
}

impl Refused {
    pub(super) fn status(self) -> &'static str {
        match self {
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::Method => "405 Method Not Allowed",
            Self::TooLarge => "431 Request Header Fields Too Large",
            Self::TooSlow => "408 Request Timeout",
        }
    }
}

/// The longest head of a request. A browser sends less than a kilobyte here.
const LONGEST: usize = 1 << 13;

/// The time for a whole request, and for each write of the answer.
const TIME: Duration = Duration::from_secs(5);

impl Request {
    /// Reads the head of a request. A body is not read, since no request has one.
    pub(super) fn read(stream: &mut TcpStream) -> io::Result<Result<Self, Refused>> {
        let end = Instant::now().checked_add(TIME);
        stream.set_write_timeout(Some(TIME))?;
        let (mut head, mut part) = (Vec::new(), [0; 1024]);
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            if head.len() >= LONGEST {
                return Ok(Err(Refused::TooLarge));
            }
            let left = end.and_then(|end| end.checked_duration_since(Instant::now()));
            let Some(left) = left.filter(|left| !left.is_zero()) else {
                return Ok(Err(Refused::TooSlow));
            };
            stream.set_read_timeout(Some(left))?;
            match stream.read(&mut part) {
                Ok(0) => return Ok(Err(Refused::BadRequest)),
                Ok(read) => head.extend_from_slice(part.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => return Ok(Err(Refused::TooSlow)),
                Err(error) => return Err(error),
            }
        }
        Ok(Self::parse(&head))
    }

    fn parse(head: &[u8]) -> Result<Self, Refused> {
        let text = core::str::from_utf8(head).map_err(|_| Refused::BadRequest)?;
        let (text, _) = text.split_once("\r\n\r\n").ok_or(Refused::BadRequest)?;
        let mut lines = text.split("\r\n");
        let first: Vec<_> = lines.next().unwrap_or_default().split(' ').collect();
        let [method, target, "HTTP/1.1"] = first.as_slice() else {
            return Err(Refused::BadRequest);
        };
        let mut hosts = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(':').ok_or(Refused::BadRequest)?;
            if name.eq_ignore_ascii_case("host") {
                hosts.push(value.trim_matches([' ', '\t']));
            }
        }
        // A page of another site may resolve its own name to this address, but cannot send another name. The port
        // may be that of an SSH tunnel.
        let [host] = hosts[..] else { return Err(Refused::Forbidden) };
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        if !["127.0.0.1", "localhost"].contains(&name) {
            return Err(Refused::Forbidden);
        }
        if *method != "GET" {
            return Err(Refused::Method);
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let rest = path.strip_prefix('/').ok_or(Refused::BadRequest)?;
        let (token, path) = rest.split_once('/').ok_or(Refused::NotFound)?;
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let query = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        });
        let query = query.collect::<Option<_>>().ok_or(Refused::BadRequest)?;
        Ok(Self { token: token.into(), path: path.into(), query })
    }

    /// Returns whether the request has a token. The time does not depend on where the tokens differ.
    pub(super) fn has_token(&self, token: &str) -> bool {
        let (given, expected) = (self.token.as_bytes(), token.as_bytes());
        let differing = given.iter().zip(expected).fold(0, |all, (one, of)| all | (one ^ of));
        given.len() == expected.len() && differing == 0
    }

    /// Returns the parts of the path.
    pub(super) fn steps(&self) -> Vec<&str> {
        self.path.split('/').collect()
    }

    /// Returns a value of the query.
    pub(super) fn argument(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(of, _)| of == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads the rest of a request that is refused, for at most two seconds. If a connection is closed with unread bytes,
/// the system resets it, and the client may not get the answer.
pub(super) fn drain(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let end = Instant::now().checked_add(Duration::from_secs(2));
    let mut part = [0; 8192];
    while let Some(left) = end.and_then(|end| end.checked_duration_since(Instant::now()))
        && !left.is_zero()
    {
        stream.set_read_timeout(Some(left))?;
        if stream.read(&mut part)? == 0 {
            break;
        }
    }
    Ok(())
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Decodes a value of a query; `None` if it is not valid.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high << 4 | low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Refused, Request};

    fn parse(head: &str) -> Result<Request, Refused> {
        Request::parse(head.as_bytes())
    }

    #[test]
    fn a_request_names_the_host_and_the_token() {
        let get =
            |target: &str| parse(&format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"));
        let request = get("/token/0/mapAt?arg=1%2F2&x=a+b").unwrap();
        assert_eq!(request.steps(), ["0", "mapAt"]);
        assert_eq!((request.argument("arg"), request.argument("x")), (Some("1/2"), Some("a b")));
        assert_eq!(get("/token/").unwrap().steps(), [""]);
        for target in ["/token2/", "/toke/", "//token/", "/other/0/info", "/Token/"] {
            assert!(!get(target).unwrap().has_token("token"), "{target}");
        }
        assert!(request.has_token("token"));
        for target in ["/", "/token", "/token?/"] {
            assert_eq!(get(target).unwrap_err(), Refused::NotFound, "{target}");
        }
        for target in
            ["token/", "http://127.0.0.1:80/token/", "*", "/token/?a=%zz", "/token/?a=%ff"]
        {
            assert_eq!(get(target).unwrap_err(), Refused::BadRequest, "{target}");
        }
    }

    #[test]
    fn other_hosts_methods_and_versions_are_refused() {
        for (head, why) in [
            ("GET /token/ HTTP/1.1\r\nHost: evil.example:80\r\n\r\n", Refused::Forbidden),
            ("GET /token/ HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", Refused::Forbidden),
            ("GET /token/ HTTP/1.1\r\n\r\n", Refused::Forbidden),
            ("GET /token/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\nhost: a\r\n\r\n", Refused::Forbidden),
            ("POST /token/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", Refused::Method),
            ("HEAD /token/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", Refused::Method),
            ("GET /token/ HTTP/1.0\r\nHost: 127.0.0.1:80\r\n\r\n", Refused::BadRequest),
            ("GET  /token/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", Refused::BadRequest),
            ("GET /token/ HTTP/1.1\r\nHost\r\n\r\n", Refused::BadRequest),
            ("\r\n\r\n", Refused::BadRequest),
        ] {
            assert_eq!(parse(head).unwrap_err(), why, "{head:?}");
        }
        assert_eq!(Request::parse(b"GET /\xff\r\n\r\n").unwrap_err(), Refused::BadRequest);
        // The port of an SSH tunnel differs from that of the server.
        parse("GET /token/ HTTP/1.1\r\nHost: localhost:8000\r\n\r\n").unwrap();
    }
}
