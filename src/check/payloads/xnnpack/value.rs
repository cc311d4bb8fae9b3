//! A value of a graph, and the list of them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::XNNPACK_ID;
use super::shape::Shape;
use crate::rule::Broken;
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_flat::inserted;
use pte_flat::view::Vector;
use pte_schema::xnnpack::XNNDatatype;

/// The values of a graph, except those with an Error.
pub(super) struct Values<'p> {
    all: Vec<Value<'p>>,
    /// The state of each value before the first node.
    states: Vec<State>,
    ids: Ids,
    /// The indices of the outputs of the graph.
    outputs: Vec<u32>,
    /// The scales of channels and groups, each with the index of its value.
    pub(super) scales: Vec<(u32, Scales<'p>)>,
}

/// The index of each value, by its id.
enum Ids {
    /// The ids of this many values equal their indices, as every writer numbers values.
    Equal(u32),
    Others(BTreeMap<u32, u32>),
}

/// A value without an Error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'p> {
    /// The id by which nodes name it.
    pub(super) id: u32,
    /// The datatype of its data.
    pub(super) stored: XNNDatatype,
    /// The datatype that nodes see.
    pub(super) datatype: XNNDatatype,
    /// The size of each dimension, outermost first. `None` is a scalar, unless a node reads them.
    pub(super) sizes: Option<Vector<'p, u32>>,
    pub(super) quantization: Quantization,
    /// The size of its data in bytes, if it is a constant.
    pub(super) constant: Option<u64>,
    pub(super) external: External,
}

/// The quantization of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quantization {
    None,
    /// One scale and zero point.
    Tensor {
        scale: f32,
        zero_point: i32,
    },
    /// Scales that are computed when the graph runs, one for each group of this many innermost
    /// dimensions.
    Dynamic {
        dimensions: usize,
    },
    /// This many scales, one for each index of a dimension.
    Channel {
        dimension: usize,
        count: u64,
        /// The largest scale; `None` until the scales are read, or if they are not available.
        largest: Option<f32>,
    },
    /// A scale for each group of this many elements.
    Group {
        size: u64,
    },
}

/// The scales of channels or groups: a list in the graph, or a constant.
#[derive(Clone, Copy)]
pub(super) struct Scales<'p> {
    pub(super) list: Option<Vector<'p, f32>>,
    /// The index of the constant; 0 if the scales are in `list`.
    pub(super) constant: u32,
    /// The number of scales that the backend reads.
    pub(super) count: u64,
    /// The size of a scale in the constant, in bytes.
    pub(super) size: u64,
}

/// Whether a value is an argument of the call, with the index of the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum External {
    No,
    Input(u32),
    Output(u32),
}

impl Ids {
    /// Adds a value with the next index. If an earlier value has the same id, returns its index.
    #[inline(always)]
    fn insert(&mut self, id: u32, index: u32) -> Option<u32> {
        match self {
            Self::Equal(count) if id == index && index == *count => {
                *count = index.saturating_add(1);
                None
            }
            _ => self.insert_any(id, index),
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_any(&mut self, id: u32, index: u32) -> Option<u32> {
        match self {
            Self::Equal(count) => {
                let mut map: BTreeMap<_, _> = inserted((0..*count).map(|id| (id, id)));
                let known = map.insert(id, index);
                *self = Self::Others(map);
                known
            }
            Self::Others(map) => {
                cost::look_up("", map.len());
                map.insert(id, index)
            }
        }
    }
}

impl Value<'_> {
    pub(super) fn shape(&self) -> Shape {
        // A value without an Error has few enough dimensions.
        self.sizes.and_then(Shape::of).unwrap_or_default()
    }

    /// Returns whether the value has data before any node runs.
    pub(super) fn is_given(&self) -> bool {
        self.constant.is_some() || matches!(self.external, External::Input(_))
    }

    /// Returns whether the value may have a constant as its data or its scales.
    pub(super) fn may_have_constants(&self) -> bool {
        let has_scales =
            matches!(self.quantization, Quantization::Channel { .. } | Quantization::Group { .. });
        self.constant.is_some() || has_scales
    }
}

impl<'p> Values<'p> {
    /// Returns no values, with memory for `count`.
    pub(super) fn with_capacity(count: usize) -> Self {
        Self {
            all: Vec::with_capacity(count),
            states: Vec::with_capacity(count),
            ids: Ids::Equal(0),
            outputs: Vec::new(),
            scales: Vec::new(),
        }
    }

    /// Adds the value with index `nth`, whose id must be that of no other value.
    #[inline(always)]
    pub(super) fn add(&mut self, nth: u32, value: Value<'p>) -> Result<(), Broken> {
        if let Some(first) = self.ids.insert(value.id, nth) {
            let id = value.id;
            return Err((&XNNPACK_ID, format!("id {id} is that of value {first} too")));
        }
        if let External::Output(_) = value.external {
            self.outputs.push(nth);
        }
        self.states.push(State {
            datatype: value.datatype,
            has_data: value.is_given(),
            is_constant: value.constant.is_some(),
        });
        self.all.push(value);
        Ok(())
    }

    /// Returns the value with an id.
    pub(super) fn get(&self, id: u32) -> Option<&Value<'p>> {
        self.all.get(index(self.index_of(id)?))
    }

    /// Returns a number of values. Smaller ids are the indices of their values.
    pub(super) fn equal(&self) -> u32 {
        match self.ids {
            Ids::Equal(count) => count,
            Ids::Others(_) => 0,
        }
    }

    /// Returns the index of the value with an id.
    pub(super) fn index_of(&self, id: u32) -> Option<u32> {
        match &self.ids {
            Ids::Equal(count) => (id < *count).then_some(id),
            Ids::Others(map) => {
                cost::look_up("", map.len());
                map.get(&id).copied()
            }
        }
    }

    /// Returns all values.
    pub(super) fn all(&self) -> &[Value<'p>] {
        &self.all
    }

    /// Returns the state of each value before the first node.
    pub(super) fn states(&self) -> &[State] {
        &self.states
    }

    /// Returns the outputs of the graph, each with its index.
    pub(super) fn outputs(&self) -> impl Iterator<Item = (u32, &Value<'p>)> {
        self.outputs.iter().filter_map(|&nth| Some((nth, self.all.get(index(nth))?)))
    }

    /// Records the largest scale of the value with index `nth`, if it has scales of channels.
    pub(super) fn set_largest_scale(&mut self, nth: u32, scale: f32) {
        if let Some(Value { quantization: Quantization::Channel { largest, .. }, .. }) =
            self.all.get_mut(index(nth))
        {
            *largest = Some(scale);
        }
    }
}

/// The state of a value before the next node.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) datatype: XNNDatatype,
    /// Whether a node wrote the value, or it had data before any node.
    pub(super) has_data: bool,
    pub(super) is_constant: bool,
}

/// Returns whether the backend takes a number as a scale.
pub(super) fn is_scale(scale: f32) -> bool {
    scale.is_normal() && scale > 0.0
}
