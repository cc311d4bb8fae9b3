//! The model in OpenVINO's payloads: its inputs, outputs and constants.
//!
//! The model is OpenVINO's IR, which is XML, combined with a key (docs/format.md §11.15). Only the layers of the
//! outermost network are read: `Parameter` is an input, `Result` an output, `Const` a constant. OpenVINO numbers inputs
//! and outputs in the order of the layers.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::Unreadable;
use pte_flat::bytes::wide;
use pte_flat::cost;
use pte_schema::scalar::ScalarType;

pub(super) mod sections;
mod xml;

use xml::{Item, Items, Tag};

/// An input or output of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Port {
    /// The name of the type, such as `f32` or `FP32`.
    pub element: String,
    /// The bounds of each dimension.
    pub dims: Vec<RangeInclusive<u64>>,
}

impl Port {
    /// Returns the datatype of the tensors that ExecuTorch's backend passes for this type; `None` if it passes none.
    #[must_use]
    pub fn scalar_type(&self) -> Option<ScalarType> {
        let mut known = TYPES.iter();
        let (.., found) = known.find(|(a, b, _)| self.element == *a || self.element == *b)?;
        Some(*found)
    }
}

/// The types of inputs and of outputs, and the datatypes that the backend passes for them.
static TYPES: [(&str, &str, ScalarType); 10] = [
    ("f32", "FP32", ScalarType::FLOAT),
    ("f16", "FP16", ScalarType::HALF),
    ("bf16", "BF16", ScalarType::BFLOAT16),
    ("f64", "FP64", ScalarType::DOUBLE),
    ("i64", "I64", ScalarType::LONG),
    ("i32", "I32", ScalarType::INT),
    ("i16", "I16", ScalarType::SHORT),
    ("i8", "I8", ScalarType::CHAR),
    ("u8", "U8", ScalarType::BYTE),
    ("boolean", "BOOL", ScalarType::BOOL),
];

/// The model of a payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// The inputs, in order.
    pub inputs: Vec<Port>,
    /// The outputs, in order.
    pub outputs: Vec<Port>,
    /// The end of the last constant in the payload's constants.
    pub constants: u64,
}

/// The kind of a layer that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Input,
    Output,
    Constant,
    Other,
}

impl Model {
    /// Reads the model of a payload, as it is stored.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if it is not well-formed XML, or has an input or output without a type or a shape.
    pub fn read(stored: &[u8]) -> Result<Self, Unreadable> {
        let text: Vec<u8> = stored.iter().zip(KEY.iter().cycle()).map(|(a, b)| a ^ b).collect();
        let mut items = Items::new(&text);
        let mut model = Self::default();
        // The names of open elements are compared, and those around a layer.
        let mut open: Vec<&[u8]> = Vec::new();
        let mut layer = (Kind::Other, None::<Port>);
        while let Some((at, item)) = items.next()? {
            cost::charge(1);
            let why = match item {
                Item::Start(tag) => {
                    if !model.start(&open, &mut layer, &tag) {
                        return Err(invalid(at, "a layer without a type, a shape or a size"));
                    }
                    if !tag.is_empty {
                        open.push(tag.name);
                    }
                    continue;
                }
                Item::End(name) if open.pop() == Some(name) => {
                    if open.len() == LAYER.len() {
                        model.finish(&mut layer).ok_or(invalid(at, "an output without a type"))?;
                    }
                    continue;
                }
                Item::End(_) => "an end tag that does not match its start tag",
                Item::Text(text) => {
                    if is_at(&open, &[b"input", b"port", b"dim"]) && layer.0 == Kind::Output {
                        let dim =
                            bounds(text).ok_or(invalid(at, "a dimension that is no number"))?;
                        layer.1.get_or_insert_default().dims.push(dim);
                    }
                    continue;
                }
            };
            return Err(invalid(at, why));
        }
        if !open.is_empty() || model.inputs.is_empty() && model.outputs.is_empty() {
            return Err(invalid(
                wide(text.len()),
                "the model ends early, or has no inputs and outputs",
            ));
        }
        Ok(model)
    }

    /// Reads the start of an element. Returns `false` if it lacks something that OpenVINO reads.
    fn start(&mut self, open: &[&[u8]], layer: &mut (Kind, Option<Port>), tag: &Tag<'_>) -> bool {
        if open == LAYER && tag.name == b"layer" {
            let kind = match tag.get(b"type") {
                Some(b"Parameter") => Kind::Input,
                Some(b"Result") => Kind::Output,
                Some(b"Const") => Kind::Constant,
                _ => Kind::Other,
            };
            *layer = (kind, None);
            return !tag.is_empty || !matches!(kind, Kind::Input | Kind::Output);
        }
        let text = |name| tag.get(name).and_then(|text| core::str::from_utf8(text).ok());
        match layer.0 {
            Kind::Input if is_at(open, &[]) && tag.name == b"data" => {
                let (Some(element), Some(shape)) = (text(b"element_type"), tag.get(b"shape"))
                else {
                    return false;
                };
                let Some(dims) = shape_of(shape) else { return false };
                layer.1 = Some(Port { element: element.into(), dims });
            }
            Kind::Output if is_at(open, &[b"input"]) && tag.name == b"port" => {
                let Some(element) = text(b"precision") else { return false };
                layer.1 = Some(Port { element: element.into(), dims: Vec::new() });
            }
            Kind::Constant if is_at(open, &[]) && tag.name == b"data" => {
                let number = |name| text(name).and_then(|text| text.parse::<u64>().ok());
                let (Some(offset), Some(size)) = (number(b"offset"), number(b"size")) else {
                    return false;
                };
                self.constants = self.constants.max(offset.saturating_add(size));
            }
            _ => {}
        }
        true
    }

    /// Adds a layer that has ended. Returns `None` if it is an input or an output, and has no type.
    fn finish(&mut self, layer: &mut (Kind, Option<Port>)) -> Option<()> {
        match core::mem::replace(layer, (Kind::Other, None)) {
            (Kind::Input, port) => self.inputs.push(port?),
            (Kind::Output, port) => self.outputs.push(port?),
            _ => {}
        }
        Some(())
    }
}

/// The elements around a layer of the outermost network.
const LAYER: &[&[u8]] = &[b"net", b"layers"];

/// Returns whether the open elements inside a layer of the outermost network are `inside`.
fn is_at(open: &[&[u8]], inside: &[&[u8]]) -> bool {
    let rest = open.strip_prefix(LAYER);
    rest.and_then(|open| open.split_first()).is_some_and(|(_, open)| open == inside)
}

/// Reads a shape, such as `2,?,1..8`. A scalar has none.
fn shape_of(shape: &[u8]) -> Option<Vec<RangeInclusive<u64>>> {
    if shape.trim_ascii().is_empty() {
        return Some(Vec::new());
    }
    shape.split(|byte| *byte == b',').map(bounds).collect()
}

/// Reads a dimension: a number, `?` or -1 for any, or a range such as `1..8`.
fn bounds(text: &[u8]) -> Option<RangeInclusive<u64>> {
    let text = core::str::from_utf8(text).ok()?.trim();
    let number = |text: &str| text.parse::<u64>().ok();
    match text.split_once("..") {
        _ if text == "?" || text == "-1" => Some(0..=u64::MAX),
        Some((low, high)) => {
            let low = if low.is_empty() { 0 } else { number(low)? };
            let high = if high.is_empty() { u64::MAX } else { number(high)? };
            Some(low..=high)
        }
        None => number(text).map(|only| only..=only),
    }
}

fn invalid(at: u64, why: &'static str) -> Unreadable {
    Unreadable::Model { at, why }
}

/// The key of OpenVINO's encoding, which is repeated.
const KEY: [u8; 12] = [0x30, 0x60, 0x70, 0x02, 0x04, 0x08, 0x3f, 0x6f, 0x72, 0x74, 0x78, 0x7f];
