//! URLs: which are accepted, where a redirect leads, and how a URL is displayed.

use ureq::http::Uri;

use super::error::RemoteError;
#[cfg(feature = "cloud")]
use super::store::ObjectPlace;
use super::store::{NO_SCHEME, STORE_SCHEMES, is_of_store};
use pte_flat::quoted::UntrustedString;

/// A URL that can be requested. It is displayed without its query, which may contain a signature.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteUrl {
    pub(super) uri: Uri,
    /// The URL as given, for a file of the hub or an object of a store.
    given: Option<String>,
    #[cfg(feature = "cloud")]
    pub(super) object: Option<ObjectPlace>,
}

/// The scheme, host and port of a URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Origin {
    is_https: bool,
    host: String,
    port: u16,
}

/// Returns whether a text begins with the scheme of a supported URL.
///
/// ```
/// assert!(pte::remote::is_url("hf://org/repo/model.pte"));
/// assert!(!pte::remote::is_url("models/model.pte"));
/// ```
#[must_use]
pub fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        let mut known =
            ["https", "http", HUB_SCHEME].into_iter().chain(STORE_SCHEMES.iter().copied());
        known.any(|known| known.eq_ignore_ascii_case(scheme))
    })
}

/// Returns a URL for display, without its query, user name and password.
#[must_use]
pub fn shown(text: &str) -> UntrustedString {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let parts = text.split_once("://").and_then(|(scheme, rest)| {
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (_, host) = authority.rsplit_once('@')?;
        // An `hf://` URL has no user name: an `@` in it begins a revision.
        (scheme != HUB_SCHEME).then(|| format!("{scheme}://{host}{path}"))
    });
    parts.map_or_else(|| text.into(), UntrustedString::from)
}

impl RemoteUrl {
    /// Parses a URL. `hub` is the URL of the hub, which `hf://` stands for.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Url`] for an unsupported scheme, for a name or password in the URL, or for a
    /// missing host.
    pub fn parse(text: &str, hub: &str) -> Result<Self, RemoteError> {
        if is_of_store(text) {
            return Self::of_store(text);
        }
        let (uri, given) = match is_of_hub(text) {
            false => (parse(text)?, None),
            true => {
                let wrong =
                    RemoteError::Url("hf:// needs an organization, a repository and a path");
                let place = HubPlace::parse(text).and_then(|place| place.resolved());
                let url = format!("{}/{}", hub.trim_end_matches('/'), place.ok_or(wrong)?);
                (parse(&url)?, Some(text.to_owned()))
            }
        };
        Ok(Self {
            uri,
            given,
            #[cfg(feature = "cloud")]
            object: None,
        })
    }

    #[cfg(feature = "cloud")]
    fn of_store(text: &str) -> Result<Self, RemoteError> {
        let object = ObjectPlace::parse(text)?;
        if object.key.is_empty() {
            return Err(RemoteError::Url("it has no key of an object"));
        }
        // This URI only identifies the store when failures are counted. Requests have other URLs.
        let uri = object.url_of("").parse();
        let uri = uri.map_err(|_| RemoteError::Url("it cannot be parsed"))?;
        Ok(Self { uri, given: Some(text.to_owned()), object: Some(object) })
    }

    #[cfg(not(feature = "cloud"))]
    fn of_store(_: &str) -> Result<Self, RemoteError> {
        Err(RemoteError::Url("the stores of clouds need a build with the feature cloud"))
    }

    /// Returns whether the URL is that of a file on the hub.
    #[must_use]
    pub fn is_of_hub(&self) -> bool {
        self.given.as_deref().is_some_and(is_of_hub)
    }

    /// Returns the URL without its query.
    #[must_use]
    pub fn name(&self) -> UntrustedString {
        match &self.given {
            Some(given) => given.as_str().into(),
            None => {
                let text = self.uri.to_string();
                text.split('?').next().unwrap_or_default().into()
            }
        }
    }
}

impl core::fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.name().fmt(f)
    }
}

impl Origin {
    pub(crate) fn of(uri: &Uri) -> Self {
        let is_https = is_https(uri);
        let port = uri.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        Self { is_https, host: uri.host().unwrap_or_default().to_ascii_lowercase(), port }
    }
}

pub(super) fn is_https(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

/// Returns the URL to which the `Location` in a reply to `base` leads. It never leads from https to plain http.
pub(super) fn redirected(base: &Uri, location: &str) -> Result<Uri, RemoteError> {
    let scheme = base.scheme_str().unwrap_or_default();
    let authority = base.authority().map_or("", |authority| authority.as_str());
    let path = base.path();
    let target = if location.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else {
        let folder = path.rfind('/').and_then(|end| path.get(..=end)).unwrap_or("/");
        format!("{scheme}://{authority}{folder}{location}")
    };
    let target = parse(&target);
    let target =
        target.map_err(|_| RemoteError::Redirect("its target is no URL that is accepted"))?;
    match is_https(base) && !is_https(&target) {
        true => Err(RemoteError::Redirect("it leads from https to plain http")),
        false => Ok(target),
    }
}

pub(super) fn parse(text: &str) -> Result<Uri, RemoteError> {
    if text.len() > LONGEST {
        return Err(RemoteError::Url("it is longer than 8,192 bytes"));
    }
    let uri: Uri = text.parse().map_err(|_| RemoteError::Url("it cannot be parsed"))?;
    if !matches!(uri.scheme_str(), Some("https" | "http")) {
        return Err(RemoteError::Url(NO_SCHEME));
    }
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if authority.contains('@') {
        return Err(RemoteError::Url("it has a name or a password in it"));
    }
    match uri.host() {
        None | Some("") => Err(RemoteError::Url("it has no host")),
        Some(_) => Ok(uri),
    }
}

/// Returns whether a text is a URL of the hub.
fn is_of_hub(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| scheme == HUB_SCHEME)
}

/// The scheme of files on the hub.
const HUB_SCHEME: &str = "hf";

/// A place on the hub: `[datasets/|spaces/]org[/repo[@revision][/path]]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct HubPlace<'t> {
    /// `models`, `datasets` or `spaces`.
    pub(super) kind: &'static str,
    pub(super) org: &'t str,
    pub(super) repo: Option<&'t str>,
    pub(super) revision: &'t str,
    pub(super) path: Option<&'t str>,
}

impl<'t> HubPlace<'t> {
    /// Parses `hf://…`. Empty names, `.` and `..` are refused.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (_, rest) = text.split_once("://").filter(|_| is_of_hub(text))?;
        let (kind, rest) = match rest.split_once('/') {
            Some(("datasets", rest)) => ("datasets", rest),
            Some(("spaces", rest)) => ("spaces", rest),
            _ => ("models", rest),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let mut parts = rest.splitn(3, '/');
        let (org, repo, path) = (parts.next()?, parts.next(), parts.next());
        let (repo, revision) = match repo.map(|repo| repo.split_once('@').unwrap_or((repo, "main")))
        {
            None => (None, "main"),
            Some((repo, revision)) => (Some(repo), revision),
        };
        let names = [org, revision].into_iter().chain(repo);
        let mut names = names.chain(path.into_iter().flat_map(|path| path.split('/')));
        let is_safe = !names.any(|name| matches!(name, "" | "." | ".."));
        is_safe.then_some(Self { kind, org, repo, revision, path })
    }

    /// Returns the path of the file in the hub's URL.
    fn resolved(&self) -> Option<String> {
        let path = escaped(self.path?, true);
        let prefix = if self.kind == "models" { String::new() } else { format!("{}/", self.kind) };
        let repo = escaped(self.repo?, false);
        let (org, revision) = (escaped(self.org, false), escaped(self.revision, false));
        Some(format!("{prefix}{org}/{repo}/resolve/{revision}/{path}"))
    }

    /// Returns the path of the listing of an organization's repositories.
    pub(super) fn repositories(&self) -> String {
        format!("api/{}?author={}", self.kind, escaped(self.org, false))
    }

    /// Returns the path of the listing of a repository's files.
    pub(super) fn tree(&self) -> String {
        let (org, repo) = (escaped(self.org, false), escaped(self.repo.unwrap_or_default(), false));
        let revision = escaped(self.revision, false);
        format!("api/{}/{org}/{repo}/tree/{revision}?recursive=true", self.kind)
    }

    /// Returns the URL of the repository, `hf://…`.
    pub(super) fn url(&self) -> String {
        let prefix = if self.kind == "models" { String::new() } else { format!("{}/", self.kind) };
        let revision = match self.revision {
            "main" => String::new(),
            revision => format!("@{revision}"),
        };
        format!("{HUB_SCHEME}://{prefix}{}/{}{revision}", self.org, self.repo.unwrap_or_default())
    }
}

/// Percent-encodes the characters that have a meaning in a URL.
fn escaped(text: &str, keeps_slashes: bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            b'/' if keeps_slashes => out.push('/'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The maximum length of a URL in bytes.
const LONGEST: usize = 8192;

#[cfg(test)]
mod tests {
    use super::{Origin, RemoteUrl, redirected, shown};

    const HUB: &str = "https://hub.example";

    #[test]
    fn names_of_the_hub_become_urls_of_its_files() {
        for (text, url) in [
            ("hf://a/b/c.pte", "https://hub.example/a/b/resolve/main/c.pte"),
            ("hf://a/b@refs/x y.pte", "https://hub.example/a/b/resolve/refs/x%20y.pte"),
            (
                "hf://datasets/a/b@v1/c/d?e.pte",
                "https://hub.example/datasets/a/b/resolve/v1/c/d%3Fe.pte",
            ),
        ] {
            assert_eq!(RemoteUrl::parse(text, HUB).unwrap().uri.to_string(), url);
        }
        for text in
            ["hf://a/b", "hf://a", "hf://a/../b/c", "hf://a/b/../c", "hf://a//c", "hf://a/b@/c"]
        {
            assert!(RemoteUrl::parse(text, HUB).is_err(), "{text}");
        }
    }

    #[test]
    fn a_query_is_never_shown() {
        let url = RemoteUrl::parse("https://h.example/m.pte?sig=SECRET", HUB).unwrap();
        assert_eq!(url.name().raw(), "https://h.example/m.pte");
        assert!(!format!("{url:?}").contains("SECRET"));
        assert_eq!(shown("https://u:SECRET@h.example/m?s=SECRET").raw(), "https://h.example/m");
        assert_eq!(shown("hf://a/b@v1/c").raw(), "hf://a/b@v1/c");
    }

    #[test]
    fn urls_with_credentials_or_other_schemes_are_refused() {
        for text in [
            "https://u:p@h.example/m",
            "https://u@h.example/",
            "file:///etc/m",
            "ftp://h/x",
            "https:///x",
            "h",
        ] {
            assert!(RemoteUrl::parse(text, HUB).is_err(), "{text}");
        }
    }

    #[test]
    fn a_redirect_is_resolved_against_its_base() {
        let base = "https://h.example:8443/a/b?q=1".parse().unwrap();
        for (location, url) in [
            ("c", "https://h.example:8443/a/c"),
            ("/c?d", "https://h.example:8443/c?d"),
            ("//o.example/c", "https://o.example/c"),
            ("https://o.example/c", "https://o.example/c"),
        ] {
            assert_eq!(redirected(&base, location).unwrap().to_string(), url);
        }
        for location in [
            "file:///etc/passwd",
            "https://u:p@h.example/",
            "gopher://h/",
            "http://h.example:8443/a",
        ] {
            assert!(redirected(&base, location).is_err(), "{location}");
        }
        let plain = "http://h.example/".parse().unwrap();
        for location in ["http://h.example/c", "https://h.example/c"] {
            assert_eq!(redirected(&plain, location).unwrap().to_string(), location);
        }
        let origin = |text: &str| Origin::of(&text.parse().unwrap());
        assert_eq!(origin("https://H.example/x"), origin("https://h.example:443/y"));
        assert_ne!(origin("https://h.example/"), origin("https://h.example:8443/"));
        assert_ne!(origin("https://h.example/"), origin("http://h.example:443/"));
    }
}
