"""Builder: collects nodes and weights of a sample, and gives the finished model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from graphturbo_core.frontend.parse.proposals import PROPOSED_DIMS

OPSET = 17
IR_VERSION = 8
ABSENT_FILE = "weights-are-not-shipped"

Attribute = int | float | Sequence[int]
Shape = Sequence[int | str]


@dataclass
class Builder:
    """Collects nodes and weights; every layer returns the name of its output."""

    name: str
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[TensorProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    numbers: dict[tuple[object, ...], str] = field(default_factory=dict)

    def input(self, name: str, shape: Shape, dtype: int = TensorProto.FLOAT) -> str:
        """An input of the model."""
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name: str, value: str, shape: Shape) -> None:
        """Makes a value the model's output under this name, also for its readers."""
        for node in self.nodes:
            for names in (node.input, node.output):
                for index, found in enumerate(names):
                    if found == value:
                        names[index] = name
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

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

    def vector(self, name: str, numbers: Sequence[float]) -> str:
        """Floats with their values in the file."""
        self.weights.append(numpy_helper.from_array(np.asarray(numbers, np.float32), name))
        return name

    def scalar(self, number: float) -> str:
        """A float scalar named by its value; equal ones are stored once."""
        key = ("scalar", number)
        if key not in self.numbers:
            self.numbers[key] = self.constant(f"{number:g}", number)
        return self.numbers[key]

    def integers(self, numbers: int | Sequence[int | Sequence[int]], name: str = "") -> str:
        """An int64 scalar or list, named by its values by default; equal ones are stored once."""
        array = np.asarray(numbers, np.int64)
        key = ("integers", array.ndim, *array.reshape(-1).tolist())
        if key not in self.numbers:
            self.numbers[key] = name or f"int {array.tolist()}"
            self.weights.append(numpy_helper.from_array(array, self.numbers[key]))
        return self.numbers[key]

    def op(self, op_type: str, name: str, inputs: Sequence[str], **attributes: Attribute) -> str:
        """A node whose output has its name."""
        return self.ops(op_type, name, inputs, 1, **attributes)[0]

    def ops(
        self, op_type: str, name: str, inputs: Sequence[str], count: int, **attributes: Attribute
    ) -> tuple[str, ...]:
        """A node with `count` outputs named by its name and a number."""
        outputs = tuple(f"{name}:{index}" for index in range(count))
        node = helper.make_node(op_type, inputs, outputs, name=name)
        node.attribute.extend(
            helper.make_attribute(key, value) for key, value in sorted(attributes.items())
        )
        self.nodes.append(node)
        return outputs

    def conv(self, name: str, x: str, channels: tuple[int, int], **extent: int) -> str:
        """A square convolution with bias, padded so that stride 1 preserves the size.

        `extent` may give kernel, stride and group (1 by default).
        """
        kernel, stride, group = (extent.get(key, 1) for key in ("kernel", "stride", "group"))
        inputs, outputs = channels
        weight = self.weight(f"{name}/weight", (outputs, inputs // group, kernel, kernel))
        bias = self.weight(f"{name}/bias", (outputs,))
        return self.op(
            "Conv", name, (x, weight, bias), **square_window(kernel, stride), group=group
        )

    def relu(self, name: str, x: str) -> str:
        """A ReLU."""
        return self.op("Relu", name, (x,))

    def dense(self, name: str, x: str, channels: tuple[int, int]) -> str:
        """A fully connected layer on rows, as Gemm; its weight is stored output by input."""
        inputs, outputs = channels
        weight = self.weight(f"{name}/weight", (outputs, inputs))
        bias = self.weight(f"{name}/bias", (outputs,))
        return self.op("Gemm", name, (x, weight, bias), transB=1)

    def classifier(self, x: str, channels: int, classes: int) -> str:
        """Global average pooling and one fully connected layer."""
        pooled = self.op("GlobalAveragePool", "head/pool", (x,))
        flat = self.op("Flatten", "head/flatten", (pooled,), axis=1)
        return self.dense("head/fc", flat, (channels, classes))

    def image_model(self, scores: str, resolution: int, classes: int) -> onnx.ModelProto:
        """The finished model: `image` in, `scores` out."""
        self.input("image", ("batch", 3, resolution, resolution))
        self.output("scores", scores, ("batch", classes))
        return self.model({})

    def model(self, proposed_dims: Mapping[str, int]) -> onnx.ModelProto:
        """The finished model, with proposed sizes for its symbolic dimensions."""
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            producer_name="build_samples",
            ir_version=IR_VERSION,
        )
        if proposed_dims:
            text = ",".join(f"{name}={size}" for name, size in proposed_dims.items())
            model.metadata_props.add(key=PROPOSED_DIMS, value=text)
        return model


def square_window(kernel: int, stride: int) -> Mapping[str, Sequence[int]]:
    """Attributes of a square window that preserves the size at stride 1."""
    return {
        "kernel_shape": (kernel, kernel),
        "strides": (stride, stride),
        "pads": (kernel // 2,) * 4,
    }
