//! Programs that list one table over and over.

use super::asm::Asm;

/// A name, the slots of the vectors that lead to the list, each of one table, and the slot of the list.
type Family = (&'static str, &'static [u16], u16);

/// A list of each table that a program may list without a bound.
pub(crate) const FAMILIES: [Family; 8] = [
    ("segment", &[], 4),
    ("named data", &[], 7),
    ("method", &[], 1),
    ("value", &[1], 2),
    ("operator", &[1], 6),
    ("delegate", &[1], 7),
    ("chain", &[1], 5),
    ("instruction", &[1, 5], 2),
];

/// A program of `size` bytes that lists one table of 4 bytes as often as a reader accepts.
pub(crate) fn program(path: &[u16], slot: u16, size: usize) -> Vec<u8> {
    let count = (size / 4 - 64).min(999_000.max(size / 16 - 64));
    let slots = path.iter().copied().chain([slot]);
    let mut asm = Asm::new().link("table 0").bytes(b"ET12");
    for (nth, slot) in slots.enumerate() {
        let is_last = nth == path.len();
        let mut places = vec![0; usize::from(slot)];
        places.push(4);
        let (name, list) = (format!("table {nth}"), format!("list {nth}"));
        let len = if is_last { count } else { 1 };
        asm = asm.table(&name, 8, &places).link(&list).vector(&list, 4, len.try_into().unwrap());
        if !is_last {
            asm = asm.link(format!("table {}", nth + 1));
        }
    }
    let mut bytes = asm.finish();
    // The table follows its vtable, which follows the list.
    let offsets = (0..count).map(|nth| u32::try_from(4 * (count - nth) + 4).unwrap());
    bytes.extend(offsets.flat_map(u32::to_le_bytes));
    bytes.extend([4, 0, 4, 0, 4, 0, 0, 0]);
    bytes.resize(size.max(bytes.len()), 0);
    bytes
}
