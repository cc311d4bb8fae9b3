//! The typed views: absent, empty and unknown values, and the places of data.

use pte::ptd::Generation;
use pte::schema::program::view::{ExecutionPlan, InstructionArguments, KernelTypes, Tensor};
use pte::schema::program::{DataLocation, TensorShapeDynamism};
use pte::schema::scalar::ScalarType;
use pte::{Arena, Storage};
use pte::{Ptd, Pte};

use crate::support::files::{self, name};

fn with<T>(file: &str, ask: impl FnOnce(&Pte<'_>) -> T) -> T {
    let bytes = files::read(format!("tests/data/pte/{file}")).unwrap();
    ask(&Pte::read(&bytes).unwrap())
}

fn plan<'a>(pte: &Pte<'a>) -> ExecutionPlan<'a> {
    pte.program().execution_plan().unwrap().get(0).unwrap()
}

fn tensor<'a>(pte: &Pte<'a>, index: usize) -> Tensor<'a> {
    match plan(pte).values().unwrap().get(index).unwrap().val() {
        Some(KernelTypes::Tensor(tensor)) => tensor,
        other => panic!("value {index} is {other:?}"),
    }
}

#[test]
fn a_field_that_is_absent_is_not_one_that_is_empty() {
    with("linear.pte", |pte| {
        assert!(pte.program().named_data().is_none());
        assert!(pte.program().constant_buffer().is_some_and(|buffers| buffers.is_empty()));
        assert!(tensor(pte, 0).requires_grad());
        assert_eq!(tensor(pte, 0).storage_offset(), 0, "absent, and so its default");
        assert!(tensor(pte, 0).allocation_info().is_none());
    });
}

#[test]
fn vectors_and_lists_give_their_elements() {
    with("linear.pte", |pte| {
        let plan = plan(pte);
        let inputs = plan.inputs().unwrap();
        assert_eq!((inputs.len(), inputs.get(0), inputs.get(1)), (1, Some(2), None));
        assert_eq!(inputs.get(usize::MAX), None);
        assert_eq!(inputs.iter().len(), 1);
        assert_eq!(inputs.bytes(), [2, 0, 0, 0]);
        let values = plan.values().unwrap();
        assert_eq!(values.iter().len(), values.len());
        assert_eq!(values.iter().count(), values.len());
        assert!(values.get(values.len()).is_none());
        assert!(values.get(1 << 33).is_none());
        let names: Vec<_> =
            plan.operators().unwrap().iter().map(|op| op.name().unwrap_or_default()).collect();
        assert_eq!(names, ["aten::permute_copy", "aten::addmm", "aten::relu"]);
    });
}

#[test]
fn an_iterator_knows_how_many_are_left() {
    with("linear.pte", |pte| {
        let (mut values, mut sizes) =
            (plan(pte).values().unwrap().iter(), tensor(pte, 0).sizes().unwrap().iter());
        assert!(values.len() > 2 && sizes.len() == 2);
        for left in (0..values.len()).rev() {
            assert!(values.next().is_some());
            assert_eq!((values.len(), values.clone().count()), (left, left));
        }
        for left in (0..sizes.len()).rev() {
            assert!(sizes.next().is_some());
            assert_eq!((sizes.len(), sizes.clone().count()), (left, left));
        }
        assert!(values.next().is_none() && sizes.next().is_none());
        assert_eq!((values.len(), sizes.len()), (0, 0));
    });
}

#[test]
fn enums_are_open() {
    assert_eq!(ScalarType::FLOAT.to_string(), "FLOAT");
    assert_eq!(ScalarType(8).to_string(), "8");
    assert_eq!(ScalarType(8).name(), None, "the schema has no name for it");
    assert_eq!(ScalarType(8).runtime_name(), Some("ComplexHalf"), "and the runtime does");
    assert_eq!(format!("{:>8}|", ScalarType(-1)), "      -1|");
    assert_eq!(TensorShapeDynamism(9).name(), None);
    assert_eq!(DataLocation::SEGMENT.name(), Some("SEGMENT"));
}

/// Every dtype code has the element size of the runtime, or none if the runtime refuses it.
#[test]
fn dtypes_have_the_runtime_s_sizes() {
    let sizes: Vec<_> = (0..=31).map(|code| ScalarType(code).element_size().unwrap_or(0)).collect();
    let one_two_four = [1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1, 1, 1, 1, 1, 1, 2];
    let rest = [1, 1, 1, 1, 2, 4, 8, 0, 0];
    assert_eq!(sizes, [&one_two_four[..], &rest[..]].concat());
    for code in i8::MIN..0 {
        assert_eq!(ScalarType(code).element_size(), None);
    }
}

#[test]
fn sizes_multiply_without_overflow() {
    let bytes = |sizes: &[i32]| ScalarType::FLOAT.nbytes(sizes.iter().copied());
    assert_eq!(bytes(&[]), Some(4), "a scalar");
    assert_eq!(bytes(&[2, 3]), Some(24));
    assert_eq!(bytes(&[2, 0, 3]), Some(0));
    assert_eq!(bytes(&[2, -1]), None);
    assert_eq!(bytes(&[0, -1]), None);
    assert_eq!(bytes(&[i32::MAX, i32::MAX]), Some((i32::MAX as u64).pow(2) * 4));
    assert_eq!(bytes(&[i32::MAX, i32::MAX, 2]), None, "elements that fit, and bytes that do not");
    assert_eq!(bytes(&[i32::MAX, i32::MAX, 3]), None, "elements that no signed number counts");
    assert_eq!(ScalarType::BYTE.nbytes([i32::MAX, i32::MAX, 3]), None);
    assert_eq!(
        ScalarType::BYTE.nbytes([i32::MAX, i32::MAX, 2]),
        Some((i32::MAX as u64).pow(2) * 2)
    );
    assert_eq!(bytes(&[0, i32::MAX, i32::MAX, i32::MAX]), Some(0), "nothing, however often");
    assert_eq!(bytes(&[i32::MAX, i32::MAX, 0]), Some(0));
    assert_eq!(bytes(&[i32::MAX, i32::MAX, i32::MAX, 0]), None, "an overflow that a zero hides");
    assert_eq!(ScalarType(30).nbytes([1]), None);
}

#[test]
fn instructions_are_what_they_are() {
    with("cond.pte", |pte| {
        let chain = plan(pte).chains().unwrap().get(0).unwrap();
        let kinds: Vec<_> = chain
            .instructions()
            .unwrap()
            .iter()
            .map(|instruction| instruction.instr_args().unwrap().name().unwrap())
            .collect();
        assert!(kinds.contains(&"JumpFalseCall") && kinds.contains(&"MoveCall"), "{kinds:?}");
        let jump = chain.instructions().unwrap().iter().find_map(|i| match i.instr_args() {
            Some(InstructionArguments::JumpFalseCall(jump)) => Some(jump),
            _ => None,
        });
        let target = jump.unwrap().destination_instruction();
        assert!(target > 0 && target as usize <= kinds.len());
    });
}

/// Each row of format.md §6.1.
#[test]
fn storage_is_reported_apart() {
    with("linear.pte", |pte| {
        assert_eq!(pte.storage(tensor(pte, 1)), Ok(Storage::Constant(0x700..0x710)));
        let place = Arena { memory_id: 1, offset: 128 };
        assert_eq!(pte.storage(tensor(pte, 2)), Ok(Storage::Planned { place, initial: None }));
    });
    with("v0.2.0_inline_const.pte", |pte| {
        let Ok(Storage::Constant(range)) = pte.storage(tensor(pte, 0)) else { panic!("inline") };
        assert!(range.end <= pte.region().len() as u64, "inside the FlatBuffers part");
        assert!(pte.header().is_none());
    });
    with("v0.6.0_mutable_init.pte", |pte| {
        let place = Arena { memory_id: 1, offset: 48 };
        let found = pte.storage(tensor(pte, 0)).unwrap();
        assert_eq!(found, Storage::Planned { place, initial: Some(0x780..0x78c) });
    });
    with("external_all.pte", |pte| {
        let keys: Vec<_> = (0..plan(pte).values().unwrap().len())
            .filter_map(|nth| match plan(pte).values()?.get(nth)?.val()? {
                KernelTypes::Tensor(tensor) => match pte.storage(tensor).unwrap() {
                    Storage::External { key, place: None } => key,
                    _ => None,
                },
                _ => None,
            })
            .collect();
        assert!(keys.contains(&"ls.0.weight"), "{keys:?}");
    });
    with("mem_noio.pte", |pte| {
        let inputs = plan(pte).inputs().unwrap();
        let input = tensor(pte, inputs.get(0).unwrap() as usize);
        assert_eq!(pte.storage(input), Ok(Storage::Unbound));
    });
}

#[test]
fn generations_are_reported_apart() {
    let reported: Vec<_> = files::samples()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptd"))
        .map(|path| {
            let bytes = files::read(&path).unwrap();
            (name(&path), Ptd::read(&bytes).unwrap().generation())
        })
        .collect();
    for (file, generation) in &reported {
        let expected = match file {
            file if file.starts_with("vgen1a") => Generation::Zero,
            file if file.starts_with("vgen1b") => Generation::One,
            file if file.starts_with("vgen2") || file.starts_with("v0.6") => Generation::Two,
            _ => Generation::Three,
        };
        assert_eq!(*generation, expected, "{file}");
    }
    for generation in [Generation::Zero, Generation::One, Generation::Two, Generation::Three] {
        assert!(reported.iter().any(|(_, other)| *other == generation), "{generation}");
    }
}

/// The same tensors, written by three generations, read as the same entries.
#[test]
fn one_view_shows_every_generation() {
    let entries = |file: &str| {
        let bytes = files::read(format!("tests/data/ptd/{file}")).unwrap();
        let ptd = Ptd::read(&bytes).unwrap();
        let rows: Vec<_> = ptd
            .entries()
            .filter_map(|entry| {
                let layout = entry.layout()?;
                let data = ptd.bytes(entry.range().unwrap()).unwrap().to_vec();
                let sizes: Vec<_> = layout.sizes.unwrap().iter().collect();
                Some((entry.key()?.to_string(), layout.scalar_type, sizes, data))
            })
            .collect();
        rows
    };
    let newest = entries("v0.7.0_ptd_direct_16.ptd");
    assert_eq!(newest.len(), 6);
    for older in
        ["v0.6.0_ptd_direct_16.ptd", "vgen1b_ptd_direct_16.ptd", "vgen1a_ptd_direct_16.ptd"]
    {
        assert_eq!(entries(older), newest, "{older}");
    }
}

#[test]
fn a_file_of_the_other_kind_is_named() {
    let (pte, ptd) = ("tests/data/pte/linear.pte", "tests/data/ptd/ptd_basic.ptd");
    let error = Pte::read(&files::read(ptd).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "expected a .pte file, found a .ptd file");
    let error = Ptd::read(&files::read(pte).unwrap()).unwrap_err();
    assert_eq!(error.code(), "wrong-kind");
}

/// The hidden characters are Unicode's Default_Ignorable_Code_Point (4,174 code points), spaces,
/// line separators, format characters, and code points without a character.
#[test]
fn every_character_that_is_not_seen_is_known() {
    let is_hidden = |c: &char| !pte::quoted::is_harmless(*c);
    let ignorable = [
        '\u{ad}'..='\u{ad}',
        '\u{34f}'..='\u{34f}',
        '\u{61c}'..='\u{61c}',
        '\u{115f}'..='\u{1160}',
        '\u{17b4}'..='\u{17b5}',
        '\u{180b}'..='\u{180f}',
        '\u{200b}'..='\u{200f}',
        '\u{202a}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
        '\u{3164}'..='\u{3164}',
        '\u{fe00}'..='\u{fe0f}',
        '\u{feff}'..='\u{feff}',
        '\u{ffa0}'..='\u{ffa0}',
        '\u{fff0}'..='\u{fff8}',
        '\u{1bca0}'..='\u{1bca3}',
        '\u{1d173}'..='\u{1d17a}',
        '\u{e0000}'..='\u{e0fff}',
    ];
    assert_eq!(ignorable.iter().cloned().flatten().filter(is_hidden).count(), 4174);
    for c in "\u{a0}\u{1680}\u{2000}\u{200a}\u{2028}\u{202f}\u{205f}\u{3000}\u{fffb}\u{2800}\
              \u{1d159}\u{fffc}\u{e000}\u{10fffd}\u{e1000}\u{40000}\u{9}\u{1b}\u{9b}"
        .chars()
    {
        assert!(is_hidden(&c), "{}", c.escape_unicode());
    }
    for c in ['\u{fffd}', '\u{2070}', '\u{17b6}', '\u{301}', ' ', '~', 'é', '名', '🎉'] {
        assert!(!is_hidden(&c), "{}", c.escape_unicode());
    }
}
