//! Finds delegates' payloads in a program, recognizes their backend, and reads those of a known
//! layout.
//!
//! Each backend has its own file or folder, and [`Backend`] lists all that are recognized. A
//! payload is in a segment or in the FlatBuffer: [`Payload::range`] returns its range in the file.

use alloc::string::String;
use core::fmt;
use core::ops::Range;

use crate::backend::Backend;
use crate::error::Result;
use crate::limits::Limits;
use crate::pte::Pte;
use crate::schema::program::view::BackendDelegate;

pub(crate) mod xnnpack;

/// A delegate's payload (upstream: processed bytes): its backend and its range in the file.
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
    /// Returns the payload of `delegate`; `None` if it has no payload.
    ///
    /// # Errors
    ///
    /// The delegate refers to a segment or inline data that does not exist.
    pub fn payload(&self, delegate: BackendDelegate<'a>) -> Result<Option<Payload<'a>>> {
        let range = self.delegate_range(delegate)?;
        Ok(range.map(|range| Payload { delegate, range }))
    }

    /// Returns the payloads of all methods' delegates, in order. Delegates may share a payload.
    ///
    /// # Errors
    ///
    /// Each item may be an error of [`payload`](Self::payload).
    pub fn payloads(&self) -> impl Iterator<Item = Result<Payload<'a>>> {
        let plans = self.program().execution_plan().into_iter().flatten();
        let delegates = plans.flat_map(|plan| plan.delegates().into_iter().flatten());
        delegates.filter_map(|delegate| self.payload(delegate).transpose())
    }
}

impl<'a> Payload<'a> {
    /// Returns the id of the backend as in the program; `None` if it is missing.
    pub fn id(&self) -> Option<&'a str> {
        self.delegate.id()
    }

    /// Returns the backend, if it is a known one.
    pub fn backend(&self) -> Option<Backend> {
        Backend::of_id(self.id()?)
    }

    /// Returns the range of the payload in the file.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }

    /// Returns whether the payload has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the constants that the payload's graph takes from named data.
    ///
    /// `read` returns the bytes of a range of the file, or `None` if they are not available. It is
    /// called for the payload's header and tables, never for constants.
    ///
    /// # Errors
    ///
    /// The errors of `read`.
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

/// A constant of a payload whose data is named data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedConstant<'p> {
    /// The key of the named data.
    pub(crate) key: &'p str,
    /// The number of bytes that the payload declares for it.
    pub(crate) size: u64,
    /// Whether a value of the graph refers to the constant.
    pub(crate) is_used: bool,
}

/// The result of reading a payload's named constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamedConstants {
    /// All of them were read.
    All,
    /// The payload is opaque, or its bytes are not available. It may use any key.
    Opaque,
    /// The backend refuses the payload for this reason.
    Refused(Unreadable),
}

/// The reason why a backend refuses a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Its header contradicts its length.
    Header {
        /// The length of the payload in bytes.
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
                write!(f, "invalid header of a payload of {len} bytes")
            }
            Self::Identifier => f.write_str("the graph has an unknown identifier"),
            Self::Graph(message) => f.write_str(message),
        }
    }
}
