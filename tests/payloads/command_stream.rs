//! Command streams of Ethos-U, made of registers: what an operation reads, writes and multiplies.

use pte::payload::command_stream::commands::Actions;
use pte::payload::command_stream::registers::Operation;
use pte::payload::command_stream::{Step, Work, decode};

/// Values of registers: of 16 bits from 0x100 on in `narrow`, longer ones in `large`.
#[derive(Clone, Default)]
pub(super) struct Stream {
    pub(super) narrow: Vec<(u16, u16)>,
    pub(super) large: Vec<(u16, u32)>,
}

/// Returns the driver's actions for a processor and a command stream of these words.
pub(super) fn block(config: u32, words: &[u32]) -> Vec<u8> {
    let count = u32::try_from(words.len()).unwrap();
    let stream = 2 | (count >> 16) << 8 | count << 16;
    let head = [u32::from_le_bytes(*b"COP1"), 1, config, 0, stream];
    head.iter().chain(words).flat_map(|word| word.to_le_bytes()).collect()
}

impl Stream {
    /// Returns the driver's actions with a command after these registers.
    fn block(&self, product: u32, code: u32, param: u32) -> Vec<u8> {
        // Between the product and the multiplications of a cycle are other numbers.
        block(product << 28 | 0x0fff_fff0, &self.words(code, param))
    }

    /// Returns the words of a command after these registers.
    pub(super) fn words(&self, code: u32, param: u32) -> Vec<u32> {
        let narrow = self.narrow.iter();
        let narrow = narrow.map(|&(code, value)| u32::from(code) | u32::from(value) << 16);
        let large = self.large.iter();
        let large = large.flat_map(|&(code, value)| [u32::from(code) | 0x4000, value]);
        narrow.chain(large).chain([code | param << 16]).collect()
    }

    /// Returns the one operation of these actions.
    fn operation(&self, product: u32, code: u32, param: u32) -> Operation {
        let mut found = Vec::new();
        decode(&self.block(product, code, param), |step| match step {
            Step::Operation(operation) => found.push(operation),
            Step::Unknown(command) => panic!("{command:?}"),
        })
        .unwrap();
        assert_eq!(found.len(), 1);
        found.remove(0)
    }
}

/// Registers of a layer whose output is 4 × 6 × 8, with a kernel of 2 × 3, and whose input has 6 channels. It moves by
/// 3 rows and 2 columns, and is padded by a row at the top.
pub(super) fn layer() -> Stream {
    let narrow = [
        (0x100, 1),
        (0x104, 5),
        (0x10a, 99),
        (0x10b, 99),
        (0x10c, 99),
        (0x10f, 1),
        (0x111, 5),
        (0x112, 3),
        (0x113, 7),
        (0x11a, 99),
        (0x11b, 99),
        (0x11c, 99),
        (0x11f, 1),
        (0x120, 2),
        (0x121, 1),
        (0x122, 1 | 1 << 9),
    ];
    let large = [(0x00, 0), (0x04, 6), (0x05, 78), (0x10, 1000), (0x14, 8), (0x15, 48)];
    Stream { narrow: narrow.into(), large: large.into() }
}

pub(super) const CONV: u32 = 2;
const DEPTHWISE: u32 = 3;
const ELEMENTWISE: u32 = 6;
const DMA: u32 = 0x10;

#[test]
fn a_layer_reads_what_its_windows_cover_and_multiplies_once_for_each_tap() {
    let read = |operation: &Operation, name: &str| {
        let access = operation.accesses.iter().find(|access| access.name == name).unwrap();
        (access.range.clone(), access.map.unwrap().1)
    };
    for product in [0, 1, 2] {
        let conv = layer().operation(product, CONV, 0);
        assert_eq!((conv.name, conv.kernel, conv.macs), ("conv", [3, 2], 4 * 6 * 8 * 3 * 2 * 6));
        assert_eq!(read(&conv, "ifm"), (0..10 * 13 * 6, [10, 13, 6]));
        assert_eq!(read(&conv, "ofm"), (1000..1000 + 4 * 6 * 8, [4, 6, 8]));
        let depthwise = layer().operation(product, DEPTHWISE, 0);
        assert_eq!((depthwise.name, depthwise.macs), ("depthwise", 4 * 6 * 8 * 3 * 2));
    }
    // An upscaled feature map has two elements for each one that is read.
    let mut upscaled = layer();
    upscaled.narrow.push((0x107, 1));
    assert_eq!(read(&upscaled.operation(1, CONV, 0), "ifm").1, [5, 7, 6]);
}

/// Each core of Ethos-U65 has weights and scales; the four of Ethos-U85 share the scales.
#[test]
fn weights_and_scales_are_those_of_the_cores() {
    let mut stream = layer();
    for (nth, base) in (1u32..).zip([0x20, 0x22, 0x90, 0x92, 0x94]) {
        stream.large.extend([(base, nth * 100), (base + 1, nth)]);
    }
    let places = |operation: &Operation, name: &str| -> Vec<(u64, u64)> {
        let accesses = operation.accesses.iter().filter(|access| access.name == name);
        accesses.map(|access| (access.range.start, access.range.end)).collect()
    };
    for (product, weights, scales) in [
        (0, vec![(100, 101), (300, 303)], vec![(200, 202), (400, 404)]),
        (1, vec![(100, 101), (300, 303)], vec![(200, 202), (400, 404)]),
        (2, vec![(100, 101), (300, 303), (400, 404), (500, 505)], vec![(200, 202)]),
    ] {
        let conv = stream.operation(product, CONV, 0);
        assert_eq!(places(&conv, "weights"), weights, "{product}");
        assert_eq!(places(&conv, "scales"), scales, "{product}");
        // One scale for all channels is a register.
        let mut alike = stream.clone();
        alike.narrow.push((0x114, 1 << 8));
        assert_eq!(places(&alike.operation(product, CONV, 0), "scales"), []);
    }
}

#[test]
fn operations_on_one_operand_read_no_second() {
    let mut stream = layer();
    stream.narrow.extend([(0x18a, 99), (0x18b, 99), (0x18c, 99)]);
    stream.large.push((0x80, 5000));
    for (param, mode) in
        (0u32..).zip(["MUL", "ADD", "SUB", "MIN", "MAX", "LRELU", "ABS", "CLZ", "SHR", "SHL"])
    {
        let operation = stream.operation(1, ELEMENTWISE, param);
        assert_eq!(operation.mode, Some(mode));
        let reads_second = operation.accesses.iter().any(|access| access.name == "ifm2");
        assert_eq!(reads_second, !["LRELU", "ABS", "CLZ"].contains(&mode), "{mode}");
    }
}

/// A feature map has up to four parts, of which the lower ones may begin in different rows.
#[test]
fn each_tile_of_a_feature_map_has_its_rows_and_columns() {
    let end = |nth: usize| {
        let mut stream = layer();
        stream.narrow.extend([(0x11a, 3), (0x11b, 2), (0x11c, 1)]);
        stream.large.extend([(0x11, 1000), (0x12, 1000), (0x13, 1000)]);
        stream.large.push(([0x10, 0x11, 0x12, 0x13][nth], 1_000_000));
        let operation = stream.operation(1, CONV, 0);
        let access = operation.accesses.iter().find(|access| access.is_written).unwrap();
        access.range.end
    };
    for (nth, [rows, columns]) in [[3, 4], [2, 2], [1, 4], [2, 2]].into_iter().enumerate() {
        assert_eq!(end(nth), 1_000_000 + (rows - 1) * 48 + (columns - 1) * 8 + 8, "{nth}");
    }
}

/// Ethos-U85 copies rows and planes with strides, of which the last ends the copy. Earlier processors copy bytes.
#[test]
fn a_transfer_ends_with_its_last_row() {
    let stream = |from: u16, to: u16| Stream {
        narrow: vec![(0x130, 1 | from), (0x131, 2 | to), (0x132, 3), (0x133, 2)],
        large: vec![
            (0x30, 100),
            (0x31, 200),
            (0x32, 16),
            (0x33, 64),
            (0x34, 500),
            (0x35, 32),
            (0x36, 1000),
        ],
    };
    let ends = |product: u32, from: u16, to: u16| -> Vec<_> {
        let accesses = stream(from, to).operation(product, DMA, 0).accesses.into_iter();
        accesses.map(|access| (access.region, access.range, access.is_written)).collect()
    };
    for product in [0, 1] {
        assert_eq!(ends(product, 0x200, 0x400), [(1, 100..116, false), (2, 200..216, true)]);
    }
    assert_eq!(ends(2, 0, 0), [(1, 100..116, false), (2, 200..216, true)]);
    assert_eq!(ends(2, 0x200, 0x400), [(1, 100..244, false), (2, 200..1280, true)]);
    assert_eq!(ends(2, 0x400, 0x200), [(1, 100..744, false), (2, 200..280, true)]);
    // Memory inside the processor, and what indices lead to, is not known.
    assert_eq!(ends(2, 0x100, 0), [(2, 200..216, true)]);
    assert_eq!(ends(2, 0, 0x800), [(1, 100..116, false)]);
}

#[test]
fn a_stream_may_have_more_words_than_16_bits_count() {
    let mut words = vec![0x0100; (1 << 16) + 7];
    words.push(DMA);
    let mut count = 0;
    decode(&block(1 << 28, &words), |_| count += 1).unwrap();
    assert_eq!(count, 1);
    let short = block(1 << 28, &words);
    assert!(decode(&short[..short.len() - 4], |_| {}).is_err());
}

#[test]
fn the_processor_has_a_product_and_a_power_of_two() {
    for (product, power) in [(0, 5), (0, 8), (1, 9), (2, 7), (2, 11)] {
        let actions = Actions::read(&block(product << 28 | 0x0123_4560 | power, &[0])).unwrap();
        let processor = actions.processor.unwrap();
        assert_eq!((processor.product, processor.macs_per_cycle), (product, 1 << power));
    }
}

/// Weights and the fast memory of the firmware are no scratch memory.
#[test]
fn the_peak_is_the_last_byte_of_the_scratch_memory() {
    let peak = |regions: [u16; 2]| {
        let mut stream = layer();
        stream.narrow.extend([(0x10f, regions[0]), (0x11f, regions[1])]);
        stream.large.extend([(0x20, 1_000_000), (0x21, 10)]);
        Work::of(&stream.block(1, CONV, 0)).unwrap().peak
    };
    assert_eq!(peak([1, 1]), 1000 + 4 * 6 * 8);
    assert_eq!(peak([1, 2]), 10 * 13 * 6);
    assert_eq!(peak([0, 2]), 0);
}
