//! Valid files with references to missing objects: the calls that resolve a reference return the error.

use pte::schema::program::view::KernelTypes;
use pte::{Error, File, Pte};

use super::every_field::{every_legacy, every_program};
use super::{Case, case_of, read};
use crate::support::asm::{Asm, ptd, pte};

pub(super) fn cases() -> Vec<Case> {
    [constants(), mutable(), sizes(), delegates(), segments()].into_iter().flatten().collect()
}

const TENSOR: &str = "program.execution_plan[0].values[4].val<Tensor>";
const PROCESSED: &str = "program.execution_plan[0].delegates[0].processed";

fn constants() -> Vec<Case> {
    let (index, out) = ("constant-index", "data-out-of-bounds");
    let offset = |offset: u64| pte().patch("offsets[1]", offset.to_le_bytes());
    let requested = |index: u32| pte().patch("data_buffer_idx", index.to_le_bytes());
    vec![
        storage(index, "A constant behind the last", requested(2), "tensor*"),
        storage(
            index,
            "Constant 999 of a program that has none",
            requested(999).patch("program^+14", [0; 2]),
            "tensor*",
        ),
        storage(
            index,
            "A constant behind the last inside the program",
            inline_constant().patch("data_buffer_idx", 2u32.to_le_bytes()),
            "tensor*",
        ),
        storage(
            out,
            "A constant 2^64 - 64 bytes into its segment",
            offset(u64::MAX - 63),
            "tensor*",
        ),
        storage(out, "A constant that ends one byte past its segment", offset(1), "tensor*"),
        storage(
            out,
            "A constant inside the program, shorter than its tensor",
            inline_constant().patch("sizes*+4", 3u32.to_le_bytes()),
            "tensor*",
        ),
    ]
}

/// An old program, whose constants are in the program FlatBuffer.
fn inline_constant() -> Asm {
    Asm::new()
        .link("program")
        .bytes(b"ET12")
        .table("program", 12, &[0, 4, 8])
        .link("plans")
        .link("constant_buffer")
        .vector("plans", 4, 1)
        .link("plan")
        .table("plan", 8, &[0, 0, 4])
        .link("values")
        .vector("values", 4, 1)
        .link("value")
        .table("value", 12, &[4, 8])
        .u32(5)
        .link("tensor")
        .table("tensor", 16, &[4, 0, 8, 0, 0, 12])
        .u32(6)
        .link("sizes")
        .label("data_buffer_idx")
        .u32(1)
        .vector("sizes", 4, 1)
        .u32(2)
        .vector("constant_buffer", 4, 2)
        .u32_to("buffer*")
        .u32_to("buffer*")
        .table("buffer", 8, &[4])
        .link("storage")
        .vector("storage", 1, 8)
        .u64(0)
}

fn mutable() -> Vec<Case> {
    let requested = |index: u32| {
        let field = format!("{TENSOR}.data_buffer_idx");
        every_program().asm.patch(&field, index.to_le_bytes())
    };
    let tensor = format!("{TENSOR}*");
    vec![
        storage("constant-index", "Initial data behind the last", requested(2), &tensor),
        storage(
            "constant-index",
            "Initial data of a program that has none",
            requested(1).patch("program^+16", [0; 2]),
            &tensor,
        ),
        storage(
            "data-out-of-bounds",
            "Initial data 2^64 - 64 bytes into its segment",
            requested(1).patch(
                "program.mutable_data_segments[0].offsets*+12",
                (u64::MAX - 63).to_le_bytes(),
            ),
            &tensor,
        ),
    ]
}

fn sizes() -> Vec<Case> {
    let code = "tensor-size";
    let sizes = |sizes: &[i32]| {
        let bytes: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
        let field = format!("{TENSOR}.data_buffer_idx");
        let asm = every_program().asm.patch(&field, 1u32.to_le_bytes());
        asm.patch(&format!("{TENSOR}.sizes*+4"), bytes)
    };
    let dtype = |asm: Asm, code: u8| asm.patch(&format!("{TENSOR}.scalar_type"), [code]);
    let tensor = format!("{TENSOR}*");
    let old = every_legacy().asm.patch("flat_tensor.tensors[0].sizes*+4", (-1i32).to_le_bytes());
    vec![
        storage(code, "A tensor of a negative size", sizes(&[-1, 2]), &tensor),
        storage(code, "A tensor of a dtype that is not known", dtype(sizes(&[1, 1]), 30), &tensor),
        storage(code, "A tensor of a negative dtype", dtype(sizes(&[1, 1]), 0xff), &tensor),
        storage(
            code,
            "A tensor whose bytes are 2^65 - 2^35 + 8",
            dtype(sizes(&[i32::MAX; 2]), 4),
            &tensor,
        ),
        storage(
            code,
            "A tensor whose bytes are 2^64, which is 0",
            dtype(sizes(&[1 << 30; 2]), 10),
            &tensor,
        ),
        entry(code, "A tensor of a negative size in an old .ptd", old, "flat_tensor.tensors[0]*"),
    ]
}

fn delegates() -> Vec<Case> {
    let processed = format!("{PROCESSED}*");
    let requested = |location: i8, index: u32| {
        let asm =
            every_program().asm.patch(&format!("{PROCESSED}.location"), location.to_le_bytes());
        asm.patch(&format!("{PROCESSED}.index"), index.to_le_bytes())
    };
    let payload = |code, attack, asm: Asm| {
        let error = with_program(&asm, |pte| {
            let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
            pte.delegate_range(plan.delegates().unwrap().get(0).unwrap()).map(drop)
        });
        case_of(code, attack, error, asm.at(&processed))
    };
    vec![
        payload(
            "delegate-data-index",
            "A payload behind the last inside the program",
            requested(0, 1),
        ),
        payload(
            "delegate-data-index",
            "A payload inside a program that holds none",
            requested(0, 0).patch("program^+10", [0; 2]),
        ),
        payload("delegate-location", "A payload where none can be", requested(2, 0)),
        payload("delegate-location", "A payload at a negative location", requested(-1, 0)),
        payload("segment-index", "A payload in segment 2^32 - 1", requested(1, u32::MAX)),
    ]
}

fn segments() -> Vec<Case> {
    let code = "segment-index";
    let other = every_program().asm;
    let none = with_program(&other, |pte| pte.segment_range(1).map(drop));
    let named = other.patch("program.named_data[0].segment_index", 1u32.to_le_bytes());
    let blob = with_program(&named, |pte| pte.named_data().next().unwrap().1.map(drop));
    vec![
        case_of(code, "A segment behind the last", none, 0),
        case_of(
            code,
            "A named blob in a segment behind the last",
            blob,
            named.at("program.named_data[0]*"),
        ),
        storage(
            code,
            "Constants in a segment behind the last",
            pte().patch("constant_segment.segment_index", 1u32.to_le_bytes()),
            "tensor*",
        ),
        entry(
            code,
            "An entry of a .ptd in a segment behind the last",
            ptd().patch("segment_index", 1u32.to_le_bytes()),
            "named*",
        ),
        entry(
            "data-out-of-bounds",
            "A tensor of one byte in an empty segment of an old .ptd",
            every_legacy().asm.patch("flat_tensor.tensors[0].sizes*+4", [1, 0, 0, 0, 1, 0, 0, 0]),
            "flat_tensor.tensors[0]*",
        ),
    ]
}

/// Resolves the storage of the only tensor of a program, and returns the error as a case.
fn storage(code: &'static str, attack: &'static str, asm: Asm, at: &str) -> Case {
    let error = with_program(&asm, |pte| {
        let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
        let tensor = plan.values().unwrap().iter().find_map(|value| match value.val() {
            Some(KernelTypes::Tensor(tensor)) => Some(tensor),
            _ => None,
        });
        pte.storage(tensor.unwrap()).map(drop)
    });
    case_of(code, attack, error, asm.at(at))
}

/// Resolves the range of the first entry of a `.ptd`, and returns the error as a case.
fn entry(code: &'static str, attack: &'static str, asm: Asm, at: &str) -> Case {
    let bytes = asm.finish();
    let Ok(File::Ptd(file)) = read(&bytes) else { panic!("{attack}: not read") };
    let error = file.entries().next().unwrap().range().expect_err(attack);
    case_of(code, attack, error, asm.at(at))
}

#[track_caller]
fn with_program(asm: &Asm, ask: impl FnOnce(&Pte<'_>) -> Result<(), Error>) -> Error {
    ask(&Pte::read(&asm.finish()).unwrap()).unwrap_err()
}
