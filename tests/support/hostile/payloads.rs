//! Files that attack the rules on payloads of delegates.

use super::{
    Made, RuleFamily, delegate_call, delegated, delegated_to, input, root, vela_block,
    with_delegates,
};
use crate::build::vgf;
use crate::tables::{Field, Version, number};
use crate::{coreml, openvino};
use Field::{Number, To};
use binrw::BinWrite;
use binrw::io::Cursor;
use pte::flat::view::Table;
use pte::payload::vulkan::VulkanHeader;
use pte::payload::xnnpack::XnnpackHeader;
use pte::schema::xnnpack::view::_XNNNodeConv;

/// The families that attack the rules: the name, the subjects and the maker of each.
pub(super) const FAMILIES: &[RuleFamily] = &[
    ("a graph of one node, n times, and n calls", &["xnnpack"], |b, n| {
        let mut b = b.version.graph();
        let fields = _XNNNodeConv::DESC.fields.iter().map(|field| (field.name, Number(7)));
        let node = b.held("XNode", "XNNConv2d", &fields.collect::<Vec<_>>());
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
            // Nothing behind the header but instructions of one word, which do nothing.
            let header = [0x0723_0203, 0, 0, 0, 0];
            vgf_code(b.version, header.into_iter().chain(vec![0x1_0000; n]).collect(), n)
        },
    ),
    ("a VGF graph of n operators, whose operands are one list of lists", &["vgf"], |b, n| {
        let text = |text: &str| {
            let padded = format!("{text:\0<width$}", width = text.len() / 4 * 4 + 4);
            let words = padded.as_bytes().chunks(4).map(|word| word.try_into().unwrap());
            words.map(u32::from_le_bytes).collect::<Vec<_>>()
        };
        let mut words = vec![0x0723_0203, 0, 0, 0, 0];
        let mut add = |opcode: u32, operands: &[u32]| {
            words.push((operands.len() as u32 + 1) << 16 | opcode);
            words.extend(operands);
        };
        add(11, &[&[1], &text("TOSA.001000.1")[..]].concat());
        add(4182, &[&[2], &text("main")[..]].concat());
        add(21, &[3, 32, 0]);
        add(43, &[3, 4, 17]);
        add(44, &[&[3, 5][..], &[4; 17]].concat());
        add(44, &[&[3, 6][..], &[5; 17]].concat());
        // A type of tensors of 17 dimensions, and one of several tensors.
        add(4163, &[7, 3, 4, 6]);
        add(30, &[&[8][..], &[7; 64]].concat());
        add(4183, &[0, 2]);
        let count = n as u32 / 16;
        (0..count).for_each(|nth| add(44, &[7, 100 + nth, 6, 6, 6]));
        (0..count).for_each(|nth| {
            let operands = [100 + nth; 8];
            add(12, &[&[0, 100 + count + nth, 1, 2][..], &operands].concat());
        });
        (0..count).for_each(|nth| add(12, &[8, 100 + 2 * count + nth, 1, 5, 4, 4, 6, 6]));
        add(4186, &[]);
        vgf_code(b.version, words, n)
    }),
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

/// Returns a program with a module of VGF with SPIR-V code, n segments, of which the first has the module, and n
/// constants without resources.
fn vgf_code(version: Version, words: Vec<u32>, n: usize) -> Made {
    let mut modules = version.vgf();
    let (words, entry) =
        (modules.numbers(words.into_iter().map(|word| word as usize)), modules.text("main"));
    let code = modules.lists("SPIRV", &[("words", words)]);
    let module =
        modules.table("Module", &[("entry_point", To(entry)), ("code", Field::One(1, code))]);
    let list = modules.tables([module]);
    let modules_root = modules.lists("ModuleTable", &[("modules", list)]);
    let mut sequence = version.vgf();
    let segments = sequence.each(0..n, |b, nth| {
        b.table("SegmentInfo", &[("type", Number(1)), ("module_index", number(nth))])
    });
    let list = sequence.tables(segments);
    let sequence_root = sequence.lists("ModelSequenceTable", &[("segments", list)]);
    let mut resources = version.vgf();
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
    delegated_to(version, "VgfBackend", &vgf(sections, 5), n, &[])
}
