//! The CRC-32 of members.

/// Returns the CRC-32 of bytes, as ZIP archives have it.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u32 {
    let shift = |crc: u32, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
    let mut numbers = 0u32..;
    let table: [u32; 256] = core::array::from_fn(|_| {
        let number = numbers.next().unwrap_or_default();
        (0..8).fold(number, shift)
    });
    let step = |crc: u32, &byte: &u8| {
        let [low, ..] = crc.to_le_bytes();
        (crc >> 8) ^ table.get(usize::from(low ^ byte)).copied().unwrap_or_default()
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checksum_is_the_known_one() {
        assert_eq!(super::checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(super::checksum(b""), 0);
    }
}
