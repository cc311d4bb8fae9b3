//! Small files that describe huge trees: a shared table is charged at each visit.

use pte::schema::program::view::KernelTypes;
use pte::tensors::TensorRow;
use pte::{Error, File, Limits, PathComponent, Pte};

use super::{Case, case};
use crate::support::asm::Asm;
use crate::support::build;

pub(super) fn cases() -> Vec<Case> {
    let code = "work-limit";
    vec![
        case(
            code,
            "A plan of a thousand chains, a thousand times; 10^9 instructions",
            &bomb(1000),
            "instructions*",
        ),
        case(code, "A name of 4,000 bytes that a thousand plans share", &long_name(), "name*"),
    ]
}

/// `n` times the same plan, with `n` times the same chain, with `n` times the same instruction.
fn bomb(n: u32) -> Asm {
    let many = |asm: Asm, name: &str, to: &str| {
        (0..n).fold(asm.vector(name, 4, n), |asm, _| asm.u32_to(to))
    };
    let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &[0, 4]).link("plans");
    let asm = many(asm, "plans", "plan*").table("plan", 8, &[0, 0, 0, 0, 0, 4]).link("chains");
    let asm = many(asm, "chains", "chain*").table("chain", 8, &[0, 0, 4]).link("instructions");
    many(asm, "instructions", "instruction*")
        .table("instruction", 12, &[4, 8])
        .u32(3)
        .link("move")
        .table("move", 12, &[4, 8])
        .zeros(8)
}

/// The cost of [`bomb`]: at each visit, 4 bytes for each list and 16 for each table in it.
fn cost(n: u64) -> u64 {
    let instructions = 4 + n * 16;
    let chains = 4 + n * (16 + instructions);
    4 + n * (16 + chains)
}

fn long_name() -> Asm {
    let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &[0, 4]).link("plans");
    (0..1000)
        .fold(asm.vector("plans", 4, 1000), |asm, _| asm.u32_to("plan*"))
        .table("plan", 8, &[4])
        .link("name")
        .string("name", [b'x'; 4000])
}

#[test]
fn sharing_is_cut_off_after_a_fixed_number_of_steps() {
    for n in [10, 100, 1000] {
        let bytes = bomb(n).finish();
        let error = Pte::read(&bytes).unwrap_err();
        assert_eq!(error.code(), "work-limit");
        // The number of instructions before the last visited one, by its path. It shows visits over
        // the budget, on a slow machine too.
        let visited = indices(&error).fold(0, |visited, index| visited * u64::from(n) + index);
        let budget = bytes.len() as u64 * u64::from(Limits::UNTRUSTED.amplification);
        assert!(visited > 0 && visited * 16 <= budget, "{visited} of {budget} for {n}");
    }
}

fn indices(error: &Error) -> impl Iterator<Item = u64> {
    error.path().filter_map(|step| match step {
        PathComponent::Index(index) => Some(index.into()),
        _ => None,
    })
}

#[test]
fn the_limit_is_exact() {
    for n in 1..16 {
        let bytes = bomb(n).finish();
        let least = cost(n.into()).div_ceil(bytes.len() as u64);
        let limits = |amplification: u64| Limits {
            amplification: amplification.try_into().unwrap(),
            ..Limits::UNTRUSTED
        };
        assert!(Pte::read_with(&bytes, &limits(least)).is_ok(), "{n} with {least}");
        let error = Pte::read_with(&bytes, &limits(least - 1)).unwrap_err();
        assert_eq!(error.code(), "work-limit", "{n} with {least} - 1");
    }
}

/// Vectors that flatc does not align are charged too.
#[test]
fn empty_vectors_cost_what_their_length_does() {
    let n = 1000;
    let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &[0, 4]);
    let asm = asm.link("plans").vector("plans", 4, 1).link("plan");
    let asm = asm.table("plan", 8, &[0, 0, 4]).link("values").vector("values", 4, n);
    let asm = (0..n).fold(asm, |asm, _| asm.u32_to("value*")).table("value", 12, &[4, 8]);
    let asm = asm.u32(7).link("list").table("list", 8, &[4]).link("items");
    let asm = asm.label("items*").u32(0);
    assert_eq!(asm.at("items*") % 8, 0, "and so its elements are not");
    let bytes = asm.finish();
    let (lists, vectors) = (4 + 16 + 4 + 16 * u64::from(n), 4 * u64::from(n));
    let least = (lists + vectors).div_ceil(bytes.len() as u64);
    assert!(lists <= (least - 1) * bytes.len() as u64, "the vectors decide");
    let read = |amplification: u64| {
        let amplification = amplification.try_into().unwrap();
        Pte::read_with(&bytes, &Limits { amplification, ..Limits::UNTRUSTED }).map(drop)
    };
    assert!(read(least).is_ok());
    assert_eq!(read(least - 1).unwrap_err().code(), "work-limit");
}

/// Each element of a list is a table to prove and to judge. The limit is one for each 16 bytes, or 4,096 if that is
/// more.
#[test]
fn lists_of_shared_tables_are_bounded_by_their_elements_too() {
    let plans = |count: u32, idle: usize| {
        let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &[0, 4]);
        let asm = asm.link("plans").vector("plans", 4, count);
        let asm = (0..count).fold(asm, |asm, _| asm.u32_to("plan*"));
        let asm = asm.table("plan", 8, &[0, 0, 0, 0, 0, 4]).link("chains").vector("chains", 4, 63);
        let asm = (0..63).fold(asm, |asm, _| asm.u32_to("chain*"));
        asm.table("chain", 4, &[]).zeros(idle).finish()
    };
    for (elements, idle) in [(4096, 20_000), (6400, 102_400)] {
        assert!(Pte::read(&plans(elements / 64, idle)).is_ok(), "{elements}");
        let error = Pte::read(&plans(elements / 64 + 2, idle)).unwrap_err();
        assert_eq!(error.code(), "work-limit", "{elements}");
        assert!(error.to_string().contains("tables in lists"), "{error}");
    }
}

/// With more vtables than the cache holds, the last vtable is charged like the first.
#[test]
fn every_one_of_a_thousand_vtables_is_proven() {
    let segments = |wrong: Option<u32>| {
        let asm = Asm::new().link("program").bytes(b"ET12").table("program", 8, &[0, 0, 0, 0, 4]);
        let asm = asm.link("segments").vector("segments", 4, 1000);
        let asm = (0..1000).fold(asm, |asm, nth| asm.link(format!("segments[{nth}]")));
        let asm = (0..1000).fold(asm, |asm, nth| {
            let offsets = if wrong == Some(nth) { [8, 12] } else { [8, 16] };
            asm.table(&format!("segments[{nth}]"), 24, &offsets).zeros(20)
        });
        asm.finish()
    };
    assert!(Pte::read(&segments(None)).is_ok());
    for nth in [0, 1, 127, 128, 129, 500, 999] {
        let error = Pte::read(&segments(Some(nth))).unwrap_err();
        let place = format!("program.segments[{nth}].size");
        assert_eq!((error.code(), error.place().path().to_string()), ("field-misaligned", place));
    }
}

/// A vtable that is valid for one type of table may be invalid for another.
#[test]
fn a_vtable_is_proven_for_each_type_that_uses_it() {
    let asm = crate::support::asm::pte().point_back("constant_segment*", "segment^");
    let wild = asm.clone().patch("constant_segment*+16", u32::MAX.to_le_bytes());
    let error = Pte::read(&wild.finish()).unwrap_err();
    assert_eq!(error.place().path().to_string(), "program.constant_segment.offsets");
    assert_eq!(error.offset(), asm.at("constant_segment*+16"));
}

/// Many tensors may share a list of sizes: one that no runtime loads is not multiplied for each of them.
#[test]
fn a_tensor_of_more_than_16_sizes_has_no_size_in_bytes() {
    let bytes_of = |rank: usize| {
        let sizes = vec!["1"; rank].join(",");
        let bytes = build::file(&format!(
            r#"{{"root": {{"segments": [], "execution_plan": [{{"name": "forward", "values": [
                {{"val_type": "Tensor", "val": {{"scalar_type": "FLOAT", "sizes": [{sizes}],
                    "allocation_info": {{"memory_id": 1}}}}}},
                {{"val_type": "Tensor", "val": {{"scalar_type": "FLOAT", "sizes": [{sizes}],
                    "data_buffer_idx": 1}}}}]}}]}}}}"#
        ));
        let pte = Pte::read(&bytes).unwrap();
        let values = pte.program().execution_plan().unwrap().get(0).unwrap().values().unwrap();
        let Some(KernelTypes::Tensor(constant)) = values.get(1).unwrap().val() else { panic!() };
        let stored = pte.storage(constant).unwrap_err().code();
        let file = File::Pte(pte);
        (TensorRow::all(&file).next().unwrap().bytes(), stored)
    };
    assert_eq!(bytes_of(16), (Some(4), "constant-index"));
    assert_eq!(bytes_of(17), (None, "tensor-size"));
}
