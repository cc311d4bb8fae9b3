//! The inputs of the operators of XNNPACK: the fields that name the values that a node reads.

use super::xnnpack::NO_ID;
use pte_flat::desc::{FieldDesc, Kind, Member};
use pte_flat::view::Table;
use pte_schema::xnnpack::desc;
use pte_schema::xnnpack::view::XNode;

/// A field that names a value that a node reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Input {
    /// The slot of the field.
    pub(super) slot: u8,
    pub(super) role: Role,
}

/// The role of an input, which decides when the backend copies a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The filter or the bias of a layer.
    OfLayer,
    /// The second matrix of a matrix multiplication.
    SecondMatrix,
    /// Any other role.
    Other,
}

/// A value that a node reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeInput {
    /// The tag of the node's operator.
    pub(super) tag: u8,
    pub(super) input: Input,
    /// The id of the value.
    pub(super) id: u32,
}

/// Returns the values that a node reads, in the order of its operator's fields.
#[inline]
pub(super) fn inputs(node: XNode<'_>) -> impl Iterator<Item = NodeInput> + Clone {
    node.raw().member(XNode::DESC).into_iter().flat_map(|(tag, table)| {
        inputs_of(tag).iter().filter_map(move |&input| {
            let id = table.scalar::<u32>(input.slot.into()).unwrap_or_default();
            (id != NO_ID).then_some(NodeInput { tag, input, id })
        })
    })
}

/// Returns the inputs of the operator with a tag, in the order of its fields. An unknown operator
/// has none.
#[inline]
fn inputs_of(tag: u8) -> &'static [Input] {
    let inputs = usize::from(tag).checked_sub(1).and_then(|nth| INPUTS.get(nth));
    inputs.map_or(&[], |inputs| inputs.all.get(..inputs.len).unwrap_or_default())
}

/// The inputs of one operator.
#[derive(Clone, Copy)]
struct Inputs {
    all: [Input; MOST_INPUTS],
    len: usize,
}

/// The most inputs of an operator.
const MOST_INPUTS: usize = 5;

/// The number of operators.
const OPERATORS: usize = desc::XNodeUnion.members.len();

/// The inputs of each operator, by its tag less 1.
static INPUTS: [Inputs; OPERATORS] = all_inputs(desc::XNodeUnion.members);

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs only while compiling, where it is an error"
)]
const fn all_inputs(mut members: &[Member]) -> [Inputs; OPERATORS] {
    let none = Input { slot: 0, role: Role::Other };
    let mut all = [Inputs { all: [none; MOST_INPUTS], len: 0 }; OPERATORS];
    let mut nth = 0;
    while let [member, rest @ ..] = members {
        let mut fields = member.table.fields;
        while let [field, rest @ ..] = fields {
            if let Some(input) = input(member, field) {
                all[nth].all[all[nth].len] = input;
                all[nth].len += 1;
            }
            fields = rest;
        }
        members = rest;
        nth += 1;
    }
    all
}

/// Returns the input of an operator that is in a field: a number whose name ends with `_id`, and
/// does not begin with `output`.
#[expect(clippy::as_conversions, reason = "runs only while compiling, and slots are few")]
const fn input(member: &Member, field: &FieldDesc) -> Option<Input> {
    let (operator, name) = (member.name.as_bytes(), field.name.as_bytes());
    let is_number = matches!(field.kind, Kind::Scalar(_));
    if !is_number || !matches!(name, [.., b'_', b'i', b'd']) {
        return None;
    }
    let role = match name {
        [b'o', b'u', b't', b'p', b'u', b't', ..] => return None,
        b"filter_id" | b"bias_id" => Role::OfLayer,
        b"input2_id" if matches!(operator, b"XNNBatchMatrixMultiply") => Role::SecondMatrix,
        _ => Role::Other,
    };
    Some(Input { slot: field.slot as u8, role })
}
