//! Listings: the repositories of an organization of the hub, the files of a repository, and the objects of a store.

use serde_json::Value;
use ureq::http::Uri;

use super::client::{Client, Wanted};
use super::error::RemoteError;
use super::pages::{MAX_PAGE, Pages};
use super::reply::header;
#[cfg(feature = "cloud")]
use super::store::is_store_listing;
use super::url::{HubPlace, Origin, parse};

/// A file in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedFile {
    /// The URL.
    pub url: String,
    /// The identity of the content: of the hub, the sha256 of a large file, or else the id of the git object; of a
    /// store, the entity tag, or else the size and the time.
    pub id: String,
    /// The time of the last change of an object in a store, in milliseconds since 1970.
    pub mtime_ms: Option<i64>,
}

/// Returns whether a text is a URL whose files can be listed: of an organization or a repository of the hub, or of a
/// bucket or a prefix in a store.
#[must_use]
pub fn is_listing(text: &str) -> bool {
    #[cfg(feature = "cloud")]
    if is_store_listing(text) {
        return true;
    }
    HubPlace::parse(text).is_some_and(|place| place.path.is_none())
}

impl Client {
    /// Lists the files of `hf://org` or `hf://org/repo[@revision]`, or the objects under
    /// `s3://bucket/prefix`. Calls `each` with each file until `each` returns false. Returns the
    /// repositories of an organization that could not be listed.
    ///
    /// # Errors
    ///
    /// The listing could not be read, or has more than 10,000 pages.
    pub fn list(
        &self,
        text: &str,
        mut each: impl FnMut(ListedFile) -> bool,
    ) -> Result<Vec<(String, RemoteError)>, RemoteError> {
        #[cfg(feature = "cloud")]
        if is_store_listing(text) {
            return self.list_store(text, each).map(|()| Vec::new());
        }
        let wrong = RemoteError::Url("it is no organization or repository of the hub");
        let place = HubPlace::parse(text).filter(|place| place.path.is_none()).ok_or(wrong)?;
        if place.repo.is_some() {
            return self.list_repository(&place, &mut each).map(|_| Vec::new());
        }
        let (mut failed, mut goes_on) = (Vec::new(), true);
        self.pages(&place.repositories(), &mut |entry| {
            let Some((org, repo)) = entry.get("id").and_then(Value::as_str)?.split_once('/') else {
                return Some(true);
            };
            let found = HubPlace { org, repo: Some(repo), ..place };
            match self.list_repository(&found, &mut each) {
                Ok(more) => goes_on = more,
                Err(error) => failed.push((found.url(), error)),
            }
            Some(goes_on)
        })?;
        Ok(failed)
    }

    fn list_repository(
        &self,
        place: &HubPlace<'_>,
        each: &mut impl FnMut(ListedFile) -> bool,
    ) -> Result<bool, RemoteError> {
        let base = place.url();
        self.pages(&place.tree(), &mut |entry| {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
            if entry.get("type").and_then(Value::as_str) != Some("file") {
                return Some(true);
            }
            let path = text(entry.get("path"))?;
            let large = entry.get("lfs").and_then(|lfs| lfs.get("oid"));
            let id = text(large).or_else(|| text(entry.get("oid"))).unwrap_or_default();
            Some(each(ListedFile { url: format!("{base}/{path}"), id, mtime_ms: None }))
        })
    }

    /// Requests the pages of a listing. Returns false if `each` stopped the listing.
    fn pages(
        &self,
        path: &str,
        each: &mut impl FnMut(&Value) -> Option<bool>,
    ) -> Result<bool, RemoteError> {
        let mut uri = parse(&format!("{}/{path}", self.hub()))?;
        let hub = Origin::of(&uri);
        let mut pages = Pages::default();
        loop {
            pages.add(&uri)?;
            let (page, next) = self.page(&uri)?;
            let entries = serde_json::from_slice::<Vec<Value>>(&page);
            for entry in entries.map_err(|_| RemoteError::Reply("a listing is no list in JSON"))? {
                // An entry without the expected fields is skipped.
                if each(&entry) == Some(false) {
                    return Ok(false);
                }
            }
            match next {
                None => return Ok(true),
                Some(next) if Origin::of(&next) != hub => {
                    return Err(RemoteError::Redirect("the next page is at another origin"));
                }
                Some(next) => uri = next,
            }
        }
    }

    fn page(&self, uri: &Uri) -> Result<(Vec<u8>, Option<Uri>), RemoteError> {
        let budget = self.file_budget();
        let wanted = Wanted { range: None, version: None };
        self.repeated(
            |requested_delay| {
                let mut reply = self.send(uri, true, wanted, &budget, requested_delay)?;
                if reply.status != 200 {
                    return Err(RemoteError::Status(reply.status));
                }
                let page = reply.body_up_to(MAX_PAGE)?;
                self.charge(&budget, u64::try_from(page.len()).unwrap_or(u64::MAX))?;
                let next =
                    header(&reply.headers, "link").and_then(next_of).map(parse).transpose()?;
                Ok((page, next))
            },
            uri,
        )
    }
}

/// Returns the URL of the next page from the header `Link`: `<URL>; rel="next"`.
fn next_of(link: &str) -> Option<&str> {
    link.split(',').find_map(|link| {
        let (url, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
        rest.contains("rel=\"next\"").then_some(url)
    })
}

#[cfg(test)]
mod tests {
    use super::{is_listing, next_of};

    #[test]
    fn the_next_page_is_a_link() {
        assert_eq!(next_of("<https://h/a?b>; rel=\"next\""), Some("https://h/a?b"));
        assert_eq!(
            next_of("<https://h/p>; rel=\"prev\", <https://h/n>; rel=\"next\""),
            Some("https://h/n")
        );
        assert_eq!(next_of("https://h/n; rel=next"), None);
    }

    #[test]
    fn organizations_and_repositories_can_be_listed() {
        for text in
            ["hf://org", "hf://org/", "hf://org/repo", "hf://org/repo@v1", "hf://datasets/org/repo"]
        {
            assert!(is_listing(text), "{text}");
        }
        for text in ["hf://org/repo/m.pte", "hf://", "hf://datasets/", "hf://a/../b", "https://h/a"]
        {
            assert!(!is_listing(text), "{text}");
        }
    }
}
