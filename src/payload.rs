//! Delegates' payloads: found in a program, recognized by their backend, and read as far as their
//! layout is known.
//!
//! One folder or file a backend; [`Backend`] lists those that are recognized. A payload is bytes of a
//! segment or of the FlatBuffer: [`Payload::range`] says which, and a source gives them.

use alloc::string::String;
use core::fmt;
use core::ops::Range;

use crate::backend::Backend;
use crate::error::Result;
use crate::limits::Limits;
use crate::pte::Pte;
use crate::schema::program::view::BackendDelegate;

pub(crate) mod xnnpack;

/// A delegate's payload (upstream: processed bytes): whose it is and where it lies.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let bytes = include_bytes!("../tests/data/pte/xnn_gpt.pte");
/// let pte = pte::Pte::read(bytes)?;
/// let payloads = pte.payloads().collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(payloads.len(), 12);
/// assert_eq!(payloads[0].backend(), Some(pte::Backend::Xnnpack));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Payload<'a> {
    delegate: BackendDelegate<'a>,
    range: Range<u64>,
}

impl<'a> Pte<'a> {
    /// The payload of `delegate`; `None` if it names none.
    ///
    /// # Errors
    ///
    /// Where it names a segment or inline data that is not there.
    pub fn payload(&self, delegate: BackendDelegate<'a>) -> Result<Option<Payload<'a>>> {
        let range = self.delegate_range(delegate)?;
        Ok(range.map(|range| Payload { delegate, range }))
    }

    /// The payloads of all methods' delegates, in order. Delegates may share one.
    ///
    /// # Errors
    ///
    /// Each item as [`payload`](Self::payload).
    pub fn payloads(&self) -> impl Iterator<Item = Result<Payload<'a>>> {
        let plans = self.program().execution_plan().into_iter().flatten();
        let delegates = plans.flat_map(|plan| plan.delegates().into_iter().flatten());
        delegates.filter_map(|delegate| self.payload(delegate).transpose())
    }
}

impl<'a> Payload<'a> {
    /// The backend's name as the program has it; `None` where it has none.
    pub fn id(&self) -> Option<&'a str> {
        self.delegate.id()
    }

    /// The backend, where it is a known one.
    pub fn backend(&self) -> Option<Backend> {
        Backend::of_id(self.id()?)
    }

    /// Where it lies in the file.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Its bytes.
    pub fn len(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the constants that its graph takes from named data. `read` gives the bytes of a range of
    /// the file, or `None` where they cannot be had; it is called for the payload's header and its
    /// tables, never for its constants.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub(crate) fn named_constants<B: AsRef<[u8]>, E>(
        &self,
        limits: &Limits,
        mut read: impl FnMut(Range<u64>) -> core::result::Result<Option<B>, E>,
        each: impl FnMut(NamedConstant<'_>),
    ) -> core::result::Result<NamedConstants, E> {
        let within = |range: Range<u64>| {
            let end = self.range.start.saturating_add(range.end);
            self.range.start.saturating_add(range.start)..end
        };
        match self.backend() {
            Some(Backend::Xnnpack) => {
                xnnpack::named_constants(self.len(), limits, |range| read(within(range)), each)
            }
            _ => Ok(NamedConstants::Opaque),
        }
    }
}

/// A constant of a payload whose bytes are named data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedConstant<'p> {
    /// The key of the named data.
    pub(crate) key: &'p str,
    /// The bytes that the payload says it has.
    pub(crate) size: u64,
    /// Whether a value of the graph refers to it.
    pub(crate) is_used: bool,
}

/// Whether a payload's named constants could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamedConstants {
    /// All of them were read.
    All,
    /// The payload is opaque, or its bytes could not be had: it may name any.
    Opaque,
    /// The backend refuses the payload, for this reason.
    Refused(Unreadable),
}

/// Why a backend refuses a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Its header contradicts its length.
    Header {
        /// Bytes of the payload.
        len: u64,
    },
    /// Its FlatBuffer has an unknown identifier.
    Identifier,
    /// Its FlatBuffer breaks a structural rule.
    Graph(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { len } => {
                write!(f, "the header of the payload of {len} bytes leads nowhere")
            }
            Self::Identifier => f.write_str("its graph has an identifier that is not known"),
            Self::Graph(message) => f.write_str(message),
        }
    }
}
