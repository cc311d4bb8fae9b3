//! Payloads of the other backends whose format is known: whether their header, their sections and
//! their tables are there.
//!
//! The official runtimes of these backends were not run, so that what is wrong is a Warning.

use alloc::borrow::Cow;
use alloc::format;
use core::ops::Range;

use super::{Head, Judge, PAYLOAD_STRUCTURE, Reader, User, payload_path, reason, shifted};
use pte_core::backend::Backend;
use pte_core::payload::{Sections, Tables, TablesPlace, Unreadable};
use pte_flat::bytes::index;
use pte_flat::view::Table;

/// The reason why the sections of a payload were not read.
enum Stop<E> {
    /// The bytes are not in memory, or the budget does not cover them.
    Bytes,
    Read(E),
}

impl Judge<'_, '_, '_, '_> {
    /// Judges the payload of a backend in a range of the file.
    pub(super) fn other<'b, R, E>(
        &mut self,
        backend: Backend,
        range: Range<u64>,
        users: &[User],
        reader: &mut Reader<R>,
    ) -> Result<(), E>
    where
        R: FnMut(Range<u64>) -> Result<Option<Cow<'b, [u8]>>, E>,
    {
        let within = |part: Range<u64>| shifted(part, range.start);
        let Some(Head { bytes: head, len }) = reader.head(range.clone())? else { return Ok(()) };
        // `payload-magic` reports it.
        if backend.magic().is_some_and(|magic| !magic.is_in(&head)) {
            return Ok(());
        }
        match TablesPlace::of_payload(backend, &head, len) {
            Some(Ok(place)) => {
                let Some(bytes) = reader.read(within(place.range.clone()))? else { return Ok(()) };
                if let Err(why) = Tables::read(&place, &bytes, self.limits) {
                    self.odd(backend, users, &why);
                }
            }
            Some(Err(why)) => self.odd(backend, users, &why),
            None => {
                let mut read = |part: Range<u64>| match reader.read(within(part)) {
                    Ok(Some(bytes)) => Ok(bytes),
                    Ok(None) => Err(Stop::Bytes),
                    Err(error) => Err(Stop::Read(error)),
                };
                match Sections::of(backend, len, &mut read) {
                    Ok(Some(Err(why))) => self.odd(backend, users, &why),
                    Ok(Some(Ok(_)) | None) | Err(Stop::Bytes) => {}
                    Err(Stop::Read(error)) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Reports a payload at the first delegate that has it.
    fn odd(&mut self, backend: Backend, users: &[User], why: &Unreadable) {
        // Only this crate limits the number of sections.
        if matches!(why, Unreadable::Sections { .. }) {
            return;
        }
        let Some((plan, delegate)) = self.delegate(users.first()) else { return };
        let delegates = plan.view.delegates().unwrap_or_default();
        let Some(table) = delegates.get(index(delegate)) else { return };
        let at = table.processed().map_or(table.raw(), |processed| processed.raw());
        plan.find(self.out, &PAYLOAD_STRUCTURE, at, &payload_path(delegate), || {
            format!("this is no payload of {}: {}", backend.name(), reason(why))
        });
    }
}
