//! The commands of an Ethos-U processor: the driver's actions, and the words of the command stream.
//!
//! The numbers are those of Arm's public register descriptions (docs/format.md §11.13). A register is set by one word
//! with 16 bits, or by two words with an address or a large number.

use alloc::vec::Vec;
use core::ops::Range;

use pte_flat::bytes::{u32_at, wide};

/// The processor that a stream is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// The product: 0 is Ethos-U55, 1 is Ethos-U65, 2 is Ethos-U85.
    pub product: u32,
    /// The number of multiplications in a cycle.
    pub macs_per_cycle: u32,
}

/// A command of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The position in the bytes of the driver's actions.
    pub at: u64,
    /// The code.
    pub code: u16,
    /// The 16 bits with the code.
    pub param: u16,
    /// The second word; `None` for a command of one word.
    pub payload: Option<u32>,
}

/// What is wrong with the driver's actions, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The position.
    pub at: u64,
    /// The description.
    pub why: &'static str,
}

impl Command {
    /// Returns the number of a register of two words: 48 bits.
    pub fn number(&self) -> u64 {
        u64::from(self.param) << 32 | u64::from(self.payload.unwrap_or_default())
    }

    /// Returns whether the command runs an operation, rather than set a register.
    pub fn is_operation(&self) -> bool {
        self.payload.is_none() && self.code < FIRST_REGISTER
    }
}

/// The driver's actions of a payload.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    /// The processor; `None` if no action names it.
    pub processor: Option<Processor>,
    /// The range of each command stream.
    pub streams: Vec<Range<usize>>,
}

impl Actions {
    /// Reads the actions behind the magic `COP1` or `COP2`.
    ///
    /// # Errors
    ///
    /// An action is cut, or it is unknown.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut actions = Self::default();
        let mut at = 4usize;
        while at < bytes.len() {
            let here = |why| Malformed { at: wide(at), why };
            let tag = u32_at(bytes, at).ok_or(here("a word is cut"))?;
            let words = match tag & 0xff {
                CONFIG => {
                    let config = at.checked_add(4).and_then(|at| u32_at(bytes, at));
                    actions.processor = config.map(|config| Processor {
                        product: config >> 28,
                        macs_per_cycle: 1u32.checked_shl(config & 0xf).unwrap_or_default(),
                    });
                    2
                }
                STREAM => {
                    let words = (tag >> 8 & 0xff) << 16 | tag >> 16;
                    let start = at.saturating_add(4);
                    let len = usize::try_from(words).unwrap_or(usize::MAX).saturating_mul(4);
                    actions.streams.push(start..start.saturating_add(len));
                    words
                }
                READ_REGISTERS | DUMP | NOTHING => 0,
                _ => return Err(here("an unknown action of the driver")),
            };
            let len = usize::try_from(words).unwrap_or(usize::MAX).saturating_mul(4);
            let end = at.saturating_add(4).saturating_add(len);
            if end > bytes.len() {
                return Err(here("an action is longer than the block"));
            }
            at = end;
        }
        match actions.streams.is_empty() {
            true => Err(Malformed { at: wide(bytes.len()), why: "no command stream" }),
            false => Ok(actions),
        }
    }

    /// Returns the commands of all streams.
    pub fn commands(&self, bytes: &[u8]) -> impl Iterator<Item = Result<Command, Malformed>> {
        self.streams.iter().flat_map(move |range| Words { bytes, at: range.start, end: range.end })
    }
}

/// The words of a command stream.
struct Words<'b> {
    bytes: &'b [u8],
    at: usize,
    end: usize,
}

impl Iterator for Words<'_> {
    type Item = Result<Command, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let at = wide(self.at);
        let mut word = || {
            let word = u32_at(self.bytes, self.at).filter(|_| self.at < self.end);
            self.at = self.at.saturating_add(4);
            word.ok_or(Malformed { at, why: "the stream ends inside a command" })
        };
        let command = word().and_then(|first| {
            let [_, _, low, high] = first.to_le_bytes();
            let payload = match first & MODE {
                0 => None,
                TWO_WORDS => Some(word()?),
                _ => return Err(Malformed { at, why: "an unknown kind of command" }),
            };
            let code = u16::try_from(first & CODE).unwrap_or_default();
            Ok(Command { at, code, param: u16::from_le_bytes([low, high]), payload })
        });
        if command.is_err() {
            self.at = self.end;
        }
        Some(command)
    }
}

/// The bits of the first word that say how many words a command has.
const MODE: u32 = 0xc000;

/// The mode of a command of two words.
const TWO_WORDS: u32 = 0x4000;

/// The bits of the code.
const CODE: u32 = 0x3ff;

/// The first code of a register of one word. Lower codes are operations.
const FIRST_REGISTER: u16 = 0x100;

/// The actions of the driver.
const CONFIG: u32 = 1;
const STREAM: u32 = 2;
const READ_REGISTERS: u32 = 3;
const DUMP: u32 = 4;
const NOTHING: u32 = 5;
