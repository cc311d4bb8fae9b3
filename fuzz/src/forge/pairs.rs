//! Programs with their data files.

use pte::model::{External, PtdModel};

use super::{Class, Sample, broken, data, errors, image, model, vary};
use crate::mutate::Xorshift;
use crate::smith;

/// Attempts at a pair with the rule of its number alone.
const ATTEMPTS: usize = 256;

/// Makes the pair `number`: every second one is sound, the others break one rule together.
pub(super) fn pair(number: u64, random: &mut Xorshift) -> Option<Sample> {
    let Some(rule) = broken::rule_of(Class::Pairs, number) else {
        return (0..ATTEMPTS).find_map(|_| sound(random));
    };
    let fixture = broken::FIXTURES.get(rule)?;
    let release = fixture.release();
    let breaks = |files: &[Vec<u8>]| {
        files.split_first().is_some_and(|(file, data)| errors(file, data, release) == [rule])
    };
    (0..ATTEMPTS).find_map(|nth| {
        let mut files = fixture.perturbed(random, &breaks);
        // Later attempts vary less.
        for file in &mut files {
            if nth < ATTEMPTS / 2 && random.below(2) == 0 {
                *file = vary::file(file, random)?;
            }
        }
        let is_broken = breaks(&files);
        let file = files.remove(0);
        let (rule, errors) = (Some(rule), vec![rule]);
        is_broken.then_some(Sample { file, data: files, rule, release, errors })
    })
}

/// A sound program whose constants, or some of them, are in data files.
fn sound(random: &mut Xorshift) -> Option<Sample> {
    let mut program = model(smith::movable, random)?;
    let mut files: Vec<PtdModel<'static>> = Vec::new();
    for _ in 0..=random.below(2) {
        let chance = 1 + random.below(3);
        let chosen = |_: External<'_>| random.below(3) < chance;
        let mut ptd = program.externalize(chosen).ok()?;
        for _ in 0..random.below(3) {
            data::push(&mut ptd, random);
        }
        files.push(ptd);
    }
    files.retain(|ptd| !ptd.segments.is_empty());
    if files.is_empty() {
        return None;
    }
    let file = image(&program)?;
    let data: Vec<Vec<u8>> = files.iter().map(image).collect::<Option<_>>()?;
    let errors = errors(&file, &data, None);
    errors.is_empty().then_some(Sample { file, data, rule: None, release: None, errors })
}
