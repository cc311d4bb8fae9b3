//! The uses of the constants of an XNNPACK payload.

use alloc::collections::{BTreeMap, BTreeSet};

use super::contents::{Reader, all_readers, nodes_with_inputs};
use super::xnnpack::{XnnpackGraph, constants_of, tensor_of};
use crate::cost;
use crate::schema::xnnpack::XNNDatatype;

/// The constants of a graph that its values use, by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConstantUses {
    /// The constants used as data of values.
    data: BTreeSet<u32>,
    /// The constants used as scales of values.
    scales: BTreeSet<u32>,
    /// The constants that the backend reads at each run, each with the first node that reads it.
    /// All other constants are copied when the payload is loaded.
    referenced: BTreeMap<u32, u32>,
    /// The constants in `referenced` that the backend mistakes for copied ones, and frees if they
    /// are named data.
    mistaken: BTreeMap<u32, u32>,
}

impl ConstantUses {
    /// Finds the uses in a graph.
    pub(crate) fn of(graph: &XnnpackGraph<'_>) -> Self {
        let mut uses = Self::default();
        let mut values = BTreeMap::new();
        for value in graph.root().xvalues().into_iter().flatten() {
            let Some(tensor) = tensor_of(value) else { continue };
            let [data, scales] = constants_of(value);
            if [data, scales] == [0, 0] {
                continue;
            }
            cost::look_up("", values.len());
            // If several values have one id, the backend uses the first.
            values.entry(tensor.id_out()).or_insert((tensor.datatype(), [data, scales]));
            uses.data.extend(Some(data).filter(|&nth| nth != 0));
            uses.scales.extend(Some(scales).filter(|&nth| nth != 0));
        }
        if values.is_empty() {
            return uses;
        }
        let find = |id: u32| {
            cost::look_up("", values.len());
            values.get(&id)
        };
        let is_constant = |id: u32| find(id).is_some_and(|(_, [data, _])| *data != 0);
        let weights: BTreeSet<u32> = all_readers(graph)
            .filter(|(_, reader)| reader.is_of_layer())
            .map(|(id, _)| id)
            .collect();
        cost::sort(weights.len());
        for (node, inputs) in nodes_with_inputs(graph) {
            // A layer copies its filter and bias only if both are constants.
            let is_packing =
                inputs.clone().all(|(id, reader)| !reader.is_of_layer() || is_constant(id));
            for (id, reader) in inputs {
                let Some((datatype, constants)) = find(id) else { continue };
                if is_packed(reader, *datatype, is_packing) {
                    continue;
                }
                cost::look_up("", weights.len());
                let is_mistaken = weights.contains(&id);
                for &nth in constants.iter().filter(|&&nth| nth != 0) {
                    cost::look_up("", uses.referenced.len());
                    uses.referenced.entry(nth).or_insert(node);
                    if is_mistaken {
                        cost::look_up("", uses.mistaken.len());
                        uses.mistaken.entry(nth).or_insert(node);
                    }
                }
            }
        }
        uses
    }

    /// Returns whether no value uses a constant.
    #[cfg(feature = "sha2")]
    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty() && self.scales.is_empty()
    }

    /// Returns the constants that the backend reads at each run, each with the first node that
    /// reads it.
    pub(crate) fn referenced(&self) -> impl Iterator<Item = (u32, u32)> {
        self.referenced.iter().map(|(&nth, &node)| (nth, node))
    }

    /// Returns whether a constant is used as scales only.
    #[cfg(feature = "sha2")]
    pub(crate) fn is_scales(&self, nth: u32) -> bool {
        self.scales.contains(&nth) && !self.data.contains(&nth)
    }

    /// Returns whether the backend reads a constant at each run.
    #[cfg(feature = "sha2")]
    pub(crate) fn is_referenced(&self, nth: u32) -> bool {
        self.referenced.contains_key(&nth)
    }

    /// Returns the first node that reads a constant at each run although the backend mistakes the
    /// constant for a copied one. The backend then frees the constant if it is named data.
    pub(crate) fn mistaken(&self, nth: u32) -> Option<u32> {
        self.mistaken.get(&nth).copied()
    }
}

/// Returns whether the backend copies a constant of this datatype when it loads the payload. Other
/// constants are read in place at each run. `is_packing` says whether the node copies a filter and
/// a bias.
fn is_packed(reader: Reader, datatype: XNNDatatype, is_packing: bool) -> bool {
    use XNNDatatype as D;
    if reader.is_of_layer() {
        return is_packing;
    }
    match (reader.operator(), reader.input()) {
        ("XNNBatchMatrixMultiply", "input2") => {
            matches!(datatype, D::xnn_datatype_fp32 | D::xnn_datatype_fp16 | D::xnn_datatype_qcint8)
        }
        _ => false,
    }
}
