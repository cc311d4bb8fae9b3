//! Offsets, vtables, vectors, strings and unions: violations of FlatBuffers itself.

use pte::schema::program::desc::KernelTypes;

use super::{Case, case};
use crate::support::asm::{Asm, pte, pte_without_header};

pub(super) fn cases() -> Vec<Case> {
    [roots(), offsets(), vtables(), fields(), vectors(), strings(), unions()]
        .into_iter()
        .flatten()
        .collect()
}

fn roots() -> Vec<Case> {
    let root = |offset: u32| pte().patch("program", offset.to_le_bytes());
    let end = u32::try_from(pte().at("end")).unwrap();
    let code = "root-offset";
    vec![
        case(code, "A root that is the root offset", &root(0), "program"),
        case(code, "A root inside the file identifier", &root(4), "program"),
        case(code, "A root whose first word ends past the program", &root(end - 3), "program"),
        case(code, "A root offset of 2^32 - 1", &root(u32::MAX), "program"),
        case(code, "A file of eight bytes", &Asm::new().u32(8).bytes(b"ET12"), "start"),
    ]
}

fn offsets() -> Vec<Case> {
    let offset = |name: &str, offset: u32| pte().patch(name, offset.to_le_bytes());
    let out = "offset-out-of-bounds";
    vec![
        case("offset-null", "A vector that is its own offset", &offset("values", 0), "values"),
        case("offset-null", "An element that is its own offset", &offset("plan", 0), "plan"),
        case("offset-null", "A union's value that is its own offset", &offset("int", 0), "int"),
        case(out, "An offset of 2^32 - 1 to a vector", &offset("values", u32::MAX), "values"),
        case(out, "An offset of 2^32 - 1 to a table", &offset("plan", u32::MAX), "plan"),
        case(
            out,
            "An offset of 2^32 - 1 to a union's value",
            &offset("tensor", u32::MAX),
            "tensor",
        ),
        case(out, "A name in the bytes behind a program of 64 bytes", &small(), "name"),
        case(
            out,
            "A vector whose length ends one byte past the program",
            &pte().point("outputs", "end-3"),
            "outputs",
        ),
    ]
}

/// A program of 64 bytes whose plan has its name right behind them.
fn small() -> Asm {
    Asm::new()
        .link("program")
        .bytes(b"ET12")
        .table("program", 8, &[0, 4])
        .link("plans")
        .vector("plans", 4, 1)
        .link("plan")
        .table("plan", 8, &[4])
        .link("name")
        .align(64)
        .label("name*")
}

fn vtables() -> Vec<Case> {
    let first = |word: i32| pte().patch("plan*", word.to_le_bytes());
    let vtable =
        |distance: &str, value: u16| pte().patch(&format!("plan^{distance}"), value.to_le_bytes());
    let plan = i32::try_from(pte().at("plan*")).unwrap();
    let back = |vtable: &str| pte().point_back("plan*", vtable);
    let out = "vtable-out-of-bounds";
    let len = "vtable-length";
    vec![
        case(out, "A vtable before the first byte", &first(plan + 2), "plan*"),
        case(out, "A vtable 2^31 bytes before its table", &first(i32::MAX), "plan*"),
        case(out, "A vtable 2^31 bytes behind its table", &first(i32::MIN), "plan*"),
        case(out, "A vtable at the end of the program", &back("end"), "plan*"),
        case(out, "A vtable whose second word is past the program", &back("end-2"), "plan*"),
        case(out, "A vtable that ends past the program", &vtable("", 0x1000), "plan^"),
        case(len, "A vtable of no bytes", &vtable("", 0), "plan^"),
        case(len, "A vtable too short for its own two words", &vtable("", 2), "plan^"),
        case(len, "A vtable with half an entry", &vtable("", 7), "plan^"),
        case(len, "A table that is its own vtable", &first(0), "plan*"),
        case("vtable-misaligned", "A vtable at an odd byte", &back("plan*-1"), "plan*-1"),
        case("object-size", "A table smaller than its own first word", &vtable("+2", 3), "plan^+2"),
        case(
            "table-misaligned",
            "A table between two words",
            &pte().point("plan", "plan*+2"),
            "plan*+2",
        ),
        case(
            "table-misaligned",
            "A table between two words, whose vtable a sound one has too",
            &two_of_one_vtable(),
            "two*",
        ),
    ]
}

fn fields() -> Vec<Case> {
    let entry = |place: &str, offset: u16| pte().patch(place, offset.to_le_bytes());
    let apart = "field-misaligned";
    let out = "field-out-of-bounds";
    vec![
        case("field-offset", "A field on its table's first byte", &entry("plan^+4", 1), "plan^+4"),
        case(
            "field-offset",
            "A field on the last byte of its table's first word",
            &entry("segment^+6", 3),
            "segment^+6",
        ),
        case(apart, "A field of 4 bytes between two words", &entry("plan^+8", 10), "plan^+8"),
        case(
            apart,
            "A field of 8 bytes that no table can align",
            &entry("segment^+4", 6),
            "segment^+4",
        ),
        case(
            apart,
            "Two fields of 8 bytes of which one is always off",
            &entry("segment^+6", 12),
            "segment^+6",
        ),
        case(
            apart,
            "A table of 8-byte fields, moved by 4",
            &pte().point("segment", "segment*+4").point_back("segment*+4", "segment^"),
            "segment.offset+4",
        ),
        case(
            apart,
            "A table moved by 4 whose first number is absent: the second one is off",
            &entry("segment^+4", 0)
                .point("segment", "segment*+4")
                .point_back("segment*+4", "segment^"),
            "segment.offset+12",
        ),
        case(
            apart,
            "A table of 8-byte fields, moved by 4 and up to the last byte of the program",
            &moved_to_the_end(),
            "segment*",
        ),
        case(out, "A field 65,532 bytes into its table", &entry("plan^+8", 0xfffc), "plan*"),
        case(out, "A number whose last byte is past the program", &cut_number(), "value*"),
    ]
}

/// A program of two segments without fields, the second one between two words.
fn two_of_one_vtable() -> Asm {
    let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &[0, 0, 0, 0, 4]);
    let asm = asm.link("segments").vector("segments", 4, 2).link("one").link("two");
    let asm = asm.align(4).label("segment^").u16(4).u16(4).label("one*").back_to("segment^");
    asm.zeros(2).label("two*").back_to("segment^").zeros(2)
}

/// A program whose last table has a number 4 bytes off, and ends where the program does.
fn moved_to_the_end() -> Asm {
    let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &[0, 0, 0, 0, 4]);
    let asm = asm.link("segments").vector("segments", 4, 1).link("table");
    let asm = asm.align(8).label("segment^").u16(6).u16(12).u16(4).zeros(2);
    asm.label("table*").back_to("segment^").label("segment*").u64(0)
}

/// A program that ends inside the last field of its last table.
fn cut_number() -> Asm {
    value("Int", |asm| asm.table("value", 16, &[8]).zeros(4).label("int_val").zeros(7).label("end"))
}

/// A program of one plan with one value, a `member`, which `write` writes as `value`.
pub(super) fn value(member: &str, write: impl FnOnce(Asm) -> Asm) -> Asm {
    let tag = KernelTypes.members.iter().position(|desc| desc.name == member).unwrap() + 1;
    let asm = Asm::new()
        .link("program")
        .bytes(b"ET12")
        .table("program", 8, &[0, 4])
        .link("plans")
        .vector("plans", 4, 1)
        .link("plan")
        .table("plan", 8, &[0, 0, 4])
        .link("values")
        .vector("values", 4, 1)
        .link("evalue")
        .table("evalue", 12, &[4, 8])
        .label("tag")
        .u32(tag.try_into().unwrap())
        .link("value");
    write(asm)
}

fn vectors() -> Vec<Case> {
    let count = |name: &str, count: u32| pte().patch(name, count.to_le_bytes());
    let apart = "element-misaligned";
    let out = "vector-out-of-bounds";
    vec![
        case(out, "2^32 - 1 plans", &count("execution_plan*", u32::MAX), "execution_plan*"),
        case(
            out,
            "2^29 constants, whose bytes are 2^32, which is 0",
            &count("offsets*", 1 << 29),
            "offsets*",
        ),
        case(out, "2^31 bytes of a permutation", &count("dim_order*", 1 << 31), "dim_order*"),
        case(
            out,
            "A vector with one element too many for the program",
            &pte_without_header().patch("offsets*", 3u32.to_le_bytes()),
            "offsets*",
        ),
        case(
            "vector-misaligned",
            "A vector between two words",
            &pte().point("sizes", "sizes*+2"),
            "sizes*+2",
        ),
        case(
            "vector-misaligned",
            "A string between two words",
            &pte().point("name", "name*+1"),
            "name*+1",
        ),
        case(
            apart,
            "8-byte numbers between two of their places",
            &pte().patch("offsets*+4", 1u32.to_le_bytes()).point("offsets", "offsets*+4"),
            "offsets*+8",
        ),
    ]
}

fn strings() -> Vec<Case> {
    let text = |bytes: &[u8]| pte().patch("name*+4", bytes);
    let no_text = "string-not-utf8";
    let no_end = "string-not-terminated";
    vec![
        case(
            "string-out-of-bounds",
            "A name of 2^32 - 1 bytes",
            &pte().patch("name*", u32::MAX.to_le_bytes()),
            "name*",
        ),
        case(
            "string-out-of-bounds",
            "A name one byte longer than the program",
            &last_string().patch("text*", 5u32.to_le_bytes()),
            "text*",
        ),
        case(
            no_end,
            "A name whose zero was overwritten",
            &pte().patch("name*+11", b"!"),
            "name*+11",
        ),
        case(
            no_end,
            "A text whose zero would be the byte after the program",
            &last_string(),
            "end",
        ),
        case(no_text, "A byte that is never UTF-8", &text(b"forw\xffrd"), "name*+8"),
        case(no_text, "A character that is cut off", &text(b"forwar\xc3"), "name*+10"),
        case(no_text, "A slash in two bytes instead of one", &text(b"\xc0\xafrward"), "name*+4"),
        case(no_text, "Half of a UTF-16 pair", &text(b"\xed\xa0\x80ward"), "name*+4"),
    ]
}

/// A program that ends with the last character of its last string, which has no zero.
fn last_string() -> Asm {
    value("String", |asm| {
        asm.table("value", 8, &[4]).link("text").vector("text", 1, 4).bytes(b"text").label("end")
    })
}

fn unions() -> Vec<Case> {
    let code = "union-half";
    let entry = |place: &str| pte().patch(place, [0; 2]);
    vec![
        case(code, "A tag without a value", &entry("values[1]^+6"), "values[1].tag"),
        case(code, "A value without a tag", &entry("values[1]^+4"), "tensor"),
        case(
            code,
            "A value whose tag says that there is none",
            &pte().patch("values[1].tag", [0]),
            "values[1].tag",
        ),
        case(
            code,
            "An unknown tag without a value",
            &entry("values[1]^+6").patch("values[1].tag", [200]),
            "values[1].tag",
        ),
    ]
}
