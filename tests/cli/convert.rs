//! `pte convert`: round trips, old files and refusals.

use std::fs;

use pte::convert::{NamedTensor, Safetensors};
use pte::model::Blob;

use super::{BASIC, LINEAR, append_run, good, pte, run, text};
use crate::support::snapshot::assert_snapshot;

const OLD: &str = "tests/data/ptd/v0.6.0_ptd_direct_16.ptd";

/// Returns a safetensors file with small tensors, and with tensors that are long enough for
/// `copy_file_range`.
fn tensors() -> Vec<u8> {
    let tensor = |name: &str, len: usize, seed: usize| NamedTensor {
        name: name.into(),
        dtype: pte::convert::Dtype::U8,
        shape: vec![len as u64],
        data: Blob::from((0..len).map(|n| (n * 7 + seed) as u8).collect::<Vec<_>>()),
    };
    let tensors = Safetensors {
        metadata: Some(vec![("format".into(), "pt".into()), ("a".into(), "é".into())]),
        tensors: vec![
            tensor("big", 1_000_003, 1),
            tensor("copy", 1_000_003, 1),
            tensor("other", 1_000_003, 2),
            tensor("small", 5, 3),
        ],
    };
    tensors.image().unwrap().to_bytes().unwrap()
}

#[test]
fn safetensors_round_trip_through_ptd() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let whole = tensors();
    fs::write(at("in.safetensors"), &whole).unwrap();
    good(&["convert", &at("in.safetensors"), "-o", &at("x.ptd")]);
    good(&["check", "--deny", "warnings", &at("x.ptd")]);
    good(&["convert", &at("x.ptd"), "-o", &at("back.safetensors")]);
    assert!(fs::read(at("back.safetensors")).unwrap() == whole);
    // Files go through pipes, so their formats are recognized by content only.
    let piped = run(&["convert", "-"], None, &whole);
    assert_eq!((piped.status.code(), text(&piped.stderr).as_str()), (Some(0), ""));
    assert!(piped.stdout == fs::read(at("x.ptd")).unwrap());
    let back = run(&["convert", "-", "--to", "safetensors"], None, &piped.stdout);
    assert!(back.stdout == whole);
    // Converting a current file changes nothing.
    good(&["convert", &at("x.ptd"), "-o", &at("again.ptd")]);
    assert!(fs::read(at("again.ptd")).unwrap() == piped.stdout);
    // Equal data is stored once.
    good(&["convert", "--share", &at("x.ptd"), "-o", &at("shared.ptd")]);
    let saved = piped.stdout.len() as u64 - fs::metadata(at("shared.ptd")).unwrap().len();
    assert!((1_000_003..1_001_000).contains(&saved), "{saved}");
    good(&["convert", &at("shared.ptd"), "-o", &at("back.safetensors")]);
    assert!(fs::read(at("back.safetensors")).unwrap() == whole);
    // The data is aligned to pages.
    good(&["convert", "--align", "4096", &at("x.ptd"), "-o", &at("aligned.ptd")]);
    let aligned = fs::read(at("aligned.ptd")).unwrap();
    let aligned = pte::Ptd::read(&aligned).unwrap();
    assert!((0..5).all(|nth| aligned.segment_range(nth).unwrap().start.is_multiple_of(4096)));
}

/// The extension of the output selects the format, in capitals too.
#[test]
fn output_extension_ignores_case() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    good(&["convert", BASIC, "-o", &at("A.PTD")]);
    assert!(pte::Ptd::read(&fs::read(at("A.PTD")).unwrap()).is_ok());
    good(&["convert", BASIC, "-o", &at("A.SafeTensors")]);
    let bytes = fs::read(at("A.SafeTensors")).unwrap();
    assert!(Safetensors::open(&&bytes[..]).is_ok());
}

#[test]
fn convert_updates_old_ptd_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new.ptd");
    good(&["convert", OLD, "-o", out.to_str().unwrap()]);
    let listed = run(&["tensors", "--hash", "new.ptd"], Some(folder.path()), b"");
    assert_snapshot("convert-old", &text(&listed.stdout));
}

#[test]
fn unconvertible_inputs_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let (whole, basic) = (tensors(), crate::support::files::read(BASIC).unwrap());
    at("in.safetensors", &whole);
    at("basic.ptd", &basic);
    at("cut.safetensors", &whole[..whole.len() - 1]);
    at("cut.ptd", &basic[..200]);
    at("program.pte", &crate::support::files::read(LINEAR).unwrap());
    at("blobs.ptd", &crate::support::files::read("tests/data/ptd/ptd_blobs.ptd").unwrap());
    at("dtypes.ptd", &crate::support::files::read("tests/data/ptd/ptd_dtypes.ptd").unwrap());
    at("text.txt", b"hello, world\n");
    let mut page = String::new();
    for args in [
        &["convert", "in.safetensors", "-o", "in.safetensors"][..],
        &["convert", "in.safetensors", "-o", "out.bin"],
        &["convert", "in.safetensors", "--to", "ptd", "-o", "in.safetensors"],
        &["convert", "basic.ptd", "-o", "basic.ptd"],
        &["convert", "basic.ptd", "--align", "64", "-o", "out.safetensors"],
        &["convert", "basic.ptd", "--skip-blobs", "-o", "out.ptd"],
        &["convert", "cut.safetensors", "-o", "out.ptd"],
        &["convert", "cut.ptd", "-o", "out.safetensors"],
        &["convert", "program.pte", "-o", "out.safetensors"],
        &["convert", "blobs.ptd", "-o", "out.safetensors"],
        &["convert", "dtypes.ptd", "-o", "out.safetensors"],
        &["convert", "text.txt", "-o", "out.ptd"],
        &["convert", "none.safetensors", "-o", "out.ptd"],
        &["convert", "in.safetensors", "-o", "none/out.ptd"],
    ] {
        append_run(&mut page, args, &run(args, Some(folder.path()), b""));
    }
    assert_snapshot("convert-absent", &page);
    assert_eq!(fs::read(folder.path().join("in.safetensors")).unwrap(), whole);
    assert_eq!(fs::read(folder.path().join("basic.ptd")).unwrap(), basic);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 8, "nothing is left behind");
    for align in ["0", "x", "1048577"] {
        assert_eq!(pte(&["convert", BASIC, "--align", align]).status.code(), Some(2));
    }
    let skipped = ["convert", "--skip-blobs", "blobs.ptd", "-o", "out.safetensors"];
    assert_eq!(run(&skipped, Some(folder.path()), b"").status.code(), Some(0));
}

/// If an old file has overlapping tensors, the output would be huge.
#[test]
fn repeated_data_is_charged_each_time() {
    use pte::build::{PtdBuilder, Shape};
    use pte::schema::scalar::ScalarType;

    let mut built = PtdBuilder::new();
    let shape = |len: i32| Shape::new(ScalarType::BYTE, [len]);
    let segment = built.tensor("0", shape(3_000_000), vec![1; 3_000_000]).unwrap();
    for nth in 1..8 {
        built.tensor_in(nth.to_string(), shape(3_000_000), segment).unwrap();
    }
    let mut model = built.finish().unwrap();
    // Each tensor has a different length of the same bytes.
    for (nth, named) in (0..).zip(model.root.named_data.iter_mut().flatten()) {
        let layout = named.tensor_layout.as_mut().unwrap();
        layout.sizes = Some(vec![3_000_000 - nth]);
    }
    let bytes = model.image().unwrap().to_bytes().unwrap();
    for to in ["ptd", "safetensors"] {
        let refused = run(&["convert", "--to", to, "-"], None, &bytes);
        assert_eq!(refused.status.code(), Some(1), "{to}");
        assert!(text(&refused.stderr).contains("used repeatedly"), "{to}");
    }
}
