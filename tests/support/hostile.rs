//! Families of files that are costly to check. Each attacks the rules of one or more subjects.

use binrw::BinWrite;
use binrw::io::Cursor;

use crate::tables::{At, Builder, Field, number};
use Field::{Number, To};
use pte::payload::vulkan::VulkanHeader;
use pte::payload::xnnpack::XnnpackHeader;

/// A file, and the `.ptd` files that it is judged with.
#[derive(Debug)]
pub struct Made(pub Vec<u8>, pub Vec<Vec<u8>>);

/// A family of files: its name, the subjects that it attacks, and a function that makes the file of
/// size `n`. That file breaks one rule of each subject at least n / 16 times.
pub type Family = (&'static str, &'static [&'static str], fn(usize) -> Made);

pub const FAMILIES: &[Family] = &[
    ("n tensors across each other, all in a list that n calls and a loop of moves use", &[], |n| {
        let mut b = Builder::pte();
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
        let args = b.numbers([n, n]);
        let call = b.held("Instruction", "KernelCall", &[("args", To(args))]);
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
    ("one plan, n times", &["plans"], |n| {
        let mut b = Builder::pte();
        let name = b.text("forward");
        let plan = b.table("ExecutionPlan", &[("name", To(name))]);
        program(b, vec![plan; n])
    }),
    ("64 inputs that n / 16 plans share", &["plans"], |n| {
        let mut b = Builder::pte();
        let value = b.held("EValue", "Tensor", &[]);
        let (values, inputs) = (b.tables([value]), b.numbers([0; 64]));
        let fields = [("values", To(values)), ("inputs", To(inputs))];
        let plans = (0..n / 16).map(|_| b.table("ExecutionPlan", &fields)).collect();
        program(b, plans)
    }),
    ("one value is n inputs and n outputs", &["plans"], |n| {
        let mut b = Builder::pte();
        let ends = b.numbers(vec![0; n]);
        let value = b.held("EValue", "IntList", &[]);
        one_plan(b, &[("inputs", ends), ("outputs", ends)], vec![value], vec![])
    }),
    ("one empty value, n times", &["values"], |n| {
        let mut b = Builder::pte();
        let value = b.table("EValue", &[]);
        one_plan(b, &[], vec![value; n], vec![])
    }),
    ("one list without items, n times", &["values"], |n| {
        let mut b = Builder::pte();
        let list = b.held("EValue", "IntList", &[]);
        one_plan(b, &[], vec![list; n], vec![])
    }),
    ("one String of length n", &[], |n| {
        let mut b = Builder::pte();
        let text = b.text(&"\0".repeat(n));
        let value = b.held("EValue", "String", &[("string_val", To(text))]);
        one_plan(b, &[], vec![value], vec![])
    }),
    ("one method with a name of length n, n tensors", &["tensors"], |n| {
        let mut b = Builder::pte();
        let (name, tensor) = (b.text(&"x".repeat(n)), b.held("EValue", "Tensor", &[]));
        one_plan(b, &[("name", name)], vec![tensor; n], vec![])
    }),
    ("n values, n chains of one jump to itself", &["calls", "values"], |n| {
        let mut b = Builder::pte();
        let (value, jump) = (b.table("EValue", &[]), b.held("Instruction", "JumpFalseCall", &[]));
        chains(b, vec![value; n], &[jump], n)
    }),
    ("n values, n chains of one jump back", &["calls", "values"], |n| {
        let mut b = Builder::pte();
        let value = b.table("EValue", &[]);
        let jump = b.held("Instruction", "JumpFalseCall", &[]);
        chains(b, vec![value; n], &[jump, jump], n)
    }),
    ("n jumps back across each other", &[], |n| {
        let mut b = Builder::pte();
        let value = b.held("EValue", "Bool", &[]);
        let jumps = (0..n).map(|nth| {
            b.held(
                "Instruction",
                "JumpFalseCall",
                &[("destination_instruction", number((nth * 7919) % (nth + 1)))],
            )
        });
        let jumps = jumps.collect();
        one_plan(b, &[], vec![value], jumps)
    }),
    ("n moves, n frees and n delegate calls", &["calls"], |n| {
        let mut b = Builder::pte();
        let value = b.held("EValue", "IntList", &[]);
        let calls =
            ["MoveCall", "FreeCall", "DelegateCall"].map(|call| b.held("Instruction", call, &[]));
        let calls = calls.into_iter().cycle().take(3 * n).collect();
        one_plan(b, &[], vec![value], calls)
    }),
    ("every one of n tensors in three lists, and each list n / 64 times", &["values"], |n| {
        let mut b = Builder::pte();
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
    ("one tensor that is wrong in every way, n times", &["tensors", "memory", "resolve"], |n| {
        let mut b = Builder::pte();
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
    ("one tensor of n dimensions", &[], |n| {
        let mut b = Builder::pte();
        let (sizes, order) = (b.numbers(vec![1; n]), b.bytes(&vec![3; n]));
        let fields = [("sizes", To(sizes)), ("dim_order", To(order))];
        let tensor = b.held("EValue", "Tensor", &fields);
        one_plan(b, &[], vec![tensor], vec![])
    }),
    ("n arenas, n of a device, n tensors past one", &["memory"], |n| {
        let mut b = Builder::pte();
        let sizes = b.longs(vec![1; n]);
        let devices: Vec<_> = (0..n)
            .map(|nth| b.table("NonConstBufferDevice", &[("buffer_idx", number(nth + n / 2))]))
            .collect();
        let devices = b.tables(devices.iter().copied().chain(devices.iter().copied()));
        let place = b.table("AllocationDetails", &[("memory_id", Number(1))]);
        let (eight, order) = (b.numbers([8]), b.bytes(&[0]));
        let fields =
            [("sizes", To(eight)), ("dim_order", To(order)), ("allocation_info", To(place))];
        let tensor = b.held("EValue", "Tensor", &fields);
        let lists = [("non_const_buffer_sizes", sizes), ("non_const_buffer_device", devices)];
        one_plan(b, &lists, vec![tensor; n], vec![])
    }),
    ("n constants over each other, n tensors", &["container"], |n| {
        let mut b = Builder::pte();
        let (sizes, order) = (b.numbers([n]), b.bytes(&[0]));
        let tensors = (1..n).map(|nth| {
            let fields =
                [("sizes", To(sizes)), ("dim_order", To(order)), ("data_buffer_idx", number(nth))];
            b.held("EValue", "Tensor", &fields)
        });
        let tensors: Vec<_> = tensors.collect();
        let values = b.tables(tensors);
        let plan = b.table("ExecutionPlan", &[("values", To(values))]);
        with_constants(b, plan, 0..n, &vec![0; 2 * n])
    }),
    ("n constants of NaN, n calls that measure their range", &["constants"], |n| {
        let mut b = Builder::pte();
        let (name, overload) =
            (b.text("quantized_decomposed::choose_qparams"), b.text("Tensor_out"));
        let operator = b.table("Operator", &[("name", To(name)), ("overload", To(overload))]);
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
        let calls: Vec<_> = (0..n)
            .map(|nth| {
                let args = b.numbers([nth + 5, 0, 1, 2, 0, 3, 4, 4]);
                b.held("Instruction", "KernelCall", &[("args", To(args))])
            })
            .collect();
        let instructions = b.tables(calls);
        let chain = b.table("Chain", &[("instructions", To(instructions))]);
        let (values, chains) = (b.tables(values), b.tables([chain]));
        let fields = [("values", To(values)), ("chains", To(chains)), ("operators", To(operators))];
        let plan = b.table("ExecutionPlan", &fields);
        with_constants(b, plan, (0..=n).map(|nth| 4 * nth), &vec![0xff; 4 * n + 4])
    }),
    ("n known operators, called n times as they must not be", &["kernels"], |n| {
        let mut b = Builder::pte();
        let operators = operator(&mut b, "aten::add", n);
        let value = b.held("EValue", "Int", &[]);
        let args = b.numbers([0; 5]);
        let call = b.held("Instruction", "KernelCall", &[("args", To(args))]);
        one_plan(b, &[("operators", operators)], vec![value; n], vec![call; n])
    }),
    ("one operator with a name of length n, called n times", &["calls"], |n| {
        let mut b = Builder::pte();
        let operators = operator(&mut b, &"x".repeat(n), 1);
        let call = b.held("Instruction", "KernelCall", &[]);
        one_plan(b, &[("operators", operators)], vec![], vec![call; n])
    }),
    ("n strides through a tensor of n dimensions", &[], |n| strides(n, "")),
    ("n strides by an operator with n bytes behind its name", &["kernels"], |n| {
        strides(8, &format!("\0{}", "x".repeat(n)))
    }),
    ("n tensors without data, n arguments", &[], |n| {
        let mut b = Builder::pte();
        let operators = operator(&mut b, "my::op", 1);
        let tensor = b.held("EValue", "Tensor", &[]);
        let args = b.numbers(0..n);
        let call = b.held("Instruction", "KernelCall", &[("args", To(args))]);
        one_plan(b, &[("operators", operators)], vec![tensor; n], vec![call])
    }),
    ("one list of n tensors of which the last has no data, n calls", &[], |n| {
        let mut b = Builder::pte();
        let (sizes, order) = (b.numbers([1]), b.bytes(&[0]));
        let shape = [("sizes", To(sizes)), ("dim_order", To(order))];
        let constant =
            b.held("EValue", "Tensor", &[&shape[..], &[("data_buffer_idx", Number(1))]].concat());
        let missing = b.held("EValue", "Tensor", &shape);
        let items = b.numbers(0..n);
        let list = b.held("EValue", "TensorList", &[("items", To(items))]);
        let operators = operator(&mut b, "my::op", 1);
        let args = b.numbers([n, 0]);
        let call = b.held("Instruction", "KernelCall", &[("args", To(args))]);
        let mut values = vec![constant; n - 1];
        values.extend([missing, list]);
        one_plan(b, &[("operators", operators)], values, vec![call; n])
    }),
    ("one list of n dynamic tensors that n calls may resize", &[], |n| {
        let mut b = Builder::pte();
        let operators = operator(&mut b, "aten::as_strided_copy", 1);
        let tensor = b.held("EValue", "Tensor", &[("shape_dynamism", Number(2))]);
        let items = b.numbers(vec![0; n]);
        let list = b.held("EValue", "TensorList", &[("items", To(items))]);
        let args = b.numbers([1]);
        let call = b.held("Instruction", "DelegateCall", &[("args", To(args))]);
        one_plan(b, &[("operators", operators)], vec![tensor, list], vec![call; n])
    }),
    ("one list of n tensors, n times in one call and in one delegate's", &[], |n| {
        let mut b = Builder::pte();
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
    ("n operators with one name", &["kernels"], |n| {
        let mut b = Builder::pte();
        let operators = operator(&mut b, "my::op", n);
        one_plan(b, &[("operators", operators)], vec![], vec![])
    }),
    ("n delegates of one payload, with one option each", &["delegates", "resolve"], |n| {
        let mut b = Builder::pte();
        let option = b.table("CompileSpec", &[]);
        let options = b.tables([option]);
        let payload = b.table("BackendDelegateDataReference", &[("index", Number(9))]);
        let fields = [("processed", To(payload)), ("compile_specs", To(options))];
        let delegate = b.table("BackendDelegate", &fields);
        let delegates = b.tables(vec![delegate; n]);
        one_plan(b, &[("delegates", delegates)], vec![], vec![])
    }),
    ("a graph of one node, n times, and n calls", &["xnnpack"], |n| {
        let mut b = Builder::graph();
        let node = b.held("XNode", "XNNSigmoid", &[("input_id", Number(7))]);
        let (nodes, values) = (b.tables(vec![node; n]), b.tables([]));
        let root = b.table("XNNGraph", &[("xnodes", To(nodes)), ("xvalues", To(values))]);
        delegated(&b.alone(root), n, &[])
    }),
    ("a graph of n inputs, n calls with n arguments", &["xnnpack"], |n| {
        let mut b = Builder::graph();
        let values: Vec<_> = (0..n.min(4000)).map(|nth| input(&mut b, nth)).collect();
        let (nodes, values) = (b.tables([]), b.tables(values));
        let externs = ("num_externs", Number(4096));
        let root = b.table("XNNGraph", &[("xnodes", To(nodes)), ("xvalues", To(values)), externs]);
        delegated(&b.alone(root), n, &vec![n; n])
    }),
    ("a graph of n constants with 32 keys", &[], |n| {
        let mut b = Builder::graph();
        let keys: Vec<_> = (1..33).map(|len| b.text(&"k".repeat(len))).collect();
        let constants: Vec<_> = (0..n)
            .map(|nth| {
                let key = keys[nth % keys.len()];
                b.table("ConstantDataOffset", &[("named_key", To(key))])
            })
            .collect();
        let (nodes, values) = (b.tables([]), b.tables([]));
        let constants = b.tables(constants);
        let lists = [("xnodes", nodes), ("xvalues", values), ("constant_data", constants)];
        let root = b.table("XNNGraph", &lists.map(|(name, at)| (name, To(at))));
        delegated(&b.alone(root), n, &[])
    }),
    ("a graph of n values, whose one constant has a key of length n", &[], |n| {
        let mut b = Builder::graph();
        let key = b.text(&"k".repeat(n));
        let constant = b.table("ConstantDataOffset", &[("named_key", To(key))]);
        let fields = [
            ("datatype", Number(1)),
            ("constant_buffer_idx", Number(1)),
            ("external_id", Number(u32::MAX.into())),
        ];
        let values: Vec<_> = (0..n).map(|_| b.held("XValue", "XNNTensorValue", &fields)).collect();
        let (nodes, values) = (b.tables([]), b.tables(values));
        let constants = b.tables([constant, constant]);
        let lists = [("xnodes", nodes), ("xvalues", values), ("constant_data", constants)];
        let root = b.table("XNNGraph", &lists.map(|(name, at)| (name, To(at))));
        let graph = b.alone(root);
        let header = XnnpackHeader {
            length: XnnpackHeader::LENGTH,
            flatbuffer_offset: XnnpackHeader::PADDED,
            flatbuffer_size: graph.len() as u32,
            constant_data_offset: XnnpackHeader::PADDED + graph.len() as u32,
            constant_data_size: 0,
        };
        delegated(&[header.to_bytes(), graph].concat(), 1, &[])
    }),
    ("an MLX graph of one slot and one instruction, n times", &["mlx"], |n| {
        let mut b = Builder::mlx();
        let operation = b.held("Instruction", "NoopNode", &[]);
        let instructions = b.tables(vec![operation; n]);
        let chain = b.table("InstructionChain", &[("instructions", To(instructions))]);
        let slot = b.table("SlotVariant", &[("idx", Number(7))]);
        let (chains, slots) = (b.tables([chain]), b.tables(vec![slot; n]));
        let root =
            b.table("MLXGraph", &[("instruction_chains", To(chains)), ("input_map", To(slots))]);
        let graph = b.alone(root);
        let mut payload = b"\0\0\0\0MLX0".to_vec();
        payload.extend([graph.len() as u64 + 24, 0].iter().flat_map(|number| number.to_le_bytes()));
        payload.extend(graph);
        delegated_to("MLXBackend", &payload, n, &[])
    }),
    ("n calls of Vulkan, all of one list of n tensors", &[], |n| {
        let mut b = Builder::vulkan();
        let fields = [("constant_id", Number(-1))];
        let tensors = (0..n).map(|_| b.held("VkValue", "VkTensor", &fields));
        let mut values: Vec<_> = tensors.collect();
        let all = b.numbers(0..n);
        values.push(b.held("VkValue", "ValueList", &[("items", To(all))]));
        let args = b.numbers([n]);
        let call = b.table("OperatorCall", &[("args", To(args))]);
        let (calls, values) = (b.tables(vec![call; n]), b.tables(values));
        let root = b.table("VkGraph", &[("chain", To(calls)), ("values", To(values))]);
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
        delegated_to("VulkanBackend", &payload, 1, &[])
    }),
    ("a native graph of n nodes, n / 256 of them with one list of 64 long names", &[], |n| {
        let mut b = Builder::native();
        let names: Vec<_> = (0..64).map(|nth| b.text(&format!("{nth:064}"))).collect();
        let names = b.tables(names);
        let argument = b.held("Argument", "TensorListArg", &[("names", To(names))]);
        let input = b.table("NamedArgument", &[("arg", To(argument))]);
        let (inputs, name) = (b.tables([input]), b.text(""));
        let node = b.table("Node", &[("name", To(name)), ("inputs", To(inputs))]);
        let others: Vec<_> = (0..n).map(|_| b.table("Node", &[("name", To(name))])).collect();
        let nodes = b.tables(vec![node; n / 256].into_iter().chain(others));
        let graph = b.table("Graph", &[("nodes", To(nodes))]);
        let method = b.table("Method", &[("name", To(name)), ("graph", To(graph))]);
        let methods = b.tables([method]);
        let root = b.table("Program", &[("methods", To(methods))]);
        delegated_to("NativeBackend", &b.alone(root), 1, &[])
    }),
    ("n delegates of QNN, with one spec of n op packages", &["qnn"], |n| {
        let mut b = Builder::qnn();
        let package = b.table("QnnExecuTorchOpPackageInfo", &[]);
        let packages = b.tables(vec![package; n]);
        let packages =
            b.table("QnnExecuTorchOpPackageOptions", &[("op_package_infos", To(packages))]);
        let root = b.table("QnnExecuTorchOptions", &[("op_package_options", To(packages))]);
        let options = b.alone(root);
        let mut b = Builder::pte();
        let (key, value) = (b.text("qnn_compile_spec"), b.bytes(&options));
        let spec = b.table("CompileSpec", &[("key", To(key)), ("value", To(value))]);
        let (specs, id) = (b.tables([spec]), b.text("QnnBackend"));
        let data = b.bytes(&[0; 32]);
        let data = b.table("BackendDelegateInlineData", &[("data", To(data))]);
        let payloads = b.tables([data]);
        let reference = b.table("BackendDelegateDataReference", &[]);
        let fields = [("id", To(id)), ("processed", To(reference)), ("compile_specs", To(specs))];
        let delegate = b.table("BackendDelegate", &fields);
        let delegates = b.tables(vec![delegate; n]);
        let plan = b.table("ExecutionPlan", &[("delegates", To(delegates))]);
        let plans = b.tables([plan]);
        let fields = [("execution_plan", To(plans)), ("backend_delegate_data", To(payloads))];
        let root = b.table("Program", &fields);
        Made(b.finish(root, &[]), vec![])
    }),
    ("n values with one list of scales", &[], |n| {
        let mut b = Builder::graph();
        let scales = b.numbers([0x3f80_0000; 8]);
        let dims = b.numbers([8]);
        let values: Vec<_> = (0..n)
            .map(|nth| {
                let quant = b.table("PerChannelQuant", &[("scale", To(scales))]);
                let fields = [
                    ("datatype", Number(6)),
                    ("dims", To(dims)),
                    ("external_id", Number(u32::MAX.into())),
                    ("id_out", number(nth)),
                ];
                let tensor = b.table("XNNTensorValue", &fields);
                let fields = [("tensor_value", To(tensor)), ("quant_params", Field::One(1, quant))];
                b.held("XValue", "XNNQuantizedTensorValue", &fields)
            })
            .collect();
        let (nodes, values) = (b.tables([]), b.tables(values));
        let root = b.table("XNNGraph", &[("xnodes", To(nodes)), ("xvalues", To(values))]);
        delegated(&b.alone(root), n, &[])
    }),
    ("n delegates, each with a separate segment", &["contents", "container", "payloads"], |n| {
        let mut b = Builder::pte();
        let ids = [b.text("XnnpackBackend"), b.text("VulkanBackend")];
        let delegates = (0..n).map(|nth| {
            let fields = [("location", Number(1)), ("index", number(n - nth - 1))];
            let payload = b.table("BackendDelegateDataReference", &fields);
            b.table("BackendDelegate", &[("id", To(ids[nth % 2])), ("processed", To(payload))])
        });
        let delegates: Vec<_> = delegates.collect();
        let delegates = b.tables(delegates);
        let plan = b.table("ExecutionPlan", &[("delegates", To(delegates))]);
        let plans = b.tables([plan]);
        let segments = (0..n)
            .map(|nth| b.table("DataSegment", &[("offset", number(nth * 3)), ("size", Number(4))]));
        let segments: Vec<_> = segments.collect();
        let segments = b.tables(segments);
        let fields = [("execution_plan", To(plans)), ("segments", To(segments))];
        let root = b.table("Program", &fields);
        Made(b.finish(root, &vec![7; 4 * n]), vec![])
    }),
    ("n moves across kinds, of n values", &["flow"], |n| {
        let mut b = Builder::pte();
        let (int, bool) = (b.held("EValue", "Int", &[]), b.held("EValue", "Bool", &[]));
        let moves = (0..n).map(|nth| {
            let (from, to) = (number(2 * nth), number(2 * ((nth * 7919) % n) + 1));
            b.held("Instruction", "MoveCall", &[("move_from", from), ("move_to", to)])
        });
        let moves = moves.collect();
        one_plan(b, &[], [int, bool].into_iter().cycle().take(2 * n).collect(), moves)
    }),
    ("n frees of one tensor, which a list holds n times", &["flow"], |n| {
        let mut b = Builder::pte();
        let (sizes, order) = (b.numbers([1]), b.bytes(&[0]));
        let shape = [("sizes", To(sizes)), ("dim_order", To(order))];
        let tensor = b.held("EValue", "Tensor", &shape);
        let items = b.numbers(vec![0; n]);
        let list = b.held("EValue", "TensorList", &[("items", To(items))]);
        let args = b.numbers([1]);
        let call = b.held("Instruction", "DelegateCall", &[("args", To(args))]);
        let free = b.held("Instruction", "FreeCall", &[]);
        one_plan(b, &[], vec![tensor, list], [free, call].into_iter().cycle().take(2 * n).collect())
    }),
    ("n jumps ahead across each other, n moves, one jump back to each of them", &["flow"], |n| {
        let mut b = Builder::pte();
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
    ("n tensors that release 0.1 knows nothing of", &["release"], |n| {
        let mut b = Builder::pte();
        let tensor = external(&mut b, "key", 1);
        one_plan(b, &[], vec![tensor; n], vec![])
    }),
    ("n segments inside one another, the last one first", &["container"], |n| {
        let mut b = Builder::pte();
        let root = segments(&mut b, "Program", n);
        Made(b.finish(root, &vec![7; 2 * n]), vec![])
    }),
    ("n segments of a .ptd inside one another", &["container"], |n| {
        let mut b = Builder::ptd();
        let root = segments(&mut b, "FlatTensor", n);
        Made(b.finish(root, &vec![7; 2 * n]), vec![])
    }),
    ("one segment, n times", &["container"], |n| {
        let mut b = Builder::pte();
        let segment = b.table("DataSegment", &[("size", Number(8))]);
        let segments = b.tables(vec![segment; n]);
        let root = b.table("Program", &[("segments", To(segments))]);
        Made(b.finish(root, b"#!/bin/sh"), vec![])
    }),
    ("one list of mutable data, n times", &["container"], |n| {
        let mut b = Builder::pte();
        let list = b.table("SubsegmentOffsets", &[]);
        let lists = b.tables(vec![list; n]);
        let root = b.table("Program", &[("mutable_data_segments", To(lists))]);
        Made(b.finish(root, &[]), vec![])
    }),
    ("one key in n entries", &["names", "resolve"], |n| {
        let mut b = Builder::pte();
        let key = b.text("key");
        let entry = b.table("NamedData", &[("key", To(key))]);
        let entries = b.tables(vec![entry; n]);
        let root = b.table("Program", &[("named_data", To(entries))]);
        Made(b.finish(root, &[]), vec![])
    }),
    ("n keys that begin alike", &["resolve"], |n| {
        let mut b = Builder::pte();
        let entries: Vec<_> = (0..n)
            .map(|nth| {
                let key = b.text(&format!("{}{nth}", "x".repeat(64)));
                b.table("NamedData", &[("key", To(key))])
            })
            .collect();
        let entries = b.tables(entries);
        let root = b.table("Program", &[("named_data", To(entries))]);
        Made(b.finish(root, &[]), vec![])
    }),
    ("one key of length n, 3 times", &[], |n| {
        let mut b = Builder::pte();
        let key = b.text(&"\0".repeat(n));
        let entry = b.table("NamedData", &[("key", To(key))]);
        let entries = b.tables([entry; 3]);
        let root = b.table("Program", &[("named_data", To(entries))]);
        Made(b.finish(root, &[]), vec![])
    }),
    ("n external tensors of one key, n entries of it", &["external", "data", "names"], |n| {
        let mut b = Builder::pte();
        let (one, other) = (external(&mut b, "key", 3), external(&mut b, "key", 4));
        let pte = one_plan(b, &[], [vec![one; n], vec![other; n]].concat(), vec![]);
        let mut b = Builder::ptd();
        let entry = entry(&mut b, "key", 8);
        Made(pte.0, vec![entries(b, vec![entry; n])])
    }),
    ("n external tensors, n keys of three files", &["external"], |n| {
        let mut b = Builder::pte();
        let key = |nth: usize| format!("{}{nth}", "x".repeat(32));
        let tensors = (0..n).map(|nth| external(&mut b, &key(nth * 2), 1)).collect();
        let pte = one_plan(b, &[], tensors, vec![]);
        let data = || {
            let mut b = Builder::ptd();
            let all = (0..2 * n).map(|nth| entry(&mut b, &key(nth), 1)).collect();
            entries(b, all)
        };
        Made(pte.0, vec![data(), data(), data()])
    }),
    ("one external tensor n times, its data of n dimensions", &["external"], |n| {
        let mut b = Builder::pte();
        let tensor = external(&mut b, "key", 2);
        let pte = one_plan(b, &[], vec![tensor; n], vec![]);
        let mut b = Builder::ptd();
        let entry = entry(&mut b, "key", n);
        Made(pte.0, vec![entries(b, vec![entry])])
    }),
    ("n tables of 200 unshared vtables", &["layout", "values"], |n| {
        let mut b = Builder::pte();
        let values: Vec<_> = (0..200).map(|_| b.with_own_vtable("EValue")).collect();
        let values = values.iter().copied().cycle().take(n).collect();
        one_plan(b, &[], values, vec![])
    }),
    ("n lists of 64 bools that are none", &["layout"], |n| {
        let mut b = Builder::pte();
        let items = b.bytes(&[2; 64]);
        let list = b.held("EValue", "BoolList", &[("items", To(items))]);
        one_plan(b, &[], vec![list; n / 16], vec![])
    }),
];

/// Returns a program with the methods `plans`.
fn program(mut b: Builder, plans: Vec<At>) -> Made {
    let plans = b.tables(plans);
    let root = b.table("Program", &[("execution_plan", To(plans))]);
    Made(b.finish(root, &[]), vec![])
}

/// Returns a value of a graph that is input `nth`.
fn input(b: &mut Builder, nth: usize) -> At {
    let fields = [
        ("datatype", Number(1)),
        ("external_id", number(nth)),
        ("flags", Number(1)),
        ("id_out", number(nth)),
    ];
    b.held("XValue", "XNNTensorValue", &fields)
}

/// Returns a program that calls a delegate `n` times, with these arguments.
fn delegated(payload: &[u8], n: usize, args: &[usize]) -> Made {
    delegated_to("XnnpackBackend", payload, n, args)
}

fn delegated_to(backend: &str, payload: &[u8], n: usize, args: &[usize]) -> Made {
    let mut b = Builder::pte();
    let data = b.bytes(payload);
    let data = b.table("BackendDelegateInlineData", &[("data", To(data))]);
    let payloads = b.tables([data]);
    let id = b.text(backend);
    let reference = b.table("BackendDelegateDataReference", &[]);
    let delegate = b.table("BackendDelegate", &[("id", To(id)), ("processed", To(reference))]);
    let delegates = b.tables([delegate]);
    let args = b.numbers(args.iter().copied());
    let call = b.held("Instruction", "DelegateCall", &[("args", To(args))]);
    let instructions = b.tables(vec![call; n]);
    let chain = b.table("Chain", &[("instructions", To(instructions))]);
    let chains = b.tables([chain]);
    let plan = b.table("ExecutionPlan", &[("delegates", To(delegates)), ("chains", To(chains))]);
    let plans = b.tables([plan]);
    let fields = [("execution_plan", To(plans)), ("backend_delegate_data", To(payloads))];
    let root = b.table("Program", &fields);
    Made(b.finish(root, &[]), vec![])
}

/// Returns a program with one method, which has the lists `lists`, the values `values`, and one
/// chain of `instructions`.
fn one_plan(mut b: Builder, lists: &[(&str, At)], values: Vec<At>, instructions: Vec<At>) -> Made {
    let instructions = b.tables(instructions);
    let chain = b.table("Chain", &[("instructions", To(instructions))]);
    let (values, chains) = (b.tables(values), b.tables([chain]));
    let mut fields = vec![("values", To(values)), ("chains", To(chains))];
    fields.extend(lists.iter().map(|&(name, at)| (name, To(at))));
    let plan = b.table("ExecutionPlan", &fields);
    program(b, vec![plan])
}

/// Returns a program with the method `plan` and constants at `offsets` of a segment that holds `bytes`.
fn with_constants(
    mut b: Builder,
    plan: At,
    offsets: impl Iterator<Item = usize>,
    bytes: &[u8],
) -> Made {
    let offsets = b.longs(offsets);
    let constants = b.table("SubsegmentOffsets", &[("offsets", To(offsets))]);
    let segment = b.table("DataSegment", &[("size", number(bytes.len()))]);
    let (segments, plans) = (b.tables([segment]), b.tables([plan]));
    let fields = [
        ("execution_plan", To(plans)),
        ("segments", To(segments)),
        ("constant_segment", To(constants)),
    ];
    let root = b.table("Program", &fields);
    Made(b.finish(root, bytes), vec![])
}

/// Returns a program with one method that has the same chain `n` times.
fn chains(mut b: Builder, values: Vec<At>, instructions: &[At], n: usize) -> Made {
    let instructions = b.tables(instructions.iter().copied());
    let chain = b.table("Chain", &[("instructions", To(instructions))]);
    let (values, chains) = (b.tables(values), b.tables(vec![chain; n]));
    let plan = b.table("ExecutionPlan", &[("values", To(values)), ("chains", To(chains))]);
    program(b, vec![plan])
}

/// Returns a list with the same operator `n` times.
fn operator(b: &mut Builder, name: &str, n: usize) -> At {
    let (name, overload) = (b.text(name), b.text("out"));
    let operator = b.table("Operator", &[("name", To(name)), ("overload", To(overload))]);
    b.tables(vec![operator; n])
}

/// Returns a program that calls `aten::as_strided_copy` on a tensor of `n` dimensions, at least
/// `n` times. `behind` follows the name of the operator.
fn strides(n: usize, behind: &str) -> Made {
    let mut b = Builder::pte();
    let operators = operator(&mut b, &format!("aten::as_strided_copy{behind}"), 1);
    let (sizes, order) = (b.numbers(vec![1; n]), b.bytes(&vec![0; n]));
    let place = b.table("AllocationDetails", &[]);
    let fields = [("sizes", To(sizes)), ("dim_order", To(order)), ("allocation_info", To(place))];
    let tensor = b.held("EValue", "Tensor", &fields);
    let items = b.longs([0]);
    let list = b.held("EValue", "IntList", &[("items", To(items))]);
    let int = b.held("EValue", "Int", &[("int_val", Number(1))]);
    let args = b.numbers([1, 2, 2, 0, 1, 1]);
    let call = b.held("Instruction", "KernelCall", &[("args", To(args))]);
    let calls = vec![call; n.max(behind.len())];
    one_plan(b, &[("operators", operators)], vec![int, tensor, list], calls)
}

/// Returns a root with `n` nested segments: each lies in the next one.
fn segments(b: &mut Builder, root: &str, n: usize) -> At {
    let segments = (0..n).map(|nth| {
        let fields = [("offset", number(n - nth - 1)), ("size", number(2 * nth + 1))];
        b.table("DataSegment", &fields)
    });
    let segments: Vec<_> = segments.collect();
    let segments = b.tables(segments);
    let mut fields = vec![("segments", To(segments))];
    if root == "FlatTensor" {
        fields.push(("named_data", To(b.tables([]))));
    }
    b.table(root, &fields)
}

/// Returns a tensor whose data is external.
fn external(b: &mut Builder, key: &str, rank: usize) -> At {
    let (name, sizes) = (b.text(key), b.numbers(vec![1; rank]));
    let order = b.bytes(&(0..rank as u8).collect::<Vec<_>>());
    let fields = [("fully_qualified_name", To(name)), ("location", Number(1))];
    let extra = b.table("ExtraTensorInfo", &fields);
    let fields = [("sizes", To(sizes)), ("dim_order", To(order)), ("extra_tensor_info", To(extra))];
    b.held("EValue", "Tensor", &fields)
}

/// Returns an entry of a `.ptd`.
fn entry(b: &mut Builder, key: &str, rank: usize) -> At {
    let (key, sizes, order) = (b.text(key), b.numbers(vec![1; rank]), b.bytes(&vec![0; rank]));
    let layout = b.table("TensorLayout", &[("sizes", To(sizes)), ("dim_order", To(order))]);
    b.table("NamedData", &[("key", To(key)), ("tensor_layout", To(layout))])
}

/// Returns a `.ptd` of `entries`, all in one segment.
fn entries(mut b: Builder, entries: Vec<At>) -> Vec<u8> {
    let segment = b.table("DataSegment", &[("size", Number(8))]);
    let (segments, entries) = (b.tables([segment]), b.tables(entries));
    let root = b.table("FlatTensor", &[("segments", To(segments)), ("named_data", To(entries))]);
    b.finish(root, &[0; 8])
}

/// Returns the name of each family of programs, and a function that makes the program of size `n`.
pub fn programs() -> impl Iterator<Item = (&'static str, impl Fn(usize) -> Vec<u8>)> {
    FAMILIES.iter().map(|&(name, _, make)| (name, move |n| make(n).0))
}
