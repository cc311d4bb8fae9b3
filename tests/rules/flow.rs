//! What moves, frees, views and results do to the values that others use: small programs, and which
//! instruction breaks which rule.

use pte::Pte;
use pte::check::Severity;
use serde_json::{Value, json};

use crate::support::build;

/// Values, by name: two Ints, two Doubles, a Bool and a Null; planned tensors of one float, two of
/// Longs and one of a Bool; `u` and `v`, without data; `k`, constant; and lists.
///
/// `a'` and `ix'` are where `a` is, `far` is 4 GB behind it, and `big` reaches that far. `deep` and
/// `deeper` are where `a` is, with 16 and 17 dimensions.
const VALUES: &[(&str, &str)] = &[
    ("i", "Int"),
    ("j", "Int"),
    ("x", "Double"),
    ("y", "Double"),
    ("f", "Bool"),
    ("n", "Null"),
    ("a", "FLOAT 0"),
    ("b", "FLOAT 16"),
    ("c", "FLOAT 32"),
    ("in", "FLOAT 48"),
    ("out", "FLOAT 64"),
    ("ix", "LONG 80"),
    ("t", "BOOL 96"),
    ("u", "FLOAT"),
    ("v", "FLOAT"),
    ("k", "FLOAT w"),
    ("a'", "FLOAT 0"),
    ("ix'", "LONG 0"),
    ("far", "FLOAT 4294967296"),
    ("big", "FLOAT 0 1073741825"),
    ("deep", "FLOAT 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"),
    ("deeper", "FLOAT 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"),
    ("(i)", "IntList i"),
    ("[a,b]", "TensorList a b"),
    ("[c]", "TensorList c"),
    ("[u]", "TensorList u"),
    ("[k]", "TensorList k"),
    ("<ix>", "OptionalTensorList ix"),
    ("<u>", "OptionalTensorList u"),
];

/// What a program of these instructions breaks beyond Notes: the rule, and the instruction.
fn told(lines: &[&str]) -> Vec<String> {
    let index = |name: &str| {
        VALUES.iter().position(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}"))
    };
    let values: Vec<_> = VALUES.iter().map(|(_, text)| value(text, &index)).collect();
    let mut operators: Vec<&str> = Vec::new();
    let mut instructions = Vec::new();
    for line in lines {
        let mut words = line.split(' ');
        let verb = words.next().unwrap();
        let words: Vec<_> = words.collect();
        let args = || words.iter().map(|word| index(word)).collect::<Vec<_>>();
        let (kind, args) = match verb {
            "move" => {
                ("MoveCall", json!({"move_from": index(words[0]), "move_to": index(words[1])}))
            }
            "free" => ("FreeCall", json!({"value_index": index(words[0])})),
            "jump" => {
                let to: u32 = words[1].parse().unwrap();
                let condition = index(words[0]);
                (
                    "JumpFalseCall",
                    json!({"cond_value_index": condition, "destination_instruction": to}),
                )
            }
            "delegate" => ("DelegateCall", json!({"delegate_index": 0, "args": args()})),
            operator => {
                let known = operators.iter().position(|known| *known == operator);
                let nth = known.unwrap_or_else(|| {
                    operators.push(operator);
                    operators.len() - 1
                });
                ("KernelCall", json!({"op_index": nth, "args": args()}))
            }
        };
        instructions.push(json!({"instr_args_type": kind, "instr_args": args}));
    }
    let operators = operators.iter().map(|operator| {
        let (name, overload) = operator.split_once('.').unwrap_or((operator, ""));
        json!({"name": name, "overload": overload})
    });
    let bytes = build::file(&json!({"root": {
        "execution_plan": [{
            "name": "forward", "container_meta_type": {"encoded_out_str": ""}, "values": values,
            "inputs": [index("in")], "outputs": [index("out")],
            "chains": [{"instructions": instructions}], "operators": operators.collect::<Vec<_>>(),
            "delegates": [{
                "id": "Stub", "processed": {"location": "INLINE", "index": 0}, "compile_specs": []
            }],
            "non_const_buffer_sizes": [0, 1u64 << 33]
        }],
        "constant_segment": {"offsets": [0]}, "backend_delegate_data": [{"data": []}]
    }}).to_string());
    let report = Pte::read(&bytes).unwrap().check();
    let found = report.findings().iter().filter(|finding| finding.rule.severity > Severity::Note);
    let found = found.filter_map(|finding| {
        let path = finding.place().path().to_string();
        let (_, rest) = path.split_once("instructions[")?;
        Some(format!("{} {}", finding.rule.id, rest.split_once(']')?.0))
    });
    found.collect()
}

fn value(text: &str, index: &dyn Fn(&str) -> usize) -> Value {
    let mut words = text.split(' ');
    let kind = words.next().unwrap();
    let rest: Vec<_> = words.collect();
    let items = || rest.iter().map(|name| index(name)).collect::<Vec<_>>();
    let (kind, val) = match kind {
        "Int" => (kind, json!({"int_val": 1})),
        "Double" => (kind, json!({"double_val": 1.5})),
        "Bool" => (kind, json!({"bool_val": true})),
        "Null" => (kind, json!({})),
        "IntList" | "TensorList" | "OptionalTensorList" => (kind, json!({"items": items()})),
        dtype => {
            let sizes = rest.iter().skip(1).map(|size| size.parse().unwrap()).collect::<Vec<i32>>();
            let sizes = if sizes.is_empty() { vec![1] } else { sizes };
            let order: Vec<_> = (0..sizes.len()).collect();
            let mut tensor = json!({"scalar_type": dtype, "sizes": sizes, "dim_order": order});
            match rest.first().map(|place| place.parse::<u64>()) {
                None => {}
                Some(Ok(at)) => {
                    let (low, high) = (at as u32, at >> 32);
                    tensor["allocation_info"] = json!({"memory_id": 1, "memory_offset_low": low, "memory_offset_high": high});
                }
                Some(Err(_)) => {
                    tensor["extra_tensor_info"] =
                        json!({"location": "EXTERNAL", "fully_qualified_name": rest[0]});
                }
            }
            ("Tensor", tensor)
        }
    };
    json!({"val_type": kind, "val": val})
}

/// Instructions, and what they break.
type Row<'r> = (&'r [&'r str], &'r [&'r str]);

#[track_caller]
fn all(rows: &[Row<'_>]) {
    for (lines, expected) in rows {
        assert_eq!(told(lines), *expected, "{lines:#?}");
    }
}

#[test]
fn what_is_freed_is_used_by_whoever_reaches_its_tensor() {
    all(&[
        (&["free a", "aten::add.out b b i c c"], &[]),
        (&["free a", "aten::add.out a b i c c"], &["use-after-free 0"]),
        // What is no tensor is one finding.
        (&["free i", "aten::add.out b b i c c"], &["free-type 0"]),
        // Delegates, jumps and lists use what they are called with.
        (&["free a", "delegate a b"], &["use-after-free 0"]),
        (&["free t", "jump t 2"], &["use-after-free 0"]),
        (&["free a", "aten::cat.out [a,b] i c c"], &["use-after-free 0"]),
        (&["free c", "aten::cat.out [a,b] i out out"], &[]),
        (&["free ix", "aten::index.Tensor_out a <ix> c c"], &["use-after-free 0"]),
        // A result replaces the value, whatever it was.
        (&["free b", "aten::copy_ a c f b"], &[]),
        // One tensor under two indices is gone under both.
        (&["move a b", "aten::add.out b b i c c", "free a"], &["use-after-free 2"]),
        (&["move a b", "aten::add.out a a i c c", "free b"], &["use-after-free 2"]),
        (&["move a b", "aten::add.out c c i out out", "free b"], &[]),
        // It never had a place.
        (&["aten::add.out u b i c c", "free u"], &["storage-missing 0", "use-after-free 1"]),
    ]);
}

#[test]
fn a_view_has_its_data_until_it_is_freed() {
    let view = "executorch_prim::et_view.default a (i) u";
    all(&[
        (&[view, "aten::add.out u b i c c", "free u"], &[]),
        (&[view, "free u", "aten::add.out u b i c c"], &["use-after-free 1"]),
        (&[view, "free u", view, "aten::add.out u b i c c"], &[]),
        (&[view, "free u", "aten::cat.out [u] i c c"], &["use-after-free 1"]),
        // Which way leads there is not known.
        (&[view, "free u", "aten::add.out u b i c c", "jump f 4"], &[]),
    ]);
}

#[test]
fn a_tensor_has_its_place_from_the_instruction_on_that_brings_it() {
    let used = "aten::add.out u b i c c";
    let not = "executorch_prim::sym_not.Scalar f f";
    all(&[
        (&[used], &["storage-missing 0"]),
        (&["move a u", used], &[]),
        (&[used, "move a u"], &["storage-missing 0"]),
        (&[used, "move a u", not, "jump f 0"], &[]),
        (&["move v u", used], &["storage-missing 1", "move-unstored 0"]),
        (&["move v u", used, "move a v", not, "jump f 0"], &[]),
        (&["delegate u a", used], &[]),
        (&["delegate [u] a", used], &[]),
        (&["delegate [a,b] a", used], &["storage-missing 1"]),
        (&["aten::cat.out [u] i c c"], &["storage-missing 0"]),
        (&["aten::cat.out [u] i c c", "move a u"], &["storage-missing 0"]),
        (&["move a u", "aten::cat.out [u] i c c"], &[]),
        (&["aten::index.Tensor_out a <u> c c"], &["storage-missing 0"]),
    ]);
}

#[test]
fn what_is_moved_is_of_the_kind_that_is_asked_for() {
    all(&[
        (&["move i j", "aten::add.out a b j c c"], &[]),
        (&["move i x"], &["move-type-unread 0"]),
        (&["move i x", "executorch_prim::ceil.Scalar x j"], &["move-type 0"]),
        // It is an Int from there on.
        (&["move i x", "move x i"], &["move-type-unread 0"]),
        (&["move i u", "free u"], &["move-type 0"]),
        (&["move i a", "aten::cat.out [a,b] i c c"], &["move-type 0"]),
        (&["move i ix", "aten::index.Tensor_out a <ix> c c"], &["move-type 0"]),
        // An item of an OptionalTensorList may be Null.
        (&["move n ix", "aten::index.Tensor_out a <ix> c c"], &["move-type-unread 0"]),
        // Where it may have been something else, it is asked for as what it is planned for.
        (&["move i x", "move x i", "jump f 3"], &["move-type 0", "move-type 1"]),
    ]);
}

#[test]
fn a_result_is_of_the_kind_of_what_it_is_computed_from() {
    let (neg, ceil) = ("executorch_prim::neg.Scalar", "executorch_prim::ceil.Scalar y j");
    let of =
        |value: &str, result: &str| -> &'static str { format!("{neg} {value} {result}").leak() };
    let (double, int) = (of("x", "y"), of("i", "y"));
    for (lines, expected) in [
        (&[double, ceil][..], &[][..]),
        (&[int, ceil], &["result-type 0"]),
        (&[int, ceil, "jump f 3"], &[]),
        // What it is computed from may be a result too.
        (&[of("i", "x"), double, ceil], &["result-type 1"]),
        (&["executorch_prim::add.Scalar i x y", ceil], &[]),
        // What the other one was is known to nobody.
        (&["my::op i", of("i", "j"), "executorch_prim::floordiv.int j j i"], &[]),
        (&["my::op i", int, ceil], &[]),
        (&[of("x", "j"), "executorch_prim::floordiv.int j j i"], &["result-type 0"]),
    ] {
        assert_eq!(told(lines), expected, "{lines:#?}");
    }
}

#[test]
fn a_constant_is_followed_to_whoever_writes_to_it() {
    let write = "aten::add.out a a i out out";
    all(&[
        (&["move a b", "aten::cat.out [k] i out out"], &[]),
        (&["move k b", write], &[]),
        (&["move k b", "aten::add.out a a i b b"], &["constant-written 0"]),
        // Once written to, it is, whoever reads it besides.
        (
            &["move k c", "aten::add.out a a i c c", "aten::cat.out [c] i b b"],
            &["constant-written 0"],
        ),
        (&["move k u", "move u b", "move b c", "aten::add.out a a i c c"], &["constant-written 0"]),
    ]);
}

#[test]
fn what_is_written_to_shares_no_bytes_with_what_is_read() {
    all(&[
        (&["aten::add.out b c i a a"], &[]),
        (&["aten::add.out a' c i a a"], &["args-overlap 0"]),
        (&["aten::add.out deep c i a a"], &["args-overlap 0"]),
        // Of what can be no tensor nothing is known.
        (&["aten::add.out deeper c i a a"], &[]),
        // Nor where a value is that was replaced.
        (&["move b a'", "aten::add.out a' c i a a"], &[]),
        // What is not read, and what is put there afterwards.
        (&["aten::add.out b c i a a'"], &[]),
        (&["aten::copy_ a c f a'"], &[]),
        // An offset has two halves.
        (&["aten::add.out far c i a a"], &[]),
        (&["aten::add.out far far i big big"], &["args-overlap 0"]),
        // Only the index of a scatter tells where to write.
        (&["aten::scatter_add.out b i ix c a a"], &[]),
        (&["aten::scatter_add.out b i ix' c a a"], &["index-overlap 0"]),
        (&["aten::scatter_add.out b i ix a' a a"], &["args-overlap 0"]),
        (&["aten::where.self_out t b a' a a"], &["args-overlap 0"]),
    ]);
}
