//! Files that attack the rules on tables, segments and data files.

use super::{
    Made, RuleFamily, call, chains, delegate_call, entries, entry, external, one_plan, operator,
    program, root, segments, strides, with_constants, with_delegates,
};
use crate::tables::{Builder, Field, number};
use Field::{Number, To};

/// The families that attack the rules: the name, the subjects and the maker of each.
pub(super) const FAMILIES: &[RuleFamily] = &[
    ("n tensors across each other, in a list that n calls and moves use", &[], |mut b, n| {
        let tensors = (0..n).map(|nth| {
            let place = b.table(
                "AllocationDetails",
                &[("memory_id", Number(1)), ("memory_offset_low", number(nth * 7919 % n))],
            );
            let sizes = b.numbers([16]);
            let fields = [("sizes", To(sizes)), ("allocation_info", To(place))];
            b.held("EValue", "Tensor", &fields)
        });
        let mut values: Vec<_> = tensors.collect();
        let all = b.numbers(0..n);
        values.push(b.held("EValue", "TensorList", &[("items", To(all))]));
        let call = call(&mut b, 0, [n, n]);
        let mut instructions = vec![call; n];
        for nth in 0..n {
            let fields = [("move_from", number(nth)), ("move_to", number((nth * 31 + 1) % n))];
            instructions.push(b.held("Instruction", "MoveCall", &fields));
            let args = b.numbers([nth, n - nth - 1]);
            instructions.push(b.held("Instruction", "DelegateCall", &[("args", To(args))]));
        }
        instructions.push(b.held("Instruction", "JumpFalseCall", &[]));
        let sizes = b.longs([0, 1 << 20]);
        one_plan(b, &[("non_const_buffer_sizes", sizes)], values, instructions)
    }),
    ("one plan, n times", &["plans"], |mut b, n| {
        let name = b.text("forward");
        let plan = b.lists("ExecutionPlan", &[("name", name)]);
        program(b, vec![plan; n])
    }),
    ("64 inputs that n / 16 plans share", &["plans"], |mut b, n| {
        let value = b.held("EValue", "Tensor", &[]);
        let (values, inputs) = (b.tables([value]), b.numbers([0; 64]));
        let fields = [("values", To(values)), ("inputs", To(inputs))];
        let plans = b.each(0..n / 16, |b, _| b.table("ExecutionPlan", &fields));
        program(b, plans)
    }),
    ("one value is n inputs and n outputs", &["plans"], |mut b, n| {
        let ends = b.numbers(vec![0; n]);
        let value = b.held("EValue", "IntList", &[]);
        one_plan(b, &[("inputs", ends), ("outputs", ends)], vec![value], vec![])
    }),
    ("one empty value, n times", &["values"], |mut b, n| {
        let value = b.table("EValue", &[]);
        one_plan(b, &[], vec![value; n], vec![])
    }),
    ("one list without items, n times", &["values"], |mut b, n| {
        let list = b.held("EValue", "IntList", &[]);
        one_plan(b, &[], vec![list; n], vec![])
    }),
    ("one String of length n, 4 times", &[], |mut b, n| {
        let text = b.text(&"\0".repeat(n));
        let value = b.held("EValue", "String", &[("string_val", To(text))]);
        one_plan(b, &[], vec![value; 4], vec![])
    }),
    ("one method with a name of length n, n tensors", &["tensors"], |mut b, n| {
        let (name, tensor) = (b.text(&"\u{1b}".repeat(n)), b.held("EValue", "Tensor", &[]));
        one_plan(b, &[("name", name)], vec![tensor; n], vec![])
    }),
    ("n values, n chains of one jump to itself", &["calls", "values"], |mut b, n| {
        let (value, jump) = (b.table("EValue", &[]), b.held("Instruction", "JumpFalseCall", &[]));
        chains(b, vec![value; n], &[jump], n)
    }),
    ("n values, n chains of one jump back", &["calls", "values"], |mut b, n| {
        let value = b.table("EValue", &[]);
        let jump = b.held("Instruction", "JumpFalseCall", &[]);
        chains(b, vec![value; n], &[jump, jump], n)
    }),
    ("n jumps back across each other", &[], |mut b, n| {
        let value = b.held("EValue", "Bool", &[]);
        let jumps = b.each(0..n, |b, nth| {
            b.held(
                "Instruction",
                "JumpFalseCall",
                &[("destination_instruction", number((nth * 7919) % (nth + 1)))],
            )
        });
        one_plan(b, &[], vec![value], jumps)
    }),
    ("n moves, n frees and n delegate calls", &["calls"], |mut b, n| {
        let value = b.held("EValue", "IntList", &[]);
        let calls =
            ["MoveCall", "FreeCall", "DelegateCall"].map(|call| b.held("Instruction", call, &[]));
        let calls = calls.into_iter().cycle().take(3 * n).collect();
        one_plan(b, &[], vec![value], calls)
    }),
    ("n tensors in three lists, each of which is listed n / 64 times", &["values"], |mut b, n| {
        let tensor = b.held("EValue", "Tensor", &[]);
        let (items, longs) = (b.numbers(0..64), b.longs(0..64));
        let lists = [("IntList", longs), ("TensorList", items), ("OptionalTensorList", items)];
        let lists = lists.map(|(list, items)| b.held("EValue", list, &[("items", To(items))]));
        let all = b.numbers(0..n);
        let mut values = vec![b.held("EValue", "TensorList", &[("items", To(all))])];
        values.extend(vec![tensor; n]);
        values.extend(lists.iter().cycle().take(n / 64));
        one_plan(b, &[], values, vec![])
    }),
    ("one tensor wrong in every way, n times", &["tensors", "memory", "resolve"], |mut b, n| {
        let place = b.table("AllocationDetails", &[("memory_id", Number(9))]);
        let (sizes, order) = (b.numbers(0..17), b.bytes(&[1; 17]));
        let fields = [
            ("sizes", To(sizes)),
            ("dim_order", To(order)),
            ("data_buffer_idx", Number(7)),
            ("layout", Number(7)),
            ("storage_offset", Number(7)),
            ("shape_dynamism", Number(7)),
        ];
        let unplanned = b.held("EValue", "Tensor", &fields);
        let planned =
            b.held("EValue", "Tensor", &[&fields[..], &[("allocation_info", To(place))]].concat());
        one_plan(b, &[], [vec![unplanned; n], vec![planned; n]].concat(), vec![])
    }),
    ("one tensor of n dimensions", &[], |mut b, n| {
        let (sizes, order) = (b.numbers(vec![1; n]), b.bytes(&vec![3; n]));
        let fields = [("sizes", To(sizes)), ("dim_order", To(order))];
        let tensor = b.held("EValue", "Tensor", &fields);
        one_plan(b, &[], vec![tensor], vec![])
    }),
    ("n arenas, n of a device, n tensors past one", &["memory"], |mut b, n| {
        let sizes = b.longs(vec![1; n]);
        let devices = b.each(0..n, |b, nth| {
            b.table("NonConstBufferDevice", &[("buffer_idx", number(nth + n / 2))])
        });
        let devices = b.tables(devices.iter().copied().chain(devices.iter().copied()));
        let place = b.table("AllocationDetails", &[("memory_id", Number(1))]);
        let (eight, order) = (b.numbers([8]), b.bytes(&[0]));
        let fields =
            [("sizes", To(eight)), ("dim_order", To(order)), ("allocation_info", To(place))];
        let tensor = b.held("EValue", "Tensor", &fields);
        let lists = [("non_const_buffer_sizes", sizes), ("non_const_buffer_device", devices)];
        one_plan(b, &lists, vec![tensor; n], vec![])
    }),
    ("n arenas of 1 GiB, n tensors in each place, all inputs", &[], |mut b, n| {
        let sizes = b.longs(vec![1 << 30; n]);
        let (eight, order) = (b.numbers([8]), b.bytes(&[0]));
        let tensors = b.each(0..n, |b, nth| {
            let place = b.table("AllocationDetails", &[("memory_id", number(nth))]);
            let fields =
                [("sizes", To(eight)), ("dim_order", To(order)), ("allocation_info", To(place))];
            b.held("EValue", "Tensor", &fields)
        });
        let ends = b.numbers(0..n);
        let lists = [("non_const_buffer_sizes", sizes), ("inputs", ends), ("outputs", ends)];
        one_plan(b, &lists, tensors, vec![])
    }),
    ("n constants over each other, n tensors", &["container"], |mut b, n| {
        let (sizes, order) = (b.numbers([n]), b.bytes(&[0]));
        let tensors = b.each(1..n, |b, nth| {
            let fields =
                [("sizes", To(sizes)), ("dim_order", To(order)), ("data_buffer_idx", number(nth))];
            b.held("EValue", "Tensor", &fields)
        });
        let values = b.tables(tensors);
        let plan = b.lists("ExecutionPlan", &[("values", values)]);
        with_constants(b, plan, 0..n, &vec![0; 2 * n])
    }),
    ("n constants of NaN, n calls that measure their range", &["constants"], |mut b, n| {
        let (name, overload) =
            (b.text("quantized_decomposed::choose_qparams"), b.text("Tensor_out"));
        let operator = b.lists("Operator", &[("name", name), ("overload", overload)]);
        let operators = b.tables([operator]);
        let (sizes, order) = (b.numbers([1]), b.bytes(&[0]));
        let place = b.table("AllocationDetails", &[("memory_id", Number(1))]);
        let tensor = |b: &mut Builder, dtype, data| {
            let shape = [("sizes", To(sizes)), ("dim_order", To(order))];
            let fields = [shape, [("scalar_type", Number(dtype)), data]].concat();
            b.held("EValue", "Tensor", &fields)
        };
        let mut values = vec![
            b.held("EValue", "Int", &[]),
            b.held("EValue", "Int", &[("int_val", Number(255))]),
            b.held("EValue", "Double", &[]),
        ];
        values.extend([7, 4].map(|dtype| tensor(&mut b, dtype, ("allocation_info", To(place)))));
        values.extend((0..n).map(|nth| tensor(&mut b, 6, ("data_buffer_idx", number(nth + 1)))));
        let calls = b.each(0..n, |b, nth| {
            let args = b.numbers([nth + 5, 0, 1, 2, 0, 3, 4, 4]);
            b.held("Instruction", "KernelCall", &[("args", To(args))])
        });
        let instructions = b.tables(calls);
        let chain = b.lists("Chain", &[("instructions", instructions)]);
        let (values, chains) = (b.tables(values), b.tables([chain]));
        let fields = [("values", To(values)), ("chains", To(chains)), ("operators", To(operators))];
        let plan = b.table("ExecutionPlan", &fields);
        with_constants(b, plan, (0..=n).map(|nth| 4 * nth), &vec![0xff; 4 * n + 4])
    }),
    ("n known operators, called n times as they must not be", &["kernels"], |mut b, n| {
        let operators = operator(&mut b, "aten::add", n);
        let value = b.held("EValue", "Int", &[]);
        let args = b.numbers([0; 5]);
        let call = b.held("Instruction", "KernelCall", &[("args", To(args))]);
        one_plan(b, &[("operators", operators)], vec![value; n], vec![call; n])
    }),
    ("one operator with a name of length n, called n times", &["calls"], |mut b, n| {
        let operators = operator(&mut b, &"\u{1b}".repeat(n), 1);
        let call = b.held("Instruction", "KernelCall", &[]);
        one_plan(b, &[("operators", operators)], vec![], vec![call; n])
    }),
    ("n strides through a tensor of n dimensions", &[], |b, n| strides(b, n, "")),
    ("n strides by an operator with n bytes behind its name", &["kernels"], |b, n| {
        strides(b, 8, &format!("\0{}", "x".repeat(n)))
    }),
    ("n tensors without data, n arguments", &[], |mut b, n| {
        let operators = operator(&mut b, "my::op", 1);
        let tensor = b.held("EValue", "Tensor", &[]);
        let call = call(&mut b, 0, 0..n);
        one_plan(b, &[("operators", operators)], vec![tensor; n], vec![call])
    }),
    ("one list of n tensors of which the last has no data, n calls", &[], |mut b, n| {
        let (sizes, order) = (b.numbers([1]), b.bytes(&[0]));
        let shape = [("sizes", To(sizes)), ("dim_order", To(order))];
        let constant =
            b.held("EValue", "Tensor", &[&shape[..], &[("data_buffer_idx", Number(1))]].concat());
        let missing = b.held("EValue", "Tensor", &shape);
        let items = b.numbers(0..n);
        let list = b.held("EValue", "TensorList", &[("items", To(items))]);
        let operators = operator(&mut b, "my::op", 1);
        let call = call(&mut b, 0, [n, 0]);
        let mut values = vec![constant; n - 1];
        values.extend([missing, list]);
        one_plan(b, &[("operators", operators)], values, vec![call; n])
    }),
    ("one list of n dynamic tensors that n calls may resize", &[], |mut b, n| {
        let operators = operator(&mut b, "aten::as_strided_copy", 1);
        let tensor = b.held("EValue", "Tensor", &[("shape_dynamism", Number(2))]);
        let items = b.numbers(vec![0; n]);
        let list = b.held("EValue", "TensorList", &[("items", To(items))]);
        let call = delegate_call(&mut b, [1]);
        one_plan(b, &[("operators", operators)], vec![tensor, list], vec![call; n])
    }),
    ("one list of n tensors, n times in one call and in one delegate's", &[], |mut b, n| {
        let operators = operator(&mut b, "my::op", 1);
        let place = b.table("AllocationDetails", &[("memory_id", Number(1))]);
        let (sizes, order) = (b.numbers([1]), b.bytes(&[0]));
        let shape =
            [("sizes", To(sizes)), ("dim_order", To(order)), ("allocation_info", To(place))];
        let tensor = b.held("EValue", "Tensor", &shape);
        let items = b.numbers(vec![0; n]);
        let list = b.held("EValue", "TensorList", &[("items", To(items))]);
        let args = b.numbers(vec![1; n].into_iter().chain([0]));
        let args = [("args", To(args))];
        let calls = ["KernelCall", "DelegateCall"].map(|kind| b.held("Instruction", kind, &args));
        // With a move, the abstract interpreter judges the calls.
        let moved = b.held("Instruction", "MoveCall", &[]);
        one_plan(
            b,
            &[("operators", operators)],
            vec![tensor, list],
            [&calls[..], &[moved]].concat(),
        )
    }),
    ("n operators with one name", &["kernels"], |mut b, n| {
        let operators = operator(&mut b, "my::op", n);
        one_plan(b, &[("operators", operators)], vec![], vec![])
    }),
    ("n delegates of one payload, with one option each", &["delegates", "resolve"], |mut b, n| {
        let option = b.table("CompileSpec", &[]);
        let options = b.tables([option]);
        let payload = b.table("BackendDelegateDataReference", &[("index", Number(9))]);
        let fields = [("processed", To(payload)), ("compile_specs", To(options))];
        let delegate = b.table("BackendDelegate", &fields);
        let delegates = b.tables(vec![delegate; n]);
        one_plan(b, &[("delegates", delegates)], vec![], vec![])
    }),
    ("a delegate of a backend with a name of length n, n calls of it", &[], |mut b, n| {
        let backend = "n".repeat(n);
        let call = delegate_call(&mut b, [0]);
        let mut calls = vec![call; n];
        calls.push(b.held("Instruction", "FreeCall", &[]));
        let value = b.held("EValue", "Tensor", &[]);
        with_delegates(b, (&backend, b""), 1, &[], vec![value], calls)
    }),
    ("n calls of topk on a tensor of n dimensions", &[], |mut b, n| {
        let name = b.text("aten::topk");
        let overload = b.text("values");
        let operator = b.lists("Operator", &[("name", name), ("overload", overload)]);
        let operators = b.tables([operator]);
        let (sizes, order) = (b.numbers(vec![1; n]), b.bytes(&vec![0; n]));
        let place = b.table("AllocationDetails", &[]);
        let fields =
            [("sizes", To(sizes)), ("dim_order", To(order)), ("allocation_info", To(place))];
        let tensor = b.held("EValue", "Tensor", &fields);
        let fields = [("allocation_info", To(place)), ("scalar_type", Number(4))];
        let indices = b.held("EValue", "Tensor", &fields);
        let ints = [1, 7].map(|int| b.held("EValue", "Int", &[("int_val", Number(int))]));
        let truth = b.held("EValue", "Bool", &[("bool_val", Number(1))]);
        let call = call(&mut b, 0, [0, 1, 2, 3, 3, 0, 4, 0]);
        let values = vec![tensor, ints[0], ints[1], truth, indices];
        one_plan(b, &[("operators", operators)], values, vec![call; n])
    }),
    (
        "n delegates, each with a segment",
        &["contents", "container", "linked", "payloads"],
        |mut b, n| {
            let ids = [b.text("XnnpackBackend"), b.text("MPSBackend")];
            let delegates = b.each(0..n, |b, nth| {
                let fields = [("location", Number(1)), ("index", number(n - nth - 1))];
                let payload = b.table("BackendDelegateDataReference", &fields);
                b.table("BackendDelegate", &[("id", To(ids[nth % 2])), ("processed", To(payload))])
            });
            let delegates = b.tables(delegates);
            let plan = b.lists("ExecutionPlan", &[("delegates", delegates)]);
            let plans = b.tables([plan]);
            let segments = b.each(0..n, |b, nth| {
                b.table("DataSegment", &[("offset", number(nth * 3)), ("size", Number(4))])
            });
            let segments = b.tables(segments);
            root(b, &[("execution_plan", plans), ("segments", segments)], &vec![7; 4 * n])
        },
    ),
    ("n moves across kinds, of n values", &["flow"], |mut b, n| {
        let (int, bool) = (b.held("EValue", "Int", &[]), b.held("EValue", "Bool", &[]));
        let moves = b.each(0..n, |b, nth| {
            let (from, to) = (number(2 * nth), number(2 * ((nth * 7919) % n) + 1));
            b.held("Instruction", "MoveCall", &[("move_from", from), ("move_to", to)])
        });
        one_plan(b, &[], [int, bool].into_iter().cycle().take(2 * n).collect(), moves)
    }),
    ("n frees of one tensor, which a list holds n times", &["flow"], |mut b, n| {
        let (sizes, order) = (b.numbers([1]), b.bytes(&[0]));
        let shape = [("sizes", To(sizes)), ("dim_order", To(order))];
        let tensor = b.held("EValue", "Tensor", &shape);
        let items = b.numbers(vec![0; n]);
        let list = b.held("EValue", "TensorList", &[("items", To(items))]);
        let call = delegate_call(&mut b, [1]);
        let free = b.held("Instruction", "FreeCall", &[]);
        one_plan(b, &[], vec![tensor, list], [free, call].into_iter().cycle().take(2 * n).collect())
    }),
    ("n jumps ahead across each other, n moves, n jumps back", &["flow"], |mut b, n| {
        let values = [("Int", &[][..]), ("Double", &[]), ("Bool", &[("bool_val", Number(1))])];
        let values = values.map(|(kind, fields)| b.held("EValue", kind, fields));
        let condition = ("cond_value_index", number(2));
        let mut calls = Vec::new();
        for nth in 0..n {
            let to = ("destination_instruction", number(nth * 3 + (nth * 7919) % n));
            calls.push(b.held("Instruction", "JumpFalseCall", &[condition, to]));
            calls.push(b.held("Instruction", "MoveCall", &[("move_to", Number(1))]));
            let to = ("destination_instruction", number(nth * 3 + 1));
            calls.push(b.held("Instruction", "JumpFalseCall", &[condition, to]));
        }
        one_plan(b, &[], values.to_vec(), calls)
    }),
    ("n tensors that release 0.1 knows nothing of", &["release"], |mut b, n| {
        let tensor = external(&mut b, "key", 1);
        one_plan(b, &[], vec![tensor; n], vec![])
    }),
    ("n segments inside one another, the last one first", &["container"], |mut b, n| {
        let root = segments(&mut b, "Program", n);
        Made(b.finish(root, &vec![7; 2 * n]), vec![])
    }),
    ("n segments of a .ptd inside one another", &["container"], |b, n| {
        let mut b = b.version.ptd();
        let root = segments(&mut b, "FlatTensor", n);
        Made(b.finish(root, &vec![7; 2 * n]), vec![])
    }),
    ("one segment, n times", &["container"], |mut b, n| {
        let segment = b.table("DataSegment", &[("size", Number(8))]);
        let segments = b.tables(vec![segment; n]);
        root(b, &[("segments", segments)], b"#!/bin/sh")
    }),
    ("one list of mutable data, n times", &["container"], |mut b, n| {
        let list = b.table("SubsegmentOffsets", &[]);
        let lists = b.tables(vec![list; n]);
        root(b, &[("mutable_data_segments", lists)], &[])
    }),
    ("one key in n entries", &["names", "resolve"], |mut b, n| {
        let key = b.text("key");
        let entry = b.lists("NamedData", &[("key", key)]);
        let entries = b.tables(vec![entry; n]);
        root(b, &[("named_data", entries)], &[])
    }),
    ("n keys that begin alike", &["resolve"], |mut b, n| {
        let entries = b.each(0..n, |b, nth| {
            let key = b.text(&format!("{}{nth}", "x".repeat(64)));
            b.lists("NamedData", &[("key", key)])
        });
        let entries = b.tables(entries);
        root(b, &[("named_data", entries)], &[])
    }),
    ("one key of length n, 3 times", &[], |mut b, n| {
        let key = b.text(&"\0".repeat(n));
        let entry = b.lists("NamedData", &[("key", key)]);
        let entries = b.tables([entry; 3]);
        root(b, &[("named_data", entries)], &[])
    }),
    ("n external tensors, n entries of a key", &["external", "data", "names"], |mut b, n| {
        let version = b.version;
        let (one, other) = (external(&mut b, "key", 3), external(&mut b, "key", 4));
        let pte = one_plan(b, &[], [vec![one; n], vec![other; n]].concat(), vec![]);
        let mut b = version.ptd();
        let entry = entry(&mut b, "key", 8);
        Made(pte.0, vec![entries(b, vec![entry; n])])
    }),
    ("n external tensors, n keys of three files", &["external"], |mut b, n| {
        let version = b.version;
        let key = |nth: usize| format!("{}{nth}", "x".repeat(32));
        let tensors = b.each(0..n, |b, nth| external(b, &key(nth * 2), 1));
        let pte = one_plan(b, &[], tensors, vec![]);
        let data = || {
            let mut b = version.ptd();
            let all = b.each(0..2 * n, |b, nth| entry(b, &key(nth), 1));
            entries(b, all)
        };
        Made(pte.0, vec![data(), data(), data()])
    }),
    ("one external tensor n times, its data of n dimensions", &["external"], |mut b, n| {
        let version = b.version;
        let tensor = external(&mut b, "key", 2);
        let pte = one_plan(b, &[], vec![tensor; n], vec![]);
        let mut b = version.ptd();
        let entry = entry(&mut b, "key", n);
        Made(pte.0, vec![entries(b, vec![entry])])
    }),
    ("n tables of 200 unshared vtables", &["layout", "values"], |mut b, n| {
        let values = b.each(0..200, |b, _| b.with_own_vtable("EValue"));
        let values = values.iter().copied().cycle().take(n).collect();
        one_plan(b, &[], values, vec![])
    }),
    ("n lists of 64 bools that are none", &["layout"], |mut b, n| {
        let items = b.bytes(&[2; 64]);
        let list = b.held("EValue", "BoolList", &[("items", To(items))]);
        one_plan(b, &[], vec![list; n / 16], vec![])
    }),
];
