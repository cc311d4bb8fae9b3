//! The registers of an Ethos-U processor, and the operations that read them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use super::commands::{Command, Processor};

/// The registers at a point of a stream.
#[derive(Debug)]
pub struct Registers {
    /// The registers of one word, by their code.
    narrow: Box<[u16]>,
    /// The registers of two words, by their code; `None` before they are set.
    large: Box<[Option<u64>]>,
    processor: Processor,
}

/// An operation with its registers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Operation {
    /// The position of the command.
    pub at: u64,
    /// The name: `conv`, `depthwise`, `pool`, `elementwise`, `resize` or `dma`.
    pub name: &'static str,
    /// The mode of a pooling or of an elementwise operation.
    pub mode: Option<&'static str>,
    /// The width and height of the kernel.
    pub kernel: [u32; 2],
    /// What is read and written.
    pub accesses: Vec<Access>,
    /// The estimated number of multiplications.
    pub macs: u64,
}

/// Memory that an operation reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// The name: `ifm`, `ifm2`, `ofm`, `weights`, `scales`, `source` or `destination`.
    pub name: &'static str,
    /// The region: 0 has the weights, 1 the scratch memory, 2 the fast scratch memory.
    pub region: u32,
    /// The range of addresses in the region.
    pub range: Range<u64>,
    /// Whether the memory is written.
    pub is_written: bool,
    /// The datatype and shape (height, width, depth) of a feature map.
    pub map: Option<(&'static str, [u32; 3])>,
}

/// The registers of a feature map.
struct MapRegisters {
    name: &'static str,
    region: u16,
    precision: u16,
    /// The position of the number of bits of an element in the precision.
    bits_at: u32,
    /// Registers of one word: the width and the two heights of tiles.
    tiles: [u16; 3],
    /// The first of four addresses, and the strides.
    base: u16,
}

impl Registers {
    /// Returns the registers of a processor at the start of a stream.
    pub fn new(processor: Processor) -> Self {
        let (narrow, large) = (vec![0; CODES], vec![None; CODES]);
        Self { narrow: narrow.into(), large: large.into(), processor }
    }

    /// Sets a register.
    pub fn set(&mut self, command: &Command) {
        let at = usize::from(command.code);
        if command.payload.is_some() {
            self.large.get_mut(at).into_iter().for_each(|to| *to = Some(command.number()));
        } else {
            self.narrow.get_mut(at).into_iter().for_each(|to| *to = command.param);
        }
    }

    /// Returns whether the processor has the command.
    pub fn is_known(&self, command: &Command) -> bool {
        let ranges = match (command.is_operation(), command.payload) {
            (true, _) => OPERATIONS,
            (_, None) => NARROW,
            (_, Some(_)) => LARGE,
        };
        ranges.iter().any(|range| range.contains(&command.code))
    }

    /// Returns the operation that a command runs; `None` for a command that reads no memory.
    pub fn operation(&self, command: &Command) -> Option<Operation> {
        let name = match command.code {
            2 => "conv",
            3 => "depthwise",
            5 => "pool",
            6 => "elementwise",
            7 => "resize",
            0x10 => "dma",
            _ => return None,
        };
        if name == "dma" {
            let (at, accesses) = (command.at, self.transfer());
            return Some(Operation { at, name, mode: None, kernel: [1, 1], accesses, macs: 0 });
        }
        let modes: &[&str] = match name {
            "pool" => &POOLINGS,
            "elementwise" => &ELEMENTWISE,
            _ => &[],
        };
        let mode = modes.get(usize::from(command.param)).copied();
        let kernel = [self.one_more(0x120), self.one_more(0x121)];
        let ofm_shape = [self.one_more(0x112), self.one_more(0x111), self.one_more(0x113)];
        let mut accesses = Vec::new();
        let depth = self.one_more(0x104);
        let ifm_shape = self.input_shape(name, kernel, ofm_shape, depth);
        accesses.extend(ifm_shape.and_then(|shape| self.map(&IFM, shape)));
        let has_weights = matches!(name, "conv" | "depthwise");
        let reads_ifm2 = has_weights && command.param & 1 == 1;
        if name == "elementwise" && self.reads_second(mode) {
            accesses.extend(self.map(&IFM2, broadcasted(ofm_shape, self.narrow(0x180))));
        }
        if has_weights && !reads_ifm2 {
            let (weights, scales): (&[u16], &[u16]) = match self.processor.product {
                0 | 1 => (&[0x20, 0x90], &[0x22, 0x92]),
                _ => (&[0x20, 0x90, 0x92, 0x94], &[0x22]),
            };
            self.blobs("weights", 0x128, weights, &mut accesses);
            if self.is_scaled_by_channel() {
                self.blobs("scales", 0x129, scales, &mut accesses);
            }
        }
        accesses.extend(self.map(&OFM, ofm_shape));
        let outputs =
            ofm_shape.iter().fold(1u64, |product, size| product.saturating_mul((*size).into()));
        let taps = u64::from(kernel[0]).saturating_mul(kernel[1].into());
        let macs = match name {
            "conv" => outputs.saturating_mul(taps).saturating_mul(depth.into()),
            "depthwise" => outputs.saturating_mul(taps),
            _ => 0,
        };
        Some(Operation { at: command.at, name, mode, kernel, accesses, macs })
    }

    fn narrow(&self, code: u16) -> u16 {
        self.narrow.get(usize::from(code)).copied().unwrap_or_default()
    }

    /// Returns a size, of which the register has one less.
    fn one_more(&self, code: u16) -> u32 {
        u32::from(self.narrow(code)).saturating_add(1)
    }

    fn large(&self, code: u16) -> Option<u64> {
        self.large.get(usize::from(code)).copied().flatten()
    }

    /// Returns whether each channel has a scale in memory.
    fn is_scaled_by_channel(&self) -> bool {
        self.narrow(OFM.precision) & 1 << 8 == 0
    }

    /// Returns whether an elementwise operation reads a second feature map.
    fn reads_second(&self, mode: Option<&str>) -> bool {
        let is_unary = matches!(mode, Some("LRELU" | "ABS" | "CLZ"));
        // The second operand may be a number in a register.
        let is_scalar = match self.processor.product {
            0 | 1 => self.narrow(0x180) & 0x80 != 0,
            _ => self.narrow(0x180) & 0x8 != 0,
        };
        !is_unary && !is_scalar
    }

    /// Returns the part of the first feature map that an operation reads: height, width and depth. `None` if it is not
    /// known.
    fn input_shape(
        &self,
        name: &str,
        kernel: [u32; 2],
        ofm: [u32; 3],
        depth: u32,
    ) -> Option<[u32; 3]> {
        if name == "resize" {
            return None;
        }
        if name == "elementwise" {
            let broadcast = if self.processor.product > 1 { self.narrow(0x108) } else { 0 };
            return Some(broadcasted(ofm, broadcast));
        }
        let stride = self.narrow(0x122);
        let bits = |low: u32, high: u32| {
            let value = stride.checked_shr(low).unwrap_or_default() & 1;
            let more = stride.checked_shr(high).unwrap_or_default() & 7;
            u32::from(value | more << 1).saturating_add(1)
        };
        let (stride_x, stride_y) = (bits(0, 6), bits(1, 9));
        let pad = |code: u16| u32::from(self.narrow(code));
        let size = |out: u32, stride: u32, kernel: u32, padding: u32| {
            let read = out.saturating_sub(1).saturating_mul(stride).saturating_add(kernel);
            let read = read.saturating_sub(padding).max(1);
            // An upscaled feature map has two elements for each one.
            if self.narrow(0x107) == 0 { read } else { read.div_ceil(2) }
        };
        let [height, width, _] = ofm;
        let height = size(height, stride_y, kernel[1], pad(0x100).saturating_add(pad(0x103)));
        let width = size(width, stride_x, kernel[0], pad(0x101).saturating_add(pad(0x102)));
        Some([height, width, depth])
    }

    /// Returns the access to a feature map; `None` if its place is not known.
    fn map(&self, of: &MapRegisters, shape: [u32; 3]) -> Option<Access> {
        let precision = self.narrow(of.precision);
        let bits = precision.checked_shr(of.bits_at)? & 3;
        let element = 1u64.checked_shl(bits.into())?;
        let is_brick = precision >> 6 & 3 == 1;
        let datatypes = if precision & 1 == 1 { &SIGNED } else { &UNSIGNED };
        let datatype = datatypes.get(usize::from(bits))?;
        let is_written = of.name == "ofm";
        let access = |range| {
            let (region, map) = (self.narrow(of.region).into(), Some((*datatype, shape)));
            Some(Access { name: of.name, region, range, is_written, map })
        };
        if self.processor.product > 1 && is_written && precision >> 9 & 0x1f != 0 {
            // The axes are exchanged or reversed on the way, so only the first element is known.
            let start = self.large(of.base)?;
            return access(start..start.saturating_add(element));
        }
        let tiles = of.tiles.map(|code| self.one_more(code));
        let strides =
            [4u16, 5, 6].map(|nth| self.large(of.base.saturating_add(nth)).unwrap_or_default());
        let mut ends = Vec::new();
        let mut starts = Vec::new();
        for (nth, [height, width]) in (0u16..).zip(tile_sizes(shape, tiles)) {
            if height == 0 || width == 0 {
                continue;
            }
            let start = self.large(of.base.saturating_add(nth))?;
            let [stride_x, stride_y, stride_c] = strides;
            let last = |count: u32| u64::from(count.saturating_sub(1));
            let channel = last(shape[2]);
            let across = match is_brick {
                true => {
                    let x = last(width).saturating_mul(element.saturating_mul(16));
                    x.saturating_add((channel / 16).saturating_mul(stride_c))
                        .saturating_add((channel % 16).saturating_mul(element))
                }
                false => last(width)
                    .saturating_mul(stride_x)
                    .saturating_add(channel.saturating_mul(element)),
            };
            let down = last(height).saturating_mul(stride_y);
            starts.push(start);
            ends.push(start.saturating_add(down).saturating_add(across).saturating_add(element));
        }
        access(starts.into_iter().min()?..ends.into_iter().max()?)
    }

    /// Adds the accesses to weights or scales, whose addresses are in the registers `cores`. The length is behind each.
    fn blobs(&self, name: &'static str, region: u16, cores: &[u16], out: &mut Vec<Access>) {
        let region = self.narrow(region).into();
        for &base in cores {
            let length = self.large(base.saturating_add(1)).unwrap_or_default();
            // A length has 32 bits.
            let len = length & u64::from(u32::MAX);
            if let (Some(start), 1..) = (self.large(base), len) {
                let range = start..start.saturating_add(len);
                out.push(Access { name, region, range, is_written: false, map: None });
            }
        }
    }

    /// Returns the accesses of a transfer between regions. The internal memory is no region.
    fn transfer(&self) -> Vec<Access> {
        let Some(len) = self.large(0x32) else { return Vec::new() };
        let ends = [("source", 0x130, 0x30, 0x33), ("destination", 0x131, 0x31, 0x35)];
        let ends = ends.into_iter().filter_map(|(name, region, base, stride)| {
            let (mode, start) = (self.narrow(region), self.large(base)?);
            let is_internal = mode & 0x100 != 0;
            // A gather reads where its indices say.
            let is_indexed = mode & 0x800 != 0;
            if is_internal || is_indexed || len == 0 {
                return None;
            }
            let mut end = start.saturating_add(len);
            if self.processor.product > 1 && mode & 0x600 != 0 {
                let more = |size: u16, stride: u16| {
                    let last = u64::from(self.one_more(size).saturating_sub(2));
                    last.saturating_mul(self.large(stride).unwrap_or_default())
                };
                end = end.saturating_add(more(0x132, stride));
                if mode & 0x600 == 0x400 {
                    end = end.saturating_add(more(0x133, stride.saturating_add(1)));
                }
            }
            let (region, is_written) = (u32::from(mode & 7), name == "destination");
            Some(Access { name, region, range: start..end, is_written, map: None })
        });
        ends.collect()
    }
}

/// Returns a shape in which the axes of a mask have one element: bit 0 is the height, 1 the width, 2 the depth.
fn broadcasted(shape: [u32; 3], mask: u16) -> [u32; 3] {
    let [height, width, depth] = shape;
    let size = |size, bit: u16| if mask & bit == 0 { size } else { 1 };
    [size(height, 1), size(width, 2), size(depth, 4)]
}

/// Returns the height and width of the part of a feature map in each of four tiles. `tiles` is the width of the first
/// tile, and the heights of the first and of the second.
fn tile_sizes([height, width, _]: [u32; 3], [width0, height0, height1]: [u32; 3]) -> [[u32; 2]; 4] {
    let right = width.saturating_sub(width0);
    let left = width.min(width0);
    [
        [height.min(height0), left],
        [height.min(height1), right],
        [height.saturating_sub(height0), left],
        [height.saturating_sub(height1), right],
    ]
}

/// The number of codes.
const CODES: usize = 0x400;

static IFM: MapRegisters = MapRegisters {
    name: "ifm",
    region: 0x10f,
    precision: 0x105,
    bits_at: 2,
    tiles: [0x10a, 0x10b, 0x10c],
    base: 0x00,
};
static IFM2: MapRegisters = MapRegisters {
    name: "ifm2",
    region: 0x18f,
    precision: 0x185,
    bits_at: 2,
    tiles: [0x18a, 0x18b, 0x18c],
    base: 0x80,
};
static OFM: MapRegisters = MapRegisters {
    name: "ofm",
    region: 0x11f,
    precision: 0x114,
    bits_at: 1,
    tiles: [0x11a, 0x11b, 0x11c],
    base: 0x10,
};

static SIGNED: [&str; 4] = ["INT8", "INT16", "INT32", "INT64"];
static UNSIGNED: [&str; 4] = ["UINT8", "UINT16", "UINT32", "UINT64"];
static POOLINGS: [&str; 7] = ["MAX", "AVERAGE", "REDUCE_SUM", "SUM", "NONE", "MIN", "ARGMAX"];
static ELEMENTWISE: [&str; 10] =
    ["MUL", "ADD", "SUB", "MIN", "MAX", "LRELU", "ABS", "CLZ", "SHR", "SHL"];

/// The codes of operations.
static OPERATIONS: &[Range<u16>] = &[0..4, 5..8, 0x10..0x14];

/// The codes of registers of one word, in all products.
static NARROW: &[Range<u16>] = &[
    0x100..0x106,
    0x107..0x10e,
    0x10f..0x11d,
    0x11f..0x12f,
    0x12f..0x135,
    0x180..0x182,
    0x185..0x186,
    0x189..0x18e,
    0x18f..0x190,
];

/// The codes of registers of two words, in all products.
static LARGE: &[Range<u16>] =
    &[0x00..0x07, 0x10..0x17, 0x20..0x28, 0x30..0x3a, 0x80..0x87, 0x90..0x98, 0x100..0x101];
