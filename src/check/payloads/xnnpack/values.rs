//! The values of a graph: their kinds, shapes, flags, quantization and constants.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::{DELEGATE_KEY_SHORT, DELEGATE_KEY_UNRESOLVED, NamedSize, NamedSizes};
use super::shape::{MOST_DIMENSIONS, Shape, bits, bytes, is_small};
use super::{
    Site, XNNPACK_CONSTANT, XNNPACK_CONSTANT_SHORT, XNNPACK_EXTERNAL, XNNPACK_ID, XNNPACK_KIND,
    XNNPACK_MISSING, XNNPACK_QUANTIZATION, XNNPACK_RANK,
};
use crate::bytes::{index, wide};
use crate::check::report::Findings;
use crate::check::rule::Rule;
use crate::cost;
use crate::error::PathComponent;
use crate::payload::xnnpack::{NO_ID, NoConstant, PayloadConstant};
use crate::quoted::Quoted;
use crate::schema::xnnpack::XNNDatatype;
use crate::schema::xnnpack::view::{
    XNNQuantParams, XNNQuantizedTensorValue, XNNTensorValue, XValue, XValueUnion,
};

/// The values of a graph, except those with an Error.
pub(super) struct Values<'p> {
    all: Vec<Value<'p>>,
    ids: Ids,
}

/// The index of each value, by its id.
enum Ids {
    /// The ids of this many values equal their indices, as every writer numbers values.
    Equal(u32),
    Others(BTreeMap<u32, u32>),
}

/// A value without an Error.
#[derive(Clone, Copy)]
pub(super) struct Value<'p> {
    pub(super) tensor: XNNTensorValue<'p>,
    /// The datatype that nodes see.
    pub(super) datatype: XNNDatatype,
    pub(super) shape: Shape,
    pub(super) quantization: Quantization<'p>,
    /// The size of its data in bytes, if it is a constant.
    pub(super) constant: Option<u64>,
    pub(super) external: External,
}

/// The quantization of a value.
#[derive(Clone, Copy)]
pub(super) enum Quantization<'p> {
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
    /// A scale for each index of a dimension.
    Channel {
        dimension: usize,
        scales: Scales<'p>,
    },
    /// A scale for each group of this many elements.
    Group {
        size: u64,
        scales: Scales<'p>,
    },
}

/// The scales of channels or groups: a list in the graph, or a constant.
#[derive(Clone, Copy)]
pub(super) struct Scales<'p> {
    pub(super) list: Option<crate::flat::view::Vector<'p, f32>>,
    /// The index of the constant; 0 if the scales are in `list`.
    pub(super) constant: u32,
    /// The number of scales that the backend reads.
    pub(super) count: u64,
    /// The size of a scale in the constant, in bytes.
    pub(super) size: u64,
}

/// Whether a value is an argument of the call, with the index of the argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum External {
    No,
    Input(u32),
    Output(u32),
}

impl Ids {
    /// Adds a value with the next index. If an earlier value has the same id, returns its index.
    fn insert(&mut self, id: u32, index: u32) -> Option<u32> {
        match self {
            Self::Equal(count) if id == index && index == *count => {
                *count = index.saturating_add(1);
                None
            }
            Self::Equal(count) => {
                let mut map: BTreeMap<_, _> = (0..*count).map(|id| (id, id)).collect();
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

impl<'p> Values<'p> {
    /// Returns the value with an id.
    pub(super) fn get(&self, id: u32) -> Option<&Value<'p>> {
        self.all.get(index(self.index_of(id)?))
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
}

/// A broken rule and the message.
pub(super) type Wrong = (&'static Rule, String);

/// Judges the values of a graph, and returns those without an Error.
pub(super) fn judge<'p>(
    site: &Site<'_, 'p>,
    named: &NamedSizes<'_>,
    out: &mut Findings,
) -> Values<'p> {
    let root = site.root();
    let mut values = Values { all: Vec::new(), ids: Ids::Equal(0) };
    for (name, missing) in
        [("xvalues", root.xvalues().is_none()), ("xnodes", root.xnodes().is_none())]
    {
        if missing {
            site.find(out, &XNNPACK_MISSING, root, &[], || format!("the graph has no {name}"));
        }
    }
    if root.num_externs() > MOST_EXTERNS {
        site.find(out, &XNNPACK_EXTERNAL, root, &[PathComponent::Field("num_externs")], || {
            format!("{} inputs and outputs: at most {MOST_EXTERNS} are taken", root.num_externs())
        });
    }
    let mut externals = BTreeSet::new();
    for (nth, value) in (0..).zip(root.xvalues().into_iter().flatten()) {
        let at = [PathComponent::Field("xvalues"), PathComponent::Index(nth)];
        let judged = judge_value(site, named, value).and_then(|value| {
            cost::look_up("", externals.len());
            match value.external {
                External::Input(id) | External::Output(id) if !externals.insert(id) => {
                    return Err((&XNNPACK_EXTERNAL, format!("external_id {id} is used twice")));
                }
                _ => {}
            }
            let id = value.tensor.id_out();
            match values.ids.insert(id, nth) {
                Some(first) => Err((&XNNPACK_ID, format!("id {id} is that of value {first} too"))),
                None => Ok(value),
            }
        });
        match judged {
            Ok(value) => values.all.push(value),
            Err((rule, message)) => site.find(out, rule, value, &at, || message),
        }
    }
    values
}

fn judge_value<'p>(
    site: &Site<'_, 'p>,
    named: &NamedSizes<'_>,
    value: XValue<'p>,
) -> Result<Value<'p>, Wrong> {
    let (tensor, quantized) = match value.xvalue_union() {
        Some(XValueUnion::XNNTensorValue(tensor)) => (tensor, None),
        Some(XValueUnion::XNNQuantizedTensorValue(value)) => match value.tensor_value() {
            Some(tensor) => (tensor, Some(value)),
            None => return Err((&XNNPACK_MISSING, "the value has no tensor_value".into())),
        },
        Some(XValueUnion::Unknown(tag)) => {
            return Err((&XNNPACK_KIND, format!("a value of the unknown kind {tag}")));
        }
        None => return Err((&XNNPACK_KIND, "a value without a kind".into())),
    };
    let sizes = tensor.dims().unwrap_or_default();
    let shape = match sizes.len() {
        0..=MOST_DIMENSIONS => Shape::new(sizes.iter().map(u64::from)),
        _ => None,
    };
    let Some(shape) = shape else {
        let (count, most) = (sizes.len(), MOST_DIMENSIONS);
        return Err((&XNNPACK_RANK, format!("{count} dimensions: at most {most} are taken")));
    };
    let stored = tensor.datatype();
    let bits = bits(stored)
        .ok_or_else(|| (&XNNPACK_KIND, format!("datatype {stored} is none that values have")))?;
    if shape.elements().and_then(|count| count.checked_mul(bits)).is_none() {
        return Err((&XNNPACK_RANK, format!("the bytes of {shape} overflow")));
    }
    let external = external(site, tensor)?;
    if tensor.constant_buffer_idx() == 0 && external == External::No && !is_small(&shape, bits) {
        return Err((&XNNPACK_RANK, format!("{shape} of {stored} takes 4 GiB or more")));
    }
    let constant = match tensor.constant_buffer_idx() {
        0 => None,
        nth => Some(constant(site, named, nth)?),
    };
    if constant.is_some() && external != External::No {
        return Err((&XNNPACK_EXTERNAL, "a constant is an input or output of the graph".into()));
    }
    let quantization = match quantized {
        Some(value) => quantization(value, stored, &shape)?,
        None => plain(tensor, external)?,
    };
    if let Quantization::Dynamic { .. } = quantization
        && (constant.is_some() || quantized.is_some() && external != External::No)
    {
        return Err((&XNNPACK_QUANTIZATION, "a value quantized at run time has data".into()));
    }
    if let Quantization::Channel { scales, .. } | Quantization::Group { scales, .. } = quantization
    {
        check_scales(site, named, &scales)?;
    }
    if let Some(have) = constant {
        let need = bytes(&shape, stored).unwrap_or(u64::MAX);
        if have < need {
            let message = format!("a constant of {have} bytes: {shape} of {stored} needs {need}");
            return Err((&XNNPACK_CONSTANT_SHORT, message));
        }
    }
    // A legacy input is converted when the graph runs. Nodes see the converted datatype.
    let datatype = match quantized.is_none() && is_legacy(tensor) {
        true => XNNDatatype::xnn_datatype_qdint8,
        false => stored,
    };
    Ok(Value { tensor, datatype, shape, quantization, constant, external })
}

/// Returns whether a tensor is quantized by `dq_datatype`, a field of releases before 0.2.
fn is_legacy(tensor: XNNTensorValue<'_>) -> bool {
    tensor.dq_datatype() != XNNDatatype::xnn_datatype_invalid
        && tensor.dq_datatype().name().is_some()
}

fn external(site: &Site<'_, '_>, tensor: XNNTensorValue<'_>) -> Result<External, Wrong> {
    let (flags, id, most) = (tensor.flags(), tensor.external_id(), site.root().num_externs());
    let external = match flags {
        0 => External::No,
        1 => External::Input(id),
        2 => External::Output(id),
        3 => return Err((&XNNPACK_EXTERNAL, "a value is an input and an output".into())),
        _ => return Err((&XNNPACK_EXTERNAL, format!("unknown flags {flags:#x}"))),
    };
    match (external, id) {
        (External::No, NO_ID) => Ok(external),
        (External::No, _) => Err((
            &XNNPACK_EXTERNAL,
            format!("external_id {id}, and no flag that makes the value an input or output"),
        )),
        (_, id) if id < most => Ok(external),
        (_, NO_ID) => Err((&XNNPACK_EXTERNAL, "an input or output without external_id".into())),
        (_, id) => Err((
            &XNNPACK_EXTERNAL,
            format!("external_id {id}: the graph has {most} inputs and outputs"),
        )),
    }
}

/// Returns the size of a constant in bytes.
fn constant(site: &Site<'_, '_>, named: &NamedSizes<'_>, nth: u32) -> Result<u64, Wrong> {
    let place = site.graph.constant(nth).map_err(|why| {
        let message = match why {
            NoConstant::Index { len } => format!("constant {nth} of {len}"),
            NoConstant::Empty => format!("constant {nth} has no bytes"),
            NoConstant::Range { offset, size, all } => {
                format!("constant {nth} has {size} bytes from {offset} on, and all have {all}")
            }
        };
        (&XNNPACK_CONSTANT, message)
    })?;
    match place {
        PayloadConstant::Behind(range) => Ok(range.end.saturating_sub(range.start)),
        PayloadConstant::Within { bytes, .. } => Ok(wide(bytes.len())),
        PayloadConstant::Named { key, size } => {
            match named.get(key, site.graph.parts().constants.is_empty()) {
                NamedSize::Bytes(have) if have < size => Err((
                    &DELEGATE_KEY_SHORT,
                    format!("{} has {have} bytes, and the payload says {size}", Quoted(key)),
                )),
                NamedSize::Bytes(have) => Ok(have),
                NamedSize::Missing => Err((
                    &DELEGATE_KEY_UNRESOLVED,
                    format!("the payload uses {}, which is in none of the files", Quoted(key)),
                )),
                NamedSize::Elsewhere => Ok(size),
            }
        }
    }
}

/// Returns the quantization of a value without quant_params.
fn plain<'p>(tensor: XNNTensorValue<'p>, external: External) -> Result<Quantization<'p>, Wrong> {
    let datatype = tensor.datatype();
    let is_float = [XNNDatatype::xnn_datatype_fp32, XNNDatatype::xnn_datatype_fp16];
    if is_legacy(tensor) {
        let message = match (tensor.dq_datatype(), external) {
            (XNNDatatype::xnn_datatype_qint8, External::Input(_)) => {
                match is_float.contains(&datatype) && tensor.constant_buffer_idx() == 0 {
                    true => return Ok(Quantization::Dynamic { dimensions: 1 }),
                    false => format!("dq_datatype on a value of {datatype}"),
                }
            }
            (XNNDatatype::xnn_datatype_qint8, _) => {
                "dq_datatype on a value that is no input".into()
            }
            (other, _) => format!("dq_datatype {other}: only xnn_datatype_qint8 is taken"),
        };
        return Err((&XNNPACK_QUANTIZATION, message));
    }
    let takes = [
        XNNDatatype::xnn_datatype_bf16,
        XNNDatatype::xnn_datatype_int32,
        XNNDatatype::xnn_datatype_pfp32,
    ];
    match is_float.contains(&datatype) || takes.contains(&datatype) {
        true => Ok(Quantization::None),
        false => Err((&XNNPACK_QUANTIZATION, format!("{datatype} without quant_params"))),
    }
}

fn quantization<'p>(
    value: XNNQuantizedTensorValue<'p>,
    datatype: XNNDatatype,
    shape: &Shape,
) -> Result<Quantization<'p>, Wrong> {
    let wrong = |message: String| Err((&XNNPACK_QUANTIZATION, message));
    let name = value.quant_params().and_then(XNNQuantParams::name).unwrap_or("no quant_params");
    let takes: &[XNNDatatype] = match value.quant_params() {
        Some(XNNQuantParams::PerTensorQuant(_)) => &[
            XNNDatatype::xnn_datatype_qint8,
            XNNDatatype::xnn_datatype_quint8,
            XNNDatatype::xnn_datatype_qint32,
        ],
        Some(XNNQuantParams::PerChannelQuant(_)) => &[
            XNNDatatype::xnn_datatype_qcint8,
            XNNDatatype::xnn_datatype_qcint4,
            XNNDatatype::xnn_datatype_qcint32,
        ],
        Some(XNNQuantParams::PerChannelGroupQuant(_)) => &[XNNDatatype::xnn_datatype_qbint4],
        Some(XNNQuantParams::PerTokenDynamicQuant(_)) => &[XNNDatatype::xnn_datatype_qdint8],
        Some(XNNQuantParams::Unknown(tag)) => {
            return Err((&XNNPACK_KIND, format!("quant_params of the unknown kind {tag}")));
        }
        None => &[],
    };
    if !takes.contains(&datatype) {
        return wrong(format!("{datatype} with {name}"));
    }
    match value.quant_params() {
        Some(XNNQuantParams::PerTensorQuant(quant)) => {
            let (scale, zero_point) = (quant.scale(), quant.zero_point());
            if !is_scale(scale) {
                return wrong(format!("the scale is {scale:?}"));
            }
            let (least, most) = match datatype {
                XNNDatatype::xnn_datatype_qint8 => (-128, 127),
                XNNDatatype::xnn_datatype_quint8 => (0, 255),
                _ => (0, 0),
            };
            match (least..=most).contains(&zero_point) {
                true => Ok(Quantization::Tensor { scale, zero_point }),
                false => wrong(format!("the zero point of {datatype} is {zero_point}")),
            }
        }
        Some(XNNQuantParams::PerChannelQuant(quant)) => {
            let dimension = dimension(quant.channel_dim(), shape)?;
            let (constant, list) = (quant.scale_buffer_idx(), quant.scale());
            let count = shape.size(dimension);
            let scales = Scales { list, constant, count, size: 4 };
            Ok(Quantization::Channel { dimension, scales })
        }
        Some(XNNQuantParams::PerChannelGroupQuant(quant)) => {
            if shape.rank() < 2 {
                return wrong(format!("{} dimensions: groups need two", shape.rank()));
            }
            dimension(quant.channel_dim(), shape)?;
            let size = match u64::try_from(quant.group_size()) {
                Ok(size @ 1..) => size,
                _ => return wrong(format!("group_size {}", quant.group_size())),
            };
            let elements = shape.size(0).saturating_mul(shape.size(1));
            let count = elements.checked_div(size).unwrap_or_default();
            let (constant, list) = (quant.scale_buffer_idx(), quant.scale());
            let have = match constant {
                0 => list.map_or(0, |list| wide(list.len())),
                _ => quant.num_scales().into(),
            };
            if have != count {
                return wrong(format!("{have} scales: {shape} in groups of {size} needs {count}"));
            }
            let scales = Scales { list, constant, count, size: 2 };
            Ok(Quantization::Group { size, scales })
        }
        Some(XNNQuantParams::PerTokenDynamicQuant(quant)) => {
            match usize::try_from(quant.num_nonbatch_dims()) {
                Ok(dimensions) if dimensions <= shape.rank() => {
                    Ok(Quantization::Dynamic { dimensions })
                }
                _ => wrong(format!(
                    "num_nonbatch_dims {} of {} dimensions",
                    quant.num_nonbatch_dims(),
                    shape.rank()
                )),
            }
        }
        _ => wrong("no quant_params".to_string()),
    }
}

/// Returns the index of the channel dimension, which must be a dimension of `shape`.
fn dimension(dimension: i32, shape: &Shape) -> Result<usize, Wrong> {
    match usize::try_from(dimension) {
        Ok(known) if known < shape.rank() => Ok(known),
        _ => Err((
            &XNNPACK_QUANTIZATION,
            format!("channel_dim {dimension} of {} dimensions", shape.rank()),
        )),
    }
}

/// Checks that all scales that the backend reads exist.
fn check_scales(
    site: &Site<'_, '_>,
    named: &NamedSizes<'_>,
    scales: &Scales<'_>,
) -> Result<(), Wrong> {
    let (count, size) = (scales.count, scales.size);
    match (scales.constant, scales.list) {
        (0, None) => Err((&XNNPACK_MISSING, "the value has no scales".into())),
        (0, Some(list)) if wide(list.len()) < count => Err((
            &XNNPACK_QUANTIZATION,
            format!("{} scales, and the backend reads {count}", list.len()),
        )),
        (0, Some(_)) => Ok(()),
        (nth, _) => {
            let (have, need) = (constant(site, named, nth)?, count.saturating_mul(size));
            match have < need {
                true => Err((
                    &XNNPACK_CONSTANT_SHORT,
                    format!("{have} bytes of scales, and {count} scales take {need}"),
                )),
                false => Ok(()),
            }
        }
    }
}

/// Returns whether the backend takes a number as a scale.
pub(super) fn is_scale(scale: f32) -> bool {
    scale.is_normal() && scale > 0.0
}

/// The most inputs and outputs of a graph.
const MOST_EXTERNS: u32 = 4096;
