//! Errors of remote reads.

use core::fmt;
use std::io;

use pte_flat::quoted::UntrustedString;

/// The reason why a remote file could not be read. No message contains a query or a token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteError {
    /// The text is not an accepted URL.
    Url(&'static str),
    /// Remote reads are disabled.
    Offline,
    /// The URL is plain http, which is not allowed.
    PlainHttp,
    /// The name resolves to an address that is not public.
    PrivateAddress(UntrustedString),
    /// The server answered with this status.
    Status(u16),
    /// The file changed between two requests.
    Changed,
    /// The reply breaks the protocol, or is not accepted.
    Reply(&'static str),
    /// There were more than 5 redirects, or a redirect that is not followed.
    Redirect(&'static str),
    /// The budget of requests is spent.
    Requests(u64),
    /// The budget of bytes is spent.
    Bytes(u64),
    /// The request timed out.
    Timeout,
    /// The connection failed.
    Connection(UntrustedString),
    /// A cloud store cannot be used.
    Store(&'static str),
}

impl RemoteError {
    /// Returns whether the same request may succeed soon. A timeout is not transient: a request
    /// is not repeated after a timeout.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Status(status) => matches!(status, 408 | 429 | 500..=599),
            Self::Connection(_) => true,
            _ => false,
        }
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(why) => write!(f, "not a URL that is accepted: {why}"),
            Self::Offline => f.write_str("remote files are not read while offline"),
            Self::PlainHttp => f.write_str("plain http is not accepted: use https"),
            Self::PrivateAddress(host) => {
                write!(f, "{host} resolves to a private or reserved address, which is not accepted")
            }
            Self::Status(401 | 403) => f.write_str("access denied by the server (401 or 403)"),
            Self::Status(404) => f.write_str("not found by the server (404)"),
            Self::Status(status) => write!(f, "the server answered with the status {status}"),
            Self::Changed => f.write_str("the file changed while it was read"),
            Self::Reply(why) => write!(f, "the server's reply is not accepted: {why}"),
            Self::Redirect(why) => write!(f, "the redirect is not followed: {why}"),
            Self::Requests(most) => write!(f, "more than {most} requests would be made"),
            Self::Bytes(most) => write!(f, "more than {most} bytes would be read"),
            Self::Timeout => f.write_str("the server did not answer in time"),
            Self::Connection(why) => write!(f, "the connection failed: {why}"),
            Self::Store(why) => write!(f, "the store cannot be used: {why}"),
        }
    }
}

impl core::error::Error for RemoteError {}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> Self {
        let kind = match error {
            RemoteError::Status(404) => io::ErrorKind::NotFound,
            RemoteError::Status(401 | 403) => io::ErrorKind::PermissionDenied,
            RemoteError::Timeout => io::ErrorKind::TimedOut,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
