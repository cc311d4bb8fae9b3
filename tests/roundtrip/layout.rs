//! The layout of written files.

use pte::Pte;
use pte::flat::tree::{FieldValue, Object};
use pte::flat::view::Table;
use pte::flat::write::{WriteError, WriterLayout, write};
use pte::schema::program::desc;
use serde_json::json;

use super::{layout_findings, program, value, written};
use crate::support::asm::Asm;
use crate::support::build::assemble;

/// The whole layout of a small tree, byte by byte.
#[test]
fn a_tree_has_this_layout() {
    let tree = program(
        r#"{"version": 0, "segments": [{"size": 7}, {"size": 8}], "execution_plan": [{
            "name": "f", "inputs": [], "values": [{"val_type": "Bool", "val": {"bool_val": true}}]
        }]}"#,
    );
    let want = Asm::new()
        .link("root")
        .bytes(b"ET12")
        // The root's vtable is directly in front of the root.
        .zeros(6)
        .label("root^")
        .u16(14)
        .u16(12)
        // The field of the last slot is the first in the table.
        .bytes([0, 0, 8, 0, 0, 0, 0, 0, 4, 0])
        .label("root*")
        .back_to("root^")
        .link("segments")
        .link("plans")
        .vector("segments", 4, 2)
        .link("one")
        .link("other")
        .label("other^")
        .u16(8)
        // The padding of an 8-byte field is a part of its table.
        .u16(16)
        .bytes([0, 0, 4, 0])
        .label("other*")
        .back_to("other^")
        .u64(8)
        .zeros(4)
        .label("one^")
        .u16(8)
        .u16(12)
        .bytes([0, 0, 4, 0])
        .label("one*")
        .back_to("one^")
        .u64(7)
        .vector("plans", 4, 1)
        .link("plan")
        .label("plan^")
        .u16(12)
        .u16(16)
        .bytes([12, 0, 0, 0, 8, 0, 4, 0])
        .label("plan*")
        .back_to("plan^")
        .link("inputs")
        .link("values")
        .link("name")
        .vector("inputs", 4, 0)
        .vector("values", 4, 1)
        .link("value")
        .label("value^")
        .u16(8)
        .u16(10)
        .bytes([9, 0, 4, 0])
        .label("value*")
        .back_to("value^")
        .link("bool")
        .zeros(1)
        .u8(3)
        .label("bool^")
        .u16(6)
        .u16(8)
        .bytes([7, 0])
        .label("bool*")
        .back_to("bool^")
        .zeros(3)
        .u8(1)
        .string("name", "f")
        .zeros(2);
    assert_eq!(want.at("one*") % 8, 4, "the zeros were counted");
    assert_eq!(want.at("other*") % 8, 4);
    assert_eq!(written(&desc::SCHEMA, &tree), want.finish());
}

#[test]
fn equal_vtables_are_one() {
    let tree = program(
        r#"{"segments": [{"offset": 1, "size": 2}, {"offset": 3, "size": 4}, {"size": 4}],
            "constant_buffer": [{"storage": [1]}], "backend_delegate_data": [{"data": [1]}]}"#,
    );
    let bytes = assemble(&desc::SCHEMA, &tree, &json!({}), &[0; 16], 16);
    let pte = Pte::read(&bytes).unwrap();
    let vtable = |pos: u32| {
        let back = bytes[pos as usize..][..4].try_into().map(i32::from_le_bytes).unwrap();
        pos.checked_add_signed(-back).unwrap()
    };
    let segments = pte.program().segments().unwrap();
    let [one, other, half] = [0, 1, 2].map(|nth| vtable(segments.get(nth).unwrap().raw().pos()));
    assert_eq!(one, other);
    assert_ne!(one, half);
    let buffer = pte.program().constant_buffer().unwrap().get(0).unwrap();
    let inline = pte.program().backend_delegate_data().unwrap().get(0).unwrap();
    assert_eq!(vtable(buffer.raw().pos()), vtable(inline.raw().pos()), "also of two types");
}

/// A string of increasing length in front shifts the rest through every alignment.
#[test]
fn elements_are_aligned_wherever_they_come_to_lie() {
    for len in 0..64 {
        for chunk in [0, 16, 48] {
            let name = "x".repeat(len);
            let text = format!(
                r#"{{"execution_plan": [{{"name": "{name}", "values": [
                    {{"val_type": "DoubleList", "val": {{"items": [1, 2]}}}},
                    {{"val_type": "DoubleList", "val": {{"items": []}}}},
                    {{"val_type": "IntList", "val": {{"items": []}}}},
                    {{"val_type": "TensorList", "val": {{"items": [1]}}}},
                    {{"val_type": "Int", "val": {{"int_val": 1}}}}
                ], "non_const_buffer_sizes": [0, 1]}}],
                "constant_buffer": [{{"storage": []}}, {{"storage": [1]}}, {{"storage": [2, 3]}}],
                "backend_delegate_data": [{{"data": [4]}}]}}"#
            );
            let bytes =
                write(&desc::SCHEMA, &program(&text), &vec![0; chunk], &WriterLayout::default())
                    .unwrap();
            // The walker refuses misaligned objects, except for empty vectors.
            let pte = Pte::read(&bytes).unwrap();
            assert_eq!(layout_findings(&bytes), Vec::<String>::new());
            let root = pte.program();
            let storages = root.constant_buffer().into_iter().flatten().map(|b| b.storage());
            let blobs = root.backend_delegate_data().into_iter().flatten().map(|b| b.data());
            let mut seen = 0;
            for blob in storages.chain(blobs).flatten().filter(|blob| !blob.is_empty()) {
                assert_eq!(blob.pos() % 16, 0, "force_align, after {len} bytes");
                seen += 1;
            }
            assert_eq!(seen, 3);
        }
    }
}

#[test]
fn defaults_are_left_out() {
    let bytes = |member, inside| written(&desc::SCHEMA, &program(&value(member, inside)));
    let tensor = r#"{"scalar_type": "BYTE", "storage_offset": 0, "requires_grad": false,
        "data_buffer_idx": 0, "layout": 0, "shape_dynamism": "STATIC"}"#;
    assert_eq!(bytes("Tensor", tensor), bytes("Tensor", "{}"));
    assert_eq!(bytes("Int", "{\"int_val\": 0}"), bytes("Int", "{}"));
    assert_eq!(bytes("Bool", "{\"bool_val\": false}"), bytes("Bool", "{}"));
    assert_eq!(bytes("Double", "{\"double_val\": 0}"), bytes("Double", "{}"));
    for (member, inside) in [
        ("Double", "{\"double_val\": -0.0}"),
        ("Tensor", "{\"sizes\": []}"),
        ("String", "{\"string_val\": \"\"}"),
    ] {
        assert_ne!(bytes(member, inside), bytes(member, "{}"), "{inside} is not nothing");
    }
}

#[test]
fn a_chunk_moves_what_follows_it_and_nothing_else() {
    let bytes = crate::support::files::read("tests/data/pte/args_custom_op_all_kinds.pte").unwrap();
    let (schema, text) = super::dump(&bytes);
    let tree = super::load(&text, schema).unwrap();
    let without = write(schema, &tree, &[], &WriterLayout::default()).unwrap();
    for len in [16, 32, 48, 128, 4096] {
        let chunk = vec![0xab; len];
        let with = write(schema, &tree, &chunk, &WriterLayout::default()).unwrap();
        let root = u32::from_le_bytes(without[..4].try_into().unwrap()) + len as u32;
        assert_eq!(with[..4], root.to_le_bytes());
        assert_eq!(with[4..8], without[4..8]);
        assert_eq!(with[8..8 + len], chunk);
        assert_eq!(with[8 + len..], without[8..]);
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let error =
        write(&desc::SCHEMA, &Object::new(&desc::Null), &[], &WriterLayout::default()).unwrap_err();
    assert_eq!(error.to_string(), "wrong root table: expected Program, found Null");
    // Untouched zeros take no memory.
    for len in [1 << 31, (1 << 31) - 1] {
        let mut buffer = Object::new(&desc::Buffer);
        buffer.set("storage", FieldValue::Scalars(vec![0; len].into())).unwrap();
        let mut tree = Object::new(&desc::Program);
        tree.set("constant_buffer", FieldValue::Tables(vec![buffer])).unwrap();
        let error = write(&desc::SCHEMA, &tree, &[], &WriterLayout::default());
        let error = error.map(|bytes| bytes.len()).unwrap_err();
        assert_eq!(error, WriteError::TooLarge);
        assert_eq!(error.to_string(), "the tables take more than 2147483647 bytes");
    }
}
