//! Alignment, exhaustively: the walker accepts exactly the positions that are multiples of the object's alignment.

use pte::{Ptd, Pte};

use crate::support::asm::Asm;

/// Returns whether a number of `size` bytes at `offset` of a table at `pos` is aligned.
fn sound(pos: u64, offset: u16, size: u64) -> bool {
    pos.is_multiple_of(4) && (pos + u64::from(offset)).is_multiple_of(size)
}

#[test]
fn two_fields_of_8_bytes() {
    for residue in 0..8 {
        for (one, two) in pairs(4..21) {
            let asm = Asm::new().link("program").bytes(b"ET12");
            let asm = asm.table("program", 8, &[0, 0, 0, 0, 4]).link("segments");
            let asm = asm.vector("segments", 4, 1).link("segment").align(8).label("segment^");
            let asm = asm.u16(8).u16(28).u16(one).u16(two).zeros(residue).label("segment*");
            let asm = asm.back_to("segment^").zeros(32);
            let pos = asm.at("segment*");
            // The numbers are zeros, or bytes of others where fields share them: never a segment
            // with contents.
            let expected = sound(pos, one, 8) && sound(pos, two, 8);
            let read = Pte::read(&asm.finish()).map(drop);
            assert_eq!(read.is_ok(), expected, "{residue}, {one}, {two}: {read:?}");
        }
    }
}

#[test]
fn fields_of_1_and_4_and_8_bytes() {
    // scalar_type, segment_index and offset of an old tensor.
    for residue in 0..8 {
        for (one, four) in pairs(4..13) {
            for eight in 4..21 {
                let (asm, pos) = old_tensor(residue, &[0, one, 0, 0, four, eight]);
                let expected = sound(pos, one, 1) && sound(pos, four, 4) && sound(pos, eight, 8);
                let read = Ptd::read(&asm.finish()).map(drop);
                assert_eq!(read.is_ok(), expected, "{residue}, {one}, {four}, {eight}: {read:?}");
            }
        }
    }
}

/// If a table is misaligned for its number of 8 bytes, the error names that number, and not the field in front.
#[test]
fn the_field_that_is_misaligned_is_named() {
    let mut refused = 0;
    for residue in 0..8 {
        for eight in [12, 16] {
            let (asm, pos) = old_tensor(residue, &[0, 4, 0, 0, 8, eight]);
            if !pos.is_multiple_of(4) || sound(pos, eight, 8) {
                continue;
            }
            let error = Ptd::read(&asm.finish()).map(drop).unwrap_err();
            let place = (error.code(), error.place().path().to_string(), error.offset());
            let path = "flat_tensor.tensors[0].offset".to_string();
            assert_eq!(place, ("field-misaligned", path, pos + u64::from(eight)), "{residue}");
            refused += 1;
        }
    }
    assert_eq!(refused, 2);
}

/// An old `.ptd` with one tensor of this vtable, `residue` bytes off a multiple of 8.
fn old_tensor(residue: usize, offsets: &[u16]) -> (Asm, u64) {
    let asm = Asm::new().link("flat_tensor").bytes(b"FT01").flat_tensor_header();
    let asm = asm.table("flat_tensor", 12, &[0, 0, 4, 8]).link("tensors").link("segments");
    let asm = asm.vector("tensors", 4, 1).link("tensor").vector("segments", 4, 0);
    let asm = asm.label("tensor^").u16(16).u16(28);
    let asm = offsets.iter().fold(asm, |asm, &offset| asm.u16(offset));
    let asm = asm.align(8).zeros(residue).label("tensor*").back_to("tensor^").zeros(28);
    let pos = asm.at("tensor*");
    (asm.segments(&[]), pos)
}

#[test]
fn vectors_of_1_and_4_and_8_bytes() {
    for residue in 0..8usize {
        for count in 0..2 {
            for (slots, size) in [([0, 0, 0, 4], 1), ([0, 0, 4, 0], 4)] {
                let asm = Asm::new().link("flat_tensor").bytes(b"FT01").flat_tensor_header();
                let asm = asm.table("flat_tensor", 12, &[0, 0, 4, 8]).link("tensors");
                let asm = asm.link("segments").vector("tensors", 4, 1).link("tensor");
                let asm = asm.vector("segments", 4, 0).table("tensor", 8, &slots).link("vector");
                let asm = asm.align(8).zeros(residue).label("vector*").u32(count).zeros(8);
                let expected = asm.at("vector*").is_multiple_of(4);
                let read = Ptd::read(&asm.segments(&[]).finish()).map(drop);
                assert_eq!(read.is_ok(), expected, "{residue}, {count} of {size}: {read:?}");
            }
            let asm = Asm::new().link("program").bytes(b"ET12");
            let asm = asm.table("program", 8, &[0, 0, 0, 0, 0, 4]).link("constants");
            let asm = asm.table("constants", 8, &[0, 4]).link("vector").align(8).zeros(residue);
            let asm = asm.label("vector*").u32(count).zeros(16);
            let pos = asm.at("vector*");
            let expected = pos.is_multiple_of(4) && (count == 0 || (pos + 4).is_multiple_of(8));
            let read = Pte::read(&asm.finish()).map(drop);
            assert_eq!(read.is_ok(), expected, "{residue}, {count} of 8: {read:?}");
        }
    }
}

#[test]
fn strings() {
    for residue in 0..8 {
        let asm = Asm::new().link("flat_tensor").bytes(b"FT01").flat_tensor_header();
        let asm = asm.table("flat_tensor", 12, &[0, 0, 4, 8]).link("tensors").link("segments");
        let asm = asm.vector("tensors", 4, 1).link("tensor").vector("segments", 4, 0);
        let asm = asm.table("tensor", 8, &[4]).link("name").align(8).zeros(residue);
        let asm = asm.label("name*").u32(1).bytes(b"w").zeros(8);
        let expected = asm.at("name*").is_multiple_of(4);
        let read = Ptd::read(&asm.segments(&[]).finish()).map(drop);
        assert_eq!(read.is_ok(), expected, "{residue}: {read:?}");
    }
}

#[test]
fn vtables() {
    for residue in 0..8 {
        let asm = Asm::new().link("program").bytes(b"ET12").zeros(residue).label("program^");
        let asm = asm.u16(4).u16(4).align(8).label("program*").back_to("program^");
        let expected = asm.at("program^").is_multiple_of(2);
        let read = Pte::read(&asm.finish()).map(drop);
        assert_eq!(read.is_ok(), expected, "{residue}: {read:?}");
    }
}

fn pairs(range: core::ops::Range<u16>) -> impl Iterator<Item = (u16, u16)> {
    range.clone().flat_map(move |one| range.clone().map(move |two| (one, two)))
}
