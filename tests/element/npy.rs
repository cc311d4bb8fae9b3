//! NumPy's file format, and tensors in its order.

use pte::element::npy::{bits, descr, header, to_logical_order};
use pte::element::{Element, values};
use pte::schema::scalar::ScalarType;

use super::noise;

#[test]
fn npy_names_have_the_size_of_the_dtype() {
    let without: Vec<i8> = (0..=29).filter(|&code| descr(ScalarType(code)).is_none()).collect();
    assert_eq!(without, [8, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26]);
    for code in i8::MIN..=i8::MAX {
        let scalar_type = ScalarType(code);
        let Some(name) = descr(scalar_type) else { continue };
        assert_eq!(name[2..].parse().ok(), scalar_type.element_size(), "{name}");
        assert_eq!(name.starts_with('|'), name.ends_with('1'), "{name}");
    }
    let kinds = [(1, "|i1"), (4, "<i8"), (5, "<f2"), (9, "<c8"), (11, "|b1"), (29, "<u8")];
    for (code, name) in kinds {
        assert_eq!(descr(ScalarType(code)), Some(name));
    }
}

/// The bits of dtypes that NumPy lacks are integers of the same size, and no dtype has both names.
#[test]
fn npy_bits_have_the_size_of_the_dtype() {
    let mut found = Vec::new();
    for code in i8::MIN..=i8::MAX {
        let dtype = ScalarType(code);
        let Some(bits) = bits(dtype) else { continue };
        assert_eq!(descr(dtype), None, "{dtype}");
        assert_eq!(bits[2..].parse::<u64>().ok(), dtype.element_size(), "{dtype}");
        found.push(dtype.torch_name().unwrap());
    }
    let float8 = ["float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz"];
    assert_eq!(found, [&["bfloat16"][..], &float8].concat());
}

/// NumPy's kind matches the values: a dtype whose numbers are read as signed has a signed name.
#[test]
fn npy_names_have_the_kind_of_the_values() {
    for code in i8::MIN..=i8::MAX {
        let dtype = ScalarType(code);
        let Some(descr) = descr(dtype) else { continue };
        // Every bit of an element is set: −1 if it is signed, else the largest number.
        let bytes = [0xff; 16];
        let element = &bytes[..usize::try_from(dtype.element_size().unwrap()).unwrap()];
        let value = values(dtype, element).unwrap().next().unwrap();
        let kind = match value {
            Element::Int(-1) => "i",
            Element::Int(1) if dtype == ScalarType::BOOL => "b",
            Element::Int(_) => "u",
            Element::Float(_) => "f",
            Element::Complex(..) => "c",
        };
        assert_eq!(&descr[1..2], kind, "{dtype}: {descr}");
    }
}

#[test]
fn npy_headers() {
    let shapes: [(&[u64], &str); 4] = [
        (&[], "()"),
        (&[3], "(3,)"),
        (&[2, 0], "(2, 0)"),
        (&[u64::MAX, 1, 7], "(18446744073709551615, 1, 7)"),
    ];
    for (sizes, shape) in shapes {
        let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        let expected = [b"\x93NUMPY\x01\x00\x76\x00", format!("{text:117}\n").as_bytes()].concat();
        assert_eq!(header("<f4", sizes), Some(expected), "{shape}");
    }
    for rank in 0..200 {
        let header = header("|u1", &vec![1; rank]).unwrap();
        assert_eq!(header.len() % 64, 0, "rank {rank}");
        let length = u16::from_le_bytes([header[8], header[9]]);
        assert_eq!(header.len(), 10 + usize::from(length), "rank {rank}");
        let text = str::from_utf8(&header[10..]).unwrap();
        // All of the text, the newline, and never a whole block of padding.
        assert!(text.trim_end().ends_with("), }") && text.ends_with('\n'), "{text}");
        assert!(text.trim_end().len() + 64 > text.len() - 1, "{text}");
    }
    // The longest header, and one dimension more: 16 bits cannot write its length.
    let room = 65536 - header("|u1", &[]).unwrap().trim_ascii_end().len() - "\n".len();
    let longest = (room + ", ".len()) / "1, ".len();
    assert_eq!(header("|u1", &vec![1; longest]).unwrap().len(), 65536);
    assert!(header("|u1", &vec![1; longest + 1]).is_none());
}

#[test]
fn any_dim_order_becomes_c_order() {
    let orders = (0..4_u8).flat_map(|a| (0..4).flat_map(move |b| (0..4).map(move |c| [a, b, c])));
    let orders = orders.map(|[a, b, c]| [a, b, c, 6_u8.wrapping_sub(a + b + c)]);
    let orders: Vec<[u8; 4]> =
        orders.filter(|order| (0..4).all(|dim| order.contains(&dim))).collect();
    assert_eq!(orders.len(), 24);
    for sizes in [[2, 3, 4, 5], [1, 3, 1, 4], [3, 1, 5, 1], [1, 1, 1, 1], [2, 0, 3, 4]] {
        for (order, element_size) in orders.iter().flat_map(|o| [1, 2, 3, 8].map(|s| (*o, s))) {
            let stored = noise(sizes.iter().product::<usize>() * element_size);
            let mut logical = vec![0; stored.len()];
            let mut elements = stored.chunks_exact(element_size);
            // Goes through the bytes in memory, and puts each at its logical indices.
            let [p, q, r, s] = order.map(usize::from);
            let mut at = [0; 4];
            for i in 0..sizes[p] {
                for j in 0..sizes[q] {
                    for k in 0..sizes[r] {
                        for l in 0..sizes[s] {
                            (at[p], at[q], at[r], at[s]) = (i, j, k, l);
                            let [n, c, h, w] = at;
                            let place = ((n * sizes[1] + c) * sizes[2] + h) * sizes[3] + w;
                            logical[place * element_size..][..element_size]
                                .copy_from_slice(elements.next().unwrap());
                        }
                    }
                }
            }
            let sizes = sizes.map(|size| size as u64);
            let reordered = to_logical_order(&stored, element_size, &sizes, &order);
            assert_eq!(reordered, Some(logical), "{sizes:?} {order:?} {element_size}");
        }
    }
}

#[test]
fn orders_of_other_ranks() {
    assert_eq!(to_logical_order(b"abcd", 4, &[], &[]), Some(b"abcd".to_vec()));
    assert_eq!(to_logical_order(b"abcd", 2, &[2], &[0]), Some(b"abcd".to_vec()));
    assert_eq!(to_logical_order(b"abcdef", 1, &[2, 3], &[1, 0]), Some(b"acebdf".to_vec()));
    assert_eq!(to_logical_order(b"abcdef", 1, &[3, 2], &[1, 0]), Some(b"adbecf".to_vec()));
}

#[test]
fn orders_that_do_not_fit_are_refused() {
    let refused = |bytes: &[u8], element_size, sizes: &[u64], dim_order: &[u8]| {
        let reordered = to_logical_order(bytes, element_size, sizes, dim_order);
        assert_eq!(reordered, None, "{element_size} {sizes:?} {dim_order:?}");
    };
    let six = b"abcdef";
    // The order is not a permutation, or has another rank.
    refused(b"abcd", 1, &[2, 2], &[0, 0]);
    refused(b"abcd", 1, &[2, 2], &[1, 1]);
    refused(six, 1, &[2, 3], &[1, 2]);
    refused(six, 1, &[2, 3], &[255, 0]);
    refused(six, 1, &[6, 1], &[0]);
    refused(six, 1, &[2, 3], &[0, 1, 2]);
    refused(six, 1, &[6], &[]);
    // The number of bytes does not match.
    refused(six, 1, &[2, 2], &[1, 0]);
    refused(six, 2, &[2, 3], &[1, 0]);
    refused(six, 1, &[0, 6], &[1, 0]);
    // The number of elements overflows.
    refused(six, 1, &[u64::MAX, 6], &[1, 0]);
    refused(six, 1, &[1 << 63, 6], &[1, 0]);
    refused(six, usize::MAX, &[2], &[0]);
    refused(b"", 1, &[0, u64::MAX, 2], &[2, 1, 0]);
}
