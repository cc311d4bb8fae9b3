//! ZIP archives.

/// A member of an archive: its name, its contents, and its method.
pub type Member<'m> = (&'m str, &'m [u8], u16);

/// Returns an archive as Python's `zipfile` writes it.
pub fn archive(members: &[Member<'_>]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, contents, method) in members {
        let (offset, size) = (bytes.len() as u32, contents.len() as u32);
        let mut common = [20u16, 0, *method, 0, 0].map(u16::to_le_bytes).concat();
        common.extend([0, size, size].map(u32::to_le_bytes).concat());
        common.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), contents].concat());
        directory.extend([b"PK\x01\x02", &[20, 3][..], &common, &[0; 10]].concat());
        directory.extend([&offset.to_le_bytes(), name.as_bytes()].concat());
    }
    let (count, start) = (members.len() as u16, bytes.len() as u32);
    let size = directory.len() as u32;
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count, count].map(u16::to_le_bytes).concat());
    bytes.extend([size, start].map(u32::to_le_bytes).concat());
    bytes.extend([0; 2]);
    bytes
}
