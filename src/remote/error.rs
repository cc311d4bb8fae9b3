//! Errors of remote reads.

use std::io;

use pte_flat::quoted::UntrustedString;

pte_flat::errors! {
    /// The reason why a remote file could not be read. No message contains a query or a token.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum RemoteError {
        /// The text is not an accepted URL.
        Url(why: &'static str) => "not a URL that is accepted: {why}";
        /// Remote reads are disabled.
        Offline => "remote files are not read while offline";
        /// The URL is plain http, which is not allowed.
        PlainHttp => "plain http is not accepted: use https";
        /// The name resolves to an address that is not public.
        PrivateAddress(host: UntrustedString) =>
            "{host} resolves to a private or reserved address, which is not accepted";
        /// The server answered with this status.
        Status(status: u16) =>
            "{}", match status {
                401 | 403 => "access denied by the server (401 or 403)".into(),
                404 => "not found by the server (404)".into(),
                status => format!("the server answered with the status {status}"),
            };
        /// The file changed between two requests.
        Changed => "the file changed while it was read";
        /// The reply breaks the protocol, or is not accepted.
        Reply(why: &'static str) => "the server's reply is not accepted: {why}";
        /// There were more than 5 redirects, or a redirect that is not followed.
        Redirect(why: &'static str) => "the redirect is not followed: {why}";
        /// The budget of requests is spent.
        Requests(most: u64) => "more than {most} requests would be made";
        /// The budget of bytes is spent.
        Bytes(most: u64) => "more than {most} bytes would be read";
        /// The request timed out.
        Timeout => "the server did not answer in time";
        /// The connection failed.
        Connection(why: UntrustedString) => "the connection failed: {why}";
        /// A cloud store cannot be used.
        Store(why: &'static str) => "the store cannot be used: {why}";
    }
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
