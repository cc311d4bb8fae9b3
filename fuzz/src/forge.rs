//! Samples of a class: files for fuzzing a runtime or a parser.
//!
//! A sample depends on its class, its seed and its number alone: not on how many are made, in which order,
//! or by which machine.

use core::fmt;
use std::collections::BTreeSet;

use arbitrary::Unstructured;
use pte::check::{Checker, Policy, Severity};
use pte::model::{FileModel, PteModel, RootStruct};
use pte::{OpenError, Ptd};

use crate::mutate::Xorshift;
use crate::smith;

mod broken;
mod damaged;
mod data;
mod fixed;
mod pairs;
mod refused;
mod rewired;
mod vary;

pub mod manifest;
pub mod tar;

pub use broken::{ELSEWHERE, rules_of_files, rules_of_pairs};
pub use rewired::set_programs;

/// A kind of sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Programs that break no rule of severity Error.
    Sound,
    /// Sound programs that need no backend, no foreign operator and no data of another file.
    Runnable,
    /// Files that break one rule of severity Error.
    Broken,
    /// Files with damaged bytes. Some are still sound.
    Damaged,
    /// Sound data files (`.ptd`) of all four generations.
    Data,
    /// A program and its data files: sound, or breaking one rule of severity Error together.
    Pairs,
    /// Sound files in the mixture that campaigns against a runtime use.
    Mixed,
    /// Sound programs with one call of any operator.
    Calls,
    /// Programs whose only Errors are of rules about kernels.
    Refused,
    /// Sound programs with one call whose arguments alias each other.
    Tangled,
    /// Sound programs with one call of a graph of XNNPACK's backend.
    Graphs,
    /// Programs as `Graphs`, with one to three changes that break no rule of severity Error.
    GraphsBroken,
    /// Genuine programs with other operands, moves, frees and jumps, which break no rule of severity Error.
    Rewired,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 13] = [
        Self::Sound,
        Self::Runnable,
        Self::Broken,
        Self::Damaged,
        Self::Data,
        Self::Pairs,
        Self::Mixed,
        Self::Calls,
        Self::Refused,
        Self::Tangled,
        Self::Graphs,
        Self::GraphsBroken,
        Self::Rewired,
    ];

    /// Returns the name, as on the command line and in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Runnable => "runnable",
            Self::Broken => "broken",
            Self::Damaged => "damaged",
            Self::Data => "data",
            Self::Pairs => "pairs",
            Self::Mixed => "mixed",
            Self::Calls => "calls",
            Self::Refused => "refused",
            Self::Tangled => "tangled",
            Self::Graphs => "graphs",
            Self::GraphsBroken => "graphs-broken",
            Self::Rewired => "rewired",
        }
    }

    /// Returns the class with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// A file, or a program and the data files that it is used with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The bytes of the file, or of the program of a pair.
    pub file: Vec<u8>,
    /// The data files of a pair.
    pub data: Vec<Vec<u8>>,
    /// The rule of severity Error that the sample breaks on purpose.
    pub rule: Option<&'static str>,
    /// The release that the rule is about, if it is about one.
    pub release: Option<(u32, u32)>,
    /// The rules of severity Error, or the code of the refusal, that the library finds.
    pub errors: Vec<&'static str>,
}

/// A sample that could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotMade {
    /// The class of the sample.
    pub class: Class,
    /// The number of the sample.
    pub number: u64,
    /// The rule that it was to break.
    pub rule: Option<&'static str>,
}

impl fmt::Display for NotMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no sample {} of class {} was found", self.number, self.class.name())?;
        self.rule.map_or(Ok(()), |rule| write!(f, ", which breaks {rule}"))
    }
}

/// The most draws for one sample.
const DRAWS: u32 = 200_000;

/// Makes the sample `number` of a class.
///
/// # Errors
///
/// [`NotMade`] if no draw has the properties of the class.
pub fn make(class: Class, seed: u64, number: u64) -> Result<Sample, NotMade> {
    let mut random = random(class, seed, number);
    let made = match class {
        Class::Broken => broken::file(number, &mut random),
        Class::Pairs => pairs::pair(number, &mut random),
        _ => (0..DRAWS).find_map(|_| draw(class, number, &mut random)),
    };
    made.ok_or_else(|| NotMade { class, number, rule: broken::rule_of(class, number) })
}

/// Returns the generator of a sample: unrelated to that of any other.
fn random(class: Class, seed: u64, number: u64) -> Xorshift {
    let mut state = seed;
    for word in [class as u64 + 1, number] {
        // The finalizer of SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_add(word);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 31;
    }
    Xorshift::new(state)
}

/// One attempt at a sample of a class that has no rule.
fn draw(class: Class, number: u64, random: &mut Xorshift) -> Option<Sample> {
    let file = match class {
        Class::Sound => program(smith::program, random)?,
        Class::Runnable => program(smith::runnable, random)?,
        Class::Calls => program(smith::call, random)?,
        Class::Refused => program(smith::guess, random)?,
        Class::Tangled => program(|random| smith::tangled(random, None), random)?,
        Class::Graphs => program(smith::graph, random)?,
        Class::GraphsBroken => program(smith::broken_graph, random)?,
        Class::Data => data::file(number, random)?,
        Class::Damaged => damaged::file(number, random)?,
        Class::Rewired => rewired::file(random)?,
        Class::Mixed => match number % 8 {
            0 => program(smith::program, random)?,
            1 | 2 => program(smith::runnable, random)?,
            3 => crate::damaged(&mut Unstructured::new(&entropy(random))).ok()?,
            4 => crate::mutate::mutate(&program(smith::runnable, random)?, random),
            _ => program(smith::guess, random)?,
        },
        Class::Broken | Class::Pairs => return None,
    };
    let errors = errors(&file, &[], None);
    let fits = match class {
        Class::Damaged => true,
        Class::Refused => {
            let is_about_kernels =
                |id: &&str| pte::check::rule(id).is_some_and(|rule| rule.subject == "kernels");
            !errors.is_empty() && errors.iter().all(is_about_kernels)
        }
        _ => errors.is_empty(),
    };
    fits.then_some(Sample { file, data: Vec::new(), rule: None, release: None, errors })
}

/// Returns random bytes: enough for a program.
fn entropy(random: &mut Xorshift) -> Vec<u8> {
    (0..512).flat_map(|_| random.next_u64().to_le_bytes()).collect()
}

type Smith = fn(&mut Unstructured<'_>) -> arbitrary::Result<PteModel<'static>>;

/// Returns the model of a program, unless the random bytes did not suffice.
fn model(smith: Smith, random: &mut Xorshift) -> Option<PteModel<'static>> {
    smith(&mut Unstructured::new(&entropy(random))).ok()
}

/// Returns a program as a file.
fn program(smith: Smith, random: &mut Xorshift) -> Option<Vec<u8>> {
    image(&model(smith, random)?)
}

fn image<R: RootStruct>(model: &FileModel<'_, R>) -> Option<Vec<u8>> {
    model.image().ok()?.to_bytes().ok()
}

/// Returns the rules of severity Error that a file breaks, in order, or the code of its refusal.
pub fn errors(file: &[u8], data: &[Vec<u8>], release: Option<(u32, u32)>) -> Vec<&'static str> {
    let read: Result<Vec<_>, _> = data.iter().map(|bytes| Ptd::read(bytes)).collect();
    let read = match read {
        Ok(read) => read,
        Err(error) => return vec![error.code()],
    };
    let mut checker = Checker::new();
    if !read.is_empty() {
        checker = checker.data(&read);
    }
    if let Some(release) = release {
        checker = checker.policy(Policy::new().runtime(release));
    }
    match checker.check_bytes(file) {
        Ok(report) => {
            let broken = report.counts().filter(|(rule, _)| rule.severity == Severity::Error);
            broken.map(|(rule, _)| rule.id).collect::<BTreeSet<_>>().into_iter().collect()
        }
        Err(OpenError::Refused(error)) => vec![error.code()],
        Err(_) => vec!["memory"],
    }
}
