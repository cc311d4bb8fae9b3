//! Decides which replies are accepted, and reads the facts about the file in them.

use core::ops::Range;

use ureq::http::HeaderMap;

use super::error::RemoteError;

/// The identity of a file's state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) etag: Option<String>,
    last_modified: Option<String>,
}

impl Version {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = |name: &str| header(headers, name).map(str::to_owned);
        Self { etag: text("etag"), last_modified: text("last-modified") }
    }

    /// Returns the tag for `If-Match`. A weak tag never matches, so it is not used.
    pub(super) fn strong(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| tag.starts_with('"'))
    }
}

/// Returns the value of a header, if it is text.
pub(super) fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Refuses replies with encoded bodies, since their bytes are not those of the file.
pub(super) fn ensure_plain(headers: &HeaderMap) -> Result<(), RemoteError> {
    let is_plain = |name: &str| {
        headers.get_all(name).iter().all(|value| value.as_bytes().eq_ignore_ascii_case(b"identity"))
    };
    match is_plain("content-encoding") {
        true => Ok(()),
        false => Err(RemoteError::Reply("its body is encoded")),
    }
}

/// Returns the range and the size that the header of a reply with the status 206 states.
pub(super) fn content_range(headers: &HeaderMap) -> Result<(Range<u64>, u64), RemoteError> {
    let wrong = RemoteError::Reply("its Content-Range is missing or invalid");
    let parsed = || {
        let (range, size) =
            header(headers, "content-range")?.strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let (first, last, size) = (number(first)?, number(last)?, number(size)?);
        let end = last.checked_add(1).filter(|&end| first < end && end <= size)?;
        Some((first..end, size))
    };
    parsed().ok_or(wrong)
}

/// Returns whether a reply with the status 416 states that the file is empty.
pub(super) fn is_empty_file(headers: &HeaderMap) -> bool {
    header(headers, "content-range") == Some("bytes */0")
}

/// Returns the length of a body, if the reply states it.
pub(super) fn content_length(headers: &HeaderMap) -> Option<u64> {
    number(header(headers, "content-length")?)
}

fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use ureq::http::{HeaderMap, HeaderValue};

    use super::{content_range, ensure_plain};

    #[test]
    fn only_a_whole_content_range_is_accepted() {
        let of = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("content-range", HeaderValue::from_static(text));
            content_range(&headers).ok()
        };
        assert_eq!(of("bytes 0-9/20"), Some((0..10, 20)));
        for text in [
            "bytes 0-9/*",
            "bytes */20",
            "bytes 9-0/20",
            "bytes 0-20/20",
            "bytes 0-9",
            "0-9/20",
            "bytes +0-9/20",
            "bytes 0-18446744073709551615/20",
            "bytes 0-9/x",
            "items 0-9/20",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn encoded_bodies_are_refused() {
        for (text, is_plain) in [("identity", true), ("gzip", false), ("br", false), ("", false)] {
            let mut headers = HeaderMap::new();
            headers.insert("content-encoding", HeaderValue::from_static(text));
            assert_eq!(ensure_plain(&headers).is_ok(), is_plain, "{text}");
        }
    }
}
