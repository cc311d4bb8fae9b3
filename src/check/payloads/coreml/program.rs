//! Rules on ML Programs: the values of functions, their operators, and their constants.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::operators::is_known;
use super::{COREML_PROGRAM, COREML_WEIGHTS};
use crate::rule::Rule;
use pte_core::payload::coreml::mil::{Binding, Block, Constant, Function, Model, Operation};
use pte_core::payload::coreml::{Metadata, Names};
use pte_flat::cost;
use pte_flat::inserted;
use pte_flat::quoted::Quoted;

/// Takes a finding: its rule, a text of the model at its place, and what makes the message. Findings are not collected,
/// since two bytes of a model may make one.
type Find<'f, 'p> = dyn FnMut(&'static Rule, &'p str, &dyn Fn() -> String) + 'f;

/// Judges the functions of a model. `weights` returns what is wrong with a constant whose elements are in a file.
pub(super) fn judge<'p>(
    model: &Model<'p>,
    metadata: Option<&Metadata>,
    weights: &mut dyn FnMut(Constant<'p>) -> Option<String>,
    find: &mut Find<'_, 'p>,
) {
    for function in model.functions() {
        let mut scope = Scope { weights, find, names: BTreeSet::new() };
        match function.block() {
            Some(block) => scope.function(&function, block),
            None => scope.report(function.name, &|| {
                let opset = Quoted(function.opset());
                format!("function {} has no block for its opset {opset}", Quoted(function.name))
            }),
        }
    }
    // Of a program with one function, the names are those of the method.
    let mut functions = model.functions();
    if let (Some(function), None) = (functions.next(), functions.next())
        && let Some(names) = metadata.and_then(Metadata::only)
        && let Some(block) = function.block()
    {
        ends(&function, block, &names, find);
    }
}

/// Reports inputs and outputs that the metadata names and a function does not have.
fn ends<'p>(function: &Function<'p>, block: Block<'p>, names: &Names<'_>, find: &mut Find<'_, 'p>) {
    let inputs: BTreeSet<&str> = inserted(function.inputs().map(|input| input.name));
    let outputs: BTreeSet<&str> = inserted(block.outputs());
    cost::sort(inputs.len().saturating_add(outputs.len()));
    for (what, names, known) in
        [("input", &names.inputs, inputs), ("output", &names.outputs, outputs)]
    {
        for name in names {
            cost::look_up(name, known.len());
            if !known.contains(name) {
                find(&COREML_PROGRAM, function.name, &|| {
                    let name = Quoted(name);
                    format!("metadata.json names the {what} {name}, which the model does not have")
                });
            }
        }
    }
}

/// The values that are defined at a place of a function.
struct Scope<'s, 'p> {
    weights: &'s mut dyn FnMut(Constant<'p>) -> Option<String>,
    find: &'s mut Find<'s, 'p>,
    names: BTreeSet<&'p str>,
}

impl<'p> Scope<'_, 'p> {
    fn report(&mut self, near: &'p str, message: &dyn Fn() -> String) {
        (self.find)(&COREML_PROGRAM, near, message);
    }

    fn function(&mut self, function: &Function<'p>, block: Block<'p>) {
        for input in function.inputs() {
            self.define(input.name);
        }
        self.block(block);
    }

    /// Defines a value. Each name is defined once in a function.
    fn define(&mut self, name: &'p str) -> bool {
        cost::look_up(name, self.names.len());
        let is_new = self.names.insert(name);
        if !is_new {
            self.report(name, &|| format!("the value {} is defined twice", Quoted(name)));
        }
        is_new
    }

    fn uses(&mut self, name: &'p str) {
        cost::look_up(name, self.names.len());
        if !self.names.contains(name) {
            self.report(name, &|| {
                format!("the value {} is used before it is defined", Quoted(name))
            });
        }
    }

    /// Judges a block. Its values are not defined after it. The depth of blocks is bounded by the proof.
    fn block(&mut self, block: Block<'p>) {
        let mut own = Vec::new();
        for input in block.inputs() {
            if self.define(input.name) {
                own.push(input.name);
            }
        }
        for operation in block.operations() {
            self.operation(operation, &mut own);
        }
        for name in block.outputs() {
            self.uses(name);
        }
        for name in own {
            cost::look_up(name, self.names.len());
            self.names.remove(name);
        }
    }

    fn operation(&mut self, operation: Operation<'p>, own: &mut Vec<&'p str>) {
        let operator = operation.operator();
        if !is_known(operator) {
            self.report(operator, &|| format!("unknown operator {}", Quoted(operator)));
        }
        for (_, binding) in operation.inputs() {
            match binding {
                Binding::Name(name) => self.uses(name),
                Binding::Constant(constant) => self.constant(operator, constant),
            }
        }
        for (_, constant) in operation.attributes() {
            self.constant(operator, constant);
        }
        for block in operation.blocks() {
            self.block(block);
        }
        for output in operation.outputs() {
            if self.define(output.name) {
                own.push(output.name);
            }
        }
    }

    fn constant(&mut self, near: &'p str, constant: Constant<'p>) {
        if let Some(message) = (self.weights)(constant) {
            (self.find)(&COREML_WEIGHTS, near, &|| message.clone());
        }
    }
}
