//! ZIP archives.

use std::ops::Range;

use pte::payload::archive::checksum;

/// A member of an archive: its name, its contents, and its method.
pub type Member<'m> = (&'m str, &'m [u8], u16);

/// Returns an archive as Python's `zipfile` writes it.
pub fn archive(members: &[Member<'_>]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, contents, method) in members {
        let (offset, size) = (bytes.len() as u32, contents.len() as u32);
        let mut common = [20u16, 0, *method, 0, 0].map(u16::to_le_bytes).concat();
        common.extend([checksum(contents), size, size].map(u32::to_le_bytes).concat());
        common.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), contents].concat());
        directory.extend([b"PK\x01\x02", &[20, 3][..], &common, &[0; 10]].concat());
        directory.extend([&offset.to_le_bytes(), name.as_bytes()].concat());
    }
    let (count, start) = (members.len() as u16, bytes.len() as u32);
    let size = directory.len() as u32;
    bytes.extend(directory);
    bytes.extend(end([count, count], [size, start]));
    bytes
}

/// Returns an archive as PyTorch writes it: sizes are behind the members, which begin at multiples of 64, and the end
/// is one of ZIP64.
pub fn torch(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, contents) in members {
        let (offset, size) = (bytes.len() as u32, contents.len() as u32);
        let extra = (64 - (bytes.len() + 34 + name.len()) % 64) % 64 + 4;
        let common = [0u16, 0x808, 0, 0, 0].map(u16::to_le_bytes).concat();
        bytes.extend([b"PK\x03\x04", &common[..], &[0; 12]].concat());
        bytes.extend([name.len() as u16, extra as u16].map(u16::to_le_bytes).concat());
        bytes.extend([name.as_bytes(), b"FB"].concat());
        bytes.extend((extra as u16 - 4).to_le_bytes());
        bytes.resize(bytes.len() + extra - 4, b'Z');
        let sizes = [checksum(contents), size, size].map(u32::to_le_bytes).concat();
        bytes.extend([contents, &b"PK\x07\x08"[..], &sizes].concat());
        directory.extend([&b"PK\x01\x02\0\0"[..], &common, &sizes].concat());
        directory.extend((name.len() as u32).to_le_bytes());
        directory.extend([&[0; 10][..], &offset.to_le_bytes(), name.as_bytes()].concat());
    }
    let (count, start, size) = (members.len(), bytes.len(), directory.len());
    bytes.extend(directory);
    bytes.extend(end64([count, start, size].map(|number| number as u64)));
    bytes.extend(end([count as u16; 2], [size, start].map(|number| number as u32)));
    bytes
}

fn end(counts: [u16; 2], place: [u32; 2]) -> Vec<u8> {
    let (counts, place) = (counts.map(u16::to_le_bytes), place.map(u32::to_le_bytes));
    [b"PK\x05\x06\0\0\0\0", &counts.concat()[..], &place.concat(), &[0; 2]].concat()
}

fn end64([count, start, size]: [u64; 3]) -> Vec<u8> {
    let head = [44u64, 45 << 16 | 45, 0].map(u64::to_le_bytes).concat();
    let mut bytes = [b"PK\x06\x06", &head[..8], &head[8..12], &head[16..24]].concat();
    bytes.extend([count, count, size, start].map(u64::to_le_bytes).concat());
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend((start + size).to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes
}

/// A long file, of which only parts are not zero.
pub struct Sparse {
    pub len: u64,
    parts: Vec<(u64, Vec<u8>)>,
}

impl Sparse {
    fn push(&mut self, bytes: Vec<u8>) {
        let at = self.len;
        self.len += bytes.len() as u64;
        self.parts.push((at, bytes));
    }

    /// Returns a range of the file.
    pub fn read(&self, range: Range<u64>) -> Vec<u8> {
        let mut out = vec![0; (range.end - range.start) as usize];
        for (at, bytes) in &self.parts {
            let (start, end) = (range.start.max(*at), range.end.min(at + bytes.len() as u64));
            if start < end {
                let part = &bytes[(start - at) as usize..(end - at) as usize];
                out[(start - range.start) as usize..(end - range.start) as usize]
                    .copy_from_slice(part);
            }
        }
        out
    }
}

/// Returns an archive of zeros of these sizes as Python's `zipfile` writes it: numbers of more than 31 bits are in
/// fields of ZIP64.
pub fn long(members: &[(&str, u64)]) -> Sparse {
    let mut file = Sparse { len: 0, parts: Vec::new() };
    let mut directory = Vec::new();
    let most = i32::MAX as u64;
    let short = |number: u64, wide: &mut Vec<u64>| {
        if number > most {
            wide.push(number);
            return u32::MAX;
        }
        number as u32
    };
    for (name, size) in members {
        let (offset, name) = (file.len, name.as_bytes());
        let mut wide = Vec::new();
        let [size32, packed] = [short(*size, &mut wide), short(*size, &mut wide)];
        let local = wide.clone();
        let offset32 = short(offset, &mut wide);
        let field = |wide: &[u64]| match wide.len() {
            0 => Vec::new(),
            len => {
                let numbers: Vec<u8> = wide.iter().flat_map(|wide| wide.to_le_bytes()).collect();
                [&[1, 0, 8 * len as u8, 0], &numbers[..]].concat()
            }
        };
        let (local, extra) = (field(&local), field(&wide));
        let mut common = [45u16, 0, 0, 0, 0].map(u16::to_le_bytes).concat();
        common.extend([0, packed, size32].map(u32::to_le_bytes).concat());
        let head = |extra: &[u8]| [name.len() as u16, extra.len() as u16].map(u16::to_le_bytes);
        file.push([b"PK\x03\x04", &common[..], &head(&local).concat(), name, &local].concat());
        file.len += size;
        directory.extend([b"PK\x01\x02", &[45, 3][..], &common, &head(&extra).concat()].concat());
        directory.extend([&[0; 10][..], &offset32.to_le_bytes(), name, &extra].concat());
    }
    let (start, size) = (file.len, directory.len() as u64);
    file.push(directory);
    if start > most {
        file.push(end64([members.len() as u64, start, size]));
    }
    let start = u32::try_from(start).unwrap_or(u32::MAX);
    file.push(end([members.len() as u16; 2], [size as u32, start]));
    file
}
