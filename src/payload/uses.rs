//! The uses of the constants of an XNNPACK payload.

use alloc::collections::{BTreeMap, BTreeSet};

use super::contents::{Reader, all_readers};
use super::xnnpack::{XnnpackGraph, constants_of, tensor_of};
use crate::cost;
use crate::schema::xnnpack::XNNDatatype;

/// The constants of a graph that values use, by their indices.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConstantUses {
    /// The data of values.
    data: BTreeSet<u32>,
    /// The scales of values.
    scales: BTreeSet<u32>,
    /// What the backend reads each time that it runs, with the first node that reads it. It copies the rest
    /// when it loads the payload.
    referenced: BTreeMap<u32, u32>,
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
            // The backend takes the first of the values with one id.
            values.entry(tensor.id_out()).or_insert((tensor.datatype(), [data, scales]));
            uses.data.extend(Some(data).filter(|&nth| nth != 0));
            uses.scales.extend(Some(scales).filter(|&nth| nth != 0));
        }
        for (id, reader) in all_readers(graph) {
            cost::look_up("", values.len());
            let Some((datatype, constants)) = values.get(&id) else { continue };
            if !is_packed(reader, *datatype) {
                for &nth in constants.iter().filter(|&&nth| nth != 0) {
                    cost::look_up("", uses.referenced.len());
                    uses.referenced.entry(nth).or_insert(reader.node);
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

    /// Returns the constants that the backend reads each time that it runs, with the first node that does.
    pub(crate) fn referenced(&self) -> impl Iterator<Item = (u32, u32)> {
        self.referenced.iter().map(|(&nth, &node)| (nth, node))
    }

    /// Returns whether a constant is only used as scales.
    #[cfg(feature = "sha2")]
    pub(crate) fn is_scales(&self, nth: u32) -> bool {
        self.scales.contains(&nth) && !self.data.contains(&nth)
    }

    /// Returns whether the backend reads a constant each time that it runs.
    #[cfg(feature = "sha2")]
    pub(crate) fn is_referenced(&self, nth: u32) -> bool {
        self.referenced.contains_key(&nth)
    }
}

/// Returns whether the backend copies a constant of this datatype when it loads the payload. It reads any
/// other where it is, each time that it runs.
fn is_packed(reader: Reader, datatype: XNNDatatype) -> bool {
    use XNNDatatype as D;
    match (reader.operator(), reader.input()) {
        (_, "filter" | "bias") => true,
        ("XNNBatchMatrixMultiply", "input2") => {
            matches!(datatype, D::xnn_datatype_fp32 | D::xnn_datatype_fp16 | D::xnn_datatype_qcint8)
        }
        _ => false,
    }
}
