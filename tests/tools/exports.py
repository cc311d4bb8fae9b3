#!/usr/bin/env python3
"""Exports small models with unusual settings of ExecuTorch's exporter, for `pte check` and the runtime.

    python tests/tools/exports.py FOLDER [PART-OF-A-NAME]

Needs PyPI's executorch and torch. Each row of `rows` is a model and its settings: options of partitioners,
quantizers, ExecutorchBackendConfig and EdgeCompileConfig. FOLDER/NAME.pte is the program, with its .ptd files
beside it as NAME.KEY.ptd. FOLDER/exports.jsonl has a line for each row: its name, and the error if the exporter refused
it. A setting whose file `pte check` refuses must be named by the help text of the rule (docs/rules.md).
"""

import importlib
import itertools
import json
import sys
import warnings
from pathlib import Path

import torch
from executorch.backends.xnnpack.partition.config.xnnpack_config import ConfigPrecisionType as Precision
from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
    XnnpackDynamicallyQuantizedPartitioner,
    XnnpackFloatingPointPartitioner,
    XnnpackPartitioner,
    XnnpackQuantizedPartitioner,
)
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import (
    EdgeCompileConfig,
    ExecutorchBackendConfig,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.exir.dynamic_shape import DynamicMemoryPlanningMode
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy, naive
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.sym_shape_eval_pass import (
    ConstraintBasedSymShapeEvalPass,
    HintBasedSymShapeEvalPass,
)
from executorch.kernels import quantized  # noqa: F401 registers the out variants of quantized operators
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e


class Function(nn.Module):
    """A model of one function, with submodules by name."""

    def __init__(self, function, **modules):
        super().__init__()
        self.function = function
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, *inputs):
        return self.function(self, *inputs)


class Counter(nn.Module):
    """A model with a buffer that each run changes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(2, 8))
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        self.state.add_(x)
        return self.linear(self.state) + 1


class Image(nn.Module):
    """A convolution of each kind, poolings and a linear layer."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, groups=8)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.last = nn.Linear(4, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = torch.max_pool2d(nn.functional.hardtanh(self.depthwise(x)), 2)
        x = self.up(x).mean((2, 3))
        return torch.softmax(self.last(x), -1)


def linear():
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 32)), (torch.randn(2, 64),)


def image():
    return Image(), (torch.randn(1, 3, 12, 12),)


def counter():
    return Counter(), (torch.randn(2, 8),)


def mixed():
    """Quantized and floating operators of many kinds, side by side."""
    model = Function(
        lambda m, x: torch.sigmoid(m.a(x)) + torch.tanh(m.b(x)) * nn.functional.gelu(m.a(x)).sum(-1, keepdim=True),
        a=nn.Linear(16, 16),
        b=nn.Linear(16, 16),
    )
    return model, (torch.randn(3, 16),)


def branch():
    return Function(
        lambda m, x: torch.cond(x.sum() > 0, lambda x: m.a(x), lambda x: x * 2, (x,)), a=nn.Linear(8, 8)
    ), (torch.randn(2, 8),)


def mapped():
    from functorch.experimental.control_flow import map as map_over

    return Function(lambda m, x, y: map_over(lambda a, b: m.a(a) + b, x, y), a=nn.Linear(4, 4)), (
        torch.randn(3, 2, 4),
        torch.randn(2, 4),
    )


def looped():
    from torch._higher_order_ops.while_loop import while_loop

    return Function(
        lambda m, n, x: while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 2 + 1), (n, x))
    ), (torch.tensor(0), torch.randn(2, 4))


def scanned():
    from torch._higher_order_ops.scan import scan

    return Function(lambda m, x: scan(lambda c, y: (c + y, c * y), torch.zeros(4), x)), (torch.randn(5, 4),)


def chosen():
    return Function(lambda m, x: x[x > 0]), (torch.randn(8),)


def attention():
    return Function(
        lambda m, x: nn.functional.scaled_dot_product_attention(m.a(x), m.b(x), x), a=nn.Linear(8, 8), b=nn.Linear(8, 8)
    ), (torch.randn(1, 2, 4, 8),)


def lora():
    return Function(
        lambda m, x: m.a(x) + m.up(m.down(x)) * 0.5,
        a=nn.Linear(16, 16),
        down=nn.Linear(16, 2, bias=False),
        up=nn.Linear(2, 16, bias=False),
    ), (torch.randn(2, 16),)


def operators():
    """Yields models of one or two operators, which partitioners and quantizers treat each in its own way."""
    square, pair = torch.randn(1, 4, 8, 8), (torch.randn(2, 8), torch.randn(2, 8))
    for name, function, inputs in [
        ("add", lambda m, x, y: x + y, pair),
        ("add-relu", lambda m, x, y: (x + y).relu(), pair),
        ("sub-mul", lambda m, x, y: (x - y) * y, pair),
        ("div-max", lambda m, x, y: torch.maximum(x / 2, y), pair),
        ("cat-slice", lambda m, x, y: torch.cat([x, y], 1)[:, 2:10], pair),
        ("clamp", lambda m, x, y: x.clamp(-0.5, 0.5) + y.clamp(min=0), pair),
        ("matmul", lambda m, x, y: x @ y.t(), pair),
        ("permute-reshape", lambda m, x: x.permute(0, 2, 3, 1).reshape(8, 32) + 1, (square,)),
        ("pool", lambda m, x: nn.functional.avg_pool2d(torch.max_pool2d(x, 2), 2), (square,)),
        ("upsample", lambda m, x: nn.functional.interpolate(x, scale_factor=2, mode="bilinear"), (square,)),
        ("pad", lambda m, x: nn.functional.pad(x, (1, 1, 1, 1)).mean((2, 3), keepdim=True), (square,)),
        ("activations", lambda m, x: torch.cat([x.sigmoid(), x.tanh(), nn.functional.leaky_relu(x)], 1), (square,)),
        ("softmax", lambda m, x: torch.softmax(x * 2, -1).exp().log(), (square,)),
        ("square-root", lambda m, x: (x * x + 1).sqrt().rsqrt() - x.abs().neg(), (square,)),
    ]:
        yield name, lambda function=function, inputs=inputs: (Function(function), inputs)
    for name, layer, inputs in [
        ("conv1d", lambda: nn.Conv1d(4, 6, 3), (square[0],)),
        ("conv-groups", lambda: nn.Conv2d(4, 8, 3, groups=2, stride=2), (square,)),
        ("conv-no-bias", lambda: nn.Conv2d(4, 8, 1, bias=False), (square,)),
        ("depthwise", lambda: nn.Conv2d(4, 8, 3, groups=4, dilation=2), (square,)),
        ("transposed-groups", lambda: nn.ConvTranspose2d(4, 8, 3, groups=2, output_padding=1, stride=2), (square,)),
        ("prelu", lambda: nn.PReLU(4), (square,)),
        ("norms", lambda: nn.Sequential(nn.BatchNorm2d(4), nn.LayerNorm(8), nn.GroupNorm(2, 4)), (square,)),
        ("linear-no-bias", lambda: nn.Sequential(nn.Linear(8, 8, bias=False), nn.GELU()), (pair[0],)),
        ("embedding", lambda: nn.Sequential(nn.Embedding(8, 8), nn.Linear(8, 4)), (torch.tensor([1, 2]),)),
        ("lstm", lambda: Function(lambda m, x: m.a(x)[0], a=nn.LSTM(8, 4)), (torch.randn(3, 2, 8),)),
    ]:
        yield name, lambda layer=layer, inputs=inputs: (layer(), inputs)


def quantize(model, inputs, qat=False, **options):
    """Quantizes a model by PT2E with XNNPACK's quantizer."""
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_qat=qat, **options))
    captured = torch.export.export(model.train() if qat else model, inputs, strict=True).module()
    prepared = prepare_qat_pt2e(captured, quantizer) if qat else prepare_pt2e(captured, quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


def weights(model, bits, group):
    """Quantizes the weights of linear layers by torchao, and their inputs when they run."""
    from torchao.quantization.granularity import PerAxis, PerGroup
    from torchao.quantization.quant_api import (
        Int8DynamicActivationIntxWeightConfig,
        quantize_,
    )

    granularity = PerGroup(group) if group else PerAxis(0)
    dtype = getattr(torch, f"int{bits}")
    quantize_(model, Int8DynamicActivationIntxWeightConfig(weight_dtype=dtype, weight_granularity=granularity))
    return model


def export(
    made, partition=None, quantizer=None, torchao=None, dtype=None, dynamic=None, edge=None, old_way=False, **config
):
    """Returns the program of a model, by the settings of a row."""
    model, inputs = made()
    model = model.eval()
    if dtype:
        model, inputs = model.to(dtype), tuple(x.to(dtype) if x.is_floating_point() else x for x in inputs)
    if torchao:
        model = weights(model, *torchao)
    if quantizer is not None:
        model = quantize(model, inputs, **quantizer)
    exported = torch.export.export(model, inputs, dynamic_shapes=dynamic, strict=quantizer is not None)
    edge = EdgeCompileConfig(**(edge or {}))
    if old_way:
        lowered = to_edge(exported, compile_config=edge)
        lowered = lowered.to_backend(partition()) if partition else lowered
    else:
        lowered = to_edge_transform_and_lower(
            exported, partitioner=[partition()] if partition else None, compile_config=edge
        )
    return lowered.to_executorch(ExecutorchBackendConfig(**config))


def methods(partition=None, **config):
    """Returns a program with two methods, of which each reads the same weights, and constant methods."""
    model, inputs = linear()
    other = Function(lambda m, x: m.a(x) + 1, a=model[0])
    programs = {name: torch.export.export(m.eval(), inputs) for name, m in [("forward", model), ("other", other)]}
    lowered = to_edge_transform_and_lower(
        programs,
        partitioner={name: [partition()] for name in programs} if partition else None,
        constant_methods={"size": 64, "name": "linear"},
    )
    return lowered.to_executorch(ExecutorchBackendConfig(**config))


def backend(module, name, *arguments):
    """Returns a function that makes a partitioner, whose module may need packages that are not installed."""
    return lambda: getattr(importlib.import_module(f"executorch.backends.{module}"), name)(
        *(argument() for argument in arguments)
    )


def compile_spec(module, call):
    return lambda: call(importlib.import_module(f"executorch.backends.{module}"))


def xnnpack(*args, **options):
    return lambda: XnnpackPartitioner(*args, **options)


def rows():
    """Yields a name and a function that makes the program."""

    def row(name, made, **settings):
        return name, lambda: export(made, **settings)

    x = XnnpackPartitioner
    static, channels = {}, {"is_per_channel": True}
    dynamic = {"is_per_channel": True, "is_dynamic": True}
    planning = MemoryPlanningPass

    # XNNPACK's partitioner: every precision on every kind of model.
    quantizers = {"float": None, "static": static, "channels": channels, "dynamic": dynamic}
    precisions = {
        "fp32": Precision.FP32,
        "static": Precision.STATIC_QUANT,
        "dynamic": Precision.DYNAMIC_QUANT,
        "fp32-static": [Precision.FP32, Precision.STATIC_QUANT],
    }
    for (kind, quantizer), (only, precision) in itertools.product(quantizers.items(), precisions.items()):
        for made in [linear, image]:
            yield row(
                f"xnn-{made.__name__}-{kind}-as-{only}",
                made,
                quantizer=quantizer,
                partition=xnnpack(config_precisions=precision),
            )
    for kind, quantizer in quantizers.items():
        for made in [linear, image, mixed]:
            name = f"{made.__name__}-{kind}"
            yield row(f"xnn-{name}", made, quantizer=quantizer, partition=x)
            yield row(f"xnn-{name}-per-op", made, quantizer=quantizer, partition=xnnpack(per_op_mode=True))
            yield row(f"xnn-{name}-old-way", made, quantizer=quantizer, partition=x, old_way=True)
            yield row(f"portable-{name}", made, quantizer=quantizer)
            yield row(f"portable-{name}-fused", made, quantizer=quantizer, do_quant_fusion_and_const_prop=True)
        yield row(
            f"xnn-linear-{kind}-computed-weights",
            linear,
            quantizer=quantizer,
            partition=xnnpack(force_non_static_weights_for_f32_linear=True),
        )
        yield row(
            f"xnn-linear-{kind}-external", linear, quantizer=quantizer, partition=x, external_constants=True
        )
    for name, partition in [
        ("floating", XnnpackFloatingPointPartitioner),
        ("quantized", XnnpackQuantizedPartitioner),
        ("dynamically", XnnpackDynamicallyQuantizedPartitioner),
    ]:
        for kind, quantizer in quantizers.items():
            yield row(f"xnn-{name}-of-{kind}", linear, quantizer=quantizer, partition=partition)
    yield row("xnn-bf16", linear, dtype=torch.bfloat16, partition=xnnpack(enable_bf16=True))
    yield row("xnn-bf16-off", linear, dtype=torch.bfloat16, partition=x)
    yield row("xnn-half", image, dtype=torch.float16, partition=x)
    yield row("xnn-half-computed", linear, dtype=torch.float16, partition=xnnpack(
        force_non_static_weights_for_f32_linear=True))
    yield row("xnn-attention", attention, partition=x)
    yield row("xnn-lora", lora, partition=x)
    yield row("xnn-lora-computed", lora, partition=xnnpack(force_non_static_weights_for_f32_linear=True))
    yield row("xnn-branch", branch, partition=x)

    # Single operators: every quantizer, and what lowers a part of its nodes alone.
    partitioners = {
        "xnn": x,
        "fp32": xnnpack(config_precisions=Precision.FP32),
        "static": xnnpack(config_precisions=Precision.STATIC_QUANT),
        "per-op": xnnpack(per_op_mode=True),
        "quantized": XnnpackQuantizedPartitioner,
    }
    for (name, made), (kind, quantizer), (only, partition) in itertools.product(
        operators(), quantizers.items(), partitioners.items()
    ):
        yield row(f"operator-{name}-{kind}-{only}", made, quantizer=quantizer, partition=partition)

    # Quantizers.
    for name, options in {
        "qat": {"qat": True},
        "qat-channels": {"qat": True, "is_per_channel": True},
        "qat-dynamic": {"qat": True, "is_dynamic": True},
        "four-bits": {"is_per_channel": True, "is_dynamic": True, "weight_qmin": -8, "weight_qmax": 7},
        "four-bits-tensor": {"weight_qmin": -8, "weight_qmax": 7},
        "four-bits-static": {"is_per_channel": True, "weight_qmin": -8, "weight_qmax": 7},
        "narrow": {"act_qmin": -127, "act_qmax": 127},
        "unsigned": {"act_qmin": 0, "act_qmax": 255},
        "dynamic-tensor": {"is_dynamic": True},
    }.items():
        for made in [linear, image]:
            yield row(f"quantizer-{name}-{made.__name__}", made, quantizer=options, partition=x)
    for bits, group in [(8, 0), (8, 32), (4, 0), (4, 32), (2, 32)]:
        for way, partition in [("xnn", x), ("portable", None)]:
            yield row(f"torchao-{way}-{bits}-{group}", linear, torchao=(bits, group), partition=partition)

    # ExecutorchBackendConfig.
    greedy_only = MemoryPlanningAlgorithmSuite(algo_list=[greedy])
    for name, config in {
        "no-mutable-memory": {
            "memory_planning_pass": planning(alloc_mutable_buffers=False),
            "emit_mutable_buffer_names": True,
        },
        "shared-mutable": {"memory_planning_pass": planning(share_mutable_buffers=True)},
        "no-input": {"memory_planning_pass": planning(alloc_graph_input=False)},
        "no-output": {"memory_planning_pass": planning(alloc_graph_output=False)},
        "no-input-output": {
            "memory_planning_pass": planning(alloc_graph_input=False, alloc_graph_output=False)
        },
        "overlap": {"memory_planning_pass": planning(allow_lifetime_and_storage_overlap=True)},
        "naive": {"memory_planning_pass": planning(memory_planning_algo=naive)},
        "greedy": {"memory_planning_pass": planning(memory_planning_algo=greedy_only)},
        "planned-by-1": {"memory_planning_pass": planning(alignment=1)},
        "planned-by-64": {"memory_planning_pass": planning(alignment=64)},
        "external": {"external_constants": True},
        "external-some": {"external_constants": lambda node: "some" if "weight" in node.name else None},
        "external-mutable": {"external_mutable_weights": True},
        "inline-delegates": {"extract_delegate_segments": False},
        "segments-by-1": {"segment_alignment": 1},
        "segments-by-4096": {"segment_alignment": 4096},
        "constants-by-4": {"constant_tensor_alignment": 4},
        "constants-by-1024": {"constant_tensor_alignment": 1024},
        "delegates-by-1": {"delegate_alignment": 1},
        "delegates-by-1024": {"delegate_alignment": 1024},
        "delegates-by-1024-inline": {"delegate_alignment": 1024, "extract_delegate_segments": False},
        "hints": {"sym_shape_eval_pass": HintBasedSymShapeEvalPass()},
        "constraints": {"sym_shape_eval_pass": ConstraintBasedSymShapeEvalPass()},
        "no-views": {"remove_view_copy": False},
        "names": {"emit_mutable_buffer_names": True},
        "stacktrace": {"emit_stacktrace": True},
        "reinplace": {"run_reinplace_pass": True},
        "symbolic": {"dynamic_memory_planning_mode": DynamicMemoryPlanningMode.SYMBOLIC},
        "one-device": {"enable_non_cpu_memory_planning": False},
        "fusion": {"do_quant_fusion_and_const_prop": True},
    }.items():
        yield row(f"config-{name}-counter", counter, **config)
        yield row(f"config-{name}-counter-xnn", counter, partition=x, **config)
        yield row(f"config-{name}-image-xnn", image, partition=x, **config)
    for name, edge in {
        "no-dim-order": {"_skip_dim_order": True},
        "no-validity": {"_check_ir_validity": False},
        "preserved": {"preserve_ops": [torch.ops.aten.linear.default]},
    }.items():
        yield row(f"edge-{name}-image", image, edge=edge)
        yield row(f"edge-{name}-linear-xnn", linear, edge=edge, partition=x)

    # Control flow, shapes and methods.
    for made in [branch, mapped, looped, scanned, chosen, attention, lora]:
        yield row(f"portable-{made.__name__}", made)
        yield row(
            f"portable-{made.__name__}-unplanned",
            made,
            memory_planning_pass=planning(alloc_graph_input=False, alloc_graph_output=False),
        )
    scale = Function(lambda m, x: (x * 2).relu())
    for kind, partition in [("portable", None), ("xnn", x)]:
        for mode in DynamicMemoryPlanningMode:
            for sizes in [HintBasedSymShapeEvalPass(), ConstraintBasedSymShapeEvalPass()]:
                yield row(
                    f"{kind}-batch-{mode.name.lower()}-{type(sizes).__name__[:4].lower()}",
                    lambda: (scale, (torch.randn(4, 8),)),
                    dynamic={"inputs": ({0: torch.export.Dim("batch", min=1, max=16)},)},
                    partition=partition,
                    dynamic_memory_planning_mode=mode,
                    sym_shape_eval_pass=sizes,
                )
    for name, settings in {
        "portable": {},
        "xnn": {"partition": x},
        "xnn-external": {"partition": x, "external_constants": True},
        "xnn-inline": {"partition": x, "extract_delegate_segments": False},
        "shared": {"memory_planning_pass": planning(share_mutable_buffers=True)},
    }.items():
        yield f"methods-{name}", lambda settings=settings: methods(**settings)

    # Other partitioners. Those whose compiler is not installed are refused.
    others = {
        "vulkan": backend("vulkan.partitioner.vulkan_partitioner", "VulkanPartitioner"),
        "webgpu": backend("webgpu.partitioner.partitioner", "WebGPUPartitioner"),
        "mlx": backend("mlx.partitioner", "MLXPartitioner"),
        "native": backend("native.partitioner", "NativePartitioner"),
        "coreml": backend("apple.coreml.partition.coreml_partitioner", "CoreMLPartitioner"),
        "openvino": backend("openvino.partitioner", "OpenvinoPartitioner", lambda: []),
        "example": backend("example.example_partitioner", "ExamplePartitioner"),
        "tosa": backend(
            "arm.tosa.partitioner",
            "TOSAPartitioner",
            compile_spec("arm.tosa.compile_spec", lambda module: module.TosaCompileSpec("TOSA-1.0+FP")),
        ),
    }
    for (name, partition), made in itertools.product(others.items(), [linear, image]):
        yield row(f"{name}-{made.__name__}", made, partition=partition)


def main():
    warnings.filterwarnings("ignore")
    folder, part = Path(sys.argv[1]), "".join(sys.argv[2:3])
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "exports.jsonl", "a", encoding="utf-8") as log:
        for name, make in rows():
            if part not in name or (folder / f"{name}.pte").exists():
                continue
            torch.manual_seed(0)
            error = None
            try:
                program = make()
                (folder / f"{name}.pte").write_bytes(program.buffer)
                for key, data in (program._tensor_data or {}).items():
                    (folder / f"{name}.{key}.ptd").write_bytes(bytes(data))
            except Exception as refused:
                error = f"{type(refused).__name__}: {refused}".splitlines()[0][:300]
            log.write(json.dumps({"name": name, "error": error}) + "\n")
            log.flush()


if __name__ == "__main__":
    main()
