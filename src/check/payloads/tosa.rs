//! Rules on TOSA's graphs: what the specification's reference model refuses (docs/format.md §11.7).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

use self::operators::Form;
use super::{BackendRules, Bytes, Judge, PAYLOAD_STRUCTURE, Subject, path_in_graph, reason};
use crate::report::Findings;
use crate::rule::{Rule, rules};
use crate::site::Plan;
use pte_core::backend::Backend;
use pte_core::error::PathComponent;
use pte_core::payload::{Tables, TablesPlace, Unreadable};
use pte_flat::bytes::wide;
use pte_flat::cost;
use pte_flat::quoted::Quoted;
use pte_flat::view::{Raw, Table, Vector};
use pte_schema::tosa::DType;
use pte_schema::tosa::view::{TosaBasicBlock, TosaGraph, TosaOperator};

mod operators;
mod shapes;

rules! {
    "tosa";

    TOSA_VALUE = Error "tosa-value"
        "Each tensor and shape of a TOSA block has a name of its own, is made once, and is made before an operator or an output uses it."
        "Compilers and the reference model refuse the graph."
        LOWER_AGAIN
        Refuses ["11.7"];
    TOSA_OPERATOR = Error "tosa-operator"
        "A TOSA operator is one of the specification, with its own attributes and as many inputs and outputs as the specification gives."
        "Compilers and the reference model refuse the graph."
        LOWER_AGAIN
        Refuses ["11.7"];
    TOSA_SHAPE = Error "tosa-shape"
        "The datatypes and shapes of a TOSA operator's inputs and outputs are those that the specification asks for."
        "Compilers and the reference model refuse the graph, or read past a tensor."
        LOWER_AGAIN
        Refuses ["11.7"];
    TOSA_CONSTANT = Error "tosa-constant"
        "A constant of a TOSA graph has the bytes that its shape asks for."
        "Compilers and the reference model refuse the graph, or read past the constant."
        LOWER_AGAIN
        Refuses ["11.7"];
}

pub(super) const JUDGED: BackendRules =
    BackendRules { backend: Backend::Tosa, has_keys: true, judge };

/// Judges a payload.
fn judge(
    judge: &mut Judge<'_, '_, '_, '_>,
    payload: &Subject<'_>,
    bytes: &mut Bytes<'_>,
) -> Result<(), Unreadable> {
    match graphs(judge, payload, bytes) {
        // `payload-magic` reports another magic.
        Err(Unreadable::Magic { .. }) if !payload.users.is_empty() => Ok(()),
        // No runtime of ExecuTorch reads these payloads.
        Err(why) if !payload.users.is_empty() => {
            judge.report(payload.users, &PAYLOAD_STRUCTURE, || {
                format!("this is no payload of {}: {}", Backend::Tosa.name(), reason(&why))
            });
            Ok(())
        }
        result => result,
    }
}

fn graphs(
    judge: &mut Judge<'_, '_, '_, '_>,
    payload: &Subject<'_>,
    bytes: &mut Bytes<'_>,
) -> Result<(), Unreadable> {
    let place = TablesPlace::of_payload(Backend::Tosa, payload.head, payload.len);
    let Some(place) = place.transpose()? else { return Ok(()) };
    let region = payload.part(place.range.clone());
    let start = region.start;
    let Some(region) = bytes.read(region) else { return Ok(()) };
    let tables = Tables::read(&place, &region, judge.limits)?;
    let Some(graph) = tables.root_as::<TosaGraph<'_>>() else { return Ok(()) };
    let delegate = judge.delegate(payload.users.first());
    for (nth, region) in (0..).zip(graph.regions().into_iter().flatten()) {
        for (block_nth, block) in (0..).zip(region.blocks().into_iter().flatten()) {
            let path = [
                PathComponent::Field("regions"),
                PathComponent::Index(nth),
                PathComponent::Field("blocks"),
                PathComponent::Index(block_nth),
            ];
            Site { delegate, start, path }.block(block, judge.out);
        }
    }
    Ok(())
}

/// A block that is being judged, and the place of its findings.
struct Site<'s> {
    /// The method of the program and the index of the delegate; `None` for a payload without a program.
    delegate: Option<(&'s Plan<'s, 's>, u32)>,
    /// The start of the payload in the file.
    start: u64,
    /// The path of the block in the payload.
    path: [PathComponent; 4],
}

/// A tensor or a shape of a block.
#[derive(Clone, Copy)]
struct Value<'p> {
    dtype: DType,
    /// The sizes of a tensor; `None` for a shape, and for a tensor whose rank is not given.
    sizes: Option<Vector<'p, i32>>,
}

/// The values of a block, by name.
type Values<'p> = BTreeMap<&'p str, Value<'p>>;

impl Site<'_> {
    fn find(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        at: Raw<'_>,
        message: impl FnOnce() -> String,
    ) {
        let offset = self.start.saturating_add(at.pos().into());
        let path = || path_in_graph(self.delegate, TosaGraph::DESC.name, &self.path);
        out.find(rule, offset, path, message);
    }

    fn block(&self, block: TosaBasicBlock<'_>, out: &mut Findings) {
        let values = self.values(block, out);
        let mut made = BTreeSet::new();
        let mut make = |site: &Self, name, at, out: &mut Findings| {
            if !values.contains_key(name) {
                site.find(out, &TOSA_VALUE, at, || format!("there is no value {}", Quoted(name)));
            } else if !made.insert(name) {
                site.find(out, &TOSA_VALUE, at, || format!("{} is made twice", Quoted(name)));
            }
            cost::look_up(name, values.len().saturating_add(made.len()));
        };
        for name in block.inputs().into_iter().flatten() {
            make(self, name, block.raw(), out);
        }
        // What is made first is known only behind the loop that makes it, so that uses are held to the order here.
        let mut order = BTreeMap::new();
        for (nth, operator) in (1usize..).zip(block.operators().into_iter().flatten()) {
            for name in operator.outputs().into_iter().flatten() {
                make(self, name, operator.raw(), out);
                cost::look_up(name, order.len());
                order.entry(name).or_insert(nth);
            }
        }
        for name in block.inputs().into_iter().flatten() {
            cost::look_up(name, order.len());
            order.insert(name, 0);
        }
        let used = |site: &Self, name, before, at, out: &mut Findings| {
            cost::look_up(name, order.len());
            if order.get(name).is_none_or(|made| *made >= before) {
                site.find(out, &TOSA_VALUE, at, || {
                    format!("there is no value {} yet", Quoted(name))
                });
            }
        };
        for (nth, operator) in (1usize..).zip(block.operators().into_iter().flatten()) {
            for name in operator.inputs().into_iter().flatten() {
                used(self, name, nth, operator.raw(), out);
            }
            if let Err((rule, message)) = judge_operator(operator, &values) {
                self.find(out, rule, operator.raw(), || message);
            }
        }
        for name in block.outputs().into_iter().flatten() {
            used(self, name, usize::MAX, block.raw(), out);
        }
    }

    /// Returns the tensors and shapes of a block, and judges their names and data.
    fn values<'p>(&self, block: TosaBasicBlock<'p>, out: &mut Findings) -> Values<'p> {
        let mut values = Values::new();
        let mut add = |name, value, at, out: &mut Findings| {
            cost::look_up(name, values.len());
            if values.insert(name, value).is_some() {
                self.find(out, &TOSA_VALUE, at, || {
                    format!("there are two values {}", Quoted(name))
                });
            }
        };
        for tensor in block.tensors().into_iter().flatten() {
            let (name, at) = (tensor.name().unwrap_or_default(), tensor.raw());
            let (dtype, sizes) = (tensor.r#type(), tensor.shape().unwrap_or_default());
            let sizes = Some(sizes).filter(|_| !tensor.is_unranked());
            add(name, Value { dtype, sizes }, at, out);
            // Data of an offset is in another part of a large file.
            let have = tensor.data().map_or(0, |data| wide(data.len()));
            if have == 0 || tensor.offset() > 1 {
                continue;
            }
            let need = sizes.and_then(|sizes| {
                cost::charge(sizes.len());
                shapes::bytes(dtype, sizes)
            });
            if let Some(need) = need.filter(|need| *need > have) {
                self.find(out, &TOSA_CONSTANT, at, || {
                    format!("the tensor {} has {have} bytes: expected {need}", Quoted(name))
                });
            }
        }
        for shape in block.shapes().into_iter().flatten() {
            let (name, at) = (shape.name().unwrap_or_default(), shape.raw());
            add(name, Value { dtype: DType::SHAPE, sizes: None }, at, out);
            let have = shape.data().map_or(0, |data| wide(data.len()));
            let need = u64::from(shape.rank()).saturating_mul(8);
            if have != 0 && have < need {
                self.find(out, &TOSA_CONSTANT, at, || {
                    format!("the shape {} has {have} bytes: expected {need}", Quoted(name))
                });
            }
        }
        values
    }
}

/// The slot of the tag of [`TosaOperator::attribute`].
const ATTRIBUTE: u16 = 1;

/// Judges an operator by the row of the specification.
fn judge_operator(
    operator: TosaOperator<'_>,
    values: &Values<'_>,
) -> Result<(), (&'static Rule, String)> {
    let op = operator.op();
    let Some(form) = Form::of(op) else {
        return Err((&TOSA_OPERATOR, format!("unknown operator {}", op.0)));
    };
    let tag = operator.raw().union(ATTRIBUTE).map_or(0, |(tag, _)| tag);
    if u32::from(tag) != op.0 {
        return Err((
            &TOSA_OPERATOR,
            format!("{op} has the attributes of another operator: {tag}"),
        ));
    }
    let (inputs, outputs) = (operator.inputs(), operator.outputs());
    let counts = [inputs, outputs].map(|names| names.map_or(0, |names| names.len()));
    let ranges = [("inputs", form.inputs), ("outputs", form.outputs)];
    for ((what, range), count) in ranges.into_iter().zip(counts) {
        if count < range.0.into() || count > range.1.into() {
            return Err((&TOSA_OPERATOR, format!("{op} does not have {count} {what}")));
        }
    }
    if !form.has_shapes() {
        return Ok(());
    }
    let find = |name: &str| {
        cost::look_up(name, values.len());
        values.get(name).copied()
    };
    let Some(output) = outputs.into_iter().flatten().next().and_then(find) else { return Ok(()) };
    let inputs = inputs.into_iter().flatten().map(find);
    let wrong = shapes::unfit(form, operator, inputs, output);
    wrong.map_or(Ok(()), |message| Err((&TOSA_SHAPE, format!("{op}: {message}"))))
}
