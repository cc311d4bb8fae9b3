//! A remote file as a source.

use core::ops::Range;
use std::io;
use std::sync::{Mutex, PoisonError};

use ureq::http::Uri;

use super::budget::{Budget, Spent};
use super::client::{Client, Reply, Wanted};
use super::error::RemoteError;
use super::reply::{self, Version};
use super::url::RemoteUrl;
use pte_core::Source;
use pte_flat::bytes::len_of;
use pte_flat::quoted::UntrustedString;

/// A remote file that is read by ranges. All bytes come from one state of the file.
#[derive(Debug)]
pub struct RemoteFile {
    client: Client,
    url: RemoteUrl,
    size: u64,
    version: Version,
    commit: Option<String>,
    budget: Budget,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The URL that answered last. Later requests go to this URL, skipping redirects.
    uri: Uri,
    /// The ranges that were read and kept, the latest last.
    pieces: Vec<Piece>,
    /// The length of the next request for a small read.
    ahead: u64,
}

#[derive(Debug)]
struct Piece {
    start: u64,
    bytes: Vec<u8>,
}

impl Piece {
    fn end(&self) -> u64 {
        self.start.saturating_add(wide(self.bytes.len()))
    }

    /// Copies the bytes from `pos` on, and returns their number.
    fn copy(&self, pos: u64, out: &mut [u8]) -> usize {
        let skipped = pos.checked_sub(self.start).and_then(|skipped| usize::try_from(skipped).ok());
        let bytes = skipped.and_then(|skipped| self.bytes.get(skipped..)).unwrap_or_default();
        out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        bytes.len().min(out.len())
    }
}

impl Client {
    /// Opens a file. The first request asks for 64 KiB.
    ///
    /// # Errors
    ///
    /// The reason why the file cannot be read.
    pub fn open(&self, url: &RemoteUrl) -> Result<RemoteFile, RemoteError> {
        RemoteFile::open(self.clone(), url.clone())
    }

    /// Requests a range of a file from `uri`: the URL itself, or the target of its redirect.
    fn ask(
        &self,
        url: &RemoteUrl,
        uri: &Uri,
        wanted: Wanted<'_>,
        budget: &Budget,
        requested_delay: &mut Option<u64>,
    ) -> Result<Reply, RemoteError> {
        #[cfg(feature = "cloud")]
        if let Some(place) = &url.object {
            return self.send_to_store(place, uri, wanted, budget, requested_delay);
        }
        // The target of a redirect gets no token.
        self.send(uri, url.is_of_hub() && *uri == url.uri, wanted, budget, requested_delay)
    }
}

impl RemoteFile {
    fn open(client: Client, url: RemoteUrl) -> Result<Self, RemoteError> {
        let budget = client.file_budget();
        let range = 0..HEAD;
        let wanted = Wanted { range: Some(&range), version: None };
        let (reply, size, bytes) = client.repeated(
            |requested_delay| {
                let mut reply = client.ask(&url, &url.uri, wanted, &budget, requested_delay)?;
                let (size, bytes) = match reply.status {
                    206 => {
                        let (range, size) = reply::content_range(&reply.headers)?;
                        if range != (0..HEAD.min(size)) {
                            return Err(RemoteError::Reply("its range is not the one asked for"));
                        }
                        client.charge(&budget, range.end)?;
                        (size, reply.body(range.end)?)
                    }
                    // The server ignores ranges.
                    200 => {
                        let stated = reply::content_length(&reply.headers).unwrap_or(WHOLE);
                        if stated > WHOLE {
                            return Err(RemoteError::Reply("the server does not answer ranges"));
                        }
                        client.charge(&budget, stated)?;
                        let bytes = reply.body_up_to(stated)?;
                        let is_short = wide(bytes.len()) < stated
                            && reply::content_length(&reply.headers).is_some();
                        if is_short {
                            return Err(RemoteError::Connection("the body ended too early".into()));
                        }
                        (wide(bytes.len()), bytes)
                    }
                    416 if reply::is_empty_file(&reply.headers) => (0, Vec::new()),
                    416 => return Err(RemoteError::Reply("the server refuses the first range")),
                    status => return Err(RemoteError::Status(status)),
                };
                Ok((reply, size, bytes))
            },
            &url.uri,
        )?;
        let version = Version::of(&reply.headers);
        let pieces = vec![Piece { start: 0, bytes }];
        let state = State { uri: reply.uri, pieces, ahead: HEAD };
        let commit = reply.commit;
        Ok(Self { client, url, size, version, commit, budget, state: Mutex::new(state) })
    }

    /// Returns the name of the file, which is its URL without a query.
    #[must_use]
    pub fn name(&self) -> UntrustedString {
        self.url.name()
    }

    /// Returns the entity tag.
    #[must_use]
    pub fn etag(&self) -> Option<UntrustedString> {
        self.version.etag.as_deref().map(UntrustedString::from)
    }

    /// Returns the commit of the hub's repository that the file is from.
    #[must_use]
    pub fn commit(&self) -> Option<UntrustedString> {
        self.commit.as_deref().map(UntrustedString::from)
    }

    /// Returns the numbers of requests and bytes of this file.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.budget.spent()
    }

    /// Requests a range of the same state of the file.
    fn request(&self, state: &mut State, range: &Range<u64>) -> Result<Vec<u8>, RemoteError> {
        let from = state.uri.clone();
        match self.request_from(state, &from, range) {
            // A signed target of a redirect may have expired.
            Err(RemoteError::Status(400..=404)) if from != self.url.uri => {
                self.request_from(state, &self.url.uri, range)
            }
            done => done,
        }
    }

    fn request_from(
        &self,
        state: &mut State,
        uri: &Uri,
        range: &Range<u64>,
    ) -> Result<Vec<u8>, RemoteError> {
        let len = len_of(range);
        let wanted = Wanted { range: Some(range), version: Some(&self.version) };
        let (found, bytes) = self.client.repeated(
            |requested_delay| {
                let mut reply =
                    self.client.ask(&self.url, uri, wanted, &self.budget, requested_delay)?;
                match reply.status {
                    206 => {}
                    412 | 416 => return Err(RemoteError::Changed),
                    200 if Version::of(&reply.headers) != self.version => {
                        return Err(RemoteError::Changed);
                    }
                    200 => {
                        return Err(RemoteError::Reply("it is the whole file instead of a range"));
                    }
                    status => return Err(RemoteError::Status(status)),
                }
                let (answered, size) = reply::content_range(&reply.headers)?;
                if size != self.size || Version::of(&reply.headers) != self.version {
                    return Err(RemoteError::Changed);
                }
                if answered != *range {
                    return Err(RemoteError::Reply("its range is not the one asked for"));
                }
                self.client.charge(&self.budget, len)?;
                let bytes = reply.body(len)?;
                Ok((reply.uri, bytes))
            },
            uri,
        )?;
        state.uri = found;
        Ok(bytes)
    }

    /// Requests a range, and keeps its bytes.
    fn keep(&self, state: &mut State, range: &Range<u64>) -> Result<(), RemoteError> {
        let bytes = self.request(state, range)?;
        // The first 64 KiB are always kept.
        let kept =
            |state: &State| state.pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>();
        while state.pieces.len() > 1 && (state.pieces.len() >= PIECES || kept(state) > KEPT) {
            state.pieces.remove(1);
        }
        state.pieces.push(Piece { start: range.start, bytes });
        Ok(())
    }

    fn read(&self, mut pos: u64, mut out: &mut [u8]) -> Result<(), RemoteError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !out.is_empty() {
            let mut copied = 0usize;
            let piece = state.pieces.iter().rev().find(|of| of.start <= pos && pos < of.end());
            if let Some(piece) = piece {
                copied = piece.copy(pos, out);
            } else {
                let len = wide(out.len());
                let next =
                    state.pieces.iter().map(|of| of.start).filter(|&start| start > pos).min();
                let longest = len.max(state.ahead).min(LONGEST);
                let end = pos.saturating_add(longest).min(self.size);
                // The range ends where the next kept range begins, so that no byte is read twice.
                let end = next.map_or(end, |next| end.min(next));
                self.keep(&mut state, &(pos..end))?;
                state.ahead = state.ahead.saturating_mul(4).min(AHEAD);
            }
            pos = pos.saturating_add(wide(copied));
            out = out.get_mut(copied..).unwrap_or_default();
        }
        Ok(())
    }

    /// Requests the parts of `ranges` that are not kept yet. Ranges with small gaps are joined in
    /// one request. With `with_gaps`, larger gaps are read too, until there are at most [`FEW`]
    /// requests.
    fn read_ahead(&self, mut ranges: Vec<Range<u64>>, with_gaps: bool) -> Result<(), RemoteError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |of: &Range<u64>| {
            state.pieces.iter().any(|at| at.start <= of.start && of.end <= at.end())
        };
        ranges.retain(|range| !range.is_empty() && !is_known(range));
        ranges.sort_unstable_by_key(|range| range.start);
        let mut merged = joined(&ranges, GAP);
        let mut gap = GAP;
        while with_gaps && merged.len() > FEW && gap < LONGEST {
            gap = gap.saturating_add(GAP);
            let larger = joined(&ranges, gap);
            if larger.iter().map(len_of).fold(0, u64::saturating_add) > KEPT_AHEAD {
                break;
            }
            merged = larger;
        }
        merged.retain(|range| len_of(range) <= LONGEST);
        merged.truncate(PIECES / 2);
        merged.iter().try_for_each(|range| self.keep(&mut state, range))
    }
}

/// Joins ascending ranges that have at most `gap` bytes between them.
fn joined(ranges: &[Range<u64>], gap: u64) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last)
                if range.start <= last.end.saturating_add(gap)
                    && range.end.saturating_sub(last.start) <= LONGEST =>
            {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range.clone()),
        }
    }
    joined
}

impl Source for &RemoteFile {
    type Error = io::Error;

    fn size(&self) -> io::Result<u64> {
        (*self).size()
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> io::Result<()> {
        (*self).read_at(pos, out)
    }

    fn read_many(&self, reads: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        (*self).read_many(reads)
    }

    fn will_read(&self, ranges: &mut dyn Iterator<Item = Range<u64>>) -> io::Result<()> {
        (*self).will_read(ranges)
    }
}

impl Source for RemoteFile {
    type Error = io::Error;

    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> io::Result<()> {
        let end = pos.checked_add(wide(out.len())).filter(|&end| end <= self.size);
        end.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.read(pos, out).map_err(io::Error::from)
    }

    fn read_many(&self, reads: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        let mut ranges = Vec::new();
        for (pos, out) in reads.iter() {
            let end = pos.checked_add(wide(out.len())).filter(|&end| end <= self.size);
            ranges.push(*pos..end.ok_or(io::ErrorKind::UnexpectedEof)?);
        }
        self.read_ahead(ranges, false)?;
        reads.iter_mut().try_for_each(|(pos, out)| self.read_at(*pos, out))
    }

    fn will_read(&self, ranges: &mut dyn Iterator<Item = Range<u64>>) -> io::Result<()> {
        let ends = |range: &Range<u64>| range.end <= self.size;
        self.read_ahead(ranges.filter(ends).take(MAX_ANNOUNCED).collect(), true)?;
        Ok(())
    }
}

fn wide(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// The length of the first request. For 99 of 100 files, it includes the headers and the
/// FlatBuffer.
const HEAD: u64 = 64 << 10;

/// The longest file that is accepted as a whole, from a server that does not support ranges.
const WHOLE: u64 = 1 << 20;

/// The maximum length of a requested range.
const LONGEST: u64 = 8 << 20;

/// The maximum number of bytes that are read ahead.
const AHEAD: u64 = 1 << 20;

/// The longest gap between two ranges that is read together with them.
const GAP: u64 = 64 << 10;

/// The maximum number of announced ranges.
const MAX_ANNOUNCED: usize = 1 << 16;
/// The number of requests to aim at when announced ranges are read.
const FEW: usize = 3;
/// The maximum number of bytes of all announced ranges after they are joined.
const KEPT_AHEAD: u64 = 12 << 20;

/// The maximum number of ranges that are kept.
const PIECES: usize = 64;
/// The maximum number of bytes of the kept ranges.
const KEPT: usize = 16 << 20;
