//! The uses of the constants of an XNNPACK payload.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::LazyCell;

use super::super::id_map::IdMap;
use super::{NO_ID, NodeIds, XnnpackGraph, constants_of, is_layer, tensor_of};
use pte_flat::cost;
use pte_schema::xnnpack::XNNDatatype;
use pte_schema::xnnpack::view::XNodeUnion;

/// The constants of a graph that its values use, by index.
#[derive(Clone, Debug, Default)]
pub struct ConstantUses {
    /// The constants used as data of values, sorted.
    data: Vec<u32>,
    /// The constants used as scales of values, sorted.
    scales: Vec<u32>,
    /// The constants that the backend reads at each run, each with the first node that reads it.
    /// All other constants are copied when the payload is loaded.
    referenced: BTreeMap<u32, u32>,
    /// The constants in `referenced` that the backend mistakes for copied ones, and frees if they
    /// are named data.
    mistaken: BTreeMap<u32, u32>,
}

/// A value that uses constants.
#[derive(Clone, Copy)]
struct ConstantValue {
    datatype: XNNDatatype,
    /// The constants that it uses as data and as scales; 0 for none.
    constants: [u32; 2],
}

impl ConstantUses {
    /// Finds the uses in a graph.
    pub fn of(graph: &XnnpackGraph<'_>) -> Self {
        let mut uses = Self::default();
        let all = graph.root().xvalues().unwrap_or_default();
        let mut values = IdMap::new(all.len());
        for value in all {
            let Some(tensor) = tensor_of(value) else { continue };
            let constants @ [data, scales] = constants_of(value);
            if constants == [0, 0] {
                continue;
            }
            // If several values have one id, the backend uses the first.
            let datatype = tensor.datatype();
            values.insert_first(tensor.id_out(), ConstantValue { datatype, constants });
            uses.data.extend(Some(data).filter(|&nth| nth != 0));
            uses.scales.extend(Some(scales).filter(|&nth| nth != 0));
        }
        for list in [&mut uses.data, &mut uses.scales] {
            cost::sort(list.len());
            list.sort_unstable();
        }
        if uses.data.is_empty() && uses.scales.is_empty() {
            return uses;
        }
        let is_constant = |id: u32| {
            values.get(id).is_some_and(|ConstantValue { constants: [data, _], .. }| data != 0)
        };
        // Most graphs read no constant in place.
        let weights = LazyCell::new(|| weights(graph));
        for (nth, node) in (0..).zip(graph.root().xnodes().into_iter().flatten()) {
            let Some(operator) = node.xnode_union() else { continue };
            let Some(ids) = NodeIds::of(operator) else { continue };
            // A layer copies its filter and bias only if both are constants.
            let is_packing = weights_of(operator, &ids).iter().all(|&id| is_constant(id));
            for (position, &id) in ids.inputs().iter().enumerate().filter(|&(_, &id)| id != NO_ID) {
                let role = Role::of(operator, position);
                let Some(ConstantValue { datatype, constants }) = values.get(id) else { continue };
                if is_packed(role, datatype, is_packing) {
                    continue;
                }
                let is_mistaken = weights.get(id).is_some();
                for constant in constants.into_iter().filter(|&constant| constant != 0) {
                    cost::look_up("", uses.referenced.len());
                    uses.referenced.entry(constant).or_insert(nth);
                    if is_mistaken {
                        cost::look_up("", uses.mistaken.len());
                        uses.mistaken.entry(constant).or_insert(nth);
                    }
                }
            }
        }
        uses
    }

    /// Returns whether no value uses a constant.
    #[cfg(feature = "sha2")]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.scales.is_empty()
    }

    /// Returns the constants that the backend reads at each run, each with the first node that
    /// reads it.
    pub fn referenced(&self) -> impl Iterator<Item = (u32, u32)> {
        self.referenced.iter().map(|(&nth, &node)| (nth, node))
    }

    /// Returns whether a constant is used as scales only.
    #[cfg(feature = "sha2")]
    pub(crate) fn is_scales(&self, nth: u32) -> bool {
        self.scales.binary_search(&nth).is_ok() && self.data.binary_search(&nth).is_err()
    }

    /// Returns whether the backend reads a constant at each run.
    #[cfg(feature = "sha2")]
    pub(crate) fn is_referenced(&self, nth: u32) -> bool {
        self.referenced.contains_key(&nth)
    }

    /// Returns the first node that reads a constant at each run although the backend mistakes the
    /// constant for a copied one. The backend then frees the constant if it is named data.
    pub fn mistaken(&self, nth: u32) -> Option<u32> {
        self.mistaken.get(&nth).copied()
    }
}

/// Returns the values that are the filter or the bias of a layer.
fn weights(graph: &XnnpackGraph<'_>) -> IdMap<()> {
    let mut weights = IdMap::new(graph.root().xvalues().map_or(0, |all| all.len()));
    for operator in
        graph.root().xnodes().into_iter().flatten().filter_map(|node| node.xnode_union())
    {
        let Some(ids) = NodeIds::of(operator) else { continue };
        weights_of(operator, &ids).iter().for_each(|&id| weights.insert_first(id, ()));
    }
    weights
}

/// The role of an input, which decides when the backend copies a constant.
#[derive(Clone, Copy)]
enum Role {
    /// The filter or the bias of a layer.
    OfLayer,
    /// The second matrix of a matrix multiplication.
    SecondMatrix,
    /// Any other role.
    Other,
}

impl Role {
    /// Returns the role of an operator's input.
    fn of(operator: XNodeUnion<'_>, position: usize) -> Self {
        use XNodeUnion as U;
        match operator {
            _ if position == 0 => Self::Other,
            _ if is_layer(operator) => Self::OfLayer,
            U::XNNBatchMatrixMultiply(_) => Self::SecondMatrix,
            _ => Self::Other,
        }
    }
}

/// Returns the ids of the filter and the bias of a layer; none for another operator.
fn weights_of<'n>(operator: XNodeUnion<'_>, ids: &'n NodeIds) -> &'n [u32] {
    match Role::of(operator, 1) {
        Role::OfLayer => ids.inputs().get(1..).unwrap_or_default(),
        _ => &[],
    }
}

/// Returns whether the backend copies a constant of this datatype when it loads the payload. Other
/// constants are read in place at each run. `is_packing` says whether the node copies a filter and
/// a bias.
fn is_packed(role: Role, datatype: XNNDatatype, is_packing: bool) -> bool {
    use XNNDatatype as D;
    match role {
        Role::OfLayer => is_packing,
        Role::SecondMatrix => {
            matches!(datatype, D::xnn_datatype_fp32 | D::xnn_datatype_fp16 | D::xnn_datatype_qcint8)
        }
        Role::Other => false,
    }
}
