//! Files that attack the rules of one or more subjects.

use super::{
    Made, call, chains, delegate_call, delegated, delegated_to, entries, entry, external, input,
    one_plan, operator, program, root, segments, strides, vela_block, with_constants,
    with_delegates,
};
use crate::build::vgf;
use crate::tables::{Builder, Field, Version, number};
use crate::{coreml, openvino};
use Field::{Number, To};
use binrw::BinWrite;
use binrw::io::Cursor;
use pte::payload::vulkan::VulkanHeader;
use pte::payload::xnnpack::XnnpackHeader;

/// The families that attack the rules: the name, the subjects and the maker of each.
pub(super) const FAMILIES: &[(&str, &[&str], fn(Builder, usize) -> Made)] = &[
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
    ("a graph of one node, n times, and n calls", &["xnnpack"], |b, n| {
        let mut b = b.version.graph();
        let node = b.held("XNode", "XNNSigmoid", &[("input_id", Number(7))]);
        let (nodes, values) = (b.tables(vec![node; n]), b.tables([]));
        let root = b.lists("XNNGraph", &[("xnodes", nodes), ("xvalues", values)]);
        delegated(b.version, &b.alone(root), n, &[])
    }),
    ("a graph of n inputs, n calls with n arguments", &["xnnpack"], |b, n| {
        let mut b = b.version.graph();
        let values = b.each(0..n.min(4000), input);
        let (nodes, values) = (b.tables([]), b.tables(values));
        let externs = ("num_externs", Number(4096));
        let root = b.table("XNNGraph", &[("xnodes", To(nodes)), ("xvalues", To(values)), externs]);
        delegated(b.version, &b.alone(root), n, &vec![n; n])
    }),
    ("a graph of n constants with 32 keys", &[], |b, n| {
        let mut b = b.version.graph();
        let keys: Vec<_> = (1..33).map(|len| b.text(&"k".repeat(len))).collect();
        let constants = b.each(0..n, |b, nth| {
            let key = keys[nth % keys.len()];
            b.lists("ConstantDataOffset", &[("named_key", key)])
        });
        let (nodes, values) = (b.tables([]), b.tables([]));
        let constants = b.tables(constants);
        let root = b.lists(
            "XNNGraph",
            &[("xnodes", nodes), ("xvalues", values), ("constant_data", constants)],
        );
        delegated(b.version, &b.alone(root), n, &[])
    }),
    ("a graph of n values, whose one constant has a key of length n", &[], |b, n| {
        let mut b = b.version.graph();
        let key = b.text(&"k".repeat(n));
        let constant = b.lists("ConstantDataOffset", &[("named_key", key)]);
        let fields = [
            ("datatype", Number(1)),
            ("constant_buffer_idx", Number(1)),
            ("external_id", Number(u32::MAX.into())),
        ];
        let values = b.each(0..n, |b, _| b.held("XValue", "XNNTensorValue", &fields));
        let (nodes, values) = (b.tables([]), b.tables(values));
        let constants = b.tables([constant, constant]);
        let root = b.lists(
            "XNNGraph",
            &[("xnodes", nodes), ("xvalues", values), ("constant_data", constants)],
        );
        let graph = b.alone(root);
        let header = XnnpackHeader {
            length: XnnpackHeader::LENGTH,
            flatbuffer_offset: XnnpackHeader::PADDED,
            flatbuffer_size: graph.len() as u32,
            constant_data_offset: XnnpackHeader::PADDED + graph.len() as u32,
            constant_data_size: 0,
        };
        delegated(b.version, &[header.to_bytes(), graph].concat(), 1, &[])
    }),
    ("an MLX graph of one slot and one instruction, n times", &["mlx"], |b, n| {
        let mut b = b.version.mlx();
        let operation = b.held("Instruction", "NoopNode", &[]);
        let instructions = b.tables(vec![operation; n]);
        let chain = b.lists("InstructionChain", &[("instructions", instructions)]);
        let slot = b.table("SlotVariant", &[("idx", Number(7))]);
        let (chains, slots) = (b.tables([chain]), b.tables(vec![slot; n]));
        let root = b.lists("MLXGraph", &[("instruction_chains", chains), ("input_map", slots)]);
        delegated_to(b.version, "MLXBackend", &mlx_payload(b.alone(root)), n, &[])
    }),
    (
        "n constants, n words of code, n segments of modules that a VGF payload lacks",
        &["vgf"],
        |b, n| {
            let mut modules = b.version.vgf();
            // Nothing behind the header but instructions of one word, which do nothing.
            let header = [0x0723_0203, 0, 0, 0, 0];
            let words = modules.numbers(header.into_iter().chain(vec![0x1_0000; n]));
            let code = modules.lists("SPIRV", &[("words", words)]);
            let module = modules.table("Module", &[("code", Field::One(1, code))]);
            let list = modules.tables([module]);
            let modules_root = modules.lists("ModuleTable", &[("modules", list)]);
            let mut sequence = b.version.vgf();
            let segments = sequence.each(0..n, |b, nth| {
                b.table("SegmentInfo", &[("type", Number(1)), ("module_index", number(nth))])
            });
            let list = sequence.tables(segments);
            let sequence_root = sequence.lists("ModelSequenceTable", &[("segments", list)]);
            let mut resources = b.version.vgf();
            let list = resources.tables([]);
            let resources_root = resources.lists("ModelResourceTable", &[("mrt_entry", list)]);
            let mut constants = [&b"CONST00\0"[..], &(n as u64).to_le_bytes()].concat();
            constants.resize(constants.len() + 24 * n, 0);
            let sections = [
                modules.alone(modules_root),
                sequence.alone(sequence_root),
                resources.alone(resources_root),
                constants,
            ];
            delegated_to(b.version, "VgfBackend", &vgf(sections, 5), n, &[])
        },
    ),
    ("a TOSA graph of n operators that use n values before they are made", &["tosa"], |b, n| {
        let mut b = b.version.tosa();
        let names = b.each(0..n, |b, nth| b.text(&format!("{nth:032}")));
        let sizes = b.numbers([0; 4]);
        let tensors = names.iter().map(|name| {
            b.table("TosaTensor", &[("name", To(*name)), ("shape", To(sizes)), ("type", Number(7))])
        });
        let tensors: Vec<_> = tensors.collect();
        let operators = b.each(0..n, |b, nth| {
            let inputs = b.tables([names[n - nth - 1], names[nth]]);
            let outputs = b.tables([names[nth]]);
            let fields = [("op", Number(15)), ("inputs", To(inputs)), ("outputs", To(outputs))];
            b.table("TosaOperator", &fields)
        });
        let inputs = b.tables(names.iter().copied().cycle().take(2 * n));
        let (tensors, operators) = (b.tables(tensors), b.tables(operators));
        let fields = [("tensors", tensors), ("operators", operators), ("inputs", inputs)];
        let block = b.lists("TosaBasicBlock", &fields);
        let blocks = b.tables([block]);
        let region = b.lists("TosaRegion", &[("blocks", blocks)]);
        let (regions, version) = (b.tables([region]), b.table("Version", &[]));
        let root = b.lists("TosaGraph", &[("version", version), ("regions", regions)]);
        delegated_to(b.version, "TOSABackend", &b.alone(root), 1, &[])
    }),
    (
        "a TOSA graph of n / 128 operators, each of which joins 64 tensors with long names",
        &[],
        |b, n| {
            let mut b = b.version.tosa();
            let names = b.each(0..64, |b, nth| b.text(&format!("{nth:064}")));
            let sizes = b.numbers([1; 6]);
            let tensors = names.iter().map(|name| {
                b.table(
                    "TosaTensor",
                    &[("name", To(*name)), ("shape", To(sizes)), ("type", Number(7))],
                )
            });
            let tensors: Vec<_> = tensors.collect();
            let (tensors, names) = (b.tables(tensors), b.tables(names));
            let fields = [("op", Number(55)), ("inputs", To(names)), ("outputs", To(names))];
            let operator = b.table("TosaOperator", &fields);
            let operators = b.tables(vec![operator; n / 128]);
            let rest = b.bytes(&vec![0; 4 * n]);
            let shape = b.lists("TosaShape", &[("data", rest)]);
            let shapes = b.tables([shape]);
            let fields = [("tensors", tensors), ("operators", operators), ("shapes", shapes)];
            let block = b.lists("TosaBasicBlock", &fields);
            let blocks = b.tables([block]);
            let region = b.lists("TosaRegion", &[("blocks", blocks)]);
            let (regions, version) = (b.tables([region]), b.table("Version", &[]));
            let root = b.lists("TosaGraph", &[("version", version), ("regions", regions)]);
            delegated_to(b.version, "TOSABackend", &b.alone(root), 1, &[])
        },
    ),
    ("an MLX graph of n chains, each with a condition that calls two", &["mlx"], |b, n| {
        let mut b = b.version.mlx();
        let chains = b.each(0..n, |b, nth| {
            let condition = b.table("IntOrVid", &[]);
            let next = [(nth + 1) % n, (nth * 7919) % n].map(number);
            let fields =
                [("cond", To(condition)), ("then_chain_idx", next[0]), ("else_chain_idx", next[1])];
            let call = b.held("Instruction", "IfNode", &fields);
            let instructions = b.tables([call]);
            b.lists("InstructionChain", &[("instructions", instructions)])
        });
        let chains = b.tables(chains);
        let root = b.lists("MLXGraph", &[("instruction_chains", chains)]);
        delegated_to(b.version, "MLXBackend", &mlx_payload(b.alone(root)), n, &[])
    }),
    ("n calls of Vulkan, all of one list of n tensors without dimensions", &["vulkan"], |b, n| {
        vulkan(b.version, n, false)
    }),
    ("n sound calls of Vulkan, all of one list of n inputs", &[], |b, n| {
        vulkan(b.version, n, true)
    }),
    (
        "a native graph of n nodes, n / 128 of them with one list of 64 long names",
        &["native"],
        |b, n| {
            let mut b = b.version.native();
            let names = b.each(0..64, |b, nth| b.text(&format!("{nth:064}")));
            let names = b.tables(names);
            let argument = b.held("Argument", "TensorListArg", &[("names", To(names))]);
            let input = b.lists("NamedArgument", &[("arg", argument)]);
            let (inputs, name) = (b.tables([input]), b.text(""));
            let node = b.lists("Node", &[("name", name), ("inputs", inputs)]);
            let others = b.each(0..n, |b, _| b.lists("Node", &[("name", name)]));
            let nodes = b.tables(vec![node; n / 128].into_iter().chain(others));
            let graph = b.lists("Graph", &[("nodes", nodes)]);
            let method = b.lists("Method", &[("name", name), ("graph", graph)]);
            let methods = b.tables([method]);
            let root = b.lists("Program", &[("methods", methods)]);
            delegated_to(b.version, "NativeBackend", &b.alone(root), 1, &[])
        },
    ),
    ("a command stream of Ethos-U of n unknown operations", &["ethosu"], |b, n| {
        let mut commands = b"COP1".to_vec();
        let action = 2 | (n as u32 & 0xffff) << 16 | (n as u32 >> 16) << 8;
        commands.extend(action.to_le_bytes());
        commands.extend([0xff, 0, 0, 0].repeat(n));
        let payload =
            [("vela_bin_stream", &b""[..]), ("cmd_data", &commands), ("vela_end_stream", b"")]
                .map(|(name, bytes)| vela_block(name, 0, bytes));
        delegated_to(b.version, "EthosUBackend", &payload.concat(), 1, &[])
    }),
    ("n calls of Ethos-U with one tensor of n dimensions", &[], |mut b, n| {
        let end = [1, 1, 1, 1, 1, 1, 1, 0, 0].map(u32::to_le_bytes).concat();
        let payload = [
            ("vela_bin_stream", vec![]),
            ("scratch_size", 64u32.to_le_bytes().to_vec()),
            ("inputs", [1u32.to_le_bytes().to_vec(), end].concat()),
            ("outputs", 0u32.to_le_bytes().to_vec()),
            ("vela_end_stream", vec![]),
        ];
        let payload = payload.map(|(name, bytes)| vela_block(name, 0, &bytes)).concat();
        let sizes = b.numbers(vec![1; n]);
        let tensor = b.held("EValue", "Tensor", &[("sizes", To(sizes))]);
        let call = delegate_call(&mut b, [0]);
        with_delegates(b, ("EthosUBackend", &payload), 1, &[], vec![tensor], vec![call; n])
    }),
    ("a method with a name of length n, n delegates of Core ML", &[], |mut b, n| {
        let name = b.text(&"n".repeat(n));
        let payload = coreml::program(b"");
        with_delegates(b, ("CoreMLBackend", &payload), n, &[("name", name)], vec![], vec![])
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
    ("n delegates of Core ML, each with an archive that is cut", &["coreml"], |mut b, n| {
        let payloads = b.each(0..n, |b, _| {
            let data = b.bytes(br#"}"0":"0.a"{:"nerdlihc"#);
            b.lists("BackendDelegateInlineData", &[("data", data)])
        });
        let (payloads, id) = (b.tables(payloads), b.text("CoreMLBackend"));
        let delegates = b.each(0..n, |b, nth| {
            let reference = b.table("BackendDelegateDataReference", &[("index", number(nth))]);
            b.lists("BackendDelegate", &[("id", id), ("processed", reference)])
        });
        let delegates = b.tables(delegates);
        let plan = b.lists("ExecutionPlan", &[("delegates", delegates)]);
        let plans = b.tables([plan]);
        root(b, &[("execution_plan", plans), ("backend_delegate_data", payloads)], &[])
    }),
    ("an ML Program of Core ML of n operations without a name", &["coreml"], |b, n| {
        let payload = coreml::program(&coreml::field(3, b"").repeat(n));
        delegated_to(b.version, "CoreMLBackend", &payload, 1, &[])
    }),
    ("n delegates of QNN, with one spec of n op packages", &["qnn"], |b, n| {
        let mut b = b.version.qnn();
        let package = b.table("QnnExecuTorchOpPackageInfo", &[]);
        let packages = b.tables(vec![package; n]);
        let packages = b.lists("QnnExecuTorchOpPackageOptions", &[("op_package_infos", packages)]);
        let options = b.lists("QnnExecuTorchOptions", &[("op_package_options", packages)]);
        let options = b.alone(options);
        let mut b = b.version.pte();
        let (key, value) = (b.text("qnn_compile_spec"), b.bytes(&options));
        let spec = b.lists("CompileSpec", &[("key", key), ("value", value)]);
        let (specs, id) = (b.tables([spec]), b.text("QnnBackend"));
        let data = b.bytes(&[0; 32]);
        let data = b.lists("BackendDelegateInlineData", &[("data", data)]);
        let payloads = b.tables([data]);
        let reference = b.table("BackendDelegateDataReference", &[]);
        let fields = [("id", To(id)), ("processed", To(reference)), ("compile_specs", To(specs))];
        let delegate = b.table("BackendDelegate", &fields);
        let delegates = b.tables(vec![delegate; n]);
        let plan = b.lists("ExecutionPlan", &[("delegates", delegates)]);
        let plans = b.tables([plan]);
        root(b, &[("execution_plan", plans), ("backend_delegate_data", payloads)], &[])
    }),
    ("n payloads of QNN with the signature of the first", &["qnn"], |mut b, n| {
        let payloads = b.each(0..n, |b, nth| {
            let mut data = 0x5678_abcd_u32.to_le_bytes().to_vec();
            data.extend([7, 8].map(u64::to_le_bytes).concat());
            data.extend((nth as u64).to_le_bytes());
            let data = b.bytes(&data);
            b.lists("BackendDelegateInlineData", &[("data", data)])
        });
        let (payloads, id) = (b.tables(payloads), b.text("QnnBackend"));
        let delegates = b.each(0..n, |b, nth| {
            let reference = b.table("BackendDelegateDataReference", &[("index", number(nth))]);
            b.lists("BackendDelegate", &[("id", id), ("processed", reference)])
        });
        let delegates = b.tables(delegates);
        let plan = b.lists("ExecutionPlan", &[("delegates", delegates)]);
        let plans = b.tables([plan]);
        root(b, &[("execution_plan", plans), ("backend_delegate_data", payloads)], &[])
    }),
    ("n calls of a model of OpenVINO with n inputs", &["openvino"], |b, n| {
        let model = openvino::model(&vec![("f32", "1,?,2..3"); n], &[("FP32", &[1])]);
        delegated_to(b.version, "OpenvinoBackend", &openvino::payload(b"", &model), n, &[])
    }),
    ("n calls of a model of OpenVINO, each with n arguments", &[], |b, n| {
        let model = openvino::model(&vec![("f32", "1"); n], &[]);
        let payload = openvino::payload(b"", &model);
        delegated_to(b.version, "OpenvinoBackend", &payload, n, &vec![0; n])
    }),
    ("a model of OpenVINO of n open elements", &[], |b, n| {
        let payload = openvino::payload(b"", &"<a>".repeat(n));
        delegated_to(b.version, "OpenvinoBackend", &payload, 1, &[])
    }),
    ("n values with one list of scales", &[], |b, n| {
        let mut b = b.version.graph();
        let scales = b.numbers([0x3f80_0000; 8]);
        let dims = b.numbers([8]);
        let values = b.each(0..n, |b, nth| {
            let quant = b.lists("PerChannelQuant", &[("scale", scales)]);
            let fields = [
                ("datatype", Number(6)),
                ("dims", To(dims)),
                ("external_id", Number(u32::MAX.into())),
                ("id_out", number(nth)),
            ];
            let tensor = b.table("XNNTensorValue", &fields);
            let fields = [("tensor_value", To(tensor)), ("quant_params", Field::One(1, quant))];
            b.held("XValue", "XNNQuantizedTensorValue", &fields)
        });
        let (nodes, values) = (b.tables([]), b.tables(values));
        let root = b.lists("XNNGraph", &[("xnodes", nodes), ("xvalues", values)]);
        delegated(b.version, &b.alone(root), n, &[])
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

/// Returns a program with a graph of Vulkan: n calls that concatenate one list of n inputs into one tensor.
fn vulkan(version: Version, n: usize, has_dims: bool) -> Made {
    let mut b = version.vulkan();
    let dims = b.numbers([1]);
    let fields = [("constant_id", Number(-1)), ("mem_obj_id", Number(-1)), ("dims", To(dims))];
    let tensor = if has_dims { &fields[..] } else { &fields[..1] };
    let mut values: Vec<_> = (0..=n).map(|_| b.held("VkValue", "VkTensor", tensor)).collect();
    let all = b.numbers(0..n);
    values.push(b.held("VkValue", "Int", &[]));
    values.push(b.held("VkValue", "ValueList", &[("items", To(all))]));
    let args = b.numbers([n + 2, n + 1, n]);
    let name = b.text("aten.cat.default");
    let call = b.lists("OperatorCall", &[("args", args), ("name", name)]);
    let (calls, values, output) = (b.tables(vec![call; n]), b.tables(values), b.numbers([n]));
    let root = b.lists(
        "VkGraph",
        &[("chain", calls), ("values", values), ("input_ids", all), ("output_ids", output)],
    );
    let graph = b.alone(root);
    let header = VulkanHeader {
        length: VulkanHeader::LENGTH,
        flatbuffer_offset: 32,
        flatbuffer_size: graph.len() as u32,
        bytes_offset: 32 + graph.len() as u32,
        bytes_size: 0,
    };
    let mut payload = Cursor::new(vec![0; 4]);
    payload.set_position(4);
    header.write(&mut payload).unwrap();
    let mut payload = payload.into_inner();
    payload.resize(32, 0);
    payload.extend(graph);
    delegated_to(version, "VulkanBackend", &payload, 1, &[])
}

/// Returns the payload of MLX with a graph.
fn mlx_payload(graph: Vec<u8>) -> Vec<u8> {
    let end = graph.len() as u64 + 24;
    [b"\0\0\0\0MLX0", &end.to_le_bytes()[..], &[0; 8], &graph].concat()
}
