//! Small damage that depends on a seed alone: the mutations of a fuzzer, on a stable toolchain.

/// A generator of numbers that look random (Marsaglia's xorshift64).
#[derive(Clone, Debug)]
pub struct Xorshift(u64);

impl Xorshift {
    /// A generator for `seed`.
    pub fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`; 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        let number = self.next_u64().checked_rem(bound).unwrap_or_default();
        usize::try_from(number).unwrap_or_default()
    }
}

/// A copy of `bytes` with one to three damages: a flipped bit, another byte, a word at an edge, or
/// the end cut off.
pub fn mutate(bytes: &[u8], random: &mut Xorshift) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes.truncate(at),
            1 | 2 => {
                let bit = random.below(8);
                bytes[at..].iter_mut().take(1).for_each(|byte| *byte ^= 1 << bit);
            }
            3 => {
                let [byte, ..] = random.next_u64().to_le_bytes();
                bytes[at..].iter_mut().take(1).for_each(|old| *old = byte);
            }
            _ => {
                let word = EDGES[random.below(EDGES.len())].to_le_bytes();
                // Offsets and lengths lie at multiples of 4.
                let at = at & !3;
                bytes[at..].iter_mut().zip(word).for_each(|(old, byte)| *old = byte);
            }
        }
    }
    bytes
}

/// Words at which something changes: small counts, the formats' own lengths, signs and overflows.
const EDGES: [u32; 16] = [
    0,
    1,
    2,
    4,
    7,
    8,
    24,
    32,
    40,
    0x0000_ffff,
    0x0001_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fff8,
    0xffff_fffc,
    0xffff_ffff,
];
