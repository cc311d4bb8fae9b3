#![doc = "pte"]
#![no_std]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod bytes;
pub mod check;
mod error;
pub mod file;
pub mod flat;
mod limits;
mod neighbour;
pub mod ptd;
pub mod pte;
pub mod schema;

pub use error::{Error, ErrorKind, Magic, Place, Result, Step};
pub use file::source::{File, OpenError, Opened, PastEnd, Source};
pub use limits::Limits;
pub use neighbour::Neighbour;
pub use ptd::Ptd;
pub use pte::Pte;
