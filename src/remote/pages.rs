//! The limits of listings.

use ureq::http::Uri;

use super::error::RemoteError;

/// The pages of a listing that were requested.
#[derive(Debug, Default)]
pub(super) struct Pages {
    count: u32,
    last: Option<Uri>,
}

impl Pages {
    /// Counts a page, before it is requested.
    pub(super) fn add(&mut self, uri: &Uri) -> Result<(), RemoteError> {
        if self.count >= MAX_PAGES {
            return Err(RemoteError::Reply("a listing has more than 10,000 pages"));
        }
        if self.last.as_ref() == Some(uri) {
            return Err(RemoteError::Reply("a page of a listing leads to itself"));
        }
        (self.count, self.last) = (self.count.saturating_add(1), Some(uri.clone()));
        Ok(())
    }
}

/// The maximum number of pages of a listing.
const MAX_PAGES: u32 = 10_000;

/// The maximum number of bytes of a page.
pub(super) const MAX_PAGE: u64 = 8 << 20;
