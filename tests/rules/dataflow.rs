//! Dataflow: small programs with moves, frees, views and results, and the instructions that break a rule.

use pte::Check;
use pte::Pte;
use pte::check::Severity;
use serde_json::{Value, json};

use crate::support::build;

mod aliasing;
mod endless;
mod numbers;
mod repeated;

/// Values, by name: Ints (`zero` is 0), Doubles, Bools (`f` is true, `no` is not) and a Null; planned
/// tensors of one float, of Longs and of a Bool; `u` and `v`, without data; `e`, without elements
/// and data; `k`, constant; and lists.
///
/// `a'` and `ix'` are where `a` is, `far` is 4 GB behind it, and `big` reaches that far. `deep` and
/// `deeper` are where `a` is, with 16 and 17 dimensions. `w` has no data; `dyn`, `view` and `wide`, of two floats,
/// are DYNAMIC_BOUND.
const VALUES: &[(&str, &str)] = &[
    ("i", "Int"),
    ("j", "Int"),
    ("zero", "Int 0"),
    ("x", "Double"),
    ("y", "Double"),
    ("f", "Bool"),
    ("g", "Bool"),
    ("no", "Bool no"),
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
    ("e", "FLOAT 112 0"),
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
    (
        "[70]",
        "TensorList b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b \
        b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b a",
    ),
    ("<ix>", "OptionalTensorList ix"),
    ("<u>", "OptionalTensorList u"),
    ("<ix'>", "OptionalTensorList ix'"),
    ("w", "LONG"),
    ("dyn", "FLOAT? 0"),
    ("small", "FLOAT 0"),
    ("view", "FLOAT? - 64"),
    ("[dyn]", "TensorList dyn"),
    ("one", "INT 96"),
    ("shape", "BOOL 80"),
    ("scale", "DOUBLE 128 1"),
    ("scale'", "DOUBLE 0 1"),
    ("point", "LONG 136 1"),
    ("wide", "FLOAT? 160 2"),
    ("[wide]", "TensorList wide"),
];

/// Returns the broken rules of a program, each with the instruction, input or output; Notes are left out.
/// The input is `in` and the output `out`, unless a line names others (`inputs u`, `outputs i`). `chain`
/// begins another chain, whose instructions count from 0.
fn findings(lines: &[&str]) -> Vec<String> {
    let index = |name: &str| {
        VALUES.iter().position(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}"))
    };
    let values: Vec<_> = VALUES.iter().map(|(_, text)| value(text, &index)).collect();
    let mut operators: Vec<&str> = Vec::new();
    let (mut inputs, mut outputs) = (vec![index("in")], vec![index("out")]);
    let (mut chains, mut instructions) = (Vec::new(), Vec::new());
    for line in lines {
        let mut words = line.split(' ');
        let verb = words.next().unwrap();
        let words: Vec<_> = words.collect();
        let args = || words.iter().map(|word| index(word)).collect::<Vec<_>>();
        let (kind, args) = match verb {
            "inputs" => {
                inputs = args();
                continue;
            }
            "outputs" => {
                outputs = args();
                continue;
            }
            "move" => {
                ("MoveCall", json!({"move_from": index(words[0]), "move_to": index(words[1])}))
            }
            "free" => ("FreeCall", json!({"value_index": index(words[0])})),
            "chain" => {
                chains.push(json!({"instructions": std::mem::take(&mut instructions)}));
                continue;
            }
            "jump" => {
                let to: i32 = words[1].parse().unwrap();
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
    chains.push(json!({"instructions": instructions}));
    let operators = operators.iter().map(|operator| {
        let (name, overload) = operator.split_once('.').unwrap_or((operator, ""));
        json!({"name": name, "overload": overload})
    });
    let bytes = build::file(&json!({"root": {
        "execution_plan": [{
            "name": "forward", "container_meta_type": {"encoded_out_str": ""}, "values": values,
            "inputs": inputs, "outputs": outputs,
            "chains": chains, "operators": operators.collect::<Vec<_>>(),
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
        let place = match path.split_once("instructions[") {
            Some((_, rest)) => rest.split_once(']')?.0,
            None => path.rsplit('.').next().filter(|end| end.contains("puts["))?,
        };
        Some(format!("{} {place}", finding.rule.id))
    });
    found.collect()
}

fn value(text: &str, index: &dyn Fn(&str) -> usize) -> Value {
    let mut words = text.split(' ');
    let kind = words.next().unwrap();
    let rest: Vec<_> = words.collect();
    let items = || rest.iter().map(|name| index(name)).collect::<Vec<_>>();
    let (kind, val) = match kind {
        "Int" => (kind, json!({"int_val": u8::from(rest.is_empty())})),
        "Double" => (kind, json!({"double_val": 1.5})),
        "Bool" => (kind, json!({"bool_val": rest.is_empty()})),
        "Null" => (kind, json!({})),
        "IntList" | "TensorList" | "OptionalTensorList" => (kind, json!({"items": items()})),
        dtype => {
            let sizes = rest.iter().skip(1).map(|size| size.parse().unwrap()).collect::<Vec<i32>>();
            let sizes = if sizes.is_empty() { vec![1] } else { sizes };
            let order: Vec<_> = (0..sizes.len()).collect();
            let (dtype, is_dynamic) = match dtype.strip_suffix('?') {
                Some(dtype) => (dtype, true),
                None => (dtype, false),
            };
            let mut tensor = json!({"scalar_type": dtype, "sizes": sizes, "dim_order": order});
            if is_dynamic {
                tensor["shape_dynamism"] = json!("DYNAMIC_BOUND");
            }
            match rest.first().map(|place| place.parse::<u64>()) {
                None => {}
                Some(Ok(at)) => {
                    let (low, high) = (at as u32, at >> 32);
                    tensor["allocation_info"] = json!({"memory_id": 1, "memory_offset_low": low, "memory_offset_high": high});
                }
                Some(Err(_)) if rest[0] == "-" => {}
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

/// Instructions, and the rules that they break.
type Row<'r> = (&'r [&'r str], &'r [&'r str]);

#[track_caller]
fn all(rows: &[Row<'_>]) {
    let wrong = rows.iter().filter_map(|(lines, expected)| {
        let found = findings(lines);
        (found != *expected).then(|| format!("{lines:?}\n  found {found:?}\n  not   {expected:?}"))
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Instructions that use `u`, and a call after which `g` is unknown.
const USED: &str = "aten::add.out u b i c c";
const COMPARE: &str = "aten::_local_scalar_dense t g";
/// A call after which `g` is false.
const LESS: &str = "executorch_prim::lt.Scalar i j g";
const VIEW: &str = "executorch_prim::et_view.default a (i) u";

#[test]
fn a_freed_tensor_is_not_used_at_any_index() {
    all(&[
        (&["free a", "aten::add.out b b i c c"], &[]),
        (&["free a", "aten::add.out a b i c c"], &["use-after-free 1"]),
        // In the second run, the tensor has no memory again.
        (&["aten::add.out a b i c c", "free a"], &["use-after-free 0"]),
        // To free another kind of value is one finding.
        (&["free i", "aten::add.out b b i c c"], &["free-type 0"]),
        // Delegates, jumps, lists and outputs use their tensors.
        (&["free a", "delegate a b"], &["use-after-free 1"]),
        (&["free t", "jump t 2"], &["use-after-free 1"]),
        (&["free a", "aten::cat.out [a,b] i c c"], &["use-after-free 1"]),
        (&["free c", "aten::cat.out [a,b] i out out"], &[]),
        (&["free ix", "aten::index.Tensor_out a <ix> c c"], &["use-after-free 1"]),
        (&["free a", "my::op a b"], &["use-after-free 1"]),
        (&["free out"], &["use-after-free outputs[0]"]),
        // A tensor without elements has no memory to lose.
        (&["free e", "aten::add.out e e i c c"], &[]),
        // Only the tensor's shape is read, or nothing at all.
        (&["free a", "aten::sym_size.int a zero j"], &[]),
        (&["free a", "aten::full_like.out a i n c c"], &[]),
        (&["free a", "aten::add.out b b i c a"], &[]),
        // A delegate may give it memory again.
        (&["free a", "delegate b", "aten::add.out a b i c c"], &["use-after-free 2"]),
        (&["free a", "delegate a", "aten::add.out a b i c c"], &["use-after-free 1"]),
        // All items of a long list are judged at its first use.
        (&["free a", "aten::cat.out [70] i c c"], &["use-after-free 1"]),
        (&["aten::cat.out [70] i c c", "free a"], &["use-after-free 0"]),
    ]);
}

#[test]
fn a_tensor_with_two_indices_is_freed_at_both() {
    all(&[
        (&["move a b", "free a", "aten::add.out b b i c c"], &["use-after-free 2"]),
        (&["move a b", "free b", "aten::add.out a a i c c"], &["use-after-free 2"]),
        (&["move a b", "free b", "aten::add.out a' a' i c c"], &[]),
        // The other of the two keeps its memory, also in the second run.
        (&["move a b", "aten::add.out c c i out out", "free b"], &[]),
        (&["free b", "aten::add.out a a i c c", "move a b"], &["use-after-free 1"]),
        // The tensor is used in the second run.
        (&["move a b", "aten::add.out b b i c c", "free a"], &["use-after-free 1"]),
        // The result of an operator that works in place is its first argument.
        (&["aten::copy_ b c f a", "free a", "aten::add.out b c i c c"], &["use-after-free 2"]),
        // The tensor is in a list, is an output, or comes from the caller.
        (&["inputs u", "move u a", "free u", "aten::cat.out [a,b] i c c"], &["use-after-free 2"]),
        (&["inputs u", "move u out", "free u"], &["use-after-free outputs[0]"]),
        (&["inputs u", "move u a", "free u", "aten::add.out a a i c c"], &["use-after-free 2"]),
    ]);
}

#[test]
fn inputs_get_new_memory_before_each_run() {
    all(&[
        // Inputs are copied to planned memory.
        (&["free in"], &["use-after-free inputs[0]"]),
        // The caller gives no memory for a number, even if a tensor is there now.
        (
            &["inputs i", "aten::add.out a b j c c", "move a i", "free a"],
            &["move-type-unread 1", "move-type inputs[0]", "use-after-free 0"],
        ),
        (&["inputs u", USED, "free u"], &[]),
        (&["inputs u", "free u", USED], &["use-after-free 1"]),
        (&["outputs u", "free u", USED, VIEW], &["use-after-free 1"]),
        (&["outputs u", "aten::add.out a b i u u"], &[]),
        (&["inputs u", "jump f 1", "free u", USED], &["use-after-free 2"]),
    ]);
}

#[test]
fn a_view_has_its_data_until_it_is_freed() {
    let own = "executorch_prim::et_view.default a (i) a";
    let planned = "executorch_prim::et_view.default a (i) b";
    all(&[
        (&[VIEW, USED, "free u"], &[]),
        (&[VIEW, "free u", USED], &["use-after-free 2"]),
        (&[VIEW, "free u", VIEW, USED], &[]),
        (&[VIEW, "free u", USED, VIEW], &["use-after-free 2"]),
        (&[VIEW, "free u", "aten::cat.out [u] i c c"], &["use-after-free 2"]),
        (&[VIEW, "move u b", "free u", "aten::add.out b b i c c"], &["use-after-free 3"]),
        (&["aten::add.out b b i c c", VIEW, "move u b", "free u"], &["use-after-free 0"]),
        // The base may go where the view stays, or is not used.
        (&[VIEW, "free a"], &[]),
        (&["free a", own, "aten::add.out a b i c c"], &["use-after-free 2"]),
        (&["aten::add.out c c i b b", planned, "free b"], &["use-after-free 0"]),
        (&[planned, "aten::add.out b b i c c", "free b"], &[]),
    ]);
}

#[test]
fn a_tensor_without_memory_may_get_it_from_an_instruction() {
    all(&[
        (&[USED], &["storage-missing 0"]),
        (&["move a u", USED], &[]),
        (&[VIEW, USED], &[]),
        (&[USED, "move a u"], &["storage-missing 0"]),
        (&[USED, VIEW], &["storage-missing 0"]),
        (&["move v u", USED], &["move-unstored 1"]),
        (&["move v u"], &[]),
        (&["move v out"], &["move-unstored outputs[0]"]),
        (&["executorch_prim::et_view.default v (i) u", USED], &["storage-missing 1"]),
        // The tensor has no memory in the first run only. In the second run it has.
        (&["move v u", USED, "move a v"], &["move-unstored 1"]),
        // Only the tensor's shape is read, or the tensor is an argument of an in-place operator.
        (&["aten::sym_size.int u zero j"], &[]),
        (&["aten::copy_ a b f u"], &[]),
        (&["aten::copy_ a b f u", USED], &[]),
        (&["aten::copy_ u b f c"], &["storage-missing 0"]),
        // A delegate may give it memory.
        (&["delegate u a", USED], &[]),
        (&[USED, "delegate u a"], &["storage-missing 0"]),
        (&["delegate [u] a", USED], &[]),
        (&["delegate [a,b] a", USED], &["storage-missing 1"]),
        (&["aten::cat.out [u] i c c"], &["storage-missing 0"]),
        (&["aten::cat.out [u] i c c", "move a u"], &["storage-missing 0"]),
        (&["move a u", "aten::cat.out [u] i c c"], &[]),
        (&["aten::index.Tensor_out a <u> c c"], &["storage-missing 0"]),
        // The last argument of an unknown operator may be the result.
        (&["my::op u a"], &["storage-missing 0"]),
        (&["my::op [u] a"], &["storage-missing 0"]),
        (&["my::op a u"], &[]),
    ]);
}

#[test]
fn a_moved_value_is_of_the_kind_that_is_used() {
    let ceil = "executorch_prim::ceil.Scalar x j";
    all(&[
        (&["move i j", "aten::add.out a b j c c"], &[]),
        (&["move i x"], &["move-type-unread 0"]),
        (&["move i x", ceil], &["move-type-unread 0", "move-type 1"]),
        (&[ceil, "move i x"], &["move-type-unread 1", "move-type 0"]),
        (&["move i x", "move y x", ceil], &["move-type-unread 0"]),
        // The value is an Int from there on.
        (&["move i x", "move x i"], &["move-type-unread 0"]),
        (&["move i u", "free u"], &["move-type-unread 0", "move-type 1"]),
        (&["move i a", "aten::cat.out [a,b] i c c"], &["move-type-unread 0", "move-type 1"]),
        (
            &["move i ix", "aten::index.Tensor_out a <ix> c c"],
            &["move-type-unread 0", "move-type 1"],
        ),
        (&["move x i", VIEW], &["move-type-unread 0", "move-type 1"]),
        // An item of an OptionalTensorList may be Null.
        (&["move n ix", "aten::index.Tensor_out a <ix> c c"], &["move-type-unread 0"]),
        // Jumps and frees use the current values.
        (&["move f i", "jump i 2"], &["move-type-unread 0"]),
        (&["move i f", "jump f 2"], &["move-type-unread 0", "move-type 1"]),
        (&["move a t", "jump t 2"], &["move-type 1"]),
        (&["move a i", "free i"], &["move-type-unread 0"]),
        // In the second run, inputs and the memory of unplanned outputs are set again.
        (&["move i in"], &["move-type-unread 0", "move-type inputs[0]"]),
        (&["move i out"], &["move-type-unread 0"]),
        (&["outputs u", "move i u"], &["move-type-unread 0", "move-type outputs[0]"]),
        (&["outputs n", "move a n"], &["move-type-unread 0"]),
    ]);
}

#[test]
fn a_call_is_judged_by_its_current_values() {
    let divide = "executorch_prim::floordiv.int i j i";
    all(&[
        (&[divide], &[]),
        (&["move zero j", divide], &["kernel-number 1"]),
        (&[divide, "move zero j"], &["kernel-number 0"]),
        (&["move zero j", "move i j", divide], &[]),
        // A result is known if its operands are: here i - i.
        (&["executorch_prim::sub.Scalar i i j", divide], &["kernel-number 1"]),
        (&["executorch_prim::add.Scalar i i j", "executorch_prim::floordiv.int i j y"], &[]),
        // The same for dtypes.
        (&["aten::embedding.out a ix i f f c c", "move b ix"], &["kernel-dtype 0"]),
        (&["aten::embedding.out a b i f f c c", "move ix b"], &["kernel-dtype 0"]),
        (&["move ix b", "aten::embedding.out a b i f f c c"], &[]),
    ]);
}

#[test]
fn a_result_has_the_kind_of_its_operands() {
    let (neg, ceil) = ("executorch_prim::neg.Scalar", "executorch_prim::ceil.Scalar y j");
    let of =
        |value: &str, result: &str| -> &'static str { format!("{neg} {value} {result}").leak() };
    let (double, int) = (of("x", "y"), of("i", "y"));
    for (lines, expected) in [
        (&[double, ceil][..], &[][..]),
        (&[int, ceil], &["result-type 1"]),
        // A forward jump affects only the instructions that it skips.
        (&[int, ceil, "jump f 3"], &["result-type 1"]),
        (&[int, "jump g 2", ceil], &["result-type 2"]),
        (&[COMPARE, "jump g 3", int, ceil], &["result-type 3"]),
        // The operands of a result may be results too.
        (&[of("i", "x"), double, ceil], &["result-type 2"]),
        (&["executorch_prim::add.Scalar i x y", ceil], &[]),
        // The kind of the other value is not known.
        (&["my::op i", of("i", "j"), "executorch_prim::floordiv.int j j i"], &[]),
        (&["my::op i", int, ceil], &[]),
        (&[of("x", "j"), "executorch_prim::floordiv.int j j i"], &["result-type 1"]),
        // In the second run it is computed from another value.
        (&[double, ceil, "move i x"], &["move-type-unread 2", "result-type 1"]),
        // An output is of any kind.
        (&["outputs i", COMPARE, "executorch_prim::lt.Scalar i j i"], &[]),
    ] {
        assert_eq!(findings(lines), expected, "{lines:#?}");
    }
}

#[test]
fn a_constant_is_not_written_at_any_index() {
    let write = "aten::add.out a a i out out";
    let view = "executorch_prim::et_view.default k (i) u";
    all(&[
        (&["move a b", "aten::cat.out [k] i out out"], &[]),
        (&["move k b", write], &[]),
        (&["move k b", "aten::add.out a a i b b"], &["constant-written 1"]),
        (&["aten::add.out a a i b b", "move k b"], &["constant-written 0"]),
        (&["aten::copy_ k a f b"], &["constant-written 0"]),
        // A write is one, even if others read it.
        (
            &["move k c", "aten::add.out a a i c c", "aten::cat.out [c] i b b"],
            &["constant-written 1"],
        ),
        (&["move k u", "move u b", "move b c", "aten::add.out a a i c c"], &["constant-written 3"]),
        (&[view, "aten::add.out a a i u u"], &["constant-written 1"]),
        (&["aten::unbind_copy.int_out a i [k] [k]"], &["constant-written 0"]),
        // The next inputs are copied there.
        (&["move k in"], &["constant-written inputs[0]"]),
        (&[view, "move u in"], &["constant-written inputs[0]"]),
        (&["move k a", "move a in"], &["constant-written inputs[0]"]),
        (&["executorch_prim::et_view.default k (i) in"], &["constant-written inputs[0]"]),
        (&["inputs u", "move k u"], &[]),
    ]);
}

#[test]
fn at_a_join_point_a_value_is_joined() {
    all(&[
        // A condition that is known from the file decides the path.
        (&["jump no 2", USED, "aten::add.out a b i c c"], &[]),
        (&["jump f 2", USED], &["storage-missing 1"]),
        (&["jump f 2", "free a", "aten::add.out a b i c c"], &["use-after-free 2"]),
        (
            &["jump f 2", "free a", "aten::add.out a b i c c", COMPARE, "jump g 3"],
            &["use-after-free 2"],
        ),
        // A jump to itself is never passed.
        (&["jump no 0", USED], &["jump-to-itself 0", "loop-forever 0"]),
        (&["free a", "jump no 3", "move b a", "aten::add.out a b i c c"], &["use-after-free 3"]),
        (&["jump no 9", USED], &["jump-destination 0"]),
        (&["jump no -1", USED], &["jump-destination 0"]),
        // One of two paths is enough.
        (&[COMPARE, "jump g 3", "free a", "aten::add.out a a i c c"], &["use-after-free 3"]),
        (&[COMPARE, "jump g 3", VIEW, USED], &["storage-missing 3"]),
        (
            &[COMPARE, "jump g 4", "free a", "jump no 5", "free b", "aten::add.out a a i c c"],
            &["use-after-free 5"],
        ),
        // The first two jumps meet before the target of the second.
        (
            &[COMPARE, "jump g 4", "move b a", "jump g 6", VIEW, "aten::add.out b b i c c", USED],
            &["storage-missing 6"],
        ),
        // No path has both.
        (&[COMPARE, "jump g 4", VIEW, USED, "free c"], &["use-after-free 3"]),
        (&[VIEW, COMPARE, "jump g 5", "free u", "jump no 6", USED], &[]),
        (&[LESS, "jump g 3", "free a", "aten::add.out a a i c c"], &[]),
        (&[COMPARE, "jump g 3", "move k b", "aten::add.out a a i b b"], &["constant-written 3"]),
        (&[LESS, "jump g 3", "move k b", "aten::add.out a a i b b"], &[]),
        // Both paths contain it.
        (
            &[COMPARE, "jump g 4", "free a", "jump no 5", "free a", "aten::add.out a a i c c"],
            &["use-after-free 5"],
        ),
        (&[COMPARE, "free a", "jump g 3", "aten::add.out a a i c c"], &["use-after-free 3"]),
        (
            &[COMPARE, "jump g 3", "free b", "free a", "aten::add.out a b i c c"],
            &["use-after-free 4"],
        ),
        // Forward jumps that cross each other: `a` is `b` or `k`, so the write may be to either. That both jumps have
        // the same condition does not matter.
        (
            &[
                COMPARE,
                "jump g 5",
                "move k a",
                "jump g 6",
                "move b a",
                "free c",
                "aten::add.out out out i a a",
            ],
            &["constant-written 6"],
        ),
        (
            &[COMPARE, "jump g 5", "move k a", "jump g 5", "move k b", "aten::add.out c c i a a"],
            &["constant-written 5"],
        ),
        (
            &["move k a", COMPARE, "jump g 4", "move k a", "aten::add.out c c i a a"],
            &["constant-written 4"],
        ),
        // One of two tensors is freed: `c` or `b`.
        (
            &[COMPARE, "jump g 3", "move b a", "free a", "free c", "aten::add.out c c i out out"],
            &["use-after-free 5"],
        ),
        (
            &[COMPARE, "jump g 3", "move b a", "free a", "aten::add.out b b i out out"],
            &["use-after-free 4"],
        ),
        (&[COMPARE, "jump g 3", "move b a", "free a", "aten::add.out c c i out out"], &[]),
        // An output that is one of two tensors, of which one is freed.
        (
            &["free c", COMPARE, "jump g 5", "move b out", "jump no 6", "move c out"],
            &["use-after-free outputs[0]"],
        ),
    ]);
}

/// If a value is wrong by a move on one path and by a result on another, the move is reported.
#[test]
fn a_move_on_one_path_is_reported_after_the_join() {
    let (computed, used) = ("executorch_prim::add.Scalar i i j", "aten::add.out j b i c c");
    all(&[
        (
            &[COMPARE, "move x j", "jump g 4", computed, used],
            &["move-type-unread 1", "move-type 4"],
        ),
        (&[COMPARE, "jump g 3", computed, used], &["result-type 3"]),
    ]);
}

#[test]
fn values_that_a_loop_modifies_are_unknown_after_it() {
    all(&[
        // The first iteration always runs.
        (&[USED, VIEW, COMPARE, "jump g 0"], &["storage-missing 0"]),
        (&["free a", "aten::add.out a b i c c", COMPARE, "jump g 0"], &["use-after-free 1"]),
        (&[VIEW, USED, COMPARE, "jump g 0"], &[]),
        (
            &[COMPARE, "move b a", "move k b", "jump g 0", "aten::add.out c c i a a"],
            &["constant-written 4"],
        ),
        (&["move k a", COMPARE, "jump g 1", "aten::add.out c c i a a"], &["constant-written 3"]),
        // A condition that is true in the file leads on.
        (
            &["free a", "jump f 0", "aten::add.out a b i c c"],
            &["loop-endless 1", "use-after-free 2"],
        ),
        // The effects of every iteration are known after the loop.
        (&[COMPARE, "free a", "jump g 0", "aten::add.out a b i c c"], &["use-after-free 3"]),
        // After a jump that is always taken, only other jumps lead to the next instructions.
        (&["jump no 3", USED, "jump no 5", VIEW, "jump no 1", USED], &[]),
        // Nested loops, and loops in sequence.
        (
            &[COMPARE, "free a", "jump g 1", "jump g 0", COMPARE, "free b", "jump g 4", USED],
            &["loop-endless 2", "storage-missing 7"],
        ),
        // `a` is the constant after the first iteration only.
        (
            &[
                "move k b",
                COMPARE,
                "move b a",
                "move c b",
                "jump g 1",
                COMPARE,
                "jump g 5",
                "aten::add.out out out i a a",
            ],
            &["constant-written 7"],
        ),
    ]);
}

/// In the first iteration, these jumps are not taken or not reached.
#[test]
fn a_loop_may_be_left_in_a_later_iteration() {
    let used = "aten::add.out c c i out out";
    all(&[
        (&["jump f 5", "move no f", LESS, "jump g 0", "free c", used], &[]),
        (&["jump f 5", "move no f", COMPARE, "jump g 0", "free c", used], &["use-after-free 5"]),
        (&[COMPARE, "jump f 6", "move no f", LESS, "jump g 0", "free c", used], &[]),
        (
            &["jump no 4", COMPARE, "jump g 7", COMPARE, COMPARE, "jump g 1", "free c", used],
            &["use-after-free 7"],
        ),
        (&["jump no 4", COMPARE, "jump g 7", COMPARE, LESS, "jump g 1", "free c", used], &[]),
        // Without a backward jump, instructions are judged as they are.
        (&["jump f 5", "move no f", COMPARE, COMPARE, "free c", used], &["use-after-free 5"]),
        // The instruction comes after a jump that is always taken, and before a jump back to it.
        (
            &["jump no 2", "move x n", "aten::add.out a b n c c", COMPARE, "jump g 1"],
            &["args-type 2", "move-type-unread 1"],
        ),
        // The instruction comes after a jump that is always taken, and is reached by a jump back.
        (&["jump no 3", "aten::add.out a b n c", "jump no 4", "jump no 1"], &["args-count 1"]),
        (
            &["jump no 3", COMPARE, "jump no 4", "jump no 1", "aten::add.out a b n c"],
            &["args-count 4"],
        ),
        (&["jump no 4", "jump no 3", "aten::add.out a b n c", "jump no 5", "jump no 1"], &[]),
        // No path leads there before a backward jump.
        (&["jump no 3", "jump g 4", COMPARE, "jump no 6", USED, "jump g 1"], &[]),
        (&[COMPARE, "jump g 4", "jump f 4", "jump no 6", USED, "jump g 0"], &["storage-missing 4"]),
    ]);
}

/// Several jumps to one instruction, in any order: one that is taken first is enough.
#[test]
fn any_of_several_jumps_may_be_taken_first() {
    let rest = ["jump no 7", USED, VIEW, "jump g 0"];
    for [one, other] in [["jump f 4", "jump g 4"], ["jump g 4", "jump f 4"]] {
        assert_eq!(findings(&[&[COMPARE, one, other][..], &rest].concat()), ["storage-missing 4"]);
    }
    assert!(findings(&[&[COMPARE, "jump f 4", "jump f 4"][..], &rest].concat()).is_empty());
}

/// The rule holds without a known operator, without calls, and with memory for each tensor at
/// first.
#[test]
fn delegates_do_not_use_freed_tensors() {
    let tensor = json!({"val_type": "Tensor", "val": {
        "scalar_type": "FLOAT", "sizes": [1], "dim_order": [0], "allocation_info": {"memory_id": 1}
    }});
    let other = json!({"val_type": "Int", "val": {}});
    let judged = |operators: Value, last: Value| {
        let free = json!({"instr_args_type": "FreeCall", "instr_args": {"value_index": 0}});
        let bytes = build::file(
            &json!({"root": {
                "execution_plan": [{
                    "name": "forward", "container_meta_type": {"encoded_out_str": ""},
                    "values": [tensor, other], "inputs": [], "outputs": [],
                    "chains": [{"instructions": [free, last]}], "operators": operators,
                    "delegates": [{
                        "id": "Stub", "processed": {"location": "INLINE", "index": 0},
                        "compile_specs": []
                    }],
                    "non_const_buffer_sizes": [0, 16]
                }],
                "constant_segment": {"offsets": [0]}, "backend_delegate_data": [{"data": []}]
            }})
            .to_string(),
        );
        let report = Pte::read(&bytes).unwrap().check();
        let found = report.findings().iter().map(|finding| finding.rule);
        found
            .filter(|rule| rule.severity == Severity::Error)
            .map(|rule| rule.id)
            .collect::<Vec<_>>()
    };
    let call = |kind: &str, args: Value| json!({"instr_args_type": kind, "instr_args": args});
    let delegate = call("DelegateCall", json!({"delegate_index": 0, "args": [0]}));
    assert_eq!(judged(json!([]), delegate), ["use-after-free"]);
    let unknown = call("KernelCall", json!({"op_index": 0, "args": [0, 1]}));
    assert_eq!(judged(json!([{"name": "my::op", "overload": ""}]), unknown), ["use-after-free"]);
}
