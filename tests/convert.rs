//! Tensors from and to safetensors, held against the `safetensors` package itself.

use std::collections::HashMap;
use std::fs;

use pte::Check;
use pte::Ptd;
use pte::build::{PtdBuilder, Shape};
use pte::check::Severity;
use pte::convert::{ConvertError, Dtype, NamedTensor, Safetensors, dtype, scalar_type};
use pte::model::Blob;
use pte::schema::scalar::ScalarType;
use pte::{PastEnd, Source};
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

use crate::support::build;
use crate::support::files::{self, name};
use crate::support::snapshot::assert_snapshot;

const DTYPES: [Dtype; 22] = [
    Dtype::BOOL,
    Dtype::F4,
    Dtype::F6_E2M3,
    Dtype::F6_E3M2,
    Dtype::U8,
    Dtype::I8,
    Dtype::F8_E5M2,
    Dtype::F8_E4M3,
    Dtype::F8_E8M0,
    Dtype::F8_E4M3FNUZ,
    Dtype::F8_E5M2FNUZ,
    Dtype::I16,
    Dtype::U16,
    Dtype::F16,
    Dtype::BF16,
    Dtype::I32,
    Dtype::U32,
    Dtype::F32,
    Dtype::C64,
    Dtype::F64,
    Dtype::I64,
    Dtype::U64,
];

/// Each dtype and its counterpart have the same number of bytes, and no two dtypes share a
/// counterpart.
#[test]
fn counterparts_are_of_one_size_and_one_to_one() {
    let mut page = String::new();
    for ours in DTYPES {
        let found = scalar_type(ours);
        let reported = found.map_or("none".into(), |found| found.to_string());
        page.push_str(&format!("{ours} → {reported}\n"));
        if let Some(found) = found {
            assert_eq!(dtype(found), Some(ours));
            assert_eq!(found.element_size().unwrap() * 8, ours.bitsize() as u64, "{ours}");
        }
    }
    let without: Vec<_> = (0..30).map(ScalarType).filter(|&code| dtype(code).is_none()).collect();
    for code in without {
        page.push_str(&format!("none ← {}\n", code.runtime_name().unwrap()));
    }
    assert_eq!((0..30).map(ScalarType).filter(|&code| dtype(code).is_some()).count(), 17);
    assert_snapshot("convert-dtypes", &page);
}

/// A file of the package, converted to a `.ptd` and back, is the same, with metadata in the same order.
#[test]
fn there_and_back_is_the_same_file() {
    let bytes: Vec<u8> = (0..=255).collect();
    let metadata = [("format", "pt"), ("a\n\"b\"", "é\u{202e}"), ("", "")];
    let metadata: HashMap<_, _> =
        metadata.iter().map(|(key, text)| (key.to_string(), text.to_string())).collect();
    for metadata in [None, Some(metadata), Some(HashMap::new())] {
        let mut views = Vec::new();
        for dtype in DTYPES.into_iter().filter(|&dtype| scalar_type(dtype).is_some()) {
            for shape in [&[2, 3][..], &[], &[0, 4], &[1]] {
                let len = shape.iter().product::<usize>() * dtype.bitsize() / 8;
                let view = TensorView::new(dtype, shape.to_vec(), &bytes[..len]).unwrap();
                views.push((format!("{dtype} {shape:?} é\"\n"), view));
            }
        }
        let count = views.len();
        let file = safetensors::serialize(views, metadata.map(|map| map.into_iter().collect()));
        let file = file.unwrap();
        let source = &file[..];
        let tensors = Safetensors::open(&source).unwrap();
        assert_eq!(tensors.tensors.len(), count);
        let ptd = tensors.into_ptd().unwrap().finish().unwrap().image().unwrap().to_bytes();
        let ptd = ptd.unwrap();
        let report = Ptd::read(&ptd).unwrap().check();
        assert!(report.worst() < Some(Severity::Warning), "{report}");
        let source = &ptd[..];
        let back = Safetensors::from_ptd(&Ptd::read(&ptd).unwrap(), &source, false).unwrap();
        assert!(back.image().unwrap().to_bytes().unwrap() == file);
    }
}

/// The `safetensors` package reads all data of every genuine `.ptd`, or the conversion reports what
/// is left out.
#[test]
fn every_ptd_is_what_the_package_reads() {
    let (mut converted, mut refused) = (0, Vec::new());
    for path in files::everything() {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        let Ok(ptd) = Ptd::read(&bytes) else { continue };
        let source = &bytes[..];
        let tensors = match Safetensors::from_ptd(&ptd, &source, true) {
            Ok(tensors) => tensors,
            Err(error) => {
                let known = matches!(
                    error,
                    ConvertError::ScalarType { .. } | ConvertError::DimOrder { .. }
                );
                assert!(known, "{name}: {error}");
                refused.push(name);
                continue;
            }
        };
        let file = tensors.image().unwrap().to_bytes().unwrap();
        let read = SafeTensors::deserialize(&file).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut seen = 0;
        for entry in ptd.entries() {
            let Some(layout) = entry.layout() else { continue };
            let view = read.tensor(entry.key().unwrap()).unwrap();
            let range = entry.range().unwrap();
            assert!(view.data() == &bytes[range.start as usize..range.end as usize], "{name}");
            let sizes: Vec<_> = layout.sizes.unwrap().iter().map(|size| size as usize).collect();
            assert_eq!(view.shape(), sizes, "{name}");
            assert_eq!(scalar_type(view.dtype()), Some(layout.scalar_type), "{name}");
            seen += 1;
        }
        assert_eq!(read.len(), seen, "{name}");
        converted += 1;
    }
    println!("{converted} converted; {refused:?} refused");
    assert!(converted >= 10 && !refused.is_empty(), "{converted} {refused:?}");
}

/// Invalid headers. The name of each is its defect.
#[test]
fn hostile_headers_are_refused_by_name() {
    let long = "n".repeat(1000);
    let tensor = |name: &str, dtype: &str, shape: &str, offsets: &str| {
        format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}"#)
    };
    let a = tensor("a", "U8", "[4]", "[0,4]");
    let many = format!("[{}]", vec!["1"; 65].join(","));
    let deep = format!(r#""a":{}"#, "[".repeat(100_000));
    let mut page = String::new();
    for (what, members, data) in [
        ("gap", format!("{a},{}", tensor("b", "U8", "[2]", "[5,7]")), 7),
        ("gap at the beginning", tensor("b", "U8", "[2]", "[1,3]"), 3),
        ("overlap", format!("{a},{}", tensor("b", "U8", "[2]", "[3,5]")), 5),
        ("inside another", format!("{a},{}", tensor("b", "U8", "[1]", "[1,2]")), 4),
        ("backwards", tensor("b", "U8", "[2]", "[2,0]"), 2),
        ("backwards at 0", format!("{a},{}", tensor("b", "U8", "[2]", "[4,2]")), 4),
        ("two of one name", format!("{a},{a}"), 4),
        ("two empty ones of one name", vec![tensor("a", "U8", "[0]", "[0,0]"); 2].join(","), 0),
        ("metadata twice", r#""__metadata__":{},"__metadata__":{}"#.into(), 0),
        ("a key of the metadata twice", r#""__metadata__":{"a":"1","a":"2"}"#.into(), 0),
        ("metadata of numbers", r#""__metadata__":{"a":1}"#.into(), 0),
        ("metadata as a tensor", tensor("__metadata__", "U8", "[4]", "[0,4]"), 4),
        ("bytes too few", tensor("b", "F32", "[2]", "[0,4]"), 4),
        ("bytes too many", tensor("b", "F32", "[2]", "[0,9]"), 9),
        ("half a byte", tensor("b", "F4", "[1]", "[0,1]"), 1),
        ("product overflows", tensor("b", "U8", "[4294967296,4294967296]", "[0,1]"), 1),
        ("product overflows in bits", tensor("b", "U8", "[4611686018427387904]", "[0,1]"), 1),
        ("data missing", a.clone(), 3),
        ("data behind", a.clone(), 5),
        (
            "no data at all",
            tensor("b", "U8", "[9223372036854775807]", "[0,9223372036854775807]"),
            0,
        ),
        ("unknown dtype", tensor("b", "F99", "[1]", "[0,4]"), 4),
        ("dtype that moves the cursor", tensor("b", r"\u001b[2J\u202e", "[1]", "[0,4]"), 4),
        ("name that moves the cursor", tensor(r"\u001b[2J\u202e", "F32", "[1]", "[0,3]"), 3),
        ("long name", tensor(&long, "F32", "[1]", "[0,3]"), 3),
        ("long dtype", tensor("b", &long, "[1]", "[0,3]"), 3),
        ("negative size", tensor("b", "U8", "[-1]", "[0,1]"), 1),
        ("size of a fraction", tensor("b", "U8", "[1.5]", "[0,1]"), 1),
        ("size past 64 bits", tensor("b", "U8", "[18446744073709551616]", "[0,1]"), 1),
        ("too many dimensions", tensor("b", "U8", &many, "[0,1]"), 1),
        ("three offsets", tensor("b", "U8", "[1]", "[0,1,2]"), 1),
        ("one offset", tensor("b", "U8", "[1]", "[0]"), 1),
        ("no shape", r#""b":{"dtype":"U8","data_offsets":[0,1]}"#.into(), 1),
        ("no object", r#""b":[1]"#.into(), 1),
        ("nested too deep", deep, 0),
        ("cut", r#""b":{"dtype":"U8""#.into(), 0),
        ("a size past a .ptd's", tensor("b", "U8", "[4294967296,0]", "[0,0]"), 0),
        (
            "more dimensions than a .ptd's",
            tensor("b", "U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]"),
            1,
        ),
        ("a dtype that a .ptd has not", tensor("b", "F8_E8M0", "[1]", "[0,1]"), 1),
        ("a dtype of half bytes", tensor("b", "F4", "[2]", "[0,1]"), 1),
        ("complex numbers", tensor("b", "C64", "[1]", "[0,8]"), 8),
    ] {
        let text = format!("{{{members}}}");
        let file = [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &vec![0; data]];
        let file = file.concat();
        let source = &file[..];
        let error = Safetensors::open(&source).and_then(Safetensors::into_ptd);
        let error = error.expect_err(what).to_string();
        assert!(error.len() < 1200 && !error.chars().any(char::is_control), "{what}: {error}");
        page.push_str(&format!("{what}: {error}\n"));
    }
    for (what, file) in [
        ("no bytes", &b""[..]),
        ("seven bytes", b"\0\0\0\0\0\0\0"),
        ("no header", b"\0\0\0\0\0\0\0\0"),
        ("a header past the end", b"\x03\0\0\0\0\0\0\0{}"),
        ("a header past all ends", b"\xff\xff\xff\xff\xff\xff\xff\xff{}"),
        ("a header past the limit", b"\x01\xe1\xf5\x05\0\0\0\0{}"),
        ("no JSON", b"\x02\0\0\0\0\0\0\0[]"),
        ("no UTF-8", b"\x05\0\0\0\0\0\0\0{\"\xff\"}"),
        ("more than an object", b"\x03\0\0\0\0\0\0\0{}x"),
    ] {
        let error = Safetensors::open(&file).expect_err(what);
        page.push_str(&format!("{what}: {error}\n"));
    }
    assert_snapshot("convert-hostile", &page);
}

/// A duplicate key of the metadata is refused at any position.
#[test]
fn keys_of_the_metadata_that_are_apart_are_reported_apart() {
    for (members, is_twice) in [
        (r#""a":"1","b":"2","a":"3""#, true),
        (r#""c":"1","b":"2","a":"3","b":"4""#, true),
        (r#""c":"1","b":"2","a":"3""#, false),
    ] {
        let text = format!(r#"{{"__metadata__":{{{members}}}}}"#);
        let file = [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
        let source = &file[..];
        let opened = Safetensors::open(&source);
        assert_eq!(opened.is_err(), is_twice, "{members}: {opened:?}");
    }
}

/// The first of two blobs with the name of the metadata is the metadata, as in runtimes. The other one is an
/// ordinary blob.
#[test]
fn metadata_is_the_first_of_its_name() {
    let bytes = build::file(
        r#"{"kind": "ptd", "root": {
            "segments": [{"size": 9}, {"offset": 9, "size": 9}],
            "named_data": [{"key": "__metadata__", "segment_index": 0},
                {"key": "__metadata__", "segment_index": 1}]},
          "data": [{"hex": "7b2261223a2231227d"}, {"hex": "7b2261223a2232227d"}]}"#,
    );
    let (source, ptd) = (&bytes[..], Ptd::read(&bytes).unwrap());
    let error = Safetensors::from_ptd(&ptd, &source, false).unwrap_err();
    assert!(matches!(error, ConvertError::Blob { .. }), "{error}");
    let converted = Safetensors::from_ptd(&ptd, &source, true).unwrap();
    assert_eq!(converted.metadata, Some(vec![("a".into(), "1".into())]));
}

/// A file with one changed byte in its header, or cut at any byte, is refused, or the package reads the same.
#[test]
fn damaged_files_are_refused_or_read_as_by_the_package() {
    let data: Vec<u8> = (0..12).collect();
    let views = [
        ("one", TensorView::new(Dtype::F32, vec![1, 2], &data[..8]).unwrap()),
        ("two", TensorView::new(Dtype::I8, vec![4], &data[8..]).unwrap()),
    ];
    let metadata = HashMap::from([("k".to_string(), "v".to_string())]);
    let file = safetensors::serialize(views, Some(metadata.into_iter().collect())).unwrap();
    let (mut refused, mut read) = (0, 0);
    let mut damaged: Vec<Vec<u8>> = (0..file.len()).map(|len| file[..len].to_vec()).collect();
    for at in 0..file.len() - 12 {
        for byte in (0..=255).filter(|&byte| byte != file[at]) {
            let mut other = file.clone();
            other[at] = byte;
            damaged.push(other);
        }
    }
    for file in damaged {
        let source = &file[..];
        match Safetensors::open(&source) {
            Err(_) => refused += 1,
            Ok(tensors) => {
                read += 1;
                let theirs = SafeTensors::deserialize(&file).unwrap();
                assert_eq!(theirs.len(), tensors.tensors.len());
                for NamedTensor { name, dtype, shape, data } in &tensors.tensors {
                    let view = theirs.tensor(name).unwrap();
                    assert_eq!((view.dtype(), view.data()), (*dtype, &*data.to_bytes().unwrap()));
                    assert!(view.shape().iter().map(|&n| n as u64).eq(shape.iter().copied()));
                }
                if let Ok(built) = tensors.into_ptd() {
                    built.finish().unwrap().image().unwrap().to_bytes().unwrap();
                }
            }
        }
    }
    assert!(refused > 10_000 && read > 100, "{refused} {read}");
}

/// A message names the thing that safetensors cannot represent, and gives advice.
#[test]
fn what_has_no_counterpart_is_named() {
    let mut page = String::new();
    let mut reported = |what: &str, skip, add: &dyn Fn(&mut PtdBuilder<'_>)| {
        let mut built = PtdBuilder::new();
        add(&mut built);
        let bytes = built.finish().unwrap().image().unwrap().to_bytes().unwrap();
        let source = &bytes[..];
        let tensors = Safetensors::from_ptd(&Ptd::read(&bytes).unwrap(), &source, skip);
        let image = tensors.and_then(|tensors| tensors.image().map(|image| image.len()));
        match image {
            Ok(len) => page.push_str(&format!("{what}: {len} bytes\n")),
            Err(error) => page.push_str(&format!("{what}: {error}\n")),
        }
    };
    let tensor = |built: &mut PtdBuilder<'_>, shape: Shape, len: usize| {
        built.tensor("t", shape, vec![0; len]).unwrap();
    };
    for code in (0..30).map(ScalarType).filter(|&code| dtype(code).is_none()) {
        let len = code.element_size().unwrap() as usize;
        reported(code.runtime_name().unwrap(), false, &|built| {
            tensor(built, Shape::new(code, [1]), len);
        });
    }
    let ordered = |sizes: &[i32], order: &[u8]| Shape {
        dim_order: Some(order.to_vec()),
        ..Shape::new(ScalarType::BYTE, sizes)
    };
    reported("transposed", false, &|built| tensor(built, ordered(&[2, 3], &[1, 0]), 6));
    reported("channels last", false, &|built| {
        tensor(built, ordered(&[1, 2, 3, 4], &[0, 2, 3, 1]), 24)
    });
    reported("a column, which is a row", false, &|built| {
        tensor(built, ordered(&[1, 3], &[1, 0]), 3)
    });
    reported("nothing, in any order", false, &|built| tensor(built, ordered(&[0, 3], &[1, 0]), 0));
    let blob = |key: &str, text: &str| {
        let (key, text) = (key.to_string(), text.as_bytes().to_vec());
        move |built: &mut PtdBuilder<'_>| {
            built.blob(key.clone(), text.clone()).unwrap();
        }
    };
    reported("a blob", false, &blob("b", "x"));
    reported("a blob that is left out", true, &blob("b", "x"));
    reported("metadata", false, &blob("__metadata__", r#"{"a":"b"}"#));
    reported("metadata that is none", false, &blob("__metadata__", "[]"));
    reported("metadata of numbers", false, &blob("__metadata__", r#"{"a":1}"#));
    reported("metadata that is none, left out", true, &blob("__metadata__", "[]"));
    reported("a tensor called as metadata", false, &|built| {
        built.tensor("__metadata__", Shape::new(ScalarType::BYTE, [1]), vec![0]).unwrap();
    });
    assert_snapshot("convert-counterparts", &page);
}

/// A value that the caller made is proven before it is written.
#[test]
fn values_made_by_hand_are_proven() {
    let tensor = |name: &str, shape: &[u64], len: usize| NamedTensor {
        name: name.into(),
        dtype: Dtype::U8,
        shape: shape.to_vec(),
        data: Blob::from(vec![0; len]),
    };
    let image = |tensors: Vec<NamedTensor<'static>>| {
        let tensors = Safetensors { metadata: None, tensors };
        tensors.image().map(|image| image.len())
    };
    assert!(matches!(
        image(vec![tensor("a", &[1], 1), tensor("a", &[1], 1)]),
        Err(ConvertError::Twice { .. })
    ));
    assert!(matches!(image(vec![tensor("a", &[2], 1)]), Err(ConvertError::Size { .. })));
    assert!(matches!(image(vec![tensor("a", &[u64::MAX, 2], 1)]), Err(ConvertError::Size { .. })));
    assert!(matches!(image(vec![tensor("__metadata__", &[1], 1)]), Err(ConvertError::Reserved)));
    assert_eq!(image(Vec::new()).unwrap(), 16);
    let metadata = Some(vec![("a".to_string(), "x".repeat(100_000_001))]);
    let long = Safetensors { metadata, tensors: Vec::new() };
    assert!(matches!(long.image(), Err(ConvertError::HeaderLimit { .. })));
}

/// Tensors of one dtype are written by name, in any order.
#[test]
fn tensors_are_written_by_name() {
    let tensor = |name: &str, dtype: Dtype| NamedTensor {
        name: name.into(),
        dtype,
        shape: vec![1],
        data: Blob::from(vec![0; dtype.bitsize() / 8]),
    };
    let tensors = vec![
        tensor("b", Dtype::U8),
        tensor("c", Dtype::F32),
        tensor("a", Dtype::U8),
        tensor("B", Dtype::F32),
    ];
    let file = Safetensors { metadata: None, tensors }.image().unwrap().to_bytes().unwrap();
    let source = &file[..];
    let read = Safetensors::open(&source).unwrap().tensors;
    assert_eq!(read.iter().map(|tensor| tensor.name.as_str()).collect::<String>(), "Bcab");
}

/// A tensor without elements is contiguous in any dim order.
#[test]
fn a_tensor_without_elements_lies_in_any_order() {
    for (sizes, is_converted) in [([0, 3, 2], true), ([3, 2, 0], true), ([1, 3, 2], false)] {
        let mut built = PtdBuilder::new();
        let dim_order = Some(vec![0, 2, 1]);
        let shape = Shape { dim_order, ..Shape::new(ScalarType::BYTE, sizes) };
        let len = sizes.iter().product::<i32>() as usize;
        built.tensor("t", shape, vec![0; len]).unwrap();
        let bytes = built.finish().unwrap().image().unwrap().to_bytes().unwrap();
        let source = &bytes[..];
        let tensors = Safetensors::from_ptd(&Ptd::read(&bytes).unwrap(), &source, false);
        assert_eq!(tensors.is_ok(), is_converted, "{sizes:?}");
    }
}

/// A segment may be longer than its tensor. The tensor is as long as its shape says.
#[test]
fn bytes_behind_a_tensor_are_left_out() {
    let file = build::file(
        r#"{"kind": "ptd", "data": [{"bytes": [1, 2, 3, 4, 5]}], "root": {
            "segments": [{"size": 5}],
            "named_data": [{"key": "t", "tensor_layout": {
                "scalar_type": "BYTE", "sizes": [3], "dim_order": [0]
            }}]
        }}"#,
    );
    let source = &file[..];
    let tensors = Safetensors::from_ptd(&Ptd::read(&file).unwrap(), &source, false).unwrap();
    assert_eq!(*tensors.tensors[0].data.to_bytes().unwrap(), [1, 2, 3]);
    let file = tensors.image().unwrap().to_bytes().unwrap();
    assert_eq!(SafeTensors::deserialize(&file).unwrap().tensor("t").unwrap().data(), [1, 2, 3]);
}

/// If a file has a tensor of five gigabytes, only the header of the file is read.
#[test]
fn data_stays_where_it_is() {
    struct Big {
        head: Vec<u8>,
        read: std::cell::Cell<u64>,
    }
    impl Source for Big {
        type Error = PastEnd;

        fn size(&self) -> Result<u64, PastEnd> {
            Ok(self.head.len() as u64 + BYTES)
        }

        fn read_at(&self, pos: u64, out: &mut [u8]) -> Result<(), PastEnd> {
            self.read.set(self.read.get() + out.len() as u64);
            (&self.head[..]).read_at(pos, out)
        }
    }
    const BYTES: u64 = 5 << 30;
    let text =
        format!(r#"{{"a":{{"dtype":"F32","shape":[5,268435456],"data_offsets":[0,{BYTES}]}}}}"#);
    let head = [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let big = Big { head, read: 0.into() };
    let model = Safetensors::open(&big).unwrap().into_ptd().unwrap().finish().unwrap();
    let image = model.image().unwrap();
    let (mut first, mut len) = (vec![0; 4096], image.len());
    len -= BYTES;
    assert!(len < 1000, "the rest is tables: {len}");
    // The output can be judged before it is written: its tables are not behind the data.
    image.read_at(0, &mut first[..len as usize]).unwrap();
    assert_eq!(big.read.get(), big.head.len() as u64);
    let opened = pte::Handle::open(image, &pte::Limits::UNTRUSTED).unwrap();
    assert!(opened.file().check().findings().is_empty());
    assert_eq!(big.read.get(), big.head.len() as u64);
    assert_eq!(opened.file().segment_range(0).unwrap(), len..len + BYTES);
}

/// The default limits refuse overlapping tensors that would be written once each.
#[test]
fn tensors_that_are_one_range_are_not_written_once_each() {
    let source = &[7; 500_000][..];
    let tensor = |nth: u32| NamedTensor {
        name: nth.to_string(),
        dtype: Dtype::U8,
        shape: vec![500_000],
        data: Blob::Range(&source, 0..500_000),
    };
    let tensors = (0..1000).map(tensor).collect();
    let tensors = Safetensors { metadata: None, tensors };
    match tensors.image() {
        Err(ConvertError::Amplified(error)) => assert!(error.len > 500_000_000, "{error}"),
        other => panic!("{other:?}"),
    }
    let limits = pte::Limits { amplification: 1000, ..pte::Limits::UNTRUSTED };
    assert!(tensors.image_with(&limits).unwrap().len() > 500_000_000);
}

/// An image that is read by ranges is the image that is written.
#[test]
fn an_image_can_be_read_before_it_is_written() {
    let data: Vec<u8> = (0..200).collect();
    let source = &data[..];
    let mut built = PtdBuilder::new();
    built.blob("range", Blob::Range(&source, 3..170)).unwrap();
    built.blob("bytes", data.clone()).unwrap();
    let model = built.finish().unwrap();
    let image = model.image().unwrap();
    let whole = image.to_bytes().unwrap();
    assert_eq!(image.size().unwrap(), whole.len() as u64);
    for begin in 0..whole.len() {
        for len in [1, 7, 300, whole.len() - begin] {
            let mut out = vec![0xee; len];
            let read = image.read_at(begin as u64, &mut out);
            match whole.get(begin..begin + len) {
                Some(there) => assert!(read.is_ok() && out == there, "{begin} {len}"),
                None => assert!(read.is_err(), "{begin} {len}"),
            }
        }
    }
}

/// A file whose header is `{}` and spaces, without data.
struct LongHeader(u64);

impl Source for LongHeader {
    type Error = PastEnd;

    fn size(&self) -> Result<u64, PastEnd> {
        Ok(self.0 + 8)
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> Result<(), PastEnd> {
        out.fill(b' ');
        let head = [&self.0.to_le_bytes()[..], b"{}"].concat();
        for (byte, slot) in head.iter().skip(pos.try_into().unwrap()).zip(out) {
            *slot = *byte;
        }
        Ok(())
    }
}

#[test]
fn header_of_the_longest_length_is_read_and_a_longer_one_refused() {
    let limit = pte::convert::HEADER_LIMIT;
    let longest = LongHeader(limit);
    assert!(Safetensors::open(&longest).unwrap().tensors.is_empty());
    let longer = LongHeader(limit + 1);
    let error = Safetensors::open(&longer).unwrap_err();
    assert!(matches!(error, ConvertError::HeaderLimit { size } if size == limit + 1), "{error}");
}
