//! Recognizes executable content by its bytes: programs, and archives and pickles that may run
//! code.
//!
//! At the start of a segment, a short magic is enough: [`begins`]. In the middle of weights, a
//! short magic occurs by chance, so [`lies`] compares more bytes. The power of 2 at each test is
//! the probability that random bytes pass it.

use pte_flat::bytes::{array_at, index, u16_at, u32_at};

/// Returns the kind of executable content that `head` begins with, by its magic.
pub(super) fn begins(head: &[u8]) -> Option<&'static str> {
    let starts = |magic: &[u8]| head.starts_with(magic);
    match head {
        _ if starts(b"\x7fELF") => Some("an ELF program or library"),
        [0xfe, 0xed, 0xfa, 0xce | 0xcf, ..] | [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..] => {
            Some("a Mach-O program or library")
        }
        _ if starts(b"\xca\xfe\xba\xbe") => Some("a Mach-O or Java program"),
        // Two letters often occur by chance. A real header also has a small offset to a second
        // header.
        [b'M', b'Z', ..] if matches!(head.get(60..64), Some([_, 0..=15, 0, 0])) => {
            Some("a Windows program or library")
        }
        _ if starts(b"PK\x03\x04") => Some("a ZIP archive"),
        _ if starts(b"\x1f\x8b\x08") => Some("a gzip stream"),
        // One of: a dict, list or tuple that is memoized as number 0; torch's old magic number; a
        // frame of less than 4 GB. Less than one random file in a billion begins so.
        [0x80, 2..=3, b'}' | b']' | b')', b'q', 0, ..]
        | [0x80, 2, 0x8a, 10, b'l', 0xfc, ..]
        | [0x80, 4..=5, 0x95, _, _, _, _, 0, 0, 0, 0, ..] => Some("a Python pickle"),
        _ if starts(b"#!/") => Some("a script"),
        _ => None,
    }
}

/// The greatest number of bytes that [`lies`] reads.
pub(super) const REACH: usize = 4096;

/// Searches `bytes` for executable content that begins before `until`. Calls `found` with its
/// offset and kind.
///
/// At one offset in five thousand, the first two bytes match by chance. Blocks without any such
/// offset are skipped by a loop without branches, which compiles to vector instructions.
pub(super) fn search(bytes: &[u8], until: usize, mut found: impl FnMut(usize, &'static str)) {
    let mut at = 0usize;
    while at < until {
        let block = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>());
        let after = bytes.get(at.saturating_add(1)..).and_then(|rest| rest.first_chunk::<BLOCK>());
        let any = match (block, after) {
            (Some(block), Some(after)) => {
                let pairs = block.iter().zip(after);
                pairs.fold(0, |any, (&a, &b)| any | u8::from(is_pair(a, b))) != 0
            }
            // The last block may be shorter than `BLOCK`. It is never skipped.
            _ => true,
        };
        let end = at.saturating_add(BLOCK).min(until);
        for at in (at..end).filter(|_| any) {
            let here = bytes.get(at..).unwrap_or_default();
            if let [a, b, ..] = *here
                && is_pair(a, b)
                && let Some(what) = lies(here)
            {
                found(at, what);
            }
        }
        at = end;
    }
}

/// The number of offsets checked at once.
const BLOCK: usize = 64;

/// Returns whether any kind that [`lies`] knows begins with these two bytes.
#[inline(always)]
fn is_pair(a: u8, b: u8) -> bool {
    // Without branches: `&` and `|`, not `&&` and `||`.
    (a == 0x7f) & (b == b'E')
        | (a == 0xfe) & (b == 0xed)
        | ((a == 0xce) | (a == 0xcf)) & (b == 0xfa)
        | (a == 0xca) & (b == 0xfe)
        | (a == b'M') & (b == b'Z')
        | (a == b'P') & (b == b'K')
        | (a == 0x1f) & (b == 0x8b)
        | (a == b'#') & (b == b'!')
        | (a == 0x80) & (b.wrapping_sub(2) <= 3)
}

/// Returns the kind of executable content that `bytes` begins with. In random bytes, each kind
/// occurs less than once in 2^46 offsets, which is 70 TB. At most [`REACH`] bytes are read.
fn lies(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x7f, ..] if is_elf(bytes) => Some("an ELF program or library"),
        [0xfe, ..] if is_mach_o(bytes, u32::from_be_bytes) => Some("a Mach-O program or library"),
        [0xce | 0xcf, ..] if is_mach_o(bytes, u32::from_le_bytes) => {
            Some("a Mach-O program or library")
        }
        [0xca, ..] if is_fat(bytes) => Some("a Mach-O program or library"),
        [0xca, ..] if is_class(bytes) => Some("a Java class"),
        [b'M', ..] if is_pe(bytes) => Some("a Windows program or library"),
        [b'P', ..] if is_zip(bytes) => Some("a ZIP archive"),
        [0x1f, ..] if is_gzip(bytes) => Some("a gzip stream"),
        [0x80, ..] if is_pickle(bytes) => Some("a Python pickle"),
        [b'#', ..] if is_script(bytes) => Some("a script"),
        _ => None,
    }
}

/// Random bytes pass with probability 2^-99: checks class, byte order, version, one of four types,
/// and the version again.
fn is_elf(bytes: &[u8]) -> bool {
    let [0x7f, b'E', b'L', b'F', 1 | 2, order @ (1 | 2), 1, ..] = *bytes else { return false };
    let (kind, version) = (array_at(bytes, 16), array_at(bytes, 20));
    let (kind, version) = match order {
        1 => (kind.map(u16::from_le_bytes), version.map(u32::from_le_bytes)),
        _ => (kind.map(u16::from_be_bytes), version.map(u32::from_be_bytes)),
    };
    matches!((kind, version), (Some(1..=4), Some(1)))
}

/// Random bytes pass with probability 2^-87: checks the magic, processor (one of seven) and file
/// type (one of twelve).
fn is_mach_o(bytes: &[u8], word: fn([u8; 4]) -> u32) -> bool {
    let word = |at| array_at(bytes, at).map(word);
    matches!(word(0), Some(0xfeed_face | 0xfeed_facf))
        && word(4).is_some_and(is_processor)
        && matches!(word(12), Some(1..=12))
}

/// Random bytes pass with probability 2^-86: checks the magic, fewer than 31 architectures, and
/// that the first one is known.
fn is_fat(bytes: &[u8]) -> bool {
    let word = |at| array_at(bytes, at).map(u32::from_be_bytes);
    matches!(word(0), Some(0xcafe_babe | 0xcafe_babf))
        && matches!(word(4), Some(1..=30))
        && word(8).is_some_and(is_processor)
}

/// Returns whether `cputype` is x86, ARM or PowerPC: of 32 bits, of 64 bits, or of 64 bits with
/// short pointers.
fn is_processor(cputype: u32) -> bool {
    matches!(cputype, 7 | 12 | 18 | 0x0100_0007 | 0x0100_000c | 0x0100_0012 | 0x0200_000c)
}

/// Random bytes pass with probability 2^-61: checks magic, version, and kind of the first constant.
fn is_class(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xca\xfe\xba\xbe")
        && matches!(bytes.get(4..8), Some([0, 0 | 3, 0, 45..=80] | [0xff, 0xff, 0, 45..=80]))
        && matches!(bytes.get(8..11), Some([hi, lo, 1 | 3..=12 | 15..=20]) if (*hi, *lo) > (0, 1))
}

/// Random bytes pass with probability 2^-81: checks the offset of the second header, its magic,
/// and the processor (one of a dozen).
fn is_pe(bytes: &[u8]) -> bool {
    let Some(at) = u32_at(bytes, 60).filter(|at| *at >= 4 && *at & 3 == 0) else { return false };
    let at = index(at);
    at.saturating_add(6) <= REACH
        && bytes.starts_with(b"MZ")
        && array_at(bytes, at) == Some(*b"PE\0\0")
        && matches!(
            u16_at(bytes, at.saturating_add(4)),
            Some(
                0x14c
                    | 0x162
                    | 0x166
                    | 0x1c0
                    | 0x1c2
                    | 0x1c4
                    | 0x200
                    | 0xebc
                    | 0x5032
                    | 0x5064
                    | 0x8664
                    | 0xa641
                    | 0xaa64
            )
        )
}

/// Random bytes pass with probability 2^-65: checks a version up to 6.3, flags and a method that
/// exist, and a printable name.
fn is_zip(bytes: &[u8]) -> bool {
    let [b'P', b'K', 3, 4, 0..=63, 0..=20, ..] = *bytes else { return false };
    let (flags, method) = (u16_at(bytes, 6), u16_at(bytes, 8));
    let len = u16_at(bytes, 26).unwrap_or_default();
    flags.is_some_and(|flags| flags & 0xd780 == 0)
        && matches!(method, Some(0 | 8 | 9 | 12 | 14 | 93 | 95 | 98 | 99))
        && (1..=1024).contains(&len)
        && u16_at(bytes, 28).is_some_and(|extra| extra <= 4096)
        && bytes.get(30..).and_then(|rest| rest.get(..len.min(64).into())).is_some_and(is_text)
}

/// Random bytes pass with probability 2^-46: checks that no flag is set except the flag of a name,
/// then the level, the system, and the name or the first block.
fn is_gzip(bytes: &[u8]) -> bool {
    let [
        0x1f,
        0x8b,
        8,
        flags @ (0 | 8),
        _,
        _,
        _,
        _,
        0 | 2 | 4,
        0 | 3 | 7 | 11 | 255,
        ref rest @ ..,
    ] = *bytes
    else {
        return false;
    };
    if flags == 0 {
        return is_deflate(rest);
    }
    let name = rest.iter().take(256).position(|byte| *byte == 0);
    name.and_then(|end| rest.get(..end)).is_some_and(|name| !name.is_empty() && is_text(name))
}

/// Returns whether a deflate stream may begin with these bytes.
///
/// A stored first block must repeat its length as the complement. A first block with fixed codes
/// must be the last one, and dynamic codes must be complete. About one stream in eight passes.
fn is_deflate(bytes: &[u8]) -> bool {
    let bit = |nth: usize| bytes.get(nth >> 3).map_or(0, |byte| byte >> (nth & 7) & 1);
    match (bytes, bytes.first().map(|first| first & 7)) {
        ([_, a, b, c, d, ..], Some(0 | 1)) => (*a, *b) == (!*c, !*d),
        (_, Some(3)) => true,
        ([a, b, _, ..], Some(4 | 5)) => {
            let number = |from: usize, bits: usize| {
                (0..bits).fold(0u32, |sum, nth| {
                    sum | u32::from(bit(from.saturating_add(nth))) << (nth & 31)
                })
            };
            let lengths = number(13, 4).saturating_add(4);
            let sum = (0..index(lengths)).fold(0u32, |sum, nth| {
                match number(nth.saturating_mul(3).saturating_add(17), 3) {
                    0 => sum,
                    bits => sum.saturating_add(0x80 >> bits),
                }
            });
            a >> 3 <= 29 && b & 31 <= 29 && sum == 0x80
        }
        _ => false,
    }
}

/// Random bytes pass with probability 2^-46: checks the protocol, and the opcodes that picklers and
/// attacks begin with.
fn is_pickle(bytes: &[u8]) -> bool {
    match *bytes {
        // A frame of less than 4 GB, which begins with a plausible opcode.
        [0x80, 4 | 5, 0x95, _, _, _, _, 0, 0, 0, 0, first, ..] => {
            first.is_ascii_graphic() || (0x88..=0x96).contains(&first)
        }
        // A global, named by two short strings.
        [0x80, 4 | 5, 0x8c, ref rest @ ..] => {
            let after = short_name(rest).and_then(|rest| rest.strip_prefix(b"\x8c"));
            after.and_then(short_name).is_some_and(|rest| rest.starts_with(b"\x93"))
        }
        // torch's old magic number.
        [0x80, 2, 0x8a, 10, b'l', 0xfc, 0x9c, 0x46, ..] => true,
        // A global, named by two lines.
        [0x80, 2 | 3, b'c', ref rest @ ..] => line(rest).and_then(line).is_some(),
        // A list, dict or tuple that is not empty. Its first item is a text, a global or a small
        // number.
        [0x80, 2 | 3, b'}' | b']' | b')', b'q', 0, ref rest @ ..] => {
            match *rest.strip_prefix(b"(").unwrap_or(rest) {
                [b'X', _, _, 0, 0, first, ..] => !first.is_ascii_control(),
                [b'c', ref rest @ ..] => line(rest).and_then(line).is_some(),
                [b'K', _, b'K', _, b'K' | b'e' | b's' | b'u' | b'X', ..] => true,
                _ => false,
            }
        }
        _ => false,
    }
}

/// Returns the bytes after a name that is preceded by its length in one byte. Skips the opcode
/// that memoizes the name, if there is one.
fn short_name(bytes: &[u8]) -> Option<&[u8]> {
    let (len, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*len))?;
    let sound = name.len() >= 2 && name.iter().all(|byte| is_name(*byte));
    sound.then(|| rest.strip_prefix(b"\x94").unwrap_or(rest))
}

/// Returns the bytes after a line that is a Python name.
fn line(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().take(128).position(|byte| !is_name(*byte))?;
    bytes.get(end..)?.strip_prefix(b"\n").filter(|_| end >= 2)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

/// Random bytes pass with probability 2^-46: checks a path with a folder, arguments, and line end.
fn is_script(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"#!/") else { return false };
    let in_path = |byte: &u8| is_name(*byte) || matches!(byte, b'/' | b'-' | b'+');
    let end = rest.iter().take(256).position(|byte| !in_path(byte)).unwrap_or_default();
    let (path, rest) = rest.split_at_checked(end).unwrap_or_default();
    // One random byte in four may be part of a path. Six of them in a row with a slash are rare.
    if path.len() < 6 || !path.contains(&b'/') {
        return false;
    }
    let line = rest.iter().take(128).position(|byte| *byte == b'\n');
    let arguments = line.and_then(|end| rest.get(..end));
    arguments.is_some_and(|rest| {
        let rest = rest.strip_suffix(b"\r").unwrap_or(rest);
        rest.is_empty() || rest.starts_with(b" ") && is_text(rest)
    })
}

/// Returns whether `bytes` has no ASCII control characters.
fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| !byte.is_ascii_control())
}
