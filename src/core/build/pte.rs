//! Builds a `.pte` from tables and data, in the bytes of upstream's Python writer (format.md §9.2).

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::{BuildError, Data, Segment, places, some};
use crate::model::{self, Blob, Container, HeaderForm, concatenated};
use pte_flat::bytes::{index, narrow};
use pte_flat::tree::Unknown;
use pte_flat::write::WriterLayout;
use pte_schema::program::DataLocation;
use pte_schema::program::model::{
    BackendDelegateDataReference, BackendDelegateInlineData, DataSegment, NamedData, Program,
    SubsegmentOffsets,
};

/// Builds a `.pte` from the tables of a program and their data.
///
/// Add the data first, since the tables refer to it by the indices that
/// [`constant`](Self::constant), [`state`](Self::state) and [`payload`](Self::payload) return.
///
/// ```
/// use pte::build::PteBuilder;
/// use pte::schema::program::model::{
///     BackendDelegate, Chain, EValue, ExecutionPlan, KernelTypes, Program, Tensor,
/// };
/// use pte::schema::scalar::ScalarType;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = PteBuilder::new();
/// let weight = builder.constant(vec![0; 16])?;
/// let tensor = Tensor {
///     scalar_type: ScalarType::FLOAT,
///     sizes: Some(vec![2, 2]),
///     dim_order: Some(vec![0, 1]),
///     data_buffer_idx: weight,
///     ..Tensor::default()
/// };
/// let method = ExecutionPlan {
///     name: Some("weight".into()),
///     values: Some(vec![EValue { val: Some(KernelTypes::Tensor(tensor)) }]),
///     inputs: Some(vec![]),
///     outputs: Some(vec![0]),
///     chains: Some(vec![Chain { instructions: Some(vec![]), ..Chain::default() }]),
///     operators: Some(vec![]),
///     delegates: Some(vec![]),
///     non_const_buffer_sizes: Some(vec![0]),
///     ..ExecutionPlan::default()
/// };
/// let program = Program { execution_plan: Some(vec![method]), ..Program::default() };
/// let bytes = builder.finish(program)?.image()?.to_bytes()?;
///
/// assert!(pte::Sound::sound(pte::Pte::read(&bytes)?).is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PteBuilder<'a> {
    constants: Vec<Blob<'a>>,
    states: Vec<Blob<'a>>,
    payloads: Vec<Blob<'a>>,
    inline: Vec<Vec<u8>>,
    named: Vec<(String, Segment)>,
    data: Vec<Data<'a>>,
    keys: BTreeSet<String>,
    segment_alignment: u64,
    constant_alignment: u64,
}

impl<'a> PteBuilder<'a> {
    /// Creates a builder without data. Segments are aligned to 128 bytes and constants to 16.
    pub fn new() -> Self {
        Self {
            // Index 0 is reserved.
            constants: vec![Blob::EMPTY],
            states: vec![Blob::EMPTY],
            payloads: Vec::new(),
            inline: Vec::new(),
            named: Vec::new(),
            data: Vec::new(),
            keys: BTreeSet::new(),
            segment_alignment: Container::CURRENT.segment_alignment,
            constant_alignment: 16,
        }
    }

    /// Sets the alignment of segments in bytes.
    ///
    /// # Errors
    ///
    /// [`BuildError::Alignment`] for 0.
    pub fn set_segment_alignment(&mut self, alignment: u64) -> Result<(), BuildError> {
        self.segment_alignment = some(alignment)?;
        Ok(())
    }

    /// Sets the alignment of constants in their segment, in bytes.
    ///
    /// # Errors
    ///
    /// [`BuildError::Alignment`] if `alignment` is not a power of two.
    pub fn set_constant_alignment(&mut self, alignment: u64) -> Result<(), BuildError> {
        let alignment = Some(alignment).filter(|a| a.is_power_of_two());
        self.constant_alignment = alignment.ok_or(BuildError::Alignment)?;
        Ok(())
    }

    /// Adds a constant, and returns its `Tensor.data_buffer_idx`. Tensors may share the constant.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooLarge`] for more than 2^32 constants.
    pub fn constant(&mut self, bytes: impl Into<Blob<'a>>) -> Result<u32, BuildError> {
        push(&mut self.constants, bytes.into())
    }

    /// Adds the initial state of a planned tensor, and returns its `Tensor.data_buffer_idx`.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooLarge`] for more than 2^32 states.
    pub fn state(&mut self, bytes: impl Into<Blob<'a>>) -> Result<u32, BuildError> {
        push(&mut self.states, bytes.into())
    }

    /// Adds a delegate's payload in a segment, and returns its `BackendDelegate.processed`.
    /// Delegates may share the payload.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooLarge`] for more than 2^32 payloads.
    pub fn payload(
        &mut self,
        bytes: impl Into<Blob<'a>>,
    ) -> Result<BackendDelegateDataReference, BuildError> {
        let index = push(&mut self.payloads, bytes.into())?;
        Ok(BackendDelegateDataReference { location: DataLocation::SEGMENT, index })
    }

    /// Adds a delegate's payload in the tables, and returns its `BackendDelegate.processed`.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooLarge`] for more than 2^32 payloads.
    pub fn inline_payload(
        &mut self,
        bytes: Vec<u8>,
    ) -> Result<BackendDelegateDataReference, BuildError> {
        let index = push(&mut self.inline, bytes)?;
        Ok(BackendDelegateDataReference { location: DataLocation::INLINE, index })
    }

    /// Adds data that delegates request by name, aligned to a multiple of `alignment`, and returns
    /// its segment.
    ///
    /// # Errors
    ///
    /// The key exists already, or the alignment is 0.
    pub fn named_data(
        &mut self,
        key: impl Into<String>,
        bytes: impl Into<Blob<'a>>,
        alignment: u64,
    ) -> Result<Segment, BuildError> {
        let data = Data { bytes: bytes.into(), alignment: some(alignment)? };
        let segment = Segment(push(&mut self.data, data)?);
        let added = self.named_data_in(key, segment);
        if added.is_err() {
            self.data.pop();
        }
        added.map(|()| segment)
    }

    /// Adds another name for the data of a segment.
    ///
    /// # Errors
    ///
    /// The key exists already, or the segment belongs to another builder.
    pub fn named_data_in(
        &mut self,
        key: impl Into<String>,
        segment: Segment,
    ) -> Result<(), BuildError> {
        let key = key.into();
        if index(segment.0) >= self.data.len() {
            return Err(BuildError::Segment);
        }
        if !self.keys.insert(key.clone()) {
            return Err(BuildError::KeyTwice { key });
        }
        self.named.push((key, segment));
        Ok(())
    }

    /// Returns the file: `program` with the data of this builder. The lists of segments, constants,
    /// states, payloads and named data in `program` are replaced. Each `processed` must come from
    /// this builder.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooLarge`] if a file cannot hold the data.
    pub fn finish(self, mut program: Program) -> Result<model::PteModel<'a>, BuildError> {
        let mut data = Vec::new();
        let mut add = |bytes| push(&mut data, Data { bytes, alignment: 1 });
        let (constants, offsets) = concatenated(self.constants, self.constant_alignment);
        program.constant_segment =
            Some(SubsegmentOffsets { segment_index: add(constants)?, offsets: Some(offsets) });
        program.constant_buffer = Some(Vec::new());
        program.mutable_data_segments = None;
        if self.states.iter().any(|state| !state.is_empty()) {
            let (states, offsets) = concatenated(self.states, 1);
            let states = SubsegmentOffsets { segment_index: add(states)?, offsets: Some(offsets) };
            program.mutable_data_segments = Some(vec![states]);
        }
        let first = data.len();
        let payloads = self.payloads.into_iter().map(|bytes| Data { bytes, alignment: 1 });
        data.extend(payloads);
        let plans = program.execution_plan.iter_mut().flatten();
        let delegates = plans.flat_map(|plan| plan.delegates.iter_mut().flatten());
        for processed in delegates.filter_map(|delegate| delegate.processed.as_mut()) {
            if processed.location == DataLocation::SEGMENT {
                processed.index = processed.index.saturating_add(narrow(first));
            }
        }
        let inline = self.inline.into_iter();
        let inline = inline.map(|data| BackendDelegateInlineData { data: Some(data) });
        program.backend_delegate_data = Some(inline.collect());
        let first = narrow(data.len());
        data.extend(self.data);
        let named = self.named.into_iter().map(|(key, Segment(nth))| NamedData {
            key: Some(key),
            segment_index: first.saturating_add(nth),
        });
        program.named_data = Some(named.collect()).filter(|named: &Vec<_>| !named.is_empty());
        let places = places(&data, self.segment_alignment)?.into_iter();
        let places = places.map(|(offset, size)| DataSegment { offset, size }).collect();
        program.segments = Some(places);
        let segments: Vec<_> = data.into_iter().map(|data| data.bytes).collect();
        let is_empty = segments.iter().all(Blob::is_empty);
        Ok(model::FileModel {
            root: program,
            segments,
            container: Container {
                layout: WriterLayout::PYTHON,
                header: Some(HeaderForm::PTE).filter(|_| !is_empty),
                segment_alignment: self.segment_alignment,
                ..Container::CURRENT
            },
            unknown: Unknown::default(),
        })
    }
}

impl Default for PteBuilder<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// Adds an item to a list, and returns its index.
fn push<T>(list: &mut Vec<T>, item: T) -> Result<u32, BuildError> {
    let index = u32::try_from(list.len()).map_err(|_| BuildError::TooLarge)?;
    list.push(item);
    Ok(index)
}
