//! The constants in delegates' payloads, one row each.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;

use pte_core::File;
use pte_core::payload::{ConstantPlace, GraphConstant, Key, PayloadContents, Quantization, Scales};
use pte_flat::bytes::len_of;
use pte_flat::quoted::Untrusted;
use pte_schema::scalar::ScalarType;

/// A constant of a delegate's graph.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConstantRow<'a> {
    /// The name of the method with the delegate.
    pub method: Option<Untrusted<'a>>,
    /// The index of the delegate in the method.
    pub delegate: u32,
    /// The constant.
    pub constant: &'a GraphConstant,
}

impl<'a> ConstantRow<'a> {
    /// Returns the constants in the payloads of `file`, in the order of delegates and values. A payload that
    /// several delegates share is listed for the first of them.
    pub fn all(file: &File<'a>, payloads: &'a [PayloadContents]) -> Vec<Self> {
        let File::Pte(pte) = file else { return Vec::new() };
        let contents: BTreeMap<_, _> =
            payloads.iter().map(|one| ((one.range.start, one.range.end), one)).collect();
        if contents.is_empty() {
            return Vec::new();
        }
        let (mut rows, mut seen) = (Vec::new(), BTreeSet::new());
        for plan in pte.program().execution_plan().into_iter().flatten() {
            let method = plan.name().map(Untrusted::from);
            for (delegate, table) in (0..).zip(plan.delegates().into_iter().flatten()) {
                let Ok(Some(range)) = pte.delegate_range(table) else { continue };
                let Some(contents) = contents.get(&(range.start, range.end)) else { continue };
                if !seen.insert((range.start, range.end)) {
                    continue;
                }
                let constants = contents.constants.iter();
                rows.extend(constants.map(|constant| Self { method, delegate, constant }));
            }
        }
        rows
    }

    /// Returns the constants of a payload that is a standalone file.
    pub fn of_payload(contents: &'a PayloadContents) -> impl Iterator<Item = Self> {
        let constants = contents.constants.iter();
        constants.map(|constant| Self { method: None, delegate: 0, constant })
    }

    /// Returns the range of the bytes, if they are in the file.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        self.constant.data.range()
    }

    /// Returns the number of bytes in the file, or otherwise the number that the payload declares.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        match self.range() {
            Some(range) => Some(len_of(&range)),
            None => self.constant.bytes(),
        }
    }

    /// Returns the name of the storage: `payload`, `named`, `external` for a key that the file does not
    /// have, or `broken`.
    #[must_use]
    pub fn storage_name(&self) -> &'static str {
        match &self.constant.data {
            ConstantPlace::Payload(_) => "payload",
            ConstantPlace::Named { range: Some(_), .. } => "named",
            ConstantPlace::Named { range: None, .. } => "external",
            ConstantPlace::Nowhere => "broken",
        }
    }

    /// Returns the key, if the constant's bytes are named data.
    #[must_use]
    pub fn key(&self) -> Option<Untrusted<'a>> {
        match &self.constant.data {
            ConstantPlace::Named { key, .. } => Some(key.as_untrusted()),
            _ => None,
        }
    }

    /// Returns the key, if the scales of the constant's quantization are named data.
    #[must_use]
    pub fn scale_key(&self) -> Option<Untrusted<'a>> {
        match self.constant.quantization.as_ref()?.scales()? {
            ConstantPlace::Named { key, .. } => Some(key.as_untrusted()),
            _ => None,
        }
    }

    /// Returns the place of the scales; `None` unless they are in a constant or in named data.
    #[must_use]
    pub fn scales(&self) -> Option<&'a ConstantPlace> {
        self.constant.quantization.as_ref()?.scales()
    }

    /// Returns the dtype of the scales that [`scales`](Self::scales) returns.
    #[must_use]
    pub fn scale_dtype(&self) -> Option<ScalarType> {
        match self.constant.quantization.as_ref()? {
            Quantization::Channel { .. } => Some(ScalarType::FLOAT),
            Quantization::Group { .. } => Some(ScalarType::BFLOAT16),
            _ => None,
        }
    }

    /// Returns the keys of the named data that the constant requests, for its bytes and for its
    /// scales.
    pub fn keys(&self) -> impl Iterator<Item = Untrusted<'a>> {
        self.key().into_iter().chain(self.scale_key())
    }

    /// Returns the dtype of the stored elements; `None` for 4-bit elements, of which two share a byte.
    #[must_use]
    pub fn dtype(&self) -> Option<ScalarType> {
        Some(match datatype_name(self.constant.datatype.name()?) {
            "float32" => ScalarType::FLOAT,
            "float16" => ScalarType::HALF,
            "bfloat16" => ScalarType::BFLOAT16,
            "qint8" | "qcint8" => ScalarType::CHAR,
            "quint8" => ScalarType::BYTE,
            "int32" | "qint32" | "qcint32" => ScalarType::INT,
            "int8" => ScalarType::CHAR,
            "uint8" => ScalarType::BYTE,
            "int16" => ScalarType::SHORT,
            "bool" => ScalarType::BOOL,
            _ => return None,
        })
    }
}

/// Returns the short name of a datatype in the schema of a backend, or of a `VkFormat`: PyTorch's name, if PyTorch has
/// the datatype.
///
/// ```
/// use pte::tensors::datatype_name;
///
/// assert_eq!(datatype_name("xnn_datatype_fp32"), "float32");
/// assert_eq!(datatype_name("xnn_datatype_qcint8"), "qcint8");
/// assert_eq!(datatype_name("FLOAT16"), "float16");
/// ```
#[must_use]
pub fn datatype_name(name: &str) -> &str {
    match name.trim_start_matches("xnn_datatype_") {
        "fp32" | "FLOAT32" | "FLOAT" | "R32_SFLOAT" => "float32",
        "fp16" | "FLOAT16" | "HALF" | "R16_SFLOAT" => "float16",
        "bf16" | "BFLOAT16" | "R16_SFLOAT_FPENCODING_BFLOAT16_ARM" => "bfloat16",
        "FLOAT64" | "DOUBLE" => "float64",
        "BOOL" | "R8_BOOL_ARM" => "bool",
        "UINT8" | "BYTE" | "R8_UINT" => "uint8",
        "INT8" | "CHAR" | "R8_SINT" => "int8",
        "INT16" | "SHORT" | "R16_SINT" => "int16",
        "INT32" | "INT" | "R32_SINT" => "int32",
        "INT64" | "LONG" | "R64_SINT" => "int64",
        name => name,
    }
}

/// A constant in the form of the document `pte.tensors/1`, without the fields that are computed
/// from its bytes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ConstantRecord<'a> {
    /// The name of the method.
    pub method: Option<Untrusted<'a>>,
    /// The index of the delegate in the method.
    pub delegate: u32,
    /// The id of the value in the delegate's graph.
    pub value: u32,
    /// The name in the delegate's graph, if it has names.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub name: Option<Untrusted<'a>>,
    /// The index of the first node that reads the constant.
    pub node: Option<u32>,
    /// The operator of the node.
    pub operator: Option<&'static str>,
    /// The input of the node.
    pub input: Option<&'static str>,
    /// The key, if the bytes are named data.
    pub key: Option<Untrusted<'a>>,
    /// The name of the datatype in the schema of the backend; `None` for an unknown one.
    pub dtype: Option<&'static str>,
    /// The sizes of the shape.
    pub sizes: &'a [u32],
    /// The key, if the scales are named data.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub scale_key: Option<Untrusted<'a>>,
    /// The quantization.
    pub quantization: Option<QuantizationRecord>,
    /// The number of bytes.
    pub bytes: Option<u64>,
    /// The name of the storage, as [`ConstantRow::storage_name`] returns it.
    pub storage: &'static str,
    /// The offset of the bytes in the file.
    pub offset: Option<u64>,
}

/// A quantization in the form of the document `pte.tensors/1`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct QuantizationRecord {
    /// The kind, as [`Quantization::name`] returns it.
    pub kind: &'static str,
    /// The scale of the whole tensor.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub scale: Option<f32>,
    /// The zero point of the whole tensor.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub zero_point: Option<i32>,
    /// The dimension of the channels.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub axis: Option<i32>,
    /// The number of elements in a group.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub group_size: Option<i32>,
    /// The number of scales in the graph; `None` if they are in a constant.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub scales: Option<u64>,
    /// The number of bytes of the constant with the scales.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub scale_bytes: Option<u64>,
    /// The offset of these bytes in the file; `None` if the file does not have them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub scale_offset: Option<u64>,
}

impl<'a> From<&ConstantRow<'a>> for ConstantRecord<'a> {
    fn from(row: &ConstantRow<'a>) -> Self {
        let constant = row.constant;
        Self {
            method: row.method,
            delegate: row.delegate,
            value: constant.value,
            name: constant.name.as_ref().map(Key::as_untrusted),
            node: constant.reader.map(|reader| reader.node),
            operator: constant
                .reader
                .map(|reader| reader.operator())
                .filter(|name| !name.is_empty()),
            input: constant.reader.map(|reader| reader.input()).filter(|name| !name.is_empty()),
            key: row.key(),
            scale_key: row.scale_key(),
            dtype: constant.datatype.name(),
            sizes: &constant.dims,
            quantization: constant.quantization.as_ref().map(QuantizationRecord::from),
            bytes: row.bytes(),
            storage: row.storage_name(),
            offset: row.range().map(|range| range.start),
        }
    }
}

impl From<&Quantization> for QuantizationRecord {
    fn from(quantization: &Quantization) -> Self {
        let (mut axis, mut group_size, mut scale, mut zero_point) = (None, None, None, None);
        let mut list = None;
        match quantization {
            Quantization::Tensor { scale: one, zero_point: zero } => {
                (scale, zero_point) = (Some(*one), Some(*zero));
            }
            Quantization::Channel { axis: of, scales } => {
                (axis, list) = (Some(*of), Some(scales));
            }
            Quantization::Group { axis: of, group_size: size, scales } => {
                (axis, group_size, list) = (Some(*of), Some(*size), Some(scales));
            }
            Quantization::Other => {}
        }
        let (scales, scale_bytes, scale_offset) = match list {
            None => (None, None, None),
            Some(Scales::Graph(count)) => (Some(*count), None, None),
            Some(Scales::Constant(place)) => {
                (None, place.bytes(), place.range().map(|range| range.start))
            }
        };
        Self {
            kind: quantization.name(),
            scale,
            zero_point,
            axis,
            group_size,
            scales,
            scale_bytes,
            scale_offset,
        }
    }
}
