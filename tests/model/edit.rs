//! Edits: one thing is changed, and the rest stays.

use std::fs;

use pte::Check;
use pte::Storage;
use pte::model::{self, AnyPtd, Blob, External, ExternalError};
use pte::schema::flat_tensor::model::{NamedData, TensorLayout};
use pte::schema::program::model::{KernelTypes, Tensor};
use pte::schema::program::{TensorDataLocation, view};
use pte::schema::scalar::ScalarType;
use pte::{Ptd, Pte};

use crate::support::build;
use crate::support::files::{self, name};
use crate::support::programs::traced;

/// Constants that go out of a program and come back are the same bytes, for the same tensors.
#[test]
fn constants_go_out_and_come_back() {
    let (mut moved, mut shared) = (0, 0);
    for path in files::everything().into_iter().filter(|path| is_pte(path)) {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
        let before = constants(&mut program);
        let Ok(ptd) = program.externalize(|_| true) else { continue };
        let ptd = ptd.image().unwrap().to_bytes().unwrap();
        let read = Ptd::read(&ptd).unwrap();
        assert_eq!(errors(read.check()), Vec::<&str>::new(), "{name}");
        let out = program.image().unwrap().to_bytes().unwrap();
        let out = Pte::read(&out).unwrap();
        assert_eq!(errors(out.check()), errors(Pte::read(&bytes).unwrap().check()), "{name}");
        assert_eq!(constants(&mut out.to_model().unwrap()), [], "{name}: nothing is left");
        assert_eq!(out.named_data().count(), 0, "{name}: nothing is left");
        let AnyPtd::Current(data) = read.to_model().unwrap() else {
            panic!("{name}: an old generation")
        };
        moved += before.len();
        shared += before.len() - data.segments.len().min(before.len());
        let mut back = out.to_model().unwrap();
        back.inline(&data).unwrap_or_else(|error| panic!("{name}: {error}"));
        let back = back.image().unwrap().to_bytes().unwrap();
        let back = Pte::read(&back).unwrap();
        assert_eq!(constants(&mut back.to_model().unwrap()), before, "{name}");
        let blobs = |pte: &Pte<'_>| {
            let blobs = pte.named_data().map(|(key, range)| {
                (key.map(String::from), pte.bytes(range.unwrap()).unwrap().to_vec())
            });
            blobs.collect::<Vec<_>>()
        };
        assert_eq!(blobs(&back), blobs(&Pte::read(&bytes).unwrap()), "{name}");
    }
    assert!(moved > 50 && shared > 0, "{moved} moved, {shared} with others' bytes");
}

/// A reference to an empty segment needs a segment base, although no segment has a byte.
#[test]
fn empty_segments_that_are_left_alone_can_be_loaded() {
    let bytes = build::file(
        r#"{"data": [{"zeros": 16}], "root": {
            "segments": [{"size": 4}, {"offset": 16}],
            "named_data": [{"key": "a"}],
            "execution_plan": [{"delegates": [{"processed": {"location": "SEGMENT", "index": 1}}]}]
        }}"#,
    );
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.remove_data("a").unwrap();
    let bytes = program.image().unwrap().to_bytes().unwrap();
    let pte = Pte::read(&bytes).unwrap();
    assert_eq!(pte.segment_count(), 1);
    assert!(!errors(pte.check()).contains(&"base-missing"));
}

#[test]
fn a_key_that_is_not_there_changes_nothing() {
    let bytes = build::file(r#"{"root": {"execution_plan": []}}"#);
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.remove_data("a").unwrap_err();
    assert_eq!(program.root.named_data, None);
    let mut data = data_of(&[], &[]);
    data.root.named_data = None;
    data.remove_data("a").unwrap_err();
    assert_eq!(data.root.named_data, None);
}

/// Small constants can stay in the program.
#[test]
fn what_goes_out_is_chosen() {
    let bytes = files::read("tests/data/pte/linear.pte").unwrap();
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let before = constants(&mut program);
    let ptd = program.externalize(|external| match external {
        External::Constant { bytes, .. } => bytes > 64,
        _ => false,
    });
    let keys = ptd.unwrap().root.named_data.unwrap();
    let after = constants(&mut program);
    assert_eq!((keys.len(), after.len()), (1, before.len() - 1));
    assert!(after.iter().all(|left| before.contains(left) && left.1.len() <= 64));
    assert!(Pte::read(&program.image().unwrap().to_bytes().unwrap()).is_ok());
}

#[test]
fn data_of_another_shape_does_not_come_in() {
    let bytes = files::read("tests/data/pte/linear.pte").unwrap();
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let mut ptd = program.externalize(|_| true).unwrap();
    let layout = ptd.root.named_data.as_mut().unwrap()[0].tensor_layout.as_mut().unwrap();
    layout.sizes.as_mut().unwrap().reverse();
    let key = ptd.root.named_data.as_ref().unwrap()[0].key.clone().unwrap();
    let error = program.inline(&ptd).unwrap_err();
    assert_eq!(error.to_string(), format!("the data of {key:?} does not fit its tensor"));
}

/// Shared data stays for its other users. Unused data is removed, and the rest is renumbered.
#[test]
fn named_data_is_set_and_taken_out() {
    let bytes = build::file(
        r#"{"data": [{"hex": "0102030405060708"}], "root": {
            "segments": [{"offset": 0, "size": 2}, {"offset": 4, "size": 4}],
            "named_data": [{"key": "a"}, {"key": "b"}, {"key": "c", "segment_index": 1}]
        }}"#,
    );
    let change = |change: &dyn Fn(&mut model::PteModel<'_>)| {
        let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
        change(&mut program);
        let bytes = program.image().unwrap().to_bytes().unwrap();
        let pte = Pte::read(&bytes).unwrap();
        let data = pte.named_data().map(|(key, range)| {
            format!("{}={:?}", key.unwrap(), pte.bytes(range.unwrap()).unwrap())
        });
        (data.collect::<Vec<_>>().join(" "), pte.segment_count())
    };
    let data = |bytes: &'static [u8]| Blob::from(bytes);
    assert_eq!(change(&|_| {}), ("a=[1, 2] b=[1, 2] c=[5, 6, 7, 8]".into(), 2));
    assert_eq!(
        change(&|program| assert!(program.set_data("b", data(&[9])))),
        ("a=[1, 2] b=[9] c=[5, 6, 7, 8]".into(), 3),
        "a keeps what it shared"
    );
    assert_eq!(
        change(&|program| assert!(program.set_data("c", data(&[9; 5])))),
        ("a=[1, 2] b=[1, 2] c=[9, 9, 9, 9, 9]".into(), 2)
    );
    assert_eq!(
        change(&|program| assert!(!program.set_data("d", data(&[])))),
        ("a=[1, 2] b=[1, 2] c=[5, 6, 7, 8] d=[]".into(), 3)
    );
    assert_eq!(
        change(&|program| program.remove_data("a").unwrap()),
        ("b=[1, 2] c=[5, 6, 7, 8]".into(), 2),
        "b still uses it"
    );
    assert_eq!(
        change(&|program| ["a", "b"].iter().for_each(|key| program.remove_data(key).unwrap())),
        ("c=[5, 6, 7, 8]".into(), 1)
    );
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let error = program.remove_data("x").unwrap_err();
    assert_eq!(error.to_string(), "no data has the key \"x\"");
}

/// A program without named data has no list of it.
#[test]
fn the_last_named_data_takes_its_list_along() {
    let bytes = build::file(
        r#"{"data": [{"zeros": 4}], "root": {
            "segments": [{"size": 4}], "named_data": [{"key": "a"}]
        }}"#,
    );
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.remove_data("a").unwrap();
    assert_eq!(program.root.named_data, None);
}

/// Runtimes use the first of two entries with one name, in the program and in the `.ptd`.
#[test]
fn what_comes_in_is_the_first_of_its_name() {
    let tensor = r#"{"val_type": "Tensor", "val": {
        "scalar_type": "INT", "sizes": [1], "dim_order": [0],
        "extra_tensor_info": {"fully_qualified_name": "w", "location": "EXTERNAL"}
    }}"#;
    let bytes = build::file(&format!(
        r#"{{"data": [{{"bytes": [1, 2]}}], "root": {{
            "segments": [{{"size": 1}}, {{"offset": 1, "size": 1}}],
            "named_data": [{{"key": "a"}}, {{"key": "a", "segment_index": 1}}],
            "execution_plan": [{{"name": "forward", "values": [{tensor}]}}]
        }}}}"#
    ));
    let mut data = data_of(&[("w", 1), ("w", 1)], &[7]);
    data.add_segment(words(&[8]).into());
    data.add_segment(vec![9].into());
    let named = data.root.named_data.as_mut().unwrap();
    named[1].segment_index = 1;
    named.push(NamedData { key: Some("a".into()), segment_index: 2, tensor_layout: None });
    let program = || Pte::read(&bytes).unwrap().to_model().unwrap();
    // The program has the key "a" itself.
    assert!(matches!(program().inline(&data), Err(ExternalError::SameKey(key)) if key == "a"));
    let named = data.root.named_data.as_mut().unwrap();
    named.last_mut().unwrap().key = Some("b".into());
    let mut program = program();
    program.inline(&data).unwrap();
    let out = program.image().unwrap().to_bytes().unwrap();
    assert_eq!(tensors(&out), [Some(words(&[7]))]);
    let pte = Pte::read(&out).unwrap();
    let blobs: Vec<_> = pte.named_data().map(|(_, range)| pte.bytes(range.unwrap())).collect();
    assert_eq!(blobs, [Some(&[1][..]), Some(&[2]), Some(&[9])]);
}

/// If changed data shares its segment with other data, it gets a new segment. The other data keeps
/// the old segment unchanged.
#[test]
fn constants_and_states_leave_others_the_segment_they_shared() {
    let bytes = build::file(&with_payload(
        r#"{"val_type": "Tensor", "val": {"scalar_type": "INT", "sizes": [4], "dim_order": [0],
            "data_buffer_idx": 1}},
        {"val_type": "Tensor", "val": {"scalar_type": "INT", "sizes": [1], "dim_order": [0],
            "data_buffer_idx": 1, "allocation_info": {"memory_id": 1}}}"#,
        r#""constant_segment": {"segment_index": 0, "offsets": [0, 0]},
        "mutable_data_segments": [{"segment_index": 0, "offsets": [0, 8]}],"#,
    ));
    let before = vec![Some(PAYLOAD.to_vec()), Some(PAYLOAD[8..12].to_vec())];
    assert_eq!((tensors(&bytes), payload(&bytes)), (before.clone(), PAYLOAD.to_vec()));
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let ptd = program.externalize(|_| true).unwrap();
    let out = program.image().unwrap().to_bytes().unwrap();
    assert_eq!(tensors(&out), [None, before[1].clone()]);
    assert_eq!(payload(&out), PAYLOAD);
    program.inline(&ptd).unwrap();
    let back = program.image().unwrap().to_bytes().unwrap();
    assert_eq!((tensors(&back), payload(&back)), (before, PAYLOAD.to_vec()));

    // Now the state has another place.
    let bytes = build::file(&with_payload(
        r#"{"val_type": "Tensor", "val": {"scalar_type": "INT", "sizes": [1], "dim_order": [0],
            "data_buffer_idx": 1, "allocation_info": {"memory_id": 1}}},
        {"val_type": "Tensor", "val": {"scalar_type": "INT", "sizes": [2], "dim_order": [0],
            "allocation_info": {"memory_id": 1, "memory_offset_low": 4},
            "extra_tensor_info": {"fully_qualified_name": "k", "location": "EXTERNAL"}}}"#,
        r#""mutable_data_segments": [{"segment_index": 0, "offsets": [0, 8]}],"#,
    ));
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.inline(&data_of(&[("k", 2)], &[7, 8])).unwrap();
    let out = program.image().unwrap().to_bytes().unwrap();
    assert_eq!(tensors(&out), [Some(PAYLOAD[8..12].to_vec()), Some(words(&[7, 8]))]);
    assert_eq!(payload(&out), PAYLOAD);
}

/// The initial state of an external tensor has no bytes in the program, at any index. The states in
/// the program keep their lengths.
#[test]
fn a_state_outside_is_no_part_of_the_states_inside() {
    let state = |sizes: u32, idx: u32, more: &str| {
        format!(
            r#"{{"val_type": "Tensor", "val": {{"scalar_type": "INT", "sizes": [{sizes}],
                "dim_order": [0], "data_buffer_idx": {idx}, "allocation_info": {{"memory_id": 1}}
                {more}}}}}"#
        )
    };
    let outside = r#", "extra_tensor_info": {"fully_qualified_name": "k", "location": "EXTERNAL"}"#;
    let values = [state(1, 1, ""), state(1, 2, ""), state(3, 1, outside)].join(", ");
    let lists = r#""mutable_data_segments": [{"segment_index": 1, "offsets": [0, 0, 4]}],"#;
    let text = with_payload(&values, lists)
        .replace(r#"[{"size": 16}]"#, r#"[{"size": 16}, {"offset": 16, "size": 8}]"#)
        .replace("}]}", r#"}, {"hex": "0100000002000000"}]}"#);
    let bytes = build::file(&text);
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.inline(&data_of(&[("k", 3)], &[7, 8, 9])).unwrap();
    let out = program.image().unwrap().to_bytes().unwrap();
    let want = [&[1][..], &[2], &[7, 8, 9]].map(|state| Some(words(state)));
    assert_eq!(tensors(&out), want);
    assert_eq!(program.segments[1].len(), 20, "4, 4 and 12 bytes");
}

/// Loading ignores the index of an external tensor, but an index of 0 means a tensor without memory
/// (format.md §7.3).
#[test]
fn a_tensor_outside_has_an_index_that_is_not_0() {
    let bytes = files::read("tests/data/pte/linear.pte").unwrap();
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.externalize(|_| true).unwrap();
    let plans = program.root.execution_plan.iter().flatten();
    let values = plans.flat_map(|plan| plan.values.iter().flatten());
    let outside = values.filter_map(|value| match &value.val {
        Some(KernelTypes::Tensor(tensor)) => {
            let location = tensor.extra_tensor_info.as_ref()?.location;
            (location == TensorDataLocation::EXTERNAL).then_some(tensor.data_buffer_idx)
        }
        _ => None,
    });
    let outside: Vec<_> = outside.collect();
    assert!(!outside.is_empty() && !outside.contains(&0), "{outside:?}");
}

/// Moving out data with two keys removes its segment once: later indices decrease by one.
#[test]
fn data_under_two_keys_goes_out_once() {
    let bytes = build::file(
        r#"{"root": {"segments": [{"size": 1}, {"offset": 16, "size": 1}, {"offset": 32, "size": 1}],
            "named_data": [{"key": "a", "segment_index": 0}, {"key": "b", "segment_index": 0},
                {"key": "c", "segment_index": 1}, {"key": "d", "segment_index": 2}]},
          "data": [{"hex": "01"}, {"zeros": 15}, {"hex": "02"}, {"zeros": 15}, {"hex": "03"}]}"#,
    );
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let ptd = program.externalize(
        |external| matches!(external, External::Data { key, .. } if ["a", "b"].contains(&key)),
    );
    assert_eq!(ptd.unwrap().segments.len(), 1);
    let out = program.image().unwrap().to_bytes().unwrap();
    let pte = Pte::read(&out).unwrap();
    let left =
        pte.named_data().map(|(key, range)| (key.unwrap(), pte.bytes(range.unwrap()).unwrap()));
    assert_eq!(left.collect::<Vec<_>>(), [("c", &[2][..]), ("d", &[3])]);
    assert_eq!(pte.segment_count(), 2);
}

/// A shape whose size overflows accepts no data of any length.
#[test]
fn a_shape_without_a_size_takes_no_data() {
    let mut data = data_of(&[("k", -1)], &[7]);
    for len in [0, 4] {
        let error = data.set_data("k", Blob::Zeros(len)).unwrap_err();
        assert_eq!(error.to_string(), "the tensor \"k\" has a shape of no size");
    }
    assert_eq!(data.segments[0].to_bytes().unwrap().to_vec(), words(&[7]));
}

/// No runtime reads a second list of states, but it must not be lost.
#[test]
fn other_lists_of_states_stay() {
    let list = r#""mutable_data_segments": [{"segment_index": 0, "offsets": [0, 8]},
        {"segment_index": 0, "offsets": [0, 4]}],"#;
    let state = r#"{"val_type": "Tensor", "val": {"scalar_type": "INT", "sizes": [2],
        "dim_order": [0], "allocation_info": {"memory_id": 1},
        "extra_tensor_info": {"fully_qualified_name": "k", "location": "EXTERNAL"}}}"#;
    let bytes = build::file(&with_payload(state, list));
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let second = program.root.mutable_data_segments.as_ref().unwrap()[1].clone();
    program.inline(&data_of(&[("k", 2)], &[7, 8])).unwrap();
    let lists = program.root.mutable_data_segments.as_ref().unwrap();
    assert_eq!((lists.len(), &lists[1]), (2, &second));
    assert_eq!(payload(&program.image().unwrap().to_bytes().unwrap()), PAYLOAD);
}

/// A list with one offset has no constants. Its segment, which may be missing, is never loaded.
#[test]
fn a_list_without_contents_has_no_segment() {
    let external = |planned: &str| {
        format!(
            r#"{{"val_type": "Tensor", "val": {{"scalar_type": "INT", "sizes": [2],
                "dim_order": [0], {planned}
                "extra_tensor_info": {{"fully_qualified_name": "k", "location": "EXTERNAL"}}}}}}"#
        )
    };
    let state = r#""allocation_info": {"memory_id": 1},"#;
    for (planned, list) in [
        ("", r#""constant_segment": {"segment_index": 0, "offsets": [0]},"#),
        ("", r#""constant_segment": {"segment_index": 9, "offsets": [0]},"#),
        ("", r#""constant_segment": {"segment_index": 0, "offsets": []},"#),
        ("", r#""constant_segment": {"segment_index": 9},"#),
        ("", ""),
        (state, r#""mutable_data_segments": [{"segment_index": 0, "offsets": [0]}],"#),
        (state, r#""mutable_data_segments": [{"segment_index": 9, "offsets": [0]}],"#),
        (state, r#""mutable_data_segments": [{"segment_index": 9}],"#),
        (state, r#""mutable_data_segments": [],"#),
    ] {
        let bytes = build::file(&with_payload(&external(planned), list));
        let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
        program.inline(&data_of(&[("k", 2)], &[7, 8])).unwrap();
        let out = program.image().unwrap().to_bytes().unwrap();
        assert_eq!(tensors(&out), [Some(words(&[7, 8]))], "{planned} {list}");
        assert_eq!(payload(&out), PAYLOAD, "{planned} {list}");
        let lens: Vec<_> = program.segments.iter().map(Blob::len).collect();
        assert_eq!(lens, [16, 8], "{planned} {list}");
        assert_eq!(errors(Pte::read(&out).unwrap().check()), Vec::<&str>::new(), "{list}");
    }
    // A second move needs no more segments: the first one left an empty segment.
    let list = r#""constant_segment": {"segment_index": 0, "offsets": [0]},"#;
    let bytes = build::file(&with_payload(&external(""), list));
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.inline(&data_of(&[("k", 2)], &[7, 8])).unwrap();
    for _ in 0..2 {
        let ptd = program.externalize(|_| true).unwrap();
        program.inline(&ptd).unwrap();
        assert_eq!(program.segments.len(), 2);
    }
}

/// Tensors with the same data may have different sizes. The largest one has all of the data.
#[test]
fn tensors_of_other_sizes_share_what_the_largest_has() {
    for order in [["a", "b"], ["b", "a"]] {
        for planned in ["", r#""allocation_info": {"memory_id": 1},"#] {
            let size = |name| if name == "a" { 2 } else { 4 };
            let values = order.map(|name| {
                format!(
                    r#"{{"val_type": "Tensor", "val": {{"scalar_type": "INT", "sizes": [{}],
                    "dim_order": [0], {planned} "extra_tensor_info":
                        {{"fully_qualified_name": "{name}", "location": "EXTERNAL"}}}}}}"#,
                    size(name)
                )
            });
            let bytes = build::file(&with_payload(&values.join(","), ""));
            let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
            program.inline(&data_of(&[("a", 2), ("b", 4)], &[1, 2, 3, 4])).unwrap();
            let inlined = program.image().unwrap().to_bytes().unwrap();
            let want = order.map(|name| Some(words(&[1, 2, 3, 4][..size(name)])));
            assert_eq!(tensors(&inlined), want, "{order:?}{planned}");
            assert_eq!(program.segments[1].len(), 16, "there once");
            if !planned.is_empty() {
                continue;
            }
            // Then the data is moved out again.
            let ptd = program.externalize(|_| true).unwrap();
            let ptd = ptd.image().unwrap().to_bytes().unwrap();
            let ptd = Ptd::read(&ptd).unwrap();
            assert_eq!(errors(ptd.check()), Vec::<&str>::new(), "{order:?}");
            let AnyPtd::Current(ptd) = ptd.to_model().unwrap() else { panic!("an old generation") };
            assert_eq!(ptd.segments.len(), 1, "there once");
            program.inline(&ptd).unwrap();
            let back = program.image().unwrap().to_bytes().unwrap();
            assert_eq!(tensors(&back), want, "{order:?}");
        }
    }
}

/// The length of a state follows from its tensor: the next state may begin at any offset.
#[test]
fn states_need_not_be_in_order() {
    let state = |nth: u32, place: &str| {
        format!(
            r#"{{"val_type": "Tensor", "val": {{"scalar_type": "INT", "sizes": [2],
                "dim_order": [0], "data_buffer_idx": {nth},
                "allocation_info": {{"memory_id": 1}}, "extra_tensor_info": {{{place}}}}}}}"#
        )
    };
    let external = r#""fully_qualified_name": "k", "location": "EXTERNAL""#;
    let values = [state(1, ""), state(2, ""), state(0, external)].join(",");
    let bytes = build::file(&format!(
        r#"{{"root": {{"segments": [{{"size": 16}}],
            "mutable_data_segments": [{{"segment_index": 0, "offsets": [0, 8, 0]}}],
            "execution_plan": [{{"name": "forward", "values": [{values}]}}]
        }}, "data": [{{"bytes": [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]}}]}}"#
    ));
    let before = [Some(words(&[3, 4])), Some(words(&[1, 2])), None];
    assert_eq!(tensors(&bytes), before);
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    program.inline(&data_of(&[("k", 2)], &[7, 8])).unwrap();
    let out = program.image().unwrap().to_bytes().unwrap();
    assert_eq!(tensors(&out), [before[0].clone(), before[1].clone(), Some(words(&[7, 8]))]);
}

/// External data keeps its name, and so does data that stays.
#[test]
fn a_name_that_is_taken_is_not_given_again() {
    let constant = |name: &str| {
        format!(
            r#"{{"val_type": "Tensor", "val": {{"scalar_type": "INT", "sizes": [4],
                "dim_order": [0], "data_buffer_idx": 1, "extra_tensor_info":
                {{"fully_qualified_name": "{name}"}}}}}}"#
        )
    };
    let external = r#"{"val_type": "Tensor", "val": {"scalar_type": "INT", "sizes": [4],
        "dim_order": [0], "extra_tensor_info":
        {"fully_qualified_name": "outside", "location": "EXTERNAL"}}}"#;
    let rest = r#""constant_segment": {"segment_index": 0, "offsets": [0, 0]},
        "named_data": [{"key": "blob"}, {"key": "blub"}],"#;
    let out = |name: &str, taken: &str| {
        for order in [[external.into(), constant(name)], [constant(name), external.into()]] {
            let bytes = build::file(&with_payload(&order.join(","), rest));
            let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
            let chosen = |external: External<'_>| match external {
                External::Constant { .. } => true,
                External::Data { key, .. } => key == "blub",
            };
            let done = program.externalize(chosen).map(|ptd| ptd.segments.len());
            let want = format!("duplicate key {taken:?}");
            match done {
                Ok(count) => assert_eq!((count, taken), (2, "")),
                Err(error) => assert_eq!(error.to_string(), want),
            }
        }
    };
    out("inside", "");
    out("outside", "outside");
    out("blob", "blob");
    out("blub", "blub");
}

/// An unknown location means the program: `tensor-enum` reports it, and the data is read there.
#[test]
fn a_constant_of_an_unknown_place_stays_one() {
    let constant = |nth: u32, len: u32, location: u8| {
        format!(
            r#"{{"val_type": "Tensor", "val": {{"scalar_type": "INT", "sizes": [{len}],
                "dim_order": [0], "data_buffer_idx": {nth}, "extra_tensor_info":
                {{"location": {location}}}}}}}"#
        )
    };
    let values = [constant(1, 2, 0), constant(2, 1, 2), constant(3, 1, 0)].join(",");
    let list = r#""constant_segment": {"segment_index": 0, "offsets": [0, 0, 8, 12]},"#;
    let bytes = build::file(&with_payload(&values, list));
    let before = [&PAYLOAD[..8], &PAYLOAD[8..12], &PAYLOAD[12..]].map(|part| Some(part.to_vec()));
    assert_eq!(tensors(&bytes), before);
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let chosen = |external: External<'_>| matches!(external, External::Constant { bytes: 8, .. });
    let ptd = program.externalize(chosen).unwrap();
    assert_eq!(ptd.segments.len(), 1);
    let out = program.image().unwrap().to_bytes().unwrap();
    assert_eq!(tensors(&out), [None, before[1].clone(), before[2].clone()]);
    program.inline(&ptd).unwrap();
    program.externalize(|_| true).unwrap();
    let out = program.image().unwrap().to_bytes().unwrap();
    assert_eq!(tensors(&out), [None, None, None], "it moves out as others do");
}

/// Moving many names takes no quadratic time, which would be minutes.
#[test]
fn many_names_move_out_and_back() {
    let names: Vec<_> = (0..50_000)
        .map(|nth| format!("{{\"key\": \"{nth}\", \"segment_index\": {nth}}}"))
        .collect();
    let places = vec!["{\"size\": 1}"; names.len()].join(",");
    let bytes = build::file(&format!(
        r#"{{"data": [{{"hex": "07"}}], "root": {{"segments": [{places}], "named_data": [{}]}}}}"#,
        names.join(",")
    ));
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    let ptd = program.externalize(|_| true).unwrap();
    assert_eq!((ptd.segments.len(), program.segments.len()), (names.len(), 0));
    let inlined = program.inline(&ptd).unwrap();
    assert_eq!((inlined.data, program.segments.len()), (names.len(), names.len()));
    // The program has the keys now.
    assert!(matches!(program.inline(&ptd), Err(ExternalError::SameKey(key)) if key == "0"));
    assert_eq!(program.segments.len(), names.len());
    let image = program.image().unwrap().to_bytes().unwrap();
    let pte = Pte::read(&image).unwrap();
    let (key, range) = pte.named_data().last().unwrap();
    assert_eq!((key, pte.bytes(range.unwrap())), (Some("49999"), Some(&[7][..])));
}

#[test]
fn traces_and_names_are_left_out() {
    let mut seen = [0, 0];
    let read = |path: std::path::PathBuf| (name(&path), fs::read(&path).unwrap());
    let samples = files::samples().into_iter().filter(|path| is_pte(path)).map(read);
    for (name, bytes) in samples.chain([("traced".into(), traced())]) {
        let pte = Pte::read(&bytes).unwrap();
        let mut program = pte.to_model().unwrap();
        seen[0] += program.strip_stacktraces();
        seen[1] += program.strip_names();
        assert_eq!((program.strip_stacktraces(), program.strip_names()), (0, 0));
        let mut expected = pte.to_model().unwrap().root;
        for plan in expected.execution_plan.iter_mut().flatten() {
            plan.chains.iter_mut().flatten().for_each(|chain| chain.stacktrace = None);
            for value in plan.values.iter_mut().flatten() {
                let Some(KernelTypes::Tensor(tensor)) = &mut value.val else { continue };
                let external = |tensor: &Tensor| {
                    let extra = tensor.extra_tensor_info.as_ref();
                    extra.is_some_and(|extra| extra.location == TensorDataLocation::EXTERNAL)
                };
                if external(tensor) {
                    continue;
                }
                let extra = tensor.extra_tensor_info.as_mut();
                extra.into_iter().for_each(|extra| extra.fully_qualified_name = None);
                tensor.extra_tensor_info.take_if(|extra| *extra == Default::default());
            }
        }
        let stripped = program.image().unwrap().to_bytes().unwrap();
        // The text is compared, since NaN is not equal to itself.
        let left = format!("{:?}", Pte::read(&stripped).unwrap().to_model().unwrap().root);
        assert!(left == format!("{expected:?}"), "{name}");
        assert!(stripped.len() <= bytes.len(), "{name}");
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

#[test]
fn a_trace_without_frames_is_none() {
    let bytes = build::file(
        r#"{"root": {"execution_plan": [{"chains": [{"instructions": [], "stacktrace": [
            {"items": []}, {"items": [{"lineno": 7}, {"lineno": 8}]}, {}]}]}]}}"#,
    );
    let mut program = Pte::read(&bytes).unwrap().to_model().unwrap();
    assert_eq!(program.strip_stacktraces(), 1);
}

const PAYLOAD: &[u8; 16] = b"PAYLOAD-16-BYTES";

/// A program of these values, with a delegate whose payload is the first segment; `lists` are more
/// fields of its root.
fn with_payload(values: &str, lists: &str) -> String {
    format!(
        r#"{{"root": {{"constant_buffer": [], "backend_delegate_data": [], {lists}
            "segments": [{{"size": 16}}], "execution_plan": [{{
                "name": "forward", "values": [{values}], "inputs": [], "outputs": [],
                "operators": [], "non_const_buffer_sizes": [0, 64],
                "container_meta_type": {{"encoded_inp_str": "", "encoded_out_str": ""}},
                "chains": [{{"inputs": [], "outputs": [], "instructions": []}}],
                "delegates": [{{"id": "StubBackend", "compile_specs": [],
                    "processed": {{"location": "SEGMENT", "index": 0}}}}]
            }}]
        }}, "data": [{{"bytes": {PAYLOAD:?}}}]}}"#
    )
}

fn words(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A `.ptd` of tensors of one dimension, all of them of one segment.
fn data_of(tensors: &[(&str, i32)], data: &[i32]) -> model::PtdModel<'static> {
    let mut ptd = model::PtdModel::empty();
    ptd.add_segment(words(data).into());
    let entries = tensors.iter().map(|&(key, len)| NamedData {
        key: Some(key.into()),
        segment_index: 0,
        tensor_layout: Some(TensorLayout {
            scalar_type: ScalarType::INT,
            sizes: Some(vec![len]),
            dim_order: Some(vec![0]),
        }),
    });
    ptd.root.named_data = Some(entries.collect());
    ptd
}

/// The bytes that each tensor of the first method begins with, where the file has them.
fn tensors(bytes: &[u8]) -> Vec<Option<Vec<u8>>> {
    let pte = Pte::read(bytes).unwrap();
    let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
    let values = plan.values().unwrap().iter();
    let storages = values.map(|value| match value.val() {
        Some(view::KernelTypes::Tensor(tensor)) => pte.storage(tensor).unwrap(),
        _ => panic!("no tensor"),
    });
    let of = |range| Some(pte.bytes(range).unwrap().to_vec());
    storages
        .map(|storage| match storage {
            Storage::Constant(range) => of(range),
            Storage::Planned { initial, .. } => initial.and_then(of),
            _ => None,
        })
        .collect()
}

/// The bytes of the first delegate of the first method.
fn payload(bytes: &[u8]) -> Vec<u8> {
    let pte = Pte::read(bytes).unwrap();
    let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
    let delegate = plan.delegates().unwrap().get(0).unwrap();
    pte.bytes(pte.delegate_range(delegate).unwrap().unwrap()).unwrap().to_vec()
}

/// Every constant tensor of every method, with its bytes.
fn constants(program: &mut model::PteModel<'_>) -> Vec<(String, Vec<u8>)> {
    let bytes = program.constants();
    let mut found = Vec::new();
    for plan in program.root.execution_plan.iter().flatten() {
        for (nth, value) in plan.values.iter().flatten().enumerate() {
            let Some(KernelTypes::Tensor(tensor)) = &value.val else { continue };
            let external = tensor.extra_tensor_info.as_ref();
            if tensor.data_buffer_idx == 0
                || tensor.allocation_info.is_some()
                || external.is_some_and(|extra| extra.location == TensorDataLocation::EXTERNAL)
            {
                continue;
            }
            let sizes = tensor.sizes.iter().flatten().copied();
            let size = tensor.scalar_type.nbytes(sizes).unwrap();
            let bytes = bytes[tensor.data_buffer_idx as usize].slice(0..size);
            let place = format!("{}.{nth}", plan.name.as_deref().unwrap());
            found.push((place, bytes.to_bytes().unwrap().into_owned()));
        }
    }
    found
}

fn errors(report: pte::check::Report) -> Vec<&'static str> {
    let found = report.findings().iter();
    let errors = found.filter(|finding| finding.rule.severity == pte::check::Severity::Error);
    errors.map(|finding| finding.rule.id).collect()
}

fn is_pte(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|extension| extension == "pte")
}
