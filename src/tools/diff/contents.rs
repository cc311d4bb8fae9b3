//! The data of a file and its `.ptd` files, hashed in chunks, each range once.

use core::ops::Range;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use super::digest::{Hasher, Sha};
use super::payload::{ConstantSource, Data, Form, Meaning, XnnpackMeaning};
use super::{DiffError, Given, Whose};
use pte_core::file::chunks;
use pte_core::payload::Graph;
use pte_core::payload::xnnpack::{XnnpackHeader, XnnpackParts};
use pte_core::{Backend, File, Handle, Limits, OpenError, Source};
use pte_flat::bytes::{len_of, wide};

/// The data of one side: its file, and the `.ptd` files that it is used with.
pub(super) struct Contents<'g, S> {
    whose: Whose,
    file: &'g Handle<S>,
    data: &'g [&'g Handle<S>],
    /// The named data of the `.ptd` files.
    keys: BTreeMap<&'g str, (usize, Range<u64>)>,
    /// The named data of the file, if it is a program.
    own: BTreeMap<&'g str, Range<u64>>,
    known: BTreeMap<(usize, u64, u64), Sha>,
    /// What is compared of payloads, by their backends and ranges.
    meanings: BTreeMap<(Backend, u64, u64), Option<Rc<Meaning>>>,
    /// The keys that XNNPACK's payloads ask for.
    asked: BTreeSet<String>,
    /// The number of bytes of graphs that may still be kept. Graphs of payloads may overlap.
    room: u64,
    limits: Limits,
    /// The number of bytes that may still be read. Ranges may overlap, and so exceed the file.
    left: u64,
    most: u64,
}

/// The number of bytes read at once.
const CHUNK: u64 = 1 << 20;

impl<'g, S: Source> Contents<'g, S> {
    pub(super) fn new(
        given: &'g Given<'g, S>,
        whose: Whose,
        limits: &Limits,
    ) -> Result<Self, DiffError<S::Error>> {
        let mut most = given.file.file_len();
        let mut keys = BTreeMap::new();
        for (nth, &opened) in given.data.iter().enumerate() {
            let whose = whose.with(nth);
            let File::Ptd(ptd) = opened.file() else {
                return Err(DiffError::NoData(whose));
            };
            for entry in ptd.entries() {
                if let (Some(key), Ok(range)) = (entry.key(), entry.range()) {
                    // The first of two equal keys wins, as in runtimes.
                    keys.entry(key).or_insert((nth, range));
                }
            }
            most = most.saturating_add(opened.file_len());
        }
        let mut own = BTreeMap::new();
        if let File::Pte(pte) = given.file.file() {
            for (key, range) in pte.named_data() {
                if let (Some(key), Ok(range)) = (key, range) {
                    own.entry(key).or_insert(range);
                }
            }
        }
        let most = most.saturating_mul(limits.amplification.into()).saturating_add(CHUNK);
        Ok(Self {
            whose,
            file: given.file,
            data: &given.data,
            keys,
            own,
            known: BTreeMap::new(),
            meanings: BTreeMap::new(),
            asked: BTreeSet::new(),
            room: given.file.file_len(),
            limits: *limits,
            left: most,
            most,
        })
    }

    /// Returns the digest of a range of the file.
    pub(super) fn hash(&mut self, range: Range<u64>) -> Result<Sha, DiffError<S::Error>> {
        self.hash_in(0, range)
    }

    /// Returns the digest and the length of the data of a key in the `.ptd` files.
    pub(super) fn hash_key(
        &mut self,
        key: &str,
    ) -> Result<Option<(Sha, u64)>, DiffError<S::Error>> {
        let Some((nth, range)) = self.keys.get(key).cloned() else { return Ok(None) };
        let len = len_of(&range);
        self.hash_in(nth.saturating_add(1), range).map(|sha| Some((sha, len)))
    }

    /// Returns what is compared of a backend's payload. `None` if the payload has no known graph or cannot be read, or
    /// if all graphs together have more bytes than the file, since they overlap.
    pub(super) fn meaning(
        &mut self,
        backend: Backend,
        range: Range<u64>,
    ) -> Result<Option<Rc<Meaning>>, DiffError<S::Error>> {
        let place = (backend, range.start, range.end);
        if let Some(known) = self.meanings.get(&place) {
            return Ok(known.clone());
        }
        let meaning = match backend {
            Backend::Xnnpack => self.xnnpack(range)?.map(Meaning::Xnnpack),
            _ => self.form(backend, range)?.map(Meaning::Form),
        };
        let meaning = meaning.map(Rc::new);
        self.meanings.insert(place, meaning.clone());
        Ok(meaning)
    }

    fn xnnpack(
        &mut self,
        range: Range<u64>,
    ) -> Result<Option<XnnpackMeaning>, DiffError<S::Error>> {
        let at = |pos: u64| range.start.saturating_add(pos);
        let head = self.read(range.start..range.end.min(at(XnnpackHeader::LENGTH.into())))?;
        let Ok(parts) = XnnpackParts::of(&head, len_of(&range)) else { return Ok(None) };
        let Some(room) = self.room.checked_sub(len_of(&parts.graph)) else { return Ok(None) };
        self.room = room;
        let graph = self.read(at(parts.graph.start)..at(parts.graph.end))?;
        let limits = self.limits;
        XnnpackMeaning::of(parts, graph, &limits, |place| match place {
            ConstantSource::Payload(part) => {
                let len = len_of(&part);
                Ok((self.hash(at(part.start)..at(part.end))?, Some(len)))
            }
            ConstantSource::Key(key) => self.asked(key),
            ConstantSource::Nowhere => Ok((Hasher::of(b'N').finish(), None)),
        })
    }

    fn form(
        &mut self,
        backend: Backend,
        range: Range<u64>,
    ) -> Result<Option<Form>, DiffError<S::Error>> {
        let len = len_of(&range);
        let Some(room) = self.room.checked_sub(len) else { return Ok(None) };
        let at = |part: Range<u64>| {
            range.start.saturating_add(part.start)..range.start.saturating_add(part.end)
        };
        let (mut found, limits) = (None, self.limits);
        let read = |part| self.read(at(part)).map(Some);
        Graph::with(Some(backend), len, read, &limits, |graph| {
            found = graph.ok().flatten().map(|graph| Form::read(range.clone(), graph));
        })?;
        let Some((mut form, data)) = found else { return Ok(None) };
        self.room = room;
        form.add(data, |part| self.hash(at(part)))?;
        Ok(Some(form))
    }

    /// Returns the digest and the length of the data that a payload requests by a key. If no file
    /// has the key, returns the digest of the key instead.
    fn asked(&mut self, key: &str) -> Result<Data, DiffError<S::Error>> {
        // The key is charged each time, since constants may share one long key.
        self.spend(self.whose, &(0..wide(key.len())))?;
        if !self.asked.contains(key) {
            self.asked.insert(key.into());
        }
        if let Some(range) = self.own.get(key).cloned() {
            let len = len_of(&range);
            return Ok((self.hash(range)?, Some(len)));
        }
        if let Some((sha, len)) = self.hash_key(key)? {
            return Ok((sha, Some(len)));
        }
        let mut hasher = Hasher::of(b'K');
        hasher.text(Some(key));
        Ok((hasher.finish(), None))
    }

    /// Returns whether a payload asks for a key.
    pub(super) fn is_asked(&self, key: Option<&str>) -> bool {
        key.is_some_and(|key| self.asked.contains(key))
    }

    fn read(&mut self, range: Range<u64>) -> Result<Vec<u8>, DiffError<S::Error>> {
        self.spend(self.whose, &range)?;
        self.file.read(range).map_err(|error| DiffError::Open(self.whose, error))
    }

    fn spend(&mut self, whose: Whose, range: &Range<u64>) -> Result<(), DiffError<S::Error>> {
        let len = len_of(range);
        self.left = self.left.checked_sub(len).ok_or(DiffError::Work(whose, self.most))?;
        Ok(())
    }

    /// Returns the digest of a range. File 0 is the compared one, the others are its `.ptd` files.
    fn hash_in(&mut self, file: usize, range: Range<u64>) -> Result<Sha, DiffError<S::Error>> {
        let place = (file, range.start, range.end);
        if let Some(&known) = self.known.get(&place) {
            return Ok(known);
        }
        let beside = file.checked_sub(1).and_then(|nth| Some((nth, self.data.get(nth)?)));
        let (opened, whose) = match beside {
            Some((nth, opened)) => (*opened, self.whose.with(nth)),
            None => (self.file, self.whose),
        };
        self.spend(whose, &range)?;
        let mut sha = Sha256::new();
        for chunk in chunks(range, CHUNK) {
            sha.update(opened.read(chunk).map_err(|error| DiffError::Open(whose, error))?);
        }
        let sha = sha.finalize().into();
        self.known.insert(place, sha);
        Ok(sha)
    }
}

impl Whose {
    /// Returns the `.ptd` file with the index `nth` that this file is used with.
    fn with(self, nth: usize) -> Self {
        match self {
            Self::Before | Self::WithBefore(_) => Self::WithBefore(nth),
            Self::After | Self::WithAfter(_) => Self::WithAfter(nth),
        }
    }
}

/// Returns whether two files have the same bytes. Reads up to the first difference.
pub(super) fn identical<S: Source>(
    before: &Handle<S>,
    after: &Handle<S>,
) -> Result<bool, DiffError<S::Error>> {
    let len = before.file_len();
    if len != after.file_len() {
        return Ok(false);
    }
    let read = |whose, file: &Handle<S>, range: Range<u64>| -> Result<Vec<u8>, _> {
        file.read(range).map_err(|error: OpenError<S::Error>| DiffError::Open(whose, error))
    };
    for chunk in chunks(0..len, CHUNK) {
        if read(Whose::Before, before, chunk.clone())? != read(Whose::After, after, chunk)? {
            return Ok(false);
        }
    }
    Ok(true)
}
