"""Writes the sample models: real architectures, a symbolic batch, weights without bytes.

Run `python sample_models/build_samples.py` to write the files beside this script, or with
`--check` to rebuild them in memory and compare. Nothing is random and no clock is read: the same
bytes come out on every run. A weight is an initializer whose data is said to lie in a file that
does not exist, so each sample is a few kilobytes of structure.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import onnx
from onnx import TensorProto, helper

OPSET = 17
IR_VERSION = 8
ABSENT_FILE = "weights-are-not-shipped"

Attribute = int | float | Sequence[int]


@dataclass
class Builder:
    """Collects nodes and weights; every layer returns the name of its output."""

    name: str
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[TensorProto] = field(default_factory=list)

    def weight(self, name: str, shape: Sequence[int]) -> str:
        """A float weight without bytes."""
        proto = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        proto.data_location = TensorProto.EXTERNAL
        proto.external_data.add(key="location", value=ABSENT_FILE)
        self.weights.append(proto)
        return name

    def constant(self, name: str, number: float) -> str:
        """A float scalar with its value in the file."""
        self.weights.append(helper.make_tensor(name, TensorProto.FLOAT, [], [number]))
        return name

    def op(self, op_type: str, name: str, inputs: Sequence[str], **attributes: Attribute) -> str:
        """A node whose output bears its name."""
        output = f"{name}:0"
        node = helper.make_node(op_type, inputs, [output], name=name)
        node.attribute.extend(
            helper.make_attribute(key, value) for key, value in sorted(attributes.items())
        )
        self.nodes.append(node)
        return output

    def conv(self, name: str, x: str, channels: tuple[int, int], **window: int) -> str:
        """A square convolution with bias, padded so that stride 1 keeps the size.

        `window` may give kernel, stride and group (1 by default).
        """
        kernel, stride, group = (window.get(key, 1) for key in ("kernel", "stride", "group"))
        inputs, outputs = channels
        weight = self.weight(f"{name}/weight", (outputs, inputs // group, kernel, kernel))
        bias = self.weight(f"{name}/bias", (outputs,))
        return self.op("Conv", name, (x, weight, bias), **_window(kernel, stride), group=group)

    def relu(self, name: str, x: str) -> str:
        """A ReLU."""
        return self.op("Relu", name, (x,))

    def classifier(self, x: str, channels: int, classes: int) -> str:
        """Global average pooling and one fully connected layer."""
        pooled = self.op("GlobalAveragePool", "head/pool", (x,))
        flat = self.op("Flatten", "head/flatten", (pooled,), axis=1)
        weight = self.weight("head/fc/weight", (classes, channels))
        bias = self.weight("head/fc/bias", (classes,))
        return self.op("Gemm", "head/fc", (flat, weight, bias), transB=1)

    def model(self, output: str, resolution: int, classes: int) -> onnx.ModelProto:
        """The finished, checked model: `image` in, `output` out."""
        shape = ("batch", 3, resolution, resolution)
        image = helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)
        self.nodes[-1].output[0] = "scores"
        scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ("batch", classes))
        graph = helper.make_graph(self.nodes, self.name, [image], [scores], self.weights)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            producer_name="build_samples",
            ir_version=IR_VERSION,
        )
        assert self.nodes[-1].name in output  # the last layer is the output
        return model


def _window(kernel: int, stride: int) -> Mapping[str, Sequence[int]]:
    return {
        "kernel_shape": (kernel, kernel),
        "strides": (stride, stride),
        "pads": (kernel // 2,) * 4,
    }


RESNET50_BLOCKS = (3, 4, 6, 3)
RESNET_EXPANSION = 4
VARIANTS = ("v1", "v15", "slim")


def resnet(
    variant: str,
    blocks: Sequence[int] = RESNET50_BLOCKS,
    width: int = 64,
    resolution: int = 224,
    classes: int = 1000,
) -> onnx.ModelProto:
    """A bottleneck ResNet with batch norm folded (He et al., 2015, table 1).

    Where a stage halves the size: `v1` in its first 1x1, `v15` in its first 3x3 (both in the first
    block, from the second stage on); `slim` in the 3x3 of the last block of every stage but the
    last, as TF-slim's resnet_v1 does.
    """
    assert variant in VARIANTS
    builder = Builder(f"resnet-{variant}")
    x = builder.conv("stem/conv", "image", (3, width), kernel=7, stride=2)
    x = builder.op("MaxPool", "stem/pool", (builder.relu("stem/relu", x),), **_window(3, 2))
    channels = width
    for stage, count in enumerate(blocks, 1):
        inner = width * 2 ** (stage - 1)
        for block in range(1, count + 1):
            strides = _strides(variant, (stage, block), (len(blocks), count))
            name = f"stage{stage}/block{block}"
            x = _bottleneck(builder, name, x, (channels, inner), strides)
            channels = inner * RESNET_EXPANSION
    return builder.model(builder.classifier(x, channels, classes), resolution, classes)


def _strides(variant: str, at: tuple[int, int], last: tuple[int, int]) -> tuple[int, int]:
    """Strides of a block's first 1x1 and of its 3x3."""
    (stage, block), (stages, blocks) = at, last
    if variant == "slim":
        return (1, 2) if block == blocks and stage < stages else (1, 1)
    if block > 1 or stage == 1:
        return (1, 1)
    return (2, 1) if variant == "v1" else (1, 2)


def _bottleneck(
    builder: Builder, name: str, x: str, channels: tuple[int, int], strides: tuple[int, int]
) -> str:
    """1x1, 3x3, 1x1 and the shortcut; an identity one is subsampled when the block strides."""
    inputs, inner = channels
    outputs = inner * RESNET_EXPANSION
    stride = strides[0] * strides[1]
    shortcut = x
    if inputs != outputs:
        shortcut = builder.conv(f"{name}/shortcut", x, (inputs, outputs), stride=stride)
    elif stride > 1:
        shortcut = builder.op("MaxPool", f"{name}/subsample", (x,), **_window(1, stride))
    y = builder.conv(f"{name}/conv1", x, (inputs, inner), stride=strides[0])
    y = builder.relu(f"{name}/relu1", y)
    y = builder.conv(f"{name}/conv2", y, (inner, inner), kernel=3, stride=strides[1])
    y = builder.relu(f"{name}/relu2", y)
    y = builder.conv(f"{name}/conv3", y, (inner, outputs))
    return builder.relu(f"{name}/relu3", builder.op("Add", f"{name}/add", (y, shortcut)))


def teaching_resnet(
    stages: int = 2, blocks: int = 2, width: int = 16, resolution: int = 32, classes: int = 10
) -> onnx.ModelProto:
    """A small residual network of two-convolution blocks, as He et al. use for CIFAR-10."""
    builder = Builder("teaching-resnet")
    x = builder.relu("stem/relu", builder.conv("stem/conv", "image", (3, width), kernel=3))
    channels = width
    for stage in range(1, stages + 1):
        outputs = width * 2 ** (stage - 1)
        for block in range(1, blocks + 1):
            stride = 2 if block == 1 and stage > 1 else 1
            x = _basic_block(builder, f"stage{stage}/block{block}", x, (channels, outputs), stride)
            channels = outputs
    return builder.model(builder.classifier(x, channels, classes), resolution, classes)


def _basic_block(
    builder: Builder, name: str, x: str, channels: tuple[int, int], stride: int
) -> str:
    inputs, outputs = channels
    shortcut = x
    if inputs != outputs or stride > 1:
        shortcut = builder.conv(f"{name}/shortcut", x, channels, stride=stride)
    y = builder.conv(f"{name}/conv1", x, channels, kernel=3, stride=stride)
    y = builder.relu(f"{name}/relu1", y)
    y = builder.conv(f"{name}/conv2", y, (outputs, outputs), kernel=3)
    return builder.relu(f"{name}/relu2", builder.op("Add", f"{name}/add", (y, shortcut)))


MOBILENET_V2_STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)  # fmt: skip
"""Expansion, channels, blocks, stride (Sandler et al., 2018, table 2)."""


def mobilenet_v2(
    stages: Sequence[tuple[int, int, int, int]] = MOBILENET_V2_STAGES,
    resolution: int = 224,
    classes: int = 1000,
) -> onnx.ModelProto:
    """MobileNet-V2, batch norm folded, ReLU6 as Clip."""
    builder = Builder("mobilenet-v2")
    builder.constant("relu6/min", 0.0)
    builder.constant("relu6/max", 6.0)
    x = builder.conv("stem/conv", "image", (3, 32), kernel=3, stride=2)
    x = _relu6(builder, "stem/relu6", x)
    channels = 32
    for stage, (expansion, outputs, blocks, first_stride) in enumerate(stages, 1):
        for block in range(1, blocks + 1):
            name = f"stage{stage}/block{block}"
            stride = first_stride if block == 1 else 1
            x = _inverted(builder, name, x, (channels, channels * expansion, outputs), stride)
            channels = outputs
    x = _relu6(builder, "head/relu6", builder.conv("head/conv", x, (channels, 1280)))
    return builder.model(builder.classifier(x, 1280, classes), resolution, classes)


def _relu6(builder: Builder, name: str, x: str) -> str:
    return builder.op("Clip", name, (x, "relu6/min", "relu6/max"))


def _inverted(
    builder: Builder, name: str, x: str, channels: tuple[int, int, int], stride: int
) -> str:
    """Expand 1x1, depthwise 3x3, project 1x1; added to its input where the shapes agree."""
    inputs, inner, outputs = channels
    y = x
    if inner != inputs:
        y = builder.conv(f"{name}/expand", y, (inputs, inner))
        y = _relu6(builder, f"{name}/relu6a", y)
    y = builder.conv(f"{name}/depthwise", y, (inner, inner), kernel=3, stride=stride, group=inner)
    y = _relu6(builder, f"{name}/relu6b", y)
    y = builder.conv(f"{name}/project", y, (inner, outputs))
    if stride == 1 and inputs == outputs:
        return builder.op("Add", f"{name}/add", (y, x))
    return y


DENSENET121_BLOCKS = (6, 12, 24, 16)
DENSENET_GROWTH = 32


def densenet(
    blocks: Sequence[int] = DENSENET121_BLOCKS, resolution: int = 224, classes: int = 1000
) -> onnx.ModelProto:
    """DenseNet-121 (Huang et al., 2016, table 1); batch norms stay, as activation comes first."""
    builder = Builder("densenet-121")
    channels = 2 * DENSENET_GROWTH
    x = _bare_conv(builder, "stem/conv", "image", (3, channels), kernel=7, stride=2)
    x = builder.op("MaxPool", "stem/pool", (_norm(builder, "stem", x, channels),), **_window(3, 2))
    for stage, count in enumerate(blocks, 1):
        for layer in range(1, count + 1):
            x = _dense_layer(builder, f"block{stage}/layer{layer}", x, channels)
            channels += DENSENET_GROWTH
        if stage < len(blocks):
            x = _transition(builder, f"transition{stage}", x, channels)
            channels //= 2
    x = _norm(builder, "head", x, channels)
    return builder.model(builder.classifier(x, channels, classes), resolution, classes)


def _norm(builder: Builder, name: str, x: str, channels: int) -> str:
    """Batch norm in inference form, then ReLU."""
    fields = ("scale", "shift", "mean", "variance")
    parameters = [builder.weight(f"{name}/norm/{field}", (channels,)) for field in fields]
    return builder.relu(
        f"{name}/relu", builder.op("BatchNormalization", f"{name}/norm", (x, *parameters))
    )


def _bare_conv(
    builder: Builder, name: str, x: str, channels: tuple[int, int], **window: int
) -> str:
    """A convolution without bias; `window` may give kernel and stride (1 by default)."""
    kernel, stride = window.get("kernel", 1), window.get("stride", 1)
    weight = builder.weight(f"{name}/weight", (channels[1], channels[0], kernel, kernel))
    return builder.op("Conv", name, (x, weight), **_window(kernel, stride))


def _dense_layer(builder: Builder, name: str, x: str, channels: int) -> str:
    inner = 4 * DENSENET_GROWTH
    y = _norm(builder, f"{name}/a", x, channels)
    y = _bare_conv(builder, f"{name}/conv1", y, (channels, inner))
    y = _norm(builder, f"{name}/b", y, inner)
    y = _bare_conv(builder, f"{name}/conv2", y, (inner, DENSENET_GROWTH), kernel=3)
    return builder.op("Concat", f"{name}/concat", (x, y), axis=1)


def _transition(builder: Builder, name: str, x: str, channels: int) -> str:
    y = _norm(builder, name, x, channels)
    y = _bare_conv(builder, f"{name}/conv", y, (channels, channels // 2))
    return builder.op("AveragePool", f"{name}/pool", (y,), kernel_shape=(2, 2), strides=(2, 2))


SAMPLES: Mapping[str, Callable[[], onnx.ModelProto]] = MappingProxyType(
    {
        "resnet50-v1": lambda: resnet("v1"),
        "resnet50-v15": lambda: resnet("v15"),
        "resnet50-slim": lambda: resnet("slim"),
        "mobilenet-v2": mobilenet_v2,
        "densenet-121": densenet,
        "teaching-resnet": teaching_resnet,
    }
)


def sample_bytes(name: str) -> bytes:
    """The file of a sample."""
    return bytes(SAMPLES[name]().SerializeToString(deterministic=True))


def main(arguments: Sequence[str]) -> int:
    """Write the files, or with `--check` compare them; 1 when one differs."""
    folder = Path(__file__).resolve().parent
    stale = []
    for name in SAMPLES:
        path, data = folder / f"{name}.onnx", sample_bytes(name)
        if "--check" not in arguments:
            path.write_bytes(data)
        elif not path.exists() or path.read_bytes() != data:
            stale.append(path.name)
    sys.stdout.writelines(f"differs: {name}\n" for name in stale)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
