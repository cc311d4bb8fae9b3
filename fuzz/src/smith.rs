//! Programs and data files that are valid by construction: for any random bytes, no rule of
//! severity Error is broken.

use arbitrary::{Result, Unstructured};
use modular_bitfield::prelude::*;
use pte::flat::tree::Unknown;
use pte::model::{Blob, Container, FileModel, PteModel};
use pte::schema::program::model;
use pte::schema::scalar::ScalarType;

mod calls;
mod data;
mod finish;
mod graphs;
mod layers;
mod method;
mod recipes;
mod tangle;
mod values;

pub use data::data;
use values::Place;

/// Dtypes that kernels know.
pub(crate) const DTYPES: [ScalarType; 11] = [
    ScalarType::BYTE,
    ScalarType::CHAR,
    ScalarType::SHORT,
    ScalarType::INT,
    ScalarType::LONG,
    ScalarType::HALF,
    ScalarType::FLOAT,
    ScalarType::DOUBLE,
    ScalarType::BOOL,
    ScalarType::BFLOAT16,
    ScalarType::UINT16,
];

/// The features that a program may have. A program without some of them covers the others more deeply.
#[bitfield(bytes = 4)]
#[derive(Clone, Copy, Debug)]
pub struct Swarm {
    layout: B2,
    force_align: B2,
    alignment: B2,
    header: B2,
    methods: B2,
    constants: bool,
    constants_inline: bool,
    states: bool,
    external: bool,
    inputs: bool,
    scalars: bool,
    texts: bool,
    lists: bool,
    unknown_members: bool,
    delegates: bool,
    payloads_inline: bool,
    named_data: bool,
    moves: bool,
    frees: bool,
    jumps: bool,
    traces: bool,
    devices: bool,
    nesting: bool,
    dynamic: bool,
    second_arena: bool,
    trailing: bool,
    extra: bool,
}

/// The head of a structured input, and the rest of it.
pub(crate) fn swarm(random: &mut Unstructured<'_>) -> Result<Swarm> {
    Ok(Swarm::from_bytes(random.arbitrary()?))
}

/// A program that `check` passes.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn program(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = swarm(random)?;
    make(random, swarm, Calls::Valid)
}

/// A program that `check` passes, and that asks for nothing that the official runtime does not bring:
/// no backend, no operator of others, no data from elsewhere.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn runnable(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?);
    make(random, swarm, Calls::Known)
}

/// Makes a program with calls of any operator and jumps to anywhere: most such programs have an Error.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn guess(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?).with_methods(0);
    make(random, swarm, Calls::Any)
}

/// A program that calls one operator, any of those there are, and does nothing else: what it does is
/// done although other calls would have been refused.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn call(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?).with_methods(0);
    make(random, swarm, Calls::One)
}

/// A program that calls one operator, the one at `only` or any, with arguments that alias each other.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn tangled(random: &mut Unstructured<'_>, only: Option<usize>) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?).with_methods(0).with_constants(true);
    make(random, swarm, Calls::Tangled(only))
}

/// A program that calls one graph of XNNPACK's backend. A broken one has one to three changes.
fn graph_of(random: &mut Unstructured<'_>, is_broken: bool) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?).with_methods(0);
    make(random, swarm, Calls::Graph { is_broken })
}

/// A program that calls a graph of XNNPACK's backend.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn graph(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    graph_of(random, false)
}

/// Makes such a program with one to three changes of the graph: most have an Error.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub fn broken_graph(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    graph_of(random, true)
}

/// A program whose methods use nothing of the file besides themselves: they can become methods of another.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub(crate) fn apart(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = at_home(swarm(random)?).with_constants(false).with_states(false);
    make(random, swarm.with_named_data(false), Calls::Valid)
}

/// A program that has constants, none of which is in another file yet.
///
/// # Errors
///
/// The random bytes do not suffice for a choice.
pub(crate) fn movable(random: &mut Unstructured<'_>) -> Result<PteModel<'static>> {
    let swarm = swarm(random)?.with_constants(true).with_external(false);
    make(random, swarm, Calls::Valid)
}

#[cfg(test)]
fn sound_call(random: &mut Unstructured<'_>, nth: usize) -> Result<PteModel<'static>> {
    let swarm = at_home(Swarm::new());
    make(random, swarm, Calls::Sound(nth))
}

/// Without what has to come from outside of the file, and without what runtimes are built without.
fn at_home(swarm: Swarm) -> Swarm {
    let swarm =
        swarm.with_unknown_members(false).with_delegates(false).with_constants_inline(false);
    swarm.with_external(false).with_devices(false)
}

/// The operators that are called, and their arguments.
#[derive(Clone, Copy, PartialEq)]
enum Calls {
    /// Calls that break no rule.
    Valid,
    /// Calls that break no rule, in a program that is executed afterwards.
    Known,
    /// Any operator, and arguments that may be wrong.
    Any,
    /// One such call.
    One,
    /// One call with arguments that alias each other, of the operator of that number if it is given.
    Tangled(Option<usize>),
    /// One call of a graph of XNNPACK's backend.
    Graph { is_broken: bool },
    /// One call as it should be, of the operator of that number.
    #[cfg(test)]
    Sound(usize),
}

fn make(random: &mut Unstructured<'_>, swarm: Swarm, calls: Calls) -> Result<PteModel<'static>> {
    let file = FileModel {
        root: model::Program { segments: Some(Vec::new()), ..model::Program::default() },
        segments: Vec::new(),
        container: Container::CURRENT,
        unknown: Unknown::default(),
    };
    let is_turned = calls == Calls::One && random.ratio(1, 6)?;
    let mut smith = Smith {
        random,
        is_turned,
        swarm,
        calls,
        file,
        constants: vec![Blob::EMPTY],
        states: vec![Vec::new()],
        plan: model::ExecutionPlan::default(),
        arenas: Vec::new(),
    };
    let mut plans = Vec::new();
    for nth in 0..=swarm.methods() {
        plans.push(smith.method(nth)?);
    }
    smith.file.root.execution_plan = Some(plans);
    smith.finish()
}

struct Smith<'r, 'u> {
    random: &'r mut Unstructured<'u>,
    swarm: Swarm,
    calls: Calls,
    file: PteModel<'static>,
    constants: Vec<Blob<'static>>,
    states: Vec<Vec<u8>>,
    /// Whether most tensors are stored otherwise than in the order of their dimensions.
    is_turned: bool,
    /// The method at work.
    plan: model::ExecutionPlan,
    /// The bytes of each arena that are planned so far, from the first arena on.
    arenas: Vec<u64>,
}
