//! Moves constants and named data from a program to a `.ptd`, and back.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[cfg(feature = "sha2")]
use super::FixedPayload;
use super::constants::{concatenated, is_constant, is_state};
use super::{Blob, Container, FileModel, HeaderForm, ModelError, PtdModel, PteModel, ReadError};
use crate::error::wraps;
use pte_flat::bytes::{index, narrow};
use pte_flat::ledger::MemoryError;
use pte_flat::quoted::Quoted;
use pte_flat::tree::Unknown;
use pte_flat::write::WriterLayout;
use pte_schema::flat_tensor::model::{FlatTensor, NamedData, TensorLayout};
use pte_schema::program;
use pte_schema::program::TensorDataLocation;
use pte_schema::program::model::{SubsegmentOffsets, Tensor};
use pte_schema::scalar::ScalarType;

/// Data that may move out of a program, as offered to a filter.
#[derive(Clone, Copy, Debug)]
pub enum External<'m> {
    /// A constant tensor.
    Constant {
        /// The key that the constant will have in the `.ptd`.
        key: &'m str,
        /// The number of bytes of the constant.
        bytes: u64,
    },
    /// Named data, which a delegate uses.
    Data {
        /// The key.
        key: &'m str,
        /// The number of bytes of the data.
        bytes: u64,
    },
}

/// The kinds of data that move out of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalKind {
    /// Constant tensors.
    Constants,
    /// Named data.
    Data,
    /// Both.
    All,
}

impl ExternalKind {
    /// Returns the kind with this name: `constants`, `data` or `all`.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "constants" => Some(Self::Constants),
            "data" => Some(Self::Data),
            "all" => Some(Self::All),
            _ => None,
        }
    }

    /// Returns whether `external` is of this kind and has `least` bytes or more.
    #[must_use]
    pub fn includes(self, external: External<'_>, least: u64) -> bool {
        match external {
            External::Constant { bytes, .. } => self != Self::Data && bytes >= least,
            External::Data { bytes, .. } => self != Self::Constants && bytes >= least,
        }
    }
}

pte_flat::errors! {
    /// An error in moving data out of a program, or back.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum ExternalError {
        /// A constant tensor has no bytes, or fewer bytes than its shape needs.
        Constant {
            /// The index of the constant.
            data_buffer_idx: u32,
        } => "constant {data_buffer_idx} has fewer bytes than its tensor";
        /// Two different blobs would have the same key.
        SameKey(key: String) => "duplicate key {}", Quoted(key);
        /// The data of a tensor has another shape than the tensor, or fewer bytes than its shape needs.
        Mismatch(key: String) => "the data of {} does not fit its tensor", Quoted(key);
        /// The constants of a delegate's payload cannot be moved.
        #[cfg(feature = "sha2")]
        Payload {
            /// The name of the method.
            method: String,
            /// The index of the delegate in its method.
            delegate: usize,
            /// The reason.
            reason: FixedPayload,
        } => "the payload of delegate {delegate} of {} cannot be changed: {reason}", Quoted(method);
        /// The constants cannot be stored in the program.
        Model(error: ModelError) => "{error}";
        /// Bytes could not be read from their source.
        Read(error: ReadError) => "{error}";
    }
}

/// Counts of the data that was moved into a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inlined {
    /// The number of tensors whose data was outside the program.
    pub tensors: usize,
    /// The number of named data that delegates use.
    pub data: usize,
    /// The number of tensors in the `.ptd` that the program does not use. These tensors are left
    /// out.
    pub unused: usize,
}

/// The dtype, the sizes and the dim order of a tensor, as a key of a map.
type LayoutKey = (ScalarType, Vec<i32>, Vec<u8>);

impl<'a> PteModel<'a> {
    /// Moves the constants and named data for which `chosen` returns true into a `.ptd`. A constant
    /// tensor keeps its name, or gets one from its method and index.
    ///
    /// # Errors
    ///
    /// A constant has no bytes, or two different blobs would have the same key.
    pub fn externalize(
        &mut self,
        mut chosen: impl FnMut(External<'_>) -> bool,
    ) -> Result<PtdModel<'a>, ExternalError> {
        let mut ptd = PtdModel::empty();
        let constants = self.constants();
        // Each constant gets a segment, and each shape of a constant gets a key.
        let mut segments: BTreeMap<u32, (u32, u64)> = BTreeMap::new();
        let mut keys: BTreeMap<(u32, LayoutKey), String> = BTreeMap::new();
        // Names must be unique across all files of a program.
        let mut names: BTreeSet<String> = self.external_names();
        let mut kept: BTreeSet<u32> = BTreeSet::new();
        for (place, tensor) in self.constant_tensors() {
            let data_buffer_idx = tensor.data_buffer_idx;
            let shape = shape(tensor);
            let size = shape.0.nbytes(shape.1.iter().copied());
            let data = constants.get(index(data_buffer_idx));
            let bytes = size.filter(|size| data.is_some_and(|data| data.len() >= *size));
            let bytes = bytes.ok_or(ExternalError::Constant { data_buffer_idx })?;
            let known = keys.get(&(data_buffer_idx, shape.clone())).cloned();
            let own =
                tensor.extra_tensor_info.as_ref().and_then(|e| e.fully_qualified_name.clone());
            let key = known.clone().or(own).unwrap_or(place);
            if !chosen(External::Constant { key: &key, bytes }) {
                kept.insert(data_buffer_idx);
                continue;
            }
            if known.is_none() {
                if !names.insert(key.clone()) {
                    return Err(ExternalError::SameKey(key));
                }
                let segment = segments.entry(data_buffer_idx);
                let (segment, most) = segment.or_insert_with(|| (ptd.hold(Blob::EMPTY), 0));
                *most = bytes.max(*most);
                ptd.push(key.clone(), *segment, Some(&shape));
                keys.insert((data_buffer_idx, shape), key.clone());
            }
            let extra = tensor.extra_tensor_info.get_or_insert_default();
            extra.fully_qualified_name = Some(key);
            extra.location = TensorDataLocation::EXTERNAL;
            // The index must not be 0. The runtime does not need it to load the data, but for
            // `MethodMeta` 0 means an output without memory (format.md §7.3), for which callers
            // provide zeroed memory.
            tensor.data_buffer_idx = narrow(keys.len());
        }
        // A segment is as long as the largest shape of its constant requires.
        for (&nth, &(segment, bytes)) in &segments {
            let held = ptd.segments.get_mut(index(segment));
            if let (Some(held), Some(data)) = (held, constants.get(index(nth))) {
                *held = data.slice(0..bytes);
            }
        }
        self.forget_constants(constants, |nth| {
            segments.contains_key(&nth) && !kept.contains(&nth)
        })?;
        self.externalize_data(&mut ptd, &mut names, &mut chosen)?;
        ptd.lay_out();
        Ok(ptd)
    }

    /// Moves the data of a `.ptd` into the program. The data of tensors becomes constants or
    /// initial states, and blobs become named data.
    ///
    /// # Errors
    ///
    /// If a tensor and its data have different shapes, or if the program has the key of a blob.
    pub fn inline(&mut self, ptd: &PtdModel<'a>) -> Result<Inlined, ExternalError> {
        let mut inlined = Inlined::default();
        let entries: BTreeMap<&str, &NamedData> = {
            // If two entries have the same name, runtimes use the first.
            let entries = ptd.root.named_data.iter().flatten().rev();
            entries.filter_map(|entry| Some((entry.key.as_deref()?, entry))).collect()
        };
        let (mut constants, mut states) = (self.constants(), self.states());
        let mut places: [BTreeMap<u32, u32>; 2] = Default::default();
        let mut used = BTreeSet::new();
        for tensor in self.tensors() {
            let Some(extra) = &mut tensor.extra_tensor_info else { continue };
            let name = extra.fully_qualified_name.as_deref();
            let entry = name.and_then(|name| entries.get(name)).copied();
            let Some(entry) = entry.filter(|_| extra.location == TensorDataLocation::EXTERNAL)
            else {
                continue;
            };
            let key = entry.key.clone().unwrap_or_default();
            let of_tensor = (tensor.scalar_type, &tensor.sizes, &tensor.dim_order);
            let same = entry.tensor_layout.as_ref().is_some_and(|layout| {
                (layout.scalar_type, &layout.sizes, &layout.dim_order) == of_tensor
            });
            let size = tensor.scalar_type.nbytes(tensor.sizes.iter().flatten().copied());
            let data = ptd.segments.get(index(entry.segment_index)).zip(size);
            let data = data.filter(|(data, size)| same && data.len() >= *size);
            let Some((data, size)) = data else { return Err(ExternalError::Mismatch(key)) };
            let is_state = tensor.allocation_info.is_some();
            let (list, places) = match (is_state, &mut places) {
                (false, [places, _]) => (&mut constants, places),
                (true, [_, places]) => (&mut states, places),
            };
            // At most two blobs are added: the empty first one, and the data.
            reserve(list, 2)?;
            if list.is_empty() {
                list.push(Blob::EMPTY);
            }
            let place = places.entry(entry.segment_index).or_insert_with(|| {
                list.push(Blob::EMPTY);
                narrow(list.len().saturating_sub(1))
            });
            // All users begin at the first byte, so the data is as long as the largest user
            // requires.
            if let Some(held) = list.get_mut(index(*place)).filter(|held| held.len() < size) {
                *held = data.slice(0..size);
            }
            tensor.data_buffer_idx = *place;
            extra.location = TensorDataLocation::SEGMENT;
            used.insert(key);
            inlined.tensors = inlined.tensors.saturating_add(1);
        }
        let [had_constants, had_states] = places.map(|places| !places.is_empty());
        if had_constants {
            self.set_constants(constants)?;
        }
        if had_states {
            self.set_states(states);
        }
        let named = self.root.named_data.as_deref().unwrap_or_default();
        let known: BTreeSet<String> = named.iter().filter_map(|entry| entry.key.clone()).collect();
        let mut held = BTreeMap::new();
        for entry in ptd.root.named_data.iter().flatten() {
            let Some(key) = entry.key.as_deref().filter(|&key| !used.contains(key)) else {
                continue;
            };
            if entry.tensor_layout.is_some() {
                inlined.unused = inlined.unused.saturating_add(1);
                continue;
            }
            let Some(data) = ptd.segments.get(index(entry.segment_index)) else { continue };
            // Runtimes refuse a key that is in both.
            if known.contains(key) {
                return Err(ExternalError::SameKey(key.into()));
            }
            // Entries that share a segment in the `.ptd` also share one in the program.
            let segment_index = held.entry(entry.segment_index);
            let segment_index = *segment_index.or_insert_with(|| self.hold(data.clone()));
            let named = self.root.named_data.get_or_insert_default();
            named.push(program::model::NamedData { key: Some(key.to_string()), segment_index });
            inlined.data = inlined.data.saturating_add(1);
        }
        if inlined.data > 0 {
            self.lay_out();
        }
        Ok(inlined)
    }

    /// Returns the names of all tensors whose data is outside the program.
    fn external_names(&mut self) -> BTreeSet<String> {
        let extras = self.tensors().filter_map(|tensor| tensor.extra_tensor_info.as_ref());
        let outside = extras.filter(|extra| extra.location == TensorDataLocation::EXTERNAL);
        outside.filter_map(|extra| extra.fully_qualified_name.clone()).collect()
    }

    /// Returns the constant tensors, each with a default name made of its method and index.
    fn constant_tensors(&mut self) -> impl Iterator<Item = (String, &mut Tensor)> {
        let plans = self.root.execution_plan.iter_mut().flatten();
        plans.flat_map(|plan| {
            let method = plan.name.clone().unwrap_or_default();
            let values = plan.values.iter_mut().flatten().enumerate();
            values.filter_map(move |(nth, value)| match &mut value.val {
                Some(program::model::KernelTypes::Tensor(tensor)) if is_constant(tensor) => {
                    Some((format!("{method}.{nth}"), tensor))
                }
                _ => None,
            })
        })
    }

    /// Removes the constants for which `is_out` returns true, and updates the indices of the
    /// others.
    fn forget_constants(
        &mut self,
        constants: Vec<Blob<'a>>,
        is_out: impl Fn(u32) -> bool,
    ) -> Result<(), ExternalError> {
        let (mut places, mut left) = (BTreeMap::new(), Vec::new());
        let count = constants.len();
        reserve(&mut left, count)?;
        for (nth, constant) in (0..).zip(constants) {
            if !is_out(nth) {
                places.insert(nth, narrow(left.len()));
                left.push(constant);
            }
        }
        if left.len() == count {
            return Ok(());
        }
        for (_, tensor) in self.constant_tensors() {
            if let Some(&place) = places.get(&tensor.data_buffer_idx) {
                tensor.data_buffer_idx = place;
            }
        }
        Ok(self.set_constants(left)?)
    }

    /// Returns the bytes of each initial state, by `Tensor.data_buffer_idx`.
    fn states(&self) -> Vec<Blob<'a>> {
        let states = self.root.mutable_data_segments.iter().flatten().next();
        let Some(states) = states else { return Vec::new() };
        let offsets = states.offsets.as_deref().unwrap_or_default();
        self.pieces(states.segment_index, offsets, is_state)
    }

    /// Replaces the initial states, which are stored without padding. Only the first list of states
    /// is replaced: runtimes read no other.
    fn set_states(&mut self, states: Vec<Blob<'a>>) {
        let (data, offsets) = concatenated(states, 1);
        let old = self.root.mutable_data_segments.iter().flatten().next().cloned();
        let segment_index = self.segment_after(old, data);
        let states = SubsegmentOffsets { segment_index, offsets: Some(offsets) };
        let lists = self.root.mutable_data_segments.get_or_insert_default();
        match lists.first_mut() {
            Some(first) => *first = states,
            None => lists.push(states),
        }
    }

    fn externalize_data(
        &mut self,
        ptd: &mut PtdModel<'a>,
        names: &mut BTreeSet<String>,
        chosen: &mut impl FnMut(External<'_>) -> bool,
    ) -> Result<(), ExternalError> {
        let (mut places, mut out) = (BTreeMap::new(), Vec::new());
        let named = self.root.named_data.take().unwrap_or_default();
        let mut left = Vec::new();
        reserve(&mut left, named.len())?;
        reserve(&mut out, named.len())?;
        for entry in named {
            let segment = self.segments.get(index(entry.segment_index));
            let (Some(data), Some(key)) = (segment, entry.key.as_deref()) else {
                left.push(entry);
                continue;
            };
            if !chosen(External::Data { key, bytes: data.len() }) {
                left.push(entry);
                continue;
            }
            if !names.insert(key.to_string()) {
                return Err(ExternalError::SameKey(key.into()));
            }
            let segment = places.entry(entry.segment_index);
            let segment = *segment.or_insert_with(|| ptd.hold(data.clone()));
            ptd.push(key.to_string(), segment, None);
            out.push(entry.segment_index);
        }
        // A key may not be both in the program and in the `.ptd`.
        let outside = ptd.root.named_data.iter().flatten();
        let outside: BTreeSet<&str> = outside.filter_map(|entry| entry.key.as_deref()).collect();
        let mut staying = left.iter().filter_map(|entry| entry.key.as_deref());
        let twice = staying.find(|&key| outside.contains(key)).map(String::from);
        self.root.named_data = Some(left).filter(|left| !left.is_empty());
        if let Some(key) = twice {
            return Err(ExternalError::SameKey(key));
        }
        if !out.is_empty() {
            self.drop_unused(out);
        }
        Ok(())
    }
}

impl PtdModel<'_> {
    /// Creates an empty `.ptd`, as current writers do.
    pub fn empty() -> Self {
        let root = FlatTensor {
            segments: Some(Vec::new()),
            named_data: Some(Vec::new()),
            ..FlatTensor::default()
        };
        let header = Some(HeaderForm::PTD);
        let container = Container { layout: WriterLayout::FLATC, header, ..Container::CURRENT };
        FileModel { root, segments: Vec::new(), container, unknown: Unknown::default() }
    }

    fn push(&mut self, key: String, segment_index: u32, shape: Option<&LayoutKey>) {
        let layout = |(scalar_type, sizes, dim_order): &LayoutKey| TensorLayout {
            scalar_type: *scalar_type,
            sizes: Some(sizes.clone()),
            dim_order: Some(dim_order.clone()),
        };
        let tensor_layout = shape.map(layout);
        let named = NamedData { key: Some(key), segment_index, tensor_layout };
        self.root.named_data.get_or_insert_default().push(named);
    }
}

/// Reserves memory for `more` items.
fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), ExternalError> {
    let reserved = items.try_reserve(more).map_err(MemoryError::from);
    Ok(reserved.map_err(ModelError::from)?)
}

fn shape(tensor: &Tensor) -> LayoutKey {
    let (sizes, order) = (tensor.sizes.clone(), tensor.dim_order.clone());
    (tensor.scalar_type, sizes.unwrap_or_default(), order.unwrap_or_default())
}

wraps! { ExternalError: Read(ReadError) }

impl From<ModelError> for ExternalError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Read(error) => Self::Read(error),
            error => Self::Model(error),
        }
    }
}
