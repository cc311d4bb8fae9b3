//! The client sends requests, follows redirects, and applies the same rules to every request.

use core::net::SocketAddr;
use core::ops::Range;
use core::time::Duration;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, Read};
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use ureq::http::{HeaderMap, Request, Response, Uri};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body};

use super::budget::{Budget, Spent};
use super::error::RemoteError;
use super::ip::is_public;
use super::reply::{self, Version, header};
use super::retry;
use super::url::{Origin, RemoteUrl, is_https, redirected};
use pte_flat::quoted::UntrustedString;

/// Resolves host names. Tests replace the system's resolver.
pub trait Resolve: core::fmt::Debug + Send + Sync {
    /// Returns the addresses of a host.
    ///
    /// # Errors
    ///
    /// The name has no address, or the resolver failed.
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// The resolver of the system.
#[derive(Debug)]
struct System;

impl Resolve for System {
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        format!("{host}:{port}").to_socket_addrs().map(Iterator::collect)
    }
}

/// The limits and permissions of a client.
///
/// No proxy is used, even if the environment names one. A proxy resolves names itself, so addresses
/// could not be checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RemoteOptions {
    /// The maximum number of requests of one file, including redirects.
    pub file_requests: u64,
    /// The maximum number of bytes of one file.
    pub file_bytes: u64,
    /// The maximum number of requests of all files.
    pub all_requests: u64,
    /// The maximum number of bytes of all files.
    pub all_bytes: u64,
    /// The maximum time of a request with its body, and the maximum wait before a repetition.
    pub timeout: Duration,
    /// The maximum number of repetitions of a failed request.
    pub repeats: u32,
    /// Whether all requests are refused.
    pub is_offline: bool,
    /// Whether plain http is accepted. A redirect never leads from https to http.
    pub allows_http: bool,
    /// Whether private, loopback and link-local addresses are accepted.
    pub allows_private: bool,
    /// The URL of the hub, which `hf://` stands for.
    pub hub: String,
    /// The token for the hub. It is sent to the hub's own origin only.
    pub token: Option<Secret>,
    /// The resolver of host names; `None` for the resolver of the system.
    pub resolver: Option<Arc<dyn Resolve>>,
}

/// A text that is never displayed.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text; `None` if the text is not valid in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_token = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_token.then(|| Self(text.to_owned()))
    }
}

impl Secret {
    /// Returns the hub's token from the places where the hub's own tools look. These are
    /// `HF_TOKEN`, then the file that `HF_TOKEN_PATH` or `HF_HOME` names, or the one in the home
    /// folder.
    #[must_use]
    pub fn of_hub() -> Option<Self> {
        if is_set("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
            return None;
        }
        if let Some(token) = variable("HF_TOKEN") {
            return Self::new(&token);
        }
        let home = || variable("HF_HOME").map(PathBuf::from);
        let cache = || Some(PathBuf::from(variable("HOME")?).join(".cache/huggingface"));
        let path = match variable("HF_TOKEN_PATH") {
            Some(path) => path.into(),
            None => home().or_else(cache)?.join("token"),
        };
        // Opening a pipe would block.
        let file = path.is_file().then(|| fs::File::open(&path))?.ok()?;
        let mut text = String::new();
        file.take(MAX_TOKEN).read_to_string(&mut text).ok()?;
        Self::new(&text)
    }
}

impl RemoteOptions {
    /// Returns the default options with the environment's settings: the hub (`HF_ENDPOINT`), its
    /// token ([`Secret::of_hub`]) and the offline mode (`HF_HUB_OFFLINE`).
    #[must_use]
    pub fn of_environment() -> Self {
        let mut options = Self { token: Secret::of_hub(), ..Self::default() };
        options.is_offline = is_set("HF_HUB_OFFLINE");
        if let Some(hub) = variable("HF_ENDPOINT") {
            options.hub = hub;
        }
        options
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_set(name: &str) -> bool {
    variable(name).is_some_and(|value| {
        ["1", "on", "yes", "true"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
    })
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret")
    }
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            file_requests: 1_000,
            file_bytes: 256 << 20,
            all_requests: u64::MAX,
            all_bytes: u64::MAX,
            timeout: Duration::from_secs(30),
            repeats: 3,
            is_offline: false,
            allows_http: false,
            allows_private: false,
            hub: "https://huggingface.co".to_owned(),
            token: None,
            resolver: None,
        }
    }
}

/// A client, which several threads may share. Its clones share connections and budgets.
#[derive(Clone, Debug)]
pub struct Client(Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    agent: Agent,
    options: RemoteOptions,
    hub: Option<Origin>,
    budget: Budget,
    /// For each host that failed, the time from which it may be requested again.
    left_alone: Mutex<BTreeMap<Origin, Instant>>,
    #[cfg(feature = "cloud")]
    stores: super::store_cache::StoreCache,
}

/// The bytes that a request asks for, and the expected state of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'w> {
    /// The range; `None` for the whole file.
    pub(super) range: Option<&'w Range<u64>>,
    pub(super) version: Option<&'w Version>,
}

/// A reply that is not a redirect.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// The URL that answered.
    pub(super) uri: Uri,
    /// The commit that the hub stated in this reply or in a redirect.
    pub(super) commit: Option<String>,
    body: Body,
}

impl Client {
    /// Creates a client, without sending anything.
    #[must_use]
    pub fn new(options: RemoteOptions) -> Self {
        let config = Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .accept_encoding("identity")
            .user_agent(concat!("pte/", env!("CARGO_PKG_VERSION")))
            .max_response_header_size(MAX_HEADERS)
            .timeout_global(Some(options.timeout))
            .build();
        let resolver = Filtered {
            resolve: options.resolver.clone().unwrap_or_else(|| Arc::new(System)),
            allows_private: options.allows_private,
        };
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        let hub = options.hub.parse().ok().map(|uri: Uri| Origin::of(&uri));
        let budget = Budget::new(options.all_requests, options.all_bytes);
        Self(Arc::new(Shared {
            agent,
            options,
            hub,
            budget,
            left_alone: Mutex::default(),
            #[cfg(feature = "cloud")]
            stores: super::store_cache::StoreCache::default(),
        }))
    }

    /// Parses a URL, as the options allow.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Url`] for a URL that is not accepted.
    pub fn url(&self, text: &str) -> Result<RemoteUrl, RemoteError> {
        RemoteUrl::parse(text, &self.0.options.hub)
    }

    /// Returns the numbers of requests and bytes of all files.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.0.budget.spent()
    }

    pub(super) fn hub(&self) -> &str {
        self.0.options.hub.trim_end_matches('/')
    }

    pub(super) fn file_budget(&self) -> Budget {
        Budget::new(self.0.options.file_requests, self.0.options.file_bytes)
    }

    /// Charges the bytes of a body before they are read.
    pub(super) fn charge(&self, budget: &Budget, bytes: u64) -> Result<(), RemoteError> {
        budget.bytes(bytes)?;
        self.0.budget.bytes(bytes)
    }

    /// Runs `attempt`, and repeats it while its error is transient.
    pub(super) fn repeated<T>(
        &self,
        mut attempt: impl FnMut(&mut Option<u64>) -> Result<T, RemoteError>,
        origin: &Uri,
    ) -> Result<T, RemoteError> {
        let origin = Origin::of(origin);
        let mut tries = 0u32;
        loop {
            self.wait_for(&origin);
            let mut requested_delay = None;
            let error = match attempt(&mut requested_delay) {
                Err(error) if error.is_transient() => error,
                done => return done,
            };
            tries = tries.saturating_add(1);
            let wait = retry::delay(tries, requested_delay, retry::jitter());
            if tries > self.0.options.repeats || wait > self.0.options.timeout {
                return Err(error);
            }
            if let Some(until) = Instant::now().checked_add(wait) {
                self.left_alone().insert(origin.clone(), until);
            }
        }
    }

    fn left_alone(&self) -> std::sync::MutexGuard<'_, BTreeMap<Origin, Instant>> {
        self.0.left_alone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the host may be requested again. A failure in one thread delays all threads.
    fn wait_for(&self, origin: &Origin) {
        let until = self.left_alone().get(origin).copied();
        let wait = until.map(|until| until.saturating_duration_since(Instant::now()));
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            thread::sleep(wait.min(self.0.options.timeout));
        }
    }

    /// Sends a request for a range, and follows redirects. `asked` receives the number of seconds
    /// that the server asks the client to wait.
    pub(super) fn send(
        &self,
        start: &Uri,
        is_of_hub: bool,
        wanted: Wanted<'_>,
        budget: &Budget,
        requested_delay: &mut Option<u64>,
    ) -> Result<Reply, RemoteError> {
        let options = &self.0.options;
        let mut uri = start.clone();
        let at_hub = |uri: &Uri| self.0.hub.as_ref() == Some(&Origin::of(uri));
        let mut token = options.token.as_ref().filter(|_| is_of_hub && at_hub(&uri));
        let mut commit = None;
        for _ in 0..=MAX_REDIRECTS {
            self.ensure_allowed(&uri)?;
            budget.request()?;
            self.0.budget.request()?;
            let reply = self.send_once(&uri, token, wanted)?;
            let headers = reply.headers();
            commit = commit.or_else(|| header(headers, "x-repo-commit").map(str::to_owned));
            if !matches!(reply.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                *requested_delay = retry::requested_delay(
                    header(headers, "retry-after"),
                    header(headers, "ratelimit"),
                );
                let (head, body) = reply.into_parts();
                let status = head.status.as_u16();
                return Ok(Reply { status, headers: head.headers, uri, commit, body });
            }
            let location = header(headers, "location");
            let location = location.ok_or(RemoteError::Redirect("it has no target"))?;
            let next = redirected(&uri, location)?;
            // The token is not sent again, even if a later redirect leads back to its origin.
            token = token.filter(|_| Origin::of(&uri) == Origin::of(&next));
            uri = next;
        }
        Err(RemoteError::Redirect("there are more than 5"))
    }

    /// Refuses requests that the options do not allow.
    fn ensure_allowed(&self, uri: &Uri) -> Result<(), RemoteError> {
        match (self.0.options.is_offline, is_https(uri) || self.0.options.allows_http) {
            (true, _) => Err(RemoteError::Offline),
            (false, false) => Err(RemoteError::PlainHttp),
            (false, true) => Ok(()),
        }
    }

    fn send_once(
        &self,
        uri: &Uri,
        token: Option<&Secret>,
        wanted: Wanted<'_>,
    ) -> Result<Response<Body>, RemoteError> {
        let mut request = Request::get(uri);
        if let Some(Range { start, end }) = wanted.range {
            request = request.header("Range", format!("bytes={start}-{}", end.saturating_sub(1)));
        }
        if let Some(tag) = wanted.version.and_then(Version::strong) {
            request = request.header("If-Match", tag);
        }
        if let Some(Secret(token)) = token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let request = request.body(()).map_err(|_| RemoteError::Url("it cannot be requested"))?;
        self.0.agent.run(request).map_err(of_ureq)
    }
}

#[cfg(feature = "cloud")]
impl Client {
    pub(crate) fn of(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    pub(super) fn downgrade(&self) -> std::sync::Weak<Shared> {
        Arc::downgrade(&self.0)
    }

    pub(super) fn stores(&self) -> &super::store_cache::StoreCache {
        &self.0.stores
    }

    /// Sends a request to a store. Redirects are not followed.
    pub(super) fn send_prepared(
        &self,
        parts: &ureq::http::request::Parts,
        body: &[u8],
    ) -> Result<Response<Body>, RemoteError> {
        self.ensure_allowed(&parts.uri)?;
        self.0.budget.request()?;
        let sent = match body {
            [] if parts.method == ureq::http::Method::GET => {
                self.0.agent.run(Request::from_parts(parts.clone(), ()))
            }
            _ => self.0.agent.run(Request::from_parts(parts.clone(), body)),
        };
        sent.map_err(of_ureq)
    }

    /// Converts a reply of a store. `uri` names the store, since the requested URL may be signed.
    pub(super) fn as_reply(
        &self,
        reply: Response<Body>,
        uri: &Uri,
        requested_delay: &mut Option<u64>,
    ) -> Result<Reply, RemoteError> {
        let (head, body) = reply.into_parts();
        let headers = head.headers;
        *requested_delay =
            retry::requested_delay(header(&headers, "retry-after"), header(&headers, "ratelimit"));
        if head.status.is_redirection() {
            return Err(RemoteError::Redirect("a store's are not: check its region and endpoint"));
        }
        let status = head.status.as_u16();
        Ok(Reply { status, headers, uri: uri.clone(), commit: None, body })
    }
}

impl Reply {
    /// Reads the body, which must have exactly `len` bytes.
    pub(super) fn body(&mut self, len: u64) -> Result<Vec<u8>, RemoteError> {
        reply::ensure_plain(&self.headers)?;
        if reply::content_length(&self.headers).is_some_and(|stated| stated != len) {
            return Err(RemoteError::Reply("its Content-Length is not that of the range"));
        }
        let bytes = self.body_up_to(len)?;
        match u64::try_from(bytes.len()) {
            Ok(read) if read == len => Ok(bytes),
            _ => Err(RemoteError::Connection("the body ended too early".into())),
        }
    }

    /// Reads the body, which must have at most `most` bytes.
    pub(super) fn body_up_to(&mut self, most: u64) -> Result<Vec<u8>, RemoteError> {
        reply::ensure_plain(&self.headers)?;
        let memory = RemoteError::Connection("there is not enough memory".into());
        let mut bytes = Vec::new();
        let more = most.saturating_add(1);
        bytes
            .try_reserve_exact(usize::try_from(more).map_err(|_| memory.clone())?)
            .map_err(|_| memory)?;
        let mut reader = self.body.with_config().limit(more.saturating_add(1)).reader();
        reader.by_ref().take(more).read_to_end(&mut bytes).map_err(of_io)?;
        match u64::try_from(bytes.len()) {
            Ok(read) if read <= most => Ok(bytes),
            _ => Err(RemoteError::Reply("its body is longer than asked for")),
        }
    }
}

/// The resolver of the agent, which refuses addresses that are not public. The agent connects to
/// the returned addresses, so each checked address is the one that is used.
#[derive(Debug)]
struct Filtered {
    resolve: Arc<dyn Resolve>,
    allows_private: bool,
}

impl Resolver for Filtered {
    fn resolve(
        &self,
        uri: &Uri,
        _: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().unwrap_or_default().to_owned();
        let port = uri.port_u16().unwrap_or(if is_https(uri) { 443 } else { 80 });
        let (sender, found) = mpsc::sync_channel(1);
        let (resolve, name) = (Arc::clone(&self.resolve), host.clone());
        // The system's resolver has no time limit, so its thread is abandoned after a timeout.
        thread::Builder::new().spawn(move || sender.send(resolve.resolve(&name, port)).ok())?;
        let addresses = match found.recv_timeout(*timeout.after) {
            Ok(addresses) => addresses?,
            Err(RecvTimeoutError::Timeout) => return Err(ureq::Error::Timeout(timeout.reason)),
            Err(RecvTimeoutError::Disconnected) => return Err(ureq::Error::HostNotFound),
        };
        if !self.allows_private && addresses.iter().any(|address| !is_public(address.ip())) {
            let refused = RemoteError::PrivateAddress(host.into());
            return Err(ureq::Error::Other(Box::new(refused)));
        }
        let mut all = self.empty();
        addresses.into_iter().take(MAX_ADDRESSES).for_each(|address| all.push(address));
        match all.is_empty() {
            true => Err(ureq::Error::HostNotFound),
            false => Ok(all),
        }
    }
}

/// Returns the error of a failed request, without its URL.
fn of_ureq(error: ureq::Error) -> RemoteError {
    match error {
        ureq::Error::Timeout(_) | ureq::Error::BodyStalled => RemoteError::Timeout,
        ureq::Error::HostNotFound => RemoteError::Connection("the host was not found".into()),
        ureq::Error::LargeResponseHeader(..) => RemoteError::Reply("its headers are too long"),
        ureq::Error::Protocol(_) | ureq::Error::Http(_) => {
            RemoteError::Reply("it breaks the protocol of HTTP")
        }
        ureq::Error::Rustls(error) => RemoteError::Connection(UntrustedString::of(&error)),
        ureq::Error::Other(error) => match error.downcast::<RemoteError>() {
            Ok(error) => *error,
            Err(_) => RemoteError::Connection("the request failed".into()),
        },
        ureq::Error::Io(error) => of_io(error),
        _ => RemoteError::Connection("the request failed".into()),
    }
}

fn of_io(error: io::Error) -> RemoteError {
    if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) {
        return RemoteError::Timeout;
    }
    match error.get_ref().is_some_and(|inner| inner.is::<ureq::Error>()) {
        true => match error.downcast::<ureq::Error>() {
            Ok(ureq::Error::Io(error)) => {
                RemoteError::Connection(UntrustedString::of(&error.kind()))
            }
            Ok(error) => of_ureq(error),
            Err(error) => RemoteError::Connection(UntrustedString::of(&error.kind())),
        },
        false => RemoteError::Connection(UntrustedString::of(&error.kind())),
    }
}

/// The maximum number of bytes of a token's file.
const MAX_TOKEN: u64 = 1 << 16;

/// The maximum number of bytes of a reply's headers.
const MAX_HEADERS: usize = 64 << 10;

/// The maximum number of redirects of a request.
const MAX_REDIRECTS: u32 = 5;

/// The maximum number of addresses of a host that are tried.
const MAX_ADDRESSES: usize = 8;
