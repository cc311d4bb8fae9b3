//! The stores of clouds: the schemes of their URLs, and the places of objects in them.

#[cfg(feature = "cloud")]
use super::error::RemoteError;

/// Declares the kinds of stores, each with its scheme.
macro_rules! stores {
    ($( $(#[$meta:meta])* $Kind:ident $scheme:literal; )*) => {
        /// The kinds of stores.
        #[cfg(feature = "cloud")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum StoreKind { $( $(#[$meta])* $Kind ),* }

        #[cfg(feature = "cloud")]
        impl StoreKind {
            fn scheme(self) -> &'static str {
                match self { $( Self::$Kind => $scheme, )* }
            }

            fn of(scheme: &str) -> Option<Self> {
                match scheme { $( $scheme => Some(Self::$Kind), )* _ => None }
            }
        }

        /// The schemes of the kinds of stores.
        pub(super) const STORE_SCHEMES: &[&str] = &[$( $scheme ),*];

        /// Why a URL with another scheme is refused.
        pub(super) const NO_SCHEME: &str = concat!("the scheme is none of https, hf" $( , ", ", $scheme )*);
    };
}

stores! {
    /// Amazon S3, and stores with its interface.
    S3 "s3";
    /// Google Cloud Storage.
    Gs "gs";
    /// Azure Blob Storage.
    Az "az";
}

/// Returns whether a text is a URL of a store.
pub(super) fn is_of_store(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| STORE_SCHEMES.contains(&scheme))
}

/// Returns whether a text is a URL of a bucket or a prefix, whose objects can be listed. Such a URL
/// does not end in `.pte` or `.ptd`.
#[cfg(feature = "cloud")]
pub(super) fn is_store_listing(text: &str) -> bool {
    let is_model = |end: &str| {
        let at = text.len().checked_sub(end.len());
        at.and_then(|at| text.get(at..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    is_of_store(text) && !is_model(".pte") && !is_model(".ptd")
}

/// An object of a store, or a prefix of keys of objects.
#[cfg(feature = "cloud")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObjectPlace {
    pub(super) kind: StoreKind,
    pub(super) bucket: String,
    pub(super) key: String,
}

#[cfg(feature = "cloud")]
impl ObjectPlace {
    /// Parses `s3://bucket/key`. In a key, `%`, `?` and `#` are written `%25`, `%3F` and `%23`.
    pub(super) fn parse(text: &str) -> Result<Self, RemoteError> {
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let kind = StoreKind::of(scheme).ok_or(RemoteError::Url(NO_SCHEME))?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        if bucket.is_empty() || !bucket.bytes().all(is_name) {
            return Err(RemoteError::Url("the name of the bucket is not valid"));
        }
        if key.contains(['?', '#']) {
            return Err(RemoteError::Url("a store's URL has no query; ? and # are %3F and %23"));
        }
        let key = unescaped(key).ok_or(RemoteError::Url("a % in a key is written %25"))?;
        Ok(Self { kind, bucket: bucket.to_owned(), key })
    }

    /// Returns the URL of another object in the same bucket.
    pub(super) fn url_of(&self, key: &str) -> String {
        let mut url = format!("{}://{}/", self.kind.scheme(), self.bucket);
        for found in key.chars() {
            match found {
                '%' => url.push_str("%25"),
                '?' => url.push_str("%3F"),
                '#' => url.push_str("%23"),
                other => url.push(other),
            }
        }
        url
    }
}

/// Decodes `%XX`.
#[cfg(feature = "cloud")]
fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        out.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
        out.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(out).ok()
}
