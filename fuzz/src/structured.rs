//! The oracles that begin with a valid program: `relayout`, `corrupt`, `check` and `edit`.

use arbitrary::{Result, Unstructured};
use pte::Check;
use pte::Storage;
use pte::check::{Report, Severity};
use pte::flat::write::WriterLayout;
use pte::model::{External, PtdModel};
use pte::schema::program::desc::SCHEMA;
use pte::schema::program::view::KernelTypes;
use pte::{Limits, model};

use crate::places::{What, places};
use crate::{agree, chaos, container, defects, smith, sound, verify};

/// Any legal layout of a program is accepted, and is the same model. What this refuses is a false
/// refusal, which no damage could show.
pub fn relayout(bytes: &[u8]) {
    let _ = relay(&mut Unstructured::new(bytes));
}

fn relay(random: &mut Unstructured<'_>) -> Result<()> {
    let mut model = smith::program(random)?;
    for layout in WriterLayout::ALL {
        let force_align = *random.choose(&[None, Some(1), Some(64), Some(4096)])?;
        model.container.layout = WriterLayout { force_align, ..layout };
        let bytes = image(&model);
        let read = accepted(&bytes);
        assert!(is_same(&read, &model), "in the layout {}", layout.name);
        assert!(read.unknown.is_none(), "nothing is unknown");
    }
    let (bytes, unknown) = chaos::program(&model, random)?;
    let read = accepted(&bytes);
    assert!(is_same(&read, &model), "in disorder");
    assert_eq!((read.unknown.fields, read.unknown.members), (unknown, 0), "what is not known");
    for (read, written) in read.segments.iter().zip(&model.segments) {
        assert_eq!(read.to_bytes().ok(), written.to_bytes().ok(), "a segment");
    }
    agree(&bytes);
    assert!(bytes.len() < 64 || pte_tests::sound::is_sound(&bytes), "{}", report(&bytes));
    Ok(())
}

fn is_same(read: &model::PteModel<'_>, written: &model::PteModel<'_>) -> bool {
    // Numbers that are none are equal as texts alone.
    read.root == written.root || format!("{:?}", read.root) == format!("{:?}", written.root)
}

/// A valid program with one to four damages, each to something that the declarations know: refused,
/// or read like any other file.
pub fn corrupt(bytes: &[u8]) {
    if let Ok(bytes) = damaged(&mut Unstructured::new(bytes)) {
        container(&bytes);
        verify(&bytes);
        agree(&bytes);
        pte_tests::sound::is_sound(&bytes);
    }
}

/// A valid program with one to four damages.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn damaged(random: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let damages = random.int_in_range(1..=4)?;
    let disorder: bool = random.arbitrary()?;
    let choices: Vec<(u32, u8, u64)> =
        (0..damages).map(|_| random.arbitrary()).collect::<Result<_>>()?;
    let model = smith::program(random)?;
    let mut bytes = if disorder { chaos::program(&model, random)?.0 } else { image(&model) };
    let size = pte::Pte::read(&bytes).map_or(0, |pte| pte.region().len());
    let places = places(&bytes[..size], SCHEMA.root);
    for (which, how, value) in choices {
        let place = places[which as usize % places.len()];
        let other = places[value as usize % places.len()];
        damage(&mut bytes, place.at, place.what, how, value, other.at);
    }
    Ok(bytes)
}

/// Does one damage to the bytes at a place; `how` chooses the kind.
pub(crate) fn damage(bytes: &mut [u8], at: usize, what: What, how: u8, value: u64, other: usize) {
    let size = match what {
        What::Offset | What::Back | What::Count => 4,
        What::Size | What::Slot => 2,
        What::Tag | What::Text => 1,
        What::Number(size) => size,
    };
    let old =
        bytes[at..at + size].iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    let new = match (what, how % 8) {
        // To something of another kind, in front or behind.
        (What::Offset, 0..=3) => (other as u64).wrapping_sub(at as u64),
        (What::Back, 0..=3) => (at as u64).wrapping_sub(other as u64),
        (_, 0) => old.wrapping_add(1),
        (_, 1) => old.wrapping_sub(1),
        (_, 2) => old.wrapping_add(4),
        (_, 3) => 0,
        (_, 4) => u64::MAX,
        (_, 5) => i64::MAX as u64 >> (64 - 8 * size),
        (_, 6) => value % 16,
        _ => value,
    };
    bytes[at..at + size].copy_from_slice(&new.to_le_bytes()[..size]);
}

/// A valid program breaks no rule of severity Error; with one defect it breaks that one's rule.
pub fn check(bytes: &[u8]) {
    let _ = judge(&mut Unstructured::new(bytes));
}

fn judge(random: &mut Unstructured<'_>) -> Result<()> {
    let (rule, apply) = *random.choose(defects::DEFECTS)?;
    let which: u8 = random.arbitrary()?;
    let mut model = smith::program(random)?;
    let before = image(&model);
    let found = report(&before);
    assert!(found.worst() < Some(Severity::Error), "a valid program: {found}");
    let most = Limits::UNTRUSTED.findings_per_rule as usize * pte::check::rules().count();
    assert!(found.findings().len() <= most);
    if !apply(&mut model.root, which.into()) {
        return Ok(());
    }
    let after = image(&model);
    let found = report(&after);
    let fires = found.counts().any(|(broken, count)| broken.id == rule && count > 0);
    assert!(fires, "a defect of {rule}, and {found}");
    pte_tests::sound::is_sound(&after);
    Ok(())
}

/// Edits of a valid program leave it valid, and what they move out of it is valid too.
pub fn edit(bytes: &[u8]) {
    let _ = edits(&mut Unstructured::new(bytes));
}

fn edits(random: &mut Unstructured<'_>) -> Result<()> {
    let mut out: Vec<PtdModel<'static>> = Vec::new();
    let steps: Vec<(u8, u8)> = {
        let count = random.int_in_range(1..=6)?;
        (0..count).map(|_| random.arbitrary()).collect::<Result<_>>()?
    };
    let mut model = smith::program(random)?;
    let before = contents(&image(&model), &[]);
    for (step, number) in steps {
        let key = format!("key {}", number % 5);
        match step % 9 {
            0 => drop(model.set_data(&key, vec![number; number.into()].into())),
            1 => drop(model.remove_data(&key)),
            2 | 3 => {
                // Every constant, or every other one.
                let mut nth = number % 4;
                let chosen = |_: External<'_>| {
                    nth += 1;
                    nth.is_multiple_of(2) || number < 128
                };
                match model.externalize(chosen) {
                    Ok(ptd) => out.push(ptd),
                    // A key of the program's may be the name of a tensor by chance.
                    Err(error) => panic!("{error}"),
                }
            }
            4 => {
                if let Some(ptd) = out.pop() {
                    model.inline(&ptd).unwrap_or_else(|error| panic!("{error}"));
                }
            }
            5 => drop(model.strip_stacktraces()),
            6 => drop(model.strip_names()),
            7 => model.align([1, 16, 64, 128, 4096][usize::from(number) % 5]),
            _ => {
                let constants = model.constants();
                if constants.len() > 1 {
                    model.set_constants(constants).unwrap_or_else(|error| panic!("{error}"));
                }
            }
        }
        let bytes = image(&model);
        let read = accepted(&bytes);
        assert_eq!(format!("{:?}", read.root), format!("{:?}", model.root), "after step {step}");
        let found = report(&bytes);
        assert!(found.worst() < Some(Severity::Error), "after step {step}: {found}");
        let images: Vec<Vec<u8>> = out.iter().map(image).collect();
        let after = contents(&bytes, &images);
        assert_eq!(after.len(), before.len(), "tensors after step {step}");
        for (nth, (before, after)) in before.iter().zip(&after).enumerate() {
            assert_eq!(before, after, "tensor {nth} after step {step}");
        }
    }
    let images: Vec<Vec<u8>> = out.iter().map(image).collect();
    for bytes in &images {
        container(bytes);
        let data = pte::Ptd::read(bytes).unwrap_or_else(|error| panic!("moved out: {error}"));
        let found = data.check();
        assert!(found.worst() < Some(Severity::Error), "moved out: {found}");
    }
    Ok(())
}

/// The bytes of every tensor that has some from the start, wherever they are.
fn contents(program: &[u8], data: &[Vec<u8>]) -> Vec<Option<Vec<u8>>> {
    let read = |bytes| pte::Ptd::read(bytes).unwrap_or_else(|error| panic!("moved out: {error}"));
    let data: Vec<_> = data.iter().map(|bytes| read(bytes)).collect();
    let pte = pte::Pte::read(program).unwrap_or_else(|error| panic!("refused: {error}"));
    let external = |key: Option<&str>| {
        let found = data.iter().find_map(|data| {
            let entry = data.entries().find(|entry| entry.key() == key)?;
            data.bytes(entry.range().ok()?)
        });
        found.map(<[u8]>::to_vec)
    };
    let mut found = Vec::new();
    for plan in pte.program().execution_plan().into_iter().flatten() {
        for value in plan.values().into_iter().flatten() {
            let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
            found.push(match pte.storage(tensor) {
                Ok(Storage::Constant(range)) => pte.bytes(range).map(<[u8]>::to_vec),
                Ok(Storage::Planned { initial, .. }) => {
                    initial.and_then(|range| pte.bytes(range)).map(<[u8]>::to_vec)
                }
                Ok(Storage::External { key, .. }) => external(key),
                _ => None,
            });
        }
    }
    found
}

/// A `.ptd` is held to everything that a program is: the same oracles, for that kind alone; and so
/// is one that is valid by construction, made of the same bytes.
pub fn ptd(bytes: &[u8]) {
    let oracles: [crate::Oracle; 5] = [container, verify, agree, crate::roundtrip, sound];
    let head = &bytes[..bytes.len().min(64)];
    if pte::file::sniff(head) == Ok(pte::file::FileKind::Ptd) {
        return oracles.iter().for_each(|oracle| oracle(bytes));
    }
    let Ok(model) = smith::data(&mut Unstructured::new(bytes)) else { return };
    let bytes = image(&model);
    let data = pte::Ptd::read(&bytes).unwrap_or_else(|error| panic!("a valid file: {error}"));
    let found = data.check();
    assert!(found.worst() < Some(Severity::Error), "a valid file: {found}");
    oracles.iter().for_each(|oracle| oracle(&bytes));
}

pub(crate) fn image<R: model::RootStruct>(model: &model::FileModel<'_, R>) -> Vec<u8> {
    let image = model.image().unwrap_or_else(|error| panic!("not written: {error}"));
    image.to_bytes().unwrap_or_else(|error| panic!("not written: {error}"))
}

fn accepted(bytes: &[u8]) -> model::PteModel<'_> {
    let read = pte::Pte::read(bytes);
    read.unwrap_or_else(|error| panic!("refused: {error}, at {}", error.place()))
        .to_model()
        .unwrap()
}

fn report(bytes: &[u8]) -> Report {
    pte::Pte::read(bytes).map(|pte| pte.check()).unwrap_or_default()
}
