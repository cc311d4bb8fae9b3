//! Ethos-U's payloads: a stream of blocks, as Vela's output is packed for the backend.
//!
//! Upstream is `backends/arm/runtime/VelaBinStream.cpp`. It refuses unknown names, but never
//! compares the size of a block with the payload.

use alloc::string::String;

use crate::backend::magic;
use crate::payload::Unreadable;
use crate::payload::command_stream::Work;
use crate::payload::sections::{Head, Section, Sections};
use pte_flat::bytes::{array_at, u32_at};

/// Finds the blocks. Weights are not read.
pub(in crate::payload) fn sections(head: &mut Head<'_>) -> Result<Sections, Unreadable> {
    let mut found = Sections::default();
    let mut at = 0u64;
    loop {
        let block = head.read(at, HEADER)?;
        // The backend compares names as prefixes, so this does too.
        let is_name = |name: &&&str| block.starts_with(name.as_bytes());
        let Some(&name) = NAMES.iter().find(is_name) else {
            return Err(Unreadable::Block { at });
        };
        // The stream begins with a start block, which is allowed nowhere else.
        if (at == 0) != (name == START) {
            return Err(Unreadable::Block { at });
        }
        let size = u64::from(u32_at(&block, 16).unwrap_or_default());
        let start = at.saturating_add(HEADER);
        let mut section = Section::new(name, start..start.saturating_add(size));
        let end = start.saturating_add(size.next_multiple_of(ALIGNMENT));
        if name == END {
            return match end == head.len {
                true => Ok(found),
                false => Err(Unreadable::Part { name, range: at..end, len: head.len }),
            };
        }
        if end > head.len {
            return Err(Unreadable::Part { name, range: start..end, len: head.len });
        }
        if block.get(20) == Some(&EXTERNAL) {
            if size != KEY {
                return Err(Unreadable::Block { at });
            }
            let key = head.read(start, KEY)?;
            section.key = Some(String::from_utf8_lossy(&key).into());
        } else if name == "scratch_size" {
            let bytes = head.read(start, 4)?;
            found.scratch = u32_at(&bytes, 0).map(u64::from);
        } else if name == "cmd_data" {
            let bytes = head.read(start, size.max(4))?;
            let magic = array_at(&bytes, 0).unwrap_or_default();
            found.work = Work::of(&bytes);
            found.version = match &magic {
                b"COP1" | b"COP2" => Some(String::from_utf8_lossy(&magic).into()),
                _ => return Err(Unreadable::Magic { magic }),
            };
        }
        if name != START {
            found.add(section, head.len)?;
        }
        at = end;
    }
}

/// The length of a block's header in bytes.
const HEADER: u64 = 32;

/// The alignment of blocks in bytes.
const ALIGNMENT: u64 = 16;

/// The flag of a block whose contents are in named data.
const EXTERNAL: u8 = 1;

/// The length of a key in bytes.
const KEY: u64 = 64;

const START: &str = match magic::ETHOS_U.to_str() {
    Ok(name) => name,
    Err(_) => "",
};
const END: &str = "vela_end_stream";

/// The names of blocks.
const NAMES: [&str; 7] =
    [START, "cmd_data", "weight_data", "scratch_size", "inputs", "outputs", END];
