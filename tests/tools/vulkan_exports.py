#!/usr/bin/env python3
"""Exports small models to Vulkan: each operator of the backend whose shapes `pte check` judges, on several shapes.

    python tests/tools/vulkan_exports.py FOLDER [PART-OF-A-NAME]
    pte check -q FOLDER

Needs PyPI's executorch and torch, and takes an hour. FOLDER/NAME.pte is the program of a model. What the exporter
refuses is printed. `pte check` finds no `vulkan-shape` in any.
"""

import itertools
import logging
import sys
from pathlib import Path

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import to_edge_transform_and_lower
from torch import nn
from torch.export import Dim, export
from torch.fx import GraphModule
from torch.nn import functional as F
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e


class Function(nn.Module):
    """A model of one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def images():
    """Yields convolutions and poolings of images, and what follows them."""
    image = torch.randn(1, 8, 14, 15)
    convolutions = {
        "3": nn.Conv2d(8, 16, 3),
        "padded": nn.Conv2d(8, 16, 3, padding=1, stride=2),
        "dilated": nn.Conv2d(8, 12, (3, 5), dilation=(2, 1), padding=(2, 0)),
        "depthwise": nn.Conv2d(8, 8, 3, groups=8, padding=1),
        "multiplied": nn.Conv2d(8, 16, 3, groups=8),
        "grouped": nn.Conv2d(8, 16, 3, groups=2),
        "pointwise": nn.Conv2d(8, 20, 1, stride=2),
        "same": nn.Conv2d(8, 16, 4, padding="same"),
        "transposed": nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=1),
        "uneven": nn.ConvTranspose2d(8, 6, (3, 4), stride=(1, 2), bias=False),
        "transposed_groups": nn.ConvTranspose2d(8, 8, 3, groups=4),
    }
    for name, convolution in convolutions.items():
        yield f"conv2d_{name}", convolution, (image,)
        yield f"conv2d_relu_{name}", nn.Sequential(convolution, nn.ReLU6()), (image,)
    lines = {
        "3": nn.Conv1d(8, 16, 3),
        "padded": nn.Conv1d(8, 16, 5, padding=2, stride=2),
        "depthwise": nn.Conv1d(8, 8, 3, groups=8, padding=1),
        "pointwise": nn.Conv1d(8, 20, 1),
        "dilated": nn.Conv1d(8, 4, 3, dilation=3),
        "transposed": nn.ConvTranspose1d(8, 4, 4, stride=2, padding=1),
    }
    for (name, convolution), batches in itertools.product(lines.items(), (1, 2)):
        yield f"conv1d_{name}_{batches}", convolution, (torch.randn(batches, 8, 30),)
    pools = {
        "average": nn.AvgPool2d(3, stride=2, padding=1),
        "average_up": nn.AvgPool2d(3, stride=2, ceil_mode=True),
        "average_uneven": nn.AvgPool2d((3, 2), stride=(2, 1), padding=(1, 0), count_include_pad=False),
        "divisor": nn.AvgPool2d(3, divisor_override=4),
        "adaptive": nn.AdaptiveAvgPool2d(1),
        "adaptive_7_5": nn.AdaptiveAvgPool2d((7, 5)),
        "max": nn.MaxPool2d(3, stride=2, padding=1),
        "max_up": nn.MaxPool2d(3, stride=2, ceil_mode=True),
        "max_dilated": nn.MaxPool2d(3, dilation=2),
        "max_indices": nn.MaxPool2d(2, return_indices=True),
    }
    for (name, pool), shape in itertools.product(pools.items(), ((1, 8, 14, 15), (2, 4, 16, 16), (3, 17, 19))):
        yield f"pool_{name}_{len(shape)}_{shape[0]}", pool, (torch.randn(shape),)
    for name, norm in {"batch": nn.BatchNorm2d(8), "group": nn.GroupNorm(2, 8)}.items():
        yield f"norm_{name}", norm, (image,)


def reductions():
    """Yields reductions over each axis, over two and over all."""
    for shape in ((2, 3, 4, 5), (3, 4, 5), (6, 7)):
        for name, axes, keeps in itertools.product(
            ("mean", "sum", "amax", "amin", "var"), ((-1,), (0,), (1,), (-1, -2), (0, 1)), (True, False)
        ):
            reduce = getattr(torch, name)
            label = "_".join(map(str, axes))
            model = Function(lambda x, f=reduce, axes=axes, keeps=keeps: f(x, axes, keepdim=keeps))
            yield f"reduce_{name}_{len(shape)}_{label}_{int(keeps)}", model, (torch.randn(shape),)
        for name, keeps in itertools.product(("argmax", "argmin"), (True, False)):
            find = getattr(torch, name)
            model = Function(lambda x, f=find, keeps=keeps: f(x, -1, keeps))
            yield f"reduce_{name}_{len(shape)}_{int(keeps)}", model, (torch.randn(shape),)


def image_of(x):
    """Returns a tensor as an image."""
    return x if x.dim() == 4 else x.reshape(1, 1, x.shape[0], -1)


def moves():
    """Yields functions that move, cut, join and look up elements."""
    functions = {
        "slice": lambda x: x[1:],
        "slice_last": lambda x: x[..., 1:-1],
        "slice_step": lambda x: x[:, ::2],
        "slice_past": lambda x: x[:, 1:100],
        "select": lambda x: x[0],
        "select_last": lambda x: x[:, -1],
        "cat": lambda x: torch.cat([x, x * 2, x], 1),
        "cat_last": lambda x: torch.cat([x, x + 1], -1),
        "cat_uneven": lambda x: torch.cat([x[:, :1], x], 1),
        "stack": lambda x: torch.stack([x, x + 1], -1),
        "permute": lambda x: x.permute(-1, *range(x.dim() - 1)),
        "transpose": lambda x: x.transpose(0, -1) + 1,
        "expand": lambda x: x[:, :1].expand(*x.shape),
        "repeat": lambda x: x.repeat(*[2] * x.dim()),
        "interleave": lambda x: x.repeat_interleave(2, 0),
        "pad": lambda x: F.pad(x, (1, 0, 0, 2), value=1.5),
        "crop": lambda x: F.pad(x, (-1, 0)),
        "squeeze": lambda x: x[:1].squeeze(),
        "unsqueeze": lambda x: x[0].unsqueeze(-1),
        "view": lambda x: x.reshape(-1),
        "flatten": lambda x: x.flatten(1),
        "split": lambda x: torch.split(x, 2, 1),
        "split_sizes": lambda x: torch.split(x, [1, x.shape[1] - 1], 1),
        "unbind": lambda x: torch.unbind(x, 0),
        "layer_norm": lambda x: F.layer_norm(x, x.shape[-2:]),
        "softmax": lambda x: x.softmax(-1),
        "flip": lambda x: x.flip(1),
        "roll": lambda x: x.roll(1, 0),
        "unfold": lambda x: x.unfold(1, 2, 2),
        "gather": lambda x: torch.gather(x, -1, torch.ones((*x.shape[:-1], 2), dtype=torch.int64)),
        "index_select": lambda x: torch.index_select(x, 0, torch.tensor([1, 0, 1])),
        "full": lambda x: x + torch.full(x.shape, 2.0),
        "where": lambda x: torch.where(x > 0, x, x * 2),
        "broadcast": lambda x: x * x[..., :1],
        "pixel_shuffle": lambda x: F.pixel_shuffle(image_of(x).repeat(1, 4, 1, 1), 2),
        "nearest": lambda x: F.interpolate(image_of(x), scale_factor=2),
        "bilinear": lambda x: F.interpolate(image_of(x), size=(9, 11), mode="bilinear"),
        "grid": lambda x: F.grid_sample(
            image_of(x), torch.zeros(image_of(x).shape[0], 3, 4, 2), padding_mode="border", align_corners=True
        ),
    }
    for (name, function), shape in itertools.product(functions.items(), ((2, 3, 4, 5), (3, 4, 5), (6, 7))):
        yield f"move_{name}_{len(shape)}", Function(function), (torch.randn(shape),)
    for shape in ((3,), (2, 3), (2, 3, 4)):
        yield f"embedding_{len(shape)}", nn.Embedding(10, 8), (torch.zeros(shape, dtype=torch.int64),)


def products():
    """Yields products of matrices."""
    for shape in ((7,), (3, 7), (2, 3, 7), (1, 2, 3, 7)):
        for bias in (True, False):
            yield f"linear_{len(shape)}_{int(bias)}", nn.Linear(7, 5, bias=bias), (torch.randn(shape),)
    for one, other in (((3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 2, 3, 4), (2, 2, 4, 5)), ((2, 3, 4), (4, 5))):
        matrices = (torch.randn(one), torch.randn(other))
        yield f"matmul_{len(one)}_{len(other)}", Function(torch.matmul), matrices
    for bias in ((5,), (3, 5)):
        matrices = (torch.randn(bias), torch.randn(3, 4), torch.randn(4, 5))
        yield f"addmm_{len(bias)}", Function(lambda c, a, b: torch.addmm(c, a, b, alpha=2)), matrices
    yield "transformer", nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (torch.randn(1, 5, 16),)


def dynamic():
    """Yields models whose first axis, or height, is only known when they run."""
    rows, height = {0: Dim("rows", min=4, max=20)}, {2: Dim("height", min=8, max=32)}
    functions = {
        "cat": lambda x: torch.cat([x, x], 0),
        "slice": lambda x: x[1:],
        "half": lambda x: x[: x.shape[0] // 2],
        "select": lambda x: x[-1],
        "permute": lambda x: x.permute(1, 0) + 1,
        "view": lambda x: x.reshape(-1),
        "mean": lambda x: x.mean(0, keepdim=True),
        "expand": lambda x: x.unsqueeze(0).expand(2, -1, -1) + 1,
        "zeros": lambda x: x + torch.zeros(x.shape[0], 1),
        "repeat": lambda x: x.repeat(2, 1),
        "pad": lambda x: F.pad(x, (1, 1, 0, 2)),
        "split": lambda x: torch.split(x, [3, 4], 1),
        "index_select": lambda x: torch.index_select(x, 0, torch.tensor([0, 1])),
    }
    for name, function in functions.items():
        yield f"dynamic_{name}", Function(function), (torch.randn(6, 7),), (rows,)
    yield "dynamic_linear", nn.Linear(7, 5), (torch.randn(3, 7),), (rows,)
    image = torch.randn(1, 8, 16, 16)
    yield "dynamic_conv", nn.Conv2d(8, 16, 3, stride=2, padding=1), (image,), (height,)
    pool = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.MaxPool2d(2))
    yield "dynamic_pool", pool, (image,), (height,)


class Sum(nn.Module):
    """Two convolutions that are added."""

    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 1)

    def forward(self, x):
        return self.one(x) + self.other(x)


def quantized():
    """Yields models of 8-bit integers, as the quantizer of XNNPACK makes them."""
    image = torch.randn(1, 8, 16, 16)
    models = {
        "conv": nn.Conv2d(8, 16, 3, stride=2, padding=1),
        "dilated": nn.Conv2d(8, 16, 3, dilation=2),
        "depthwise": nn.Conv2d(8, 8, 3, groups=8, padding=1),
        "pointwise": nn.Conv2d(8, 24, 1),
        "grouped": nn.Conv2d(8, 16, 3, groups=2),
        "transposed": nn.ConvTranspose2d(8, 8, 2, stride=2),
        "shuffle": nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.PixelShuffle(2)),
        "sum": Sum(),
    }
    for name, model in models.items():
        yield f"quantized_{name}", quantize(model, image), (image,)
    for rows in (1, 4):
        inputs = torch.randn(rows, 32)
        yield f"quantized_linear_{rows}", quantize(nn.Linear(32, 64), inputs), (inputs,)


def quantize(model, inputs):
    """Returns a model quantized for inputs like these."""
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(export(model.eval(), (inputs,)).module(), quantizer)
    prepared(inputs)
    return convert_pt2e(prepared)


def main():
    folder, part = Path(sys.argv[1]), "".join(sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    logging.disable(logging.INFO)
    torch.manual_seed(0)
    models = itertools.chain(quantized(), images(), reductions(), moves(), products(), dynamic())
    for name, model, inputs, *shapes in models:
        if part not in name:
            continue
        try:
            # A quantized model has no other mode than evaluation.
            model = model if isinstance(model, GraphModule) else model.eval()
            # A function takes its inputs as one tuple.
            of_inputs = tuple(shapes) if isinstance(model, Function) else sum(shapes, ())
            exported = export(model, inputs, dynamic_shapes=of_inputs or None)
            program = to_edge_transform_and_lower(exported, partitioner=[VulkanPartitioner()]).to_executorch()
        except Exception as error:
            print(f"{name}: {str(error).strip().splitlines()[:1]}", flush=True)
            continue
        (folder / f"{name}.pte").write_bytes(program.buffer)


if __name__ == "__main__":
    main()
