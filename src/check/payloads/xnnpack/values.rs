//! The values of a graph: their kinds, shapes, flags, quantization and constants.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::named::is_digest;
use super::super::{DELEGATE_KEY_SHORT, DELEGATE_KEY_UNRESOLVED, NamedSize, NamedSizes};
use super::datatypes;
use super::plain::{self, Vtables};
use super::shape::{MOST_DIMENSIONS, Shape, bits, bytes, is_small, product};
use super::unread::Unread;
use super::value::{External, Quantization, Scales, Value, Values, is_scale};
use super::{
    Site, XNNPACK_CONSTANT, XNNPACK_CONSTANT_SHORT, XNNPACK_EXTERNAL, XNNPACK_KIND,
    XNNPACK_MISSING, XNNPACK_QUANTIZATION, XNNPACK_RANK,
};
use crate::report::Findings;
use crate::rule::Broken;
use pte_core::PathComponent;
use pte_core::payload::xnnpack::{NO_ID, NoConstant, PayloadConstant};
use pte_flat::bytes::{index, len_of, narrow, wide};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::Table;
use pte_schema::xnnpack::XNNDatatype;
use pte_schema::xnnpack::view::{
    XNNQuantParams, XNNQuantizedTensorValue, XNNTensorValue, XValue, XValueUnion,
};

/// Judges the values of a graph, and returns those without an Error.
pub(super) fn judge<'p>(
    site: &Site<'_, 'p>,
    named: &NamedSizes<'_>,
    unread: &mut Unread,
    out: &mut Findings,
) -> Values<'p> {
    let root = site.root();
    for (name, missing) in
        [("xvalues", root.xvalues().is_none()), ("xnodes", root.xnodes().is_none())]
    {
        if missing {
            site.place.find(out, &XNNPACK_MISSING, root.raw(), &[], || {
                format!("the graph has no {name}")
            });
        }
    }
    if root.num_externs() > MOST_EXTERNS {
        site.place.find(
            out,
            &XNNPACK_EXTERNAL,
            root.raw(),
            &[PathComponent::Field("num_externs")],
            || {
                format!(
                    "{} inputs and outputs: at most {MOST_EXTERNS} are taken",
                    root.num_externs()
                )
            },
        );
    }
    let all = root.xvalues().unwrap_or_default();
    let mut values = Values::with_capacity(all.len());
    let mut externals = BTreeSet::new();
    let mut vtables = Vtables::new();
    for nth in 0..narrow(all.len()) {
        let size = |constant_index| constant(site, named, constant_index).ok();
        let judged = match plain::value(all, nth, &mut vtables, size) {
            Some(value) => {
                debug_assert!(agrees(site, named, (nth, all.get(index(nth))), &value), "{nth}");
                values.add(nth, value)
            }
            None => {
                let Some(value) = all.get(index(nth)) else { break };
                any_value(site, named, (nth, value), unread, &mut values, &mut externals)
            }
        };
        if let Err((rule, message)) = judged
            && let Some(value) = all.get(index(nth))
        {
            let at = path!["xvalues", nth];
            site.place.find(out, rule, value.raw(), &at, || message);
        }
    }
    values
}

/// Judges the value with index `nth`, and adds it to `values`. `externals` are the arguments that
/// other values name.
#[inline(never)]
fn any_value<'p>(
    site: &Site<'_, 'p>,
    named: &NamedSizes<'_>,
    (nth, value): (u32, XValue<'p>),
    unread: &mut Unread,
    values: &mut Values<'p>,
    externals: &mut BTreeSet<u32>,
) -> Result<(), Broken> {
    let (tensor, quantized) = parts(value)?;
    unread.add_value(site, nth, tensor);
    let value = judge_value(site, named, (nth, tensor, quantized), &mut values.scales)?;
    cost::look_up("", externals.len());
    match value.external {
        External::Input(id) | External::Output(id) if !externals.insert(id) => {
            Err((&XNNPACK_EXTERNAL, format!("external_id {id} is used twice")))
        }
        _ => values.add(nth, value),
    }
}

/// Returns whether the full judgement of a value is the same as of a plain one. Debug builds check
/// each plain value.
fn agrees<'p>(
    site: &Site<'_, 'p>,
    named: &NamedSizes<'_>,
    (nth, value): (u32, Option<XValue<'p>>),
    plain: &Value<'p>,
) -> bool {
    let Some(Ok((tensor, None))) = value.map(parts) else { return false };
    let judged = judge_value(site, named, (nth, tensor, None), &mut Vec::new());
    judged.is_ok_and(|judged| format!("{judged:?}") == format!("{plain:?}"))
}

/// Returns the tensor of a value, and the table of its quantization if the value is quantized.
#[inline]
fn parts(
    value: XValue<'_>,
) -> Result<(XNNTensorValue<'_>, Option<XNNQuantizedTensorValue<'_>>), Broken> {
    match value.xvalue_union() {
        Some(XValueUnion::XNNTensorValue(tensor)) => Ok((tensor, None)),
        Some(XValueUnion::XNNQuantizedTensorValue(value)) => match value.tensor_value() {
            Some(tensor) => Ok((tensor, Some(value))),
            None => Err((&XNNPACK_MISSING, "the value has no tensor_value".into())),
        },
        Some(XValueUnion::Unknown(tag)) => {
            Err((&XNNPACK_KIND, format!("a value of the unknown kind {tag}")))
        }
        None => Err((&XNNPACK_KIND, "a value without a kind".into())),
    }
}

/// Judges the value with index `nth` by itself. Adds the scales of its channels or groups to
/// `all_scales`.
#[inline]
fn judge_value<'p>(
    site: &Site<'_, 'p>,
    named: &NamedSizes<'_>,
    (nth, tensor, quantized): (u32, XNNTensorValue<'p>, Option<XNNQuantizedTensorValue<'p>>),
    all_scales: &mut Vec<(u32, Scales<'p>)>,
) -> Result<Value<'p>, Broken> {
    let dims = tensor.dims();
    let sizes = dims.unwrap_or_default();
    if sizes.len() > MOST_DIMENSIONS {
        let (count, most) = (sizes.len(), MOST_DIMENSIONS);
        return Err((&XNNPACK_RANK, format!("{count} dimensions: at most {most} are taken")));
    }
    let shape = || Shape::of(sizes).unwrap_or_default();
    let stored = tensor.datatype();
    let bits = bits(stored)
        .ok_or_else(|| (&XNNPACK_KIND, format!("datatype {stored} is none that values have")))?;
    let elements = product(sizes.iter().map(u64::from));
    if elements.and_then(|count| count.checked_mul(bits)).is_none() {
        return Err((&XNNPACK_RANK, format!("the bytes of {} overflow", shape())));
    }
    let external = external(site, tensor)?;
    let data = tensor.constant_buffer_idx();
    if data == 0 && external == External::No && !is_small(elements, bits) {
        return Err((&XNNPACK_RANK, format!("{} of {stored} takes 4 GiB or more", shape())));
    }
    let constant = match data {
        0 => None,
        nth => Some(constant(site, named, nth)?),
    };
    if constant.is_some() && external != External::No {
        return Err((&XNNPACK_EXTERNAL, "a constant is an input or output of the graph".into()));
    }
    let is_legacy = is_legacy(tensor);
    let quantization = match quantized {
        Some(value) => {
            let (quantization, scales) = quantization(value, stored, &shape())?;
            all_scales.extend(scales.map(|scales| (nth, scales)));
            quantization
        }
        None if is_legacy => legacy(tensor, external)?,
        None => unquantized(stored)?,
    };
    if let Quantization::Dynamic { .. } = quantization
        && (constant.is_some() || quantized.is_some() && external != External::No)
    {
        return Err((&XNNPACK_QUANTIZATION, "a value quantized at run time has data".into()));
    }
    if let Quantization::Channel { .. } | Quantization::Group { .. } = quantization
        && let Some((_, scales)) = all_scales.last()
    {
        check_scales(site, named, scales)?;
    }
    if let Some(have) = constant {
        let shape = shape();
        let need = bytes(&shape, stored).unwrap_or(u64::MAX);
        if have < need {
            let message = format!("a constant of {have} bytes: {shape} of {stored} needs {need}");
            return Err((&XNNPACK_CONSTANT_SHORT, message));
        }
    }
    // A legacy input is converted when the graph runs. Nodes see the converted datatype.
    let datatype = match quantized.is_none() && is_legacy {
        true => XNNDatatype::xnn_datatype_qdint8,
        false => stored,
    };
    let id = tensor.id_out();
    Ok(Value { id, stored, datatype, sizes: dims, quantization, constant, external })
}

/// Returns whether a tensor is quantized by `dq_datatype`, a field of releases before 0.2.
#[inline]
fn is_legacy(tensor: XNNTensorValue<'_>) -> bool {
    let datatype = tensor.dq_datatype();
    datatype != XNNDatatype::xnn_datatype_invalid && datatype.name().is_some()
}

/// Returns how a call uses a tensor.
#[inline]
fn external(site: &Site<'_, '_>, tensor: XNNTensorValue<'_>) -> Result<External, Broken> {
    let (flags, id) = (tensor.flags(), tensor.external_id());
    let external = match flags {
        0 if id == NO_ID => return Ok(External::No),
        0 => External::No,
        1 => External::Input(id),
        2 => External::Output(id),
        3 => return Err((&XNNPACK_EXTERNAL, "a value is an input and an output".into())),
        _ => return Err((&XNNPACK_EXTERNAL, format!("unknown flags {flags:#x}"))),
    };
    let most = site.root().num_externs();
    match (external, id) {
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
fn constant(site: &Site<'_, '_>, named: &NamedSizes<'_>, nth: u32) -> Result<u64, Broken> {
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
        PayloadConstant::Behind(range) => Ok(len_of(&range)),
        PayloadConstant::Within { bytes, .. } => Ok(wide(bytes.len())),
        PayloadConstant::Named { key, size } => {
            let is_written = || site.graph.parts().constants.is_empty() && is_written(key);
            match named.get(key, is_written) {
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

/// Returns the quantization of a value of a datatype without quant_params.
#[inline]
fn unquantized(datatype: XNNDatatype) -> Result<Quantization, Broken> {
    match datatypes::is_unquantized(datatype) {
        true => Ok(Quantization::None),
        false => Err((&XNNPACK_QUANTIZATION, format!("{datatype} without quant_params"))),
    }
}

/// Returns the quantization of a value with a `dq_datatype`.
fn legacy(tensor: XNNTensorValue<'_>, external: External) -> Result<Quantization, Broken> {
    let datatype = tensor.datatype();
    let is_float = [XNNDatatype::xnn_datatype_fp32, XNNDatatype::xnn_datatype_fp16];
    let message = match (tensor.dq_datatype(), external) {
        (XNNDatatype::xnn_datatype_qint8, External::Input(_)) => {
            match is_float.contains(&datatype) && tensor.constant_buffer_idx() == 0 {
                true => return Ok(Quantization::Dynamic { dimensions: 1 }),
                false => format!("dq_datatype on a value of {datatype}"),
            }
        }
        (XNNDatatype::xnn_datatype_qint8, _) => "dq_datatype on a value that is no input".into(),
        (other, _) => format!("dq_datatype {other}: only xnn_datatype_qint8 is taken"),
    };
    Err((&XNNPACK_QUANTIZATION, message))
}

/// Returns the quantization of a value with quant_params, and the scales of its channels or groups.
fn quantization<'p>(
    value: XNNQuantizedTensorValue<'p>,
    datatype: XNNDatatype,
    shape: &Shape,
) -> Result<(Quantization, Option<Scales<'p>>), Broken> {
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
                true => Ok((Quantization::Tensor { scale, zero_point }, None)),
                false => wrong(format!("the zero point of {datatype} is {zero_point}")),
            }
        }
        Some(XNNQuantParams::PerChannelQuant(quant)) => {
            let dimension = dimension(quant.channel_dim(), shape)?;
            let (constant, list) = (quant.scale_buffer_idx(), quant.scale());
            let count = shape.size(dimension);
            let scales = Scales { list, constant, count, size: 4 };
            Ok((Quantization::Channel { dimension, count, largest: None }, Some(scales)))
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
            Ok((Quantization::Group { size }, Some(scales)))
        }
        Some(XNNQuantParams::PerTokenDynamicQuant(quant)) => {
            match usize::try_from(quant.num_nonbatch_dims()) {
                Ok(dimensions) if dimensions <= shape.rank() => {
                    Ok((Quantization::Dynamic { dimensions }, None))
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
fn dimension(dimension: i32, shape: &Shape) -> Result<usize, Broken> {
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
) -> Result<(), Broken> {
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

/// The most inputs and outputs of a graph.
const MOST_EXTERNS: u32 = 4096;

/// Returns whether a key is one of XNNPACK's writer: the SHA-256 of the data, or `scale_` and a name.
fn is_written(key: &str) -> bool {
    is_digest(key) || key.starts_with("scale_")
}
