//! Programs that list one table over and over; the tests take them too.

/// The table's name, the slots of the vectors that lead to the list, each of one table, and the slot of
/// the list.
type Family = (&'static str, &'static [u16], u16);

/// A list of each table that a program may list without a bound.
pub const FAMILIES: [Family; 8] = [
    ("segment", &[], 4),
    ("named data", &[], 7),
    ("method", &[], 1),
    ("value", &[1], 2),
    ("operator", &[1], 6),
    ("delegate", &[1], 7),
    ("chain", &[1], 5),
    ("instruction", &[1, 5], 2),
];

/// Makes a program of `size` bytes that lists one table of 4 bytes as often as a reader accepts
/// (`pte::Limits`). `path` are the slots of the vectors that lead to the list, and `slot` is its own.
pub fn program(path: &[u16], slot: u16, size: usize) -> Vec<u8> {
    program_of(path, slot, size, size / 16 - 64)
}

/// Makes a program of `size` bytes that lists one table of 4 bytes `count` times.
pub fn program_of(path: &[u16], slot: u16, size: usize, count: usize) -> Vec<u8> {
    let mut out = b"\0\0\0\0ET12".to_vec();
    // The place of the offset to the next table.
    let mut from = 0;
    for &slot in path {
        table(&mut out, from, slot, 1);
        from = out.len();
        out.extend([0; 4]);
    }
    table(&mut out, from, slot, count);
    let first = out.len();
    out.resize(first + 4 * count + 4, 0);
    let target = out.len();
    // The vtable is in front of the table: it has no fields, and the table no more than 4 bytes.
    out[target - 4..].copy_from_slice(&[4, 0, 4, 0]);
    out.extend(4u32.to_le_bytes());
    (0..count).for_each(|nth| lead(&mut out, first + 4 * nth, target));
    out.resize(size.max(out.len()), 0);
    out
}

/// Appends a table with one field, a vector of `count` offsets, which the caller writes next. The offset
/// at `from` leads to it.
pub fn table(out: &mut Vec<u8>, from: usize, slot: u16, count: usize) {
    out.resize(out.len().next_multiple_of(4), 0);
    let vtable = out.len();
    let len = 4 + 2 * (slot + 1);
    out.extend([len, 8].map(u16::to_le_bytes).as_flattened());
    out.resize(vtable + usize::from(len) - 2, 0);
    out.extend(4u16.to_le_bytes());
    out.resize(out.len().next_multiple_of(4), 0);
    let target = out.len();
    lead(out, from, target);
    out.extend(((target - vtable) as u32).to_le_bytes());
    out.extend(4u32.to_le_bytes());
    out.extend((count as u32).to_le_bytes());
}

/// Writes the offset at `from` that leads to `target`.
pub fn lead(out: &mut [u8], from: usize, target: usize) {
    out[from..from + 4].copy_from_slice(&((target - from) as u32).to_le_bytes());
}
