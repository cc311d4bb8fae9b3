//! The elements of tensors: every value of the small dtypes, statistics, and NumPy's format.

use pte::element::packed::{
    BFloat16, Float8e4m3fn, Float8e4m3fnuz, Float8e5m2, Float8e5m2fnuz, Half,
};
use pte::element::{Element, Stats, Tally, values};
use pte::schema::scalar::ScalarType;

mod npy;

/// Computes an 8-bit float by the formula, with the sign, power and fraction from their own bits.
fn float8(byte: u8, mantissa_bits: i32, bias: i32) -> f64 {
    let sign = if byte < 0x80 { 1.0 } else { -1.0 };
    let steps = 2_f64.powi(mantissa_bits);
    let fraction = f64::from(byte) % steps / steps;
    let exponent = i32::from(byte % 128) >> mantissa_bits;
    match exponent {
        0 => sign * fraction * 2_f64.powi(1 - bias),
        _ => sign * (1.0 + fraction) * 2_f64.powi(exponent - bias),
    }
}

#[test]
fn eight_bit_floats_are_exact() {
    for byte in 0..=u8::MAX {
        let magnitude = byte % 128;
        let e5m2 = match magnitude {
            0x7c => f64::INFINITY.copysign(if byte < 0x80 { 1.0 } else { -1.0 }),
            0x7d.. => f64::NAN,
            _ => float8(byte, 2, 15),
        };
        let e4m3fn = if magnitude == 0x7f { f64::NAN } else { float8(byte, 3, 7) };
        let e5m2fnuz = if byte == 0x80 { f64::NAN } else { float8(byte, 2, 16) };
        let e4m3fnuz = if byte == 0x80 { f64::NAN } else { float8(byte, 3, 8) };

        let (x, b) = (byte, [byte]);
        same(x, e5m2, Float8e5m2::from_bytes(b).to_f64(), Float8e5m2::from_bytes(b).to_f32());
        same(x, e4m3fn, Float8e4m3fn::from_bytes(b).to_f64(), Float8e4m3fn::from_bytes(b).to_f32());
        let float = Float8e5m2fnuz::from_bytes(b);
        same(x, e5m2fnuz, float.to_f64(), float.to_f32());
        let float = Float8e4m3fnuz::from_bytes(b);
        same(x, e4m3fnuz, float.to_f64(), float.to_f32());
    }
}

fn same(bits: impl core::fmt::LowerHex, expected: f64, wide: f64, narrow: f32) {
    if expected.is_nan() {
        assert!(wide.is_nan() && narrow.is_nan(), "{bits:x}: {wide} and {narrow} for NaN");
        return;
    }
    assert_eq!(wide.to_bits(), expected.to_bits(), "{bits:x}: {wide} for {expected}");
    assert_eq!(f64::from(narrow).to_bits(), expected.to_bits(), "{bits:x}: {narrow}");
}

#[test]
fn landmarks_of_eight_bit_floats() {
    let landmarks = [
        // Largest, one, smallest normal, smallest subnormal, negative.
        (ScalarType::FLOAT8E5M2, [0x7b, 0x3c, 0x04, 0x01, 0xbe]),
        (ScalarType::FLOAT8E4M3FN, [0x7e, 0x38, 0x08, 0x01, 0xbc]),
        (ScalarType::FLOAT8E5M2FNUZ, [0x7f, 0x40, 0x04, 0x01, 0xc2]),
        (ScalarType::FLOAT8E4M3FNUZ, [0x7f, 0x40, 0x08, 0x01, 0xc4]),
    ];
    let expected = [
        [57344.0, 1.0, 0.00006103515625, 0.0000152587890625, -1.5],
        [448.0, 1.0, 0.015625, 0.001953125, -1.5],
        [57344.0, 1.0, 0.000030517578125, 0.00000762939453125, -1.5],
        [240.0, 1.0, 0.0078125, 0.0009765625, -1.5],
    ];
    for ((scalar_type, bytes), expected) in landmarks.into_iter().zip(expected) {
        assert_eq!(read(scalar_type, &bytes), expected.map(Element::Float), "{scalar_type:?}");
    }
    // Negative zero, in the formats that have one.
    assert_eq!(Float8e5m2::from_bytes([0x80]).to_f64().to_bits(), (-0.0_f64).to_bits());
    assert_eq!(Float8e4m3fn::from_bytes([0x80]).to_f64().to_bits(), (-0.0_f64).to_bits());
}

#[test]
fn every_half_is_exact() {
    let mut before = -1.0;
    for bits in 0..=u16::MAX {
        let half = Half::from_bytes(bits.to_le_bytes());
        same(bits, half_by_shifts(bits), half.to_f64(), half.to_f32());
        // Magnitudes ascend with their bits.
        if bits <= 0x7c00 {
            assert!(half.to_f64() > before, "{bits:x}");
            before = half.to_f64();
        }
    }
    let landmarks = [0x0001, 0x0400, 0x3555, 0x3c00, 0x7bff, 0xfc00_u16];
    let bytes = landmarks.map(u16::to_le_bytes).concat();
    let expected =
        [2_f64.powi(-24), 2_f64.powi(-14), 0.333251953125, 1.0, 65504.0, f64::NEG_INFINITY];
    assert_eq!(read(ScalarType::HALF, &bytes), expected.map(Element::Float));
}

/// Converts a half to binary32 bits with integers only. A subnormal is shifted to be normal.
fn half_by_shifts(bits: u16) -> f64 {
    let bits = u32::from(bits);
    let (sign, mut exponent, mut fraction) = (bits >> 15 << 31, bits >> 10 & 31, bits & 1023);
    let magnitude = match (exponent, fraction) {
        (0, 0) => 0,
        (0, _) => {
            exponent = 113;
            while fraction & 1024 == 0 {
                fraction <<= 1;
                exponent -= 1;
            }
            exponent << 23 | (fraction & 1023) << 13
        }
        (31, _) => 255 << 23 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f64::from(f32::from_bits(sign | magnitude))
}

#[test]
fn every_bfloat16_is_the_upper_half_of_a_float() {
    for bits in 0..=u16::MAX {
        let expected = f64::from(f32::from_bits(u32::from(bits) << 16));
        let float = BFloat16::from_bytes(bits.to_le_bytes());
        same(bits, expected, float.to_f64(), float.to_f32());
    }
}

#[test]
fn packed_values_come_least_significant_first() {
    for (code, bits) in [(16, 4), (17, 2), (18, 1), (19, 2), (20, 4)] {
        for byte in 0..=u8::MAX {
            let expected: Vec<Element> = (0..8)
                .step_by(bits)
                .map(|shift| Element::Int(i128::from(byte >> shift) % (1 << bits)))
                .collect();
            assert_eq!(read(ScalarType(code), &[byte]), expected, "code {code}, {byte:#x}");
        }
    }
}

#[test]
fn values_of_the_wide_dtypes() {
    let bytes = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    for (scalar_type, first) in [
        (ScalarType::BYTE, 0xfe),
        (ScalarType::CHAR, -2),
        (ScalarType::SHORT, -2),
        (ScalarType::INT, -2),
        (ScalarType::LONG, -2),
        (ScalarType::BOOL, 1),
        (ScalarType::QINT8, -2),
        (ScalarType::QUINT8, 0xfe),
        (ScalarType::QINT32, -2),
        (ScalarType::BITS8, 0xfe),
        (ScalarType::BITS16, 0xfffe),
        (ScalarType::UINT16, 0xfffe),
        (ScalarType::UINT32, 0xffff_fffe),
        (ScalarType::UINT64, 0xffff_ffff_ffff_fffe),
    ] {
        assert_eq!(read(scalar_type, &bytes)[0], Element::Int(first), "{scalar_type:?}");
    }
    assert_eq!(read(ScalarType::BOOL, &[0, 1, 2, 255]), [0, 1, 1, 1].map(Element::Int));

    let halves = [0x00, 0x3c, 0x00, 0xc0];
    assert_eq!(read(ScalarType::COMPLEX_HALF, &halves), [Element::Complex(1.0, -2.0)]);
    let floats = [1.5_f32, -2.5].map(f32::to_le_bytes).concat();
    assert_eq!(read(ScalarType::FLOAT, &floats), [1.5, -2.5].map(Element::Float));
    assert_eq!(read(ScalarType::COMPLEX_FLOAT, &floats), [Element::Complex(1.5, -2.5)]);
    let doubles = [0.1_f64, -1e300].map(f64::to_le_bytes).concat();
    assert_eq!(read(ScalarType::DOUBLE, &doubles), [0.1, -1e300].map(Element::Float));
    assert_eq!(read(ScalarType::COMPLEX_DOUBLE, &doubles), [Element::Complex(0.1, -1e300)]);
}

#[test]
fn exactly_the_dtypes_of_the_runtime_have_values() {
    let bytes = noise(33);
    for code in i8::MIN..=i8::MAX {
        let scalar_type = ScalarType(code);
        let size = scalar_type.element_size();
        assert_eq!(values(scalar_type, &bytes).is_some(), size.is_some(), "code {code}");
        assert_eq!(Stats::of(scalar_type, &bytes).is_some(), size.is_some(), "code {code}");
        // An incomplete element at the end does not count as a value.
        let lanes = [(16, 2), (17, 4), (18, 8), (19, 4), (20, 2)];
        let lanes = lanes.iter().find(|(packed, _)| *packed == code).map_or(1, |(_, lanes)| *lanes);
        if let Some(size) = size {
            assert_eq!(read(scalar_type, &bytes).len() as u64, 33 / size * lanes, "code {code}");
        }
    }
}

#[test]
fn statistics_agree_with_the_values() {
    let bytes = noise(1 << 14);
    for code in 0..=29 {
        let scalar_type = ScalarType(code);
        let all = read(scalar_type, &bytes);
        let stats = Stats::of(scalar_type, &bytes).unwrap();
        let has = |what: fn(f64) -> bool| {
            let test = |value: &&Element| match **value {
                Element::Int(_) => false,
                Element::Float(x) => what(x),
                Element::Complex(re, im) => what(re) || what(im),
            };
            all.iter().filter(test).count() as u64
        };
        let is_zero = |value: &&Element| match **value {
            Element::Int(x) => x == 0,
            Element::Float(x) => x == 0.0,
            Element::Complex(re, im) => re == 0.0 && im == 0.0,
        };
        assert_eq!(stats.count, all.len() as u64, "code {code}");
        assert_eq!(stats.zeros, all.iter().filter(is_zero).count() as u64, "code {code}");
        assert_eq!(stats.nans, has(f64::is_nan), "code {code}");
        assert_eq!(stats.infs, has(f64::is_infinite), "code {code}");

        let ints = all.iter().filter_map(|value| match *value {
            Element::Int(x) => Some(x),
            _ => None,
        });
        let floats = all.iter().filter_map(|value| match *value {
            Element::Float(x) if !x.is_nan() => Some(x),
            _ => None,
        });
        let low = ints.clone().min().map(Element::Int);
        let high = ints.clone().max().map(Element::Int);
        assert_eq!(
            stats.min,
            low.or(floats.clone().reduce(f64::min).map(Element::Float)),
            "{code}"
        );
        assert_eq!(
            stats.max,
            high.or(floats.clone().reduce(f64::max).map(Element::Float)),
            "{code}"
        );

        // Dividing first keeps the plain sum from overflowing, and is less exact.
        let finite: Vec<f64> =
            ints.map(|x| x as f64).chain(floats).filter(|x| x.is_finite()).collect();
        let scale = finite.iter().fold(0.0, |scale: f64, x| scale.max(x.abs()));
        let mean: f64 = finite.iter().map(|x| x / finite.len() as f64).sum();
        match stats.mean {
            Some(exact) => assert!((exact - mean).abs() <= scale * 1e-12, "{code}: {exact} {mean}"),
            None => assert!(finite.is_empty(), "code {code}"),
        }
    }
}

#[test]
fn chunks_and_order_do_not_matter() {
    let bytes = noise(1 << 14);
    for code in 0..=29 {
        let scalar_type = ScalarType(code);
        let whole = Stats::of(scalar_type, &bytes).unwrap();
        let size = usize::try_from(scalar_type.element_size().unwrap()).unwrap();
        for elements in [1, 3, 1000] {
            let mut tally = Tally::new(scalar_type).unwrap();
            bytes.rchunks(elements * size).for_each(|chunk| tally.add(chunk));
            assert_eq!(tally.finish(), whole, "code {code}, {elements} elements");
        }
    }
}

#[test]
fn statistics_of_integers() {
    let longs = [i64::MIN, 0, i64::MAX].map(i64::to_le_bytes).concat();
    let expected = Stats {
        count: 3,
        min: Some(Element::Int(-0x8000_0000_0000_0000)),
        max: Some(Element::Int(0x7fff_ffff_ffff_ffff)),
        mean: Some(-1.0 / 3.0),
        zeros: 1,
        nans: 0,
        infs: 0,
    };
    assert_eq!(Stats::of(ScalarType::LONG, &longs), Some(expected));

    let largest = [0xff; 24];
    let expected = Stats {
        count: 3,
        min: Some(Element::Int(0xffff_ffff_ffff_ffff)),
        max: Some(Element::Int(0xffff_ffff_ffff_ffff)),
        mean: Some(18446744073709551616.0),
        zeros: 0,
        ..expected
    };
    assert_eq!(Stats::of(ScalarType::UINT64, &largest), Some(expected));

    let packed = Stats::of(ScalarType::QUINT2X4, &[0b11_00_01_10, 0b11_00_01_10, 0]).unwrap();
    assert_eq!((packed.count, packed.zeros, packed.mean), (12, 6, Some(1.0)));
    assert_eq!((packed.min, packed.max), (Some(Element::Int(0)), Some(Element::Int(3))));
}

#[test]
fn statistics_of_floats() {
    let data = [f32::NAN, 3.0, -0.0, f32::NEG_INFINITY, -7.0, 0.0, f32::NAN, 1.0];
    let expected = Stats {
        count: 8,
        min: Some(Element::Float(f64::NEG_INFINITY)),
        max: Some(Element::Float(3.0)),
        mean: Some(-0.6),
        zeros: 2,
        nans: 2,
        infs: 1,
    };
    let bytes = data.map(f32::to_le_bytes).concat();
    assert_eq!(Stats::of(ScalarType::FLOAT, &bytes), Some(expected));

    let nothing = Stats { count: 0, min: None, max: None, mean: None, zeros: 0, nans: 0, infs: 0 };
    for code in 0..=29 {
        assert_eq!(Stats::of(ScalarType(code), &[]), Some(nothing), "code {code}");
    }
    let nan = f64::NAN.to_le_bytes();
    let expected = Stats { count: 1, nans: 1, ..nothing };
    assert_eq!(Stats::of(ScalarType::DOUBLE, &nan), Some(expected));
    let infinity = Some(Element::Float(f64::INFINITY));
    let expected = Stats { count: 1, infs: 1, min: infinity, max: infinity, ..nothing };
    assert_eq!(Stats::of(ScalarType::FLOAT8E5M2, &[0x7c]), Some(expected));

    let inf = f32::INFINITY;
    let parts = [0.0, -0.0, f32::NAN, 0.0, 1.0, inf, inf, f32::NAN, 0.0, 1.0];
    let bytes = parts.map(f32::to_le_bytes).concat();
    let expected = Stats { count: 5, zeros: 1, nans: 2, infs: 2, ..nothing };
    assert_eq!(Stats::of(ScalarType::COMPLEX_FLOAT, &bytes), Some(expected));
}

#[test]
fn the_mean_is_rounded_once() {
    const MAX: f64 = f64::MAX;
    let tiny = f64::from_bits;
    let above = |n: f64| 2_f64.powi(53) + n;
    for (data, mean) in [
        (&[MAX, MAX, MAX, MAX][..], MAX),
        (&[MAX, 1.0, -MAX], 1.0 / 3.0),
        (&[1.0, 1e100, 1.0, -1e100], 0.5),
        (&[-MAX, -MAX], -MAX),
        (&[-1.0, -2.0], -1.5),
        // Subnormals. Half of the smallest one is rounded to even.
        (&[tiny(3), tiny(3), tiny(3)], tiny(3)),
        (&[tiny(1), 0.0], 0.0),
        (&[tiny(3), 0.0], tiny(2)),
        (&[tiny(1), tiny(1), 0.0], tiny(1)),
        (&[tiny((1 << 52) - 1), tiny(1 << 52)], tiny(1 << 52)),
        (&[-MAX, tiny(2), MAX, 0.0, 0.0, 0.0], 0.0),
        // Ties of normal numbers, a little more than a tie, and a carry into the exponent.
        (&[above(0.0), above(2.0)], above(0.0)),
        (&[above(2.0), above(4.0)], above(4.0)),
        (&[above(0.0), above(2.0), 0.0, -0.0], above(0.0) / 2.0),
        (&[above(0.0), above(2.0), tiny(1), -0.0], above(0.0) / 2.0 + 1.0),
        (&[above(0.0), above(2.0), tiny(4), -0.0], above(0.0) / 2.0 + 1.0),
        (&[2.0 - f64::EPSILON, 2.0], 2.0),
    ] {
        let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
        let stats = Stats::of(ScalarType::DOUBLE, &bytes).unwrap();
        assert_eq!(stats.mean, Some(mean), "{data:?}");
    }
    // One division is right if the sum fits 53 bits.
    for count in 1..300 {
        let bytes = noise(4 * count);
        let ints = bytes.as_chunks().0.iter().map(|&four| i64::from(i32::from_le_bytes(four)));
        let sum: i64 = ints.sum();
        let mean = Stats::of(ScalarType::INT, &bytes).unwrap().mean;
        assert_eq!(mean, Some(sum as f64 / count as f64));
        let small: Vec<u8> = bytes
            .as_chunks()
            .0
            .iter()
            .flat_map(|&four| (i32::from_le_bytes(four) as f64 / 1024.0).to_le_bytes())
            .collect();
        let mean = Stats::of(ScalarType::DOUBLE, &small).unwrap().mean;
        assert_eq!(mean, Some(sum as f64 / count as f64 / 1024.0));
    }
}

fn read(scalar_type: ScalarType, bytes: &[u8]) -> Vec<Element> {
    values(scalar_type, bytes).unwrap().collect()
}

/// Bytes without a pattern, always the same ones (xorshift), after one of zeros.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    [0; 16].into_iter().chain((0..len).flat_map(|_| next())).take(len).collect()
}

/// A tensor with two negative sizes has no number of bytes, although their product is positive.
#[test]
fn negative_sizes_have_no_bytes() {
    for sizes in [&[-1][..], &[-2, -3], &[0, -1], &[-1, 0], &[i32::MIN, i32::MIN], &[-1, -1, 4]] {
        assert_eq!(ScalarType::FLOAT.nbytes(sizes.iter().copied()), None, "{sizes:?}");
    }
    assert_eq!(ScalarType::FLOAT.nbytes([]), Some(4));
    assert_eq!(ScalarType::FLOAT.nbytes([3, 0]), Some(0));
}
