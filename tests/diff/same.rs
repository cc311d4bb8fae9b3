//! Pairs that mean the same.

use std::fs;

use pte::diff::{DiffError, Given, Verdict, compare};
use pte::flat::write::WriterLayout;
use pte::{Limits, Pte};

use super::renumber::renumber;
use super::{changed, changed_data, diff, lines, opened, sample};
use crate::support::files::{self, name};

/// Every file is itself; and what it was, with every number another.
#[test]
fn numbers_are_no_meaning() {
    let (mut programs, mut moved) = (0, 0);
    for path in files::everything() {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        assert_eq!(diff(&bytes, &bytes).verdict, Verdict::Identical, "{name}");
        let Ok(pte) = Pte::read(&bytes) else { continue };
        for seed in [1, 2] {
            let mut model = pte.to_model().unwrap();
            renumber(&mut model, seed);
            let Ok(image) = model.image() else { continue };
            let other = image.to_bytes().unwrap();
            let report = diff(&bytes, &other);
            assert_eq!(lines(&report), Vec::<String>::new(), "{name} with other numbers");
            // Where there is nothing to be renumbered.
            let expected = if other == bytes { Verdict::Identical } else { Verdict::Same };
            assert_eq!(report.verdict, expected, "{name}");
            moved += usize::from(other != bytes);
        }
        programs += 1;
    }
    assert!(programs > 50 && moved > 50, "{programs} programs, {moved} of other bytes");
}

#[test]
fn the_way_of_writing_is_no_meaning() {
    for path in files::samples().into_iter().filter(|path| path.extension().unwrap() == "pte") {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        let same = |what: &str, other: &[u8]| {
            let report = diff(&bytes, other);
            assert_eq!(lines(&report), Vec::<String>::new(), "{name}: {what}");
            assert!(report.verdict < Verdict::Different, "{name}: {what}");
        };
        for layout in [WriterLayout::FLATC, WriterLayout::FLATC_OLD, WriterLayout::PYTHON] {
            same(layout.name, &changed(&bytes, |program| program.container.layout = layout));
        }
        same("traces", &changed(&bytes, |program| _ = program.strip_stacktraces()));
        for align in [1, 64, 4096] {
            same("aligned", &changed(&bytes, |program| program.align(align)));
        }
    }
}

#[test]
fn constants_may_be_inside_or_behind() {
    let inside = sample("v0.2.0_inline_const.pte");
    let behind = changed(&inside, |program| {
        let constants = program.constants();
        program.root.constant_buffer = None;
        program.set_constants(constants).unwrap();
    });
    let report = diff(&inside, &behind);
    assert_eq!((lines(&report), report.verdict), (Vec::new(), Verdict::Same));
    let facts: Vec<_> = report.written.iter().map(|written| written.what).collect();
    assert!(facts.contains(&"segments") && facts.contains(&"constants in the FlatBuffers part"));
}

#[test]
fn data_may_be_in_another_file() {
    let whole = sample("linear.pte");
    let mut model = Pte::read(&whole).unwrap().to_model().unwrap();
    let ptd = model.externalize(|_| true).unwrap().image().unwrap().to_bytes().unwrap();
    let split = model.image().unwrap().to_bytes().unwrap();
    assert_eq!(diff(&whole, &split).verdict, Verdict::Different, "the data is not given");
    let (one, other, data) = (opened(&whole), opened(&split), opened(&ptd));
    let with = |data| Given { file: &other, data };
    let limits = Limits::UNTRUSTED;
    let report = compare(&Given::new(&one), &with(vec![&data]), &limits).unwrap();
    assert_eq!((lines(&report), report.verdict), (Vec::new(), Verdict::Same));
    // Other data is another weight, in a program of the same bytes.
    let changed = changed_data(&ptd, |ptd| {
        let key = ptd.root.named_data.as_ref().unwrap()[0].key.clone().unwrap();
        let mut bytes = ptd.segments[0].to_bytes().unwrap().into_owned();
        bytes[0] ^= 1;
        ptd.set_data(&key, bytes.into()).unwrap();
    });
    let changed = opened(&changed);
    let report = compare(&with(vec![&data]), &with(vec![&changed]), &limits).unwrap();
    let reported = lines(&report);
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].starts_with("constants: "), "{reported:?}");
}

/// What one model gave in two releases that export alike, or in two ways of one release.
#[test]
fn exports_of_one_model() {
    for (one, other) in [
        ("v0.6.0_linear.pte", "v1.0.0_linear.pte"),
        ("v1.0.0_linear.pte", "linear.pte"),
        ("v0.7.0_linear.pte", "linear.pte"),
        ("xnn_delegate_inline.pte", "xnn_delegate_segment.pte"),
        ("constant_alignment_1.pte", "constant_alignment_256.pte"),
        ("segment_alignment_1.pte", "segment_alignment_4096.pte"),
        ("ptd_align_1.ptd", "ptd_align_256.ptd"),
    ] {
        let report = diff(&sample(one), &sample(other));
        assert_eq!(lines(&report), Vec::<String>::new(), "{one} and {other}");
        assert_eq!(report.verdict, Verdict::Same, "{one} and {other}");
        assert!(!report.written.is_empty(), "{one} and {other}");
    }
}

#[test]
fn a_program_is_no_data() {
    let (pte, ptd) = (sample("linear.pte"), sample("ptd_basic.ptd"));
    let (pte, ptd) = (opened(&pte), opened(&ptd));
    let limits = Limits::UNTRUSTED;
    let error = compare(&Given::new(&pte), &Given::new(&ptd), &limits).unwrap_err();
    assert_eq!(error, DiffError::Kinds);
    let with = Given { file: &pte, data: vec![&pte] };
    assert!(matches!(compare(&with, &Given::new(&pte), &limits), Err(DiffError::NoData(_))));
    let with = Given { file: &ptd, data: vec![&ptd] };
    assert!(matches!(compare(&with, &Given::new(&ptd), &limits), Err(DiffError::NoData(_))));
}
