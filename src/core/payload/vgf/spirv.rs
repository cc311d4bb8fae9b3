//! SPIR-V code: a header, and instructions of 32-bit words.

use pte_flat::cost;
use pte_flat::view::Vector;

/// An instruction of SPIR-V code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction<'p> {
    pub(super) opcode: u16,
    code: Vector<'p, u32>,
    /// The position of the first operand in the code.
    begin: usize,
    end: usize,
}

impl<'p> Instruction<'p> {
    /// Returns an operand of one word.
    pub(super) fn operand(self, nth: usize) -> Option<u32> {
        let at = self.begin.checked_add(nth).filter(|at| *at < self.end)?;
        self.code.get(at)
    }

    /// Returns the operands from `nth` on, each of one word.
    pub(super) fn operands(self, nth: usize) -> impl Iterator<Item = u32> + Clone + use<'p> {
        (self.begin.saturating_add(nth)..self.end).filter_map(move |at| self.code.get(at))
    }

    /// Returns whether the operand `nth` is a text.
    pub(super) fn has_text(self, nth: usize, text: &str) -> bool {
        cost::charge(text.len());
        let bytes = self.operands(nth).flat_map(u32::to_le_bytes);
        bytes.take_while(|byte| *byte != 0).eq(text.bytes())
    }

    /// Returns whether this is an entry point, of a shader or a graph, with a name.
    pub(super) fn is_entry(self, name: &str) -> bool {
        match self.opcode {
            ENTRY_POINT => self.has_text(2, name),
            GRAPH_ENTRY_POINT => self.has_text(1, name),
            _ => false,
        }
    }
}

/// The instructions of SPIR-V code. After an error there are no more.
pub(super) struct Instructions<'p> {
    code: Vector<'p, u32>,
    at: usize,
}

impl<'p> Instructions<'p> {
    /// Begins with the first instruction. The error describes what is wrong with the code.
    pub(super) fn of(code: Vector<'p, u32>) -> Result<Self, &'static str> {
        if code.get(0) != Some(MAGIC) || code.len() < HEADER {
            return Err("the code does not begin with a header of SPIR-V");
        }
        Ok(Self { code, at: HEADER })
    }
}

impl<'p> Iterator for Instructions<'p> {
    type Item = Result<Instruction<'p>, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        let code = self.code;
        let [low, high, length @ ..] = code.get(self.at)?.to_le_bytes();
        let length = usize::from(u16::from_le_bytes(length));
        let (begin, end) = (self.at.saturating_add(1), self.at.saturating_add(length));
        if length == 0 || end > code.len() {
            self.at = code.len();
            return Some(Err("an instruction of the code is not whole"));
        }
        self.at = end;
        let opcode = u16::from_le_bytes([low, high]);
        Some(Ok(Instruction { opcode, code, begin, end }))
    }
}

/// The first word of SPIR-V code, and the number of words of its header.
const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;

/// `OpEntryPoint` and `OpGraphEntryPointARM`.
const ENTRY_POINT: u16 = 15;
pub(super) const GRAPH_ENTRY_POINT: u16 = 4182;
