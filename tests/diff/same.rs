//! Pairs that mean the same.

use std::fs;

use pte::diff::{Class, DiffError, Given, Verdict, compare};
use pte::flat::write::WriterLayout;
use pte::{Limits, Pte};
use serde_json::json;

use super::renumber::renumber;
use super::{changed, changed_data, diff, lines, opened, sample};
use crate::support::build;
use crate::support::files::{self, name};

/// Every file is the same as itself, and as itself with all numbers changed.
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
            // A file is identical if it has nothing to renumber.
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

/// Exports of one model from two releases that export alike, or in two ways from one release.
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

/// The name of an EXTERNAL tensor is a key. Another key of the same data is the same.
#[test]
fn key_of_an_external_tensor_is_compared_by_its_data() {
    // A constant, a state that an output names, and a state without a use.
    for (is_state, outputs) in [(false, &[0][..]), (true, &[0]), (true, &[])] {
        external_key_is_compared_by_its_data(is_state, outputs);
    }
}

fn external_key_is_compared_by_its_data(is_state: bool, outputs: &[i32]) {
    let pair = |key: &str, byte: u8| {
        let shape = json!({"scalar_type": "BYTE", "sizes": [4], "dim_order": [0]});
        let mut tensor = shape.clone();
        tensor["extra_tensor_info"] = json!({"fully_qualified_name": key, "location": "EXTERNAL"});
        if is_state {
            tensor["allocation_info"] = json!({"memory_id": 1});
        }
        let value = json!({"val_type": "Tensor", "val": tensor});
        let plan = json!({"name": "forward", "values": [value], "inputs": [], "outputs": outputs,
            "non_const_buffer_sizes": [0, 16]});
        let program = build::file(&json!({"root": {"execution_plan": [plan]}}).to_string());
        let entry = json!({"key": key, "tensor_layout": shape});
        let root = json!({"segments": [{"size": 4}], "named_data": [entry]});
        let data = json!({"kind": "ptd", "root": root, "data": [{"bytes": [1, 2, 3, byte]}]});
        (program, build::file(&data.to_string()))
    };
    let files = [("a", 4), ("b", 4), ("b", 5)].map(|(key, byte)| pair(key, byte));
    let files = files.each_ref().map(|(program, data)| (opened(program), opened(data)));
    let verdict = |nth: usize| {
        let [before, after] = [&files[0], &files[nth]]
            .map(|(program, data)| Given { file: program, data: vec![data] });
        compare(&before, &after, &Limits::UNTRUSTED).unwrap().verdict
    };
    assert_eq!(verdict(1), Verdict::Same);
    assert_eq!(verdict(2), Verdict::Different);
    // If two keys are equal, runtimes use the first entry.
    let (program, first, second) = (&files[1].0, &files[1].1, &files[2].1);
    let verdict = |data| {
        let (before, after) = (vec![first], data);
        let [before, after] = [before, after].map(|data| Given { file: program, data });
        compare(&before, &after, &Limits::UNTRUSTED).unwrap().verdict
    };
    assert_ne!(verdict(vec![first, second]), Verdict::Different);
    assert_eq!(verdict(vec![second, first]), Verdict::Different);
}

/// The facts about the encoding describe the headers and all methods.
#[test]
fn written_facts_are_those_of_the_files() {
    let fact = |before: &[u8], after: &[u8], what: &str| {
        let report = diff(before, after);
        let found = report.written.into_iter().find(|written| written.what == what);
        found.map(|written| (written.before, written.after))
    };
    let data = |align: u64| {
        let root = json!({"segments": [{"size": 4}], "named_data": [{"key": "k"}]});
        let file = json!({"kind": "ptd", "root": root, "data": [{"zeros": 4}], "align": align});
        build::file(&file.to_string())
    };
    let area = |bytes: &[u8]| {
        format!("from {} on", pte::Ptd::read(bytes).unwrap().header().segment_base_offset)
    };
    let (one, other) = (data(16), data(4096));
    assert_eq!(fact(&one, &other, "segment area"), Some((area(&one), area(&other))));
    let program = |traces: [usize; 3]| {
        let frames = |count| vec![json!({"items": [{"name": "f"}]}); count];
        let plans = [0, 1, 2].map(|nth| {
            let chain = json!({"instructions": [], "stacktrace": frames(traces[nth])});
            json!({"name": format!("m{nth}"), "chains": [chain]})
        });
        build::file(&json!({"root": {"execution_plan": plans}}).to_string())
    };
    let (one, other) = (program([1, 2, 4]), program([1, 2, 5]));
    assert_eq!(fact(&one, &other, "stack traces"), Some(("7".into(), "8".into())));
}

/// A list without a use is compared by its items, of whichever kind it is.
#[test]
fn items_of_an_unused_list_are_compared() {
    for kind in ["IntList", "TensorList", "OptionalTensorList", "DoubleList", "BoolList"] {
        let program = |flags: [bool; 2]| {
            let items = flags.map(|flag| match kind {
                "BoolList" => json!(flag),
                _ => json!(i32::from(flag)),
            });
            let int = |int: i32| json!({"val_type": "Int", "val": {"int_val": int}});
            let list = json!({"val_type": kind, "val": {"items": items}});
            let plan = json!({"name": "m", "values": [int(7), int(8), list], "outputs": [0, 1]});
            build::file(&json!({"root": {"execution_plan": [plan]}}).to_string())
        };
        let all = [[false, true], [true, false], [true, true]].map(program);
        for (nth, one) in all.iter().enumerate() {
            for (other_nth, other) in all.iter().enumerate() {
                let is_different = diff(one, other).verdict == Verdict::Different;
                assert_eq!(is_different, nth != other_nth, "{kind}");
            }
        }
    }
}

/// A missing list is not an empty one: the runtime refuses the method, and loads the other.
#[test]
fn a_missing_list_is_not_an_empty_one() {
    let shape = json!({"scalar_type": "BYTE", "sizes": [], "dim_order": [], "allocation_info": {}});
    let program = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut plan = json!({"name": "m", "inputs": [], "outputs": [], "chains": [],
            "delegates": [], "non_const_buffer_sizes": [], "values": []});
        change(&mut plan);
        build::file(&json!({"root": {"execution_plan": [plan]}}).to_string())
    };
    for list in ["inputs", "outputs", "chains", "delegates", "non_const_buffer_sizes", "values"] {
        let one = program(&|_| {});
        let other = program(&|plan| _ = plan.as_object_mut().unwrap().remove(list));
        assert_eq!(diff(&one, &other).total(), 1, "{list}");
        assert_eq!(diff(&other, &one).total(), 1, "{list}");
    }
    let cases = ["sizes", "dim_order"].map(|list| ("Tensor", shape.clone(), list)).into_iter();
    let kinds = ["IntList", "TensorList", "OptionalTensorList", "DoubleList", "BoolList"];
    for (kind, whole, list) in cases.chain(kinds.map(|kind| (kind, json!({"items": []}), "items")))
    {
        let mut part = whole.clone();
        part.as_object_mut().unwrap().remove(list);
        for outputs in [json!([]), json!([0])] {
            let with = |val: &serde_json::Value| {
                program(&|plan| {
                    plan["values"] = json!([{"val_type": kind, "val": val}]);
                    plan["outputs"] = outputs.clone();
                })
            };
            let report = diff(&with(&whole), &with(&part));
            assert_eq!(lines(&report).len(), 1, "{kind}.{list}: {report:?}");
            let difference = &report.differences[0];
            assert_ne!(difference.before, difference.after, "{kind}.{list}");
        }
    }
}

/// The runtime loads the constants' segment with the program, whether a tensor uses it or not.
#[test]
fn a_program_that_loads_and_one_that_is_refused_differ() {
    let program = |change: serde_json::Value| {
        let mut root = json!({"execution_plan": [{"name": "m"}], "segments": [{"size": 16}],
            "constant_segment": {"segment_index": 0, "offsets": [0, 0]}});
        for (name, value) in change.as_object().unwrap() {
            root[name] = value.clone();
        }
        build::file(&json!({"root": root, "data": [{"zeros": 16}]}).to_string())
    };
    let loads = program(json!({}));
    let twice = json!({"constant_buffer": [{"storage": [1]}]});
    let missing = json!({"constant_segment": {"segment_index": 1, "offsets": [0, 0]}});
    for refused in [missing, twice] {
        let refused = program(refused);
        let report = diff(&loads, &refused);
        assert_eq!((report.total(), report.count(Class::Constants)), (1, 1), "{report:?}");
        assert_eq!(diff(&refused, &loads).total(), 1);
    }
    // A list with only one offset has no constants, so the runtime loads no segment.
    let none = |segment_index: u32| {
        program(json!({"constant_segment": {"segment_index": segment_index, "offsets": [0]}}))
    };
    assert_eq!(diff(&none(0), &none(1)).verdict, Verdict::Same);
    let file = |segments: bool| {
        let mut root = json!({"execution_plan": [{"name": "m"}], "named_data": []});
        if segments {
            root["segments"] = json!([]);
        }
        build::file(&json!({ "root": root }).to_string())
    };
    let report = diff(&file(true), &file(false));
    assert_eq!((report.total(), report.count(Class::NamedData)), (1, 1), "{report:?}");
    let [missing, empty, one] =
        [json!({}), json!({"execution_plan": []}), json!({"execution_plan": [{"name": "m"}]})]
            .map(|root| build::file(&json!({ "root": root }).to_string()));
    for other in [empty, one] {
        let report = diff(&missing, &other);
        assert_eq!((report.total(), report.count(Class::Methods)), (1, 1), "{report:?}");
    }
}
