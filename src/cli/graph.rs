//! `pte graph`: the instructions of a method as a picture.

use core::cell::RefCell;
use core::fmt;
use std::path::PathBuf;
use std::rc::Rc;

use clap::{Args, ValueEnum};
use pte::flat::view::Vector;
use pte::quoted::{Untrusted, UntrustedString};
use pte::schema::program::view::InstructionArguments;
use pte::{File, Pte};
use serde::{Serialize, Serializer};

use self::flow::{Flow, Writer};
use super::Common;
use super::input::Input;
use super::output::{Content, Output};
use super::problem::{Problem, Status};
use super::text::{self, grouped};

mod dot;
mod flow;
mod lines;
mod mermaid;

/// Draw the instructions of a method, as Graphviz or Mermaid
///
/// Calls of operators and delegates, moves, frees and jumps are boxes, whether their operator or
/// backend is known or not; inputs, outputs, constants and what several instructions write are nodes
/// too. What flows is on the edges with dtype and sizes; dotted ones say what runs next. The file
/// does not say what a call writes: of an operator it is what its arguments name twice, or the last
/// one; of a delegate, tensors in which nothing is yet.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte graph model.pte | dot -Tsvg -o model.svg
  pte graph model.pte --method forward --format mermaid
  pte graph model.pte --json | jq '.methods[].nodes[] | select(.kind == \"kernel\").name'

Mermaid draws 500 edges, unless its setting maxEdges says more.

JSON, \"schema\": \"pte.graph/1\":
  path     of the file
  methods  name, nodes, edges
  nodes    id, kind: kernel, delegate, move, free, jump, unknown (instructions: chain, instruction,
           name of the operator or backend, args: indices of values); input, output, constant,
           mutable, external, list, value (value: its index; text: dtype and sizes); end
  edges    from, to, kind: data (value, text), next, jump (where the condition is false)

Exit status: 0 drawn, 1 not in the file, too large or broken, 2 usage, 3 not readable")]
pub(super) struct Graph {
    /// A program, or - for standard input.
    file: PathBuf,
    /// Only this method.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// How to draw it.
    #[arg(long, value_name = "FORMAT", default_value = "dot")]
    format: Shape,
    /// Short for --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Instructions that are drawn at most; JSON has no limit.
    #[arg(long, value_name = "N", default_value_t = 5000)]
    max_instructions: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    Dot,
    Mermaid,
    Json,
}

/// A box of the picture.
#[derive(Serialize)]
struct Node<'n> {
    id: Id,
    kind: &'static str,
    /// Of the operator or backend, or of a constant; as long as the file has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Untrusted<'n>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Vec<i32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared_text")]
    text: Option<Rc<str>>,
}

fn shared_text<S: Serializer>(text: &Option<Rc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_deref().serialize(serializer)
}

/// A line between two boxes.
#[derive(Serialize)]
struct Edge<'n> {
    from: Id,
    to: Id,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'n str>,
}

/// The name of a box, by the number of its method and its own.
#[derive(Clone, Copy)]
struct Id {
    method: usize,
    letter: char,
    number: usize,
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}{}{}", self.method, self.letter, self.number)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One of the formats: for each method its nodes, then its edges.
trait Draw {
    fn begin(&mut self, path: &UntrustedString) -> Result<(), Problem>;
    fn method(&mut self, nth: usize, name: Option<Untrusted<'_>>) -> Result<(), Problem>;
    fn node(&mut self, node: &Node<'_>) -> Result<(), Problem>;
    /// Returns the text of an edge, as it is drawn.
    fn label(&self, text: String) -> String;
    fn edge(&mut self, edge: &Edge<'_>) -> Result<(), Problem>;
    fn method_ends(&mut self) -> Result<(), Problem>;
    fn end(&mut self) -> Result<(), Problem>;
}

impl Graph {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let input = Input::open(&self.file, &common.limits())?;
        let file = input.opened.file();
        let File::Pte(pte) = &file else {
            return Err(input.absent("this is a .ptd, which has no methods".into()));
        };
        let shape = if self.json { Shape::Json } else { self.format };
        self.look(&input, pte, shape)?;
        let inputs = core::slice::from_ref(&self.file);
        let mut out = Output::beside(common.output.as_deref(), Content::Plain, inputs)?;
        {
            let draw: &mut dyn Draw = match shape {
                Shape::Dot => &mut dot::Dot(&mut out),
                Shape::Mermaid => &mut mermaid::Mermaid(&mut out),
                Shape::Json => &mut lines::Lines::new(&mut out),
            };
            draw.begin(&input.name)?;
            for (nth, plan) in pte.program().execution_plan().into_iter().flatten().enumerate() {
                if self.takes(plan.name()) {
                    draw.method(nth, plan.name().map(Untrusted::from))?;
                    let flow = Flow::of(pte, plan);
                    let [labels, texts] = [(); 2].map(|()| RefCell::new(vec![None; KEPT]));
                    let picture = Picture { input: &input, pte, nth, flow, labels, texts };
                    picture.nodes(draw)?;
                    picture.edges(draw)?;
                    draw.method_ends()?;
                }
            }
            draw.end()?;
        }
        out.finish()?;
        Ok(Status::Good)
    }

    fn takes(&self, name: Option<&str>) -> bool {
        self.method.as_deref().is_none_or(|method| name.unwrap_or_default() == method)
    }

    /// Whether there is what was asked for, and whether anybody can look at that much.
    fn look(&self, input: &Input, pte: &Pte<'_>, shape: Shape) -> Result<(), Problem> {
        let (mut methods, mut instructions) = (0usize, 0usize);
        let plans = pte.program().execution_plan().into_iter().flatten();
        for plan in plans.filter(|plan| self.takes(plan.name())) {
            methods = methods.saturating_add(1);
            for chain in plan.chains().into_iter().flatten() {
                let count = chain.instructions().map_or(0, |all| all.len());
                instructions = instructions.saturating_add(count);
            }
        }
        if let (0, Some(method)) = (methods, &self.method) {
            return Err(
                input.absent(format!("there is no method {:?}", Untrusted::from(method.as_str())))
            );
        }
        if shape != Shape::Json && instructions.max(methods) > self.max_instructions {
            let wide = |count| grouped(u64::try_from(count).unwrap_or(u64::MAX));
            return Err(input.absent(format!(
                "{} instructions in {} methods are too many for a picture, which takes {}; \
                 choose one with --method, take --format json, or raise --max-instructions",
                wide(instructions),
                wide(methods),
                wide(self.max_instructions),
            )));
        }
        Ok(())
    }
}

/// A method that is being drawn.
struct Picture<'p, 'a> {
    input: &'p Input,
    pte: &'p Pte<'a>,
    nth: usize,
    flow: Flow<'a>,
    /// Labels that were made lately: a value may be on any number of edges.
    labels: RefCell<Kept>,
    texts: RefCell<Kept>,
}

/// Texts of values that were made lately, by index.
type Kept = Vec<Option<(usize, Rc<str>)>>;

/// Texts that are kept.
const KEPT: usize = 64;

/// Returns the text of a value, which is made if it is not kept.
fn kept(texts: &mut Kept, at: usize, make: impl FnOnce() -> String) -> Rc<str> {
    let slot = texts.get_mut(at % KEPT);
    if let Some(Some((of, text))) = &slot
        && *of == at
    {
        return Rc::clone(text);
    }
    let text: Rc<str> = make().into();
    slot.into_iter().for_each(|slot| *slot = Some((at, Rc::clone(&text))));
    text
}

impl Picture<'_, '_> {
    fn nodes(&self, draw: &mut dyn Draw) -> Result<(), Problem> {
        let values = self.flow.values.iter().enumerate();
        for (at, _) in values.filter(|(_, value)| value.is_node) {
            let kind = self.flow.role(self.pte, at);
            draw.node(&Node { value: Some(at), ..self.plain(self.value_id(at), kind, at) })?;
        }
        for number in 0..self.flow.steps.len() {
            self.step(number, draw)?;
        }
        if self.flow.steps.iter().any(|step| step.jump() == Some(self.flow.steps.len())) {
            let end = self.step_id(self.flow.steps.len());
            draw.node(&Node { text: None, ..self.plain(end, "end", usize::MAX) })?;
        }
        for (nth, &at) in self.flow.outputs.iter().enumerate() {
            draw.node(&Node { value: Some(at), ..self.plain(self.output_id(nth), "output", at) })?;
        }
        Ok(())
    }

    fn plain<'n>(&self, id: Id, kind: &'static str, at: usize) -> Node<'n> {
        Node {
            id,
            kind,
            name: None,
            chain: None,
            instruction: None,
            args: None,
            value: None,
            text: Some(self.text(at)),
        }
    }

    fn step(&self, number: usize, draw: &mut dyn Draw) -> Result<(), Problem> {
        let Some(step) = self.flow.steps.get(number) else { return Ok(()) };
        let list = |args: Option<Vector<'_, i32>>| args.into_iter().flatten().collect::<Vec<_>>();
        let (kind, name, args, text) = match self.flow.does(step) {
            Some(InstructionArguments::KernelCall(call)) => {
                let index = call.op_index();
                let name = usize::try_from(index).ok().and_then(|at| self.flow.operators.get(at));
                let text = name.is_none().then(|| format!("no operator {index}"));
                ("kernel", name.map(Untrusted::from), list(call.args()), text)
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                let index = call.delegate_index();
                let all = self.flow.plan.delegates().zip(usize::try_from(index).ok());
                let delegate = all.and_then(|(all, at)| all.get(at));
                let text = match delegate {
                    Some(_) => format!("delegate {index}"),
                    None => format!("no delegate {index}"),
                };
                let name = delegate.and_then(|delegate| delegate.id()).map(Untrusted::from);
                ("delegate", name, list(call.args()), Some(text))
            }
            Some(InstructionArguments::MoveCall(call)) => {
                ("move", None, vec![call.move_from(), call.move_to()], None)
            }
            Some(InstructionArguments::FreeCall(call)) => {
                ("free", None, vec![call.value_index()], None)
            }
            Some(InstructionArguments::JumpFalseCall(call)) => {
                let to = call.destination_instruction();
                let text = step.jump().is_none().then(|| format!("to {to}, which is nowhere"));
                ("jump", None, vec![call.cond_value_index()], text)
            }
            _ => ("unknown", None, Vec::new(), None),
        };
        // A long name costs for each time that it is shown.
        self.input.name_again(name.map(Untrusted::raw))?;
        draw.node(&Node {
            id: self.step_id(number),
            kind,
            name,
            chain: Some(step.chain),
            instruction: Some(step.index),
            args: Some(args),
            value: None,
            text: text.map(Rc::from),
        })
    }

    fn edges(&self, draw: &mut dyn Draw) -> Result<(), Problem> {
        let flow = &self.flow;
        for at in (0..flow.values.len()).filter(|&at| flow.is_list(at)) {
            let Some(list) = flow.values.get(at).filter(|list| list.is_node) else { continue };
            for item in flow.items(at) {
                // Of a list that is written, the edges go to its tensors.
                let to_list = list.writers == 0 || list.is_input;
                match flow.values.get(item).is_some_and(|item| item.is_node) && !to_list {
                    true => self.data(self.value_id(at), self.value_id(item), item, draw)?,
                    false if to_list => self.read(item, self.value_id(at), draw)?,
                    false => {}
                }
            }
        }
        for (number, step) in flow.steps.iter().enumerate() {
            let id = self.step_id(number);
            for at in flow.reads(number).iter().copied().map(index) {
                self.read(at, id, draw)?;
            }
            for at in flow.writes(number).iter().copied().map(index) {
                if flow.values.get(at).is_some_and(|value| value.is_node) {
                    self.data(id, self.value_id(at), at, draw)?;
                }
            }
            let next = number.saturating_add(1);
            if next < flow.steps.len() || step.jump() == Some(next) {
                self.control(id, next, "next", draw)?;
            }
            if let Some(to) = step.jump() {
                self.control(id, to, "jump", draw)?;
            }
        }
        for (nth, &at) in flow.outputs.iter().enumerate() {
            self.read(at, self.output_id(nth), draw)?;
        }
        Ok(())
    }

    /// An edge from where a value comes from; none where nothing is drawn for that, such as for a
    /// number that an operator takes.
    fn read(&self, at: usize, to: Id, draw: &mut dyn Draw) -> Result<(), Problem> {
        let Some(value) = self.flow.values.get(at) else { return Ok(()) };
        let from = match value.writer {
            _ if value.is_node => self.value_id(at),
            Some(Writer::Step(number)) => self.step_id(index(number)),
            Some(Writer::List(list)) => self.value_id(index(list)),
            None => return Ok(()),
        };
        self.data(from, to, at, draw)
    }

    fn data(&self, from: Id, to: Id, at: usize, draw: &mut dyn Draw) -> Result<(), Problem> {
        let text = self.label(at, draw);
        draw.edge(&Edge { from, to, kind: "data", value: Some(at), text: Some(&text) })
    }

    fn control(
        &self,
        from: Id,
        to: usize,
        kind: &'static str,
        draw: &mut dyn Draw,
    ) -> Result<(), Problem> {
        draw.edge(&Edge { from, to: self.step_id(to), kind, value: None, text: None })
    }

    /// Returns a value as people read it.
    fn text(&self, at: usize) -> Rc<str> {
        let mut texts = self.texts.borrow_mut();
        kept(&mut texts, at, || self.flow.text(at))
    }

    /// Returns the label of an edge on which a value is.
    fn label(&self, at: usize, draw: &dyn Draw) -> Rc<str> {
        let mut labels = self.labels.borrow_mut();
        kept(&mut labels, at, || draw.label(self.flow.text(at)))
    }

    fn value_id(&self, at: usize) -> Id {
        Id { method: self.nth, letter: 'v', number: at }
    }

    fn output_id(&self, nth: usize) -> Id {
        Id { method: self.nth, letter: 'r', number: nth }
    }

    /// Of an instruction, by its number over all chains.
    fn step_id(&self, number: usize) -> Id {
        Id { method: self.nth, letter: 'i', number }
    }
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Node<'_> {
    /// What is written in the box, line by line.
    fn lines(&self) -> Vec<String> {
        let mut first = match (self.kind, self.name) {
            ("kernel" | "delegate", Some(name)) => text::name(name),
            ("jump", _) => "jump if false".into(),
            (kind, _) => kind.into(),
        };
        if let Some(instruction) = self.instruction {
            first.insert_str(0, &format!("{instruction}: "));
        }
        let mut lines = vec![first];
        lines.extend(self.text.as_deref().map(text::name));
        lines
    }
}
